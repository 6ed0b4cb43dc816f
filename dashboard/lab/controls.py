"""The controls of the Lab: each may be hidden by the address, and then keeps its value."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import streamlit as st

from dashboard.lab.steps import STEPS, Choices, Step
from dashboard.lab.view import LEVERS, Setup
from dashboard.shared.sidebar.model import MODEL, Control, settings_of
from dashboard.shared.sidebar.sidebar import draw

QUESTIONS = "questions"
_LAST_STEP = "lab-step-in-address"  # what this page last put there: another is the reader's


SIMULATION = ("gamma_omega", "gamma_xi", "g", "rank", "events", "seed")
# Of the fit: as on other pages, under a name that no control of the simulation has.
FIT = {
    f"fit_{setting.name}" if setting.name in SIMULATION else setting.name: replace(
        setting, **setting.lab
    )
    for setting in MODEL
    if setting.lab is not None
}
CONTROLS: dict[str, Control] = {
    "lambda": Control(
        label="λ: events to expect",
        help="How many events happen on average. The number that do happen differs from draw to "
        "draw: it is Poisson.",
        default=20,
        limits=(1, 60, 1),
    ),
    "p": Control(
        label="p: probability that one is counted",
        help="Each event is counted with this probability, independently of the others.",
        default=0.5,
        limits=(0.05, 1.0, 0.05),
    ),
    "draw": Control(
        label="Draw (+: draw again)",
        help="Sets which events happen and which are counted. The same number gives the same "
        "events again.",
        default=0,
        limits=(0, 9999, 1),
        typed=True,
    ),
    "slice": Control(
        label="Day shown",
        help="Each of the 20 days has counts of 20 species in 20 places.",
        default=1,
        limits=(1, 20, 1),
    ),
    "gamma_omega": Control(
        label="γ_Ω: share of entries counted",
        help="At the other entries nobody counted: they are missing, not zero.",
        default=0.2,
        limits=(0.05, 1.0, 0.05),
    ),
    "gamma_xi": Control(
        label="γ_Ξ: share of entries with covariates",
        help="The smaller of the entries counted and those with covariates is a random part of the "
        "larger. With γ_Ξ below γ_Ω, some counts come without covariates.",
        default=0.5,
        limits=(0.05, 1.0, 0.05),
    ),
    "g": Control(
        label="True g: how p follows covariates",
        help="p is a sigmoid of a weighted sum of h(z), and the fit does not know h. cubic: "
        "0.5 z³ + 0.2 z. steep-cubic: 3 z³ + 0.2 z. log: 0.1 log z² + 0.1 z². tanh: tanh(z)³. "
        "interaction: a sigmoid of 3 (z₁z₂ + z₃z₄), so that covariates interact.",
        default="log",
        options=("cubic", "steep-cubic", "log", "tanh", "interaction"),
    ),
    "rank": Control(
        label="True rank",
        help="How many patterns the true λ is built from.",
        default=3,
        limits=(1, 6, 1),
    ),
    "events": Control(
        label="True events per entry",
        help="How many to expect on average over all entries. The paper's simulations have "
        "about 1,270.",
        default=25,
        options=(5, 25, 100, 400, 1266),
    ),
    "seed": Control(
        label="Seed of the simulation",
        help="Sets everything random in the counts and in the truth.",
        default=0,
        limits=(0, 9999, 1),
        typed=True,
    ),
    **FIT,
    "c": Control(
        label="c: the common factor",
        help="λ is multiplied by c and p divided by it, everywhere.",
        default=1.0,
        limits=(0.5, 2.0, 0.05),
    ),
    "lever": Control(
        label="What to change",
        help="All other settings stay as they are.",
        default="entries counted",
        options=tuple(LEVERS),
    ),
}


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


def choose(name: str) -> Any:
    """Draw a control and return its value; where it is hidden, the address's or the default."""
    control, key = CONTROLS[name], f"lab_{name}"
    if name in hidden_names():
        return control.read(st.query_params.get(key))
    return draw(control, key)


def choose_all(title: str, names: Iterable[str]) -> dict[str, Any]:
    """Draw a title and controls below it, and return their values."""
    st.markdown(f"**{title}**")
    return {name: choose(name) for name in names}


def choices_of(step: Step, given: Mapping[str, Any]) -> Choices:
    """Return what values of controls say; those not given have their defaults."""
    values = {name: control.default for name, control in CONTROLS.items()} | dict(given)
    return Choices(
        setup=Setup(
            observed=values["gamma_omega"],
            attributed=values["gamma_xi"],
            detection=values["g"],
            rank=values["rank"],
            events=float(values["events"]),
            seed=values["seed"],
        ),
        settings=settings_of(**{setting.name: values[name] for name, setting in FIT.items()}),
        values={name: values[name] for name in step.controls},
    )
