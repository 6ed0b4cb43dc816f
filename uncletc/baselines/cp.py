"""Non-negative CP decompositions without detection: by Poisson loss, gamma priors, least squares.

In all three, λ_i = e_i Σ_f ∏_k U_k(i_k, f) with e the exposure, and sums go over Ω alone: missing
entries are missing. A row of U_k whose slice holds no observed entry is the mean of its mode's
other rows.

NTF-CPD-KL minimises Σ_Ω [λ_i - y_i log λ_i] over U_k ≥ 0, the Poisson likelihood if every event is
counted: E. C. Chi and T. G. Kolda, "On Tensors, Sparsity, and Nonnegative Factorizations", SIAM
Journal on Matrix Analysis and Applications 33(4), 2012 (CP-APR, by multiplicative updates, without
missing entries there). As in the source, an element near zero is lifted if a larger value would
raise the likelihood.

BPTF is Bayesian: A. Schein, J. Paisley, D. M. Blei and H. Wallach, "Bayesian Poisson Tensor
Factorization for Inferring Multilateral Relations from Sparse Dyadic Event Counts", KDD 2015.

    y_i ~ Poisson(λ_i),   U_k(i, f) ~ Gamma(α, rate α β_k)

The posterior is approximated by independent gammas of shape γ and rate δ; β_k, one over the mean of
its mode's elements, is set to raise the bound. Small α makes the factors sparse.

NTF-CPD-LS minimises ½ Σ_Ω (y_i - λ_i)² over U_k ≥ 0: A. Shashua and T. Hazan, "Non-Negative Tensor
Factorization with Applications to Statistics and Computer Vision", ICML 2005; the coordinate
updates of several passes each after N. Gillis and F. Glineur, "Accelerated Multiplicative Updates
and Hierarchical ALS Algorithms for Nonnegative Matrix Factorization", Neural Computation 24(4),
2012. Given the other factors, every row of U_k solves a small non-negative least-squares problem
over that slice's observed entries. We add a small penalty on the squares of U_k: without it
predictions of missing entries grow without bound where few entries of a slice are observed (on the
paper's simulations the mean error of λ is then three times as large). ``ridge=0`` turns it off.
"""

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np
import torch
from scipy.special import digamma, gammaln, logsumexp, xlogy

from uncletc.baselines.base import Algorithm, Predictor, RankSettings, real, whole
from uncletc.common.validation import FloatArray
from uncletc.data.counts import CountTensor
from uncletc.data.entries import exposure_at
from uncletc.model.cp import fill_rows, products
from uncletc.solvers.poisson import TINY, Problem, update_factor

_NEARLY_ZERO, _LIFT = 1e-10, 1e-2  # relative to the mean of the factor
_LEAST_MEAN = 1e-100  # of a mode's elements, where all counts are zero
_START = 100.0  # shape of the starting gammas: nearly certain, so that starts differ by their means


class CP(Algorithm):
    """A CP decomposition whose factors are updated in turn, as each method defines.

    Attributes
    ----------
    counts, exposure : ndarray, shape (N,)
    indices : ndarray of int, shape (N, K)
    factors : list of ndarray, shapes (I_k, F)
    """

    def __init__(self, data: CountTensor, settings: RankSettings) -> None:
        self.data, self.settings, self.problem = data, settings, Problem(data)
        self.counts = self.problem.counts.numpy()
        self.exposure = self.problem.exposure.numpy()
        self.indices = self.problem.indices.numpy()
        rng = np.random.default_rng(settings.seed)
        factors = [rng.uniform(0.1, 1.0, (size, settings.rank)) for size in data.shape]
        level = float((products(factors, self.indices).sum(axis=1) * self.exposure).mean())
        ratio = (float(data.counts.mean()) / level) ** (1 / len(factors))
        self.factors: list[FloatArray] = [factor * ratio for factor in factors]

    @abstractmethod
    def updated(self, mode: int) -> FloatArray:
        """U_k with a lower objective; (I_k, F)."""

    def step(self) -> None:
        """Update every factor, and balance them."""
        for mode in range(len(self.factors)):
            self.factors[mode] = self.updated(mode)
        balance(self.factors)

    def predictor(self) -> Predictor:
        """λ from the factors."""
        factors, exposure = fill_rows(self.factors, self.data.indices), self.data.exposure
        return lambda indices, _: np.asarray(
            products(factors, indices).sum(axis=1) * exposure_at(exposure, indices)
        )

    def rate(self) -> FloatArray:
        """λ of Ω; (N,)."""
        return np.asarray(self.exposure * products(self.factors, self.indices).sum(axis=1))

    def sums(self, mode: int, weights: FloatArray, values: FloatArray) -> FloatArray:
        """Σ weight_i · values_i over the entries of each slice; (N,), (N, F) to (I_k, F)."""
        slices = self.problem.slices[mode]
        return slices(torch.from_numpy(weights), torch.from_numpy(values)).numpy()


def balance(factors: list[FloatArray]) -> None:
    """Give each component columns of equal norm in all modes, in place; λ stays."""
    sizes = np.array([np.linalg.norm(factor, axis=0) for factor in factors])  # (K, F)
    live = (sizes > 1e-100).all(axis=0)
    common = np.exp(np.log(np.maximum(sizes, TINY)).mean(axis=0))
    for factor, size in zip(factors, sizes, strict=True):
        factor[:, live] *= common[live] / size[live]


@dataclass(frozen=True, kw_only=True)
class KLSettings(RankSettings):
    """Settings of NTF-CPD-KL.

    Parameters
    ----------
    sweeps : int
        Multiplicative updates of each factor per iteration, ≥ 1.
    rank, max_iter, tol, seed
        See :class:`~uncletc.baselines.base.RankSettings`.

    Examples
    --------
    >>> from uncletc import METHODS, simulate
    >>> y, _ = simulate((6, 5, 4), rank=1, observed=0.8, seed=1)
    >>> found = METHODS["NTF-CPD-KL"].fit(y, KLSettings(rank=2, max_iter=5, tol=0.0))
    >>> found.history[-1].objective < found.history[0].objective
    True
    """

    sweeps: int = whole(5, least=1)


class KL(CP):
    """Decompose by multiplicative updates, each of which lowers the objective."""

    settings: KLSettings

    def objective(self) -> float:
        """1/|Ω| Σ_Ω [λ_i - y_i log λ_i]."""
        rate = self.rate()
        return float(np.mean(rate - xlogy(self.counts, np.maximum(rate, TINY))))

    def updated(self, mode: int) -> FloatArray:
        """Multiply U_k some times, as every solver here does, by sums of all that was counted.

        Elements near zero whose derivative asks for more are lifted first, in place of the first
        step, because no multiple of zero leaves zero (source, section 5.3).
        """
        lifted = self._lifted(mode)
        sweeps = self.settings.sweeps - (lifted is not self.factors[mode])
        parts = [torch.from_numpy(each) for each in self.factors]
        parts[mode] = torch.from_numpy(lifted)
        detected = torch.ones_like(self.problem.counts)
        return update_factor(parts, mode, self.problem, detected, sweeps, tol=0.0).numpy()

    def _lifted(self, mode: int) -> FloatArray:
        """U_k with elements that are stuck near zero lifted; the same array if none is."""
        factor = self.factors[mode]
        level = max(float(factor.mean()), TINY)
        low = factor < _NEARLY_ZERO * level
        if not low.any():
            return factor
        others = products(self.factors, self.indices, skip=mode)
        rate = np.einsum("nf,nf->n", factor[self.indices[:, mode]], others)
        numerator = self.sums(mode, self.counts / np.maximum(rate, TINY), others)
        stuck = low & (numerator > self.sums(mode, self.exposure, others))
        return np.where(stuck, factor + _LIFT * level, factor) if stuck.any() else factor


@dataclass(frozen=True, kw_only=True)
class LSSettings(RankSettings):
    """Settings of NTF-CPD-LS.

    Parameters
    ----------
    passes : int
        Passes over the columns of each factor per iteration, ≥ 1.
    ridge : float
        ≥ 0, relative to the size of the counts; 0: least squares alone.
    rank, max_iter, tol, seed
        See :class:`~uncletc.baselines.base.RankSettings`.

    Examples
    --------
    >>> from uncletc import METHODS, simulate
    >>> y, _ = simulate((6, 5, 4), rank=1, observed=0.8, seed=1)
    >>> found = METHODS["NTF-CPD-LS"].fit(y, LSSettings(rank=2, max_iter=5, tol=0.0))
    >>> found.history[-1].objective < found.history[0].objective
    True
    """

    passes: int = whole(5, least=1)
    ridge: float = real(1e-2, least=0.0)


class LS(CP):
    """Decompose by alternating non-negative least squares."""

    settings: LSSettings

    def __init__(self, data: CountTensor, settings: LSSettings) -> None:
        super().__init__(data, settings)
        size = float(np.linalg.norm(data.counts))
        self.ridge = settings.ridge * size ** (2 - 2 / len(self.factors))
        self.least = 1e-10 * size**2 / data.n_observed

    def objective(self) -> float:
        """1/|Ω| [½ Σ_Ω (y_i - λ_i)² + ½ ϱ Σ_k ‖U_k‖²]."""
        penalty = self.ridge * sum(float(np.sum(factor**2)) for factor in self.factors)
        misfit = np.mean((self.counts - self.rate()) ** 2)
        return float(0.5 * (misfit + penalty / len(self.counts)))

    def updated(self, mode: int) -> FloatArray:
        """U_k ≥ 0 with a lower objective; if ridge is 0, rows without observed entries stay."""
        others = products(self.factors, self.indices, skip=mode) * self.exposure[:, None]
        right = self.sums(mode, self.counts, others)  # (I, F)
        gram = np.stack([self.sums(mode, column, others) for column in others.T.copy()], axis=1)
        gram += self.ridge * np.eye(len(gram[0]))
        return nonnegative_rows(self.factors[mode], gram, right, self.settings.passes)


def nonnegative_rows(
    start: FloatArray, gram: FloatArray, right: FloatArray, passes: int
) -> FloatArray:
    """Lower ½ uᵀ H_i u - b_iᵀ u over u ≥ 0 for each row, one coordinate of all rows at a time.

    Parameters
    ----------
    start : ndarray, shape (I, F)
        Starting values, ≥ 0.
    gram : ndarray, shape (I, F, F)
        H_i, positive semi-definite.
    right : ndarray, shape (I, F)
        b_i.
    passes : int
        Passes over the F coordinates.

    Returns
    -------
    ndarray, shape (I, F)
        Coordinates whose diagonal element of H_i is 0 stay.
    """
    rows = start.copy()
    diagonal = np.einsum("iff->if", gram)
    for _ in range(passes):
        for f in range(rows.shape[1]):
            slope = right[:, f] - np.einsum("ig,ig->i", gram[:, f], rows)
            step = np.zeros(len(rows))
            np.divide(slope, diagonal[:, f], out=step, where=diagonal[:, f] > 0)
            rows[:, f] = np.maximum(rows[:, f] + step, 0.0)
    return rows


@dataclass(frozen=True, kw_only=True)
class BPTFSettings(RankSettings):
    """Settings of BPTF.

    Parameters
    ----------
    alpha : float
        α > 0, the shape of the prior: the smaller, the sparser; the paper's grid is .02 to .2.
    max_iter, tol
        By default 200 and 1e-4, as in the authors' code. They matter: with many more iterations
        the bound still rises slightly, while predictions of some missing entries diverge.
    rank, seed
        See :class:`~uncletc.baselines.base.RankSettings`.

    Examples
    --------
    >>> from uncletc import METHODS, simulate
    >>> y, _ = simulate((6, 5, 4), rank=1, observed=0.8, seed=1)
    >>> found = METHODS["BPTF"].fit(y, BPTFSettings(rank=2, max_iter=5, tol=0.0))
    >>> found.history[-1].objective < found.history[0].objective
    True
    """

    alpha: float = real(0.1)
    max_iter: int = whole(200, least=0)
    tol: float = real(1e-4, least=0.0)


class BPTF(CP):
    """Raise the evidence lower bound by coordinate ascent.

    Attributes
    ----------
    shapes, rates : list of ndarray, shapes (I_k, F)
        γ and δ.
    beta : list of float
        β_k.
    """

    settings: BPTFSettings

    def __init__(self, data: CountTensor, settings: BPTFSettings) -> None:
        super().__init__(data, settings)
        means = [np.maximum(start, _LEAST_MEAN) for start in self.factors]
        self.shapes = [np.full_like(mean, _START) for mean in means]
        self.rates = [_START / mean for mean in means]
        self.beta = [1 / float(mean.mean()) for mean in means]

    def objective(self) -> float:
        """Minus the evidence lower bound, with the shares φ at their best, per observed entry."""
        logs = self._log_products()
        rate = self.exposure * products(self._means(), self.indices).sum(axis=1)
        log_rate = np.log(np.maximum(self.exposure, TINY)) + logsumexp(logs, axis=1)
        value = float(np.sum(self.counts * log_rate - rate - gammaln(self.counts + 1)))
        divergence = sum(self._divergence(mode) for mode in range(len(self.shapes)))
        return (divergence - value) / len(self.counts)

    def updated(self, mode: int) -> FloatArray:
        """Set γ, δ and β of one mode to what raises the bound most, each in turn; exp E log U_k.

        γ = α + Σ y φ with φ the share of each component in its entry, ∝ ∏_k exp E log U_k;
        δ = α β_k + Σ e ∏_{j≠k} E U_j; 1/β_k = mean E U_k.
        """
        shares, alpha = self._log_products(), self.settings.alpha
        shares = np.exp(shares - logsumexp(shares, axis=1, keepdims=True))
        others = products(self._means(), self.indices, skip=mode)
        self.shapes[mode] = alpha + self.sums(mode, self.counts, shares)
        self.rates[mode] = alpha * self.beta[mode] + self.sums(mode, self.exposure, others)
        self.beta[mode] = 1 / max(float(self._means()[mode].mean()), _LEAST_MEAN)
        return np.exp(self._log_means()[mode])

    def predictor(self) -> Predictor:
        """λ from one point of the posterior of each mode, as in the authors' code."""
        self.factors = [np.exp(log) for log in self._log_means()]
        return super().predictor()

    def _means(self) -> list[FloatArray]:
        """E U_k of each mode."""
        return [shape / rate for shape, rate in zip(self.shapes, self.rates, strict=True)]

    def _log_means(self) -> list[FloatArray]:
        """E log U_k of each mode."""
        pairs = zip(self.shapes, self.rates, strict=True)
        return [np.asarray(digamma(shape) - np.log(rate)) for shape, rate in pairs]

    def _log_products(self) -> FloatArray:
        """Σ_k E log U_k of each component; (N, F)."""
        parts = [log[self.indices[:, k]] for k, log in enumerate(self._log_means())]
        return np.asarray(np.sum(parts, axis=0))

    def _divergence(self, mode: int) -> float:
        """Kullback-Leibler divergence of one mode's gammas from their prior."""
        shape, rate, alpha = self.shapes[mode], self.rates[mode], self.settings.alpha
        prior = alpha * self.beta[mode]
        terms = (
            (shape - alpha) * digamma(shape)
            - gammaln(shape)
            + gammaln(alpha)
            + alpha * (np.log(rate) - np.log(prior))
            + shape * (prior / rate - 1)
        )
        return float(terms.sum())
