"""The Lab: five steps from one place to a theorem, on simulated counts, drawn by one renderer."""

from collections.abc import Sequence
from html import escape as escape_html
from typing import Any

import streamlit as st

from dashboard.lab import controls as parts
from dashboard.lab import steps as given
from dashboard.lab.steps import LESSONS, STEPS, Choices, Lesson, Result, Step, lesson_named
from dashboard.lab.view import LEVERS, Setup, simulated
from dashboard.shared.fit_status.running import say_outcome, say_trained
from dashboard.shared.fit_status.service import batch_under_way, session
from dashboard.shared.fit_status.takeaway import take_away
from dashboard.shared.sidebar.widgets import simulated_badge
from dashboard.shared.text.page import show_chart

_PREPARED = "lab-prepared"  # lessons whose fits this session asked for ahead


def show_step(name: str, step: Step, lesson: Lesson | None) -> tuple[Choices, Result | None]:
    """Draw a step, and return what was chosen and what it shows, if anything yet."""
    st.markdown(step.intro)
    if "lever" in step.controls:
        with st.expander("What the theorem says"):
            st.markdown(given.THEOREM)
    values: dict[str, Any] = {}
    for column, control in zip(st.columns(len(step.controls)), step.controls, strict=True):
        with column:
            values[control] = parts.choose(control)
    moved = LEVERS[values["lever"]].control if "lever" in values else ""
    with st.sidebar:
        if step.is_simulated:
            values |= parts.choose_all("How counts are simulated", parts.SIMULATION, moved)
        if step.is_fitted:
            values |= parts.choose_all("How they are fitted", parts.FIT, moved)
    choices = parts.choices_of(step, values)
    orders = step.orders(choices)
    prepared: set[str] = st.session_state.setdefault(_PREPARED, set())
    if lesson is not None and orders and lesson.name not in prepared:
        prepared.add(lesson.name)  # fits begin while the question is read
        session("lab").submit(session("lab").missing(orders))
    answer = _ask(step, values.get("lever", ""), name)
    if answer is None:
        st.caption("The picture appears once you have answered.")
        return choices, None
    if answer and step.right:
        _say_verdict(answer == step.right, step.why)
    results = _results(step, orders)
    if results is None:
        return choices, None
    result = step.build(choices, results)
    if answer and result.right:
        _say_verdict(answer == result.right, result.why)
    _draw(name, result)
    return choices, result


def _ask(step: Step, lever: str, name: str) -> str | None:
    """Return the answer to the question, None before there is one, "" where it is hidden."""
    if parts.QUESTIONS in parts.hidden_names():
        return ""
    with st.container(border=True):
        return st.radio(
            f"**Predict first.** {step.question(lever)}",
            step.answers,
            index=None,
            key=f"lab_guess_{lever.replace(' ', '_') or name}",
            bind="query-params",
            on_change=st.session_state.update,
            args=({f"lab_{control}": value for control, value in step.answered.items()},),
            help="Your answer is stored in the address of this page alone.",
        )


def _say_verdict(is_right: bool, why: str) -> None:
    if is_right:
        st.success(f"**Right.** {why}", icon=":material/check:")
    else:
        st.info(f"**Not quite.** {why}", icon=":material/lightbulb:")


def _results(step: Step, orders: Sequence[Any]) -> list[Any] | None:
    """Return the results of the orders, those made before at once; None while any is missing."""
    mine = session("lab")
    missing = len(mine.missing(orders))
    pressed = missing > 0 and st.button(
        step.button,
        type="primary",
        key="lab-run",
        help=f"Makes {missing} of {len(orders)} fits of simulated counts, one after the other. "
        "Those made before show at once.",
    )
    words = "{done} of {all} simulated fits finished"
    if batch_under_way("lab", orders, pressed=pressed, words=words):
        return None
    if mine.missing(orders):
        st.info(f"Press **{step.button}** to see the results for these settings.")
        return None
    return [mine.service.lookup(order) for order in orders]


def _draw(name: str, result: Result) -> None:
    if result.fit is not None:
        say_outcome(result.fit)
        say_trained(result.fit)
    if result.comparison is not None:
        st.table(result.comparison)
        st.caption("Relative errors: mean absolute error ÷ mean, over all entries. 0 is perfect.")
    for i, row in enumerate(result.rows):
        for k, (column, panel) in enumerate(zip(st.columns(len(row)), row, strict=True)):
            column.markdown(f"**{panel.title}**")
            show_chart(panel.figure, key=f"lab-{name}-{i}-{k}", alt=panel.alt, where=column)
    st.markdown(result.words)


st.title("Lab: learning from counts")
lesson = lesson_named(st.query_params.get("lesson"))
if lesson is not None:
    st.info(f"**Lesson: {lesson.title}**  \n{lesson.aim}", icon=":material/school:")
simulated_badge(simulated(Setup()))
name = parts.choose_step()
number = list(STEPS).index(name)
st.header(f"{number + 1} of {len(STEPS)} · {STEPS[name].heading}")
choices, result = show_step(name, STEPS[name], lesson)
steps = list(STEPS.items())
buttons = ((-1, "Back", "arrow_back"), (1, "Next", "arrow_forward"))
for column, (by, word, arrow) in zip(st.columns(2), buttons, strict=True):
    if 0 <= number + by < len(steps):
        other, step = steps[number + by]
        column.button(
            f"{word}: {step.title}",
            key=f"lab-{word.lower()}",
            on_click=st.session_state.update,
            args=({"step": other},),
            width="stretch",
            icon=f":material/{arrow}:",
            help="Settings stay as they are.",
        )
with st.expander("Five ready-made lessons, and how to hide controls"):
    # Plain links: each opens a fresh Lab, so that nothing chosen before gets into a lesson.
    links = "".join(
        f'<li><a style="color:inherit" href="?{escape_html(each.query)}">'
        f"{escape_html(each.title)}</a><br>{escape_html(each.aim)}</li>"
        for each in LESSONS
    )
    st.html(f"<ol>{links}</ol>")
    names = ", ".join(f"`{each}`" for each in [*parts.CONTROLS, parts.QUESTIONS])
    st.markdown(given.TEACHERS.format(names))
if result is not None:
    take_away(
        f"lab-{name}",
        dataset=simulated(choices.setup),
        fit=result.fit,
        tables={STEPS[name].title: result.table},
    )
