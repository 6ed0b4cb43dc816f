"""Drivers: what moves detection in a fit, why p of one place is what it is, and what moves λ."""

import streamlit as st

from dashboard.drivers import controls as parts
from dashboard.drivers.view import importance_view, rates_table
from dashboard.shared.fit_status.badges import fit_badges
from dashboard.shared.fit_status.running import fit_or_stop, unfinished
from dashboard.shared.fit_status.takeaway import take_away
from dashboard.shared.own_table import code_of
from dashboard.shared.sidebar.sidebar import choose_family, sidebar
from dashboard.shared.sidebar.widgets import dataset_or_stop, simulated_badge
from dashboard.shared.text.page import fit_details, meaning, role_details
from dashboard.shared.text.scripts import fit_script

st.title("What moves detection?")
family = choose_family()
choices = sidebar(family, scale=False)  # ratios of p alone, the same on any scale
dataset = dataset_or_stop(choices.dataset)
badges = st.empty()
with badges.container():
    simulated_badge(dataset)
st.info(
    "**A description, not a cause.** This page shows what the fitted p is associated with. An "
    "attribute may stand for something that was not recorded.",
    icon=":material/info:",
)
dataset, fit, roles = fit_or_stop(dataset, choices)
with badges.container():
    fit_badges(dataset, fit, family)

tables = {}
if not fit.n_attributes and not dataset.counts.rate_attribute_names:
    st.info(
        "**No attribute acts on anything in this fit**, so p is the same everywhere and nothing "
        "moves it. Attributes say how the counting was done: effort, weather, who looked.",
        icon=":material/tune:",
    )
if fit.n_attributes:
    bars = parts.importance_section(dataset, fit, family)
    if not unfinished(fit):
        names = list(bars["attribute"])
        tables["Importance"] = bars
        tables |= parts.effect_section(dataset, fit, family, names, roles)
        tables |= parts.pair_section(dataset, fit, family, names)
        tables |= parts.explanation_section(dataset, fit)
if unfinished(fit):
    st.caption("Effects and explanations appear when the fit has finished.")
    st.stop()
tables |= parts.rates_section(dataset, fit)
tables |= parts.random_effects_section(dataset, fit, family)

meaning(
    "**Shuffles, curves and contributions describe the fit.** Where p has absorbed differences "
    "that belong to λ, they show that too.",
)
role_details(roles)
fit_details(fit, roles)
take_away(
    "drivers",
    dataset=dataset,
    fit=fit,
    roles=roles,
    tables=tables,
    code=fit_script(
        code_of(dataset),
        fit.settings,
        importance_view if fit.n_attributes else rates_table,
        roles=roles,
        take=".bars" if fit.n_attributes else "",
    ),
)
