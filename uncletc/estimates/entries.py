"""One row for every entry: labels, what was reported, λ, p and ŷ with their intervals.

A cell of COVID-19 counts may hold counties of several states. Counts are known by county; λ is
known by cell alone, and is divided among the counties of a cell as their reported cases are.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import version
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from uncletc.common.validation import FloatArray, IntArray, check_level
from uncletc.data.counts import CountTensor
from uncletc.data.entries import flat_index
from uncletc.datasets.base import Dataset, citation
from uncletc.estimates.sums import check_fitted, number_name, with_numbers
from uncletc.result.anchor import Anchor
from uncletc.result.fitted_model import FittedModel
from uncletc.result.scale import Scale

_OURS = ("reported", "reporting", "scale", "simulated", "entry")
_ESTIMATES = ("rate", "N", "detection", "expected")

MOST_ENTRIES = 1_000_000  # of a tensor that are listed whole
_ROWS = 65_536  # in one part
CELL = ["latitude_index", "longitude_index"]
_Parts = tuple[str, tuple[int, ...], IntArray, NDArray[Any]]  # of a `Name`


def has_counties(dataset: Dataset) -> bool:
    """Whether the counts are of US counties, with the reports of each."""
    return dataset.county_counts is not None and {"state", *CELL} <= {*dataset.table.columns}


def county_shares(table: pd.DataFrame) -> FloatArray:
    """Return the part of its cell's estimates that each county has.

    Its part of the reported cases of the cell; where none reported any, of the people.

    Parameters
    ----------
    table : DataFrame
        One row per county: latitude_index, longitude_index, cases, population and, where some
        are left out of the counts, counted.

    Returns
    -------
    ndarray, shape (n,)
        The counties of a cell add up to 1; 0 for those that are left out.
    """
    counted = table["counted"] if "counted" in table else pd.Series(True, table.index)
    known = table[CELL].assign(
        cases=table["cases"].where(counted, 0),
        people=table["population"].where(counted, 0),
        one=counted.astype(float),
    )
    of = ["cases", "people", "one"]  # the first of which there are any in the cell
    sums = known.groupby(CELL)[of].transform("sum")
    shares = (known[of] / sums.where(sums > 0)).bfill(axis=1)
    return shares["cases"].fillna(0.0).to_numpy(np.float64)


def reported_by_county(dataset: Dataset, day: int | None = None) -> FloatArray:
    """Return what each county of the counts reported, over all days or on one; (n,).

    0 for counties that are left out of the counts.
    """
    cases = dataset.table["cases"].to_numpy(dtype=np.float64)
    if day is not None:
        if dataset.county_counts is None:
            raise ValueError(f"dataset must have the counts of counties by day, {dataset.name!r}")
        cases = np.nan_to_num(dataset.county_counts[:, day])
    counted = dataset.table.get("counted")
    return cases if counted is None else np.where(counted, cases, 0.0)


def state_names(table: pd.DataFrame) -> pd.Series:
    """Return the states of each cell, its most populous county's first: "Delaware, Maryland".

    Index ``latitude_index``, ``longitude_index``.
    """
    table = table.sort_values("population", ascending=False, kind="stable")
    table = table.drop_duplicates([*CELL, "state"])
    return (table["state"] + ", ").groupby([table[it] for it in CELL]).sum().str[:-2]


@dataclass(frozen=True, eq=False)
class Name:
    """A column that names an entry.

    Attributes
    ----------
    column : str
        Unlike any other.
    along : tuple of int
        Numbers of the modes whose indices decide the name.
    codes : ndarray of int
        Number of the label of each combination of these indices; -1: none.
    labels : ndarray
    """

    column: str
    along: tuple[int, ...]
    codes: IntArray
    labels: NDArray[Any]

    def names(self, codes: IntArray) -> NDArray[Any]:
        """Names by their numbers, empty for -1."""
        if (codes < 0).any():
            return np.asarray(np.append(self.labels.astype(object), "")[codes])
        return np.asarray(self.labels[codes])

    def at(self, indices: IntArray) -> NDArray[Any]:
        """Names of valid entries (n, K), empty where there is none; (n,)."""
        return self.names(self.codes[tuple(indices[:, k] for k in self.along)])


@dataclass(frozen=True, eq=False, kw_only=True)
class Estimates:
    """The estimates of a fit for many entries.

    Attributes
    ----------
    table : DataFrame
        One row per entry: a column of labels for each mode, further names of places and groups;
        reported (missing where nobody counted), and so for each further observation process; rate,
        detection and expected, ŷ, with ``_low`` and ``_high`` where the fit has draws; reporting
        where the fit has effects on it; scale, in words; simulated, where the counts are. On a free
        scale the columns of λ and p begin with ``relative_``.
    notes : dict of str to str
        What a reader of the numbers must know, by name: scale, settings, how to cite.
    shape : tuple of int
        Of the counts.
    flat : ndarray of int, shape (n,)
        Numbers of the entries in row-major order, ascending.
    named : tuple of Name
        Columns that name an entry: those of its modes, then of its places and groups.
    """

    table: pd.DataFrame
    notes: dict[str, str]
    shape: tuple[int, ...]
    flat: IntArray
    named: tuple[Name, ...]


def every_entry(
    data: Dataset | CountTensor, fit: FittedModel, scale: Scale | None = None, *, level: float = 0.9
) -> Estimates:
    """Return the estimates of every entry of a tensor whose exposure is above 0.

    Where repeat visits count the same events and the scale is known, N stands instead of λ, as
    :func:`group_sums` has it. Where entries are more than 1,000,000, those with a count or
    attributes, and `Estimates.notes` say so.

    Parameters
    ----------
    data : Dataset or CountTensor
        What was fitted, with its roles and observation processes. A data set has names of places
        and a citation.
    fit : Fit
    scale : Scale, optional
        Of λ and p. None: that of the data where they state one, else p over its median.
    level : float
        Nominal coverage of the intervals, in (0, 1).

    Returns
    -------
    Estimates

    Raises
    ------
    ValueError
        If the counts are not those of the fit, or an argument is none of the above.

    Examples
    --------
    >>> from uncletc import FitSettings, fit, simulate
    >>> y, _ = simulate((6, 6), rank=1, observed=0.5, attributed=0.5, similar=0.1)
    >>> found = every_entry(y, fit(y, FitSettings(rank=1), callback=lambda i: i.iteration >= 2))
    >>> len(found.table), list(found.table.columns)[:4]
    (36, ['mode 1', 'mode 2', 'reported', 'relative_rate'])
    """
    counts = data.counts if isinstance(data, Dataset) else data
    check_level(level)
    check_fitted(counts, fit)
    possible = np.array(True) if counts.exposure is None else counts.exposure > 0
    if float(possible.mean()) * math.prod(counts.shape) > MOST_ENTRIES:
        flat = flat_index(counts.entries()[0], counts.shape)
        which = "entries with a count or attributes; all others are left out, since there are "
        which += f"more than {MOST_ENTRIES:,}"
    else:
        flat, which = np.flatnonzero(np.broadcast_to(possible, counts.shape)), "all entries"
        if len(flat) < np.prod(counts.shape):
            which += " whose exposure is above 0: elsewhere nothing can happen"
    scale = scale or Anchor().scale(counts, fit)
    named = named_columns(data)

    def rows_of(part: IntArray) -> pd.DataFrame:
        """Rows of some entries."""
        indices = np.column_stack(np.unravel_index(part, counts.shape))

        def counted(where: IntArray, y: IntArray) -> FloatArray:
            """Counts of these entries, NaN where there is none."""
            return pd.Series(y, flat_index(where, counts.shape)).reindex(part).to_numpy(np.float64)

        reported = counted(counts.indices, counts.counts)
        columns: dict[str, Any] = {each.column: each.at(indices) for each in named}
        columns["reported"] = reported
        for process in counts.observations:
            name = _distinct(f"reported_{process.name}", set(columns))
            columns[name] = counted(process.indices, process.counts)
        for name, found in fit.quantities(counts, indices, scale, level, reported).items():
            column = name if name == "expected" or scale.absolute else f"relative_{name}"
            columns[column] = found.estimate
            if fit.draws is not None:
                columns[f"{column}_low"] = found.low
                columns[f"{column}_high"] = found.high
        if fit.reports_late and fit.mode_effects is not None:
            columns["reporting"] = fit.mode_effects.reporting(indices)
        columns["scale"] = scale.statement
        if counts.simulated:
            columns["simulated"] = True
        return pd.DataFrame(columns)

    parts = [rows_of(flat[start : start + _ROWS]) for start in range(0, len(flat), _ROWS)]
    notes = {
        "title": data.title if isinstance(data, Dataset) else "counts",
        "simulated": "yes: no number was observed" if counts.simulated else "no",
        "scale": scale.statement,
        "absolute": "yes" if scale.absolute else "no: only ratios of λ and of p count",
        "entries": which,
        "reported": "missing where nobody counted, which is not 0",
        "intervals": _about_intervals(fit, scale, level),
        "settings": fit.settings.to_json(),
        "stopped": fit.stop.value,
        "made_with": f"uncletc {version('uncletc')}",
    }
    if isinstance(data, Dataset):
        notes["cite"] = citation(data.title, data.provenance)
    return Estimates(
        table=with_numbers(pd.concat(parts, ignore_index=True), flat, fit, counts, scale, level),
        notes=notes,
        shape=counts.shape,
        flat=flat,
        named=named,
    )


def _about_intervals(fit: FittedModel, scale: Scale, level: float) -> str:
    if fit.draws is None:
        return "none: this fit has no draws of its parameters"
    about = f"{100 * level:.0f} % intervals of λ, p and ŷ = λp, not of a count"
    if not scale.absolute:
        return f"{about}; those of λ and p leave out how uncertain the median p is"
    about += "; those of p end at 1, or at the estimate where that is larger"
    if number_name(fit, scale) == "N":
        return f"{about.replace('λ,', 'N,')}; those of N begin at what was reported at least"
    if fit.reports_late:
        return f"{about}; those of λ may lie below what was reported, since reports come late"
    return f"{about}; those of λ begin at what was reported, or at λ where that is smaller"


def named_columns(data: Dataset | CountTensor) -> tuple[Name, ...]:
    """Return the columns that name the entries of counts: its modes, then places and groups.

    A mode that has the name of a column of estimates gets ``_label`` behind it.
    """
    counts = data.counts if isinstance(data, Dataset) else data
    parts = product(("", "relative_"), _ESTIMATES, ("", "_low", "_high"))
    taken = {*_OURS, *map("".join, parts)}
    modes = [
        (mode, (k,), np.arange(len(labels)), labels.values.to_numpy())
        for k, (mode, labels) in enumerate(zip(counts.modes, counts.labels, strict=True))
    ]
    named = []
    for name, along, codes, labels in (*modes, *_counties(data), *_groups(data)):
        column = _distinct(name, taken)
        taken.add(column)
        named.append(Name(column, along, codes, labels))
    return tuple(named)


def _distinct(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_label"
    return name


def _groups(data: Dataset | CountTensor) -> Iterator[_Parts]:
    """Groups; of a cell whose counties lie in several states all of these are named."""
    counts = data.counts if isinstance(data, Dataset) else data
    for group in counts.groups:
        if group.name == "state" and isinstance(data, Dataset) and has_counties(data):
            yield "state", (0, 1), *_by_cell(state_names(data.table), counts)
        elif group.name not in counts.modes:
            along = tuple(counts.modes.index(mode) for mode in group.modes)
            yield group.name, along, group.codes, np.asarray(group.labels, dtype=object)


def _counties(data: Dataset | CountTensor) -> Iterator[_Parts]:
    """The counties of each cell and their codes, the most populous first, where there are any.

    They have the names in the column `label` of the table, where it has one.
    """
    if not isinstance(data, Dataset) or not {"county", "state", *CELL} <= {*data.table.columns}:
        return
    table = data.table.dropna(subset=CELL)
    if "population" in table:
        table = table.sort_values("population", ascending=False, kind="stable")
    cell = [table[name].astype(int) for name in CELL]
    table = table.assign(counties=table.get("label", table["county"] + ", " + table["state"]))
    for name in [it for it in ("counties", "fips") if it in table]:
        yield name, (0, 1), *_by_cell(table[name].groupby(cell).agg("; ".join), data.counts)


def _by_cell(names: pd.Series, counts: CountTensor) -> tuple[IntArray, NDArray[Any]]:
    """Codes of cells over the first two modes, and the different names that they stand for."""
    number, labels = pd.factorize(names)
    codes = np.full(counts.shape[:2], -1, dtype=np.int64)
    codes[tuple(names.index.get_level_values(i).to_numpy() for i in (0, 1))] = number
    return codes, np.asarray(labels, dtype=object)
