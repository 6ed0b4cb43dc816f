"""The generative model: data together with its truth (paper, sections 3.1 and 5.1)."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from scipy.special import expit, logit

from uncletc.common.validation import FloatArray, check_choice, check_shape
from uncletc.data.counts import CountTensor
from uncletc.model.cp import rate_tensor

DetectionFunction = Literal["cubic", "steep-cubic", "log", "tanh", "interaction"]
_TOGETHER = 3.0  # factor of products of attributes: p of most entries is then near 0 or 1


@dataclass(frozen=True, eq=False, kw_only=True)
class Truth:
    """The known truth behind simulated counts.

    Attributes
    ----------
    rate : ndarray of float, shape (I_1, …, I_K)
        λ ≥ 0, expected true counts, of every entry; NaN where attributes that λ depends on do not
        exist.
    detection : ndarray of float, shape (I_1, …, I_K)
        p, detection probability in [0, 1]; NaN where no attributes exist to define it.
    attributes : ndarray of float, shape (I_1, …, I_K, D), optional
        z of every entry, including those that a fit does not see: estimates of g are compared over
        all of them.
    reporting : ndarray of float, shape (I_1, …, I_K), optional
        Reporting factor ≥ 0 of every entry, NaN where none is defined: counts have mean λ · p times
        it. None: 1 everywhere.

    Examples
    --------
    >>> from uncletc import simulate
    >>> counts, truth = simulate((12, 12, 12), rank=2, observed=0.3, seed=1)
    >>> truth.rate.shape, bool((truth.detection <= 1).all())
    ((12, 12, 12), True)
    """

    rate: FloatArray
    detection: FloatArray
    attributes: FloatArray | None = None
    reporting: FloatArray | None = None


def simulate(
    shape: Sequence[int] = (20, 20, 20),
    rank: int = 3,
    *,
    observed: float = 0.2,
    attributed: float = 0.3,
    similar: float = 0.2,
    snr_db: float = 40.0,
    n_attributes: int = 10,
    detection: DetectionFunction = "cubic",
    factor_max: float = 15.0,
    seed: int = 0,
) -> tuple[CountTensor, Truth]:
    """Draw an under-counted tensor, and return it with its truth.

    The factors are uniform on [0, κ], attributes are standard normal, ν is uniform on [0, 1]^D,
    and p = sigmoid(νᵀh(z)) with one of four h (paper, sections 5.1 and D.2), or of products of
    attributes, which act only together: averaged over the others, each attribute alone does
    nothing to p.

    ============= ==========================  ==================================================
    `detection`   h(z), element by element    where the paper uses it
    ============= ==========================  ==================================================
    "cubic"       0.5 z³ + 0.2 z              Tables 1 to 3
    "log"         0.1 log z² + 0.1 z²         Table 4, and the tables of rank and of μ
    "steep-cubic" 3 z³ + 0.2 z                the figure of errors over iterations
    "tanh"        tanh(z)³                    only in the public code
    "interaction" νᵀh(z) = 3 (z₁z₂ + z₃z₄)    not in the paper; without z₃z₄ if D < 4
    ============= ==========================  ==================================================

    The counts are Binomial(n, p) with n ~ Poisson(λ). Fractions are exact: ⌊γ·∏I_k + ½⌋ entries.
    The smaller of Ω and Ξ is a random part of the larger one; Θ is a random part of Ξ.

    Parameters
    ----------
    shape : sequence of int
        I_k of each of the K ≥ 2 modes.
    rank : int
        F ≥ 1.
    observed : float
        γ_Ω in (0, 1], the fraction of all entries that are counted.
    attributed : float
        γ_Ξ in [0, 1], the fraction of all entries whose attributes are known.
    similar : float
        γ_Θ in [0, γ_Ξ], the fraction of all entries that share one attribute vector φ up to
        noise.
    snr_db : float
        10 log₁₀(‖φ‖² / (D σ²)) in decibels, where σ² is the variance of that noise; ``inf``
        for none.
    n_attributes : int
        D ≥ 1, or 2 for "interaction".
    detection : {"cubic", "steep-cubic", "log", "tanh", "interaction"}
        h, see above.
    factor_max : float
        κ > 0.
    seed : int
        Seed of everything random.

    Returns
    -------
    CountTensor
        The data for a fit; marked simulated.
    Truth
        λ, p and z of every entry.

    Raises
    ------
    ValueError
        Naming the argument, the value and the rule.

    Examples
    --------
    >>> y, truth = simulate(observed=0.3, seed=1)
    >>> y.n_observed, truth.rate.shape
    (2400, (20, 20, 20))
    """
    sizes = check_shape(shape)
    _check_simulation(rank, n_attributes, detection, seed)
    _require(0 < factor_max <= 1e5, "factor_max", "in (0, 1e5]", factor_max)
    _require(not np.isnan(snr_db), "snr_db", "a number of decibels or inf", snr_db)
    _require(0 < observed <= 1, "observed", "in (0, 1]", observed)
    _require(0 <= attributed <= 1, "attributed", "in [0, 1]", attributed)
    _require(0 <= similar <= attributed, "similar", f"in [0, attributed={attributed}]", similar)
    rng = np.random.default_rng(seed)
    n_entries = int(np.prod(sizes))

    rate = rate_tensor([rng.uniform(0, factor_max, (size, rank)) for size in sizes])
    z = rng.standard_normal((n_entries, n_attributes))
    order = rng.permutation(n_entries)
    counted, known = (np.sort(order[: _exact(part, n_entries)]) for part in (observed, attributed))

    alike = rng.permutation(known)[: _exact(similar, n_entries)]
    phi = rng.standard_normal(n_attributes)
    sigma = np.linalg.norm(phi) / np.sqrt(n_attributes) * 10 ** (-snr_db / 20)
    z[alike] = phi + sigma * rng.standard_normal((len(alike), n_attributes))

    nu = rng.uniform(size=n_attributes)
    p = expit(_logits(detection, z, nu))
    true_counts = rng.poisson(rate.ravel())
    counts = rng.binomial(true_counts, p)

    tensor = CountTensor(
        sizes,
        np.column_stack(np.unravel_index(counted, sizes)),
        counts[counted],
        attributes=z[known],
        attribute_indices=np.column_stack(np.unravel_index(known, sizes)),
        simulated=True,
    )
    truth = Truth(rate=rate, detection=p.reshape(sizes), attributes=z.reshape(*sizes, n_attributes))
    return tensor, truth


def simulate_visits(
    shape: Sequence[int] = (30, 15),
    visits: int = 3,
    rank: int = 2,
    *,
    counted: float = 0.8,
    mean: float = 5.0,
    level: float = 0.4,
    n_attributes: int = 2,
    detection: DetectionFunction = "cubic",
    mu: float = math.inf,
    seed: int = 0,
) -> tuple[CountTensor, Truth]:
    """Draw counts of repeat visits, between which true counts stay the same.

    A last mode, "visit", is added to the shape. n of each cell, without it, is drawn once, and each
    visit counts Binomial(n, p) of them with p = sigmoid(logit(level) + νᵀh(z)): λ as in
    :func:`simulate` but for its mean, z and h as there, and ν uniform on [-1, 1]^D.

    Parameters
    ----------
    shape : sequence of int
        Sizes of the K ≥ 2 open modes.
    visits : int
        V ≥ 2.
    rank : int
        F ≥ 1.
    counted : float
        In (0, 1], the chance of a visit to take place; attributes are known in any case.
    mean : float
        Mean λ > 0.
    level : float
        p in (0, 1) where all z are 0.
    n_attributes : int
        D ≥ 1, or 2 for "interaction".
    detection : {"cubic", "steep-cubic", "log", "tanh", "interaction"}
        h.
    mu : float
        μ > 0: true counts have the variance λ + λ²/μ. Infinite: they are Poisson.
    seed : int
        Seed of everything random.

    Returns
    -------
    CountTensor
        With K + 1 modes; marked simulated.
    Truth
        λ, p and z of every entry; λ is the same at all visits.

    Raises
    ------
    ValueError
        Naming the argument, the value and the rule.

    Examples
    --------
    >>> y, truth = simulate_visits((4, 5), visits=3, counted=1.0)
    >>> y.shape, y.modes, y.n_observed
    ((4, 5, 3), ('mode 1', 'mode 2', 'visit'), 60)
    """
    sizes = check_shape(shape)
    _check_simulation(rank, n_attributes, detection, seed)
    _require(visits >= 2, "visits", "at least 2", visits)
    _require(0 < counted <= 1, "counted", "in (0, 1]", counted)
    _require(0 < level < 1, "level", "in (0, 1)", level)
    _require(mean > 0, "mean", "positive", mean)
    _require(mu > 0, "mu", "positive", mu)
    rng = np.random.default_rng(seed)
    rate = rate_tensor([rng.uniform(0, 1, (size, rank)) for size in sizes])
    rate *= mean / rate.mean()
    z = rng.standard_normal((*sizes, visits, n_attributes))
    nu = rng.uniform(-1, 1, n_attributes)
    flat = z.reshape(-1, n_attributes)
    p = expit(logit(level) + _logits(detection, flat, nu).reshape(z.shape[:-1]))
    deviation = rng.gamma(mu, 1 / mu, rate.shape) if np.isfinite(mu) else 1.0
    y = rng.binomial(rng.poisson(rate * deviation)[..., None], p)
    made = rng.random(y.shape) < counted
    made.flat[0] = True
    tensor = CountTensor(
        y.shape,
        np.argwhere(made),
        y[made],
        attributes=flat,
        attribute_indices=np.argwhere(np.ones(y.shape, dtype=bool)),
        modes=[*(f"mode {k + 1}" for k in range(len(sizes))), "visit"],
        simulated=True,
    )
    every = np.repeat(rate[..., None], visits, axis=-1)
    return tensor, Truth(rate=every, detection=p, attributes=z)


_TRANSFORMS: dict[str, Callable[[FloatArray], FloatArray]] = {
    "cubic": lambda z: 0.5 * z**3 + 0.2 * z,
    "steep-cubic": lambda z: 3 * z**3 + 0.2 * z,
    "log": lambda z: 0.1 * np.log(z**2) + 0.1 * z**2,
    "tanh": lambda z: np.tanh(z) ** 3,
}


def _logits(detection: DetectionFunction, z: FloatArray, nu: FloatArray) -> FloatArray:
    """νᵀh(z) of attributes (n, D); (n,)."""
    if detection != "interaction":
        return np.asarray(_TRANSFORMS[detection](z) @ nu)
    pairs = z[:, : 4 if z.shape[1] >= 4 else 2]
    return np.asarray(_TOGETHER * (pairs[:, ::2] * pairs[:, 1::2]).sum(axis=1))


def _exact(fraction: float, n_entries: int) -> int:
    return int(fraction * n_entries + 0.5)


def _check_simulation(rank: int, n_attributes: int, detection: str, seed: int) -> None:
    _require(rank >= 1, "rank", "at least 1", rank)
    least = 2 if detection == "interaction" else 1
    _require(n_attributes >= least, "n_attributes", f"at least {least}", n_attributes)
    _require(seed >= 0, "seed", "at least 0", seed)
    check_choice("detection", detection, get_args(DetectionFunction))


def _require(holds: bool, name: str, rule: str, value: float) -> None:
    if not holds:
        raise ValueError(f"{name} must be {rule}, got {value}")
