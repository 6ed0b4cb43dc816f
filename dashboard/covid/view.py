"""COVID-19 page: data, fit and choices in; frozen tables ready to draw out. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from dashboard.shared.charts.answers import (
    Answers,
    DetectionGrids,
    amount,
    anchor_words,
    answer,
    axis_title,
    color_limits,
    contrast,
    dense,
    detection_grids,
    for_download,
    over_last,
    rank_words,
    rate_name,
    reports_late,
    share_words,
    told_apart,
)
from dashboard.shared.charts.places import Ranking, cell_notes, cells, of_cell
from dashboard.shared.text.words import P_IS_THE_SAME, day_text, times
from uncletc import Anchor, Fit, Scale
from uncletc.datasets import Dataset
from uncletc.estimates import Sums, county_shares, group_sums, reported_by_county, state_names

PER = 1000  # people
CELL = ["latitude_index", "longitude_index"]
UNCERTAIN = 4.0  # times the low end that the high end of an interval of p may be
UNCERTAIN_MEANS = (
    f"uncertain: the ends of its 90 % interval differ by more than {UNCERTAIN:g}-fold, "
    "beyond what all share"
)
INTERVALS = "Bands: 90 % intervals of λ and p, cut off where they reach far beyond the estimates."
_RANKS = ("cell", "rank", "rank_low", "rank_high")
_LOG = 20.0  # times the 5th percentile of p that its 95th may be on a linear scale
_DIFFER = 1.5  # ratio of % counted and p, beyond which a county's summary says why
_GAP = "; a gap is a day that nobody counted, not 0"
_ZERO = "; a day on which nothing was published stands as 0"
_FREE = (
    "Reporting, such as that of weekdays on which a state publishes little, is a factor of its own "
    "and no part of λ or p: on a day when reports of others come in, λ lies below the count. "
)


@dataclass(frozen=True, eq=False, kw_only=True)
class CovidAnswers(Answers):
    """Answers by state and by cell in the chosen states, and more.

    Attributes
    ----------
    tables : dict of str to DataFrame
        "states": population, cells, how many of these are shared with other states (shared_cells),
        what the counties reported, and the sum of their parts of cells. "places": `all_places` in
        the chosen states.
    all_places : DataFrame
        One row per cell, the most populous first, whatever states are chosen: place (its label),
        fips (of the county that it is named after), cell, state (all of its states), population,
        then what :meth:`uncletc.estimates.Sums.table` has, per_1000 (λ per 1000 people) and the
        columns of :meth:`uncletc.estimates.Sums.ranks`.
    counties : DataFrame
        Index fips, one row per county of the counts: cell, counties_in_cell, population, reported
        by the county itself, its part of the cell's rate, per_1000, share, and the cell's
        detection.
    """

    all_places: pd.DataFrame
    counties: pd.DataFrame


def cell_totals(dataset: Dataset, fit: Fit, day: int | None = None) -> Sums:
    """Sum counts, λ and p of cells, over the days or of one, in the order of :func:`places_of`."""
    counts = dataset.counts
    groups = _numbers(dataset, places_of(dataset))[tuple(counts.indices[:, :2].T)]
    if day is not None:
        groups = np.where(counts.indices[:, 2] == day, groups, -1)
    return group_sums(fit, counts, groups)


def places_of(dataset: Dataset) -> pd.DataFrame:
    """Return one row per counted cell: place, fips, cell, states, population and its indices."""
    table = dataset.table
    living = table[table["counted"]] if "counted" in table else table
    people = living.groupby("cell")["population"].sum()
    listed = cells(table).rename(columns={"label": "place"}).drop(columns="state")
    listed = listed.join(state_names(table), on=CELL)
    listed = listed.assign(population=listed["cell"].map(people))
    counted = set(map(tuple, np.unique(dataset.counts.indices[:, :2], axis=0).tolist()))
    pairs = zip(listed["latitude_index"], listed["longitude_index"], strict=True)
    listed = listed[[pair in counted for pair in pairs]]
    return listed[["place", "fips", "cell", "state", "population", *CELL]].reset_index(drop=True)


def build_answers(
    dataset: Dataset,
    fit: Fit,
    scale: Scale,
    *,
    day: int | None = None,
    states: Sequence[str] = (),
    sums: Sums | None = None,
) -> CovidAnswers:
    """Return answers for counties, cells, states and all together.

    Parameters
    ----------
    dataset : Dataset
        COVID-19 counts, real or simulated.
    fit : Fit
    scale : Scale
        Of λ and p.
    day : int, optional
        Index of one day; None: all days.
    states : sequence of str
        The states to keep; none: all. Ranks are those among all places.
    sums : Sums, optional
        ``cell_totals(dataset, fit, day)`` if it has been computed already.
    """
    listed = places_of(dataset)
    sums = cell_totals(dataset, fit, day) if sums is None else sums
    number = _numbers(dataset, listed)
    listed = listed.drop(columns=CELL)
    listed = listed.head(len(sums.entries))  # those at the end may have no count on a day
    bounded = day is None or not reports_late(fit)

    def table(found: Sums) -> pd.DataFrame:
        return found.table(scale, at_least_reported=bounded)

    ranks = sums.ranks()
    places = _per_person(pd.concat([listed, table(sums), ranks], axis=1))
    counties = dataset.table.assign(
        group=number[tuple(dataset.table[CELL].to_numpy().T)],
        part=county_shares(dataset.table),
        reported=reported_by_county(dataset, day),
    )
    counties = counties[(counties["group"] >= 0) & (counties["group"] < len(places))]
    names, state = np.unique(counties["state"].to_numpy(dtype=str), return_inverse=True)
    kept: NDArray[np.bool_] = np.isin(names, list(states)) if states else names == names

    def together(rows: NDArray[np.int64], size: int) -> pd.DataFrame:
        """Sums of counties: of their own reports and of their parts of cells; row -1: left out."""
        own = counties[rows >= 0].assign(row=rows[rows >= 0])
        weights = csr_matrix((own["part"], (own["row"], own["group"])), shape=(size, len(places)))
        reported = np.bincount(own["row"], own["reported"], size)
        return table(sums.weighted(weights, reported))

    of_states = counties.groupby("state")
    shared = counties["group"].where(counties.groupby("group")["state"].transform("nunique") > 1)
    by_state = pd.DataFrame(
        {
            "state": names,
            "population": of_states["population"].sum().to_numpy(),
            "cells": of_states["group"].nunique().to_numpy(),
            "shared_cells": shared.groupby(counties["state"]).nunique().to_numpy(),
        }
    )
    by_state = _per_person(pd.concat([by_state, together(state, len(names))], axis=1))[kept]
    inside = [not set(names[kept]).isdisjoint(each.split(", ")) for each in places["state"]]
    return CovidAnswers(
        tables={
            "states": by_state.sort_values("population", ascending=False, ignore_index=True),
            "places": places[inside].reset_index(drop=True),
        },
        columns={
            "states": ["state", "population", "cells", "shared_cells"],
            "places": ["place", "state", "population"],
        },
        total=together(np.where(kept[state], 0, -1), 1).iloc[0].to_dict(),
        apart=told_apart(ranks, "places"),
        scale=scale,
        all_places=places,
        counties=_of_counties(counties, places),
    )


def _numbers(dataset: Dataset, listed: pd.DataFrame) -> NDArray[np.int64]:
    """Row of `listed` of each cell over latitude and longitude; -1: none."""
    number = np.full(dataset.counts.shape[:2], -1)
    number[tuple(listed[CELL].to_numpy().T)] = np.arange(len(listed))
    return number


def _of_counties(counties: pd.DataFrame, places: pd.DataFrame) -> pd.DataFrame:
    """What each county reported, and its part of what is estimated of its cell."""
    cell = places.iloc[counties["group"]].reset_index(drop=True)
    kept = ["fips", "cell", "counties_in_cell", "population", "reported"]
    found = counties[kept].reset_index(drop=True)
    part = counties["part"].to_numpy()
    for name in [name for name in places if name.startswith(("rate", "detection", "rank"))]:
        found[name] = cell[name] * part if name.startswith("rate") else cell[name]
    if "share" in places:
        ends = ("", "_low", "_high") if "rate_low" in places else ("",)
        for end, other in zip(ends, ("", "_high", "_low"), strict=False):
            rates = found[f"rate{other}"]
            found[f"share{end}"] = (found["reported"] / rates.where(rates > 0)).clip(upper=1.0)
    return _per_person(found).set_index("fips")


def _per_person(table: pd.DataFrame) -> pd.DataFrame:
    people = table["population"].where(table["population"] > 0)
    return table.assign(per_1000=PER * table["rate"] / people)


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
        return for_download(self.answers.tables["places"], absolute=self.scale.absolute)

    def labels_of(self, cell: str) -> list[str]:
        """Label of the bar of a cell, if it has one."""
        return self.ranked["label"][self.ranked["cell"] == cell].tolist()

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
    """
    grids = detection_grids(dataset, fit, anchor) if grids is None else grids
    p, scale = grids.p, grids.scale

    table = dataset.table
    answers = build_answers(dataset, fit, scale, day=day, states=states, sums=sums)
    inside = table["state"].isin(list(states)) if states else table["state"].notna()
    when = "in 60 days" if day is None else f"on {day_text(dataset.counts.labels[2][day])}"
    # p over the entries that have a count, as its interval and its rank are; where none has one,
    # over all with attributes.
    every = over_last(p) if day is None else p[:, :, day]
    most = 1.0 if scale.absolute else np.inf
    of_cells = answers.all_places.set_index("cell")
    ends = {
        end: table["cell"].map(of_cells[f"detection_{end}"]).clip(upper=most) for end in grids.ends
    }
    counted = table["cell"].map(of_cells["detection"]).clip(upper=most)
    values = {
        "value": counted.fillna(pd.Series(every[tuple(table[CELL].to_numpy().T)], table.index)),
        **ends,
    }
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
    ranks = answers.tables["places"][[name for name in _RANKS if name in answers.tables["places"]]]
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
    rank = rank_words(row, len(answers.all_places)) if answers.apart.ranking else ""
    return " ".join(filter(None, (said, rank, _why_not_p(row))))


def _why_not_p(row: dict[str, Any]) -> str:
    """Why % counted is far from p, where it is."""
    share, p = row.get("share", np.nan), row["detection"]
    if row["reported"] == 0:
        return "Nothing was reported here, so p rests on what its attributes do elsewhere."
    if not np.isfinite(share) or p / _DIFFER <= share <= p * _DIFFER:
        return ""
    return f"p is {p:.2g}: {share_words(late=True)}"


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
