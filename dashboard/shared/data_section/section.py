"""The folded section of a page on its data: warnings, coverage, covariates and sources."""

from __future__ import annotations

from functools import partial

import streamlit as st

from dashboard.countymap.component import show_county_map
from dashboard.shared.cache import cached_for_counts
from dashboard.shared.charts.places import is_own
from dashboard.shared.data_section import charts, view
from dashboard.shared.fit_status.data_report import before_you_fit
from dashboard.shared.own_table import PREFIX
from dashboard.shared.sidebar.widgets import bound, segmented
from dashboard.shared.text.page import show_chart
from dashboard.shared.text.words import escape, escape_sentence
from uncletc.datasets import Dataset

DATA = "data-section"  # key of the box, whose value says whether it is open
_MAP = "map"


def data_section(dataset: Dataset, *, report: bool = True) -> None:
    """Draw the box on a data set, filled when it is opened.

    Parameters
    ----------
    dataset : Dataset
        As it was loaded.
    report : bool
        Whether to begin with what was found before a fit; a page may have drawn that already.
    """
    folded = st.expander(
        "Data: coverage, covariates, sources",
        icon=":material/database:",
        key=DATA,
        on_change="rerun",
    )
    if not folded.open:
        return
    with folded:
        st.markdown(cached_for_counts("insight", view.insight, dataset))
        with st.container(horizontal=True, gap="medium"):
            for label, value, note in cached_for_counts("facts", view.facts, dataset):
                st.metric(label, value, help=note, width="content")
        if report:
            before_you_fit(dataset)
        _coverage(dataset)
        if dataset.counts.attribute_names:
            _covariate(dataset)
        _provenance(dataset)


def _coverage(dataset: Dataset) -> None:
    st.subheader("Coverage")
    pairs = view.mode_pairs(dataset)
    names = [_MAP, *pairs] if view.has_map(dataset) else list(pairs)
    key = f"{PREFIX if is_own(dataset) else ''}modes"  # whose words stay out of the address
    name = segmented("View", names, wrap=True, key=key, help="The modes of rows and columns.")
    st.caption("Missing means that nobody counted, **not** that nothing happened.")
    if name == _MAP:
        places = cached_for_counts("county coverage", view.county_coverage, dataset)
        show_county_map(
            charts.coverage_map(places),
            key="coverage-map",
            alt=f"{len(places):,} counties by the share of days with a count",
            height=420,
        )
    else:
        shown = cached_for_counts("coverage", view.coverage, dataset, pairs[name])
        alt = f"What was counted, by {name}"
        show_chart(partial(charts.coverage_chart, shown), key="coverage", alt=alt)
    mode = view.along_mode(dataset)
    of, steps = (
        dataset.counts.modes[mode],
        cached_for_counts("along", view.along_table, dataset, mode),
    )
    show_chart(
        partial(charts.along_chart, steps, of=of), key="steps", alt=f"Reported counts per {of}"
    )


def _covariate(dataset: Dataset) -> None:
    key = f"{PREFIX}covariate-shown" if is_own(dataset) else "covariate"
    name = st.selectbox(
        "Covariate",
        dataset.counts.attribute_names,
        key=key,
        **bound(key),
        help="If it differs between entries with and without a count, counts are missing where "
        "conditions are special.",
    )
    histogram = cached_for_counts("histogram", view.covariate_histogram, dataset, name)
    show_chart(
        partial(charts.covariate_chart, histogram, name=name),
        key="covariate-chart",
        alt=f"Shares of entries over the values of {name}",
    )


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
