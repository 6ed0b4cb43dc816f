"""Effects of attributes, against functions whose effects are known without them."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import permutations

import numpy as np
import pytest
import torch

import uncletc
from uncletc import CountTensor, Effect, Fit, FitSettings, Group, ModeEffects, StopReason, effects
from uncletc.effects import curves
from uncletc.fitting.history import Iteration
from uncletc.model.negbin import log_scores
from uncletc.result.ensemble import Member

Function = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Known:
    """A detection network whose log p is a known function of z (n, D)."""

    log_p: Function
    n_attributes: int

    def probability(self, z):
        return torch.from_numpy(np.exp(self.log_p(z.numpy())))


def known_fit(counts, *functions, factors=None):
    """A fit whose members have these functions as log p."""
    if factors is None:
        factors = tuple(np.ones((size, 1)) for size in counts.shape)
    first, *others = (Member(factors, Known(each, counts.n_attributes)) for each in functions)
    return Fit(
        factors=first.factors,
        network=first.network,
        others=tuple(others),
        observed_detection=np.ones(counts.n_observed),
        history=(Iteration(iteration=0, objective=0.0, seconds=0.0),),
        stop=StopReason.TOLERANCE,
        settings=FitSettings(rank=1),
        counts_digest=counts.digest,
    )


@pytest.fixture
def z(rng):
    """Three attributes of 400 entries: two that go together, and one of two values."""
    a = rng.uniform(size=400)
    b = 0.8 * a + 0.2 * rng.uniform(size=400)
    return np.column_stack([a, b, rng.integers(0, 2, 400)])


@pytest.fixture
def counts(z, rng):
    entries = np.column_stack(np.unravel_index(np.arange(400), (20, 20)))
    y = rng.poisson(20, 400)
    return CountTensor((20, 20), entries, y, attributes=z, attribute_names=["a", "b", "two"])


def additive(z):
    return np.sin(3 * z[:, 0]) - 2 * z[:, 1] + 0.7 * z[:, 2] - 1


ALONE = {
    "a": (0, lambda x: np.sin(3 * x)),
    "b": (1, lambda x: -2 * x),
    "two": (2, lambda x: x * 0.7),
}
EFFECTS = [effects.partial_dependence, effects.accumulated_effect]


class TestOneAttribute:
    @pytest.mark.parametrize("effect", EFFECTS)
    @pytest.mark.parametrize("name", ALONE)
    def test_of_a_sum_is_its_own_term(self, counts, z, effect, name):
        column, term = ALONE[name]
        found = effect(known_fit(counts, additive), counts, name)
        expected = term(found.values[:, 0]) - term(z[:, column]).mean()
        np.testing.assert_allclose(found.log_effect, expected, atol=2e-3)
        np.testing.assert_allclose(found.ratio, np.exp(found.log_effect))

    def test_accumulated_effect_of_a_product_of_attributes_that_go_together(self, counts, z):
        # For log p = a·b with E[b | a] = .8 a + .1 the local slope is .8 a + .1, so the effect is
        # .4 a² + .1 a, where partial dependence has slope E[b] = .5 everywhere.
        fit = known_fit(counts, lambda rows: rows[:, 0] * rows[:, 1])
        found = effects.accumulated_effect(fit, counts, "a")
        a = found.values[:, 0]
        rise = found.log_effect[-1] - found.log_effect[a.searchsorted(0.5)]
        assert rise == pytest.approx(0.4 * 0.75 + 0.1 * 0.5, abs=0.02)
        partial = effects.partial_dependence(fit, counts, "a")
        slopes = np.diff(partial.log_effect) / np.diff(partial.values[:, 0])
        np.testing.assert_allclose(slopes, z[:, 1].mean(), rtol=1e-9)


@pytest.mark.parametrize("effect", EFFECTS)
def test_intervals_hold_the_effect_and_have_no_width_where_it_is_known(counts, effect):
    fit = uncletc.fit(counts, FitSettings(rank=1, hidden=()))
    found = effect(fit, counts, "a")
    assert ((found.low <= found.ratio) & (found.ratio <= found.high)).all()
    width = np.log(found.high / found.low)
    middle = np.abs(found.values[:, 0] - counts.attributes[:, 0].mean()).argmin()
    assert width[middle] < 0.5 * width[[0, -1]].max()


@pytest.fixture
def guilds():
    z = [[0.1, 1, 0, 0], [0.9, 0, 1, 0], [0.5, 1, 0, 0], [0.2, 0, 0, 1]]
    names = ["wind", "guild: bee", "guild: fly", "guild: wasp"]
    entries = [[i, 0] for i in range(4)]
    return CountTensor((4, 1), entries, [1] * 4, attributes=z, attribute_names=names)


def test_no_entry_gets_two_guilds(guilds):
    seen = []

    def watch(z):
        seen.append(z[:, 1:].sum(axis=1))
        return z[:, 0]

    fit = known_fit(guilds, watch)
    effects.explain(fit, guilds, [[0, 0]])
    effects.permutation_importance(fit, guilds)
    effects.pair_effect(fit, guilds, "wind", "guild")
    found = effects.partial_dependence(fit, guilds, "guild")
    assert found.values.tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    with pytest.raises(ValueError, match="attribute must have an order"):
        effects.accumulated_effect(fit, guilds, "guild")
    assert (np.concatenate(seen) == 1).all()


def test_the_pair_effect_of_a_product(counts, monkeypatch):
    monkeypatch.setattr(curves, "_ROWS_OF_PAIRS", 400)  # all
    fit = known_fit(counts, lambda z: z[:, 0] * z[:, 2])
    found = effects.pair_effect(fit, counts, "a", "two")
    a, two = counts.attributes[:, 0], counts.attributes[:, 2]
    # Joint a·t minus a·E[t] minus E[a]·t, up to a constant: (a - E[a])·(t - E[t]).
    expected = (found.first - a.mean()) * (found.second.T - two.mean())
    difference = found.interaction - expected
    np.testing.assert_allclose(difference, difference[0, 0], atol=1e-12)


def deviance_of(y, mean, size):
    """Mean deviance of negative binomial counts."""
    best = log_scores(y, np.maximum(y, 1e-12), 1 / size)
    return 2 * (log_scores(y, mean, 1 / size) - best).mean()


class TestImportance:
    @pytest.fixture
    def factors(self, rng):
        return tuple(rng.uniform(2, 6, (20, 2)) for _ in range(2))

    def test_is_the_rise_of_the_deviance(self, counts, z, factors):
        fit = known_fit(counts, additive, factors=factors)
        found = effects.permutation_importance(fit, counts)
        rate = (factors[0] @ factors[1].T)[tuple(counts.indices.T)]

        def deviance(attributes):
            y, mean = counts.counts, rate * np.exp(additive(attributes))
            return deviance_of(y, mean, found.size)

        assert found.deviance == pytest.approx(deviance(z))
        rng = np.random.default_rng(0)
        for repeat in range(5):
            order = rng.permutation(400)
            for column, rise in enumerate(found.rise[:, repeat]):
                dealt = z.copy()
                dealt[:, column] = z[order, column]
                assert rise == pytest.approx(deviance(dealt) - deviance(z))

    def test_reporting_is_in_what_is_predicted(self, counts, z, factors):
        fit = known_fit(counts, additive, factors=factors)
        level = np.linspace(0.5, 1.5, counts.shape[1])
        group = Group(counts.modes[1], [counts.modes[1]], np.arange(len(level)), ["x"] * len(level))
        effect, table = Effect((counts.modes[1],), (0.0,), reporting=True), np.log(level)[None]
        late = ModeEffects(counts.modes, (effect,), ((group,),), (table,), (0.3,))
        found = effects.permutation_importance(replace(fit, mode_effects=late), counts)
        y_hat = fit.expected(counts.indices, z) * level[counts.indices[:, 1]]
        assert found.deviance == pytest.approx(deviance_of(counts.counts, y_hat, found.size))


def test_shapley_values_by_all_orders():
    # One background entry: the exact values are means over the 3! orders.
    def product(rows):
        return rows[:, 0] * rows[:, 1] * (1 + rows[:, 2])

    rows = np.array([[0.9, 0.8, 1.0], [0.2, 0.3, 0.0]])
    counts = CountTensor((2, 1), [[1, 0]], [3], attributes=rows, attribute_indices=[[0, 0], [1, 0]])
    exact = np.zeros(3)
    for order in permutations(range(3)):
        now = rows[1:].copy()
        for column in order:
            before = product(now)[0]
            now[0, column] = rows[0, column]
            exact[column] += (product(now)[0] - before) / 6
    found = effects.explain(known_fit(counts, product), counts, [[0, 0]])
    np.testing.assert_allclose(found.log_effect, exact, atol=0.01)


CALLS = {
    "partial_dependence": lambda fit, y, a, _: effects.partial_dependence(fit, y, a),
    "accumulated_effect": lambda fit, y, a, _: effects.accumulated_effect(fit, y, a),
    "pair_effect": lambda fit, y, a, b: effects.pair_effect(fit, y, a, b),
    "permutation_importance": lambda fit, y, *_: effects.permutation_importance(fit, y),
    "explain": lambda fit, y, *_: effects.explain(fit, y, [[0] * len(y.shape)]),
}


def test_scale_of_p_does_not_matter(counts):
    factors = tuple(np.full((20, 1), 3.0) for _ in range(2))
    larger = factors[0] * 100, factors[1]
    plain = known_fit(counts, additive, factors=factors)
    moved = known_fit(counts, lambda z: additive(z) + math.log(0.01), factors=larger)
    for name, call in CALLS.items():
        value = "rise" if name == "permutation_importance" else "log_effect"
        one, other = (getattr(call(fit, counts, "a", "b"), value) for fit in (plain, moved))
        np.testing.assert_allclose(one, other, atol=1e-9)


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_fit_without_network_is_refused(small, short_fit, call):
    plain = CountTensor(small.shape, small.indices, small.counts)
    found = short_fit(plain)
    for counts in (plain, small):
        with pytest.raises(ValueError, match="fit must have a detection network"):
            call(found, counts, "z1", "z2")
