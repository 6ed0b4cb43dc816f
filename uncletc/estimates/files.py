"""Files of estimates: CSV, Parquet and NetCDF, written part by part."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from uncletc.common.validation import check_choice
from uncletc.estimates.netcdf import write_netcdf

if TYPE_CHECKING:
    from uncletc.estimates.entries import Estimates

FORMATS = {"csv": ".csv", "parquet": ".parquet", "netcdf": ".nc"}
"""The kinds of files, and what their names end in."""

_DANGEROUS = ("=", "+", "-", "@", "\t", "\r")
_NOTES = b"uncletc"  # key of the notes in a Parquet file


def write(estimates: Estimates, target: str | Path | IO[bytes], kind: str | None = None) -> None:
    """Write estimates; see :meth:`uncletc.estimates.Estimates.write`."""
    if kind is None:
        if not isinstance(target, str | Path):
            raise ValueError("kind must be given for a file that is open already, got None")
        endings = {ending: name for name, ending in FORMATS.items()}
        ending = Path(target).suffix.lower()
        check_choice("the ending of the file", ending, tuple(endings))
        kind = endings[ending]
    check_choice("kind", kind, tuple(FORMATS))
    if isinstance(target, str | Path):
        with Path(target).open("wb") as file:
            _WRITERS[kind](estimates, file)
    else:
        _WRITERS[kind](estimates, target)


def defused(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table whose texts no spreadsheet takes for a formula.

    A text that begins with =, +, -, @ or a tab, and is no number, gets an apostrophe before it;
    names of columns likewise.

    Examples
    --------
    >>> defused(pd.DataFrame({"site": ["=1+1", "-155", "north"]}))["site"].tolist()
    ["'=1+1", '-155', 'north']
    """
    safe = {name: _safe(name) for name in table.columns}
    changed: dict[str, Any] = {}
    for name in table.columns:
        column = table[name]
        if isinstance(column.dtype, pd.CategoricalDtype):
            column = column.astype(object)
        if not (pd.api.types.is_object_dtype(column) or isinstance(column.dtype, pd.StringDtype)):
            continue
        values = column.drop_duplicates()
        dangerous = {each: _safe(each) for each in values if _safe(each) != each}
        if dangerous:
            changed[name] = column.map(lambda each, of=dangerous: of.get(each, each))
    return table.assign(**changed).rename(columns=safe)


def _safe(value: Any) -> Any:
    if not isinstance(value, str) or not value.startswith(_DANGEROUS):
        return value
    try:
        float(value)
    except ValueError:
        return f"'{value}"
    return value


def _write_csv(estimates: Estimates, file: IO[bytes]) -> None:
    """Write UTF-8 with a mark, so that spreadsheets read names such as “Doña Ana”."""
    text = io.TextIOWrapper(file, encoding="utf-8-sig", newline="")
    for number, block in enumerate(estimates.blocks()):
        defused(block).to_csv(text, index=False, header=number == 0)
    text.flush()
    text.detach()  # the file stays open for whoever opened it


def _write_parquet(estimates: Estimates, file: IO[bytes]) -> None:
    writer = None
    for table in _arrow(estimates.blocks()):
        if writer is None:
            notes = {_NOTES: json.dumps(estimates.notes, ensure_ascii=False).encode()}
            schema = table.schema.with_metadata({**(table.schema.metadata or {}), **notes})
            writer = pq.ParquetWriter(file, schema)
        writer.write_table(table.replace_schema_metadata(writer.schema.metadata))
    if writer is not None:
        writer.close()


def _arrow(blocks: Iterable[pd.DataFrame]) -> Iterable[pa.Table]:
    for block in blocks:
        yield pa.Table.from_pandas(block, preserve_index=False)


_WRITERS = {"csv": _write_csv, "parquet": _write_parquet, "netcdf": write_netcdf}
