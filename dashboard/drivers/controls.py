"""Sections of the Drivers page, each with its choices and its chart; they return their tables."""

from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from dashboard.countymap.component import keep_county, kept_county
from dashboard.drivers import charts, view
from dashboard.shared.cache import cached, cached_for_counts
from dashboard.shared.charts.places import is_covid, is_own, place_table, place_words
from dashboard.shared.fit_status.outcome import network_words
from dashboard.shared.fit_status.running import say_trained, unfinished
from dashboard.shared.sidebar.model import Family, ModelChoice
from dashboard.shared.sidebar.widgets import bound, key_of
from dashboard.shared.text.page import insight_with_caution, show_chart
from dashboard.shared.text.words import capital, escape
from uncletc import Fit
from uncletc.datasets import Dataset

Tables = dict[str, pd.DataFrame]


def importance_and_effect(dataset: Dataset, fit: Fit, family: Family, roles: ModelChoice) -> Tables:
    """Draw how much covariates matter and, beside it, how p changes with the chosen one."""
    importance = cached(view.importance_view, dataset, fit)
    words = f"{importance.insight} Associations, not causes."
    insight_with_caution(words, importance.caution, so_far=unfinished(fit))
    say_trained(fit)
    names, key = list(importance.bars["covariate"]), key_of(family, "attribute")
    left, right = st.columns(2)
    with left:
        st.header("Permutation importance")
        show_chart(
            partial(
                charts.importance_chart,
                importance.bars,
                chosen="" if unfinished(fit) else _requested(names, key),
            ),
            key="importance",
            on_select=partial(_choose_bar, key),
            selection_mode="points",
            alt=f"Importance of {len(names)} covariates; largest: {names[0]}",
        )
        st.caption(f"± SD over {importance.shuffles} shuffles. Click a bar to see its effect.")
    if unfinished(fit):
        return {}
    with right:
        st.header("How p changes with it")
        covariate = _linked(
            "Covariate", names, key=key, label_visibility="collapsed", help="The covariate drawn."
        )
        effect = cached(view.effect_view, dataset, fit, covariate)
        show_chart(
            partial(charts.effect_chart, effect),
            key="effect-chart",
            alt=f"p over {covariate}, relative to its average",
        )
        if not effect.levels:
            band = " Band: 90 % interval." if "low" in effect.curve else ""
            st.caption(f"× 1: average p. Grey: where counts lie.{band}")
    about = view.about_words(covariate, dataset.about(covariate))
    st.markdown(f"{about} {effect.strength} {roles.sign_words(covariate)}")
    return {"Importance": importance.bars, f"Effect of {covariate}": effect.curve}


def _choose_bar(key: str) -> None:
    """Make the clicked bar the chosen covariate."""
    points = st.session_state["importance"].selection.points
    if points:
        st.session_state[key] = points[0]["y"]


def explanation_section(dataset: Dataset, fit: Fit) -> Tables:
    """Draw why p of one place or interaction is what it is.

    The address names a county by its FIPS code, as on the COVID-19 page.
    """
    county, one = is_covid(dataset), place_words(dataset)[0]
    st.header(f"Contributions to p in one {escape(one)}")
    listed = cached_for_counts(place_table, dataset).set_index("key")
    labels = listed["label"].to_dict()
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
    if county and (kept_county() in labels or key != next(iter(labels))):  # the first: nobody's
        keep_county(key)
    place, where = listed.loc[key, ["label", "where"]]
    parts = cached(view.explanation, dataset, fit, *where)
    st.markdown(view.explanation_words(parts))
    show_chart(
        partial(charts.explanation_chart, parts),
        key="explanation",
        alt=f"Contributions of covariates to p of {place}",
    )
    st.caption("Shapley values of log p. Typical: the geometric mean over counted entries.")
    return {f"Contributions for {place}": parts}


def random_effects_section(fit: Fit) -> Tables:
    """Draw how λ and reporting differ between places and times, where the fit has such effects."""
    if fit.mode_effects is None:
        return {}
    found = view.random_effects_view(fit.mode_effects)
    st.header("Place, time and reporting effects")
    st.markdown(found.insight)
    show_chart(
        partial(charts.sizes_chart, found.sizes),
        key="effect-sizes",
        alt=f"Typical factor of {len(found.sizes)} random effects",
    )
    st.caption(view.NOTE)
    tables = {"Random effects": found.sizes}
    if not found.weekdays.empty:
        long = found.weekdays.melt(ignore_index=False, var_name="weekday", value_name="factor")
        tables["Reporting by state and weekday"] = long.reset_index(names="state")
        st.markdown(view.weekday_words(found.weekdays))
    return tables


def interaction_section(dataset: Dataset, fit: Fit, family: Family, names: list[str]) -> None:
    """Draw how p changes with two covariates, where two affect it."""
    first_key, second_key = key_of(family, "first"), key_of(family, "second")
    linked = first_key in st.query_params or second_key in st.query_params
    if len(names) < 2:
        return
    if fold := _fold("Interaction of two covariates", "pair-fold", expanded=linked):
        with fold:
            st.markdown(network_words(fit))
            left, right = st.columns(2)
            first = _linked("First covariate", names, key=first_key, where=left)
            others = [name for name in names if name != first]
            second = _linked("Second covariate", others, key=second_key, where=right)
            surface = cached(view.surface, dataset, fit, first, second)
            show_chart(
                partial(charts.surface_chart, surface),
                key="surface-chart",
                alt=f"p over {first} and {second}, beyond their single effects",
            )
            st.caption("1: no interaction. Blank: no count.")


def rates_section(dataset: Dataset, fit: Fit) -> Tables:
    """Draw how λ changes with the covariates that affect it, where there are any."""
    if not dataset.counts.rate_attribute_names:
        return {}
    every = cached(view.rates_table, dataset, fit)
    bars, open_ones = every.dropna(), every["covariate"][every["factor"].isna()]
    if fold := _fold("Covariates that affect λ", "rates-fold", expanded=not fit.n_attributes):
        with fold:
            if len(bars):
                show_chart(
                    partial(charts.rates_chart, bars),
                    key="rates",
                    alt=f"Factors of λ for {len(bars)} covariates; largest: {bars['covariate'][0]}",
                )
                st.caption("Factor of λ for one standard deviation more. Whiskers: 90 % intervals.")
            if len(open_ones):
                st.caption(
                    "Not determined, as factors of places or days say as much in this model: "
                    f"{', '.join(open_ones)}. *Recommended* determines them."
                )
    return {"Covariates and λ": every}


def _fold(title: str, key: str, *, expanded: bool = False) -> Any:
    """Draw a folded section and return it to be filled once it is open, else None."""
    fold = st.expander(title, expanded=expanded, key=key, on_change="rerun")
    return fold if fold.open else None


def _linked(label: str, options: list[str], *, key: str, where: Any = st, **more: Any) -> str:
    """Draw a selectbox whose value, unless it is the first option, stays in the address.

    Not bound by Streamlit: which option comes first depends on the fit, and the address holds
    the option itself, not its label. What the address says is checked against the options.
    """
    first, linked = options[0], bool(bound(key))
    _requested(options, key)
    chosen: str = where.selectbox(label, options, key=key, **more)
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
