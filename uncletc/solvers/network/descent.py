"""Joint descent over factors, curves and a trained network: what the network stage runs.

All parameters move together by L-BFGS, in double precision (single precision stalls). Factors are
parametrised by their logarithm. Each parameter is scaled by the root of the information that
counts and prior hold about it, without which L-BFGS needs several times the iterations.
"""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from scipy.optimize import minimize
from torch import Tensor
from torch.nn.functional import logsigmoid

from uncletc.common.validation import FloatArray, IntArray
from uncletc.model.detection import network_output, standardised
from uncletc.solvers.joint.kernels import SMALLEST, IndexArray, compiled
from uncletc.solvers.joint.members import SHARE
from uncletc.solvers.joint.optimum import Optimum
from uncletc.solvers.network.weights import WEIGHT_PRECISION, layers_of, raw_of, raw_precisions

_PAIRS = 100  # of L-BFGS: 30 needs 1.3 times the iterations
_INFORMATION = 0.2  # that of a logit, as a share of Σ y/(1 + y/μ)
_OF_WEIGHT = 0.5  # that of a weight, as a share of a logit's; .01 needs twice the iterations
_WIDEST = 40.0  # logarithms further out would overflow
_SETTLED = 1e-11  # relative change of the cost at which a descent ends


def random_start(optimum: Optimum, chosen: Tensor, generator: torch.Generator) -> Optimum:
    """Start factors at random and curves at their centre, at the level of some entries."""
    factors = [
        0.5 + 0.5 * torch.rand(factor.shape, generator=generator).double()
        for factor in optimum.factors
    ]
    start = replace(optimum, factors=factors, coefficients=optimum.centre, layers=())
    total = optimum.counts[chosen].sum().clamp_min(SMALLEST)
    root = (total / expected(start, chosen).sum()) ** (1 / len(factors))
    return replace(start, factors=[factor * root for factor in factors], layers=optimum.layers)


def expected(optimum: Optimum, chosen: Tensor) -> Tensor:
    """ŷ of the entries that a mask (N,) chooses; (n,)."""
    posterior = _Posterior(optimum, chosen)
    return posterior.at(posterior.start)[2].exp()


def cost(optimum: Optimum, chosen: Tensor) -> float:
    """Minus the log posterior given the chosen entries, up to a constant."""
    posterior = _Posterior(optimum, chosen)
    return posterior.at(posterior.start)[0]


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
        cost, gradient, _ = posterior.at(parameters(values))
        flat = torch.cat([part.reshape(-1) for part in gradient]) / scales
        return unit * cost, (unit * flat).numpy()

    start = torch.cat([parameter.reshape(-1) for parameter in posterior.start]) * scales
    options: Any = {"maxiter": iterations, "maxfun": 2 * iterations, "maxcor": _PAIRS}
    options |= {"ftol": _SETTLED, "gtol": 0.0}
    end = minimize(value_and_gradient, start.numpy(), jac=True, method="L-BFGS-B", options=options)
    logs, coefficients, *raw = parameters(end.x)
    return replace(
        optimum,
        factors=list(torch.split(logs.exp(), [len(factor) for factor in optimum.factors])),
        coefficients=coefficients.clone(),
        layers=tuple(layers_of(raw)),
    )


class _Posterior:
    """The posterior of an optimum's parameters given some entries, as a function of them.

    They are the logarithms of the factors, mode below mode (ΣI_k, F), the coefficients and the raw
    layers of the network.

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
        self._optimum = optimum
        self._starts = np.cumsum([0, *map(len, optimum.factors)])
        self._where = torch.stack([where.long()[chosen] for where in optimum.where], dim=1)
        self._at = (self._where.numpy() + self._starts[:-1]).astype(np.int32)
        self.counts, self._mu = optimum.counts[chosen], optimum.mu[chosen]
        self._log_exposure = optimum.exposure.log()[chosen]
        self._design = features(z)[attributed]
        self._inputs = standardised(features, z)[attributed]
        self._lines, self._log_given = optimum.lines()[chosen], optimum.given.log()[others]
        self._sizes = [self._design.shape[1], self._lines.shape[1]]
        logs = torch.cat(optimum.factors).clamp_min(SMALLEST).log()
        self.start = [logs, optimum.coefficients, *raw_of(optimum.layers)]

    def at(self, parameters: list[Tensor]) -> tuple[float, list[Tensor], Tensor]:
        """Minus the log posterior up to a constant, its gradient in each, and log ŷ (n,)."""
        optimum = self._optimum
        logs, coefficients, *raw = parameters
        layers = [layer.requires_grad_() for layer in layers_of(raw)]
        theta, beta = torch.split(coefficients, self._sizes)
        logit = self._design @ theta
        if layers:
            output = network_output(layers, self._inputs)
            logit = logit + output.detach()
        log_mean = torch.cat([logsigmoid(logit), self._log_given])
        log_mean += self._lines @ beta + self._log_exposure
        residual, of_logs = torch.empty_like(log_mean), torch.zeros_like(logs)
        given = self._at, logs.exp().numpy(), self.counts.numpy(), self._mu.contiguous().numpy()
        misfit = _misfit(*given, log_mean.numpy(), residual.numpy(), of_logs.numpy())
        residual /= optimum.dispersion
        of_logs /= optimum.dispersion
        shape = optimum.prior_shape
        spread = _prior_spread(logs.numpy(), self._starts, SHARE, shape, of_logs.numpy())
        of_logit = residual[: len(logit)] * torch.sigmoid(-logit)
        of_curves = torch.cat([self._design.T @ of_logit, self._lines.T @ residual])
        centred = coefficients - optimum.centre
        pull = optimum.precisions * centred
        cost = misfit / optimum.dispersion + shape * spread + 0.5 * float(pull @ centred)
        gradient = [of_logs, of_curves + pull]
        of_layers = torch.autograd.grad(output @ of_logit, layers) if layers else ()
        for precision, weights, of_layer in zip(
            raw_precisions(raw), raw, layers_of(of_layers), strict=True
        ):
            gradient.append(of_layer + precision * weights)
            cost += 0.5 * precision * float((weights**2).sum())
        return cost, gradient, log_mean

    def scales(self) -> list[Tensor]:
        """Root of the information about each parameter."""
        optimum = self._optimum
        information = self.counts / (1 + self.counts / self._mu) / optimum.dispersion  # (n,)
        of_factors = []
        for factor, indices in zip(optimum.factors, self._where.T, strict=True):
            of_row = torch.zeros(len(factor), dtype=torch.float64)
            of_row.index_add_(0, indices, information / factor.shape[1])
            of_factors.append((of_row + optimum.prior_shape).sqrt()[:, None].expand_as(factor))
        of_logit = _INFORMATION * float(information[: len(self._design)].sum())
        scales = [torch.cat(of_factors), (of_logit + optimum.precisions).sqrt()]
        of_weight = math.sqrt(_OF_WEIGHT * of_logit + WEIGHT_PRECISION)
        return scales + [torch.full_like(layer, of_weight) for layer in optimum.layers]


@compiled
def _misfit(
    at: IndexArray,
    factors: FloatArray,
    counts: FloatArray,
    mu: FloatArray,
    log_mean: FloatArray,
    residual: FloatArray,
    gradient: FloatArray,
) -> float:
    """Minus the log-likelihood of counts (n,), up to a constant.

    `log_mean` is that of ŷ/λ and becomes that of ŷ, `residual` the derivative by it (n,); that by
    the logarithms of factors (ΣI_k, F) is added to `gradient`. `at` (n, K) has rows of them.
    """
    cost, rank = 0.0, factors.shape[1]
    product = np.empty(rank)
    for n in range(len(counts)):
        y, own, total = counts[n], mu[n], 0.0
        for f in range(rank):
            product[f] = 1.0
            for k in range(at.shape[1]):
                product[f] *= factors[at[n, k], f]
            total += product[f]
        total = max(total, SMALLEST)
        log_mean[n] = min(log_mean[n] + math.log(total), _WIDEST)
        mean = math.exp(log_mean[n])
        cost += (y + own) * math.log1p((mean - y) / (y + own)) - y * log_mean[n]
        residual[n] = own * (mean - y) / (own + mean) if log_mean[n] < _WIDEST else 0.0
        for f in range(rank):
            for k in range(at.shape[1]):
                gradient[at[n, k], f] += residual[n] * product[f] / total
    return cost


@compiled
def _prior_spread(
    logs: FloatArray, starts: IntArray, share: float, shape: float, gradient: FloatArray
) -> float:
    """Minus the log density of the gamma prior of factors' elements, per unit of its shape.

    About the product of row mean and column mean, and with a share about the column mean. `logs`
    are (ΣI_k, F), mode below mode; `shape` times the derivative is added to `gradient`.
    """
    cost, rank = 0.0, logs.shape[1]
    for mode in range(len(starts) - 1):
        own = logs[starts[mode] : starts[mode + 1]]
        factor, n_rows = np.exp(own), len(own)
        rows, columns = np.zeros(n_rows), np.zeros(rank)
        for i in range(n_rows):
            for f in range(rank):
                rows[i] += factor[i, f] / rank
                columns[f] += factor[i, f] / n_rows
        level, middle = np.log(columns), math.log(columns.mean())
        of_rows, of_columns, of_all = np.zeros(n_rows), np.zeros(rank), 0.0
        slopes = np.zeros((n_rows, rank))
        for i in range(n_rows):
            size = math.log(rows[i])
            for f in range(rank):
                both = min(max(own[i, f] - size - level[f] + middle, -_WIDEST), _WIDEST)
                column = min(max(own[i, f] - level[f], -_WIDEST), _WIDEST)
                times, alone = math.exp(both), math.exp(column)
                cost += times - both + share * (alone - column)
                of_both = times - 1.0 if abs(both) < _WIDEST else 0.0
                of_column = share * (alone - 1.0) if abs(column) < _WIDEST else 0.0
                slopes[i, f] = of_both + of_column
                of_rows[i] += of_both
                of_columns[f] += of_both + of_column
                of_all += of_both
        of_all /= columns.sum() * n_rows
        for i in range(n_rows):
            for f in range(rank):
                less = (
                    of_rows[i] / (rows[i] * rank) + of_columns[f] / (columns[f] * n_rows) - of_all
                )
                gradient[starts[mode] + i, f] += shape * (slopes[i, f] - factor[i, f] * less)
    return cost
