"""Main effects: a log-linear model of a count.

log λ_i = log e_i + level + Σ_k a_k(i_k) + b(fibre of i)

One effect per index of each mode, and one per fibre along the last mode (a place on all days, a
pair in all years). Counts are negative binomial, which keeps a few huge counts from deciding
everything. This is the generalised linear mixed model that statisticians fit first (Breslow and
Clayton, "Approximate Inference in Generalized Linear Mixed Models", JASA 1993): effects of a kind
are normal about 0 with a variance of their own, so few counts move them little. Predictions are
means over the posterior: half the variance of each effect, given the counts, is added to log λ, all
of it for an index or fibre without counts.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from uncletc.baselines.base import Algorithm, Predictor, Settings, choice, real, whole
from uncletc.common.validation import FloatArray, IntArray
from uncletc.data.counts import CountTensor
from uncletc.data.entries import exposure_at, flat_index
from uncletc.model.negbin import least, log_scores

_STEP = 2.0  # of an effect at most, so that none overshoots from a bad start
_LOG_RANGE = (-30.0, 45.0)  # of log λ: beyond what counts identify, within what floats can hold
_VARIANCES = (1e-6, 25.0)  # of effects
_PHI = (1e-6, 1e4)


@dataclass(frozen=True, kw_only=True)
class MainEffectsSettings(Settings):
    """Settings of main effects.

    Parameters
    ----------
    fibres : bool
        Whether each fibre along the last mode has an effect too; with two modes it would be that
        of the first mode again, and is left out.
    max_iter, tol, seed
        See :class:`~uncletc.baselines.base.Settings`. Nothing in it is random.

    Examples
    --------
    >>> from uncletc import METHODS, simulate
    >>> y, _ = simulate((6, 5, 4), rank=1, observed=0.8, seed=1)
    >>> found = METHODS["Main effects"].fit(y, MainEffectsSettings(fibres=False))
    >>> found.history[-1].objective < found.history[0].objective
    True
    """

    fibres: bool = choice(True, False)
    max_iter: int = whole(200, least=0)
    tol: float = real(1e-5, least=0.0)


class MainEffects(Algorithm):
    """Fisher scoring of one kind of effect at a time, then of the variances and of φ.

    The objective is the mean of -log P(y), without the prior of the effects.
    """

    def __init__(self, data: CountTensor, settings: MainEffectsSettings) -> None:
        self.settings, self.data = settings, data
        self.y = data.counts.astype(np.float64)
        with np.errstate(divide="ignore"):
            self.offset = np.log(data.exposure_at(data.indices))
        self.groups = list(data.indices.T)
        self.effects = [np.zeros(size) for size in data.shape]
        self.fibres = np.zeros(0, dtype=np.int64)
        if settings.fibres and len(data.shape) > 2:
            self.fibres, own = np.unique(fibre_of(data.indices, data.shape), return_inverse=True)
            self.groups.append(own)
            self.effects.append(np.zeros(len(self.fibres)))
        self.variances = [1.0] * len(self.groups)
        self.open = [np.zeros_like(each) for each in self.effects]  # variance of each, given y
        self.level = float(np.log(max(self.y.sum(), 0.5) / np.exp(self.offset).sum()))
        self.phi = 1.0
        self._update_phi(*_PHI)

    def mean(self) -> FloatArray:
        """Expected counts of Ω; (N,)."""
        log: FloatArray = np.full(len(self.y), self.level)
        for effect, group in zip(self.effects, self.groups, strict=True):
            log = log + effect[group]
        return np.exp(np.clip(log, *_LOG_RANGE) + self.offset)

    def objective(self) -> float:
        """Mean -log P(y)."""
        return float(log_scores(self.y, self.mean(), self.phi).mean())

    def step(self) -> None:
        """Update the level, each kind of effect and φ."""
        score, information = self.derivatives()
        self.level += float(np.clip(score.sum() / information.sum(), -_STEP, _STEP))
        for k, group in enumerate(self.groups):
            score, information = self.derivatives()
            effect, precision = self.effects[k], 1 / self.variances[k]
            known, scores = (np.bincount(group, each, len(effect)) for each in (information, score))
            step = (scores - effect * precision) / (known + precision)
            self.effects[k] = effect + np.clip(step, -_STEP, _STEP)
            freedom = float((known / (known + precision)).sum())  # MacKay's number of known effects
            self.variances[k] = variance_of(self.effects[k], freedom)
            self.open[k] = 1 / (known + 1 / self.variances[k])
        self._update_phi(max(self.phi / 2, _PHI[0]), min(self.phi * 2, _PHI[1]))

    def derivatives(self) -> tuple[FloatArray, FloatArray]:
        """First derivative of log P(y) by log λ, and its expected information; (N,) each."""
        mean = self.mean()
        spread = 1 + self.phi * mean
        return (self.y - mean) / spread, mean / spread

    def _update_phi(self, low: float, high: float) -> None:
        mean = self.mean()
        self.phi = least(lambda phi: float(log_scores(self.y, mean, phi).mean()), low, high, 0.02)

    def predictor(self) -> Predictor:
        """λ from the current effects."""
        shape, level, exposure = self.data.shape, self.level, self.data.exposure
        effects = [each + left / 2 for each, left in zip(self.effects, self.open, strict=True)]
        known, of_fibres = self.fibres, [*effects[len(shape) :], np.zeros(0)][0]
        other = self.variances[-1] / 2 if len(of_fibres) and self.open[-1].any() else 0.0
        of_fibres = np.append(of_fibres, other)  # at -1, of a fibre that is new

        def predict(indices: IntArray, _: FloatArray) -> FloatArray:
            log: FloatArray = np.full(len(indices), level)
            for k, effect in enumerate(effects[: len(shape)]):
                log = log + effect[indices[:, k]]
            fibres = pd.Index(fibre_of(indices, shape))
            log = log + of_fibres[pd.Index(known).get_indexer(fibres)]
            return np.exp(np.clip(log, *_LOG_RANGE)) * exposure_at(exposure, indices)

        return predict


def fibre_of(indices: IntArray, shape: tuple[int, ...]) -> IntArray:
    """Number of the fibre along the last mode of valid entries (n, K), such as a place; (n,)."""
    return flat_index(indices[:, :-1], shape[:-1])


def variance_of(effects: FloatArray, freedom: float) -> float:
    """Variance of effects of which so many are known."""
    return float(np.clip((effects**2).sum() / max(freedom, 1e-9), *_VARIANCES))
