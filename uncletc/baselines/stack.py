"""Stack: several methods pooled, each weighted by how well it predicted counts set aside.

log ŷ_i = a + Σ_m w_m log ŷ_{m,i},   w ≥ 0,   Σ_m w_m = 1

The methods are fitted to four fifths of the counts; level a, weights and φ are those of the largest
negative binomial likelihood of the last fifth; then the methods are fitted again, to all counts.
Source: D. Wolpert, "Stacked Generalization", Neural Networks 1992; logarithmic pooling after
C. Genest and J. Zidek, "Combining Probability Distributions", Statistical Science 1986.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from scipy.optimize import minimize

from uncletc.baselines.base import Algorithm, Estimate, Prediction, RankSettings
from uncletc.baselines.holding import Held, check_held, set_aside
from uncletc.common.validation import FloatArray, IntArray
from uncletc.data.counts import CountTensor
from uncletc.fitting.history import ConvergenceWarning, MisfitWarning
from uncletc.model.negbin import dispersion, floored, log_scores

MEMBERS = ("Main effects", "NB regression", "Neighbours", "NTF-CPD-KL")
_ROUNDS = 10  # of the optimiser per iteration
_TO_EQUAL = 1e-3  # weight of a pull to equal weights, where counts leave them open


@dataclass(frozen=True, kw_only=True)
class StackSettings(RankSettings):
    """Settings of the stack.

    Parameters
    ----------
    methods : tuple of str
        Names in :data:`uncletc.METHODS`, each with its default settings. LightGBM is not among
        the defaults, because it is not always installed.
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

    methods: tuple[str, ...] = MEMBERS
    held: Held = "entry"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_held(self.held)
        object.__setattr__(self, "methods", tuple(self.methods))
        if not self.methods or len(set(self.methods)) < len(self.methods):
            raise ValueError(f"methods must be distinct names, at least 1, got {self.methods}")


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class StackEstimate(Estimate):
    """ŷ from those of the methods; λ from their λ.

    Attributes
    ----------
    found : tuple of Prediction
        Of each method.
    weights : ndarray, shape (M,)
    level : float
        a.
    """

    found: tuple[Prediction, ...]
    weights: FloatArray
    level: float

    def _rate(self, indices: IntArray) -> FloatArray:
        return self._pool([each.rate(indices) for each in self.found])

    def _expected(self, indices: IntArray, attributes: FloatArray) -> FloatArray:
        return self._pool(
            [
                each.expected(indices, attributes if each.n_attributes else None)
                for each in self.found
            ]
        )

    def _pool(self, predicted: list[FloatArray]) -> FloatArray:
        return np.asarray(np.exp(self.level + self.weights @ _logs(predicted)))


class Stack(Algorithm):
    """Search for the weights; the objective is the log score of the counts set aside."""

    def __init__(self, data: CountTensor, settings: StackSettings) -> None:
        self.settings = settings
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
        from uncletc.baselines.registry import METHODS

        found = []
        for name in self.settings.methods:
            if name not in METHODS:
                raise ValueError(f"methods must be names in uncletc.METHODS, got {name!r}")
            kind = METHODS[name].settings
            shared = {each.name for each in fields(kind)} & {"rank", "held", "seed"}
            chosen = kind(**{each: getattr(self.settings, each) for each in shared})
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                warnings.simplefilter("ignore", MisfitWarning)
                found.append(METHODS[name].fit(counts, chosen))
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

    def estimate(self, **record: Any) -> StackEstimate:
        """The methods fitted to all counts, with the current weights."""
        return StackEstimate(
            **record,
            n_attributes=self.n_attributes,
            found=tuple(self.found),
            weights=self.weights.copy(),
            level=self.level,
        )


def _shares(values: FloatArray) -> FloatArray:
    """Weights of sum 1, so that no pool predicts more than all of its methods."""
    return np.asarray((values + 1e-9) / (values + 1e-9).sum())


def _logs(predicted: list[FloatArray]) -> FloatArray:
    """Log ŷ of each method (M, n), none below a thousandth of its mean."""
    return np.log([floored(each) if len(each) else each for each in predicted])
