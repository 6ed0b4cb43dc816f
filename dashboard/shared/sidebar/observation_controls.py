"""Further looks: widgets ↔ address."""

from __future__ import annotations

import streamlit as st

from dashboard.shared.sidebar.model import Control
from dashboard.shared.sidebar.observations import (
    ALONE,
    DEATHS,
    LookChoice,
    looks_of,
    may_have_deaths,
)
from dashboard.shared.sidebar.widgets import draw
from uncletc.datasets import DEATHS_LAG, Dataset, DataUnavailableError

_SECOND = Control(
    label="Second look",
    help="Deaths some days later say how many were infected, whoever was tested: of all "
    "infections, a share that is known from elsewhere ends in death. As a second look at the same "
    "true cases they state the scale of p, which cases alone leave free, and help to tell where "
    "cases are missed.",
    default=DEATHS,
    options=(DEATHS, ALONE),
)
_LAG = Control(
    label="Days from case to death",
    help="By how many days deaths are reported later than the cases they belong to. About 16 in "
    "these reports.",
    default=DEATHS_LAG,
    limits=(0, 30, 1),
)
_FATALITY = Control(
    label="Fatality, times the stated",
    help="The share of infections that end in death is stated for each county by its ages and "
    "illnesses (covidestim; .3 to .6 %). 2: twice that share, and so half as many infections. "
    "Experts differ by a factor of about 1.5.",
    default=1.0,
    limits=(0.5, 2.0, 0.1),
)
_SIMULATED = (
    "Deaths state the scale: p is absolute. The share that dies is invented, as all of these "
    "counts are, and stated with an error of a tenth, which the intervals hold."
)
_CAPTION = (
    "Deaths state the scale: p is absolute. The share that dies is uncertain by a factor of about "
    "2, and all p with it; ranks and ratios are not."
)


def choose_looks(dataset: Dataset | None, prefix: str, *, off: bool = False) -> LookChoice:
    """Ask which further looks the counts have.

    Parameters
    ----------
    dataset : Dataset, optional
        As it was loaded; None: it is not here, and nothing is asked.
    prefix : str
        Of the keys of the widgets, and in the address.
    off : bool
        Whether the fit can have none: the paper's has cases alone.
    """
    if dataset is None or not may_have_deaths(dataset):
        return LookChoice()
    second = draw(_SECOND, key_of(prefix, "look"), disabled=off)
    if off:
        st.caption("The paper's choice has cases alone.")
        return looks_of(dataset, deaths=False)
    if second == ALONE:
        return looks_of(dataset, deaths=False)
    with st.expander("Lag and fatality of deaths"):
        lag = draw(_LAG, key_of(prefix, "lag"))
        fatality = draw(_FATALITY, key_of(prefix, "fatality"))
    try:
        with st.spinner("Reading deaths …"):
            chosen = looks_of(dataset, deaths=True, lag=lag, fatality=fatality)
    except (DataUnavailableError, ValueError) as error:
        st.warning(f"Deaths cannot be read: {error}")
        return LookChoice()
    st.caption(_CAPTION if dataset.deaths is None else _SIMULATED)
    return chosen


def set_looks(prefix: str, looks: LookChoice) -> None:
    """Put looks into the widgets; for callbacks, before widgets are drawn."""
    st.session_state[key_of(prefix, "look")] = DEATHS if looks.deaths else ALONE
    for name, value in (("lag", looks.lag), ("fatality", looks.fatality)):
        if key_of(prefix, name) in st.session_state:
            st.session_state[key_of(prefix, name)] = value


def reset_looks(prefix: str) -> None:
    """Put the widgets back to what they are at first; for callbacks."""
    set_looks(prefix, LookChoice(deaths=True))


def key_of(prefix: str, name: str) -> str:
    """Key of a widget."""
    return "_".join(filter(None, (prefix, "deaths", name)))
