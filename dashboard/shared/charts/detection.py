"""p of every entry on the chosen scale, for the views of all pages. Pure."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from dashboard.shared.sidebar.anchors import Anchor
from dashboard.shared.text.words import SCALE_IN_WHISKERS, WHISKERS
from uncletc import CountTensor, Fit, Interval, Scale
from uncletc.datasets import Dataset

FittedDetection = NDArray[np.float64] | Interval
_ALIKE = 1.02  # ratio of the ends of a colour scale, below which p hardly differs
_NAMES = {
    **dict.fromkeys(("value", "p"), "detection"),
    **{name: f"detection_{name}" for name in ("mean", "sd", "low", "high")},
    **{f"p_{end}": f"detection_{end}" for end in ("low", "high", "a", "b", "hat", "1")},
}


@dataclass(frozen=True, eq=False, kw_only=True)
class DetectionGrids:
    """p of every entry on the chosen scale, NaN where there are no attributes.

    On an absolute scale neither p nor an end of an interval exceeds 1.

    Attributes
    ----------
    p : ndarray, shape (I_1, …, I_K)
    ends : dict of str to ndarray
        "low" and "high" of 90 % intervals, shaped like p; empty for a fit without draws.
    scale : Scale
    uncertain_scale : bool
        Whether `ends` hold how uncertain the scale is: by looks with a known p, or a stated range.
    """

    p: NDArray[np.float64]
    ends: dict[str, NDArray[np.float64]]
    scale: Scale
    uncertain_scale: bool = False

    @property
    def whiskers(self) -> str:
        """What intervals in a chart of these p mean; empty without."""
        if not self.ends:
            return ""
        return WHISKERS + (SCALE_IN_WHISKERS if self.uncertain_scale else "")


def detection_grids(
    dataset: Dataset, fit: Fit, anchor: Anchor, *, fitted: FittedDetection | None = None
) -> DetectionGrids:
    """Return p of every entry with attributes, and its interval where the fit has draws.

    Parameters
    ----------
    dataset : Dataset
    fit : Fit
    anchor : Anchor
    fitted : Interval or ndarray, optional
        ``fitted_detection(dataset, fit)`` if it has been computed already.
    """
    fitted = fitted_detection(dataset, fit) if fitted is None else fitted
    counts, ends = dataset.counts, {}
    estimate = fitted if isinstance(fitted, np.ndarray) else fitted.estimate
    scale = anchor.of(counts, fit, estimate)
    if not isinstance(fitted, np.ndarray):
        found = scale.detection_interval(fitted)
        most = 1 if scale.absolute else np.inf
        ends = {"low": np.minimum(found.low, most), "high": np.minimum(found.high, most)}
    return DetectionGrids(
        p=on_grid(counts, np.minimum(scale.detection(estimate), 1 if scale.absolute else np.inf)),
        ends={end: on_grid(counts, values) for end, values in ends.items()},
        scale=scale,
        uncertain_scale=fit.scale is not None or scale.log_error > 0,
    )


def on_grid(counts: CountTensor, values: ArrayLike) -> NDArray[np.float64]:
    """Return values of the attributed entries (S,) as a dense array, NaN at all others."""
    grid = np.full(counts.shape, np.nan)
    grid[tuple(counts.attribute_indices.T)] = values
    return grid


def dense(counts: CountTensor) -> NDArray[np.float64]:
    """Return the counts as a dense array, NaN where nobody counted."""
    y = np.full(counts.shape, np.nan)
    y[tuple(counts.indices.T)] = counts.counts
    return y


def over_last(grid: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return means over the last mode, of what is not NaN; NaN where all is."""
    finite = np.isfinite(grid)
    n = finite.sum(axis=-1)
    total = np.where(finite, grid, 0.0).sum(axis=-1)
    return np.where(n > 0, total / np.maximum(n, 1), np.nan)


def fitted_detection(dataset: Dataset, fit: Fit) -> FittedDetection:
    """Return p of every entry with attributes as fitted, with intervals where it has draws."""
    attributes = dataset.counts.attributes
    if fit.draws is not None:
        return fit.detection(attributes, spread=True)
    return fit.detection(attributes)


def mean_ends(
    counts: CountTensor, fit: Fit, scale: Scale, entries: ArrayLike, groups: ArrayLike
) -> dict[str, NDArray[np.float64]]:
    """Return "low" and "high" of 90 % intervals of mean p over groups of entries.

    Errors of entries of one group are alike: the interval of their mean is not the mean of their
    intervals.

    Parameters
    ----------
    counts : CountTensor
    fit : Fit
        With draws.
    scale : Scale
    entries : array_like of int, shape (n, K)
        With attributes.
    groups : array_like of int, shape (n,)
        The group of each entry, from 0.
    """
    found = fit.mean("detection", entries, counts.attributes_at(entries), groups=groups)
    shown = scale.detection_interval(found)
    return {"low": shown.low, "high": shown.high}


def for_download(table: pd.DataFrame, *, absolute: bool) -> pd.DataFrame:
    """Return a table with columns of p called detection, and `relative_` before free scales.

    Parameters
    ----------
    table : DataFrame
        p as value or p or mean (of p), with sd, low and high, or p_low, …; λ as rate, rate_low, ….
    absolute : bool
        Whether the scale of p and λ is known.
    """
    named = table.rename(columns=_NAMES)
    if absolute:
        return named
    free = [name for name in named if str(name).startswith(("detection", "rate"))]
    return named.rename(columns={name: f"relative_{name}" for name in free})


def color_limits(p: ArrayLike) -> tuple[float, float]:
    """Limits of a colour scale that hold all but the outer 2 % of p on either side.

    Where p hardly differs they are wider, so that what is alike looks alike.
    """
    low, high = (float(limit) for limit in np.nanquantile(p, [0.02, 0.98]))
    return (low, high) if low * _ALIKE < high else (low * 0.9, high * 1.1)


def contrast(p: ArrayLike) -> float:
    """The 95th percentile of p over the 5th; 1 without values."""
    values = np.asarray(p, dtype=np.float64)
    worst, best = np.nanquantile(values, [0.05, 0.95]) if values.size else (1.0, 1.0)
    return float(best / worst)
