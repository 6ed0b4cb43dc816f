"""Main effects, and negative binomial regression: log-linear models of a count.

log λ_i = log e_i + level + Σ_k a_k(i_k) + b(fibre of i) + x_iᵀβ

One effect per index of each mode, one per fibre along the last mode (a place on all days, a pair in
all years), and, in the regression, a slope for each attribute. Counts are negative binomial, which
keeps a few huge counts from deciding everything. This is the generalised linear mixed model that
statisticians fit first (Breslow and Clayton, "Approximate Inference in Generalized Linear Mixed
Models", JASA 1993): effects of a kind, and slopes, are normal about 0 with a variance of their own,
so few counts move them little. Predictions are means over what is left open: half the variance of
each effect, given the counts, is added to log λ, all of it for an index or fibre without counts.

Attributes enter as normal scores of their ranks, so that none is extreme; unknown ones are 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import ndtri

from uncletc.baselines.base import Algorithm, Estimate, Settings
from uncletc.baselines.holding import fibre_of
from uncletc.common.validation import FloatArray, IntArray
from uncletc.data.counts import CountTensor
from uncletc.data.entries import exposure_at
from uncletc.model.negbin import log_scores

_STEP = 2.0  # of an effect at most, so that none overshoots from a bad start
_LOG_RANGE = (-30.0, 45.0)  # of log λ: beyond what counts can tell, within what floats can hold
_VARIANCES = (1e-6, 25.0)  # of effects
_PHI = (1e-6, 1e4)


@dataclass(frozen=True, kw_only=True)
class MainEffectsSettings(Settings):
    """Settings of main effects and of negative binomial regression.

    Parameters
    ----------
    fibres : bool
        Whether each fibre along the last mode has an effect too; with two modes it would be that
        of the first mode again, and is left out.
    max_iter, tol, seed
        See :class:`~uncletc.baselines.base.Settings`. Nothing in it is random.
    """

    fibres: bool = True
    max_iter: int = 200
    tol: float = 1e-5

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.fibres, bool):
            raise TypeError(f"fibres must be True or False, got {self.fibres!r}")


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


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class EffectsEstimate(Estimate):
    """λ from effects; ŷ with attributes, if the method has them.

    Attributes
    ----------
    level : float
    effects : tuple of ndarray, shapes (I_k,)
    fibres : ndarray of int, shape (G,)
        Numbers of the fibres with counts, in order.
    fibre_effects : ndarray, shape (G + 1,)
        Their effects, and that of all others.
    standard : NormalScores
    slopes : ndarray, shape (D,)
    phi : float
        Dispersion of the fitted counts.
    exposure : ndarray, optional
    """

    level: float
    effects: tuple[FloatArray, ...]
    fibres: IntArray
    fibre_effects: FloatArray
    standard: NormalScores
    slopes: FloatArray
    phi: float
    exposure: FloatArray | None

    def _rate(self, indices: IntArray) -> FloatArray:
        return self._from(indices, 0.0)

    def _expected(self, indices: IntArray, attributes: FloatArray) -> FloatArray:
        return self._from(indices, self.standard(attributes) @ self.slopes)

    def _from(self, indices: IntArray, more: FloatArray | float) -> FloatArray:
        log = self.level + more
        for k, effect in enumerate(self.effects):
            log = log + effect[indices[:, k]]
        log = log + self.fibre_effects[_place(fibre_of(indices, self.shape), self.fibres)]
        return np.exp(np.clip(log, *_LOG_RANGE)) * exposure_at(self.exposure, indices)


class MainEffects(Algorithm):
    """Fisher scoring of one kind of effect at a time, then of the variances and of φ.

    The objective is the mean of -log P(y), without the prior of the effects.
    """

    attributed = False

    def __init__(self, data: CountTensor, settings: MainEffectsSettings) -> None:
        self.settings, self.data = settings, data
        self.y = data.counts.astype(np.float64)
        with np.errstate(divide="ignore"):
            self.offset = np.log(data.exposure_at(data.indices))
        groups = list(data.indices.T)
        self.sizes = list(data.shape)
        self.fibres = np.zeros(0, dtype=np.int64)
        if settings.fibres and len(data.shape) > 2:
            self.fibres, own = np.unique(fibre_of(data.indices, data.shape), return_inverse=True)
            groups.append(own)
            self.sizes.append(len(self.fibres))
        self.groups = groups
        self.effects = [np.zeros(size) for size in self.sizes]
        self.variances = [1.0] * len(groups)
        self.open = [np.zeros(size) for size in self.sizes]  # variance of each effect, given y
        used = self.attributed and data.n_attributed > 0
        self.n_attributes = data.n_attributes if used else 0
        self.standard = NormalScores.of(data.attributes[:, : self.n_attributes])
        z = data.attributes_at(data.indices, unknown_as_nan=True)[:, : self.n_attributes]
        self.columns = self.standard(z)
        self.slopes, self.slope_variance = np.zeros(self.n_attributes), 1.0
        self.level = float(np.log(max(self.y.sum(), 0.5) / np.exp(self.offset).sum()))
        self.phi = 1.0
        self._update_phi(*_PHI)

    def mean(self) -> FloatArray:
        """Expected counts of Ω; (N,)."""
        log = self.level + self.columns @ self.slopes
        for effect, group in zip(self.effects, self.groups, strict=True):
            log = log + effect[group]
        return np.exp(np.clip(log, *_LOG_RANGE) + self.offset)

    def objective(self) -> float:
        """Mean -log P(y)."""
        return self.loss(self.phi)

    def loss(self, phi: float) -> float:
        """Mean -log P(y) with another φ."""
        return float(log_scores(self.y, self.mean(), phi).mean())

    def step(self) -> None:
        """Update the level, each kind of effect, the slopes and φ."""
        score, information = self._derivatives()
        self.level += float(np.clip(score.sum() / information.sum(), -_STEP, _STEP))
        for k, group in enumerate(self.groups):
            self._update_effects(k, group)
        if self.n_attributes:
            self._update_slopes()
        self._update_phi(max(self.phi / 2, _PHI[0]), min(self.phi * 2, _PHI[1]))

    def _derivatives(self) -> tuple[FloatArray, FloatArray]:
        """First derivative of log P(y) by log λ, and its expected information; (N,) each."""
        mean = self.mean()
        spread = 1 + self.phi * mean
        return (self.y - mean) / spread, mean / spread

    def _update_effects(self, k: int, group: IntArray) -> None:
        score, information = self._derivatives()
        size, effect, precision = self.sizes[k], self.effects[k], 1 / self.variances[k]
        known = np.bincount(group, information, size)
        step = (np.bincount(group, score, size) - effect * precision) / (known + precision)
        self.effects[k] = effect + np.clip(step, -_STEP, _STEP)
        freedom = float((known / (known + precision)).sum())  # MacKay's number of known effects
        self.variances[k] = _variance(self.effects[k], freedom)
        self.open[k] = 1 / (known + 1 / self.variances[k])

    def _update_slopes(self) -> None:
        score, information = self._derivatives()
        x, precision = self.columns, 1 / self.slope_variance
        known = x.T @ (x * information[:, None])
        hessian = known + precision * np.eye(self.n_attributes)
        step = np.linalg.solve(hessian, x.T @ score - precision * self.slopes)
        self.slopes = self.slopes + np.clip(step, -_STEP, _STEP)
        freedom = float(np.trace(np.linalg.solve(hessian, known)))
        self.slope_variance = _variance(self.slopes, freedom)

    def _update_phi(self, low: float, high: float) -> None:
        mean = self.mean()
        best = minimize_scalar(
            lambda log_phi: float(log_scores(self.y, mean, np.exp(log_phi)).mean()),
            bounds=(np.log(low), np.log(high)),
            method="bounded",
            options={"xatol": 0.02},
        )
        self.phi = float(np.exp(best.x))

    def estimate(self, **record: Any) -> EffectsEstimate:
        """The current effects."""
        n_modes = len(self.data.shape)
        effects = [each + left / 2 for each, left in zip(self.effects, self.open, strict=True)]
        of_fibres = [*effects[n_modes:], np.zeros(0)][0]
        other = self.variances[-1] / 2 if len(of_fibres) and self.open[-1].any() else 0.0
        return EffectsEstimate(
            **record,
            n_attributes=self.n_attributes,
            level=self.level,
            effects=tuple(effects[:n_modes]),
            fibres=self.fibres,
            fibre_effects=np.append(of_fibres, other),
            standard=self.standard,
            slopes=self.slopes,
            phi=self.phi,
            exposure=self.data.exposure,
        )


class Regression(MainEffects):
    """The same with a slope for each attribute."""

    attributed = True


def _variance(effects: FloatArray, freedom: float) -> float:
    """Variance of effects of which so many are known."""
    return float(np.clip((effects**2).sum() / max(freedom, 1e-9), *_VARIANCES))


def _place(asked: IntArray, known: IntArray) -> IntArray:
    """Where each number stands among the sorted known ones, or their size if it does not; (n,)."""
    if not len(known):
        return np.zeros(len(asked), dtype=np.int64)
    at = np.minimum(np.searchsorted(known, asked), len(known) - 1)
    return np.where(known[at] == asked, at, len(known))
