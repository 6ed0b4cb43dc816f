"""How good predicted counts are, and whether one method's are better than another's."""

import math
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import scipy
from numpy.typing import ArrayLike
from scipy.special import stdtrit

from uncletc.common.validation import FloatArray, check_level
from uncletc.compare import metrics
from uncletc.model.negbin import SizeLaw, floored, log_scores

_LEAST = 1e-9  # of ŷ, so that one zero does not make the deviance infinite
_POISSON = 1e-9  # φ below which a negative binomial is treated as Poisson


@dataclass(frozen=True, kw_only=True)
class Scores:
    """How good predicted counts are; see :mod:`uncletc.compare.metrics`.

    Attributes
    ----------
    rrmse : float
        NaN where all counts are zero.
    deviance : float
        Mean Poisson deviance, with ŷ raised to at least 1e-9.
    mae : float
    auroc : float
        For telling counts above zero from zeros; NaN where undefined.
    log_score : float
        Mean -log P(y) of negative binomial counts with means ŷ and the law given; ŷ is raised to
        at least a thousandth of its mean. NaN without a law.
    log_score_one_phi : float
        `log_score` with one φ for all counts. NaN without it.
    n : int
        Number of counts.
    """

    rrmse: float
    deviance: float
    mae: float
    auroc: float
    log_score: float
    log_score_one_phi: float
    n: int


def score(
    counts: ArrayLike, predicted: ArrayLike, phi: float | None = None, law: SizeLaw | None = None
) -> Scores:
    """Score predictions of held-out counts.

    Parameters
    ----------
    counts : array_like of int, shape (n,)
        y, held out.
    predicted : array_like of float, shape (n,)
        ŷ ≥ 0.
    phi : float, optional
        φ ≥ 0 of :func:`uncletc.compare.dispersion`, of other counts than these.
    law : SizeLaw, optional
        How φ depends on ŷ; see :func:`uncletc.compare.likely_law`. None: it is `phi`.
    """
    y, y_hat = np.asarray(counts), np.asarray(predicted, dtype=np.float64)
    mean = floored(y_hat)
    spread = phi if law is None else law.phi(mean)
    return Scores(
        rrmse=metrics.rrmse(y, y_hat) if np.any(y > 0) else math.nan,
        deviance=metrics.poisson_deviance(y, np.maximum(y_hat, _LEAST)),
        mae=metrics.mae(y, y_hat),
        auroc=metrics.auroc(y, y_hat),
        log_score=math.nan if spread is None else float(log_scores(y, mean, spread).mean()),
        log_score_one_phi=math.nan if phi is None else float(log_scores(y, mean, phi).mean()),
        n=len(y),
    )


def count_interval(
    predicted: ArrayLike, level: float, law: SizeLaw
) -> tuple[FloatArray, FloatArray]:
    """Prediction interval of negative binomial counts around ŷ.

    Parameters
    ----------
    predicted : array_like of float, shape (n,)
    level : float
        Nominal coverage, in (0, 1).
    law : SizeLaw
        How φ depends on ŷ.

    Returns
    -------
    tuple of ndarray, shapes (n,)
        Smallest and largest count. Counts are whole, so the intervals cover at least their level.
    """
    check_level(level)
    y_hat = np.maximum(np.asarray(predicted, dtype=np.float64), _LEAST)
    distribution = count_distribution(y_hat, law.phi(y_hat))
    low, high = (distribution.ppf(tail) for tail in ((1 - level) / 2, (1 + level) / 2))
    return np.asarray(low), np.asarray(high)


def count_distribution(mean: FloatArray, phi: float | FloatArray) -> Any:
    """SciPy's distribution of counts with means (n,) and variances ŷ + φŷ²; Poisson for φ = 0.

    φ is one number, or one of each count, then all above 0.
    """
    if np.ndim(phi) == 0 and phi < _POISSON:
        return scipy.stats.poisson(mean)
    return scipy.stats.nbinom(1 / phi, 1 / (1 + phi * mean))


@dataclass(frozen=True, kw_only=True)
class Difference:
    """A mean difference of scores.

    Attributes
    ----------
    mean : float
        Below 0: the first has the smaller score, which for most scores is the better one.
    error : float
        Its standard error; inf where there is one group alone.
    n : int
        Independent parts it is taken over: groups of entries, or folds of one seed.

    Examples
    --------
    >>> found = Difference.of([[-0.3, -0.1, -0.2, -0.2, -0.2]])  # of two methods, by fold
    >>> str(found), found.clear
    ('-0.2 ± 0.032', True)
    """

    mean: float
    error: float
    n: int

    def __str__(self) -> str:
        """Mean ± standard error."""
        return f"{self.mean:+.3g} ± {self.error:.2g}"

    @property
    def clear(self) -> bool:
        """Whether the difference is beyond chance, at 5 % by Student's distribution."""
        return bool(self.n > 1 and abs(self.mean) > stdtrit(self.n - 1, 0.975) * self.error)

    @classmethod
    def of(cls, gaps: ArrayLike) -> Self:
        """Average differences of scores by seed and fold (seeds, folds), two folds or more.

        The standard error is that of the folds of one seed, its square averaged over seeds. Other
        seeds divide the same counts in another way: they steady the estimate, but are no further
        data, so their number does not make the error smaller.
        """
        values = np.asarray(gaps, dtype=np.float64)
        n_folds = values.shape[1]
        error = math.sqrt(float(values.var(axis=1, ddof=1).mean()) / n_folds)
        return cls(mean=float(values.mean()), error=error, n=n_folds)


def difference(first: ArrayLike, second: ArrayLike, groups: ArrayLike | None = None) -> Difference:
    """Mean of the first scores less the second over the same entries, with its standard error.

    Entries of a place are wrong together, so its days are no independent evidence. With dᵢ the
    differences and d̄ their mean, those of each of G groups are summed first: the standard error is
    √(G/(G - 1) · Σ_g (Σ_{i∈g} (dᵢ - d̄))²) / n. Without groups it is that of n independent entries.

    Parameters
    ----------
    first, second : array_like of float, shape (n,)
        A score of each held-out entry, such as its deviance; lower is better.
    groups : array_like of int, shape (n,), optional
        The group of each entry, as :func:`uncletc.checking.fibres` numbers places. None: every
        entry is its own group.

    Returns
    -------
    Difference

    Raises
    ------
    ValueError
        If the arrays do not have one shape (n,) with n ≥ 1, or a score is not finite.

    Examples
    --------
    >>> scores = [1.0, 3.0, 2.0, 4.0], [2.0, 4.0, 5.0, 7.0]
    >>> str(difference(*scores)), str(difference(*scores, groups=[0, 0, 1, 1]))
    ('-2 ± 0.58', '-2 ± 1')
    """
    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if a.shape != b.shape or a.ndim != 1 or not len(a):
        raise ValueError(
            f"first and second must have one shape (n,) with n >= 1, got {a.shape} and {b.shape}"
        )
    gaps = a - b
    if not np.isfinite(gaps).all():
        raise ValueError("first and second must be finite throughout")
    error, n = error_of_sum(gaps - gaps.mean(), groups)
    return Difference(mean=float(gaps.mean()), error=error / len(gaps), n=n)


def error_of_sum(values: FloatArray, groups: ArrayLike | None) -> tuple[float, int]:
    """Standard error of a sum of values independent between groups, inf for one; their number.

    Parameters
    ----------
    values : ndarray, shape (n,)
    groups : array_like of int, shape (n,), optional
        None: every value is its own group.
    """
    sums: FloatArray = values
    if groups is not None:
        group = np.asarray(groups, dtype=np.int64)
        if group.shape != values.shape:
            raise ValueError(f"groups must have shape {values.shape}, got {group.shape}")
        numbered = np.unique(group, return_inverse=True)[1].ravel()
        sums = np.bincount(numbered, values).astype(np.float64)
    n = len(sums)
    return (math.sqrt(n) * float(sums.std(ddof=1)) if n > 1 else math.inf), n
