"""Controls and pictures of the What-if page."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, Literal

import streamlit as st

from dashboard.countymap.choice import choose_county
from dashboard.countymap.component import show_county_map
from dashboard.countymap.picture import county_map
from dashboard.shared.fit_status.running import offer_more, order_of
from dashboard.shared.sidebar.controls import choose_roles, set_roles
from dashboard.shared.sidebar.model import MODEL, Family, settings_of, values_of
from dashboard.shared.sidebar.roles import PAPER
from dashboard.shared.sidebar.widgets import draw_setting, reset_settings, segmented
from dashboard.shared.text.page import show_chart
from dashboard.whatif import runs as jobs
from dashboard.whatif.charts import heat_chart, level_chart, shift_chart
from dashboard.whatif.pictures import ENDS, matrix, rank_shift
from dashboard.whatif.runs import PARTS, Run
from dashboard.whatif.view import DIFFERENCE, WhatIfView
from uncletc import Fit
from uncletc.datasets import Dataset

Side = Literal["a", "b"]
_LEVELS = 30  # drawn in a list


def choose_run(side: Side, family: Family, dataset: Dataset) -> Run:
    """Draw the controls of one setting and return what they say."""
    last_mode = dataset.counts.modes[-1]
    values: dict[str, Any] = {}
    for group in ("model", "network"):
        settings = [setting for setting in MODEL if setting.group == group]
        for column, setting in zip(st.columns(len(settings)), settings, strict=True):
            with column:
                draw_setting(setting, values, prefix=side, family=family)
    roles_here = st.container()  # drawn after the solver is known
    with st.expander("Solver, counts used, members, seed"):
        part = segmented(
            "Counts used",
            PARTS,
            key=f"{side}_part",
            help=f"Fit to the counts of all {last_mode}s or of one half of them. If the halves "
            "tell different stories, trust neither.",
        )
        for setting in MODEL:
            if setting.group == "rest":
                draw_setting(setting, values, prefix=side, family=family)
    with roles_here:
        bcd = values["solver"] == "bcd"
        roles = choose_roles(dataset, side, first=PAPER if side == "b" else None, bcd=bcd)
    settings = roles.settings(settings_of(**values))
    run = Run(settings=settings, part=part, roles=roles)
    asked = jobs.order(dataset.counts, run)
    limited = order_of(asked.counts, settings, side=f"{side}_")  # where its reader went on
    run = replace(run, settings=limited.settings)
    st.caption(jobs.describe_run(run, last_mode))
    return run


def back_to_defaults() -> None:
    """Put both sides back to the defaults of the data set; for callbacks.

    The roles stay: real and simulated counts of each data set have their own.
    """
    family: Family = st.session_state["data"]
    for side in ("a", "b"):
        reset_settings(side, family)
        st.session_state[f"{side}_part"] = PARTS[0]


def set_side(side: Side, name: str, run: Run) -> None:
    """Put a setting into the controls of one side; for callbacks, before widgets are drawn."""
    for each, value in (values_of(run.settings) | {"part": run.part}).items():
        st.session_state[f"{side}_{each}"] = value
    set_roles(side, name, run.roles)


def _swap(name: str, a: Run, b: Run) -> None:
    set_side("a", name, b)
    set_side("b", name, a)


def compare_buttons(name: str, a: Run, b: Run) -> bool:
    """Draw the buttons below both settings of a data set, and return whether to compare."""
    with st.container(horizontal=True):
        pressed = st.button(
            "Compare",
            type="primary",
            key="compare",
            help="Fits what is not fitted yet: each setting once to all its counts and once "
            "without a tenth of them, to see which predicts that tenth better.",
        )
        st.button(
            "Swap A and B",
            key="swap",
            on_click=_swap,
            args=(name, a, b),
            help="Exchange the two settings.",
        )
        st.button(
            "Copy A to B",
            key="copy",
            on_click=set_side,
            args=("b", name, a),
            help="Make B the same as A, to change one thing only.",
        )
    return pressed


def offer_to_go_on(dataset: Dataset, side: Side, run: Run, fit: Fit) -> None:
    """Offer to continue the fit of a side where it stopped at its limit of iterations."""
    counts = jobs.order(dataset.counts, run).counts
    offer_more(counts, run.settings, fit, side=f"{side}_", of=f"**{side.upper()}**")


def two_pictures(dataset: Dataset, view: WhatIfView, place: str | None) -> None:
    """Draw p under A and under B with the same colours."""
    for column, side in zip(st.columns(2), "AB", strict=True):
        with column:
            st.subheader(f"Under {side}")
            _picture(dataset, view, side, place)


def difference_picture(dataset: Dataset, view: WhatIfView, place: str | None) -> None:
    """Draw where p is higher under B, and where under A."""
    _picture(dataset, view, None, place)


def _picture(dataset: Dataset, view: WhatIfView, side: str | None, place: str | None) -> None:
    """Draw p of one side, or for None the difference: counties on a map, interactions else."""
    column = "log2_ratio" if side is None else f"p_{side.lower()}"
    title = DIFFERENCE if side is None else view.title
    most = view.difference_limit
    limits = (-most, most) if side is None else view.limits
    key = "map-difference" if side is None else f"map-{side.lower()}"
    what = "Difference of p between A and B" if side is None else f"Relative p under {side}"
    if not view.sides:
        picture = county_map(
            view.table,
            title=title,
            color=column,
            hover=("cell_note",),
            limits=limits,
            log=side is not None,
            colorscale="diverging" if side is None else "cividis",
            number_format="+.2f" if side is None else ".3g",
            remark="Simulated counts." if dataset.provenance.simulated else "",
        )
        show_county_map(
            picture,
            key=key,
            alt=f"{what}, by county",
            selected=place,
            height=340,
            on_choose=choose_county,
        )
        return
    if len(view.sides) == 1:
        chart = partial(
            level_chart,
            view.table.head(_LEVELS),
            name=view.sides[0],
            column=column,
            title=title,
            diverging=side is None,
        )
    else:
        values = matrix(dataset, view, column)
        chart = partial(heat_chart, values, title=title, limits=limits, diverging=side is None)
    show_chart(chart, key=key, alt=f"{what}, by {' and '.join(view.sides)}")


def ranking(view: WhatIfView) -> None:
    """Draw how the first or last of one side's ranking stand in the other's."""
    which, how_many = st.columns([2, 1])
    end = which.selectbox(
        "Follow",
        ENDS,
        key="end",
        bind="query-params",
        help="Whose extremes to follow into the other setting's ranking.",
    )
    n = how_many.slider(
        "How many",
        5,
        30,
        10,
        step=5,
        key="top",
        bind="query-params",
        help="Lines in the chart.",
    )
    side = end[-1]
    show_chart(
        partial(shift_chart, rank_shift(view.cells, end, n), n=n, names_on=side),
        key="shift",
        alt=f"Ranks under A and B of the {n} {view.of} with the {end}",
    )
    first = end.removesuffix(f" under {side}")
    st.caption(
        f"Numbers are ranks: 1 has the {first}. Below the dotted line: not among the first {n}."
    )
