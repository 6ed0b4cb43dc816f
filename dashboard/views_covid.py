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
        One row per cell, best and worst first: label, value, inside.
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
    p, scale = detection_grid(dataset, found, anchor)
    mean = _mean_over_days(p) if day is None else p[:, :, day]
    table = dataset.table
    cells = (table["latitude_index"].to_numpy(), table["longitude_index"].to_numpy())
    counties = table[["fips", "county", "state"]].assign(
        value=mean[cells],
        reported=[f"reported cases, 60 days: {cases:,}" for cases in table["cases"]],
        tests=[f"tests a day per 1000: {_tests(tests)}" for tests in table["tests_per_1000"]],
        cell_note=[_cell_note(others) for others in table["counties_in_cell"] - 1],
    )
    bars = _bars(table.assign(value=mean[cells]))
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


def detection_grid(
    dataset: Dataset, found: Fit, anchor: Anchor
) -> tuple[NDArray[np.float64], Scale]:
    """p of every entry with attributes, NaN elsewhere, on the chosen scale; and that scale."""
    counts = dataset.counts
    fitted = found.detection(counts.attributes)
    scale = anchor.scale(fitted)
    grid = np.full(counts.shape, np.nan)
    grid[tuple(counts.attribute_indices.T)] = scale.detection(fitted)
    return grid, scale


def _mean_over_days(p: NDArray[np.float64]) -> NDArray[np.float64]:
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
