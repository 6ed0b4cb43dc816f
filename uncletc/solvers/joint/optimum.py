"""One member at its optimum: what the network stage and the intervals start from."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import torch
from scipy.special import expit
from torch import Tensor

from uncletc.common.validation import FloatArray, IntArray
from uncletc.data.stacked import StackedObservations
from uncletc.model.cp import products
from uncletc.model.detection import JointDetection
from uncletc.model.features import AttributeFeatures
from uncletc.model.rates import RateEffects, RateTable
from uncletc.result.ensemble import Member
from uncletc.solvers.joint.dispersion import clip_dispersion, likely_mu, pearson_dispersion
from uncletc.solvers.joint.kernels import SMALLEST, IndexArray

_LEAST_MEAN = 0.1  # in Pearson's statistic: one count where next to none is expected weighs no more
_ROWS = 65_536  # entries whose ŷ is computed at once


def constant(value: float, size: int) -> Tensor:
    """One value for many entries, in the memory of one; (size,)."""
    return torch.tensor([value], dtype=torch.float64).expand(size)


@dataclass(frozen=True, eq=False)
class Optimum:
    """The state of one member; all values in double precision on the processor.

    Attributes are looked up, not copied: they take more memory than all else.

    Attributes
    ----------
    where : list of Tensor of int, shape (N,)
        Indices of the entries, per mode. Entries with attributes come first.
    counts, exposure : Tensor, shape (N,)
        Exposure over its geometric mean.
    attributes : ndarray, shape (S, D)
        z over Ξ.
    rows : ndarray of int, shape (A,)
        Rows of `attributes` of the first A entries. Then come those whose p is known.
    features : AttributeFeatures, optional
        Of the curves; None when no entry has attributes. Then A = 0 and g = 1.
    factors : list of Tensor, shape (I_k, F)
        λ per unit of exposure is the sum of their products.
    coefficients : Tensor, shape (Q + P,)
        θ of the curves, then β: the logit is ``features(z) @ θ``, plus that of `layers`, and
        λ per unit of exposure the sum of products times exp(xᵀβ).
    precisions, centre : Tensor, shape (Q + P,)
        Of the normal prior of θ and β.
    layers : tuple of Tensor
        Of the trained network, as :class:`~uncletc.model.detection.JointDetection` has; () without.
    unattributed : float
        p of entries without attributes whose p is not known.
    mu : Tensor, shape (N,)
        μ of each entry: lower where p is unknown.
    dispersion : float
        φ ≥ 1, by which the log-likelihood is divided.
    prior_shape : float
        c: the gamma prior of each element of a factor is worth c·φ counts.
    unseen : Tensor, shape (N,), optional
        ŷ of entries held out while a network was judged, by a fit to the others; NaN elsewhere.
    rates : RateTable, optional
        Attributes that act on λ; None: none does.
    known : Tensor, shape (N - A,), optional
        p of entries without attributes, NaN where it is not known; None: of none.
    drawn : tuple, optional
        Draws of effects of modes, a table (levels, R) of each, and of `coefficients` (Q + P, R)
        beside them, and of the level of λ (R,). `exposure` has the effects themselves.
    leaves_margins : bool
        Whether effects alone say how levels of modes differ in the mean, which factors do not.
    observations : StackedObservations, optional
        The rows that the entries are, in another order; None: of one observation process.
    gain : tuple of float, optional
        As :class:`uncletc.Fit` has it as `network_gain`.
    """

    where: list[Tensor]
    counts: Tensor
    exposure: Tensor
    attributes: FloatArray
    rows: IntArray
    features: AttributeFeatures | None
    factors: list[Tensor]
    coefficients: Tensor
    precisions: Tensor
    centre: Tensor
    layers: tuple[Tensor, ...]
    unattributed: float
    mu: Tensor
    dispersion: float
    prior_shape: float
    unseen: Tensor | None = None
    rates: RateTable | None = None
    known: Tensor | None = None
    observations: StackedObservations | None = None
    drawn: tuple[list[FloatArray], FloatArray, FloatArray] | None = None
    leaves_margins: bool = False
    gain: tuple[float, float] | None = None

    @property
    def given(self) -> Tensor:
        """p of the entries whose p is not g of attributes; (N - A,)."""
        n = len(self.counts) - len(self.rows)
        if self.known is None:
            return constant(self.unattributed, n)
        return torch.where(torch.isnan(self.known), self.unattributed, self.known)

    @property
    def curves(self) -> Tensor:
        """θ alone; (Q,)."""
        return self.coefficients[: 0 if self.features is None else self.features.n_features]

    @property
    def slopes(self) -> Tensor:
        """β alone; (P,)."""
        return self.coefficients[len(self.curves) :]

    def member(self) -> Member:
        """Factors, g and β as a fit has them, per unit of this exposure."""
        factors = [factor.numpy() for factor in self.factors]
        layers = tuple(layer.numpy() for layer in self.layers)
        theta, anchored = self.coefficients.numpy(), self.known is not None
        return member_of(factors, self.features, self.rates, theta, layers, anchored=anchored)

    def expected(self) -> Tensor:
        """ŷ of the entries; (N,)."""
        mean, g = torch.empty_like(self.counts), self.member().network
        factors = [factor.numpy() for factor in self.factors]
        for first in range(0, len(mean), _ROWS):
            part = slice(first, first + _ROWS)
            p = torch.cat([constant(1.0, len(self.rows)), self.given])[part].clone()
            if g is not None:
                known = self.z(part)
                p[: len(known)] = g.probability(known)
            elif self.features is not None:
                p[: len(self.rows[part])] = self.coefficients[0].sigmoid()
            p *= (self.lines(part) @ self.slopes).exp()
            rate = products(factors, self.indices(part)).sum(axis=1)
            mean[part] = torch.from_numpy(rate) * self.exposure[part] * p
        return mean

    def indices(self, part: slice | IndexArray) -> IntArray:
        """Indices of some entries; (n, K)."""
        return np.stack([where.numpy()[part] for where in self.where], axis=1, dtype=np.int64)

    def z(self, part: slice | IndexArray | Tensor = slice(None)) -> Tensor:
        """Attributes of some of the entries that have any; (n, D)."""
        rows = self.rows[part.numpy() if isinstance(part, Tensor) else part]
        return torch.from_numpy(self.attributes[rows])

    def lines(self, part: slice | IndexArray | Tensor = slice(None)) -> Tensor:
        """Standardised x of some entries, 0 where it is not known; (n, P)."""
        indices = self.indices(part.numpy() if isinstance(part, Tensor) else part)
        if self.rates is None:
            return torch.zeros(len(indices), 0, dtype=torch.float64)
        return torch.from_numpy(self.rates.columns(indices))

    def with_mu(self, mu: float) -> Self:
        """The same with another μ, and with φ by Pearson's statistic under it.

        That of further observation processes stays as it is.
        """
        n, attributed = len(self.counts), len(self.rows)
        unknown = 1 / self.mu[attributed:] - 1 / self.mu[:1]  # variance of an unknown p
        new = torch.full_like(self.mu, mu)
        if attributed:
            new[attributed:] = 1 / (1 / mu + unknown)
        changed = replace(self, mu=torch.where(self.own, new, self.mu))
        dispersion = pearson_dispersion(changed.pearson(), n, self.n_parameters)
        return replace(changed, dispersion=clip_dispersion(dispersion))

    def likely_mu(self) -> float:
        """μ under which counts of the first observation process are likeliest."""
        mean = self.expected()
        own = self.own.expand_as(mean)
        first = np.cumsum([0, *(len(factor) for factor in self.factors[:-1])])
        at = (self.indices(slice(None)) + first)[own.numpy()]
        return likely_mu(self.counts[own], mean[own], at, self.prior_shape)

    @property
    def own(self) -> Tensor:
        """Which entries are of the first observation process; (N,), or (1,) where all are."""
        if self.observations is None:
            return torch.ones(1, dtype=torch.bool)
        return torch.from_numpy(self.observations.process[self.observations.order] == 0)

    def pearson(self, mean: Tensor | None = None) -> float:
        """Pearson's statistic over the number of entries; `mean`: :meth:`expected`, if known."""
        return float((self.residuals(self.expected() if mean is None else mean) ** 2).mean())

    def residuals(self, mean: Tensor) -> Tensor:
        """Pearson's residuals about ŷ (N,); (N,)."""
        variance = mean.clamp_min(_LEAST_MEAN) * (1 + mean / self.mu)
        return (self.counts - mean) / variance.sqrt()

    def deviance(self) -> float:
        """Mean negative binomial deviance per entry."""
        y, mean = self.counts, self.expected()
        ratio = y.clamp_min(SMALLEST) / mean.clamp_min(SMALLEST)
        misfit = (y + self.mu) * torch.log1p((y - mean) / (mean + self.mu))
        return float(2 * (torch.xlogy(y, ratio) - misfit).mean())

    @property
    def information_per_parameter(self) -> float:
        """Counts per element of a factor, as far as their scatter leaves them informative."""
        informative = (self.counts / (1 + self.counts / self.mu)).sum() / self.dispersion
        return float(informative) / sum(factor.numel() for factor in self.factors)

    @property
    def n_parameters(self) -> int:
        """Elements of the factors, and about as many coefficients as smoothing leaves free."""
        return sum(factor.numel() for factor in self.factors) + len(self.coefficients) // 2


def member_of(
    factors: Sequence[FloatArray],
    features: AttributeFeatures | None,
    rates: RateTable | None,
    coefficients: FloatArray,
    layers: tuple[FloatArray, ...] = (),
    *,
    anchored: bool = False,
) -> Member:
    """Make a member from θ and β together (Q + P,).

    Without attributes of detection p is one number: 1, unless counts with a known p anchor it.
    """
    if features is None:
        return Member(tuple(factors), None)
    theta, beta = coefficients[: features.n_features], coefficients[features.n_features :]
    effects = None if rates is None else RateEffects(rates, beta)
    if not features.n_attributes and not anchored:
        root = expit(theta[0]) ** (1 / len(factors))
        return Member(tuple(factor * root for factor in factors), None, effects)
    return Member(tuple(factors), JointDetection(features, theta, layers), effects)
