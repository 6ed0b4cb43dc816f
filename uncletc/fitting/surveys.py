"""What surveys say of a finished fit: its scale, and how groups of entries compare.

A fit gives the true number, or p, of the group of each survey with errors that draws of its
parameters have in common. Those errors and the survey's own are nearly normal on the log scale, so
that parameters, the free scale included, follow from both by regression: the fit is the prior, with
a flat one for the scale. Each draw is conditioned on surveys with errors drawn for it (Matheron's
rule), and so has the spread that is left.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.stats import chi2

from uncletc.common.validation import FloatArray, IntArray
from uncletc.data.counts import CountTensor
from uncletc.data.entries import flat_index
from uncletc.data.surveys import Survey
from uncletc.model.detection import JointDetection
from uncletc.model.features import AttributeFeatures
from uncletc.model.slopes import layers_drawn
from uncletc.result.ensemble import Member, between, combined
from uncletc.result.fit_result import Fit
from uncletc.result.posterior import Draws, Float32Array, Quantity
from uncletc.solvers.joint.alignment import detection_over, observed_detection

_MOST_DRAWN = 20_000  # entries of a group whose deviations are drawn
_RARE = 0.01  # chance of as large a difference below which surveys and fit disagree
_FARTHEST = 1.645  # standard errors by which p may exceed 1
_ROUNDS = 2  # of regressions: means over effects, and p, are not linear on the log scale
_SMALLEST = 1e-300


def condition_on_surveys(fit: Fit, counts: CountTensor) -> Fit:
    """Return a fit of these counts conditioned on their surveys; itself where these say nothing.

    Parameters
    ----------
    fit : Fit
        As the joint solver found it from the counts alone.
    counts : CountTensor
    """
    surveys = [each for each in counts.surveys if each.informative]
    if not surveys or fit.draws is None:
        return fit
    if fit.network is None:
        fit = _with_level(fit)
    groups = [_entries(each, counts) for each in surveys]
    seen = _Seen.of(fit, counts, surveys, groups)
    names = f"{len(surveys)} survey{'s' * (len(surveys) > 1)}"
    anchored = ", ".join(filter(None, [fit.anchored_by, names]))
    found, gap = fit, seen.gap
    for _ in range(_ROUNDS):
        shift, draws, doubt = seen.learn(fit.require_draws(), gap, free=not fit.anchored_by)
        found = _moved(fit, counts, shift, draws)
        now = np.array(
            [_log_of(found, counts, *each) for each in zip(surveys, groups, strict=True)]
        )
        gap = seen.gap - (now - seen.middle - shift.expected)
    doubt = doubt or _more_reported(found, counts, draws)
    p = detection_over(list(found.members), counts)
    own = observed_detection(list(found.members), p, counts, fit.mu)
    return replace(found, observed_detection=own, anchored_by=anchored, survey_misfit=doubt)


def _moved(fit: Fit, counts: CountTensor, shift: _Shift, draws: Draws) -> Fit:
    """Return a fit with moved parameters, other draws and the same sum of expected counts."""
    found, before = replace(fit, draws=draws), _total(fit, counts)
    for _ in range(2):
        members = [shift.applied(member) for member in fit.members]
        p = detection_over(members, counts)
        mean = float(p.mean()) if p.size else fit.mean_detection * math.exp(-shift.level)
        found = replace(_of_members(members, found), mean_detection=mean)
        more = math.log(max(_total(found, counts), _SMALLEST) / before)
        shift = replace(shift, level=shift.level + more)
    return found


@dataclass(frozen=True, eq=False)
class _Shift:
    """How far surveys move the parameters of a fit.

    Attributes
    ----------
    level : float
        Logarithm of the factor by which p is divided, beside what its coefficients do.
    expected : ndarray, shape (J,)
        How far the logarithm of the fit's estimate of each survey moves by that, to first order.
    factors : list of ndarray, shapes (I_k, F)
        Of log U_k.
    coefficients, slopes : ndarray
        Of what :class:`~uncletc.result.posterior.Draws` has under these names.
    tables : list of ndarray, shapes (levels,)
        Of effects of modes.
    """

    level: float
    expected: FloatArray
    factors: list[FloatArray]
    coefficients: FloatArray
    slopes: FloatArray
    tables: list[FloatArray]

    def applied(self, member: Member) -> Member:
        """Return a member that is moved so far."""
        pairs = zip(member.factors, self.factors, strict=True)
        g, effects, modes = member.network, member.effects, member.mode_effects
        if effects is not None:
            effects = replace(effects, coefficients=effects.coefficients + self.slopes)
        if modes is not None:
            tables = [table.copy() for table in modes.tables]
            for effect, table, change in zip(modes.effects, tables, self.tables, strict=True):
                own = table[0] if effect.reporting else table
                own += change.reshape(own.shape)
            modes = replace(modes, tables=tuple(tables))
        assert isinstance(g, JointDetection)
        return Member(
            tuple(factor * np.exp(change) for factor, change in pairs),
            self._applied_to(g),
            effects,
            modes,
        )

    def _applied_to(self, g: JointDetection) -> JointDetection:
        n = len(g.coefficients)
        theta = g.coefficients + self.coefficients[:n]
        layers, first = list(g.layers), n
        for i in range(len(layers))[layers_drawn(g, len(self.coefficients))]:
            size = layers[i].size
            change = self.coefficients[first : first + size].reshape(layers[i].shape)
            layers[i], first = layers[i] + change, first + size
        return replace(
            g,
            coefficients=np.where(g.features.monotone, np.maximum(theta, 0.0), theta),
            layers=tuple(layers),
            log_scale=g.log_scale - self.level,
        )


@dataclass(frozen=True, eq=False)
class _Seen:
    """What a fit says of the groups of J surveys.

    Attributes
    ----------
    middle : ndarray, shape (J,)
        Logarithm of the fit's estimate for each survey.
    gap : ndarray, shape (J,)
        Logarithm of each survey's own estimate over that.
    sign : ndarray, shape (J,)
        1 of true numbers, which grow with the scale of λ; -1 of p.
    drawn : ndarray, shape (J, R)
        Deviations of the logarithm of the fit's estimate in each draw.
    variance : ndarray, shape (J,)
        Of what no draw has: the error of the survey above all.
    """

    middle: FloatArray
    gap: FloatArray
    sign: FloatArray
    drawn: FloatArray
    variance: FloatArray

    @classmethod
    def of(
        cls, fit: Fit, counts: CountTensor, surveys: Sequence[Survey], groups: Sequence[IntArray]
    ) -> _Seen:
        """Sum λ, and ŷ for p, over the group of each survey."""
        drawn, variance = [], []
        for survey, where in zip(surveys, groups, strict=True):
            deviations, more = _deviations(fit, counts, "rate", where)
            if survey.of == "p":
                others, also = _deviations(fit, counts, "expected", where)
                deviations, more = others - deviations, max(more, also)
            drawn.append(deviations)
            variance.append(survey.log_variance + more)
        pairs = zip(surveys, groups, strict=True)
        middle = np.array([_log_of(fit, counts, *pair) for pair in pairs])
        return cls(
            middle=middle,
            gap=np.log([each.estimate for each in surveys]) - middle,
            sign=np.array([1.0 if each.of == "number" else -1.0 for each in surveys]),
            drawn=np.array(drawn),
            variance=np.array(variance),
        )

    def learn(self, draws: Draws, gap: FloatArray, *, free: bool) -> tuple[_Shift, Draws, str]:
        """Return how far surveys move parameters, draws about where these are then, and a doubt.

        The doubt is that surveys disagree with the fit, or with one another; empty: none.

        Parameters
        ----------
        draws : Draws
            Of the fit.
        gap : ndarray, shape (J,)
            `gap`, less what is not linear.
        free : bool
            Whether nothing else sets the scale.
        """
        size, wide = len(draws.level), draws.widths("rate")[0]
        drawn = wide * self.drawn
        inverse = np.linalg.inv(drawn @ drawn.T / size + np.diag(self.variance))
        weights = np.zeros(len(self.gap))
        if free:
            weights = inverse @ self.sign / (self.sign @ inverse @ self.sign)
        level = float(weights @ gap)
        gap = gap - level * self.sign
        noise = np.random.default_rng(len(self.gap)).standard_normal(drawn.shape)
        errors = drawn + np.sqrt(self.variance)[:, None] * noise
        levels = -weights @ errors
        errors += self.sign[:, None] * levels
        gain = drawn.T @ inverse / size
        mixed = (np.eye(size) - gain @ errors).astype(np.float32)
        step = wide * gain @ gap

        def moved(values: Float32Array) -> tuple[FloatArray, FloatArray]:
            every = values[..., np.arange(size) % values.shape[-1]]
            return every @ step, np.asarray(every @ mixed, dtype=np.float64)

        factors = [moved(each) for each in draws.factors]
        theta, slopes, offset = map(moved, (draws.coefficients, draws.slopes, draws.level))
        tables = [moved(each) for each in draws.tables]
        factors[0] = factors[0][0] + level, factors[0][1] + levels / wide
        shift = _Shift(
            level=level + float(offset[0]),
            expected=drawn @ (drawn.T @ (inverse @ gap)) / size + level * self.sign,
            factors=[each for each, _ in factors],
            coefficients=theta[0],
            slopes=slopes[0],
            tables=[each for each, _ in tables],
        )
        learnt = replace(
            draws,
            factors=tuple(each.astype(np.float32) for _, each in factors),
            coefficients=theta[1].astype(np.float32),
            slopes=slopes[1].astype(np.float32),
            level=(offset[1] + levels / wide).astype(np.float32),
            # Numbers of half precision, as files have them.
            tables=tuple(each.astype(np.float16).astype(np.float32) for _, each in tables),
        )
        return shift, learnt, self._disagreement(float(gap @ inverse @ gap), free=free)

    def _disagreement(self, square: float, *, free: bool) -> str:
        free_values = len(self.gap) - free
        if not free_values or chi2.sf(square, free_values) > _RARE:
            return ""
        return (
            f"surveys differ from what the fit says of their groups by more than their errors and "
            f"its own allow (χ² {square:.1f}, {free_values} degrees of freedom)"
        )


def _with_level(fit: Fit) -> Fit:
    """Return a fit without attributes with p as one number, which can be other than 1."""
    assert fit.draws is not None
    features = AttributeFeatures.of(np.empty((1, 0)), np.random.default_rng(0), curved=False)
    one = JointDetection(features, np.zeros(1), log_scale=math.log(2))
    nothing = np.zeros((1, len(fit.draws.level)), dtype=np.float32)
    members = [replace(member, network=one) for member in fit.members]
    return replace(_of_members(members, fit), draws=replace(fit.draws, coefficients=nothing))


def _of_members(members: Sequence[Member], fit: Fit) -> Fit:
    first, *others = members
    return replace(
        fit,
        factors=first.factors,
        network=first.network,
        effects=first.effects,
        mode_effects=first.mode_effects,
        others=tuple(others),
    )


def _entries(survey: Survey, counts: CountTensor) -> IntArray:
    """Entries that a survey is about; of p those that were counted."""
    where = survey.entries(counts.every_group, counts.modes, counts.shape)
    if survey.of == "p":
        where = where[
            np.isin(flat_index(where, counts.shape), flat_index(counts.indices, counts.shape))
        ]
    if not len(where):
        raise ValueError("a survey must concern at least one entry, and of p one that was counted")
    return where


def _log_of(fit: Fit, counts: CountTensor, survey: Survey, where: IntArray) -> float:
    """Logarithm of what a fit says that a survey should find."""
    total = max(float(fit.rate(where).sum()), _SMALLEST)
    if survey.of == "p":
        return math.log(max(_total(fit, counts, where), _SMALLEST) / total)
    return math.log(total)


def _deviations(
    fit: Fit, counts: CountTensor, of: Quantity, where: IntArray
) -> tuple[FloatArray, float]:
    """Deviations of log Σλ or log Σŷ of entries in each draw (R,), and its other variance."""
    if len(where) > _MOST_DRAWN:
        where = np.random.default_rng(0).choice(where, _MOST_DRAWN, replace=False)
    draws, group = fit.require_draws(), np.zeros(len(where), dtype=np.int64)
    z = counts.attributes_at(where, unknown_as_nan=True)
    each = fit.of_members(of, where, z)
    drawn, independent = draws.log_sums(of, fit.members[0], where, z, combined(each), group)
    sums = [value.sum(keepdims=True) for value in each]
    return drawn[0], draws.widths(of)[1] * float(independent[0]) + float(between(sums)[0])


def _total(fit: Fit, counts: CountTensor, where: IntArray | None = None) -> float:
    """Σŷ of entries, by default of those that were counted."""
    where = counts.indices if where is None else where
    return float(fit.expected(where, counts.attributes_at(where, unknown_as_nan=True)).sum())


def _more_reported(fit: Fit, counts: CountTensor, draws: Draws) -> str:
    """Say that surveys leave fewer true events than were reported, where that is no chance."""
    ratio = math.log(counts.counts.sum() / max(fit.rate(counts.indices).sum(), _SMALLEST))
    if ratio <= _FARTHEST * float(draws.level.std()):
        return ""
    return "by the surveys fewer events happened than were reported"
