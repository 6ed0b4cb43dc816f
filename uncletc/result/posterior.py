"""Draws of a fit's parameters, for intervals, and of the true numbers of a closed population."""

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields, replace
from enum import Enum
from typing import Any, Literal, Self, cast

import numba
import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from uncletc.common.validation import FloatArray, IntArray, check_groups, check_level
from uncletc.model.cp import products
from uncletc.model.detection import JointDetection, layers_drawn, logit_slopes
from uncletc.model.random_effects import level_of
from uncletc.result.ensemble import Interval, Member

Quantity = Literal["rate", "detection", "expected"]
QUANTITIES: tuple[Quantity, ...] = ("rate", "detection", "expected")
Float32Array = NDArray[np.float32]
# Signs with which effects on λ, p and reporting enter each quantity.
_SIGNS: dict[Quantity, dict[str, int]] = {
    "rate": {"rate": 1, "detection": -1},
    "detection": {"detection": 1},
    "expected": {"rate": 1, "reporting": 1},
}
# Factor of the deviations of the mean p, about which smooth curves are biased: it was off by 1.65
# times what the curvature says on 21 problems of three kinds, by .85 times on 7 of a fourth. With
# 1.6 intervals of mean p over sets held too much, with 1 those of p too little. A network, whose
# errors are measured, needs none: on six problems sets held mean p in .98 of cases with 1.3, in .97
# with 1. So are deviations of p over its median: ratios of p between 20 places were off by 1.3
# times them.
LEVEL_WIDENED = 1.3
_ROWS = 4_096  # entries whose deviations are held at once
_FARTHEST = 3.0  # deviation of an entry's logarithm in a sum; normal draws tell nothing beyond


@dataclass(frozen=True, eq=False)
class Draws:
    """R joint draws of how far parameters may lie from their estimates; single precision.

    Deviations of log λ and log p are linear in those of the parameters. In every draw the mean p
    over Ξ is the estimate's, which fixes the free scale.

    Attributes
    ----------
    factors : tuple of ndarray, shapes (I_k, F, R)
        Deviations of log U_k of the first member.
    coefficients : ndarray, shape (Q, R)
        Of what p is made of, in the order of :func:`uncletc.model.detection.logit_slopes`; (0, R)
        without attributes.
    level : ndarray, shape (R,)
        Logarithm of the factor by which a draw's p is divided to have the estimate's mean. That of
        λ is part of the first of `factors`.
    widening : tuple of float
        Factors ≥ 1 of the standard deviations of log λ, log p and log λp of single entries, which
        err by more than draws tell.
    shared : tuple of float
        As much of them as concerns all entries alike, and so their means as well. What is beyond
        differs from entry to entry, and averages out.
    slopes : ndarray, shape (P', R)
        Deviations of β of the attributes that act on λ; (0, R) without.
    tables : tuple of ndarray, shapes (levels, R')
        Deviations of the effects of modes of the first member, in their order, for the first
        observation process. Draw r has column r modulo R'. () without effects.
    interact : bool
        Whether factors leave the margins of modes to effects. log λ then also has products of the
        deviations of two modes: where components are alike, interactions are of second order.
    """

    factors: tuple[Float32Array, ...]
    coefficients: Float32Array
    level: Float32Array
    widening: tuple[float, float, float] = (1.0, 1.0, 1.0)
    shared: tuple[float, float, float] = (1.0, 1.0, 1.0)
    slopes: Float32Array = field(default_factory=lambda: np.empty((0, 0), dtype=np.float32))
    tables: tuple[Float32Array, ...] = ()
    interact: bool = False

    def deviation(
        self,
        of: Quantity,
        member: Member,
        indices: IntArray,
        attributes: FloatArray,
        shifts: FloatArray | float = 0.0,
    ) -> FloatArray:
        """Return the standard deviation of the logarithm of each entry's λ, p or λp.

        Parameters
        ----------
        of : {"rate", "detection", "expected"}
        member : Member
            The fit's first.
        indices : ndarray of int, shape (n, K)
            Valid entries. For p (0, K) says: of places without an effect on detection.
        attributes : ndarray, shape (n, D)
            z; rows of NaN have the mean p. Not used for λ.
        shifts : ndarray, shape (R,), or float
            Added to the logarithms of all entries in each draw.

        Returns
        -------
        ndarray, shape (n,)
        """
        parts = self._deviations(of, member, indices, attributes)
        squares = [np.square(drawn + shifts, dtype=np.float64).mean(axis=1) for _, drawn in parts]
        deviation = np.sqrt(np.concatenate([*squares, np.empty(0)]))
        return np.asarray(deviation * self._widening_of(of))

    def half_variance(self, member: Member, indices: IntArray) -> FloatArray:
        """Return how far the log of λ's mean lies above λ's log, for what effects may be.

        Effects of modes, and of attributes on λ, are known up to normal deviations. The mean of
        the exponential of one of variance v is exp(v/2).

        Parameters
        ----------
        member : Member
            The fit's first.
        indices : ndarray of int, shape (n, K)
            Valid entries.

        Returns
        -------
        ndarray, shape (n,)
            v/2, not widened, without that of effects on detection, by which p is divided as λ is
            multiplied; 0 without effects of modes.
        """
        found = np.zeros(len(indices))
        if not self.tables:
            return found
        size = self.tables[0].shape[1]
        for start in range(0, len(indices), _ROWS):
            part = slice(start, min(start + _ROWS, len(indices)))
            drawn = np.zeros((part.stop - start, size), dtype=np.float32)
            self._add_effects(member, indices[part], {"rate": 1}, drawn)
            self._add_slopes(member, indices[part], drawn)
            found[part] = 0.5 * np.square(drawn, dtype=np.float64).mean(axis=1)
        return found

    def log_sums(
        self,
        of: Quantity,
        member: Member,
        indices: IntArray,
        attributes: FloatArray,
        values: FloatArray,
        groups: IntArray,
        shifts: FloatArray | float = 0.0,
    ) -> tuple[FloatArray, FloatArray]:
        """Return how far the logarithm of each group's sum lies from its estimate in each draw.

        Parameters
        ----------
        of, member, indices, attributes
            As for :meth:`deviation`.
        values : ndarray, shape (n,)
            Estimated λ, p or λp.
        groups : ndarray of int, shape (n,)
            The group of each entry, from 0.
        shifts : ndarray, shape (R,), or float
            Added in each draw before what lies too far is cut off, and taken from the sums.

        Returns
        -------
        ndarray, shape (G, R)
            As drawn, not widened.
        ndarray, shape (G,)
            The variance there would be if errors of entries were independent.
        """
        n_groups = int(groups.max(initial=-1)) + 1
        sums, independent = np.zeros((n_groups, len(self.level))), np.zeros(n_groups)
        for part, drawn in self._deviations(of, member, indices, attributes):
            own, value = groups[part], values[part]
            weights = csr_matrix((value, (own, np.arange(len(own)))), (n_groups, len(own)))
            squares = np.square(drawn, dtype=np.float64).mean(axis=1)
            independent += np.bincount(own, value**2 * squares, n_groups)
            sums += np.asarray(weights @ np.exp((drawn + shifts).clip(-_FARTHEST, _FARTHEST)))
        total = np.maximum(np.bincount(groups, values, n_groups), 1e-300)
        ratio = np.where(sums > 0, sums / total[:, None], 1.0)
        return np.log(ratio) - shifts, np.asarray((independent / total) / total)

    def widths(self, of: Quantity) -> tuple[float, float]:
        """Factor of drawn deviations that all entries share, and of the variance that is beyond."""
        shared = self.shared[QUANTITIES.index(of)]
        return shared, max(self._widening_of(of) ** 2 - shared**2, 0.0)

    def first(self, size: int) -> Self:
        """Return the first draws alone; all where there are fewer."""
        return self.mapped(lambda values: values[..., :size])

    def mapped(self, of: Callable[[Float32Array], Float32Array]) -> Self:
        """Return the same with each array but those of effects of modes changed."""
        return replace(
            self,
            factors=tuple(map(of, self.factors)),
            coefficients=of(self.coefficients),
            level=of(self.level),
            slopes=of(self.slopes),
        )

    def log_deviations(
        self, of: Quantity, member: Member, indices: IntArray, attributes: FloatArray
    ) -> FloatArray:
        """Return deviations of log λ, log p or log λp in each draw, as wide as intervals say.

        The parameters are those of :meth:`deviation`.

        Returns
        -------
        ndarray, shape (R, n)
        """
        parts = self._deviations(of, member, indices, attributes)
        drawn = np.concatenate([*(each for _, each in parts), np.empty((0, len(self.level)))])
        return np.asarray(drawn.T * self._widening_of(of))

    def deviation_of_slopes(self) -> FloatArray:
        """Return the standard deviation of each β, as wide as the intervals of λ say; (P',)."""
        variance = np.square(self.slopes, dtype=np.float64).mean(axis=1)
        return np.asarray(np.sqrt(variance) * self._widening_of("rate"))

    def contents(self) -> dict[str, Any]:
        """All fields, for a file; tables in half precision."""
        tables = tuple(table.astype(np.float16) for table in self.tables)
        return {it.name: getattr(self, it.name) for it in fields(self)} | {"tables": tables}

    def _widening_of(self, of: Quantity) -> float:
        return self.widening[QUANTITIES.index(of)]

    def _deviations(
        self, of: Quantity, member: Member, indices: IntArray, attributes: FloatArray
    ) -> Iterator[tuple[slice, Float32Array]]:
        """Deviations of the logarithm, part by part of the entries; (rows, R)."""
        n = len(attributes) if of == "detection" else len(indices)
        for start in range(0, n, _ROWS):
            part = slice(start, min(start + _ROWS, n))
            drawn = np.zeros((part.stop - start, len(self.level)), dtype=np.float32)
            if of != "detection":
                self._add_rate(member, indices[part], drawn)
            if len(indices):
                self._add_effects(member, indices[part], _SIGNS[of], drawn)
            if of != "rate" and len(self.coefficients):
                self._add_detection(member, attributes[part], drawn)
            yield part, drawn

    def _add_rate(self, member: Member, indices: IntArray, drawn: Float32Array) -> None:
        """Add xᵀ(deviation of β) + Σ_k Σ_f share_f · deviation of log U_k(i_k, f).

        share_f is component f's of λ. With `interact`, also the covariance over components, with
        these shares, of the deviations of each two modes.
        """
        product = products(member.factors, indices)
        share = product / np.maximum(product.sum(axis=1), 1e-300)[:, None]
        for where, own in zip(indices.T, self.factors, strict=True):
            _add_shared(np.ascontiguousarray(where), share.astype(np.float32), own, drawn)
        if self.interact:
            moved = [own[where] for where, own in zip(indices.T, self.factors, strict=True)]
            means = [np.einsum("nf,nfr->nr", share, each) for each in moved]
            for k, j in itertools.combinations(range(len(moved)), 2):
                drawn += np.einsum("nf,nfr,nfr->nr", share, moved[k], moved[j])
                drawn -= means[k] * means[j]
        self._add_slopes(member, indices, drawn)

    def _add_slopes(self, member: Member, indices: IntArray, drawn: Float32Array) -> None:
        if member.effects is not None:
            columns = member.effects.table.columns(indices).astype(np.float32)
            drawn += columns @ self.slopes[:, : drawn.shape[1]]

    def _add_effects(
        self, member: Member, indices: IntArray, signs: dict[str, int], drawn: Float32Array
    ) -> None:
        effects = member.mode_effects
        if effects is None:
            return
        total = np.zeros((len(indices), self.tables[0].shape[1]), dtype=np.float32)
        for effect, groups, table in zip(effects.effects, effects.groups, self.tables, strict=True):
            if sign := signs.get(effect.acts_on, 0):
                where = level_of(groups, indices, effects.modes)
                found = table[where]
                found[where < 0] = 0
                total += sign * found
        drawn += total[:, np.arange(drawn.shape[1]) % total.shape[1]]

    def _add_detection(self, member: Member, attributes: FloatArray, drawn: Float32Array) -> None:
        known = ~np.isnan(attributes).any(axis=1)
        g, z = cast(JointDetection, member.network), attributes[known]
        slopes = logit_slopes(g, z, layers_drawn(g, len(self.coefficients)))
        logit = g.logit(torch.tensor(z)).numpy().astype(np.float32)[:, None]
        moved = logit + slopes.astype(np.float32) @ self.coefficients
        drawn[known] += np.logaddexp(0, -logit) - np.logaddexp(0, -moved) - self.level


@numba.njit(cache=True, fastmath=True, error_model="numpy")
def _add_shared(rows, share, own, drawn):  # type: ignore[no-untyped-def] # pragma: no cover
    """Add Σ_f share(n, f) · own(rows(n), f, ·) to each row of `drawn`."""
    for n in range(len(rows)):
        mine = own[rows[n]]
        for f in range(share.shape[1]):
            for r in range(drawn.shape[1]):
                drawn[n, r] += share[n, f] * mine[f, r]


class Doubt(Enum):
    """Why the level of p, and so N, cannot be believed; the value is a sentence's end."""

    FLAT = "the counts fit almost as well with far smaller or larger p"
    LOW = "p is below 0.1, where small errors of the model change N many times over"
    SCATTER = (
        "visits, or bands of distance, disagree more than the model allows (observers, double "
        "counts, flocks, rounded distances), and p may have to differ by visit, observer or species"
    )
    DETECTIONS = (
        "no count is above 1 where several should be, as if they said whether animals were seen, "
        "not how many"
    )
    ZEROS = (
        "fewer counts are 0 than should be, as if visits or places where nothing was seen were "
        "left out"
    )
    FALLING = "totals fall from visit to visit, as if animals were removed or left"
    TURNOVER = "consecutive visits agree more than distant ones, as if animals came and went"
    MOVING = "a site counts more when the next one counts less, as if animals moved between them"
    SITES = "sites differ in p, or are empty, beyond what the model allows"
    COVARIATES = "p changes with a covariate of true counts, which has to act on λ and p"
    LEVELS = "species, or other levels of a mode, differ in p, which has to differ by them"
    FRAGILE = "N would fall by a sixth or more if animals were counted a little less independently"
    ANIMALS = "some animals are caught more often than others, so that N comes out too small"
    HABIT = (
        "animals are caught more easily, or less, once they were caught, or lists depend on each "
        "other, so that N comes out wrong"
    )
    VISIT_OR_HABIT = (
        "p differs by visit, or animals are caught more easily, or less, once they were caught, or "
        "lists depend on each other; a p of each visit (detection_by) lets N be right in the first "
        "case alone"
    )
    PRESENCE = (
        "animals are caught more often between their first and last captures than before and "
        "after, as if they came and went, or differed"
    )
    MIXTURE = "N changes with the form assumed for sites, and counts prefer none"


@dataclass(frozen=True, eq=False)
class Population:
    """Draws of the true number n of each visited cell, given its counts at all visits.

    Attributes
    ----------
    cells : ndarray of int, shape (C, K)
        One entry of each cell: indices of its open modes, and 0 along closed ones.
    drawn : ndarray of int, shape (C, R)
        n in each draw of the parameters.
    mixture : str
        Distribution of true counts over sites.
    doubts : tuple of Doubt
        Empty where the level can be believed.
    estimates : ndarray, shape (C,), optional
        Of n, where draws also hold what may be, but need not: that animals differ in p. None: the
        means of the draws.
    """

    cells: IntArray
    drawn: IntArray
    mixture: str
    doubts: tuple[Doubt, ...] = ()
    estimates: FloatArray | None = None

    def numbers(self, groups: IntArray | None = None, *, level: float = 0.9) -> Interval:
        """Return N of each group of cells, with its interval, each animal counted once.

        Parameters
        ----------
        groups : ndarray of int, shape (C,), optional
            Number ≥ 0 of the group of each cell; None: all are one.
        level : float
            Nominal coverage of the intervals, in (0, 1).
        """
        check_level(level)
        own = check_groups(groups, len(self.drawn), "cell")
        sums = np.zeros((int(own.max(initial=-1)) + 1, self.drawn.shape[1]))
        np.add.at(sums, own, self.drawn)
        low, high = np.quantile(sums, [(1 - level) / 2, (1 + level) / 2], axis=1)
        estimate = np.asarray(np.bincount(own, self.means, len(sums)), dtype=np.float64)
        return Interval(estimate, np.minimum(low, estimate), np.maximum(high, estimate), level)

    @property
    def means(self) -> FloatArray:
        """Estimates of n; (C,)."""
        return self.drawn.mean(axis=1) if self.estimates is None else self.estimates

    @property
    def warning(self) -> str:
        """Why the level cannot be believed, as a sentence; empty where it can."""
        if not self.doubts:
            return ""
        reasons = "; ".join(doubt.value for doubt in self.doubts)
        return (
            "These counts do not determine how many there are, so only relative values are "
            f"shown: {reasons}."
        )
