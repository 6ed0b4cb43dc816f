"""Drivers: what affects detection in a fit, p of one place, and what λ and reporting vary with."""

import streamlit as st

from dashboard.drivers import controls as parts
from dashboard.shared.fit_status.running import unfinished
from dashboard.shared.page_kit import fitted_page, foot
from dashboard.shared.sidebar import sidebar
from dashboard.shared.text.words import read_words

WORDS = read_words(__file__, "means.toml")
family = sidebar.choose_family()
# Ratios of p alone, the same on any scale.
page = fitted_page(family, "What affects detection?", scale=False)
dataset, fit, roles, _ = page

tables: parts.Tables = {}
if not fit.n_attributes and not dataset.counts.rate_attribute_names:
    st.info(WORDS["no covariate"], icon=":material/tune:")
if fit.n_attributes:
    tables |= parts.importance_and_effect(dataset, fit, family, roles)
if unfinished(fit):
    st.caption("Effects and contributions appear when the fit has finished.")
    st.stop()
if fit.n_attributes:
    tables |= parts.explanation_section(dataset, fit)
tables |= parts.random_effects_section(fit)
if fit.n_attributes:
    names = list(tables["Importance"]["covariate"])
    parts.interaction_section(dataset, fit, family, names)
tables |= parts.rates_section(dataset, fit)
foot(page, "drivers", means=WORDS["means"], tables=tables)
