"""Scale: the single place for the free scale between λ and p.

λ·c with p/c predicts the same counts for any c > 0, so data alone never determine c (paper,
theorem 1). A Scale divides p by c and multiplies λ by c, and carries a sentence that gives the
reason. It never changes ŷ, ranks or ratios, and never needs a new fit.

A statement may be a range, such as 20 to 40 %: a 90 % interval of what is stated, taken as
log-normal. λ and p are shown for its middle, the geometric mean of its ends. Every interval of λ or
p holds it, as one factor common to all entries that does not come from the counts: its variance
adds to theirs. Intervals of ŷ do not hold it.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from uncletc.common.validation import FloatArray, check_positive, check_real
from uncletc.result.ensemble import Interval

Stated = float | Sequence[float]
RANGE_LEVEL = 0.9  # how often a stated range should hold the true value


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
    log_error : float
        Standard deviation of log c, ≥ 0: how uncertain a stated range leaves it.

    Examples
    --------
    >>> survey = Scale.mean_detection([0.5, 1.0], (0.2, 0.4))
    >>> survey.statement, f"{survey.detection([0.5, 1.0]).mean():.3f}"
    ('anchored: mean detection is 20–40%', '0.283')
    """

    factor: float
    statement: str
    absolute: bool
    log_error: float = 0.0

    def __post_init__(self) -> None:
        check_positive("factor", self.factor)
        check_real("log_error", self.log_error, 0.0)

    @classmethod
    def relative(cls, detection: ArrayLike) -> Self:
        """p over its median over the given entries (n,).

        Examples
        --------
        >>> Scale.relative([0.1, 0.2, 0.4]).detection([0.1, 0.2, 0.4])
        array([0.5, 1. , 2. ])
        """
        return cls(float(np.median(_values(detection))), "relative: the median p is 1", False)

    @classmethod
    def of_data(cls, names: str) -> Self:
        """As fitted, where observation processes of these names, with known p, state the scale."""
        return cls(1.0, f"calibrated to {names}", True)

    @classmethod
    def mean_detection(cls, detection: ArrayLike, mean: Stated) -> Self:
        """Overall detection is `mean`: the average of p over the given entries (n,).

        Parameters
        ----------
        detection : array_like of float, shape (n,)
        mean : float or pair of float
            In (0, 1]; or the ends of a range, the lower first, that should hold it 9 times of 10.

        Raises
        ------
        ValueError
            If `mean` is neither.
        """
        ends = stated_ends(mean, "mean", 1.0)
        words = "–".join(f"{100 * end:.3g}" for end in ends)
        statement = f"anchored: mean detection is {words}%"
        return cls._of(lambda middle: float(_values(detection).mean()) / middle, ends, statement)

    @classmethod
    def best_detects_all(cls, detection: ArrayLike) -> Self:
        """The best of the given entries (n,) detects everything.

        Examples
        --------
        >>> Scale.best_detects_all([0.1, 0.2, 0.4]).detection([0.1, 0.2, 0.4])
        array([0.25, 0.5 , 1.  ])
        """
        best = float(_values(detection).max())
        return cls(best, "anchored: the best entry detects everything", True)

    @classmethod
    def known_total(cls, rate: ArrayLike, total: Stated) -> Self:
        """The true counts of the given entries, with fitted λ (n,), add up to `total`.

        `total` is a number above 0 or a range, as in :meth:`mean_detection`.

        Examples
        --------
        >>> Scale.known_total([2.0, 3.0], total=50).rate([2.0, 3.0])
        array([20., 30.])
        """
        ends = stated_ends(total, "total")
        fitted = float(_values(rate).sum())
        if not fitted > 0:
            raise ValueError(f"rate must have a positive sum, got {fitted}")
        words = "–".join(f"{end:,.0f}" for end in ends)
        statement = f"anchored: true counts add up to {words}"
        return cls._of(lambda middle: middle / fitted, ends, statement)

    @classmethod
    def _of(cls, factor: Callable[[float], float], ends: tuple[float, ...], statement: str) -> Self:
        """Return the scale of a statement: for its middle, and with what its range leaves open."""
        middle = math.exp(sum(map(math.log, ends)) / len(ends)) if len(ends) > 1 else ends[0]
        error = math.log(ends[-1] / ends[0]) / (2 * float(ndtri((1 + RANGE_LEVEL) / 2)))
        return cls(factor(middle), statement, True, error)

    def detection(self, p: ArrayLike) -> FloatArray:
        """p on this scale; NaN stays NaN."""
        return np.asarray(p, dtype=np.float64) / self.factor

    def rate(self, rate: ArrayLike) -> FloatArray:
        """λ on this scale."""
        return np.asarray(rate, dtype=np.float64) * self.factor

    def detection_interval(self, found: Interval) -> Interval:
        """Intervals of p on this scale: as wide as the fit's and a stated range make them together.

        On an absolute scale they end at 1, or at the estimate where that is larger.
        """
        shown = self._widened(found, self.detection)
        if not self.absolute:
            return shown
        return replace(shown, high=np.minimum(shown.high, np.maximum(shown.estimate, 1.0)))

    def rate_interval(self, found: Interval, reported: ArrayLike | None = None) -> Interval:
        """Intervals of λ, or of sums of it, on this scale; see :meth:`detection_interval`.

        Parameters
        ----------
        found : Interval
            On the scale of the fit.
        reported : array_like of float, shape (n,), optional
            What was reported of the same events, NaN where nobody counted. At least as many
            happened: on an absolute scale the low end is raised to it, or to the estimate where
            that is smaller, and the high end to it. None: no bound.
        """
        shown = self._widened(found, self.rate)
        if reported is None or not self.absolute:
            return shown
        low = np.fmax(shown.low, np.minimum(reported, shown.estimate))
        return replace(shown, low=low, high=np.fmax(shown.high, reported))

    def _widened(self, found: Interval, scaled: Callable[[ArrayLike], FloatArray]) -> Interval:
        """Add the variance of log c to that of each estimate, on either side of it."""
        estimate, low, high = (scaled(end) for end in (found.estimate, found.low, found.high))
        if self.log_error:
            half = ndtri((1 + found.level) / 2) * self.log_error
            with np.errstate(divide="ignore", invalid="ignore"):
                below, above = np.log(estimate / low), np.log(high / estimate)
            empty = estimate == 0  # λ where nothing can be expected
            low = np.where(empty, 0.0, estimate * np.exp(-np.hypot(below, half)))
            high = np.where(empty, high, estimate * np.exp(np.hypot(above, half)))
        return Interval(estimate=estimate, low=low, high=high, level=found.level)


def _values(given: ArrayLike) -> FloatArray:
    values = np.asarray(given, dtype=np.float64)
    values = values[np.isfinite(values)]
    if not values.size:
        raise ValueError("a scale needs at least 1 finite value, got none")
    return values


def stated_ends(value: Stated, name: str, most: float = math.inf) -> tuple[float, ...]:
    """Return a stated number alone, or both ends of a range; above 0, finite, at most `most`."""
    given = value if isinstance(value, Sequence) and not isinstance(value, str) else (value,)
    ends = tuple(check_real(name, end) for end in given)
    if len(ends) not in (1, 2):
        raise ValueError(f"{name} must be a number or a range of two, got {value!r}")
    if not all(0 < end <= most and end < math.inf for end in ends):
        rule = "positive and finite" if most == math.inf else f"in (0, {most:g}]"
        raise ValueError(f"{name} must be {rule}, got {value!r}")
    if len(ends) == 2 and not ends[0] < ends[1]:
        raise ValueError(f"{name} must be a range from low to high, got {value!r}")
    return ends
