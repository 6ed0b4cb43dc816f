"""Derivatives of the logit of g by everything that was learnt about it, for intervals."""

from __future__ import annotations

import numpy as np
import torch

from uncletc.common.validation import FloatArray
from uncletc.model.detection import JointDetection, standardised

# All weights of a network may vary where their number squared, times that of entries, is at most
# this, which is a second's work; else only those of its output.
_MOST_WORK = 1_500**2 * 10_000


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
