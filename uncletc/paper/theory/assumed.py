"""The quantities in the theorem's assumptions, and where each value came from."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import cdist

from uncletc.common.validation import FloatArray, check_finite
from uncletc.data.counts import CountTensor
from uncletc.data.simulate import Truth
from uncletc.paper.theory.network import Layers
from uncletc.result.fit_result import Fit

Origin = Literal["given", "from the truth", "from the fit", "from the layers"]
_PAIRED = 2_000  # entries compared in pairs
_ROWS = 500


@dataclass(frozen=True)
class Assumed:
    """A quantity of the theorem's assumptions.

    Attributes
    ----------
    name, symbol : str
        The argument of :func:`uncletc.paper.theory.recoverability`, and the paper's symbol.
    value : float
    origin : {"given", "from the truth", "from the fit", "from the layers"}
    how : str
        How the value was obtained, in words.
    """

    name: str
    symbol: str
    value: float
    origin: Origin
    how: str


def largest_slope(
    attributes: ArrayLike, values: ArrayLike, *, n_paired: int = _PAIRED, seed: int = 0
) -> float:
    """The largest |p_i - p_j| / ‖z_i - z_j‖ between entries: a lower bound of g's L.

    Parameters
    ----------
    attributes : array_like of float, shape (S, D)
        z.
    values : array_like of float, shape (S,)
        p of the same entries. Entries with the same attributes are not compared.
    n_paired : int
        Number of entries to compare, drawn at random if there are more.
    seed : int
        Seed of the draw.

    Returns
    -------
    float
        0 where no two entries differ in their attributes.
    """
    z, p = check_finite(attributes, "attributes", 2), check_finite(values, "values", 1)
    if len(z) != len(p):
        raise ValueError(f"attributes and values must have as many rows, got {len(z)} and {len(p)}")
    if len(z) > n_paired:
        drawn = np.random.default_rng(seed).choice(len(z), n_paired, replace=False)
        z, p = z[drawn], p[drawn]
    steepest = 0.0
    for start in range(0, len(z), _ROWS):
        part = slice(start, start + _ROWS)
        distances = cdist(z[part], z)
        rises = np.abs(p[part, None] - p)
        apart = distances > 0
        if apart.any():
            steepest = max(steepest, float((rises[apart] / distances[apart]).max()))
    return steepest


@dataclass(frozen=True, kw_only=True)
class Given:
    """What the caller states; None: take it from the truth or the fit.

    Parameters
    ----------
    p_min, p_max : float, optional
        In [0, 1]. None: smallest and largest p, of the truth over all entries or of the fit over Ξ.
    factor_min, factor_max : float, optional
        β_u and α_u. None: the K-th roots of the smallest and largest λ/F (of the truth over all
        entries, of the fit over Ω), because only these products enter the theorem and factors
        may be balanced.
    slope_truth, slope_network : float, optional
        L_g and L_θ. None: the :func:`largest_slope` of the truth's or the fit's p over Ξ, a lower
        bound; of layers without a fit the product of their norms, an upper bound.
    approximation : float
        ν ≥ 0, the error with which the class of networks approximates the true g. It cannot be
        estimated from data; 0 assumes that the error can be made arbitrarily small.
    delta : float
        δ in (0, 0.2): the bounds hold with probability slightly below 1 - 5δ.
    """

    p_min: float | None = None
    p_max: float | None = None
    factor_max: float | None = None
    factor_min: float | None = None
    slope_truth: float | None = None
    slope_network: float | None = None
    approximation: float = 0.0
    delta: float = 0.05


def assume(
    counts: CountTensor,
    rank: int,
    layers: Layers,
    given: Given,
    truth: Truth | None,
    fit: Fit | None,
) -> dict[str, Assumed]:
    """Find every quantity in the assumptions: as given, else of the truth, else of the fit."""
    of_fit = None if fit is None else _of_fit(counts, fit)
    first = of_fit if truth is None else _of_truth(counts, truth)
    assumed: dict[str, Assumed] = {}

    def add(
        name: str, symbol: str, source: _Source | None, take: Callable[[_Source], float], how: str
    ) -> None:
        stated = getattr(given, name)
        if stated is not None:
            assumed[name] = Assumed(name, symbol, _check(name, stated), "given", "as stated")
        elif source is None:
            raise ValueError(f"{name} must be given if neither a truth nor a fit determines it")
        else:
            assumed[name] = Assumed(name, symbol, take(source), source.origin, how)

    def balanced(rate: float) -> float:
        return float((rate / rank) ** (1 / len(counts.shape)))

    def slope(source: _Source) -> float:
        return largest_slope(counts.attributes, source.detection_attributed)

    smallest = "the K-th root of the smallest λ/F, as if factors were balanced"
    largest = "the K-th root of the largest λ/F, as if factors were balanced"
    steepest = "the largest slope between two entries of Ξ: a lower bound"
    add("p_min", "p_min", first, lambda s: float(np.nanmin(s.detection)), "the smallest p")
    add("p_max", "p_max", first, lambda s: float(np.nanmax(s.detection)), "the largest p")
    add("factor_min", "β_u", first, lambda s: balanced(s.rate.min()), smallest)
    add("factor_max", "α_u", first, lambda s: balanced(s.rate.max()), largest)
    add("slope_truth", "L_g", first, slope, steepest)
    if of_fit is None and given.slope_network is None:
        how = "the product of the layers' norms and slopes: an upper bound"
        assumed["slope_network"] = Assumed(
            "slope_network", "L_θ", layers.steepest, "from the layers", how
        )
    else:
        add("slope_network", "L_θ", of_fit, slope, steepest)
    for name, symbol in (("approximation", "ν"), ("delta", "δ")):
        value = _check(name, getattr(given, name))
        assumed[name] = Assumed(name, symbol, value, "given", "as stated")
    _check_order(assumed)
    return assumed


@dataclass(frozen=True, eq=False, kw_only=True)
class _Source:
    origin: Origin
    rate: FloatArray
    detection: FloatArray
    detection_attributed: FloatArray  # over Ξ


def _of_truth(counts: CountTensor, truth: Truth) -> _Source:
    if truth.rate.shape != counts.shape:
        raise ValueError(
            f"truth must have the shape of counts {counts.shape}, got {truth.rate.shape}"
        )
    return _Source(
        origin="from the truth",
        rate=truth.rate,
        detection=truth.detection,
        detection_attributed=truth.detection[tuple(counts.attribute_indices.T)],
    )


def _of_fit(counts: CountTensor, fit: Fit) -> _Source:
    p = fit.detection(counts.attributes)
    return _Source(
        origin="from the fit",
        rate=fit.rate(counts.indices),
        detection=p,
        detection_attributed=p,
    )


def _check(name: str, value: float) -> float:
    low, high = (0.0, 1.0) if name in ("p_min", "p_max", "delta") else (0.0, math.inf)
    if not (math.isfinite(value) and low <= value <= high):
        raise ValueError(f"{name} must be from {low:g} to {high:g}, got {value}")
    return float(value)


def _check_order(assumed: dict[str, Assumed]) -> None:
    for low, high in (("p_min", "p_max"), ("factor_min", "factor_max")):
        least, most = assumed[low].value, assumed[high].value
        if least > most:
            raise ValueError(f"{low} must be at most {high} = {most:g}, got {least:g}")
    delta = assumed["delta"].value
    if not 0 < delta < 0.2:
        raise ValueError(
            f"delta must be in (0, 0.2), as the theorem holds with probability 1 - 5 δ, "
            f"got {delta:g}"
        )
