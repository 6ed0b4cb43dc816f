"""The steps of the Lab that need no fit, and the question before each step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from html import escape

import pandas as pd
import streamlit as st

from dashboard.lab import charts
from dashboard.lab.controls import CONTROLS, choose, hidden_names
from dashboard.lab.controls import QUESTIONS as QUESTIONS_HIDDEN
from dashboard.lab.lessons import LESSONS, QUESTIONS, Step
from dashboard.lab.view import (
    Setup,
    in_figures,
    one_entry,
    picture,
    rescaled,
    simulated,
    slice_table,
)
from dashboard.shared.charts.answers import for_download
from dashboard.shared.text.page import show_chart
from dashboard.shared.text.scripts import DATASET, Code, call, script
from uncletc import Fit


@dataclass(frozen=True, eq=False, kw_only=True)
class Shown:
    """What a step shows, to download.

    Attributes
    ----------
    tables : mapping of str to DataFrame
        The main one first.
    code : str
        A script that makes the main one.
    fit : Fit, optional
    """

    tables: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    code: str
    fit: Fit | None = None


def predict(step: Step) -> bool:
    """Ask the question of a step; whether its results may be shown."""
    answer = ask(step, f"lab_guess_{step}")
    if answer is None:
        return False
    question = QUESTIONS[step]
    if answer and question.right:
        say_verdict(*question.verdict(answer))
    return True


def say_verdict(is_right: bool, words: str) -> None:
    """Say whether a prediction was right."""
    if is_right:
        st.success(words, icon=":material/check:")
    else:
        st.info(words, icon=":material/lightbulb:")


def ask(step: Step, key: str, asks: str = "") -> str | None:
    """Draw a question; its answer, None before there is one, "" where questions are hidden."""
    if QUESTIONS_HIDDEN in hidden_names()[0]:
        return ""
    question = QUESTIONS[step]
    with st.container(border=True):
        answer = st.radio(
            f"**Predict first.** {asks or question.asks}",
            question.answers,
            index=None,
            key=key,
            bind="query-params",
            help="The results show once you have chosen. Your answer is kept nowhere but in the "
            "address of this page.",
        )
        if answer is None:
            st.caption("Choose an answer to see the results.")
    return answer


def entry_step() -> Shown | None:
    """One entry: dots for events, filled where counted; many draws beside the formula."""
    st.markdown(
        "At one place and time, **n** events happen: each draw of the model gives another n, "
        "Poisson with mean **λ**. Each event is counted with probability **p**. All that we see "
        "is the count **y**."
    )
    columns = st.columns(3, vertical_alignment="bottom")
    with columns[0]:
        rate = choose("lambda")
    with columns[1]:
        chance = choose("p")
    with columns[2]:
        draw = choose("draw")
        if "draw" not in hidden_names()[0]:
            st.button(
                "Draw again",
                key="draw-again",
                on_click=_draw_again,
                width="stretch",
                icon=":material/casino:",
                help="Draw again how many events happen and which of them are counted.",
            )
    if not predict("entry"):
        return None
    view = one_entry(rate, chance, draw)
    left, right = st.columns([2, 3])
    with left:
        st.markdown(f"**This draw:** {view.happened} happened, **{view.counted} counted**")
        show_chart(
            partial(charts.events_chart, view.events),
            key="lab-events",
            alt=f"{view.happened} dots for simulated events, {view.counted} filled: counted",
        )
    with right:
        st.markdown(f"**2,000 draws of y** beside Poisson with mean λp = {rate * chance:g}")
        show_chart(
            partial(charts.draws_chart, view.draws, rate=rate, chance=chance, counted=view.counted),
            key="lab-draws",
            alt="Histograms of simulated counts of two kinds of place and the Poisson formula, "
            "which agree",
        )
    st.markdown(
        f"**λ = {rate:g}, p = {chance:g}** and **λ = {2 * rate:g}, p = {chance / 2:g}** give the "
        "same counts, except for chance: one count, or any number of them from one entry, cannot "
        "tell many missed from few there."
    )
    return Shown(
        tables={"draws": view.draws},
        code=script(call(one_entry, rate, chance, draw, take=".draws")),
    )


def _draw_again() -> None:
    st.session_state["lab_draw"] = (int(st.session_state["lab_draw"]) + 1) % 10_000


def tensor_step(setup: Setup) -> Shown | None:
    """Many entries: what happened, what is seen of it, and what a fit may learn from."""
    dataset = simulated(setup)
    st.markdown(
        "Counts come by place, kind and time: a **tensor**, here of 20 × 20 × 20 entries. λ is "
        "built from a few patterns that entries share; p follows **attributes** of the entry "
        "(weather, tests, effort). Only this makes it possible to tell the two apart."
    )
    slice_number = choose("slice") - 1
    if not predict("tensor"):
        return None
    table = slice_table(dataset, slice_number)
    happened, seen = picture(table, "true_count"), picture(table, "counted")
    limits = charts.limits_of(happened)
    pictures = {
        "What happened: n": partial(
            charts.matrix_chart, happened, name="true count n", limits=limits
        ),
        "What is seen: y": partial(charts.matrix_chart, seen, name="count y", limits=limits),
        "Detection: p": partial(
            charts.matrix_chart, picture(table, "p"), name="p", limits=(0.0, 1.0)
        ),
        "What a fit may use": partial(charts.kinds_chart, picture(table, "known")),
    }
    columns = [*st.columns(2), *st.columns(2)]
    for column, (number, (title, figure)) in zip(columns, enumerate(pictures.items()), strict=True):
        with column:
            st.markdown(f"**{title}** (simulated)")
            show_chart(
                figure,
                key=f"lab-slice-{number}",
                alt=f"{title}, slice {slice_number + 1} of 20, simulated",
            )
    st.markdown(in_figures(dataset))
    st.caption(
        "n and y have the same colours. Blank: nobody counted. In real data n, λ and p are never "
        "seen; here they are known because everything was simulated."
    )
    return _shown("slice", table, call(slice_table, DATASET, slice_number), setup)


def scale_step(setup: Setup) -> Shown | None:
    """The common factor: λ·c and p/c move, ŷ does not, and p above 1 is impossible."""
    dataset = simulated(setup)
    st.markdown(
        "Take the simulated truth itself, multiply every **λ by c**, and divide every **p by c**. "
        "Ten of the 8,000 entries are shown."
    )
    if not predict("scale"):
        return None
    c = choose("c")
    view = rescaled(dataset, c)
    names = {"rate": "λ · c", "p": "p / c", "expected": "ŷ = λp"}
    for column, (quantity, name) in zip(st.columns(3), names.items(), strict=True):
        with column:
            show_chart(
                partial(
                    charts.scale_chart,
                    view.entries,
                    quantity,
                    name=name,
                    limit=view.limits[quantity],
                ),
                key=f"lab-scale-{quantity}",
                alt=f"{name} of ten simulated entries at c = {c:g}",
            )
    if view.n_impossible:
        st.warning(
            f"**Impossible:** with c = {c:g}, {view.n_impossible:,} of 8,000 entries would have p "
            "above 1 (hatched above where shown), and a probability cannot exceed 1.",
            icon=":material/block:",
        )
    st.markdown(
        f"The largest p of all entries is {view.least:.3f}, so c cannot be below "
        f"**{view.least:.3f}**. This is the only bound: every larger c gives the same ŷ. Absolute "
        "numbers therefore need a statement from outside the counts, such as a serosurvey; other "
        "pages ask for it under *Scale of p*."
    )
    return _shown("scale", view.entries, call(rescaled, DATASET, c, take=".entries"), setup)


def _shown(name: str, table: pd.DataFrame, made: Code, setup: Setup) -> Shown:
    """A table of simulated counts, whose p and λ are the true ones."""
    return Shown(
        tables={name: for_download(table, absolute=True)},
        code=script(call(for_download, made, absolute=True), dataset=call(simulated, setup)),
    )


def lessons_box() -> None:
    """Draw the folded list of lesson links, and how a teacher makes more."""
    with st.expander("Five ready-made lessons, and how to hide controls"):
        # Plain links: each opens a fresh Lab, so that nothing chosen before gets into a lesson.
        links = "".join(
            f'<li><a style="color:inherit" href="?{escape(each.query)}">{escape(each.title)}</a>'
            f"<br>{escape(each.aim)}</li>"
            for each in LESSONS
        )
        st.html(f"<ol>{links}</ol>")
        names = ", ".join(f"`{name}`" for name in [*CONTROLS, QUESTIONS_HIDDEN])
        st.markdown(
            "**For teachers:** set the Lab up as you want it, copy its address, and add `&hide=` "
            "with the names of controls to leave out, for example `&hide=gamma_xi,snr`. Hidden "
            "controls keep the value that the address gives them (there, `lab_` stands before "
            f"the name) or their default. Names: {names}."
        )
