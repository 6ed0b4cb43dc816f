"""Observed entries, factors of several members at once, and the multiplicative step on them.

Members lie side by side: factors are (I_k, M·F), values per entry (N, M). Entries are visited in
chunks small enough for the processor's cache, summed in the fit's precision within a chunk and
in double precision over chunks. No array is as large as the dense tensor.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from uncletc.counts import CountTensor
from uncletc.features import AttributeFeatures
from uncletc.solvers.blocks import multiply, product_of
from uncletc.solvers.parallel import total, world
from uncletc.validation import FloatArray, IntArray

_CHUNK = 262_144  # numbers in a chunk's largest array
_LARGEST_DESIGN = 64 * 2**20  # bytes; a larger design is recomputed in every pass
_SMALLEST = 1e-30
_SHARE = 0.1  # of the pseudo-counts that also hold the sizes of rows
_ROWS_GATHERED = 65_536
_ROWS_FOR_MEAN = 4096  # of Ξ, for the mean detection of entries without attributes


@dataclass(eq=False)
class Entries:
    """Observed entries of this process; those with attributes come first.

    Attributes
    ----------
    shape : tuple of int
    where : list of Tensor of int, shape (N,)
        Per mode.
    counts : Tensor, shape (N, 1)
    exposure : Tensor, shape (N, 1)
        Over `unit`.
    unit : float
        Geometric mean of the exposure of all observed entries.
    order : ndarray of int, shape (N,)
        Rows of these entries in the count tensor.
    attributes : Tensor, shape (A, D)
        z of the first A entries.
    elsewhere : Tensor, shape (R, D)
        Rows of Ξ whose mean g is used as p of entries without attributes.
    features : AttributeFeatures, optional
        None when no entry has attributes.
    """

    shape: tuple[int, ...]
    where: list[Tensor]
    counts: Tensor
    exposure: Tensor
    unit: float
    order: IntArray
    attributes: Tensor
    elsewhere: Tensor
    features: AttributeFeatures | None

    def __post_init__(self) -> None:
        self._design: Tensor | None = None

    @classmethod
    def of(
        cls,
        counts: CountTensor,
        features: AttributeFeatures | None,
        dtype: torch.dtype,
        device: torch.device,
    ) -> Entries:
        """Take this process's share of the entries."""
        rank, n_processes = world()
        rows = counts.attribute_rows
        order = np.argsort(rows < 0, kind="stable")[rank::n_processes]
        attributed = rows[order]
        attributed = attributed[attributed >= 0]
        few = np.linspace(0, max(len(counts.attributes) - 1, 0), _ROWS_FOR_MEAN).astype(np.int64)
        few = np.unique(few)[: len(counts.attributes)]
        exposure = counts.exposure_at(counts.indices)
        unit = math.exp(float(np.log(exposure).mean()))

        def put(values: FloatArray) -> Tensor:
            return torch.tensor(values, dtype=dtype, device=device)

        return cls(
            shape=counts.shape,
            where=[
                torch.tensor(counts.indices[order, k], device=device)
                for k in range(len(counts.shape))
            ],
            counts=put(counts.counts[order, None].astype(np.float64)),
            exposure=put(exposure[order, None] / unit),
            unit=unit,
            order=order,
            attributes=_gather(counts.attributes, attributed, dtype).to(device),
            elsewhere=put(counts.attributes[few]),
            features=features,
        )

    @property
    def n_attributed(self) -> int:
        """A, entries with attributes."""
        return len(self.attributes) if self.features is not None else 0

    def at(self, part: slice) -> list[Tensor]:
        """Indices of some entries, per mode (n,)."""
        return [indices[part] for indices in self.where]

    def design(self, part: slice) -> Tensor:
        """Features of some of the first A entries; (n, Q)."""
        assert self.features is not None
        size = self.attributes.element_size() * self.features.n_features
        if len(self.attributes) * size > _LARGEST_DESIGN:
            return self.features(self.attributes[part])
        if self._design is None:
            self._design = self.features(self.attributes)
        return self._design[part]

    def chunks(self, n: int, width: int) -> list[slice]:
        """Cut the first n entries so that `width` numbers for each fit into the cache."""
        size = max(_CHUNK // width, 256)
        return [slice(i, min(i + size, n)) for i in range(0, n, size)]


@dataclass(eq=False)
class Members:
    """Factors of M members.

    Attributes
    ----------
    factors : list of Tensor, shape (I_k, M·F)
    rank : int
        F.
    weights : Tensor, shape (N, M), optional
        Weights of entries in the likelihood, if members resample them; None: 1.
    """

    factors: list[Tensor]
    rank: int
    weights: Tensor | None = None

    @property
    def size(self) -> int:
        """M."""
        return self.factors[0].shape[1] // self.rank

    def rate(self, entries: Entries) -> Tensor:
        """λ of every entry, per `unit` of exposure; (N, M)."""
        n = len(entries.counts)
        out = torch.empty(n, self.size, dtype=self.factors[0].dtype, device=self.factors[0].device)
        for part in entries.chunks(n, self.factors[0].shape[1]):
            product = product_of(self.factors, entries.at(part), range(len(self.factors)))
            out[part] = product.view(-1, self.size, self.rank).sum(-1) * entries.exposure[part]
        return out

    def scaled(self, ratio: Tensor) -> None:
        """Multiply λ of each member by a positive number (M,)."""
        root = (ratio ** (1 / len(self.factors))).repeat_interleave(self.rank)
        self.factors = [factor * root.to(factor.dtype) for factor in self.factors]

    def extrapolate(self, earlier: list[Tensor] | None, momentum: Tensor) -> None:
        """Extrapolate from earlier factors beyond these, on the log scale.

        `momentum` (M,) is the relative step; without earlier factors nothing happens.
        """
        if earlier is None:
            return
        power = momentum.repeat_interleave(self.rank).to(self.factors[0].dtype)
        self.factors = [
            now * (now / before.clamp_min(_SMALLEST)).clamp(0.2, 5.0) ** power
            for now, before in zip(self.factors, earlier, strict=True)
        ]

    def balanced(self) -> None:
        """Give the columns of a component equal norms in all modes, which leaves λ unchanged."""
        norms = [factor.double().norm(dim=0).clamp_min(_SMALLEST) for factor in self.factors]
        common = torch.stack(norms).log().mean(dim=0).exp()
        self.factors = [
            factor * (common / norm).to(factor.dtype)
            for factor, norm in zip(self.factors, norms, strict=True)
        ]

    def pick(self, chosen: Tensor) -> None:
        """Keep only these members (m,), in this order."""
        columns = (chosen[:, None] * self.rank + torch.arange(self.rank)).ravel()
        self.factors = [factor[:, columns.to(factor.device)] for factor in self.factors]

    def update(
        self, entries: Entries, p: Tensor, mu: float | Tensor, pseudo_counts: Tensor
    ) -> None:
        """Update every factor once under p (N, M) and μ, one for all or (N, M), in place.

        The multiplicative step of eq. 13 with two changes. Each entry's p is p·ε with
        ε = (y + μ)/(λp + μ), the mean of its gamma deviation given y (an EM step for the
        negative binomial). And each element of U_k has a gamma prior about the product of its
        row's mean and its column's, worth `pseudo_counts` (M,) counts: it keeps elements that
        few counts speak about from 0 and from infinity, and leaves the sizes of rows nearly
        free.
        """
        prior = pseudo_counts.repeat_interleave(self.rank)
        for mode in range(len(self.factors)):
            numerator, denominator = self._sums(entries, mode, p, mu)
            factor = self.factors[mode].double()
            blocks = factor.view(-1, self.size, self.rank)
            rows = blocks.mean(dim=2, keepdim=True)
            rows = torch.where(denominator.view_as(blocks) > 0, rows, rows.mean(dim=0))
            columns = blocks.mean(dim=0) / blocks.mean(dim=(0, 2)).clamp_min(_SMALLEST)[:, None]
            mean = (rows * columns).view_as(factor).clamp_min(_SMALLEST)
            level = blocks.mean(dim=0).view(1, -1).clamp_min(_SMALLEST)
            held = prior / mean + _SHARE * prior / level
            factor = multiply(factor, numerator, denominator, (1 + _SHARE) * prior, held)
            self.factors[mode] = factor.to(self.factors[mode].dtype)

    def _sums(
        self, entries: Entries, mode: int, p: Tensor, mu: float | Tensor
    ) -> tuple[Tensor, Tensor]:
        """Σ y/λ·others and Σ pε·others over each slice of one mode; (I_k, M·F) each."""
        own = self.factors[mode]
        modes = [j for j in range(len(self.factors)) if j != mode]
        sums = torch.zeros(2, *own.shape, dtype=torch.float64, device=own.device)
        for part in entries.chunks(len(entries.counts), own.shape[1]):
            others = product_of(self.factors, entries.at(part), modes)
            at, y = entries.where[mode][part], entries.counts[part]
            detected = p[part] * entries.exposure[part]
            blocks = others.view(-1, self.size, self.rank)
            rate = (own.index_select(0, at) * others).view_as(blocks).sum(-1).clamp_min_(_SMALLEST)
            own_mu = mu[part] if isinstance(mu, Tensor) else mu
            up, down = y / rate, detected * (y + own_mu) / (rate * detected + own_mu)
            if self.weights is not None:
                up, down = up * self.weights[part], down * self.weights[part]
            for into, weight in zip(sums, (up, down), strict=True):
                weighted = (blocks * weight[..., None]).view_as(others)
                into += torch.zeros_like(own).index_add_(0, at, weighted)
        total(sums)
        return sums[0], sums[1]


def _gather(table: FloatArray, rows: IntArray, dtype: torch.dtype) -> Tensor:
    """Rows of a table in another precision, without a whole copy in its own."""
    gathered = torch.empty(len(rows), table.shape[1], dtype=dtype)
    for i in range(0, len(rows), _ROWS_GATHERED):
        part = slice(i, i + _ROWS_GATHERED)
        gathered[part] = torch.from_numpy(table[rows[part]])
    return gathered
