"""Detection networks g(z): one for each solver.

Which one, when: :class:`DetectionNetwork` is the paper's and belongs to block coordinate descent:
fully connected with ReLU units and a sigmoid output (eq. 9) or, without hidden layers, the linear
g(z) = θ₁ᵀz + θ₂ of UncleTC(Linear). :class:`JointDetection` belongs to the joint solver: a curve
per attribute in one logit, and a trained network beside them where counts show a joint effect.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Self, cast

import numpy as np
import torch
from torch import Tensor, nn

from uncletc.common.validation import FloatArray
from uncletc.model.features import AttributeFeatures

# All weights of a network may vary where their number squared, times that of entries, is at most
# this, which is a second's work; else only those of its output.
_MOST_WORK = 1_500**2 * 10_000
SMALLEST_PROBABILITY = 1e-6
# Starts lean towards full detection: the paper's objective drifts to small p, and the larger p,
# the more its penalty weighs on ratios of p.
_START_LOGIT = 1.0
_START_LINEAR = 0.7
_ROWS = 2_048  # attributes whose features are held at once
_FARTHEST = 4.0  # standard deviations beyond which a network's input is constant


def _affine(layer: nn.Linear, x: Tensor) -> Tensor:
    return torch.addmm(layer.bias[:, None], layer.weight, x)


def _unset_linear(n_in: int, n_out: int) -> nn.Linear:
    """Make a layer without weights, and so without a draw from torch's global generator."""
    unset = nn.utils.skip_init(nn.Linear, n_in, n_out, dtype=torch.float64)  # type: ignore[no-untyped-call]
    return cast(nn.Linear, unset)


class DetectionNetwork(nn.Module):
    """Map attributes z (n, D) to detection probabilities g(z) (n,).

    Parameters
    ----------
    n_attributes : int
        D ≥ 1.
    hidden : sequence of int
        Units per hidden layer; empty for the linear g.
    generator : torch.Generator, optional
        Source of the starting weights, uniform within ±1/√(fan in). None leaves them unset,
        for weights that are about to be loaded.

    Examples
    --------
    >>> import torch
    >>> g = DetectionNetwork(3, (20, 20), torch.Generator().manual_seed(0))
    >>> g.probability(torch.zeros(4, 3, dtype=torch.float64)).shape
    torch.Size([4])
    """

    def __init__(
        self, n_attributes: int, hidden: Sequence[int], generator: torch.Generator | None = None
    ) -> None:
        super().__init__()
        sizes = [n_attributes, *hidden, 1]
        layers = nn.ModuleList(_unset_linear(n_in, n_out) for n_in, n_out in pairwise(sizes))
        self.layers = cast(list[nn.Linear], layers)
        if generator is not None:
            self._start(generator)

    @property
    def n_attributes(self) -> int:
        """D."""
        return self.layers[0].in_features

    @property
    def linear(self) -> bool:
        """Whether g is linear in z."""
        return len(self.layers) == 1

    def forward(self, z: Tensor) -> Tensor:
        """g in the θ-step: in (0, 1) if neural, unbounded if linear."""
        x = z.T  # (D, n): few long rows multiply faster than many short ones
        for layer in self.layers[:-1]:
            x = torch.relu(_affine(layer, x))  # (units, n)
        output = _affine(self.layers[-1], x).squeeze(0)  # (n,)
        return output if self.linear else torch.sigmoid(output)

    @torch.no_grad()
    def probability(self, z: Tensor) -> Tensor:
        """g as a probability: clipped to [1e-6, 1]."""
        return torch.clamp(self(z), SMALLEST_PROBABILITY, 1.0)

    def weights(self) -> list[FloatArray]:
        """Copies of all parameters in order: weight, bias of each layer."""
        return [parameter.detach().numpy().copy() for parameter in self.parameters()]

    def contents(self) -> dict[str, list[FloatArray]]:
        """Arguments of :meth:`of_weights`, for a file."""
        return {"weights": self.weights()}

    @classmethod
    def of_weights(cls, weights: Sequence[FloatArray]) -> Self:
        """Build from what :meth:`weights` returned."""
        return cls(weights[0].shape[1], [len(bias) for bias in weights[1:-1:2]]).load(weights)

    def load(self, weights: Sequence[FloatArray]) -> Self:
        """Load what :meth:`weights` returned, and return self."""
        with torch.no_grad():
            for parameter, value in zip(self.parameters(), weights, strict=True):
                parameter.copy_(torch.from_numpy(np.array(value)))
        return self

    @torch.no_grad()
    def _start(self, generator: torch.Generator) -> None:
        for layer in self.layers:
            bound = layer.in_features**-0.5
            layer.weight.uniform_(-bound, bound, generator=generator)
            layer.bias.uniform_(-bound, bound, generator=generator)
        self.layers[-1].bias.fill_(_START_LINEAR if self.linear else _START_LOGIT)


@dataclass(frozen=True, eq=False)
class JointDetection:
    """g(z) = c · sigmoid(β₀ + Σ_j f_j(z_j) + h(z)): curves f_j and a trained network h.

    Attributes
    ----------
    features : AttributeFeatures
        Columns of the curves; without hidden layers only straight lines.
    coefficients : ndarray, shape (Q,)
        β₀ and those of the curves.
    layers : tuple of ndarray
        Of h: weight (in, out) and bias (out,) of each hidden layer in turn, then the weights (in,)
        of its output. Units are SiLU, x·sigmoid(x), of the standardised attributes; or tanh, with
        weights that are not negative, where some attributes have a sign
        (:mod:`~uncletc.solvers.network.weights`). Empty where none was trained; then h = 0.
    log_scale : float
        log c, which sets this member's free scale.
    """

    features: AttributeFeatures
    coefficients: FloatArray
    layers: tuple[FloatArray, ...] = ()
    log_scale: float = 0.0

    @property
    def n_attributes(self) -> int:
        """D."""
        return self.features.n_attributes

    def logit(self, z: Tensor) -> Tensor:
        """β₀ + Σ_j f_j(z_j) + h(z) of attributes (n, D); (n,) in double precision."""
        theta = torch.from_numpy(self.coefficients)
        layers = [torch.from_numpy(layer) for layer in self.layers]
        logit = torch.empty(len(z), dtype=torch.float64)
        for i in range(0, len(z), _ROWS):
            few = z[i : i + _ROWS].double()
            logit[i : i + _ROWS] = self.features.weighted(few, theta)
            if layers:
                inputs = standardised(self.features, few)
                monotone = bool(self.features.rising.any())
                logit[i : i + _ROWS] += network_output(layers, inputs, monotone=monotone)
        return logit

    def probability(self, z: Tensor) -> Tensor:
        """g of attributes (n, D), at least 1e-12; (n,) in double precision."""
        p = torch.sigmoid(self.logit(z))
        return (p * float(np.exp(self.log_scale))).clamp_min(1e-12)


def standardised(features: AttributeFeatures, z: Tensor) -> Tensor:
    """Attributes (n, D) as a network sees them: standardised over Ξ, at most 4 from 0."""
    middle = torch.as_tensor(features.middle, dtype=z.dtype, device=z.device)
    spread = torch.as_tensor(features.spread, dtype=z.dtype, device=z.device)
    return ((features.without_tail(z) - middle) / spread).clamp(-_FARTHEST, _FARTHEST)


def network_output(layers: Sequence[Tensor], x: Tensor, *, monotone: bool = False) -> Tensor:
    """h of standardised attributes (n, D), with `layers` as :class:`JointDetection` has them."""
    *hidden, output = layers
    unit = torch.tanh if monotone else nn.functional.silu
    for weight, bias in zip(hidden[::2], hidden[1::2], strict=True):
        x = unit(torch.addmm(bias, x, weight))
    return x @ output


def varying_layers(g: JointDetection, n_entries: int) -> slice:
    """Which layers of the network, as `g` has them, have weights that vary."""
    work = sum(layer.size for layer in g.layers) ** 2 * n_entries
    return slice(None) if work <= _MOST_WORK else slice(-1, None)


def layers_drawn(g: JointDetection, n_drawn: int) -> slice:
    """Which they are where so many coefficients and weights have been drawn."""
    n_all = len(g.coefficients) + sum(layer.size for layer in g.layers)
    return slice(None) if n_drawn == n_all else slice(-1, None)


def logit_slopes(g: JointDetection, attributes: FloatArray, varying: slice) -> FloatArray:
    """Derivatives of the logit at attributes (n, D) by its coefficients and its varying weights.

    Returns
    -------
    ndarray, shape (n, Q)
    """
    z = torch.tensor(attributes, dtype=torch.float64)
    columns = [g.features(z).numpy()]
    if g.layers:
        columns += network_slopes(g, attributes, varying)
    return np.concatenate(columns, axis=1)


def network_slopes(g: JointDetection, attributes: FloatArray, varying: slice) -> list[FloatArray]:
    """Derivatives of the network's output by its varying weights, layer by layer; (n, weights)."""
    x = standardised(g.features, torch.tensor(attributes)).numpy()
    inputs, bends = [x], []
    for weight, bias in zip(g.layers[:-1:2], g.layers[1::2], strict=True):
        linear = inputs[-1] @ weight + bias
        if g.features.rising.any():
            inputs.append(np.tanh(linear))
            bends.append(1 - inputs[-1] ** 2)
            continue
        gate = 1 / (1 + np.exp(-linear))
        inputs.append(linear * gate)
        bends.append(gate * (1 + linear * (1 - gate)))  # of SiLU
    slopes = [inputs[-1]]
    if varying != slice(None):
        return slopes
    back = np.broadcast_to(g.layers[-1], inputs[-1].shape)
    for weight, x_in, bend in zip(g.layers[-3::-2], inputs[-2::-1], bends[::-1], strict=True):
        back = back * bend
        by_weight = (x_in[:, :, None] * back[:, None, :]).reshape(len(x), weight.size)
        slopes[:0] = [by_weight, back]
        back = back @ weight.T
    return slopes
