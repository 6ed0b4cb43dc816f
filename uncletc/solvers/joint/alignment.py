"""Bring members to one scale and order of components, and start members from an earlier fit."""

import math
from dataclasses import replace

import numpy as np
import torch
from scipy.optimize import linear_sum_assignment
from torch import Tensor

from uncletc.common.validation import FloatArray
from uncletc.data.counts import CountTensor
from uncletc.model.detection import JointDetection
from uncletc.model.features import AttributeFeatures
from uncletc.result.ensemble import Member, combined
from uncletc.solvers.joint.dispersion import level_of

_ROWS = 65_536  # entries evaluated at once


def align(
    members: list[Member], counts: CountTensor, *, anchored: bool = False
) -> tuple[list[Member], FloatArray]:
    """Bring members to the scale and the order of components of the first; their p as well.

    Members are scaled by the median ratio of their p to the first member's, and all of them so that
    the largest of their common p over Ξ is 1, unless counts with a known p anchor the scale of
    each. Their components are matched to those of the first by
    the product of cosines over modes.

    Returns
    -------
    list of Member
    ndarray, shape (S,)
        As :func:`detection_over` returns it of these.
    """
    z, first = counts.attributes, members[0]
    shifts, p = np.zeros(len(members)), np.empty(0)
    if z.size:
        found = [member.detection(z) for member in members]
        if not anchored:
            logs = [np.log(own) for own in found]
            shifts = np.array([float(np.median(logs[0] - log)) for log in logs])
            common = sum(log + shift for log, shift in zip(logs, shifts, strict=True)) / len(logs)
            shifts -= float(np.max(common))
        scaled = [own * math.exp(shift) for own, shift in zip(found, shifts, strict=True)]
        p, effects = combined(scaled), [m.mode_effects for m in members if m.mode_effects]
        if effects:
            p = p * combined([each.detection(counts.attribute_indices) for each in effects])
    aligned = []
    for member, shift in zip(members, shifts.tolist(), strict=True):
        order = _matching(member.factors, first.factors)
        factors = tuple(
            factor[:, order] * math.exp(-shift / len(member.factors)) for factor in member.factors
        )
        network = member.network
        if isinstance(network, JointDetection):
            network = replace(network, log_scale=network.log_scale + shift)
        aligned.append(replace(member, factors=factors, network=network))
    return aligned, p


def _matching(factors: tuple[FloatArray, ...], reference: tuple[FloatArray, ...]) -> FloatArray:
    """Order of the components of `factors` that best matches those of `reference`; (F,)."""
    similarity = np.ones((reference[0].shape[1], factors[0].shape[1]))
    for target, factor in zip(reference, factors, strict=True):
        norms = np.outer(np.linalg.norm(target, axis=0), np.linalg.norm(factor, axis=0))
        similarity *= target.T @ factor / np.maximum(norms, 1e-30)
    return np.asarray(linear_sum_assignment(-similarity)[1])


def nearest_coefficients(features: AttributeFeatures, member: Member, z: FloatArray) -> Tensor:
    """Coefficients whose logit over `z` is closest to a member's; (Q,)."""
    p = np.minimum(member.detection(z), 1e6)
    logit = np.log(p) - np.log1p(-np.minimum(p / (p.max() * 1.01), 1 - 1e-9))
    if isinstance(member.network, JointDetection):
        raw = member.network
        logit = (raw.features(torch.tensor(z)) @ torch.from_numpy(raw.coefficients)).numpy()
    design = features(torch.tensor(z))
    ridge = 1e-6 * len(z) * torch.eye(features.n_features, dtype=torch.float64)
    solution: Tensor = torch.linalg.solve(design.T @ design + ridge, design.T @ torch.tensor(logit))
    return torch.where(torch.from_numpy(features.monotone), solution.clamp_min(0.0), solution)


def detection_over(members: list[Member], counts: CountTensor) -> FloatArray:
    """p of all members over Ξ (S,); empty without attributes."""
    if not counts.attributes.size:
        return np.empty(0)
    given = counts.attributes, counts.attribute_indices
    return combined([member.detection(*given) for member in members])


def entry_detection(
    members: list[Member], p_attributed: FloatArray, counts: CountTensor, unattributed: float
) -> FloatArray:
    """p of the observed entries, from that over Ξ (S,), or of members without attributes; (N,).

    The single rule for entries without attributes: they get what
    :func:`unattributed_detection` returns.
    """
    if p_attributed.size:
        rows = counts.attribute_rows
        return np.where(rows >= 0, p_attributed[rows], unattributed)
    nothing = np.empty((counts.n_observed, 0))
    return combined([member.detection(nothing, counts.indices) for member in members])


def unattributed_detection(
    members: list[Member], rate: FloatArray, p: FloatArray, counts: CountTensor, mu: float
) -> float:
    """p of entries without attributes: its mean over Ξ (S,), as far as their counts agree.

    Their p may be another in the mean: covariates are missing where few look, too. A mean that
    missed it would draw λ and p of all others away. Without attributes p is one number.
    """
    if not p.size:
        return float(combined([member.detection(np.empty((1, 0))) for member in members])[0])
    mean, variance = float(p.mean()), float(p.var())
    without = counts.attribute_rows < 0
    expected = torch.from_numpy(rate[without] * mean)
    scatter = torch.tensor(1 / (1 / mu + variance / mean**2))
    level = level_of(torch.from_numpy(counts.counts[without]), expected, scatter)
    return min(mean * float(level), 1.0)


def observed_detection(
    members: list[Member],
    rate: FloatArray,
    p_attributed: FloatArray,
    counts: CountTensor,
    mu: float,
    unattributed: float,
) -> FloatArray:
    """p times the mean of each entry's deviation given its count; (N,).

    `rate` (N,) is λ as :func:`observed_rate` returns it, and `p_attributed` (S,) p over Ξ; entries
    without attributes take `unattributed`, or p of the members if Ξ is empty, and may deviate as
    much as p does over Ξ.
    """
    variance = 0.0
    if p_attributed.size:
        variance = float(p_attributed.var()) / float(p_attributed.mean()) ** 2
    p = entry_detection(members, p_attributed, counts, unattributed)
    entry_mu = np.where(counts.attribute_rows >= 0, mu, 1 / (1 / mu + variance))
    return np.asarray(p * (counts.counts + entry_mu) / (p * rate + entry_mu))


def observed_rate(members: list[Member], counts: CountTensor) -> FloatArray:
    """λ of the observed entries, times what effects make of their reporting; (N,)."""
    rate = np.empty(counts.n_observed)
    for start in range(0, counts.n_observed, _ROWS):
        where = counts.indices[start : start + _ROWS]
        found = combined([m.rate(where) * m.reporting(where) for m in members])
        rate[start : start + _ROWS] = found * counts.exposure_at(where)
    return rate
