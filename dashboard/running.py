"""From settings to a fit on the page: cached, fitting with progress, or not asked for yet."""

from __future__ import annotations

from time import monotonic

import streamlit as st

from dashboard.jobs import FitService, Job, fit_key
from dashboard.state import Choices, describe
from uncletc import Fit, StopReason
from uncletc.datasets import Dataset

_REDRAWN = 2.5  # seconds at least between two pictures of a fit under way


@st.cache_resource
def fit_service() -> FitService:
    """Return the one service that all sessions share."""
    return FitService()


def fit_or_stop(dataset: Dataset, choices: Choices) -> Fit:
    """Return the fit to show, with its progress or a note drawn above it.

    Settings fitted before show at once. The first view of a data set fits by itself; later
    changes wait for the Fit button, and the last result stays with a note that says so. While a
    fit is under way its estimates so far are returned, the last result before there are any.
    """
    service = fit_service()
    settings = choices.settings
    key = fit_key(dataset.counts, settings)
    shown = f"shown-{dataset.name}"
    job = service.job(key)  # before the look-up: a fit that ends in between is found
    found = service.lookup(key)
    if found is not None:
        st.session_state[shown] = settings
        return found

    untried = shown not in st.session_state and job is None
    if choices.pressed or untried:
        job = service.submit(dataset.counts, settings)
    if job is not None and job.active:
        so_far = _so_far(job)
        _progress(key)
        if so_far is not None:
            st.info(
                "**Still fitting: these are estimates so far.** They change until the fit ends.",
                icon=":material/hourglass_top:",
            )
            return so_far
    elif job is not None:
        _say_why_not(job)

    before = st.session_state.get(shown)
    previous = None if before is None else service.lookup(fit_key(dataset.counts, before))
    if previous is None:
        if job is None or not job.active:
            st.info("Press **Fit** in the sidebar to estimate detection with these settings.")
        st.stop()
    if job is None or not job.active:
        st.info(
            f"**Changed since this result.** Below: {describe(before)}. "
            f"Press **Fit** for {describe(settings)}.",
            icon=":material/history:",
        )
    return previous


def how_it_was_fitted(found: Fit) -> str:
    """One line under a result: its settings, how long it ran and why it stopped."""
    last = found.history[-1]
    took = f"{last.iteration} iterations in {last.seconds:.1f} s"
    if unfinished(found):
        return f"Still being fitted with {describe(found.settings)}: {took} so far."
    sentences = [
        f"Fitted with {describe(found.settings)}: {took}; stopped because {found.stop.value}.",
        *(f"{reason}." for reason in found.dropped),
    ]
    return " ".join(sentences)


def unfinished(found: Fit) -> bool:
    """Whether these are estimates so far; a cancelled fit is not kept."""
    return found.stop is StopReason.CALLBACK


def _so_far(job: Job) -> Fit | None:
    """The estimates so far; notes when which were drawn, for :func:`_progress`."""
    known = job.estimates
    found = fit_service().latest(job)
    if found is not None:
        st.session_state["drawn"] = (job.asked, known, monotonic())
    return found


def _newer(job: Job) -> bool:
    """Whether there are newer estimates than those drawn, and it is time to draw again."""
    asked, known, when = st.session_state.get("drawn", (0.0, 0, 0.0))
    if asked != job.asked:
        return job.estimates > 0
    return job.estimates > known and monotonic() - when >= _REDRAWN


@st.fragment(run_every=0.4)
def _progress(key: str) -> None:
    service = fit_service()
    job = service.job(key)
    if job is None or not job.active or _newer(job):
        st.rerun()
    total = job.settings.max_iter
    bar, button = st.columns([5, 1], vertical_alignment="center")
    bar.progress(min(job.iteration / max(total, 1), 1.0), text=_progress_text(job))
    # A callback runs first: a click is not lost where this run ends in a new picture.
    button.button(
        "Cancel", key=f"cancel-{key}", width="stretch", on_click=service.cancel, args=(job,)
    )


def _progress_text(job: Job) -> str:
    if not job.objectives:
        return f"Fitting {describe(job.settings)}: getting ready …"
    left = "" if job.seconds_left is None else f" · at most {job.seconds_left:.0f} s left"
    return (
        f"Fitting {describe(job.settings)}: iteration {job.iteration} of "
        f"{job.settings.max_iter} · objective {job.objectives[-1]:,.2f}{left}"
    )


def _say_why_not(job: Job) -> None:
    if job.state == "failed":
        st.error(f"This fit did not finish: {job.message}")
    elif job.state == "cancelled":
        st.info(f"The fit with {describe(job.settings)} was cancelled.")
