"""One start of a closed fit: its parameters, and rounds that make the counts likelier."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch
from scipy.special import expit
from torch import Tensor
from torch.nn.functional import logsigmoid

from uncletc.common.validation import FloatArray
from uncletc.data.counts import CountTensor
from uncletc.fitting.settings import FitSettings
from uncletc.model.features import AttributeFeatures
from uncletc.model.rates import RateTable
from uncletc.result.ensemble import Member
from uncletc.result.posterior import Draws
from uncletc.solvers.closed.cells import Cells
from uncletc.solvers.closed.curvature import Curvature
from uncletc.solvers.closed.sums import LogSum, likely_mu, log_likelihood
from uncletc.solvers.joint.dispersion import shape_of_posterior
from uncletc.solvers.joint.optimum import member_of
from uncletc.solvers.joint.smoothing import Smoothing
from uncletc.solvers.network.descent import prior_spread
from uncletc.solvers.options import Joint

STEPS = 5  # of L-BFGS per round
START_LOGIT = -1.0
_LEVEL_PRECISION = 0.1  # of the level about the start: it matters where visits say next to nothing
_START_SHAPE = 3.0  # of the factors' prior: that of uniform factors
_START_BEND = 0.1  # root of coefficients of monotone curves, which could never leave 0
_AT_BOUND = 1e-4  # below which such a coefficient is taken for 0
_MEMORY = 50
_OF_LOGIT = 0.2  # information about a coefficient, as a share of that of all counts
_LONGER, _LONGEST = 1.8, 0.7  # of the steps of log c, which are short ones of an EM algorithm
_LONGER_MU, _LEAST_MU = 1.5, 0.1  # the same of log μ
_SMALLEST = 1e-30
_CERTAIN = 1e-12
_WIDEST = 40.0  # logarithms of λ further out would overflow
_SHAPE_DRAWS = 200


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
            ranks = isinstance(settings.solver, Joint) and settings.solver.rate_terms == "ranks"
            x = cells.rate_attributes
            rates = RateTable.of(counts.shape, cells.rate_indices, x, rng, ranks=ranks)
            lines = rates.columns(cells.whole(counts.shape))
        design = features(torch.from_numpy(cells.attributes))
        return cls(cells, features, rates, design, torch.from_numpy(lines))


class State:
    """Factors of the open modes, coefficients θ and β, and their priors.

    Attributes
    ----------
    logs : list of Tensor, shape (I_k, F)
        Logarithms of factors of λ·sigmoid(β₀): the level of p moves, and λp stays.
    theta : Tensor, shape (Q + P,)
        θ, whose first element is the level β₀, then β.
    mu : float
        Of true counts; infinite for Poisson.
    held : bool
        Whether the level stays where it is.
    """

    def __init__(
        self,
        problem: Problem,
        factors: list[FloatArray],
        theta: FloatArray,
        mu: float = math.inf,
    ) -> None:
        self._problem, self.mu = problem, mu
        self._smoothing = Smoothing(
            problem.features, len(theta), 1, level_precision=_LEVEL_PRECISION
        )
        self._shape = _START_SHAPE
        self._centre = torch.zeros(len(theta), dtype=torch.float64)
        self._centre[0] = START_LOGIT
        cells = problem.cells
        self._where = [torch.from_numpy(at) for at in np.ascontiguousarray(cells.indices.T)]
        self._of = torch.from_numpy(cells.of)
        self._counts = torch.from_numpy(cells.counts.astype(np.float64))
        self._log_exposure = torch.from_numpy(np.log(cells.exposure))
        self.logs = [torch.from_numpy(np.log(np.maximum(u, _SMALLEST))) for u in factors]
        self.theta = torch.from_numpy(theta)
        self.held = False
        self.restart()

    def restart(self) -> None:
        """Forget the last steps: what is minimised has changed."""
        bounded = self._smoothing.bounded
        raw = torch.where(bounded, self.theta.clamp_min(_START_BEND**2).sqrt(), self.theta)
        raw[0] = self.theta[0]
        self._sizes = [log.numel() for log in self.logs]
        self._scales = self._information_scales()
        flat = torch.cat([*(log.reshape(-1) for log in self.logs), raw])
        self._values = (flat * self._scales).requires_grad_()
        self._optimiser = torch.optim.LBFGS(
            [self._values],
            max_iter=STEPS,
            max_eval=2 * STEPS,
            history_size=_MEMORY,
            line_search_fn="strong_wolfe",
            tolerance_grad=0,
            tolerance_change=0,
        )

    def round(self) -> None:
        """Take some steps of L-BFGS towards the maximum of the posterior."""

        def closure() -> float:
            logs, theta = self._unpacked(self._values)
            value = self._cost(logs, theta)
            (gradient,) = torch.autograd.grad(value, self._values)
            if self.held:
                gradient[sum(self._sizes)] = 0.0
            self._values.grad = gradient
            return float(value.detach())

        self._optimiser.step(closure)  # type: ignore[no-untyped-call]
        logs, self.theta = self._unpacked(self._values.detach())
        self.logs = list(logs)

    def move(self, logs: list[Tensor], theta: Tensor, level: float) -> None:
        """Go to parameters with this level, and hold it."""
        self.logs, self.theta = list(logs), theta.clone()
        self.theta[0], self.held = level, True
        self.restart()

    @property
    def level(self) -> float:
        """β₀."""
        return float(self.theta[0])

    def cost(self) -> float:
        """Minus the log posterior, up to a constant."""
        return float(self._cost(self.logs, self.theta))

    def log_likelihood(self) -> float:
        """Of all counts."""
        cells = self._problem.cells
        found = log_likelihood(self.rates(), self.detection(), cells.counts, cells.of, mu=self.mu)
        return float(found.sum())

    def likely_mu(self) -> float:
        """μ under which the counts are likeliest, given λ and p."""
        cells = self._problem.cells
        return likely_mu(self.rates(), self.detection(), cells.counts, cells.of)

    def evidence(self) -> float:
        """Minus the log posterior of the level, with everything else integrated out.

        By Laplace's approximation; the cost itself where there are too many parameters.
        """
        curvature = self._curvature()
        return self.cost() + (0.0 if curvature is None else curvature.half_log_determinant())

    def rates(self) -> FloatArray:
        """λ > 0 of each cell; (C,)."""
        log_rate = self._log_rate(self.logs, self.theta)
        return np.asarray(np.maximum(log_rate.exp().numpy(), _SMALLEST))

    def detection(self) -> FloatArray:
        """p of each count, next to 0 or 1 at the most; (N,)."""
        return np.asarray(expit(self._logits().numpy()).clip(_CERTAIN, 1 - _CERTAIN))

    def _logits(self) -> Tensor:
        return self._problem.design @ self._split(self.theta)[0]

    def update_mu(self) -> float:
        """Take the likeliest μ, and return by how much its logarithm changed.

        What λ and p were fitted to explain scatter of true counts that was not allowed for: each
        time some of it is left, so that steps are longer than they seem to be.
        """
        likely, before = self.likely_mu(), self.mu
        self.mu = likely
        if math.isfinite(likely) and math.isfinite(before):
            self.mu = max(before * (likely / before) ** _LONGER_MU, _LEAST_MU)
        self.restart()
        if self.mu == before:
            return 0.0
        return abs(math.log(self.mu) - math.log(before))

    def update_priors(self, seed: int) -> None:
        """Smooth curves as counts say, and hold factors together as far as they are alike."""
        curvature = self._curvature()
        if curvature is None:
            return
        try:
            draws = curvature.draws(_SHAPE_DRAWS, seed)
            variance = torch.from_numpy(curvature.variance_of_coefficients())
        except np.linalg.LinAlgError:
            return
        self._smoothing.update(self._at_bound()[None], self._prior()[None], variance[None])
        factors = [log.exp() for log in self.logs]
        step = _LONGER * math.log(shape_of_posterior(factors, draws) / self._shape)
        self._shape *= math.exp(min(max(step, -_LONGEST), _LONGEST))
        self.restart()

    def draws(self, size: int, seed: int) -> Draws | None:
        """Draws of the open factors, θ and β; None if the curvature does not give them."""
        curvature = self._curvature()
        try:
            return None if curvature is None else curvature.draws(size, seed)
        except np.linalg.LinAlgError:
            return None

    def member(self, shape: tuple[int, ...]) -> Member:
        """Factors of all modes, those of closed ones 1, g and the effects of attributes on λ."""
        modes = self._problem.cells.open_modes
        factors = [np.ones((size, self.logs[0].shape[1])) for size in shape]
        for mode, log in zip(modes, self.logs, strict=True):
            factors[mode] = log.exp().numpy()
        factors[modes[0]] = factors[modes[0]] / float(torch.sigmoid(self.theta[0]))
        theta = self._at_bound().numpy()
        return member_of(factors, self._problem.features, self._problem.rates, theta, anchored=True)

    @property
    def n_parameters(self) -> int:
        """Elements of the factors, and about as many coefficients as smoothing leaves free."""
        return sum(self._sizes) + len(self.theta) // 2

    def _curvature(self) -> Curvature | None:
        problem = self._problem
        theta = self._at_bound()
        fixed = self._smoothing.bounded & (theta <= 0)
        return Curvature.of(
            problem.cells,
            factors=[log.exp().numpy() for log in self.logs],
            rates=self.rates(),
            logits=self._logits().numpy(),
            design=problem.design.numpy(),
            lines=problem.lines.numpy(),
            mu=self.mu,
            shape=self._shape,
            precisions=self._prior().numpy(),
            fixed=fixed.numpy(),
        )

    def _at_bound(self) -> Tensor:
        """θ and β, those next to their bound 0; (Q + P,)."""
        near = self._smoothing.bounded & (self.theta < _AT_BOUND)
        return torch.where(near, 0.0, self.theta)

    def _prior(self) -> Tensor:
        return self._smoothing.prior()[0]

    def _split(self, theta: Tensor) -> tuple[Tensor, Tensor]:
        q = self._problem.features.n_features
        return theta[:q], theta[q:]

    def _unpacked(self, values: Tensor) -> tuple[list[Tensor], Tensor]:
        *flat, raw = torch.split(
            values / self._scales, [*self._sizes, len(values) - sum(self._sizes)]
        )
        logs = [part.view(log.shape) for part, log in zip(flat, self.logs, strict=True)]
        return logs, torch.where(self._smoothing.bounded, raw * raw, raw)

    def _log_rate(self, logs: list[Tensor], theta: Tensor) -> Tensor:
        product = torch.ones(1, dtype=torch.float64)
        for log, at in zip(logs, self._where, strict=True):
            product = product * log.exp().index_select(0, at)
        log_rate = product.sum(dim=1).clamp_min(_SMALLEST).log() + self._log_exposure
        log_rate = log_rate - logsigmoid(theta[0]) + self._problem.lines @ self._split(theta)[1]
        return log_rate.clamp_max(_WIDEST)

    def _log_likelihood(self, logs: list[Tensor], theta: Tensor) -> Tensor:
        """That of all counts, up to terms in which no parameter but μ occurs."""
        cells, mu, log_rate = self._problem.cells, self.mu, self._log_rate(logs, theta)
        logit = self._problem.design @ self._split(theta)[0]
        missed = torch.zeros_like(log_rate).index_add(0, self._of, logsigmoid(-logit))
        log_theta, rate = log_rate + missed, log_rate.exp()
        empty = rate
        if math.isfinite(mu):
            log_theta = log_theta - torch.log(mu + rate)
            empty = mu * torch.log1p(rate / mu)
        sums: Tensor = LogSum.apply(log_theta, cells.starts, cells.counts, mu)  # type: ignore[no-untyped-call]
        return (self._counts * logit).sum() + (sums - empty).sum()

    def _cost(self, logs: list[Tensor], theta: Tensor) -> Tensor:
        value = -self._log_likelihood(logs, theta)
        for log in logs:
            value = value + self._shape * prior_spread(log)
        return value + 0.5 * (self._prior() * (theta - self._centre) ** 2).sum()

    def _information_scales(self) -> Tensor:
        """Root of the information about each parameter."""
        y = torch.zeros(len(self._where[0]), dtype=torch.float64)
        y = y.index_add(0, self._of, self._counts)
        scales = []
        for log, at in zip(self.logs, self._where, strict=True):
            of_row = torch.zeros(len(log), dtype=torch.float64).index_add(0, at, y / log.shape[1])
            scales.append((of_row + self._shape).sqrt()[:, None].expand_as(log).reshape(-1))
        scales.append((_OF_LOGIT * self._counts.sum() + self._prior()).sqrt())
        return torch.cat(scales)
