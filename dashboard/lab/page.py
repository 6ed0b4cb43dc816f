"""The Lab: a guided story from one entry to a theorem, on simulated counts."""

import streamlit as st

from dashboard.lab.controls import choose_step, fit_controls, hidden_names, simulation_controls
from dashboard.lab.lessons import STEP_NAMES, STEPS, lesson_named
from dashboard.lab.steps import (
    entry_step,
    fit_step,
    lessons_box,
    levers_step,
    scale_step,
    tensor_step,
)
from dashboard.lab.view import Setup, simulated
from dashboard.shared.fit_status.takeaway import take_away
from dashboard.shared.sidebar.widgets import simulated_badge
from dashboard.shared.text.words import escape

steps = list(STEPS)


def go(by: int) -> None:
    """Move to the next step, or to the one before."""
    st.session_state["step"] = steps[steps.index(st.session_state["step"]) + by]


st.title("Lab: what can counts tell?")
st.markdown(
    "Five short steps, from one place to the theorem behind this dashboard. Predict, press, and "
    "compare what happened with what was counted."
)
lesson = lesson_named(st.query_params.get("lesson"))
if lesson is not None:
    st.info(f"**Lesson: {lesson.title}**  \n{lesson.aim}", icon=":material/school:")
simulated_badge(simulated(Setup()))
_, unknown = hidden_names()
if unknown:
    st.caption(
        f"This link hides controls that the Lab does not have: {', '.join(map(escape, unknown))}."
    )

step = choose_step()
number = steps.index(step)
st.header(f"{number + 1} of {len(steps)} · {STEPS[step]}")

setup = Setup()
if step == "entry":
    shown = entry_step()
else:
    with st.sidebar:
        setup = simulation_controls()
    if step == "tensor":
        shown = tensor_step(setup)
    elif step == "scale":
        shown = scale_step(setup)
    else:
        with st.sidebar:
            settings = fit_controls()
        shown = fit_step(setup, settings) if step == "fit" else levers_step(setup, settings)

before, after = st.columns(2)
if number > 0:
    before.button(
        f"Back: {STEP_NAMES[steps[number - 1]]}",
        key="lab-back",
        on_click=go,
        args=(-1,),
        width="stretch",
        icon=":material/arrow_back:",
        help="Settings stay as they are.",
    )
if number < len(steps) - 1:
    after.button(
        f"Next: {STEP_NAMES[steps[number + 1]]}",
        key="lab-next",
        on_click=go,
        args=(1,),
        width="stretch",
        icon=":material/arrow_forward:",
        help="Settings stay as they are.",
    )

lessons_box()
if shown is not None:
    take_away(
        f"lab-{step}",
        dataset=simulated(setup),
        fit=shown.fit,
        tables=shown.tables,
        code=shown.code,
    )
