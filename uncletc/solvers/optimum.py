"""One member at its optimum: what the network stage and the intervals start from."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from uncletc.features import AttributeFeatures


@dataclass(frozen=True, eq=False)
class Optimum:
    """The state of one member; all values in double precision on the processor.

    Attributes
    ----------
    where : list of Tensor of int, shape (N,)
        Indices of the entries, per mode. Entries with attributes come first.
    counts, exposure : Tensor, shape (N,)
        Exposure over its geometric mean.
    attributes : Tensor, shape (A, D)
        z of the first A entries.
    features : AttributeFeatures, optional
        Of the curves; None when no entry has attributes. Then A = 0 and g = 1.
    factors : list of Tensor, shape (I_k, F)
        λ per unit of exposure is the sum of their products.
    coefficients : Tensor, shape (Q,)
        θ of the curves: the logit is ``features(z) @ coefficients``, plus that of `layers`.
    precisions, centre : Tensor, shape (Q,)
        Of the normal prior of θ.
    layers : tuple of Tensor
        Of the trained network, as :class:`uncletc.detection.JointDetection` has them; () without.
    unattributed : float
        p of entries without attributes.
    mu : Tensor, shape (N,)
        μ of each entry: lower where p is unknown.
    dispersion : float
        φ ≥ 1, by which the log-likelihood is divided.
    prior_shape : float
        c: the gamma prior of each element of a factor is worth c·φ counts.
    """

    where: list[Tensor]
    counts: Tensor
    exposure: Tensor
    attributes: Tensor
    features: AttributeFeatures | None
    factors: list[Tensor]
    coefficients: Tensor
    precisions: Tensor
    centre: Tensor
    layers: tuple[Tensor, ...]
    unattributed: float
    mu: Tensor
    dispersion: float
    prior_shape: float
