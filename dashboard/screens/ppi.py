"""Plant–pollinator: which interactions were probably overlooked, and when."""

import streamlit as st

from dashboard.charts import CHART_CONFIG, visits_chart
from dashboard.parts import best_and_worst, fit_details, insight_with_caution, meaning
from dashboard.running import fit_or_stop, unfinished
from dashboard.sources import dataset_or_stop, simulated_badge
from dashboard.state import sidebar
from dashboard.views_ppi import PICKS, build_ppi_view, quick_pick

st.title("Which interactions were overlooked?")
choices = sidebar("ppi")
dataset = dataset_or_stop(choices.dataset)
simulated_badge(dataset)
found = fit_or_stop(dataset, choices)
view = build_ppi_view(dataset, found, choices.anchor)

insight_with_caution(view.insight, view.caution)
best_and_worst(
    view.top,
    view.bottom,
    title=view.title,
    headings=("Highest mean detection", "Lowest mean detection"),
    of="interactions",
)
st.caption(
    f"Mean of p over all visits, {view.scale.statement}; interactions seen at least once. "
    "Inside: interactions seen in all."
)

st.subheader("Detection over the visits")
labels = sorted(view.interactions["label"])
for column, (pick, name) in zip(
    st.columns(4),
    {
        "highest mean": "Highest mean",
        "lowest mean": "Lowest mean",
        "highest sd": "Varies most",
        "lowest sd": "Varies least",
    }.items(),
    strict=True,
):
    if column.button(name, key=f"pick-{pick}", width="stretch", help=f"The {pick} of p"):
        st.session_state["interaction"] = quick_pick(view, pick)
provisional = st.session_state.pop("picked-so-far", None)  # by this page, from estimates so far
if st.session_state.get("interaction") not in set(labels) - {provisional}:
    st.session_state["interaction"] = quick_pick(view, next(iter(PICKS)))
    if unfinished(found):
        st.session_state["picked-so-far"] = st.session_state["interaction"]
chosen = st.selectbox("Interaction", labels, key="interaction", bind="query-params")
st.plotly_chart(
    visits_chart(view.visits[view.visits["label"] == chosen], title=view.title),
    config=CHART_CONFIG,
    key="visits",
    alt=f"p of {chosen} over the visits of each year",
)
st.caption(
    "Filled: both species were seen at that visit, so there is a count, perhaps 0. Open: at least "
    "one was not seen; p is then what the attributes of the visit suggest."
)

meaning(
    "**p is the chance that an interaction that happens is seen**, as far as flower abundance, "
    "weather, season and the kind of pollinator explain it."
)
fit_details(found)
