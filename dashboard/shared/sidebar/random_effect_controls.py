"""Effects of places and calendars: widgets ↔ address."""

from __future__ import annotations

import streamlit as st

from dashboard.shared.sidebar.model import Control
from dashboard.shared.sidebar.random_effects import (
    NO_EFFECTS,
    OWN_EFFECTS,
    STATED_EFFECTS,
    EffectChoice,
    EffectPreset,
    effect_code,
    effect_name,
    effects_of,
)
from dashboard.shared.sidebar.widgets import draw
from uncletc.datasets import Dataset

_HELP = (
    "What the expected true counts λ may owe to a {of}, beside their patterns, and what the "
    "reporting of counts may; each as far as the counts ask for it, and no further. **Stated** "
    "effects come with reasons, which the page lists. **None**, as in the paper. **My own**: each "
    "on or off. Fits with effects ignore the network."
)
_ONE = {"places and calendars": "place or a day", "species and visits": "species or a visit"}
_CAPTIONS: dict[EffectPreset, str] = {
    STATED_EFFECTS: "What each is for is listed on the page.",
    NO_EFFECTS: "λ is a sum of patterns and no more, as in the paper.",
    OWN_EFFECTS: "Those stated, but for what you switch off below.",
}
_OFF = "The paper's choice has none."


def choose_effects(dataset: Dataset, prefix: str, *, off: bool = False) -> EffectChoice:
    """Ask which effects of places and calendars a fit has.

    Parameters
    ----------
    dataset : Dataset
        Where it states no effects, nothing is asked.
    prefix : str
        Of the keys of the widgets, and in the address.
    off : bool
        Whether the fit can have none, as with the paper's roles.
    """
    if not dataset.effects:
        return effects_of(dataset)
    of = effects_of(dataset).of
    control = Control(
        label=f"Effects of {of}",
        help=_HELP.format(of=_ONE[of]),
        default=STATED_EFFECTS,
        options=(STATED_EFFECTS, NO_EFFECTS, OWN_EFFECTS),
    )
    preset: EffectPreset = draw(control, effects_key(prefix, dataset.name), disabled=off)
    st.caption(_OFF if off else _CAPTIONS[preset])
    if off:
        return effects_of(dataset, NO_EFFECTS)
    if preset != OWN_EFFECTS:
        return effects_of(dataset, preset)
    with st.expander("Each effect", expanded=True):
        own = {
            text: st.checkbox(
                effect_name(text),
                value=True,
                key=effect_key(prefix, dataset.name, text),
                bind="query-params",
                help=reason,
            )
            for text, reason in dataset.effects.items()
        }
    return effects_of(dataset, OWN_EFFECTS, own)


def set_effects(prefix: str, name: str, effects: EffectChoice) -> None:
    """Put effects into the widgets of a data set; for callbacks, before they are drawn."""
    if not effects.stated:
        return
    st.session_state[effects_key(prefix, name)] = effects.preset
    for text, _ in effects.stated:
        key = effect_key(prefix, name, text)
        if effects.preset == OWN_EFFECTS:
            st.session_state[key] = text in effects.now
        elif key in st.session_state:
            st.session_state[key] = True


def effects_key(prefix: str, name: str) -> str:
    """Key of the choice among presets."""
    return effect_code(f"{prefix} {name} effects")


def effect_key(prefix: str, name: str, text: str) -> str:
    """Key of the choice of one effect."""
    return effect_code(f"{prefix} {name} effect {text}")
