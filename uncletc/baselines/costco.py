"""CoSTCo: neural tensor completion with convolutions over embeddings.

Source: H. Liu, Y. Li, M. Tsang and Y. Liu, "CoSTCo: A Neural Tensor Completion Model for Sparse
Tensors", KDD 2019.

Every index of every mode has an embedding of F numbers. An entry's K embeddings, one below the
other, pass a convolution over the modes (K × 1), one over the components (1 × F), a dense layer and
an output, with rectified units between; squared errors over Ω, Adam.

As in the comparison by Ibrahim et al. (ICML 2023), attributes join the indices as input: a linear
map of an entry's standardised attributes, and of whether it has any, is one more row below its
embeddings. Three choices are ours: y is divided by its standard deviation; the output is a softplus
instead of a rectified unit, which may die and then predicts 0 for good; and weights decay a little.
Exposure is not used.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from uncletc.baselines.base import (
    Callback,
    Prediction,
    RankSettings,
    Run,
    fitting,
    known_attributes,
)
from uncletc.baselines.neural import Standard, one_epoch, seeded
from uncletc.counts import CountTensor
from uncletc.model import StopReason
from uncletc.validation import FloatArray, IntArray


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
    weight_decay : float
        ≥ 0, as in AdamW.
    use_attributes : bool
        False: as published, without attributes.
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
    weight_decay: float = 1e-2
    use_attributes: bool = True
    max_iter: int = 100
    tol: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        self._whole("channels", 1)
        self._whole("batch_size", 1)
        self._real("learning_rate", 0.0, above=True)
        self._real("weight_decay", 0.0)
        if not isinstance(self.use_attributes, bool):
            raise TypeError(f"use_attributes must be True or False, got {self.use_attributes!r}")


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
class CoSTCoPrediction(Prediction):
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
        found = self.network(torch.tensor(indices), columns)
        return np.asarray(found.double().numpy() * self.scale)


def fit(
    counts: CountTensor, settings: CoSTCoSettings, *, callback: Callback | None = None
) -> Prediction:
    """Train the network for `max_iter` epochs.

    Parameters
    ----------
    counts : CountTensor
        At least one observed entry; any may have attributes.
    settings : CoSTCoSettings
    callback : callable, optional
        Called with each :class:`~uncletc.baselines.base.Progress`, whose objective is half the
        mean squared error, on the scale of the counts, as the epoch went; return True to stop.

    Returns
    -------
    CoSTCoPrediction
    """
    with fitting(counts, settings, CoSTCoSettings) as data, seeded(settings.seed) as generator:
        used = settings.use_attributes and data.n_attributed > 0
        standard = Standard.of(data) if used else Standard(np.zeros(0), np.ones(0))
        columns = torch.from_numpy(
            standard(known_attributes(data, data.indices)).astype(np.float32)
        )
        scale = float(data.counts.std()) or float(data.counts.mean()) or 1.0
        goal = torch.from_numpy((data.counts / scale).astype(np.float32))
        where = torch.tensor(data.indices)
        network = Network(data.shape, columns.shape[1], settings)
        _start_at_the_mean(network, float(goal.mean()))
        adam = torch.optim.AdamW(
            network.parameters(),
            lr=settings.learning_rate,
            weight_decay=settings.weight_decay,
            fused=True,
        )

        def loss(rows: Tensor) -> Tensor:
            found = network(where[rows], columns[rows])
            return 0.5 * torch.mean((found - goal[rows]) ** 2)

        def result(stop: StopReason) -> Prediction:
            return CoSTCoPrediction(
                shape=counts.shape,
                history=tuple(run.history),
                stop=stop,
                settings=settings,
                counts_digest=counts.digest,
                n_attributes=counts.n_attributes if used else 0,
                network=copy.deepcopy(network),
                standard=standard,
                scale=scale,
            )

        run = Run(settings, callback, result)
        with torch.no_grad():
            value = float(loss(torch.arange(len(goal))))
        while (stop := run.record(value * scale**2)) is None:
            value = one_epoch(adam, loss, len(goal), settings.batch_size, generator)
        return run.finish(stop)


@torch.no_grad()
def _start_at_the_mean(network: Network, mean: float) -> None:
    """Set the output's bias so that the first predictions are near the mean."""
    level = max(mean, 1e-3)
    network.output.bias.fill_(level + float(np.log(-np.expm1(-level))))
