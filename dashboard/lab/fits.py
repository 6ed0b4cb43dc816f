"""The step of the Lab that fits: in the service's process, with progress and cancel."""

from __future__ import annotations

from functools import partial

import pandas as pd
import streamlit as st

from dashboard.lab import charts
from dashboard.lab.controls import choose
from dashboard.lab.steps import Shown, predict
from dashboard.lab.view import Setup, picture, simulated, truth_of
from dashboard.lab.view_fits import compare, error_curve, error_table, recovery
from dashboard.lab.ways import compare_ways
from dashboard.shared.charts.answers import for_download
from dashboard.shared.fit_status.running import how_it_was_fitted, say_outcome
from dashboard.shared.fit_status.service import (
    fit_words,
    progress_bar,
    say_changed,
    say_failed,
    session,
)
from dashboard.shared.sidebar.model import describe
from dashboard.shared.text.page import show_chart
from dashboard.shared.text.scripts import COUNTS, DATASET, FITTED, call, fit_code, script
from dashboard.work.orders import FitOrder, Recovery
from dashboard.work.recovery import recovery_errors
from uncletc import Fit, FitSettings


def fit_step(setup: Setup, settings: FitSettings) -> Shown | None:
    """Fit on request; truth beside estimate, and both errors while it fits."""
    st.markdown(
        "The fit is given the counts and the attributes that step 2 shows, and nothing about the "
        "truth. The settings in the sidebar say how counts are drawn, and how they are fitted."
    )
    slice_number = choose("slice") - 1
    if not predict("fit"):
        return None
    mine, order = session("lab"), _order(setup, settings)
    job = mine.service.job(order)  # before the look-up: a fit that ends in between is found
    fit = mine.lookup(order)
    if fit is not None:
        st.session_state["lab-shown"] = (setup, settings)
        return _result(setup, fit, slice_number)
    waiting = job is not None and job.active
    if not waiting and st.button(
        "Fit",
        type="primary",
        key="lab-fit",
        help="Takes a second or two. Settings fitted before show at once.",
    ):
        job = mine.service.submit(order, mine.watcher)
    if job is not None and job.active:
        _fit_progress(setup, order)
        return None
    say_failed(mine, [order], "This fit")
    if job is not None and job.state == "cancelled":
        st.info("The fit was cancelled.")
    before = st.session_state.get("lab-shown")
    if before is not None:
        earlier = mine.lookup(_order(*before))
        if earlier is not None:
            say_changed(describe(before[1]), "Press **Fit** for the settings in the sidebar.")
            return _result(before[0], earlier, slice_number)
    st.info("Press **Fit** to see how close the estimates come to the truth.")
    return None


def _order(setup: Setup, settings: FitSettings) -> FitOrder:
    return FitOrder(simulated(setup).counts, settings)


@st.fragment(run_every=0.3)
def _fit_progress(setup: Setup, order: FitOrder) -> None:
    mine = session("lab")
    job = mine.service.job(order)
    if job is None or not job.active:
        st.rerun()
    text = fit_words("Fitting simulated counts", job)
    progress_bar(job.share, text, key="lab-cancel", on_cancel=mine.cancel, args=([order],))
    asked, points = st.session_state.get("lab-so-far", (0.0, []))
    if asked != job.asked:
        asked, points = job.asked, []
    so_far = mine.service.latest(job)
    if so_far is not None and (
        not points or points[-1]["iteration"] < so_far.history[-1].iteration
    ):
        now = recovery_errors(so_far, truth_of(simulated(setup)))
        points.append({"iteration": so_far.history[-1].iteration} | now)
    st.session_state["lab-so-far"] = (asked, points)
    if points:
        _draw_curve(pd.DataFrame(points), "so-far")


def _result(setup: Setup, fit: Fit, slice_number: int) -> Shown:
    dataset = simulated(setup)
    view = compare(dataset, fit)
    say_outcome(fit)
    columns = st.columns(2)
    columns[0].metric(
        "Error of λ (MAE)",
        f"{view.errors['rate']:.3f}",
        help="Mean absolute error over all entries of λ, after both estimate and truth are "
        "divided by their mean. 0.1: off by a tenth of the mean, on average.",
    )
    columns[1].metric(
        "Error of p (MAE)",
        f"{view.errors['detection']:.3f}",
        help="The same for p, over all entries, counted or not.",
    )
    table = view.slice(slice_number)
    names = {"rate": "λ", "p": "p"}
    for quantity, name in names.items():
        truth, estimate = picture(table, quantity), picture(table, f"{quantity}_hat")
        limits = charts.limits_of(truth, estimate)
        figures = {
            f"True {name}": partial(charts.matrix_chart, truth, name=name, limits=limits),
            f"Estimated {name}": partial(charts.matrix_chart, estimate, name=name, limits=limits),
            f"{name}: estimate against truth": partial(
                charts.truth_chart, view.points, quantity, name=name, height=300
            ),
        }
        for column, (number, (title, figure)) in zip(
            st.columns(3), enumerate(figures.items()), strict=True
        ):
            with column:
                st.markdown(f"**{title}** (simulated)")
                show_chart(
                    figure,
                    key=f"lab-{quantity}-{number}",
                    alt=f"{title}, simulated",
                )
    st.caption(
        f"Slice {slice_number + 1}, and {len(view.points)} random entries of all. One factor, "
        f"c = {view.scale.factor:.3g}, brings the mean of the estimated λ to that of the truth: "
        "λ·c, p/c. Only simulated counts allow this."
    )
    st.markdown("**Both errors while it was fitted**")
    curve = _measured(setup, fit.settings)
    st.caption(
        "The fit sees the objective, never these errors: they may rise while the objective falls. "
        + how_it_was_fitted(fit)
    )
    ways = compare_ways(setup, fit.settings)
    table, loaded = call(error_table, DATASET, FITTED), call(simulated, setup)
    return Shown(
        tables={
            "errors": error_table(dataset, fit),
            **({} if curve is None else {"errors while it fits": curve}),
            **({} if ways is None else {"lines, curves, network": ways}),
            "entries": for_download(view.entries, absolute=True),
        },
        code=script(table, dataset=loaded, fitted=fit_code(COUNTS, fit.settings)),
        fit=fit,
    )


def _measured(setup: Setup, settings: FitSettings) -> pd.DataFrame | None:
    """Draw the errors on the way to a fit, which is made again for them; None before they are."""
    mine, order = session("lab"), recovery(setup, settings)
    job = mine.service.job(order)
    result = mine.lookup(order)
    if result is not None:
        curve = error_curve(result)
        _draw_curve(curve, "curve")
        return curve
    if job is None or job.state != "failed":
        mine.submit([order])
    if mine.under_way([order]):
        _wait_for(order)
    else:
        say_failed(mine, [order], "Measuring the errors along the way")
    return None


@st.fragment(run_every=0.3)
def _wait_for(order: Recovery) -> None:
    st.caption("Measuring the errors along the way …")
    if not session("lab").under_way([order]):
        st.rerun()


def _draw_curve(curve: pd.DataFrame, key: str) -> None:
    show_chart(
        partial(charts.curve_chart, curve),
        key=f"lab-{key}",
        alt="Errors of λ and p over the iterations of a fit of simulated counts",
    )
