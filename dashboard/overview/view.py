"""Overview page: a data set in; facts, the observed pattern and the attributes out. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from uncletc.datasets import Dataset

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
        Without a step: the share of the third mode that has a count, 0 to 1. At a step: the
        reported counts. NaN where nobody counted.
    row_labels, column_labels : tuple of str
    row_mode, column_mode, third_mode : str
    step : int, optional
        Index along the third mode; None for all of it.
    step_label : str
        Of that step; empty for all.
    largest : int
        The largest count of the whole data set, for colours that all steps share.
    steps : DataFrame
        Along the third mode: step (label), counted (sum of counts), observed (number of entries).
    """

    values: NDArray[np.float64]
    row_labels: tuple[str, ...]
    column_labels: tuple[str, ...]
    row_mode: str
    column_mode: str
    third_mode: str
    step: int | None
    step_label: str
    largest: int
    steps: pd.DataFrame


def build_overview(dataset: Dataset) -> OverviewView:
    """Return the facts that introduce a data set."""
    return OverviewView(
        facts=_facts(dataset), insight=_insight(dataset), attributes=_attributes(dataset)
    )


def mode_pairs(dataset: Dataset) -> dict[str, tuple[int, int]]:
    """Each pair of modes by its name, e.g. "latitude × longitude", as indices of rows, columns."""
    modes = dataset.counts.modes
    return {f"{modes[i]} × {modes[j]}": (i, j) for i, j in combinations(range(len(modes)), 2)}


def build_pattern(dataset: Dataset, pair: tuple[int, int], step: int | None = None) -> Pattern:
    """Return what was counted over two of three modes.

    Parameters
    ----------
    dataset : Dataset
    pair : tuple of int
        The modes of rows and columns.
    step : int, optional
        Index along the third mode; None: the share of it that has a count.
    """
    counts = dataset.counts
    (third,) = {0, 1, 2} - set(pair)
    table, at = pattern_table(dataset, pair, step), counts.indices[:, third]
    size = counts.shape[third]
    shown = table["observed"] / size if step is None else table["counted"]
    values = shown.where(table["observed"] > 0).to_numpy(dtype=np.float64)
    return Pattern(
        values=values.reshape([counts.shape[mode] for mode in pair]),
        row_labels=counts.labels[pair[0]],
        column_labels=counts.labels[pair[1]],
        row_mode=counts.modes[pair[0]],
        column_mode=counts.modes[pair[1]],
        third_mode=counts.modes[third],
        step=step,
        step_label="" if step is None else counts.labels[third][step],
        largest=int(counts.counts.max(initial=0)),
        steps=pd.DataFrame(
            {
                "step": counts.labels[third],
                "counted": np.bincount(at, weights=counts.counts, minlength=size).astype(int),
                "observed": np.bincount(at, minlength=size),
            }
        ),
    )


def pattern_table(dataset: Dataset, pair: tuple[int, int], step: int | None = None) -> pd.DataFrame:
    """The numbers behind a pattern, in rows: two labels, observed (entries), counted (their sum).

    Parameters
    ----------
    dataset, pair, step
        As for :func:`build_pattern`.
    """
    counts = dataset.counts
    (third,) = {0, 1, 2} - set(pair)
    kept = slice(None) if step is None else counts.indices[:, third] == step
    size = (counts.shape[pair[0]], counts.shape[pair[1]])
    cell = np.ravel_multi_index(tuple(counts.indices[kept][:, pair].T), size)
    n = int(np.prod(size))
    row, column = np.divmod(np.arange(n), size[1])
    return pd.DataFrame(
        {
            counts.modes[pair[0]]: np.array(counts.labels[pair[0]])[row],
            counts.modes[pair[1]]: np.array(counts.labels[pair[1]])[column],
            "observed": np.bincount(cell, minlength=n),
            "counted": np.bincount(cell, counts.counts[kept], minlength=n).astype(int),
        }
    )


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


def _facts(dataset: Dataset) -> tuple[tuple[str, str, str], ...]:
    counts = dataset.counts
    size = " × ".join(str(size) for size in counts.shape)
    zeros = float(np.mean(counts.counts == 0))
    return (
        ("Size", size, " × ".join(counts.modes)),
        (
            "Counted",
            f"{counts.share_observed:.1%}",
            f"{counts.n_observed:,} entries have a reported count; all others are missing, "
            "which is not the same as zero.",
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
    *first, last = counts.modes
    everything = int(np.prod([float(size) for size in counts.shape]))
    zeros = float(np.mean(counts.counts == 0))
    positive = counts.counts[counts.counts > 0]
    median = (
        f"the median non-zero count is {np.median(positive):,.0f} and " if len(positive) else ""
    )
    kind = "simulated " if dataset.provenance.simulated else ""
    return (
        f"Of {everything:,} combinations of {', '.join(first)} and {last}, "
        f"**{1 - counts.share_observed:.0%} have no count**. Of the {kind}counts, "
        f"**{zeros:.0%} are zero**; {median}the largest is {counts.counts.max():,}."
    )


def _attributes(dataset: Dataset) -> pd.DataFrame:
    z = dataset.counts.attributes
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
