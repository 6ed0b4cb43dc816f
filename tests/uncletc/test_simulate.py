"""simulate: exact fractions, nested sets, the model it claims, and repeatability."""

import numpy as np
import pytest

from uncletc import simulate, simulate_visits

TRANSFORMS = {
    "cubic": lambda z: z**3 / 2 + z / 5,
    "steep-cubic": lambda z: 3 * z**3 + z / 5,
    "log": lambda z: np.log(z**2) / 10 + z**2 / 10,
    "tanh": lambda z: np.tanh(z) ** 3,
}


def entries(indices):
    return {tuple(entry) for entry in indices.tolist()}


class TestSets:
    @pytest.mark.parametrize("shape", [(7, 9), (3, 4, 5, 6)])
    @pytest.mark.parametrize(("observed", "attributed"), [(0.05, 0.3), (0.5, 0.1), (1.0, 0.33)])
    def test_fractions_are_exact(self, shape, observed, attributed):
        y, _ = simulate(shape, observed=observed, attributed=attributed, similar=0.0)
        n_entries = np.prod(shape)
        assert y.n_observed == int(observed * n_entries + 0.5)
        assert y.n_attributed == int(attributed * n_entries + 0.5)

    @pytest.mark.parametrize(("observed", "attributed"), [(0.2, 0.5), (0.5, 0.2), (0.4, 0.4)])
    def test_the_smaller_set_lies_in_the_larger(self, observed, attributed):
        y, _ = simulate((8, 8, 8), observed=observed, attributed=attributed, similar=0.1)
        counted, known = entries(y.indices), entries(y.attribute_indices)
        assert counted <= known if observed <= attributed else known < counted
        assert (counted == known) is (observed == attributed)

    @pytest.mark.parametrize("similar", [0.0, 0.1])
    def test_similar_entries_share_their_attributes(self, similar):
        y, truth = simulate((10, 10, 10), attributed=0.3, similar=similar, snr_db=np.inf)
        vectors, sizes = np.unique(y.attributes, axis=0, return_counts=True)
        assert sizes.max() == max(1, similar * 1000)
        alike = (truth.attributes == vectors[np.argmax(sizes)]).all(axis=-1)
        assert alike.sum() == sizes.max()  # all of Θ lies in Ξ


class TestModel:
    @pytest.mark.parametrize("function", sorted(TRANSFORMS))
    def test_detection_functions(self, function):
        _, truth = simulate((15, 15, 15), detection=function, n_attributes=4)
        p = truth.detection.ravel()
        clear = (p > 1e-9) & (p < 1 - 1e-9)
        logit = np.log(p[clear] / (1 - p[clear]))
        h = TRANSFORMS[function](truth.attributes.reshape(-1, 4))[clear]
        nu, *_ = np.linalg.lstsq(h, logit)
        np.testing.assert_allclose(h @ nu, logit, atol=1e-5)
        assert ((nu >= 0) & (nu <= 1)).all()
        assert np.ptp(nu) > 0.05

    def test_counts_are_thinned_poisson_counts(self):
        y, truth = simulate((20, 20, 20), observed=1.0, factor_max=4.0)
        counts = np.zeros(y.shape)
        counts[tuple(y.indices.T)] = y.counts
        mean = truth.rate * truth.detection
        standardised = (counts - mean) / np.sqrt(mean)
        assert standardised.mean() == pytest.approx(0.0, abs=0.05)
        assert standardised.var() == pytest.approx(1.0, abs=0.1)
        assert counts.sum() < 0.9 * truth.rate.sum()


NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rank": 0}, "rank must be at least 1, got 0"),
        ({"n_attributes": 0}, "n_attributes must be at least 1, got 0"),
        ({"n_attributes": 1, "detection": "interaction", "similar": 0.0}, "attributes .* 2, got 1"),
        *(({"factor_max": most}, f"factor_max must be .*got {most}") for most in (0.0, NAN, INF)),
        ({"detection": "sine"}, "detection must be one of .*got 'sine'"),
        *(({"observed": share}, f"observed must be in .*got {share}") for share in (0.0, 1.1, NAN)),
        *(({"attributed": share}, f"attributed must be .*got {share}") for share in (-0.1, 1.5)),
        *(({"similar": share}, f"similar must be .*got {share}") for share in (0.4, -0.1)),
        ({"snr_db": NAN}, "snr_db must .*got nan"),
        ({"seed": -1}, "seed must be at least 0, got -1"),
        ({"shape": (20,)}, "shape must have at least 2 modes"),
    ],
    ids=str,
)
def test_bad_input_is_named(changes, message):
    with pytest.raises((ValueError, TypeError), match=message):
        simulate(**{"shape": (5, 5), **changes})


@pytest.mark.parametrize(
    ("name", "value"),
    [("visits", 1), ("counted", 0.0), ("level", 1.0), ("mean", 0.0), ("mu", -1.0)],
)
def test_bad_visits_are_named(name, value):
    with pytest.raises(ValueError, match=f"{name} must be"):
        simulate_visits(**{name: value})
