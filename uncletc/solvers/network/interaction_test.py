"""A cheap look for effects of attributes together, before a network is trained for them.

With λ and the curves held, small networks learn what is left in the logit of some entries and are
judged on others, which they have not seen (though λ has). Most fits end here: where attributes act
one by one, this costs a fraction of a second and nothing else happens.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid, silu

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


def joint_effect(optimum: Optimum, inputs: Tensor, seed: int) -> float:
    """How many standard errors networks gain on entries held out of their training.

    Parameters
    ----------
    optimum : Optimum
        After the additive stage.
    inputs : Tensor, shape (A, D)
        Standardised attributes.
    seed : int

    Returns
    -------
    float
        Mean gain of the log-likelihood over its standard error; 0 if the best network is none.
    """
    generator = torch.Generator().manual_seed(seed)
    rows = torch.randperm(len(inputs), generator=generator)[:_MOST_ENTRIES]
    held_out = torch.arange(len(rows) // _FOLDS * _FOLDS).view(_FOLDS, -1)  # (folds, n / folds)
    if held_out.shape[1] < 2:
        return 0.0
    entries = _Entries.of(optimum, inputs, rows)
    others = [torch.cat([held_out[j] for j in range(_FOLDS) if j != k]) for k in range(_FOLDS)]
    gains = _train(entries, torch.stack(others), held_out, generator)  # (looks, folds, n / folds)
    # A fold's training stops where the other folds gain most, so that no fold chooses for itself.
    of_fold = gains.sum(dim=2)
    stops = (of_fold.sum(dim=1, keepdim=True) - of_fold).argmax(dim=0)
    gain = gains[stops, torch.arange(_FOLDS)].ravel()
    error = gain.std() / len(gain) ** 0.5
    return float(gain.mean() / error) if float(error) > 0 else 0.0


@dataclass(frozen=True, eq=False)
class _Entries:
    """What networks see, in single precision; (n,) each, inputs (n, D)."""

    inputs: Tensor
    log_rate: Tensor
    logit: Tensor
    counts: Tensor
    mu: Tensor

    @classmethod
    def of(cls, optimum: Optimum, inputs: Tensor, rows: Tensor) -> _Entries:
        assert optimum.features is not None
        product = torch.ones(1)
        for factor, where in zip(optimum.factors, optimum.where, strict=True):
            product = product * factor[where[rows]]
        rate = (product.sum(dim=1) * optimum.exposure[rows]).clamp_min(_SMALLEST)
        rate = rate * (optimum.lines(rows) @ optimum.slopes).exp()
        logit = optimum.features(optimum.z(rows)) @ optimum.curves
        values = (inputs[rows], rate.log(), logit, optimum.counts[rows], optimum.mu[rows])
        return cls(*(value.float() for value in values))

    def misfit(self, rows: Tensor, change: Tensor) -> Tensor:
        """Minus the log-likelihood, up to a constant, with the logit changed."""
        y, mu = self.counts[rows], self.mu[rows]
        log_mean = self.log_rate[rows] + logsigmoid(self.logit[rows] + change)
        log_count = y.clamp_min(_SMALLEST).log()
        return (y + mu) * torch.log1p((log_mean.exp() - y) / (y + mu)) - y * (log_mean - log_count)


def _train(entries: _Entries, rows: Tensor, held_out: Tensor, generator: torch.Generator) -> Tensor:
    """Gains of log-likelihood on held-out entries, from no network to the last step."""
    n_folds, n_rows = rows.shape
    weights: list[Tensor] = []
    n_in = entries.inputs.shape[1]
    for _ in range(2):
        weights.append(torch.randn(n_folds, n_in, _UNITS, generator=generator) / n_in**0.5)
        weights.append(_START_BIAS * torch.randn(n_folds, 1, _UNITS, generator=generator))
        n_in = _UNITS
    weights += [torch.zeros(n_folds, n_in, 1), torch.zeros(n_folds, 1, 1)]
    for weight in weights:
        weight.requires_grad_()

    def networks(x: Tensor) -> Tensor:
        for weight, bias in zip(weights[:-2:2], weights[1:-2:2], strict=True):
            x = silu(torch.baddbmm(bias, x, weight))
        return torch.baddbmm(weights[-1], x, weights[-2]).squeeze(-1)

    n_batches = max(n_rows // _BATCH, 1)
    n_passes = max(_STEPS // n_batches, 1)
    n_steps = n_batches * n_passes
    counts = entries.counts
    size = float((counts / (1 + counts / entries.mu)).mean()) + _SMALLEST
    optimiser = torch.optim.AdamW(
        weights, lr=_LEARNING_RATE, weight_decay=_WEIGHT_DECAY, fused=True
    )
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, _LEARNING_RATE, total_steps=n_steps)
    unchanged = torch.zeros(held_out.shape)
    without = entries.misfit(held_out, unchanged)
    gains = [unchanged]
    for step in range(n_steps):
        batch = step % n_batches
        if batch == 0:
            order = torch.stack([torch.randperm(n_rows, generator=generator) for _ in rows])
            shuffled = rows.gather(1, order)
        chosen = shuffled[:, batch * _BATCH : (batch + 1) * _BATCH]
        optimiser.zero_grad()
        misfit = entries.misfit(chosen, networks(entries.inputs[chosen]))
        (misfit.mean(dim=1).sum() / size).backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        schedule.step()
        if (step + 1) % max(n_steps // _LOOKS, 1) == 0:
            with torch.no_grad():
                gains.append(without - entries.misfit(held_out, networks(entries.inputs[held_out])))
    return torch.stack(gains).double()
