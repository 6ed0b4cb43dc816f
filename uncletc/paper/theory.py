"""The quantities of the recoverability theorem for a given problem (paper, theorem 3.1).

The theorem bounds the squared errors of λ and p by terms whose constants it does not give.
Everything named "without constants" here leaves them out: such numbers can be compared between
problems (does η fall when more is counted? which term is largest?), but they are not error bars,
and errors need not be close to them.

Which one, when: :func:`recoverability` makes the whole report; :class:`Layers` measures a network;
:func:`similar_entries` counts entries with similar attributes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, NamedTuple

import numpy as np
import torch
from numpy.typing import ArrayLike
from scipy.linalg import block_diag
from scipy.spatial.distance import cdist

from uncletc.common.validation import FloatArray, IntArray, check_finite
from uncletc.data.counts import CountTensor
from uncletc.data.entries import flat_index
from uncletc.data.simulate import Truth
from uncletc.model.detection import DetectionNetwork, JointDetection, standardised
from uncletc.result.fit_result import Fit

__all__ = [
    "Assumed",
    "Choice",
    "Layers",
    "Recoverability",
    "SimilarEntries",
    "Term",
    "largest_slope",
    "recoverability",
    "similar_entries",
]

Origin = Literal["given", "from the truth", "from the fit", "from the layers"]
Part = Literal["η²", "ϱ₁", "ϱ₂"]
# Largest slopes of activations; that of ReLU and of the identity is 1.
SIGMOID, SILU = 0.25, 1.1
_N_ZETAS = 40
_PAIRS = 2**21  # distances held at once
_MOVES = 5  # of a ball towards the mean of the entries around it
_TRIED = 500  # entries tried as centres of balls
_PAIRED = 2_000  # entries compared in pairs
_SYMBOLS = {
    "p_min": "p_min",
    "p_max": "p_max",
    "factor_min": "β_u",
    "factor_max": "α_u",
    "slope_truth": "L_g",
    "slope_network": "L_θ",
    "approximation": "ν",
    "delta": "δ",
}


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
    input_norm : float, optional
        The Frobenius norm of the first layer's inputs over Ξ; None: of the attributes, ‖Z‖_F.
    """

    widths: tuple[int, ...]
    spectral: FloatArray
    frobenius: FloatArray
    lipschitz: FloatArray
    input_norm: float | None = None

    @classmethod
    def of_weights(cls, weights: Sequence[ArrayLike], *, sigmoid: bool = True) -> Layers:
        """Take the norms of weight matrices.

        Parameters
        ----------
        weights : sequence of array_like, shapes (d_ℓ, d_{ℓ-1})
            Of each layer in turn, the last with one row; hidden units are assumed to be ReLU.
        sigmoid : bool
            Whether a sigmoid follows the last layer; otherwise g is its output.
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
        slopes = [1.0] * (len(matrices) - 1) + [SIGMOID if sigmoid else 1.0]
        return cls._of_matrices(matrices, slopes)

    @classmethod
    def _of_matrices(
        cls,
        matrices: Sequence[FloatArray],
        slopes: Sequence[float],
        input_norm: float | None = None,
    ) -> Layers:
        return cls(
            widths=(matrices[0].shape[1], *(len(w) for w in matrices)),
            spectral=np.array([np.linalg.norm(w, 2) if w.size else 0.0 for w in matrices]),
            frobenius=np.array([np.linalg.norm(w) for w in matrices]),
            lipschitz=np.array(slopes),
            input_norm=input_norm,
        )

    @classmethod
    def of_bounds(
        cls, n_attributes: int, hidden: Sequence[int], *, spectral: float = 1.0
    ) -> Layers:
        """Take an architecture and a bound on the norm of its layers, without any weights.

        Parameters
        ----------
        n_attributes : int
            D ≥ 1.
        hidden : sequence of int
            Units of each hidden layer; () for the linear g.
        spectral : float
            s_ℓ ≥ 0 of every layer; each a_ℓ is the largest possible, s_ℓ·√min(d_ℓ, d_{ℓ-1}).
        """
        widths = (int(n_attributes), *(int(units) for units in hidden), 1)
        if min(widths) < 1:
            raise ValueError(f"n_attributes and hidden must be at least 1, got {widths[:-1]}")
        if not (math.isfinite(spectral) and spectral >= 0):
            raise ValueError(f"spectral must be at least 0 and finite, got {spectral!r}")
        norms = np.full(len(widths) - 1, float(spectral))
        return cls(
            widths=widths,
            spectral=norms,
            frobenius=norms * np.sqrt([min(pair) for pair in pairwise(widths)]),
            lipschitz=np.array([1.0] * len(hidden) + [SIGMOID if hidden else 1.0]),
        )

    @classmethod
    def of_fit(cls, fit: Fit, attributes: ArrayLike) -> Layers:
        """Take the network of a fit, that of its first member.

        Parameters
        ----------
        fit : Fit
        attributes : array_like of float, shape (S, D)
            z over Ξ.

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
        z = check_finite(attributes, "attributes", 2)
        network = fit.members[0].network
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
        return cls.of_weights(network.weights()[::2], sigmoid=not network.linear)

    @classmethod
    def _of_features(cls, network: JointDetection, z: FloatArray) -> Layers:
        attributes = torch.from_numpy(np.array(z))
        inputs = [network.features(attributes)[:, 1:]]  # without the constant
        curves = network.coefficients[None, 1:]
        matrices = [curves]
        if network.layers:
            inputs.append(standardised(network.features, attributes))
            *hidden, output = network.layers
            first, *deeper = [weight.T for weight in hidden[::2]]
            one = np.ones((1, 1))
            matrices = [block_diag(curves, first)]
            matrices += [block_diag(one, weight) for weight in deeper]
            matrices.append(np.concatenate([one, output[None]], axis=1))
        last = SIGMOID * float(np.exp(network.log_scale))
        norm = float(np.linalg.norm(torch.cat(inputs, dim=1).numpy()))
        return cls._of_matrices(matrices, [SILU] * (len(matrices) - 1) + [last], norm)

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


class Choice(NamedTuple):
    """A ζ, its |Θ|, and the trade-off ζ²(L_g + L_θ)² + √(log(1/δ)/|Θ|)."""

    zeta: float
    size: int
    value: float


@dataclass(frozen=True, eq=False, kw_only=True)
class SimilarEntries:
    """The curve ζ → |Θ| of some attributes.

    Attributes
    ----------
    zetas : ndarray, shape (Z,)
        ζ ≥ 0, ascending: the largest distance between any two of Θ, in the units of the attributes.
    sizes : ndarray of int, shape (Z,)
        A lower bound on the largest |Θ|: the number of entries in the fullest ball of radius ζ/2
        found. Any two entries in such a ball are within ζ.
    """

    zetas: FloatArray
    sizes: IntArray

    def best(self, slope: float, delta: float = 0.05) -> Choice:
        """Return the ζ of the curve that minimises the theorem's trade-off.

        Parameters
        ----------
        slope : float
            L_g + L_θ ≥ 0.
        delta : float
            δ in (0, 1).

        Returns
        -------
        Choice
            The smallest ζ if several do equally well.
        """
        values = (self.zetas * slope) ** 2 + np.sqrt(math.log(1 / delta) / self.sizes)
        i = int(values.argmin())
        return Choice(float(self.zetas[i]), int(self.sizes[i]), float(values[i]))


def similar_entries(attributes: ArrayLike, zetas: ArrayLike | None = None) -> SimilarEntries:
    """Estimate how many entries have attributes within ζ of each other, for several ζ.

    Parameters
    ----------
    attributes : array_like of float, shape (S, D)
        z over Ξ, S ≥ 1, unscaled: the theorem measures distances between attributes as they enter
        g. One attribute in large units dominates such distances; to avoid that, standardise the
        attributes of the :class:`uncletc.CountTensor` itself.
    zetas : array_like of float, shape (Z,), optional
        ζ ≥ 0, in any order. None: 0 and 40 values, evenly spaced in their logarithm, from the
        smallest distance found to the ζ that holds all entries.

    Notes
    -----
    Balls start at up to 500 entries, drawn at random, and move to where entries are dense. A Θ that
    holds 1 % of the entries has none of them drawn with probability .007.

    Examples
    --------
    >>> curve = similar_entries([[0.0], [0.1], [0.2], [5.0]], [0.1, 0.2, 10.0])
    >>> curve.sizes.tolist()
    [2, 3, 4]
    """
    z = check_finite(attributes, "attributes", 2)
    if len(z) == 0:
        raise ValueError("attributes must hold at least 1 entry, got none")
    tried = z
    if len(z) > _TRIED:
        tried = z[np.random.default_rng(0).choice(len(z), _TRIED, replace=False)]
    grid = _grid(z, tried) if zetas is None else np.unique(check_finite(zetas, "zetas", 1))
    if not len(grid) or grid[0] < 0:
        raise ValueError(f"zetas must hold values that are at least 0, got {zetas!r}")

    rows = _fullest(tried, z, grid / 2)
    sizes = np.zeros(len(grid), dtype=np.int64)
    best: FloatArray = tried[rows[0]]
    for i, zeta in enumerate(grid):
        balls = [(_count(z, c, zeta / 2), c) for c in (best, tried[rows[i]])]
        balls.append(_moved(z, max(balls, key=lambda ball: ball[0])[1], zeta))
        sizes[i], best = max(balls, key=lambda ball: ball[0])
    return SimilarEntries(zetas=grid, sizes=sizes)


def _fullest(tried: FloatArray, z: FloatArray, radii: FloatArray) -> IntArray:
    """Rows of the entries tried that are centres of the fullest balls, for each radius."""
    counts = np.zeros(len(radii), dtype=np.int64)
    rows = np.zeros(len(radii), dtype=np.int64)
    step = max(_PAIRS // len(z), 1)
    for start in range(0, len(tried), step):
        distances = cdist(tried[start : start + step], z)
        for i, radius in enumerate(radii):
            within = np.count_nonzero(distances <= radius, axis=1)
            fullest = int(within.argmax())
            if within[fullest] > counts[i]:
                counts[i], rows[i] = within[fullest], start + fullest
    return rows


def _moved(z: FloatArray, centre: FloatArray, zeta: float) -> tuple[int, FloatArray]:
    """Move a ball to the mean of the entries within ζ, as long as it gains entries."""
    size = _count(z, centre, zeta / 2)
    for _ in range(_MOVES):
        around = cdist(centre[None], z)[0] <= zeta
        moved = z[around].mean(axis=0) if around.any() else centre
        moved_size = _count(z, moved, zeta / 2)
        if moved_size <= size:
            break
        size, centre = moved_size, moved
    return size, centre


def _count(z: FloatArray, centre: FloatArray, radius: float) -> int:
    return int(np.count_nonzero(cdist(centre[None], z)[0] <= radius))


def _grid(z: FloatArray, tried: FloatArray) -> FloatArray:
    high = 2 * float(cdist(z.mean(axis=0, keepdims=True), z).max()) * (1 + 1e-9)
    if high == 0:
        return np.zeros(1)
    distances = cdist(tried, tried)
    positive = distances[distances > high * 1e-6]
    low = float(positive.min()) if positive.size else high
    return np.unique(np.append(0.0, np.geomspace(min(low, high), high, _N_ZETAS)))


@dataclass(frozen=True)
class Assumed:
    """A quantity of the theorem's assumptions.

    Attributes
    ----------
    name, symbol : str
        The argument of :func:`uncletc.paper.theory.recoverability`, and the paper's symbol.
    value : float
    origin : {"given", "from the truth", "from the fit", "from the layers"}
    """

    name: str
    symbol: str
    value: float
    origin: Origin


@dataclass(frozen=True)
class Term:
    """One summand of the theorem, without its constant.

    Attributes
    ----------
    part : {"η²", "ϱ₁", "ϱ₂"}
        The quantity that it is a summand of.
    name : str
        Its meaning, in words.
    formula : str
    value : float
        ≥ 0, without constants.
    """

    part: Part
    name: str
    formula: str
    value: float


@dataclass(frozen=True, eq=False, kw_only=True)
class Recoverability:
    """The theorem's quantities for one problem and one network.

    Attributes
    ----------
    shape : tuple of int
        I_k of each mode.
    n_observed, n_attributed : int
        T, the size of Ω, and S, that of Ξ.
    rank : int
        F.
    attribute_norm : float
        ‖Z‖_F of the attributes over Ξ.
    input_norm : float
        Norm of the first layer's inputs: ‖Z‖_F, or that of the features that replace them.
    layers : Layers
        With the complexity R_G.
    zeta : float
        ζ, the largest distance between attributes in Θ.
    n_similar : int
        The size of Θ.
    similar : SimilarEntries, optional
        The curve that ζ and the size of Θ were taken from; None where both were given.
    assumed : dict of str to Assumed
        p_min, p_max, α_u, β_u, L_g, L_θ, ν and δ by the names of the arguments.
    terms : tuple of Term
        All summands of η², ϱ₁ and ϱ₂.
    caveats : tuple of str
        Where this problem violates the assumptions or meets them only loosely, a sentence each.
    """

    shape: tuple[int, ...]
    n_observed: int
    n_attributed: int
    rank: int
    attribute_norm: float
    input_norm: float
    layers: Layers
    zeta: float
    n_similar: int
    similar: SimilarEntries | None
    assumed: dict[str, Assumed]
    terms: tuple[Term, ...]
    caveats: tuple[str, ...]

    @property
    def complexity(self) -> float:
        """R_G of the network."""
        return self.layers.complexity

    @property
    def alpha(self) -> float:
        """α = F α_u^K p_max, an upper bound on every expected count λ·p."""
        return self._product("factor_max") * self._value("p_max")

    @property
    def beta(self) -> float:
        """β = F β_u^K p_min, a lower bound on every expected count λ·p."""
        return self._product("factor_min") * self._value("p_min")

    @property
    def probability(self) -> float:
        """The probability with which the bounds hold at least, 1 - 5δ - 3 exp(-α(e² - 3)), or 0."""
        tail = 3 * math.exp(-self.alpha * (math.e**2 - 3))
        return max(0.0, 1 - 5 * self._value("delta") - tail)

    @property
    def eta_without_constants(self) -> float:
        """η = √(sum of its terms), for the error of λ·p. For comparison; not an error bar."""
        return math.sqrt(self._sum("η²"))

    @property
    def rho1_without_constants(self) -> float:
        """ϱ₁ = F α_u^K (η + ζ²(L_g + L_θ)² + √(log(1/δ)/|Θ|)). For comparison; not an error bar."""
        return self._sum("ϱ₁")

    @property
    def rho2_without_constants(self) -> float:
        """ϱ₂, the price of learning g from Ξ alone. For comparison; not an error bar."""
        return self._sum("ϱ₂")

    @property
    def rate_bound_without_constants(self) -> float:
        """ϱ₁ / p_min²: the mean squared error of λ is at most this times an unknown constant."""
        p_min = self._value("p_min")
        return self.rho1_without_constants / p_min**2 if p_min**2 > 0 else math.inf

    @property
    def detection_bound_without_constants(self) -> float:
        """ϱ₁ p_max / (β p_min²) + ϱ₂: the same for p, over new attributes."""
        if self.beta == 0:
            return math.inf
        shared = self.rate_bound_without_constants * self._value("p_max") / self.beta
        return shared + self.rho2_without_constants

    def largest(self, part: Part) -> Term:
        """Return the largest summand of η², ϱ₁ or ϱ₂."""
        return max((term for term in self.terms if term.part == part), key=lambda term: term.value)

    def _product(self, name: str) -> float:
        return self.rank * self._value(name) ** len(self.shape)

    def _value(self, name: str) -> float:
        return self.assumed[name].value

    def _sum(self, part: Part) -> float:
        return math.fsum(term.value for term in self.terms if term.part == part)


def largest_slope(attributes: ArrayLike, values: ArrayLike) -> float:
    """The largest |p_i - p_j| / ‖z_i - z_j‖ between entries: a lower bound of g's L.

    Parameters
    ----------
    attributes : array_like of float, shape (S, D)
        z.
    values : array_like of float, shape (S,)
        p of the same entries. Entries with the same attributes are not compared; of more than
        2,000 so many are, drawn at random.

    Returns
    -------
    float
        0 where no two entries differ in their attributes.
    """
    z, p = check_finite(attributes, "attributes", 2), check_finite(values, "values", 1)
    if len(z) != len(p):
        raise ValueError(f"attributes and values must have as many rows, got {len(z)} and {len(p)}")
    if len(z) > _PAIRED:
        drawn = np.random.default_rng(0).choice(len(z), _PAIRED, replace=False)
        z, p = z[drawn], p[drawn]
    steepest = 0.0
    for start in range(0, len(z), 500):
        part = slice(start, start + 500)
        distances = cdist(z[part], z)
        rises = np.abs(p[part, None] - p)
        differ = distances > 0
        if differ.any():
            steepest = max(steepest, float((rises[differ] / distances[differ]).max()))
    return steepest


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
        Quantities to state rather than take from the truth or the fit: p_min and p_max in [0, 1];
        factor_min and factor_max, β_u and α_u, else the K-th roots of the smallest and largest λ/F,
        as if factors were balanced; slope_truth and slope_network, L_g and L_θ, else the
        :func:`largest_slope` over Ξ, a lower bound, or of layers without a fit the product of their
        norms; approximation, ν ≥ 0, by default 0; delta, δ in (0, 0.2), by default 0.05: the bounds
        hold with probability slightly below 1 - 5δ.

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
    assumed = _assume(counts, rank, layers, given, truth, fit)
    values = {name: quantity.value for name, quantity in assumed.items()}
    slope = values["slope_truth"] + values["slope_network"]
    if similar is None and (zeta is None or n_similar is None):
        similar = similar_entries(counts.attributes, None if zeta is None else [zeta])
    zeta, n_similar = _choose(zeta, n_similar, similar, slope, values["delta"])
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
        terms=_summands(counts, rank, values, input_norm * layers.complexity, zeta, n_similar),
        caveats=_caveats(counts, fit, truth, layers, similar),
    )


def _assume(
    counts: CountTensor,
    rank: int,
    layers: Layers,
    given: Mapping[str, float],
    truth: Truth | None,
    fit: Fit | None,
) -> dict[str, Assumed]:
    """Every quantity in the assumptions: as given, else of the truth, else of the fit."""
    unknown = sorted(set(given) - set(_SYMBOLS))
    if unknown:
        raise TypeError(f"recoverability has no argument {unknown[0]!r}")
    if truth is not None and truth.rate.shape != counts.shape:
        raise ValueError(
            f"truth must have the shape of counts {counts.shape}, got {truth.rate.shape}"
        )
    found: dict[str, tuple[float, Origin]] = {
        "slope_network": (layers.steepest, "from the layers"),
        "approximation": (0.0, "given"),
        "delta": (0.05, "given"),
    }

    def add(rate: FloatArray, p: FloatArray, of_attributed: FloatArray, origin: Origin) -> None:
        ends = [float((end / rank) ** (1 / len(counts.shape))) for end in (rate.min(), rate.max())]
        slope = largest_slope(counts.attributes, of_attributed)
        names = ("p_min", "p_max", "factor_min", "factor_max", "slope_truth")
        values = (float(np.nanmin(p)), float(np.nanmax(p)), *ends, slope)
        found.update({name: (value, origin) for name, value in zip(names, values, strict=True)})
        if origin == "from the fit":
            found["slope_network"] = slope, origin

    if fit is not None:
        p = fit.detection(counts.attributes)
        add(fit.rate(counts.indices), p, p, "from the fit")
    if truth is not None:
        where = tuple(counts.attribute_indices.T)
        add(truth.rate, truth.detection, truth.detection[where], "from the truth")
    for name, value in given.items():
        most = 1.0 if name in ("p_min", "p_max", "delta") else math.inf
        if not (math.isfinite(value) and 0 <= value <= most):
            raise ValueError(f"{name} must be from 0 to {most:g}, got {value}")
        found[name] = float(value), "given"
    for name in _SYMBOLS:
        if name not in found:
            raise ValueError(f"{name} must be given if neither a truth nor a fit determines it")
    for low, high in (("p_min", "p_max"), ("factor_min", "factor_max")):
        least, most = found[low][0], found[high][0]
        if least > most:
            raise ValueError(f"{low} must be at most {high} = {most:g}, got {least:g}")
    if not 0 < found["delta"][0] < 0.2:
        raise ValueError(
            "delta must be in (0, 0.2), as the theorem holds with probability 1 - 5 δ, "
            f"got {found['delta'][0]:g}"
        )
    return {name: Assumed(name, symbol, *found[name]) for name, symbol in _SYMBOLS.items()}


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


def _summands(
    counts: CountTensor,
    rank: int,
    values: dict[str, float],
    capacity: float,
    zeta: float,
    n_similar: int,
) -> tuple[Term, ...]:
    """The summands of η², ϱ₁ and ϱ₂ as theorem 3.1 prints them; `capacity` is ‖Z‖_F R_G."""
    n_modes, root_t = len(counts.shape), math.sqrt(counts.n_observed)
    largest = rank * values["factor_max"] ** n_modes
    alpha = largest * values["p_max"]
    beta = rank * values["factor_min"] ** n_modes * values["p_min"]
    logs = max(_log(alpha), abs(_log(beta)))
    confidence = math.log(1 / values["delta"])
    slope = values["slope_truth"] + values["slope_network"]
    eta2 = (
        Term("η²", "size of the tensor", "K Σ I_k / √T", n_modes * sum(counts.shape) / root_t),
        Term("η²", "complexity of the network", "‖Z‖_F R_G / √T", capacity / root_t),
        Term(
            "η²",
            "chance in the counts",
            "c √(log(1/δ) / T)",
            alpha * logs * math.sqrt(confidence) / root_t if alpha else 0.0,
        ),
        Term("η²", "approximation by the network", "α ν", alpha * values["approximation"]),
    )
    eta = math.sqrt(math.fsum(term.value for term in eta2))
    root_s = math.sqrt(counts.n_attributed)
    return (
        *eta2,
        Term("ϱ₁", "fit of the counts", "F α_u^K η", largest * eta),
        Term(
            "ϱ₁",
            "differences between similar attributes",
            "F α_u^K ζ² (L_g + L_θ)²",
            largest * (zeta * slope) ** 2,
        ),
        Term(
            "ϱ₁",
            "few similar entries",
            "F α_u^K √(log(1/δ) / |Θ|)",
            largest * math.sqrt(confidence / n_similar),
        ),
        Term("ϱ₂", "chance in the attributes", "√(log(1/δ) / S)", math.sqrt(confidence) / root_s),
        Term("ϱ₂", "complexity of the network", "(‖Z‖_F R_G)^¼ / √S", capacity**0.25 / root_s),
    )


def _log(value: float) -> float:
    return math.log(value) if value > 0 else -math.inf
