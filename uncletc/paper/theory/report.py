"""The report on the theorem's quantities, and the summands of its bounds."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from uncletc.data.counts import CountTensor
from uncletc.paper.theory.assumed import Assumed
from uncletc.paper.theory.network import Layers
from uncletc.paper.theory.similar import SimilarEntries

Part = Literal["η²", "ϱ₁", "ϱ₂"]


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


def summands(
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
