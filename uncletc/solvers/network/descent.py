"""Joint descent over factors, curves and a trained network: what the network stage runs.

All parameters move together by L-BFGS, in double precision (single precision stalls). Factors are
parametrised by their logarithm. Each parameter is scaled by the root of the information that
counts and prior hold about it, without which L-BFGS needs several times the iterations.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

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


@dataclass(frozen=True, eq=False)
class Rows:
    """Some entries of an optimum, with what each evaluation needs of them.

    Attributes
    ----------
    chosen : Tensor of bool, shape (N,)
    where : list of Tensor of int, shape (n,)
    counts, log_exposure : Tensor, shape (n,)
    design : Tensor, shape (a, Q)
        Features of the curves, of the first a entries; the others have no attributes.
    lines : Tensor, shape (n, P)
        Standardised attributes that act on λ.
    log_given : Tensor, shape (n - a,)
        log p of the others.
    inputs : Tensor, shape (a, D)
        Their attributes as the network takes them: standardised.
    """

    chosen: Tensor
    where: list[Tensor]
    counts: Tensor
    log_exposure: Tensor
    design: Tensor
    lines: Tensor
    log_given: Tensor
    inputs: Tensor

    @classmethod
    def of(cls, optimum: Optimum) -> Rows:
        """All entries."""
        features, z = optimum.features, optimum.z()
        assert features is not None
        return cls(
            chosen=torch.ones(len(optimum.counts), dtype=torch.bool),
            where=[where.long() for where in optimum.where],
            counts=optimum.counts,
            log_exposure=optimum.exposure.log(),
            design=features(z),
            lines=optimum.lines(),
            log_given=optimum.given.log(),
            inputs=standardised(features, z),
        )

    def at(self, chosen: Tensor) -> Rows:
        """Only some of all entries, given by a mask (N,)."""
        attributed = chosen[: len(self.design)]
        return Rows(
            chosen=chosen,
            where=[indices[chosen] for indices in self.where],
            counts=self.counts[chosen],
            log_exposure=self.log_exposure[chosen],
            design=self.design[attributed],
            lines=self.lines[chosen],
            log_given=self.log_given[chosen[len(self.design) :]],
            inputs=self.inputs[attributed],
        )


def random_start(optimum: Optimum, rows: Rows, generator: torch.Generator) -> Optimum:
    """Start factors at random and curves at their centre."""
    factors = [
        0.5 + 0.5 * torch.rand(factor.shape, generator=generator).double()
        for factor in optimum.factors
    ]
    start = replace(optimum, factors=factors, coefficients=optimum.centre, layers=())
    level = rows.counts.sum().clamp_min(_SMALLEST) / expected(start, rows).sum()
    root = level ** (1 / len(factors))
    return replace(start, factors=[factor * root for factor in factors], layers=optimum.layers)


def expected(optimum: Optimum, rows: Rows) -> Tensor:
    """ŷ of entries; (n,)."""
    descent = _Descent(optimum, rows)
    return descent.log_mean(descent.start).exp()


def cost(optimum: Optimum, rows: Rows) -> float:
    """Minus the log posterior, up to a constant."""
    descent = _Descent(optimum, rows)
    return float(descent.cost(descent.start))


def descend(optimum: Optimum, rows: Rows, iterations: int) -> Optimum:
    """Move factors, coefficients and layers by L-BFGS, by so many iterations at most."""
    descent = _Descent(optimum, rows)
    shapes = [parameter.shape for parameter in descent.start]
    sizes = [parameter.numel() for parameter in descent.start]
    scales = torch.cat([scale.reshape(-1) for scale in descent.scales()])
    unit = optimum.dispersion / float(rows.counts.sum() + len(rows.counts))

    def parameters(values: Tensor) -> list[Tensor]:
        parts = torch.split(values / scales, sizes)
        return [part.view(shape) for part, shape in zip(parts, shapes, strict=True)]

    def objective(values: Tensor) -> tuple[float, Tensor]:
        scaled = values.detach().requires_grad_()
        value = descent.cost(parameters(scaled)) * unit
        (gradient,) = torch.autograd.grad(value, scaled)
        return float(value.detach()), gradient

    start = torch.cat([parameter.reshape(-1) for parameter in descent.start]) * scales
    return descent.optimum(parameters(_minimize(objective, start, iterations)))


def _minimize(
    objective: Callable[[Tensor], tuple[float, Tensor]], start: Tensor, iterations: int
) -> Tensor:
    """Where so many iterations of L-BFGS at most lead from a start (P,), in double precision."""
    values = start.clone().requires_grad_()
    optimiser = torch.optim.LBFGS(
        [values],
        max_iter=iterations,
        max_eval=2 * iterations,
        history_size=_PAIRS,
        line_search_fn="strong_wolfe",
        tolerance_grad=0,
        tolerance_change=0,
    )

    def closure() -> float:
        value, values.grad = objective(values)
        return value

    optimiser.step(closure)  # type: ignore[no-untyped-call]
    return values.detach()


class _Descent:
    """The objective of some entries as a function of parameters.

    Those are the logarithms of the factors, the coefficients and the raw layers of the network.
    """

    def __init__(self, optimum: Optimum, rows: Rows) -> None:
        self._optimum, self._rows = optimum, rows
        self._mu = optimum.mu[rows.chosen]
        self._n_modes = len(optimum.factors)
        logs = [factor.clamp_min(_SMALLEST).log() for factor in optimum.factors]
        self.start = [*logs, optimum.coefficients, *raw_of(optimum.layers)]

    def log_mean(self, parameters: list[Tensor]) -> Tensor:
        """log ŷ; (n,)."""
        rows = self._rows
        product = torch.ones(1, dtype=torch.float64)
        for log, indices in zip(parameters, rows.where, strict=False):
            product = product * log.exp().index_select(0, indices)
        log_rate = product.sum(dim=1).clamp_min(_SMALLEST).log() + rows.log_exposure
        sizes = [rows.design.shape[1], rows.lines.shape[1]]
        theta, beta = torch.split(parameters[self._n_modes], sizes)
        logit = rows.design @ theta
        if self._optimum.layers:
            layers = layers_of(parameters[self._n_modes + 1 :])
            logit = logit + network_output(layers, rows.inputs)
        log_detection = torch.cat([logsigmoid(logit), rows.log_given]) + rows.lines @ beta
        return (log_rate + log_detection).clamp_max(_WIDEST)

    def cost(self, parameters: list[Tensor]) -> Tensor:
        """Minus the log posterior, up to a constant."""
        optimum, y, mu = self._optimum, self._rows.counts, self._mu
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
        optimum, rows = self._optimum, self._rows
        information = rows.counts / (1 + rows.counts / self._mu) / optimum.dispersion  # (n,)
        scales = []
        for factor, indices in zip(optimum.factors, rows.where, strict=True):
            of_row = torch.zeros(len(factor), dtype=torch.float64)
            of_row.index_add_(0, indices, information / factor.shape[1])
            scales.append((of_row + optimum.prior_shape).sqrt()[:, None].expand_as(factor))
        of_logit = _INFORMATION * float(information[: len(rows.design)].sum())
        scales.append((of_logit + optimum.precisions).sqrt())
        of_weight = math.sqrt(_OF_WEIGHT * of_logit + WEIGHT_PRECISION)
        return scales + [torch.full_like(layer, of_weight) for layer in optimum.layers]

    def optimum(self, parameters: list[Tensor]) -> Optimum:
        """The optimum with these parameters."""
        return replace(
            self._optimum,
            factors=[log.exp() for log in parameters[: self._n_modes]],
            coefficients=parameters[self._n_modes].clone(),
            layers=tuple(layers_of(parameters[self._n_modes + 1 :])),
        )


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
