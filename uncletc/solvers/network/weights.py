"""The weights of a network: starts, the scale on which they are about standard normal, bounds.

A network of attributes of which some have a sign is monotone in these: the inputs are turned over
where the sign is negative, their weights and all weights further on are at least 0, and units are
tanh. Such networks with few layers reach every function that is monotone in some of its arguments
(Sill, NeurIPS 1997; Daniels and Velikova, IEEE Transactions on Neural Networks 2010). Inputs
without a sign have free weights into the first layer, so that nothing restrains g in them.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor

from uncletc.common.validation import FloatArray
from uncletc.model.features import AttributeFeatures
from uncletc.solvers.joint.optimum import Optimum

# Precisions of raw weights and biases about 0: larger ones smooth g. Between 3 and 30 errors
# differ by less than between seeds.
WEIGHT_PRECISION, _BIAS_PRECISION = 10.0, 1.0
_GAIN = 1.7  # of silu, so that units keep unit variance through the layers
_START_BIAS = 0.5  # standard deviation of the first biases; 1.5 starts worse


def with_network(optimum: Optimum, hidden: Sequence[int], generator: torch.Generator) -> Optimum:
    """Add a network with random units that does not act yet."""
    assert optimum.features is not None
    n_in = optimum.attributes.shape[1]
    raw: list[Tensor] = []
    for units in hidden:
        raw.append(torch.randn(n_in, units, generator=generator).double())
        raw.append(_START_BIAS * torch.randn(units, generator=generator).double())
        n_in = units
    raw.append(torch.zeros(n_in, dtype=torch.float64))
    least = least_weights(optimum.features, raw)
    raw = [torch.where(low == 0, w.abs(), w) for w, low in zip(raw, least, strict=True)]
    return replace(optimum, layers=tuple(layers_of(raw)))


def least_weights(features: AttributeFeatures, layers: Sequence[Tensor]) -> list[Tensor]:
    """Lower bounds of all weights, 0 or minus infinity, in the shapes of the layers."""
    rising = torch.from_numpy(features.rising)
    least = [torch.full(layer.shape, -torch.inf) for layer in layers]
    if layers and bool(rising.any()):
        least[0][rising] = 0.0
        for low in least[2::2]:
            low[:] = 0.0
    return least


def layer_precisions(layers: Sequence[FloatArray]) -> list[float]:
    """Precision of the normal prior of the weights of each layer, on the scale of `layers`."""
    pairs = zip(raw_precisions(layers), _fans(layers), strict=True)
    return [raw / fan**2 for raw, fan in pairs]


def raw_precisions(layers: Sequence[Tensor | FloatArray]) -> list[float]:
    """The same on the scale of raw weights."""
    return [_BIAS_PRECISION if i % 2 else WEIGHT_PRECISION for i in range(len(layers))]


def layers_of(raw: Sequence[Tensor]) -> list[Tensor]:
    """Weights and biases of layers whose raw weights are about standard normal."""
    return [w * fan for w, fan in zip(raw, _fans(raw), strict=True)]


def raw_of(layers: Sequence[Tensor]) -> list[Tensor]:
    """Raw weights of layers."""
    return [w / fan for w, fan in zip(layers, _fans(layers), strict=True)]


def _fans(layers: Sequence[Tensor | FloatArray]) -> list[float]:
    """What raw weights are multiplied by: the gain of the units below over the root of fan in.

    1 for biases.
    """
    gains = [1.0] + [_GAIN] * len(layers)
    return [1.0 if i % 2 else gains[i] / math.sqrt(len(w)) for i, w in enumerate(layers)]
