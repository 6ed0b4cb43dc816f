"""What every likelihood of closed visits shares: features of p and covariates of λ."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from uncletc.data.counts import CountTensor
from uncletc.fitting.settings import FitSettings
from uncletc.model.features import AttributeFeatures
from uncletc.model.rates import RateTable
from uncletc.solvers.closed.cells import Cells


@dataclass(frozen=True, eq=False)
class Problem:
    """What all starts share.

    Attributes
    ----------
    cells : Cells
    features : AttributeFeatures
    rates : RateTable, optional
    design : Tensor, shape (N, Q)
        Features of each count.
    lines : Tensor, shape (C, P)
        Standardised attributes that act on λ.
    """

    cells: Cells
    features: AttributeFeatures
    rates: RateTable | None
    design: Tensor
    lines: Tensor

    @classmethod
    def of(cls, counts: CountTensor, cells: Cells, settings: FitSettings) -> Problem:
        """Build the features of p and the standardised attributes of λ."""
        rng, stated = np.random.default_rng(settings.seed), dict(settings.signs)
        signs = np.array([stated.get(name, 0) for name in counts.attribute_names], dtype=np.int64)
        z = counts.attributes if counts.n_attributes else cells.attributes
        features = AttributeFeatures.of(z, rng, curved=bool(settings.hidden), signs=signs)
        rates, lines = None, np.empty((len(cells.indices), 0))
        if len(cells.rate_indices):
            x = cells.rate_attributes
            rates = RateTable.of(counts.shape, cells.rate_indices, x, rng, ranks=settings.by_ranks)
            lines = rates.columns(cells.whole(counts.shape))
        design = features(torch.from_numpy(cells.attributes))
        return cls(cells, features, rates, design, torch.from_numpy(lines))
