"""POND: probabilistic neural-kernel tensor decomposition.

Source: C. Tillinghast, S. Fang, K. Zhang and S. Zhe, "Probabilistic Neural-Kernel Tensor
Decomposition", ICDM 2020; the sparse variational Gaussian process by inducing points after
J. Hensman, N. Fusi and N. D. Lawrence, "Gaussian Processes for Big Data", UAI 2013.

    y_i = f(U_1(i_1), …, U_K(i_K)) + noise,   f ~ GP(0, k),   U_k(i, f) ~ N(0, 1)
    k(x, x') = a² exp(-½ ‖ψ(x) - ψ(x')‖²)

where ψ is a convolutional network over an entry's K stacked embeddings and the noise is Gaussian.
The embeddings have Gaussian posteriors, sampled in each step; the process is summarised by its
values at M inducing points in the range of ψ, also with a Gaussian posterior. Adam raises the
evidence lower bound over batches of Ω. As in the paper, y is standardised, and neither attributes
nor exposure are used. λ is the posterior mean of f on the scale of the counts, or 0 if negative.
"""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from uncletc.baselines.base import Algorithm, Estimate, RankSettings
from uncletc.baselines.neural import one_epoch, seeded
from uncletc.common.validation import FloatArray, IntArray
from uncletc.data.counts import CountTensor

_JITTER = 1e-6  # on the diagonal of the inducing points' kernel, relative to a²


@dataclass(frozen=True, kw_only=True)
class PONDSettings(RankSettings):
    """Settings of POND.

    Parameters
    ----------
    inducing : int
        M ≥ 1, the number of inducing points; at most that of observed entries.
    channels : int
        Of the convolution, ≥ 1.
    features : int
        Dimensions that ψ maps to, ≥ 1.
    learning_rate : float
        Step size of Adam, > 0.
    batch_size : int
        Entries per step, ≥ 1.
    max_iter : int
        Epochs, ≥ 0.
    tol : float
        0 by default: all epochs run.
    rank, seed
        See :class:`~uncletc.baselines.base.RankSettings`.
    """

    inducing: int = 64
    channels: int = 16
    features: int = 8
    learning_rate: float = 1e-2
    batch_size: int = 256
    max_iter: int = 100
    tol: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("inducing", "channels", "features", "batch_size"):
            self._whole(name, 1)
        self._real("learning_rate", 0.0, above=True)


class Process(nn.Module):
    """The variational posterior over embeddings and over f; double precision."""

    def __init__(self, shape: tuple[int, ...], settings: PONDSettings, n_inducing: int) -> None:
        super().__init__()
        sizes = [(size, settings.rank) for size in shape]
        self.means = nn.ParameterList(0.5 * torch.randn(size) for size in sizes)
        self.log_deviations = nn.ParameterList(torch.full(size, -2.0) for size in sizes)
        self.over_modes = nn.Linear(len(shape), settings.channels)  # a convolution (K × 1)
        self.over_components = nn.Linear(settings.rank * settings.channels, settings.features)
        self.inducing = nn.Parameter(torch.zeros(n_inducing, settings.features))
        # v = L⁻¹ f(inducing), with L Lᵀ their kernel, has posterior N(m, R Rᵀ) and prior N(0, I).
        self.v_mean = nn.Parameter(torch.zeros(n_inducing))
        self.v_root = nn.Parameter(0.3 * torch.eye(n_inducing))
        self.log_amplitude = nn.Parameter(torch.zeros(()))
        self.log_noise = nn.Parameter(torch.tensor(-1.0))

    def features(self, indices: Tensor, noise: list[Tensor] | None = None) -> Tensor:
        """ψ of entries (n, K), at the mean embeddings or at a sample of them; (n, q)."""
        tables = list(self.means)
        if noise is not None:
            deviations = [log.exp() for log in self.log_deviations]
            tables = [m + s * e for m, s, e in zip(tables, deviations, noise, strict=True)]
        image = torch.stack([table[indices[:, k]] for k, table in enumerate(tables)], dim=2)
        hidden: Tensor = torch.tanh(self.over_modes(image)).flatten(1)  # (n, F · channels)
        return self.over_components(hidden)  # type: ignore[no-any-return]

    def kernel(self, a: Tensor, b: Tensor) -> Tensor:
        """Return k between two sets of features; (n, q), (m, q) to (n, m)."""
        square = (a**2).sum(1)[:, None] + (b**2).sum(1) - 2 * a @ b.T
        return torch.exp(2 * self.log_amplitude - 0.5 * square.clamp_min(0.0))

    def posterior(self, features: Tensor) -> tuple[Tensor, Tensor]:
        """Mean and variance of f at features (n, q); (n,), (n,)."""
        amplitude = torch.exp(2 * self.log_amplitude)
        among = self.kernel(self.inducing, self.inducing)
        lower = torch.linalg.cholesky(
            among + _JITTER * amplitude * torch.eye(len(among), dtype=among.dtype)
        )
        across = self.kernel(self.inducing, features)  # (M, n)
        weights = torch.linalg.solve_triangular(lower, across, upper=False)
        spread = self.v_root.tril().T @ weights
        variance = amplitude - (weights**2).sum(0) + (spread**2).sum(0)
        return weights.T @ self.v_mean, variance.clamp_min(0.0)

    def divergence(self) -> Tensor:
        """Kullback-Leibler divergence of the posteriors of v and U from their priors."""
        root = self.v_root.tril()
        logs = torch.log(root.diagonal().abs().clamp_min(1e-12)).sum()
        total = 0.5 * ((root**2).sum() + (self.v_mean**2).sum() - len(root)) - logs
        for mean, log in zip(self.means, self.log_deviations, strict=True):
            total = total + 0.5 * (mean**2 + torch.exp(2 * log) - 1 - 2 * log).sum()
        return total


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class PONDEstimate(Estimate):
    """λ as the posterior mean of a Gaussian process over embeddings.

    Attributes
    ----------
    process : Process
    level, scale : float
        y was standardised as (y - level) / scale.
    """

    process: Process
    level: float
    scale: float

    @torch.no_grad()
    def _rate(self, indices: IntArray) -> FloatArray:
        mean, _ = self.process.posterior(self.process.features(torch.tensor(indices)))
        return np.maximum(self.level + self.scale * mean.numpy(), 0.0)


class POND(Algorithm):
    """Raise the evidence lower bound by stochastic gradients, an epoch per iteration.

    The objective is minus the bound per observed entry during the epoch.
    """

    def __init__(self, data: CountTensor, settings: PONDSettings) -> None:
        self.settings, self.n = settings, data.n_observed
        self.level = float(data.counts.mean())
        self.scale = float(data.counts.std()) or 1.0
        self.goal = torch.from_numpy((data.counts - self.level) / self.scale)
        self.where = torch.tensor(data.indices)
        with seeded(settings.seed) as self.generator:
            self.process = Process(data.shape, settings, min(settings.inducing, self.n)).double()
        _place_inducing(self.process, self.where, self.generator)
        self.adam = torch.optim.Adam(
            self.process.parameters(), lr=settings.learning_rate, fused=True
        )
        with torch.no_grad():
            self.value = float(self.loss(torch.arange(self.n)[: settings.batch_size]))

    def loss(self, rows: Tensor) -> Tensor:
        """Minus the bound, estimated from some rows at a sample of the embeddings."""
        process = self.process
        noise = [
            torch.randn(m.shape, generator=self.generator, dtype=m.dtype) for m in process.means
        ]
        mean, variance = process.posterior(process.features(self.where[rows], noise))
        misfit = ((self.goal[rows] - mean) ** 2 + variance) * torch.exp(-2 * process.log_noise)
        likelihood = -0.5 * misfit - process.log_noise - 0.5 * math.log(2 * math.pi)
        return process.divergence() / self.n - likelihood.mean()

    def objective(self) -> float:
        """Minus the bound, on the scale of the counts."""
        return self.value + math.log(self.scale)

    def step(self) -> None:
        """Take one epoch."""
        size = self.settings.batch_size
        self.value = one_epoch(self.adam, self.loss, self.n, size, self.generator)
        with torch.no_grad():  # without noise the bound has no maximum
            self.process.log_noise.clamp_(min=-6.0)

    def estimate(self, **record: Any) -> PONDEstimate:
        """λ from a copy of the process."""
        process = copy.deepcopy(self.process)
        return PONDEstimate(**record, process=process, level=self.level, scale=self.scale)


@torch.no_grad()
def _place_inducing(process: Process, where: Tensor, generator: torch.Generator) -> None:
    """Put the inducing points at the features of random observed entries."""
    chosen = torch.randperm(len(where), generator=generator)[: len(process.inducing)]
    process.inducing.copy_(process.features(where[chosen]))
