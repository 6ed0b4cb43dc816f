"""Records and steps that :mod:`uncletc.effects` is made of."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby

import numpy as np

from uncletc.counts import CountTensor
from uncletc.model import Fit
from uncletc.validation import FloatArray, IntArray

LEAST = 1e-12  # of λ and p, for logarithms
_POOL = 20  # entries that one background entry is drawn from


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


def attribute_groups(counts: CountTensor) -> dict[str, tuple[int, ...]]:
    """Columns of each attribute by name; levels of one category count as one attribute.

    Columns named "guild: bee", "guild: fly", … that hold 0 and 1 with at most one 1 per entry
    are the levels of "guild": moving one of them alone would make an entry of two guilds.

    Examples
    --------
    >>> z = [[0.3, 1, 0], [0.1, 0, 1]]
    >>> names = ["wind", "guild: bee", "guild: fly"]
    >>> y = CountTensor((1, 2), [[0, 0], [0, 1]], [4, 0], attributes=z, attribute_names=names)
    >>> attribute_groups(y)
    {'wind': (0,), 'guild': (1, 2)}
    """
    names = counts.attribute_names
    groups: dict[str, tuple[int, ...]] = {}
    for stem, found in groupby(range(len(names)), key=lambda j: names[j].split(": ")[0]):
        columns = tuple(found)
        z = counts.attributes[:, columns]
        one_of = np.isin(z, (0.0, 1.0)).all() and (z.sum(axis=1) <= 1).all()
        if len(columns) > 1 and one_of and stem not in (*names, *groups):
            groups[stem] = columns
        else:
            groups |= {names[j]: (j,) for j in columns}
    return groups


def checked(
    found: Fit, counts: CountTensor, *attributes: str
) -> tuple[FloatArray, list[tuple[int, ...]]]:
    """Attributes of the entries to use (n, D), and the columns of each named attribute."""
    if found.n_attributes == 0:
        raise ValueError("found must have a detection network; fitted without attributes, p is 1")
    if counts.n_attributes != found.n_attributes:
        raise ValueError(
            f"counts must have {found.n_attributes} attributes, as in the fit, "
            f"got {counts.n_attributes}"
        )
    groups = attribute_groups(counts)
    for name in attributes:
        if name not in groups:
            raise ValueError(f"attribute must be one of {tuple(groups)}, got {name!r}")
    rows = counts.attribute_rows[counts.attribute_rows >= 0]
    z = counts.attributes[rows] if len(rows) else counts.attributes
    return z, [groups[name] for name in attributes]


def at_least(name: str, value: int, least: int) -> None:
    """Refuse a number below `least`; the message names the argument."""
    if value < least:
        raise ValueError(f"{name} must be at least {least}, got {value}")


def sample(z: FloatArray, rows: int, seed: int) -> FloatArray:
    """Return at most `rows` rows, drawn without replacement where there are more."""
    at_least("rows", rows, 1)
    if len(z) <= rows:
        return z
    return z[np.random.default_rng(seed).choice(len(z), rows, replace=False)]


def log_p(found: Fit, z: FloatArray) -> FloatArray:
    """Log p of the fit, then of each member where there are 2 or more; (1 or 1 + M, n)."""
    values = np.array([member.detection(z) for member in found.members])
    if len(values) > 1:
        values = np.vstack([np.median(values, axis=0), values])
    logs: FloatArray = np.log(np.maximum(values, LEAST))
    return logs


def along_p(found: Fit, z: FloatArray, n: int, rng: np.random.Generator) -> FloatArray:
    """n rows, one from each of n stretches of up to `_POOL` rows that are ordered by p."""
    if len(z) > n * _POOL:
        z = z[rng.choice(len(z), n * _POOL, replace=False)]
    order = np.argsort(log_p(found, z)[0], kind="stable")
    place = (np.arange(n) + rng.uniform(size=n)) * len(z) / n
    return z[order[place.astype(np.int64)]]


def averaged(found: Fit, z: FloatArray, columns: tuple[int, ...], values: FloatArray) -> FloatArray:
    """Mean log p over rows z with their columns set to each of the values (n, C); (·, n)."""
    moved = np.tile(z, (len(values), 1))
    moved[:, columns] = np.repeat(values, len(z), axis=0)
    all_log_p = log_p(found, moved)
    mean: FloatArray = all_log_p.reshape(len(all_log_p), len(values), len(z)).mean(axis=2)
    return mean


def levels(x: FloatArray, points: int) -> FloatArray:
    """Distinct values of x (n, C), at most so many quantiles of one column; in order."""
    values = np.unique(x, axis=0)
    if x.shape[1] > 1:
        return values[::-1]  # the first level first
    if len(values) <= points:
        return values
    shares = np.linspace(0, 1, points)
    return np.unique(np.quantile(x, shares, method="inverted_cdf"))[:, None]


def binned(x: FloatArray, bins: int) -> tuple[FloatArray, IntArray]:
    """Values (m, C) that stand for x (n, C), and which one for each row (n,)."""
    values = levels(x, np.iinfo(np.int64).max)
    if x.shape[1] > 1:
        same = (x[:, None] == values).all(axis=2)
        return values, np.argmax(same, axis=1)
    if len(values) <= bins:
        return values, np.searchsorted(values[:, 0], x[:, 0])
    inner = np.quantile(x[:, 0], np.arange(1, bins) / bins, method="inverted_cdf")
    rank = np.searchsorted(np.unique(inner), x[:, 0])
    _, where = np.unique(rank, return_inverse=True)
    medians = [np.median(x[where == i, 0]) for i in range(where.max() + 1)]
    return np.array(medians)[:, None], where


def mean_along(x: FloatArray, at: FloatArray, curves: FloatArray) -> FloatArray:
    """Mean of curves (m, n), known at `at` (n,), over the values x; (m, 1)."""
    return np.array([[np.interp(x, at, curve).mean()] for curve in curves])
