"""Overview: what was counted, what is missing, and where it comes from."""

import streamlit as st

from dashboard.overview.parts import (
    attributes,
    choose_pattern,
    facts,
    pattern_section,
    places_section,
    provenance_card,
)
from dashboard.overview.view import build_overview
from dashboard.shared.cache import cached_for_counts
from dashboard.shared.fit_status.data_report import before_you_fit
from dashboard.shared.fit_status.takeaway import take_away
from dashboard.shared.own_table import code_of
from dashboard.shared.sidebar.choice import model_of
from dashboard.shared.sidebar.widgets import (
    dataset_or_stop,
    family_choice,
    simulated_badge,
    source_choice,
)
from dashboard.shared.text.page import role_details
from dashboard.shared.text.scripts import load, script
from dashboard.shared.text.words import escape

NEXT = {
    "covid": ("covid/page.py", "See where cases were probably missed", ":material/map:"),
    "ppi": (
        "ppi/page.py",
        "See which interactions were probably overlooked",
        ":material/local_florist:",
    ),
    "own": ("table/page.py", "See what was missed in your counts", ":material/explore:"),
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
    family = family_choice(
        "Which counts to look at: cases by county and day, interactions between plants and "
        "pollinators by visit, or your own."
    )
    # The key is not that of the other pages: Streamlit drops from a link to another page every
    # choice whose key this page uses, too.
    source = "own" if family == "own" else source_choice(family, key="counts")

dataset = dataset_or_stop(f"{family}-twin" if source == "simulated" else family)
view = cached_for_counts("overview", build_overview, dataset)
same_counts = {"part": "What was missed"} if family == "own" else {f"{family}_counts": source}

st.header(escape(dataset.title) if family == "own" else dataset.title)
simulated_badge(dataset)
st.markdown(view.insight)
screen, label, icon = NEXT[family]
st.page_link(screen, label=f"**{label}**", icon=icon, query_params=same_counts)
facts(view)

st.subheader("Before you fit")
before_you_fit(dataset)

st.subheader("What is missing")
pair, step = choose_pattern(dataset)
section = places_section(dataset, step) if pair is None else pattern_section(dataset, pair, step)
missing, code = section

if view.attributes.size:
    st.subheader("Attributes")
    st.markdown(
        "What detection, or the number of true events, may depend on, each scaled to run from 0 "
        "(smallest value) to 1 (largest)."
    )
    attributes(dataset, view)
    role_details(model_of(dataset))

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
        **missing,
        "Attributes": view.attributes.drop(columns="histogram", errors="ignore"),
    },
    code=script(code, dataset=load(code_of(dataset))),
)
