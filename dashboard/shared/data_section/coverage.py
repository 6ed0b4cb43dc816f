"""How much of a data set was counted: in a sentence, and over two of its modes. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from dashboard.shared.charts.style import framed, top_bar
from dashboard.shared.text.words import day_text, escape, plural
from uncletc import CountTensor
from uncletc.datasets import Dataset
from uncletc.tables import n_existing

_UPWARDS = ("latitude",)  # modes whose first label belongs at the bottom


def summary(dataset: Dataset) -> str:
    """Return the size of a data set, the share that was counted, and what the counts are like."""
    counts, y = dataset.counts, dataset.counts.counts
    n = n_existing(counts)
    sizes = " × ".join(
        f"{size:,} {escape(mode)}" for size, mode in zip(counts.shape, counts.modes, strict=True)
    )
    known = plural(counts.n_attributes, "covariate")
    return (
        f"**{sizes}.** Of {n:,} entries that exist, **{counts.n_observed / n:.0%} have a count**; "
        f"the others are missing, which is not zero. **{np.mean(y == 0):.0%} of the counts are "
        f"0**, their mean is {y.mean():,.1f} and the largest is {y.max():,}. {known}, known for "
        f"{counts.n_attributed:,} entries."
    )


def mode_pairs(counts: CountTensor) -> dict[str, tuple[int, int]]:
    """Each pair of modes by its name, e.g. "latitude × longitude", as indices of rows, columns."""
    modes = counts.modes
    return {f"{modes[i]} × {modes[j]}": (i, j) for i, j in combinations(range(len(modes)), 2)}


def coverage(counts: CountTensor, pair: tuple[int, int]) -> NDArray[np.float64]:
    """Return the entries with a count, and their sum, by levels of two modes.

    Returns
    -------
    ndarray, shape (2, rows, columns)
        NaN where nobody counted.
    """
    shape = tuple(counts.shape[mode] for mode in pair)
    cell = np.ravel_multi_index(tuple(counts.indices[:, pair].T), shape)
    n = math.prod(shape)
    sums = np.stack([np.bincount(cell, weights, n) for weights in (None, counts.counts)])
    return np.where(sums[0] > 0, sums, np.nan).reshape(2, *shape)


def coverage_chart(
    found: NDArray[np.float64],
    *,
    labels: Sequence[Sequence[str]],
    modes: Sequence[str],
    height: int = 420,
) -> go.Figure:
    """Heat map of how many entries have a count; their sum is in the tooltip.

    Parameters
    ----------
    found : ndarray, shape (2, rows, columns)
        Of :func:`coverage`.
    labels, modes : sequence
        Of rows and columns.
    """
    entries, counted = found
    rows, columns = ([day_text(label) for label in each] for each in labels)
    figure = go.Figure(
        go.Heatmap(
            x=columns,
            y=rows,
            z=entries,
            zmin=0,
            zmax=np.nanmax(entries),  # both ends, else Plotly takes the smallest for the first
            customdata=counted,
            colorscale="Cividis",
            colorbar=top_bar("entries with a count", tickformat=",d"),
            hovertemplate=f"{modes[0]} %{{y}}, {modes[1]} %{{x}}<br>%{{z:,}} entries with a count"
            "<br>counted: %{customdata:,}<extra></extra>",
        )
    )
    axis = {"type": "category", "nticks": 12, "showgrid": False}
    y = axis | {"title": modes[0], "autorange": True if modes[0] in _UPWARDS else "reversed"}
    return framed(figure, height, x=axis | {"title": modes[1]}, y=y)
