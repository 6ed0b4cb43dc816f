"""One trial of one cell: simulate, fit, judge."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from uncletc.baselines import METHODS, Callback, Prediction
from uncletc.counts import CountTensor
from uncletc.cp import rate_tensor
from uncletc.metrics import mae_detection, mae_rate
from uncletc.model import Fit
from uncletc.paper.tables.definitions import KNOWN, PAPERS_OWN, Column, find
from uncletc.records import ConvergenceWarning, Iteration
from uncletc.settings import FitSettings
from uncletc.simulate import Truth, simulate
from uncletc.solvers.options import Joint
from uncletc.validation import FloatArray

# Iterations at which the figure shows errors: all at first, then ever fewer.
ITERATIONS = (*range(1, 31), *range(35, 101, 5), *range(120, 301, 20))
PAPERS_ITERATIONS = 100


def settings_for(method: str, column: Column, seed: int) -> Any:
    """Settings of a method in a column: its defaults but for the rank, the seed and μ.

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
    if method not in METHODS:
        names = ", ".join([*METHODS, KNOWN, PAPERS_OWN])
        raise ValueError(f"method must be one of {names}; got {method!r}")
    kind = METHODS[method].settings
    if kind is FitSettings:
        return FitSettings(**common, **mu, solver=Joint(device="cpu"))
    return kind(**(common if METHODS[method].has_rank else {"seed": seed}))


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
        A key of :data:`uncletc.METHODS`; "p known" for the floor, a fit that is told every true
        p; "UncleTC, paper's algorithm" for block coordinate descent.
    seed : int
        Decides both the data and the fit.
    reading : {"exact", "as in the public code"}
        The fraction of entries that is observed: as the paper says, or as its code makes it.
    callback : callable, optional
        Called with each :class:`uncletc.Iteration`; return True to stop, and to judge
        the fit as it is.

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
    found = find(table)
    judge = ratios if found.measures == "ratios" else errors
    counts, truth, prediction = _fit(found.column(column), method, seed, reading, callback)
    return judge(prediction, counts, truth, method)


def measure(
    column: Column, method: str, seed: int, reading: str, measures: str
) -> tuple[dict[str, Any], float]:
    """Run one trial; the values by metric, or lists of them over iterations, and seconds."""
    began = time.perf_counter()
    if measures == "curves":
        values: dict[str, Any] = curves(column, method, seed)
    else:
        counts, truth, prediction = _fit(column, method, seed, reading, None)
        judge = ratios if measures == "ratios" else errors
        values = judge(prediction, counts, truth, method)
    return values, time.perf_counter() - began


def errors(
    found: Prediction, counts: CountTensor, truth: Truth, method: str = ""
) -> dict[str, float]:
    """Errors of λ and, where the method has one, of p; those of finished and unfinished fits.

    Parameters
    ----------
    found : Prediction
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
        assert isinstance(found, Fit)
        return {"MAE_λ": _or_nan(mae_rate, rate_tensor(found.factors), truth.rate)}
    values = {"MAE_λ": _or_nan(mae_rate, found.rate(_every(counts)), truth.rate.ravel())}
    if not (isinstance(found, Fit) and found.n_attributes):
        return values
    assert truth.attributes is not None
    every_z = truth.attributes.reshape(-1, counts.n_attributes)
    for name, p, where in (
        ("MAE_p", found.detection(counts.attributes), counts.attribute_indices),
        ("MAE_p, own p over Ω", found.observed_detection, _sorted(counts)),
        ("MAE_p, all entries", found.detection(every_z), _every(counts)),
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
    found: Prediction, counts: CountTensor, truth: Truth, method: str = ""
) -> dict[str, float]:
    """Mean and spread of λ̂/λ over all entries, of p̂/p and of their product over Ξ."""
    if not isinstance(found, Fit):
        raise ValueError(f"method must have a p for these ratios, got {method!r}")
    where = tuple(counts.attribute_indices.T)
    rate = found.rate(_every(counts)).reshape(counts.shape) / truth.rate
    p = found.detection(counts.attributes) / truth.detection[where]
    values = {"λ̂/λ": rate, "p̂/p": p, "λ̂p̂/λp": rate[where] * p}
    return {
        f"{name} {word}": float(amount)
        for name, ratio in values.items()
        for word, amount in (("mean", ratio.mean()), ("sd", ratio.std()))
    }


def curves(column: Column, method: str, seed: int) -> dict[str, list[float]]:
    """Errors at each of :data:`ITERATIONS`; after the last one of a fit they stay."""
    counts, truth = simulate(**column.arguments(), seed=seed)
    seen: dict[int, dict[str, float]] = {}

    def look(record: Iteration[Prediction]) -> None:
        if record.iteration in ITERATIONS and record.current is not None:
            seen[record.iteration] = errors(record.current(), counts, truth, method)

    found = _run(method, counts, truth, settings_for(method, column, seed), look)
    last = found.history[-1].iteration
    seen[last] = errors(found, counts, truth, method)
    names = [name for name in ("MAE_p", "MAE_λ") if name in seen[last]]
    return {name: [seen[min(iteration, last)][name] for iteration in ITERATIONS] for name in names}


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
    seen = told(counts, truth.detection) if method == KNOWN else counts
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return METHODS[name].fit(seen, settings, callback=callback)


def told(counts: CountTensor, p: FloatArray) -> CountTensor:
    """Return the counts with every true p as exposure, and no attributes: λ alone is unknown."""
    return CountTensor(
        counts.shape, counts.indices, counts.counts, exposure=p, simulated=counts.simulated
    )


def _every(counts: CountTensor) -> np.ndarray:
    return np.argwhere(np.ones(counts.shape, dtype=bool))


def _sorted(counts: CountTensor) -> np.ndarray:
    """Ω in the order that methods use."""
    return counts.indices[np.lexsort(counts.indices.T[::-1])]
