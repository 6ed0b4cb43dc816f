"""Common parts of methods with factors: the data by slices, starts, and the CP prediction."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from uncletc.baselines.base import Algorithm, Estimate, RankSettings
from uncletc.common.validation import FloatArray, IntArray
from uncletc.data.counts import CountTensor
from uncletc.data.entries import exposure_at
from uncletc.model.cp import fill_rows, products
from uncletc.solvers.bcd.blocks import TINY, Problem


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class FactorEstimate(Estimate):
    """λ_i = e_i Σ_f ∏_k U_k(i_k, f), with e the exposure.

    Attributes
    ----------
    factors : tuple of ndarray, shapes (I_k, F)
        U_k ≥ 0. A row whose slice holds no observed entry is the mean of its mode's other rows.
    exposure : ndarray, optional
        That of the counts; None: 1 everywhere.
    """

    factors: tuple[FloatArray, ...]
    exposure: FloatArray | None = None

    def _rate(self, indices: IntArray) -> FloatArray:
        product = products(self.factors, indices)
        return np.asarray(product.sum(axis=1) * exposure_at(self.exposure, indices))


class Observed:
    """The data as the updates need them; N = |Ω|.

    Attributes
    ----------
    problem : Problem
        As the solvers see them.
    counts, exposure : ndarray, shape (N,)
    indices : ndarray of int, shape (N, K)
    """

    def __init__(self, counts: CountTensor) -> None:
        self.problem = Problem.of(counts)
        self.counts = self.problem.counts.numpy()
        self.exposure = self.problem.exposure.numpy()
        self.indices = self.problem.indices.numpy()

    def sums(self, mode: int, weights: FloatArray, values: FloatArray) -> FloatArray:
        """Σ weight_i · values_i over the entries of each slice; (N,), (N, F) to (I_k, F)."""
        slices = self.problem.slices[mode]
        return slices(torch.from_numpy(weights), torch.from_numpy(values)).numpy()


class CP(Algorithm):
    """A CP decomposition whose factors are updated in turn, as each method defines."""

    def __init__(self, data: CountTensor, settings: RankSettings) -> None:
        self.data, self.observed, self.settings = data, Observed(data), settings
        self.factors = starting_factors(data, settings.rank, np.random.default_rng(settings.seed))

    @abstractmethod
    def updated(self, mode: int) -> FloatArray:
        """U_k with a lower objective; (I_k, F)."""

    def step(self) -> None:
        """Update every factor, and balance them."""
        for mode in range(len(self.factors)):
            self.factors[mode] = self.updated(mode)
        balance(self.factors)

    def estimate(self, **record: Any) -> FactorEstimate:
        """λ from the factors."""
        factors = fill_rows(self.factors, self.data.indices)
        return FactorEstimate(**record, factors=factors, exposure=self.data.exposure)


def starting_factors(counts: CountTensor, rank: int, rng: np.random.Generator) -> list[FloatArray]:
    """Random U_k (I_k, F) of equal size, scaled so that the mean λ over Ω is the mean count."""
    factors = [rng.uniform(0.1, 1.0, (size, rank)) for size in counts.shape]
    exposure = counts.exposure_at(counts.indices)
    level = float((products(factors, counts.indices).sum(axis=1) * exposure).mean())
    ratio = (float(counts.counts.mean()) / level) ** (1 / len(factors))
    return [factor * ratio for factor in factors]


def balance(factors: list[FloatArray]) -> None:
    """Give each component columns of equal norm in all modes, in place; λ stays."""
    sizes = np.array([np.linalg.norm(factor, axis=0) for factor in factors])  # (K, F)
    live = (sizes > 1e-100).all(axis=0)
    common = np.exp(np.log(np.maximum(sizes, TINY)).mean(axis=0))
    for factor, size in zip(factors, sizes, strict=True):
        factor[:, live] *= common[live] / size[live]
