"""Neural tensor completion: CoSTCo and POND, trained by stochastic gradients.

CoSTCo: H. Liu, Y. Li, M. Tsang and Y. Liu, "CoSTCo: A Neural Tensor Completion Model for Sparse
Tensors", KDD 2019. Every index of every mode has an embedding of F numbers. An entry's K stacked
embeddings pass through a convolution over the modes (K × 1), one over the components (1 × F), a
dense layer and an output layer, with ReLU units between them. Adam minimises squared errors over Ω.
As in the comparison by Ibrahim et al. (ICML 2023), attributes are input besides the indices: a
linear map of an entry's standardised attributes, and of whether it has any, is stacked below its
embeddings. Three choices are ours: y is divided by its standard deviation; the output is a softplus
instead of a ReLU, which could die and then always predict 0; and weights decay slightly. Exposure
is not used.

POND: C. Tillinghast, S. Fang, K. Zhang and S. Zhe, "Probabilistic Neural-Kernel Tensor
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

import copy
import math
from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from uncletc.baselines.base import Algorithm, Predictor, RankSettings, real, whole
from uncletc.common.validation import FloatArray, IntArray
from uncletc.data.counts import CountTensor
from uncletc.solvers.bcd import adam_step

_WEIGHT_DECAY = 1e-2  # of AdamW
_JITTER = 1e-6  # on the diagonal of the inducing points' kernel, relative to a²


@contextmanager
def seeded(seed: int) -> Iterator[torch.Generator]:
    """Seed torch's initial weights of layers, and restore its global state afterwards.

    Yields a generator for everything random that comes after the start.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        yield torch.Generator().manual_seed(seed)


@dataclass(frozen=True, kw_only=True)
class NeuralSettings(RankSettings):
    """Settings of a method trained by stochastic gradients.

    Parameters
    ----------
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

    learning_rate: float = real(1e-3)
    batch_size: int = whole(256, least=1)
    max_iter: int = whole(100, least=0)
    tol: float = real(0.0, least=0.0)


class Neural(Algorithm):
    """A module trained by Adam, an epoch per iteration.

    Attributes
    ----------
    adam : torch.optim.Optimizer
    where : Tensor of int, shape (N, K)
    generator : torch.Generator
    value : float
        Mean loss of an entry during the epoch.
    """

    settings: NeuralSettings
    adam: torch.optim.Optimizer
    where: Tensor
    generator: torch.Generator
    value: float

    @abstractmethod
    def loss(self, rows: Tensor) -> Tensor:
        """Mean loss of some rows."""

    def step(self) -> None:
        """Take one epoch: a step for each batch of shuffled rows."""
        total, n = 0.0, len(self.where)
        order = torch.randperm(n, generator=self.generator)
        for rows in torch.split(order, self.settings.batch_size):
            value = self.loss(rows)
            adam_step(self.adam, value)
            total += float(value.detach()) * len(rows)
        self.value = total / n


@dataclass(frozen=True, kw_only=True)
class CoSTCoSettings(NeuralSettings):
    """Settings of CoSTCo.

    Parameters
    ----------
    channels : int
        Of both convolutions, and units of the dense layer; ≥ 1.
    learning_rate, batch_size, max_iter, tol, rank, seed
        See :class:`NeuralSettings`.

    Examples
    --------
    >>> from uncletc import METHODS, simulate
    >>> y, _ = simulate((6, 5, 4), rank=1, observed=0.8, seed=1)
    >>> found = METHODS["CoSTCo"].fit(y, CoSTCoSettings(rank=2, channels=8, max_iter=20))
    >>> found.history[-1].objective < found.history[0].objective
    True
    """

    channels: int = whole(32, least=1)


class Network(nn.Module):
    """Indices (n, K) and attribute columns (n, A) to an output > 0 (n,)."""

    def __init__(self, shape: tuple[int, ...], n_columns: int, settings: CoSTCoSettings) -> None:
        super().__init__()
        rank, channels = settings.rank, settings.channels
        self.embeddings = nn.ModuleList(nn.Embedding(size, rank) for size in shape)
        for table in self.embeddings:
            nn.init.normal_(table.weight, std=0.1)  # type: ignore[arg-type]
        self.side = nn.Linear(n_columns, rank) if n_columns else None
        rows = len(shape) + (n_columns > 0)
        # On an image of rows × F these two are the convolutions (rows × 1) and (1 × F).
        self.over_modes = nn.Linear(rows, channels)
        self.over_components = nn.Linear(rank * channels, channels)
        self.dense = nn.Linear(channels, channels)
        self.output = nn.Linear(channels, 1)

    def forward(self, indices: Tensor, columns: Tensor) -> Tensor:
        """Predict y over its scale."""
        rows = [table(indices[:, k]) for k, table in enumerate(self.embeddings)]
        if self.side is not None:
            rows.append(self.side(columns))
        image = torch.stack(rows, dim=2)  # (n, F, rows)
        x = torch.relu(self.over_modes(image)).flatten(1)  # (n, F · channels)
        x = torch.relu(self.over_components(x))
        x = torch.relu(self.dense(x))
        return nn.functional.softplus(self.output(x).squeeze(1))


class CoSTCo(Neural):
    """Train the network; the objective is half the mean squared error of the counts."""

    def __init__(self, data: CountTensor, settings: CoSTCoSettings) -> None:
        self.settings = settings
        z = data.attributes if data.n_attributed else np.empty((1, 0))
        self.n_attributes, self.mean, deviation = z.shape[1], z.mean(axis=0), z.std(axis=0)
        self.deviation = np.where(deviation > 0, deviation, 1.0)
        of_entries = data.attributes_at(data.indices, unknown_as_nan=True)
        self.columns = self._columns(of_entries[:, : self.n_attributes])
        self.scale = float(data.counts.std()) or float(data.counts.mean()) or 1.0
        self.goal = torch.from_numpy((data.counts / self.scale).astype(np.float32))
        self.where = torch.tensor(data.indices)
        with seeded(settings.seed) as self.generator:
            self.network = Network(data.shape, self.columns.shape[1], settings)
        level = max(float(self.goal.mean()), 1e-3)
        self.adam = torch.optim.AdamW(
            self.network.parameters(),
            lr=settings.learning_rate,
            weight_decay=_WEIGHT_DECAY,
            fused=True,
        )
        with torch.no_grad():
            # Predictions start near the mean.
            self.network.output.bias.fill_(level + float(np.log(-np.expm1(-level))))
            self.value = float(self.loss(torch.arange(len(self.goal))))

    def _columns(self, attributes: FloatArray) -> Tensor:
        """Standardised attributes and whether they are known, 0 where not; (n, D + 1) or (n, 0)."""
        if not self.n_attributes:
            return torch.empty(len(attributes), 0)
        unknown = np.isnan(attributes).any(axis=1, keepdims=True)
        scaled = np.where(unknown, 0.0, (attributes - self.mean) / self.deviation)
        return torch.from_numpy(np.hstack([scaled, ~unknown]).astype(np.float32))

    def loss(self, rows: Tensor) -> Tensor:
        """Half the mean squared error of some rows, on the scale of the network."""
        output = self.network(self.where[rows], self.columns[rows])
        return 0.5 * torch.mean((output - self.goal[rows]) ** 2)

    def objective(self) -> float:
        """Half the mean squared error."""
        return self.value * self.scale**2

    def predictor(self) -> Predictor:
        """ŷ from a copy of the network."""
        network = copy.deepcopy(self.network)

        @torch.no_grad()
        def predict(indices: IntArray, attributes: FloatArray) -> FloatArray:
            output = network(torch.tensor(indices), self._columns(attributes))
            return np.asarray(output.double().numpy() * self.scale)

        return predict


@dataclass(frozen=True, kw_only=True)
class PONDSettings(NeuralSettings):
    """Settings of POND.

    Parameters
    ----------
    inducing : int
        M ≥ 1, the number of inducing points; at most that of observed entries.
    channels : int
        Of the convolution, ≥ 1.
    features : int
        Dimensions that ψ maps to, ≥ 1.
    learning_rate, batch_size, max_iter, tol, rank, seed
        See :class:`NeuralSettings`.

    Examples
    --------
    >>> from uncletc import METHODS, simulate
    >>> y, _ = simulate((6, 5, 4), rank=1, observed=0.8, seed=1)
    >>> found = METHODS["POND"].fit(y, PONDSettings(rank=2, inducing=16, max_iter=20))
    >>> found.history[-1].objective < found.history[0].objective
    True
    """

    inducing: int = whole(64, least=1)
    channels: int = whole(16, least=1)
    features: int = whole(8, least=1)
    learning_rate: float = real(1e-2)


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


class POND(Neural):
    """Raise the evidence lower bound; the objective is minus the bound per observed entry."""

    settings: PONDSettings

    def __init__(self, data: CountTensor, settings: PONDSettings) -> None:
        self.settings, n = settings, data.n_observed
        self.level = float(data.counts.mean())
        self.scale = float(data.counts.std()) or 1.0
        self.goal = torch.from_numpy((data.counts - self.level) / self.scale)
        self.where = torch.tensor(data.indices)
        with seeded(settings.seed) as self.generator:
            self.process = Process(data.shape, settings, min(settings.inducing, n)).double()
        chosen = torch.randperm(n, generator=self.generator)[: len(self.process.inducing)]
        self.adam = torch.optim.Adam(
            self.process.parameters(), lr=settings.learning_rate, fused=True
        )
        with torch.no_grad():
            self.process.inducing.copy_(self.process.features(self.where[chosen]))
            self.value = float(self.loss(torch.arange(n)[: settings.batch_size]))

    def loss(self, rows: Tensor) -> Tensor:
        """Minus the bound, estimated from some rows at a sample of the embeddings."""
        process = self.process
        noise = [
            torch.randn(m.shape, generator=self.generator, dtype=m.dtype) for m in process.means
        ]
        mean, variance = process.posterior(process.features(self.where[rows], noise))
        misfit = ((self.goal[rows] - mean) ** 2 + variance) * torch.exp(-2 * process.log_noise)
        likelihood = -0.5 * misfit - process.log_noise - 0.5 * math.log(2 * math.pi)
        return process.divergence() / len(self.goal) - likelihood.mean()

    def objective(self) -> float:
        """Minus the bound, on the scale of the counts."""
        return self.value + math.log(self.scale)

    def step(self) -> None:
        """Take one epoch."""
        super().step()
        with torch.no_grad():  # without noise the bound has no maximum
            self.process.log_noise.clamp_(min=-6.0)

    def predictor(self) -> Predictor:
        """λ from a copy of the process."""
        process = copy.deepcopy(self.process)

        @torch.no_grad()
        def predict(indices: IntArray, attributes: FloatArray) -> FloatArray:  # noqa: ARG001
            mean, _ = process.posterior(process.features(torch.tensor(indices)))
            return np.maximum(self.level + self.scale * mean.numpy(), 0.0)

        return predict
