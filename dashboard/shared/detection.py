"""p of every entry on the chosen scale, for the views of all pages. Pure."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dashboard.shared.anchors import Anchor
from uncletc import Fit, Interval, Scale
from uncletc.datasets import Dataset

FittedDetection = NDArray[np.float64] | Interval


@dataclass(frozen=True, eq=False, kw_only=True)
class DetectionGrids:
    """p of every entry on the chosen scale, NaN where there are no attributes.

    Attributes
    ----------
    p : ndarray, shape (I_1, …, I_K)
    ends : dict of str to ndarray
        "low" and "high" of 90 % intervals, shaped like p; empty with fewer than 2 members.
    scale : Scale
    """

    p: NDArray[np.float64]
    ends: dict[str, NDArray[np.float64]]
    scale: Scale


def detection_grids(
    dataset: Dataset, found: Fit, anchor: Anchor, *, fitted: FittedDetection | None = None
) -> DetectionGrids:
    """Return p of every entry with attributes, and its interval where the fit has members.

    Parameters
    ----------
    dataset : Dataset
    found : Fit
    anchor : Anchor
    fitted : Interval or ndarray, optional
        ``fitted_detection(dataset, found)`` where it is at hand, which saves time.
    """
    counts = dataset.counts
    where = tuple(counts.attribute_indices.T)
    fitted = fitted_detection(dataset, found) if fitted is None else fitted
    ends: dict[str, NDArray[np.float64]] = {}
    if not isinstance(fitted, np.ndarray):
        fitted, ends = fitted.estimate, {"low": fitted.low, "high": fitted.high}
    scale = anchor.of(counts, found, fitted)

    def grid(values: NDArray[np.float64]) -> NDArray[np.float64]:
        filled = np.full(counts.shape, np.nan)
        filled[where] = scale.detection(values)
        return filled

    return DetectionGrids(
        p=grid(fitted), ends={end: grid(values) for end, values in ends.items()}, scale=scale
    )


def fitted_detection(dataset: Dataset, found: Fit) -> FittedDetection:
    """Return p of every entry with attributes as fitted, with intervals where there are members."""
    attributes = dataset.counts.attributes
    if len(found.members) > 1:
        return found.detection(attributes, spread=True)
    return found.detection(attributes)
