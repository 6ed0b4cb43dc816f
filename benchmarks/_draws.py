"""Draws of simulated problems; :mod:`benchmarks.problems` names them.

Each function draws from one seed in a fixed order, so that a problem stays the same for good.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Literal

import numpy as np
from scipy.special import expit

from benchmarks._problem import Problem
from uncletc import CountTensor, Truth, rate_tensor
from uncletc.common.validation import FloatArray, IntArray

FEWEST_HELD = 100  # entries of Ξ outside Ω that suffice to judge predictions
USUAL_P = (0.09, 0.98)  # mean p over Ξ; other draws, of nearly no or no missed counts, are redrawn

Logit = Callable[[FloatArray, FloatArray, np.random.Generator], FloatArray]


def cubic(z: FloatArray, nu: FloatArray, _: np.random.Generator) -> FloatArray:
    """Logit νᵀ(0.5 z³ + 0.2 z), as in the paper's tables."""
    return (0.5 * z**3 + 0.2 * z) @ nu


def ridge(z: FloatArray, _: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Logit that swings along one random direction of the attributes."""
    direction = rng.standard_normal(z.shape[1])
    return 1.5 * np.sin(2 * (z @ (direction / np.linalg.norm(direction)))) - 0.3


def interacting(z: FloatArray, _: FloatArray, __: np.random.Generator) -> FloatArray:
    """Logit with two products of attributes."""
    return 1.2 * z[:, 0] * z[:, 1] + 0.9 * z[:, 2] * z[:, 3] + 0.5 * z[:, 4] - 0.3


def _additive(c: FloatArray, _: np.random.Generator) -> FloatArray:
    j = np.arange(c.shape[1])
    return 4 * np.sin(3 * c + j).sum(axis=1) / 3


def _xor(c: FloatArray, _: np.random.Generator) -> FloatArray:
    return 40 * c[:, 0] * c[:, 1] + 30 * c[:, 2] * c[:, 3]


def _pairs(c: FloatArray, _: np.random.Generator) -> FloatArray:
    return 25 * (c[:, :-1] * c[:, 1:]).sum(axis=1) / 2


def _net(c: FloatArray, rng: np.random.Generator) -> FloatArray:
    first = 2 * rng.normal(size=(c.shape[1], 12))
    bias = 0.5 * rng.normal(size=12)
    second, last = rng.normal(size=(12, 8)), rng.normal(size=8)
    return np.sqrt(2) * np.tanh(np.tanh(c @ first + bias) @ second) @ last


def _step(c: FloatArray, _: np.random.Generator) -> FloatArray:
    slope = 3 * np.sign(c[:, 0] - 0.1 * c[:, 1]) * (c[:, 2] > 0)
    return slope + 2 * (c[:, 3] * c[:, 4] > 0) - 1.5


KINDS: dict[str, Callable[[FloatArray, np.random.Generator], FloatArray]] = {
    "additive": _additive,
    "xor": _xor,
    "pairs": _pairs,
    "net": _net,
    "step": _step,
}


def covid_sized(seed: int, *, pattern: Literal["uniform", "fibre"]) -> Problem:
    """Draw counts of the size of real ones; a fifth of the observed entries is held out."""
    rng = np.random.default_rng(seed)
    shape, rank, n_attributes, observed = (43, 80, 60), 15, 24, 0.184
    rate = _scaled(rate_tensor([rng.gamma(0.5, 1.0, (size, rank)) for size in shape]), 100.0)
    n, n_observed = rate.size, round(observed * rate.size)
    z = rng.random((n, n_attributes))
    nu = rng.random(n_attributes)
    p = expit(cubic(4 * (z - 0.5), nu - 0.5, rng))
    y = rng.binomial(rng.poisson(rate).ravel(), p)
    if pattern == "uniform":
        seen = np.sort(rng.choice(n, n_observed, replace=False))
    else:
        places, days = shape[0] * shape[1], shape[2]
        chosen = rng.choice(places, int(np.ceil(observed * places)) + 8, replace=False)
        entries = (chosen[:, None] * days + np.arange(days)).ravel()
        seen = np.sort(rng.choice(entries, n_observed, replace=False))
    held, counted = np.split(rng.permutation(n_observed), [n_observed // 5])
    counted, held = np.sort(seen[counted]), np.sort(seen[held])
    return _problem(rank, rate, z, p, y, counted, counted, judged=counted, held=held)


def paper(seed: int, *, observed: float) -> Problem:
    """Draw counts as in the paper's Table 1, with Ω and Ξ of random sizes, Ω part of Ξ."""
    rng = np.random.default_rng(seed)
    shape, rank, n_attributes, attributed = (20, 20, 20), 3, 10, 0.3
    usual = False
    while not usual:
        rate = rate_tensor([15 * rng.random((size, rank)) for size in shape])
        z = rng.standard_normal((rate.size, n_attributes))
        true_counts = rng.poisson(rate).ravel()
        known = np.flatnonzero(rng.random(rate.size) < attributed)
        counted = known
        if observed < attributed:
            counted = known[rng.random(len(known)) < observed / attributed]
        _make_alike(z, known, 0.2, rng)
        p = expit(cubic(z, rng.random(n_attributes), rng))
        y = rng.binomial(true_counts, p)
        usual = USUAL_P[0] <= p[known].mean() <= USUAL_P[1]
    held = _held_out(counted, known, rate.size, np.random.default_rng(seed + 999))
    return _problem(rank, rate, z, p, y, counted, known, judged=known, held=held)


def departing(
    seed: int,
    *,
    shape: tuple[int, ...] = (20, 20, 20),
    rank: int = 3,
    mean: float | None = None,
    factor_shape: float | None = None,
    observed: float = 0.2,
    attributed: float = 0.3,
    similar: float = 0.0,
    logit: Logit = cubic,
) -> Problem:
    """Draw counts that depart from the paper's: other modes, mean λ, factors or g.

    Factors are uniform, or gamma of shape `factor_shape`: the smaller, the sparser.
    """
    rng = np.random.default_rng(seed)
    n_attributes = 10
    usual = False
    while not usual:
        if factor_shape is None:
            factors = [15 * rng.random((size, rank)) for size in shape]
        else:
            factors = [rng.gamma(factor_shape, 1.0, (size, rank)) for size in shape]
        rate = rate_tensor(factors) if mean is None else _scaled(rate_tensor(factors), mean)
        z = rng.standard_normal((rate.size, n_attributes))
        true_counts = rng.poisson(rate).ravel()
        order = rng.permutation(rate.size)
        counted, known = (
            np.sort(order[: int(share * rate.size + 0.5)]) for share in (observed, attributed)
        )
        _make_alike(z, known, similar, rng)
        p = expit(logit(z, rng.random(n_attributes), rng))
        y = rng.binomial(true_counts, p)
        usual = USUAL_P[0] <= p[known].mean() <= USUAL_P[1]
    held = _held_out(counted, known, rate.size, rng)
    return _problem(rank, rate, z, p, y, counted, known, judged=known, held=held)


def acting_together(
    seed: int,
    *,
    kind: str,
    observed: float,
    n_noise: int = 0,
    shape: tuple[int, ...] = (20, 20, 20),
    rank: int = 3,
    mean: float = 1000.0,
) -> Problem:
    """Draw counts whose p depends on 10 attributes in a way of :data:`KINDS`.

    All unobserved entries are held out, and p is judged over them; `n_noise` further attributes
    say nothing.
    """
    rng = np.random.default_rng(seed)
    n_attributes = 10
    rate = _scaled(rate_tensor([rng.gamma(1.0, 1.0, (size, rank)) for size in shape]), mean)
    n = rate.size
    z = rng.random((n, n_attributes))
    p = expit(KINDS[kind](z - 0.5, rng))
    y = rng.binomial(rng.poisson(rate).ravel(), p)
    counted = np.sort(rng.choice(n, int(observed * n), replace=False))
    z = np.hstack([z, rng.random((n, n_noise))])
    held = np.setdiff1d(np.arange(n), counted)
    return _problem(rank, rate, z, p, y, counted, counted, judged=held, held=held)


def overdispersed(seed: int, *, of: Callable[[int], Problem]) -> Problem:
    """Draw the counts of another problem again, negative binomial with μ = 2."""
    problem = of(seed)
    rng = np.random.default_rng(seed + 5)
    expected = (problem.truth.rate * problem.truth.detection).ravel()
    y = rng.poisson(expected * rng.gamma(2.0, 0.5, expected.size))
    old = problem.counts
    counts = old.with_counts(y[np.ravel_multi_index(tuple(old.indices.T), old.shape)])
    return replace(problem, counts=counts, held_counts=y[problem.held])


def _problem(
    rank: int,
    rate: FloatArray,
    z: FloatArray,
    p: FloatArray,
    y: IntArray,
    counted: IntArray,
    known: IntArray,
    *,
    judged: IntArray,
    held: IntArray,
) -> Problem:
    shape = rate.shape
    counts = CountTensor(
        shape,
        np.column_stack(np.unravel_index(counted, shape)),
        y[counted],
        attributes=z[known],
        attribute_indices=np.column_stack(np.unravel_index(known, shape)),
        simulated=True,
    )
    truth = Truth(rate=rate, detection=p.reshape(shape), attributes=z.reshape(*shape, -1))
    return Problem(
        counts=counts, truth=truth, rank=rank, judged=judged, held=held, held_counts=y[held]
    )


def _scaled(rate: FloatArray, mean: float) -> FloatArray:
    return rate * mean / rate.mean()


def _make_alike(z: FloatArray, known: IntArray, similar: float, rng: np.random.Generator) -> None:
    """Give a share of all entries, drawn from Ξ, one attribute vector up to noise of 40 dB."""
    n_alike = min(int(similar * len(z)), len(known))
    if not n_alike:
        return
    alike = rng.permutation(known)[:n_alike]
    phi = rng.standard_normal(z.shape[1])
    sigma = np.sqrt((phi @ phi) / (len(phi) * 10**4))
    z[alike] = phi + sigma * rng.standard_normal((n_alike, len(phi)))


def _held_out(counted: IntArray, known: IntArray, n: int, rng: np.random.Generator) -> IntArray:
    """Entries of Ξ outside Ω; where they are too few, a tenth of all entries, outside Ω."""
    held = np.setdiff1d(known, counted)
    if len(held) >= FEWEST_HELD:
        return held
    return rng.choice(np.setdiff1d(np.arange(n), counted), n // 10, replace=False)
