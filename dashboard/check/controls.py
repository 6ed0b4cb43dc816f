"""Sections of the Model check page: what to hold out, the checks drawn, further fits on demand."""

from functools import partial

import pandas as pd
import streamlit as st

from dashboard.check import charts, outside
from dashboard.check.verdict import dispersion_words
from dashboard.check.view import CELL, CheckView, fibres_of
from dashboard.countymap.component import show_county_map
from dashboard.countymap.picture import MapPicture, county_map
from dashboard.shared.cache import cached, cached_for_counts
from dashboard.shared.fit_status.badges import MARKS
from dashboard.shared.fit_status.outcome import Verdict
from dashboard.shared.sidebar.model import Family
from dashboard.shared.sidebar.widgets import key_of, offer_download, segmented
from dashboard.shared.text.page import show_chart
from dashboard.shared.text.words import capital, escape
from uncletc import Fit, datasets
from uncletc.compare import FoldKind
from uncletc.datasets import Dataset

_MAP_LIMIT = 2.0
_BOXES = {
    "bad": (st.error, ":material/error:"),
    "open": (st.warning, ":material/help:"),
    "good": (st.success, ":material/check_circle:"),
}


def choose_held_out(dataset: Dataset, family: Family) -> FoldKind:
    """Ask what to keep from the fit."""
    places = fibres_of(dataset)[1]
    chosen = segmented(
        "Held out",
        ["single entries", places],
        key=key_of(family, "held"),
        help="A fifth of the counts is held out of the fit and then predicted. **Single entries**: "
        f"gaps among other counts of the same place. **{capital(escape(places))}**: all counts of "
        "some, which is much harder.",
    )
    return "entry" if chosen == "single entries" else "fibre"


def draw_verdict(verdict: Verdict) -> None:
    """Draw what the checks say together, marked by colour, sign and words."""
    color, icon = MARKS[verdict.status]
    with st.container(border=True, key="verdict"):
        st.badge(verdict.headline, icon=icon, color=color)
        st.markdown("\n".join(f"- {point}" for point in verdict.points))


def calibration(view: CheckView) -> None:
    """Draw whether predictions are right on average, and whether their dispersion is right."""
    left, right = st.columns(2)
    with left:
        st.header("Is the mean right?")
        show_chart(
            partial(charts.decile_chart, view.check.deciles),
            key="deciles",
            alt="Mean observed against mean predicted count in ten groups, from small to large",
        )
        st.caption("Held-out counts in ten groups by prediction, 95 % intervals; dashed: equal.")
    with right:
        st.header("Is the dispersion right?")
        show_chart(
            partial(charts.quantile_chart, view.quantiles),
            key="quantiles",
            alt="Quantiles of residuals against quantiles of a normal distribution",
        )
        words = dispersion_words(view.check, view.allowed)
        st.caption(f"Dashed: correct; steeper: too narrow. {words}")


def places_and_times(dataset: Dataset, view: CheckView, family: Family) -> str:
    """Draw mean residuals by a mode that the reader chooses; return the mode."""
    st.header("Where and when does the model miss?")
    by: str = segmented(
        "By", list(view.groups), key=key_of(family, "by"), help="What residuals are averaged over."
    )
    groups, drawn = view.groups[by], ""
    if by == CELL and view.counties is not None:
        show_county_map(
            _residual_map(dataset, view.counties),
            key="residual-map",
            alt="Map of US counties coloured by mean residual of held-out counts",
            height=340,
        )
    else:
        show_chart(
            partial(charts.group_chart, groups, by=by, ordered=by in view.ordered),
            key="groups",
            alt=f"Mean residual by {by}",
        )
        if charts.not_all(groups, ordered=by in view.ordered):
            drawn = f" Drawn: the {charts.AT_EITHER_END} furthest off in each direction."
    st.caption(
        f"Mean residual in SD; above 0: more counted than predicted. {int(groups['far'].sum()):,} "
        f"of {len(groups):,} are off by more than chance.{drawn}"
    )
    return by


def _residual_map(dataset: Dataset, counties: pd.DataFrame) -> MapPicture:
    return county_map(
        counties,
        title="mean residual (SD)",
        mark="mark",
        hover=("counted",),
        limits=(-_MAP_LIMIT, _MAP_LIMIT),
        colorscale="diverging",
        missing="no held-out count",
        uncertain="unsure",
        uncertain_means="not clear: its 95 % interval holds 0, or fewer than 5 counts",
        simulated=dataset.provenance.simulated,
    )


def outside_section(dataset: Dataset, fit: Fit, *, stated: bool) -> outside.OutsideView | None:
    """Compare p of COVID-19 counts with independent estimates, or with the truth of simulated ones.

    Parameters
    ----------
    dataset : Dataset
        COVID-19 counts, real or simulated.
    fit : Fit
    stated : bool
        Whether the fit has the recommended roles of covariates.

    Returns
    -------
    outside.OutsideView or None
        None where there is nothing to compare with.
    """
    real = dataset.truth is None
    st.header(f"Does p agree with {'independent estimates' if real else 'the truth'}?")
    if real and not datasets.available(datasets.OUTSIDE):
        st.markdown("Blood surveys, later deaths and tests per person are not on this machine.")
        offer_download(datasets.OUTSIDE, "Download the independent estimates (2 MB)")
        return None
    try:
        estimates = cached_for_counts(datasets.load_outside, dataset) if real else None
        view = cached(outside.build_outside_view, dataset, fit, estimates)
    except (datasets.DataUnavailableError, ValueError) as error:
        st.info(f"p was not compared: {error}", icon=":material/help:")
        return None
    box, icon = _BOXES[view.tone]
    box(f"{view.verdict}{f' {outside.STATED}' * (real and stated)}", icon=icon)
    left, right = st.columns(2)
    with left:
        show_chart(
            partial(charts.agreement_dots, view.dots),
            key="outside-dots",
            alt="Rank correlations over states, of p with independent estimates and of these with "
            "each other",
        )
        st.caption(f"{view.figures} Lines: 90 % intervals over states.")
    with right:
        names = {name: outside.NAMES[name] for name in view.names}
        name = segmented("Where p differs from", names, key="outside")
        picture = _outside_map(dataset, view, name)
        show_county_map(
            picture,
            key="outside-map",
            alt=f"Map of US states coloured by {picture.title}",
            height=250,
        )
        st.caption("By state. Orange: p is relatively higher; violet: lower.")
    if view.sources:
        with st.expander("Sources of these estimates"):
            st.markdown("\n".join(f"- {each}" for each in view.sources))
    return view


def _outside_map(dataset: Dataset, view: outside.OutsideView, name: str) -> MapPicture:
    counties, limit = outside.difference_by_county(dataset, view, name)
    return county_map(
        counties,
        title=f"p over {outside.NAMES[name]}, each over its median",
        hover=("ranks",),
        limits=(1 / limit, limit),
        log=True,
        colorscale="diverging",
        missing="not known",
        simulated=dataset.provenance.simulated,
    )
