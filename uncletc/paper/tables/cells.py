"""One trial of one cell: simulate, fit, score."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from uncletc.baselines import PAPER_METHODS, Callback, Prediction
from uncletc.common.validation import FloatArray
from uncletc.compare.metrics import mae_detection, mae_rate
from uncletc.data.counts import CountTensor
from uncletc.data.simulate import Truth, simulate
from uncletc.fitting.history import ConvergenceWarning, Iteration, MisfitWarning
from uncletc.fitting.settings import FitSettings
from uncletc.model.cp import rate_tensor
from uncletc.paper.tables.definitions import KNOWN, PAPERS_OWN, Column, find
from uncletc.result.fit_result import Fit
from uncletc.solvers.options import Joint

# Iterations at which the figure shows errors: all at first, then increasingly sparse.
ITERATIONS = (*range(1, 31), *range(35, 101, 5), *range(120, 301, 20))
PAPERS_ITERATIONS = 100


def settings_for(method: str, column: Column, seed: int) -> Any:
    """Settings of a method in a column: its defaults, except for the rank, the seed and μ.

    Parameters
    ----------
    method : str
        As in :attr:`Table.methods`.
    column : Column
    seed : int
    """
    mu: dict[str, Any] = {} if column.mu is None else {"mu": column.mu}
    common: dict[str, Any] = {"rank": column.fitted_rank, "seed": seed}
    if method == PAPERS_OWN:
        return FitSettings(**common, **mu, solver="bcd", max_iter=PAPERS_ITERATIONS)
    if method == KNOWN:
        return FitSettings(**common, solver=Joint(device="cpu"))
    if method not in PAPER_METHODS:
        names = ", ".join([*PAPER_METHODS, KNOWN, PAPERS_OWN])
        raise ValueError(f"method must be one of {names}; got {method!r}")
    kind = PAPER_METHODS[method].settings
    if kind is FitSettings:
        return FitSettings(**common, **mu, solver=Joint(device="cpu"))
    return kind(**(common if PAPER_METHODS[method].has_rank else {"seed": seed}))


def run_cell(
    table: str,
    column: str,
    method: str,
    seed: int,
    *,
    reading: str = "exact",
    callback: Callback | None = None,
) -> dict[str, float]:
    """Run one trial of a cell of a table.

    Parameters
    ----------
    table, column : str
        See :func:`settings_of`.
    method : str
        A key of :data:`uncletc.PAPER_METHODS`; "p known" for the floor, a fit that is given every
        true p; "UncleTC, paper's algorithm" for block coordinate descent.
    seed : int
        Seed of both the data and the fit.
    reading : {"exact", "as in the public code"}
        The fraction of entries observed: as stated in the paper, or as its code makes it.
    callback : callable, optional
        Called with each :class:`uncletc.Iteration`; return True to stop and score the fit as it
        is.

    Returns
    -------
    dict of str to float
        By metric. "MAE_λ" over all entries; with a p also "MAE_p" of g(z) over Ξ, "MAE_p, own p
        over Ω" and "MAE_p, all entries". Of Table 4 "λ̂/λ mean", "λ̂/λ sd" and so on.

    Examples
    --------
    >>> sorted(run_cell("appendix-rank", "F = 5", "NTF-CPD-KL", 0))
    ['MAE_λ']
    """
    definition = find(table)
    score = ratios if definition.measures == "ratios" else errors
    counts, truth, prediction = _fit(definition.column(column), method, seed, reading, callback)
    return score(prediction, counts, truth, method)


def measure(
    column: Column, method: str, seed: int, reading: str, measures: str
) -> tuple[dict[str, Any], float]:
    """Run one trial; return values by metric, or lists of them over iterations, and seconds."""
    began = time.perf_counter()
    if measures == "curves":
        values: dict[str, Any] = curves(column, method, seed)
    else:
        counts, truth, prediction = _fit(column, method, seed, reading, None)
        score = ratios if measures == "ratios" else errors
        values = score(prediction, counts, truth, method)
    return values, time.perf_counter() - began


def errors(
    fit: Prediction, counts: CountTensor, truth: Truth, method: str = ""
) -> dict[str, float]:
    """Errors of λ and, where the method estimates it, of p; the fit may be unfinished.

    Parameters
    ----------
    fit : Prediction
        Of `counts`; where the method is "p known", of the same counts with p as their exposure.
    counts, truth : CountTensor, Truth
        As :func:`uncletc.simulate` returns them.
    method : str
        See :func:`run_cell`.

    Returns
    -------
    dict of str to float
        By metric, see :func:`run_cell`; NaN where an estimate has no positive mean.
    """
    if method == KNOWN:
        assert isinstance(fit, Fit)
        return {"MAE_λ": _or_nan(mae_rate, rate_tensor(fit.factors), truth.rate)}
    values = {"MAE_λ": _or_nan(mae_rate, fit.rate(_every(counts)), truth.rate.ravel())}
    if not (isinstance(fit, Fit) and fit.n_attributes):
        return values
    assert truth.attributes is not None
    every_z = truth.attributes.reshape(-1, counts.n_attributes)
    for name, p, where in (
        ("MAE_p", fit.detection(counts.attributes), counts.attribute_indices),
        ("MAE_p, own p over Ω", fit.observed_detection, _sorted(counts)),
        ("MAE_p, all entries", fit.detection(every_z), _every(counts)),
    ):
        values[name] = _or_nan(mae_detection, p, truth.detection[tuple(where.T)])
    return values


def _or_nan(error: Callable[..., float], estimate: FloatArray, truth: FloatArray) -> float:
    """Return the error, or NaN where an unfinished fit has no positive mean to divide by."""
    try:
        return error(estimate, truth)
    except ValueError:
        return math.nan


def ratios(
    fit: Prediction, counts: CountTensor, truth: Truth, method: str = ""
) -> dict[str, float]:
    """Mean and standard deviation of λ̂/λ over all entries, of p̂/p and their product over Ξ."""
    if not isinstance(fit, Fit):
        raise ValueError(f"method must estimate p for these ratios, got {method!r}")
    where = tuple(counts.attribute_indices.T)
    rate = fit.rate(_every(counts)).reshape(counts.shape) / truth.rate
    p = fit.detection(counts.attributes) / truth.detection[where]
    values = {"λ̂/λ": rate, "p̂/p": p, "λ̂p̂/λp": rate[where] * p}
    return {
        f"{name} {word}": float(amount)
        for name, ratio in values.items()
        for word, amount in (("mean", ratio.mean()), ("sd", ratio.std()))
    }


def curves(column: Column, method: str, seed: int) -> dict[str, list[float]]:
    """Errors at each of :data:`ITERATIONS`; constant after the last iteration of a fit."""
    counts, truth = simulate(**column.arguments(), seed=seed)
    by_iteration: dict[int, dict[str, float]] = {}

    def record_errors(record: Iteration[Prediction]) -> None:
        if record.iteration in ITERATIONS and record.current is not None:
            by_iteration[record.iteration] = errors(record.current(), counts, truth, method)

    fit = _run(method, counts, truth, settings_for(method, column, seed), record_errors)
    last = fit.history[-1].iteration
    by_iteration[last] = errors(fit, counts, truth, method)
    names = [name for name in ("MAE_p", "MAE_λ") if name in by_iteration[last]]
    return {name: [by_iteration[min(i, last)][name] for i in ITERATIONS] for name in names}


def _fit(
    column: Column, method: str, seed: int, reading: str, callback: Callback | None
) -> tuple[CountTensor, Truth, Prediction]:
    settings = settings_for(method, column, seed)
    counts, truth = simulate(**column.arguments(reading), seed=seed)
    return counts, truth, _run(method, counts, truth, settings, callback)


def _run(
    method: str, counts: CountTensor, truth: Truth, settings: Any, callback: Callback | None
) -> Prediction:
    name = "UncleTC" if method in (KNOWN, PAPERS_OWN) else method
    data = with_known_detection(counts, truth.detection) if method == KNOWN else counts
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", MisfitWarning)  # the scores show it
        return PAPER_METHODS[name].fit(data, settings, callback=callback)


def with_known_detection(counts: CountTensor, p: FloatArray) -> CountTensor:
    """Return the counts with every true p as exposure and no attributes: only λ is unknown."""
    return CountTensor(
        counts.shape, counts.indices, counts.counts, exposure=p, simulated=counts.simulated
    )


def _every(counts: CountTensor) -> np.ndarray:
    return np.argwhere(np.ones(counts.shape, dtype=bool))


def _sorted(counts: CountTensor) -> np.ndarray:
    """Ω in the order that methods use."""
    return counts.indices[np.lexsort(counts.indices.T[::-1])]
