"""COVID-19 page: data, fit and choices in; frozen tables ready to draw out. Pure."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dashboard.shared.anchors import Anchor, axis_title
from dashboard.shared.detection import (
    DetectionGrids,
    color_limits,
    contrast,
    detection_grids,
    for_download,
    mean_ends,
    over_last,
)
from dashboard.shared.places import cell_notes, cells
from dashboard.shared.ranking import Ranking
from dashboard.shared.words import P_IS_THE_SAME, caution, times
from uncletc import CountTensor, Fit, Scale
from uncletc.datasets import Dataset

UNCERTAIN = 4.0  # times the low end that the high end of an interval of p may be
UNCERTAIN_MEANS = (
    f"uncertain: the ends of its 90 % interval differ by more than {UNCERTAIN:g}-fold, "
    "beyond what all share"
)
_LOG = 20.0  # times the 5th percentile of p that its 95th may be on a linear scale


@dataclass(frozen=True, eq=False, kw_only=True)
class CovidView(Ranking):
    """What the COVID-19 page draws.

    Attributes
    ----------
    counties : DataFrame
        One row per county: fips, county, state, value (p on the chosen scale, NaN where the cell
        has no attributes), where the fit has intervals low and high (the ends of the 90 %
        interval of that p), uncertain (whether high is more than `UNCERTAIN` times low), and
        the hover lines reported, tests, spread, cell_note.
    ranked : DataFrame
        One row per cell, best first: label, value, inside, fips of the county that it is named
        after, cell; where the fit has intervals low and high.
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
        """fips, county, state, detection, and its interval where there is one, to download."""
        columns = ["fips", "county", "state", "value", "low", "high"]
        shown = self.counties[[name for name in columns if name in self.counties]]
        return for_download(shown, absolute=self.scale.absolute)


def build_covid_view(
    dataset: Dataset,
    fit: Fit,
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
    fit : Fit
    anchor : Anchor
    day : int, optional
        Index of one day; None for the mean over all days.
    n : int
        Bars at each end.
    grids : DetectionGrids, optional
        ``detection_grids(dataset, fit, anchor)`` if it has been computed already.
    """
    grids = detection_grids(dataset, fit, anchor) if grids is None else grids
    p, scale = grids.p, grids.scale

    def at(grid: NDArray[np.float64]) -> NDArray[np.float64]:
        return over_last(grid) if day is None else grid[:, :, day]

    mean = at(p)
    table = dataset.table
    where = (table["latitude_index"].to_numpy(), table["longitude_index"].to_numpy())
    ends = {end: at(grid) for end, grid in grids.ends.items()}
    if ends and day is None:
        ends = _mean_ends(dataset.counts, fit, scale)
    ends = {end: grid[where] for end, grid in ends.items()}
    values = {"value": mean[where], **ends}
    counties = table[["fips", "county", "state"]].assign(
        **values,
        uncertain=_uncertain(ends, shared=grids.uncertain_scale) if ends else False,
        reported=[f"reported cases in 60 days: {cases:,}" for cases in table["cases"]],
        tests=[
            f"tests per day and 1000 people: {_tests(tests)}" for tests in table["tests_per_1000"]
        ],
        spread=_spread(ends) if ends else None,
        cell_note=cell_notes(table),
    )
    ratio = contrast(mean)
    return CovidView(
        counties=counties,
        ranked=_bars(table.assign(**values), list(values)),
        n=n,
        scale=scale,
        title=axis_title(scale),
        limits=color_limits(p),
        log=_needs_log(p),
        insight=(_insight(ratio) if dataset.counts.n_attributes else P_IS_THE_SAME)
        + (_counted(dataset.counts, fit) if day is None else ""),
        caution=caution(ratio) if dataset.counts.n_attributes else None,
    )


def _mean_ends(counts: CountTensor, fit: Fit, scale: Scale) -> dict[str, NDArray[np.float64]]:
    """Ends of the intervals of the means over the days, on the grid of places; NaN without p."""
    entries, shape = counts.attribute_indices, counts.shape[:2]
    places = np.ravel_multi_index(tuple(entries[:, :2].T), shape)
    ends = mean_ends(counts, fit, scale, entries, places)
    missing = np.full(shape[0] * shape[1] - len(ends["low"]), np.nan)
    return {end: np.append(values, missing).reshape(shape) for end, values in ends.items()}


def _needs_log(p: NDArray[np.float64]) -> bool:
    """Whether p spans much, and its logarithm puts the median nearer to the middle of a scale."""
    low, middle, high = (float(q) for q in np.nanquantile(p, [0.05, 0.5, 0.95]))
    if high <= _LOG * low:
        return False
    linear = (middle - low) / (high - low)
    log = math.log(middle / low) / math.log(high / low)
    return abs(log - 0.5) < abs(linear - 0.5)


def _bars(table: pd.DataFrame, values: list[str]) -> pd.DataFrame:
    """One bar per cell, best first."""
    ranked = cells(table.dropna(subset="value"))
    ranked = ranked.sort_values("value", ascending=False, kind="stable", ignore_index=True)
    inside = [f"{_tests(tests)} tests per 1000" for tests in ranked["tests_per_1000"]]
    return ranked[["label", *values, "fips", "cell"]].assign(inside=inside)


def _spread(ends: dict[str, NDArray[np.float64]]) -> list[str | None]:
    return [
        f"90 % interval: {low:.2g} to {high:.2g}" if np.isfinite(low) else None
        for low, high in zip(ends["low"].tolist(), ends["high"].tolist(), strict=True)
    ]


def _tests(per_1000: float) -> str:
    return "unknown" if np.isnan(per_1000) else f"{per_1000:.1f}"


def _counted(counts: CountTensor, fit: Fit) -> str:
    """How many of all true cases were counted, where data state the scale; else empty."""
    if fit.scale is None or fit.draws is None:
        return ""
    true, reported = fit.mean("rate", counts.indices), counts.counts.mean()
    share, least, most = (
        f"{100 * min(reported / float(value[0]), 1):.0f}"
        for value in (true.estimate, true.high, true.low)
    )
    return (
        f" Of all cases **{share} %** were counted ({least} to {most} %, a 90 % interval), by what "
        f"{fit.anchored_by} say."
    )


def _insight(ratio: float) -> str:
    return (
        f"A case is **{times(ratio)}** as likely to be counted in the best-detecting "
        f"5 % of places as in the worst-detecting 5 %."
    )


def _uncertain(ends: dict[str, NDArray[np.float64]], *, shared: bool) -> NDArray[np.bool_]:
    """Whether intervals (n,) are wide, beyond how uncertain the scale is if all share that."""
    widths = np.log(ends["high"] / ends["low"])
    known = widths[np.isfinite(widths)]
    least = float(known.min()) if shared and len(known) else 0.0
    return np.asarray(widths**2 > np.log(UNCERTAIN) ** 2 + least**2)
