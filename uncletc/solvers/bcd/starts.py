"""Starting points of the solvers: random, from an earlier fit, or from a short joint fit."""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from uncletc.common.validation import FloatArray
from uncletc.data.counts import CountTensor
from uncletc.fitting.settings import FitSettings
from uncletc.model.detection import SMALLEST_PROBABILITY, DetectionNetwork
from uncletc.result.fit_result import Fit
from uncletc.solvers.bcd.blocks import (
    TINY,
    Problem,
    adam_step,
    batches,
    observed_p,
    observed_rate,
    probabilities,
    rate_at,
    update_factors,
)

_ROUNDS_FIRST = 50  # of factor updates under the first g, before it may learn
START_STEPS = 3000  # of Adam in total
_START_EPOCHS = 10  # passes of Adam over Ω ∩ Ξ between two updates of the factors
_START_LEARNING_RATE = 3e-3
_START_SWEEPS = 2
_START_PRIOR = 0.25  # -log prior per squared weight: few counts leave g nearly flat


def starting_network(
    problem: Problem, settings: FitSettings, generator: torch.Generator, start: Fit | None
) -> DetectionNetwork | None:
    """A random network, or that of `start` if its layers agree; None without attributes."""
    if problem.attributes.numel() == 0:
        return None
    network = DetectionNetwork(problem.attributes.shape[1], settings.hidden, generator)
    earlier = None if start is None else start.network
    if isinstance(earlier, DetectionNetwork) and [w.shape for w in earlier.weights()] == [
        w.shape for w in network.weights()
    ]:
        network.load(earlier.weights())
    return network


def starting_factors(
    counts: CountTensor,
    settings: FitSettings,
    generator: torch.Generator,
    start: Fit | None,
    p: Tensor,
) -> list[Tensor]:
    """Uniform factors scaled so that the mean of λ·p over Ω is the mean count."""
    factors = [
        torch.rand(size, settings.rank, dtype=torch.float64, generator=generator)
        for size in counts.shape
    ]
    indices = torch.from_numpy(counts.indices.copy())
    goal = float(counts.counts.mean())
    if start is not None:
        factors = adapt_components(start.factors, factors)
    exposure = torch.from_numpy(counts.exposure_at(counts.indices))
    now = float((exposure * rate_at(factors, indices) * p).mean())
    ratio = goal / now if now > 0 else 1.0
    return [factor * ratio ** (1 / len(factors)) for factor in factors]


def start_jointly(
    network: DetectionNetwork,
    factors: list[Tensor],
    problem: Problem,
    batch_size: int,
    generator: torch.Generator,
) -> None:
    """Fit U_k and θ with p held at g, in place: the likelier of two fits.

    In one, λ explains what it can before g may learn, which counts of very different sizes
    need; in the other both learn from the first round, which is better if g varies most.
    """
    candidates = []
    for rounds_first in (_ROUNDS_FIRST, 0):
        trial_network, trial_factors = copy.deepcopy(network), [f.clone() for f in factors]
        _fit_by_turns(trial_network, trial_factors, problem, batch_size, generator, rounds_first)
        mean = observed_rate(trial_factors, problem) * observed_p(
            probabilities(trial_network, problem), problem
        )
        value = float((mean - torch.xlogy(problem.counts, mean.clamp_min(TINY))).mean())
        candidates.append((value, trial_network, trial_factors))
    _, best_network, best_factors = min(candidates, key=lambda candidate: candidate[0])
    network.load(best_network.weights())
    factors[:] = best_factors


def _fit_by_turns(
    network: DetectionNetwork,
    factors: list[Tensor],
    problem: Problem,
    batch_size: int,
    generator: torch.Generator,
    rounds_first: int,
) -> None:
    """Lower the negative log-likelihood with p = g over U_k and θ by turns, in place."""
    z, y = problem.attributes[problem.rows], problem.counts[problem.attributed]
    steps = _START_EPOCHS * math.ceil(len(z) / batch_size)
    rounds = math.ceil(START_STEPS / steps) if steps else 0
    size = float(y.mean()) if y.any() else 1.0
    adam = torch.optim.Adam(network.parameters(), lr=_START_LEARNING_RATE, fused=True)
    p = observed_p(probabilities(network, problem), problem)
    for _ in range(rounds_first):
        update_factors(factors, problem, p, sweeps=1, tol=0.0)
    for _ in range(rounds):
        p = observed_p(probabilities(network, problem), problem)
        update_factors(factors, problem, p, sweeps=_START_SWEEPS, tol=0.0)
        rate = observed_rate(factors, problem)[problem.attributed]
        table = torch.stack([rate, y], dim=1)
        for _ in range(_START_EPOCHS):
            for batch, known in batches((z, table), batch_size, generator):
                g = network(batch).clamp_min(SMALLEST_PROBABILITY)
                likelihood = known[:, 0] * g - known[:, 1] * torch.log(g)
                loss = likelihood.mean() + _START_PRIOR / len(z) * _squares(network)
                adam_step(adam, loss / size)


def _squares(network: DetectionNetwork) -> Tensor:
    weights = [w.square().sum() for w in network.parameters() if w.ndim > 1]
    return torch.stack(weights).sum()


def adapt_components(earlier: Sequence[FloatArray], fresh: Sequence[Tensor]) -> list[Tensor]:
    """Keep the largest components of a start; add faint random ones if it has too few."""
    size = np.prod([factor.mean(axis=0) for factor in earlier], axis=0)
    rank = fresh[0].shape[1]
    order = np.argsort(-size, kind="stable")[:rank]
    kept = [torch.from_numpy(factor[:, order]) for factor in earlier]
    missing = rank - len(order)
    faint = float(size.mean() * 0.01) ** (1 / len(earlier))
    return [
        torch.cat([_leave_zero(old, new[:, :1]), 2 * faint * new[:, :missing]], dim=1)
        for old, new in zip(kept, fresh, strict=True)
    ]


def _leave_zero(factor: Tensor, fresh: Tensor) -> Tensor:
    """Lift exact zeros, which multiplicative updates could never leave."""
    size = float(factor.mean())
    return torch.where(factor > 0, factor, 1e-3 * fresh * (size if size > 0 else 1.0))
