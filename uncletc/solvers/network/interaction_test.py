"""A cheap look for effects of attributes together, before a network is trained for them.

With λ and the curves held, small networks learn what is left in the logit of some entries and are
judged on others, which they have not seen (though λ has). Most fits end here: where attributes act
one by one, this costs a fraction of a second and nothing else happens.
"""

import math
from collections.abc import Callable
from functools import partial
from itertools import accumulate, pairwise

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid, silu

from uncletc.model.detection import standardised
from uncletc.solvers.joint.optimum import Optimum

# Chosen on xor, pairs, net, inter, ridge against additive, sparse, overdispersed counts.
_UNITS = 32  # of each of two layers; 16 missed weak effects
_FOLDS = 4  # networks, trained side by side
_MOST_ENTRIES = 6_000  # more cost time and only make a clear answer clearer
_STEPS = 400  # of AdamW; 800 found no more
_BATCH = 128
_LEARNING_RATE = 5e-3
_WEIGHT_DECAY = 1e-4
_START_BIAS = 0.3
_LOOKS = 20  # at the held-out entries during training
_SMALLEST = 1e-9
# Of AdamW: the share of steps in which its rate rises, the rate at first, momenta at the highest
# rate and at the lowest, and the decay of squares.
_RISING, _LEAST_RATE, _MOMENTA, _DECAY = 0.3, 1 / 25, (0.95, 0.85), 0.999


def joint_effect(optimum: Optimum, seed: int) -> float:
    """How many standard errors networks gain on entries held out of their training.

    Parameters
    ----------
    optimum : Optimum
        After the additive stage.
    seed : int

    Returns
    -------
    float
        Mean gain of the log-likelihood over its standard error; 0 if the best network is none.
    """
    generator = torch.Generator().manual_seed(seed)
    rows = torch.randperm(len(optimum.rows), generator=generator)[:_MOST_ENTRIES]
    held_out = torch.arange(len(rows) // _FOLDS * _FOLDS).view(_FOLDS, -1)  # (folds, n / folds)
    if held_out.shape[1] < 2:
        return 0.0
    entries = _Entries(optimum, rows)
    others = [torch.cat([held_out[j] for j in range(_FOLDS) if j != k]) for k in range(_FOLDS)]
    gains = _train(entries, torch.stack(others), held_out, generator)  # (looks, folds, n / folds)
    # A fold's training stops where the other folds gain most, so that no fold chooses for itself.
    of_fold = gains.sum(dim=2)
    stops = (of_fold.sum(dim=1, keepdim=True) - of_fold).argmax(dim=0)
    gain = gains[stops, torch.arange(_FOLDS)].ravel()
    error = gain.std() / len(gain) ** 0.5
    return float(gain.mean() / error) if float(error) > 0 else 0.0


class _Entries:
    """What networks see, in single precision; (n,) each, inputs (n, D)."""

    def __init__(self, optimum: Optimum, rows: Tensor) -> None:
        assert optimum.features is not None
        product = torch.ones(1)
        for factor, where in zip(optimum.factors, optimum.where, strict=True):
            product = product * factor[where[rows]]
        rate = (product.sum(dim=1) * optimum.exposure[rows]).clamp_min(_SMALLEST)
        rate = rate * (optimum.lines(rows) @ optimum.slopes).exp()
        z = optimum.z(rows)
        logit, inputs = optimum.features(z) @ optimum.curves, standardised(optimum.features, z)
        self.inputs, self.log_rate, self.logit = inputs.float(), rate.log().float(), logit.float()
        self.counts, self.mu = optimum.counts[rows].float(), optimum.mu[rows].float()

    def misfit(self, rows: Tensor, change: Tensor) -> Tensor:
        """Minus the log-likelihood, up to a constant, with the logit changed."""
        y, mu = self.counts[rows], self.mu[rows]
        log_mean = self.log_rate[rows] + logsigmoid(self.logit[rows] + change)
        log_count = y.clamp_min(_SMALLEST).log()
        return (y + mu) * torch.log1p((log_mean.exp() - y) / (y + mu)) - y * (log_mean - log_count)

    def slope(self, rows: Tensor, size: float, change: Tensor) -> Tensor:
        """Derivative of :meth:`misfit` by the change, over a size."""
        y, mu, logit = self.counts[rows], self.mu[rows], self.logit[rows] + change
        mean = (self.log_rate[rows] + logsigmoid(logit)).exp()
        return ((y + mu) * mean / (mu + mean) - y) * torch.sigmoid(-logit) / size


class _Networks:
    """Small networks side by side, one for each fold, and AdamW on all their weights.

    The gradient is written out, since recording it would take most of the time.
    """

    def __init__(self, n: int, n_in: int, n_steps: int, generator: torch.Generator) -> None:
        shapes = [(n_in, _UNITS), (1, _UNITS), (_UNITS, _UNITS), (1, _UNITS), (_UNITS, 1), (1, 1)]
        bounds = [0, *accumulate(n * first * second for first, second in shapes)]
        self._values, self._gradient = torch.zeros(2, bounds[-1])
        self._mean, self._square = torch.zeros(2, bounds[-1])
        parts = list(zip(pairwise(bounds), shapes, strict=True))
        self._layers, self._slopes = (
            [flat[a:b].view(n, *shape) for (a, b), shape in parts]
            for flat in (self._values, self._gradient)
        )
        for i in (0, 2):
            size = shapes[i][0]
            self._layers[i][:] = torch.randn(n, size, _UNITS, generator=generator) / size**0.5
            self._layers[i + 1][:] = _START_BIAS * torch.randn(n, 1, _UNITS, generator=generator)
        self._step, self._n_steps = 0, n_steps

    def __call__(self, x: Tensor) -> Tensor:
        """Outputs for inputs (folds, n, D); (folds, n)."""
        w1, b1, w2, b2, w3, b3 = self._layers
        hidden = silu(torch.baddbmm(b2, silu(torch.baddbmm(b1, x, w1)), w2))
        return torch.baddbmm(b3, hidden, w3).squeeze(-1)

    def descend(self, x: Tensor, slope: Callable[[Tensor], Tensor]) -> None:
        """Take a step, given the slope (folds, n) of the misfit by the outputs."""
        w1, b1, w2, b2, w3, b3 = self._layers
        first = torch.baddbmm(b1, x, w1)
        at_first = silu(first)
        second = torch.baddbmm(b2, at_first, w2)
        at_second = silu(second)
        back = slope(torch.baddbmm(b3, at_second, w3).squeeze(-1))[..., None]
        for i, inputs, before, weight in ((4, at_second, second, w3), (2, at_first, first, w2)):
            self._slopes[i][:] = inputs.mT @ back
            self._slopes[i + 1][:] = back.sum(dim=1, keepdim=True)
            share = torch.sigmoid(before)
            back = (back @ weight.mT) * share * (1 + before * (1 - share))
        self._slopes[0][:] = x.mT @ back
        self._slopes[1][:] = back.sum(dim=1, keepdim=True)
        self._adamw()

    def _adamw(self) -> None:
        """Follow the gradient, by one cycle of steps and momenta (Smith and Topin, 2019)."""
        rising = _RISING * self._n_steps - 1
        if self._step <= rising:
            share = (1 - math.cos(math.pi * self._step / rising)) / 2
            rate, momentum = _LEAST_RATE + (1 - _LEAST_RATE) * share, share
        else:
            left = self._n_steps - 1 - rising
            share = (1 + math.cos(math.pi * (self._step - rising) / left)) / 2
            rate, momentum = share, share
        self._step += 1
        rate *= _LEARNING_RATE
        beta = _MOMENTA[0] + (_MOMENTA[1] - _MOMENTA[0]) * momentum
        self._values *= 1 - rate * _WEIGHT_DECAY
        self._mean += (1 - beta) * (self._gradient - self._mean)
        self._square += (1 - _DECAY) * (self._gradient**2 - self._square)
        spread = (self._square / (1 - _DECAY**self._step)).sqrt_().add_(_SMALLEST)
        self._values -= rate / (1 - beta**self._step) * self._mean / spread


@torch.no_grad()
def _train(entries: _Entries, rows: Tensor, held_out: Tensor, generator: torch.Generator) -> Tensor:
    """Gains of log-likelihood on held-out entries, from no network to the last step."""
    n_folds, n_rows = rows.shape
    n_batches = max(n_rows // _BATCH, 1)
    n_steps = n_batches * max(_STEPS // n_batches, 1)
    networks = _Networks(n_folds, entries.inputs.shape[1], n_steps, generator)
    counts = entries.counts
    size = float((counts / (1 + counts / entries.mu)).mean()) + _SMALLEST
    unchanged = torch.zeros(held_out.shape)
    without = entries.misfit(held_out, unchanged)
    gains = [unchanged]
    for step in range(n_steps):
        batch = step % n_batches
        if batch == 0:
            order = torch.stack([torch.randperm(n_rows, generator=generator) for _ in rows])
            shuffled = rows.gather(1, order)
        chosen = shuffled[:, batch * _BATCH : (batch + 1) * _BATCH]
        slope = partial(entries.slope, chosen, size * chosen.shape[1])
        networks.descend(entries.inputs[chosen], slope)
        if (step + 1) % max(n_steps // _LOOKS, 1) == 0:
            gains.append(without - entries.misfit(held_out, networks(entries.inputs[held_out])))
    return torch.stack(gains).double()
