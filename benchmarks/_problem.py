"""A simulated problem with its truth, and the errors of a fit of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from uncletc import CountTensor, Fit, Truth
from uncletc.common.validation import FloatArray, IntArray
from uncletc.compare.metrics import mae_detection, mae_rate, rrmse
from uncletc.compare.scores import count_distribution
from uncletc.model.negbin import dispersion, floored


def log_score(counts: IntArray, predicted: FloatArray) -> float:
    """Mean of -log P(y) over held-out counts (n,); the lower, the better.

    P is negative binomial about ŷ (n,), with the one dispersion that suits these counts best:
    methods are compared by where they expect counts, not by how widely they scatter them.
    """
    spread = count_distribution(floored(predicted), dispersion(counts, predicted))
    return -float(spread.logpmf(counts).mean())


@dataclass(frozen=True, kw_only=True)
class Errors:
    """Errors of one fit.

    Attributes
    ----------
    rate, detection : float
        MAE_λ over all entries, and MAE_p of g over the judged ones.
    rrmse, log_score : float
        Of held-out counts.
    """

    rate: float
    detection: float
    rrmse: float
    log_score: float


@dataclass(frozen=True, eq=False, kw_only=True)
class Problem:
    """Counts with their truth, and counts of other entries that no fit sees.

    Entries are numbered in row-major order.

    Attributes
    ----------
    counts : CountTensor
    truth : Truth
        λ, p and z of every entry.
    rank : int
        F̂ of the fit.
    judged : ndarray of int, shape (J,)
        Entries over which p is judged.
    held, held_counts : ndarray of int, shape (H,)
        Entries outside Ω, and their counts.
    """

    counts: CountTensor
    truth: Truth
    rank: int
    judged: IntArray
    held: IntArray
    held_counts: IntArray

    def indices(self, entries: IntArray) -> IntArray:
        """Indices of some entries; (n, K)."""
        return np.column_stack(np.unravel_index(entries, self.counts.shape))

    def attributes(self, entries: IntArray) -> FloatArray:
        """Attributes z of some entries, seen by a fit or not; (n, D)."""
        return self.truth.attributes.reshape(-1, self.counts.n_attributes)[entries]

    def with_known_detection(self) -> CountTensor:
        """Return the same counts for a fit that knows p: as exposure, without attributes."""
        y = self.counts
        return CountTensor(y.shape, y.indices, y.counts, exposure=self._known_detection)

    def judge(self, found: Fit) -> Errors:
        """Hold a fit of `counts` against the truth and the held-out counts."""
        p = self.truth.detection.ravel()[self.judged]
        predicted = found.expected(self.indices(self.held), self.attributes(self.held))
        return Errors(
            rate=mae_rate(found.rate_tensor(), self.truth.rate),
            detection=mae_detection(found.detection(self.attributes(self.judged)), p),
            rrmse=rrmse(self.held_counts, predicted),
            log_score=log_score(self.held_counts, predicted),
        )

    def judge_known(self, found: Fit) -> Errors:
        """Hold a fit with known p against them: no solver can be expected to do better."""
        predicted = found.expected(self.indices(self.held))
        return Errors(
            rate=mae_rate(found.rate_tensor() / self._known_detection, self.truth.rate),
            detection=0.0,
            rrmse=rrmse(self.held_counts, predicted),
            log_score=log_score(self.held_counts, predicted),
        )

    def judge_truth(self) -> Errors:
        """Hold the truth itself against the held-out counts."""
        predicted = (self.truth.rate * self.truth.detection).ravel()[self.held]
        return Errors(
            rate=0.0,
            detection=0.0,
            rrmse=rrmse(self.held_counts, predicted),
            log_score=log_score(self.held_counts, predicted),
        )

    @property
    def constant(self) -> float:
        """MAE_λ of one rate for all entries."""
        return mae_rate(np.ones_like(self.truth.rate), self.truth.rate)

    @property
    def _known_detection(self) -> FloatArray:
        """p of every entry, above zero as exposure must be."""
        return np.maximum(self.truth.detection, np.finfo(float).tiny)
