"""Widgets ↔ URL ↔ settings: the sidebar, and what it says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import streamlit as st

from dashboard.shared.anchors import Anchor, Kind, places
from dashboard.shared.sources import dataset_if_here
from uncletc import FitSettings, datasets

Family = Literal["covid", "ppi"]
# What predicts held-out real counts well: enough patterns that λ, not g, carries the size of
# places, and several members where counts are few and wild.
DEFAULT_RANK: dict[Family, int] = {"covid": 15, "ppi": 5}
DEFAULT_MEMBERS: dict[Family, int] = {"covid": 1, "ppi": 3}
DEFAULT_MU = 2000
DEFAULT_LAYERS = 3
DEFAULT_UNITS = 20
DEFAULT_MEAN = 25
DEFAULT_DETECTS = 50
PICTURES = ["svg", "png"]
MU_CHOICES = [2, 10, 50, 100, 200, 500, 1000, 2000, 3000, 5000, 10000]


@dataclass(frozen=True, kw_only=True)
class Choices:
    """What the sidebar says.

    Attributes
    ----------
    dataset : str
        A name for :func:`uncletc.datasets.load`.
    settings : FitSettings
    anchor : Anchor
    pressed : bool
        Whether Fit was pressed just now.
    live : bool
        Whether a change fits by itself.
    """

    dataset: str
    settings: FitSettings
    anchor: Anchor
    pressed: bool
    live: bool = True


def choose_family() -> Family:
    """Ask for the data set in the sidebar, as the overview does."""
    with st.sidebar:
        family: Family = st.segmented_control(
            "Data set",
            ["covid", "ppi"],
            default="covid",
            required=True,
            format_func={"covid": "COVID-19", "ppi": "Plant–pollinator"}.__getitem__,
            key="data",
            bind="query-params",
            width="stretch",
            help="Which counts to look at. Each keeps its own settings.",
        )
    return family


def choose_dataset(family: Family) -> str:
    """Ask whether to use real or simulated counts; real ones first when they are here."""
    real = datasets.available(family)
    source = st.segmented_control(
        "Counts",
        ["real", "simulated"],
        default="real" if real else "simulated",
        required=True,
        key=f"{family}_counts",
        bind="query-params",
        width="stretch",
        help="**Simulated** counts come with this program and their truth is known. "
        "**Real** counts are public files: read from a folder named by UNCLETC_DATA_DIR, or "
        "downloaded once and kept.",
    )
    return family if source == "real" else f"{family}-twin"


def sidebar(family: Family, *, scale: bool = True) -> Choices:
    """Draw the sidebar of a page that fits, and return what it says.

    Parameters
    ----------
    family : {"covid", "ppi"}
    scale : bool
        Whether the page shows numbers whose scale is free; without, nothing is asked about it,
        and the anchor is the relative one.
    """
    with st.sidebar:
        dataset = choose_dataset(family)
        settings = _settings(family)
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
            args=(family,),
            help="Brings all settings above and the scale of p back to their defaults.",
        )
        if scale:
            st.divider()
        anchor = _anchor(family, dataset) if scale else Anchor()
    return Choices(dataset=dataset, settings=settings, anchor=anchor, pressed=pressed, live=live)


def picture_format() -> str:
    """What the camera above charts saves: as chosen under *Take away*, or in the address."""
    wish = st.session_state.get("picture", st.query_params.get("picture"))
    return wish if wish in PICTURES else PICTURES[0]


def describe(settings: FitSettings) -> str:
    """The settings that a reader needs to recognise a result, in one line."""
    hidden = settings.hidden
    network = f"{len(hidden)} × {hidden[0]} units" if hidden else "linear g"
    members = f", {settings.members} members" if settings.members > 1 else ""
    return f"rank {settings.rank}, μ {settings.mu:g}, {network}, seed {settings.seed}{members}"


def _settings(family: Family) -> FitSettings:
    rank = st.slider(
        "Rank",
        1,
        20,
        DEFAULT_RANK[family],
        key=f"{family}_rank",
        bind="query-params",
        help="How many patterns the expected true counts λ are built from. More patterns follow "
        "the counts closer and need more counts.",
    )
    mu = st.select_slider(
        "μ",
        MU_CHOICES,
        DEFAULT_MU,
        key=f"{family}_mu",
        bind="query-params",
        help="How closely each entry's detection keeps to what its attributes say. It is g(z) "
        "times a deviation of the entry's own, with mean 1 and variance 1/μ: the larger μ, the "
        "closer to g(z).",
    )
    with st.expander("Network, members, seed"):
        layers = st.slider(
            "Hidden layers",
            0,
            5,
            DEFAULT_LAYERS,
            key=f"{family}_layers",
            bind="query-params",
            help="What the detection network g(z) adds to one curve per attribute: layers of "
            "hidden units, which let attributes act together. 0 leaves out curves and units and "
            "makes detection linear in the attributes.",
        )
        units = st.slider(
            "Units per layer",
            5,
            50,
            DEFAULT_UNITS,
            step=5,
            key=f"{family}_units",
            bind="query-params",
            disabled=layers == 0,
            help="Hidden units in each layer.",
        )
        members = st.slider(
            "Members",
            1,
            8,
            DEFAULT_MEMBERS[family],
            key=f"{family}_members",
            bind="query-params",
            help="How many fits to combine, each from another start and with its entries weighted "
            "anew. 2 or more show how far they spread, and take longer.",
        )
        seed = st.number_input(
            "Seed",
            0,
            9999,
            0,
            key=f"{family}_seed",
            bind="query-params",
            help="Decides every random start. If two seeds tell different stories, trust neither.",
        )
    return FitSettings(
        rank=rank, mu=float(mu), hidden=(units,) * layers, seed=int(seed), members=members
    )


def _reset(family: Family) -> None:
    defaults = {
        f"{family}_rank": DEFAULT_RANK[family],
        f"{family}_mu": DEFAULT_MU,
        f"{family}_layers": DEFAULT_LAYERS,
        f"{family}_units": DEFAULT_UNITS,
        f"{family}_members": DEFAULT_MEMBERS[family],
        f"{family}_seed": 0,
        "scale": "relative",
    }
    for key, value in defaults.items():
        st.session_state[key] = value


# The label is what the address holds, so it is the same on all pages; then what it states.
_KINDS: dict[Kind, tuple[str, str]] = {
    "relative": ("relative", "p over its median: 2 is twice as likely to be counted as usual."),
    "mean": ("known mean", "You state the mean of p over all entries with attributes."),
    "entry": ("known place or pair", "You state the p of one, on the average over days or visits."),
    "total": ("known total", "You state how many true events there were where there is a count."),
    "best": ("best is complete", "You state that nothing is missed where detection is best."),
}
_ONE = {"covid": "County", "ppi": "Pair of species"}
_TRUE = {"covid": "True cases", "ppi": "True interactions"}


def _anchor(family: Family, dataset: str) -> Anchor:
    kind: Kind = st.selectbox(
        "Scale of p",
        list(_KINDS),
        format_func=lambda kind: _KINDS[kind][0],
        key="scale",
        bind="query-params",
        help="Counts cannot tell twice the true events from half the detection. Relative values "
        "need no assumption; the other choices turn your own statement into absolute values. "
        "None changes a rank or a ratio, and none needs a new fit.",
    )
    st.caption(_KINDS[kind][1])
    if kind == "mean":
        percent = st.slider(
            "Mean detection (%)",
            1,
            100,
            DEFAULT_MEAN,
            key="mean",
            bind="query-params",
            help="From a serosurvey for example: of 100 true events, how many are counted.",
        )
        return Anchor(kind="mean", mean=percent / 100)
    if kind == "entry":
        return _entry_anchor(family, dataset)
    if kind == "total":
        return _total_anchor(family, dataset)
    return Anchor(kind=kind)


@st.cache_resource(show_spinner=False, max_entries=8)
def _places(_dataset: datasets.Dataset, name: str) -> dict[str, tuple[int, ...]]:  # noqa: ARG001
    return places(_dataset)  # thousands of names; they are kept by the name of the data set


def _entry_anchor(family: Family, dataset: str) -> Anchor:
    here = dataset_if_here(dataset)
    if here is None:
        return Anchor()
    known = _places(here, dataset)
    name = st.selectbox(
        _ONE[family],
        sorted(known),
        index=sorted(known).index(next(iter(known))),
        key=f"{family}_place",
        bind="query-params",
        help="Type to search.",
    )
    percent = st.slider(
        "Detects (%)",
        1,
        100,
        DEFAULT_DETECTS,
        key=f"{family}_detects",
        bind="query-params",
        help="Of 100 true events there, how many are counted.",
    )
    return Anchor(kind="entry", place=known[name], name=name, detects=percent / 100)


def _total_anchor(family: Family, dataset: str) -> Anchor:
    here = dataset_if_here(dataset)
    if here is None:
        return Anchor()
    reported = int(here.counts.counts.sum())
    total = st.number_input(
        _TRUE[family],
        1,
        10**15,
        round(reported * 100 / DEFAULT_MEAN),
        key=f"{dataset.replace('-', '_')}_total",
        bind="query-params",
        help="How many there truly were, in the places and at the times that have a count.",
    )
    st.caption(f"Reported there: {reported:,}")
    if total < reported:
        st.warning("Fewer than were reported: nobody counts more than there is.")
    return Anchor(kind="total", total=float(total))
