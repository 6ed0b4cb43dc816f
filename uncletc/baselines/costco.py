"""CoSTCo: neural tensor completion with convolutions over embeddings.

Source: H. Liu, Y. Li, M. Tsang and Y. Liu, "CoSTCo: A Neural Tensor Completion Model for Sparse
Tensors", KDD 2019.

Every index of every mode has an embedding of F numbers. An entry's K stacked embeddings pass
through a convolution over the modes (K × 1), one over the components (1 × F), a dense layer and an
output layer, with ReLU units between them. Adam minimises squared errors over Ω.

As in the comparison by Ibrahim et al. (ICML 2023), attributes are input besides the indices: a
linear map of an entry's standardised attributes, and of whether it has any, is stacked below its
embeddings. Three choices are ours: y is divided by its standard deviation; the output is a softplus
instead of a ReLU, which could die and then always predict 0; and weights decay slightly. Exposure
is not used.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from uncletc.baselines.base import Algorithm, Estimate, RankSettings
from uncletc.baselines.neural import Standard, one_epoch, seeded
from uncletc.common.validation import FloatArray, IntArray
from uncletc.data.counts import CountTensor

_WEIGHT_DECAY = 1e-2  # of AdamW


@dataclass(frozen=True, kw_only=True)
class CoSTCoSettings(RankSettings):
    """Settings of CoSTCo.

    Parameters
    ----------
    channels : int
        Of both convolutions, and units of the dense layer; ≥ 1.
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

    channels: int = 32
    learning_rate: float = 1e-3
    batch_size: int = 256
    max_iter: int = 100
    tol: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        self._whole("channels", 1)
        self._whole("batch_size", 1)
        self._real("learning_rate", 0.0, above=True)


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
        output: Tensor = nn.functional.softplus(self.output(x).squeeze(1))
        return output


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class CoSTCoEstimate(Estimate):
    """ŷ from embeddings and attributes; λ is ŷ with attributes unknown.

    Attributes
    ----------
    network : Network
    standard : Standard
        Of the attributes.
    scale : float
        What y was divided by.
    """

    network: Network
    standard: Standard
    scale: float

    def _rate(self, indices: IntArray) -> FloatArray:
        return self._expected(indices, np.full((len(indices), len(self.standard.mean)), np.nan))

    @torch.no_grad()
    def _expected(self, indices: IntArray, attributes: FloatArray) -> FloatArray:
        columns = torch.from_numpy(self.standard(attributes).astype(np.float32))
        output = self.network(torch.tensor(indices), columns)
        return np.asarray(output.double().numpy() * self.scale)


class CoSTCo(Algorithm):
    """Train the network by stochastic gradients, an epoch per iteration.

    The objective is half the mean squared error during the epoch, on the scale of the counts.
    """

    def __init__(self, data: CountTensor, settings: CoSTCoSettings) -> None:
        self.settings = settings
        self.n_attributes = data.n_attributes if data.n_attributed else 0
        self.standard = Standard.of(data)
        z = data.attributes_at(data.indices, unknown_as_nan=True)
        self.columns = torch.from_numpy(self.standard(z).astype(np.float32))
        self.scale = float(data.counts.std()) or float(data.counts.mean()) or 1.0
        self.goal = torch.from_numpy((data.counts / self.scale).astype(np.float32))
        self.where = torch.tensor(data.indices)
        with seeded(settings.seed) as self.generator:
            self.network = Network(data.shape, self.columns.shape[1], settings)
        _start_at_the_mean(self.network, float(self.goal.mean()))
        self.adam = torch.optim.AdamW(
            self.network.parameters(),
            lr=settings.learning_rate,
            weight_decay=_WEIGHT_DECAY,
            fused=True,
        )
        with torch.no_grad():
            self.value = float(self.loss(torch.arange(len(self.goal))))

    def loss(self, rows: Tensor) -> Tensor:
        """Half the mean squared error of some rows, on the scale of the network."""
        output = self.network(self.where[rows], self.columns[rows])
        return 0.5 * torch.mean((output - self.goal[rows]) ** 2)

    def objective(self) -> float:
        """Half the mean squared error."""
        return self.value * self.scale**2

    def step(self) -> None:
        """Take one epoch."""
        n, size = len(self.goal), self.settings.batch_size
        self.value = one_epoch(self.adam, self.loss, n, size, self.generator)

    def estimate(self, **record: Any) -> CoSTCoEstimate:
        """ŷ from a copy of the network."""
        return CoSTCoEstimate(
            **record,
            n_attributes=self.n_attributes,
            network=copy.deepcopy(self.network),
            standard=self.standard,
            scale=self.scale,
        )


@torch.no_grad()
def _start_at_the_mean(network: Network, mean: float) -> None:
    """Set the output's bias so that predictions start near the mean."""
    level = max(mean, 1e-3)
    network.output.bias.fill_(level + float(np.log(-np.expm1(-level))))
