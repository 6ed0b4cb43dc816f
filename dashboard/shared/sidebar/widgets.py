"""Widgets whose value is in the address, and the data sets that they choose."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import streamlit as st

from dashboard.shared.cache import FAMILY
from dashboard.shared.charts.places import OWN
from dashboard.shared.data_section import say_problems
from dashboard.shared.fit_status.service import service
from dashboard.shared.own_table import ENTERED, NAME, PREFIX, own_or_stop, own_table
from dashboard.shared.sidebar.model import Family
from dashboard.shared.text.words import escape, escape_sentence, read_words
from uncletc import datasets

_WORDS = read_words(__file__, "widgets.toml")


def segmented(
    label: str,
    options: Sequence[Any] | Mapping[Any, str],
    *,
    key: str,
    default: Any = None,
    where: Any = st,
    **more: Any,
) -> Any:
    """Draw a choice between a few options, the first by default, and return the chosen one.

    One option alone is returned, and nothing is drawn.

    Parameters
    ----------
    label : str
    options : sequence, or mapping
        A mapping says what a reader sees, and the address says, of each option.
    key : str
        Of the widget, and in the address.
    default : optional
        An option other than the first.
    where : optional
        A column.
    **more
        What else ``st.segmented_control`` is given.
    """
    first = next(iter(options))
    if len(options) == 1:
        return first
    usual = first if default is None else default
    shown = options.__getitem__ if isinstance(options, Mapping) else escape
    say_invalid(key, map(shown, options), shown(usual))
    return where.segmented_control(
        label,
        list(options),
        default=usual,
        required=True,
        format_func=shown,
        key=key,
        **bound(key),
        **more,
    )


def say_invalid(key: str, allowed: Iterable[str], used: str) -> None:
    """Say which value of the address is not among those allowed, and what is used instead.

    Before its widget is drawn: Streamlit drops such a value without a word.
    """
    for given in {*st.query_params.get_all(key)} - {*allowed}:
        words = f"{key}={given} in the address is not valid: {used} is used instead."
        st.toast(escape_sentence(words), icon=":material/link_off:", duration="long")


def key_of(family: Family, name: str) -> str:
    """Key of a widget that each data set has for itself, and whose options are its own words."""
    return f"{PREFIX}at-{name}" if family == "own" else f"{family}_{name}"


def bound(key: str) -> dict[str, Any]:
    """What binds a widget to the address; nothing where it holds words of a reader's own table."""
    return {} if key.startswith(PREFIX) else {"bind": "query-params"}


FAMILY_NAMES: dict[Family, str] = {"covid": "COVID-19", "ppi": "Plant–pollinator", "own": NAME}


def family_choice(help: str, **more: Any) -> Family:  # noqa: A002, Streamlit's own word
    """Ask for the data set; a page that was just opened begins with that of the page before."""
    last = st.session_state.get(FAMILY)
    if last and st.session_state.get(ENTERED, True) and "data" not in st.query_params:
        last = last if last != "own" or own_table() else "covid"
        st.session_state["data"] = last
        if last != "covid":  # Streamlit leaves out what is set before its widget was ever drawn
            st.query_params["data"] = FAMILY_NAMES[last]
    family: Family = segmented(
        "Data set", FAMILY_NAMES, key="data", width="stretch", help=help, **more
    )
    st.session_state[FAMILY] = family
    return family


def choose_dataset(family: Family, **more: Any) -> str:
    """Ask for real counts, first where they are here, or simulated ones; return their name."""
    if family == "own":
        return OWN
    source = segmented(
        "Counts",
        ["real", "simulated"],
        default="real" if datasets.available(family) else "simulated",
        key=f"{family}_counts",
        width="stretch",
        help=_WORDS["counts"],
        **more,
    )
    return family if source == "real" else f"{family}-twin"


@st.cache_resource(show_spinner="Reading the counts …", max_entries=4)
def _load(name: str) -> datasets.Dataset:
    dataset = datasets.load(name)
    service().publish(dataset.counts)
    return dataset


def dataset_or_stop(name: str) -> datasets.Dataset:
    """Return a data set, or explain what is missing, offer a download and end the page.

    Of a reader's own table, problems that it was left with are said.
    """
    if name == OWN:
        own = own_or_stop().dataset
        say_problems(own)
        return own
    if not _is_here(name):
        st.info(_WORDS["not here"], icon=":material/download:")
        offer_download(name, "Download the public files")
        st.stop()
    try:
        return _load(name)
    except (datasets.DataUnavailableError, ValueError) as error:
        st.error(f"These counts cannot be read: {error}")
        st.stop()


def dataset_or_none(name: str) -> datasets.Dataset | None:
    """Return a data set, or None where it cannot be had; the page itself says why."""
    if name == OWN:
        table = own_table()
        return None if table is None else table.dataset
    try:
        return _load(name) if _is_here(name) else None
    except (datasets.DataUnavailableError, ValueError):
        return None


def _is_here(name: str) -> bool:
    return name.endswith("-twin") or datasets.available(name)


def simulated_badge(dataset: datasets.Dataset) -> None:
    """Say plainly when nothing on the page was observed."""
    if dataset.provenance.simulated:
        words = ":orange-badge[:material/science: Simulated counts.]"
        st.markdown(words, width="content", help=_WORDS["simulated"])


def offer_download(name: str, label: str) -> None:
    """Draw a button that downloads the files of a data set."""
    if not st.button(label, type="primary", key=f"download-{name}"):
        return
    try:
        with st.spinner("Downloading the public files …", show_time=True):
            datasets.fetch_all(name)
    except datasets.DataUnavailableError as error:
        st.error(f"The download did not finish: {error}")
        return
    st.rerun()
