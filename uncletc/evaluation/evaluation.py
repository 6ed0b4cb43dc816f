"""Folds, scores and the loop over trials; see :mod:`uncletc.evaluation`."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize_scalar
from scipy.special import gammaln, xlogy
from scipy.stats import nbinom, poisson

from uncletc import metrics
from uncletc.baselines import Method, Prediction, Progress, known_attributes
from uncletc.counts import CountTensor
from uncletc.model import ConvergenceWarning
from uncletc.validation import FloatArray, IntArray, check_choice, check_whole

FoldKind = Literal["entry", "fibre"]
LEVELS = (0.5, 0.8, 0.9, 0.95)
_LOG_PHI = (math.log(1e-6), math.log(1e4))
_LEAST = 1e-9  # of ŷ, so that one zero does not make the deviance infinite


def make_folds(
    counts: CountTensor,
    n_folds: int = 5,
    *,
    kind: FoldKind = "entry",
    across: Sequence[int] | None = None,
    seed: int = 0,
) -> IntArray:
    """Divide the observed entries into disjoint folds of nearly one size.

    Parameters
    ----------
    counts : CountTensor
    n_folds : int
        At least 3: to train, validate and test.
    kind : {"entry", "fibre"}
        Whether folds hold single entries, or whole fibres.
    across : sequence of int, optional
        "fibre" only: the modes whose indices name a fibre; entries that agree in them stay
        together. None: all modes but the last.
    seed : int
        Decides everything random, ≥ 0.

    Returns
    -------
    ndarray of int, shape (N,)
        The fold of each observed entry, 0 to `n_folds` - 1.

    Raises
    ------
    ValueError
        If there are fewer entries, or fibres, than folds, or an argument breaks its rule.

    Examples
    --------
    >>> y = CountTensor((2, 3), [[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2]], [1] * 6)
    >>> sorted(make_folds(y, 3).tolist())
    [0, 0, 1, 1, 2, 2]
    """
    n_folds, seed = check_whole("n_folds", n_folds, 3), check_whole("seed", seed, 0)
    check_choice("kind", kind, get_args(FoldKind))
    modes = _check_modes(across, len(counts.shape))
    if kind == "entry":
        group, noun = np.arange(counts.n_observed), "entries"
    else:
        sizes = [counts.shape[k] for k in modes]
        flat = np.ravel_multi_index([counts.indices[:, k] for k in modes], sizes)
        group, noun = np.unique(flat, return_inverse=True)[1], "fibres"
    n_groups = int(group.max()) + 1 if len(group) else 0
    if n_groups < n_folds:
        raise ValueError(f"n_folds must be at most the {n_groups} observed {noun}, got {n_folds}")
    entries = np.bincount(group, minlength=n_groups)
    order = np.random.default_rng(seed).permutation(n_groups)
    order = order[np.argsort(-entries[order], kind="stable")]  # large groups first, ties random
    fold, filled = np.empty(n_groups, dtype=np.int64), np.zeros(n_folds, dtype=np.int64)
    for one in order:
        fold[one] = filled.argmin()
        filled[fold[one]] += entries[one]
    return np.asarray(fold[group])


@dataclass(frozen=True, eq=False)
class Split:
    """The roles of the observed entries in one trial, disjoint masks (N,).

    Attributes
    ----------
    trial : int
    train, validation, test : ndarray of bool, shape (N,)
    """

    trial: int
    train: NDArray[np.bool_]
    validation: NDArray[np.bool_]
    test: NDArray[np.bool_]


def splits(folds: ArrayLike) -> tuple[Split, ...]:
    """One trial per fold: it tests, the next one validates, the others train.

    Parameters
    ----------
    folds : array_like of int, shape (N,)
        As :func:`make_folds` returns them.
    """
    fold = np.asarray(folds, dtype=np.int64)
    n = int(fold.max()) + 1 if fold.size else 0
    if n < 3:
        raise ValueError(f"folds must number at least 3, got {n}")
    return tuple(
        Split(
            trial,
            ~np.isin(fold, (trial, (trial + 1) % n)),
            fold == (trial + 1) % n,
            fold == trial,
        )
        for trial in range(n)
    )


@dataclass(frozen=True, kw_only=True)
class Scores:
    """How good predicted counts are; see :mod:`uncletc.metrics`.

    Attributes
    ----------
    rrmse : float
        NaN where all counts are zero.
    deviance : float
        Mean Poisson deviance, ŷ taken as 1e-9 at least.
    mae : float
    auroc, auprc : float
        Of "any count"; NaN where undefined.
    n : int
        Counts judged.
    """

    rrmse: float
    deviance: float
    mae: float
    auroc: float
    auprc: float
    n: int


def score(counts: ArrayLike, predicted: ArrayLike) -> Scores:
    """Judge predicted counts.

    Parameters
    ----------
    counts : array_like of int, shape (n,)
        y, held out.
    predicted : array_like of float, shape (n,)
        ŷ ≥ 0.
    """
    y, y_hat = np.asarray(counts), np.asarray(predicted, dtype=np.float64)
    return Scores(
        rrmse=metrics.rrmse(y, y_hat) if np.any(y > 0) else math.nan,
        deviance=metrics.poisson_deviance(y, np.maximum(y_hat, _LEAST)),
        mae=metrics.mae(y, y_hat),
        auroc=metrics.auroc(y, y_hat),
        auprc=metrics.auprc(y, y_hat),
        n=len(y),
    )


def dispersion(counts: ArrayLike, predicted: ArrayLike) -> float:
    """φ of the likeliest negative binomial with variance ŷ + φŷ²; 0: no more spread than Poisson.

    Parameters
    ----------
    counts : array_like of int, shape (n,)
        Held out of the fit that predicted them; else φ comes out too small.
    predicted : array_like of float, shape (n,)
        ŷ ≥ 0, taken as a thousandth of its mean at least, so that no single count decides.
    """
    y = np.asarray(counts, dtype=np.float64)
    y_hat = np.asarray(predicted, dtype=np.float64)
    y_hat = np.maximum(y_hat, max(1e-3 * float(y_hat.mean()), _LEAST))

    def misfit(log_phi: float) -> float:
        shape = math.exp(-log_phi)
        terms = gammaln(y + shape) - gammaln(shape) + xlogy(y, y_hat / (shape + y_hat))
        return -float(np.sum(terms - shape * np.log1p(y_hat / shape)))

    found = minimize_scalar(misfit, bounds=_LOG_PHI, method="bounded")
    poisson_misfit = -float(np.sum(xlogy(y, y_hat) - y_hat))
    return float(math.exp(found.x)) if found.fun < poisson_misfit else 0.0


def count_interval(
    predicted: ArrayLike, level: float, phi: float = 0.0
) -> tuple[FloatArray, FloatArray]:
    """Range of counts around ŷ, between quantiles of a negative binomial, or of a Poisson.

    Parameters
    ----------
    predicted : array_like of float, shape (n,)
    level : float
        Nominal coverage, in (0, 1).
    phi : float
        φ ≥ 0, as :func:`dispersion` returns it.

    Returns
    -------
    tuple of ndarray, shapes (n,)
        Least and largest count. Counts are whole, so the ranges cover at least their level.
    """
    if not 0 < level < 1:
        raise ValueError(f"level must be in (0, 1), got {level}")
    if not (math.isfinite(phi) and phi >= 0):
        raise ValueError(f"phi must be finite and at least 0, got {phi}")
    y_hat = np.maximum(np.asarray(predicted, dtype=np.float64), _LEAST)
    tails = (1 - level) / 2, (1 + level) / 2
    if phi < 1e-9:
        low, high = (poisson.ppf(tail, y_hat) for tail in tails)
    else:
        low, high = (nbinom.ppf(tail, 1 / phi, 1 / (1 + phi * y_hat)) for tail in tails)
    return np.asarray(low), np.asarray(high)


@dataclass(frozen=True, eq=False, kw_only=True)
class Trial:
    """One fit of a cross-validation, judged.

    Attributes
    ----------
    trial : int
    iteration : int
        The iteration used: of those looked at, the one with the least validation rRMSE.
    validation, test : Scores
    phi : float
        Dispersion of the validation counts.
    coverage : dict of float to float
        Share of test counts in :func:`count_interval` with that φ, by nominal level.
    predicted : ndarray, shape (n,)
        ŷ of the test entries.
    rows : ndarray of int, shape (n,)
        Their rows of ``counts.indices``.
    seconds : float
    """

    trial: int
    iteration: int
    validation: Scores
    test: Scores
    phi: float
    coverage: dict[float, float]
    predicted: FloatArray = field(repr=False)
    rows: IntArray = field(repr=False)
    seconds: float


@dataclass(frozen=True, eq=False, kw_only=True)
class Evaluation:
    """A method's trials over all folds.

    Attributes
    ----------
    method : str
    settings : object
    kind : {"entry", "fibre"}
    trials : tuple of Trial
        Fewer than folds where the callback stopped.
    """

    method: str
    settings: Any
    kind: FoldKind
    trials: tuple[Trial, ...]

    def mean(self, name: str, part: Literal["validation", "test"] = "test") -> tuple[float, float]:
        """Mean and standard deviation over trials of one of the :class:`Scores`, NaN left out."""
        values = self.values(name, part)
        values = values[~np.isnan(values)]
        if not len(values):
            return math.nan, math.nan
        return float(values.mean()), float(values.std(ddof=min(1, len(values) - 1)))

    def values(self, name: str, part: Literal["validation", "test"] = "test") -> FloatArray:
        """One of the :class:`Scores` of each trial; (T,)."""
        check_choice("name", name, tuple(one.name for one in fields(Scores)))
        check_choice("part", part, ("validation", "test"))
        return np.array([getattr(getattr(one, part), name) for one in self.trials], dtype=float)


def evaluate(
    counts: CountTensor,
    method: Method,
    settings: Any,
    *,
    n_folds: int = 5,
    kind: FoldKind = "entry",
    across: Sequence[int] | None = None,
    seed: int = 0,
    every: int | None = 10,
    callback: Callable[[int, Progress], bool | None] | None = None,
) -> Evaluation:
    """Cross-validate a method with given settings.

    Parameters
    ----------
    counts : CountTensor
    method : Method
        One of :data:`uncletc.METHODS`.
    settings : object
        Of that method.
    n_folds, kind, across, seed
        See :func:`make_folds`.
    every : int, optional
        Predict the validation fold at every so many iterations and at the last, and keep the best,
        as the paper chooses the number of iterations. None: take the last.
    callback : callable, optional
        Called with the trial and each :class:`~uncletc.baselines.Progress`; return True to stop
        it all. Finished trials are kept.

    Returns
    -------
    Evaluation
    """
    step = None if every is None else check_whole("every", every, 1)
    folds = make_folds(counts, n_folds, kind=kind, across=across, seed=seed)
    trials: list[Trial] = []
    for split in splits(folds):
        found = run_trial(counts, method, settings, split, step, callback)
        if found is None:
            break
        trials.append(found)
    return Evaluation(method=method.name, settings=settings, kind=kind, trials=tuple(trials))


def run_trial(
    counts: CountTensor,
    method: Method,
    settings: Any,
    split: Split,
    every: int | None,
    callback: Callable[[int, Progress], bool | None] | None,
) -> Trial | None:
    """Fit the training counts and judge; None where the callback stopped it."""
    began, stopped = time.perf_counter(), False
    y, held_out = counts.counts, split.validation | split.test
    z = known_attributes(counts, counts.indices[held_out])
    own = split.validation[held_out]
    best: tuple[float, int, FloatArray] | None = None

    def judge(found: Prediction, iteration: int) -> None:
        """Keep the predictions with the least validation error."""
        nonlocal best
        predicted = found.expected(counts.indices[held_out], z if found.n_attributes else None)
        error = float(np.mean((predicted[own] - y[split.validation]) ** 2))
        if best is None or error < best[0]:
            best = error, iteration, predicted

    def look(record: Progress) -> bool | None:
        nonlocal stopped
        if every is not None and record.current and record.iteration % every == 0:
            judge(record.current(), record.iteration)
        stopped = callback is not None and bool(callback(split.trial, record))
        return stopped

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = method.fit(counts.subset(split.train), settings, callback=look)
    if stopped:
        return None
    judge(found, found.history[-1].iteration)
    assert best is not None
    _, iteration, predicted = best
    phi = dispersion(y[split.validation], predicted[own])
    return Trial(
        trial=split.trial,
        iteration=iteration,
        validation=score(y[split.validation], predicted[own]),
        test=score(y[split.test], predicted[~own]),
        phi=phi,
        coverage={
            level: metrics.coverage(y[split.test], *count_interval(predicted[~own], level, phi))
            for level in LEVELS
        },
        predicted=predicted[~own],
        rows=np.flatnonzero(split.test),
        seconds=time.perf_counter() - began,
    )


def _check_modes(across: Sequence[int] | None, n_modes: int) -> tuple[int, ...]:
    modes = tuple(range(n_modes - 1)) if across is None else tuple(across)
    if not modes or len(set(modes)) != len(modes) or not set(modes) <= set(range(n_modes)):
        raise ValueError(f"across must hold distinct modes from 0 to {n_modes - 1}, got {across}")
    return modes
