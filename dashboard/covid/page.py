"""COVID-19: where cases were probably missed."""

from functools import partial

import streamlit as st

from dashboard.countymap.component import add_county, choose_county, chosen_county
from dashboard.covid.controls import choose_shown, covid_view, the_map, time_series
from dashboard.covid.view import NOUN, across_borders, build_county_view
from dashboard.shared.cache import cached, grids_of
from dashboard.shared.charts.answers import BELOW, answer, for_download, share_words
from dashboard.shared.data_section import data_section
from dashboard.shared.fit_status.running import say_trained, unfinished
from dashboard.shared.own_table import ENTERED
from dashboard.shared.page_kit import answer_table, both_ends, fitted_page, foot
from dashboard.shared.sidebar.widgets import dataset_or_stop, say_invalid
from dashboard.shared.text.page import insight_with_caution
from dashboard.shared.text.words import INTERVALS, read_words

MEANS = read_words(__file__, "means.toml")["means"]

if st.session_state[ENTERED]:
    add_county()
page = fitted_page("covid", "Where were COVID-19 cases missed?")
dataset, fit, roles, anchor = page
so_far, days = unfinished(fit), dataset.counts.labels[2]
grids = grids_of(dataset, fit, anchor)
headline = st.container()  # and the map are drawn after what they show is known
shown = choose_shown(dataset, grids.scale)
day, states, area = shown.scope
say_invalid("county", dataset.table["fips"].tolist(), "no county")
fips = chosen_county(dataset)
view = cached(covid_view, dataset, fit, anchor, shown.scope)
answers, scale = view.answers, view.answers.scale
if answers.tables["places"].empty:
    st.info("Nothing was counted in these counties. Choose more of them.")
    st.stop()
county = None
if fips is not None:
    county = build_county_view(dataset, fit, grids, fips, answers=answers, so_far=so_far)
with headline:
    chosen = ", ".join([*states, *([f"{len(answers.tables['places'])} places"] if area else [])])
    when = f"{days[0]} to {days[-1]}" if day is None else days[day]
    of, on = f"**{chosen or 'United States'}, {when}.** ", f" on {when}" * (day is not None)
    reported = answers.tables["places"]["reported"]
    none = f" {(reported == 0).sum():,} of {len(reported):,} places reported 0 that day."
    words = answer(answers.total, scale, NOUN, so_far=so_far, total=True)
    st.markdown(of + words + none * bool(on and (reported == 0).any()))
    if words := across_borders(dataset, answers, states):
        st.caption(words)
    the_map(page, shown, fips)
# Below the map, which a phone shows first.
insight_with_caution(view.insight, view.caution, so_far=so_far)
say_trained(fit)

county_of = view.ranked.set_index("label")["fips"]
both_ends(
    view,
    of=f"detection{on}",
    level=grids.uncertain_scale,
    chosen=[] if county is None else [county.place],
    on_click=lambda label: choose_county(county_of[label]),
    caption="Bars are of detection p, whatever the map shows; +2: two more counties share the "
    "place. Click a bar to choose its county.",
)
series = time_series(page, view, county, shown, chosen)
if county is not None and not so_far:
    st.page_link(
        "drivers/page.py",
        label="Why here? What affects p in this place",
        icon=":material/tune:",
        help="Opens Drivers with this place and these settings.",
    )
answer_table(
    answers,
    f"Reported and estimated{on}",
    names={"states": "state", "places": "place (cell of counties)"},
)

tables = {
    "Places": partial(for_download, answers.tables["places"], scale),
    "States": partial(for_download, answers.tables["states"], scale),
    "Counties": lambda: view.county_table,
}
if len(series):
    codes = series["place"].map(answers.all_places.set_index("place")["fips"])
    tables["Time series"] = partial(for_download, series.assign(fips=codes), scale)
shares = share_words(late=fit.reports_late) if "share" in answers.total else BELOW
data_section(dataset_or_stop(dataset.name))
foot(
    page,
    "covid",
    scale=scale,
    means=(*MEANS, shares if scale.absolute else "", INTERVALS[bool(grids.ends)]),
    tables=tables,
)
