"""The joint solver: maximum likelihood over factors and detection together.

Model. Each observed count is Poisson with mean λ·g(z)·ε, where λ is a low-rank nonnegative CP
tensor (times the exposure, where counts have one), g the network and ε the entry's own deviation
from it: gamma with mean 1 and variance 1/μ. With ε integrated out the count is negative binomial
with mean λg and dispersion 1/μ. As μ → ∞, p = g(z) exactly (the paper's own limit of large μ). A
deviation is relative, so μ means the same whatever the scale of λ and p; in the paper's objective
(eq. 11a) μ weighs (g - p)², which c² shrinks when λ·c, p/c replace λ, p, and the optimum lies at
p → 0. For counts well below μ this model is Poisson; a count far above μ weighs about as much as
a count of μ.

An observed entry without attributes has an unknown p. It takes the mean of g over Ξ, and the
variance of g about that mean is added to its deviation's 1/μ: its count informs λ, but no more than
such a p allows. (The paper leaves each such p free, section 4.)

The more counts, the better λ is determined, so each element of a factor has a gamma prior about the
mean of its column, worth a few counts (more if counts are overdispersed).

Algorithm. Rounds of multiplicative updates of the factors (eq. 13, as EM steps) and one Newton
step for the network (see :mod:`uncletc.solvers.additive`), for several members at once. The
likelihood has local optima. If it is cheap, several starts run for a while and only the likeliest
continue. In half of them λ explains what it can before g may move, which counts of very different
sizes need; on large problems all starts do so.

Members. With M > 1 each member has its own weights of the entries and its own start; afterwards
members are brought to one scale and one order of components.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from uncletc.counts import CountTensor
from uncletc.detection import AdditiveNetwork
from uncletc.features import AttributeFeatures
from uncletc.members import Member
from uncletc.model import Callback, Fit
from uncletc.records import FitError, History, Iteration, StopReason
from uncletc.settings import FitSettings
from uncletc.solvers.additive import START_LOGIT, Detection
from uncletc.solvers.batch import Entries, Members
from uncletc.solvers.combine import (
    align,
    mean_detection,
    nearest_coefficients,
    observed_detection,
)
from uncletc.solvers.options import Joint
from uncletc.solvers.parallel import anywhere, choose_device, total
from uncletc.solvers.starts import adapt_components

_SWEEPS = 2  # updates of every factor per round
_ROUNDS_HELD = 10  # in which λ alone moves
_ROUNDS_HELD_SCREENING = 30  # the same while several starts are screened
_ROUNDS_SCREENED = 50  # after which only the likeliest starts continue
_EXTRA_STARTS = 6
_CHEAP = 250_000  # entries times rank up to which extra starts cost little
_RENEWED_FIRST = 3  # rounds that each recompute second derivatives
_RENEW = 8  # later rounds that share them
_SETTLED = 5  # rounds over which the objective must not change
_PSEUDO_COUNTS = 3.0
_MOST_DISPERSION = 1000.0
_FASTER, _SLOWER, _FASTEST = 1.05, 0.5, 0.95  # changes of the factors' momentum, and its limit
_ROUNDS_BALANCED = 20
_ROWS = 65_536  # entries evaluated at once
_ROWS_FOR_START = 5_000


def fit_joint(
    counts: CountTensor,
    settings: FitSettings,
    options: Joint,
    start: Fit | None,
    callback: Callback | None,
) -> Fit:
    """Run the joint solver; see :func:`uncletc.fit` for the arguments.

    The objective in the history is the mean negative binomial deviance per observed entry,
    averaged over members. The solver stops when that of every member has changed by less than
    ``tol`` per round, relative to its size, over several rounds; after ``max_iter`` rounds; or when
    the callback returns True.
    """
    history, values = History(callback), list[Tensor]()
    run = _Run(counts, settings, options, start)

    def result(stop: StopReason) -> Fit:
        return run.result(tuple(history.records), stop)

    def record() -> StopReason | None:
        values.append(run.deviance)
        if anywhere(history.add(float(run.deviance.mean()), result), run.device):
            return StopReason.CALLBACK
        if _settled(values, settings.tol):
            return StopReason.TOLERANCE
        return StopReason.MAX_ITER if len(values) > settings.max_iter else None

    while (stop := record()) is None:
        run.round()
    return result(stop)


def _settled(values: list[Tensor], tol: float) -> bool:
    if len(values) <= _SETTLED or len(values[-1]) != len(values[-1 - _SETTLED]):
        return False
    before, now = values[-1 - _SETTLED], values[-1]
    return bool(((before - now).abs() <= _SETTLED * tol * before.abs()).all())


class _Run:
    """The state of one fit.

    Attributes
    ----------
    deviance : Tensor, shape (M,)
        Mean negative binomial deviance per observed entry, as each member weighs them.
    """

    def __init__(
        self, counts: CountTensor, settings: FitSettings, options: Joint, start: Fit | None
    ) -> None:
        self._counts, self._settings, self._resampled = counts, settings, options.resample
        self.device = choose_device(options.device)
        dtype = getattr(torch, options.precision)
        rng = np.random.default_rng(settings.seed)
        self._features = None
        if counts.attributes.size:
            self._features = AttributeFeatures.of(counts.attributes, settings.hidden, rng)
        self._entries = Entries.of(counts, self._features, dtype, self.device)
        n = settings.members
        cheap = counts.n_observed * settings.rank <= _CHEAP
        self._screening = start is None and cheap
        n_starts = 2 * n + _EXTRA_STARTS if self._screening else n
        self._generator = torch.Generator().manual_seed(settings.seed)
        self._members = Members(self._starting_factors(n_starts, start, dtype), settings.rank)
        self._detection = self._starting_detection(n_starts, start)
        self._held = torch.zeros(n_starts, dtype=torch.bool, device=self.device)
        if start is None:
            self._held[:: 2 if self._screening else 1] = True
        self._rounds = 0
        self._rounds_held = _ROUNDS_HELD_SCREENING if self._screening else _ROUNDS_HELD
        self._earlier: list[Tensor] | None = None
        self._momentum = torch.full((n_starts,), 0.5, dtype=torch.float64, device=self.device)
        self._learns = bool((counts.attribute_rows >= 0).any())
        most = torch.full((n_starts,), _MOST_DISPERSION, dtype=torch.float64, device=self.device)
        self._dispersion = most
        self._detect()
        if not self._screening:
            self._resample()
        self._measure(self._members.rate(self._entries))
        self._members.scaled(self._ratio)
        self._measure(self._members.rate(self._entries))

    def round(self) -> None:
        """Update the factors, then the network, then the common scale."""
        settings, t = self._settings, self._rounds
        before, last_deviance = self._members.factors, self.deviance
        self._members.extrapolate(self._earlier, self._momentum)
        for _ in range(_SWEEPS):
            pseudo_counts = _PSEUDO_COUNTS * self._dispersion
            self._members.update(self._entries, self._p, self._mu, pseudo_counts)
        rate = self._members.rate(self._entries)
        held = self._held if t < self._rounds_held else torch.zeros_like(self._held)
        if self._detection is not None and self._learns and not bool(held.all()):
            since = t - (self._rounds_held if bool(self._held.all()) else 0)
            self._detection.step(
                rate,
                self._members.weights,
                settings.mu,
                dispersion=self._dispersion,
                held=held,
                renew=since < _RENEWED_FIRST or since % _RENEW == 0,
            )
            self._detect()
        self._measure(rate)
        self._members.scaled(self._ratio)
        better = self.deviance <= last_deviance
        faster = (self._momentum * _FASTER + _FASTER - 1).clamp_max(_FASTEST)
        self._momentum = torch.where(better, faster, self._momentum * _SLOWER)
        self._earlier = before
        self._rounds += 1
        if self._rounds % _ROUNDS_BALANCED == 0:
            self._members.balanced()
            self._earlier = None
        if self._screening and self._rounds == _ROUNDS_SCREENED:
            self._screen()

    def result(self, history: tuple[Iteration[Fit], ...], stop: StopReason) -> Fit:
        """Bring the members to one scale and one order of components, the likeliest first."""
        fine = torch.isfinite(self.deviance)
        if not bool(fine.any()):
            raise FitError("no member has a finite likelihood; check the counts for huge values")
        order = torch.argsort(torch.where(fine, self.deviance, torch.inf))
        order = order[: min(int(fine.sum()), self._settings.members)]
        lost = int((~fine).sum())
        dropped = [f"{lost} members have no finite likelihood"] if lost else []
        members, p = align([self._member(int(m)) for m in order], self._counts)
        first, *others = members
        return Fit(
            factors=first.factors,
            network=first.network,
            others=tuple(others),
            dropped=tuple(dropped),
            observed_detection=observed_detection(first, p, self._counts, self._settings.mu),
            history=history,
            stop=stop,
            settings=self._settings,
            counts_digest=self._counts.digest,
            exposure=self._counts.exposure,
            mean_detection=mean_detection(members, self._counts.attributes),
        )

    def _member(self, m: int) -> Member:
        rank = self._settings.rank
        columns = slice(m * rank, (m + 1) * rank)
        unit = self._entries.unit ** (-1 / len(self._members.factors))
        factors = tuple(f[:, columns].double().cpu().numpy() * unit for f in self._members.factors)
        if self._detection is None:
            return Member(factors, None)
        assert self._features is not None
        theta = self._detection.theta[m].cpu().numpy().copy()
        return Member(factors, AdditiveNetwork(self._features, theta))

    def _starting_factors(
        self, n_members: int, start: Fit | None, dtype: torch.dtype
    ) -> list[Tensor]:
        rank = self._settings.rank
        fresh = [
            0.1 + 0.9 * torch.rand(size, n_members * rank, generator=self._generator).double()
            for size in self._counts.shape
        ]
        if start is not None:
            members = [start.members[m % len(start.members)] for m in range(n_members)]
            parts = [
                adapt_components(member.factors, [f[:, m * rank : (m + 1) * rank] for f in fresh])
                for m, member in enumerate(members)
            ]
            fresh = [torch.cat(mode, dim=1) for mode in zip(*parts, strict=True)]
        return [factor.to(device=self.device, dtype=dtype) for factor in fresh]

    def _starting_detection(self, n_members: int, start: Fit | None) -> Detection | None:
        if self._features is None:
            return None
        theta = torch.zeros(n_members, self._features.n_features, dtype=torch.float64)
        theta[:, 0] = START_LOGIT
        if start is not None and start.n_attributes == self._features.n_attributes:
            sample = self._counts.attributes
            sample = sample[:: max(len(sample) // _ROWS_FOR_START, 1)]
            members = [start.members[m % len(start.members)] for m in range(n_members)]
            theta = torch.stack(
                [nearest_coefficients(self._features, member, sample) for member in members]
            )
        return Detection(self._entries, theta.to(self.device), alike=not self._screening)

    def _detect(self) -> None:
        """Set p and μ of every entry from g."""
        self._mu: float | Tensor = self._settings.mu
        if self._detection is None:
            self._p = torch.ones_like(self._entries.counts).expand(-1, self._members.size)
            return
        self._p = self._detection.probability()
        self._mu = self._detection.allowance(self._settings.mu)

    def _resample(self) -> None:
        """Give every member its own weights of the entries."""
        settings = self._settings
        if settings.members == 1 or self._resampled == 0:
            return
        shape = (settings.members, self._counts.n_observed)
        generator = torch.Generator().manual_seed(settings.seed + 1)
        weights = torch.empty(shape).exponential_(generator=generator)[:, self._entries.order].T
        weights = 1 + self._resampled * (weights - 1)
        self._members.weights = weights.contiguous().to(self._entries.counts)

    def _screen(self) -> None:
        """Keep the likeliest starts."""
        values = torch.where(torch.isfinite(self.deviance), self.deviance, torch.inf)
        chosen = torch.argsort(values, stable=True)[: self._settings.members].cpu()
        self._members.pick(chosen)
        if self._detection is not None:
            self._detection.pick(chosen)
        self._held = self._held[chosen.to(self.device)]
        self._momentum = self._momentum[chosen.to(self.device)]
        self._dispersion = self._dispersion[chosen.to(self.device)]
        self._earlier = None
        self._screening = False
        self._resample()
        self._detect()
        self._measure(self._members.rate(self._entries))

    def _measure(self, rate: Tensor) -> None:
        """Deviance, dispersion and the ratio of counts to expectations, of each member."""
        y = self._entries.counts
        sums = torch.zeros(5, rate.shape[1], dtype=torch.float64, device=rate.device)
        for i in range(0, len(y), _ROWS):
            part = slice(i, i + _ROWS)
            mean, count = (rate[part] * self._p[part]).double(), y[part].double()
            mu = self._mu[part].double() if isinstance(self._mu, Tensor) else self._mu
            weight = (
                torch.ones_like(mean)
                if self._members.weights is None
                else self._members.weights[part].double()
            )
            less = weight / (1 + mean / mu)
            safe = mean.clamp_min(1e-30)
            deviance = torch.xlogy(count, count.clamp_min(1e-30) / safe) - (
                count + mu
            ) * torch.log1p((count - mean) / (mean + mu))
            sums[0] += (weight * 2 * deviance).sum(dim=0)
            sums[1] += weight.sum(dim=0)
            sums[2] += (less * (count - mean) ** 2 / mean.clamp_min(0.1)).sum(dim=0)
            sums[3] += (less * count).sum(dim=0)
            sums[4] += (less * mean).sum(dim=0)
        total(sums)
        self.deviance = sums[0] / sums[1]
        now = (sums[2] / sums[1]).nan_to_num(1.0).clamp_min(1.0)
        # It never rises: a temporary misfit would pass for overdispersion and never be corrected.
        self._dispersion = torch.minimum(self._dispersion, now)
        self._ratio = (sums[3] / sums[4].clamp_min(1e-30)).clamp(1e-30, 1e30)
