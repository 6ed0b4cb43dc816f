"""Sections of the Drivers page, each with its choices and its chart; they return their tables."""

from __future__ import annotations

from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from dashboard.drivers.charts import (
    effect_chart,
    explanation_chart,
    importance_chart,
    rates_chart,
    surface_chart,
)
from dashboard.drivers.controls import (
    choose_attribute,
    choose_level_effect,
    choose_pair,
    choose_place,
    remember_bar,
)
from dashboard.drivers.owes import OwesView, levels_words, owes_view
from dashboard.drivers.owes_charts import levels_chart, sizes_chart, weekday_chart
from dashboard.drivers.place import explanation_view
from dashboard.drivers.rates import rates_view
from dashboard.drivers.view import ImportanceView, effect_view, importance_view, surface_view
from dashboard.drivers.words import about_words
from dashboard.shared.cache import cached
from dashboard.shared.fit_status.outcome import joint_effect_words
from dashboard.shared.fit_status.running import unfinished
from dashboard.shared.sidebar.model import Family
from dashboard.shared.sidebar.roles import RoleChoice
from dashboard.shared.text.page import insight_with_caution, show_chart
from uncletc import Fit
from uncletc.datasets import Dataset

Tables = dict[str, pd.DataFrame]


def importance_section(dataset: Dataset, fit: Fit) -> tuple[ImportanceView, Any]:
    """Draw how much attributes matter, for an unfinished fit with its bars; else where they go."""
    importance = cached("importance", importance_view, dataset, fit)
    insight_with_caution(importance.insight, importance.caution)
    st.header("Which attributes matter")
    st.markdown(
        "How much worse the counts are predicted when the values of one attribute are shuffled. "
        "Click a bar to see its effect below."
    )
    bars_here = st.container()  # drawn last: the chosen attribute has its own colour
    st.caption(importance.note)
    if unfinished(fit):
        names = list(importance.bars["attribute"])
        show_chart(
            partial(importance_chart, importance.bars, chosen=""),
            key="importance-so-far",
            alt=f"Importance of {len(names)} attributes so far; largest: {names[0]}",
            where=bars_here,
        )
    return importance, bars_here


def one_section(
    dataset: Dataset,
    fit: Fit,
    family: Family,
    importance: ImportanceView,
    roles: RoleChoice,
    bars_here: Any,
) -> Tables:
    """Draw how p changes with one attribute, and the bars that choose it."""
    names = list(importance.bars["attribute"])
    st.header("How p changes with one attribute")
    attribute, method = choose_attribute(dataset, family, names)
    show_chart(
        partial(importance_chart, importance.bars, chosen=attribute),
        key="importance",
        on_select=remember_bar("importance", family),
        selection_mode="points",
        alt=f"Importance of {len(names)} attributes; largest: {names[0]}",
        where=bars_here,
    )
    effect = cached("effect", effect_view, dataset, fit, attribute, method)
    st.markdown(about_words(attribute, dataset.about(attribute)))
    st.markdown(f"{effect.strength} {roles.sign_words(attribute)}")
    show_chart(
        partial(effect_chart, effect),
        key="effect-chart",
        alt=f"p over {attribute}, relative to its average: {effect.method}",
    )
    st.caption(effect.note)
    return {f"Effect of {attribute}": effect.curve}


def pair_section(dataset: Dataset, fit: Fit, family: Family, names: list[str]) -> Tables:
    """Draw how p changes with two attributes, where two act on it."""
    if len(names) < 2:
        return {}
    st.header("Two attributes at once")
    st.markdown(joint_effect_words(fit))
    first, second, kind = choose_pair(family, names)
    surface = cached("surface", surface_view, dataset, fit, first, second, kind)
    show_chart(
        partial(surface_chart, surface, first=first, second=second),
        key="surface-chart",
        alt=f"p over {first} and {second}, {kind}",
    )
    st.caption(surface.note)
    return {f"{first} and {second}": surface.cells}


def explanation_section(dataset: Dataset, fit: Fit) -> Tables:
    """Draw why p of one place or interaction is what it is."""
    st.header("Why is p what it is here?")
    place, where = choose_place(dataset)
    explained = cached("explanation", explanation_view, dataset, fit, *where)
    st.markdown(explained.sentence)
    show_chart(
        partial(explanation_chart, explained),
        key="explanation",
        alt=f"Contributions of attributes to p of {place}",
    )
    st.caption(explained.note)
    return {f"Contributions for {place}": explained.parts}


def rates_section(dataset: Dataset, fit: Fit) -> Tables:
    """Draw how λ changes with the attributes that act on it, where there are any."""
    if not dataset.counts.rate_attribute_names:
        return {}
    view = cached("rates", rates_view, dataset, fit)
    st.header("How λ changes with attributes")
    st.markdown(
        f"{view.insight} These attributes act on the expected number of true events, beside what "
        "places and times share."
    )
    show_chart(
        partial(rates_chart, view.bars),
        key="rates",
        alt=f"Factors of λ for {len(view.bars)} attributes; largest: {view.bars['attribute'][0]}",
    )
    st.caption(view.note)
    return {"Attributes and λ": view.bars}


def owes_section(dataset: Dataset, fit: Fit, family: Family) -> Tables:
    """Draw what λ and reporting owe to places and calendars, where the fit has such effects."""
    if fit.mode_effects is None:
        return {}
    view = cached("owes", owes_view, dataset, fit)
    st.header(view.title)
    st.markdown(view.insight)
    show_chart(
        partial(sizes_chart, view.sizes),
        key="effect-sizes",
        alt=f"Typical factor of {len(view.sizes)} effects of {view.of}",
    )
    st.caption(view.note)
    tables = {f"Effects of {view.of}": view.sizes}
    return tables | _weekdays(view) | _levels(view, family)


def _weekdays(view: OwesView) -> Tables:
    if view.weekdays.empty:
        return {}
    st.markdown(f"**Who reports when.** {view.reporting}")
    show_chart(
        partial(weekday_chart, view.weekdays),
        key="weekdays",
        alt=f"Reporting factors of {len(view.weekdays)} states by weekday",
    )
    st.caption(
        "Of cases: what a state publishes on a weekday over its mean weekday, all else as fitted. "
        "Orange: more; violet: less; beyond × 5 and × 0.2 colours stay the same. Reporting changes "
        "when cases are published and not how many there are: λ and p are free of it. States whose "
        "weakest weekday is the weakest come first. What single days and places add is not shown."
    )
    return {"Reporting by state and weekday": view.long_weekdays}


def _levels(view: OwesView, family: Family) -> Tables:
    if not view.levels:
        return {}
    name = choose_level_effect(family, list(view.levels))
    levels = view.levels[name]
    show_chart(
        partial(levels_chart, levels, of=name),
        key="levels",
        alt=f"Factors of λ by {name}; largest: {levels['level'][0]}",
    )
    st.caption(levels_words(name, levels))
    return {f"Effect of {name}": levels}
