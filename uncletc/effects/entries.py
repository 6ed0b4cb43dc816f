"""The entries that effects are averaged over, and what an effect on log p is."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby

import numpy as np

from uncletc.common.validation import FloatArray, IntArray, check_whole
from uncletc.data.counts import CountTensor
from uncletc.result.fit_result import Fit

LEAST = 1e-12  # of λ and p, for logarithms
_DRAWS = 50  # give standard deviations within 10 %; explanations take seconds with more
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


def attribute_groups(counts: CountTensor) -> dict[str, tuple[int, ...]]:
    """Columns of each attribute by name; levels of one category count as one attribute.

    Columns named "guild: bee", "guild: fly", … that hold 0 and 1 with at most one 1 per entry
    are the levels of "guild": changing one alone would put an entry into two guilds.

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
    for stem, members in groupby(range(len(names)), key=lambda j: names[j].split(": ")[0]):
        columns = tuple(members)
        z = counts.attributes[:, columns]
        one_of = np.isin(z, (0.0, 1.0)).all() and (z.sum(axis=1) <= 1).all()
        if len(columns) > 1 and one_of and stem not in (*names, *groups):
            groups[stem] = columns
        else:
            groups |= {names[j]: (j,) for j in columns}
    return groups


def validated(
    fit: Fit, counts: CountTensor, *attributes: str
) -> tuple[FloatArray, list[tuple[int, ...]]]:
    """Attributes of the entries to use (n, D), and the columns of each named attribute."""
    if fit.n_attributes == 0:
        raise ValueError(
            "fit must have a detection network; it was fitted without attributes, so p is 1"
        )
    if counts.n_attributes != fit.n_attributes:
        raise ValueError(
            f"counts must have {fit.n_attributes} attributes, as in the fit, "
            f"got {counts.n_attributes}"
        )
    groups = attribute_groups(counts)
    for name in attributes:
        if name not in groups:
            raise ValueError(f"attribute must be one of {tuple(groups)}, got {name!r}")
    rows = counts.attribute_rows[counts.attribute_rows >= 0]
    z = counts.attributes[rows] if len(rows) else counts.attributes
    return z, [groups[name] for name in attributes]


def sample(z: FloatArray, rows: int, seed: int) -> FloatArray:
    """Return at most `rows` rows, drawn without replacement where there are more."""
    check_whole("rows", rows, 1)
    if len(z) <= rows:
        return z
    return z[np.random.default_rng(seed).choice(len(z), rows, replace=False)]


def log_p(
    fit: Fit, z: FloatArray, draws: int = _DRAWS, indices: IntArray | None = None
) -> FloatArray:
    """Log p of the fit, then in each of some draws of its parameters, if any; (1 + R, n).

    p is that of attributes (n, D) alone, or of entries (n, K) that have them.
    """
    logs = np.log(np.maximum(fit.detection(z, indices), LEAST))[None]
    if fit.draws is None or not len(fit.draws.coefficients):
        return logs
    where = np.empty((0, len(fit.shape)), dtype=np.int64) if indices is None else indices
    own = fit.draws.first(draws)
    deviations = own.log_deviations("detection", fit.members[0], where, z)
    return np.concatenate([logs, logs + deviations])


def averaged(
    fit: Fit, z: FloatArray, columns: tuple[int, ...], values: FloatArray, draws: int = _DRAWS
) -> FloatArray:
    """Mean log p over rows z with their columns set to each of the values (n, C); (·, n)."""
    moved = np.tile(z, (len(values), 1))
    moved[:, columns] = np.repeat(values, len(z), axis=0)
    all_log_p = log_p(fit, moved, draws)
    mean: FloatArray = all_log_p.reshape(len(all_log_p), len(values), len(z)).mean(axis=2)
    return mean
