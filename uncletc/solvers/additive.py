"""The detection step of the joint solver: penalised Newton with smoothing chosen on the way.

Given λ, the logit β₀ + Σ_j f_j(z_j) + wᵀh(z) is linear in its coefficients θ. The step moves θ
together with the size of every slice of λ (of every county, day, …). An attribute that is the
same throughout a slice could be traded for that slice's size without changing any expected
count; moved together, such a trade costs the likelihood nothing and the prior of θ everything,
so that g says only what the sizes of slices cannot say.

θ has a normal prior with one precision for straight lines, one for bends (times ∫ f''²) and one
for hidden units. Each is set to the value that best explains θ (the generalised Fellner-Schall
update of Wood and Fasiolo, Biometrics 2017): where counts show no bend, or no joint effect of
attributes, none is fitted. Counts that scatter more than the model allows weigh less, by their
Pearson dispersion φ.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import logsigmoid

from uncletc.solvers.batch import Entries, Members
from uncletc.solvers.parallel import largest, total

START_LOGIT = -1.0
_LEVEL_PRECISION = 0.05  # of β₀ about the start: holds the level where counts are silent
_FLOORS = (0.5, 1e-3, 10.0)  # least precisions of lines, bends, units
_CEILING = 1e4
_START_PRECISIONS = (1.0, 0.01, 10.0)
_LARGEST_STEP = 3.0  # in the logit of any entry
_ROUNDS_BEFORE_SMOOTHING = 5
_TRIES = 6
_MOST_SLICES = 2000  # whose sizes move together with θ
_SHRINK = 0.4


@dataclass(eq=False)
class Detection:
    """θ of M members, and what its steps remember.

    Attributes
    ----------
    theta : Tensor, shape (M, Q), double precision
    logit : Tensor, shape (A, M)
        Of the attributed entries.
    """

    entries: Entries
    theta: Tensor
    logit: Tensor = field(init=False)

    def __post_init__(self) -> None:
        features = self.entries.features
        assert features is not None
        n_members, n_features = self.theta.shape
        device = self.theta.device
        rough = torch.from_numpy(features.curve_roughness).to(device)
        units = torch.ones(features.n_units, dtype=torch.float64, device=device)
        group = torch.cat([(rough > 0).long(), torch.full_like(units, 2, dtype=torch.long)])
        self._groups = [torch.nonzero(group == g).ravel() + 1 for g in range(3)]
        ones = torch.ones(1, dtype=torch.float64, device=device)
        self._shape = torch.cat([ones, torch.where(rough > 0, rough, 1.0), units])  # (Q,)
        start = torch.tensor(_START_PRECISIONS, dtype=torch.float64, device=device)
        self._precisions = start.repeat(n_members, 1)  # (M, 3)
        self._damping = torch.full((n_members,), 1e-3, dtype=torch.float64, device=device)
        self._centre = torch.zeros(n_features, dtype=torch.float64, device=device)
        self._centre[0] = START_LOGIT
        self._curvature: Tensor | None = None
        self._rounds = 0
        self._modes = _modes_that_fit(self.entries.shape)
        sizes = [self.entries.shape[mode] for mode in self._modes]
        self._ends = np.cumsum([n_features, *sizes]).tolist()
        self.logit = (
            self._along(self.theta)
            if bool(self.theta[:, 1:].any())
            else self.theta[:, 0].to(self.entries.counts).expand(self.entries.n_attributed, -1)
        )

    def probability(self) -> Tensor:
        """p of every entry (N, M): g with attributes, its mean over Ξ without."""
        n = len(self.entries.counts)
        p = torch.sigmoid(self.logit)
        if len(p) < n:
            assert self.entries.features is not None
            design = self.entries.features(self.entries.elsewhere)
            elsewhere = torch.sigmoid(design @ self.theta.T.to(design.dtype)).mean(dim=0)
            p = torch.cat([p, elsewhere.expand(n - len(p), -1)])
        return p.clamp_min(1e-7)

    def pick(self, chosen: Tensor) -> None:
        """Keep only these members (m,), in this order."""
        chosen = chosen.to(self.theta.device)
        self.theta, self.logit = self.theta[chosen], self.logit[:, chosen]
        self._damping, self._precisions = self._damping[chosen], self._precisions[chosen]
        self._curvature = None

    def step(
        self,
        members: Members,
        mu: float,
        *,
        dispersion: Tensor,
        held: Tensor,
        renew: bool,
    ) -> Tensor:
        """Move θ and the sizes of slices up the penalised likelihood, in place.

        Parameters
        ----------
        members : Members
            Whose factors' rows change their sizes.
        mu : float
        dispersion : Tensor, shape (M,)
            φ ≥ 1 by which the likelihood is divided.
        held : Tensor of bool, shape (M,)
            Members whose g may not move yet.
        renew : bool
            Whether to take the second derivatives anew; old ones still give an ascent.

        Returns
        -------
        Tensor, shape (N, M)
            λ after the step.
        """
        entries, a = self.entries, self.entries.n_attributed
        rate, p, y = members.rate(entries), self.probability(), entries.counts
        mean = rate * p
        weight = 1 / (1 + mean / mu)  # the negative binomial's, held during the step
        if members.weights is not None:
            weight = weight * members.weights
        slope = 1 - p[:a]  # d log p / d logit
        gradient = self._gradient((y - mean) * weight, slope)
        if self._curvature is None or renew:
            self._curvature = self._second_derivatives(mean * weight, slope)
        curvature = self._curvature / dispersion[:, None, None]
        prior = self._prior()
        uphill = gradient / dispersion[:, None]
        uphill[:, : prior.shape[1]] -= prior * (self.theta - self._centre)
        diagonal = torch.diagonal(curvature, dim1=1, dim2=2).clamp_min(0.0)
        loading = self._damping[:, None] * diagonal + 1e-6 * (1 + diagonal)
        loading[:, : prior.shape[1]] += prior
        system = curvature + torch.diag_embed(loading)
        direction = torch.linalg.solve_ex(system, uphill)[0].nan_to_num(0.0)
        direction[held] = 0.0
        rate = self._search(direction, members, rate, y, weight, prior, dispersion)
        self._rounds += 1
        if self._rounds > _ROUNDS_BEFORE_SMOOTHING:
            self._smooth(system, prior)
        return rate

    def _along(self, theta: Tensor) -> Tensor:
        """Features · θ of the attributed entries; (A, M)."""
        entries = self.entries
        theta = theta.T.to(entries.attributes.dtype)
        parts = entries.chunks(entries.n_attributed, len(theta))
        found = [entries.design(part) @ theta for part in parts]
        return torch.cat(found) if found else entries.attributes.new_empty(0, theta.shape[1])

    def _gradient(self, residual: Tensor, slope: Tensor) -> Tensor:
        """Of the log-likelihood in θ and in the log sizes of slices; (M, Q + ΣI_k)."""
        n_members, n_features = self.theta.shape
        shape = (n_members, self._ends[-1])
        sums = torch.zeros(shape, dtype=torch.float64, device=residual.device)
        in_logit = residual[: len(slope)] * slope
        for part in self.entries.chunks(len(slope), n_features):
            sums[:, :n_features] += in_logit[part].T @ self.entries.design(part)
        for mode, begin, end in self._blocks():
            sums[:, begin:end] += self._per_slice(residual, mode).T
        return total(sums)

    def _second_derivatives(self, mean: Tensor, slope: Tensor) -> Tensor:
        """Expected information of θ and the log sizes; (M, Q + ΣI_k, Q + ΣI_k)."""
        entries, (n_members, n_features) = self.entries, self.theta.shape
        shape = (n_members, self._ends[-1], self._ends[-1])
        sums = torch.zeros(shape, dtype=torch.float64, device=mean.device)
        in_logit = mean[: len(slope)] * slope
        for part in entries.chunks(len(slope), n_features):
            design = entries.design(part)
            for member in range(n_members):
                weighted = design * in_logit[part, member, None]
                own = weighted * slope[part, member, None]
                sums[member, :n_features, :n_features] += design.T @ own
                for mode, begin, end in self._blocks():
                    rows = torch.zeros(end - begin, n_features, dtype=mean.dtype, device=mean.device)
                    rows.index_add_(0, entries.where[mode][part], weighted)
                    sums[member, begin:end, :n_features] += rows
        for mode, begin, end in self._blocks():
            sums[:, :n_features, begin:end] = sums[:, begin:end, :n_features].mT
            diagonal = self._per_slice(mean, mode).T
            sums[:, begin:end, begin:end] = torch.diag_embed(diagonal)
            for other, first, last in self._blocks():
                if other < mode:
                    crossed = self._per_pair(mean, mode, other)
                    sums[:, begin:end, first:last] = crossed
                    sums[:, first:last, begin:end] = crossed.mT
        return total(sums)

    def _blocks(self) -> list[tuple[int, int, int]]:
        """Mode, first and last parameter of each mode whose slices have a size here."""
        return list(zip(self._modes, self._ends[:-1], self._ends[1:], strict=True))

    def _per_slice(self, values: Tensor, mode: int) -> Tensor:
        """Sums of values (N, M) over slices; (I_k, M) in double precision."""
        size = self.entries.shape[mode]
        sums = torch.zeros(size, values.shape[1], dtype=torch.float64, device=values.device)
        return sums.index_add_(0, self.entries.where[mode], values.double())

    def _per_pair(self, values: Tensor, mode: int, other: int) -> Tensor:
        """Sums of values (N, M) over pairs of slices; (M, I_mode, I_other)."""
        rows, columns = self.entries.shape[mode], self.entries.shape[other]
        where = self.entries.where[mode] * columns + self.entries.where[other]
        sums = torch.zeros(
            rows * columns, values.shape[1], dtype=torch.float64, device=values.device
        )
        return sums.index_add_(0, where, values.double()).T.reshape(-1, rows, columns)

    def _prior(self) -> Tensor:
        prior = torch.full_like(self.theta, _LEVEL_PRECISION)
        for which, columns in enumerate(self._groups):
            prior[:, columns] = self._precisions[:, which, None] * self._shape[columns]
        return prior

    def _search(
        self,
        direction: Tensor,
        members: Members,
        rate: Tensor,
        y: Tensor,
        weight: Tensor,
        prior: Tensor,
        dispersion: Tensor,
    ) -> Tensor:
        """Go along the direction as far as the penalised likelihood rises; returns λ (N, M)."""
        entries, a = self.entries, self.entries.n_attributed
        n_features = self.theta.shape[1]
        change = self._along(direction[:, :n_features])
        growth = torch.zeros_like(rate)
        for mode, begin, end in self._blocks():
            growth += direction[:, begin:end].T.to(rate.dtype)[entries.where[mode]]
        farthest = torch.zeros_like(dispersion)
        for moved in (change, growth):
            if len(moved):
                farthest = torch.maximum(farthest, moved.abs().amax(dim=0).double())
        limit = _LARGEST_STEP / largest(farthest).clamp_min(_LARGEST_STEP)
        elsewhere = torch.log(self.probability()[a:])  # p there follows later

        def cost(length: Tensor) -> Tensor:
            short = length.to(rate.dtype)
            log_p = logsigmoid(self.logit + change * short)
            moved = growth * short + (torch.cat([log_p, elsewhere]) if len(elsewhere) else log_p)
            likelihood = (weight * (rate * moved.exp() - y * moved)).sum(0, dtype=torch.float64)
            theta = self.theta + direction[:, :n_features] * length[:, None] - self._centre
            penalty = 0.5 * (prior * theta**2).sum(dim=1)
            return total(likelihood) / dispersion + penalty

        length, before = limit.clone(), cost(torch.zeros_like(limit))
        for _ in range(_TRIES):
            good = cost(length) <= before + 1e-9 * before.abs()
            if bool(good.all()):
                break
            length = torch.where(good, length, length * _SHRINK)
        whole = good & (length == limit)
        length = torch.where(good, length, 0.0)
        steady = torch.where(whole, self._damping / 3, self._damping)
        self._damping = torch.where(good, steady, self._damping * 10).clamp(1e-7, 1e3)
        self.theta = self.theta + direction[:, :n_features] * length[:, None]
        short = length.to(rate.dtype)
        self.logit = self.logit + change * short
        for mode, begin, end in self._blocks():
            members.resize(mode, torch.exp(direction[:, begin:end] * length[:, None]))
        return rate * torch.exp(growth * short)

    def _smooth(self, system: Tensor, prior: Tensor) -> None:
        """Move the precisions to what best explains θ (Fellner-Schall)."""
        inverse = torch.linalg.inv_ex(system)[0].nan_to_num(0.0)
        spread = torch.diagonal(inverse, dim1=1, dim2=2)
        for which, columns in enumerate(self._groups):
            if not len(columns):
                continue
            used = (1 - prior[:, columns] * spread[:, columns]).sum(dim=1).clamp_min(1e-3)
            size = (self._shape[columns] * self.theta[:, columns] ** 2).sum(dim=1) + 1e-6
            self._precisions[:, which] = (used / size).clamp(_FLOORS[which], _CEILING)


def _modes_that_fit(shape: tuple[int, ...]) -> list[int]:
    """Modes, the shortest first, whose slices together are few enough; in their order."""
    chosen: list[int] = []
    for mode in sorted(range(len(shape)), key=lambda k: shape[k]):
        if sum(shape[k] for k in [*chosen, mode]) <= _MOST_SLICES:
            chosen.append(mode)
    return sorted(chosen)
