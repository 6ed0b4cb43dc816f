"""Choices of the Drivers page: widgets ↔ address."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard.countymap.choice import keep_county, kept_county
from dashboard.drivers.view import METHODS, SURFACES, Method, Surface, is_category
from dashboard.shared.cache import cached_for_counts
from dashboard.shared.charts.places import is_covid, is_own, place_table, place_words
from dashboard.shared.sidebar.model import Family
from dashboard.shared.sidebar.widgets import bound, key_of, segmented
from dashboard.shared.text.words import capital
from uncletc.datasets import Dataset


def choose_attribute(dataset: Dataset, family: Family, names: list[str]) -> tuple[str, Method]:
    """Ask for an attribute, by default the first of `names`, and a kind of effect."""
    left, right = st.columns([2, 1], vertical_alignment="bottom")
    attribute = _linked(
        left,
        "Attribute",
        names,
        key=key_of(family, "attribute"),
        help="Most important first. The bars above choose it as well.",
    )
    method: Method = segmented(
        "Effect",
        METHODS,
        key="effect",
        where=right,
        disabled=is_category(dataset, attribute),
        help="**ALE**, accumulated local effects: moves an attribute only a little from where "
        "each entry is, so it suits correlated attributes. **Partial dependence**: sets it "
        "to each value for all entries, even where no such combination occurs. Categories, "
        "which have no order, always get partial dependence.",
    )
    return attribute, method


def remember_bar(chart: str, family: Family) -> Callable[[], None]:
    """Return a callback that makes the clicked bar of a chart the chosen attribute."""

    def chosen() -> None:
        points = st.session_state[chart].selection.points
        if points:
            st.session_state[key_of(family, "attribute")] = points[0]["y"]

    return chosen


def choose_pair(family: Family, names: list[str]) -> tuple[str, str, Surface]:
    """Ask for two different attributes, by default the first two, and what to show."""
    left, middle, right = st.columns(3, vertical_alignment="bottom")
    first = _linked(
        left,
        "First attribute",
        names,
        key=key_of(family, "first"),
        help="Drawn from bottom to top.",
    )
    others = [name for name in names if name != first]
    second = _linked(
        middle,
        "Second attribute",
        others,
        key=key_of(family, "second"),
        help="Drawn from left to right.",
    )
    kind: Surface = segmented(
        "Show",
        SURFACES,
        key="surface",
        where=right,
        help="**Both together**: p at each pair of values. **Beyond each alone**: what is left "
        "after dividing by the two single effects; × 1 everywhere means that neither changes what "
        "the other does.",
    )
    return first, second, kind


def choose_level_effect(family: Family, names: list[str]) -> str:
    """Ask whose factors of λ to show, by default those of the first."""
    return _linked(
        st,
        "Factors of λ by",
        names,
        key=key_of(family, "levels"),
        help="Each effect of one mode alone that is in this fit.",
    )


def choose_place(dataset: Dataset) -> tuple[str, tuple[int, ...]]:
    """Ask for a place or a pair; return its name and its indices along the modes of places.

    The address names a county by its FIPS code, as on the COVID-19 page.
    """
    listed = cached_for_counts("places to choose", _places_to_choose, dataset)
    labels = {key: label for key, (label, _) in listed.items()}
    county, one = is_covid(dataset), place_words(dataset)[0]
    if county and one not in st.session_state and kept_county() in labels:
        st.session_state[one] = st.query_params.get(one, kept_county())
    key = _linked(
        st,
        capital(one),
        list(labels),
        key=key_of("own", "here") if is_own(dataset) else one,
        help="Type to search. The most populous comes first."
        if county
        else "Type to search. The one seen most often comes first.",
        format_func=labels.__getitem__,
    )
    if county:
        keep_county(key)
    return listed[key]


def _places_to_choose(dataset: Dataset) -> dict[str, tuple[str, tuple[int, ...]]]:
    """Name and indices of each place, by its key."""
    table = place_table(dataset)
    rows = zip(table["key"], table["label"], table["where"], strict=True)
    return {str(key): (str(label), where) for key, label, where in rows}


def _linked(
    column: DeltaGenerator,
    label: str,
    options: list[str],
    *,
    key: str,
    help: str,  # noqa: A002, Streamlit's own word
    format_func: Callable[[str], str] = str,
) -> str:
    """Draw a selectbox whose value, unless it is the first option, is kept in the address.

    Not bound by Streamlit: which option comes first depends on the fit, and the address holds
    the option itself, not its label. What the address says is checked against the options.
    """
    linked = bool(bound(key))
    requested = st.query_params.get(key) if linked else None
    if st.session_state.get(key) not in options:
        st.session_state[key] = requested if requested in options else options[0]
    chosen: str = column.selectbox(label, options, format_func=format_func, key=key, help=help)
    if linked and chosen != options[0]:
        st.query_params[key] = chosen
    elif requested is not None:
        del st.query_params[key]
    return chosen
