"""Fit: factors and detection network; predicts λ, p and ŷ for any entry."""

from __future__ import annotations

import dataclasses
import importlib
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, cast, get_args, overload

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from uncletc.common.array_files import PathOrFile, read_arrays, write_arrays
from uncletc.common.validation import (
    FloatArray,
    IntArray,
    check_choice,
    check_finite,
    check_indices,
)
from uncletc.data.counts import CountTensor
from uncletc.data.entries import exposure_at
from uncletc.data.frames import frame_of
from uncletc.fitting.history import Iteration, StopReason, UnreadableFitError
from uncletc.fitting.settings import FitSettings
from uncletc.model.detection import JointDetection
from uncletc.model.random_effects import ModeEffects
from uncletc.model.rates import RateEffects
from uncletc.result.ensemble import Interval, Member, Network, between, combined, interval
from uncletc.result.fit_file import fit_from_arrays, fit_to_arrays
from uncletc.result.population import Population
from uncletc.result.posterior import Draws, Quantity
from uncletc.result.scale import Scale

# Dispersion above which a fit is called poor. Fits that found the optimum of simulated counts had
# at most 1.3, those stuck elsewhere 2.9 or more.
_MISFIT = 2.0

Callback = Callable[["Iteration[Fit]"], bool | None]


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Fit:
    """Estimates of λ and p, and a record of the fit.

    λ and p are known only up to one common factor: λ·c with p/c predict the same counts
    (paper, theorem 1). Use :class:`uncletc.Scale` to state an anchor. Where an observation process
    has a known p, or the same true counts were looked at several times (``FitSettings.closed``),
    the data state it: then `scale` says so, and λ and p are absolute as they stand.

    Attributes
    ----------
    factors : tuple of ndarray, shapes (I_k, F)
        U_k ≥ 0 of the first member, the likeliest. With several members :meth:`rate` is the
        geometric mean of their λ, which has no factors. The product of factors is λ per unit of
        exposure. A row whose slice holds no observed entry is the mean of its mode's other rows.
    network : DetectionNetwork or JointDetection, optional
        g of the first member, as `factors`. None when no entry had attributes; then p = 1
        throughout.
    others : tuple of Member
        The remaining members, on the scale and with the order of components of the first.
    dropped : tuple of str
        Why members are missing, a sentence each.
    exposure : ndarray, optional
        That of the counts, which λ is proportional to; None: 1 everywhere.
    observed_detection : ndarray, shape (N,)
        The auxiliary p of each observed entry, in the order of ``counts.indices``: what
        Algorithm 1 returns for Ω; with the joint solver, g times the mean of the entry's gamma
        deviation. It uses the entry's own count, so it is no prediction. Of closed fits g.
    history : tuple of Iteration
        The starting point first.
    stop : StopReason
    settings : FitSettings
    counts_digest : str
        :attr:`CountTensor.digest` of the data fitted.
    mean_detection : float
        Mean p over Ξ, used for entries with unknown attributes; 1 if Ξ is empty.
    mu : float
        The μ fitted with: that of the settings, or the likeliest if they leave it open. Of closed
        fits that of true counts, infinite for Poisson.
    likely_mu : float
        With the joint solver, the μ under which the counts are likeliest given λ and p: what the
        counts prefer where the settings chose otherwise. Else NaN.
    dispersion : float
        Pearson's statistic per degree of freedom, Σ (y - ŷ)²/(ŷ + ŷ²/μ) over N less the number of
        parameters: about 1 where counts scatter as the model allows, more where it misses them.
        NaN by block coordinate descent.
    draws : Draws, optional
        Of the parameters, for intervals. None by block coordinate descent, and while a fit runs.
    anchored_by : str
        What states the scale of λ and p: names of the observation processes whose p is known,
        "2 surveys", or "repeat visits"; empty: the scale is free.
    survey_misfit : str
        What surveys of the counts and the fit disagree on; empty: nothing.
    mu_of_observations : dict of str to float
        The likeliest μ of each further observation process, by its name.
    effects : RateEffects, optional
        What attributes do to λ in the first member, as `factors`; None where the counts have no
        `rate_attributes`.
    mode_effects : ModeEffects, optional
        Effects of modes and groups on λ, p and reporting in the first member, as `factors`; None
        where the settings ask for none.
    mu_power : float
        ν: the μ of an entry is `mu` times (ŷ/20) to this power. 0 without effects of modes.
    powers_of_observations : dict of str to float
        The same of each further observation process; empty without effects of modes.
    log_offset : float
        Logarithm of a common factor by which λ is divided, so that the sum of ŷ over Ω stays where
        it is with the likeliest effects of modes; see :meth:`rate`. 0 without such effects.
    network_gain : tuple of float, optional
        What held-out counts say of the network: by how much they are predicted better with it than
        without, in log score a count, and the standard error of that. None where none was judged.
    counts : CountTensor, optional
        What was fitted, which methods that take counts use where they get none. Not saved.
    population : Population, optional
        True numbers of a finished closed fit, each animal counted once, and whether the level of p
        can be believed: where it cannot, `scale` is None.

    Examples
    --------
    >>> from uncletc import fit, simulate
    >>> y, _ = simulate((12, 12, 12), rank=2, observed=0.3, seed=1)
    >>> found = fit(y, rank=2)
    >>> found.rate_tensor().shape, found.detection(y.attributes).shape == (len(y.attributes),)
    ((12, 12, 12), True)
    >>> print(found.summary())  # doctest: +ELLIPSIS
    counts          CountTensor(12 × 12 × 12, 518 observed (30.0%), ...
    >>> list(found.confint().columns), found.aic < fit(y, rank=1).aic
    (['ratio of', 'ratio', 'low', 'high'], True)
    >>> dict(found.to_xarray().sizes), list(found.to_datatree(draws=20))[:2]
    ({'mode 1': 12, 'mode 2': 12, 'mode 3': 12}, ['posterior', 'posterior_predictive'])
    """

    factors: tuple[FloatArray, ...]
    network: Network | None
    observed_detection: FloatArray
    history: tuple[Iteration[Fit], ...]
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
    survey_misfit: str = ""
    mu_of_observations: dict[str, float] = field(default_factory=dict)
    network_gain: tuple[float, float] | None = None
    counts: CountTensor | None = None
    population: Population | None = None

    def __repr__(self) -> str:
        size = " × ".join(str(size) for size in self.shape)
        last = self.history[-1]
        return (
            f"Fit({size}, rank {self.rank}, members {len(self.members)}, "
            f"{last.iteration} iterations, "
            f"objective {last.objective:.6g}, stopped: {self.stop.value})"
        )

    @property
    def shape(self) -> tuple[int, ...]:
        """I_k of each mode."""
        return tuple(len(factor) for factor in self.factors)

    @property
    def rank(self) -> int:
        """F, the number of components."""
        return int(self.factors[0].shape[1])

    @property
    def scale(self) -> Scale | None:
        """The scale that the data state, on which the fit already is; None: free."""
        return Scale.of_data(self.anchored_by) if self.anchored_by else None

    @property
    def misfit(self) -> str:
        """What is wrong if counts scatter far more than the model allows, or surveys differ."""
        if not self.dispersion > _MISFIT:
            return self.survey_misfit
        prefer = "a higher rank or other attributes may explain them"
        if self.likely_mu < self.mu / 2:
            prefer = f"they are likeliest with mu {self.likely_mu:.2g} instead of {self.mu:.4g}"
        return (
            f"counts scatter {self.dispersion:.1f} times as much about the fit as it allows; "
            f"{prefer}"
        )

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
            "intervals need a finished fit by the joint solver: this fit has no draws of its "
            f"parameters (solver {self.settings.solver.name!r})"
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
            itself for an attribute that does not vary.

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
        return interval(combined(ratios), np.sqrt(variance), level)

    @property
    def n_attributes(self) -> int:
        """D that :meth:`detection` expects; 0 without a network."""
        return 0 if self.network is None else self.network.n_attributes

    @overload
    def rate(self, indices: ArrayLike, *, spread: Literal[False] = ...) -> FloatArray: ...
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
        An interval is the estimate times or divided by exp(z·s), z the normal quantile. s is the
        standard deviation of the logarithm over draws of all parameters, factors and g together,
        from the curvature of their joint likelihood and priors, and the variance between members.
        Where counts are few, draws are widened by how much the estimates of counts simulated from
        the fit scatter. The interval is that of λ on the scale on which the mean p over Ξ is the
        estimate's. It holds the chance in counts, not errors of the model: where `misfit` says
        that the counts do not follow it, intervals are too narrow. Measured coverage:
        `benchmarks/results/`.
        """
        where = check_indices(indices, self.shape, "indices")
        values = self._rates(where)
        if not spread:
            return combined(values)
        return self._interval("rate", values, where, np.empty((0, 0)), level)

    def rate_tensor(self) -> FloatArray:
        """λ of every entry, shape (I_1, …, I_K); as large as the dense tensor, times members."""
        per_unit = combined([member.rate_tensor() for member in self.members])
        if self.mode_effects is not None:
            every = np.indices(self.shape).reshape(len(self.shape), -1).T
            per_unit *= self._above_likeliest(every).reshape(self.shape)
        return np.asarray(per_unit if self.exposure is None else per_unit * self.exposure)

    @overload
    def detection(
        self,
        attributes: ArrayLike,
        indices: ArrayLike | None = ...,
        *,
        spread: Literal[False] = ...,
    ) -> FloatArray: ...
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
            Return an :class:`Interval`, whose ends are at most 1, the largest p over Ξ, or the
            estimate. See :meth:`rate`.
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
        self._check_width(z)
        where = None if indices is None else check_indices(indices, self.shape, "indices")
        values = [member.detection(z, where) for member in self.members]
        if not spread:
            return combined(values)
        where = np.empty((0, len(self.shape)), dtype=np.int64) if where is None else where
        return self._interval("detection", values, where, z, level)

    @overload
    def expected(
        self,
        indices: ArrayLike,
        attributes: ArrayLike | None = ...,
        *,
        spread: Literal[False] = ...,
    ) -> FloatArray: ...
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
        """
        where, z = self._expected_of(indices, attributes)
        values = self._expectations(where, z)
        if not spread:
            return combined(values)
        return self._interval("expected", values, where, z, level)

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
        """
        check_choice("of", of, get_args(Quantity))
        where, z = self._expected_of(indices, attributes)
        own = np.zeros(len(where), dtype=np.int64) if groups is None else np.asarray(groups)
        if own.shape != (len(where),) or own.dtype.kind not in "iu" or (own < 0).any():
            raise ValueError(
                f"groups must be one whole number >= 0 for each of {len(where)} entries, "
                f"got {own.dtype} of shape {own.shape}"
            )
        values = self.of_members(of, where, z)
        centre, sizes, draws = combined(values), np.bincount(own), self.require_draws()
        with np.errstate(invalid="ignore"):  # 0/0 is NaN where a number has no entries
            means = [np.bincount(own, value) / sizes for value in (centre, *values)]
        drawn, independent = draws.log_sums(of, self.members[0], where, z, centre, own)
        shared, beyond = draws.widths(of)
        variance = shared**2 * np.square(drawn).mean(axis=1) + beyond * independent
        return interval(means[0], np.sqrt(variance + between(means[1:])), level, _most(of))

    @cached_property
    def log_likelihood(self) -> float:
        """Log-likelihood of `counts` given λ, p and μ.

        Of closed fits with one open mode that in which sites and true counts are integrated out;
        NaN of those with more.
        """
        if self._one_open_mode:
            return -self.history[-1].objective * len(self.observed_detection)
        return float("nan") if self.settings.closed else self._interop("log_likelihood", None)

    @property
    def n_parameters(self) -> int:
        """Number of parameters: factors of labels with counts, g, slopes of λ, and μ.

        Priors hold some of them, so that fewer are free; random effects are not among them.
        """
        counts = self._own(None)
        rows = sum(len(np.unique(counts.indices[:, k])) for k in range(len(self.shape)))
        n = self.rank * (rows - len(self.shape) + 1) + (self.settings.mu is None)
        if self._one_open_mode:
            n = 1 + (self.settings.mu is None)
        if self.network is not None and self.draws is not None:
            n += len(self.draws.coefficients)
        return n + (0 if self.effects is None else len(self.effects.coefficients))

    @property
    def aic(self) -> float:
        """Akaike's criterion, 2 `n_parameters` - 2 `log_likelihood`; lower is better.

        NaN with random effects, whose effective number of parameters is not known, and of closed
        fits with two open modes or more.
        """
        return math.nan if self.settings.effects else 2 * (self.n_parameters - self.log_likelihood)

    def summary(self, counts: CountTensor | None = None) -> Any:
        """Return the fit in numbers, which print as a table, in notebooks as HTML.

        Parameters
        ----------
        counts : CountTensor, optional
            What was fitted; needed of a fit that was read from a file.
        """
        return self._interop("summary", counts)

    def confint(self, counts: CountTensor | None = None, *, level: float = 0.9) -> pd.DataFrame:
        """Return what attributes do to λ and p, with intervals of nominal coverage `level`.

        A row of "rate" is the factor of λ for one standard deviation of the attribute; of
        "detection", p at its 95 % quantile over p at its 5 % quantile, all else as in the data, or
        p of a category over p of its reference.
        """
        found: pd.DataFrame = self._interop("confint", counts, level=level)
        return found

    def to_xarray(
        self,
        counts: CountTensor | None = None,
        *,
        scale: Scale | None = None,
        level: float = 0.9,
    ) -> Any:
        """Return a Dataset of λ, p and ŷ with intervals, over the labels of the modes.

        The parameters are those of :func:`uncletc.estimates.every_entry`, and so are the numbers.
        """
        return self._interop("to_xarray", counts, scale=scale, level=level)

    def to_datatree(
        self, counts: CountTensor | None = None, *, draws: int = 200, seed: int = 0
    ) -> Any:
        """Return draws as a DataTree that ArviZ reads: ``arviz.loo``, ``arviz.plot_ppc``.

        Groups are posterior (Σŷ, ratios of λ and p as in :meth:`confint`), posterior_predictive,
        log_likelihood and observed_data, over the counted entries. Draws are those of the
        intervals, from the curvature at the estimate: there is one chain, whose diagnostics say
        nothing. ArviZ before 1.0 reads ``arviz.from_datatree(tree)``.
        """
        return self._interop("to_datatree", counts, draws=draws, seed=seed)

    def plot_detection(self, counts: CountTensor | None = None, *, mode: str | None = None) -> Any:
        """Draw the mean p of each label of a mode, the first by default, with 90 % intervals.

        Returns a figure of Matplotlib, or of Plotly where only that is installed. Of more than 30
        labels the lowest and the highest 15 are drawn.
        """
        return self._interop("plot_detection", counts, mode=mode)

    def plot_effects(self, counts: CountTensor | None = None) -> Any:
        """Draw how p changes with each attribute, as ratios with 90 % intervals."""
        return self._interop("plot_effects", counts)

    @property
    def _one_open_mode(self) -> bool:
        return len(self.settings.closed) == len(self.shape) - 1

    def _own(self, counts: CountTensor | None) -> CountTensor:
        found = self.counts if counts is None else counts
        if found is None:
            raise ValueError("counts must be given for a fit that was read from a file, got None")
        return found

    def _interop(self, name: str, counts: CountTensor | None, **options: Any) -> Any:
        """Call a function of :mod:`uncletc.interop`, which a fit does not need itself."""
        function = getattr(importlib.import_module("uncletc.interop"), name)
        return function(self, self._own(counts), **options)

    def to_frame(
        self, counts: CountTensor | None = None, *, scale: Scale | None = None, level: float = 0.9
    ) -> pd.DataFrame:
        """Write the estimates as a table in long form.

        Parameters
        ----------
        counts : CountTensor, optional
            With the fit's shape and attributes: others of the same places. None: those fitted.
        scale : Scale, optional
            Of λ and p. None: as fitted, which is arbitrary.
        level : float
            Nominal coverage of the intervals, in (0, 1).

        Returns
        -------
        DataFrame
            One row per entry of Ω or Ξ, in the order of the modes: a column of labels per mode;
            "count" (NaN: not counted); "rate", "detection" and "expected", as
            :meth:`quantities` returns them. If the fit has draws, each of the three is followed by
            the ends of its interval, "rate_low" and "rate_high" for example.

        Raises
        ------
        ValueError
            If the counts have another shape or number of attributes, or a mode has the name of
            one of these columns.

        Examples
        --------
        >>> from uncletc import FitSettings, fit, simulate
        >>> y, _ = simulate((6, 6), rank=1, observed=0.5, attributed=0.5, similar=0.1)
        >>> estimates = fit(y, FitSettings(rank=1), callback=lambda i: i.iteration >= 2)
        >>> list(estimates.to_frame(y).columns)[:6]
        ['mode 1', 'mode 2', 'count', 'rate', 'rate_low', 'rate_high']
        """
        counts = self._own(counts)
        if (counts.shape, counts.n_attributes) != (self.shape, self.n_attributes):
            raise ValueError(
                f"counts must have shape {self.shape} and {self.n_attributes} attributes, as in "
                f"the fit, got {counts.shape} and {counts.n_attributes}"
            )
        scale = Scale(1.0, "as fitted", False) if scale is None else scale
        indices, y = counts.entries()
        columns = [*counts.label_columns(indices), ("count", y)]
        for name, found in self.quantities(counts, indices, scale, level).items():
            columns.append((name, found.estimate))
            if self.draws is not None:
                columns += [(f"{name}_low", found.low), (f"{name}_high", found.high)]
        return frame_of(columns)

    def quantities(
        self,
        counts: CountTensor,
        indices: IntArray,
        scale: Scale,
        level: float = 0.9,
        reported: FloatArray | None = None,
    ) -> dict[str, Interval]:
        """Return λ, p and ŷ of entries on a scale: "rate", "detection" and "expected".

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
            What bounds λ from below; see :meth:`uncletc.Scale.rate_interval`.

        Returns
        -------
        dict of str to Interval
            Its ends are NaN of a fit without draws, and those of p and ŷ of entries without
            attributes, since draws do not have how uncertain a p is that nobody knows.
        """
        known, z = np.ones(len(indices), dtype=bool), np.empty((len(indices), 0))
        if self.n_attributes:
            known = counts.rows_of(indices) >= 0
            z = counts.attributes_at(indices, unknown_as_nan=True)

        def found(of: Callable[..., Any], *given: Any) -> Interval:
            if self.draws is not None:
                return cast(Interval, of(*given, spread=True, level=level))
            values = of(*given)
            low, high = np.full((2, len(values)), np.nan)
            return Interval(values, low, high, level)

        rate, expected = found(self.rate, indices), found(self.expected, indices, z)
        expected.low[~known] = expected.high[~known] = np.nan
        p, low, high = np.full((3, len(indices)), np.nan)
        p[:], own = self.mean_detection, found(self.detection, z[known], indices[known])
        p[known], low[known], high[known] = own.estimate, own.low, own.high
        return {
            "rate": scale.rate_interval(rate, reported),
            "detection": scale.detection_interval(Interval(p, low, high, level)),
            "expected": expected,
        }

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

    def _interval(
        self,
        of: Quantity,
        values: list[FloatArray],
        indices: IntArray,
        attributes: FloatArray,
        level: float,
    ) -> Interval:
        """Interval of each entry, from λ, p or λp of it under each member."""
        deviation = self.require_draws().deviation(of, self.members[0], indices, attributes)
        total = np.sqrt(deviation**2 + between(values))
        return interval(combined(values), total, level, _most(of))

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
        self._check_width(z)
        if len(where) != len(z):
            raise ValueError(
                f"indices and attributes must have as many rows, got {len(where)} and {len(z)}"
            )
        return where, z

    def _check_width(self, z: FloatArray) -> None:
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
            effects = member.mode_effects
            of_places = np.ones(len(z)) if effects is None else effects.detection(indices)
            found.append(np.where(unknown, self.mean_detection, p) * of_places)
        return found

    def _expectations(self, indices: IntArray, z: FloatArray) -> list[FloatArray]:
        """λp, times reporting, of valid entries under each member; (n,) each."""
        p = self._detections(indices, z)
        both = zip(self.members, self._rates(indices), p, strict=True)
        return [rate * p * member.reporting(indices) for member, rate, p in both]

    def save(self, path: PathOrFile, *, compressed: bool = True) -> None:
        """Write to an ``.npz`` file (no pickle), its path or opened; :meth:`load` reads it back."""
        names = [field.name for field in dataclasses.fields(self) if field.name != "counts"]
        fields = {name: getattr(self, name) for name in names}
        write_arrays(path, *fit_to_arrays(fields, self.members), compressed=compressed)

    @classmethod
    def load(cls, path: PathOrFile) -> Fit:
        """Read what :meth:`save` wrote.

        Raises
        ------
        FileNotFoundError
            If the file does not exist.
        UnreadableFitError
            If the file is damaged or is not a fit.
        """
        try:
            return cls(**fit_from_arrays(*read_arrays(path)))
        except FileNotFoundError:
            raise
        except Exception as error:
            raise UnreadableFitError(
                f"path must be a fit written by Fit.save; {path} is not readable as one ({error})"
            ) from error


def _most(of: Quantity) -> float:
    """What intervals end at: the largest p over Ξ on the scale of a fit is 1."""
    return 1.0 if of == "detection" else math.inf
