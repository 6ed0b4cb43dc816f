"""The data behind a page: a data set in; facts, coverage and covariates out. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dashboard.shared.charts.places import is_covid, is_own, labels_of_counties
from dashboard.shared.text.words import escape
from uncletc import CountTensor
from uncletc.datasets import Dataset
from uncletc.estimates import reported_by_county
from uncletc.tables import existing, n_existing, time_mode

N_BINS = 20
_EDGES = np.linspace(0, 1, N_BINS + 1)  # covariates are scaled to 0..1


@dataclass(frozen=True, eq=False, kw_only=True)
class Coverage:
    """How much was counted, over two modes.

    Attributes
    ----------
    table : DataFrame
        One row per combination: two labels, existing (entries), observed (those with a count) and
        counted (their sum).
    values : ndarray, shape (rows, columns)
        The share of existing entries with a count, NaN where none exists; of a table of two modes
        the counts themselves, NaN where nobody counted.
    rows, columns : tuple of str
        Labels.
    modes : tuple of str
        Of rows and columns.
    others : str
        What a share is of: "days", or "combinations" of several other modes.
    counts : bool
        Whether values are counts.
    """

    table: pd.DataFrame
    values: NDArray[np.float64]
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    modes: tuple[str, str]
    others: str
    counts: bool


def facts(dataset: Dataset) -> tuple[tuple[str, str, str], ...]:
    """Return the main numbers of a data set: label, value and explanation of each."""
    counts = dataset.counts
    n, y = n_existing(counts), counts.counts
    return (
        ("Size", " × ".join(map(str, counts.shape)), " × ".join(map(escape, counts.modes))),
        (
            "Counted",
            f"{counts.n_observed / n:.1%}",
            f"{counts.n_observed:,} of the {n:,} entries that exist have a reported count; the "
            "others are missing, which is not the same as zero.",
        ),
        ("Zeros", f"{np.mean(y == 0):.1%}", "Share of the reported counts that are 0."),
        (
            "Mean count",
            f"{y.mean():,.1f}",
            f"Standard deviation {y.std():,.0f}, largest {y.max():,}.",
        ),
        (
            "Covariates",
            str(counts.n_attributes),
            f"Known for {counts.n_attributed:,} entries, counted or not.",
        ),
    )


def insight(dataset: Dataset) -> str:
    """Return what is missing and what the counts are like, in a sentence or two."""
    counts = dataset.counts
    *first, last = (escape(name) for name in what_exists(counts))
    n, positive = n_existing(counts), counts.counts[counts.counts > 0]
    median = f"the median non-zero count is {np.median(positive):,.0f}, " if len(positive) else ""
    missing = 1 - counts.n_observed / n
    without = f"**{missing:.0%} have no count**" if missing else "**every one has a count**"
    return (
        f"Of {n:,} combinations of {', '.join(first)} and {last}, {without}. Of the counts, "
        f"**{np.mean(counts.counts == 0):.0%} are zero**; {median}the largest "
        f"{counts.counts.max():,}."
    )


def what_exists(counts: CountTensor) -> tuple[str, ...]:
    """What an entry that exists is named by: modes, or a group that stands for several of them."""
    names = list(counts.modes)
    for group in counts.groups:
        if len(group.modes) > 1 and (group.codes < 0).any() and set(group.modes) <= set(names):
            names[names.index(group.modes[0])] = group.name
            names = [name for name in names if name not in group.modes]
    return tuple(names)


def mode_pairs(dataset: Dataset) -> dict[str, tuple[int, int]]:
    """Each pair of modes by its name, e.g. "latitude × longitude", as indices of rows, columns."""
    modes = dataset.counts.modes
    return {f"{modes[i]} × {modes[j]}": (i, j) for i, j in combinations(range(len(modes)), 2)}


def coverage(dataset: Dataset, pair: tuple[int, int]) -> Coverage:
    """Return how much was counted over two modes."""
    counts = dataset.counts
    labels = [np.array(counts.labels[mode]) for mode in pair]
    row, column = np.divmod(np.arange(len(labels[0]) * len(labels[1])), len(labels[1]))
    names = {counts.modes[pair[0]]: labels[0][row], counts.modes[pair[1]]: labels[1][column]}
    table = pd.DataFrame(names | _sums_over(counts, pair))
    if len(counts.modes) == 2:
        values = table["counted"].where(table["observed"] > 0)
    else:
        values = (table["observed"] / table["existing"]).where(table["existing"] > 0)
    return Coverage(
        table=table,
        values=values.to_numpy(dtype=np.float64).reshape([counts.shape[mode] for mode in pair]),
        rows=counts.labels[pair[0]],
        columns=counts.labels[pair[1]],
        modes=(counts.modes[pair[0]], counts.modes[pair[1]]),
        others=_others(counts, pair),
        counts=len(counts.modes) == 2,
    )


def county_coverage(dataset: Dataset) -> pd.DataFrame:
    """One row per county: name, fips, existing and observed entries of its cell, and its counts."""
    counts, county = dataset.counts, dataset.table
    at = county["latitude_index"] * counts.shape[1] + county["longitude_index"]
    named = pd.DataFrame({"name": labels_of_counties(county), "fips": county["fips"]})
    sums = pd.DataFrame(_sums_over(counts, (0, 1)))
    table = pd.concat([named, sums.iloc[at].set_index(named.index)], axis=1)
    table["counted"] = reported_by_county(dataset).astype(int)  # its own, not its cell's
    table = table[table["existing"] > 0].reset_index(drop=True)
    return table.assign(share=table["observed"] / table["existing"])


def along_mode(dataset: Dataset) -> int:
    """The mode over which counts are added up along: time, or the last."""
    time = time_mode(dataset.counts)
    return len(dataset.counts.modes) - 1 if time is None else time


def along_table(dataset: Dataset, mode: int) -> pd.DataFrame:
    """What was counted along a mode: step (label), counted (sum), observed (entries)."""
    counts = dataset.counts
    at, size = counts.indices[:, mode], counts.shape[mode]
    return pd.DataFrame(
        {
            "step": counts.labels[mode],
            "counted": np.bincount(at, weights=counts.counts, minlength=size).astype(int),
            "observed": np.bincount(at, minlength=size),
        }
    )


def covariate_histogram(dataset: Dataset, name: str) -> pd.DataFrame:
    """How one covariate spreads, for entries that were counted and for those that were not.

    Returns
    -------
    DataFrame
        20 rows: middle (of the step), counted and missing (shares of the entries of either kind
        that have covariates; all NaN where there are none).
    """
    counts = dataset.counts
    values = counts.attributes[:, counts.attribute_names.index(name)]
    counted = np.zeros(len(values), dtype=bool)
    counted[counts.attribute_rows[counts.attribute_rows >= 0]] = True
    return pd.DataFrame(
        {
            "middle": (_EDGES[:-1] + _EDGES[1:]) / 2,
            "counted": _shares(values[counted]),
            "missing": _shares(values[~counted]),
        }
    )


def has_map(dataset: Dataset) -> bool:
    """Whether coverage can be drawn on the map of counties."""
    return not is_own(dataset) and is_covid(dataset)


def _others(counts: CountTensor, pair: tuple[int, int]) -> str:
    names = [name for mode, name in enumerate(counts.modes) if mode not in pair]
    return f"{names[0]}s" if len(names) == 1 else "combinations"


def _sums_over(counts: CountTensor, kept: tuple[int, int]) -> dict[str, NDArray[np.int64]]:
    """Of each combination of two modes: existing and observed entries, and their sum, counted."""
    sizes = tuple(counts.shape[mode] for mode in kept)
    cell = np.ravel_multi_index(tuple(counts.indices[:, kept].T), sizes)
    n, exists = int(np.prod(sizes)), existing(counts)
    others = tuple(mode for mode in range(len(counts.shape)) if mode not in kept)
    same = [counts.shape[mode] for mode in others if exists.shape[mode] == 1]
    each = exists.sum(axis=others) * int(np.prod(same, dtype=np.int64))
    return {
        "existing": np.broadcast_to(each, sizes).ravel(),
        "observed": np.bincount(cell, minlength=n),
        "counted": np.bincount(cell, counts.counts, minlength=n).astype(int),
    }


def _shares(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Shares of values in the steps from 0 to 1; NaN without values."""
    if not len(values):
        return np.full(N_BINS, np.nan)
    return np.histogram(values, _EDGES)[0] / len(values)
