"""Badges of a fit: whether it settled, and what Model check found of the same settings."""

from typing import Literal, NamedTuple

import streamlit as st

from dashboard.shared.fit_status.outcome import Status, Verdict
from dashboard.shared.sidebar.widgets import simulated_badge
from dashboard.work.orders import FitOrder
from uncletc import Fit, StopReason
from uncletc.datasets import Dataset

_VERDICTS = "verdicts"  # of this browser session: not of what another visitor ran
Color = Literal["green", "orange", "gray", "blue"]
_WARNING = ":material/warning:"
MARKS: dict[Status, tuple[Color, str]] = {
    "fits": ("green", ":material/check_circle:"),
    "misfit": ("orange", _WARNING),
    "open": ("gray", ":material/help:"),
}


class Badge(NamedTuple):
    """A few words with a colour and a sign, and what they mean."""

    words: str
    color: Color
    icon: str
    help: str


def fit_badges(dataset: Dataset, fit: Fit, *, side: str = "") -> None:
    """Draw the badges of a fit in a row.

    Parameters
    ----------
    dataset : Dataset
        Its counts are all that there are, with the roles of the fit.
    fit : Fit
    side : str
        The name of one of several fits, "A" or "B"; of one alone there is a link to Model check.
    """
    with st.container(horizontal=True, vertical_alignment="center", key=f"fit-badges{side}"):
        if side:
            st.markdown(f"**{side}**", width="content")
        else:
            simulated_badge(dataset)
        verdict = known_verdict(dataset, fit)
        check = of_check(verdict, level=not fit.level_warning)
        for words, color, icon, meaning in (of_convergence(fit, verdict), check):
            st.badge(words, color=color, icon=icon, help=meaning)
            if fit.stop is StopReason.CALLBACK:
                return
        if not side:
            st.page_link(
                "check/page.py",
                label="Model check",
                icon=":material/fact_check:",
                help="Whether counts that the fit has not seen are consistent with it.",
            )


def of_convergence(fit: Fit, verdict: Verdict | None) -> Badge:
    """Say whether the estimates had settled when the fit stopped; green only once checked."""
    if fit.stop is StopReason.CALLBACK:
        words = "Still fitting: estimates so far"
        return Badge(words, "blue", ":material/hourglass_top:", "They change.")
    if fit.stop is StopReason.MAX_ITER:
        why = "The fit stopped at its limit of iterations, before the estimates had settled."
        return Badge("Not converged", "orange", _WARNING, why)
    if fit.level_warning:
        return Badge("Level not determined", "orange", _WARNING, fit.level_warning)
    if fit.misfit:
        why = "The estimates had settled, and counts or surveys disagree with the model."
        return Badge("Converged, a poor fit", "orange", _WARNING, why)
    color: Color = "green" if verdict is not None and verdict.status == "fits" else "gray"
    return Badge("Converged", color, MARKS["fits"][1], "The estimates no longer changed.")


def of_check(verdict: Verdict | None, *, level: bool = True) -> Badge:
    """Say what Model check found, or that it has not been asked; green if the `level` is known."""
    if verdict is None:
        why = "Model check fits these settings without a fifth of the counts, and predicts them."
        return Badge("Fit not yet checked", *MARKS["open"], why)
    color, icon = MARKS[verdict.status]
    why = "Model check with these settings, on counts held out of the fit."
    return Badge(verdict.headline, color if level else "orange", icon, why)


def remember_verdict(dataset: Dataset, fit: Fit, verdict: Verdict) -> None:
    """Keep what Model check found of all counts of a data set with the settings of a fit."""
    st.session_state.setdefault(_VERDICTS, {})[_key(dataset, fit)] = verdict


def known_verdict(dataset: Dataset, fit: Fit) -> Verdict | None:
    """What Model check found of these counts and settings; None where this session did not."""
    return st.session_state.get(_VERDICTS, {}).get(_key(dataset, fit))


def _key(dataset: Dataset, fit: Fit) -> str:
    return FitOrder(dataset.counts, fit.settings).key  # a digest: nobody guesses it
