"""Widgets of the Plan page: what to add, what it costs, and whose interval to show."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from dashboard.plan.designs import (
    SURVEYED,
    TIMES,
    Choice,
    Kinds,
    kinds_of,
    most_surveyed,
    plural_name,
    shown_name,
)
from dashboard.plan.view import Measure, factor
from dashboard.shared.cache import of_counts
from uncletc.datasets import Dataset
from uncletc.planning import Costs

_OWN = "own"  # whose words stay out of addresses


def choose_kinds(dataset: Dataset) -> Kinds:
    """Ask which mode is time, where that is not known."""
    kinds = kinds_of(dataset)
    if dataset.name != _OWN:
        return kinds
    modes = list(dataset.counts.modes)
    along = st.selectbox(
        "Visits are along",
        modes,
        index=modes.index(kinds.along),
        key="own-plan-along",
        help="The column that says when or how often: more of it means more visits to the same "
        "places. A place is a combination of all other columns that name an entry.",
    )
    return kinds_of(dataset, along)


def choose_designs(dataset: Dataset, kinds: Kinds, prefix: str) -> Choice:
    """Ask what to add: more visits, more places, a survey."""
    visits, places, survey = st.columns(3, border=True)
    along = plural_name(kinds.along)
    with visits:
        times = _multiples(
            f"More {along}",
            f"{prefix}_plan_times",
            (2.0, 3.0),
            f"How many times as many {along} at the same places. A new one is like one of those "
            "at hand, drawn at random.",
        )
    with places:
        of, more = _more_places(dataset, kinds, prefix)
    with survey:
        surveys, error = _survey(dataset, kinds, of, prefix)
    repeats = st.slider(
        "Seasons simulated of each",
        1,
        10,
        3,
        key=f"{prefix}_plan_repeats",
        bind="query-params",
        help="Each is drawn and fitted anew. More show better how much a season differs from the "
        "next, and take longer.",
    )
    return Choice(
        kinds=kinds,
        times=tuple(times),
        places=of,
        more=tuple(more),
        surveys=tuple(surveys),
        error=error / 100,
        repeats=repeats,
    )


def _more_places(dataset: Dataset, kinds: Kinds, prefix: str) -> tuple[str, list[float]]:
    if not kinds.places:
        st.markdown(f"**More {kinds.all_places}**")
        st.caption(f"These counts have all {kinds.all_places} there are: none can be added.")
        return "", []
    of = kinds.places[0]
    if len(kinds.places) > 1:
        bound: dict[str, Any] = {} if dataset.name == _OWN else {"bind": "query-params"}
        key = "own-plan-places" if dataset.name == _OWN else f"{prefix}_plan_places"
        of = st.selectbox(
            "More of",
            kinds.places,
            key=key,
            help="What there may be more of, and what a survey visits some of.",
            **bound,
        )
    more = _multiples(
        f"More {plural_name(of)}",
        f"{prefix}_plan_more",
        (),
        f"How many times as many {plural_name(of)}. A new one is like one of those at hand, drawn "
        "at random: in λ, in its attributes, and in when it was counted.",
    )
    return of, more


def _most(dataset: Dataset, kinds: Kinds, of: str) -> int:
    return most_surveyed(dataset.counts, kinds, of)


def _survey(dataset: Dataset, kinds: Kinds, of: str, prefix: str) -> tuple[list[int], int]:
    most = of_counts("surveyed at most", _most, dataset, kinds, of)
    what = plural_name(of) if of else kinds.all_places
    sizes = [n for n in SURVEYED if n <= most] or [most]
    surveys = st.pills(
        f"Survey of p at some {what}",
        sizes,
        selection_mode="multi",
        default=sizes[:1],
        key=f"{prefix}_plan_surveys",
        bind="query-params",
        help=f"A second count at this many {what}, drawn at random, of which p is told: by a "
        "double observer, a camera, a blood survey. It states the scale that λ and p share.",
    )
    error = st.slider(
        "It tells p there within ± %",
        5,
        100,
        20,
        5,
        key=f"{prefix}_plan_error",
        bind="query-params",
        help="Relative standard error of the p told at each of them; their errors are independent.",
    )
    return list(surveys), error


def _multiples(label: str, key: str, default: Sequence[float], words: str) -> list[float]:
    chosen = st.pills(
        label,
        TIMES,
        selection_mode="multi",
        default=list(default),
        format_func=lambda n: f"× {n:g}",
        key=key,
        bind="query-params",
        help=words,
    )
    return list(chosen)


def choose_costs(choice: Choice, prefix: str) -> tuple[Costs, float | None]:
    """Ask what one more of each costs, and how narrow an interval is wished."""
    along, of = choice.kinds.along, choice.places
    asked = [(along, f"One more {shown_name(along)}", f"at all {choice.kinds.all_places}")]
    if of:
        asked.append((of, f"One more {shown_name(of)}", f"at all {plural_name(along)}"))
    unit = shown_name(of) if of else choice.kinds.place
    with st.expander("Costs, and the interval you need"):
        columns = st.columns(len(asked) + 2)
        costs = {
            mode: _cost(column, label, f"{prefix}_plan_cost_{k}", f"What it costs {where}.")
            for k, (column, (mode, label, where)) in enumerate(zip(columns, asked, strict=False))
        }
        surveyed = _cost(
            columns[-2],
            f"Survey of one {unit}",
            f"{prefix}_plan_cost_survey",
            "What it costs to find out p there.",
        )
        wish = columns[-1].number_input(
            "Interval wished: × at most",
            1.0,
            1000.0,
            1.0,
            step=0.1,
            key=f"{prefix}_plan_wish",
            bind="query-params",
            help="Upper over lower end of the 90 % interval chosen below: 2 if it may reach from "
            "10 to 20. 1: no wish.",
        )
    return Costs(levels=costs, survey=surveyed), wish if wish > 1 else None


def _cost(column: Any, label: str, key: str, words: str) -> float:
    value = column.number_input(
        label, 0.0, 1e9, 0.0, step=1.0, key=key, bind="query-params", help=f"{words} In any unit."
    )
    return float(value)


def choose_measure(measures: list[Measure], prefix: str) -> Measure:
    """Ask whose interval to show."""
    names = [each.name for each in measures]
    chosen = st.selectbox(
        "Interval of",
        names,
        key=f"{prefix}_plan_measure",
        bind="query-params",
        help="**Relative** p and λ: with the common scale of the two left out, which counts alone "
        "do not tell. **p**, **λ** and **scale of p**: with it, where deaths, repeat visits or a "
        "survey tell it. Of places the typical one, the median, is shown. Widths are the upper "
        f"over the lower end of a 90 % interval: {factor(2.0)} from 10 to 20, say.",
    )
    return measures[names.index(chosen)]
