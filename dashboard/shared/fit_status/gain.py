"""What attributes of detection add to held-out scores, where it has been measured."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard.shared.charts.places import place_words
from dashboard.shared.fit_status.service import session
from dashboard.work.orders import AttributeGain, FoldKind
from uncletc import Fit
from uncletc.checking import Gain
from uncletc.datasets import Dataset

SECTION = "Do attributes improve predictions?"
NO_ORDER = (
    "**No ranking is claimed**: held-out counts are predicted no better with the attributes than "
    "with one p for all. "
)
_KINDS: tuple[FoldKind, ...] = ("entry", "fibre")  # which is shown first where both are known
_NOT_YET = (
    "Whether the attributes improve predictions of held-out counts is not measured yet: the page "
    f"Model check does it, under *{SECTION}*"
)


def whole(dataset: Dataset) -> str:
    """What is held out with all its counts, in the plural."""
    return place_words(dataset)[1]


def known_gain(dataset: Dataset, fit: Fit) -> Gain | None:
    """Return what attributes add to the fit of these counts; None where it was not measured."""
    for kind in _KINDS:
        order = AttributeGain(counts=dataset.counts, settings=fit.settings, kind=kind)
        gain = session("gain").lookup(order)
        if gain is not None:
            return gain
    return None


def gain_in_headline(dataset: Dataset, fit: Fit) -> Gain | None:
    """Say what attributes add, as a warning where it is nothing; return it where it is known."""
    if not dataset.counts.n_attributes:
        return None
    gain = known_gain(dataset, fit)
    if gain is None:
        st.caption(_NOT_YET)
    elif gain.improves:
        st.markdown(gain.sentence(whole(dataset)))
    else:
        st.warning(gain.sentence(whole(dataset)), icon=":material/error:")
    return gain


def order_remark(gain: Gain | None) -> str:
    """What a caption of bars in order of p begins with: nothing, or that the order says nothing."""
    return "" if gain is None or gain.improves else NO_ORDER


def gain_table(gain: Gain, dataset: Dataset) -> pd.DataFrame:
    """One row, to download: the gain in log score with its standard error, scores and spread."""
    return pd.DataFrame(
        {
            "gain in log score per entry": [gain.mean],
            "standard error": [gain.error],
            "folds": [gain.n_folds],
            "held out": ["single entries" if gain.kind == "entry" else whole(dataset)],
            "log score with attributes": [gain.log_score],
            "log score with one p": [gain.log_score_constant],
            "p, 95th over 5th percentile": [gain.spread],
            "looks with known p": [gain.anchors],
        }
    )
