"""Widgets ↔ URL ↔ the scale of p: what a reader knows of it, asked in words."""

from __future__ import annotations

import math
from typing import Any

import streamlit as st

from dashboard.shared.cache import cached_for_counts
from dashboard.shared.charts.places import place_modes, place_words
from dashboard.shared.sidebar.anchors import Anchor, Kind, Stated, places
from dashboard.shared.sidebar.model import Control, Family
from dashboard.shared.sidebar.widgets import bound, dataset_or_none, draw, key_of, say_in_address
from dashboard.shared.text.words import capital

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
    "deaths": ("Deaths state it", "See *Second look* in the sidebar."),
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
            return Anchor(kind="mean", mean=_stated_share(_MEAN_DETECTION, "mean", _MEAN_RANGE))
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
    by_name = cached_for_counts("places to know", places, loaded)
    key = key_of(family, "place")
    name = st.selectbox(
        _PAIR if family == "ppi" else capital(place_words(loaded)[0]),
        sorted(by_name),
        index=sorted(by_name).index(next(iter(by_name))),
        key=key,
        help="Type to search.",
        **bound(key),
    )
    detects = _stated_share(_DETECTION_THERE, f"{family}_detects", _RANGE_THERE)
    modes = place_modes(loaded) if family == "own" else ()
    return Anchor(kind="entry", place=by_name[name], modes=modes, name=name, detects=detects)


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
        return Anchor(kind="total", total=float(total))
    most = _number(f"{_TRUE[family]}, at most", 2 * first, f"{key}_most")
    ends = (float(total), float(most))
    stated = _range_or_number(ends, f"{total:,} to {most:,}", f"{total:,}")
    return Anchor(kind="total", total=stated)


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
