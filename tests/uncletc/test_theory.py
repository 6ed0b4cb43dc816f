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

    def test_printed_formula(self) -> None:
        rng = np.random.default_rng(0)
        sizes = [5, 7, 6, 3, 1]
        weights = [rng.standard_normal(pair) for pair in zip(sizes[1:], sizes, strict=False)]
        s = [np.linalg.svd(w, compute_uv=False)[0] for w in weights]
        a = [math.sqrt((w**2).sum()) for w in weights]
        rho = [1, 1, 1, 0.25]
        total = sum(sizes[i + 1] ** 2 * sizes[i] ** 2 * a[i] / s[i] for i in range(len(weights)))
        product = math.prod(r * x for r, x in zip(rho, s, strict=True))
        found = Layers.of_weights(weights).complexity
        assert found == pytest.approx(2 * product * total * 4**2)

    def test_of_the_networks_of_both_solvers(
        self, problem: tuple[CountTensor, Truth], fits: dict[str, Fit]
    ) -> None:
        y, _ = problem
        bcd = Layers.of_fit(fits["bcd"], y.attributes)
        assert bcd.widths == (10, 4, 3, 1)
        network = fits["bcd"].network
        assert network is not None
        last = [p.detach().numpy() for p in network.parameters()][4]  # type: ignore[union-attr]
        assert bcd.spectral[-1] == pytest.approx(np.sqrt((last**2).sum()))
        assert bcd.input_norm is None

        linear = Layers.of_fit(fits["linear"], y.attributes)
        assert linear.widths == (10, 1)
        assert linear.lipschitz.tolist() == [1.0]

        joint = Layers.of_fit(fits["joint"], y.attributes)
        network = fits["joint"].network
        assert network is not None
        assert joint.widths == (len(network.coefficients) - 1, 1)  # type: ignore[union-attr]
        assert joint.input_norm is not None
        assert joint.input_norm > 0

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
        alone = Layers.of_fit(
            replace(fits["joint"], network=replace(curves, layers=())), y.attributes
        )
        assert found.input_norm is not None
        assert alone.input_norm is not None
        assert found.input_norm > alone.input_norm
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

    def test_errors(self, fits: dict[str, Fit]) -> None:
        with pytest.raises(ValueError, match="at least 1 layer, got none"):
            Layers.of_weights([])
        with pytest.raises(ValueError, match=r"weights\[1\] must have 3 columns"):
            Layers.of_weights([np.ones((3, 2)), np.ones((1, 4))])
        with pytest.raises(ValueError, match="must have 1 row, got 3"):
            Layers.of_weights([np.ones((3, 2))])
        with pytest.raises(ValueError, match="spectral must be at least 0"):
            Layers.of_bounds(3, (4,), spectral=-1.0)
        with pytest.raises(ValueError, match="must be at least 1, got"):
            Layers.of_bounds(3, (0,))
        with pytest.raises(ValueError, match="attributes must have 10 columns"):
            Layers.of_fit(fits["bcd"], np.ones((2, 3)))
        without = CountTensor((2, 2), [[0, 0], [1, 1]], [1, 2])
        with pytest.raises(ValueError, match="had no attributes"):
            Layers.of_fit(fit(without, FitSettings(rank=1, max_iter=1)), np.ones((1, 1)))


class TestSimilarEntries:
    def test_by_hand_on_a_line(self) -> None:
        curve = similar_entries([[0.0], [1.0], [2.0], [10.0]], [0.0, 1.0, 2.0, 3.9, 20.0])
        assert curve.sizes.tolist() == [1, 2, 3, 3, 4]

    @pytest.mark.parametrize("seed", range(8))
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

    def test_finds_the_planted_set(self) -> None:
        y, _ = simulate(similar=0.1, seed=2)
        best = similar_entries(y.attributes).best(slope=1.0)
        assert 0.9 * 800 <= best.size <= 800

    def test_equal_attributes_are_within_nothing(self) -> None:
        y, _ = simulate((10, 10, 10), similar=0.15, snr_db=np.inf)
        assert similar_entries(y.attributes, [0.0]).sizes.tolist() == [150]
        everywhere = similar_entries(np.ones((7, 2)))
        assert (everywhere.zetas.tolist(), everywhere.sizes.tolist()) == ([0.0], [7])

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

    def test_errors(self) -> None:
        with pytest.raises(ValueError, match="at least 1 entry, got none"):
            similar_entries(np.empty((0, 2)))
        with pytest.raises(ValueError, match="attributes must be finite"):
            similar_entries([[np.nan]])
        with pytest.raises(ValueError, match="zetas must hold values that are at least 0"):
            similar_entries([[1.0]], [-1.0])


class TestLargestSlope:
    def test_by_hand(self) -> None:
        assert largest_slope([[0.0, 0.0], [3.0, 4.0], [0.0, 0.0]], [0.1, 0.6, 0.9]) == (
            pytest.approx(0.1)
        )
        assert largest_slope([[1.0], [1.0]], [0.2, 0.4]) == 0.0

    def test_against_loops_over_several_chunks(self) -> None:
        rng = np.random.default_rng(0)
        z, p = rng.standard_normal((610, 2)), rng.uniform(size=610)
        slopes = np.abs(p[:, None] - p)[np.triu_indices(610, 1)] / pdist(z)
        assert largest_slope(z, p) == pytest.approx(slopes.max())

    def test_rows_must_agree(self) -> None:
        with pytest.raises(ValueError, match="as many rows, got 2 and 1"):
            largest_slope([[1.0], [2.0]], [0.1])


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
        assert {known.origin for known in found.assumed.values()} == {"given"}
        assert found.similar is None
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
        assert origins == {
            "p_min": "from the truth",
            "p_max": "given",
            "factor_min": "from the truth",
            "factor_max": "from the truth",
            "slope_truth": "from the truth",
            "slope_network": "from the fit",
            "approximation": "given",
            "delta": "given",
        }
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

        bare = recoverability(y, Layers.of_bounds(10, (4,)), rank=2, truth=truth)
        assert bare.assumed["slope_network"].origin == "from the layers"
        assert bare.assumed["slope_network"].value == 0.25

    def test_features_stand_in_for_attributes_of_the_joint_solver(
        self, problem: tuple[CountTensor, Truth], fits: dict[str, Fit]
    ) -> None:
        y, truth = problem
        found = recoverability(y, fits["joint"], truth=truth)
        assert found.input_norm == found.layers.input_norm != found.attribute_norm
        network = next(t for t in found.terms if t.name == "complexity of the network")
        expected = found.input_norm * found.complexity / math.sqrt(y.n_observed)
        assert network.value == pytest.approx(expected)
        assert any("features fixed in advance" in words for words in found.caveats)

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

    def test_counted_entries_without_attributes_are_named(self) -> None:
        y, truth = simulate((8, 8, 8), observed=0.5, attributed=0.3)
        found = recoverability(y, Layers.of_bounds(10, ()), rank=3, truth=truth)
        missing = y.n_observed - y.n_attributed
        assert found.caveats[0].startswith(f"{missing} observed entries have no attributes")

    def test_errors(self, problem: tuple[CountTensor, Truth]) -> None:
        y, truth = problem
        layers = Layers.of_bounds(10, (4,))
        with pytest.raises(ValueError, match="attributes of at least 1 entry, got 1 and 0"):
            recoverability(CountTensor((2, 2), [[0, 0]], [1]), layers, rank=1)
        with pytest.raises(ValueError, match="must take the 4 attributes of counts"):
            recoverability(small(), layers, **GIVEN)
        with pytest.raises(ValueError, match="rank must be given"):
            recoverability(y, layers, truth=truth)
        with pytest.raises(ValueError, match="p_min must be given if neither"):
            recoverability(y, layers, rank=2)
        fitting = Layers.of_bounds(4, ())
        for name, value, rule in [
            ("delta", 0.2, r"delta must be in \(0, 0.2\)"),
            ("rank", 0, "rank must be at least 1, got 0"),
            ("p_min", 0.75, "p_min must be at most p_max = 0.5, got 0.75"),
            ("p_max", 1.5, "p_max must be from 0 to 1, got 1.5"),
            ("factor_min", 4.0, "factor_min must be at most factor_max = 3, got 4"),
            ("approximation", -0.1, "approximation must be from 0"),
            ("zeta", -1.0, "zeta must be at least 0"),
            ("n_similar", 0, "n_similar must be at least 1"),
        ]:
            with pytest.raises(ValueError, match=rule):
                recoverability(small(), fitting, **(GIVEN | {name: value}))
        with pytest.raises(ValueError, match=r"truth must have the shape of counts \(3, 3\)"):
            recoverability(small(), fitting, rank=2, truth=truth)


PARTS = ("η²", "ϱ₁", "ϱ₂")
