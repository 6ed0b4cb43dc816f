"""Widgets ↔ URL ↔ settings: the sidebar, and what it says."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from dashboard.shared.charts.places import OWN
from dashboard.shared.sidebar.anchors import Anchor
from dashboard.shared.sidebar.controls import choose_closed, choose_roles, reset_closed, reset_roles
from dashboard.shared.sidebar.model import MODEL, Family, settings_of
from dashboard.shared.sidebar.roles import NOBODYS, RoleChoice
from dashboard.shared.sidebar.scale_controls import choose_anchor
from dashboard.shared.sidebar.widgets import (
    dataset_or_none,
    draw_setting,
    family_choice,
    reset_settings,
    source_choice,
)
from uncletc import FitSettings

PICTURES = ["svg", "png"]


@dataclass(frozen=True, kw_only=True)
class Choices:
    """What the sidebar says.

    Attributes
    ----------
    dataset : str
        A name for :func:`uncletc.datasets.load`.
    settings : FitSettings
        With the signs of the roles, the effects, and closed modes.
    anchor : Anchor
    pressed : bool
        Whether Fit was pressed just now.
    live : bool
        Whether a change fits by itself.
    roles : RoleChoice
        What each attribute may change; further looks and effects.
    """

    dataset: str
    settings: FitSettings
    anchor: Anchor
    pressed: bool
    live: bool = True
    roles: RoleChoice = NOBODYS


def choose_family() -> Family:
    """Ask for the data set in the sidebar, as the overview does."""
    with st.sidebar:
        return family_choice("Which counts to look at. Each keeps its own settings.")


def choose_dataset(family: Family, **more: Any) -> str:
    """Ask whether to use real or simulated counts; the name of the data set."""
    if family == "own":
        return OWN
    source = source_choice(family, key=f"{family}_counts", **more)
    return family if source == "real" else f"{family}-twin"


def sidebar(family: Family, *, scale: bool = True) -> Choices:
    """Draw the sidebar of a page that fits, and return what it says.

    *Scale of p* is drawn on the page itself, where this is called: every number rests on it.

    Parameters
    ----------
    family : {"covid", "ppi", "own"}
    scale : bool
        Whether the page shows numbers whose scale is free; without, nothing is asked about it,
        and the anchor is the relative one.
    """
    with st.sidebar:
        dataset = choose_dataset(family)
        settings = _settings(family)
        roles = choose_roles(dataset_or_none(dataset), "")
        settings = roles.settings(settings)
        closed = choose_closed(dataset_or_none(dataset), effects=settings.effects)
        settings = replace(settings, closed=closed)
        live = st.toggle(
            "Fit as I change",
            value=True,
            key="live",
            bind="query-params",
            help="On: each change of a setting starts a new fit at once, and the picture follows. "
            "Off: change several settings first, then press **Fit**.",
        )
        fit, reset = st.columns(2)
        pressed = fit.button(
            "Fit",
            type="secondary" if live else "primary",
            width="stretch",
            key="fit",
            help="Fits these settings, also after a fit was cancelled or failed.",
        )
        reset.button(
            "Reset",
            width="stretch",
            key=f"{family}_reset",
            on_click=_reset,
            args=(family, dataset),
            help="Resets settings, roles and effects above and the scale of p to their defaults.",
        )
    by = "visits" if closed else "deaths" if roles.looks.looks else ""
    anchor = choose_anchor(family, dataset, by=by) if scale else Anchor()
    return Choices(
        dataset=dataset,
        settings=settings,
        anchor=anchor,
        pressed=pressed,
        live=live,
        roles=roles,
    )


def picture_format() -> str:
    """What the camera above charts saves: as chosen under *Download & cite*, or in the address."""
    requested = st.session_state.get("picture", st.query_params.get("picture"))
    return requested if requested in PICTURES else PICTURES[0]


def _settings(family: Family) -> FitSettings:
    values: dict[str, object] = {}
    shown = [setting for setting in MODEL if setting.in_sidebar]
    for setting in shown:
        if setting.group == "model":
            draw_setting(setting, values, prefix=family, family=family)
    with st.expander("Network, members, seed"):
        for setting in shown:
            if setting.group != "model":
                draw_setting(setting, values, prefix=family, family=family)
    return settings_of(**values)


def _reset(family: Family, dataset: str) -> None:
    reset_settings(family, family)
    reset_roles("", dataset_or_none(dataset))
    reset_closed()
    st.session_state["scale"] = "relative"
