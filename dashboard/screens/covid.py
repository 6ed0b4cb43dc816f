"""COVID-19: where cases were probably missed."""

import streamlit as st

from dashboard.maps import MAP_CONFIG, county_map
from dashboard.parts import best_and_worst, fit_details, insight_with_caution, meaning
from dashboard.running import fit_or_stop
from dashboard.sources import dataset_or_stop, simulated_badge
from dashboard.state import sidebar
from dashboard.views_covid import build_covid_view

st.title("Where were COVID-19 cases missed?")
choices = sidebar("covid")
dataset = dataset_or_stop(choices.dataset)
simulated_badge(dataset)
found = fit_or_stop(dataset, choices)

days = dataset.counts.labels[2]
left, right = st.columns([1, 2], vertical_alignment="bottom")
span = left.segmented_control(
    "Show",
    ["mean", "day"],
    default="mean",
    required=True,
    format_func={"mean": f"mean of {len(days)} days", "day": "one day"}.__getitem__,
    key="span",
    bind="query-params",
)
day = None
if span == "day":
    chosen = right.select_slider("Day", days, days[0], key="day", bind="query-params")
    day = days.index(chosen)
view = build_covid_view(dataset, found, choices.anchor, day=day)

insight_with_caution(view.insight, view.caution)
st.html(
    "<style>.st-key-map-box{height:clamp(300px,62vw,560px)!important;flex:none!important}</style>"
)
with st.container(key="map-box", height="stretch"):
    st.plotly_chart(
        county_map(
            view.counties,
            title=view.title,
            hover=("reported", "tests", "cell_note"),
            limits=view.limits,
            height=None,
        ),
        config=MAP_CONFIG,
        height="stretch",
        key="map",
        alt=f"Map of US counties coloured by {view.title}",
    )
st.caption(
    f"p: chance that a true case is reported, {view.scale.statement}. Counties whose centres "
    "round to the same whole degree of latitude and longitude form one cell and share one value."
)

best_and_worst(
    view.top,
    view.bottom,
    title=view.title,
    headings=("Highest detection", "Lowest detection"),
    of="cells",
)
st.caption(
    "One bar per cell, named after its most populous county; +2 means that two more counties "
    "share it. Inside: tests done per day and 1000 people, which the fit has not seen."
)

meaning(
    "**p is estimated, not measured.** It is the part of the differences between reported counts "
    "that the attributes explain; the part that places and days share goes to λ."
)
fit_details(found)
