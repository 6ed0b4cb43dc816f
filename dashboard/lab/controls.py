"""The controls of the Lab: each may be hidden by the address, and then keeps its value."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

import streamlit as st

from dashboard.lab.steps import STEPS, Choices, Step
from dashboard.lab.view import LEVERS, Setup
from dashboard.shared.sidebar.model import MODEL, Control, settings_of
from dashboard.shared.sidebar.sidebar import draw
from dashboard.shared.text.words import read_words

QUESTIONS = "questions"
_LAST_STEP = "lab-step-in-address"  # what this page last put there: another is the reader's


# In the order in which a set-up has them.
SIMULATION = ("gamma_omega", "gamma_xi", "g", "rank", "events", "seed")
# Of the fit: as on other pages, under a name that no control of the simulation has.
FIT = {
    f"fit_{setting.name}" if setting.name in SIMULATION else setting.name: replace(
        setting, **setting.lab
    )
    for setting in MODEL
    if setting.lab is not None
}
CONTROLS = {
    name: Control(**{k: tuple(v) if isinstance(v, list) else v for k, v in values.items()})
    for name, values in read_words(__file__, "controls.toml").items()
} | FIT
CONTROLS["lever"] = replace(CONTROLS["lever"], options=tuple(LEVERS))


def hidden_names() -> set[str]:
    """Return the names that the address hides; the rank of a fit goes with the true one."""
    requested = [name.strip() for name in st.query_params.get("hide", "").split(",")]
    return {*requested, *(f"fit_{name}" for name in requested)}


def choose_step() -> str:
    """Ask for a step, and return its name in the address.

    Not bound by Streamlit, which would put the words on the page into the address.
    """
    first = next(iter(STEPS))
    asked = st.query_params.get("step", first)
    last = st.session_state.get(_LAST_STEP)
    if asked != last or "step" not in st.session_state:
        st.session_state["step"] = asked if asked in STEPS else first
    step: str = st.segmented_control(
        "Step",
        list(STEPS),
        required=True,
        format_func=lambda name: STEPS[name].title,
        key="step",
        width="stretch",
        help="Go in order, or jump. The address of this page always leads back to where you are.",
    )
    if step != asked:
        st.query_params["step"] = step
    st.session_state[_LAST_STEP] = step
    return step


def choose(name: str, *, moved: bool = False) -> Any:
    """Draw a control and return its value; where it is hidden, the address's or the default.

    `moved`: whether another control decides its values, so that it cannot act.
    """
    control, key = CONTROLS[name], f"lab_{name}"
    if name in hidden_names():
        return control.read(st.query_params.get(key))
    value = draw(control, key, disabled=moved)
    if moved:
        st.caption("*What to change* sets it.")
    return value


def choose_all(title: str, names: Collection[str], moved: str = "") -> dict[str, Any]:
    """Draw a title and controls below it, one of them `moved`, and return their values."""
    if not hidden_names() >= {*names}:
        st.markdown(f"**{title}**")
    return {name: choose(name, moved=name == moved) for name in names}


def choices_of(step: Step, given: Mapping[str, Any]) -> Choices:
    """Return what values of controls say; those not given have their defaults."""
    values = {name: control.default for name, control in CONTROLS.items()} | dict(given)
    return Choices(
        setup=Setup(*(values[name] for name in SIMULATION)),
        settings=settings_of(**{setting.name: values[name] for name, setting in FIT.items()}),
        values={name: values[name] for name in step.controls},
    )
