"""Block coordinate descent: the paper's Algorithm 1 (UncleTC).

Minimises (paper, eq. 11, with the sums written per entry)

    1/|Ω| Σ_Ω [λ_i p_i - y_i log λ_i - y_i log p_i] + μ/|Ξ| Σ_Ξ ℓ(g_θ(z_i), p_i)

over U_k ≥ 0, 0 ≤ p_i ≤ 1 and θ, by repeating three blocks in this order: p in closed form
(Table 5), θ by Adam, each U_k by multiplicative updates (eq. 13). The paper's public code uses
another order, halves μ and swaps the arguments of the Kullback-Leibler loss; this follows the
paper.

The paper does not specify the start. Here U_k and θ start from the better of two short joint fits
with p held at g (μ → ∞); see :func:`~uncletc.solvers.bcd.starts.start_jointly`. From random
starts the early p-steps follow a λ that has not seen the counts, and if counts differ by orders of
magnitude g absorbs differences that belong to λ; 100 iterations rarely undo either. Measurements
show that the start does much of the work: see `benchmarks/`.

The objective has no minimum in the scale: λ·c, p/c and g/c lower it as c grows. The iterations
give good answers because they drift slowly from their start. With ``hold_scale`` every θ-step
fits g to p·c instead of p, where c restores the mean of p over Ω ∩ Ξ to that of the start, and
λ is divided by c: expected counts change only where p is clamped to 1, and the penalty cannot
fall by drifting. This is not in the paper; use it for more than a few hundred iterations, or to
compare values of μ.

When to use which solver: this one to reproduce the paper, or to study its objective;
:mod:`~uncletc.solvers.joint.solver` for everything else.
"""

from __future__ import annotations

import copy
import math

import torch
from torch import Tensor

from uncletc.data.counts import CountTensor
from uncletc.fitting.history import FitError, History, StopReason
from uncletc.fitting.settings import FitSettings
from uncletc.model.cp import fill_rows
from uncletc.model.detection import SMALLEST_PROBABILITY, DetectionNetwork
from uncletc.result.fit_result import Callback, Fit
from uncletc.solvers.bcd.blocks import (
    TINY,
    Problem,
    adam_step,
    batches,
    observed_p,
    observed_rate,
    probabilities,
    update_factors,
)
from uncletc.solvers.bcd.starts import start_jointly, starting_factors, starting_network
from uncletc.solvers.options import BCD, Loss


def fit_bcd(
    counts: CountTensor,
    settings: FitSettings,
    options: BCD,
    start: Fit | None,
    callback: Callback | None,
) -> Fit:
    """Run Algorithm 1; see :func:`uncletc.fit` for the arguments.

    It stops when the objective changes by less than ``tol`` relative to its size (paper,
    appendix D.1), after ``max_iter`` iterations, or when the callback returns True.
    """
    history = History(callback)
    assert settings.mu is not None
    mu = settings.mu
    problem = Problem.of(counts)
    generator = torch.Generator().manual_seed(settings.seed)
    network = starting_network(problem, settings, generator, start)
    adam = (
        None
        if network is None
        else torch.optim.Adam(network.parameters(), lr=options.learning_rate, fused=True)
    )
    g = probabilities(network, problem)  # (S,)
    p = observed_p(g, problem)  # (N,)
    factors = starting_factors(counts, settings, generator, start, p)
    if start is None and network is not None:
        start_jointly(network, factors, problem, options.batch_size, generator)
        g = probabilities(network, problem)
        p = observed_p(g, problem)
    rate = observed_rate(factors, problem)  # (N,)
    level = _mean_detection(problem, p)

    def result(stop: StopReason) -> Fit:
        return Fit(
            factors=fill_rows([factor.numpy() for factor in factors], counts.indices),
            network=copy.deepcopy(network),
            observed_detection=p.numpy().copy(),
            history=tuple(history.records),
            stop=stop,
            settings=settings,
            counts_digest=counts.digest,
            exposure=counts.exposure,
            mean_detection=float(g.mean()) if len(g) else 1.0,
            mu=mu,
        )

    def record() -> StopReason | None:
        value = objective(problem, rate, p, g, mu, options.loss)
        if not math.isfinite(value):
            raise FitError(
                f"the objective became {value} at iteration {len(history.records)}; "
                f"lower learning_rate (now {options.learning_rate})"
            )
        if history.add(value, result):
            return StopReason.CALLBACK
        if history.settled(settings.tol, TINY):
            return StopReason.TOLERANCE
        return StopReason.MAX_ITER if len(history.records) > settings.max_iter else None

    while (stop := record()) is None:
        p = update_detection(problem, rate, g, p, mu, options.loss)
        if options.hold_scale and level is not None:
            p = _return_to(level, problem, factors, p)
        if network is not None and adam is not None:
            update_network(network, adam, problem, g, p, options, settings.tol, generator)
            g = probabilities(network, problem)
        update_factors(factors, problem, p, sweeps=options.sweeps, tol=settings.tol)
        rate = observed_rate(factors, problem)

    return result(stop)


def objective(problem: Problem, rate: Tensor, p: Tensor, g: Tensor, mu: float, loss: Loss) -> float:
    """The objective of eq. 11a; `rate` and `p` (N,) over Ω, `g` (S,) over Ξ.

    Entries of Ξ outside Ω have p = g (case 2 of the p-step) and so add nothing to ℓ. Without
    attributes the second sum is empty.
    """
    likelihood = rate * p - torch.xlogy(problem.counts, (rate * p).clamp_min(TINY))
    value = likelihood.mean()
    if len(g):
        misfit = pointwise_loss(g[problem.rows], p[problem.attributed], loss)
        value = value + mu / len(g) * misfit.sum()
    return float(value)


def pointwise_loss(g: Tensor, p: Tensor, loss: Loss) -> Tensor:
    """ℓ(g, p) of Table 5, entry by entry."""
    if loss == "ls":
        return (g - p) ** 2
    return torch.xlogy(g, g) - torch.xlogy(g, p.clamp_min(TINY)) - g + p


def update_detection(
    problem: Problem, rate: Tensor, g: Tensor, p: Tensor, mu: float, loss: Loss
) -> Tensor:
    """The p-step over Ω in closed form (Table 5); returns p (N,).

    Case 1, with attributes: the minimiser of eq. 14 over [0, 1]. Case 3, without: y/λ clamped
    to [0, 1] (eq. 16), where 0/0 keeps the old p because all p are then equally good. Case 2,
    Ξ outside Ω, is p = g and needs no storage. Without any attributes p stays as it is: it could
    not be separated from λ.
    """
    if not len(g):
        return p
    n_observed = len(rate)
    both = problem.attributed
    new = torch.where(rate + problem.counts > 0, problem.counts / rate.clamp_min(TINY), p)
    new[both] = _held_to_network(
        rate[both] / n_observed,
        problem.counts[both] / n_observed,
        g[problem.rows],
        mu / len(g),
        loss,
    )
    return new.clamp(0.0, 1.0)


def _held_to_network(rate: Tensor, y: Tensor, g: Tensor, mu: float, loss: Loss) -> Tensor:
    """Minimise λ̄p - ȳ log p + μ̄ ℓ(g, p); all barred as in Table 5."""
    if loss == "kl":
        return (y + mu * g) / (rate + mu)
    b = 2 * mu * g - rate
    root = torch.sqrt(b**2 + 8 * mu * y)
    # The two forms are one root; each avoids subtracting nearly equal numbers on its side.
    return torch.where(b >= 0, (b + root) / (4 * mu), 2 * y / (root - b).clamp_min(TINY))


def update_network(
    network: DetectionNetwork,
    adam: torch.optim.Optimizer,
    problem: Problem,
    g: Tensor,
    p: Tensor,
    options: BCD,
    tol: float,
    generator: torch.Generator,
) -> None:
    """The θ-step: lower Σ_Ξ ℓ(g_θ(z), p) by Adam, in place.

    Targets are p on Ω ∩ Ξ and the previous g elsewhere (case 2). Stops when an epoch's loss
    changes by less than ``tol``, relative to its size.
    """
    target = g.clone()
    target[problem.rows] = p[problem.attributed]
    last = math.inf
    for _ in range(options.epochs):
        total = 0.0
        for z, goal in batches((problem.attributes, target), options.batch_size, generator):
            output = network(z)
            if options.loss == "kl":
                output = output.clamp_min(SMALLEST_PROBABILITY)
            loss = pointwise_loss(output, goal, options.loss).mean()
            adam_step(adam, loss)
            total += float(loss.detach()) * len(z)
        if abs(last - total) < tol * abs(total):
            return
        last = total


def _mean_detection(problem: Problem, p: Tensor) -> float | None:
    """Mean p over Ω ∩ Ξ; None without such entries."""
    return float(p[problem.attributed].mean()) if bool(problem.attributed.any()) else None


def _return_to(level: float, problem: Problem, factors: list[Tensor], p: Tensor) -> Tensor:
    """Restore the mean of p to `level`, with p clamped to 1, and divide λ by the same ratio."""
    now = _mean_detection(problem, p)
    if not now:
        return p
    ratio = level / now
    factors[:] = [factor * ratio ** (-1 / len(factors)) for factor in factors]
    return (p * ratio).clamp_max(1.0)
