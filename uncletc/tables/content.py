"""What a file is by its first bytes, and the text of one that holds text."""

from __future__ import annotations

import io
import re
import zipfile
from typing import Literal

import numpy as np

Kind = Literal["text", "parquet", "excel"]

HOW_CSV = 'save the table as "CSV UTF-8" and read that'
"""What helps with every other kind of file."""

_MOST_UNPACKED = 1 << 30  # bytes in a workbook; a million rows of ten columns take half of it

_OTHERS = (
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Excel file (.xls)", "in Excel, "),
    (b"\x1f\x8b", "packed with gzip", "unpack it first, or "),
    (b"BZh", "packed with bzip2", "unpack it first, or "),
    (b"\xfd7zXZ\x00", "packed with xz", "unpack it first, or "),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive", "unpack it first, or "),
    (b"Rar!", "a RAR archive", "unpack it first, or "),
    (b"%PDF", "a PDF document", "where the table was made, "),
    (b"\x89PNG", "a picture", "where the table was made, "),
    (b"\xff\xd8\xff", "a picture", "where the table was made, "),
    (b"GIF8", "a picture", "where the table was made, "),
    (b"SQLite format 3\x00", "a database", "export one table of it: "),
    (b"\x89HDF", "an HDF5 or NetCDF4 file", "write it as a table first: "),
    (b"CDF\x01", "a NetCDF file", "write it as a table first: "),
    (b"RDX", "an R data file", "in R, use write.csv(table, row.names = FALSE): "),
)
_WITH_ACCENT = re.compile(r"[A-Za-z]*[^\x00-\x7f\s][^\x00-\x40\s]*")
_MARKS = (
    (b"\xef\xbb\xbf", "utf-8", "UTF-8"),
    (b"\xff\xfe\x00\x00", "utf-32-le", "UTF-32"),
    (b"\x00\x00\xfe\xff", "utf-32-be", "UTF-32"),
    (b"\xff\xfe", "utf-16-le", "UTF-16"),
    (b"\xfe\xff", "utf-16-be", "UTF-16"),
)


def kind_of(data: bytes, name: str) -> Kind:
    """Tell what a file is, whatever its name ends in.

    Raises
    ------
    ValueError
        If it is nothing that can be read, with what to do.
    """
    if data[:4] == b"PAR1":
        return "parquet"
    if data[:4] == b"PK\x03\x04":
        _check_workbook(data, name)
        return "excel"
    for start, what, how in _OTHERS:
        if data.startswith(start):
            raise ValueError(f"{name} is {what}, not a table: {how}{HOW_CSV}")
    head = data[:200].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if head.startswith((b"<!doctype", b"<html", b"<?xml", b"<table")):
        raise ValueError(f"{name} is a web page or XML, not a table: download the file itself")
    if head.startswith((b'{"', b"[{", b"{\n", b"{\r", b"{ ")):
        raise ValueError(f"{name} is JSON, not a table with columns: {HOW_CSV}")
    return "text"


def _check_workbook(data: bytes, name: str) -> None:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            parts = archive.infolist()
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError, IndexError) as error:
        raise ValueError(
            f"{name} is damaged, or was not copied whole: copy it once more, or {HOW_CSV}"
        ) from error
    names = {part.filename for part in parts}
    if "content.xml" in names:
        raise ValueError(f"{name} is a LibreOffice document: save it as .xlsx, or {HOW_CSV}")
    if "xl/workbook.bin" in names:
        raise ValueError(f"{name} is a binary workbook (.xlsb): save it as .xlsx, or {HOW_CSV}")
    if "xl/workbook.xml" not in names:
        raise ValueError(f"{name} is a zip archive: unpack it, and read the table inside")
    if sum(part.file_size for part in parts) > _MOST_UNPACKED:
        raise ValueError(f"{name} unpacks to more than 1 GB: {HOW_CSV}, or leave out columns")


def text_of(data: bytes, name: str) -> tuple[bytes, str]:
    """Return a text file as UTF-8 with line feeds, and what it was written in.

    Returns
    -------
    (bytes, str)
        The encoding is empty where it was UTF-8.

    Raises
    ------
    ValueError
        If it is empty, or is no text.
    """
    text, said = _utf8(data, name)
    if b"\r" in text:
        text = text.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    if not text.strip():
        raise ValueError(f"{name} must not be empty: it has no line with text")
    if b"\x00" in text:
        raise ValueError(f"{name} is not a text file (it has zero bytes): {HOW_CSV}")
    return text, said


def _utf8(data: bytes, name: str) -> tuple[bytes, str]:
    for mark, encoding, said in _MARKS:
        if data.startswith(mark):
            if encoding == "utf-8":
                return _checked(data[len(mark) :], name)
            return _decoded(data[len(mark) :], encoding, said, name)
    sample = np.frombuffer(data[:4096], dtype=np.uint8)
    zeros = [
        float(np.mean(part == 0)) if len(part) else 0.0 for part in (sample[::2], sample[1::2])
    ]
    if zeros[1] > 0.3 and zeros[0] < 0.1:
        return _decoded(data, "utf-16-le", "UTF-16", name)
    if zeros[0] > 0.3 and zeros[1] < 0.1:
        return _decoded(data, "utf-16-be", "UTF-16", name)
    return _checked(data, name)


def _decoded(data: bytes, encoding: str, said: str, name: str) -> tuple[bytes, str]:
    try:
        return data.decode(encoding).encode(), said
    except (UnicodeDecodeError, UnicodeEncodeError) as error:
        raise ValueError(
            f"{name} starts as {said} but is not that throughout: {HOW_CSV}"
        ) from error


def _checked(data: bytes, name: str) -> tuple[bytes, str]:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        pass
    else:
        return data, ""
    sample = np.frombuffer(data[: 1 << 20], dtype=np.uint8)
    control = (sample < 32) & ~np.isin(sample, (9, 10, 12, 13))
    if control.mean() > 0.01:
        raise ValueError(f"{name} is not a text file: {HOW_CSV}, or use Parquet or Excel (.xlsx)")
    try:
        text, said = data.decode("cp1252"), "Windows-1252 (Western European)"
    except UnicodeDecodeError:
        text, said = data.decode("latin-1"), "Latin-1 (Western European)"
    _check_western(text[: 1 << 20], name)
    return text.encode(), said


def _check_western(text: str, name: str) -> None:
    """Refuse letters that were none of Western Europe: they fill words, as accents never do."""
    found = (word.strip("“”‘’«»") for word in _WITH_ACCENT.findall(text))
    words = [word for word in found if len(word) >= 3 and not word.isascii()]
    runs = [word for word in words if sum(not letter.isascii() for letter in word) >= len(word) / 2]
    if len(runs) > 0.5 * len(words) > 0:
        raise ValueError(
            f"{name} is not UTF-8, and its letters cannot be told (the first would read "
            f"{runs[0][:20]!r}): {HOW_CSV}"
        )
