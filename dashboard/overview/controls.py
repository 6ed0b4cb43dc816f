"""Parts of the overview page: which pattern to show, the attributes, where the counts come from."""

from __future__ import annotations

from functools import partial

import streamlit as st

from dashboard.overview.charts import attribute_chart
from dashboard.overview.places import place_modes
from dashboard.overview.view import OverviewView, along_mode, attribute_histogram, mode_pairs
from dashboard.shared.cache import cached_for_counts
from dashboard.shared.charts.places import is_own
from dashboard.shared.own_table import PREFIX
from dashboard.shared.sidebar.model import Family
from dashboard.shared.sidebar.widgets import bound, family_choice, segmented, source_choice
from dashboard.shared.text.page import show_chart
from dashboard.shared.text.words import capital, day_text, escape, escape_sentence
from uncletc.datasets import Dataset, Source

MAP = "map"
ALL_ATTRIBUTES = "all-attributes"  # key of a box, whose value says whether it is open


def choose_counts() -> tuple[Family, str]:
    """Ask for a family of data sets, and whether its counts are to be real or simulated.

    A reader's own are neither: "own".

    The keys are not those of the other pages: Streamlit drops from a link to another page every
    choice whose key this page uses, too.
    """
    family = family_choice(
        "Which counts to look at: cases by county and day, interactions between plants and "
        "pollinators by visit, or your own."
    )
    return family, "own" if family == "own" else source_choice(family, key="counts")


def choose_pattern(dataset: Dataset) -> tuple[tuple[int, ...] | None, int | None]:
    """Ask for two modes, or a map where there are places, and for all of the third or a step.

    Returns
    -------
    tuple of int, optional
        The modes of rows and columns; None: a map.
    int, optional
        Index along the mode of :func:`dashboard.overview.view.along_mode`.
    """
    counts = dataset.counts
    pairs: dict[str, tuple[int, ...]] = dict(mode_pairs(dataset))
    where = place_modes(dataset)
    named = ({MAP: where} if where else {}) | pairs
    left, right = st.columns([3, 2], vertical_alignment="bottom")
    own = PREFIX if is_own(dataset) else ""  # whose words stay out of the address
    name = segmented(
        "Rows × columns",
        list(named),
        wrap=True,
        key=f"{own}modes",
        where=left,
        help="The counts form a block with one side for each mode. Choose the two to look at, or "
        "the map of places.",
    )
    shown = None if name == MAP else named[name]
    mode = along_mode(dataset, named[name])
    if mode is None:
        return shown, None
    third, steps = counts.modes[mode], counts.labels[mode]
    span = segmented(
        "Show",
        ["all", "one"],
        names={"all": f"all {len(steps)} {third}s", "one": f"one {third}"},
        key=f"{own}{third}_span",
        where=right,
        help=f"For how many {third}s there is a count, or the counts themselves at one {third}.",
    )
    if span == "all":
        return shown, None
    chosen = st.select_slider(
        capital(third),
        steps,
        steps[0],
        format_func=day_text,
        key=f"{own}one_{third}",
        **bound(own),
        help=f"The {third} whose counts are drawn. Arrow keys move it by one.",
    )
    return shown, steps.index(chosen)


def facts(view: OverviewView) -> None:
    """Draw the main numbers; they wrap on a narrow screen."""
    with st.container(horizontal=True, gap="medium"):
        for label, value, note in view.facts:
            st.metric(label, value, help=note, width="content")


def attributes(dataset: Dataset, view: OverviewView) -> None:
    """Draw how one attribute spreads, and a folded table of all, drawn once it is open."""
    key = f"{PREFIX}attribute-shown" if is_own(dataset) else "attribute"
    name = st.selectbox(
        "Attribute",
        view.attributes["attribute"],
        key=key,
        **bound(key),
        help="Where entries without a count have attributes too, their values are drawn beside: "
        "if the two differ, counts are missing where conditions are special.",
    )
    show_chart(
        partial(
            attribute_chart,
            cached_for_counts("histogram", attribute_histogram, dataset, name),
            name=name,
        ),
        key="attribute-chart",
        alt=f"Shares of entries over the values of {name}",
    )
    folded = st.expander(
        f"All {len(view.attributes)} attributes side by side", key=ALL_ATTRIBUTES, on_change="rerun"
    )
    with folded:
        if folded.open:
            _all_attributes(view)


def _all_attributes(view: OverviewView) -> None:
    spread = st.column_config.BarChartColumn(
        "spread from 0 to 1",
        y_min=0,
        help="Share of the entries in each of 20 equal steps from the smallest value to the "
        "largest.",
    )
    st.dataframe(
        view.attributes,
        hide_index=True,
        column_config={
            "attribute": st.column_config.TextColumn(pinned=True),
            "histogram": spread,
            **{
                column: st.column_config.NumberColumn(format="%.2f")
                for column in view.attributes.columns[2:]
            },
        },
    )


def _kind(dataset: Dataset) -> str:
    if is_own(dataset):
        return "your counts"
    return "simulated" if dataset.provenance.simulated else "real counts"


def _name(source: Source) -> str:
    """The name of a source as a link, or as it is where it has no address."""
    return f"[{source.name}]({source.url})" if source.url else escape(source.name)


def provenance_card(dataset: Dataset) -> None:
    """Draw whether the counts are real, their dates, sources, licences and every rule applied."""
    provenance = dataset.provenance
    with st.container(border=True, key="provenance"):
        st.badge(
            _kind(dataset),
            icon=":material/science:" if provenance.simulated else ":material/fact_check:",
            color="orange" if provenance.simulated else "blue",
        )
        title = escape(dataset.title) if is_own(dataset) else dataset.title
        st.markdown(f"**{title}** · {provenance.period}")
        st.markdown(
            "\n".join(
                f"- {_name(source)}: {source.used_for}. Licence: {source.licence}."
                for source in provenance.sources
            )
            or "No source: everything was drawn."
        )
        with st.expander("Rules applied on the way from the files to the counts"):
            shown = escape_sentence if is_own(dataset) else str
            st.markdown("\n".join(f"- {shown(rule)}" for rule in provenance.rules))
