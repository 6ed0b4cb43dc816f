"""The paper's tables, figures and real-data comparison: definitions, single trials, results.

:data:`TABLES` and :data:`FIGURES` define what each holds, :func:`run_cell` runs one trial of one
cell, and :func:`committed` reads the results shipped with the project, beside the paper's own
numbers. ``python -m benchmarks.paper`` of a checkout runs them all.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd

from uncletc.baselines import PAPER_METHODS, Callback, Prediction
from uncletc.common.validation import FloatArray
from uncletc.compare.metrics import mae_detection, mae_rate
from uncletc.data.counts import CountTensor
from uncletc.data.simulate import Truth, simulate
from uncletc.fitting.history import ConvergenceWarning, Iteration, MisfitWarning
from uncletc.fitting.settings import FitSettings
from uncletc.model.cp import rate_tensor
from uncletc.result.fit_result import Fit
from uncletc.solvers.options import Joint

Results = Literal["summary", "curves", "real", "trials"]
Reading = Literal["exact", "as in the public code"]
READINGS: tuple[str, ...] = get_args(Reading)

KNOWN = "p known"
PAPERS_OWN = "UncleTC, paper's algorithm"


@dataclass(frozen=True, kw_only=True)
class Column:
    """One column of a table: one setting of the simulation, and how it is fitted.

    Attributes
    ----------
    label : str
        As displayed.
    simulation : mapping
        Keyword arguments of :func:`uncletc.simulate`, without the seed.
    fitted_rank : int
        F of the fits: the true rank, unless the table is about wrong ranks.
    mu : float, optional
        μ of UncleTC; None: the library's default.
    observed_in_code : float, optional
        The fraction that the paper's public code observes in this column; None: as far as is
        known, the fraction stated in the paper.
    """

    label: str
    simulation: Mapping[str, Any]
    fitted_rank: int
    mu: float | None = None
    observed_in_code: float | None = None

    def arguments(self, reading: str = "exact") -> dict[str, Any]:
        """Keyword arguments of :func:`uncletc.simulate` under a reading, without the seed."""
        if reading == "exact":
            return dict(self.simulation)
        if reading not in READINGS:
            raise ValueError(f"reading must be one of {READINGS}, got {reading!r}")
        if self.observed_in_code is None:
            raise ValueError(f"{self.label} has no reading {reading!r}")
        return {**self.simulation, "observed": self.observed_in_code}

    @property
    def readings(self) -> tuple[str, ...]:
        """The readings of this column."""
        return READINGS[: 1 if self.observed_in_code is None else 2]


@dataclass(frozen=True, kw_only=True)
class Table:
    """One table, or figure, of the paper.

    Attributes
    ----------
    id : str
    title : str
        What it shows, paraphrasing the paper's caption.
    columns : tuple of Column
    methods : tuple of str
        Names of :data:`uncletc.PAPER_METHODS`, and "p known" or "UncleTC, paper's algorithm".
    measures : {"errors", "ratios", "curves"}
        Errors of the finished fit; mean and spread of λ̂/λ and p̂/p; errors by iteration.
    trials : int
        Number of trials in the paper.
    costly : tuple of str
        Methods that get a quarter of the trials.
    """

    id: str
    title: str
    columns: tuple[Column, ...]
    methods: tuple[str, ...]
    measures: Literal["errors", "ratios", "curves"] = "errors"
    trials: int = 20
    costly: tuple[str, ...] = ()

    def column(self, label: str) -> Column:
        """Return the column with that label."""
        for column in self.columns:
            if column.label == label:
                return column
        labels = ", ".join(column.label for column in self.columns)
        raise ValueError(f"column must be one of {labels}; got {label!r}")

    def n_trials(self, method: str, requested: int | None = None) -> int:
        """Trials of a method: as `requested` or as in the paper, a quarter where costly."""
        n = self.trials if requested is None else requested
        if self.measures == "ratios":  # the paper lists its trials one by one
            n = min(n, self.trials)
        return -(-n // 4) if method in self.costly else n


def _column(label: str, fitted_rank: int | None = None, **changes: Any) -> Column:
    """Return the setting of Table 1 with `changes`."""
    extra = {name: changes.pop(name) for name in ("mu", "observed_in_code") if name in changes}
    simulation: dict[str, Any] = {
        "shape": (20, 20, 20),
        "rank": 3,
        "observed": 0.2,
        "attributed": 0.3,
        "similar": 0.2,
        "snr_db": 40.0,
        "detection": "cubic",
    } | changes
    return Column(
        label=label, simulation=simulation, fitted_rank=fitted_rank or simulation["rank"], **extra
    )


_NINE = (*PAPER_METHODS, KNOWN)
_THREE = ("UncleTC", "UncleTC(Linear)", "NTF-CPD-KL", KNOWN)
_MU_SETTINGS = ((20, 0.3), (25, 0.3), (20, 0.1), (25, 0.1))

_ALL = (
    Table(
        id="table-1",
        title="Table 1: more or fewer counts, γ_Ω",
        columns=(
            _column("γ_Ω = .05", observed=0.05, observed_in_code=0.132),
            _column("γ_Ω = .1", observed=0.1, observed_in_code=0.156),
            _column("γ_Ω = .3", observed=0.3),
        ),
        methods=_NINE,
    ),
    Table(
        id="table-2",
        title="Table 2: how alike the attributes of Θ are, SNR",
        columns=(
            _column("SNR = 0 dB", snr_db=0.0),
            _column("SNR = 10 dB", snr_db=10.0),
            _column("SNR = 40 dB"),
        ),
        methods=_NINE,
    ),
    Table(
        id="table-3",
        title="Table 3: how many attributes are alike, γ_Θ",
        columns=tuple(
            _column(f"γ_Θ = {text}", attributed=0.7, similar=float(text))
            for text in ("0", ".3", ".5")
        ),
        methods=_NINE,
    ),
    Table(
        id="table-4",
        title="Table 4: the free scale, λ̂/λ and p̂/p in each trial",
        columns=(_column("γ_Ω = .3", observed=0.3, detection="log"),),
        methods=("UncleTC",),
        measures="ratios",
        trials=10,
    ),
    Table(
        id="appendix-rank",
        title="Appendix: other ranks F",
        columns=tuple(_column(f"F = {rank}", rank=rank, detection="log") for rank in (5, 7, 10)),
        methods=_THREE,
    ),
    Table(
        id="appendix-wrong-rank",
        title="Appendix: wrong ranks F̂, the true one being 7",
        columns=tuple(
            _column(f"F̂ = {rank}", rank, rank=7, detection="log") for rank in (3, 5, 7, 10, 12)
        ),
        methods=_THREE,
    ),
    Table(
        id="appendix-mu",
        title="Appendix: how strongly p is held to g(z), μ",
        columns=tuple(
            _column(
                f"I = {size}, γ_Ω = {observed:.1f}, μ = {mu}".replace("0.", "."),
                shape=(size,) * 3,
                observed=observed,
                detection="log",
                mu=float(mu),
            )
            for size, observed in _MU_SETTINGS
            for mu in (100, 500, 1000, 2000)
        ),
        methods=("UncleTC", PAPERS_OWN, KNOWN),
        costly=(PAPERS_OWN,),
    ),
    Table(
        id="iterations",
        title="Figure: errors over iterations, Ω and Ξ in each order",
        columns=(
            _column("Ω ⊂ Ξ", observed=0.1, detection="steep-cubic"),
            _column("Ω = Ξ", observed=0.3, detection="steep-cubic"),
            _column("Ω ⊃ Ξ", observed=0.4, detection="steep-cubic"),
        ),
        methods=("UncleTC", "UncleTC(Linear)", "NTF-CPD-KL"),
        measures="curves",
    ),
)

FIGURES: Mapping[str, Table] = {one.id: one for one in _ALL if one.measures == "curves"}
TABLES: Mapping[str, Table] = {one.id: one for one in _ALL if one.measures != "curves"}


def settings_of(table: str, column: str) -> dict[str, Any]:
    """Arguments of a column: those of :func:`uncletc.simulate`, and ``fitted_rank``.

    Parameters
    ----------
    table : str
        A key of :data:`TABLES` or :data:`FIGURES`.
    column : str
        A label of one of its columns.

    Returns
    -------
    dict
        Keyword arguments of :func:`uncletc.simulate` without the seed, under the "exact" reading,
        plus ``fitted_rank``.

    Examples
    --------
    >>> settings_of("table-1", "γ_Ω = .05")["observed"]
    0.05
    """
    definition = find(table).column(column)
    return {**definition.simulation, "fitted_rank": definition.fitted_rank}


def find(table: str) -> Table:
    """Return the table or figure of that name."""
    definitions = {**TABLES, **FIGURES}
    if table not in definitions:
        raise ValueError(f"table must be one of {', '.join(definitions)}; got {table!r}")
    return definitions[table]


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


def committed(name: Results) -> pd.DataFrame:
    """Read results shipped with the project.

    Parameters
    ----------
    name : {"summary", "curves", "real", "trials"}
        ``summary``: table, reading, column, method, metric, mean, sd, median, n, seconds,
        paper_mean, paper_sd, floor (mean MAE_λ with p known); ``curves``: figure, setting, method,
        metric, iteration, mean, sd, n; ``real``: data, kind, method, metric, mean, sd, n,
        settings, seconds, paper_mean, paper_sd; ``trials``: table, reading, column, method,
        metric, seed, value, seconds.

    Raises
    ------
    FileNotFoundError
        If neither a checkout nor the installed package holds them.
    """
    if name not in get_args(Results):
        raise ValueError(f"name must be one of {get_args(Results)}, got {name!r}")
    package = Path(__file__).resolve().parents[1]
    for folder in (
        package.parent / "benchmarks" / "results" / "paper",
        package / "_data" / "paper",
    ):
        path = folder / f"{name}.csv"
        if path.exists():
            return pd.read_csv(path)
    raise FileNotFoundError(
        f"No {name} of the paper's tables in this copy of uncletc; `python -m benchmarks.paper` of "
        "a checkout makes them."
    )
