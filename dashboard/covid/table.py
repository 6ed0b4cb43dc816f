"""Tables of the COVID-19 page: places or states, sortable, with what was estimated of them."""

from __future__ import annotations

import streamlit as st

from dashboard.covid.answers import CovidAnswers
from dashboard.shared.charts.answers import BELOW, share_words
from dashboard.shared.sidebar.widgets import segmented
from dashboard.shared.text.page import show_table


def answer_tables(answers: CovidAnswers, *, uncertain_scale: bool, late: bool) -> None:
    """Draw reported and true cases by place or by state, as the reader chooses.

    Parameters
    ----------
    answers : CovidAnswers
    uncertain_scale : bool
        Whether intervals hold how uncertain the scale is.
    late : bool
        Whether reports may come late; see :func:`dashboard.shared.charts.answers.reports_late`.
    """
    st.header("Reported and estimated, by place")
    by = segmented(
        "By",
        ["states", "places"],
        names={"states": "state", "places": "place (cell of counties)"},
        key="table_by",
        label_visibility="collapsed",
        help="What a row is: a state, or a cell of counties.",
    )
    shown = answers.shown[by]
    show_table(shown, key=f"answers-{by}", alt=f"Reported and estimated true cases by {by}")
    st.caption(" ".join(filter(None, _notes(answers, uncertain_scale, late))))


def _notes(answers: CovidAnswers, uncertain_scale: bool, late: bool) -> tuple[str, ...]:
    """How to read the table."""
    absolute, intervals = answers.scale.absolute, "rate_low" in answers.states
    return (
        "Click a heading to sort.",
        f"λ adds up over all days; p is the mean over places and days. {_shares(answers, late)}"
        if absolute
        else "**Relative λ**: what would have been counted if p were its median everywhere.",
        "Reported cases of a state are those of its counties. What is estimated of a cell whose "
        "counties lie in several states (*shared*) is divided as its counties reported.",
        "90 %: intervals, from chance in the counts." if intervals else "",
        "They hold how uncertain the scale is, too." if intervals and uncertain_scale else "",
    )


def _shares(answers: CovidAnswers, late: bool) -> str:
    if "share" in answers.states:
        return share_words(late=late)
    return BELOW
