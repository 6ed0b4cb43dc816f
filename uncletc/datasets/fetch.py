"""The public files of the real data sets, from disk or downloaded, and verified.

A file is identified by its path ``<owner>/<repository>/<commit>/<path>``. ``files.json`` lists
every path with its size and sha256; nothing else is ever used. Files come from

- the folder in ``UNCLETC_DATA_DIR``, if set: nothing is downloaded, and the folder is never
  written to;
- otherwise the user's cache, filled by download from each source of a file in turn, or only from
  the address in ``UNCLETC_DATA_URL`` (``<address>/<path>``), if set.
"""

import json
import logging
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from urllib.parse import quote

import pandas as pd
import platformdirs
import pooch
from pandas.api.types import is_numeric_dtype

from uncletc.datasets.base import DataUnavailableError

Progress = Callable[[int, int, int, int], None]
"""Called with (files done, files in all, bytes done, bytes in all) after each file."""

_REVISION = r"\(r\d+\)$"  # notes of the census behind a number
_TIMEOUT = (10.0, 60.0)  # seconds: to connect, and between two pieces of a body

pooch.get_logger().setLevel(logging.ERROR)  # what goes wrong is raised instead


@dataclass(frozen=True, kw_only=True)
class PublicFile:
    """One registered file.

    Attributes
    ----------
    path : str
        ``<owner>/<repository>/<commit>/<path>``.
    size : int
        Bytes.
    sha256 : str
        Checksum, in hexadecimal.
    urls : tuple of str
        Its sources, in the order to try.
    """

    path: str
    size: int
    sha256: str
    urls: tuple[str, ...]


@cache
def registry() -> dict[str, dict[str, PublicFile]]:
    """List the files of each data set, by path, as ``files.json`` states them."""
    listed = json.loads(Path(__file__).with_name("files.json").read_text(encoding="utf-8"))
    return {
        name: {
            path: PublicFile(
                path=path,
                size=entry["bytes"],
                sha256=entry["sha256"],
                urls=(*filter(None, [entry.get("first")]), _join(listed["base"], path)),
            )
            for path, entry in files.items()
        }
        for name, files in listed["data_sets"].items()
    }


def find(path: str) -> Path:
    """Return a local copy of a registered file, downloading it where necessary.

    Parameters
    ----------
    path : str
        ``<owner>/<repository>/<commit>/<path>``, as in ``files.json``.

    Returns
    -------
    pathlib.Path
        A file whose sha256 is the registered one.

    Raises
    ------
    DataUnavailableError
        If the file is missing or wrong in the folder ``UNCLETC_DATA_DIR``, or if no source
        provides it.
    """
    for files in registry().values():
        if path in files:
            return verified(files[path])
    raise ValueError(f"path must be a file that files.json lists, got {path!r}")


def read_columns(
    path: str, text: Sequence[str], number: Sequence[str] = (), *, encoding: str = "utf-8"
) -> pd.DataFrame:
    """Return columns of a registered csv file: text, missing as ``""``, and numbers, as NaN.

    Parameters
    ----------
    path : str
        As for :func:`find`, which verifies the file.
    text, number : sequence of str
    encoding : str
    """
    table = pd.read_csv(
        find(path),
        usecols=[*text, *number],
        dtype=dict.fromkeys(text, "str"),
        keep_default_na=False,
        na_values=dict.fromkeys(number, ""),
        encoding=encoding,
        low_memory=False,
    )
    for column in number:
        if not is_numeric_dtype(table[column]):
            plain = table[column].str.replace(_REVISION, "", regex=True)
            table[column] = pd.to_numeric(plain, errors="coerce")
    return table[[*text, *number]]


def verified(file: PublicFile) -> Path:
    """Return a local copy of any public file with its sha256, as :func:`find` does."""
    return _in_folder(file) if os.environ.get("UNCLETC_DATA_DIR") else _in_cache(file)


def available(name: str) -> bool:
    """Whether every file of a data set is on this machine, by size only.

    Parameters
    ----------
    name : str
        A name of :data:`uncletc.datasets.NAMES`, or :data:`uncletc.datasets.OUTSIDE`. A simulated
        data set needs no file.
    """
    root = _root()
    found = [(root / file.path, file.size) for file in _files_of(name)]
    return all(path.is_file() and path.stat().st_size == size for path, size in found)


def fetch_all(name: str, progress: Progress | None = None) -> None:
    """Fetch and verify every file of a data set.

    Parameters
    ----------
    name : str
        A name of :data:`uncletc.datasets.NAMES`, or :data:`uncletc.datasets.OUTSIDE`.
    progress : callable, optional
        Called with (files done, files in all, bytes done, bytes in all), once before the first
        file and after each.

    Raises
    ------
    DataUnavailableError
        For the first file that is not available; those fetched before it stay in the cache.
    """
    files = _files_of(name)
    report = progress or (lambda *_: None)
    sizes = [file.size for file in files]
    for number in range(len(files) + 1):
        if number:
            find(files[number - 1].path)
        report(number, len(files), sum(sizes[:number]), sum(sizes))


def cache_folder() -> Path:
    """Return the folder that downloads are kept in, laid out like ``UNCLETC_DATA_DIR``."""
    return Path(platformdirs.user_cache_dir("uncletc")) / "files"


def _in_folder(file: PublicFile) -> Path:
    path = _root() / file.path
    otherwise = "or unset UNCLETC_DATA_DIR to download it"
    if not path.is_file():
        raise DataUnavailableError(
            f"{file.path} is not in the folder UNCLETC_DATA_DIR names, {_root()}; add it, "
            f"{otherwise}"
        )
    actual = pooch.file_hash(str(path), alg="sha256")
    if actual != file.sha256:
        raise DataUnavailableError(
            f"{path} has sha256 {actual}, but must have {file.sha256}; replace it, {otherwise}"
        )
    return path


def _in_cache(file: PublicFile) -> Path:
    """Download a file from the first source that gives it, unless it is here with its checksum."""
    target, failures = _root() / file.path, []
    base = os.environ.get("UNCLETC_DATA_URL")
    for url in (_join(base, file.path),) if base else file.urls:
        # pooch writes to a temporary file and renames it only once its checksum is right.
        source = pooch.create(
            path=target.parent,
            base_url="",
            registry={target.name: f"sha256:{file.sha256}"},
            urls={target.name: url},
            retry_if_failed=1,
        )
        try:
            downloader = pooch.HTTPDownloader(timeout=_TIMEOUT)
            return Path(source.fetch(target.name, downloader=downloader))
        except (ValueError, OSError) as error:  # every error of requests is an OSError
            failures.append(f"{url} ({_reason(error, file)})")
    raise DataUnavailableError(
        f"{target.name} could not be downloaded: tried {' and '.join(failures)}; try again later, "
        f"or set UNCLETC_DATA_DIR to a folder that holds it at {file.path}"
    )


def _reason(error: Exception, file: PublicFile) -> str:
    response = getattr(error, "response", None)
    if response is not None:
        return f"the server answered {response.status_code} {response.reason}"
    if isinstance(error, OSError):
        return f"the connection failed: {type(error).__name__}"
    return f"the bytes received do not have the sha256 {file.sha256}"


def _join(base: str, path: str) -> str:
    return f"{base.rstrip('/')}/{quote(path)}"


def _root() -> Path:
    return Path(os.environ.get("UNCLETC_DATA_DIR") or cache_folder())


def _files_of(name: str) -> list[PublicFile]:
    data_sets = registry()
    if name not in data_sets:
        raise ValueError(f"name must be one of {', '.join(data_sets)}, got {name!r}")
    return list(data_sets[name].values())
