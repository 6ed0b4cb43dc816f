"""The step of the Lab that fits: in the service's process, with progress and cancel."""

from __future__ import annotations

from uuid import uuid4

import pandas as pd
import streamlit as st

from dashboard.lab import charts
from dashboard.lab.controls import choose
from dashboard.lab.steps import Shown, predict
from dashboard.lab.view import Setup, picture, simulated
from dashboard.lab.view_fits import compare, error_curve, error_table, errors
from dashboard.shared.detection import for_download
from dashboard.shared.model import describe
from dashboard.shared.parts import chart_config
from dashboard.shared.running import fit_service, how_it_was_fitted
from dashboard.shared.scripts import COUNTS, DATASET, FITTED, call, fit, script
from dashboard.work.service import Job, fit_key
from uncletc import Fit, FitSettings


def fit_step(setup: Setup, settings: FitSettings) -> Shown | None:
    """Fit on request; truth beside estimate, and both errors while it fits."""
    st.markdown(
        "The fit is given the counts and the attributes that step 2 shows, and nothing of the "
        "truth. The settings in the sidebar say how counts are drawn, and how they are fitted."
    )
    slice_number = choose("slice") - 1
    if not predict("fit"):
        return None
    service, dataset = fit_service(), simulated(setup)
    key = fit_key(dataset.counts, settings)
    job = service.job(key)  # before the look-up: a fit that ends in between is found
    found = service.lookup(key)
    if found is not None:
        st.session_state["lab-shown"] = (setup, settings)
        return _result(setup, found, slice_number)
    waiting = job is not None and job.active
    if not waiting and st.button(
        "Fit",
        type="primary",
        key="lab-fit",
        help="Takes a second or two. Settings fitted before show at once.",
    ):
        job = service.submit(dataset.counts, settings, me())
    if job is not None and job.active:
        _fit_progress(setup, key)
        return None
    _say_why_not(job)
    before = st.session_state.get("lab-shown")
    if before is not None:
        earlier = service.lookup(fit_key(simulated(before[0]).counts, before[1]))
        if earlier is not None:
            st.info(
                f"**Changed since this result.** Below: {describe(before[1])}. Press **Fit** for "
                "the settings in the sidebar.",
                icon=":material/history:",
            )
            return _result(before[0], earlier, slice_number)
    st.info("Press **Fit** to see how near the estimates come to the truth.")
    return None


@st.fragment(run_every=0.3)
def _fit_progress(setup: Setup, key: str) -> None:
    service, dataset = fit_service(), simulated(setup)
    job = service.job(key)
    if job is None or not job.active:
        st.rerun()
    bar, button = st.columns([5, 1], vertical_alignment="center")
    bar.progress(min(job.iteration / job.settings.max_iter, 1.0), text=_progress_text(job))
    # A callback runs first: a click is not lost where this run ends in a new picture.
    button.button(
        "Cancel",
        key="lab-cancel",
        width="stretch",
        on_click=service.cancel,
        args=(job, me()),
        help="Stops after the current iteration.",
    )
    asked, points = st.session_state.get("lab-so-far", (0.0, []))
    if asked != job.asked:
        asked, points = job.asked, []
    so_far = service.latest(job)
    if so_far is not None and (not points or points[-1][0] < so_far.history[-1].iteration):
        now = errors(dataset, so_far)
        points.append((so_far.history[-1].iteration, now.rate, now.detection))
    st.session_state["lab-so-far"] = (asked, points)
    if points:
        _draw_curve(pd.DataFrame(points, columns=["iteration", "rate", "detection"]), "so-far")


def _progress_text(job: Job) -> str:
    if not job.objectives:
        return "Fitting simulated counts: getting ready …"
    return (
        f"Fitting simulated counts: iteration {job.iteration} of at most {job.settings.max_iter} · "
        f"objective {job.objectives[-1]:,.3f}"
    )


def _result(setup: Setup, found: Fit, slice_number: int) -> Shown:
    dataset = simulated(setup)
    view = compare(dataset, found)
    columns = st.columns(2)
    columns[0].metric(
        "Error of λ (MAE)",
        f"{view.errors.rate:.3f}",
        help="Mean absolute error over all entries of λ, after both estimate and truth are "
        "divided by their mean. 0.1: off by a tenth of the mean, on the average.",
    )
    columns[1].metric(
        "Error of p (MAE)",
        f"{view.errors.detection:.3f}",
        help="The same for p, over all entries, counted or not.",
    )
    table = view.slice(slice_number)
    names = {"rate": "λ", "p": "p"}
    for quantity, name in names.items():
        truth, estimate = picture(table, quantity), picture(table, f"{quantity}_hat")
        limits = charts.limits_of(truth, estimate)
        figures = {
            f"True {name}": charts.matrix_chart(truth, name=name, limits=limits),
            f"Estimated {name}": charts.matrix_chart(estimate, name=name, limits=limits),
            f"{name}: estimate against truth": charts.truth_chart(
                view.points, quantity, name=name, height=300
            ),
        }
        for column, (number, (title, figure)) in zip(
            st.columns(3), enumerate(figures.items()), strict=True
        ):
            with column:
                st.markdown(f"**{title}** (simulated)")
                st.plotly_chart(
                    figure,
                    config=chart_config(),
                    key=f"lab-{quantity}-{number}",
                    alt=f"{title}, simulated",
                )
    st.caption(
        f"Slice {slice_number + 1}, and {len(view.points)} random entries of all. One factor, "
        f"c = {view.scale.factor:.3g}, brings the mean of the estimated λ to that of the truth: "
        "λ·c, p/c. Only simulated counts allow this."
    )
    st.markdown("**Both errors while it was fitted**")
    curve = _curve(setup, found.settings, found.history[-1].iteration)
    _draw_curve(curve, "curve")
    st.caption(
        "The fit sees the objective, never these errors: they may rise while the objective falls. "
        + how_it_was_fitted(found)
    )
    table, loaded = call(error_table, DATASET, FITTED), call(simulated, setup)
    return Shown(
        tables={
            "errors": error_table(dataset, found),
            "errors while it fits": curve,
            "entries": for_download(view.entries, absolute=True),
        },
        code=script(table, dataset=loaded, fitted=fit(COUNTS, found.settings)),
        found=found,
    )


@st.cache_data(max_entries=64, show_spinner="Measuring the errors along the way …")
def _curve(setup: Setup, settings: FitSettings, last: int) -> pd.DataFrame:
    return error_curve(simulated(setup), settings, last)


def _draw_curve(curve: pd.DataFrame, key: str) -> None:
    st.plotly_chart(
        charts.curve_chart(curve),
        config=chart_config(),
        key=f"lab-{key}",
        alt="Errors of λ and p over the iterations of a fit of simulated counts",
    )


def _say_why_not(job: Job | None) -> None:
    if job is not None and job.state == "failed":
        st.error(f"This fit did not finish: {job.message}")
    elif job is not None and job.state == "cancelled":
        st.info("The fit was cancelled.")


def me() -> str:
    """Who waits: this browser session, so that one reader's cancel leaves another's fit."""
    return str(st.session_state.setdefault("lab-reader", uuid4().hex))
