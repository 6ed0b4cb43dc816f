"""theory: every quantity against sums by hand, brute force, and what must not change it."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform

from uncletc import CountTensor, Fit, FitSettings, Truth, fit, simulate, theory
from uncletc.model.detection import JointDetection
from uncletc.paper.theory import Layers, largest_slope, recoverability, similar_entries

pytestmark = pytest.mark.filterwarnings("ignore::uncletc.ConvergenceWarning")

GIVEN: dict[str, Any] = {
    "rank": 2,
    "p_min": 0.25,
    "p_max": 0.5,
    "factor_min": 1.0,
    "factor_max": 3.0,
    "slope_truth": 0.5,
    "slope_network": 1.5,
    "zeta": 0.1,
    "n_similar": 4,
    "approximation": 0.01,
    "delta": 0.1,
}


def small() -> CountTensor:
    """Four entries counted, nine attributed, ‖Z‖_F = 6."""
    shape = (3, 3)
    cells = [[i, j] for i in range(3) for j in range(3)]
    return CountTensor(
        shape, cells[:4], [1, 0, 2, 3], attributes=np.full((9, 4), 1.0), attribute_indices=cells
    )


@pytest.fixture(scope="module")
def problem() -> tuple[CountTensor, Truth]:
    return simulate((8, 8, 8), rank=2, observed=0.4, attributed=0.6, similar=0.2, seed=3)


@pytest.fixture(scope="module")
def fits(problem: tuple[CountTensor, Truth]) -> dict[str, Fit]:
    y, _ = problem
    joint = FitSettings(rank=2, hidden=(4, 3), max_iter=6, members=2)
    bcd = FitSettings(rank=2, hidden=(4, 3), solver="bcd", max_iter=2)
    first = fit(y, joint)  # as a start it spares block coordinate descent its own, which is long
    return {
        "joint": first,
        "bcd": fit(y, bcd, start=first),
        "linear": fit(y, replace(bcd, hidden=()), start=first),
    }


class TestLayers:
    def test_complexity_by_hand(self) -> None:
        # norms: layer 1 diag(3, 4): s = 4, a = 5; layer 2 (6, 8): s = a = 10; ρ = 1, 1/4
        layers = Layers.of_weights([np.diag([3.0, 4.0]), [[6.0, 8.0]]])
        assert layers.widths == (2, 2, 1)
        assert layers.spectral == pytest.approx([4, 10])
        assert layers.frobenius == pytest.approx([5, 10])
        # 2 · (4 · 10/4) · (2²·2²·5/4 + 1²·2²·10/10) · 2² = 20 · (20 + 4) · 4
        assert layers.complexity == pytest.approx(1920)
        assert layers.steepest == pytest.approx(10)

    def test_of_curves_with_a_trained_network(
        self, problem: tuple[CountTensor, Truth], fits: dict[str, Fit]
    ) -> None:
        y, _ = problem
        curves = fits["joint"].network
        assert isinstance(curves, JointDetection)
        rng = np.random.default_rng(0)
        first, second, last = (rng.standard_normal(size) for size in ((10, 4), (4, 3), (3,)))
        biases = rng.standard_normal(4), rng.standard_normal(3)
        network = replace(curves, layers=(first, biases[0], second, biases[1], last))
        found = Layers.of_fit(replace(fits["joint"], network=network), y.attributes)
        weights = curves.coefficients[1:]
        assert found.widths == (len(weights) + 10, 5, 4, 1)
        assert found.lipschitz[:-1].tolist() == [1.1, 1.1]
        spectral = [max(np.linalg.norm(first, 2), np.linalg.norm(weights))]
        spectral += [max(np.linalg.norm(second, 2), 1.0), np.hypot(np.linalg.norm(last), 1.0)]
        assert found.spectral == pytest.approx(spectral)
        assert found.frobenius[1] == pytest.approx(np.hypot(np.linalg.norm(second), 1.0))
        report = recoverability(y, replace(fits["joint"], network=network))
        assert any("features fixed in advance" in caveat for caveat in report.caveats)

    def test_no_fitted_network_is_steeper_than_its_norms_say(
        self, problem: tuple[CountTensor, Truth], fits: dict[str, Fit]
    ) -> None:
        y, _ = problem
        for name in ("bcd", "linear"):
            p = fits[name].detection(y.attributes)
            bound = Layers.of_fit(fits[name], y.attributes).steepest
            assert largest_slope(y.attributes, p) <= bound * (1 + 1e-9)


class TestSimilarEntries:
    def test_by_hand_on_a_line(self) -> None:
        curve = similar_entries([[0.0], [1.0], [2.0], [10.0]], [0.0, 1.0, 2.0, 3.9, 20.0])
        assert curve.sizes.tolist() == [1, 2, 3, 3, 4]

    @pytest.mark.parametrize("seed", range(2))
    def test_never_above_brute_force(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        z = rng.standard_normal((10, 2))
        z[:4] = z[0] + 0.05 * z[:4]
        distances = squareform(pdist(z))
        sets = [list(chosen) for size in range(1, 11) for chosen in combinations(range(10), size)]
        widths = np.array([distances[np.ix_(chosen, chosen)].max() for chosen in sets])
        lengths = np.array([len(chosen) for chosen in sets])
        curve = similar_entries(z)
        for zeta, low in zip(curve.zetas, curve.sizes, strict=True):
            assert low <= lengths[widths <= zeta].max()
        assert curve.sizes[-1] == len(z)

    def test_best_is_the_least_of_the_curve(self) -> None:
        curve = similar_entries(np.random.default_rng(7).standard_normal((200, 2)))
        best = curve.best(slope=0.7, delta=0.1)
        values = [
            (zeta * 0.7) ** 2 + math.sqrt(math.log(10) / size)
            for zeta, size in zip(curve.zetas, curve.sizes, strict=True)
        ]
        assert best.value == pytest.approx(min(values))
        assert (best.zeta, best.size) == (
            curve.zetas[np.argmin(values)],
            curve.sizes[np.argmin(values)],
        )
        assert curve.best(slope=0.0).size == 200  # nothing is lost by unlike attributes


class TestLargestSlope:
    def test_against_loops_over_several_chunks(self) -> None:
        rng = np.random.default_rng(0)
        z, p = rng.standard_normal((610, 2)), rng.uniform(size=610)
        slopes = np.abs(p[:, None] - p)[np.triu_indices(610, 1)] / pdist(z)
        assert largest_slope(z, p) == pytest.approx(slopes.max())


class TestRecoverability:
    def test_by_hand(self) -> None:
        layers = Layers.of_weights([[[1.0, 1.0, 1.0, 1.0]]], sigmoid=False)  # R_G = 2·2·16 = 64
        found = recoverability(small(), layers, **GIVEN)
        log10 = math.log(10)
        assert found.complexity == pytest.approx(64)
        assert found.attribute_norm == found.input_norm == pytest.approx(6)
        # α = 2·3²·.5 = 9, β = 2·1·.25 = .5, c = 9·max(|log .5|, log 9) = 9 log 9, √T = 2
        assert (found.alpha, found.beta) == pytest.approx((9, 0.5))
        eta2 = [2 * 6 / 2, 6 * 64 / 2, 9 * math.log(9) * math.sqrt(log10) / 2, 9 * 0.01]
        eta = math.sqrt(sum(eta2))
        rho1 = [18 * eta, 18 * (0.1 * 2) ** 2, 18 * math.sqrt(log10 / 4)]
        rho2 = [math.sqrt(log10) / 3, (6 * 64) ** 0.25 / 3]
        values = {part: [t.value for t in found.terms if t.part == part] for part in PARTS}
        assert values["η²"] == pytest.approx(eta2)
        assert values["ϱ₁"] == pytest.approx(rho1)
        assert values["ϱ₂"] == pytest.approx(rho2)
        assert found.eta_without_constants == pytest.approx(eta)
        assert found.rho1_without_constants == pytest.approx(sum(rho1))
        assert found.rho2_without_constants == pytest.approx(sum(rho2))
        assert found.rate_bound_without_constants == pytest.approx(sum(rho1) * 16)
        assert found.detection_bound_without_constants == pytest.approx(
            sum(rho1) * 0.5 / (0.5 * 0.25**2) + sum(rho2)
        )
        assert found.probability == pytest.approx(0.5 - 3 * math.exp(-9 * (math.e**2 - 3)))
        assert found.largest("η²").name == "complexity of the network"
        assert found.caveats == ()

    def test_zero_bounds_are_infinite_not_errors(self) -> None:
        found = recoverability(small(), Layers.of_bounds(4, ()), **(GIVEN | {"p_min": 0.0}))
        assert found.eta_without_constants == math.inf
        assert found.rate_bound_without_constants == math.inf
        assert found.detection_bound_without_constants == math.inf

    def test_units_of_the_attributes_change_nothing(
        self, problem: tuple[CountTensor, Truth]
    ) -> None:
        y, truth = problem
        weights = [np.random.default_rng(0).standard_normal((4, 10)), np.ones((1, 4))]
        stretched = CountTensor(
            y.shape,
            y.indices,
            y.counts,
            attributes=8 * y.attributes,
            attribute_indices=y.attribute_indices,
        )
        before = recoverability(y, Layers.of_weights(weights), rank=2, truth=truth)
        after = recoverability(
            stretched, Layers.of_weights([weights[0] / 8, weights[1]]), rank=2, truth=truth
        )
        assert [t.value for t in after.terms] == pytest.approx([t.value for t in before.terms])
        assert after.zeta == pytest.approx(8 * before.zeta)
        assert after.n_similar == before.n_similar

    def test_origins(self, problem: tuple[CountTensor, Truth], fits: dict[str, Fit]) -> None:
        y, truth = problem
        both = recoverability(y, fits["bcd"], truth=truth, p_max=1.0).assumed
        origins = {name: known.origin for name, known in both.items()}
        assert {name for name, known in origins.items() if known == "given"} == {
            "p_max",
            "approximation",
            "delta",
        }
        assert origins["p_min"] == "from the truth"
        assert origins["slope_network"] == "from the fit"
        assert both["p_min"].value == truth.detection.min()
        assert 2 * both["factor_max"].value ** 3 == pytest.approx(truth.rate.max())
        assert 2 * both["factor_min"].value ** 3 == pytest.approx(truth.rate.min())
        p = fits["bcd"].detection(y.attributes)
        assert both["slope_network"].value == pytest.approx(largest_slope(y.attributes, p))

        alone = recoverability(y, fits["bcd"])
        assert alone.rank == 2
        assert alone.assumed["p_min"].value == p.min()
        rate = fits["bcd"].rate(y.indices)
        assert 2 * alone.assumed["factor_max"].value ** 3 == pytest.approx(rate.max())
        assert any("own scale" in words for words in alone.caveats)

    def test_zeta_and_theta_from_the_attributes(self, problem: tuple[CountTensor, Truth]) -> None:
        y, truth = problem
        layers = Layers.of_bounds(10, (4,))
        curve = similar_entries(y.attributes)

        def at(**more: Any) -> theory.Recoverability:
            return recoverability(y, layers, rank=2, truth=truth, similar=curve, **more)

        found = at()
        slope = found.assumed["slope_truth"].value + found.assumed["slope_network"].value
        assert (found.zeta, found.n_similar) == curve.best(slope)[:2]
        some = int(np.flatnonzero(curve.sizes > 20)[0])
        assert at(zeta=curve.zetas[some]).n_similar == curve.sizes[some]
        assert at(n_similar=int(curve.sizes[some])).zeta <= curve.zetas[some]
        assert at(zeta=0.5, n_similar=3).n_similar == 3
        fresh = recoverability(y, layers, rank=2, truth=truth, zeta=1.0)
        assert fresh.n_similar == similar_entries(y.attributes, [1.0]).sizes[0]
        with pytest.raises(ValueError, match="n_similar must be at most"):
            at(n_similar=10**6)


PARTS = ("η²", "ϱ₁", "ϱ₂")
LINE, BARE = Layers.of_bounds(4, ()), CountTensor((2, 2), [[0, 0]], [1])


@pytest.mark.parametrize(
    ("ask", "rule"),
    [
        (lambda: Layers.of_weights([]), "at least 1 layer"),
        (lambda: Layers.of_weights([np.ones((3, 2)), np.ones((1, 4))]), "must have 3 columns"),
        (lambda: Layers.of_weights([np.ones((3, 2))]), "must have 1 row, got 3"),
        (lambda: Layers.of_bounds(3, (4,), spectral=-1.0), "spectral must be at least 0"),
        (lambda: Layers.of_bounds(3, (0,)), "must be at least 1"),
        (lambda: similar_entries(np.empty((0, 2))), "at least 1 entry"),
        (lambda: similar_entries([[np.nan]]), "attributes must be finite"),
        (lambda: similar_entries([[1.0]], [-1.0]), "zetas must hold"),
        (lambda: largest_slope([[1.0], [2.0]], [0.1]), "as many rows, got 2 and 1"),
        (lambda: recoverability(BARE, LINE, rank=1), "attributes of at least 1 entry"),
        (lambda: recoverability(small(), Layers.of_bounds(10, ()), **GIVEN), "the 4 attributes"),
        (lambda: recoverability(small(), LINE, rank=2), "p_min must be given"),
        (lambda: recoverability(small(), LINE, **GIVEN | {"delta": 0.2}), "delta must be in"),
        (lambda: recoverability(small(), LINE, **GIVEN | {"rank": 0}), "rank must be at least 1"),
        (lambda: recoverability(small(), LINE, **GIVEN | {"p_min": 0.75}), "p_min must be at most"),
        (lambda: recoverability(small(), LINE, **GIVEN | {"p_max": 1.5}), "p_max must be from 0"),
        (lambda: recoverability(small(), LINE, **GIVEN | {"zeta": -1.0}), "zeta must be at least"),
        (
            lambda: recoverability(small(), LINE, **GIVEN | {"n_similar": 0}),
            "n_similar must be at",
        ),
    ],
)
def test_bad_input_is_named(ask: Any, rule: str) -> None:
    with pytest.raises(ValueError, match=rule):
        ask()
