"""Fit: a fitted model with its summaries, tables, plots and files."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from uncletc.common.serialization import PathOrFile, read_packed, write_packed
from uncletc.common.validation import FloatArray, check_whole
from uncletc.data.counts import CountTensor
from uncletc.data.entries import flat_index
from uncletc.data.frames import frame_of
from uncletc.data.groups import Group
from uncletc.effects import accumulated_effect, attribute_groups, partial_dependence
from uncletc.effects.curves import averaged, sample, validated
from uncletc.fitting.history import Iteration, StopReason, UnreadableFitError
from uncletc.fitting.settings import FitSettings
from uncletc.model.detection import DetectionNetwork, JointDetection
from uncletc.model.features import AttributeFeatures
from uncletc.model.negbin import log_scores
from uncletc.model.random_effects import Effect, ModeEffects
from uncletc.model.rates import RateEffects, RateTable
from uncletc.result.anchor import Anchor
from uncletc.result.assumptions import assumptions
from uncletc.result.ensemble import Member, interval
from uncletc.result.fitted_model import FittedModel
from uncletc.result.plots import Panel, draw
from uncletc.result.posterior import Doubt, Draws, Population
from uncletc.result.scale import Scale
from uncletc.solvers.options import BCD, Joint

if TYPE_CHECKING:
    import xarray as xr

_FROM, _TO = 0.05, 0.95  # quantiles of an attribute between which p is compared
_DRAWS = 200  # give standard deviations within 5 %
_ROWS = 200  # entries over which a ratio of p is averaged
_MOST_LABELS = 30
_FIT_FORMAT = 9  # raised whenever files of fits change their contents
_KINDS = (
    FitSettings,
    Joint,
    BCD,
    Iteration,
    StopReason,
    Member,
    JointDetection,
    AttributeFeatures,
    RateEffects,
    RateTable,
    ModeEffects,
    Effect,
    Group,
    Draws,
    Population,
    Doubt,
    dict,
)  # of which a file of a fit may consist
_NOTHING = 1e-6  # weights of a network's output below which p does not depend on it

Callback = Callable[["Iteration[Fit]"], bool | None]


@dataclass(frozen=True)
class Summary:
    """A fit in numbers, printed as text or, in a notebook, as HTML.

    Attributes
    ----------
    facts : dict of str to str
        What was fitted and how well, by name.
    table : DataFrame
        Effects of attributes; see :meth:`uncletc.Fit.confint`.
    """

    facts: dict[str, str]
    table: pd.DataFrame

    def __str__(self) -> str:
        width = max(map(len, self.facts)) + 2
        lines = [f"{name:<{width}}{value}" for name, value in self.facts.items()]
        if len(self.table):
            lines += ["", self.table.to_string(float_format="{:.3g}".format)]
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th>{escape(name)}</th><td>{escape(value)}</td></tr>"
            for name, value in self.facts.items()
        )
        table = self.table.to_html(float_format="{:.3g}".format) if len(self.table) else ""
        return f"<table>{rows}</table>{table}"


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Fit(FittedModel):
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
        p of entries with unknown attributes: the mean over Ξ, with the joint solver as far as
        their counts agree; 1 if Ξ is empty.
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
    residual_pattern : tuple of str
        The two modes over which residuals follow a pattern that a component more would take up;
        (): none is clear. Fits by the joint solver without effects of modes and without networks
        are tested.
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
    >>> list(found.confint().columns), found.aic > -2 * found.log_likelihood
    (['ratio of', 'ratio', 'low', 'high'], True)
    >>> dict(found.to_xarray().sizes), list(found.to_datatree(draws=20))[:2]
    ({'mode 1': 12, 'mode 2': 12, 'mode 3': 12}, ['posterior', 'posterior_predictive'])
    """

    def __repr__(self) -> str:
        size = " × ".join(str(size) for size in self.shape)
        last = self.history[-1]
        return (
            f"Fit({size}, rank {self.rank}, members {len(self.members)}, "
            f"{last.iteration} iterations, "
            f"objective {last.objective:.6g}, stopped: {self.stop.value})"
        )

    @cached_property
    def log_likelihood(self) -> float:
        """Log-likelihood of `counts` given λ, p and μ.

        Of closed fits with one open mode that in which sites and true counts are integrated out;
        NaN of those with more.
        """
        if self._one_open_mode:
            return -self.history[-1].objective * len(self.observed_detection)
        if self.settings.closed:
            return math.nan
        counts = self._own(None)
        mean = self.expected_counts(counts)
        return -float(log_scores(counts.counts, mean, self.inverse_mu(mean)).sum())

    @property
    def n_parameters(self) -> int:
        """Number of parameters: factors of labels with counts, g, slopes of λ, and μ.

        A network that training has shrunk to nothing, so that p does not depend on it, has none.
        Priors hold some of them, so that fewer are free; random effects are not among them.
        """
        counts = self._own(None)
        rows = sum(len(np.unique(counts.indices[:, k])) for k in range(len(self.shape)))
        n = 1 if self._one_open_mode else self.rank * (rows - len(self.shape) + 1)
        n += self.settings.mu is None
        if isinstance(self.network, JointDetection) and self.draws is not None:
            shrunk = np.abs(self.network.layers[-1:]).max(initial=0) < _NOTHING
            n += len((self.network if shrunk else self.draws).coefficients)
        return n + (0 if self.effects is None else len(self.effects.coefficients))

    @property
    def aic(self) -> float:
        """Akaike's criterion, 2 `n_parameters` - 2 `log_likelihood`; lower is better.

        NaN with random effects, whose effective number of parameters is not known, and of closed
        fits with two open modes or more.
        """
        return math.nan if self.settings.effects else 2 * (self.n_parameters - self.log_likelihood)

    def summary(self, counts: CountTensor | None = None) -> Summary:
        """Return the fit in numbers, which print as a table, in notebooks as HTML.

        Parameters
        ----------
        counts : CountTensor, optional
            What was fitted; needed of a fit that was read from a file.
        """
        counts = self._own(counts)
        fit, scale = replace(self, counts=counts), self.scale
        facts = {
            "counts": repr(counts),
            "rank": str(fit.rank),
            "iterations": f"{fit.history[-1].iteration}, {fit.stop.value}",
            "μ": f"{fit.mu:.4g}",
            "log-likelihood": f"{fit.log_likelihood:.1f}",
            "AIC": f"{fit.aic:.1f}",
            "dispersion": f"{fit.dispersion:.2f}" + (f" ({fit.misfit})" if fit.misfit else ""),
            "scale": scale.statement if scale else "relative: only ratios of λ and of p count",
        }
        if assumption := fit.assumption(counts):
            facts["p"] = assumption
        if fit.population is not None:
            number = fit.population.numbers()
            low, high = number.low[0], number.high[0]
            facts["N"] = fit.population.warning or (
                f"{number.estimate[0]:,.0f} (90 % interval {low:,.0f}–{high:,.0f}), "
                "each counted once"
            )
        network = " × ".join(map(str, fit.network_trained))
        facts["network"] = f"{network} units" if network else "none trained"
        if counts.simulated:
            facts["data"] = "simulated"
        return Summary(facts, self.confint(counts))

    def assumption(self, counts: CountTensor | None = None) -> str:
        """Say which attributes of p alone hardly vary wherever λ has a number of its own.

        That is within a level of a mode, whose factors are free, or of a random effect. Counts do
        not show whether p differs with them or what λ has there. That λ has nothing to do with them
        is then an assumption, unless further counts have a known p; the same holds for random
        effects on reporting, and so it is that p has nothing to do with attributes of λ alone. Also
        says which modes have levels without attributes, which two attributes act on p together,
        by a score test, although the fit has each act by itself. First it says which attributes
        counts show to act against their stated sign. Of a closed population: what the sampling
        design cannot show. Empty where nothing is assumed.

        Parameters
        ----------
        counts : CountTensor, optional
            What was fitted; needed of a fit that was read from a file.
        """
        return assumptions(self, self._own(counts))

    def confint(self, counts: CountTensor | None = None, *, level: float = 0.9) -> pd.DataFrame:
        """Return what attributes do to λ and p, with intervals of nominal coverage `level`.

        A row of "rate" is the factor of λ for one standard deviation of the attribute; of
        "detection", p at its 95 % quantile over p at its 5 % quantile, all else as in the data, or
        p of a category over p of its reference.
        """
        counts = self._own(counts)
        rows: list[tuple[str, str, str, float, float, float]] = []
        if self.effects is not None:
            found = self.rate_slopes(level=level)
            ranked = " of its ranks" if self.settings.by_ranks else ""
            ends = zip(found.estimate, found.low, found.high, strict=True)
            for name, each in zip(counts.rate_attribute_names, ends, strict=True):
                rows.append(("rate", name, f"λ per standard deviation{ranked}", *each))
        for name, words, logs in self._contrasts(counts, _DRAWS):
            squares = np.square(logs[1:] - logs[0]) if len(logs) > 1 else np.array([np.nan])
            found = interval(np.exp(logs[:1]), np.sqrt(squares.mean(keepdims=True)), level)
            rows.append(("detection", name, words, found.estimate[0], found.low[0], found.high[0]))
        names = ["acts on", "attribute", "ratio of", "ratio", "low", "high"]
        return pd.DataFrame(rows, columns=names).set_index(names[:2])

    def to_xarray(
        self, counts: CountTensor | None = None, *, scale: Scale | None = None, level: float = 0.9
    ) -> xr.Dataset:
        """Return a Dataset of λ, p and ŷ with intervals, over the labels of the modes.

        The parameters are those of :func:`uncletc.estimates.every_entry`, and so are the numbers.
        """
        from uncletc.estimates import every_entry
        from uncletc.estimates.files import to_dataset

        return to_dataset(every_entry(self._own(counts), self, scale, level=level))

    def to_datatree(
        self, counts: CountTensor | None = None, *, draws: int = 200, seed: int = 0
    ) -> xr.DataTree:
        """Return draws as a DataTree that ArviZ reads: ``arviz.loo``, ``arviz.plot_ppc``.

        Groups are posterior (Σŷ, ratios of λ and p as in :meth:`confint`), posterior_predictive,
        log_likelihood and observed_data, over the counted entries. Draws are those of the
        intervals, from the curvature at the estimate: there is one chain, whose diagnostics say
        nothing. ArviZ before 1.0 reads ``arviz.from_datatree(tree)``.
        """
        import xarray as xr

        counts = self._own(counts)
        own = self.require_draws().first(check_whole("draws", draws, 1))
        z = counts.attributes_at(counts.indices, unknown_as_nan=True)
        deviations = own.log_deviations("expected", self.members[0], counts.indices, z)
        expected = self.expected_counts(counts) * np.exp(deviations)
        phi = np.maximum(self.inverse_mu(expected), 1e-9)
        rng = np.random.default_rng(seed)
        repeated = rng.poisson(expected * rng.gamma(1 / phi, phi))
        each = zip(expected, phi, strict=True)
        scores = np.array([log_scores(counts.counts, mean, by) for mean, by in each])
        where: dict[str, Any] = {}
        columns = counts.label_columns(counts.indices)
        labels = {mode: ("entry", values.to_numpy()) for mode, values in columns}
        posterior: dict[str, Any] = {"expected_total": ("draw", expected.sum(axis=1))}
        if self.effects is not None:
            named = np.asarray(counts.rate_attribute_names)[self.effects.varies]
            slopes = self.effects.coefficients[:, None] + own.slopes
            posterior["rate_ratio"] = (("draw", "rate_attribute"), np.exp(slopes.T))
            where["rate_attribute"] = named
        ratios = {name: logs[1:] for name, _, logs in self._contrasts(counts, draws)}
        if ratios:
            posterior["detection_ratio"] = (("draw", "attribute"), np.exp([*ratios.values()]).T)
            where["attribute"] = list(ratios)

        def drawn(values: dict[str, Any], along: dict[str, Any]) -> xr.Dataset:
            along = along | {"draw": np.arange(len(expected))}
            return xr.Dataset(values, along).expand_dims(chain=[0])

        return xr.DataTree.from_dict(
            {
                "posterior": drawn(posterior, where),
                "posterior_predictive": drawn({"count": (("draw", "entry"), repeated)}, labels),
                "log_likelihood": drawn({"count": (("draw", "entry"), -scores)}, labels),
                "observed_data": xr.Dataset({"count": ("entry", counts.counts)}, labels),
            }
        )

    def plot_detection(self, counts: CountTensor | None = None, *, mode: str | None = None) -> Any:
        """Draw the mean p of each label of a mode, the first by default, with 90 % intervals.

        Returns a figure of Matplotlib, or of Plotly where only that is installed. Of more than 30
        labels the lowest and the highest 15 are drawn.
        """
        from uncletc.estimates import totals

        counts = self._own(counts)
        name = counts.modes[0] if mode is None else mode
        table = totals(counts, self, by=name).rename(columns=lambda c: c.removeprefix("relative_"))
        table = table.sort_values("detection")
        if len(table) > _MOST_LABELS:
            half = _MOST_LABELS // 2
            table = pd.concat([table.head(half), table.tail(half)])
        scale = Anchor().scale(counts, self)
        panel = Panel(
            f"p ({scale.statement})",
            table["detection"].to_numpy(),
            table["detection_low"].to_numpy(),
            table["detection_high"].to_numpy(),
            [str(label) for label in table.iloc[:, 0]],
        )
        return draw([panel])

    def plot_effects(self, counts: CountTensor | None = None) -> Any:
        """Draw how p changes with each attribute, as ratios with 90 % intervals."""
        counts = self._own(counts)
        panels = []
        for name, columns in attribute_groups(counts).items():
            one = len(columns) == 1
            found = (accumulated_effect if one else partial_dependence)(self, counts, name)
            nothing = np.full(len(found.ratio), np.nan)
            low = nothing if found.low is None else found.low
            high = nothing if found.high is None else found.high
            labels = [counts.attribute_names[j].removeprefix(f"{name}: ") for j in columns]
            at = found.values[:, 0] if one else ["reference", *labels][-len(found.ratio) :]
            panels.append(Panel(name, found.ratio, low, high, at))
        if not panels:
            raise ValueError("counts must have attributes that act on detection, they have none")
        return draw(panels)

    def _contrasts(self, counts: CountTensor, draws: int) -> Iterator[tuple[str, str, FloatArray]]:
        """Yield log ratios of p that each attribute makes: the fit's, then in draws; (1 + R,)."""
        for name, columns in (attribute_groups(counts) if self.n_attributes else {}).items():
            z, _ = validated(self, counts, name)
            if len(columns) > 1:
                values = np.vstack([np.zeros(len(columns)), np.eye(len(columns))])
                words = ["p against the reference"] * len(columns)
                names = [counts.attribute_names[j] for j in columns]
            else:
                values = np.quantile(z[:, columns], (_FROM, _TO), axis=0)
                words = [f"p at {values[1, 0]:.3g} against {values[0, 0]:.3g}"]
                names = [name]
            logs = averaged(self, sample(z, _ROWS), columns, values, draws=draws)
            yield from zip(names, words, (logs[:, 1:] - logs[:, :1]).T, strict=True)

    @property
    def _one_open_mode(self) -> bool:
        return len(self.settings.closed) == len(self.shape) - 1

    def _own(self, counts: CountTensor | None) -> CountTensor:
        found = self.counts if counts is None else counts
        if found is None:
            raise ValueError("counts must be given for a fit that was read from a file, got None")
        self.check_suits(found)
        return found

    def to_frame(
        self, counts: CountTensor | None = None, *, scale: Scale | None = None, level: float = 0.9
    ) -> pd.DataFrame:
        """Write the estimates as a table in long form.

        Parameters
        ----------
        counts : CountTensor, optional
            With the fit's shape and attributes: others of the same places. None: those fitted.
        scale : Scale, optional
            Of λ and p. None: that of the data where they state one, else as fitted, which is
            arbitrary.
        level : float
            Nominal coverage of the intervals, in (0, 1).

        Returns
        -------
        DataFrame
            One row per entry of Ω or Ξ, in the order of the modes: a column of labels per mode;
            "count" (NaN: not counted); "rate", "detection" and "expected", as
            :meth:`quantities` returns them. If the fit has draws, each of the three is followed by
            the ends of its interval, "rate_low" and "rate_high" for example. On an absolute scale
            intervals of λ begin at the count, or at λ where that is smaller, unless reports come
            late. Where repeat visits count the same events and the scale is known, "N" stands
            instead of "rate" for the counts that were fitted, as in
            :func:`uncletc.estimates.every_entry`.

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
        from uncletc.estimates.sums import with_numbers

        counts = self._own(counts)
        scale = scale or self.scale or Scale(1.0, "as fitted", False)
        indices, y = counts.entries()
        columns = [*counts.label_columns(indices), ("count", y)]
        for name, found in self.quantities(counts, indices, scale, level, y).items():
            columns.append((name, found.estimate))
            if self.draws is not None:
                columns += [(f"{name}_low", found.low), (f"{name}_high", found.high)]
        frame = frame_of(columns)
        if counts.digest != self.counts_digest:
            return frame
        flat = flat_index(indices, counts.shape)
        return with_numbers(frame, flat, self, counts, scale, level)

    def save(self, path: PathOrFile, *, compressed: bool = True) -> None:
        """Write to an ``.npz`` file (no pickle), its path or opened; :meth:`load` reads it back.

        Examples
        --------
        >>> import tempfile
        >>> from uncletc import fit, simulate
        >>> y, _ = simulate((6, 5, 4), rank=1, observed=0.8, attributed=0.8, seed=1)
        >>> model = fit(y, rank=1)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     model.save(f"{folder}/fit.npz")
        ...     again = Fit.load(f"{folder}/fit.npz")
        >>> bool((again.rate(y.indices) == model.rate(y.indices)).all())
        True
        """
        write_packed(path, self, _FIT_FORMAT, compressed=compressed)

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
        kinds: dict[str, Any] = {kind.__name__: kind for kind in (cls, *_KINDS)}
        kinds["DetectionNetwork"] = DetectionNetwork.of_weights
        return read_packed(path, cls, _FIT_FORMAT, kinds, UnreadableFitError)
