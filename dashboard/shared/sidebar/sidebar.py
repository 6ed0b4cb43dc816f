"""Widgets ↔ URL ↔ settings: the sidebar, and what a reader states about the scale of p."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Literal

import streamlit as st

from dashboard.shared.cache import cached_for_counts
from dashboard.shared.charts.places import OWN, place_modes, place_table, place_words
from dashboard.shared.sidebar.controls import choose_closed, choose_roles, reset_closed, reset_roles
from dashboard.shared.sidebar.model import MODEL, Control, Family, settings_of
from dashboard.shared.sidebar.roles import NOBODYS, RoleChoice
from dashboard.shared.sidebar.widgets import (
    bound,
    dataset_or_none,
    draw,
    draw_setting,
    family_choice,
    key_of,
    reset_settings,
    say_in_address,
    source_choice,
)
from dashboard.shared.text.words import capital
from uncletc import Anchor, FitSettings
from uncletc.datasets import Dataset

PICTURES = ["svg", "png"]
Kind = Literal["relative", "mean", "entry", "total", "best"]
Stated = float | tuple[float, float]
_MEAN = 25  # % detected, where the reader states a mean or a total
_MEAN_RANGE, _RANGE_THERE = (20, 40), (40, 60)  # % detected, where the reader states a range

# What a reader says, which the address holds, then what it means.
_KINDS: dict[Kind, tuple[str, str]] = {
    "relative": (
        "I state nothing",
        "Relative values: p is 2 where counting is twice as likely as at the median.",
    ),
    "mean": ("I know the average detection", "The mean of p over all entries with attributes."),
    "entry": ("I know one place", "The p of one, averaged over days or visits."),
    "total": ("I know the true total", "The true events behind all counted entries."),
    "best": ("The best misses nothing", "Nothing is missed where detection is best."),
}
_PAIR = "Pair of species"
_KNOWN_ONE = {"covid": "I know one county", "ppi": "I know one pair"}
_BY_DATA = {
    "deaths": ("Set by reported deaths", "See *Additional data source* in the sidebar."),
    "visits": ("Repeat visits state it", "See *Closed visits* in the sidebar."),
}
# What links said before, and what other pages say.
_SAID: dict[str, Kind] = {
    "relative": "relative",
    "by deaths": "relative",
    **dict.fromkeys((words for words, _ in _BY_DATA.values()), "relative"),
    "known mean": "mean",
    "known place or pair": "entry",
    "known total": "total",
    "best is complete": "best",
    **dict.fromkeys((*_KNOWN_ONE.values(), _KINDS["entry"][0]), "entry"),
}
_MEAN_DETECTION = Control(
    label="Mean detection (%)",
    help="From a serosurvey, for example: of 100 true events, how many are counted.",
    default=_MEAN,
    limits=(1, 100, 1),
)
_DETECTION_THERE = Control(
    label="Detects (%)",
    help="Of 100 true events there, how many are counted.",
    default=50,
    limits=(1, 100, 1),
)
_TRUE = {"covid": "True cases", "ppi": "True interactions", "own": "True events"}


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
        What each attribute may change; further observation processes and effects.
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
    by = "visits" if closed else "deaths" if roles.observations.observations else ""
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


def choose_anchor(family: Family, dataset: str, *, by: str = "") -> Anchor:
    """Ask what is known of the scale of p; `by`: the data that state it, "deaths" or "visits"."""
    kinds = dict(_KINDS)
    kinds["entry"] = (_KNOWN_ONE.get(family, kinds["entry"][0]), kinds["entry"][1])
    if by:
        kinds["relative"] = _BY_DATA[by]
    _understand({kind: words for kind, (words, _) in kinds.items()})
    with st.container(horizontal=True, vertical_alignment="bottom", key="scale-of-p"):
        kind: Kind = st.selectbox(
            "Scale of p",
            list(kinds),
            format_func=lambda kind: kinds[kind][0],
            key="scale",
            bind="query-params",
            width=290,
            help="Counts cannot tell twice the true events from half the detection. Relative "
            "values need no assumption; the other choices turn your own statement into absolute "
            "values. None changes a rank or a ratio, and none needs a new fit.",
        )
        if kind == "mean":
            return Anchor(kind="mean", value=_stated_share(_MEAN_DETECTION, "mean", _MEAN_RANGE))
        if kind == "entry":
            return _entry_anchor(family, dataset)
        if kind == "total":
            return _total_anchor(family, dataset)
        st.caption(kinds[kind][1])
    return Anchor(kind=kind)


def _understand(offered: dict[Kind, str]) -> None:
    """Take what a link says in words that this page does not offer, and say it in its own."""
    said = st.query_params.get("scale")
    if said in _SAID and said not in offered.values() and "scale" not in st.session_state:
        say_in_address("scale", offered[_SAID[said]])


def _as_range() -> bool:
    return st.toggle(
        "As a range",
        key="range",
        bind="query-params",
        help="You are not sure of one number: state two, between which it lies 9 times out of 10. "
        "λ and p are shown for the middle of the range, and all their intervals hold it: they get "
        "wider. What λ and p predict together does not.",
    )


def _stated_share(control: Control, key: str, ends: tuple[int, int]) -> Stated:
    """Ask for a share in percent, or for its range; return it as a share of 1."""
    if not _as_range():
        return float(draw(control, key) / 100)
    limits: Any = control.limits
    low, high = st.slider(
        control.label, *limits[:2], ends, key=f"{key}_range", bind="query-params", help=control.help
    )
    return _range_or_number((low / 100, high / 100), f"{low} to {high} %", f"{low} %")


def _range_or_number(ends: tuple[float, float], words: str, lowest: str) -> Stated:
    """Say how a range is understood; its first end alone where it is none."""
    low, high = ends
    if not low < high:
        st.warning(f"{words} is no range: its low end must be below its high end. Taken: {lowest}.")
        return low
    middle = math.sqrt(low * high)
    shown = f"{100 * middle:.3g} %" if "%" in words else f"{middle:,.0f}"
    st.caption(f"A 90 % interval; λ and p are shown for its middle, {shown}.")
    return ends


def _entry_anchor(family: Family, dataset: str) -> Anchor:
    loaded = dataset_or_none(dataset)
    if loaded is None:
        return Anchor()
    where = cached_for_counts("places to know", _labels_of_places, loaded)
    key = key_of(family, "place")
    name = st.selectbox(
        _PAIR if family == "ppi" else capital(place_words(loaded)[0]),
        sorted(where),
        index=sorted(where).index(next(iter(where))),
        key=key,
        help="Type to search.",
        **bound(key),
    )
    detects = _stated_share(_DETECTION_THERE, f"{family}_detects", _RANGE_THERE)
    return Anchor(kind="entry", place=where[name], name=name, value=detects)


def _labels_of_places(dataset: Dataset) -> dict[str, tuple[str, ...]]:
    """Labels of the first modes, "" for any, of each place with attributes; the largest first."""
    modes, labels = place_modes(dataset), dataset.counts.labels
    found = {}
    for _, place in place_table(dataset).iterrows():
        of_mode = dict(zip(modes, place["where"], strict=True))
        found[place["label"]] = tuple(
            labels[k][of_mode[k]] if k in of_mode else "" for k in range(max(modes) + 1)
        )
    return found


def _total_anchor(family: Family, dataset: str) -> Anchor:
    loaded = dataset_or_none(dataset)
    if loaded is None:
        return Anchor()
    reported = int(loaded.counts.counts.sum())
    first = round(reported * 100 / _MEAN)
    ranged, key = _as_range(), f"{dataset.replace('-', '_')}_total"
    total = _number(f"{_TRUE[family]}{', at least' if ranged else ''}", first, key)
    st.caption(f"Reported there: {reported:,}")
    if total < reported:
        st.warning("Fewer than were reported: reported counts cannot exceed true counts.")
    if not ranged:
        return Anchor(kind="total", value=float(total))
    most = _number(f"{_TRUE[family]}, at most", 2 * first, f"{key}_most")
    ends = (float(total), float(most))
    stated = _range_or_number(ends, f"{total:,} to {most:,}", f"{total:,}")
    return Anchor(kind="total", value=stated)


def _number(label: str, default: int, key: str) -> int:
    value = st.number_input(
        label,
        1,
        10**15,
        default,
        key=key,
        bind="query-params",
        help="How many there truly were, in the places and at the times that have a count.",
    )
    return int(value)
