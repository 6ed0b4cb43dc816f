"""Joint descent over factors, curves and a trained network: what the network stage runs.

All parameters move together by L-BFGS, in double precision (single precision stalls). Factors are
parametrised by their logarithm. Each parameter is scaled by the root of the information that
counts and prior hold about it, without which L-BFGS needs several times the iterations.
"""

from __future__ import annotations

import math
from dataclasses import replace

import torch
from scipy.optimize import minimize
from torch import Tensor
from torch.nn.functional import logsigmoid

from uncletc.common.validation import FloatArray
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
_SETTLED = 1e-11  # relative change of the cost at which a descent ends


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

    def parameters(values: FloatArray) -> list[Tensor]:
        parts = torch.split(torch.from_numpy(values) / scales, sizes)
        return [part.view(shape) for part, shape in zip(parts, shapes, strict=True)]

    def value_and_gradient(values: FloatArray) -> tuple[float, FloatArray]:
        value, gradient = posterior.cost_and_gradient(parameters(values))
        flat = torch.cat([part.reshape(-1) for part in gradient]) / scales
        return unit * value, (unit * flat).numpy()

    start = torch.cat([parameter.reshape(-1) for parameter in posterior.start]) * scales
    end = minimize(
        value_and_gradient,
        start.numpy(),
        jac=True,
        method="L-BFGS-B",
        options={
            "maxiter": iterations,
            "maxfun": 2 * iterations,
            "maxcor": _PAIRS,
            "ftol": _SETTLED,
            "gtol": 0.0,
        },
    ).x
    n_modes, found = len(optimum.factors), parameters(end)
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
        self._sizes = [self._design.shape[1], self._lines.shape[1]]
        logs = [factor.clamp_min(_SMALLEST).log() for factor in optimum.factors]
        self.start = [*logs, optimum.coefficients, *raw_of(optimum.layers)]

    def log_mean(self, parameters: list[Tensor]) -> Tensor:
        """log ŷ; (n,)."""
        layers = layers_of(parameters[self._n_modes + 1 :])
        logit, beta = self._additive(parameters)
        if layers:
            logit = logit + network_output(layers, self._inputs)
        return self._log_mean(self._product(parameters), logit, beta)

    def cost(self, parameters: list[Tensor]) -> Tensor:
        """Minus the log posterior, up to a constant."""
        return self._cost(parameters, self.log_mean(parameters))

    def cost_and_gradient(self, parameters: list[Tensor]) -> tuple[float, list[Tensor]]:
        """Minus the log posterior up to a constant, and its gradient in each parameter.

        Written out: on few counts that takes a third of the time of an automatic gradient.
        """
        optimum, y, mu = self._optimum, self.counts, self._mu
        logs, raw = parameters[: self._n_modes], parameters[self._n_modes + 1 :]
        layers = layers_of(raw)
        inputs, bends = [self._inputs], []
        for weight, bias in zip(layers[:-1:2], layers[1::2], strict=True):
            linear = torch.addmm(bias, inputs[-1], weight)
            gate = linear.sigmoid()
            inputs.append(linear * gate)
            bends.append(gate + inputs[-1] * (1 - gate))
        logit, beta = self._additive(parameters)
        if layers:
            logit = logit + inputs[-1] @ layers[-1]
        product = self._product(parameters)
        log_mean = self._log_mean(product, logit, beta)
        mean = log_mean.exp()
        residual = mu * (mean - y) / (mu + mean) / optimum.dispersion
        residual[log_mean >= _WIDEST] = 0.0
        of_logit = residual[: len(logit)] * torch.sigmoid(-logit)
        product *= (residual / product.sum(dim=1).clamp_min(_SMALLEST))[:, None]
        gradient = []
        for log, where in zip(logs, self._where, strict=True):
            of_prior = optimum.prior_shape * spread_gradient(log)
            gradient.append(of_prior.index_add_(0, where, product))
        of_curves = torch.cat([self._design.T @ of_logit, self._lines.T @ residual])
        centred = parameters[self._n_modes] - optimum.centre
        gradient.append(of_curves + optimum.precisions * centred)
        of_layers: list[Tensor] = []
        if layers:
            of_layers.append(inputs[-1].T @ of_logit)
            back = of_logit[:, None] * layers[-1]
            for i in range(len(bends) - 1, -1, -1):
                back *= bends[i]
                of_layers = [inputs[i].T @ back, back.sum(dim=0), *of_layers]
                back = back @ layers[2 * i].T
        for precision, weights, of_layer in zip(
            raw_precisions(raw), raw, layers_of(of_layers), strict=True
        ):
            gradient.append(of_layer + precision * weights)
        return float(self._cost(parameters, log_mean)), gradient

    def _additive(self, parameters: list[Tensor]) -> tuple[Tensor, Tensor]:
        """The logit of curves of attributed entries, and slopes of log λ."""
        theta, beta = torch.split(parameters[self._n_modes], self._sizes)
        return self._design @ theta, beta

    def _product(self, parameters: list[Tensor]) -> Tensor:
        """Components of λ; (n, F)."""
        product = torch.ones(1, dtype=torch.float64)
        for log, indices in zip(parameters, self._where, strict=False):
            product = product * log.exp().index_select(0, indices)
        return product

    def _log_mean(self, product: Tensor, logit: Tensor, beta: Tensor) -> Tensor:
        log_rate = product.sum(dim=1).clamp_min(_SMALLEST).log() + self._log_exposure
        log_detection = torch.cat([logsigmoid(logit), self._log_given]) + self._lines @ beta
        return (log_rate + log_detection).clamp_max(_WIDEST)

    def _cost(self, parameters: list[Tensor], log_mean: Tensor) -> Tensor:
        optimum, y, mu = self._optimum, self.counts, self._mu
        misfit = (y + mu) * torch.log1p((log_mean.exp() - y) / (y + mu)) - y * log_mean
        value = misfit.sum() / optimum.dispersion
        for log in parameters[: self._n_modes]:
            value = value + optimum.prior_shape * prior_spread(log)
        centred = parameters[self._n_modes] - optimum.centre
        value = value + 0.5 * (optimum.precisions * centred**2).sum()
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
    about_both, about_column = _about(log)
    both = (about_both.exp() - about_both).sum()
    return both + SHARE * (about_column.exp() - about_column).sum()


def spread_gradient(log: Tensor) -> Tensor:
    """Gradient of :func:`prior_spread`; as `log`."""
    factor = log.exp()
    both, column = (
        torch.where(about.abs() < _WIDEST, about.exp() - 1, 0.0) for about in _about(log)
    )
    column *= SHARE
    gradient = both + column + factor * (both.sum() / factor.sum())
    gradient -= factor * (both.sum(dim=1, keepdim=True) / factor.sum(dim=1, keepdim=True))
    return gradient - factor * ((both + column).sum(dim=0) / factor.sum(dim=0))


def _about(log: Tensor) -> tuple[Tensor, Tensor]:
    """Logarithms about the product of row mean and column mean, and about the column mean."""
    factor = log.exp()
    rows, columns = factor.mean(dim=1, keepdim=True).log(), factor.mean(dim=0).log()
    about_both = log - rows - columns + factor.mean().log()
    return about_both.clamp(-_WIDEST, _WIDEST), (log - columns).clamp(-_WIDEST, _WIDEST)
