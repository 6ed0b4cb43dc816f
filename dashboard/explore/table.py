"""The table of the page "Explore": levels or pairs, sortable, with what was estimated of them."""

from __future__ import annotations

import streamlit as st

from dashboard.explore.answers import MOST_LISTED, ExploreAnswers
from dashboard.shared.charts.answers import share_words
from dashboard.shared.text.page import show_table


def answer_table(answers: ExploreAnswers, names: tuple[str, ...]) -> None:
    """Draw reported and true counts by level or pair.

    Parameters
    ----------
    answers : ExploreAnswers
    names : tuple of str
        Of the modes.
    """
    by = " and ".join(names)
    st.header(f"Reported and estimated, by {by}")
    show_table(
        answers.display(names),
        key=f"explore-answers-{len(answers.table)}",
        alt=f"Reported and estimated true counts by {by}",
    )
    st.caption(" ".join(filter(None, _notes(answers))))


def _notes(answers: ExploreAnswers) -> tuple[str, ...]:
    """How to read the table."""
    absolute, intervals = answers.scale.absolute, "rate_low" in answers.table
    return (
        "Click a heading to sort. Sums over entries with a count; p is a mean over them.",
        share_words(late=answers.late)
        if absolute
        else "**Relative λ**: what would have been counted if p were its median everywhere."
        if answers.moved
        else "",
        "90 %: intervals, from chance in the counts." if intervals else "",
        "They hold how uncertain the scale is, too."
        if intervals and answers.scale.log_error > 0
        else "",
        f"The {MOST_LISTED:,} with most reported are listed." if answers.rest else "",
    )
