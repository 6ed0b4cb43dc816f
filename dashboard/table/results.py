"""What was missed in a reader's own table, by whatever its modes are."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import pandas as pd
import streamlit as st

from dashboard.shared.cache import cached
from dashboard.shared.charts.answers import for_download, share_words
from dashboard.shared.charts.bars import bar_limits, ranked_bars
from dashboard.shared.charts.matrix import matrix_chart
from dashboard.shared.charts.places import OWN
from dashboard.shared.charts.style import BAR_COLORS
from dashboard.shared.data_section.section import data_section
from dashboard.shared.fit_status.badges import fit_badges
from dashboard.shared.fit_status.running import fit_or_stop, unfinished
from dashboard.shared.fit_status.takeaway import take_away
from dashboard.shared.own_table import PREFIX, code_of, read_own_table
from dashboard.shared.sidebar import sidebar as controls
from dashboard.shared.sidebar.widgets import dataset_or_stop, segmented
from dashboard.shared.text.page import (
    help_drawer,
    insight_with_caution,
    show_chart,
    show_table,
)
from dashboard.shared.text.scripts import fit_script
from dashboard.shared.text.words import WHISKERS, capital, escape
from dashboard.table.charts import lines_chart
from dashboard.table.places import place_mode, places_map
from dashboard.table.planning import planning_section
from dashboard.table.view import (
    MOST_CHOSEN,
    MOST_LISTED,
    QUANTITIES,
    LevelValues,
    LevelView,
    Quantity,
    View,
    build_lines,
    build_matrix,
    level_sums,
    level_view,
    mode_pairs,
    ordered_modes,
    views_of,
)
from uncletc import Anchor, Fit
from uncletc.datasets import Dataset

_ENDS = {"top": "Highest", "bottom": "Lowest"}
_MOST_BARS = 30


class _Choice(NamedTuple):
    """What a reader looks at: a view, one mode or two, a number, and how many bars at each end."""

    view: View
    modes: tuple[int, ...]
    quantity: Quantity
    n: int


def results() -> None:
    """Draw λ, p and counts of the reader's own table."""
    choices = controls.sidebar("own")
    dataset = dataset_or_stop(choices.dataset)
    read_own_table(True)
    dataset, fit, roles = fit_or_stop(dataset, choices)
    fit_badges(dataset, fit, "own")
    choice = _choose(dataset)
    view = _view(dataset, fit, choices.anchor, choice.modes)
    values = view.values(choice.quantity, choice.n)
    if values.groups.empty:
        st.info("No entry has a value here. Choose another view.")
        return
    st.markdown(view.sentence(so_far=unfinished(fit)))
    ranks = view.precision.words if choice.quantity == "p" and values.caution is None else ""
    insight_with_caution(f"{values.insight} {ranks}", values.caution)
    _picture(dataset, choice, view, values)
    lines = _bars_and_lines(dataset, fit, choices.anchor, choice, view, values)
    _table(view)
    planning_section(dataset, fit)
    data_section(dataset_or_stop(OWN), report=False)
    help_drawer(
        "**p is the chance that an event that happens is counted**, as far as the attributes that "
        f"act on detection explain it: {roles.on_detection or 'none here'}.",
        "**λ is how many events to expect** where somebody looks with full attention.",
        roles=roles,
        fit=fit,
    )
    tables = {f"By {' and '.join(view.names)}": view.main_table}
    if lines is not None:
        tables["Lines"] = for_download(lines, absolute=view.scale.absolute)
    take_away(
        "table",
        dataset=dataset,
        fit=fit,
        roles=roles,
        tables=tables,
        code=fit_script(
            code_of(dataset),
            fit.settings,
            level_view,
            choices.anchor,
            choice.modes,
            roles=roles,
            take=".main_table",
        ),
    )


def _view(dataset: Dataset, fit: Fit, anchor: Anchor, modes: tuple[int, ...]) -> LevelView:
    """Counts, λ and p by some modes; the sums stay when the scale changes."""
    with st.spinner("Adding up …"):
        found = cached("table sums", level_sums, dataset, fit, modes)
    return level_view(dataset, fit, anchor, modes, found=found)


def _choose(dataset: Dataset) -> _Choice:
    """Ask what to look at: which view, by which modes, and which number."""
    left, middle, right = st.columns([3, 3, 2], vertical_alignment="bottom")
    view: View = segmented(
        "View",
        views_of(dataset),
        key="view",
        where=left,
        help="**places**: a map, where levels of a mode lie somewhere. **pairs**: a matrix of two "
        "modes. **any mode**: the levels of one.",
    )
    quantity: Quantity = segmented(
        "Show",
        QUANTITIES,
        names={"p": "p", "λ": "λ", "counts": "reported counts"},
        default="p" if dataset.counts.n_attributes else "λ",
        key="quantity",
        where=middle,
        help="**p**: the chance that an event is counted. **λ**: how many events to expect. "
        "**Reported counts**: as they are, without a model.",
    )
    n = right.slider(
        "How many to list",
        5,
        _MOST_BARS,
        10,
        key="listed",
        bind="query-params",
        help="Bars with the highest and with the lowest values.",
    )
    return _Choice(view, _modes(dataset, view), quantity, n)


def _modes(dataset: Dataset, view: View) -> tuple[int, ...]:
    if view == "places":
        return (place_mode(dataset),)
    options: dict[str, tuple[int, ...]]
    if view == "pairs":
        options = {**mode_pairs(dataset)}
        label, words = "Rows × columns", "Which two modes to look at; means are over all others."
    else:
        options = {mode: (k,) for k, mode in enumerate(dataset.counts.modes)}
        label, words = "By", "Whose levels to compare."
    if len(options) == 1:
        return next(iter(options.values()))
    return options[_named(label, list(options), key=f"{PREFIX}{view}-modes", help=words, wrap=True)]


def _named(label: str, names: list[str], **more: Any) -> str:
    """Ask for one of some modes, or pairs of them, by the names that they have in the table."""
    name: str = segmented(label, names, **more)
    return name


def _picture(dataset: Dataset, choice: _Choice, view: LevelView, values: LevelValues) -> None:
    if choice.view == "places":
        places_map(dataset, view.names[0], choice.modes[0], values)
    elif choice.view == "pairs":
        st.header(capital(" and ".join(map(escape, view.names))))
        matrix = partial(
            matrix_chart,
            build_matrix(dataset, choice.modes, values),
            title=values.title,
            limits=values.limits,
            log=values.log,
        )
        alt = f"{values.title} of {' and '.join(view.names)}, {len(values.groups):,} pairs"
        show_chart(matrix, key="table-matrix", alt=alt)
        st.caption("One square is one pair, a mean over all else; blank: nothing was counted.")


def _bars_and_lines(
    dataset: Dataset,
    fit: Fit,
    anchor: Anchor,
    choice: _Choice,
    view: LevelView,
    values: LevelValues,
) -> pd.DataFrame | None:
    """Draw the highest and lowest levels, and a few of them over an ordered mode; return these."""
    bars_here, heading, lines = st.container(), st.container(), None
    labels: tuple[str, ...] = ()
    if along := ordered_modes(dataset, choice.modes):
        mode, labels = _choose_lines(dataset, along, view, values)
        name = dataset.counts.modes[mode]
        heading.header(f"Over {escape(name)}")
        if labels:
            lines = cached(
                "table lines",
                build_lines,
                dataset,
                fit,
                anchor,
                choice.modes,
                mode,
                labels,
                choice.quantity,
            )
            show_chart(
                partial(lines_chart, lines, title=values.title, along=name, log=values.log),
                key="table-lines",
                alt=f"{values.title} of {', '.join(labels)} over {name}",
            )
            st.caption("Bands: 90 % intervals." if "low" in lines else "Without intervals.")
        else:
            st.info("Choose one to follow it.")
    with bars_here:
        _bars(values, labels)
        scale = "" if choice.quantity == "counts" else f", {view.scale.statement}"
        intervals = f" {WHISKERS}" if "low" in values.groups else ""
        st.caption(f"Means over entries with a count{scale}.{intervals}")
    return lines


def _choose_lines(
    dataset: Dataset, along: list[int], view: LevelView, values: LevelValues
) -> tuple[int, tuple[str, ...]]:
    """Ask which levels or pairs to follow, along which ordered mode."""
    mode = along[0]
    if len(along) > 1:
        names = {dataset.counts.modes[k]: k for k in along}
        mode = names[_named("Along", list(names), key=f"{PREFIX}along", help="Over which steps.")]
    by_size = values.groups.sort_values("counted", ascending=False)["label"].tolist()
    labels = st.multiselect(
        capital(" and ".join(map(escape, view.names))),
        by_size,
        by_size[:1],
        key=f"{PREFIX}lines-{'-'.join(map(str, view.modes))}",
        max_selections=MOST_CHOSEN,
        help=f"Up to {MOST_CHOSEN} are drawn in one chart. Type part of a name to search.",
    )
    return mode, tuple(labels)


def _bars(values: LevelValues, chosen: tuple[str, ...]) -> None:
    """Draw the levels or pairs with the highest and the lowest values, on one axis."""
    both = [values.top, values.bottom]
    limits = bar_limits(*both, log=values.log)
    for column, side, bars in zip(st.columns(2), _ENDS, both, strict=True):
        column.header(_ENDS[side])
        show_chart(
            partial(
                ranked_bars,
                bars,
                title=values.title,
                color=BAR_COLORS[side],
                limits=limits,
                log=values.log,
                chosen=chosen,
            ),
            key=f"table-{side}",
            alt=f"{_ENDS[side]} {values.title}: {len(bars)} of {len(values.ranked)}",
            where=column,
        )


def _table(view: LevelView) -> None:
    """Draw reported and estimated counts by level or pair, and how to read them."""
    st.header(f"Reported and estimated, by {' and '.join(map(escape, view.names))}")
    show_table(
        view.display(),
        key=f"table-levels-{len(view.table)}",
        alt=f"Reported and estimated true counts by {' and '.join(view.names)}",
    )
    absolute, intervals = view.scale.absolute, "rate_low" in view.table
    relative = "**Relative λ**: what would have been counted if p were its median everywhere."
    notes = [
        "Click a heading to sort. Sums over entries with a count; p is a mean over them.",
        share_words(late=view.late) if absolute else relative if view.moved else "",
        "90 %: intervals, from chance in the counts." if intervals else "",
        "They hold how uncertain the scale is, too."
        if intervals and view.scale.log_error > 0
        else "",
        f"The {MOST_LISTED:,} with most reported are listed." if view.rest else "",
    ]
    st.caption(" ".join(filter(None, notes)))
