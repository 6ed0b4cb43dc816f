"""Methods that the reports compare besides those of the library, under the same contract.

They predict reported counts, without any idea of detection. *Constant* is the least that a method
must beat. *NB regression* is main effects and a slope for each attribute. *Neighbours* smooths
rates over nearby days and places. *Stack* pools methods handed to it (:func:`stack_of`), each
weighted by how well it predicted counts set aside.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.signal import lfilter
from scipy.special import ndtri

from uncletc.baselines import METHODS, Estimate, Method, Prediction
from uncletc.baselines.base import (
    Algorithm,
    Predictor,
    RankSettings,
    Settings,
    check_dense,
    choice,
    run,
    whole,
)
from uncletc.baselines.boosting import set_aside
from uncletc.baselines.main_effects import MainEffects, MainEffectsSettings, variance_of
from uncletc.common.validation import FloatArray, IntArray
from uncletc.data.counts import CountTensor
from uncletc.fitting.history import ConvergenceWarning, MisfitWarning
from uncletc.model.negbin import dispersion, floored, log_scores

_DECAYS = (0.0, 0.15, 0.35, 0.6, 0.8, 0.9, 0.95, 1.0)  # r of an ordered mode
_SHARES = (0.0, 0.01, 0.03, 0.1, 0.3, 1.0)  # r of another
_NUMBER = re.compile(r"-?\d+(\.\d+)?")
_DATE = re.compile(r"\d{4}-\d{1,2}(-\d{1,2}.*)?")
_ROUNDS = 10  # of the optimiser per iteration
_TO_EQUAL = 1e-3  # weight of a pull to equal weights, where counts leave them open


class Constant(MainEffects):
    """One count per unit of exposure, found at once."""

    settled = True


@dataclass(frozen=True, eq=False)
class NormalScores:
    """Maps attributes to normal scores of their ranks over Ξ, of unit variance.

    Attributes
    ----------
    values, scores : tuple of ndarray
        Of each attribute: its distinct values, and the score of each.
    """

    values: tuple[FloatArray, ...]
    scores: tuple[FloatArray, ...]

    @classmethod
    def of(cls, attributes: FloatArray) -> NormalScores:
        """Rank the rows (S, D); equal values share the middle of their ranks."""
        values, scores = [], []
        for column in attributes.T:
            distinct, times = np.unique(column, return_counts=True)
            score = ndtri((np.cumsum(times) - times / 2) / times.sum())
            mean = score @ times / times.sum()
            deviation = np.sqrt((score - mean) ** 2 @ times / times.sum())
            values.append(distinct)
            scores.append((score - mean) / (deviation or 1.0))
        return cls(tuple(values), tuple(scores))

    def __call__(self, attributes: FloatArray) -> FloatArray:
        """Turn attributes (n, D), with rows of NaN for unknown, into columns (n, D)."""
        columns = [
            np.interp(column, values, scores)
            for column, values, scores in zip(attributes.T, self.values, self.scores, strict=True)
        ]
        return np.nan_to_num(np.column_stack(columns)) if columns else np.empty_like(attributes)


class Regression(MainEffects):
    """Main effects, with slopes that are normal about 0 with a variance of their own.

    Attributes enter as normal scores of their ranks, so that none is extreme; unknown ones are 0.
    """

    def __init__(self, data: CountTensor, settings: MainEffectsSettings) -> None:
        super().__init__(data, settings)
        self.n_attributes = data.n_attributes if data.n_attributed else 0
        self.standard = NormalScores.of(data.attributes[:, : self.n_attributes])
        z = data.attributes_at(data.indices, unknown_as_nan=True)[:, : self.n_attributes]
        self.columns, self.exposure = self.standard(z), self.offset
        self.slopes, self.slope_variance = np.zeros(self.n_attributes), 1.0

    def _update_phi(self, low: float, high: float) -> None:
        """Update the slopes, then φ."""
        if self.n_attributes:  # none yet while main effects begin
            self._update_slopes()
        super()._update_phi(low, high)

    def _update_slopes(self) -> None:
        score, information = self.derivatives()
        x, precision = self.columns, 1 / self.slope_variance
        known = x.T @ (x * information[:, None])
        hessian = known + precision * np.eye(self.n_attributes)
        step = np.linalg.solve(hessian, x.T @ score - precision * self.slopes)
        self.slopes = self.slopes + np.clip(step, -2.0, 2.0)
        self.offset = self.exposure + x @ self.slopes
        freedom = float(np.trace(np.linalg.solve(hessian, known)))
        self.slope_variance = variance_of(self.slopes, freedom)

    def predictor(self) -> Predictor:
        """λ of the main effects, times what the normal scores of attributes (n, D) add."""
        of_effects, slopes = super().predictor(), self.slopes

        def predict(indices: IntArray, attributes: FloatArray) -> FloatArray:
            factor = np.exp(self.standard(attributes) @ slopes)
            return of_effects(indices, attributes) * factor

        return predict


@dataclass(frozen=True, kw_only=True)
class NeighboursSettings(Settings):
    """Settings of the kernel over neighbours.

    Parameters
    ----------
    held : {"entry", "fibre"}
        What is set aside to choose the kernel: single entries, or whole fibres along the last
        mode if such are to be predicted.
    max_iter : int
        Modes whose kernel is chosen, one after the other and over again, at most.
    tol : float
        0: that many are chosen in any case; else until no choice changes.
    seed
        See :class:`~uncletc.baselines.base.Settings`. It decides what is set aside.
    """

    held: str = choice("entry", "fibre")
    max_iter: int = whole(40, least=0)


class Neighbours(Algorithm):
    """Rates smoothed over nearby days, places and other entries that are alike.

    λ_i = m_i · [1 + Σ_j K(i, j) w_j (y_j / m_j)] / [1 + Σ_j K(i, j) w_j],   w_j = m_j / (1 + φ m_j)

    m are the main effects. K is a product over modes: along an ordered mode, such as latitude or
    day, it falls by the factor r_k with each step; along any other, such as species, all other
    indices are equally near, r_k (Aitchison and Aitken, "Multivariate Binary Discrimination by the
    Kernel Method", Biometrika 1976). Each r_k is the one with the best log score of counts set
    aside, one mode at a time; 0 leaves an index to itself, 1 ignores the mode.

    It starts from a kernel that ignores no mode and knows no neighbour: main effects and an
    entry's own count.
    """

    def __init__(self, data: CountTensor, settings: NeighboursSettings) -> None:
        check_dense(data, "Neighbours")
        self.settings, self.data = settings, data
        self.ordered = _ordered(data)
        aside = set_aside(data, settings.held, settings.seed)
        self.aside = data.subset(aside)
        rest = data.subset(~aside)
        self.base, self.guide = _effects(data), _effects(rest)
        self.rest_base = self.guide[0].rate(self.aside.indices)
        self.whole, self.part = _known(self.base, data), _known(self.guide, rest)
        self.nearness = [0.0] * len(data.shape)
        self.value = self._score(self.nearness)
        self.mode, self.unchanged = 0, 0

    def _score(self, nearness: list[float]) -> float:
        if not self.aside.n_observed:
            return 0.0
        y, at = self.aside.counts, tuple(self.aside.indices.T)
        predicted = self.rest_base * _ratio(self.part, nearness, self.ordered)[at]
        return float(log_scores(y, floored(predicted), dispersion(y, predicted)).mean())

    def objective(self) -> float:
        """Mean -log P(y) of the counts set aside."""
        return self.value

    def step(self) -> None:
        """Choose the kernel of the next mode."""
        k, before = self.mode, self.nearness[self.mode]
        for r in _DECAYS if k in self.ordered else _SHARES:
            trial = [*self.nearness[:k], r, *self.nearness[k + 1 :]]
            value = self._score(trial)
            if value < self.value:
                self.value, self.nearness = value, trial
        self.unchanged = self.unchanged + 1 if self.nearness[k] == before else 0
        self.mode = (k + 1) % len(self.nearness)
        if self.settings.tol:
            self.settled = self.unchanged >= len(self.nearness)

    def predictor(self) -> Predictor:
        """Smooth all counts by the kernel chosen so far."""
        ratio, (base, _) = _ratio(self.whole, self.nearness, self.ordered), self.base
        return lambda indices, _: np.asarray(base.rate(indices) * ratio[tuple(indices.T)])


def _effects(counts: CountTensor) -> tuple[Estimate, float]:
    """Main effects of counts, and φ."""
    states: list[MainEffects] = []

    def start(data: CountTensor, settings: MainEffectsSettings) -> MainEffects:
        states.append(MainEffects(data, settings))
        return states[0]

    found = run(start, MainEffectsSettings, counts, MainEffectsSettings(tol=1e-4))
    return found, states[0].phi


def _known(effects: tuple[Estimate, float], data: CountTensor) -> FloatArray:
    """w·y/m and w of every entry, 0 where it was not counted; (2, I_1, …, I_K)."""
    known, (base, phi) = np.zeros((2, *data.shape)), effects
    mean = np.maximum(base.rate(data.indices), 1e-12)
    at = tuple(data.indices.T)
    known[0][at] = data.counts / (1 + phi * mean)
    known[1][at] = mean / (1 + phi * mean)
    return known


def _ratio(known: FloatArray, nearness: list[float], ordered: tuple[int, ...]) -> FloatArray:
    for k, r in enumerate(nearness):
        if r == 0:
            continue
        if k in ordered and r < 1:
            # Forwards and backwards, the filter sums with weights r, r², … on both sides.
            known = _filter(known, r, k + 1) + _filter(known, r, k + 1, back=True) - known
        else:
            known = (1 - r) * known + r * known.sum(axis=k + 1, keepdims=True)
    return np.asarray((1 + known[0]) / (1 + known[1]))


def _filter(values: FloatArray, r: float, axis: int, *, back: bool = False) -> FloatArray:
    turned = np.flip(values, axis) if back else values
    found = lfilter([1.0], [1.0, -r], turned, axis=axis)
    return np.asarray(np.flip(found, axis) if back else found)


def _ordered(data: CountTensor) -> tuple[int, ...]:
    """Modes whose labels are numbers, other than the indices themselves, or dates."""
    return tuple(
        k
        for k, labels in enumerate(data.labels)
        if list(labels) != [str(i) for i in range(len(labels))]
        and any(all(form.fullmatch(label) for label in labels) for form in (_NUMBER, _DATE))
    )


@dataclass(frozen=True, kw_only=True)
class StackSettings(RankSettings):
    """Settings of the stack.

    Parameters
    ----------
    held : {"entry", "fibre"}
        What is set aside to weigh the methods, and by methods that set something aside: single
        entries, or whole fibres along the last mode if such are to be predicted.
    rank : int
        Of the methods that have one.
    max_iter : int
        Iterations of the search for weights.
    tol, seed
        See :class:`~uncletc.baselines.base.RankSettings`.
    """

    held: str = choice("entry", "fibre")


class Stack(Algorithm):
    """Several methods pooled, each weighted by how well it predicted counts set aside.

    log ŷ_i = a + Σ_m w_m log ŷ_{m,i},   w ≥ 0,   Σ_m w_m = 1

    The methods are fitted to four fifths of the counts; level a, weights and φ are those of the
    largest negative binomial likelihood of the last fifth; then the methods are fitted again, to
    all counts (D. Wolpert, "Stacked Generalization", Neural Networks 1992).
    """

    def __init__(
        self, methods: Sequence[Method], data: CountTensor, settings: StackSettings
    ) -> None:
        self.methods, self.settings = methods, settings
        aside = set_aside(data, settings.held, settings.seed)
        held = data.subset(aside)
        z = held.attributes_at(held.indices, unknown_as_nan=True)
        guides = self._fit(data.subset(~aside))
        predicted = [g.expected(held.indices, z if g.n_attributes else None) for g in guides]
        self.y, self.logs = held.counts, _logs(predicted)
        self.found = self._fit(data)
        self.n_attributes = max(each.n_attributes for each in self.found)
        self.weights, self.level = np.full(len(guides), 1 / len(guides)), 0.0
        self.phi = dispersion(self.y, np.exp(self.weights @ self.logs)) if len(self.y) else 0.0

    def _fit(self, counts: CountTensor) -> list[Prediction]:
        found = []
        for method in self.methods:
            shared = {each.name for each in fields(method.settings)} & {"rank", "held", "seed"}
            chosen = method.settings(**{each: getattr(self.settings, each) for each in shared})
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                warnings.simplefilter("ignore", MisfitWarning)
                found.append(method.fit(counts, chosen))
        return found

    def objective(self) -> float:
        """Mean -log P(y) of the counts set aside."""
        return self._loss(np.append(self.weights, self.level)) if len(self.y) else 0.0

    def _loss(self, values: FloatArray) -> float:
        weights, level = _shares(values[:-1]), values[-1]
        mean = np.exp(np.clip(level + weights @ self.logs, -30, 45))
        pull = _TO_EQUAL * float(((weights - 1 / len(weights)) ** 2).sum() + level**2)
        return float(log_scores(self.y, floored(mean), self.phi).mean()) + pull

    def step(self) -> None:
        """Improve the weights, then φ."""
        if not len(self.y):
            return
        best = minimize(
            self._loss,
            np.append(self.weights, self.level),
            method="L-BFGS-B",
            bounds=[(0.0, None)] * len(self.weights) + [(None, None)],
            options={"maxiter": _ROUNDS},
        )
        self.weights, self.level = _shares(best.x[:-1]), float(best.x[-1])
        self.phi = dispersion(self.y, np.exp(self.level + self.weights @ self.logs))

    def predictor(self) -> Predictor:
        """The methods fitted to all counts, with the current weights."""
        weights, level = self.weights.copy(), self.level

        def predict(indices: IntArray, attributes: FloatArray) -> FloatArray:
            found = [
                each.expected(indices, attributes if each.n_attributes else None)
                for each in self.found
            ]
            return np.asarray(np.exp(level + weights @ _logs(found)))

        return predict


def _shares(values: FloatArray) -> FloatArray:
    """Weights of sum 1, so that no pool predicts more than all of its methods."""
    return np.asarray((values + 1e-9) / (values + 1e-9).sum())


def _logs(predicted: list[FloatArray]) -> FloatArray:
    """Log ŷ of each method (M, n), none below a thousandth of its mean."""
    return np.log([floored(each) if len(each) else each for each in predicted])


def stack_of(methods: Sequence[Method]) -> Method:
    """Return the method that pools others."""
    return Method(
        "Stack",
        StackSettings,
        partial(run, partial(Stack, methods), StackSettings),
        dense=True,
        in_paper=False,
    )


def _other(name: str, algorithm: type[Algorithm], kind: type[Settings], **more: Any) -> Method:
    fit = partial(run, algorithm, kind)
    return Method(name, kind, fit, in_paper=False, **more)


_OTHERS = (
    _other("Constant", Constant, MainEffectsSettings),
    _other("NB regression", Regression, MainEffectsSettings),
    _other("Neighbours", Neighbours, NeighboursSettings, dense=True),
)
ALL: Mapping[str, Method] = {**METHODS, **{method.name: method for method in _OTHERS}}
"""The library's methods and these, without the stack, by name."""
