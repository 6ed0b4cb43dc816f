"""The folded section of a page on its data: a summary, what was found, and sources."""

from __future__ import annotations

import math

import numpy as np
import streamlit as st

from dashboard.shared.charts.places import is_own
from dashboard.shared.data_section.findings import before_you_fit
from dashboard.shared.text.words import escape, escape_sentence, plural, with_days
from uncletc.datasets import Dataset

DATA = "data-section"  # key of the box, whose value says whether it is open


def data_section(dataset: Dataset, *, report: bool = True) -> None:
    """Draw the box on a data set, filled when it is opened.

    Parameters
    ----------
    dataset : Dataset
        As it was loaded.
    report : bool
        Whether to list what was found before a fit; a page may have drawn that already.
    """
    folded = st.expander(
        "Data: size, warnings and sources", icon=":material/database:", key=DATA, on_change="rerun"
    )
    if not folded.open:
        return
    with folded:
        st.markdown(summary(dataset))
        if report:
            before_you_fit(dataset)
        _provenance(dataset)


def summary(dataset: Dataset) -> str:
    """Return the size of a data set, the share that was counted, and what the counts are like."""
    counts, y = dataset.counts, dataset.counts.counts
    sizes = " × ".join(
        f"{size:,} {escape(mode)}" for size, mode in zip(counts.shape, counts.modes, strict=True)
    )
    known = plural(counts.n_attributes, "covariate")
    return (
        f"**{sizes}.** Of these {math.prod(counts.shape):,} combinations **{counts.n_observed:,} "
        f"have a count**; the others are missing, not zero. **{np.mean(y == 0):.0%} of the counts "
        f"are 0**, their mean is {y.mean():,.1f} and the largest is {y.max():,}. {known}, known "
        f"for {counts.n_attributed:,} entries."
    )


def _provenance(dataset: Dataset) -> None:
    """Draw whether the counts are real, their dates, sources, licences and every rule applied."""
    provenance, own = dataset.provenance, is_own(dataset)
    st.subheader("Sources")
    kind = "Simulated counts" if provenance.simulated else "Your counts" if own else "Real counts"
    title, period = escape(dataset.title) if own else dataset.title, with_days(provenance.period)
    lines = [f"**{kind}** · {title} · {period}"]
    lines += [
        f"- {f'[{each.name}]({each.url})' if each.url else escape(each.name)}: {each.used_for}. "
        f"Licence: {each.licence}."
        for each in provenance.sources
    ]
    shown = escape_sentence if own else str
    lines += [f"- {shown(rule)}" for rule in provenance.rules]
    st.markdown("\n".join(lines))
