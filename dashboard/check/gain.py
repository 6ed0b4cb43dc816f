"""The section of the Model check page that measures what attributes of detection add."""

from __future__ import annotations

from time import monotonic

import pandas as pd
import streamlit as st

from dashboard.check.view import Kind
from dashboard.check.words import alone_words, spread_words
from dashboard.shared.fit_status.badges import SECTION, gain_table, whole
from dashboard.shared.fit_status.service import progress_bar, say_failed, session
from dashboard.shared.sidebar.roles import NONE_ON_DETECTION
from dashboard.work.jobs import Job
from dashboard.work.orders import AttributeGain
from uncletc import Fit
from uncletc.datasets import Dataset

_LOOKED = 0.5  # seconds between two looks
_LONG_WAIT = 6.0  # seconds; alone it has begun by then


def gain_section(dataset: Dataset, fit: Fit, kind: Kind) -> pd.DataFrame:
    """Measure on demand what attributes add to held-out scores; return it where it is known."""
    st.header(SECTION)
    counts = dataset.counts
    if not counts.n_attributes:
        st.markdown(NONE_ON_DETECTION)
        return pd.DataFrame()
    order = AttributeGain(counts=counts, settings=fit.settings, kind=kind)
    held = "single entries" if kind == "entry" else whole(dataset)
    st.markdown(
        f"Holds out {held}, a fifth at a time, and compares two fits by how likely they make the "
        "counts held out: this one, and one whose p is the same everywhere. All else is as set; "
        "attributes that may change λ still do."
    )
    mine = session("gain")
    asked = mine.lookup(order) is not None or bool(mine.under_way([order]))
    if not asked and st.button(
        "Measure what attributes add",
        key="measure-gain",
        help=f"Makes {order.trials} fits in the background, each about as long as one of this "
        "page. The result is kept, and told on the page of the counts.",
    ):
        mine.submit([order])
        st.rerun()
    if mine.under_way([order]):  # before the look-up: one that ends in between is found
        _progress(order)
    else:
        say_failed(mine, [order], "The comparison")
    gain = mine.lookup(order)
    if gain is None:
        return pd.DataFrame()
    st.markdown(f"**{gain.sentence(whole(dataset))}** {spread_words(gain)}")
    st.caption(
        "Log score: −log of the probability that a prediction gives to the count, on average "
        f"{gain.log_score:.4f} with the attributes and {gain.log_score_constant:.4f} with one p; "
        "lower is better. Negative binomial, its φ from counts that neither train nor test. After "
        "±: the standard error over folds, of differences fold by fold. "
        f"{alone_words(counts)}"
    )
    return gain_table(gain, dataset)


@st.fragment(run_every=_LOOKED)
def _progress(order: AttributeGain) -> None:
    mine = session("gain")
    under_way = mine.under_way([order])
    if not under_way:
        st.rerun()
    (job,) = under_way
    progress_bar(job.share, _text(job), key="cancel-gain", on_cancel=mine.cancel, args=([order],))


def _text(job: Job) -> str:
    if job.state == "waiting":
        waits = monotonic() - job.asked > _LONG_WAIT
        return f"Comparing: {'waiting for another run to finish' if waits else 'getting ready'} …"
    number = min(job.trial + 1, job.order.trials)
    return f"Comparing: fit {number} of {job.order.trials}, iteration {job.iteration}"
