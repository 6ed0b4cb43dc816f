"""COVID-19: where cases were probably missed."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import pandas as pd
import streamlit as st

from dashboard.countymap.choice import choose_county, chosen_county
from dashboard.countymap.component import playing
from dashboard.covid.charts import cell_bars
from dashboard.covid.days import compare_places, county_panel
from dashboard.covid.map import choose_days, choose_quantity, choose_states, covid_view, the_map
from dashboard.covid.view import build_county_view, build_covid_view
from dashboard.shared.cache import cached, grids_of
from dashboard.shared.charts.answers import (
    BELOW,
    answer,
    for_download,
    open_scale,
    reports_late,
    share_words,
)
from dashboard.shared.charts.style import axis_limit
from dashboard.shared.fit_status.badges import gain_in_headline, gain_table, order_remark, why_here
from dashboard.shared.fit_status.running import unfinished
from dashboard.shared.page_kit import answer_table, both_ends, fitted_page, foot
from dashboard.shared.text.page import insight_with_caution
from dashboard.shared.text.scripts import fit_script
from dashboard.shared.text.words import NO_INTERVALS, day_text

page = fitted_page("covid", "Where were COVID-19 cases missed?")
dataset, fit, roles, anchor = page
so_far = unfinished(fit)
days = dataset.counts.labels[2]
headline = st.container()
grids = grids_of(dataset, fit, anchor)
left, middle, right = st.columns([4, 6, 3])
day = choose_days(days, left)
quantity = choose_quantity(grids.scale, middle)
states = choose_states(dataset, right)
fips = chosen_county(dataset)
above = st.container()  # drawn after the number of bars is known
n = st.slider(
    "Places to list",
    5,
    30,
    10,
    key="covid_bars",
    bind="query-params",
    help="How many of the cells with the highest and the lowest p to list.",
)
view = replace(cached("covid", covid_view, dataset, fit, anchor, day, states), n=n)
answers = view.answers
county = None
if fips is not None:
    county = build_county_view(
        dataset, fit, grids, fips, title=view.title, answers=answers, so_far=so_far
    )

plays = day is not None and playing("map")  # then its own slider says the day
with headline:
    where = f"{', '.join(states)}" if states else "All places together"
    st.markdown(
        "**The map plays.** Numbers, bars and charts follow when it pauses."
        if plays
        else f"**{where}**{'' if day is None else f', {day_text(days[day])}'}. "
        f"{answer(answers.total, view.scale, so_far=so_far)} {open_scale(view.scale)}"
    )
with above:
    the_map(dataset, fit, anchor, fips=fips, day=day, states=states, quantity=quantity)
    insight_with_caution(" ".join(filter(None, (view.insight, answers.apart.words))), view.caution)
    gain = gain_in_headline(dataset, fit)
    st.caption(
        f"p: chance that a true case is reported, {view.scale.statement}. Counties whose centres "
        "round to the same whole degree of latitude and longitude form one cell and share one "
        "p. " + ("" if grids.ends else NO_INTERVALS)
    )
    county_panel(county, day=None if day is None or plays else days[day])
    if county is not None and not so_far:
        why_here("covid")


def on_bar(chart: str) -> None:
    """Choose the county of the bar clicked on."""
    points = st.session_state[chart].selection.points
    if points:
        choose_county(points[0]["customdata"][-1])


both_ends(
    view,
    answers,
    partial(cell_bars, title=view.title, limit=axis_limit(view.top, view.bottom)),
    of="detection",
    ranking=view.ranking,
    chosen=[] if county is None else view.labels_of(county.cell),
    on_click=on_bar,
)
st.caption(
    order_remark(gain)
    + "One bar per cell, named after its most populous county; +2 means that two more counties "
    "share it. Click a bar to choose that county. On them: p, and tests per day and 1000 people, "
    "which the fit has not seen; *state data*: those of the whole state. " + grids.whiskers
)
compared = compare_places(dataset, fit, grids, answers, p_title=view.title)
answer_table(
    answers,
    "Reported and estimated, by place",
    names={"states": "state", "places": "place (cell of counties)"},
    notes="λ adds up over all days; p is the mean over places and days. Reported cases of a state "
    "are those of its counties. What is estimated of a cell whose counties lie in several states "
    "(*shared cells*) is divided as its counties reported.",
    shares=share_words(late=reports_late(fit)) if "share" in answers.total else BELOW,
    uncertain_scale=grids.uncertain_scale,
)

absolute = view.scale.absolute
tables: dict[str, pd.DataFrame | Callable[[], pd.DataFrame]] = {
    "Places": lambda: view.main_table,
    "States": lambda: for_download(answers.tables["states"], absolute=absolute),
    "Counties": lambda: view.county_table,
}
if county is not None:
    tables["Days of the chosen county"] = partial(for_download, county.days, absolute=absolute)
if len(compared):
    tables["Days of the places compared"] = partial(for_download, compared, absolute=absolute)
if gain is not None:
    tables["What attributes add"] = partial(gain_table, gain, dataset)
foot(
    page,
    "covid",
    means="**p is estimated, not measured.** It is the part of the differences between reported "
    "counts that the attributes explain; the part that places and days share belongs to λ.",
    tables=tables,
    code=fit_script(
        dataset.name,
        fit.settings,
        build_covid_view,
        anchor,
        day=day,
        states=states,
        roles=roles,
        take=".main_table",
    ),
)
