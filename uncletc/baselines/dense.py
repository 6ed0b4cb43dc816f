"""Methods that hold the whole tensor in memory: HaLRTC and NTF-Tucker-LS.

They refuse tensors above :data:`~uncletc.baselines.base.DENSE_LIMIT` entries.

HaLRTC: J. Liu, P. Musialski, P. Wonka and J. Ye, "Tensor Completion for Estimating Missing Values
in Visual Data", IEEE Transactions on Pattern Analysis and Machine Intelligence 35(1), 2013. It
minimises Σ_k α_k ‖X_(k)‖_* subject to X = y on Ω, with α_k = 1/K and X_(k) the unfolding along mode
k, by the alternating direction method of multipliers: each mode has a copy M_k of X with singular
values shrunk by α_k/ρ and multipliers W_k; X is the mean of the copies on missing entries and the
counts on observed ones. As in the authors' code ρ grows with each iteration. X may be negative, and
then predicts 0. The method treats y as real numbers and ignores exposure.

NTF-Tucker-LS: Y.-D. Kim and S. Choi, "Nonnegative Tucker Decomposition", CVPR 2007 (multiplicative
updates; used here for the core). Rows of factors are updated as in NTF-CPD-LS, which makes more
progress per step. It minimises ½ Σ_Ω (y_i - e_i Σ_{f_1 … f_K} G(f_1, …, f_K) ∏_k U_k(i_k, f_k))²
over G ≥ 0, U_k ≥ 0, with e the exposure. The core has min(F, I_k) columns along mode k. We add a
small penalty on the squares of G and U_k, for the reason that NTF-CPD-LS has one. Missing entries
have weight 0, because the core's ∏F products per entry would cost more than the zeros do.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from uncletc.baselines.base import Algorithm, Predictor, Settings, check_dense, real
from uncletc.baselines.cp import LSSettings, nonnegative_rows
from uncletc.common.validation import FloatArray
from uncletc.data.counts import CountTensor
from uncletc.data.entries import exposure_at
from uncletc.model.cp import fill_rows
from uncletc.solvers.poisson import TINY

_CORE_LIMIT = 2**22  # elements of the core, and of a mode's systems of equations


@dataclass(frozen=True, kw_only=True)
class HaLRTCSettings(Settings):
    """Settings of HaLRTC.

    Parameters
    ----------
    rho : float
        ρ > 0 at the start, per unit of the counts; the paper's grid is 10⁻⁷ to 10⁻⁴.
    growth : float
        Factor of ρ per iteration, ≥ 1.
    tol : float
        Stop when X changed, and the copies differ from it, by less than this, relative to the
        size of the observed counts; ≥ 0.
    max_iter, seed
        See :class:`~uncletc.baselines.base.Settings`; nothing here is random.

    Examples
    --------
    >>> import numpy as np
    >>> from uncletc import METHODS, simulate
    >>> y, _ = simulate((6, 5, 4), rank=1, observed=0.8, seed=1)
    >>> found = METHODS["HaLRTC"].fit(y, HaLRTCSettings(rho=1e-4, max_iter=5, tol=0.0))
    >>> bool(np.allclose(found.expected(y.indices), y.counts))  # counts stay as they are
    True
    """

    rho: float = real(1e-6)
    growth: float = real(1.05, least=1.0)


class HaLRTC(Algorithm):
    """Complete the tensor with the smallest sum of nuclear norms.

    The objective is Σ α_k ‖X_(k)‖_* of the copies; it need not fall.
    """

    settled = False

    def __init__(self, data: CountTensor, settings: HaLRTCSettings) -> None:
        check_dense(data, "HaLRTC")
        where = tuple(data.indices.T)
        self.settings, self.rho = settings, settings.rho
        self.n_observed, self.size = data.n_observed, max(float(np.linalg.norm(data.counts)), 1.0)
        self.observed = np.zeros(data.shape, dtype=bool)
        self.observed[where] = True
        self.x = np.full(data.shape, float(data.counts.mean()))
        self.x[where] = data.counts
        self.multipliers = [np.zeros(data.shape) for _ in data.shape]
        norms = [float(np.linalg.norm(unfold(self.x, k), "nuc")) for k in range(len(data.shape))]
        self.norm = sum(norms) / len(norms)

    def objective(self) -> float:
        """Σ α_k ‖X_(k)‖_* of the copies, per observed entry."""
        return self.norm / self.n_observed

    def step(self) -> None:
        """Shrink the copies, combine them in X, and update the multipliers."""
        modes = len(self.multipliers)
        self.rho *= self.settings.growth
        copies, self.norm = [], 0.0
        for mode, w in enumerate(self.multipliers):
            copy, norm = shrink(unfold(self.x + w / self.rho, mode), 1 / modes / self.rho)
            copies.append(fold(copy, mode, self.x.shape))
            self.norm += norm / modes
        pairs = list(zip(copies, self.multipliers, strict=True))
        mean = sum(copy - w / self.rho for copy, w in pairs) / modes
        new = np.where(self.observed, self.x, mean)
        change = float(np.linalg.norm(new - self.x))
        self.x = new
        distance = max(float(np.linalg.norm(copy - new)) for copy in copies)
        for copy, w in pairs:
            w -= self.rho * (copy - new)
        self.settled = max(change, distance) < self.settings.tol * self.size

    def predictor(self) -> Predictor:
        """X, the counts themselves on Ω."""
        values = self.x.copy()
        return lambda indices, _: np.asarray(np.maximum(values[tuple(indices.T)], 0.0))


def shrink(matrix: FloatArray, threshold: float) -> tuple[FloatArray, float]:
    """Lower all singular values by `threshold`, down to 0; return the matrix and its norm."""
    if matrix.shape[0] > matrix.shape[1]:
        transposed, norm = shrink(matrix.T, threshold)
        return transposed.T, norm
    left, values, right = np.linalg.svd(matrix, full_matrices=False)
    remaining = np.maximum(values - threshold, 0.0)
    return (left * remaining) @ right, float(remaining.sum())


def unfold(tensor: FloatArray, mode: int) -> FloatArray:
    """Unfold along mode k: its rows, by all other modes together; (I_k, J)."""
    return np.moveaxis(tensor, mode, 0).reshape(tensor.shape[mode], -1)


def fold(matrix: FloatArray, mode: int, shape: tuple[int, ...]) -> FloatArray:
    """Undo :func:`unfold`."""
    others = [size for k, size in enumerate(shape) if k != mode]
    return np.moveaxis(matrix.reshape([shape[mode], *others]), 0, mode)


@dataclass(frozen=True, kw_only=True)
class TuckerSettings(LSSettings):
    """Settings of NTF-Tucker-LS: those of NTF-CPD-LS; `passes` also counts updates of the core.

    Examples
    --------
    >>> from uncletc import METHODS, simulate
    >>> y, _ = simulate((6, 5, 4), rank=1, observed=0.8, seed=1)
    >>> found = METHODS["NTF-Tucker-LS"].fit(y, TuckerSettings(rank=2, max_iter=5, tol=0.0))
    >>> found.history[-1].objective < found.history[0].objective
    True
    """


class Tucker(Algorithm):
    """Decompose by least squares over rows of the factors and multiplicative steps of the core.

    Attributes
    ----------
    core : ndarray, shape (F_1, …, F_K)
    factors : list of ndarray, shapes (I_k, F_k)
    weight, goal : ndarray, shape (I_1, …, I_K)
        e² and e·y; 0 at missing entries.
    """

    def __init__(self, data: CountTensor, settings: TuckerSettings) -> None:
        check_dense(data, "NTF-Tucker-LS")
        sizes = [min(settings.rank, size) for size in data.shape]
        if max(math.prod(sizes), max(data.shape) * max(sizes) ** 2) > _CORE_LIMIT:
            raise ValueError(
                f"rank must keep the core and each mode's systems within {_CORE_LIMIT:,} numbers; "
                f"rank {settings.rank} is too large for shape {data.shape}"
            )
        self.data, self.settings = data, settings
        where = tuple(data.indices.T)
        self.weight, self.goal = np.zeros(data.shape), np.zeros(data.shape)
        exposure = data.exposure_at(data.indices)
        self.weight[where] = exposure**2
        self.goal[where] = exposure * data.counts
        self.half = 0.5 * float(np.mean(data.counts.astype(np.float64) ** 2))
        self.least = 1e-10 * self.half
        rng = np.random.default_rng(settings.seed)
        core = rng.uniform(0.0, 0.1, sizes)
        # A nearly diagonal core starts far from the saddle point where all columns are equal.
        core[tuple([np.arange(min(sizes))] * len(sizes))] += 1.0
        self.factors = [rng.uniform(0.0, 1.0, pair) for pair in zip(data.shape, sizes, strict=True)]
        level = float((times(core, self.factors)[where] * exposure).mean())
        self.core = core * (float(data.counts.mean()) / level)
        self._balance()
        size = math.sqrt(2 * self.half * data.n_observed)
        self.ridge = settings.ridge * math.pow(size, 2 - 2 / (len(sizes) + 1))

    def objective(self) -> float:
        """1/|Ω| [½ Σ_Ω (y_i - λ_i)² + ½ ϱ (‖G‖² + Σ_k ‖U_k‖²)]."""
        rate = times(self.core, self.factors)
        parts = (self.core, *self.factors)
        penalty = 0.5 * self.ridge * sum(float(np.sum(part**2)) for part in parts)
        misfit = float(np.sum(rate * (0.5 * self.weight * rate - self.goal)))
        return self.half + (misfit + penalty) / self.data.n_observed

    def step(self) -> None:
        """Update every factor, then the core."""
        for mode in range(len(self.factors)):
            self.factors[mode] = self.updated(mode)
        transposed = [factor.T for factor in self.factors]
        numerator = times(self.goal, transposed)
        for _ in range(self.settings.passes):  # never raises the objective
            rate = times(self.core, self.factors)
            denominator = times(self.weight * rate, transposed) + self.ridge * self.core
            self.core = self.core * numerator / np.maximum(denominator, TINY)
        self._balance()

    def updated(self, mode: int) -> FloatArray:
        """U_k ≥ 0 with a lower objective; if ridge is 0, rows without observed entries stay."""
        eyes = [np.eye(self.core.shape[k]) if k == mode else u for k, u in enumerate(self.factors)]
        others = unfold(times(self.core, eyes), mode)  # (F, J)
        weights, goals = unfold(self.weight, mode), unfold(self.goal, mode)  # (I, J)
        gram = np.stack([weights @ (others * row).T for row in others], axis=1)  # (I, F, F)
        gram += self.ridge * np.eye(len(others))
        return nonnegative_rows(self.factors[mode], gram, goals @ others.T, self.settings.passes)

    def predictor(self) -> Predictor:
        """λ from the core and the factors."""
        dense = times(self.core, fill_rows(self.factors, self.data.indices))
        exposure = self.data.exposure
        return lambda indices, _: np.asarray(
            dense[tuple(indices.T)] * exposure_at(exposure, indices)
        )

    def _balance(self) -> None:
        """Give the factors and the core equal norms; λ stays, the penalty never rises."""
        norms = [max(float(np.linalg.norm(part)), TINY) for part in (self.core, *self.factors)]
        common = math.exp(sum(math.log(norm) for norm in norms) / len(norms))
        if min(norms) <= 1e-100:
            return
        for factor, norm in zip(self.factors, norms[1:], strict=True):
            factor *= common / norm
        self.core = self.core * (common / norms[0])


def times(core: FloatArray, factors: Sequence[FloatArray]) -> FloatArray:
    """G ×_1 U_1 … ×_K U_K; shape (I_1, …, I_K)."""
    for factor in factors:  # each product moves the first mode to the end
        core = np.tensordot(core, factor, axes=(0, 1))
    return core
