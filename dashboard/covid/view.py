"""COVID-19 page: data, fit and choices in; frozen tables ready to draw out. Pure."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dashboard.countymap.play import Steps
from dashboard.shared.anchors import Anchor, axis_title
from dashboard.shared.days import day_text
from dashboard.shared.detection import DetectionGrids, detection_grids
from dashboard.shared.ranking import Ranking
from dashboard.shared.words import caution, times
from uncletc import Fit, Scale
from uncletc.datasets import Dataset

UNCERTAIN = 4.0  # times the low end that the high end of an interval of p may be
UNCERTAIN_MEANS = f"uncertain: the ends of its 90 % interval differ more than {UNCERTAIN:g}-fold"
_LOG = 20.0  # times the 5th percentile of p that its 95th may be on a linear scale
_MAIN = ["fips", "county", "state", "value"]


@dataclass(frozen=True, eq=False, kw_only=True)
class CovidView(Ranking):
    """What the COVID-19 page draws.

    Attributes
    ----------
    counties : DataFrame
        One row per county: fips, county, state, value (p on the chosen scale, NaN where the cell
        has no attributes), with 2 members or more low and high (means over the days of the ends of
        90 % intervals), uncertain (whether high is more than `UNCERTAIN` times low), and the hover
        lines reported, tests, spread, cell_note.
    ranked : DataFrame
        One row per cell, best first: label, value, inside, fips of the county that it is named
        after, cell; with 2 members or more low and high.
    scale : Scale
    title : str
        What `value` is, for axes and colour bars.
    limits : tuple of float
        Colour limits, the same for every day.
    log : bool
        Whether p differs so much that colours follow its logarithm; the same for every day.
    insight : str
        The main finding in one sentence.
    caution : str, optional
        Why not to trust it, where there is a reason.
    """

    counties: pd.DataFrame
    scale: Scale
    title: str
    limits: tuple[float, float]
    log: bool
    insight: str
    caution: str | None

    @property
    def main_table(self) -> pd.DataFrame:
        """fips, county, state, value, and the interval where there is one, to take away."""
        return self.counties[[*_MAIN, *(end for end in ("low", "high") if end in self.counties)]]


def build_covid_view(
    dataset: Dataset,
    found: Fit,
    anchor: Anchor,
    *,
    day: int | None = None,
    n: int = 10,
    grids: DetectionGrids | None = None,
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
    grids : DetectionGrids, optional
        ``detection_grids(dataset, found, anchor)`` where it is at hand, which saves time.
    """
    grids = detection_grids(dataset, found, anchor) if grids is None else grids
    p, scale = grids.p, grids.scale
    mean = _over_days(p, day)
    table = dataset.table
    cells = (table["latitude_index"].to_numpy(), table["longitude_index"].to_numpy())
    ends = {end: _over_days(grid, day)[cells] for end, grid in grids.ends.items()}
    counties = table[["fips", "county", "state"]].assign(
        value=mean[cells],
        **ends,
        uncertain=ends["high"] > UNCERTAIN * ends["low"] if ends else False,
        reported=[f"reported cases, 60 days: {cases:,}" for cases in table["cases"]],
        tests=[f"tests a day per 1000: {_tests(tests)}" for tests in table["tests_per_1000"]],
        spread=_spread(ends) if ends else None,
        cell_note=[_cell_note(others) for others in table["counties_in_cell"] - 1],
    )
    worst, best = np.nanquantile(mean, [0.05, 0.95])
    ratio = float(best / worst)
    low, high = (float(limit) for limit in np.nanquantile(p, [0.02, 0.98]))
    return CovidView(
        counties=counties,
        ranked=_bars(table.assign(value=mean[cells], **ends)),
        n=n,
        scale=scale,
        title=axis_title(scale),
        limits=(low, high) if low < high else (low * 0.9, low * 1.1),
        log=_needs_log(p),
        insight=_insight(ratio),
        caution=caution(ratio),
    )


def code(*, day: int | None = None) -> str:
    """Lines that make the main table of the view from a fit: ``table``, as `main_table`."""
    averaged = ".mean(axis=1)" if day is None else f"[:, {day}]"
    return f"""\
places = dataset.table["latitude_index"], dataset.table["longitude_index"]
p = np.full(counts.shape, np.nan)


def by_county(detection):
    p[tuple(counts.attribute_indices.T)] = scale.detection(detection)
    return p[places]{averaged}


table = dataset.table[["fips", "county", "state"]].copy()
table["value"] = by_county(found.detection(counts.attributes))
if len(found.members) > 1:
    interval = found.detection(counts.attributes, spread=True)
    table["low"], table["high"] = by_county(interval.low), by_county(interval.high)
"""


def day_steps(dataset: Dataset, grids: DetectionGrids, day: int) -> Steps:
    """Return p of every county on every day, for a map to play through."""
    _, columns, n = grids.p.shape
    table = dataset.table
    cell = (table["latitude_index"] * columns + table["longitude_index"]).to_numpy()
    cells, places = np.unique(cell, return_inverse=True)
    return Steps(
        labels=tuple(map(day_text, dataset.counts.labels[2])),
        now=day,
        fips=table["fips"],
        places=places,
        numbers=grids.p.reshape(-1, n)[cells],
    )


def _over_days(p: NDArray[np.float64], day: int | None) -> NDArray[np.float64]:
    """One day of (I_1, I_2, days), or the mean over the days that are known where it is None."""
    if day is not None:
        return p[:, :, day]
    known = np.isfinite(p)
    days = known.sum(axis=2)
    total = np.where(known, p, 0.0).sum(axis=2)
    return np.where(days > 0, total / np.maximum(days, 1), np.nan)


def _needs_log(p: NDArray[np.float64]) -> bool:
    """Whether p spans much, and its logarithm puts the median nearer to the middle of a scale."""
    low, middle, high = (float(q) for q in np.nanquantile(p, [0.05, 0.5, 0.95]))
    if high <= _LOG * low:
        return False
    linear = (middle - low) / (high - low)
    log = math.log(middle / low) / math.log(high / low)
    return abs(log - 0.5) < abs(linear - 0.5)


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
            "fips": ranked["fips"].to_numpy(),
            "cell": ranked["cell"].to_numpy(),
            **{end: ranked[end].to_numpy() for end in ("low", "high") if end in ranked},
        }
    )


def _spread(ends: dict[str, NDArray[np.float64]]) -> list[str | None]:
    return [
        f"90 % interval: {low:.2g} to {high:.2g}" if np.isfinite(low) else None
        for low, high in zip(ends["low"].tolist(), ends["high"].tolist(), strict=True)
    ]


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
