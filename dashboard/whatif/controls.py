"""Controls and pictures of the What-if page."""

from __future__ import annotations

from typing import Literal

import streamlit as st

from dashboard.countymap.choice import choose_county
from dashboard.countymap.component import show_county_map
from dashboard.countymap.picture import county_map
from dashboard.shared.parts import chart_config
from dashboard.shared.sidebar import DEFAULT_MEMBERS, DEFAULT_RANK, MU_CHOICES, Family
from dashboard.whatif import runs as jobs
from dashboard.whatif.charts import heat_chart, shift_chart
from dashboard.whatif.runs import PARTS, Run
from dashboard.whatif.view import DIFFERENCE, ENDS, WhatIfView, matrix, rank_shift
from uncletc.datasets import Dataset

Side = Literal["a", "b"]
OTHER_RANK: dict[Family, int] = {"covid": 5, "ppi": 10}
_SOLVERS = ("joint", "bcd")


def choose_family() -> Family:
    """Ask for the family of data sets; both settings go back to its defaults on a change."""
    return st.segmented_control(
        "Data set",
        ["covid", "ppi"],
        default="covid",
        required=True,
        format_func={"covid": "COVID-19", "ppi": "Plant–pollinator"}.__getitem__,
        key="data",
        bind="query-params",
        width="stretch",
        on_change=back_to_defaults,
        help="Which counts both settings are fitted to.",
    )


def choose_run(side: Side, family: Family, last_mode: str) -> Run:
    """Draw the controls of one setting and return what they say."""
    rank, mu = st.columns(2)
    default = _defaults(side, family)
    values = {
        "rank": rank.slider(
            "Rank",
            1,
            20,
            default["rank"],
            key=f"{side}_rank",
            bind="query-params",
            help="How many patterns the expected true counts λ are built from.",
        ),
        "mu": mu.select_slider(
            "μ",
            MU_CHOICES,
            default["mu"],
            key=f"{side}_mu",
            bind="query-params",
            help="How closely each entry's detection keeps to what its attributes say. The larger "
            "μ, the closer.",
        ),
    }
    layers, units = st.columns(2)
    values["layers"] = layers.slider(
        "Hidden layers",
        0,
        5,
        default["layers"],
        key=f"{side}_layers",
        bind="query-params",
        help="Layers of hidden units of the detection network g(z). 0 makes detection linear in "
        "the attributes.",
    )
    values["units"] = units.slider(
        "Units per layer",
        5,
        50,
        default["units"],
        step=5,
        key=f"{side}_units",
        bind="query-params",
        disabled=values["layers"] == 0,
        help="Hidden units in each layer.",
    )
    with st.expander("Solver, counts used, members, seed"):
        part = st.segmented_control(
            "Counts used",
            PARTS,
            default=default["part"],
            required=True,
            key=f"{side}_part",
            bind="query-params",
            help=f"Fit to the counts of all {last_mode}s or of one half of them. If the halves "
            "tell different stories, trust neither.",
        )
        values["solver"] = st.selectbox(
            "Solver",
            _SOLVERS,
            _SOLVERS.index(default["solver"]),
            key=f"{side}_solver",
            bind="query-params",
            help="How the estimates are found. **joint**: all at once, the usual choice. **bcd**: "
            "block coordinate descent, the paper's algorithm; slower, one member, and its μ is on "
            "a scale of its own.",
        )
        values["members"] = st.slider(
            "Members",
            1,
            8,
            default["members"],
            key=f"{side}_members",
            bind="query-params",
            disabled=values["solver"] == "bcd",
            help="How many fits to combine, each from another start.",
        )
        values["seed"] = int(
            st.number_input(
                "Seed",
                0,
                9999,
                default["seed"],
                key=f"{side}_seed",
                bind="query-params",
                help="Decides every random start. Same settings, other seed: how far chance goes.",
            )
        )
    run = Run(settings=jobs.make_settings(**values), part=part)
    st.caption(jobs.describe_run(run, last_mode))
    return run


def _defaults(side: Side, family: Family) -> dict[str, int | str]:
    rank = DEFAULT_RANK[family] if side == "a" else OTHER_RANK[family]
    return {
        "rank": rank,
        "mu": 2000,
        "layers": 3,
        "units": 20,
        "members": DEFAULT_MEMBERS[family],
        "solver": "joint",
        "part": "all",
        "seed": 0,
    }


def back_to_defaults() -> None:
    """Put both sides back to the defaults of the data set; for callbacks."""
    for side in ("a", "b"):
        for name, value in _defaults(side, st.session_state["data"]).items():
            st.session_state[f"{side}_{name}"] = value


def set_side(side: Side, run: Run) -> None:
    """Put a setting into the controls of one side; for callbacks, before widgets are drawn."""
    settings = run.settings
    values = {
        "rank": settings.rank,
        "mu": int(settings.mu),
        "layers": len(settings.hidden),
        "members": settings.members,
        "solver": settings.solver.name,
        "part": run.part,
        "seed": settings.seed,
    }
    if settings.hidden:
        values["units"] = settings.hidden[0]
    for name, value in values.items():
        st.session_state[f"{side}_{name}"] = value


def _swap(a: Run, b: Run) -> None:
    set_side("a", b)
    set_side("b", a)


def compare_buttons(a: Run, b: Run) -> bool:
    """Draw the buttons below both settings, and return whether to compare."""
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
            args=(a, b),
            help="Exchange the two settings.",
        )
        st.button(
            "Copy A to B",
            key="copy",
            on_click=set_side,
            args=("b", a),
            help="Make B the same as A, to change one thing only.",
        )
    return pressed


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
    if "fips" in view.table:
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
            alt=f"{what}, by county. Arrow keys go from county to county, Enter chooses one.",
            selected=place,
            height=340,
            on_choose=choose_county,
        )
        return
    st.plotly_chart(
        heat_chart(
            matrix(dataset, view.table, column),
            title=title,
            limits=limits,
            diverging=side is None,
        ),
        config=chart_config(),
        key=key,
        alt=f"{what}, by plant and pollinator",
    )


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
    st.plotly_chart(
        shift_chart(rank_shift(view.cells, end, n), n=n, names_on=side),
        config=chart_config(),
        key="shift",
        alt=f"Ranks under A and B of the {n} {view.of} with the {end}",
    )
    first = end.removesuffix(f" under {side}")
    st.caption(
        f"Numbers are ranks: 1 has the {first}. Below the dotted line: not among the first {n}."
    )
