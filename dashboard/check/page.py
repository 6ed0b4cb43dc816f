"""Model check: whether held-out counts are consistent with the fit."""

import streamlit as st

from dashboard.check import controls as parts
from dashboard.check.view import check_view, seen_dataset
from dashboard.shared.cache import cached, cached_for_counts, with_model
from dashboard.shared.charts.places import is_covid
from dashboard.shared.fit_status.badges import remember_verdict
from dashboard.shared.fit_status.running import fit_or_stop, say_trained, unfinished
from dashboard.shared.page_kit import foot
from dashboard.shared.sidebar.sidebar import choose_family, sidebar
from dashboard.shared.sidebar.widgets import dataset_or_stop, simulated_badge
from dashboard.shared.text.words import read_words

st.title("Does the model fit the counts?")
family = choose_family()
choices = sidebar(family, scale=False)  # predicted counts have no free scale
dataset = dataset_or_stop(choices.dataset)
simulated_badge(dataset)
verdict_here = st.container()  # first, as soon as it is known
left, held_here = st.columns([2, 3], vertical_alignment="bottom")
with left:
    kind = parts.choose_held_out(dataset, family)
try:
    seen = cached_for_counts(seen_dataset, dataset, kind)
except ValueError:  # with too few a fifth cannot be held out
    st.info("Here are too few counts to hold out a fifth: a check needs 5 of what is held out.")
    st.stop()
page = fit_or_stop(seen, choices)
dataset, fit, roles = with_model(dataset, page.roles), page.fit, page.roles
if unfinished(fit):
    st.caption("The checks appear when the fit has finished.")
    st.stop()

view = cached(check_view, dataset, fit, kind)
remember_verdict(dataset, fit, view.verdict)
with verdict_here:
    parts.draw_verdict(view.verdict)
    say_trained(fit)
held_here.caption(view.held)
parts.calibration(view)
by = parts.places_and_times(dataset, view, family)
outside = None
if is_covid(dataset):
    outside = parts.outside_section(dataset, fit, stated=roles.roles_as_stated)

tables = {
    "Held-out counts": view.table,
    "Scores": view.scores,
    "Observed and predicted by tenth": view.check.deciles,
    f"Residuals by {by}": view.groups[by],
}
if outside:
    tables["p and independent estimates by state"] = outside.states
    tables["Rank correlations"] = outside.dots
foot(
    page._replace(dataset=outside.with_sources(dataset) if outside else dataset),
    "check",
    means=read_words(__file__, "means.toml")["means"],
    tables=tables,
)
