"""The detection network in the theorem's terms: layers, their norms, their complexity."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch
from numpy.typing import ArrayLike
from scipy.linalg import block_diag

from uncletc.common.validation import FloatArray, check_finite
from uncletc.model.detection import DetectionNetwork, JointDetection, standardised
from uncletc.result.fit_result import Fit

# Largest slopes of activations; that of ReLU and of the identity is 1.
SIGMOID = 0.25
SILU = 1.1


@dataclass(frozen=True, eq=False, kw_only=True)
class Layers:
    """Norms of a network's L weight layers, without biases (paper, appendix, lemma 14).

    Attributes
    ----------
    widths : tuple of int
        d_0, …, d_L: the inputs, the units of each hidden layer, 1.
    spectral : ndarray, shape (L,)
        s_ℓ ≥ 0, the largest singular value of each layer's weights.
    frobenius : ndarray, shape (L,)
        a_ℓ, the root of the sum of the squared weights of each layer.
    lipschitz : ndarray, shape (L,)
        ρ_ℓ, the largest slope of each layer's activation: 1 for ReLU, 1/4 for the sigmoid, 1.1
        for SiLU.
    source : str
        Where the norms came from, in words.
    input_norm : float, optional
        The Frobenius norm of the first layer's inputs over Ξ; None: of the attributes, ‖Z‖_F.
    """

    widths: tuple[int, ...]
    spectral: FloatArray
    frobenius: FloatArray
    lipschitz: FloatArray
    source: str
    input_norm: float | None = None

    @classmethod
    def of_weights(
        cls, weights: Sequence[ArrayLike], *, sigmoid: bool = True, source: str = "given weights"
    ) -> Layers:
        """Take the norms of weight matrices.

        Parameters
        ----------
        weights : sequence of array_like, shapes (d_ℓ, d_{ℓ-1})
            Of each layer in turn, the last with one row; hidden units are assumed to be ReLU.
        sigmoid : bool
            Whether a sigmoid follows the last layer; otherwise g is its output.
        source : str
        """
        matrices = [check_finite(w, f"weights[{i}]", 2) for i, w in enumerate(weights)]
        if not matrices:
            raise ValueError("weights must hold at least 1 layer, got none")
        for i, (first, second) in enumerate(pairwise(matrices)):
            if second.shape[1] != len(first):
                raise ValueError(
                    f"weights[{i + 1}] must have {len(first)} columns, one per unit of the "
                    f"previous layer, got {second.shape[1]}"
                )
        if len(matrices[-1]) != 1:
            raise ValueError(f"the last weights must have 1 row, got {len(matrices[-1])}")
        return cls(
            widths=(matrices[0].shape[1], *(len(w) for w in matrices)),
            spectral=np.array([_spectral(w) for w in matrices]),
            frobenius=np.array([np.linalg.norm(w) for w in matrices]),
            lipschitz=np.array([1.0] * (len(matrices) - 1) + [SIGMOID if sigmoid else 1.0]),
            source=source,
        )

    @classmethod
    def of_bounds(
        cls,
        n_attributes: int,
        hidden: Sequence[int],
        *,
        spectral: float | Sequence[float] = 1.0,
        frobenius: float | Sequence[float] | None = None,
    ) -> Layers:
        """Take an architecture and bounds on the norms of its layers, without any weights.

        Parameters
        ----------
        n_attributes : int
            D ≥ 1.
        hidden : sequence of int
            Units of each hidden layer; () for the linear g.
        spectral, frobenius : float or sequence of L floats
            s_ℓ and a_ℓ ≥ s_ℓ. Without `frobenius` each a_ℓ is the largest possible,
            s_ℓ·√min(d_ℓ, d_{ℓ-1}).
        """
        widths = (int(n_attributes), *(int(units) for units in hidden), 1)
        if min(widths) < 1:
            raise ValueError(f"n_attributes and hidden must be at least 1, got {widths[:-1]}")
        n_layers = len(widths) - 1
        s = _per_layer(spectral, n_layers, "spectral")
        most = s * np.sqrt([min(pair) for pair in pairwise(widths)])
        a = most if frobenius is None else _per_layer(frobenius, n_layers, "frobenius")
        for i in np.flatnonzero((a < s) | (a > most * (1 + 1e-9))):
            raise ValueError(
                f"frobenius must be from {s[i]:g} to {most[i]:g} in layer {i + 1}, given its "
                f"spectral norm and its size, got {a[i]:g}"
            )
        return cls(
            widths=widths,
            spectral=s,
            frobenius=a,
            lipschitz=np.array([1.0] * (n_layers - 1) + [SIGMOID if hidden else 1.0]),
            source="given bounds on the norms of an architecture",
        )

    @classmethod
    def of_fit(cls, fit: Fit, attributes: ArrayLike, *, member: int = 0) -> Layers:
        """Take the network of a fit.

        Parameters
        ----------
        fit : Fit
        attributes : array_like of float, shape (S, D)
            z over Ξ.
        member : int
            Which of the fit's members; the theorem is about one network.

        Notes
        -----
        Block coordinate descent trains all layers, as the theorem assumes. The joint solver fixes
        the features of its curves before it sees a count, and learns only the weights of their
        sum: for the theorem this is a network of one layer whose inputs are the features instead
        of the attributes. Its complexity covers only what is learnt, and cannot be compared with
        that of a network of many layers. Where it kept a trained network, all of whose layers are
        learnt, the sum of the curves is one unit more in each hidden layer, passed on as it is;
        inputs are then the standardised attributes and the features.

        Raises
        ------
        ValueError
            If the fit has no network.
        """
        if not 0 <= member < len(fit.members):
            raise ValueError(f"member must be from 0 to {len(fit.members) - 1}, got {member}")
        z = check_finite(attributes, "attributes", 2)
        network = fit.members[member].network
        if network is None:
            raise ValueError("fit must have a detection network, but its counts had no attributes")
        if z.shape[1] != network.n_attributes:
            raise ValueError(
                f"attributes must have {network.n_attributes} columns, as in the fit, "
                f"got {z.shape[1]}"
            )
        if isinstance(network, JointDetection):
            return cls._of_features(network, z)
        assert isinstance(network, DetectionNetwork)
        return cls.of_weights(
            network.weights()[::2],
            sigmoid=not network.linear,
            source="the fitted network, all of whose layers were trained",
        )

    @classmethod
    def _of_features(cls, network: JointDetection, z: FloatArray) -> Layers:
        attributes = torch.from_numpy(np.array(z))
        inputs = [network.features(attributes)[:, 1:]]  # without the constant
        curves = network.coefficients[None, 1:]
        matrices = [curves]
        source = "the fitted weights of one layer over features that were fixed in advance"
        if network.layers:
            inputs.append(standardised(network.features, attributes))
            *hidden, output = network.layers
            first, *deeper = [weight.T for weight in hidden[::2]]
            one = np.ones((1, 1))
            matrices = [block_diag(curves, first)]
            matrices += [block_diag(one, weight) for weight in deeper]
            matrices.append(np.concatenate([one, output[None]], axis=1))
            source = "a trained network, and the fitted weights of curves beside it"
        return cls(
            widths=(matrices[0].shape[1], *(len(w) for w in matrices)),
            spectral=np.array([_spectral(w) for w in matrices]),
            frobenius=np.array([np.linalg.norm(w) for w in matrices]),
            lipschitz=np.array(
                [SILU] * (len(matrices) - 1) + [SIGMOID * float(np.exp(network.log_scale))]
            ),
            source=source,
            input_norm=float(np.linalg.norm(torch.cat(inputs, dim=1).numpy())),
        )

    @property
    def steepest(self) -> float:
        """∏ρ_ℓ·s_ℓ, an upper bound on the slope of g in the inputs of the first layer."""
        return float(np.prod(self.lipschitz * self.spectral))

    @property
    def complexity(self) -> float:
        """R_G, the sensitive complexity of all networks with such norms (paper, appendix).

        R_G = 2 ∏ρ_ℓ s_ℓ · Σ (d_ℓ² d_{ℓ-1}² a_ℓ / s_ℓ) · L², after Lin and Zhang (2019). It assumes
        activations with σ(0) = 0, which holds for the sigmoid only up to a constant.
        """
        n_layers = len(self.spectral)
        slopes = self.lipschitz * self.spectral
        total = 0.0
        for i, (below, units) in enumerate(pairwise(self.widths)):
            others = float(np.prod(np.delete(slopes, i)))  # no division: a layer may be all zero
            total += units**2 * below**2 * self.frobenius[i] * self.lipschitz[i] * others
        return 2.0 * float(total) * n_layers**2


def _spectral(matrix: FloatArray) -> float:
    return float(np.linalg.norm(matrix, 2)) if matrix.size else 0.0


def _per_layer(values: float | Sequence[float], n_layers: int, name: str) -> FloatArray:
    array = np.asarray(values, dtype=np.float64)
    if array.ndim == 0:
        array = np.full(n_layers, float(array))
    if array.shape != (n_layers,):
        raise ValueError(f"{name} must hold 1 value or {n_layers}, one per layer, got {values!r}")
    if not (np.isfinite(array).all() and (array >= 0).all()):
        raise ValueError(f"{name} must be at least 0 and finite, got {values!r}")
    return array
