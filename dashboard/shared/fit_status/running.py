"""From settings to a fit on the page: cached, fitting with progress, or not requested yet."""

from __future__ import annotations

from dataclasses import dataclass, replace
from time import monotonic
from typing import NamedTuple

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from dashboard.shared.cache import cached
from dashboard.shared.fit_status.outcome import (
    impossible,
    level_words,
    limit_words,
    misfit_words,
    outcome_words,
    totals,
    totals_words,
)
from dashboard.shared.fit_status.service import (
    fit_words,
    progress_bar,
    say_changed,
    service,
    session,
)
from dashboard.shared.own_table import state_key
from dashboard.shared.sidebar.choice import ModelChoice, effects_in_fit, remark
from dashboard.shared.sidebar.model import describe
from dashboard.shared.sidebar.sidebar import Choices
from dashboard.work.engine import Job
from dashboard.work.orders import FitOrder, limits_before
from uncletc import CountTensor, Fit, FitSettings, StopReason
from uncletc.datasets import Dataset

_LIMITS = "iteration-limits"  # of this session: limit by the key of the order without it
_PRESSED = "continue-pressed"  # behind the side of a page that has several fits
_ADDRESS = "limit"  # the same; in the address, while a limit holds
_TIMES = (2, 4, 8, 16)  # the usual limit; those that an address may ask for


def order_of(counts: CountTensor, settings: FitSettings, *, side: str = "") -> FitOrder:
    """Return the order of a fit, with the limit of iterations that its reader asked for.

    Equal settings, the limit among them, give equal estimates: see
    :func:`dashboard.work.orders.limits_before`.

    Parameters
    ----------
    counts : CountTensor
    settings : FitSettings
    side : str
        Which fit of the page it is, "a_" for example, where there are several.
    """
    usual = FitOrder(counts, settings)
    limits, address = _limits(), f"{side}{_ADDRESS}"
    if f"{side}{_PRESSED}" not in st.session_state:  # the first observation process of this session
        st.session_state[f"{side}{_PRESSED}"] = False
        asked = st.query_params.get(address, "")
        if asked in [str(times * settings.max_iter) for times in _TIMES]:
            limits[usual.key] = int(asked)
    limit = limits.get(usual.key)
    if limit is None:
        st.query_params.pop(address, None)
        return usual
    st.query_params[address] = str(limit)
    return replace(usual, settings=replace(settings, max_iter=limit))


def pressed(side: str = "") -> bool:
    """Whether the button of a side was pressed just now; forgets it."""
    now = bool(st.session_state.get(f"{side}{_PRESSED}"))
    st.session_state[f"{side}{_PRESSED}"] = False
    return now


def resumes_from(order: FitOrder, shown: Fit) -> bool:
    """Return whether an order resumes from the fit shown."""
    before = order.begins_with
    return (
        before is not None
        and before.settings == shown.settings
        and before.counts.digest == shown.counts_digest
    )


def offer_more(
    counts: CountTensor, settings: FitSettings, fit: Fit, *, side: str = "", of: str = ""
) -> None:
    """Say that a fit with these settings stopped at its limit, and offer to go on.

    Nothing is drawn of a fit with other settings, one that settled, or one that is continued
    already.

    Parameters
    ----------
    counts : CountTensor
    settings : FitSettings
        With any limit of iterations.
    fit : Fit
    side : str
        As for :func:`order_of`.
    of : str
        Which fit it is, in Markdown, where a page shows several.
    """
    words = limit_words(fit)
    settings = _usual(settings)
    usual = FitOrder(counts, settings)
    same = replace(fit.settings, max_iter=settings.max_iter) == settings
    if not words or not same or fit.counts_digest != counts.digest:
        return
    under_way = service().job(order_of(counts, settings, side=side))
    if under_way is not None and under_way.active:
        return
    limit = 2 * fit.settings.max_iter
    left, right = st.columns([4, 1], vertical_alignment="center")
    left.warning(f"{of}: {words}" if of else words, icon=":material/timer_off:")
    right.button(
        "Continue fit",
        key=f"{side}continue-fit",
        width="stretch",
        on_click=_resume,
        args=(usual.key, limit, side),
        help=f"Goes on from where it stopped, for up to {limit:,} more iterations.",
    )


def _resume(key: str, limit: int, side: str) -> None:
    _limits()[key] = limit
    st.session_state[f"{side}{_PRESSED}"] = True


def _usual(settings: FitSettings) -> FitSettings:
    """The same settings with the limit that a fit has at first."""
    before = limits_before(settings)
    return replace(settings, max_iter=before[0]) if before else settings


def _limits() -> dict[str, int]:
    limits: dict[str, int] = st.session_state.setdefault(_LIMITS, {})
    return limits


_REDRAWN = 1.0  # seconds at least between two pictures of a fit under way
_LOOKED = 0.2  # seconds between two looks at its progress
_HISTORY = ":material/history:"


class Shown(NamedTuple):
    """What a page shows: a fit, and what it was fitted to.

    Attributes
    ----------
    dataset : Dataset
        Its counts have the roles of the fit, which are not those chosen now while an earlier fit
        is shown.
    fit : Fit
    roles : ModelChoice
    """

    dataset: Dataset
    fit: Fit
    roles: ModelChoice


@dataclass
class _Track:
    """What one session has seen of the fits of one data set.

    Attributes
    ----------
    finished : Shown, optional
        The last finished one shown.
    drawn : Shown, optional
        The last one shown, perhaps estimates so far.
    job : Job, optional
        The last one asked for.
    left : str
        Key of the one that this session cancelled, and has not asked for since.
    roles : str
        Of the last one asked for, in words.
    estimate : tuple
        Which estimates so far were drawn last, and when: run, number, time.
    """

    finished: Shown | None = None
    drawn: Shown | None = None
    job: Job | None = None
    left: str = ""
    roles: str = ""
    estimate: tuple[str, int, float] = ("", 0, 0.0)


def fit_or_stop(dataset: Dataset, choices: Choices) -> Shown:
    """Return the fit to show and what it is of, with its progress or a note drawn above it.

    Settings fitted before show at once. The first view of a data set fits by itself, and so does
    every change while *Refit automatically* is on: this session's earlier fit of the data set is
    left then. Without it changes wait for the Fit button. Until a fit has estimates the last result
    stays, with a note that says so; then its estimates so far are returned.
    """
    # One box, empty or not: what follows keeps its place on the page, and so its state.
    with st.container(key="fit-status"):
        shown = _fit_to_show(choices.roles.apply(dataset), choices)
        if shown is not None:
            _say_if_impossible(shown, choices)
            offer_more(shown.dataset.counts, choices.settings, shown.fit)
            say_outcome(shown.fit, dataset=shown.dataset)
            if words := remark(shown.roles, shown.dataset):
                st.info(words, icon=":material/alt_route:")
    if shown is None:
        st.stop()
    return shown


def _fit_to_show(dataset: Dataset, choices: Choices) -> Shown | None:
    mine, track = session("fit"), _track(state_key(dataset, "fits"))
    order = order_of(dataset.counts, choices.settings)
    choices = replace(choices, pressed=choices.pressed or pressed())
    if choices.pressed or track.left != order.key:
        track.left = ""
    job = service().job(order)  # before the lookup: a fit that ends in between is found
    fit = mine.lookup(order)
    if fit is not None:
        _leave_earlier(track, order, choices)
        track.finished = track.drawn = Shown(dataset, fit, choices.roles)
        return track.drawn

    if _should_submit(track, job, choices):
        _leave_earlier(track, order, choices)
        job = track.job = service().submit(order, mine.watcher)
        track.roles = choices.roles.words
    waiting = job is not None and job.active and mine.watcher in job.watchers
    if job is not None and waiting:
        so_far = _so_far(track, job)
        _progress(state_key(dataset, "fits"), order)
        if so_far is not None:
            track.drawn = Shown(dataset, so_far, choices.roles)
            st.info(
                "**Still fitting: these are estimates so far.** They change until it finishes.",
                icon=":material/hourglass_top:",
            )
            return track.drawn
    elif job is not None:
        track.drawn = track.finished
        _say_why_not(job, choices.roles.words)

    before = track.drawn if waiting else track.finished
    if before is not None and waiting and resumes_from(order, before.fit):
        st.info("**Going on from where it stopped.** Below: the estimates then.", icon=_HISTORY)
    elif before is not None:
        _say_changed(before, choices, waiting=waiting)
    elif not waiting:
        st.info("Press **Fit** in the sidebar to estimate detection with these settings.")
    return before


def _should_submit(track: _Track, job: Job | None, choices: Choices) -> bool:
    """Whether to ask for a fit that is not there: asked for by its reader, or by itself."""
    if choices.pressed:
        return True
    if track.left or (job is not None and job.state == "failed"):
        return False
    if job is not None and job.active:  # another session's: wait along
        return True
    return choices.live or (track.drawn is None and track.job is None)


def _leave_earlier(track: _Track, order: FitOrder, choices: Choices) -> None:
    """Let go of the last fit asked for, where the reader has moved on to another."""
    if track.job is not None and track.job.order != order and (choices.live or choices.pressed):
        service().cancel(track.job, session("fit").watcher)


def _say_changed(before: Shown, choices: Choices, *, waiting: bool) -> None:
    requested = describe(choices.settings, choices.roles.words)
    then = f"{requested} follows." if waiting else f"Press **Fit** for {requested}."
    so_far = " (estimates so far)" if unfinished(before.fit) else ""
    done = None if unfinished(before.fit) else before.fit
    say_changed(f"{describe(before.fit.settings, before.roles.words, fit=done)}{so_far}", then)


def _say_if_impossible(shown: Shown, choices: Choices) -> None:
    (dataset, fit, _), anchor = shown, choices.anchor
    if anchor.kind not in ("mean", "entry", "total"):
        return
    p = cached("p of covariates", _detection, dataset, fit)
    note = impossible(anchor.scale(dataset.counts, fit, p), p)
    if note:
        st.warning(note, icon=":material/balance:")


def _detection(dataset: Dataset, fit: Fit) -> NDArray[np.float64]:
    return fit.detection(dataset.counts.attributes)


def _totals(dataset: Dataset, fit: Fit) -> tuple[float, float]:
    return totals(dataset.counts, fit)


def say_outcome(fit: Fit, of: str = "", *, dataset: Dataset | None = None) -> None:
    """Say what a finished fit found about μ and its network, and warn where it is poor.

    Parameters
    ----------
    fit : Fit
    of : str
        Which fit it is, in Markdown, where a page shows several.
    dataset : Dataset, optional
        Its counts are those of the fit, to compare totals.
    """
    if unfinished(fit):
        return
    before = f"{of}: " if of else ""
    warnings = [level_words(fit), misfit_words(fit)]
    if dataset is not None:
        warnings.append(totals_words(*cached("totals", _totals, dataset, fit)))
    for words in filter(None, warnings):
        st.warning(before + words, icon=":material/warning:")
    if words := outcome_words(fit):
        st.caption(before + words)


def how_it_was_fitted(fit: Fit, roles: ModelChoice | None = None) -> str:
    """One line under a result: its settings, how long it ran and why it stopped."""
    done = None if unfinished(fit) else fit
    last, how = fit.history[-1], describe(fit.settings, roles.words if roles else "", fit=done)
    took = f"{last.iteration} iterations in {last.seconds:.1f} s"
    if unfinished(fit):
        return f"Still being fitted with {how}: {took} so far."
    why = f"because {fit.stop.value}"
    if fit.stop is StopReason.MAX_ITER:
        why = "at the iteration limit, before the estimates had settled"
    sentences = [
        f"Fitted with {how}: {took}; stopped {why}.",
        outcome_words(fit),
        effects_in_fit(fit),
        *(f"{reason}." for reason in fit.dropped),
    ]
    return " ".join(filter(None, sentences))


def unfinished(fit: Fit) -> bool:
    """Whether these are estimates so far; a cancelled fit is not kept."""
    return fit.stop is StopReason.CALLBACK


def _track(key: str) -> _Track:
    track: _Track = st.session_state.setdefault(key, _Track())
    return track


def _so_far(track: _Track, job: Job) -> Fit | None:
    """The estimates so far, if any; notes which were looked at, and when, for :func:`_newer`."""
    if job.estimates:
        track.estimate = (job.run, job.estimates, monotonic())
    return service().latest(job)


def _newer(track: _Track, job: Job) -> bool:
    """Whether there are newer estimates than those drawn, and it is time to draw again."""
    run, drawn, when = track.estimate
    if run != job.run:
        return job.estimates > 0
    return job.estimates > drawn and monotonic() - when >= _REDRAWN


@st.fragment(run_every=_LOOKED)
def _progress(track_key: str, order: FitOrder) -> None:
    track, job = _track(track_key), service().job(order)
    if job is None or not job.active or track.left == order.key or _newer(track, job):
        st.rerun()
    text = fit_words(f"Fitting {describe(job.order.settings, track.roles)}", job)
    key = f"cancel-{order.key}"
    progress_bar(job.share, text, key=key, on_cancel=_leave, args=(track, job))


def _leave(track: _Track, job: Job) -> None:
    track.left = job.order.key
    service().cancel(job, session("fit").watcher)


def _say_why_not(job: Job, roles: str) -> None:
    what = describe(job.order.settings, roles)
    if job.state == "failed":
        st.error(f"This fit did not finish: {job.message}")
    elif job.state == "cancelled":
        st.info(f"The fit with {what} was cancelled.")
    elif job.active:
        st.info(
            f"You left the fit with {what}. It continues because someone "
            "else is waiting for it too."
        )
