"""Widgets ↔ URL ↔ settings: the sidebar, and what it says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import streamlit as st

from dashboard.anchors import Anchor
from uncletc import FitSettings, datasets

Family = Literal["covid", "ppi"]
# What predicts held-out real counts well: enough patterns that λ, not g, carries the size of
# places, and several members where counts are few and wild.
DEFAULT_RANK: dict[Family, int] = {"covid": 15, "ppi": 5}
DEFAULT_MEMBERS: dict[Family, int] = {"covid": 1, "ppi": 3}
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
    """

    dataset: str
    settings: FitSettings
    anchor: Anchor
    pressed: bool


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


def sidebar(family: Family) -> Choices:
    """Draw the sidebar of a page that fits, and return what it says."""
    with st.sidebar:
        dataset = choose_dataset(family)
        settings = _settings(family)
        pressed = st.button("Fit", type="primary", width="stretch", key="fit")
        st.divider()
        anchor = _anchor()
    return Choices(dataset=dataset, settings=settings, anchor=anchor, pressed=pressed)


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
        2000,
        key=f"{family}_mu",
        bind="query-params",
        help="How closely each entry's detection keeps to what its attributes say. It is g(z) "
        "times a deviation of the entry's own, with mean 1 and variance 1/μ: the larger μ, the "
        "closer to g(z).",
    )
    layers = st.slider(
        "Hidden layers",
        0,
        5,
        3,
        key=f"{family}_layers",
        bind="query-params",
        help="What the detection network g(z) adds to one curve per attribute: layers of hidden "
        "units, which let attributes act together. 0 leaves out curves and units and makes "
        "detection linear in the attributes.",
    )
    units = st.slider(
        "Units per layer",
        5,
        50,
        20,
        step=5,
        key=f"{family}_units",
        bind="query-params",
        disabled=layers == 0,
        help="Hidden units in each layer.",
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
    return FitSettings(
        rank=rank, mu=float(mu), hidden=(units,) * layers, seed=int(seed), members=members
    )


def _anchor() -> Anchor:
    kind = st.selectbox(
        "Scale of p",
        ["relative", "mean", "best"],
        format_func={
            "relative": "relative (median = 1)",
            "mean": "mean detection is …",
            "best": "the best entry detects everything",
        }.__getitem__,
        key="scale",
        bind="query-params",
        help="Counts cannot tell twice the true cases from half the detection. Relative values "
        "need no assumption; the other choices turn your own statement into absolute values.",
    )
    percent = 25
    if kind == "mean":
        percent = st.slider(
            "Mean detection (%)",
            1,
            100,
            25,
            key="mean",
            bind="query-params",
            help="Your statement, from a serosurvey for example. It changes no rank or ratio.",
        )
    return Anchor(kind=kind, mean=percent / 100)
