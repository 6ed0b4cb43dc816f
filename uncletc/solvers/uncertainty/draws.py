"""Draws of what the parameters of a fit may be, from the curvature of its likelihood.

About the optimum the joint posterior of (log U_1, …, log U_K, θ) is nearly normal, with the
information matrix

    H = Σ_i w_i s_i s_iᵀ / φ + that of the priors,    w_i = m_i / (1 + m_i / μ_i),

where s_i is the derivative of log m_i, m = λp: by log U_k(i_k, f) it is component f's share of
λ_i, for every mode alike; by θ it is (1 - p) times the features, by β x. With a network, its
weights are part of θ, those of its output alone if it is large. Coefficients of monotone curves
that are 0, at their bound, stay there. R draws of N(0, H⁻¹) are kept: intervals of single entries,
of sets of entries and of products follow from them. H itself, by parts, is in
:mod:`~uncletc.solvers.uncertainty.information`.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import torch
from scipy.special import expit
from torch import Tensor

from uncletc.common.validation import FloatArray
from uncletc.model.detection import DetectionNetwork
from uncletc.model.slopes import logit_slopes, varying_layers
from uncletc.result.posterior import Draws, Float32Array
from uncletc.solvers.joint.optimum import Optimum
from uncletc.solvers.uncertainty.information import Information

_MOST_DRAWN = 25_000_000  # numbers in all draws: 100 MB
DRAWS, _FEWEST_DRAWS = 200, 20  # 200 give standard deviations within 5 %
# Least and largest factors by which draws of a network are widened: λ, p and λp of 10 problems that
# need one were off by 1.0-1.3, 1.5-3.8 and 1.2-2.8 times what the curvature says.
_LEAST_WIDENING, _WIDEST = (1.15, 1.45, 1.15), 5.0
# Factor of the deviations of the mean p, about which smooth curves are biased: it was off by 1.65
# times what the curvature says on 21 problems of three kinds, by .85 times on 7 of a fourth. With
# 1.6 intervals of mean p over sets held too much, with 1 those of p too little. A network, whose
# errors are measured, needs none: on six problems sets held mean p in .98 of cases with 1.3, in .97
# with 1.
LEVEL_WIDENED = 1.3
_ROWS_FOR_LEVEL = 4_096  # of Ξ, whose mean p the draws share


def draws_of(optimum: Optimum, elsewhere: FloatArray, seed: int, size: int = DRAWS) -> Draws | None:
    """Draw deviations of the parameters of a fit.

    Parameters
    ----------
    optimum : Optimum
    elsewhere : ndarray, shape (S, D)
        z of Ξ, over which all draws have the same mean p.
    seed : int
    size : int
        R; fewer are drawn of very many parameters.

    Returns
    -------
    Draws or None
        None if there are too many parameters for even a few draws, or the information matrix is
        not positive definite.
    """
    size = min(size, _MOST_DRAWN // sum(f.numel() for f in optimum.factors))
    if size < _FEWEST_DRAWS:
        return None
    g = optimum.member().network
    assert not isinstance(g, DetectionNetwork)
    level = np.empty(0)
    if g is not None:
        z = elsewhere[:: max(len(elsewhere) // _ROWS_FOR_LEVEL, 1)]
        z = z if g.n_attributes else np.empty((1, 0))  # then p is one number
        varying = varying_layers(g, len(optimum.rows))
        logit, slopes = g.logit(torch.tensor(z)).numpy(), logit_slopes(g, z, varying)
        p = expit(logit)
        level = (p * (1 - p)) @ slopes / p.sum()
    try:
        information = Information.of(optimum, g, np.pad(level, (0, len(optimum.slopes))))
        factors, theta = information.draw(size, np.random.default_rng(seed))
        if optimum.drawn is not None:
            drawn = np.tile(optimum.drawn[1], (1, size // optimum.drawn[1].shape[1] + 1))[:, :size]
            weights = theta[len(optimum.curves) : len(theta) - len(optimum.slopes)]
            theta = np.insert(drawn, [len(optimum.curves)], weights, axis=0)
        theta, beta = np.split(theta, [len(theta) - len(optimum.slopes)])
        theta = theta[: len(level)]  # without attributes of p there is nothing to tell of its level
    except np.linalg.LinAlgError:
        return None
    shift, observations = np.zeros(size), optimum.observations
    if optimum.known is not None:
        error = observations.shared_error if observations is not None else 0.0
        shift = error * np.random.default_rng((seed, 1)).standard_normal(size)
    elif g is not None:
        drawn = expit(logit[:, None] + slopes @ theta)
        shift = np.log(drawn.sum(axis=0) / p.sum())
        if optimum.unseen is None:
            shift *= LEVEL_WIDENED
    factors[0] += shift
    draws = Draws(
        factors=tuple(np.ascontiguousarray(f, dtype=np.float32) for f in factors),
        coefficients=theta.astype(np.float32),
        level=shift.astype(np.float32),
        slopes=beta.astype(np.float32),
        tables=tuple(_brief(t) for t in optimum.drawn[0]) if optimum.drawn else (),
    )
    if g is None or optimum.unseen is None:
        return draws
    return replace(draws, widening=_widening(optimum, optimum.unseen, draws))


def _brief(table: FloatArray) -> Float32Array:
    """Numbers of half precision, as files keep them."""
    return table.astype(np.float16).astype(np.float32)


def _widening(optimum: Optimum, unseen: Tensor, draws: Draws) -> tuple[float, float, float]:
    """How much wider than its draws a network is, from counts that it had not seen.

    The curvature of a network's likelihood knows one of its optima, not what it cannot express. If
    ŷ of an unseen entry is off by a factor of relative variance f²·s², s² being that of the draws,
    (y - ŷ)² less the variance of a count is f²·s²ŷ² in the mean: weighted least squares give f².
    Its root serves, since the network that was judged had fewer entries and half of the steps. What
    then exceeds s² is put down to p.
    """
    judged = ~torch.isnan(unseen)
    y, mean, mu = (values[judged].numpy() for values in (optimum.counts, unseen, optimum.mu))
    where = torch.stack(optimum.where, dim=1)[judged].numpy()
    z = optimum.z(judged[: len(optimum.rows)]).numpy()
    member = optimum.member()
    of_mean = draws.deviation("expected", member, where, z) ** 2
    of_p = draws.deviation("detection", member, where, z) ** 2
    noise = optimum.dispersion * (mean + mean**2 / mu)
    signal = of_mean * mean**2
    weight = 1 / (noise + signal) ** 2
    excess = (y - mean) ** 2 - noise
    ratio = float((weight * signal * excess).sum() / (weight * signal**2).sum())
    ratio = math.sqrt(max(ratio, 1.0))
    in_p = float(np.median(of_mean / np.maximum(of_p, 1e-30)))
    found = (1.0, math.sqrt(1 + (ratio - 1) * in_p), math.sqrt(ratio))
    rate, p, expected = (
        min(max(pair), _WIDEST) for pair in zip(found, _LEAST_WIDENING, strict=True)
    )
    return rate, p, expected
