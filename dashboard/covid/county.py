"""One county's days on the COVID-19 page: counts, λ and p of its cell. Pure."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from dashboard.covid.answers import CovidAnswers
from dashboard.shared.charts.answers import (
    DetectionGrids,
    anchor_words,
    answer,
    dense,
    rank_words,
    reports_late,
)
from dashboard.shared.charts.places import of_cell
from uncletc import Fit, Scale
from uncletc.datasets import Dataset

_GAP = "; a gap is a day that nobody counted, not 0"
_ZERO = "; a day on which nothing was published stands as 0"
_FREE = (
    "Reporting, such as that of weekdays on which a state publishes little, is a factor of its own "
    "and no part of λ or p: on a day when reports of others come in, λ lies below the count. "
)
INTERVALS = "Bands: 90 % intervals of λ and p, cut off where they reach far beyond the estimates."


@dataclass(frozen=True, eq=False, kw_only=True)
class CountyView:
    """What is drawn of one county.

    Attributes
    ----------
    name : str
        As "Baltimore city, Maryland".
    cell : str
        The cell that it lies in.
    summary : str
        What was reported and estimated of it over the time shown, and its rank by p.
    shared : str, optional
        Whose counts these are, where its cell holds other counties as well.
    days : DataFrame
        One row per day: day, reported (NaN where nothing was reported), predicted (ŷ = λp, on the
        scale of counts; times reporting where the fit has effects on it), rate (λ), p; where the
        fit has intervals rate_low, rate_high, p_low and p_high, the ends of 90 % intervals; where
        it has effects on reporting, reporting (a factor).
    p_title, rate_title, reported_title : str
        What p, λ and counts are, with their unit and scale, and whether they are of a cell.
    """

    name: str
    cell: str
    summary: str
    shared: str | None
    days: pd.DataFrame
    p_title: str
    rate_title: str
    reported_title: str

    @property
    def caption(self) -> str:
        """How to read the chart of the days."""
        reported = self.days["reported"]
        what = _GAP if reported.isna().any() else _ZERO if (reported == 0).any() else ""
        reporting = "reporting" in self.days
        together = "λ, p and reporting" if reporting else "λ and p"
        return (
            f"Bars: reported cases{what}. The line over them is what {together} together predict; "
            f"it does not depend on the scale. {_FREE if reporting else ''}"
            f"{INTERVALS if 'p_low' in self.days else ''}"
        )


def build_county_view(
    dataset: Dataset,
    fit: Fit,
    grids: DetectionGrids,
    fips: str,
    *,
    title: str,
    answers: CovidAnswers,
    so_far: bool = False,
) -> CountyView:
    """Return the days of the county's cell.

    Parameters
    ----------
    dataset : Dataset
        COVID-19 counts, real or simulated.
    fit : Fit
    grids : DetectionGrids
        p of `fit` on the chosen scale.
    fips : str
        A county of ``dataset.table``.
    title : str
        What p is, as on the other charts.
    answers : CovidAnswers
        Of the same fit and scale.
    so_far : bool
        Whether the fit still runs.

    Raises
    ------
    ValueError
        If the data have no such county.
    """
    rows = dataset.table[dataset.table["fips"] == fips]
    if rows.empty:
        raise ValueError(f"fips must be a county of these data, got {fips!r}")
    county = rows.iloc[0]
    place = (int(county["latitude_index"]), int(county["longitude_index"]))
    days = _days(dataset, fit, grids, place)
    together = dataset.table[dataset.table["cell"] == county["cell"]]
    whole = of_cell(len(together))
    return CountyView(
        name=f"{county['county']}, {county['state']}",
        cell=str(county["cell"]),
        summary=_summary(answers, fips, so_far),
        shared=_shared(together, fips),
        days=days,
        p_title=title + whole,
        rate_title=rate_title(grids.scale) + whole,
        reported_title=f"reported cases per day{whole}",
    )


def rate_title(scale: Scale) -> str:
    """What an axis of λ of this data set says."""
    if not scale.absolute:
        return "relative λ per day (as if p were its median)"
    return f"estimated true cases per day, λ ({anchor_words(scale)})"


def _days(
    dataset: Dataset, fit: Fit, grids: DetectionGrids, place: tuple[int, int]
) -> pd.DataFrame:
    counts = dataset.counts
    n = counts.shape[2]
    entries = np.column_stack([np.full(n, place[0]), np.full(n, place[1]), np.arange(n)])
    rate = grids.scale.rate(fit.rate(entries))
    p = grids.p[place]
    expected = fit.expected(entries, counts.attributes_at(entries, unknown_as_nan=True))
    table = pd.DataFrame(
        {
            "day": counts.labels[2],
            "reported": dense(counts)[place],
            "predicted": np.where(np.isnan(p), np.nan, expected),
            "rate": rate,
            "p": p,
        }
    )
    if fit.mode_effects is not None and reports_late(fit):
        table["reporting"] = fit.mode_effects.reporting(entries)
    if grids.ends:
        interval = grids.scale.rate_interval(fit.rate(entries, spread=True))
        table["rate_low"], table["rate_high"] = interval.low, interval.high
        table["p_low"], table["p_high"] = grids.ends["low"][place], grids.ends["high"][place]
    if grids.scale.absolute and not reports_late(fit):
        for name in [name for name in table if name.startswith("rate")]:
            table[name] = np.fmax(table[name], table["reported"])  # no fewer than were reported
    return table


def _summary(answers: CovidAnswers, fips: str, so_far: bool) -> str:
    """What a county reported, its part of what is estimated, and where its cell stands by p."""
    if fips not in answers.counties.index:
        return "Nothing was counted here, so nothing is estimated."
    row = answers.counties.loc[fips].to_dict()
    if not np.isfinite(row["detection"]):
        return "p cannot be estimated here: no attributes are known."
    said = answer(row, answers.scale, so_far=so_far)
    return f"{said} {rank_words(row, len(answers.all_places)) if answers.apart.ranking else ''}"


def _shared(together: pd.DataFrame, fips: str) -> str | None:
    if len(together) == 1:
        return None
    others = together[together["fips"] != fips].sort_values("population", ascending=False)
    names = others["county"].tolist()
    named = ", ".join(names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "")
    return (
        f"**Cell of {len(together)} counties**: this one, {named}. They share one p; the county's "
        "estimate is its part of the cell's, as its reported cases are (its people, where none "
        "were reported)."
    )
