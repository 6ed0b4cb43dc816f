"""The controls of the Lab: each may be hidden by the address, and then keeps its value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from dashboard.lab.view import Setup
from dashboard.lab.view_fits import LEVERS, lab_settings
from uncletc import FitSettings

QUESTIONS = "questions"


@dataclass(frozen=True, kw_only=True)
class Control:
    """A slider, or a choice where there are options.

    Attributes
    ----------
    label, help : str
    default : Any
    limits : tuple of (least, most, step), optional
        Of a slider.
    options : sequence, optional
        What a reader sees, and the address says: Streamlit ties the two together.
    """

    label: str
    help: str
    default: Any
    limits: tuple[Any, Any, Any] | None = None
    options: Sequence[Any] = ()

    def read(self, text: str | None) -> Any:
        """The value that an address gives; the default where it gives none that is allowed."""
        if text is None:
            return self.default
        if self.limits is None:
            return next((value for value in self.options if str(value) == text), self.default)
        least, most, _ = self.limits
        try:
            value = type(self.default)(text)
        except ValueError:
            return self.default
        return value if least <= value <= most else self.default


CONTROLS: dict[str, Control] = {
    "lambda": Control(
        label="λ: true events to expect",
        help="How many events happen on the average. How many do happen differs from draw to "
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
        help="Decides what chance does. The same number gives the same events again.",
        default=0,
        limits=(0, 9999, 1),
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
        help="p is a sigmoid of a weighted sum of h(z), and the fit is not told h. cubic: "
        "0.5 z³ + 0.2 z. steep-cubic: 3 z³ + 0.2 z. log: 0.1 log z² + 0.1 z². tanh: tanh(z)³.",
        default="log",
        options=("cubic", "steep-cubic", "log", "tanh"),
    ),
    "rank": Control(
        label="True rank",
        help="How many patterns the true λ is built from.",
        default=3,
        limits=(1, 6, 1),
    ),
    "events": Control(
        label="True events per entry",
        help="How many to expect on the average over all entries. The paper's simulations have "
        "about 1,270.",
        default=25,
        options=(5, 25, 100, 400, 1266),
    ),
    "seed": Control(
        label="Seed of the simulation",
        help="Decides everything random in the counts and in their truth.",
        default=0,
        limits=(0, 9999, 1),
    ),
    "fit_rank": Control(
        label="Rank assumed",
        help="How many patterns the fit builds λ from. It need not be the true rank.",
        default=3,
        limits=(1, 8, 1),
    ),
    "mu": Control(
        label="μ",
        help="How closely each entry's detection keeps to g(z): it may differ by a factor with "
        "variance 1/μ.",
        default=2000,
        options=(2, 10, 100, 500, 2000, 10000),
    ),
    "layers": Control(
        label="Hidden layers",
        help="Of the network g(z), with 20 units each. 0 makes detection linear in the attributes.",
        default=3,
        limits=(0, 5, 1),
    ),
    "members": Control(
        label="Members",
        help="How many fits to combine, each from another start and with its entries weighted "
        "anew.",
        default=1,
        limits=(1, 5, 1),
    ),
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
_SIMULATION = ("gamma_omega", "gamma_xi", "gamma_theta", "snr", "g", "rank", "events", "seed")


def hidden_names() -> tuple[set[str], list[str]]:
    """What the address asks to hide: names that exist, and those that do not."""
    asked = [name.strip() for name in st.query_params.get("hide", "").split(",")]
    known = {*CONTROLS, QUESTIONS}
    return known.intersection(asked), sorted({name for name in asked if name} - known)


def choose(name: str) -> Any:
    """Draw a control and return its value; where it is hidden, the address's or the default."""
    control, key = CONTROLS[name], f"lab_{name}"
    if name in hidden_names()[0]:
        return control.read(st.query_params.get(key))
    common: dict[str, Any] = {"key": key, "bind": "query-params", "help": control.help}
    if control.limits is None:
        if isinstance(control.default, int):
            return st.select_slider(control.label, control.options, control.default, **common)
        first = control.options.index(control.default)
        return st.selectbox(control.label, control.options, first, **common)
    least, most, step = control.limits
    if name in ("draw", "seed"):
        return int(st.number_input(control.label, least, most, control.default, **common))
    value = st.slider(control.label, least, most, control.default, step, **common)
    return round(value, 2)  # 0.15, not 0.15000000000000002


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
    return lab_settings(
        rank=choose("fit_rank"),
        mu=choose("mu"),
        layers=choose("layers"),
        members=choose("members"),
    )
