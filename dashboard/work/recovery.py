"""How near a fit of simulated counts comes to the truth. Pure."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dashboard.work.order import Numbers
from dashboard.work.orders import Recovery
from uncletc import Fit, Iteration, Truth, fit, metrics, simulate

_N_MOMENTS = 25  # of a curve of errors


def _to_nobody(**_: object) -> None:
    """Report nothing."""


def recover(order: Recovery, report: Callable[..., None] = _to_nobody) -> Numbers:
    """Simulate, fit, and measure errors at some iterations, evenly spread on a log scale.

    Parameters
    ----------
    order : Recovery
    report : callable, optional
        Takes iteration, seconds and values, by name.
    """
    counts, truth = simulate(**order.simulation)
    last = max(order.settings.max_iter, 1)
    moments = set(np.geomspace(1, last, _N_MOMENTS).round().astype(int).tolist())
    curve: list[tuple[int, dict[str, float]]] = []

    def follow(record: Iteration) -> None:
        values: dict[str, float] = {}
        if record.iteration in moments and record.current is not None:
            values = recovery_errors(record.current(), truth)
            curve.append((record.iteration, values))
        report(iteration=record.iteration, seconds=record.seconds, values=values)

    estimate = fit(counts, order.settings, callback=follow)
    end = estimate.history[-1].iteration
    finished = (end, recovery_errors(estimate, truth))
    return {"curve": [*(pair for pair in curve if pair[0] < end), finished]}


def recovery_errors(estimate: Fit, truth: Truth) -> dict[str, float]:
    """MAE_λ and MAE_p of a fit over all entries; see :mod:`uncletc.compare.metrics`."""
    assert truth.attributes is not None
    p = estimate.detection(truth.attributes.reshape(-1, truth.attributes.shape[-1]))
    return {
        "rate": metrics.mae_rate(estimate.rate_tensor(), truth.rate),
        "detection": metrics.mae_detection(p, truth.detection.ravel()),
    }
