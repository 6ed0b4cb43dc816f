"""The controls of the Lab: each may be hidden by the address, and then keeps its value."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import streamlit as st

from dashboard.lab.lessons import STEP_NAMES, STEPS, Step
from dashboard.lab.view import LEVERS, Setup
from dashboard.shared.sidebar.model import MODEL, Control, settings_of
from dashboard.shared.sidebar.widgets import draw
from uncletc import FitSettings

QUESTIONS = "questions"
_LAST_STEP = "lab-step-in-address"  # what this page last put there: another is the reader's


_SIMULATION = ("gamma_omega", "gamma_xi", "gamma_theta", "snr", "g", "rank", "events", "seed")
# Of the fit: as on other pages, under a name that no control of the simulation has.
_FIT = {
    f"fit_{setting.name}" if setting.name in _SIMULATION else setting.name: replace(
        setting, **setting.lab
    )
    for setting in MODEL
    if setting.lab is not None
}
CONTROLS: dict[str, Control] = {
    "lambda": Control(
        label="λ: true events to expect",
        help="How many events happen on average. The number that do happen differs from draw to "
        "draw: it is Poisson.",
        default=20,
        limits=(1, 60, 1),
    ),
    "p": Control(
        label="p: chance that an event is counted",
        help="Each event is counted with this probability, independently of the others.",
        default=0.5,
        limits=(0.05, 1.0, 0.05),
    ),
    "draw": Control(
        label="Draw",
        help="Decides every random event. The same number gives the same events again.",
        default=0,
        limits=(0, 9999, 1),
        typed=True,
    ),
    "slice": Control(
        label="Slice to look at",
        help="The tensor has 20 slices of 20 × 20 entries, one per step of its third mode: "
        "think of one map per day.",
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
        label="γ_Ξ: share of entries with attributes",
        help="The smaller of the counted and the attributed entries is a random part of the "
        "larger. With γ_Ξ below γ_Ω, some counts come without attributes.",
        default=0.5,
        limits=(0.05, 1.0, 0.05),
    ),
    "gamma_theta": Control(
        label="γ_Θ: share of entries with similar attributes",
        help="These have attributes near one common vector, so nearly one p. They are part of "
        "the entries with attributes: more than γ_Ξ counts as γ_Ξ.",
        default=0.2,
        limits=(0.0, 1.0, 0.05),
    ),
    "snr": Control(
        label="SNR of similar attributes (dB)",
        help="How alike the similar attributes are: 0 dB, the noise is as large as what they "
        "share; 40 dB, a hundredth of it.",
        default=40,
        limits=(0, 40, 5),
    ),
    "g": Control(
        label="True g: how p follows attributes",
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
        help="Decides everything random in the counts and in their truth.",
        default=0,
        limits=(0, 9999, 1),
        typed=True,
    ),
    **_FIT,
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
    "draws": Control(
        label="Simulations per value",
        help="Each draws other counts from another truth. One alone may mislead.",
        default=2,
        limits=(1, 4, 1),
    ),
}


def hidden_names() -> tuple[set[str], list[str]]:
    """What the address asks to hide: names that exist, and those that do not."""
    requested = [name.strip() for name in st.query_params.get("hide", "").split(",")]
    existing = {*CONTROLS, QUESTIONS}
    unknown = sorted({name for name in requested if name} - existing)
    also = [f"fit_{name}" for name in requested]  # the rank of a fit goes with the true one
    return existing.intersection([*requested, *also]), unknown


def choose_step() -> Step:
    """Ask for a step of the story; the address holds it under its short name.

    Not bound by Streamlit, which would put the words on the page into the address.
    """
    steps = list(STEPS)
    asked = st.query_params.get("step", steps[0])
    last = st.session_state.get(_LAST_STEP)
    if asked != last or "step" not in st.session_state:
        st.session_state["step"] = asked if asked in STEPS else steps[0]
    step: Step = st.segmented_control(
        "Step",
        steps,
        required=True,
        format_func=STEP_NAMES.__getitem__,
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
    if name in hidden_names()[0]:
        return control.read(st.query_params.get(key))
    return draw(control, key)


def simulation_controls() -> Setup:
    """Draw the controls of the simulation, and return what they say."""
    st.markdown("**How counts are simulated**")
    drawn = {name: choose(name) for name in _SIMULATION}
    if drawn["gamma_theta"] > drawn["gamma_xi"]:
        st.caption("γ_Θ is taken as γ_Ξ: only entries with attributes can have similar ones.")
    return Setup(
        observed=drawn["gamma_omega"],
        attributed=drawn["gamma_xi"],
        similar=drawn["gamma_theta"],
        snr_db=float(drawn["snr"]),
        detection=drawn["g"],
        rank=drawn["rank"],
        events=float(drawn["events"]),
        seed=drawn["seed"],
    )


def fit_controls() -> FitSettings:
    """Draw the controls of a fit, and return what they say."""
    st.markdown("**How they are fitted**")
    return settings_of(**{setting.name: choose(name) for name, setting in _FIT.items()})
