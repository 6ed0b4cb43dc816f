"""Files of estimates: CSV, Parquet and NetCDF."""

from __future__ import annotations

import io
import json
import math
import re
import unicodedata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from uncletc.common.validation import check_choice
from uncletc.estimates.entries import Estimates

if TYPE_CHECKING:  # it takes a third of a second, which few need
    import xarray as xr

FORMATS = {"csv": ".csv", "parquet": ".parquet", "netcdf": ".nc"}
"""The kinds of files, and what their names end in."""

_DANGEROUS = ("=", "+", "-", "@", "\t", "\r")
_NOTES = b"uncletc"  # key of the notes in a Parquet file
_MOST_CELLS = 2_000_000  # of a grid over all modes
_LONG = {
    "reported": "reported count, missing where nobody counted",
    "rate": "λ, expected true count",
    "N": "N, true count, the same at all repeat visits",
    "detection": "p, chance that a true event is counted",
    "expected": "ŷ = λp, expected reported count",
    "reporting": "factor of reporting, part of neither λ nor p",
}
_ENDS = {"_low": "low end of the interval of ", "_high": "high end of the interval of "}


def write(estimates: Estimates, path: str | Path) -> None:
    """Write estimates to a file, whose ending decides its kind: .csv, .parquet or .nc.

    Parameters
    ----------
    estimates : Estimates
    path : str or Path

    Raises
    ------
    ValueError
        If it ends in none of these.
    """
    endings = {ending: kind for kind, ending in FORMATS.items()}
    ending = Path(path).suffix.lower()
    check_choice("the ending of the file", ending, tuple(endings))
    Path(path).write_bytes(to_bytes(estimates, endings[ending]))


def to_bytes(estimates: Estimates, kind: str) -> bytes:
    """Return a file of estimates of one of the kinds in :data:`FORMATS`."""
    if kind == "csv":
        # A mark makes spreadsheets read names such as “Doña Ana”.
        return defused(estimates.table).to_csv(index=False).encode("utf-8-sig")
    if kind == "parquet":
        table = pa.Table.from_pandas(estimates.table, preserve_index=False)
        notes = {_NOTES: json.dumps(estimates.notes, ensure_ascii=False).encode()}
        file = io.BytesIO()
        notes = (table.schema.metadata or {}) | notes
        pq.write_table(table.replace_schema_metadata(notes), file)
        return file.getvalue()
    check_choice("kind", kind, tuple(FORMATS))
    return bytes(to_dataset(estimates).to_netcdf(engine="scipy"))


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


def to_dataset(estimates: Estimates) -> xr.Dataset:
    """Return the estimates as variables over the labels of the modes, named as NetCDF 3 allows.

    Dimensions are the modes; NaN where an entry is not listed.

    Raises
    ------
    ValueError
        If the tensor has more than 2,000,000 entries.
    """
    import xarray as xr

    table, shape = estimates.table, estimates.shape
    named = {each.column: each for each in estimates.named}
    numbers = [str(name) for name in table if name not in {*named, "scale", "simulated"}]
    keys = _file_names([*named, *numbers])
    if math.prod(shape) > _MOST_CELLS:
        raise ValueError(
            f"a grid must have at most {_MOST_CELLS:,} entries, these estimates have "
            f"{math.prod(shape):,}: write them as csv or parquet"
        )
    dims = tuple(keys[name] for name in list(named)[: len(shape)])
    labels = {}
    for name, each in named.items():
        values, along = each.names(each.codes), tuple(dims[k] for k in each.along)
        values = values.astype(str) if values.dtype == object else values
        about = {} if keys[name] == name else {"long_name": name}
        labels[keys[name]] = (along, values, about)
    variables = {}
    for name in numbers:
        grid = np.full(shape, np.nan)
        grid.ravel()[estimates.flat] = table[name].to_numpy(dtype=np.float64)
        variables[keys[name]] = (dims, grid, {"long_name": _about(name)})
    return xr.Dataset(variables, labels, attrs=estimates.notes)


def _about(name: str) -> str:
    """Return what a variable is in words."""
    relative, stem, before = name.startswith("relative_"), name.removeprefix("relative_"), ""
    for end, words in _ENDS.items():
        if stem.endswith(end):
            stem, before = stem.removesuffix(end), words
    if stem.startswith("reported_"):
        return f"reported count of the observation process {stem.removeprefix('reported_')}"
    return before + ("relative " if relative else "") + _LONG.get(stem, stem)


def _file_names(names: list[str]) -> dict[str, str]:
    """Names that every reader of NetCDF 3 takes, each once: without accents, other letters as _."""
    from xarray.backends.netcdf3 import is_valid_nc3_name

    allowed: dict[str, str] = {}
    for name in names:
        plain = re.sub(r"[\u0300-\u036f]", "", unicodedata.normalize("NFKD", name))
        text = re.sub(r"[^\x20-\x2e\x30-\x7e]", "_", plain).strip()
        if not is_valid_nc3_name(text):  # type: ignore[no-untyped-call]
            text = f"_{text}"
        while text in allowed.values():
            text += "_"
        allowed[name] = text
    return allowed
