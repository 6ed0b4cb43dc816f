"""Data sets for the pages: loaded once, downloaded on request, named when they are missing."""

from __future__ import annotations

import streamlit as st

from dashboard.shared.charts.places import OWN
from dashboard.shared.own_table.own import own_or_link, own_table
from uncletc import datasets


@st.cache_resource(show_spinner="Reading the counts …", max_entries=4)
def _load(name: str) -> datasets.Dataset:
    return datasets.load(name)


def dataset_or_stop(name: str) -> datasets.Dataset:
    """Return a data set, or explain what is missing, offer a download and end the page."""
    if name == OWN:
        table = own_or_link()
        if table is None:
            st.stop()
        return table.dataset
    if not name.endswith("-twin") and not datasets.available(name):
        _offer_download(name)
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
    if not name.endswith("-twin") and not datasets.available(name):
        return None
    try:
        return _load(name)
    except (datasets.DataUnavailableError, ValueError):
        return None


def simulated_badge(dataset: datasets.Dataset) -> None:
    """Say plainly when nothing on the page was observed."""
    if dataset.provenance.simulated:
        st.markdown(
            ":orange-badge[:material/science: **Simulated counts.**] No number here was observed: "
            "all were drawn from the model, so the truth is known."
        )


def _offer_download(name: str) -> None:
    st.info(
        "The real counts are not on this machine yet. Download the public files once (they are "
        "verified and kept), or start the dashboard with UNCLETC_DATA_DIR naming a folder that "
        "holds them. Simulated counts need neither.",
        icon=":material/download:",
    )
    if not st.button("Download the public files", type="primary", key="download"):
        return
    bar = st.progress(0.0, text="Requesting the files …")

    def report(files: int, all_files: int, size: int, all_size: int) -> None:
        bar.progress(
            size / max(all_size, 1),
            text=f"{files} of {all_files} files, {size / 1e6:.1f} of {all_size / 1e6:.1f} MB",
        )

    try:
        datasets.fetch_all(name, progress=report)
    except datasets.DataUnavailableError as error:
        st.error(f"The download did not finish: {error}")
        return
    st.rerun()
