"""NetCDF of estimates: the modes are dimensions, their labels coordinates."""

from __future__ import annotations

import re
import unicodedata
from typing import IO, TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

if TYPE_CHECKING:
    from uncletc.estimates.entries import Estimates

MOST_CELLS = 2_000_000  # of a grid over all modes; larger ones are written entry by entry
_ENTRY = "entry"  # dimension of those
_LONG = {
    "reported": "reported count, missing where nobody counted",
    "rate": "λ, expected true count",
    "detection": "p, chance that a true event is counted",
    "expected": "ŷ = λp, expected reported count",
    "reporting": "factor of reporting, part of neither λ nor p",
}
_ENDS = {"_low": "low end of the interval of ", "_high": "high end of the interval of "}
_RESERVED = {"byte", "char", "short", "ushort", "int", "uint", "int64", "uint64", "float", "real"}
_RESERVED |= {"double", "bool", "string"}


def write_netcdf(estimates: Estimates, file: IO[bytes]) -> None:
    """Write NetCDF 3, which ``xarray.open_dataset`` reads.

    Up to 2,000,000 cells, dimensions are the modes, NaN where an entry is not listed; beyond, one
    dimension "entry" has the labels as coordinates along it.
    """
    size = float(np.prod([float(each) for each in estimates.counts.shape]))
    dataset = _gridded(estimates) if size <= MOST_CELLS else _listed(estimates)
    file.write(bytes(dataset.to_netcdf(engine="scipy")))


def _gridded(estimates: Estimates) -> xr.Dataset:
    shape, names = estimates.counts.shape, estimates.named
    dims = _file_names([each.column for each in names.modes])
    coordinates: dict[str, Any] = {}
    for dim, name in zip(dims, names.modes, strict=True):
        coordinates[dim] = (dim, typed(name.labels), _original(dim, name.column))
    others = _file_names([each.column for each in names.others], taken=dims)
    for key, other in zip(others, names.others, strict=True):
        along = tuple(dims[k] for k in other.along)
        coordinates[key] = (along, other.grid().astype(str), _original(key, other.column))
    grids: dict[str, NDArray[np.float64]] = {}
    at = 0
    for block in estimates.blocks():
        flat = estimates.flat[at : at + len(block)]
        at += len(block)
        for column in _numbers(block, estimates):
            grid = grids.setdefault(column, np.full(shape, np.nan))
            grid.ravel()[flat] = block[column].to_numpy(dtype=np.float64)
    keys = _file_names(list(grids), taken=[*dims, *others])
    variables = {
        key: (dims, grids[name], _about(name)) for key, name in zip(keys, grids, strict=True)
    }
    return xr.Dataset(variables, coordinates, attrs=estimates.notes)


def _listed(estimates: Estimates) -> xr.Dataset:
    parts: dict[str, list[Any]] = {}
    for block in estimates.blocks():
        for name in block.columns.drop(["scale", "simulated"], errors="ignore"):
            parts.setdefault(name, []).append(block[name].to_numpy())
    columns = {name: np.concatenate(values) for name, values in parts.items()}
    keys = dict(zip(columns, _file_names(list(columns), taken=[_ENTRY]), strict=True))
    named = {each.column for each in (*estimates.named.modes, *estimates.named.others)}
    labels = {
        keys[name]: (_ENTRY, typed(columns[name]), _original(keys[name], name)) for name in named
    }
    numbers = {
        keys[name]: (_ENTRY, values.astype(np.float64), _about(name))
        for name, values in columns.items()
        if name not in named
    }
    return xr.Dataset(numbers, labels, attrs=estimates.notes)


def typed(labels: NDArray[Any]) -> NDArray[Any]:
    """Return labels as numbers or days where every one is written as such, else as text.

    Examples
    --------
    >>> typed(np.array(["-155", "20"], dtype=object))
    array([-155.,   20.])
    >>> typed(np.array(["007", "20"], dtype=object))
    array(['007', '20'], dtype='<U3')
    """
    values = list(dict.fromkeys(labels.tolist()))
    if all(re.fullmatch(r"-?(0|[1-9]\d{0,14})(\.\d*[1-9])?", each) for each in values):
        return labels.astype(np.float64)
    if all(re.fullmatch(r"\d{4}-\d{2}-\d{2}", each) for each in values):
        days = pd.to_datetime(pd.Series(labels), format="%Y-%m-%d", errors="coerce")
        if days.notna().all():
            return np.asarray(days.to_numpy(dtype="datetime64[ns]"))
    return labels.astype(str)


def _numbers(block: pd.DataFrame, estimates: Estimates) -> list[str]:
    named = {each.column for each in (*estimates.named.modes, *estimates.named.others)}
    return [name for name in block.columns if name not in {*named, "scale", "simulated"}]


def _about(name: str) -> dict[str, str]:
    """What a variable is, for its attribute ``long_name``."""
    relative, stem, before = name.startswith("relative_"), name.removeprefix("relative_"), ""
    for end, words in _ENDS.items():
        if stem.endswith(end):
            stem, before = stem.removesuffix(end), words
    if stem.startswith("reported_"):
        return {"long_name": f"reported count of the look {stem.removeprefix('reported_')}"}
    return {"long_name": before + ("relative " if relative else "") + _LONG.get(stem, stem)}


def _original(key: str, name: str) -> dict[str, str]:
    return {} if key == name else {"long_name": name}


def _file_names(names: list[str], taken: list[str] | None = None) -> list[str]:
    """Names that every reader of NetCDF 3 takes, each once: without accents, other letters as _."""
    used = set(taken or ())
    allowed = []
    for name in names:
        plain = re.sub(r"[\u0300-\u036f]", "", unicodedata.normalize("NFKD", name))
        text = re.sub(r"[^\x20-\x2e\x30-\x7e]", "_", plain).strip()
        if not re.match(r"[A-Za-z0-9_]", text) or text in _RESERVED:
            text = f"_{text}"
        while text in used:
            text += "_"
        used.add(text)
        allowed.append(text)
    return allowed
