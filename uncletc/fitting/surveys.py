"""What surveys say of a finished fit: its scale, and how groups of entries compare.

A fit gives the true number, or p, of the group of each survey with errors that draws of its
parameters have in common. Those errors and the survey's own are nearly normal on the log scale, so
that parameters, the free scale included, follow from both by regression: the fit is the prior, with
a flat one for the scale. Each draw is conditioned on surveys with errors drawn for it (Matheron's
rule), and so has the spread that is left.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.special import chdtrc

from uncletc.common.validation import FloatArray, IntArray
from uncletc.data.counts import CountTensor
from uncletc.data.entries import flat_index
from uncletc.data.surveys import Survey
from uncletc.model.detection import JointDetection, layers_drawn
from uncletc.model.features import AttributeFeatures
from uncletc.model.negbin import SizeLaw
from uncletc.result.ensemble import Member, between, combined
from uncletc.result.fit_result import Fit
from uncletc.result.posterior import Draws, Float32Array, Quantity
from uncletc.solvers.joint import alignment

_MOST_DRAWN = 20_000  # entries of a group whose deviations are drawn
_BETWEEN = 0.1  # scale of the half-Cauchy prior of what surveys differ by beyond their errors
_MOST_BETWEEN = 0.5  # standard deviation of logs above which they say nothing of the level
_RARE = 0.01  # chance of as large a difference below which known p disagree
_SELDOM = 0.03  # the same of surveys and the fit, which a few with large errors hardly show
_FARTHEST = 1.645  # standard errors by which p may exceed 1
_LEAST_ERROR = 0.05  # of a known p in tests, as no p is known better
_SURE = 0.02  # error of the level by chance, below which known p leave curves nothing to say
_SMALLEST = 1e-300


def pool_known(fit: Fit, counts: CountTensor) -> Fit:
    """Return a fit on the scale that observation processes with a known p state together.

    The likelihood takes every known p as exact, so that the process with most counts decides; and
    where few counts have one, the form of the logistic curve, which has no free factor, says as
    much of the level. Here each process states the scale with its own error: the mean by these
    errors is taken, whose own error is larger by the root of χ² over its degrees of freedom where
    they differ by more (Birge's ratio). One alone that leaves the form nothing to say stays.

    Parameters
    ----------
    fit : Fit
        As the joint solver found it.
    counts : CountTensor
    """
    said, given, doubt, more = [], [], "", 0.0
    for process in counts.observations if fit.draws else ():
        known, name = ~np.isnan(process.known_detection), process.name
        if not (y := process.counts[known]).any():
            continue
        at, seeing = process.indices[known], (process.known_detection * process.exposure)[known]
        mean = np.maximum(fit.rate(at) * seeing, _SMALLEST)
        law = SizeLaw(fit.mu_of_observations[name], fit.powers_of_observations.get(name, 0.0))
        weights = 1 / (1 + mean * law.phi(mean))  # those of the likelihood
        seen, expected = weights @ y, weights * mean
        ratio = seen / expected.sum()
        squares = weights @ ((y - ratio * mean) ** 2 / mean) / ratio
        chance = max(squares / max(len(y) - 1, 1), 1.0) / seen
        # The logarithm of a mean is too low by half of its variance.
        said.append((math.log(ratio) + chance / 2, process.known_error, chance))
        z = counts.attributes_at(at, unknown_as_nan=True)
        given.append((fit.members[0], at, z, expected, np.zeros_like(y)))
    if not said or (len(said) == 1 and said[0][2] < _SURE**2):
        return fit
    differ, error, by_chance = np.array(said).T
    variance, least = error**2 + by_chance, np.maximum(error, _LEAST_ERROR) ** 2 + by_chance
    weights = 1 / variance / (1 / variance).sum()
    level, degrees = float(weights @ differ), len(said) - 1
    squares = float(((differ - level) ** 2 / least).sum())
    if degrees and chdtrc(degrees, squares) < _RARE:
        more = max(squares / degrees / (1 / least).sum() - 1 / (1 / variance).sum(), 0.0)
        doubt = (
            "observation processes with a known p differ by more than their errors allow "
            f"(χ² {squares:.1f}, {degrees} degree{'s' * (degrees > 1)} of freedom)"
        )
        if differ.std(ddof=1) > _MOST_BETWEEN:
            return replace(fit, anchored_by="", survey_misfit=doubt)
    draws, size = fit.require_draws(), len(fit.require_draws().level)
    drawn = np.stack([draws.log_sums("rate", *each)[0][0] for each in given])
    noise = np.random.default_rng(size).normal(0, math.sqrt(1 / (1 / variance).sum() + more), size)
    shift = _mixed(draws, np.zeros((size, 1)), np.array([level]))
    draws = _mixed(draws, np.eye(size), noise - weights @ drawn)
    found = _of_members([_moved(member, shift) for member in fit.members], fit, counts)
    return replace(found, draws=draws, survey_misfit=doubt)


def condition_on_surveys(fit: Fit, counts: CountTensor) -> Fit:
    """Return a fit of these counts conditioned on their surveys; itself where these say nothing.

    Surveys that disagree with the fit or one another leave the level open. They are not used
    either, nor are those that leave fewer true events than were reported, and both are said.

    Parameters
    ----------
    fit : Fit
        As the joint solver found it from the counts alone.
    counts : CountTensor
    """
    surveys = counts.surveys
    if not surveys or fit.draws is None:
        return fit
    fit = _with_level(fit)
    shift, draws, doubt, grave = _conditioned(fit, counts, surveys)
    doubt = "; ".join(filter(None, [fit.survey_misfit, doubt]))
    if grave:
        return replace(fit, anchored_by="", survey_misfit=doubt)
    # What is linear on the log scale leaves expected counts a little off, for which p makes up.
    before = _total(fit, counts, counts.indices)
    for _ in range(2):
        found = _of_members([_moved(member, shift) for member in fit.members], fit, counts)
        more = math.log(max(_total(found, counts, counts.indices), _SMALLEST) / before)
        shift = replace(shift, level=shift.level + np.float32(more))
    share = math.log(counts.counts.sum() / max(found.rate(counts.indices).sum(), _SMALLEST))
    if share > _FARTHEST * float(draws.level.std()):
        doubt = "by the surveys fewer events happened than were reported, so that they are not used"
        return replace(fit, survey_misfit=doubt)
    names = f"{len(surveys)} survey{'s' * (len(surveys) > 1)}"
    names = ", ".join(filter(None, [fit.anchored_by, names]))
    return replace(found, draws=draws, anchored_by=names, survey_misfit=doubt)


def _conditioned(
    fit: Fit, counts: CountTensor, surveys: Sequence[Survey]
) -> tuple[Draws, Draws, str, bool]:
    """Return how far surveys move parameters (R = 1), draws after that, and a doubt, maybe grave.

    As in a meta-analysis with random effects, where there are several surveys each has a further
    error, whose standard deviation has a half-Cauchy prior (Gelman 2006). The doubt is that surveys
    differ by more than their own errors allow; empty: they do not. It is grave where the further
    error is above `_MOST_BETWEEN`.
    """
    seen = zip(*(_seen(fit, counts, survey) for survey in surveys), strict=True)
    middle, drawn, variance = map(np.array, seen)
    draws = fit.require_draws()
    sign = np.array([1.0 if s.of == "number" else -1.0 for s in surveys])
    size, wide, free = len(draws.level), draws.widths("rate")[0], not fit.anchored_by
    drawn *= wide
    degrees = len(surveys) - free
    differ = np.log([each.estimate for each in surveys]) - middle
    roots = (np.arange(24) + 0.5) / 24 if degrees else np.zeros(1)
    between = roots**2
    solved, squares, evidence = [], [], []
    for each in between:
        inverse = np.linalg.inv(drawn @ drawn.T / size + np.diag(variance + each**2))
        known = float(sign @ inverse @ sign)
        weights = free * (inverse @ sign) / known
        gain, level = drawn.T @ inverse / size, float(weights @ differ)
        gap = differ - level * sign
        solved.append((weights, gain, level, gain @ gap))
        squares.append(float(gap @ inverse @ gap))
        log_inverse = np.linalg.slogdet(inverse)[1] - free * math.log(known)
        evidence.append((log_inverse - squares[-1]) / 2)
    chance = np.exp(np.array(evidence) - max(evidence))
    if degrees:
        chance *= roots / (1 + (between / _BETWEEN) ** 2)
    chance /= chance.sum()
    level, move = (chance @ np.array([each[k] for each in solved]) for k in (2, 3))
    # Draws have these standard deviations as often as they are likely.
    rng = np.random.default_rng(len(surveys))
    noise, place = rng.standard_normal(drawn.shape), (rng.permutation(size) + 0.5) / size
    of_draw = np.minimum(np.searchsorted(chance.cumsum(), place), len(chance) - 1)
    weighted, raised = np.eye(size), np.empty(size)
    for k, (weights, gain, own_level, own_move) in enumerate(solved):
        at = np.flatnonzero(of_draw == k)
        errors = drawn[:, at] + np.sqrt(variance + between[k] ** 2)[:, None] * noise[:, at]
        levels = -weights @ errors
        weighted[:, at] += (own_move - move)[:, None] - gain @ (errors + np.outer(sign, levels))
        raised[at] = own_level - level + levels
    shift = _mixed(draws, wide * move[:, None], np.array([level]))
    found = _mixed(draws, weighted, raised / wide)
    if not degrees or chdtrc(degrees, squares[0]) > _SELDOM:
        return shift, found, "", False
    doubt = (
        "surveys differ from what the fit says of their groups by more than their errors and "
        f"its own allow (χ² {squares[0]:.1f}, {degrees} degrees of freedom)"
    )
    deviation = math.sqrt(chance @ between**2)
    if deviation > _MOST_BETWEEN:
        return shift, found, doubt, True
    doubt += f"; intervals hold a further error of {deviation:.0%} of each"
    return shift, found, doubt, False


def _mixed(draws: Draws, weights: FloatArray, levels: FloatArray) -> Draws:
    """Return weighted sums of draws, weights (R, n), in which λ and 1/p grow by `levels` (n,)."""

    def of(values: Float32Array) -> Float32Array:
        every = values[..., np.arange(len(weights)) % values.shape[-1]]
        return np.asarray(every @ weights, dtype=np.float32)

    mixed, more = draws.mapped(of), levels.astype(np.float32)
    # Numbers of half precision, as files have them.
    return replace(
        mixed,
        factors=(mixed.factors[0] + more, *mixed.factors[1:]),
        level=mixed.level + more,
        tables=tuple(of(each).astype(np.float16).astype(np.float32) for each in draws.tables),
    )


def _seen(fit: Fit, counts: CountTensor, survey: Survey) -> tuple[float, FloatArray, float]:
    """Return what a fit says that a survey should find: its log, that in draws, other variance."""
    where = survey.entries(counts.every_group, counts.modes, counts.shape)
    if survey.of == "p":
        counted = flat_index(counts.indices, counts.shape)
        where = where[np.isin(flat_index(where, counts.shape), counted)]
    if not len(where):
        raise ValueError("a survey must concern at least one entry, and of p one that was counted")
    draws, some, n = fit.require_draws(), where, len(where)
    if n > _MOST_DRAWN:
        some = np.random.default_rng(0).choice(where, _MOST_DRAWN, replace=False)
    z = counts.attributes_at(some, unknown_as_nan=True)

    def deviations(of: Quantity) -> tuple[FloatArray, float]:
        """Deviations of log Σλ or log Σŷ in each draw (R,), and its other variance."""
        each, group = fit.of_members(of, some, z), np.zeros(len(some), dtype=np.int64)
        drawn, independent = draws.log_sums(of, fit.members[0], some, z, combined(each), group)
        sums = [value.sum(keepdims=True) for value in each]
        return drawn[0], draws.widths(of)[1] * float(independent[0]) + float(between(sums)[0])

    # Whether true counts or p scatter by 1/μ counts do not say: either may be what is surveyed.
    share = (rate := fit.rate(some)) / max(float(rate.sum()), _SMALLEST)
    scatter = float(fit.inverse_mu(fit.expected(some, z)) @ share**2) * len(some) / n
    total = math.log(max(float(fit.rate(where).sum()), _SMALLEST))
    drawn, more = deviations("rate")
    if survey.of == "p":
        others, also = deviations("expected")
        total = math.log(max(_total(fit, counts, where), _SMALLEST)) - total
        drawn, more = others - drawn, max(more, also)
    return total, drawn, survey.log_variance + more + math.log1p(scatter)


def _total(fit: Fit, counts: CountTensor, where: IntArray) -> float:
    """Σŷ of entries."""
    return float(fit.expected(where, counts.attributes_at(where, unknown_as_nan=True)).sum())


def _with_level(fit: Fit) -> Fit:
    """Return a fit whose p is one number, other than 1 if need be, where it has no attributes."""
    if fit.network is not None or fit.draws is None:
        return fit
    features = AttributeFeatures.of(np.empty((1, 0)), np.random.default_rng(0), curved=False)
    one = JointDetection(features, np.zeros(1), log_scale=math.log(2))
    others = tuple(replace(member, network=one) for member in fit.others)
    draws = replace(fit.draws, coefficients=np.zeros_like(fit.draws.level[None]))
    return replace(fit, network=one, others=others, draws=draws)


def _of_members(members: list[Member], fit: Fit, counts: CountTensor) -> Fit:
    p, first = alignment.detection_over(members, counts), members[0]
    rate = alignment.observed_rate(members, counts)
    others = alignment.unattributed_detection(members, rate, p, counts, fit.mu)
    return replace(
        fit,
        **vars(first),
        others=tuple(members[1:]),
        mean_detection=others,
        observed_detection=alignment.observed_detection(members, rate, p, counts, fit.mu, others),
    )


def _moved(member: Member, shift: Draws) -> Member:
    """Return a member whose parameters are moved by deviations (R = 1)."""
    g, effects, modes = member.network, member.effects, member.mode_effects
    assert isinstance(g, JointDetection)
    own, tables = layers_drawn(g, len(shift.coefficients)), []
    sizes = np.cumsum([len(g.coefficients), *(layer.size for layer in g.layers[own])])
    change, *more = np.split(shift.coefficients[:, 0].astype(np.float64), sizes[:-1])
    theta, layers = g.coefficients + change, list(g.layers)
    layers[own] = [w + d.reshape(w.shape) for w, d in zip(g.layers[own], more, strict=True)]
    if effects is not None:
        effects = replace(effects, coefficients=effects.coefficients + shift.slopes[:, 0])
    if modes is not None:
        every = zip(modes.effects, modes.tables, shift.tables, strict=True)
        for effect, table, own_change in every:
            tables.append(table.copy())
            of_process = tables[-1][0] if effect.reporting else tables[-1]
            of_process += own_change.reshape(of_process.shape)
        modes = replace(modes, tables=tuple(tables))
    g = replace(
        g,
        coefficients=np.where(g.features.monotone, np.maximum(theta, 0.0), theta),
        layers=tuple(layers),
        log_scale=g.log_scale - float(shift.level[0]),
    )
    pairs = zip(member.factors, shift.factors, strict=True)
    factors = tuple(factor * np.exp(d[..., 0].astype(np.float64)) for factor, d in pairs)
    return Member(factors, g, effects, modes)
