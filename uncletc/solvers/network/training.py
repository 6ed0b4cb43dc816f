"""Training of a network by minibatches (Adam), beside factors or alone, at any number of counts.

Curves and effects of modes are held; their rounds follow (:meth:`Rounds.adopt
<uncletc.solvers.joint.rounds.Rounds.adopt>`), with the network held. Single precision: the rounds
are accurate, and a network's errors are those of few counts. Where μ is estimated, half of the
steps are taken as if counts hardly scattered, since what a network has not learnt yet looks like
scatter and would hide the rest; then μ follows the residuals.
"""

import math
from collections.abc import Callable
from dataclasses import replace

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid

from uncletc.model.detection import network_output, standardised
from uncletc.solvers.joint.dispersion import likely_mu
from uncletc.solvers.joint.optimum import Optimum
from uncletc.solvers.network import weights

_BATCH = 1024
_RATE = 0.02  # of Adam at most, for layers and the logarithms of factors alike
_WARMING = 0.1  # share of the steps in which the rate rises
# Share of the weights' prior: where covariates interact, errors are the same from 0 to 1. A
# hundredth or more takes networks of few counts to 0; with none they follow chance.
_PRIOR = 0.003
_MEMORY, _MEMORY_OF_SQUARES = 0.9, 0.999
_HELD = 0.5  # share of the steps before μ is estimated
_BLOCK, _RECENT = 50, 8  # steps between estimates of μ, and those whose counts estimate it
_ASKED = 250  # steps between pauses
_ROWS = 65_536  # entries evaluated at once
_SMALLEST = 1e-9


class Training:
    """Layers, the level of g and factors of an optimum, and their steps.

    Parameters
    ----------
    optimum : Optimum
        With `layers`, or without: then factors and the level alone are trained.
    joint : bool
        Whether factors move too.
    scatter : bool
        Whether μ is estimated.
    """

    def __init__(self, optimum: Optimum, *, joint: bool, scatter: bool) -> None:
        features = optimum.features
        assert features is not None
        self._optimum, self._joint, self._scatter = optimum, joint, scatter
        self._n_attributed = n = len(optimum.rows)
        self._where = [indices.long() for indices in optimum.where]
        self._counts, self._log_given = optimum.counts.float(), optimum.given.log().float()
        lines = optimum.lines() @ optimum.slopes + optimum.exposure.log()
        self._offset, self._variance = lines.float(), (1 / optimum.mu).float()
        self._own = optimum.own.float()  # others have a μ that is not estimated here
        parts = torch.split(torch.arange(n), _ROWS)
        curves = [features.weighted(optimum.z(part), optimum.curves) for part in parts]
        self._curves = torch.cat(curves).float()
        self._inputs = standardised(features, torch.tensor(optimum.attributes)).float()
        self._rows = torch.from_numpy(optimum.rows)
        self._monotone = bool(features.rising.any())
        self._least = weights.least_weights(features, optimum.layers)
        self._precisions = weights.layer_precisions([layer.numpy() for layer in optimum.layers])
        logs = [factor.clamp_min(_SMALLEST).log() for factor in optimum.factors]
        every = [torch.zeros(1), *optimum.layers, *logs]
        self._shapes = [one.shape for one in every]
        self._parameters = torch.cat([one.reshape(-1).float() for one in every])
        self._level, self._layers, self._logs = self._split(self._parameters)

    def run(
        self, entries: Tensor, steps: int, generator: torch.Generator, pause: Callable[[], None]
    ) -> None:
        """Take so many steps of Adam on some entries, given by their numbers (n,)."""
        gradient, mean, square = (torch.zeros_like(self._parameters) for _ in range(3))
        order, recent = entries[:0], list[tuple[Tensor, Tensor]]()
        for step in range(1, steps + 1):
            if len(order) < min(_BATCH, len(entries)):
                order = entries[torch.randperm(len(entries), generator=generator)]
            chosen, order = order[:_BATCH].sort().values, order[_BATCH:]
            y, expected = self._ascent(chosen, 1 / len(entries), gradient)
            mean.lerp_(gradient, 1 - _MEMORY)
            square.mul_(_MEMORY_OF_SQUARES).addcmul_(
                gradient, gradient, value=1 - _MEMORY_OF_SQUARES
            )
            size = (square / (1 - _MEMORY_OF_SQUARES**step)).sqrt_().add_(_SMALLEST)
            rate = _RATE * _share_of_rate(step / steps) / (1 - _MEMORY**step)
            self._parameters.addcdiv_(mean, size, value=rate)
            if self._monotone:
                for least, layer in zip(self._least, self._layers, strict=True):
                    layer.clamp_(min=least)
            own = self._own.expand_as(self._variance)[chosen] > 0
            recent = [*recent[1 - _RECENT :], (y[own], expected[own])]
            if self._scatter and step > _HELD * steps and step % _BLOCK == 0:
                counts, means = (torch.cat(parts).double() for parts in zip(*recent, strict=True))
                change = 1 / likely_mu(counts, means) - float(self._variance[0])
                self._variance += change * self._own
            if step % _ASKED == 0:
                pause()

    def expected(self, entries: Tensor) -> Tensor:
        """ŷ of some entries, given by their ascending numbers (n,); (n,)."""
        found = []
        for part in torch.split(entries, _ROWS):
            n = int(torch.searchsorted(part, self._n_attributed))
            logit = self._curves[part[:n]] + self._level
            if self._layers:
                inputs = self._inputs[self._rows[part[:n]]]
                logit = logit + network_output(self._layers, inputs, monotone=self._monotone)
            log_p = torch.cat([logsigmoid(logit), self._log_given[part[n:] - self._n_attributed]])
            found.append(self._product(part).sum(dim=1).log() + self._offset[part] + log_p)
        return torch.cat(found).exp().double()

    def optimum(self) -> Optimum:
        """The optimum as trained."""
        coefficients = self._optimum.coefficients.clone()
        coefficients[0] += float(self._level)
        return replace(
            self._optimum,
            factors=[log.double().exp() for log in self._logs],
            coefficients=coefficients,
            layers=tuple(layer.double() for layer in self._layers),
            mu=1 / self._variance.double(),
        )

    def _split(self, flat: Tensor) -> tuple[Tensor, list[Tensor], list[Tensor]]:
        """The level, the layers and the logarithms of factors in one tensor; views."""
        sizes = [math.prod(shape) for shape in self._shapes]
        parts = zip(torch.split(flat, sizes), self._shapes, strict=True)
        level, *rest = (part.view(shape) for part, shape in parts)
        n = len(self._optimum.layers)
        return level, rest[:n], rest[n:]

    def _product(self, chosen: Tensor) -> Tensor:
        """Components of λ of some entries; (n, F)."""
        product = torch.ones(1)
        for log, where in zip(self._logs, self._where, strict=True):
            product = product * log.exp().index_select(0, where[chosen])
        return product.clamp_min(_SMALLEST)

    def _ascent(self, chosen: Tensor, share: float, gradient: Tensor) -> tuple[Tensor, Tensor]:
        """Counts and ŷ of some entries, after writing the gradient of their log posterior.

        Parameters
        ----------
        chosen : Tensor, shape (n,)
            Numbers of the entries, ascending.
        share : float
            Of the prior that an entry bears.
        gradient : Tensor
            As all parameters; set to the gradient, over the information of the counts.
        """
        level, layers, logs = self._split(gradient)
        n = int(torch.searchsorted(chosen, self._n_attributed))
        known = chosen[:n]
        logit = self._curves[known] + self._level
        own = [layer.detach().requires_grad_() for layer in self._layers]
        if own:
            inputs = self._inputs[self._rows[known]]
            output = network_output(own, inputs, monotone=self._monotone)
            logit += output.detach()
        log_p = torch.cat([logsigmoid(logit), self._log_given[chosen[n:] - self._n_attributed]])
        product, y, variance = self._product(chosen), self._counts[chosen], self._variance[chosen]
        rate = product.sum(dim=1)
        expected = rate * (self._offset[chosen] + log_p).exp_()
        information = y / (1 + y * variance)
        residual = (y - expected) / (1 + expected * variance) / (information.sum() + _SMALLEST)
        if self._joint:
            product *= (residual / rate)[:, None]
            for into, where in zip(logs, self._where, strict=True):
                into.zero_().index_add_(0, where[chosen], product)
        of_logit = residual[:n] * torch.sigmoid(-logit)
        level[:] = of_logit.sum()
        if own:
            of_layers = torch.autograd.grad(output @ of_logit, own)
            of_prior = _PRIOR * share * len(chosen) / (float(information.sum()) + _SMALLEST)
            given = zip(layers, of_layers, self._layers, self._precisions, strict=True)
            for into, of_layer, layer, precision in given:
                torch.sub(of_layer, layer, alpha=precision * of_prior, out=into)
        return y, expected


def _share_of_rate(done: float) -> float:
    """Rise and fall of the rate of Adam over a run, along cosines, from 0 to 1 to 0."""
    if done < _WARMING:
        return 0.5 - 0.5 * math.cos(math.pi * done / _WARMING)
    return 0.5 + 0.5 * math.cos(math.pi * (done - _WARMING) / (1 - _WARMING))
