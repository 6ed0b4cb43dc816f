"""What the functions of :mod:`uncletc.effects` return."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from uncletc.common.validation import FloatArray, IntArray

_NORMAL = 1.6449  # quantile at .95


@dataclass(frozen=True, eq=False, kw_only=True)
class LogEffects:
    """Effects on log p, of the fit and in draws of its parameters.

    Attributes
    ----------
    log_effect : ndarray
        Effect on the fit's p.
    draws : ndarray, shape (R, ...)
        Effect in each of some draws; R = 0 if the fit has none.
    """

    log_effect: FloatArray
    draws: FloatArray

    @property
    def ratio(self) -> FloatArray:
        """exp(log_effect), the factor by which p is multiplied."""
        return np.exp(self.log_effect)

    @property
    def low(self) -> FloatArray | None:
        """Lower ends of nominal 90 % intervals of the ratios; None if R = 0."""
        return self._end(-1.0)

    @property
    def high(self) -> FloatArray | None:
        """Upper ends; None if R = 0."""
        return self._end(1.0)

    def _end(self, side: float) -> FloatArray | None:
        if not len(self.draws):
            return None
        deviation = np.sqrt(np.square(self.draws - self.log_effect).mean(axis=0))
        return np.asarray(np.exp(self.log_effect + side * _NORMAL * deviation))


@dataclass(frozen=True, eq=False, kw_only=True)
class Effect(LogEffects):
    """Effect of one attribute on log p, relative to its mean over the entries.

    Attributes
    ----------
    log_effect : ndarray, shape (n,)
    draws : ndarray, shape (R, n)
    values : ndarray, shape (n, C)
        Of the attribute's columns; C = 1, or the number of levels of a group.
    """

    values: FloatArray


@dataclass(frozen=True, eq=False, kw_only=True)
class PairEffect(LogEffects):
    """Effect of two attributes together on log p, relative to its mean over the entries.

    Attributes
    ----------
    log_effect : ndarray, shape (n, m)
    draws : ndarray, shape (R, n, m)
    interaction : ndarray, shape (n, m)
        log_effect minus the effects of each attribute alone; 0 where log p is a sum of the two.
    first, second : ndarray, shapes (n, C), (m, C')
        Values of the two attributes.
    entries : ndarray of int, shape (n, m)
        Number of entries near each pair of values; where 0, the effect is extrapolated.
    """

    interaction: FloatArray
    first: FloatArray
    second: FloatArray
    entries: IntArray


@dataclass(frozen=True, eq=False, kw_only=True)
class Importance:
    """How much worse counts are predicted when an attribute is permuted.

    Attributes
    ----------
    names : tuple of str
        G attributes.
    rise : ndarray, shape (G, R)
        Rise of the deviance per entry in each repeat; not above 0 if the attribute is not needed.
    deviance : float
        Per entry, with nothing permuted.
    size : float
        k of the negative binomial; inf: Poisson.
    entries : int
        Number of entries used.
    in_sample : bool
        Whether these counts were fitted; the importance is then for the fit, not for new counts.
    """

    names: tuple[str, ...]
    rise: FloatArray
    deviance: float
    size: float
    entries: int
    in_sample: bool


@dataclass(frozen=True, eq=False, kw_only=True)
class Explanation(LogEffects):
    """Contributions of attributes to mean log p of some entries, relative to typical ones.

    Attributes
    ----------
    log_effect : ndarray, shape (G,)
        They add up to log_p - typical_log_p.
    draws : ndarray, shape (R, G)
    names : tuple of str
        G attributes.
    log_p, typical_log_p : float
        Mean log p of the entries, and of the background; each on the fit's own scale.
    """

    names: tuple[str, ...]
    log_p: float
    typical_log_p: float
