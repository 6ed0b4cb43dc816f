"""The table of the plant–pollinator page: pairs, species, guilds or seasons, sortable."""

from __future__ import annotations

import streamlit as st

from dashboard.ppi.answers import BY, PpiAnswers
from dashboard.shared.charts.answers import share_words
from dashboard.shared.sidebar.widgets import segmented
from dashboard.shared.text.page import show_table

_NAMES = {
    "pair": "pair",
    "plant": "plant",
    "pollinator": "pollinator",
    "guild": "guild",
    "season": "season",
}


def answer_tables(answers: PpiAnswers, *, uncertain_scale: bool) -> None:
    """Draw reported and true interactions by what the reader chooses.

    Parameters
    ----------
    answers : PpiAnswers
    uncertain_scale : bool
        Whether intervals hold how uncertain the scale is.
    """
    st.header("Reported and estimated")
    by = segmented(
        "By",
        BY,
        names=_NAMES,
        key="table_by",
        label_visibility="collapsed",
        help="What a row is.",
    )
    show_table(
        answers.shown[by], key=f"answers-{by}", alt=f"Reported and estimated interactions by {by}"
    )
    st.caption(" ".join(filter(None, _notes(answers, uncertain_scale))))


def _notes(answers: PpiAnswers, uncertain_scale: bool) -> tuple[str, ...]:
    """How to read the table."""
    absolute, intervals = answers.scale.absolute, "rate_low" in answers.total
    return (
        "Click a heading to sort. Summed over visits at which both species were seen.",
        share_words(late=False)
        if absolute
        else "**Relative λ**: what would have been counted if p were its median everywhere.",
        "90 %: intervals, from chance in the counts." if intervals else "",
        "They hold how uncertain the scale is, too." if intervals and uncertain_scale else "",
    )
