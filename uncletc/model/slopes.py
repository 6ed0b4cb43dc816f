"""Derivatives of the logit of g by everything that was learnt about it, for intervals."""

from __future__ import annotations

import numpy as np
import torch

from uncletc.common.validation import FloatArray
from uncletc.model.detection import JointDetection, standardised

# Weights of a network up to which all of them may vary; of a larger one only those of its output.
# Work grows with the square of their number: 1,500 take a second with 10,000 entries.
_MOST_WEIGHTS = 1_500


def varying_layers(g: JointDetection) -> slice:
    """Which layers of the network, as `g` has them, have weights that vary."""
    all_of_them = sum(layer.size for layer in g.layers) <= _MOST_WEIGHTS
    return slice(None) if all_of_them else slice(-1, None)


def logit_slopes(g: JointDetection, attributes: FloatArray) -> FloatArray:
    """Derivatives of the logit at attributes (n, D) by its coefficients and its varying weights.

    Returns
    -------
    ndarray, shape (n, Q)
    """
    z = torch.tensor(attributes, dtype=torch.float64)
    columns = [g.features(z).numpy()]
    if g.layers:
        columns += _network_slopes(g, standardised(g.features, z).numpy())
    return np.concatenate(columns, axis=1)


def _network_slopes(g: JointDetection, x: FloatArray) -> list[FloatArray]:
    """Derivatives of the network's output by its varying weights, layer by layer; (n, weights)."""
    inputs, bends = [x], []
    for weight, bias in zip(g.layers[:-1:2], g.layers[1::2], strict=True):
        linear = inputs[-1] @ weight + bias
        gate = 1 / (1 + np.exp(-linear))
        inputs.append(linear * gate)
        bends.append(gate * (1 + linear * (1 - gate)))  # of SiLU
    slopes = [inputs[-1]]
    if varying_layers(g) != slice(None):
        return slopes
    back = np.broadcast_to(g.layers[-1], inputs[-1].shape)
    for weight, x_in, bend in zip(g.layers[-3::-2], inputs[-2::-1], bends[::-1], strict=True):
        back = back * bend
        by_weight = (x_in[:, :, None] * back[:, None, :]).reshape(len(x), weight.size)
        slopes[:0] = [by_weight, back]
        back = back @ weight.T
    return slopes
