"""Sections of the Drivers page, each with its choices and its chart; they return their tables."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from dashboard.countymap.choice import keep_county, kept_county
from dashboard.drivers import charts, random_effects
from dashboard.drivers.view import (
    METHODS,
    SURFACES,
    about_words,
    effect_view,
    explanation_view,
    importance_view,
    is_category,
    rates_table,
    rates_words,
    surface_view,
)
from dashboard.shared.cache import cached, cached_for_counts
from dashboard.shared.charts.places import is_covid, is_own, place_table, place_words
from dashboard.shared.fit_status.outcome import joint_effect_words
from dashboard.shared.fit_status.running import unfinished
from dashboard.shared.sidebar.model import Family
from dashboard.shared.sidebar.roles import RoleChoice
from dashboard.shared.sidebar.widgets import bound, key_of, segmented
from dashboard.shared.text.page import insight_with_caution, show_chart
from dashboard.shared.text.words import capital
from uncletc import Fit
from uncletc.datasets import Dataset

Tables = dict[str, pd.DataFrame]


def importance_section(dataset: Dataset, fit: Fit, family: Family) -> pd.DataFrame:
    """Draw how much attributes matter, the chosen one darker; return the bars."""
    importance = cached("importance", importance_view, dataset, fit)
    insight_with_caution(importance.insight, importance.caution)
    st.header("Which attributes matter")
    st.markdown(
        "How much worse the counts are predicted when the values of one attribute are shuffled. "
        "Click a bar to see its effect below."
    )
    names = list(importance.bars["attribute"])
    chosen = "" if unfinished(fit) else _requested(names, key_of(family, "attribute"))
    show_chart(
        partial(charts.importance_chart, importance.bars, chosen=chosen),
        key="importance",
        on_select=remember_bar("importance", family),
        selection_mode="points",
        alt=f"Importance of {len(names)} attributes; largest: {names[0]}",
    )
    st.caption(importance.note)
    return importance.bars


def effect_section(
    dataset: Dataset, fit: Fit, family: Family, names: list[str], roles: RoleChoice
) -> Tables:
    """Draw how p changes with one attribute."""
    st.header("How p changes with one attribute")
    left, right = st.columns([2, 1], vertical_alignment="bottom")
    attribute = _linked(
        "Attribute",
        names,
        key=key_of(family, "attribute"),
        where=left,
        help="Most important first. The bars above choose it as well.",
    )
    method = segmented(
        "Effect",
        METHODS,
        key="effect",
        where=right,
        disabled=is_category(dataset, attribute),
        help="**ALE**, accumulated local effects: moves an attribute only a little from where "
        "each entry is, so it suits correlated attributes. **Partial dependence**: sets it to each "
        "value for all entries, even where no such combination occurs. Categories, which have no "
        "order, always get partial dependence.",
    )
    effect = cached("effect", effect_view, dataset, fit, attribute, method)
    st.markdown(about_words(attribute, dataset.about(attribute)))
    st.markdown(f"{effect.strength} {roles.sign_words(attribute)}")
    show_chart(
        partial(charts.effect_chart, effect),
        key="effect-chart",
        alt=f"p over {attribute}, relative to its average: {effect.method}",
    )
    st.caption(effect.note)
    return {f"Effect of {attribute}": effect.curve}


def remember_bar(chart: str, family: Family) -> Callable[[], None]:
    """Return a callback that makes the clicked bar of a chart the chosen attribute."""

    def chosen() -> None:
        points = st.session_state[chart].selection.points
        if points:
            st.session_state[key_of(family, "attribute")] = points[0]["y"]

    return chosen


def pair_section(dataset: Dataset, fit: Fit, family: Family, names: list[str]) -> Tables:
    """Draw how p changes with two attributes, where two act on it."""
    if len(names) < 2:
        return {}
    st.header("Two attributes at once")
    st.markdown(joint_effect_words(fit))
    left, middle, right = st.columns(3, vertical_alignment="bottom")
    first = _linked(
        "First attribute",
        names,
        key=key_of(family, "first"),
        where=left,
        help="Drawn from bottom to top.",
    )
    second = _linked(
        "Second attribute",
        [name for name in names if name != first],
        key=key_of(family, "second"),
        where=middle,
        help="Drawn from left to right.",
    )
    kind = segmented(
        "Show",
        SURFACES,
        key="surface",
        where=right,
        help="**Both together**: p at each pair of values. **Beyond each alone**: what is left "
        "after dividing by the two single effects; × 1 everywhere means that neither changes what "
        "the other does.",
    )
    surface = cached("surface", surface_view, dataset, fit, first, second, kind)
    show_chart(
        partial(charts.surface_chart, surface, first=first, second=second),
        key="surface-chart",
        alt=f"p over {first} and {second}, {kind}",
    )
    st.caption(
        "Rows and columns hold about equally many counts where values allow it, and are labelled "
        "with their middle value. Grey: no count there. Partial dependence over 200 counts drawn "
        "at random."
    )
    return {f"{first} and {second}": surface.cells}


def explanation_section(dataset: Dataset, fit: Fit) -> Tables:
    """Draw why p of one place or interaction is what it is.

    The address names a county by its FIPS code, as on the COVID-19 page.
    """
    st.header("Why is p what it is here?")
    listed = cached_for_counts("places to choose", _places_to_choose, dataset)
    labels = {key: label for key, (label, _) in listed.items()}
    county, one = is_covid(dataset), place_words(dataset)[0]
    if county and one not in st.session_state and kept_county() in labels:
        st.session_state[one] = st.query_params.get(one, kept_county())
    key = _linked(
        capital(one),
        list(labels),
        key=key_of("own", "here") if is_own(dataset) else one,
        help=f"Type to search. The {'most populous' if county else 'one seen most often'} comes "
        "first.",
        format_func=labels.__getitem__,
    )
    if county:
        keep_county(key)
    place, where = listed[key]
    explained = cached("explanation", explanation_view, dataset, fit, *where)
    st.markdown(explained.sentence)
    show_chart(
        partial(charts.explanation_chart, explained),
        key="explanation",
        alt=f"Contributions of attributes to p of {place}",
    )
    st.caption(explained.note)
    return {f"Contributions for {place}": explained.parts}


def _places_to_choose(dataset: Dataset) -> dict[str, tuple[str, tuple[int, ...]]]:
    """Name and indices of each place, by its key."""
    table = place_table(dataset)
    rows = zip(table["key"], table["label"], table["where"], strict=True)
    return {str(key): (str(label), where) for key, label, where in rows}


def rates_section(dataset: Dataset, fit: Fit) -> Tables:
    """Draw how λ changes with the attributes that act on it, where there are any."""
    if not dataset.counts.rate_attribute_names:
        return {}
    bars = cached("rates", rates_table, dataset, fit)
    st.header("How λ changes with attributes")
    st.markdown(
        f"{rates_words(bars)} These attributes act on the expected number of true events, beside "
        "what places and times share."
    )
    show_chart(
        partial(charts.rates_chart, bars),
        key="rates",
        alt=f"Factors of λ for {len(bars)} attributes; largest: {bars['attribute'][0]}",
    )
    st.caption(
        "Dot: the factor by which λ changes where the attribute is one standard deviation higher, "
        "all else as fitted. Whiskers: 90 % intervals, of chance in the counts alone. No cause is "
        "claimed."
    )
    return {"Attributes and λ": bars}


def random_effects_section(dataset: Dataset, fit: Fit, family: Family) -> Tables:
    """Draw how λ and reporting differ between places and times, where the fit has such effects."""
    if fit.mode_effects is None:
        return {}
    view = cached("random effects", random_effects.random_effects_view, dataset, fit)
    st.header(view.title)
    st.markdown(random_effects.size_words(view.sizes))
    show_chart(
        partial(random_effects.sizes_chart, view.sizes),
        key="effect-sizes",
        alt=f"Typical factor of {len(view.sizes)} effects of {view.of}",
    )
    st.caption(view.note)
    tables = {f"Effects of {view.of}": view.sizes}
    if len(view.weekdays):
        tables["Reporting by state and weekday"] = view.long_weekdays
        st.markdown(f"**Weekday reporting pattern.** {random_effects.weekday_words(view.weekdays)}")
        show_chart(
            partial(random_effects.weekday_chart, view.weekdays),
            key="weekdays",
            alt=f"Reporting factors of {len(view.weekdays)} states by weekday",
        )
        st.caption(
            "Cases that a state publishes on a weekday over its mean weekday, all else as fitted; "
            "the most uneven states first. Beyond × 5 and × 0.2 colours stay the same. Reporting "
            "changes when cases are published, not how many there are: λ and p are free of it."
        )
    if view.levels:
        name = _linked(
            "Factors of λ by",
            list(view.levels),
            key=key_of(family, "levels"),
            help="Each effect of one mode alone that is in this fit.",
        )
        levels = tables[f"Effect of {name}"] = view.levels[name]
        show_chart(
            partial(random_effects.levels_chart, levels, of=name),
            key="levels",
            alt=f"Factors of λ by {name}; largest: {levels['level'][0]}",
        )
        st.caption(random_effects.levels_words(name, levels))
    return tables


def _linked(
    label: str,
    options: list[str],
    *,
    key: str,
    help: str,  # noqa: A002, Streamlit's own word
    where: Any = st,
    format_func: Callable[[str], str] = str,
) -> str:
    """Draw a selectbox whose value, unless it is the first option, is kept in the address.

    Not bound by Streamlit: which option comes first depends on the fit, and the address holds
    the option itself, not its label. What the address says is checked against the options.
    """
    first, linked = options[0], bool(bound(key))
    _requested(options, key)
    chosen: str = where.selectbox(label, options, format_func=format_func, key=key, help=help)
    if linked and chosen != first:
        st.query_params[key] = chosen
    elif linked and key in st.query_params:
        del st.query_params[key]
    return chosen


def _requested(options: list[str], key: str) -> str:
    """Return what the session or the address asks for, else the first option; remember it."""
    if st.session_state.get(key) not in options:
        asked = st.query_params.get(key) if bound(key) else None
        st.session_state[key] = asked if asked in options else options[0]
    chosen: str = st.session_state[key]
    return chosen
