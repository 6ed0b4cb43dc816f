"""Joint descent over factors, curves and a trained network: what the network stage runs.

All parameters move together by L-BFGS, in double precision (single precision stalls). Factors are
parametrised by their logarithm. Each parameter is scaled by the root of the information that
the counts and its prior hold about it, without which L-BFGS needs many times the iterations.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from scipy.optimize import minimize
from torch import Tensor
from torch.nn.functional import logsigmoid, silu

from uncletc.solvers.optimum import Optimum
from uncletc.validation import FloatArray

FARTHEST = 4.0  # standard deviations beyond which an attribute's input no longer changes
_WEIGHT_PRECISION = 10.0  # of raw weights about 0: larger smooths g; 3 and 30 made larger errors
_BIAS_PRECISION = 1.0
_FIRST_PRECISION = 10.0
_GAIN = 1.7  # of silu, so that units keep unit variance through the layers
_START_BIAS = 0.5  # standard deviation of the first biases
_SHARE = 0.1  # of the pseudo-counts that also hold the sizes of rows, as in Members.update
_MEMORY = 100  # pairs of L-BFGS; each costs two passes over the parameters
_SMALLEST = 1e-30
_WIDEST = 40.0  # logarithms further than this from their mean would overflow
_INFORMATION = 0.2  # share of Σ y/(1 + y/μ) that stands for that of a logit
_WEIGHT_SHARE = 2.0  # by which the information about a weight is less than about a logit
_FACTOR_SCALE = 1.0


def silu_layers(inputs: Tensor, layers: Sequence[Tensor]) -> Tensor:
    """Output (n,) of the network with these layers on standardised attributes (n, D)."""
    *hidden, output = layers
    units = inputs
    for weight, bias in zip(hidden[::2], hidden[1::2], strict=True):
        units = silu(torch.addmm(bias, units, weight))
    return units @ output


def standardised(optimum: Optimum) -> Tensor:
    """Attributes as the network takes them; (A, D)."""
    features = optimum.features
    assert features is not None
    middle, spread = torch.from_numpy(features.middle), torch.from_numpy(features.spread)
    return ((optimum.attributes - middle) / spread).clamp(-FARTHEST, FARTHEST)


@dataclass(frozen=True, eq=False)
class Rows:
    """Some entries of an optimum, with what each evaluation needs of them.

    Attributes
    ----------
    where : list of Tensor of int, shape (n,)
    counts, log_exposure, mu : Tensor, shape (n,)
    design : Tensor, shape (a, Q)
        Features of the curves, of the first a entries; the others have no attributes.
    inputs : Tensor, shape (a, D)
        Their attributes, as the network takes them.
    """

    where: list[Tensor]
    counts: Tensor
    log_exposure: Tensor
    mu: Tensor
    design: Tensor
    inputs: Tensor

    @classmethod
    def of(cls, optimum: Optimum) -> Rows:
        """All entries."""
        assert optimum.features is not None
        return cls(
            where=optimum.where,
            counts=optimum.counts,
            log_exposure=optimum.exposure.log(),
            mu=optimum.mu,
            design=optimum.features(optimum.attributes),
            inputs=standardised(optimum),
        )

    def at(self, chosen: Tensor) -> Rows:
        """Only these entries, given by a mask (n,)."""
        attributed = chosen[: len(self.design)]
        return Rows(
            where=[indices[chosen] for indices in self.where],
            counts=self.counts[chosen],
            log_exposure=self.log_exposure[chosen],
            mu=self.mu[chosen],
            design=self.design[attributed],
            inputs=self.inputs[attributed],
        )


class Descent:
    """A state of all parameters, and L-BFGS on it.

    Parameters
    ----------
    optimum : Optimum
        Priors, and where factors and coefficients start.
    rows : Rows
        The entries that the descent sees.
    hidden : sequence of int
        Units of each hidden layer; (): no network.
    dispersion : float
        φ, by which the log-likelihood is divided.
    generator : torch.Generator
        Of the starting weights.
    fresh : bool
        Whether factors and coefficients start at random instead.
    """

    def __init__(
        self,
        optimum: Optimum,
        rows: Rows,
        hidden: Sequence[int],
        dispersion: float,
        generator: torch.Generator,
        *,
        fresh: bool = False,
    ) -> None:
        self._optimum, self._rows, self._dispersion = optimum, rows, dispersion
        self._n_modes, self._hidden = len(optimum.factors), tuple(hidden)
        logs = [factor.clamp_min(_SMALLEST).log() for factor in optimum.factors]
        coefficients = optimum.coefficients
        if fresh:
            logs = [
                torch.log(0.5 + 0.5 * torch.rand(factor.shape, generator=generator).double())
                for factor in optimum.factors
            ]
            coefficients = optimum.centre
            rate = self._log_rate(logs, rows).exp()
            level = rows.counts.sum() / (rate.sum() * torch.sigmoid(coefficients[0]))
            logs = [log + level.clamp_min(_SMALLEST).log() / self._n_modes for log in logs]
        weights: list[Tensor] = []
        n_in = rows.inputs.shape[1]
        for units in self._hidden:
            weights.append(torch.randn(n_in, units, generator=generator).double())
            weights.append(_START_BIAS * torch.randn(units, generator=generator).double())
            n_in = units
        if self._hidden:
            weights.append(torch.zeros(n_in, dtype=torch.float64))
        self._put([*logs, coefficients, *weights])

    def _put(self, parameters: list[Tensor]) -> None:
        self._shapes = [parameter.shape for parameter in parameters]
        self._sizes = [parameter.numel() for parameter in parameters]
        self._scale = self._scales()
        self._values = torch.cat([p.reshape(-1) for p in parameters]) * self._scale

    def run(self, iterations: int) -> Descent:
        """Descend by so many iterations at most, in place."""
        n = float(self._rows.counts.sum()) + len(self._rows.counts)

        def objective(values: FloatArray) -> tuple[float, FloatArray]:
            scaled = torch.from_numpy(values).requires_grad_()
            cost = self._cost(self._parameters(scaled)) * (self._dispersion / n)
            (gradient,) = torch.autograd.grad(cost, scaled)
            return float(cost.detach()), gradient.numpy()

        found = minimize(
            objective,
            self._values.numpy(),
            jac=True,
            method="L-BFGS-B",
            options={
                "maxiter": iterations,
                "maxfun": 2 * iterations,
                "maxcor": _MEMORY,
                "ftol": 0,
                "gtol": 0,
            },
        )
        self._values = torch.from_numpy(np.asarray(found.x, dtype=np.float64))
        return self

    def expected(self, rows: Rows) -> Tensor:
        """ŷ of entries; (n,)."""
        return self._log_mean(self._parameters(self._values), rows).exp()

    def move(self, rows: Rows) -> Descent:
        """Descend on other entries from now on, in place."""
        self._rows = rows
        self._put(self._parameters(self._values))
        return self

    @property
    def cost(self) -> float:
        """Minus the log posterior, up to a constant."""
        return float(self._cost(self._parameters(self._values)))

    def optimum(self) -> Optimum:
        """The state as an optimum."""
        parameters = self._parameters(self._values)
        return replace(
            self._optimum,
            factors=[log.exp() for log in parameters[: self._n_modes]],
            coefficients=parameters[self._n_modes].clone(),
            layers=tuple(layer.clone() for layer in self._layers(parameters)),
            dispersion=self._dispersion,
        )

    def _parameters(self, values: Tensor) -> list[Tensor]:
        parts = torch.split(values / self._scale, self._sizes)
        return [part.view(shape) for part, shape in zip(parts, self._shapes, strict=True)]

    def _layers(self, parameters: list[Tensor]) -> list[Tensor]:
        """Layers of the network from raw weights: scaled by fan in and by the gain of units."""
        if not self._hidden:
            return []
        *hidden, output = parameters[self._n_modes + 1 :]
        layers: list[Tensor] = []
        gain = 1.0
        for weight, bias in zip(hidden[::2], hidden[1::2], strict=True):
            layers += [weight * (gain / math.sqrt(len(weight))), bias]
            gain = _GAIN
        return [*layers, output * (gain / math.sqrt(len(output)))]

    def _log_rate(self, logs: Sequence[Tensor], rows: Rows) -> Tensor:
        product = logs[0].exp().index_select(0, rows.where[0])
        for log, indices in zip(logs[1:], rows.where[1:], strict=True):
            product = product * log.exp().index_select(0, indices)
        return product.sum(dim=1).clamp_min(_SMALLEST).log() + rows.log_exposure

    def _log_mean(self, parameters: list[Tensor], rows: Rows) -> Tensor:
        log_rate = self._log_rate(parameters[: self._n_modes], rows)
        logit = rows.design @ parameters[self._n_modes]
        layers = self._layers(parameters)
        if layers:
            logit = logit + silu_layers(rows.inputs, layers)
        log_detection = logsigmoid(logit)
        n_without = len(log_rate) - len(logit)
        if n_without:
            held = math.log(self._optimum.unattributed)
            log_detection = torch.cat([log_detection, log_detection.new_full((n_without,), held)])
        return (log_rate + log_detection).clamp_max(_WIDEST)

    def _cost(self, parameters: list[Tensor]) -> Tensor:
        """Minus the log posterior, up to a constant."""
        rows, optimum = self._rows, self._optimum
        log_mean = self._log_mean(parameters, rows)
        y, mu = rows.counts, rows.mu
        misfit = (y + mu) * torch.log1p((log_mean.exp() - y) / (y + mu)) - y * log_mean
        cost = misfit.sum() / self._dispersion
        for log in parameters[: self._n_modes]:
            cost = cost + optimum.prior_shape * _spread_of_factor(log)
        theta = parameters[self._n_modes]
        cost = cost + 0.5 * (optimum.precisions * (theta - optimum.centre) ** 2).sum()
        for i, weight in enumerate(parameters[self._n_modes + 1 :]):
            cost = cost + 0.5 * self._precision_of(i) * (weight**2).sum()
        return cost

    def _precision_of(self, i: int) -> float:
        is_bias = i % 2 == 1
        if i == 0:
            return _FIRST_PRECISION
        return _BIAS_PRECISION if is_bias else _WEIGHT_PRECISION

    def _scales(self) -> Tensor:
        rows, optimum = self._rows, self._optimum
        information = rows.counts / (1 + rows.counts / rows.mu) / self._dispersion  # (n,)
        scales = []
        for indices, shape in zip(rows.where, self._shapes, strict=False):
            of_row = torch.zeros(shape[0], dtype=torch.float64).index_add_(0, indices, information)
            of_row = _FACTOR_SCALE * of_row / shape[1] + optimum.prior_shape
            scales.append(of_row.sqrt()[:, None].expand(shape).reshape(-1))
        of_logit = _INFORMATION * float(information[: len(rows.design)].sum())
        scales.append((of_logit + optimum.precisions).sqrt())
        n_weights = sum(self._sizes[self._n_modes + 1 :])
        of_weight = of_logit / _WEIGHT_SHARE + _WEIGHT_PRECISION
        scales.append(torch.full((n_weights,), math.sqrt(of_weight), dtype=torch.float64))
        return torch.cat(scales)


def _spread_of_factor(log: Tensor) -> Tensor:
    """Minus the log density of the gamma prior of a factor's elements, per unit of shape.

    About the product of row mean and column mean, and with a share about the column mean.
    """
    factor = log.exp()
    rows, columns = factor.mean(dim=1, keepdim=True).log(), factor.mean(dim=0).log()
    level = factor.mean().log()
    about_both = (log - rows - columns + level).clamp(-_WIDEST, _WIDEST)
    about_column = (log - columns).clamp(-_WIDEST, _WIDEST)
    both = (about_both.exp() - about_both).sum()
    return both + _SHARE * (about_column.exp() - about_column).sum()


def layer_precisions(layers: Sequence[FloatArray]) -> list[float]:
    """Precision of the normal prior of the weights of each layer, on the scale of `layers`."""
    precisions = []
    for i, layer in enumerate(layers):
        if i % 2:
            precisions.append(_BIAS_PRECISION)
        else:
            raw, gain = (_WEIGHT_PRECISION, _GAIN) if i else (_FIRST_PRECISION, 1.0)
            precisions.append(raw * len(layer) / gain**2)
    return precisions
