"""COVID-19 page: data, fit and choices in; frozen tables ready to draw out. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from dashboard.countymap.picture import Box, counties_in
from dashboard.shared.charts.answers import (
    Answers,
    DetectionGrids,
    answer,
    axis_title,
    bars_of,
    color_limits,
    dense,
    findings,
    for_download,
    is_wide,
    over_last,
    rank_precision,
    rank_words,
    rate_name,
)
from dashboard.shared.charts.places import (
    Ranking,
    cell_marks,
    cells,
    labels_of_counties,
    rows_of_pairs,
)
from dashboard.shared.text.words import amount, span
from uncletc import Fit, Scale
from uncletc.datasets import Dataset
from uncletc.estimates import Sums, county_shares, group_sums, reported_by_county, state_names

PER = 1000  # people
NOUN = "infections"
CELL = ["latitude_index", "longitude_index"]
UNCERTAIN = 4.0  # times the low end that the high end of a relative interval of p may be
_DIFFER = 1.5  # ratio of % reported and p, beyond which a county's summary says why
_LEAST = 1e-9  # of λ, for a logarithm


class Scope(NamedTuple):
    """Which counts a view is of; of all where nothing is chosen.

    Attributes
    ----------
    day : int, optional
        Index of one day; None: all days.
    states : tuple of str
        The states to keep; none: all.
    area : tuple of int
        The part of the map to keep; see :func:`dashboard.countymap.picture.counties_in`.
    """

    day: int | None = None
    states: tuple[str, ...] = ()
    area: Box = ()


EVERYTHING = Scope()


@dataclass(frozen=True, eq=False, kw_only=True)
class CovidAnswers(Answers):
    """Answers by state and by cell in the chosen states, and more.

    Attributes
    ----------
    tables : dict of str to DataFrame
        "states": population of the chosen counties, what they reported, and the sum of their parts
        of cells. "places": `all_places` in the chosen states.
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
    groups = rows_of_pairs(dataset, places_of(dataset), counts.indices)
    if day is not None:
        groups = np.where(counts.indices[:, 2] == day, groups, -1)
    return group_sums(fit, counts, groups)


@lru_cache(4)  # asked several times by each run of the page
def places_of(dataset: Dataset) -> pd.DataFrame:
    """Return one row per counted cell: place, fips, cell, states, population and its indices."""
    table = dataset.table
    living = table[table["counted"]] if "counted" in table else table
    people = living.groupby("cell")["population"].sum()
    listed = cells(table).rename(columns={"label": "place"}).drop(columns="state")
    listed = listed.join(state_names(table), on=CELL)
    listed = listed.assign(population=listed["cell"].map(people))
    counted = pd.MultiIndex.from_arrays(dataset.counts.indices[:, :2].T)
    listed = listed[pd.MultiIndex.from_frame(listed[CELL]).isin(counted)]
    return listed[["place", "fips", "cell", "state", "population", *CELL]].reset_index(drop=True)


def build_answers(
    dataset: Dataset, fit: Fit, scale: Scale, sums: Sums, scope: Scope = EVERYTHING
) -> CovidAnswers:
    """Return answers for counties, cells, states and all together.

    Parameters
    ----------
    dataset : Dataset
        COVID-19 counts, real or simulated.
    fit : Fit
    scale : Scale
        Of λ and p.
    sums : Sums
        ``cell_totals(dataset, fit, scope.day)``.
    scope : Scope
        Ranks are those among all places.
    """
    listed = places_of(dataset)
    group = rows_of_pairs(dataset, listed, dataset.table[CELL].to_numpy())
    # Those at the end may have no count on a day.
    listed = listed.drop(columns=CELL).head(len(sums.entries))
    bounded = scope.day is None or not fit.reports_late

    def table(found: Sums) -> pd.DataFrame:
        return found.table(scale, at_least_reported=bounded)

    places = _per_person(pd.concat([listed, table(sums), sums.ranks()], axis=1))
    counties = dataset.table.assign(
        group=group,
        part=county_shares(dataset.table),
        reported=reported_by_county(dataset, scope.day),
    )
    counties = counties[(counties["group"] >= 0) & (counties["group"] < len(places))]
    chosen = counties[_inside(counties, scope)]
    names, state = np.unique(chosen["state"].to_numpy(dtype=str), return_inverse=True)

    def together(of: pd.DataFrame, rows: NDArray[np.int64], size: int) -> pd.DataFrame:
        """Sums of counties: of their own reports and of their parts of cells."""
        weights = csr_matrix((of["part"], (rows, of["group"])), shape=(size, len(places)))
        return table(sums.weighted(weights, np.bincount(rows, of["reported"], size)))

    people = chosen.groupby("state")["population"].sum().to_numpy()
    by_state = pd.DataFrame({"state": names, "population": people})
    by_state = _per_person(pd.concat([by_state, together(chosen, state, len(names))], axis=1))
    return CovidAnswers(
        tables={
            "states": by_state.sort_values("population", ascending=False, ignore_index=True),
            "places": places.loc[np.unique(chosen["group"])].reset_index(drop=True),
        },
        columns={"states": ["state", "population"], "places": ["place", "state", "population"]},
        total=together(chosen, np.zeros(len(chosen), np.int64), 1).iloc[0].to_dict(),
        precision="" if scope.states or scope.area else rank_precision(places, scale, "places"),
        scale=scale,
        noun=NOUN,
        simulated=dataset.provenance.simulated,
        all_places=places,
        counties=_of_counties(
            counties, places, together(counties, np.arange(len(counties)), len(counties))
        ),
    )


def across_borders(dataset: Dataset, answers: CovidAnswers, states: Sequence[str]) -> str:
    """Return how many places hold counties of states that are not chosen; empty without any."""
    others = dataset.table[~dataset.table["state"].isin(states)]
    places = answers.tables["places"]["cell"]
    n = int(places.isin(others["cell"]).sum()) if states else 0
    words = f"Counties of other states share {n} of these {len(places)} places"
    return f"{words}: their rows, bars and p are of all counties there." if n else ""


def cells_of_counties(dataset: Dataset, answers: CovidAnswers) -> dict[str, str]:
    """Label of the cell of each county that it is not named after, by the names of both."""
    table = dataset.table[dataset.table["fips"].isin(answers.counties.index)]
    labels = table["cell"].map(answers.all_places.set_index("cell")["place"])
    found = zip(labels_of_counties(table), labels, strict=True)
    return {f"{name} (in {at})": at for name, at in found if not at.startswith(name)}


def _inside(counties: pd.DataFrame, scope: Scope) -> NDArray[np.bool_]:
    """Which counties are in some states, or all for none, and in a part of the map."""
    chosen = counties["state"].notna()
    if scope.states:
        chosen = counties["state"].isin(list(scope.states))
    if scope.area:
        chosen &= counties["fips"].isin(counties_in(scope.area))
    return chosen.to_numpy()


def _of_counties(counties: pd.DataFrame, places: pd.DataFrame, own: pd.DataFrame) -> pd.DataFrame:
    """What each county reported, its part of λ of its cell, and p and rank of the cell."""
    kept = ["fips", "cell", "counties_in_cell", "population", "reported"]
    cell = places.iloc[counties["group"]].reset_index(drop=True)
    parts = own.filter(regex="^(rate|share)"), cell.filter(regex="^(detection|rank)")
    found = pd.concat([counties[kept].reset_index(drop=True), *parts], axis=1)
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
        the 90 % interval of that p), per_1000 (its part of λ per 1000 people, above 0),
        uncertain (whether the ends of p's relative interval differ more than `UNCERTAIN` times),
        cell, mark (whose value is a cell's), and the lines of a tooltip: spread, reported,
        estimate. NaN outside the chosen states.
    ranked : DataFrame
        One row per cell, as :func:`dashboard.shared.charts.answers.bars_of` returns it, with fips
        of the county that it is named after, and cell.
    answers : CovidAnswers
    """

    counties: pd.DataFrame
    answers: CovidAnswers

    @property
    def county_table(self) -> pd.DataFrame:
        """One row per county: its own reports, its part of λ, and p of its cell."""
        columns = ["fips", "county", "state", "cell", "counties_in_cell", "value", "low", "high"]
        own = self.answers.counties.filter(regex="^(reported|rate|share)")
        shown = self.counties.filter(columns).join(own, on="fips")
        shown["county"] = labels_of_counties(shown)
        return for_download(shown, self.answers.scale)


def build_covid_view(
    dataset: Dataset, fit: Fit, grids: DetectionGrids, sums: Sums, scope: Scope = EVERYTHING
) -> CovidView:
    """Return p per county, averaged over the days or for one day.

    Parameters
    ----------
    dataset : Dataset
        COVID-19 counts, real or simulated.
    fit : Fit
    grids : DetectionGrids
        ``detection_grids(dataset, fit, anchor)``.
    sums : Sums
        ``cell_totals(dataset, fit, scope.day)``.
    scope : Scope
    """
    p, scale = grids.p, grids.scale
    answers = build_answers(dataset, fit, scale, sums, scope)
    places = answers.all_places
    tests = dataset.table.set_index("fips")["tests_per_1000"]
    tests = tests.map("{:.1f}".format, na_action="ignore").fillna("unknown")
    every_bar = bars_of(
        places,
        sums,
        scale,
        label=places["place"],
        fips=places["fips"],
        cell=places["cell"],
        note="tests per 1,000 people per day: " + places["fips"].map(tests),
    )
    shown_cells = set(answers.tables["places"]["cell"])
    bars = every_bar[every_bar["cell"].isin(shown_cells)].reset_index(drop=True)
    return CovidView(
        counties=_counties(dataset, grids, answers, every_bar, scope),
        ranked=bars,
        title=axis_title(scale),
        limits=color_limits(p),
        log=is_wide(p),
        answers=answers,
        **findings(dataset, answers.precision, bars["value"], "A case", "places"),
    )


def _counties(
    dataset: Dataset, grids: DetectionGrids, answers: CovidAnswers, bars: pd.DataFrame, scope: Scope
) -> pd.DataFrame:
    """Values and lines of text of each county, as in :class:`CovidView`.

    p is that of the entries that have a count, as its interval and its rank are; where none has
    one, that of all with attributes.
    """
    table, p, day = dataset.table, grids.p, scope.day
    inside = _inside(table, scope)
    every = over_last(p) if day is None else p[:, :, day]
    everywhere = pd.Series(every[tuple(table[CELL].to_numpy().T)], table.index)
    of_cells = bars.set_index("cell")
    value = table["cell"].map(of_cells["value"]).fillna(everywhere).where(inside)
    found = table[["fips", "county", "state", "cell", "counties_in_cell", "population"]].assign(
        value=value, uncertain=False, spread=None
    )
    marks = cell_marks(table)
    if grids.ends:
        wide = of_cells["high"] / of_cells["low"] > UNCERTAIN
        ends = {end: table["cell"].map(of_cells[f"level_{end}"]) for end in ("low", "high")}
        spread = [
            f"90 % interval: {low:.2g} to {high:.2g}{mark or ''}" if np.isfinite(low) else None
            for low, high, mark in zip(ends["low"], ends["high"], marks, strict=True)
        ]
        found = found.assign(
            **{end: values.where(inside) for end, values in ends.items()},
            uncertain=table["cell"].map(wide).eq(True) & inside,
            spread=pd.Series(spread, table.index, dtype=object).where(inside),
        )
    when = "in 60 days" if day is None else f"on {dataset.counts.labels[2][day]}"
    own = answers.counties
    return found.assign(
        per_1000=table["fips"].map(own["per_1000"]).clip(lower=_LEAST).where(inside),
        mark=marks,
        reported=[
            f"reported cases {when}: {cases:,.0f}" for cases in reported_by_county(dataset, day)
        ],
        estimate=table["fips"].map(_lines(own, grids.scale)),
    )


def _lines(counties: pd.DataFrame, scale: Scale) -> pd.Series:
    """λ of each county in a line, by fips, where it is known."""
    known, name = counties[counties["rate"].notna()], rate_name(scale, NOUN)

    def line(row: Mapping[str, Any]) -> str:
        text, n = f"{name}: {amount(row['rate'])}", row["counties_in_cell"]
        if "rate_low" in row:
            text += f" ({span(row['rate_low'], row['rate_high'])})"
        return f"{text}, this county's part of its cell of {n} counties" if n > 1 else text

    return pd.Series(map(line, known.to_dict("records")), known.index)


@dataclass(frozen=True, eq=False, kw_only=True)
class CountyView:
    """What is drawn of one county.

    Attributes
    ----------
    name : str
        As "Baltimore city, MD".
    place : str
        Label of its cell, as bars and tables have it; empty for a cell without a count.
    summary : str
        What was reported and estimated of it over the time shown, its rank by p, and where its cell
        holds other counties as well, whose time series these are.
    days : DataFrame
        One row per day: place, day, reported (NaN where nothing was reported), predicted (ŷ = λp,
        on the scale of counts; times reporting where the fit has effects on it), rate (λ), p;
        where the fit has intervals rate_low, rate_high, p_low and p_high, the ends of 90 %
        intervals; where it has effects on reporting, reporting (a factor).
    counties : int
        Of its cell.
    """

    name: str
    place: str
    summary: str
    days: pd.DataFrame
    counties: int


def build_county_view(
    dataset: Dataset,
    fit: Fit,
    grids: DetectionGrids,
    fips: str,
    *,
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
    answers : CovidAnswers
        Of the same fit and scale.
    so_far : bool
        Whether the fit still runs.
    """
    rows = dataset.table[dataset.table["fips"] == fips]
    county = rows.iloc[0]
    cell = tuple(int(county[name]) for name in CELL)
    named = answers.all_places.loc[answers.all_places["cell"] == county["cell"], "place"].tolist()
    place = named[0] if named else ""
    days = _days(dataset, fit, grids, cell).assign(place=place)
    together = dataset.table[dataset.table["cell"] == county["cell"]]
    return CountyView(
        name=labels_of_counties(rows).iloc[0],
        place=place,
        summary=f"{_summary(answers, fips, so_far)} {_combined(together, fips)}",
        days=days,
        counties=len(together),
    )


def total_days(dataset: Dataset, fit: Fit, view: CovidView) -> pd.DataFrame:
    """Return the days of all chosen places together, as ``days`` of :class:`CountyView`."""
    counts, listed = dataset.counts, places_of(dataset)
    chosen = listed["cell"].isin(view.answers.tables["places"]["cell"]).to_numpy()
    place = rows_of_pairs(dataset, listed, counts.indices)
    inside, day = chosen[place] & (place >= 0), counts.indices[:, 2]
    table = group_sums(fit, counts, np.where(inside, day, -1)).table(
        view.answers.scale, at_least_reported=False
    )
    expected = fit.expected_counts(counts)[inside]
    days = table.rename(columns=lambda name: name.replace("detection", "p")).assign(
        day=counts.labels[2][: len(table)], predicted=np.bincount(day[inside], expected, len(table))
    )
    if fit.mode_effects is not None and fit.reports_late:
        on_time = expected / fit.mode_effects.reporting(counts.indices[inside])
        days["reporting"] = days["predicted"] / np.bincount(day[inside], on_time, len(table))
    begins = "rate", "p_", "reporting"
    names = ["day", "reported", "predicted", *(n for n in days if n.startswith(begins))]
    return days.loc[days["entries"] > 0, [*names, "p"]]


def per_thousand(days: pd.DataFrame, population: Mapping[str, float]) -> pd.DataFrame:
    """Return `days` of :class:`CountyView` with counts and λ per 1000 people of their place."""
    people = days["place"].map(population) / PER
    amounts = [name for name in days if name.startswith(("reported", "predicted", "rate"))]
    return days.assign(**{name: days[name] / people for name in amounts})


def _days(dataset: Dataset, fit: Fit, grids: DetectionGrids, cell: tuple[int, ...]) -> pd.DataFrame:
    counts = dataset.counts
    n = counts.shape[2]
    entries = np.column_stack([np.full(n, cell[0]), np.full(n, cell[1]), np.arange(n)])
    p = grids.p[cell]
    expected = fit.expected(entries, counts.attributes_at(entries, unknown_as_nan=True))
    table = pd.DataFrame(
        {
            "day": counts.labels[2],
            "reported": dense(counts)[cell],
            "predicted": np.where(np.isnan(p), np.nan, expected),
            "rate": grids.scale.rate(fit.rate(entries)),
            "p": p,
        }
    )
    late = fit.reports_late
    if fit.mode_effects is not None and late:
        table["reporting"] = fit.mode_effects.reporting(entries)
    if grids.ends:
        interval = fit.quantity("rate", counts, entries, grids.scale)
        table["rate_low"], table["rate_high"] = interval.low, interval.high
        table["p_low"], table["p_high"] = grids.ends["low"][cell], grids.ends["high"][cell]
    if grids.scale.absolute and not late:
        for name in [name for name in table if name.startswith("rate")]:
            table[name] = np.fmax(table[name], table["reported"])  # no fewer than were reported
    return table


def _summary(answers: CovidAnswers, fips: str, so_far: bool) -> str:
    """What a county reported, its part of what is estimated, and where its cell stands by p."""
    if fips not in answers.counties.index:
        return "Nothing was counted here, so nothing is estimated."
    row = answers.counties.loc[fips].to_dict()
    if not np.isfinite(row["detection"]):
        return "p cannot be estimated here: no covariates are known."
    sentences = [
        answer(row, answers.scale, NOUN, so_far=so_far),
        rank_words(row, len(answers.all_places)),
    ]
    share, p = row.get("share", np.nan), row["detection"]
    if row["reported"] > 0 and np.isfinite(share) and not p / _DIFFER <= share <= p * _DIFFER:
        sentences.append(f"p is {p:.2g}: unlike it, % reported reflects reporting delays and gaps.")
    return " ".join(sentences)


def _combined(together: pd.DataFrame, fips: str) -> str:
    if len(together) == 1:
        return ""
    together = together.sort_values("population", ascending=False)
    names, own = labels_of_counties(together), together["fips"] == fips
    others = names[~own].tolist()
    named = [*names[own], *others[:6]]
    last = f"{len(others) - 6} more" if len(others) > 6 else named.pop()
    return (
        f"Time series of {len(together)} counties combined, which share one p: "
        f"{', '.join(named)} and {last}."
    )
