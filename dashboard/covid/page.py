"""COVID-19: where cases were probably missed."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import pandas as pd
import streamlit as st

from dashboard.countymap.choice import chosen_county
from dashboard.countymap.component import playing
from dashboard.covid.compare import compare_places
from dashboard.covid.controls import (
    cells_to_click,
    choose_bars,
    choose_states,
    county_panel,
)
from dashboard.covid.county import build_county_view
from dashboard.covid.days import choose_days
from dashboard.covid.map import choose_quantity, covid_view, the_map
from dashboard.covid.panel import outside_check, outside_panel, with_sources
from dashboard.covid.table import answer_tables
from dashboard.covid.view import build_covid_view
from dashboard.shared.cache import cached, grids_of
from dashboard.shared.charts.answers import answer, for_download, open_scale, reports_late
from dashboard.shared.fit_status.badges import (
    fit_badges,
    gain_in_headline,
    gain_table,
    order_remark,
    why_here,
)
from dashboard.shared.fit_status.running import fit_or_stop, unfinished
from dashboard.shared.fit_status.takeaway import take_away
from dashboard.shared.sidebar.roles import STATED
from dashboard.shared.sidebar.sidebar import sidebar
from dashboard.shared.sidebar.widgets import dataset_or_stop, simulated_badge
from dashboard.shared.text.page import fit_details, insight_with_caution, meaning, role_details
from dashboard.shared.text.scripts import fit_script
from dashboard.shared.text.words import NO_INTERVALS, day_text

st.title("Where were COVID-19 cases missed?")
choices = sidebar("covid")
dataset = dataset_or_stop(choices.dataset)
badges = st.empty()
with badges.container():
    simulated_badge(dataset)
dataset, fit, roles = fit_or_stop(dataset, choices)
with badges.container():
    fit_badges(dataset, fit, "covid")

days = dataset.counts.labels[2]
headline = st.container()
grids = grids_of(dataset, fit, choices.anchor)
left, middle, right = st.columns([4, 6, 3])
day = choose_days(days, left)
quantity = choose_quantity(grids.scale, middle)
states = choose_states(dataset, right)
fips = chosen_county(dataset)
above = st.container()  # drawn after the number of bars is known
n = choose_bars()
view = replace(cached("covid", covid_view, dataset, fit, choices.anchor, day, states), n=n)
county = None
if fips is not None:
    county = build_county_view(
        dataset,
        fit,
        grids,
        fips,
        title=view.title,
        answers=view.answers,
        so_far=unfinished(fit),
    )

plays = day is not None and playing("map")  # then its own slider says the day
with headline:
    where = f"{', '.join(states)}" if states else "All places together"
    so_far = unfinished(fit)
    st.markdown(
        "**The map plays.** Numbers, bars and charts follow when it pauses."
        if plays
        else f"**{where}**{'' if day is None else f', {day_text(days[day])}'}. "
        f"{answer(view.answers.total, view.scale, so_far=so_far)} {open_scale(view.scale)}"
    )
with above:
    the_map(
        dataset,
        fit,
        choices.anchor,
        fips=fips,
        day=day,
        states=states,
        quantity=quantity,
    )
    insight_with_caution(
        " ".join(filter(None, (view.insight, view.answers.apart.words))), view.caution
    )
    gain = gain_in_headline(dataset, fit)
    checked = outside_check(dataset, fit)
    st.caption(
        f"p: chance that a true case is reported, {view.scale.statement}. Counties whose centres "
        "round to the same whole degree of latitude and longitude form one cell and share one "
        "value. " + ("" if grids.ends else NO_INTERVALS)
    )
    county_panel(county, day=None if day is None or plays else days[day])
    if county is not None and not unfinished(fit):
        why_here("covid")

cells_to_click(view, county)
st.caption(
    order_remark(gain)
    + "One bar per cell, named after its most populous county; +2 means that two more counties "
    "share it. Click a bar to choose that county. On them: p, and tests per day and 1000 people, "
    "which the fit has not seen; *state data*: those of the whole state. " + grids.whiskers
)
compared = compare_places(dataset, fit, grids, view.answers, p_title=view.title)
answer_tables(view.answers, uncertain_scale=grids.uncertain_scale, late=reports_late(fit))

outside_panel(dataset, fit, checked, stated=roles.preset == STATED)
meaning(
    "**p is estimated, not measured.** It is the part of the differences between reported counts "
    "that the attributes explain; the part that places and days share belongs to λ."
)
role_details(roles)
fit_details(fit, roles)
absolute = view.scale.absolute
tables: dict[str, pd.DataFrame | Callable[[], pd.DataFrame]] = {
    "Places": lambda: view.main_table,
    "States": lambda: for_download(view.answers.states, absolute=absolute),
    "Counties": lambda: view.county_table,
}
if county is not None:
    tables["Days of the chosen county"] = partial(for_download, county.days, absolute=absolute)
if len(compared):
    tables["Days of the places compared"] = partial(for_download, compared, absolute=absolute)
if gain is not None:
    tables["What attributes add"] = partial(gain_table, gain, dataset)
if checked is not None:
    tables["p and outside estimates by state"] = checked.states
    tables["Rank correlations"] = checked.dots
take_away(
    "covid",
    dataset=with_sources(dataset, checked),
    fit=fit,
    roles=roles,
    anchor=choices.anchor,
    tables=tables,
    code=fit_script(
        dataset.name,
        fit.settings,
        build_covid_view,
        choices.anchor,
        day=day,
        states=states,
        roles=roles,
        take=".main_table",
    ),
)
