"""Widgets whose value is kept in the address, shared by several pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from dashboard.shared.own_table.own import NAME, PREFIX, keep_own, look_at_own, own_table, rank_for
from dashboard.shared.sidebar.model import MODEL, SETTINGS, Control, Family, Setting
from uncletc import datasets


def segmented(
    label: str,
    options: Sequence[Any],
    *,
    key: str,
    names: Mapping[Any, str] | None = None,
    default: Any = None,
    where: Any = st,
    **more: Any,
) -> Any:
    """Draw a choice between a few options, the first by default, and return the chosen one.

    Parameters
    ----------
    label : str
    options : sequence
    key : str
        Of the widget, and in the address.
    names : mapping, optional
        What a reader sees, and the address says, of each option.
    default : optional
        An option other than the first.
    where : optional
        A column.
    **more
        What else ``st.segmented_control`` is given.
    """
    return where.segmented_control(
        label,
        options,
        default=options[0] if default is None else default,
        required=True,
        format_func=str if names is None else names.__getitem__,
        key=key,
        **bound(key),
        **more,
    )


def key_of(family: Family, name: str) -> str:
    """Key of a widget that each data set has for itself, and whose options are its own words."""
    return f"{PREFIX}at-{name}" if family == "own" else f"{family}_{name}"


def bound(key: str) -> dict[str, Any]:
    """What binds a widget to the address; nothing where it holds words of a reader's own table."""
    return {} if key.startswith(PREFIX) else {"bind": "query-params"}


def draw(control: Control, key: str, *, default: Any = None, disabled: bool = False) -> Any:
    """Draw a control and return its value."""
    value = control.default if default is None else default
    common: dict[str, Any] = {"key": key, "help": control.help} | bound(key)
    common["disabled"] = disabled
    if control.limits is None:
        if isinstance(control.options[-1], str):
            first = control.options.index(value)
            return st.selectbox(control.label, control.options, first, **common)
        return st.select_slider(control.label, control.options, value, **common)
    least, most, step = control.limits
    if control.typed:
        return int(st.number_input(control.label, least, most, value, **common))
    value = st.slider(control.label, least, most, value, step, **common)
    return round(value, 2)  # 0.15, not 0.15000000000000002


def draw_setting(setting: Setting, values: dict[str, Any], *, prefix: str, family: Family) -> None:
    """Draw a control of the model and add its value to those chosen so far."""
    values[setting.name] = draw(
        setting,
        f"{prefix}_{setting.name}",
        default=default_of(setting, family),
        disabled=setting.off(values),
    )


def reset_settings(prefix: str, family: Family) -> None:
    """Put the controls of the model back to the defaults of a data set; for callbacks."""
    for setting in MODEL:
        st.session_state[f"{prefix}_{setting.name}"] = default_of(setting, family)


def default_of(setting: Setting, family: Family) -> Any:
    """The default of a setting for a data set; the rank of a reader's own table is by its size."""
    table = own_table()
    if family == "own" and setting.name == "rank" and table is not None:
        return rank_for(table.dataset.counts)
    return setting.default_for(family)


def first_rank(family: Family) -> int:
    """The rank that pages fit a data set with at first."""
    return int(default_of(SETTINGS["rank"], family))


FAMILY_NAMES: dict[Family, str] = {"covid": "COVID-19", "ppi": "Plant–pollinator", "own": NAME}


def family_choice(help: str, **more: Any) -> Family:  # noqa: A002, Streamlit's own word
    """Ask for the data set; all pages have one choice, which a reader's own table stays."""
    names = FAMILY_NAMES
    keep_own("data", "own")
    family: Family = segmented(
        "Data set",
        list(names),
        key="data",
        names=names,
        width="stretch",
        help=help,
        **more,
    )
    look_at_own(family == "own")
    return family


def source_choice(family: Family, *, key: str, **more: Any) -> str:
    """Ask for "real" or "simulated" counts; real ones first when they are here."""
    source: str = segmented(
        "Counts",
        ["real", "simulated"],
        default="real" if datasets.available(family) else "simulated",
        key=key,
        width="stretch",
        help="**Simulated** counts come with this program and their truth is known. "
        "**Real** counts are public files: read from a folder named by UNCLETC_DATA_DIR, or "
        "downloaded once and kept.",
        **more,
    )
    return source
