"""COVID-19 page: data, fit and choices in; frozen tables ready to draw out. Pure."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dashboard.anchors import Anchor, axis_title
from dashboard.words import caution, times
from uncletc import Fit, Scale
from uncletc.datasets import Dataset


@dataclass(frozen=True, eq=False, kw_only=True)
class CovidView:
    """What the COVID-19 page draws.

    Attributes
    ----------
    counties : DataFrame
        One row per county: fips, county, state, value (p on the chosen scale, NaN where the cell
        has no attributes), and the hover lines reported, tests, cell_note.
    top, bottom : DataFrame
        One row per cell, best and worst first: label, value, inside; with 2 members or more
        low and high, the means over the days of the ends of 90 % intervals.
    scale : Scale
    title : str
        What `value` is, for axes and colour bars.
    limits : tuple of float
        Colour limits, the same for every day.
    insight : str
        The main finding in one sentence.
    caution : str, optional
        Why not to trust it, where there is a reason.
    """

    counties: pd.DataFrame
    top: pd.DataFrame
    bottom: pd.DataFrame
    scale: Scale
    title: str
    limits: tuple[float, float]
    insight: str
    caution: str | None


def build_covid_view(
    dataset: Dataset, found: Fit, anchor: Anchor, *, day: int | None = None, n: int = 10
) -> CovidView:
    """Return p per county, averaged over the days or for one day.

    Parameters
    ----------
    dataset : Dataset
        COVID-19 counts, real or simulated.
    found : Fit
    anchor : Anchor
    day : int, optional
        Index of one day; None for the mean over all days.
    n : int
        Bars on either side.
    """
    grids = detection_grids(dataset, found, anchor)
    p, scale = grids.p, grids.scale
    mean = _over_days(p, day)
    table = dataset.table
    cells = (table["latitude_index"].to_numpy(), table["longitude_index"].to_numpy())
    counties = table[["fips", "county", "state"]].assign(
        value=mean[cells],
        reported=[f"reported cases, 60 days: {cases:,}" for cases in table["cases"]],
        tests=[f"tests a day per 1000: {_tests(tests)}" for tests in table["tests_per_1000"]],
        cell_note=[_cell_note(others) for others in table["counties_in_cell"] - 1],
    )
    ends = {end: _over_days(grid, day)[cells] for end, grid in grids.ends.items()}
    bars = _bars(table.assign(value=mean[cells], **ends))
    worst, best = np.nanquantile(mean, [0.05, 0.95])
    ratio = float(best / worst)
    low, high = (float(limit) for limit in np.nanquantile(p, [0.02, 0.98]))
    return CovidView(
        counties=counties,
        top=bars.head(n),
        bottom=bars.tail(n).iloc[::-1],
        scale=scale,
        title=axis_title(scale),
        limits=(low, high) if low < high else (low * 0.9, low * 1.1),
        insight=_insight(ratio),
        caution=caution(ratio),
    )


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


def detection_grids(dataset: Dataset, found: Fit, anchor: Anchor) -> DetectionGrids:
    """Return p of every entry with attributes, and its interval where the fit has members."""
    counts = dataset.counts
    where = tuple(counts.attribute_indices.T)
    ends: dict[str, NDArray[np.float64]] = {}
    if len(found.members) > 1:
        interval = found.detection(counts.attributes, spread=True)
        fitted, ends = interval.estimate, {"low": interval.low, "high": interval.high}
    else:
        fitted = found.detection(counts.attributes)
    scale = anchor.scale(fitted)

    def grid(values: NDArray[np.float64]) -> NDArray[np.float64]:
        filled = np.full(counts.shape, np.nan)
        filled[where] = scale.detection(values)
        return filled

    return DetectionGrids(
        p=grid(fitted), ends={end: grid(values) for end, values in ends.items()}, scale=scale
    )


def _over_days(p: NDArray[np.float64], day: int | None) -> NDArray[np.float64]:
    """One day of (I_1, I_2, days), or the mean over the days that are known where it is None."""
    if day is not None:
        return p[:, :, day]
    known = np.isfinite(p)
    days = known.sum(axis=2)
    total = np.where(known, p, 0.0).sum(axis=2)
    return np.where(days > 0, total / np.maximum(days, 1), np.nan)


def _bars(table: pd.DataFrame) -> pd.DataFrame:
    """One bar per cell, named after its most populous county, best first."""
    largest = table.dropna(subset="value").sort_values("population", ascending=False)
    largest = largest.drop_duplicates(["latitude_index", "longitude_index"])
    ranked = largest.sort_values("value", ascending=False, kind="stable")
    others = ranked["counties_in_cell"] - 1
    return pd.DataFrame(
        {
            "label": [
                f"{county}, {state}" + (f" +{more}" if more else "")
                for county, state, more in zip(
                    ranked["county"], ranked["state"], others, strict=True
                )
            ],
            "value": ranked["value"].to_numpy(),
            "inside": [f"{_tests(tests)} tests per 1000" for tests in ranked["tests_per_1000"]],
            **{end: ranked[end].to_numpy() for end in ("low", "high") if end in ranked},
        }
    )


def _tests(per_1000: float) -> str:
    return "unknown" if np.isnan(per_1000) else f"{per_1000:.1f}"


def _cell_note(others: int) -> str | None:
    if not others:
        return None
    plural = "county" if others == 1 else "counties"
    return f"one value with {others} other {plural} of its cell"


def _insight(ratio: float) -> str:
    return (
        f"A case is **{times(ratio)}** as likely to be counted in the best-detecting "
        f"5 % of places as in the worst-detecting 5 %."
    )
