"""Scale: the single place for the free scale between λ and p.

λ·c with p/c predicts the same counts for any c > 0, so data alone never determine c (paper,
theorem 1). A Scale divides p by c and multiplies λ by c, and carries a sentence that gives the
reason. It never changes ŷ, ranks or ratios, and never needs a new fit.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from uncletc.validation import FloatArray


@dataclass(frozen=True)
class Scale:
    """A choice of c.

    Parameters
    ----------
    factor : float
        c > 0: shown p is p/c, shown λ is λ·c.
    statement : str
        What fixes c, for colour bars and captions.
    absolute : bool
        False when shown p is only relative, and may exceed 1.
    """

    factor: float
    statement: str
    absolute: bool

    def __post_init__(self) -> None:
        if not (np.isfinite(self.factor) and self.factor > 0):
            raise ValueError(f"factor must be positive and finite, got {self.factor}")

    @classmethod
    def relative(cls, detection: ArrayLike) -> Scale:
        """p over its median over the given entries (n,)."""
        return cls(float(np.median(_values(detection))), "relative: the median p is 1", False)

    @classmethod
    def of_data(cls, names: str) -> Scale:
        """As fitted, where looks of these names, with known p, state the scale."""
        return cls(1.0, f"anchored by data: {names}", True)

    @classmethod
    def mean_detection(cls, detection: ArrayLike, mean: float) -> Scale:
        """Overall detection is `mean`: the average of p over the given entries (n,)."""
        share = _share(mean, "mean")
        factor = float(_values(detection).mean()) / share
        return cls(factor, f"anchored: mean detection is {100 * share:.3g}%", True)

    @classmethod
    def entry_detection(cls, detection: float, value: float, name: str) -> Scale:
        """The entry or county `name`, whose fitted p is `detection`, detects `value`."""
        share = _share(value, "value")
        return cls(detection / share, f"anchored: {name} detects {100 * share:.3g}%", True)

    @classmethod
    def best_detects_all(cls, detection: ArrayLike) -> Scale:
        """The best of the given entries (n,) detects everything."""
        best = float(_values(detection).max())
        return cls(best, "anchored: the best entry detects everything", True)

    @classmethod
    def known_total(cls, rate: ArrayLike, total: float) -> Scale:
        """The true counts of the given entries, with fitted λ (n,), add up to `total`."""
        if not total > 0:
            raise ValueError(f"total must be positive, got {total}")
        fitted = float(_values(rate).sum())
        if not fitted > 0:
            raise ValueError(f"rate must have a positive sum, got {fitted}")
        return cls(
            total / fitted,
            f"anchored: true counts add up to {total:,.0f}",
            True,
        )

    def detection(self, p: ArrayLike) -> FloatArray:
        """p on this scale; NaN stays NaN."""
        return np.asarray(p, dtype=np.float64) / self.factor

    def rate(self, rate: ArrayLike) -> FloatArray:
        """λ on this scale."""
        return np.asarray(rate, dtype=np.float64) * self.factor


def _values(given: ArrayLike) -> FloatArray:
    values = np.asarray(given, dtype=np.float64)
    values = values[np.isfinite(values)]
    if not values.size:
        raise ValueError("a scale needs at least 1 finite value, got none")
    return values


def _share(value: float, name: str) -> float:
    if not 0 < value <= 1:
        raise ValueError(f"{name} must be in (0, 1], got {value}")
    return float(value)
