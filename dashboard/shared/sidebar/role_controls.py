"""Roles of attributes: widgets ↔ address, and what a page says of them."""

from __future__ import annotations

import re
from dataclasses import replace

import streamlit as st

from dashboard.shared.charts.places import OWN as OWN_TABLE
from dashboard.shared.own_table.own import PREFIX
from dashboard.shared.sidebar.model import Control
from dashboard.shared.sidebar.observation_controls import choose_looks, reset_looks, set_looks
from dashboard.shared.sidebar.random_effect_controls import choose_effects, set_effects
from dashboard.shared.sidebar.random_effects import effects_of
from dashboard.shared.sidebar.roles import (
    NO_ROLES_YET,
    NOBODYS,
    OWN,
    PAPER,
    STATED,
    Preset,
    RoleChoice,
    option_of,
    presets_of,
    roles_of,
    usual_preset,
)
from dashboard.shared.sidebar.widgets import draw
from uncletc.datasets import Dataset

_LABEL = "Roles of attributes"
_HELP = (
    "What each attribute may change: p (the chance that an event is counted), λ (how many events "
    "there are), or both. Counts alone hardly tell the two apart. **Stated roles** come with "
    "reasons, which the page lists. **The paper's**: every attribute may move p either way, and "
    "none moves λ. **My own**: change the role of each attribute."
)
_ONE_HELP = "What this attribute may change. **Rises**, **falls**: p can go only that way with it."
_MANY, _HEIGHT = 8, 420  # attributes beyond which their list scrolls, so that buttons stay near
_CAPTIONS: dict[Preset, str] = {
    STATED: "What each attribute may change, and why, is listed on the page.",
    PAPER: "Every attribute may move p either way; none moves λ.",
    OWN: "As stated, but for what you change below.",
}
NOT_WITH_BCD = (
    "Block coordinate descent knows no roles: with it every attribute acts on detection, as in the "
    "paper."
)


def choose_roles(
    dataset: Dataset | None, prefix: str, *, first: Preset | None = None, bcd: bool = False
) -> RoleChoice:
    """Ask what the attributes of a data set may change.

    Parameters
    ----------
    dataset : Dataset, optional
        As it was loaded; None: it is not here, and nothing is asked.
    prefix : str
        Of the keys of the widgets, and in the address.
    first : str, optional
        What is chosen at first; None: what is usual.
    bcd : bool
        Whether the solver is block coordinate descent, which has no roles.
    """
    if dataset is None:
        return NOBODYS
    usual = usual_preset(dataset)
    control = Control(label=_LABEL, help=_HELP, default=first or usual, options=presets_of(dataset))
    preset: Preset = draw(control, preset_key(prefix, dataset.name), disabled=bcd)
    if bcd:
        if usual == STATED:
            st.caption(NOT_WITH_BCD)
        preset = PAPER
    else:
        st.caption(NO_ROLES_YET if preset == PAPER == usual else _CAPTIONS[preset])
    if preset != OWN:
        off = preset == PAPER != usual
        looks = choose_looks(dataset, prefix, off=off)
        effects = choose_effects(dataset, prefix, off=off or bcd)
        return replace(roles_of(dataset, preset), looks=looks, effects=effects)
    own: dict[str, str] = {}
    attributes = roles_of(dataset, OWN).attributes
    tall = _HEIGHT if len(attributes) > _MANY else "content"
    with st.expander("Role of each attribute", expanded=True), st.container(height=tall):
        for each in attributes:
            reason = f"\n\n*As stated*: {each.stated.reason}" if each.stated.reason else ""
            one = Control(
                label=each.name,
                help=_ONE_HELP + reason,
                default=option_of(each.stated),
                options=each.options,
            )
            own[each.name] = draw(one, role_key(prefix, dataset.name, each.name))
    looks = choose_looks(dataset, prefix)
    effects = choose_effects(dataset, prefix)
    return replace(roles_of(dataset, OWN, own), looks=looks, effects=effects)


def set_roles(prefix: str, name: str, roles: RoleChoice) -> None:
    """Put roles, looks and effects into the widgets of a data set; for callbacks."""
    if roles.looks.usual:
        set_looks(prefix, roles.looks)
    set_effects(prefix, name, roles.effects)
    st.session_state[preset_key(prefix, name)] = roles.preset
    for each in roles.attributes:
        key = role_key(prefix, name, each.name)
        if roles.preset == OWN or key in st.session_state:
            st.session_state[key] = option_of(each.now)


def reset_roles(prefix: str, dataset: Dataset | None, *, first: Preset | None = None) -> None:
    """Put the widgets of a data set back to what they are at first; for callbacks."""
    if dataset is None:
        return
    reset_looks(prefix)
    usual = roles_of(dataset, OWN)  # as stated
    chosen = replace(usual, preset=first or usual.usual, effects=effects_of(dataset))
    set_roles(prefix, dataset.name, chosen)


def preset_key(prefix: str, name: str) -> str:
    """Key of the choice among presets: real and simulated counts have their own."""
    return _slug(f"{prefix} {name} roles")


def role_key(prefix: str, name: str, attribute: str) -> str:
    """Key of the choice for one attribute."""
    slug = _slug(f"{prefix} {name} role of {attribute}")
    return f"{PREFIX}{slug}" if name == OWN_TABLE else slug


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")
