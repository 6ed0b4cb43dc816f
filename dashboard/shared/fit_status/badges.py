"""What is known of a finished fit: its outcome in words, Model check's verdict, gains."""

from __future__ import annotations

from typing import Literal, NamedTuple

import pandas as pd
import streamlit as st

from dashboard.shared.charts.places import place_words
from dashboard.shared.fit_status.service import session
from dashboard.shared.sidebar.model import Family
from dashboard.shared.sidebar.widgets import simulated_badge
from dashboard.work.orders import AttributeGain, FitOrder, FoldKind
from uncletc import Fit, StopReason
from uncletc.checking import Gain
from uncletc.datasets import Dataset

SECTION = "Do covariates improve predictions?"
NO_ORDER = (
    "**No ranking is claimed**: held-out counts are predicted no better with the attributes than "
    "with one p for all. "
)
_KINDS: tuple[FoldKind, ...] = ("entry", "fibre")  # which is shown first where both are known


def whole(dataset: Dataset) -> str:
    """What is held out with all its counts, in the plural."""
    return place_words(dataset)[1]


def known_gain(dataset: Dataset, fit: Fit) -> Gain | None:
    """Return what attributes add to the fit of these counts; None where it was not measured."""
    for kind in _KINDS:
        order = AttributeGain(counts=dataset.counts, settings=fit.settings, kind=kind)
        gain = session("gain").lookup(order)
        if gain is not None:
            return gain
    return None


def gain_in_headline(dataset: Dataset, fit: Fit) -> Gain | None:
    """Warn where attributes add nothing; return what they add where it is known."""
    if not dataset.counts.n_attributes:
        return None
    gain = known_gain(dataset, fit)
    if gain is not None and not gain.improves:
        st.warning(gain.sentence(whole(dataset)), icon=":material/error:")
    return gain


def order_remark(gain: Gain | None) -> str:
    """What a caption of bars in order of p begins with: nothing, or that the order says nothing."""
    return "" if gain is None or gain.improves else NO_ORDER


def gain_table(gain: Gain, dataset: Dataset) -> pd.DataFrame:
    """One row, to download: the gain in log score with its standard error, scores and spread."""
    return pd.DataFrame(
        {
            "gain in log score per entry": [gain.mean],
            "standard error": [gain.error],
            "folds": [gain.n_folds],
            "held out": ["single entries" if gain.kind == "entry" else whole(dataset)],
            "log score with attributes": [gain.log_score],
            "log score with one p": [gain.log_score_constant],
            "p, 95th over 5th percentile": [gain.spread],
            "looks with known p": [gain.anchors],
        }
    )


Status = Literal["fits", "misfit", "open"]
Color = Literal["green", "orange", "gray", "blue"]
MARKS: dict[Status, tuple[Color, str]] = {
    "fits": ("green", ":material/check_circle:"),
    "misfit": ("orange", ":material/warning:"),
    "open": ("gray", ":material/help:"),
}
_PAGE = "check/page.py"
_MOST = 500  # verdicts of a session


class Badge(NamedTuple):
    """A few words with a colour and a sign.

    Attributes
    ----------
    words : str
    color : {"green", "orange", "gray", "blue"}
    icon : str
    help : str
        What it means.
    """

    words: str
    color: Color
    icon: str
    help: str


class Verdict(NamedTuple):
    """What Model check found of a fit.

    Attributes
    ----------
    status : {"fits", "misfit", "open"}
    headline : str
    """

    status: Status
    headline: str


def run_badges(dataset: Dataset, fit: Fit, side: str) -> None:
    """Draw the badges of one of several fits, in a row that begins with its name.

    Parameters
    ----------
    dataset : Dataset
        Its counts are all that there are, with the roles of the fit.
    fit : Fit
    side : str
        "A" or "B".
    """
    with st.container(horizontal=True, vertical_alignment="center", key=f"fit-badges-{side}"):
        st.markdown(f"**{side}**", width="content")
        verdict = known_verdict(dataset, fit)
        _draw(of_convergence(fit, verdict))
        _draw(of_check(verdict, level=not _doubted(fit)))


def fit_badges(dataset: Dataset, fit: Fit, family: Family) -> None:
    """Draw the badges of a fit, with the way to Model check; of simulated counts that they are.

    Parameters
    ----------
    dataset : Dataset
        Its counts are those of the fit.
    fit : Fit
    family : {"covid", "ppi", "own"}
        The data set that Model check opens with.
    """
    with st.container(horizontal=True, vertical_alignment="center", key="fit-badges"):
        simulated_badge(dataset)
        verdict = known_verdict(dataset, fit)
        _draw(of_convergence(fit, verdict))
        if fit.stop is StopReason.CALLBACK:
            return
        _draw(of_check(verdict, level=not _doubted(fit)))
        _remember(family)
        st.page_link(
            _PAGE,
            label="Model check",
            icon=":material/fact_check:",
            help="Whether counts that the fit has not seen are consistent with it.",
        )


def _draw(badge: Badge) -> None:
    st.badge(badge.words, color=badge.color, icon=badge.icon, help=badge.help)


def why_here(family: Family) -> None:
    """Draw the way from the chosen place to what moves its p.

    Parameters
    ----------
    family : {"covid", "ppi", "own"}
    """
    _remember(family)
    st.page_link(
        "drivers/page.py",
        label="Why here? What moves p of this place",
        icon=":material/tune:",
        help="Opens Drivers with this place and these settings.",
    )


def _remember(family: Family) -> None:
    """Let pages that have the choice of data set open with this one; the menu then does so, too."""
    if family != "own" and st.session_state.get("data", "covid") != family:
        st.session_state["data"] = family


def of_convergence(fit: Fit, verdict: Verdict | None) -> Badge:
    """Say whether the estimates had settled when the fit stopped; green only once checked."""
    if fit.stop is StopReason.CALLBACK:
        return Badge(
            "Still fitting: estimates so far", "blue", ":material/hourglass_top:", "They change."
        )
    if fit.stop is StopReason.MAX_ITER:
        return Badge(
            "Not converged",
            "orange",
            ":material/warning:",
            "The fit stopped at its limit of iterations, before the estimates had settled.",
        )
    if fit.population is not None and fit.population.doubts:
        return Badge("Level not determined", "orange", ":material/warning:", fit.population.warning)
    if fit.misfit:
        return Badge(
            "Converged, a poor fit",
            "orange",
            ":material/warning:",
            "The estimates had settled, and the counts scatter far more about them than the model "
            "allows.",
        )
    return Badge(
        "Converged",
        "green" if verdict is not None and verdict.status == "fits" else "gray",
        ":material/check_circle:",
        "The estimates no longer changed.",
    )


def _doubted(fit: Fit) -> bool:
    """Whether repeat visits leave the level of p open."""
    return fit.population is not None and bool(fit.population.doubts)


def of_check(verdict: Verdict | None, *, level: bool = True) -> Badge:
    """Say what Model check found, or that it has not been asked; green if the `level` is known."""
    if verdict is None:
        return Badge(
            "Fit not yet checked",
            "gray",
            ":material/help:",
            "Model check fits these settings without a fifth of the counts, and compares its "
            "predictions with them.",
        )
    color, icon = MARKS[verdict.status]
    return Badge(
        verdict.headline,
        color if level else "orange",
        icon,
        "Model check with these settings, on counts that were kept from the fit.",
    )


def remember_verdict(dataset: Dataset, fit: Fit, verdict: Verdict) -> None:
    """Keep what Model check found, for the badges of the same counts and settings.

    Parameters
    ----------
    dataset : Dataset
        With all counts.
    fit : Fit
        Its settings are meant; it may have seen a part of the counts.
    verdict : Verdict
    """
    known = _verdicts()
    known[_key(dataset, fit)] = verdict
    while len(known) > _MOST:
        known.pop(next(iter(known)), None)


def known_verdict(dataset: Dataset, fit: Fit) -> Verdict | None:
    """What Model check found of these counts and settings; None where this session did not."""
    return _verdicts().get(_key(dataset, fit))


def _key(dataset: Dataset, fit: Fit) -> str:
    return FitOrder(dataset.counts, fit.settings).key  # a digest: nobody guesses it


def _verdicts() -> dict[str, Verdict]:
    """Verdicts of this browser session: a badge says nothing of what another visitor ran."""
    known: dict[str, Verdict] = st.session_state.setdefault("verdicts", {})
    return known
