"""A simulated problem with its truth, and how a fit of it is judged."""

from dataclasses import dataclass

import numpy as np

from uncletc import CountTensor, Fit, Truth
from uncletc.common.validation import FloatArray, IntArray
from uncletc.compare.metrics import coverage, mae_detection, mae_rate, rrmse
from uncletc.compare.scores import count_distribution
from uncletc.model.negbin import dispersion, floored

_MOST = 8000  # entries that coverage is taken over


def log_score(counts: IntArray, predicted: FloatArray) -> float:
    """Mean of -log P(y) over held-out counts (n,); the lower, the better.

    P is negative binomial about ŷ (n,), with the one dispersion that suits these counts best:
    methods are compared by where they expect counts, not by how widely they scatter them.
    """
    spread = count_distribution(floored(predicted), dispersion(counts, predicted))
    return -float(spread.logpmf(counts).mean())


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

    def scores(self, predicted: FloatArray) -> dict[str, float]:
        """rRMSE and log score of ŷ of the held-out counts."""
        y = self.held_counts
        return {"rRMSE": rrmse(y, predicted), "log score": log_score(y, predicted)}

    def scores_of_truth(self) -> dict[str, float]:
        """The same of the true λp."""
        return self.scores((self.truth.rate * self.truth.detection).ravel()[self.held])

    def errors(self, found: Fit) -> dict[str, float]:
        """MAE_λ over all entries, MAE_p over the judged ones, and scores of held-out counts."""
        p = self.truth.detection.ravel()[self.judged]
        predicted = found.expected(self.indices(self.held), self.attributes(self.held))
        return {
            "MAE_λ": mae_rate(found.rate_tensor(), self.truth.rate),
            "MAE_p": mae_detection(found.detection(self.attributes(self.judged)), p),
            **self.scores(predicted),
        }

    def with_known_detection(self) -> CountTensor:
        """Return the same counts for a fit that knows p: as exposure, without attributes."""
        y = self.counts
        known = np.maximum(self.truth.detection, np.finfo(float).tiny)
        return CountTensor(y.shape, y.indices, y.counts, exposure=known)

    @property
    def constant(self) -> float:
        """MAE_λ of one rate for all entries."""
        return mae_rate(np.ones_like(self.truth.rate), self.truth.rate)

    def held_shares(self, found: Fit) -> dict[str, tuple[float, float]]:
        """Share of the truth inside nominal 90 % intervals, and their median width, high/low.

        Of λ, p and λp, and of their means over slices of the first mode. λ and p are known up to a
        factor: the truth is put on the scale on which its mean p over Ξ is that of the fit.
        """
        counts, truth = self.counts, self.truth
        known = truth.detection[tuple(counts.attribute_indices.T)]
        unit = float(found.detection(counts.attributes).mean() / known.mean())
        rng = np.random.default_rng(0)
        every, judged, unseen = (
            each if len(each) <= _MOST else rng.choice(each, _MOST, replace=False)
            for each in (np.arange(truth.rate.size), self.judged, self.held)
        )
        rate, p = truth.rate.ravel() / unit, truth.detection.ravel() * unit
        shares = {}
        for name, of, entries, true in (
            ("λ", "rate", every, rate[every]),
            ("p", "detection", judged, p[judged]),
            ("λp", "expected", unseen, (rate * p)[unseen]),
        ):
            where, z = self.indices(entries), self.attributes(entries)
            slices, own = np.unique(where[:, 0], return_inverse=True)
            given = {"rate": (where,), "detection": (z,), "expected": (where, z)}[of]
            single = getattr(found, of)(*given, spread=True)
            means = found.mean(of, where, z, groups=own)
            true_means = np.bincount(own, true, len(slices)) / np.bincount(own)
            for label, interval, values in (
                (name, single, true),
                (f"{name}, mean of a slice", means, true_means),
            ):
                width = np.median(interval.high / np.maximum(interval.low, 1e-300))
                shares[label] = coverage(values, interval.low, interval.high), float(width)
        return shares
