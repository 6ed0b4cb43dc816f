"""The panel of the outside check: its verdict above, its figures below."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import streamlit as st

from dashboard.countymap.component import show_county_map
from dashboard.countymap.picture import MapPicture, county_map
from dashboard.covid.charts import agreement_dots
from dashboard.covid.outside import (
    NAMES,
    TRUTH,
    OutsideView,
    build_outside_view,
    difference_view,
)
from dashboard.shared.cache import cached, cached_for_counts
from dashboard.shared.sidebar.widgets import segmented
from dashboard.shared.text.page import show_chart
from uncletc import Fit, datasets
from uncletc.datasets import Dataset, Outside

_ANCHOR = "outside-check"
# Of `benchmarks/results/outside.md`.
_MOSTLY_STATED = (
    "**Most of this agreement comes from the stated roles, not from the counts**: an index of the "
    "attributes with a stated direction, made without any count, reaches +.37 with blood surveys "
    "and +.47 with tests per person. What counts add is how strongly each attribute acts."
)
_BOXES = {
    "bad": (st.error, ":material/error:"),
    "open": (st.warning, ":material/help:"),
    "good": (st.success, ":material/check_circle:"),
}


def outside_check(dataset: Dataset, fit: Fit) -> OutsideView | None:
    """Return the check of a fit, and draw its verdict; None where there is nothing to check by."""
    if dataset.truth is None and not datasets.available(datasets.OUTSIDE):
        st.info(
            "p was not checked: the outside estimates of detection are not on this machine. "
            f"[What they are](#{_ANCHOR})",
            icon=":material/help:",
        )
        return None
    try:
        view = cached("outside", _view, dataset, fit, dataset.truth is None)
    except (datasets.DataUnavailableError, ValueError) as error:
        st.info(f"p was not checked: {error}", icon=":material/help:")
        return None
    box, icon = _BOXES[view.tone]
    box(f"{view.verdict} [How it was checked](#{_ANCHOR})", icon=icon)
    return view


def outside_panel(
    dataset: Dataset, fit: Fit, view: OutsideView | None, *, stated: bool = False
) -> None:
    """Draw correlations, the map of the difference and the sources, or offer what is missing.

    Parameters
    ----------
    dataset : Dataset
    fit : Fit
    view : OutsideView, optional
        None: there is nothing to check by.
    stated : bool
        Whether the fit has the stated roles of attributes.
    """
    real = dataset.truth is None
    st.header(
        "Checked against outside estimates" if real else "Checked against the truth",
        anchor=_ANCHOR,
    )
    if view is None:
        _offer_download()
        return
    st.markdown(view.figures)
    show_chart(
        partial(agreement_dots, view.dots),
        key="outside-dots",
        alt="Rank correlations over states, of p with outside estimates and of these among them",
    )
    st.caption(
        "1: both put the states in the same order; −1: in the reverse one; 0: no relation. Lines: "
        "90 % intervals over states drawn at random. "
        + (
            "This fit has not seen these estimates; they are not the truth, and p can hardly agree "
            "with them better than they do with one another. "
            if real
            else "The fit has not seen the truth. "
        )
        + view.cells
    )
    if real and stated:
        st.caption(_MOSTLY_STATED)
    name = view.names[0]
    if len(view.names) > 1:
        labels = {each: NAMES[each] for each in view.names}
        name = segmented("Where p differs from", view.names, names=labels, key="outside")
    _map(dataset, fit, name)
    for name in view.seen:
        st.caption(f"{NAMES[name].capitalize()} are not compared with: this fit has seen them.")
    for missing, why in view.missing.items():
        st.info(f"{NAMES[missing].capitalize()} cannot be read: {why}", icon=":material/help:")
    if view.estimates:
        st.markdown("\n".join(f"- {_about(view, each)}" for each in view.names))


def with_sources(dataset: Dataset, view: OutsideView | None) -> Dataset:
    """Return the data set with the sources of the outside estimates, to cite."""
    if view is None:
        return dataset
    known = dataset.provenance.sources
    more = dict.fromkeys(source for each in view.estimates for source in each.sources)
    sources = (*known, *(source for source in more if source not in known))
    return replace(dataset, provenance=replace(dataset.provenance, sources=sources))


def _view(dataset: Dataset, fit: Fit, real: bool) -> OutsideView:
    outside = cached_for_counts("outside estimates", _load_outside, dataset) if real else None
    return build_outside_view(dataset, fit, outside)


def _load_outside(dataset: Dataset) -> Outside:
    return datasets.load_outside(dataset)


def _map(dataset: Dataset, fit: Fit, name: str) -> None:
    picture = cached("outside map", _picture, dataset, fit, dataset.truth is None, name)
    show_county_map(
        picture,
        key="outside-map",
        alt=f"Map of US states coloured by {picture.title}",
        height=400,
    )
    st.caption(
        f"By state. Orange: p is higher here, next to other states, than {_says(name)}. "
        "Violet: lower. White: both agree."
    )


def _picture(dataset: Dataset, fit: Fit, real: bool, name: str) -> MapPicture:
    difference = difference_view(cached("outside", _view, dataset, fit, real), name)
    return county_map(
        difference.counties,
        title=difference.title,
        hover=("ranks",),
        limits=difference.limits,
        log=True,
        colorscale="diverging",
        missing="not known",
        remark="Simulated counts." if dataset.provenance.simulated else "",
    )


def _says(name: str) -> str:
    return "the truth says" if name == TRUTH else f"{NAMES[name]} say"


def _about(view: OutsideView, name: str) -> str:
    estimate = next(each for each in view.estimates if each.name == name)
    links = ", ".join(f"[{source.name}]({source.url})" for source in estimate.sources)
    return f"**{NAMES[name].capitalize()}.** {estimate.meaning} Source: {links}."


def _offer_download() -> None:
    st.markdown(
        "Blood surveys, later deaths and tests per person say something of detection that no fit "
        "has seen. Their files are not on this machine."
    )
    if not st.button("Download the outside estimates (2 MB)", key="download-outside"):
        return
    try:
        datasets.fetch_all(datasets.OUTSIDE)
    except datasets.DataUnavailableError as error:
        st.error(f"The download did not finish: {error}")
        return
    st.rerun()
