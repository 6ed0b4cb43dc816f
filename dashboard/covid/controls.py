"""What the COVID-19 page asks for, and the parts that show what was chosen."""

from functools import partial
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd
import streamlit as st

from dashboard.countymap.component import choose_area, choose_county, chosen_area, show_county_map
from dashboard.countymap.picture import MapPicture, county_map
from dashboard.covid import view
from dashboard.covid.charts import series_chart
from dashboard.shared.cache import cached, grids_of
from dashboard.shared.charts.answers import (
    anchor_words,
    answer,
    color_limits,
    rank_words,
    rate_name,
)
from dashboard.shared.fit_status.running import FittedPage
from dashboard.shared.sidebar.widgets import say_invalid, segmented
from dashboard.shared.text.page import show_chart
from dashboard.shared.text.words import read_words
from uncletc import Anchor, Fit, Scale
from uncletc.datasets import Dataset

Quantity = Literal["p", "per_1000"]
HELPS = read_words(__file__, "helps.toml")
MOST = 4  # places drawn beside the chosen one


class Shown(NamedTuple):
    """What the map shows."""

    scope: view.Scope
    quantity: Quantity


def choose_shown(dataset: Dataset, scale: Scale) -> Shown:
    """Ask what the map shows."""
    days, name = dataset.counts.labels[2], view.NOUN if scale.absolute else "λ"
    left, middle, right = st.columns([6, 5, 3])
    quantity: Quantity = segmented(
        "Map of",
        {"p": "detection p", "per_1000": f"{name} per 1,000"},
        key="map_of",
        where=left,
        help=HELPS["map"],
    )
    span = segmented(
        "Time",
        {"all": f"all {len(days)} days", "day": "one day"},
        key="span",
        where=middle,
        help="The mean over all days, or one day.",
    )
    names = sorted(dataset.table["state"].unique())
    say_invalid("states", names, "no state")
    states = right.multiselect(
        "States",
        names,
        key="states",
        bind="query-params",
        placeholder="all states",
        select_all=False,
        help=HELPS["states"],
    )
    day = None
    if span == "day":
        reported = np.bincount(dataset.counts.indices[:, 2], dataset.counts.counts > 0)
        usual = days[int(reported.argmax())]  # on holidays many places report nothing
        say_invalid("day", days, usual)
        chosen = st.select_slider(
            "Day",
            days,
            usual,
            key="day",
            bind="query-params",
            help="Arrow keys move it by one day.",
        )
        day = days.index(chosen)
    area = chosen_area()
    if area:
        st.button(
            "Show the whole map again",
            key="no-area",
            on_click=choose_area,
            args=((),),
            help="Numbers, bars and tables are of the counties in the box drawn on the map.",
        )
    return Shown(view.Scope(day, tuple(states), area), quantity)


def covid_view(dataset: Dataset, fit: Fit, anchor: Anchor, scope: view.Scope) -> view.CovidView:
    """Return the view of a fit and some counts; for `cached`."""
    sums = cached(view.cell_totals, dataset, fit, scope.day)
    return view.build_covid_view(dataset, fit, grids_of(dataset, fit, anchor), sums, scope)


def the_map(page: FittedPage, shown: Shown, fips: str | None) -> None:
    """Draw the map."""
    dataset, fit, _, anchor = page
    picture = cached(_picture, dataset, fit, anchor, shown)
    states = dataset.table["state"].isin(shown.scope.states)
    show_county_map(
        picture,
        key="map",
        alt=f"Map of US counties coloured by {picture.title}",
        selected=fips,
        focus=sorted(set(dataset.table.loc[states, "fips"].str[:2])),
        on_choose=choose_county,
        on_box=choose_area,
    )


def _picture(dataset: Dataset, fit: Fit, anchor: Anchor, shown: Shown) -> MapPicture:
    scope, quantity = shown
    found = cached(covid_view, dataset, fit, anchor, scope)
    counties, of_p = found.counties, quantity == "p"
    drawn = found.drawn
    if not of_p:
        scale, when = found.answers.scale, "in 60 days" if scope.day is None else "on the day"
        name = rate_name(scale, view.NOUN, f" {when} per {view.PER:,} people")
        drawn = {
            "title": f"{name} ({anchor_words(scale)})" if scale.absolute else name,
            "limits": color_limits(counties[quantity]),
            "log": True,
            "colorscale": "viridis",
        }
    return county_map(
        counties,
        color="value" if of_p else quantity,
        mark="mark" if of_p else None,
        hover=("spread", "reported", "estimate") if of_p else ("reported", "estimate"),
        missing=("no count" if of_p else "no reports")
        + ", or not chosen" * bool(scope.states or scope.area),
        uncertain="uncertain" if of_p else None,
        uncertain_means=HELPS["uncertain"].format(view.UNCERTAIN),
        simulated=dataset.provenance.simulated,
        people="population",
        **drawn,
    )


def time_series(
    page: FittedPage, of: view.CovidView, county: view.CountyView | None, shown: Shown, total: str
) -> pd.DataFrame:
    """Draw the days of the chosen county, of all chosen places and of some to compare."""
    dataset, fit, _, anchor = page
    day = shown.scope.day
    st.header("Time series" if county is None else county.name)
    if county is not None:
        on = "" if day is None else f"**{dataset.counts.labels[2][day]}.** "
        st.markdown(f"{on}{county.summary}")
    answers, grids = of.answers, grids_of(dataset, fit, anchor)
    places = answers.all_places.set_index("place")
    left, right = st.columns([5, 2], vertical_alignment="bottom")
    of_county = view.cells_of_counties(dataset, answers)
    compared = left.multiselect(
        "Compare places",
        [*places.index, *of_county],
        key="compare",
        bind="query-params",
        max_selections=MOST,
        select_all=False,  # else Enter takes all that the text finds
        placeholder="type the name of a county",
        help=HELPS["compare"].format(MOST),
    )
    per_person = right.toggle(
        f"Per {view.PER:,} people",
        key="per_person",
        bind="query-params",
        help="Divides cases, predicted cases and λ of each place by its population.",
    )
    population = places["population"].to_dict()
    views = [] if county is None else [county.days]
    for place in dict.fromkeys(of_county.get(name, name) for name in compared):
        if county is None or place != county.place:
            fips = str(places.loc[place, "fips"])
            views.append(view.build_county_view(dataset, fit, grids, fips, answers=answers).days)
            row = places.loc[place].to_dict()
            words = answer(row, answers.scale, view.NOUN), rank_words(row, len(places))
            st.markdown(f"- **{place}**: {' '.join(words)}")
    if total:
        whole = cached(covid_view, dataset, fit, anchor, shown.scope._replace(day=None))
        views.append(cached(view.total_days, dataset, fit, whole).assign(place=total))
        population[total] = answers.tables["places"]["population"].sum()
    if not views:
        st.caption("Select a county on the map, by its name or by a bar to see its time series.")
        return pd.DataFrame()
    series = pd.concat(views, ignore_index=True)
    if per_person:
        series = view.per_thousand(series, population)
    per = f", per {view.PER:,} people" if per_person else ""
    n = 1 if county is None or series["place"].nunique() > 1 else county.counties
    combined = f", {n} counties combined" * (n > 1)
    show_chart(
        partial(
            series_chart,
            series,
            p_title=of.title,
            rate_title=rate_name(answers.scale, view.NOUN, f" per day{per}"),
            count_title=f"reported cases per day{per}{combined}",
            day=None if day is None else dataset.counts.labels[2][day],
        ),
        key="county-days",
        alt=f"Reported cases, λ and p of {', '.join(series['place'].unique())} over the days",
    )
    if "p_low" in series:
        st.caption("Bands: 90 % intervals.")
    return series
