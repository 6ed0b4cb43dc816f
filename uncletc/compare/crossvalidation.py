"""Cross-validation: folds, and the loop over trials that fits, chooses the iteration and scores."""

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uncletc.baselines import Method, Prediction
from uncletc.common.validation import FloatArray, IntArray, check_choice, check_whole
from uncletc.compare import metrics
from uncletc.compare.scores import Scores, count_interval, score
from uncletc.data.counts import CountTensor
from uncletc.data.entries import fibres
from uncletc.fitting.history import FitWarning, Iteration, StopReason
from uncletc.model.negbin import SizeLaw, dispersion, floored, likely_law

FoldKind = Literal["entry", "fibre"]


def make_folds(
    counts: CountTensor, n_folds: int = 5, *, kind: FoldKind = "entry", seed: int = 0
) -> IntArray:
    """Divide the observed entries into disjoint folds of nearly equal size.

    Parameters
    ----------
    counts : CountTensor
    n_folds : int
        At least 3: to train, validate and test.
    kind : {"entry", "fibre"}
        Whether folds hold single entries, or whole fibres: entries that agree in all modes but the
        last stay together, as they always do where animals are marked or removed or the counts
        are of distances.
    seed : int
        Seed of everything random, ≥ 0.

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
    group, noun = np.arange(counts.n_observed), "entries"
    if kind == "fibre" or counts.closed_mode is not None:
        group, noun = fibres(counts.indices), "fibres"
    entries = np.bincount(group)
    if len(entries) < n_folds:
        raise ValueError(
            f"n_folds must be at most the {len(entries)} observed {noun}, got {n_folds}"
        )
    order = np.random.default_rng(seed).permutation(len(entries))
    order = order[np.argsort(-entries[order], kind="stable")]  # large groups first, ties random
    fold, filled = np.empty(len(entries), dtype=np.int64), [0] * n_folds
    for number, size in zip(order.tolist(), entries[order].tolist(), strict=True):
        # The fold that holds the fewest entries, the first of such.
        fold[number] = smallest = filled.index(min(filled))
        filled[smallest] += size
    return fold[group]


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
    """Make one trial per fold: it tests, the next one validates, the others train.

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
            trial, ~np.isin(fold, (trial, (trial + 1) % n)), fold == (trial + 1) % n, fold == trial
        )
        for trial in range(n)
    )


Callback = Callable[[int, Iteration[Prediction]], bool | None]
_LEVEL = 0.9


@dataclass(frozen=True, eq=False, kw_only=True)
class Trial:
    """One fit of a cross-validation, and its scores.

    Attributes
    ----------
    trial : int
    iteration : int
        The iteration used: of those tried, the one with the smallest validation rRMSE.
    validation, test : Scores
        Both with that law, or that φ, which the test counts have not seen.
    law : SizeLaw
        How widely the validation counts scatter, by the count expected.
    phi : float
        Their dispersion if it is one for all, as in `log_score_one_phi` of the scores.
    coverage : float
        Share of test counts within nominal 90 % intervals with that law.
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
    law: SizeLaw
    phi: float
    coverage: float
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
        Fewer than folds if the callback stopped.
    """

    method: str
    settings: Any
    kind: FoldKind
    trials: tuple[Trial, ...]

    def mean(self, name: str, part: Literal["validation", "test"] = "test") -> tuple[float, float]:
        """One of the :class:`Scores` over trials; see :func:`uncletc.metrics.mean_and_sd`.

        Examples
        --------
        >>> from uncletc import METHODS, simulate
        >>> y, _ = simulate((6, 5, 4), rank=1, observed=0.8, seed=1)
        >>> method = METHODS["Main effects"]
        >>> mean, sd = evaluate(y, method, method.settings(), n_folds=3).mean("rrmse")
        >>> 0 < mean < 2
        True
        """
        return metrics.mean_and_sd(self.values(name, part))

    def values(self, name: str, part: Literal["validation", "test"] = "test") -> FloatArray:
        """One of the :class:`Scores` of each trial; (T,)."""
        check_choice("name", name, tuple(score.name for score in fields(Scores)))
        check_choice("part", part, ("validation", "test"))
        return np.array([getattr(getattr(trial, part), name) for trial in self.trials], dtype=float)


def evaluate(
    counts: CountTensor,
    method: Method,
    settings: Any,
    *,
    n_folds: int = 5,
    kind: FoldKind = "entry",
    seed: int = 0,
    every: int | None = 10,
    callback: Callback | None = None,
) -> Evaluation:
    """Cross-validate a method with given settings.

    Parameters
    ----------
    counts : CountTensor
    method : Method
        One of :data:`uncletc.METHODS`.
    settings : object
        Settings of that method.
    n_folds, kind, seed
        See :func:`make_folds`.
    every : int, optional
        Predict the validation fold after every `every` iterations and after the last, and keep the
        best, as the paper chooses the number of iterations. None: take the last.
    callback : callable, optional
        Called with the trial and each :class:`uncletc.Iteration`; return True to stop the whole
        evaluation. Finished trials are kept.

    Returns
    -------
    Evaluation
    """
    step = None if every is None else check_whole("every", every, 1)
    folds = make_folds(counts, n_folds, kind=kind, seed=seed)
    trials: list[Trial] = []
    for split in splits(folds):
        trial = run_trial(counts, method, settings, split, step, callback)
        if trial is None:
            break
        trials.append(trial)
    return Evaluation(method=method.name, settings=settings, kind=kind, trials=tuple(trials))


def run_trial(
    counts: CountTensor,
    method: Method,
    settings: Any,
    split: Split,
    every: int | None,
    callback: Callback | None,
) -> Trial | None:
    """Fit the training counts and score the others; None if the callback stopped the fit."""
    began = time.perf_counter()
    y, held_out = counts.counts, split.validation | split.test
    z = counts.attributes_at(counts.indices[held_out], unknown_as_nan=True)
    validating = split.validation[held_out]
    best: tuple[float, int, FloatArray] | None = None

    def keep_best(fit: Prediction, iteration: int) -> None:
        """Keep the predictions with the smallest validation error."""
        nonlocal best
        predicted = fit.expected(counts.indices[held_out], z if fit.n_attributes else None)
        error = float(np.mean((predicted[validating] - y[split.validation]) ** 2))
        if best is None or error < best[0]:
            best = error, iteration, predicted

    def after_iteration(record: Iteration[Prediction]) -> bool | None:
        if every is not None and record.current and record.iteration % every == 0:
            keep_best(record.current(), record.iteration)
        return callback is not None and callback(split.trial, record)

    with warnings.catch_warnings(action="ignore", category=FitWarning):  # the scores show it
        fit = method.fit(counts.subset(split.train), settings, callback=after_iteration)
    if fit.stop is StopReason.CALLBACK:
        return None
    keep_best(fit, fit.history[-1].iteration)
    assert best is not None
    _, iteration, predicted = best
    tested = predicted[~validating]
    aside = y[split.validation]
    phi = dispersion(aside, predicted[validating])
    law = likely_law(aside, floored(predicted[validating]))
    return Trial(
        trial=split.trial,
        iteration=iteration,
        validation=score(aside, predicted[validating], phi, law),
        test=score(y[split.test], tested, phi, law),
        law=law,
        phi=phi,
        coverage=metrics.coverage(y[split.test], *count_interval(tested, _LEVEL, law)),
        predicted=tested,
        rows=np.flatnonzero(split.test),
        seconds=time.perf_counter() - began,
    )
