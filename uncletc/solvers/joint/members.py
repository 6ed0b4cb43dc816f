"""Observed entries, what a fit is given, factors of several members, the multiplicative step.

Members lie side by side: factors are (I_k, M·F), values per entry (N, M). A pass over the entries
is compiled. No array is as large as the dense tensor.
"""

import copy
import math
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import pad

from uncletc.common.validation import FloatArray, IntArray
from uncletc.data.counts import CountTensor
from uncletc.data.stacked import StackedObservations
from uncletc.fitting.settings import FitSettings
from uncletc.model.features import AttributeFeatures
from uncletc.model.rates import RateTable
from uncletc.solvers.joint.curves import BinnedCurves
from uncletc.solvers.joint.kernels import SMALLEST, IndexArray, mode_sums, prior_steps, rates

# Share of the prior's counts that also hold the sizes of rows: keeps rows that nothing was counted
# in from growing without end. The paper's and the skewed problems are the same from .03 to .3.
SHARE = 0.1
_LANES = 4  # numbers that a processor multiplies at once; the rest of a row is slow
_ROWS_FOR_MEAN = 4096  # of Ξ, for the mean detection of entries without attributes


class Entries:
    """Observed entries; those with attributes come first.

    Parameters
    ----------
    counts : CountTensor
    observations : StackedObservations
        Of these counts, or some of them.
    features : AttributeFeatures, optional
        Curves of attributes that act on detection.
    rates : RateTable, optional
        Attributes that act on λ.

    Attributes
    ----------
    counts : Tensor, shape (N, 1)
    exposure : Tensor, shape (N, 1)
        Over `unit`.
    unit : float
        Geometric mean of the exposure of all observed entries.
    n_attributed : int
        A, entries whose p is g of their attributes; they come first.
    known : Tensor, shape (N - A, 1)
        p of the others where it is known, else NaN.
    n_with_p : int
        T, entries whose p is g or known; the others come last.
    kinds : Tensor of int, shape (N,)
        The number of the observation process, plus the number of observation processes if p is
        neither.
    n_processes : int
    curves : BinnedCurves, optional
        Features of the first A entries; None when no entry has attributes.
    rate_curves : BinnedCurves, optional
        The same of attributes that act on λ, of the first T entries; None without.
    elsewhere : Tensor, shape (R, Q)
        Features of rows of Ξ whose mean g is used as p of entries without attributes.
    at : ndarray, shape (N, K)
        Row of the factors of each mode, one below the other.
    starts : ndarray, shape (G + 1,)
        First of each group of entries that differ in the last mode alone, and N.
    """

    def __init__(
        self,
        counts: CountTensor,
        observations: StackedObservations,
        features: AttributeFeatures | None,
        rates: RateTable | None,
    ) -> None:
        order = observations.order
        rows, known = observations.rows[order], observations.known[order]
        self.n_attributed = n = 0 if features is None else int((rows >= 0).sum())
        self.n_with_p = n + int((~np.isnan(known)).sum())
        self.n_processes = 1 + len(observations.errors)
        kinds = observations.process[order].astype(np.int8)
        kinds[self.n_with_p :] += self.n_processes
        self.kinds = torch.tensor(kinds)
        self.counts = torch.tensor(observations.counts[order, None]).double()
        exposure = counts.exposure_at(observations.indices) * observations.exposure
        self.unit = math.exp(float(np.log(exposure).mean()))
        self.exposure = torch.tensor(exposure[order, None] / self.unit)
        self.known = torch.tensor(known[n:, None])
        self.curves: BinnedCurves | None = None
        self.rate_curves: BinnedCurves | None = None
        self.elsewhere = torch.empty(0, 0, dtype=torch.float64)
        if features is not None:
            few = rows_for_mean(len(observations.attributes))
            self.elsewhere = features(torch.tensor(observations.attributes[few]))
            self.curves = BinnedCurves(features, observations.attributes, rows[:n])
        if rates is not None:
            scores = rates.at(counts.attribute_indices)
            x = np.vstack([scores, rates.features.middle])  # the last has no effect
            own = observations.rate_rows[order[: self.n_with_p]]
            self.rate_curves = BinnedCurves(rates.features, x, own)
        indices = observations.indices[order]
        differ = (np.diff(indices[:, :-1], axis=0) != 0).any(axis=1)
        self.starts: IntArray = np.flatnonzero(np.r_[True, differ, True])
        first = np.cumsum([0, *counts.shape[:-1]])
        self.at: IndexArray = (indices + first).astype(np.int32)


def rows_for_mean(n: int) -> IntArray:
    """Rows of Ξ, of which there are n, whose mean g is that of entries without attributes."""
    return np.unique(np.linspace(0, max(n - 1, 0), _ROWS_FOR_MEAN).astype(int))


def curves_of(
    attributes: FloatArray, counts: CountTensor, settings: FitSettings, rng: np.random.Generator
) -> AttributeFeatures:
    """Curves of attributes over Ξ (S, D) that act on detection, with the signs that are stated."""
    stated = dict(settings.signs)
    signs = np.array([stated.get(name, 0) for name in counts.attribute_names], dtype=np.int64)
    return AttributeFeatures.of(attributes, rng, curved=bool(settings.hidden), signs=signs)


class Problem:
    """What a fit is given: counts in order, with their curves.

    If some p is known, that of other counts is to be found without attributes too: one number.

    Attributes
    ----------
    counts : CountTensor
    settings : FitSettings
    observations : StackedObservations
        Of `counts`.
    features : AttributeFeatures, optional
        Curves of attributes that act on detection; None without any.
    rates : RateTable, optional
        Attributes that act on λ; None without any.
    entries : Entries
    """

    def __init__(self, counts: CountTensor, settings: FitSettings) -> None:
        rng = np.random.default_rng(settings.seed)
        self.counts, self.settings = counts, settings
        self.observations = stacked = StackedObservations.of(counts)
        self.features: AttributeFeatures | None = None
        self.rates: RateTable | None = None
        if counts.attributes.size or counts.rate_attributes.size or stacked.anchored:
            self.features = curves_of(stacked.attributes, counts, settings, rng)
        if counts.rate_attributes.size:
            indices, x = counts.attribute_indices, counts.rate_attributes
            self.rates = RateTable.of(counts.shape, indices, x, rng, ranks=settings.by_ranks)
        self.entries = Entries(counts, stacked, self.features, self.rates)

    def sample(self, size: int) -> Self:
        """The same of so many counts, chosen at random."""
        n, stacked = len(self.entries.counts), self.observations
        chosen = np.sort(np.random.default_rng((self.settings.seed, 3)).choice(n, size, False))
        names = "indices", "counts", "process", "known", "rows", "rate_rows", "exposure"
        found = copy.copy(self)
        few = replace(stacked, **{name: getattr(stacked, name)[chosen] for name in names})
        found.observations = few
        found.entries = Entries(self.counts, few, self.features, self.rates)
        return found


@dataclass(eq=False)
class Members:
    """Factors of M members.

    Attributes
    ----------
    factors : list of Tensor, shape (I_k, M·F)
    rank : int
        F.
    alike : bool
        Whether rows of a factor are alike but for what counts say, because effects of modes have
        their sizes. Else the sizes of rows are nearly free.
    """

    factors: list[Tensor]
    rank: int
    alike: bool = False

    @property
    def size(self) -> int:
        """M."""
        return self.factors[0].shape[1] // self.rank

    def rate(self, entries: Entries) -> Tensor:
        """λ of every entry, per `unit` of exposure; (N, M)."""
        out = entries.counts.new_empty(len(entries.counts), self.size)
        rates(entries.starts, entries.at, self._stacked(), out.numpy())
        return out * entries.exposure

    def rows_of_mu(self, entries: Entries) -> IndexArray:
        """Row of μ of each entry (N,); none beside effects, where each has its own."""
        return np.empty(0, dtype=np.int8) if self.alike else entries.kinds.numpy()

    def scaled(self, ratio: Tensor) -> None:
        """Multiply λ of each member by a positive number (M,)."""
        root = (ratio ** (1 / len(self.factors))).repeat_interleave(self.rank)
        self.factors = [factor * root for factor in self.factors]

    def extrapolate(self, earlier: list[Tensor] | None, momentum: Tensor) -> None:
        """Extrapolate from earlier factors beyond these, on the log scale.

        `momentum` (M,) is the relative step; without earlier factors nothing happens.
        """
        if earlier is None:
            return
        power = momentum.repeat_interleave(self.rank)
        self.factors = [
            now * (now / before.clamp_min(SMALLEST)).clamp(0.2, 5.0) ** power
            for now, before in zip(self.factors, earlier, strict=True)
        ]

    def balanced(self) -> None:
        """Give the columns of a component equal norms in all modes, which leaves λ unchanged."""
        norms = [factor.norm(dim=0).clamp_min(SMALLEST) for factor in self.factors]
        common = torch.stack(norms).log().mean(dim=0).exp()
        self.factors = [
            factor * (common / norm) for factor, norm in zip(self.factors, norms, strict=True)
        ]

    def leave_margins(self) -> None:
        """Make λ alike, in the mean over all other modes, at all levels of each mode.

        How levels differ in the mean is left to their effects; factors say how modes act together.
        """
        for k in range(len(self.factors)):
            weights = [each.mean(dim=0) for i, each in enumerate(self.factors) if i != k]
            weighted = self.factors[k] * torch.stack(weights).prod(dim=0)
            margin = weighted.view(-1, self.size, self.rank).sum(dim=2).clamp_min(SMALLEST)
            self.factors[k] /= (margin / margin.mean(dim=0)).repeat_interleave(self.rank, dim=1)

    def pick(self, chosen: Tensor) -> None:
        """Keep only these members (m,), in this order."""
        columns = (chosen[:, None] * self.rank + torch.arange(self.rank)).ravel()
        self.factors = [factor[:, columns] for factor in self.factors]

    def update(
        self, entries: Entries, detected: Tensor, mu: Tensor, pseudo_counts: float
    ) -> list[tuple[Tensor, Tensor, Tensor]]:
        """Update every factor once, in place.

        The multiplicative step of eq. 13 with two changes. Each entry's p is p·ε with
        ε = (y + μ)/(λp + μ), the mean of its gamma deviation given y (an EM step for the
        negative binomial). And each element of U_k has a gamma prior about the product of its
        row's mean and its column's, worth `pseudo_counts` counts: it keeps elements that
        few counts speak about from 0 and from infinity, and leaves the sizes of rows nearly
        free.

        Beside effects of modes entries have weights μ/(λp + μ) instead, held in the step, as in
        iteratively reweighted least squares. The fixed points are the same, and an EM step goes
        that share of the way: where counts are hundreds and μ is 3 it all but stands still. Without
        effects that holds factors back from single counts: unseen places of real COVID-19 had a
        log score .1 worse with weights.

        Parameters
        ----------
        entries : Entries
        detected : Tensor, shape (N, M)
            p times exposure.
        mu : Tensor, shape (kinds, M) or (N, M)
            μ of each kind of entries, or of each entry where each has its own.
        pseudo_counts : float

        Returns
        -------
        list of tuple of Tensor, shape (I_k, M·F)
            Per mode: the counts attributed to each element and those expected per unit of it, and
            the mean of its prior.
        """
        p, own_mu = detected.contiguous().numpy(), mu.contiguous().numpy()
        given = entries.counts.numpy(), p, own_mu, self.rows_of_mu(entries), self.alike
        factors, evidence, first = self._stacked(), [], 0
        for mode, size in enumerate(map(len, self.factors)):
            own = factors[first : first + size]
            up, down, mean = np.zeros((3, *own.shape))
            mode_sums(entries.starts, entries.at, mode, first, factors, *given, up, down)
            prior_steps(self.rank, own, up, down, pseudo_counts, SHARE, self.alike, mean)
            evidence.append((self._flat(up), self._flat(down), self._flat(mean)))
            first += size
        sizes = [len(factor) for factor in self.factors]
        self.factors = list(torch.split(self._flat(factors), sizes))
        return evidence

    def _stacked(self) -> FloatArray:
        """All factors, mode below mode (ΣI_k, M, F), and columns of 0 up to `_LANES`."""
        factors = torch.cat(self.factors).view(-1, self.size, self.rank)
        return pad(factors, (0, -self.rank % _LANES)).numpy()

    def _flat(self, values: FloatArray) -> Tensor:
        """Members side by side (I_k, M·F), of (I_k, M, F or more)."""
        return torch.from_numpy(values)[..., : self.rank].flatten(1)
