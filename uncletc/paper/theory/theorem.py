"""The report on the recoverability theorem for a given problem."""

from __future__ import annotations

import math

import numpy as np

from uncletc.data.counts import CountTensor
from uncletc.data.entries import flat_index
from uncletc.data.simulate import Truth
from uncletc.paper.theory.assumed import Given, assume
from uncletc.paper.theory.network import Layers
from uncletc.paper.theory.report import Recoverability, summands
from uncletc.paper.theory.similar import SimilarEntries, similar_entries
from uncletc.result.fit_result import Fit


def recoverability(
    counts: CountTensor,
    network: Fit | Layers,
    *,
    rank: int | None = None,
    truth: Truth | None = None,
    zeta: float | None = None,
    n_similar: int | None = None,
    similar: SimilarEntries | None = None,
    **given: float,
) -> Recoverability:
    """Compute the theorem's quantities, without its constants.

    Parameters
    ----------
    counts : CountTensor
        With attributes of at least one entry; they are not standardised.
    network : Fit or Layers
        A fit (its first member), or the layers of a network.
    rank : int, optional
        F. None: the fit's.
    truth : Truth, optional
        The truth behind simulated counts. If given, p, λ and L_g are the truth's; otherwise they
        are the fit's, on the fit's own scale.
    zeta : float, optional
        ζ ≥ 0. None: the minimiser of ζ²(L_g + L_θ)² + √(log(1/δ)/|Θ|) or, if `n_similar` is
        given, the smallest ζ at which that many entries were found.
    n_similar : int, optional
        The size of Θ, ≥ 1. None: the number of entries found within `zeta`.
    similar : SimilarEntries, optional
        Of these attributes, if already computed. None: :func:`similar_entries`.
    **given : float
        Quantities to state rather than take from the truth or the fit: fields of :class:`Given`.

    Returns
    -------
    Recoverability

    Raises
    ------
    ValueError
        If there are no attributes or observed entries, or a quantity is neither given nor
        determined by a truth or a fit.

    Notes
    -----
    Terms are as printed in the theorem. Its proof differs in two places: there the complexity and
    the size of the tensor enter η² under a square root, and the last term of ϱ₂ falls with
    S^(5/8), not S^(1/2). ‖Z‖_F grows with √S: if more attributes come with more counts, the
    printed term of the network does not fall.

    Examples
    --------
    >>> from uncletc import simulate
    >>> y, truth = simulate((8, 8, 8), observed=0.3)
    >>> report = recoverability(y, Layers.of_bounds(10, (20, 20)), rank=3, truth=truth)
    >>> report.n_observed, report.assumed["p_max"].origin
    (154, 'from the truth')
    """
    if not (counts.n_attributed and counts.n_attributes and counts.n_observed):
        raise ValueError(
            "counts must hold at least 1 observed entry and attributes of at least 1 entry, got "
            f"{counts.n_observed} and {counts.n_attributed if counts.n_attributes else 0}"
        )
    fit = network if isinstance(network, Fit) else None
    layers = network if isinstance(network, Layers) else Layers.of_fit(network, counts.attributes)
    if layers.input_norm is None and layers.widths[0] != counts.n_attributes:
        raise ValueError(
            f"network must take the {counts.n_attributes} attributes of counts, "
            f"its first layer takes {layers.widths[0]}"
        )
    if rank is None:
        if fit is None:
            raise ValueError("rank must be given if network is not a fit")
        rank = fit.rank
    if rank < 1:
        raise ValueError(f"rank must be at least 1, got {rank}")
    stated = Given(**given)
    assumed = assume(counts, rank, layers, stated, truth, fit)
    values = {name: quantity.value for name, quantity in assumed.items()}
    slope = values["slope_truth"] + values["slope_network"]
    if similar is None and (zeta is None or n_similar is None):
        similar = similar_entries(counts.attributes, None if zeta is None else [zeta])
    zeta, n_similar = _choose(zeta, n_similar, similar, slope, stated.delta)
    attribute_norm = float(np.linalg.norm(counts.attributes))
    input_norm = attribute_norm if layers.input_norm is None else layers.input_norm
    return Recoverability(
        shape=counts.shape,
        n_observed=counts.n_observed,
        n_attributed=counts.n_attributed,
        rank=rank,
        attribute_norm=attribute_norm,
        input_norm=input_norm,
        layers=layers,
        zeta=zeta,
        n_similar=n_similar,
        similar=similar,
        assumed=assumed,
        terms=summands(counts, rank, values, input_norm * layers.complexity, zeta, n_similar),
        caveats=_caveats(counts, fit, truth, layers, similar),
    )


def _choose(
    zeta: float | None,
    n_similar: int | None,
    similar: SimilarEntries | None,
    slope: float,
    delta: float,
) -> tuple[float, int]:
    if zeta is not None and not (math.isfinite(zeta) and zeta >= 0):
        raise ValueError(f"zeta must be at least 0 and finite, got {zeta}")
    if n_similar is not None and n_similar < 1:
        raise ValueError(f"n_similar must be at least 1, got {n_similar}")
    if zeta is not None and n_similar is not None:
        return float(zeta), int(n_similar)
    assert similar is not None
    if zeta is not None:
        below = np.flatnonzero(similar.zetas <= zeta)
        return float(zeta), int(similar.sizes[below[-1]]) if len(below) else 1
    if n_similar is not None:
        enough = np.flatnonzero(similar.sizes >= n_similar)
        if not len(enough):
            raise ValueError(
                f"n_similar must be at most {similar.sizes[-1]}, the most entries found within "
                f"ζ = {similar.zetas[-1]:g}, got {n_similar}"
            )
        return float(similar.zetas[enough[0]]), int(n_similar)
    best = similar.best(slope, delta)
    return best.zeta, best.size


def _caveats(
    counts: CountTensor,
    fit: Fit | None,
    truth: Truth | None,
    layers: Layers,
    similar: SimilarEntries | None,
) -> tuple[str, ...]:
    attributed = flat_index(counts.attribute_indices, counts.shape)
    missing = ~np.isin(flat_index(counts.indices, counts.shape), attributed)
    caveats = [
        (
            bool(missing.any()),
            f"{missing.sum():,} observed entries have no attributes; the theorem requires "
            "attributes of all observed entries.",
        ),
        (
            similar is not None,
            "Θ was chosen where attributes are dense; the theorem assumes a random set of entries.",
        ),
        (
            truth is None and fit is not None,
            "p, λ and the slopes are the fit's, on its own scale of λ and p.",
        ),
        (
            layers.input_norm is not None,
            "Curves are treated as trained weights of features fixed in advance; the norm of these "
            "and of any other inputs of the network replaces that of the attributes.",
        ),
        (
            fit is not None and len(fit.members) > 1,
            "The layers are those of the fit's first member.",
        ),
        (
            counts.exposure is not None,
            "λ includes exposure, which the theorem does not cover.",
        ),
    ]
    return tuple(sentence for applies, sentence in caveats if applies)
