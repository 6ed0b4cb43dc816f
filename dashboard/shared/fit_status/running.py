"""From settings to a fit on the page: cached, fitting with progress, or not requested yet."""

from dataclasses import dataclass
from time import monotonic
from typing import NamedTuple

import streamlit as st

from dashboard.shared.cache import cached, state_key, with_model
from dashboard.shared.fit_status import outcome
from dashboard.shared.fit_status import service as work
from dashboard.shared.sidebar.model import ModelChoice, describe, remark
from dashboard.shared.sidebar.sidebar import Choices
from dashboard.work.engine import Job
from dashboard.work.orders import FitOrder
from uncletc import Anchor, Fit, StopReason
from uncletc.datasets import Dataset

_REDRAWN = 1.0  # seconds at least between two pictures of a fit under way, and at least
_REDRAWN_SHARE = 0.5  # of the time since it began: drawing takes processors that fits need
_POLLED = 0.1  # seconds between two updates of its progress
_LASTED = 0.3  # seconds: of choices that follow faster, one after another, the last is fitted


class FittedPage(NamedTuple):
    """What a page of one fit shows.

    Attributes
    ----------
    dataset : Dataset
        Its counts have the roles of the fit, which are not those chosen now while an earlier fit
        is shown.
    fit : Fit
    roles : ModelChoice
    anchor : Anchor
        The statement about the scale that is chosen now, unless it makes some p larger than 1.
    """

    dataset: Dataset
    fit: Fit
    roles: ModelChoice
    anchor: Anchor = Anchor()


@dataclass
class _Track:
    """What one session has seen of the fits of one data set.

    Attributes
    ----------
    finished : FittedPage, optional
        The last finished one shown.
    drawn : FittedPage, optional
        The last one shown, perhaps estimates so far.
    order : FitOrder, optional
        The last one chosen.
    since : float
        When it was chosen.
    alone : bool
        Whether none was chosen shortly before it.
    cancelled : bool
        Whether this session cancelled it.
    estimate : tuple
        Which estimates so far were drawn last, and when: run, number, time.
    """

    finished: FittedPage | None = None
    drawn: FittedPage | None = None
    order: FitOrder | None = None
    since: float = 0.0
    alone: bool = True
    cancelled: bool = False
    estimate: tuple[str, int, float] = ("", 0, 0.0)

    @property
    def due(self) -> bool:
        """Whether to fit: at once what is chosen alone, else once it has lasted a moment."""
        return self.alone or monotonic() - self.since >= _LASTED


def fit_or_stop(dataset: Dataset, choices: Choices) -> FittedPage:
    """Return the fit to show and what it is of, with its progress or a note drawn above it.

    Settings fitted before show at once; others are fitted, and this session's earlier fit of the
    data set is left. Until a fit has estimates the last result stays, with a note that says so;
    then its estimates so far are returned.
    """
    if not dataset.counts.counts.any():
        st.error("There is no count above 0: without events nothing can be estimated.")
        st.stop()
    # One box, empty or not: what follows keeps its place on the page, and so its state.
    with st.container(key="fit-status"):
        shown = _fit_to_show(with_model(dataset, choices.roles), choices)
        if shown is not None:
            note = cached(_impossible, shown.dataset, shown.fit, choices.anchor)
            if note:
                st.warning(note, icon=":material/balance:")
            shown = shown._replace(anchor=Anchor() if note else choices.anchor)
            say_outcome(shown.fit, dataset=shown.dataset)
            if words := remark(shown.roles, shown.dataset):
                st.info(words, icon=":material/alt_route:")
    if shown is None:
        st.stop()
    return shown


def _fit_to_show(dataset: Dataset, choices: Choices) -> FittedPage | None:
    mine, key = work.session("fit"), state_key(dataset, "fits")
    track = _track(key)
    near = track.finished and FitOrder(track.finished.dataset.counts, track.finished.fit.settings)
    order = FitOrder(dataset.counts, choices.settings, near=near)
    if track.order != order:
        mine.cancel([track.order] if track.order is not None else [])
        before, track.since = track.since, monotonic()
        track.alone = track.since - before >= _LASTED
        track.order, track.cancelled = order, False
    job = mine.service.job(order)  # before the lookup: a fit that ends in between is found
    fit = mine.service.lookup(order)
    if fit is not None:
        track.finished = track.drawn = FittedPage(dataset, fit, choices.roles)
        return track.drawn

    if track.cancelled or (job is not None and job.state == "failed"):
        if job is not None and job.state == "failed":
            st.error(f"This fit did not finish: {job.message}")
        else:
            described = describe(order.settings, choices.roles.words)
            st.info(f"The fit with {described} was cancelled.")
        st.button("Fit again", key="fit-again", on_click=_again, args=(track, order))
        track.drawn = track.finished
    else:
        if track.due:
            job = mine.service.submit(order, mine.watcher)
        so_far = None if job is None else _so_far(track, job)
        _progress(key, order)
        if so_far is not None:
            track.drawn = FittedPage(dataset, so_far, choices.roles)
            return track.drawn
    if track.drawn is not None:
        work.say_changed(_described(track.drawn.fit, track.drawn.roles))
    return track.drawn


def _again(track: _Track, order: FitOrder) -> None:
    track.cancelled = False
    work.session("fit").submit([order])


def _described(fit: Fit, roles: ModelChoice) -> str:
    """Settings and model of a fit, in one line."""
    if unfinished(fit):
        return f"{describe(fit.settings, roles.words)} (estimates so far)"
    return describe(fit.settings, roles.words, fit=fit)


def _impossible(dataset: Dataset, fit: Fit, anchor: Anchor) -> str:
    if anchor.kind != "mean":
        return ""
    p = fit.detection(dataset.counts.attributes, dataset.counts.attribute_indices)
    return outcome.impossible(anchor.scale(dataset.counts, fit, p), p)


def say_outcome(fit: Fit, of: str = "", *, dataset: Dataset | None = None) -> None:
    """Warn where a finished fit is poor.

    Parameters
    ----------
    fit : Fit
    of : str
        What each sentence begins with, in Markdown, where a page shows several.
    dataset : Dataset, optional
        Its counts are those of the fit, to compare totals.
    """
    if unfinished(fit):
        return
    warnings = [outcome.limit_words(fit), outcome.level_words(fit), outcome.misfit_words(fit)]
    if dataset is not None:
        warnings.append(outcome.totals_words(*cached(outcome.totals, dataset, fit)))
    for words in filter(None, warnings):
        st.warning(of + words, icon=":material/warning:")


def say_trained(fit: Fit, of: str = "") -> None:
    """Say what a finished fit found about its network and rank; `of` as in :func:`say_outcome`."""
    words = filter(None, (outcome.network_words(fit), outcome.rank_words(fit)))
    if not unfinished(fit) and (text := " ".join(words)):
        st.caption(of + text)


def how_it_was_fitted(fit: Fit, roles: ModelChoice) -> str:
    """Settings of a fit, how long it ran, why it stopped and its μ, in one line."""
    last, how = fit.history[-1], _described(fit, roles)
    took = f"{last.iteration} iterations in {last.seconds:.1f} s"
    if unfinished(fit):
        return f"Still being fitted with {how}: {took}."
    left_out = "".join(f" {reason}." for reason in fit.dropped)
    mu = outcome.mu_words(fit)
    return f"Fitted with {how}: {took}; stopped because {fit.stop.value}.{left_out} {mu}".rstrip()


def unfinished(fit: Fit) -> bool:
    """Whether these are estimates so far; a cancelled fit is not kept."""
    return fit.stop is StopReason.CALLBACK


def _track(key: str) -> _Track:
    return st.session_state.setdefault(key, _Track())


def _so_far(track: _Track, job: Job) -> Fit | None:
    """The estimates so far, if any; notes which were looked at, and when, for :func:`_newer`."""
    if job.estimates:
        track.estimate = (job.run, job.estimates, monotonic())
    return work.service().latest(job)


def _newer(track: _Track, job: Job) -> bool:
    """Whether there are newer estimates than those drawn, and it is time to draw again."""
    run, drawn, when = track.estimate
    newer = job.estimates > (drawn if run == job.run else 0)
    pause = max(_REDRAWN, _REDRAWN_SHARE * (when - job.began))
    return newer and monotonic() - when >= pause


@st.fragment(run_every=_POLLED)
def _progress(track_key: str, order: FitOrder) -> None:
    track, job = _track(track_key), work.service().job(order)
    if job is None and not track.due:
        return
    if job is None or not job.active or track.cancelled or _newer(track, job):
        st.rerun()
    text = work.fit_words(f"Fitting {order.counts.n_observed:,} counts", job)
    key = f"cancel-{order.key}"
    work.progress_bar(job.share, text, key=key, on_cancel=_cancel, args=(track, order))


def _cancel(track: _Track, order: FitOrder) -> None:
    track.cancelled = True
    work.session("fit").cancel([order])
