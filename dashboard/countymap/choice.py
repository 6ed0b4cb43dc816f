"""Which county is chosen: kept in the address, and in the session for the way back to a page."""

from __future__ import annotations

import streamlit as st

from dashboard.countymap.shapes import Box, as_box
from uncletc.datasets import Dataset

_COUNTY, _AREA = "county", "area"  # in the address
_KEPT = "covid-county"  # in the session, for the way back from another page


def chosen_county(dataset: Dataset) -> str | None:
    """FIPS code of the chosen county, from the address or the session; None without one."""
    existing = set(dataset.table["fips"])
    requested = st.query_params.get(_COUNTY, st.session_state.get(_KEPT))
    fips = requested if requested in existing else None
    choose_county(fips)
    return fips


def chosen_area() -> Box:
    """The part of the map whose counties are chosen, from the address; () for all of it."""
    return as_box(st.query_params.get(_AREA, "").split(","))


def choose_area(box: Box) -> None:
    """Put a part of the map into the address, or () for all of it."""
    st.query_params.pop(_AREA, None)
    if box:
        st.query_params[_AREA] = ",".join(map(str, box))


def kept_county() -> str | None:
    """FIPS code of the county that was chosen last on any page; None without one."""
    kept: str | None = st.session_state.get(_KEPT)
    return kept


def keep_county(fips: str) -> None:
    """Keep a county for the way to another page."""
    st.session_state[_KEPT] = fips


def choose_county(fips: str | None) -> None:
    """Keep a county, or none, in the address and the session."""
    st.session_state[_KEPT] = fips
    if fips == st.query_params.get(_COUNTY):
        return
    if fips is None:
        del st.query_params[_COUNTY]
    else:
        st.query_params[_COUNTY] = fips
