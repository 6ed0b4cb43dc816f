"""The curves of the joint solver's detection: penalised Newton with automatic smoothing.

Given λ, the logit β₀ + Σ_j f_j(z_j) is linear in its coefficients θ, and the scale of λ is profiled
out, so that no step is spent on what the data cannot determine. θ has a normal prior with one
precision for straight lines and one for bends (times ∫ f''²). Each is set to the value that best
explains θ (the generalised Fellner-Schall update of Wood and Fasiolo, Biometrics 2017): if counts
show no bend, none is fitted. Counts that scatter more than the model allows are downweighted by
their Pearson dispersion φ.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid

from uncletc.features import AttributeFeatures
from uncletc.solvers.batch import Entries
from uncletc.solvers.parallel import largest, total

START_LOGIT = -1.0
_LEVEL_PRECISION = 1.0  # of β₀ about the start: holds the level if counts do not determine it
_FLOORS = (3.0, 1e-3)  # least precisions of lines and bends
_CEILING = 1e4
_RIDGE = 0.5  # added for every coefficient, so that no curve diverges
_START_PRECISIONS = (3.0, 0.01)
_STRAIGHT = 100.0  # precision of bends that hardly bend
_LARGEST_STEP = 3.0  # in the logit of any entry
_ROUNDS_BEFORE_SMOOTHING = 10  # so that dispersion is not taken from a misfit
_TRIES = 6
_SHRINK = 0.4


@dataclass(eq=False)
class Detection:
    """θ of M members, and the state of its steps.

    Attributes
    ----------
    features : AttributeFeatures
    theta : Tensor, shape (M, Q), double precision
    alike : bool
        Whether members are alike enough to share one matrix of second derivatives, their mean: an
        equally good direction near one optimum, at 1/M of the dominant cost of a step.
    straight : int
        First steps in which curves hardly bend.
    logit : Tensor, shape (A, M)
        Of the attributed entries.
    """

    entries: Entries
    features: AttributeFeatures
    theta: Tensor
    alike: bool = False
    straight: int = 0
    logit: Tensor = field(init=False)

    def __post_init__(self) -> None:
        n_members, n_features = self.theta.shape
        device = self.theta.device
        rough = torch.from_numpy(self.features.curve_roughness).to(device)
        group = (rough > 0).long()
        self._groups = [torch.nonzero(group == g).ravel() + 1 for g in range(2)]
        ones = torch.ones(1, dtype=torch.float64, device=device)
        self._shape = torch.cat([ones, torch.where(rough > 0, rough, 1.0)])  # (Q,)
        start = torch.tensor(_START_PRECISIONS, dtype=torch.float64, device=device)
        self._precisions = start.repeat(n_members, 1)  # (M, 2)
        if self.straight:
            self._precisions[:, 1] = _STRAIGHT
        self._damping = torch.full((n_members,), 1e-3, dtype=torch.float64, device=device)
        self.centre = torch.zeros(n_features, dtype=torch.float64, device=device)
        self.centre[0] = START_LOGIT
        self._curvature: Tensor | None = None
        self._rounds = 0
        self.logit = self._along(self.theta)

    def probability(self) -> Tensor:
        """p of every entry (N, M): g with attributes, the mean of g over Ξ without."""
        n = len(self.entries.counts)
        p = torch.sigmoid(self.logit)
        if len(p) < n:
            mean = self.elsewhere().mean(dim=0).to(p.dtype)
            p = torch.cat([p, mean.expand(n - len(p), -1)])
        return p.clamp_min(1e-7)

    def allowance(self, mu: Tensor) -> Tensor:
        """μ of entries with and without attributes (2, M), given that of the first (M,).

        Without attributes p is unknown: it varies about its mean as g does over Ξ. A gamma
        deviation of the same variance, besides that of every entry, limits what counts of such
        entries tell about λ.
        """
        if self.entries.n_attributed == len(self.entries.counts):
            return torch.stack([mu, mu])
        g = self.elsewhere()
        variance = g.var(dim=0, correction=0) / g.mean(dim=0).clamp_min(1e-30) ** 2
        return torch.stack([mu, 1 / (1 / mu + variance)])

    def elsewhere(self) -> Tensor:
        """g of rows of Ξ; (R, M)."""
        return torch.sigmoid(self.entries.elsewhere @ self.theta.T)

    def pick(self, chosen: Tensor) -> None:
        """Keep only these members (m,), in this order."""
        chosen = chosen.to(self.theta.device)
        self.theta, self.logit = self.theta[chosen], self.logit[:, chosen]
        self._damping, self._precisions = self._damping[chosen], self._precisions[chosen]
        self._curvature = None

    def step(
        self,
        rate: Tensor,
        mu: Tensor,
        *,
        dispersion: Tensor,
        held: Tensor,
        renew: bool,
    ) -> None:
        """Move θ towards the maximum of the penalised likelihood given λ, in place.

        Parameters
        ----------
        rate : Tensor, shape (N, M)
            λ.
        mu : Tensor, shape (M,)
        dispersion : Tensor, shape (M,)
            φ ≥ 1, by which the log-likelihood is divided.
        held : Tensor of bool, shape (M,)
            Members whose g may not move yet.
        renew : bool
            Whether to recompute the second derivatives; old ones still give an ascent direction.
        """
        a = self.entries.n_attributed
        y, rate = self.entries.counts[:a], rate[:a]
        g = torch.sigmoid(self.logit)
        mean = rate * g
        weight = 1 / (1 + mean / mu.to(mean.dtype))  # the negative binomial's, held in the step
        seen = total((weight * y).sum(dim=0, dtype=torch.float64))  # (M,)
        fitted = total((weight * mean).sum(dim=0, dtype=torch.float64)).clamp_min(1e-30)
        mean = mean * (seen / fitted).to(mean.dtype)

        slope = 1 - g  # d log p / d logit
        curves = self.entries.curves
        assert curves is not None
        both = torch.cat([(y - mean) * slope * weight, mean * slope * weight], dim=1)
        gradient, level = curves.against(both).view(2, len(seen), -1)
        if self._curvature is None or renew:
            weights_of_members = mean * slope * slope * weight
            if self.alike:
                weights_of_members = weights_of_members.mean(dim=1, keepdim=True)
            self._curvature = curves.gram(weights_of_members).expand(len(seen), -1, -1)
        common = level[:, :, None] * level[:, None, :] / seen.clamp_min(1e-30)[:, None, None]
        curvature = (self._curvature - common) / dispersion[:, None, None]
        prior = self.prior()
        uphill = gradient / dispersion[:, None] - prior * (self.theta - self.centre)
        diagonal = torch.diagonal(curvature, dim1=1, dim2=2).clamp_min(0.0)
        system = curvature + torch.diag_embed(prior + self._damping[:, None] * diagonal + 1e-6)
        direction = torch.linalg.solve_ex(system, uphill)[0].nan_to_num(0.0)
        direction[held] = 0.0
        self._search(direction, rate, y, weight, seen, prior, dispersion)
        self._rounds += 1
        if self._rounds == self.straight:
            self._precisions[:, 1] = _START_PRECISIONS[1]
        elif self._rounds > max(_ROUNDS_BEFORE_SMOOTHING, self.straight):
            self._smooth(curvature, prior)

    def _along(self, theta: Tensor) -> Tensor:
        """Features · θ of the attributed entries; (A, M)."""
        assert self.entries.curves is not None
        return self.entries.curves.along(theta, self.entries.counts)

    def prior(self) -> Tensor:
        """Precisions of θ about `centre`; (M, Q)."""
        prior = torch.full_like(self.theta, _LEVEL_PRECISION)
        for which, columns in enumerate(self._groups):
            prior[:, columns] = self._precisions[:, which, None] * self._shape[columns] + _RIDGE
        return prior

    def _search(
        self,
        direction: Tensor,
        rate: Tensor,
        y: Tensor,
        weight: Tensor,
        seen: Tensor,
        prior: Tensor,
        dispersion: Tensor,
    ) -> None:
        """Step along the direction, shortened until the penalised likelihood rises."""
        change = self._along(direction)
        farthest = torch.zeros_like(seen)
        if len(change):
            farthest = change.abs().amax(dim=0).double()
        limit = _LARGEST_STEP / largest(farthest).clamp_min(_LARGEST_STEP)
        direction, change = direction * limit[:, None], change * limit.to(change.dtype)

        def cost(length: Tensor) -> Tensor:
            log_p = logsigmoid(self.logit + change * length.to(change.dtype))
            sums = torch.stack(
                [
                    (weight * y * log_p).sum(dim=0, dtype=torch.float64),
                    (weight * rate * log_p.exp()).sum(dim=0, dtype=torch.float64),
                ]
            )
            total(sums)
            theta = self.theta + direction * length[:, None] - self.centre
            likelihood = seen * torch.log(sums[1].clamp_min(1e-30)) - sums[0]
            return likelihood / dispersion + 0.5 * (prior * theta**2).sum(dim=1)

        length = torch.ones_like(seen)
        before = cost(torch.zeros_like(seen))
        for _ in range(_TRIES):
            good = cost(length) <= before + 1e-9 * before.abs()
            if bool(good.all()):
                break
            length = torch.where(good, length, length * _SHRINK)
        length = torch.where(good, length, 0.0)
        steady = torch.where(length == 1, self._damping / 3, self._damping)
        self._damping = torch.where(good, steady, self._damping * 10).clamp(1e-7, 1e3)
        self.theta = self.theta + direction * length[:, None]
        self.logit = self.logit + change * length.to(change.dtype)

    def _smooth(self, curvature: Tensor, prior: Tensor) -> None:
        """Set the precisions to the values that best explain θ (Fellner-Schall)."""
        system = curvature + torch.diag_embed(prior + 1e-9)
        inverse = torch.linalg.inv_ex(system)[0].nan_to_num(0.0)
        spread = torch.diagonal(inverse, dim1=1, dim2=2)
        for which, columns in enumerate(self._groups):
            if not len(columns):
                continue
            used = (1 - prior[:, columns] * spread[:, columns]).sum(dim=1).clamp_min(1e-3)
            size = (self._shape[columns] * self.theta[:, columns] ** 2).sum(dim=1) + 1e-6
            self._precisions[:, which] = (used / size).clamp(_FLOORS[which], _CEILING)
