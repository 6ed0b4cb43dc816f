"""The folded section of a page on its data: a summary, what was found, coverage and sources."""

from __future__ import annotations

from functools import partial

import streamlit as st

from dashboard.shared.charts.places import is_own
from dashboard.shared.data_section.coverage import coverage, coverage_chart, mode_pairs, summary
from dashboard.shared.data_section.findings import before_you_fit
from dashboard.shared.own_table import PREFIX
from dashboard.shared.sidebar.widgets import segmented
from dashboard.shared.text.page import show_chart
from dashboard.shared.text.words import escape, escape_sentence
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
        "Data: coverage and sources", icon=":material/database:", key=DATA, on_change="rerun"
    )
    if not folded.open:
        return
    counts = dataset.counts
    with folded:
        st.markdown(summary(dataset))
        if report:
            before_you_fit(dataset)
        st.subheader("Coverage")
        pairs = mode_pairs(counts)
        key = f"{PREFIX if is_own(dataset) else ''}modes"  # whose words stay out of the address
        name = segmented("View", list(pairs), wrap=True, key=key, help="Modes of rows and columns.")
        shown = partial(
            coverage_chart,
            coverage(counts, pairs[name]),
            labels=[counts.labels[mode] for mode in pairs[name]],
            modes=[counts.modes[mode] for mode in pairs[name]],
        )
        show_chart(shown, key="coverage", alt=f"Entries with a count, by {name}")
        st.caption("Blank: nobody counted, which is **not** that nothing happened.")
        _provenance(dataset)


def _provenance(dataset: Dataset) -> None:
    """Draw whether the counts are real, their dates, sources, licences and every rule applied."""
    provenance, own = dataset.provenance, is_own(dataset)
    st.subheader("Sources")
    kind = "Simulated counts" if provenance.simulated else "Your counts" if own else "Real counts"
    lines = [
        f"**{kind}** · {escape(dataset.title) if own else dataset.title} · {provenance.period}"
    ]
    lines += [
        f"- {f'[{each.name}]({each.url})' if each.url else escape(each.name)}: {each.used_for}. "
        f"Licence: {each.licence}."
        for each in provenance.sources
    ]
    shown = escape_sentence if own else str
    lines += [f"- {shown(rule)}" for rule in provenance.rules]
    st.markdown("\n".join(lines))
