"""Home: what this is, an answer for each data set, and where to go on."""

from functools import partial

import streamlit as st

from dashboard.countymap.component import show_county_map
from dashboard.home.view import detection_map, detection_matrix, headline
from dashboard.shared.cache import cached, cached_for_counts, grids_of, with_model
from dashboard.shared.charts.answers import axis_title, color_limits
from dashboard.shared.charts.bars import matrix_chart
from dashboard.shared.fit_status.service import batch_under_way, service, session
from dashboard.shared.sidebar.model import NO_DEATHS, Family, at_first
from dashboard.shared.sidebar.widgets import FAMILY_NAMES, dataset_or_none, simulated_badge
from dashboard.shared.text.page import show_chart
from dashboard.work.orders import FitOrder
from uncletc import Anchor, Fit
from uncletc.datasets import Dataset, DataUnavailableError

_HEIGHT = 380
_BEGUN = "home-begun"
_QUESTIONS: dict[Family, tuple[str, str]] = {
    "covid": ("Where were cases missed?", ":material/map:"),
    "ppi": ("Which interactions were overlooked?", ":material/local_florist:"),
}


def first_fit(family: Family) -> tuple[Dataset, FitOrder]:
    """Return the counts that a page opens with, and the order of their fit."""
    # Simulated counts are always here.
    dataset = dataset_or_none(family) or dataset_or_none(f"{family}-twin")
    try:
        model, settings = cached_for_counts(at_first, dataset, family)
    except (DataUnavailableError, ValueError):
        model, settings = at_first(dataset, family, deaths=NO_DEATHS)
    shown = with_model(dataset, model)
    return shown, FitOrder(shown.counts, settings)


def show_answer(family: Family, dataset: Dataset, fit: Fit | None) -> None:
    """Draw the headline of a data set and its map or matrix."""
    if fit is None:
        st.caption("The estimate appears here when its fit has finished.")
        return
    grids = grids_of(dataset, fit, Anchor())
    st.markdown(cached(headline, dataset, fit, Anchor()))
    if family == "covid":
        picture = detection_map(dataset, grids)
        show_county_map(picture, key="home-map", alt=f"Map of {picture.title}", height=_HEIGHT)
        return
    matrix = detection_matrix(dataset, grids)
    chart = partial(
        matrix_chart,
        matrix,
        title=axis_title(grids.scale),
        limits=color_limits(matrix.p),
        log=False,
    )
    show_chart(chart, key="home-matrix", alt="Mean p of plants and pollinators")


st.title("How many were missed?")
st.markdown(
    "Counts are often too low: a case is never tested, an insect is never seen. UncleTC estimates "
    "for every place and time the **true count λ** and the **detection probability p**, with "
    "intervals."
)
progress, places = st.container(), {}
for column, (family, (question, icon)) in zip(st.columns(2), _QUESTIONS.items(), strict=True):
    with column:
        st.header(FAMILY_NAMES[family])
        places[family] = st.container(height="stretch")  # links at one height
        st.page_link(f"{family}/page.py", label=f"**{question}**", icon=icon)
with st.container(horizontal=True):
    st.page_link("table/page.py", label="**Use your own table**", icon=":material/table:")
    st.page_link("lab/page.py", label="**Try the Lab**", icon=":material/science:")
with progress:  # the rest of the page need not wait for counts that are read the first time
    fits = {family: first_fit(family) for family in _QUESTIONS}
    orders = [order for _, order in fits.values()]
    first = not st.session_state.get(_BEGUN, False)
    st.session_state[_BEGUN] = True
    if session("home").missing(orders):
        words = "Estimating: {done} of {all} data sets done"
        batch_under_way("home", orders, pressed=first, words=words)
for family, (dataset, order) in fits.items():
    with places[family], st.spinner("Drawing the estimate …"):
        simulated_badge(dataset)
        show_answer(family, dataset, service().lookup(order))
