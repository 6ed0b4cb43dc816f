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
from dataclasses import replace

import numpy as np
from scipy.special import chdtrc

from uncletc.common.validation import FloatArray, IntArray
from uncletc.data.counts import CountTensor
from uncletc.data.entries import flat_index
from uncletc.data.surveys import Survey
from uncletc.model.detection import JointDetection, layers_drawn
from uncletc.model.features import AttributeFeatures
from uncletc.result.ensemble import Member, between, combined
from uncletc.result.fit_result import Fit
from uncletc.result.posterior import Draws, Float32Array, Quantity
from uncletc.solvers.joint.alignment import detection_over, observed_detection, observed_rate

_MOST_DRAWN = 20_000  # entries of a group whose deviations are drawn
_RARE = 0.01  # chance of as large a difference below which surveys and fit disagree
_FARTHEST = 1.645  # standard errors by which p may exceed 1
_SMALLEST = 1e-300


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
    shift, draws, doubt = _conditioned(fit, counts, surveys)
    if doubt:
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
    return replace(found, draws=draws, anchored_by=names)


def _conditioned(
    fit: Fit, counts: CountTensor, surveys: Sequence[Survey]
) -> tuple[Draws, Draws, str]:
    """Return how far surveys move parameters (R = 1), draws after that, and a doubt.

    The doubt is that surveys disagree with the fit, or with one another; empty: none.
    """
    middle, drawn, variance = map(
        np.array, zip(*(_seen(fit, counts, s) for s in surveys), strict=True)
    )
    draws = fit.require_draws()
    sign = np.array([1.0 if s.of == "number" else -1.0 for s in surveys])
    size, wide, free = len(draws.level), draws.widths("rate")[0], not fit.anchored_by
    drawn *= wide
    inverse = np.linalg.inv(drawn @ drawn.T / size + np.diag(variance))
    weights = free * (inverse @ sign) / (sign @ inverse @ sign)
    gap = np.log([each.estimate for each in surveys]) - middle
    level = float(weights @ gap)
    gap -= level * sign
    noise = np.random.default_rng(len(surveys)).standard_normal(drawn.shape)
    errors = drawn + np.sqrt(variance)[:, None] * noise
    levels = -weights @ errors
    errors += sign[:, None] * levels
    gain = drawn.T @ inverse / size
    shift = _mixed(draws, wide * gain @ gap[:, None], np.array([level]))
    learnt = _mixed(draws, np.eye(size) - gain @ errors, levels / wide)
    square, degrees = float(gap @ inverse @ gap), len(surveys) - free
    if not degrees or chdtrc(degrees, square) > _RARE:
        return shift, learnt, ""
    doubt = (
        "surveys differ from what the fit says of their groups by more than their errors and "
        f"its own allow (χ² {square:.1f}, {degrees} degrees of freedom)"
    )
    return shift, learnt, doubt


def _mixed(draws: Draws, weights: FloatArray, levels: FloatArray) -> Draws:
    """Return weighted sums of draws, weights (R, n), in which λ and 1/p grow by `levels` (n,)."""

    def of(values: Float32Array) -> Float32Array:
        every = values[..., np.arange(len(weights)) % values.shape[-1]]
        return np.asarray(every @ weights, dtype=np.float32)

    first, *others = map(of, draws.factors)
    half = np.float16  # numbers of half precision, as files have them
    return replace(
        draws,
        factors=(first + levels.astype(np.float32), *others),
        coefficients=of(draws.coefficients),
        level=of(draws.level) + levels.astype(np.float32),
        slopes=of(draws.slopes),
        tables=tuple(of(each).astype(half).astype(np.float32) for each in draws.tables),
    )


def _seen(fit: Fit, counts: CountTensor, survey: Survey) -> tuple[float, FloatArray, float]:
    """Return what a fit says that a survey should find: its log, that in draws, other variance."""
    where = survey.entries(counts.every_group, counts.modes, counts.shape)
    if survey.of == "p":
        counted = flat_index(counts.indices, counts.shape)
        where = where[np.isin(flat_index(where, counts.shape), counted)]
    if not len(where):
        raise ValueError("a survey must concern at least one entry, and of p one that was counted")
    total = math.log(max(float(fit.rate(where).sum()), _SMALLEST))
    drawn, more = _deviations(fit, counts, "rate", where)
    if survey.of == "p":
        others, also = _deviations(fit, counts, "expected", where)
        total = math.log(max(_total(fit, counts, where), _SMALLEST)) - total
        drawn, more = others - drawn, max(more, also)
    return total, drawn, survey.log_variance + more


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


def _total(fit: Fit, counts: CountTensor, where: IntArray) -> float:
    """Σŷ of entries."""
    return float(fit.expected(where, counts.attributes_at(where, unknown_as_nan=True)).sum())


def _with_level(fit: Fit) -> Fit:
    """Return a fit whose p is one number, other than 1 if need be, where it has no attributes."""
    if fit.network is not None or fit.draws is None:
        return fit
    features = AttributeFeatures.of(np.empty((1, 0)), np.random.default_rng(0), curved=False)
    one = JointDetection(features, np.zeros(1), log_scale=math.log(2))
    nothing = np.zeros((1, len(fit.draws.level)), dtype=np.float32)
    others = tuple(replace(member, network=one) for member in fit.others)
    draws = replace(fit.draws, coefficients=nothing)
    return replace(fit, network=one, others=others, draws=draws)


def _of_members(members: list[Member], fit: Fit, counts: CountTensor) -> Fit:
    p, first = detection_over(members, counts), members[0]
    rate = observed_rate(members, counts)
    mean = p if p.size else first.detection(np.empty((1, 0)))
    return replace(
        fit,
        factors=first.factors,
        network=first.network,
        effects=first.effects,
        mode_effects=first.mode_effects,
        others=tuple(members[1:]),
        mean_detection=float(mean.mean()),
        observed_detection=observed_detection(members, rate, p, counts, fit.mu),
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
        for effect, table, own_change in zip(
            modes.effects, modes.tables, shift.tables, strict=True
        ):
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
