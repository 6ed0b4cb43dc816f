"""The curves of the joint solver's detection: penalised Newton with automatic smoothing.

Given λ, the logit β₀ + Σ_j f_j(z_j) is linear in its coefficients θ, and the scale of λ is profiled
out, so that no step is spent on what the data cannot determine. θ has the prior of
:mod:`~uncletc.solvers.joint.smoothing`. Counts that scatter more than the model allows are
downweighted by their Pearson dispersion φ.

Coefficients of monotone curves may not be negative: a step solves its quadratic programme by an
active set. Attributes that act on λ, x, multiply it by exp(xᵀβ); β moves in the same step.
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import logsigmoid

from uncletc.common.validation import FloatArray, IntArray
from uncletc.model.features import AttributeFeatures
from uncletc.result.posterior import Float32Array
from uncletc.solvers.effects.linear import Linear
from uncletc.solvers.joint.kernels import IndexArray
from uncletc.solvers.joint.members import Entries
from uncletc.solvers.joint.smoothing import Smoothing

START_LOGIT = -1.0
_ACTIVE_SETS = 12  # tries to find which coefficients are 0; two or three are usual
_LARGEST_STEP = 3.0  # in the logit of any entry
_ROUNDS_BEFORE_SMOOTHING = 10  # so that dispersion is not taken from a misfit
_TRIES = 6
_SHRINK = 0.4
_ROWS = 65_536  # entries evaluated at once


@dataclass(eq=False)
class Detection:
    """θ and β of M members, and the state of their steps.

    Attributes
    ----------
    features : AttributeFeatures
    theta : Tensor, shape (M, Q + P), double precision
        θ of the curves, then β of the attributes that act on λ.
    alike : bool
        Whether members are alike enough to share one matrix of second derivatives, their mean: an
        equally good direction near one optimum, at 1/M of the dominant cost of a step.
    straight : int
        First steps in which curves hardly bend.
    layers : tuple of Tensor
        Of a network, which the steps hold; () without.
    both : ndarray of bool, shape (P,), optional
        Which of the attributes that act on λ act on p, too.
    logit : Tensor, shape (A, M)
        Of the attributed entries.
    effect : Tensor, shape (T, M), or (1, M) without attributes that act on λ
        xᵀβ of the entries whose p is g or known.
    """

    entries: Entries
    features: AttributeFeatures
    theta: Tensor
    alike: bool = False
    straight: int = 0
    layers: tuple[Tensor, ...] = ()
    both: NDArray[np.bool_] | None = None

    def __post_init__(self) -> None:
        n_members, size = self.theta.shape
        self._smoothing = Smoothing(self.features, size, n_members, both=self.both)
        self._bounded = self._smoothing.bounded
        if self.straight:
            self._smoothing.bend(freely=False)
        self._damping = torch.full((n_members,), 1e-3, dtype=torch.float64)
        self.centre = torch.zeros(size, dtype=torch.float64)
        self.centre[0] = START_LOGIT
        self._curvature: Tensor | None = None
        self._rounds = 0
        self._network = self._network_elsewhere = self.theta.new_zeros(1, 1)
        self.logit, self.effect = self._along(self.theta)

    def add_network(
        self, layers: tuple[Tensor, ...], theta: Tensor, output: Tensor, elsewhere: Tensor
    ) -> None:
        """Hold a network beside the curves of the only member, which take these coefficients.

        Parameters
        ----------
        layers : tuple of Tensor
        theta : Tensor, shape (Q + P,)
        output, elsewhere : Tensor, shapes (A, 1) and (R, 1)
            Its output for the attributed entries, and for the rows of `Entries.elsewhere`.
        """
        self.layers, self._curvature = layers, None
        self.theta = theta[None]
        logit, self.effect = self._along(self.theta)
        self._network, self._network_elsewhere = output, elsewhere
        self.logit = logit + self._network

    def move_to(self, entries: Entries) -> None:
        """Keep these coefficients for other entries."""
        self.entries, self._curvature = entries, None
        self.logit, self.effect = self._along(self.theta)

    def multiplier(self) -> Tensor:
        """p·exp(xᵀβ) of every entry (N, M); p is the mean of g over Ξ if unknown."""
        with_p = self._multiplier_with_p()
        n_unknown = len(self.entries.counts) - self.entries.n_with_p
        if n_unknown:
            mean = self.elsewhere().mean(dim=0)
            with_p = torch.cat([with_p, mean.expand(n_unknown, -1)])
        return with_p.clamp_min(1e-7)

    def _multiplier_with_p(self) -> Tensor:
        """p·exp(xᵀβ) of the entries whose p is g or known; (T, M)."""
        p = torch.sigmoid(self.logit)
        n_known = self.entries.n_with_p - self.entries.n_attributed
        if n_known:
            p = torch.cat([p, self.entries.known[:n_known].expand(-1, p.shape[1])])
        return p * self.effect.exp()

    def allowance(self, mu: Tensor) -> Tensor:
        """μ of every kind of entry (2L, M), given that of the observation processes (L, M).

        Where nothing determines p, it varies about its mean as g does over Ξ. A gamma deviation of
        the same variance, besides that of every entry, limits what counts of such entries tell
        about λ.
        """
        if self.entries.n_with_p == len(self.entries.counts):
            return torch.cat([mu, mu])
        g = self.elsewhere()
        variance = g.var(dim=0, correction=0) / g.mean(dim=0).clamp_min(1e-30) ** 2
        return torch.cat([mu, 1 / (1 / mu + variance)])

    def elsewhere(self) -> Tensor:
        """g of rows of Ξ; (R, M)."""
        theta = self.theta[:, : self.features.n_features]
        return torch.sigmoid(self.entries.elsewhere @ theta.T + self._network_elsewhere)

    def pick(self, chosen: Tensor) -> None:
        """Keep only these members (m,), in this order."""
        self.theta, self.logit = self.theta[chosen], self.logit[:, chosen]
        self.effect = self.effect[:, chosen]
        self._damping = self._damping[chosen]
        self._smoothing.pick(chosen)
        self._curvature = None

    def step(
        self, rate: Tensor, mu: Tensor, *, dispersion: float, held: Tensor, renew: bool
    ) -> None:
        """Move θ and β towards the maximum of the penalised likelihood given the factors, in place.

        Parameters
        ----------
        rate : Tensor, shape (N, M)
            λ without exp(xᵀβ).
        mu : Tensor, shape (2L, M)
            Of each kind of entry.
        dispersion : float
            φ ≥ 1, by which the log-likelihood is divided.
        held : Tensor of bool, shape (M,)
            Members whose g may not move yet.
        renew : bool
            Whether to recompute the second derivatives; old ones still give an ascent direction.
        """
        with_p, entries = slice(0, self.entries.n_with_p), self.entries
        y, rate = entries.counts[with_p], rate[with_p]
        mean = rate * self._multiplier_with_p()
        own_mu = mu[:1] if entries.n_processes == 1 else mu[entries.kinds[with_p].long()]
        weight = 1 / (1 + mean / own_mu)  # the negative binomial's, held in the step
        seen = (weight * y).sum(dim=0)  # (M,)
        fitted = (weight * mean).sum(dim=0).clamp_min(1e-30)
        mean = mean * (seen / fitted)

        slope = 1 - torch.sigmoid(self.logit)  # d log p / d logit
        gradient, level = self._against((y - mean) * weight, mean * weight, slope)
        if self._curvature is None or renew:
            self._curvature = self._gram(mean * weight, slope).expand(len(seen), -1, -1)
        common = level[:, :, None] * level[:, None, :] / seen.clamp_min(1e-30)[:, None, None]
        curvature = (self._curvature - common) / dispersion
        prior = self.prior()
        uphill = gradient / dispersion - prior * (self.theta - self.centre)
        diagonal = torch.diagonal(curvature, dim1=1, dim2=2).clamp_min(0.0)
        system = curvature + torch.diag_embed(prior + self._damping[:, None] * diagonal + 1e-6)
        direction = self._direction(system, uphill)
        direction[held] = 0.0
        self._search(direction, rate, y, weight, seen, prior, dispersion)
        self._rounds += 1
        if self._rounds == self.straight:
            self._smoothing.bend(freely=True)
        elif self._rounds > max(_ROUNDS_BEFORE_SMOOTHING, self.straight):
            system = curvature + torch.diag_embed(prior + 1e-9)
            inverse = torch.linalg.inv_ex(system)[0].nan_to_num(0.0)
            self._smoothing.update(self.theta, prior, torch.diagonal(inverse, dim1=1, dim2=2))

    def smooth(self, weights: Tensor) -> None:
        """Set the precisions to what best explains θ and β, given weights of the entries (N, M)."""
        prior, variance = self.prior(), torch.zeros_like(self.theta)
        for m, own in enumerate(torch.split(weights[: self.entries.n_with_p], 1, dim=1)):
            slope = 1 - torch.sigmoid(self.logit[:, m : m + 1])
            inverse = torch.linalg.inv(self._gram(own, slope)[0] + torch.diag(prior[m] + 1e-9))
            variance[m] = inverse.diagonal().clamp_min(0.0)
        self._smoothing.update(self.theta, prior, variance)

    def linear(self, m: int) -> Linear:
        """θ and β of one member beside effects of modes: what a common step needs of them."""
        with_p = self.entries.n_with_p
        curves, lines = self.entries.curves, self.entries.rate_curves
        assert curves is not None
        slope = 1 - torch.sigmoid(self.logit[:, m : m + 1])
        prior, theta = self.prior()[m], self.theta[m]

        q = self.features.n_features

        def bins(change: FloatArray) -> FloatArray:
            of_g = curves.bins(change[:, :q])
            if lines is None:
                return of_g
            of_rate = lines.bins(np.pad(change[:, q:], ((0, 0), (1, 0))))
            return np.concatenate([of_g, of_rate, np.zeros((len(change), 1))], axis=1)

        def of_bins(sums: FloatArray) -> FloatArray:
            of_g = curves.of_bins(sums[:, : curves.n_bins])
            if lines is None:
                return of_g
            of_rate = lines.of_bins(sums[:, curves.n_bins : -1])[:, 1:]
            return np.concatenate([of_g, of_rate], axis=1)

        def design(rows: IntArray) -> Float32Array:
            out = np.zeros((len(theta), len(rows)), dtype=np.float32)
            of_g, of_rate = (rows[: np.searchsorted(rows, n)] for n in (len(slope), with_p))
            features = curves.at(of_g) * slope[torch.from_numpy(of_g)].float()
            out[:q, : len(of_g)] = features.numpy().T
            if lines is not None:
                out[q:, : len(of_rate)] = lines.at(of_rate)[:, 1:].numpy().T
            return out.T

        return Linear(
            *(bins, of_bins, curves.codes, slope[:, 0].numpy(), self._bins_of_lines),
            n_bins=curves.n_bins + (0 if lines is None else lines.n_bins + 1),
            gap=(theta - self.centre).numpy(),
            precision=prior.numpy(),
            lowest=torch.where(self._bounded, -theta, -torch.inf).numpy(),
            design=design,
            moves=np.ones(len(theta), dtype=bool),
        )

    @cached_property
    def _bins_of_lines(self) -> IndexArray:
        """Bins of lines of all entries, beside those of curves; the last is of none."""
        n, curves, lines = len(self.entries.counts), self.entries.curves, self.entries.rate_curves
        if curves is None or lines is None:
            return np.zeros((n, 0), dtype=np.uint32)
        none = curves.n_bins + lines.n_bins
        codes = np.full((n, lines.codes.shape[1]), none, dtype=np.uint32)
        codes[: len(lines.codes)] = lines.codes + curves.n_bins
        return codes

    def _against(self, residual: Tensor, mean: Tensor, slope: Tensor) -> tuple[Tensor, Tensor]:
        """Sums of derivatives of log λp by θ and β, weighted by each column; (M, Q + P) each.

        Columns are of the entries whose p is g or known (T, M), `slope` is d log p / d logit of the
        former alone (A, M).
        """
        curves, lines = self.entries.curves, self.entries.rate_curves
        assert curves is not None
        values = torch.cat([residual, mean], dim=1)
        sums = curves.against(values[: len(slope)] * slope.repeat(1, 2))
        if lines is not None:
            sums = torch.cat([sums, lines.against(values)[:, 1:]], dim=1)
        return sums[: len(self.theta)], sums[len(self.theta) :]

    def _gram(self, weight: Tensor, slope: Tensor) -> Tensor:
        """Second derivatives (M, Q + P, Q + P), or (1, …) if members are alike."""
        curves, lines = self.entries.curves, self.entries.rate_curves
        assert curves is not None

        def common(weights: Tensor) -> Tensor:
            return weights.mean(dim=1, keepdim=True) if self.alike else weights

        of_g = weight[: len(slope)] * slope
        of_curves = curves.cross(curves, common(of_g * slope))
        if lines is None:
            return of_curves
        both = curves.cross(lines, common(of_g))[:, :, 1:]
        of_rates = lines.cross(lines, common(weight))[:, 1:, 1:]
        above = torch.cat([of_curves, both], dim=2)
        return torch.cat([above, torch.cat([both.transpose(1, 2), of_rates], dim=2)], dim=1)

    def _direction(self, system: Tensor, uphill: Tensor) -> Tensor:
        """Maximum of the quadratic approximation, with bounded coefficients at 0 or above; (M, Q).

        Those at their bound leave it, and others that would cross it are set to it, until neither
        happens (a primal-dual active set).
        """
        if not bool(self._bounded.any()):
            direction: Tensor = torch.linalg.solve_ex(system, uphill)[0].nan_to_num(0.0)
            return direction
        to_bound = -self.theta
        active = (self.theta <= 0) & (uphill <= 0) & self._bounded
        eye = torch.eye(system.shape[1], dtype=system.dtype)
        for _ in range(_ACTIVE_SETS):
            fixed = torch.where(active, to_bound, 0.0)
            wanted = uphill - torch.einsum("mij,mj->mi", system, fixed)
            free = ~(active[:, :, None] | active[:, None, :])
            reduced = torch.where(free, system, 0.0) + eye * active[:, None, :]
            solved = torch.linalg.solve_ex(reduced, torch.where(active, 0.0, wanted))[0]
            direction = (fixed + solved).nan_to_num(0.0)
            pull = uphill - torch.einsum("mij,mj->mi", system, direction)
            changed = torch.where(active, pull <= 0, direction < to_bound) & self._bounded
            if bool((changed == active).all()):
                break
            active = changed
        return torch.where(self._bounded, torch.maximum(direction, to_bound), direction)

    def _along(self, theta: Tensor) -> tuple[Tensor, Tensor]:
        """Features · θ (A, M), and xᵀβ (T, M) or (1, M)."""
        curves, lines = self.entries.curves, self.entries.rate_curves
        assert curves is not None
        q = self.features.n_features
        logit = curves.along(theta[:, :q])
        if lines is None:
            return logit, theta.new_zeros(1, len(theta))
        level = theta.new_zeros(len(theta), 1)
        return logit, lines.along(torch.cat([level, theta[:, q:]], dim=1))

    def prior(self) -> Tensor:
        """Precisions of θ and β about `centre`; (M, Q + P)."""
        return self._smoothing.prior()

    def _search(
        self,
        direction: Tensor,
        rate: Tensor,
        y: Tensor,
        weight: Tensor,
        seen: Tensor,
        prior: Tensor,
        dispersion: float,
    ) -> None:
        """Step along the direction, shortened until the penalised likelihood rises."""
        change, of_rate = self._along(direction)
        farthest = torch.zeros_like(seen)
        if len(change):
            farthest = torch.maximum(change.abs().amax(dim=0), of_rate.abs().amax(dim=0))
        limit = _LARGEST_STEP / farthest.clamp_min(_LARGEST_STEP)
        direction, change, of_rate = direction * limit[:, None], change * limit, of_rate * limit

        n, n_attributed = len(rate), self.entries.n_attributed
        log_known, bounds = self.entries.known.log(), {*range(0, n, _ROWS), n_attributed, n}
        parts = [slice(*pair) for pair in pairwise(sorted(bounds))]  # as the cache can hold

        def cost(length: Tensor) -> Tensor:
            fitted, likelihood = torch.zeros_like(seen), torch.zeros_like(seen)
            for part in parts:
                if part.start < n_attributed:
                    log_p = logsigmoid(self.logit[part] + change[part] * length)
                else:
                    log_p = log_known[part.start - n_attributed : part.stop - n_attributed]
                log_p = log_p + _part(self.effect, part) + _part(of_rate, part) * length
                fitted += (weight[part] * rate[part] * log_p.exp()).sum(dim=0)
                likelihood -= (weight[part] * y[part] * log_p).sum(dim=0)
            theta = self.theta + direction * length[:, None] - self.centre
            likelihood += seen * torch.log(fitted.clamp_min(1e-30))
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
        self.logit = self.logit + change * length
        self.effect = self.effect + of_rate * length

    def move(self, m: int, direction: FloatArray) -> None:
        """Step θ and β of one member, after :meth:`linear`.

        Parameters
        ----------
        m : int
        direction : ndarray, shape (Q + P,)
        """
        step = torch.from_numpy(direction)
        step = torch.where(self._bounded, torch.maximum(step, -self.theta[m]), step)
        self.theta[m] += step
        logit, effect = self._along(self.theta[m : m + 1])
        self.logit[:, m : m + 1] = logit + self._network
        if self.entries.rate_curves is not None:
            self.effect[:, m : m + 1] = effect


def _part(values: Tensor, part: slice) -> Tensor:
    """Some rows of (N, M); the one row where all share it."""
    return values if len(values) == 1 else values[part]
