"""Block coordinate descent: the paper's Algorithm 1 (UncleTC).

Minimises (paper, eq. 11, with the sums written per entry)

    1/|Ω| Σ_Ω [λ_i p_i - y_i log λ_i - y_i log p_i] + μ/|Ξ| Σ_Ξ ℓ(g_θ(z_i), p_i)

over U_k ≥ 0, 0 ≤ p_i ≤ 1 and θ, by repeating three blocks in this order: p in closed form
(Table 5), θ by Adam, each U_k by multiplicative updates (eq. 13). The paper's public code uses
another order, halves μ and swaps the arguments of the Kullback-Leibler loss; this follows the
paper.

The paper does not specify the start. Here U_k and θ start from the better of two short joint fits
with p held at g (μ → ∞); see :func:`start_jointly`. From random
starts the early p-steps follow a λ that has not seen the counts, and if counts differ by orders of
magnitude g absorbs differences that belong to λ; 100 iterations rarely undo either. Measurements
show that the start does much of the work: see `benchmarks/`.

The objective has no minimum in the scale: λ·c, p/c and g/c lower it as c grows. The iterations
give good answers because they drift slowly from their start: use a few hundred at most, and do not
compare values of μ by it.

When to use which solver: this one to reproduce the paper, or to study its objective;
:mod:`~uncletc.solvers.joint.solver` for everything else.
"""

import copy
import math
from collections.abc import Iterator

import torch
from torch import Tensor

from uncletc.data.counts import CountTensor
from uncletc.fitting.history import FitError, History, StopReason
from uncletc.fitting.settings import FitSettings
from uncletc.model.cp import fill_rows
from uncletc.model.detection import SMALLEST_PROBABILITY, DetectionNetwork
from uncletc.result.fit_result import Callback, Fit
from uncletc.solvers.options import BCD, Loss
from uncletc.solvers.poisson import TINY, Problem, adapt_components, observed_rate, update_factor

_ROUNDS_FIRST = 50  # of factor updates under the first g, before it may learn
START_STEPS = 3000  # of Adam in total
_START_EPOCHS = 10  # passes of Adam over Ω ∩ Ξ between two updates of the factors
_START_LEARNING_RATE = 3e-3
_START_SWEEPS = 2
_START_PRIOR = 0.25  # -log prior per squared weight: few counts leave g nearly flat


def fit_bcd(
    counts: CountTensor, settings: FitSettings, start: Fit | None, callback: Callback | None
) -> Fit:
    """Run Algorithm 1; see :func:`uncletc.fit` for the arguments.

    It stops when the objective changes by less than ``tol`` relative to its size (paper,
    appendix D.1), after ``max_iter`` iterations, or when the callback returns True.
    """
    history, options, mu = History(callback), settings.solver, settings.mu
    assert isinstance(options, BCD)
    assert mu is not None
    problem = Problem(counts)
    generator = torch.Generator().manual_seed(settings.seed)
    network = starting_network(problem, settings, generator, start)
    adam = None
    if network is not None:
        adam = torch.optim.Adam(network.parameters(), lr=options.learning_rate, fused=True)
    g = probabilities(network, problem)  # (S,)
    p = observed_p(g, problem)  # (N,)
    factors = [
        torch.rand(size, settings.rank, dtype=torch.float64, generator=generator)
        for size in counts.shape
    ]
    if start is not None:
        factors = adapt_components(start.factors, factors)
    now = float((observed_rate(factors, problem) * p).mean())
    ratio = float(counts.counts.mean()) / now if now > 0 else 1.0
    factors = [factor * ratio ** (1 / len(factors)) for factor in factors]
    if start is None and network is not None:
        start_jointly(network, factors, problem, options.batch_size, generator)
        g = probabilities(network, problem)
        p = observed_p(g, problem)
    rate = observed_rate(factors, problem)  # (N,)

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


def update_factors(
    factors: list[Tensor], problem: Problem, p: Tensor, *, sweeps: int, tol: float
) -> None:
    """Update every U_k in turn, in place; see :func:`update_factor`."""
    for mode in range(len(factors)):
        factors[mode] = update_factor(factors, mode, problem, p, sweeps, tol)


def probabilities(network: DetectionNetwork | None, problem: Problem) -> Tensor:
    """g over Ξ as probabilities (S,); empty without a network."""
    if network is None:
        return torch.empty(0, dtype=torch.float64)
    return network.probability(problem.attributes)


def observed_p(g: Tensor, problem: Problem) -> Tensor:
    """The starting p over Ω: g with attributes, the mean of g without, 1 if Ξ is empty."""
    if not len(g):
        return torch.ones_like(problem.counts)
    p = g.mean().expand(len(problem.counts)).clone()
    p[problem.attributed] = g[problem.rows]
    return p


def batches(
    columns: tuple[Tensor, Tensor], size: int, generator: torch.Generator
) -> Iterator[tuple[Tensor, Tensor]]:
    """Shuffled batches of two columns with one row per entry."""
    order = torch.randperm(len(columns[0]), generator=generator)
    first, second = (torch.split(column[order], size) for column in columns)
    return zip(first, second, strict=True)


def adam_step(adam: torch.optim.Optimizer, loss: Tensor) -> None:
    """Take one step down the gradient of `loss`."""
    adam.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]
    adam.step()


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
    z, y = problem.attributes[problem.rows], problem.counts[problem.attributed]
    steps = _START_EPOCHS * math.ceil(len(z) / batch_size)
    rounds = math.ceil(START_STEPS / steps) if steps else 0
    size = float(y.mean()) if y.any() else 1.0

    def fit_by_turns(network: DetectionNetwork, factors: list[Tensor], rounds_first: int) -> Tensor:
        """Lower the negative log-likelihood with p = g by turns, in place; p as it is then."""
        adam = torch.optim.Adam(network.parameters(), lr=_START_LEARNING_RATE, fused=True)
        weights = [w for w in network.parameters() if w.ndim > 1]
        p = observed_p(probabilities(network, problem), problem)
        for _ in range(rounds_first):
            update_factors(factors, problem, p, sweeps=1, tol=0.0)
        for _ in range(rounds):
            update_factors(factors, problem, p, sweeps=_START_SWEEPS, tol=0.0)
            rate = observed_rate(factors, problem)[problem.attributed]
            table = torch.stack([rate, y], dim=1)
            for _ in range(_START_EPOCHS):
                for batch, known in batches((z, table), batch_size, generator):
                    g = network(batch).clamp_min(SMALLEST_PROBABILITY)
                    likelihood = known[:, 0] * g - known[:, 1] * torch.log(g)
                    squares = torch.stack([w.square().sum() for w in weights]).sum()
                    loss = likelihood.mean() + _START_PRIOR / len(z) * squares
                    adam_step(adam, loss / size)
            p = observed_p(probabilities(network, problem), problem)
        return p

    candidates = []
    for rounds_first in (_ROUNDS_FIRST, 0):
        trial_network, trial_factors = copy.deepcopy(network), [f.clone() for f in factors]
        p = fit_by_turns(trial_network, trial_factors, rounds_first)
        mean = observed_rate(trial_factors, problem) * p
        value = float((mean - torch.xlogy(problem.counts, mean.clamp_min(TINY))).mean())
        candidates.append((value, trial_network, trial_factors))
    _, best_network, best_factors = min(candidates, key=lambda candidate: candidate[0])
    network.load(best_network.weights())
    factors[:] = best_factors
