"""Joint descent over factors, curves and a trained network: what the network stage runs.

All parameters move together by L-BFGS, in double precision (single precision stalls). Factors are
parametrised by their logarithm. Each parameter is scaled by the root of the information that
counts and prior hold about it, without which L-BFGS needs several times the iterations.
"""

from __future__ import annotations

import math
from dataclasses import replace

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid

from uncletc.model.detection import network_output, standardised
from uncletc.solvers.joint.members import SHARE
from uncletc.solvers.joint.optimum import Optimum
from uncletc.solvers.network.weights import (
    WEIGHT_PRECISION,
    layers_of,
    raw_of,
    raw_precisions,
)

_PAIRS = 100  # of L-BFGS: 30 needs 1.3 times the iterations
_INFORMATION = 0.2  # that of a logit, as a share of Σ y/(1 + y/μ)
_OF_WEIGHT = 0.5  # that of a weight, as a share of a logit's; .01 needs twice the iterations
_SMALLEST = 1e-30
_WIDEST = 40.0  # logarithms further out would overflow


def random_start(optimum: Optimum, chosen: Tensor, generator: torch.Generator) -> Optimum:
    """Start factors at random and curves at their centre, at the level of some entries."""
    factors = [
        0.5 + 0.5 * torch.rand(factor.shape, generator=generator).double()
        for factor in optimum.factors
    ]
    start = replace(optimum, factors=factors, coefficients=optimum.centre, layers=())
    total = optimum.counts[chosen].sum().clamp_min(_SMALLEST)
    root = (total / expected(start, chosen).sum()) ** (1 / len(factors))
    return replace(start, factors=[factor * root for factor in factors], layers=optimum.layers)


def expected(optimum: Optimum, chosen: Tensor) -> Tensor:
    """ŷ of the entries that a mask (N,) chooses; (n,)."""
    posterior = _Posterior(optimum, chosen)
    return posterior.log_mean(posterior.start).exp()


def cost(optimum: Optimum, chosen: Tensor) -> float:
    """Minus the log posterior given the chosen entries, up to a constant."""
    posterior = _Posterior(optimum, chosen)
    return float(posterior.cost(posterior.start))


def descend(optimum: Optimum, chosen: Tensor, iterations: int) -> Optimum:
    """Move factors, coefficients and layers by L-BFGS, by so many iterations at most."""
    posterior = _Posterior(optimum, chosen)
    shapes = [parameter.shape for parameter in posterior.start]
    sizes = [parameter.numel() for parameter in posterior.start]
    scales = torch.cat([scale.reshape(-1) for scale in posterior.scales()])
    unit = optimum.dispersion / float(posterior.counts.sum() + len(posterior.counts))

    def parameters(values: Tensor) -> list[Tensor]:
        parts = torch.split(values / scales, sizes)
        return [part.view(shape) for part, shape in zip(parts, shapes, strict=True)]

    def closure() -> float:
        scaled = values.detach().requires_grad_()
        value = posterior.cost(parameters(scaled)) * unit
        (values.grad,) = torch.autograd.grad(value, scaled)
        return float(value.detach())

    values = torch.cat([parameter.reshape(-1) for parameter in posterior.start]) * scales
    values.requires_grad_()
    optimiser = torch.optim.LBFGS(
        [values],
        max_iter=iterations,
        max_eval=2 * iterations,
        history_size=_PAIRS,
        line_search_fn="strong_wolfe",
        tolerance_grad=0,
        tolerance_change=0,
    )
    optimiser.step(closure)  # type: ignore[no-untyped-call]
    n_modes, found = len(optimum.factors), parameters(values.detach())
    return replace(
        optimum,
        factors=[log.exp() for log in found[:n_modes]],
        coefficients=found[n_modes].clone(),
        layers=tuple(layers_of(found[n_modes + 1 :])),
    )


class _Posterior:
    """The posterior of an optimum's parameters given some entries, as a function of them.

    They are the logarithms of the factors, the coefficients and the raw layers of the network.

    Parameters
    ----------
    optimum : Optimum
    chosen : Tensor of bool, shape (N,)

    Attributes
    ----------
    start : list of Tensor
        The parameters of the optimum.
    counts : Tensor, shape (n,)
    """

    def __init__(self, optimum: Optimum, chosen: Tensor) -> None:
        features, z = optimum.features, optimum.z()
        assert features is not None
        attributed, others = torch.split(chosen, [len(z), len(chosen) - len(z)])
        self._optimum, self._n_modes = optimum, len(optimum.factors)
        self._where = [where.long()[chosen] for where in optimum.where]
        self.counts, self._mu = optimum.counts[chosen], optimum.mu[chosen]
        self._log_exposure = optimum.exposure.log()[chosen]
        self._design = features(z)[attributed]
        self._inputs = standardised(features, z)[attributed]
        self._lines, self._log_given = optimum.lines()[chosen], optimum.given.log()[others]
        logs = [factor.clamp_min(_SMALLEST).log() for factor in optimum.factors]
        self.start = [*logs, optimum.coefficients, *raw_of(optimum.layers)]

    def log_mean(self, parameters: list[Tensor]) -> Tensor:
        """log ŷ; (n,)."""
        product = torch.ones(1, dtype=torch.float64)
        for log, indices in zip(parameters, self._where, strict=False):
            product = product * log.exp().index_select(0, indices)
        log_rate = product.sum(dim=1).clamp_min(_SMALLEST).log() + self._log_exposure
        sizes = [self._design.shape[1], self._lines.shape[1]]
        theta, beta = torch.split(parameters[self._n_modes], sizes)
        logit = self._design @ theta
        if self._optimum.layers:
            logit = logit + network_output(layers_of(parameters[self._n_modes + 1 :]), self._inputs)
        log_detection = torch.cat([logsigmoid(logit), self._log_given]) + self._lines @ beta
        return (log_rate + log_detection).clamp_max(_WIDEST)

    def cost(self, parameters: list[Tensor]) -> Tensor:
        """Minus the log posterior, up to a constant."""
        optimum, y, mu = self._optimum, self.counts, self._mu
        log_mean = self.log_mean(parameters)
        misfit = (y + mu) * torch.log1p((log_mean.exp() - y) / (y + mu)) - y * log_mean
        value = misfit.sum() / optimum.dispersion
        for log in parameters[: self._n_modes]:
            value = value + optimum.prior_shape * prior_spread(log)
        theta = parameters[self._n_modes] - optimum.centre
        value = value + 0.5 * (optimum.precisions * theta**2).sum()
        raw = parameters[self._n_modes + 1 :]
        for precision, weights in zip(raw_precisions(raw), raw, strict=True):
            value = value + 0.5 * precision * (weights**2).sum()
        return value

    def scales(self) -> list[Tensor]:
        """Root of the information about each parameter."""
        optimum = self._optimum
        information = self.counts / (1 + self.counts / self._mu) / optimum.dispersion  # (n,)
        scales = []
        for factor, indices in zip(optimum.factors, self._where, strict=True):
            of_row = torch.zeros(len(factor), dtype=torch.float64)
            of_row.index_add_(0, indices, information / factor.shape[1])
            scales.append((of_row + optimum.prior_shape).sqrt()[:, None].expand_as(factor))
        of_logit = _INFORMATION * float(information[: len(self._design)].sum())
        scales.append((of_logit + optimum.precisions).sqrt())
        of_weight = math.sqrt(_OF_WEIGHT * of_logit + WEIGHT_PRECISION)
        return scales + [torch.full_like(layer, of_weight) for layer in optimum.layers]


def prior_spread(log: Tensor) -> Tensor:
    """Minus the log density of the gamma prior of a factor's elements, per unit of shape.

    About the product of row mean and column mean, and with a share about the column mean.
    """
    factor = log.exp()
    rows, columns = factor.mean(dim=1, keepdim=True).log(), factor.mean(dim=0).log()
    about_both = (log - rows - columns + factor.mean().log()).clamp(-_WIDEST, _WIDEST)
    about_column = (log - columns).clamp(-_WIDEST, _WIDEST)
    both = (about_both.exp() - about_both).sum()
    return both + SHARE * (about_column.exp() - about_column).sum()
