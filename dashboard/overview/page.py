"""Overview: what was counted, what is missing, and where it comes from."""

import streamlit as st

from dashboard.overview.charts import along_chart, pattern_figure
from dashboard.overview.controls import (
    attributes,
    choose_counts,
    choose_pattern,
    facts,
    provenance_card,
)
from dashboard.overview.view import build_overview, build_pattern, pattern_table
from dashboard.shared.parts import role_details, show_chart
from dashboard.shared.roles import roles_of
from dashboard.shared.scripts import DATASET, call, load, script
from dashboard.shared.sources import dataset_or_stop, simulated_badge
from dashboard.shared.takeaway import take_away

NEXT = {
    "covid": ("covid/page.py", "See where cases were probably missed", ":material/map:"),
    "ppi": (
        "ppi/page.py",
        "See which interactions were probably overlooked",
        ":material/local_florist:",
    ),
}

st.title("What was counted, and what was missed?")
st.markdown(
    "Counts are often too low: a case is never tested, an insect is never seen. This dashboard "
    "estimates, for every place and time, **λ**, the expected number of true events, and **p**, "
    "the chance that one of them is counted. It learns λ from patterns that places and times "
    "share, and p from **attributes** such as weather or hospital beds. An attribute may also "
    "change λ: what each may change is stated, with reasons."
)

with st.sidebar:
    family, source = choose_counts()

dataset = dataset_or_stop(family if source == "real" else f"{family}-twin")
view = build_overview(dataset)
same_counts = {f"{family}_counts": source}

st.header(dataset.title)
simulated_badge(dataset)
st.markdown(view.insight)
screen, label, icon = NEXT[family]
st.page_link(screen, label=f"**{label}**", icon=icon, query_params=same_counts)
facts(view)

st.subheader("What is missing")
pair, step = choose_pattern(dataset)
pattern = build_pattern(dataset, pair, step)
third = pattern.third_mode
what = (
    f"Its colour says for how many {third}s there is a count"
    if step is None
    else f"Its colour is the count reported at this {third}, with the same colours for each {third}"
)
st.markdown(
    f"One square is one {pattern.row_mode} and {pattern.column_mode}. {what}; blank means that "
    "nobody counted, **not** that nothing happened."
)
show_chart(
    pattern_figure(pattern),
    key="pattern",
    alt=f"What was counted, by {pattern.row_mode} and {pattern.column_mode}",
)
st.markdown(f"**Counts per {third}**")
show_chart(
    along_chart(pattern),
    key="steps",
    alt=f"Sum of reported counts per {third}",
)

st.subheader("Attributes")
st.markdown(
    "What detection, or the number of true events, may depend on, each scaled to run from 0 "
    "(smallest value) to 1 (largest)."
)
attributes(dataset, view)
role_details(roles_of(dataset))

st.subheader("Where the data come from")
provenance_card(dataset)

st.subheader("Where to go next")
with st.container(horizontal=True):
    st.page_link(screen, label=NEXT[family][1], icon=icon, query_params=same_counts)
    st.page_link("whatif/page.py", label="Compare two settings", icon=":material/compare:")
    st.page_link("drivers/page.py", label="Ask what moves detection", icon=":material/tune:")
    st.page_link("lab/page.py", label="Learn how it works", icon=":material/science:")
take_away(
    "overview",
    dataset=dataset,
    fit=None,
    tables={
        f"Counts by {pattern.row_mode} and {pattern.column_mode}": pattern_table(
            dataset, pair, step
        ),
        f"Counts per {third}": pattern.steps,
        "Attributes": view.attributes.drop(columns="histogram"),
    },
    code=script(call(pattern_table, DATASET, pair, step=step), dataset=load(dataset.name)),
)
