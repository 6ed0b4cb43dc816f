"""Overview page: a data set in; facts, the observed pattern and the attributes out. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dashboard.shared.charts.places import is_covid, labels_of_counties, located_mode
from dashboard.shared.text.words import day_text, escape
from uncletc import CountTensor
from uncletc.datasets import Dataset
from uncletc.estimates import reported_by_county
from uncletc.tables import existing, n_existing, time_mode

N_BINS = 20
_EDGES = np.linspace(0, 1, N_BINS + 1)  # attributes are scaled to 0..1


@dataclass(frozen=True, eq=False, kw_only=True)
class OverviewView:
    """What the overview says of a data set.

    Attributes
    ----------
    facts : tuple of (label, value, help)
    insight : str
        What is missing and what the counts are like, in one sentence.
    attributes : DataFrame
        One row per attribute, all scaled to 0..1: attribute, histogram (list of the shares of
        entries in 20 equal steps from 0 to 1), 5th percentile, median, 95th percentile.
    """

    facts: tuple[tuple[str, str, str], ...]
    insight: str
    attributes: pd.DataFrame


@dataclass(frozen=True, eq=False, kw_only=True)
class Pattern:
    """What was counted, over two modes.

    Attributes
    ----------
    values : ndarray, shape (rows, columns)
        Reported counts, NaN where nobody counted; or the share of the other modes that has a
        count, 0 to 1, NaN where there is nothing to count.
    row_labels, column_labels : tuple of str
    row_mode, column_mode, third_mode : str
        The third is empty where there are only two.
    others : str
        What a share is of: "days", or "combinations" of several other modes.
    counted : bool
        Whether values are counts.
    step_label : str
        Of the step of the third mode; empty for all.
    largest : int
        The largest count of all steps, for colours that they share.
    """

    values: NDArray[np.float64]
    row_labels: tuple[str, ...]
    column_labels: tuple[str, ...]
    row_mode: str
    column_mode: str
    third_mode: str
    others: str
    counted: bool
    step_label: str
    largest: int


def build_overview(dataset: Dataset) -> OverviewView:
    """Return the facts that introduce a data set."""
    return OverviewView(
        facts=_facts(dataset), insight=_insight(dataset), attributes=_attributes(dataset)
    )


def mode_pairs(dataset: Dataset) -> dict[str, tuple[int, int]]:
    """Each pair of modes by its name, e.g. "latitude × longitude", as indices of rows, columns."""
    modes = dataset.counts.modes
    return {f"{modes[i]} × {modes[j]}": (i, j) for i, j in combinations(range(len(modes)), 2)}


def along_mode(dataset: Dataset, pair: tuple[int, ...]) -> int | None:
    """The mode that a picture of others can be stepped along: in time, or the last; or none."""
    others = [mode for mode in range(len(dataset.counts.shape)) if mode not in pair]
    time = time_mode(dataset.counts)
    return time if time in others else others[-1] if others else None


def others_of(dataset: Dataset, kept: tuple[int, ...]) -> str:
    """What a share of the other modes is of: "days", or "combinations" where they are several."""
    counts = dataset.counts
    names = [name for mode, name in enumerate(counts.modes) if mode not in kept]
    return f"{names[0]}s" if len(names) == 1 else "combinations"


def build_pattern(dataset: Dataset, pair: tuple[int, int], step: int | None = None) -> Pattern:
    """Return what was counted over two modes.

    Parameters
    ----------
    dataset : Dataset
    pair : tuple of int
        The modes of rows and columns.
    step : int, optional
        Index along the mode of :func:`along_mode`; None: the share of the other modes that has a
        count, of two modes the counts themselves.
    """
    counts = dataset.counts
    third = along_mode(dataset, pair)
    table = pattern_table(dataset, pair, step)
    counted = step is not None or third is None
    if counted:
        values = table["counted"].where(table["observed"] > 0)
    else:
        values = (table["observed"] / table["existing"]).where(table["existing"] > 0)
    return Pattern(
        values=values.to_numpy(dtype=np.float64).reshape([counts.shape[mode] for mode in pair]),
        row_labels=counts.labels[pair[0]],
        column_labels=counts.labels[pair[1]],
        row_mode=counts.modes[pair[0]],
        column_mode=counts.modes[pair[1]],
        third_mode="" if third is None else counts.modes[third],
        others=others_of(dataset, pair),
        counted=counted,
        step_label="" if step is None or third is None else counts.labels[third][step],
        largest=_largest(dataset, pair if third is None else (*pair, third)),
    )


def _largest(dataset: Dataset, modes: tuple[int, ...]) -> int:
    """The largest sum of counts over a combination of some modes."""
    counts = dataset.counts
    cell = np.ravel_multi_index(
        tuple(counts.indices[:, modes].T), [counts.shape[mode] for mode in modes]
    )
    sums = np.bincount(np.unique(cell, return_inverse=True)[1], counts.counts)
    return int(sums.max(initial=0))


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


def pattern_table(dataset: Dataset, pair: tuple[int, int], step: int | None = None) -> pd.DataFrame:
    """The numbers behind a pattern, in rows: two labels, existing, observed, counted.

    Entries that exist, those with a count, and the sum of their counts.

    Parameters
    ----------
    dataset, pair, step
        As for :func:`build_pattern`.
    """
    counts = dataset.counts
    labels = [np.array(counts.labels[mode]) for mode in pair]
    row, column = np.divmod(np.arange(len(labels[0]) * len(labels[1])), len(labels[1]))
    return pd.DataFrame(
        {
            counts.modes[pair[0]]: labels[0][row],
            counts.modes[pair[1]]: labels[1][column],
        }
    ).assign(**sums_over(dataset, pair, step))


def sums_over(
    dataset: Dataset, kept: tuple[int, ...], step: int | None = None
) -> dict[str, NDArray[np.int64]]:
    """Of each combination of some modes: existing and observed entries, and their sum, counted."""
    counts = dataset.counts
    third = along_mode(dataset, kept)
    rows = slice(None) if step is None else counts.indices[:, third] == step
    sizes = tuple(counts.shape[mode] for mode in kept)
    cell = np.ravel_multi_index(tuple(counts.indices[rows][:, kept].T), sizes)
    n = int(np.prod(sizes))
    exists = existing(counts)
    if step is not None and exists.shape[third] > 1:
        exists = exists.take([step], axis=third)
    others = [mode for mode in range(len(counts.shape)) if mode not in kept]
    same = [
        counts.shape[mode]
        for mode in others
        if exists.shape[mode] == 1 and not (mode == third and step is not None)
    ]
    each = exists.sum(axis=tuple(others), keepdims=True) * int(np.prod(same, dtype=np.int64))
    each = each.squeeze(axis=tuple(others)).transpose(np.argsort(np.argsort(kept)))
    return {
        "existing": np.broadcast_to(each, sizes).ravel(),
        "observed": np.bincount(cell, minlength=n),
        "counted": np.bincount(cell, counts.counts[rows], minlength=n).astype(int),
    }


@dataclass(frozen=True, eq=False, kw_only=True)
class Places:
    """What was counted at each place.

    Attributes
    ----------
    table : DataFrame
        One row per place: name, existing and observed (entries), counted (sum of counts), share
        (observed over existing), and fips, or latitude and longitude (degrees).
    modes : tuple of int
        The modes that a place is named by.
    value : {"share", "counted"}
        What the map is coloured by: counts at a step, and where all shares are the same.
    title : str
        What that is.
    sentence : str
        How the map is to be read.
    """

    table: pd.DataFrame
    modes: tuple[int, ...]
    value: str
    title: str
    sentence: str

    @property
    def counties(self) -> bool:
        """Whether places are counties, for the county map."""
        return "fips" in self.table


def place_modes(dataset: Dataset) -> tuple[int, ...]:
    """The modes that say where: both of a grid, or the one whose levels have positions; or ()."""
    located = located_mode(dataset)
    return (0, 1) if is_covid(dataset) else () if located is None else (located,)


def build_places(dataset: Dataset, step: int | None = None) -> Places:
    """Return what was counted at each place, over all steps of the mode along, or at one.

    Parameters
    ----------
    dataset : Dataset
        With places.
    step : int, optional
        Index along :func:`along_mode`.

    Raises
    ------
    ValueError
        If the data set has no places.
    """
    modes = place_modes(dataset)
    if not modes:
        raise ValueError(f"dataset must have places, {dataset.title!r} has none")
    counts = dataset.counts
    sums = pd.DataFrame(sums_over(dataset, modes, step))
    if is_covid(dataset):
        county = dataset.table
        at = county["latitude_index"] * counts.shape[1] + county["longitude_index"]
        named = pd.DataFrame({"name": labels_of_counties(county), "fips": county["fips"]})
        table = pd.concat([named, sums.iloc[at].set_index(named.index)], axis=1)
        table["counted"] = reported_by_county(dataset, step).astype(int)  # its own, not its cell's
    else:
        mode = counts.modes[modes[0]]
        known = dataset.mode_tables[mode].reset_index(drop=True)
        where = ["fips"] if "fips" in known else ["latitude", "longitude"]
        table = pd.concat([known[where].assign(name=counts.labels[modes[0]]), sums], axis=1)
        table = table.dropna(subset=where)
    table = table[table["existing"] > 0].reset_index(drop=True)
    table["share"] = table["observed"] / table["existing"]
    shares, others = table["share"], others_of(dataset, modes)
    third = along_mode(dataset, modes)
    same = bool(np.ptp(shares) < 1e-9) if len(table) else True
    if step is not None and third is not None:
        when = f"{dataset.counts.modes[third]} {day_text(dataset.counts.labels[third][step])}"
        value, title = "counted", f"reported count, {when}"
        sentence = f"Coloured by the count reported at {when}."
    elif same and len(table):
        value, title = "counted", f"sum of reported counts over all {others}"
        sentence = (
            f"Every place has a count for {float(shares.iloc[0]):.0%} of {others}; the map shows "
            "the sum of its counts."
        )
    else:
        value, title = "share", f"share of {others} with a count"
        never = int((table["observed"] == 0).sum())
        sentence = (
            f"Coloured by the share of {others} for which there is a count. "
            f"{never:,} of {len(table):,} places have none at all."
        )
    if is_covid(dataset) and value == "share":
        sentence += " Counties of one cell share its value."
    sentence += " Where no place is, nothing could be counted, and nothing is missing."
    return Places(table=table, modes=modes, value=value, title=title, sentence=sentence)


def attribute_histogram(dataset: Dataset, name: str) -> pd.DataFrame:
    """How one attribute spreads, for entries that were counted and for those that were not.

    Returns
    -------
    DataFrame
        20 rows: middle (of the step), counted and missing (shares of the entries of either kind
        that have attributes; all NaN where there are none).
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


def what_exists(counts: CountTensor) -> tuple[str, ...]:
    """What an entry that exists is named by: modes, or a group that stands for several of them."""
    names = list(counts.modes)
    for group in counts.groups:
        if len(group.modes) > 1 and (group.codes < 0).any() and set(group.modes) <= set(names):
            names[names.index(group.modes[0])] = group.name
            names = [name for name in names if name not in group.modes]
    return tuple(names)


def _facts(dataset: Dataset) -> tuple[tuple[str, str, str], ...]:
    counts = dataset.counts
    size = " × ".join(str(size) for size in counts.shape)
    zeros = float(np.mean(counts.counts == 0))
    n = n_existing(counts)
    return (
        ("Size", size, " × ".join(map(escape, counts.modes))),
        (
            "Counted",
            f"{counts.n_observed / n:.1%}",
            f"{counts.n_observed:,} of the {n:,} entries that exist have a reported count; the "
            "others are missing, which is not the same as zero.",
        ),
        ("Zeros", f"{zeros:.1%}", "Share of the reported counts that are 0."),
        (
            "Mean count",
            f"{counts.counts.mean():,.1f}",
            f"Standard deviation {counts.counts.std():,.0f}, largest {counts.counts.max():,}.",
        ),
        (
            "Attributes",
            str(counts.n_attributes),
            f"Known for {counts.n_attributed:,} entries, counted or not.",
        ),
    )


def _insight(dataset: Dataset) -> str:
    counts = dataset.counts
    own = dataset.name == "own"
    *first, last = (escape(name) if own else name for name in what_exists(counts))
    n = n_existing(counts)
    zeros = float(np.mean(counts.counts == 0))
    positive = counts.counts[counts.counts > 0]
    median = (
        f"the median non-zero count is {np.median(positive):,.0f} and " if len(positive) else ""
    )
    kind = "simulated " if dataset.provenance.simulated else ""
    missing = 1 - counts.n_observed / n
    said = f"**{missing:.0%} have no count**" if missing else "**every one has a count**"
    return (
        f"Of {n:,} combinations of {', '.join(first)} and {last}, {said}. Of the {kind}counts, "
        f"**{zeros:.0%} are zero**; {median}the largest is {counts.counts.max():,}."
    )


def _attributes(dataset: Dataset) -> pd.DataFrame:
    z = dataset.counts.attributes
    if not z.size:
        return pd.DataFrame({"attribute": []})
    low, median, high = np.quantile(z, [0.05, 0.5, 0.95], axis=0)
    return pd.DataFrame(
        {
            "attribute": dataset.counts.attribute_names,
            "histogram": [_shares(column).tolist() for column in z.T],
            "5th percentile": low,
            "median": median,
            "95th percentile": high,
        }
    )


def _shares(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Shares of values in the steps from 0 to 1; NaN without values."""
    if not len(values):
        return np.full(N_BINS, np.nan)
    return np.histogram(values, _EDGES)[0] / len(values)
