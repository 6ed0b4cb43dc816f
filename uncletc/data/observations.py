"""Further observation processes of the entries of a count tensor."""

from dataclasses import dataclass, field
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from uncletc.common.validation import (
    FloatArray,
    IntArray,
    check_counts,
    check_distinct,
    check_finite,
    check_indices,
    check_real,
    reject_where,
)
from uncletc.data.entries import flat_index


@dataclass(frozen=True, init=False, eq=False)
class Observations:
    """Another count of the same true events: a second observer, a later stream, a survey.

    Each observation process at entry i counts true events of the same mean λ_i on its own: its
    count is Poisson with mean e·λ_i·p, e being its exposure, scattered as its own μ says, given
    λ_i. An observation process whose p is known anchors the scale of λ and p, which counts alone
    leave free.

    Parameters
    ----------
    name : str
        What it is, for readers: "deaths".
    indices : array_like of int, shape (n, K)
        The entries looked at, each once.
    counts : array_like of int, shape (n,)
        y ≥ 0 of each.
    known_detection : array_like of float, optional
        p in (0, 1] of each count (n,), or of all. NaN, or None: not known; then g of `attributes`.
    known_error : float
        Relative standard error, ≥ 0, that all known p of this observation process share: .2 if they
        may all be a fifth too large or too small. It goes into the intervals.
    local_error : float
        Standard deviation, ≥ 0, of the errors of log p from place to place, beside what they share.
        Effects on detection follow these observations the less, the larger it is; without such
        effects it changes nothing, and :meth:`uncletc.Fit.assumption` says so.
    attributes : array_like of float, shape (n, D), optional
        z of this observation process, the same D attributes as those of the tensor. None: those
        that its entry has in the tensor.
    exposure : float or array_like of float
        e > 0, of each count (n,), or of all: how many times λ_i, which has the exposure of the
        tensor, the observation process could see. 2 if it watched twice as long as the tensor's own
        count.

    Raises
    ------
    ValueError, TypeError
        Naming the argument, the value and the rule.

    Examples
    --------
    >>> Observations("survey", [[0, 0], [1, 2]], [7, 3], known_detection=0.9).known_detection
    array([0.9, 0.9])
    """

    name: str
    indices: IntArray
    counts: IntArray
    known_detection: FloatArray
    known_error: float
    local_error: float
    attributes: FloatArray | None = field(repr=False)
    exposure: FloatArray = field(repr=False)

    def __init__(
        self,
        name: str,
        indices: ArrayLike,
        counts: ArrayLike,
        *,
        known_detection: ArrayLike | None = None,
        known_error: float = 0.0,
        local_error: float = 0.0,
        attributes: ArrayLike | None = None,
        exposure: ArrayLike = 1.0,
    ) -> None:
        if not isinstance(name, str) or not name:
            raise TypeError(f"name must be a text, got {name!r}")
        where = np.asarray(indices)
        known = np.nan if known_detection is None else known_detection
        p = _of_each("known_detection", known, len(where))
        e = _of_each("exposure", exposure, len(where))
        reject_where(~(np.isfinite(e) & (e > 0)), "exposure must be finite and above 0", e)
        wrong = ~np.isnan(p) & ~((p > 0) & (p <= 1))
        reject_where(wrong, "known_detection must be in (0, 1] or NaN", p)
        z = None if attributes is None else check_finite(attributes, "attributes", 2)
        if z is not None and len(z) != len(where):
            raise ValueError(
                f"attributes must have one row per row of indices ({len(where)}), got {len(z)} rows"
            )
        vars(self).update(  # as it is frozen
            name=name,
            indices=where,
            counts=check_counts(counts, len(where)),
            known_detection=p,
            known_error=check_real("known_error", known_error, 0.0),
            local_error=check_real("local_error", local_error, 0.0),
            attributes=z,
            exposure=e,
        )

    def within(self, shape: tuple[int, ...], n_attributes: int) -> Self:
        """Return the same, checked against a tensor's shape and number of attributes."""
        where = check_indices(self.indices, shape, f"indices of {self.name!r}")
        check_distinct(flat_index(where, shape), where, f"indices of {self.name!r}")
        if self.attributes is not None and self.attributes.shape[1] != n_attributes:
            raise ValueError(
                f"attributes of {self.name!r} must have the {n_attributes} columns of the "
                f"tensor's, got {self.attributes.shape[1]}"
            )
        object.__setattr__(self, "indices", where)
        return self


def _of_each(name: str, given: ArrayLike, n: int) -> FloatArray:
    """One number for each of n rows, from one for all or for each; (n,)."""
    values = np.asarray(given, dtype=np.float64)
    if values.shape not in ((), (n,)):
        raise ValueError(
            f"{name} must be one number, or one for each of {n} rows of indices, "
            f"got shape {values.shape}"
        )
    return np.array(np.broadcast_to(values, n))
