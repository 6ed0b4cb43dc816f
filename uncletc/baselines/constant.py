"""Constant: one count per unit of exposure, the least that a method must beat."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from uncletc.baselines.base import Algorithm, Estimate, Settings
from uncletc.common.validation import FloatArray, IntArray
from uncletc.data.counts import CountTensor
from uncletc.data.entries import exposure_at
from uncletc.model.negbin import log_scores


@dataclass(frozen=True, kw_only=True)
class ConstantSettings(Settings):
    """Settings of the constant, of which none changes it.

    Parameters
    ----------
    max_iter, tol, seed
        See :class:`~uncletc.baselines.base.Settings`. It is found at iteration 0.
    """


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class ConstantEstimate(Estimate):
    """λ = e · level.

    Attributes
    ----------
    level : float
        Σ_Ω y / Σ_Ω e.
    exposure : ndarray, optional
    """

    level: float
    exposure: FloatArray | None

    def _rate(self, indices: IntArray) -> FloatArray:
        return self.level * exposure_at(self.exposure, indices)


class Constant(Algorithm):
    """The likeliest constant, found at once."""

    settled = True

    def __init__(self, data: CountTensor, settings: Any) -> None:  # noqa: ARG002
        self.exposure = data.exposure
        e = data.exposure_at(data.indices)
        self.level = float(data.counts.sum() / e.sum())
        self.value = float(np.mean(log_scores(data.counts, np.maximum(self.level * e, 1e-9), 0.0)))

    def objective(self) -> float:
        """Mean -log P(y) of Poisson counts."""
        return self.value

    def step(self) -> None:
        """Change nothing."""

    def estimate(self, **record: Any) -> ConstantEstimate:
        """The constant."""
        return ConstantEstimate(**record, level=self.level, exposure=self.exposure)
