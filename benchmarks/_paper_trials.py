"""Single trials of the paper's tables: draw, fit, and measure the errors."""

import math
import time
import warnings
from typing import Any

import numpy as np

from benchmarks._paper_tables import PAPERS_OWN, Column
from uncletc import CountTensor, Fit, FitSettings, Iteration, Joint, Truth, rate_tensor, simulate
from uncletc.baselines import PAPER_METHODS, Callback, Prediction
from uncletc.compare.metrics import mae_detection, mae_rate
from uncletc.paper.tables import KNOWN

# Iterations at which the figure shows errors: all at first, then increasingly sparse.
ITERATIONS = (*range(1, 31), *range(35, 101, 5), *range(120, 301, 20))
PAPERS_ITERATIONS = 100


def settings_for(method: str, column: Column, seed: int) -> Any:
    """Return the settings of a method in a column: defaults, except for rank, seed and μ."""
    mu: dict[str, Any] = {} if column.mu is None else {"mu": column.mu}
    common: dict[str, Any] = {"rank": column.fitted_rank, "seed": seed}
    if method == PAPERS_OWN:
        return FitSettings(**common, **mu, solver="bcd", max_iter=PAPERS_ITERATIONS)
    if method == KNOWN:
        return FitSettings(**common, solver=Joint())
    kind = PAPER_METHODS[method].settings
    if kind is FitSettings:
        return FitSettings(**common, **mu, solver=Joint())
    return kind(**(common if PAPER_METHODS[method].has_rank else {"seed": seed}))


def measure(
    column: Column, method: str, seed: int, reading: str, measures: str
) -> tuple[dict[str, Any], float]:
    """Run one trial; return values by metric, or lists of them over iterations, and seconds."""
    began = time.perf_counter()
    counts, truth = simulate(**column.arguments(reading), seed=seed)
    by_iteration: dict[int, dict[str, float]] = {}

    def record_errors(record: Iteration[Prediction]) -> None:
        if record.iteration in ITERATIONS and record.current is not None:
            by_iteration[record.iteration] = errors(record.current(), counts, truth, method)

    callback = record_errors if measures == "curves" else None
    fit = _run(method, counts, truth, settings_for(method, column, seed), callback)
    values: dict[str, Any]
    if measures == "ratios":
        assert isinstance(fit, Fit)
        values = ratios(fit, counts, truth)
    else:
        values = errors(fit, counts, truth, method)
    if measures == "curves":  # constant after the last iteration of a fit
        last = fit.history[-1].iteration
        by_iteration[last] = values
        names = [name for name in ("MAE_p", "MAE_λ") if name in values]
        values = {name: [by_iteration[min(i, last)][name] for i in ITERATIONS] for name in names}
    return values, time.perf_counter() - began


def errors(
    fit: Prediction, counts: CountTensor, truth: Truth, method: str = ""
) -> dict[str, float]:
    """Return the errors of λ and, where the method estimates it, of p, by metric.

    NaN where an unfinished fit has no positive mean to divide by. Of "p known" the fit is of counts
    with p as their exposure.
    """

    def of(error: Any, estimate: Any, true: Any) -> float:
        try:
            return float(error(estimate, true))
        except ValueError:
            return math.nan

    if method == KNOWN:
        assert isinstance(fit, Fit)
        return {"MAE_λ": of(mae_rate, rate_tensor(fit.factors), truth.rate)}
    every = np.argwhere(np.ones(counts.shape, dtype=bool))
    values = {"MAE_λ": of(mae_rate, fit.rate(every), truth.rate.ravel())}
    if isinstance(fit, Fit) and fit.n_attributes:
        assert truth.attributes is not None
        every_z = truth.attributes.reshape(-1, counts.n_attributes)
        in_order = counts.indices[np.lexsort(counts.indices.T[::-1])]
        for name, p, where in (
            ("MAE_p", fit.detection(counts.attributes), counts.attribute_indices),
            ("MAE_p, own p over Ω", fit.observed_detection, in_order),
            ("MAE_p, all entries", fit.detection(every_z), every),
        ):
            values[name] = of(mae_detection, p, truth.detection[tuple(where.T)])
    return values


def ratios(fit: Fit, counts: CountTensor, truth: Truth) -> dict[str, float]:
    """Return mean and sd of λ̂/λ over all entries, of p̂/p and of their product over Ξ."""
    where = tuple(counts.attribute_indices.T)
    rate = fit.rate_tensor() / truth.rate
    p = fit.detection(counts.attributes) / truth.detection[where]
    values = {"λ̂/λ": rate, "p̂/p": p, "λ̂p̂/λp": rate[where] * p}
    return {
        f"{name} {word}": float(amount)
        for name, ratio in values.items()
        for word, amount in (("mean", ratio.mean()), ("sd", ratio.std()))
    }


def _run(
    method: str, counts: CountTensor, truth: Truth, settings: Any, callback: Callback | None
) -> Prediction:
    name = "UncleTC" if method in (KNOWN, PAPERS_OWN) else method
    if method == KNOWN:  # every true p as exposure and no attributes: only λ is unknown
        counts = CountTensor(
            counts.shape, counts.indices, counts.counts, exposure=truth.detection, simulated=True
        )
    with warnings.catch_warnings(action="ignore"):
        return PAPER_METHODS[name].fit(counts, settings, callback=callback)
