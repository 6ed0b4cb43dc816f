"""What the functions of :mod:`uncletc.effects` return."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from uncletc.validation import FloatArray, IntArray


@dataclass(frozen=True, eq=False, kw_only=True)
class LogEffects:
    """Effects on log p, of the fit and of each of its members.

    Attributes
    ----------
    log_effect : ndarray
        Of the fit's p, the median of its members.
    members : ndarray, shape (M, ...)
        Of each member's p; M = 0 when the fit has one member only.
    """

    log_effect: FloatArray
    members: FloatArray

    @property
    def ratio(self) -> FloatArray:
        """exp(log_effect): by how much p is multiplied."""
        return np.exp(self.log_effect)

    @property
    def low(self) -> FloatArray | None:
        """Smallest ratio among the fit and its members: a range, not an interval; None if M = 0."""
        return None if not len(self.members) else np.exp(self._all.min(axis=0))

    @property
    def high(self) -> FloatArray | None:
        """Largest ratio among the fit and its members; None if M = 0."""
        return None if not len(self.members) else np.exp(self._all.max(axis=0))

    @property
    def _all(self) -> FloatArray:
        return np.concatenate([self.log_effect[None], self.members])


@dataclass(frozen=True, eq=False, kw_only=True)
class Effect(LogEffects):
    """Effect of one attribute on log p, relative to its mean over the entries.

    Attributes
    ----------
    log_effect : ndarray, shape (n,)
    members : ndarray, shape (M, n)
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
    members : ndarray, shape (M, n, m)
    interaction : ndarray, shape (n, m)
        What is left of log_effect without the effects of each attribute alone; 0 where log p is
        a sum of the two.
    first, second : ndarray, shapes (n, C), (m, C')
        Values of either attribute.
    entries : ndarray of int, shape (n, m)
        How many entries lie near each pair of values; where 0, the effect is extrapolated.
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
        Rise of the deviance per entry in each repeat; about 0 or below: not needed.
    deviance : float
        Per entry, nothing permuted.
    size : float
        Of the negative binomial; inf: Poisson.
    entries : int
        How many were used.
    in_sample : bool
        True when these are the counts that were fitted, so that the importance is that to the
        fit, not to new counts.
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
    members : ndarray, shape (M, G)
    names : tuple of str
        G attributes.
    log_p, typical_log_p : float
        Mean log p of the entries, and of the background; each on the fit's own scale.
    """

    names: tuple[str, ...]
    log_p: float
    typical_log_p: float
