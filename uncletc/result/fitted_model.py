"""FittedModel: factors and detection network; predicts λ, p and ŷ of any entry."""

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, cast, get_args, overload

import numpy as np
from numpy.typing import ArrayLike

from uncletc.common.validation import (
    FloatArray,
    IntArray,
    check_choice,
    check_finite,
    check_groups,
    check_indices,
    check_kind,
)
from uncletc.data.counts import CountTensor
from uncletc.data.entries import exposure_at
from uncletc.fitting.history import Iteration, StopReason
from uncletc.fitting.settings import FitSettings
from uncletc.model.cp import has_patterns
from uncletc.model.detection import JointDetection
from uncletc.model.negbin import SizeLaw
from uncletc.model.random_effects import ModeEffects
from uncletc.model.rates import RateEffects
from uncletc.result.ensemble import Interval, Member, Network, Shifts, between, combined, interval
from uncletc.result.posterior import LEVEL_WIDENED, QUANTITIES, Draws, Population, Quantity
from uncletc.result.scale import Scale
from uncletc.solvers.options import BCD

# Dispersion above which a fit is called poor, and what it is over the share of counts beyond
# parameters. Of simulated counts that follow the model it was at most 1.5 on 400 to 3,000 of them,
# and .82 over that share on tables of 4 to 6 columns; of counts with μ = 2 or 3 fitted with 1000,
# 1.8 to 2.4 and more; of fits stuck at an optimum far off 2.9 or more.
_MISFIT, _MISFIT_UNDRAWN = (1.7, 0.9), (2.0, 1.5)
_CHANCE = 10.0  # over √n: what chance adds to the dispersion of n counts; 40 with μ = 5 had 2.8
FEWEST_FREE = 0.3
"""Share of the counts that are taken for degrees of freedom at least."""
_ROWS_FOR_MEDIAN = 4_096  # of Ξ


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class FittedModel:
    """The estimates of a fit, and what they predict; attributes as :class:`uncletc.Fit` has them.

    Effects, sums and anchors need no more of a fit than this.
    """

    factors: tuple[FloatArray, ...]
    network: Network | None
    observed_detection: FloatArray
    history: tuple[Iteration[Any], ...]
    stop: StopReason
    settings: FitSettings
    counts_digest: str
    others: tuple[Member, ...] = ()
    dropped: tuple[str, ...] = ()
    exposure: FloatArray | None = None
    mean_detection: float = 1.0
    mu: float = math.nan
    likely_mu: float = math.nan
    dispersion: float = math.nan
    draws: Draws | None = None
    effects: RateEffects | None = None
    mode_effects: ModeEffects | None = None
    mu_power: float = 0.0
    powers_of_observations: dict[str, float] = field(default_factory=dict)
    log_offset: float = 0.0
    anchored_by: str = ""
    residual_pattern: tuple[str, ...] = ()
    survey_misfit: str = ""
    mu_of_observations: dict[str, float] = field(default_factory=dict)
    network_gain: tuple[float, float] | None = None
    counts: CountTensor | None = field(default=None, compare=False)
    population: Population | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        """I_k of each mode."""
        return tuple(len(factor) for factor in self.factors)

    @property
    def rank(self) -> int:
        """F, the number of components."""
        return int(self.factors[0].shape[1])

    @property
    def has_patterns(self) -> bool:
        """Whether components differ; beside random effects, counts may support no more than one."""
        return any(map(has_patterns, self.factors))

    @property
    def scale(self) -> Scale | None:
        """The scale that the data state, on which the fit already is; None: free."""
        return Scale.of_data(self.anchored_by) if self.anchored_by else None

    @property
    def level_warning(self) -> str:
        """Why the level of p, and of λ, cannot be believed, as a sentence; empty where it can."""
        if self.population is not None:
            return self.population.warning
        if not self.survey_misfit or self.anchored_by:
            return ""
        why = "Surveys or known p do not agree on the level, so only relative values are shown"
        return f"{why}: {self.survey_misfit}."

    @property
    def reports_late(self) -> bool:
        """Whether a day's reports may be of other days' events: effects on reporting say so."""
        effects = self.mode_effects
        return effects is not None and any(each.reporting for each in effects.effects)

    @property
    def misfit(self) -> str:
        """What is wrong if counts scatter more than the model allows, or differ from it."""
        # Of parameters as many as counts priors hold many, and factors follow what μ should
        # explain: how many counts determine is then less clear, and least where draws do not say.
        n = len(self.observed_detection)
        used, settings = sum(factor.size for factor in self.factors) / n, self.settings
        undrawn = self.draws is None or settings.closed or settings.effects or self.network_trained
        least, if_all_free = _MISFIT_UNDRAWN if undrawn else _MISFIT
        limits = least, if_all_free / max(1 - used, FEWEST_FREE), 1 + _CHANCE / math.sqrt(n)
        if not self.dispersion > max(limits):
            over = " × ".join(self.residual_pattern)
            pattern = (
                f"residuals follow a pattern over {over} that rank {settings.rank} does not; "
                "a higher rank or other attributes may"
            )
            return "; ".join(filter(None, [over and pattern, self.survey_misfit]))
        rank = "" if settings.effects and not self.has_patterns else "a higher rank or "
        prefer = f"{rank}other attributes may explain them"
        if self.likely_mu < self.mu / 2:
            prefer = f"they are likeliest with mu {self.likely_mu:.2g} instead of {self.mu:.4g}"
        return (
            f"counts scatter {self.dispersion:.1f} times as much about the fit as it allows; "
            f"{prefer}"
        )

    def check_suits(self, counts: CountTensor) -> None:
        """Reject counts of another shape, or with another number of attributes."""
        n = self.n_attributes or counts.n_attributes
        if (counts.shape, counts.n_attributes) != (self.shape, n):
            raise ValueError(
                f"counts must have shape {self.shape} and {n} attributes, as in the fit, "
                f"got {counts.shape} and {counts.n_attributes}"
            )

    def inverse_mu(self, mean: FloatArray) -> FloatArray:
        """1/μ of counts with these means: 0, Poisson, by block coordinate descent."""
        if isinstance(self.settings.solver, BCD) or not np.isfinite(self.mu):
            return np.zeros_like(mean)
        return SizeLaw(self.mu, self.mu_power).phi(mean)

    @cached_property
    def members(self) -> tuple[Member, ...]:
        """All members, the likeliest first."""
        return (Member(self.factors, self.network, self.effects, self.mode_effects), *self.others)

    @property
    def network_trained(self) -> tuple[int, ...]:
        """Units of each hidden layer of the network that was trained; () if none was."""
        if isinstance(self.network, JointDetection):
            return tuple(bias.size for bias in self.network.layers[1:-1:2])
        return () if self.network is None or self.network.linear else self.settings.hidden

    def require_draws(self) -> Draws:
        """Return the draws of the parameters.

        Raises
        ------
        ValueError
            If the fit has none, with the reason.
        """
        if self.draws is not None:
            return self.draws
        raise ValueError(
            "intervals need a finished fit by the joint solver, of counts above 0: this fit has no "
            f"draws of its parameters (solver {self.settings.solver.name!r})"
        )

    def rate_slopes(self, *, level: float = 0.9) -> Interval:
        """Factors by which λ changes with one standard deviation of each rate attribute.

        Parameters
        ----------
        level : float
            Nominal coverage of the intervals, in (0, 1).

        Returns
        -------
        Interval
            exp(β) of each of the P `rate_attributes`, in their order: 1.2 means that λ is 20 %
            larger where the attribute is one standard deviation (over Ξ) above its mean. Empty
            without rate attributes. The interval is that of :meth:`rate`; it is the estimate
            itself for an attribute that does not vary. NaN where :attr:`undetermined` says so.

        Raises
        ------
        ValueError
            If the fit has rate attributes and no draws.
        """
        if self.effects is None:
            return interval(np.empty(0), np.empty(0), level)
        ratios = [np.exp(member.effects.slopes) for member in self.members if member.effects]
        variance = between(ratios)
        variance[self.effects.varies] += self.require_draws().deviation_of_slopes() ** 2
        for ratio in ratios:
            ratio[self.undetermined >= 0] = np.nan
        return interval(combined(ratios), np.sqrt(variance), level)

    @property
    def undetermined(self) -> IntArray:
        """The mode whose factors say all that a rate attribute may, as it varies between levels.

        -1 for attributes whose slope counts determine; (P,). With random effects levels are random
        about what attributes say, as they are of closed populations.
        """
        if self.effects is None or self.mode_effects is not None or self.settings.closed:
            return np.full(0 if self.effects is None else len(self.effects.varies), -1)
        return self.effects.mode_of

    @property
    def n_attributes(self) -> int:
        """D that :meth:`detection` expects; 0 without a network."""
        return 0 if self.network is None else self.network.n_attributes

    @overload
    def rate(self, indices: ArrayLike) -> FloatArray: ...
    @overload
    def rate(
        self, indices: ArrayLike, *, spread: Literal[True], level: float = ...
    ) -> Interval: ...
    def rate(
        self, indices: ArrayLike, *, spread: bool = False, level: float = 0.9
    ) -> FloatArray | Interval:
        """λ, expected true counts, of the given entries (paper, eq. 4a).

        Parameters
        ----------
        indices : array_like of int, shape (n, K)
            Any entries, observed or not; repeats are allowed.
        spread : bool
            Return an :class:`Interval`. See Notes.
        level : float
            Nominal coverage of the interval, in (0, 1).

        Returns
        -------
        ndarray, shape (n,), or Interval
            λ ≥ 0, exposure included, up to the free scale: the geometric mean of the members. With
            effects of modes, the mean of λ over what these and β may be: the less counts tell
            of an entry, the farther it lies above λ of the likeliest effects.

        Raises
        ------
        ValueError
            If `spread` is wanted of a fit without draws: one by block coordinate descent, or one
            that still runs.

        Notes
        -----
        An interval is the estimate times or divided by exp(z·s), z the normal quantile; where s
        rests on few counts alone, the upper end is that of a gamma variable, and nearer. s is the
        standard deviation of the logarithm over draws of all parameters, factors and g together,
        from the curvature of their joint likelihood and priors, and the variance between members.
        Where counts are few, draws are widened by how much the estimates of counts simulated from
        the fit scatter. The interval is that of λ on the scale on which the mean p over Ξ is the
        estimate's; :meth:`quantity` has those of relative values. It holds the chance in counts,
        not errors of the model: where `misfit` says that the counts do not follow it, intervals are
        too narrow. Measured coverage: `benchmarks/results/`.

        Examples
        --------
        >>> from uncletc import fit, simulate
        >>> y, _ = simulate((6, 5, 4), rank=1, observed=0.8, attributed=0.8, seed=1)
        >>> model = fit(y, rank=1)
        >>> found = model.rate([[0, 0, 0], [5, 4, 3]], spread=True)
        >>> bool((found.low < found.estimate).all() and (found.estimate < found.high).all())
        True
        """
        where = check_indices(indices, self.shape, "indices")
        return self._found("rate", self._rates(where), where, np.empty((0, 0)), spread, level)

    def rate_tensor(self) -> FloatArray:
        """λ of every entry, shape (I_1, …, I_K); as large as the dense tensor, times members."""
        per_unit = combined([member.rate_tensor() for member in self.members])
        if self.mode_effects is not None:
            every = np.indices(self.shape).reshape(len(self.shape), -1).T
            per_unit *= self._above_likeliest(every).reshape(self.shape)
        return np.asarray(per_unit if self.exposure is None else per_unit * self.exposure)

    @overload
    def detection(self, attributes: ArrayLike, indices: ArrayLike | None = ...) -> FloatArray: ...
    @overload
    def detection(
        self,
        attributes: ArrayLike,
        indices: ArrayLike | None = ...,
        *,
        spread: Literal[True],
        level: float = ...,
    ) -> Interval: ...
    def detection(
        self,
        attributes: ArrayLike,
        indices: ArrayLike | None = None,
        *,
        spread: bool = False,
        level: float = 0.9,
    ) -> FloatArray | Interval:
        """p = g(z), detection probabilities (paper, eq. 4c and 9).

        Parameters
        ----------
        attributes : array_like of float, shape (n, D)
            z, on the scale used in the fit.
        indices : array_like of int, shape (n, K), optional
            Entries that have them, with the effects of modes on detection there. None: p of the
            attributes alone.
        spread : bool
            Return an :class:`Interval`. Where the data state the scale it ends at 1, or at the
            estimate where that is larger. See :meth:`rate`.
        level : float
            Nominal coverage of the interval, in (0, 1).

        Returns
        -------
        ndarray, shape (n,), or Interval
            p > 0, up to the free scale: the geometric mean of the members; 1 when the fit had no
            attributes (then D = 0). The joint solver sets the scale so that the largest p over
            Ξ is 1; block coordinate descent leaves it where it stopped.
        """
        z = check_finite(attributes, "attributes", 2)
        where = None if indices is None else check_indices(indices, self.shape, "indices")
        self.check_rows(z, where)
        values = [member.detection(z, where) for member in self.members]
        where = np.empty((0, len(self.shape)), dtype=np.int64) if where is None else where
        return self._found("detection", values, where, z, spread, level)

    @overload
    def expected(self, indices: ArrayLike, attributes: ArrayLike | None = ...) -> FloatArray: ...
    @overload
    def expected(
        self,
        indices: ArrayLike,
        attributes: ArrayLike | None = ...,
        *,
        spread: Literal[True],
        level: float = ...,
    ) -> Interval: ...
    def expected(
        self,
        indices: ArrayLike,
        attributes: ArrayLike | None = None,
        *,
        spread: bool = False,
        level: float = 0.9,
    ) -> FloatArray | Interval:
        """ŷ = λ·g(z), the predicted reported count; it has no free scale.

        Effects on reporting, where the fit has any, multiply it.

        Parameters
        ----------
        indices : array_like of int, shape (n, K)
        attributes : array_like of float, shape (n, D), optional
            z of the same entries; a row of NaN where they are unknown, for which p is
            `mean_detection`. None: unknown for all.
        spread : bool
            Return an :class:`Interval` of λ·p, not of a count. See :meth:`rate`.
        level : float
            Nominal coverage of the interval, in (0, 1).

        Examples
        --------
        >>> from uncletc import fit, simulate
        >>> y, _ = simulate((6, 5, 4), rank=1, observed=0.8, attributed=0.8, seed=1)
        >>> model = fit(y, rank=1)
        >>> bool(model.expected([[0, 0, 0]], [[0.5] * y.n_attributes])[0] > 0)
        True
        """
        where, z = self._expected_of(indices, attributes)
        return self._found("expected", self._expectations(where, z), where, z, spread, level)

    def expected_counts(self, counts: CountTensor) -> FloatArray:
        """ŷ of the counted entries of counts with the fit's shape and attributes; (N,)."""
        z = counts.attributes_at(counts.indices, unknown_as_nan=True)
        return self.expected(counts.indices, z)

    def mean(
        self,
        of: Quantity,
        indices: ArrayLike,
        attributes: ArrayLike | None = None,
        *,
        groups: ArrayLike | None = None,
        level: float = 0.9,
    ) -> Interval:
        """Means of λ, p or λp over sets of entries, with intervals.

        Errors of entries that share a row of a factor, or attributes, do not average out as
        independent ones would: the interval of a mean comes from the draws of all parameters, not
        from the intervals of its entries.

        Parameters
        ----------
        of : {"rate", "detection", "expected"}
            λ, p or ŷ = λp.
        indices : array_like of int, shape (n, K)
        attributes : array_like of float, shape (n, D), optional
            As in :meth:`expected`. Not needed for λ.
        groups : array_like of int, shape (n,), optional
            Number ≥ 0 of the set to which each entry belongs. None: all are one set.
        level : float
            Nominal coverage of the intervals, in (0, 1).

        Returns
        -------
        Interval
            Of each set, in the order of their numbers; NaN for a number without entries.

        Raises
        ------
        ValueError
            As :meth:`rate`; or if `of` or `groups` is not one of the above.

        Examples
        --------
        >>> from uncletc import fit, simulate
        >>> y, _ = simulate((6, 5, 4), rank=1, observed=0.8, attributed=0.8, seed=1)
        >>> model = fit(y, rank=1)
        >>> by_first = model.mean("rate", y.indices, groups=y.indices[:, 0])  # Interval of 6 means
        >>> by_first.estimate.shape
        (6,)
        """
        check_choice("of", of, get_args(Quantity))
        where, z = self._expected_of(indices, attributes)
        own = check_groups(groups, len(where), "entry")
        values = self.of_members(of, where, z)
        centre, sizes, draws = combined(values), np.bincount(own), self.require_draws()
        with np.errstate(invalid="ignore"):  # 0/0 is NaN where a number has no entries
            means = [np.bincount(own, value) / sizes for value in (centre, *values)]
        drawn, independent = draws.log_sums(of, self.members[0], where, z, centre, own)
        shared, beyond = draws.widths(of)
        variance = shared**2 * np.square(drawn).mean(axis=1) + beyond * independent
        deviation, most = np.sqrt(variance + between(means[1:])), self._most(of)
        return interval(means[0], deviation, level, most, of_counts=self.of_counts(of))

    def quantities(
        self,
        counts: CountTensor,
        indices: IntArray,
        scale: Scale,
        level: float = 0.9,
        reported: FloatArray | None = None,
    ) -> dict[str, Interval]:
        """Return λ, p and ŷ of entries on a scale: "rate", "detection" and "expected".

        The parameters are those of :meth:`quantity`.
        """
        return {of: self.quantity(of, counts, indices, scale, level, reported) for of in QUANTITIES}

    def quantity(
        self,
        of: Quantity,
        counts: CountTensor,
        indices: IntArray,
        scale: Scale,
        level: float = 0.9,
        reported: FloatArray | None = None,
    ) -> Interval:
        """Return λ, p or ŷ of entries on a scale.

        Parameters
        ----------
        counts : CountTensor
            Whose attributes the entries have; p of an entry without is `mean_detection`.
        indices : ndarray of int, shape (n, K)
            Valid entries.
        scale : Scale
        level : float
            Nominal coverage of the intervals, in (0, 1).
        reported : ndarray, shape (n,), optional
            What bounds λ from below, unless reports come late; see
            :meth:`uncletc.Scale.rate_interval`.

        Returns
        -------
        Interval
            On a free scale that of p over the median p, or of λ times the median. Its ends are NaN
            of a fit without draws, and those of p and ŷ of entries without attributes, since draws
            do not have how uncertain a p is that nobody knows.
        """
        check_kind("scale", scale, Scale)
        z = counts.attributes_at(indices, unknown_as_nan=True)[:, : self.n_attributes]
        known = ~np.isnan(z).any(axis=1)
        values, shifts = self.of_members(of, indices, z), None
        low, high = np.full((2, len(indices)), np.nan)
        if self.draws is not None:
            known |= of == "rate"
            if of != "expected" and not scale.absolute:
                shifts = self.median_shifts(counts)
                shifts = shifts.of_rate if of == "rate" else shifts
            each = [value[known] for value in values]
            own = self._found(of, each, indices[known], z[known], True, level, shifts)
            low[known], high[known] = cast(Interval, own).low, cast(Interval, own).high
        found = Interval(combined(values), low, high, level)
        if of == "rate":
            return scale.rate_interval(found, None if self.reports_late else reported)
        return found if of == "expected" else scale.detection_interval(found)

    def median_shifts(self, counts: CountTensor) -> Shifts:
        """Return what makes p relative to its median over the places that have a count.

        Parameters
        ----------
        counts : CountTensor
            Those that were fitted.
        """
        rows = counts.seen_rows
        rows = rows[np.linspace(0, len(rows) - 1, min(len(rows), _ROWS_FOR_MEDIAN)).astype(int)]
        z, where = counts.attributes[rows], counts.attribute_indices[rows]
        if not len(rows):  # p is one number, which no entry has
            z = np.empty((1, 0))
        p = [member.detection(z, where if len(rows) else None) for member in self.members]
        logs = np.log(np.maximum(p, 1e-300))
        members = np.median(logs, axis=1)
        if self.draws is None:
            return Shifts(members[0] - members, np.empty(0))
        drawn = self.draws.log_deviations("detection", self.members[0], where, z)
        drawn = logs[0] + drawn / self.draws.widening[QUANTITIES.index("detection")]
        smooth = not self.network_trained and not self.anchored_by
        widening = LEVEL_WIDENED if smooth else 1.0
        return Shifts(members[0] - members, members[0] - np.median(drawn, axis=1), widening)

    def of_counts(self, of: Quantity) -> bool:
        """Whether λ or ŷ rests on counts of its levels alone; see :func:`ensemble.interval`."""
        elsewhere = self.settings.closed or self.anchored_by or self.members[0].mode_effects
        return of != "detection" and not elsewhere

    def of_members(
        self, of: Quantity, indices: IntArray, attributes: FloatArray
    ) -> list[FloatArray]:
        """λ, p or λp of valid entries under each member; (n,) each.

        Parameters
        ----------
        of : {"rate", "detection", "expected"}
        indices : ndarray of int, shape (n, K)
        attributes : ndarray, shape (n, D)
            A row of NaN where they are unknown, for which p is `mean_detection`.
        """
        if of == "rate":
            return self._rates(indices)
        if of == "detection":
            return self._detections(indices, attributes)
        return self._expectations(indices, attributes)

    def _found(
        self,
        of: Quantity,
        values: list[FloatArray],
        indices: IntArray,
        attributes: FloatArray,
        spread: bool,
        level: float,
        shifts: Shifts | None = None,
    ) -> FloatArray | Interval:
        """λ, p or λp of each entry, or its interval, from that under each member."""
        if not spread:
            return combined(values)
        most = self._most(of) if shifts is None else math.inf
        own = shifts or Shifts(np.zeros(len(values)), np.zeros(1))
        given = of, self.members[0], indices, attributes, own.drawn
        deviation = own.widening * self.require_draws().deviation(*given)
        scaled = [value * np.exp(by) for value, by in zip(values, own.members, strict=True)]
        deviation = np.sqrt(deviation**2 + between(scaled))
        return interval(combined(values), deviation, level, most, of_counts=self.of_counts(of))

    def _expected_of(
        self, indices: ArrayLike, attributes: ArrayLike | None
    ) -> tuple[IntArray, FloatArray]:
        """Return checked indices and attributes, rows of NaN where these are unknown."""
        where = check_indices(indices, self.shape, "indices")
        if attributes is None:
            return where, np.full((len(where), self.n_attributes), np.nan)
        z = np.asarray(attributes, dtype=np.float64)
        unknown = np.asarray(np.isnan(z).all(axis=-1))
        if not self.n_attributes and unknown.all():  # attributes have names, and no entry has any
            return where, np.empty((len(where), 0))
        check_finite(np.where(unknown[..., None], 0.0, z), "attributes", 2)
        self.check_rows(z, where)
        return where, z

    def check_rows(self, z: FloatArray, where: IntArray | None = None) -> None:
        """Reject attributes (n, ·) that are not those of the fit, or of other entries."""
        if where is not None and len(where) != len(z):
            raise ValueError(
                f"indices and attributes must have as many rows, got {len(where)} and {len(z)}"
            )
        if z.shape[1] != self.n_attributes:
            raise ValueError(
                f"attributes must have {self.n_attributes} columns, as in the fit, got {z.shape[1]}"
            )

    def _rates(self, indices: IntArray) -> list[FloatArray]:
        """λ of valid entries under each member; (n,) each."""
        times = exposure_at(self.exposure, indices) * self._above_likeliest(indices)
        return [member.rate(indices) * times for member in self.members]

    def _above_likeliest(self, indices: IntArray) -> FloatArray:
        """Mean λ of valid entries over λ of the likeliest effects; (n,)."""
        if self.draws is None or self.mode_effects is None:
            return np.ones(len(indices))
        half = self.draws.half_variance(self.members[0], indices)
        return np.asarray(np.exp(half - self.log_offset))

    def _detections(self, indices: IntArray, z: FloatArray) -> list[FloatArray]:
        """p of valid entries with attributes, or rows of NaN, under each member; (n,) each."""
        unknown = np.asarray(np.isnan(z).all(axis=1))
        found = []
        for member in self.members:
            p = member.detection(np.where(unknown[:, None], 0.0, z))
            p = np.where(unknown, self.mean_detection, p)
            effects = member.mode_effects
            found.append(p if effects is None else p * effects.detection(indices))
        return found

    def _expectations(self, indices: IntArray, z: FloatArray) -> list[FloatArray]:
        """λp, times reporting, of valid entries under each member; (n,) each."""
        p = self._detections(indices, z)
        both = zip(self.members, self._rates(indices), p, strict=True)
        return [rate * p * member.reporting(indices) for member, rate, p in both]

    def _most(self, of: Quantity) -> float:
        """What intervals end at: those of p on a free scale, where the largest is 1, at nothing."""
        bounded = of == "detection" and (self.anchored_by or self.settings.closed)
        return 1.0 if bounded else math.inf
