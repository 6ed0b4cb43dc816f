"""COVID-19 page: data, fit and choices in; frozen tables ready to draw out. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dashboard.covid.answers import CovidAnswers, build_answers
from dashboard.shared.charts.answers import (
    DetectionGrids,
    amount,
    axis_title,
    color_limits,
    contrast,
    detection_grids,
    for_download,
    over_last,
    rate_name,
)
from dashboard.shared.charts.places import Ranking, cell_notes, cells, of_cell
from dashboard.shared.text.words import P_IS_THE_SAME, day_text, times
from uncletc import Anchor, Fit, Scale
from uncletc.datasets import Dataset
from uncletc.estimates import Sums, reported_by_county

UNCERTAIN = 4.0  # times the low end that the high end of an interval of p may be
UNCERTAIN_MEANS = (
    f"uncertain: the ends of its 90 % interval differ by more than {UNCERTAIN:g}-fold, "
    "beyond what all share"
)
_RANKS = ("cell", "rank", "rank_low", "rank_high")
_LOG = 20.0  # times the 5th percentile of p that its 95th may be on a linear scale


@dataclass(frozen=True, eq=False, kw_only=True)
class CovidView(Ranking):
    """What the COVID-19 page draws.

    Attributes
    ----------
    counties : DataFrame
        One row per county: fips, county, state, population, value (p on the chosen scale, NaN
        where the cell has no attributes), where the fit has intervals low and high (the ends of
        the 90 % interval of that p), rate and per_1000 (its part of λ, and that per 1000 people),
        uncertain (whether high is more than `UNCERTAIN` times low), cell, and the hover lines
        reported, estimate, tests, spread, cell_note. NaN outside the chosen states.
    ranked : DataFrame
        One row per cell, best first: label, value, inside, fips of the county that it is named
        after, cell; where the fit has intervals low and high, and the ranks of its places.
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
    ranking : bool
        Whether listing the lowest and the highest says anything.
    answers : CovidAnswers
    """

    counties: pd.DataFrame
    scale: Scale
    title: str
    limits: tuple[float, float]
    log: bool
    insight: str
    caution: str | None
    ranking: bool
    answers: CovidAnswers

    @property
    def main_table(self) -> pd.DataFrame:
        """One row per place, to download: what was reported, λ, p, share counted, ranks."""
        return for_download(self.answers.places, absolute=self.scale.absolute)

    @property
    def county_table(self) -> pd.DataFrame:
        """One row per county: its own reports, its part of λ, and p of its cell."""
        columns = ["fips", "county", "state", "cell", "counties_in_cell", "value", "low", "high"]
        shown = self.counties[[name for name in columns if name in self.counties]]
        own = self.answers.counties
        names = ["reported", *(name for name in own if name.startswith(("rate", "share")))]
        shown = shown.join(own[names], on="fips")
        return for_download(shown, absolute=self.scale.absolute)


def build_covid_view(
    dataset: Dataset,
    fit: Fit,
    anchor: Anchor,
    *,
    day: int | None = None,
    states: Sequence[str] = (),
    n: int = 10,
    grids: DetectionGrids | None = None,
    sums: Sums | None = None,
    listed: pd.DataFrame | None = None,
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
    states : sequence of str
        The states to keep; none: all.
    n : int
        Bars at each end.
    grids : DetectionGrids, optional
        ``detection_grids(dataset, fit, anchor)`` if it has been computed already.
    sums : Sums, optional
        ``cell_totals(dataset, fit, day)`` if it has been computed already.
    listed : DataFrame, optional
        ``places_of(dataset)``, likewise.
    """
    grids = detection_grids(dataset, fit, anchor) if grids is None else grids
    p, scale = grids.p, grids.scale

    def at(grid: NDArray[np.float64]) -> NDArray[np.float64]:
        return over_last(grid) if day is None else grid[:, :, day]

    mean = at(p)
    table = dataset.table
    where = (table["latitude_index"].to_numpy(), table["longitude_index"].to_numpy())
    answers = build_answers(dataset, fit, scale, day=day, states=states, sums=sums, listed=listed)
    inside = table["state"].isin(list(states)) if states else table["state"].notna()
    of_cells = answers.all_places.set_index("cell")
    ends = {end: table["cell"].map(of_cells[f"detection_{end}"]) for end in grids.ends}
    when = "in 60 days" if day is None else f"on {day_text(dataset.counts.labels[2][day])}"
    values = {"value": mean[where], **ends}
    known = inside & np.isfinite(values["value"])
    values = {name: np.where(known, each, np.nan) for name, each in values.items()}
    ends = {end: values[end] for end in ends}
    counties = table[["fips", "county", "state", "cell", "counties_in_cell", "population"]].assign(
        **values,
        uncertain=_uncertain(ends, shared=grids.uncertain_scale) if ends else False,
        rate=table["fips"].map(answers.counties["rate"]).where(inside),
        per_1000=table["fips"].map(answers.counties["per_1000"]).where(inside),
        reported=[
            f"reported cases {when}: {cases:,.0f}" for cases in reported_by_county(dataset, day)
        ],
        estimate=table["fips"].map(_lines(answers.counties, scale)),
        tests=[
            f"tests per day and 1000 people: {_tests(tests)}" for tests in table["tests_per_1000"]
        ],
        spread=_spread(ends, table) if ends else None,
        cell_note=cell_notes(table),
    )
    ratio = contrast(values["value"])
    ranks = answers.places[[name for name in _RANKS if name in answers.places]]
    return CovidView(
        counties=counties,
        ranked=_bars(table.assign(**values), list(values)).merge(ranks, on="cell", how="left"),
        n=n,
        scale=scale,
        title=axis_title(scale),
        limits=color_limits(p),
        log=_needs_log(p),
        insight=_insight(ratio) if dataset.counts.n_attributes else P_IS_THE_SAME,
        caution=answers.apart.caution(ratio) if dataset.counts.n_attributes else None,
        ranking=answers.apart.ranks(ratio),
        answers=answers,
    )


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
    of_states = table.groupby("state")["tests_per_1000"].nunique().max() <= 1
    source = " (state data)" if of_states else ""
    inside = [
        f"{value:.2g}; {_tests(tests)} tests{source}"
        for value, tests in zip(ranked["value"], ranked["tests_per_1000"], strict=True)
    ]
    return ranked[["label", *values, "fips", "cell"]].assign(inside=inside)


def _spread(ends: dict[str, NDArray[np.float64]], table: pd.DataFrame) -> list[str | None]:
    """The interval of p of each county's cell in a line."""
    rows = zip(ends["low"], ends["high"], table["counties_in_cell"], strict=True)
    return [
        f"90 % interval: {low:.2g} to {high:.2g}{of_cell(n)}" if np.isfinite(low) else None
        for low, high, n in rows
    ]


def _lines(counties: pd.DataFrame, scale: Scale) -> pd.Series:
    """λ of each county in a line, by fips."""
    texts = [
        f"estimated {rate_name(scale, 'true cases')}: {amount(rate)}" for rate in counties["rate"]
    ]
    if "rate_low" in counties:
        ends = zip(texts, counties["rate_low"], counties["rate_high"], strict=True)
        texts = [f"{text} ({amount(low)} to {amount(high)})" for text, low, high in ends]
    texts = [
        f"{text}, its part of a cell of {n} counties" if n > 1 else text
        for text, n in zip(texts, counties["counties_in_cell"], strict=True)
    ]
    return pd.Series(texts, counties.index)


def _tests(per_1000: float) -> str:
    return "unknown" if np.isnan(per_1000) else f"{per_1000:.1f}"


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
