"""Common parts of methods trained by stochastic gradients: seeded starts, and an epoch of Adam."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from uncletc.common.validation import FloatArray
from uncletc.data.counts import CountTensor
from uncletc.solvers.bcd.blocks import adam_step


@contextmanager
def seeded(seed: int) -> Iterator[torch.Generator]:
    """Seed torch's initial weights of layers, and restore its global state afterwards.

    Yields a generator for everything random that comes after the start.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        yield torch.Generator().manual_seed(seed)


def one_epoch(
    adam: torch.optim.Optimizer,
    loss: Callable[[Tensor], Tensor],
    n: int,
    batch_size: int,
    generator: torch.Generator,
) -> float:
    """Take a step for each batch of n shuffled rows; return the mean loss per row.

    `loss` maps rows (b,) to their mean loss.
    """
    total = 0.0
    for rows in torch.split(torch.randperm(n, generator=generator), batch_size):
        value = loss(rows)
        adam_step(adam, value)
        total += float(value.detach()) * len(rows)
    return total / n


@dataclass(frozen=True, eq=False)
class Standard:
    """Scale attributes to mean 0 and standard deviation 1 over Ξ; unknown ones become 0.

    Attributes
    ----------
    mean, deviation : ndarray, shape (D,)
    """

    mean: FloatArray
    deviation: FloatArray

    @classmethod
    def of(cls, counts: CountTensor) -> Standard:
        """Measure the attributes of a count tensor; D is 0 if it has none."""
        if not counts.n_attributed:
            return cls(np.zeros(0), np.ones(0))
        deviation = counts.attributes.std(axis=0)
        return cls(counts.attributes.mean(axis=0), np.where(deviation > 0, deviation, 1.0))

    def __call__(self, attributes: FloatArray) -> FloatArray:
        """Turn attributes (n, D), with rows of NaN for unknown, into columns (n, D + 1).

        The last column is 1 where the attributes are known; without attributes (D = 0) there are
        no columns.
        """
        if not len(self.mean):
            return np.empty((len(attributes), 0))
        unknown = np.isnan(attributes).any(axis=1, keepdims=True)
        scaled = np.where(unknown, 0.0, (attributes - self.mean) / self.deviation)
        return np.hstack([scaled, ~unknown])
