"""Steps of effects of modes with coefficients beside them."""

import numpy as np
import pytest
from scipy.optimize import lsq_linear

from uncletc import Effect, Group
from uncletc.solvers.effects import blocks, random_effects
from uncletc.solvers.effects.linear import Linear, no_coefficients
from uncletc.solvers.effects.random_effects import Given, RandomEffectsSolver
from uncletc.solvers.effects.terms import Term

SITES, ROWS = 4, 200


def surface():
    where = np.arange(ROWS) % SITES
    group = Group("site", ["site"], np.arange(SITES), list("abcd"))
    none = np.zeros(ROWS, dtype=np.int64)
    rows = ("site",), where[:, None], none, 1, None, none > 0
    term = Term(Effect.parse("site"), {"site": group}, *rows)
    return RandomEffectsSolver([term], ("site",), 1, 0)


def linear(x, lowest):
    """Coefficients of the columns of x about 0, with precisions of 1."""
    size = x.shape[1]
    zero, one = np.zeros(size), np.ones(size)
    return Linear(
        lambda change: change @ x.T,
        lambda values: values @ x,
        np.zeros((0, 0), dtype=np.int32),
        np.empty(0),
        np.arange(len(x), dtype=np.int32)[:, None],
        len(x),
        zero,
        one,
        lowest,
        lambda rows: x[rows].astype(np.float32),
        np.ones(size, dtype=bool),
    )


def nested(texts):
    """Effects of 12 places in 3 states on 5 days, of two observation processes."""
    place, day = (a.ravel() for a in np.indices((12, 5)))
    indices = np.tile(np.column_stack([place, day]), (2, 1))
    days = np.arange(5.0)[:, None]
    groups = [
        Group("place", ["place"], np.arange(12), list("abcdefghijkl"), np.arange(12.0)[:, None]),
        Group("state", ["place"], np.arange(12) % 3, list("ABC")),
        Group("day", ["day"], np.arange(5), list("12345"), days),
    ]
    named, modes = {group.name: group for group in groups}, ("place", "day")
    rows = modes, indices, np.repeat([0, 1], 60), 2, None, np.zeros(120, dtype=bool)
    terms = [Term(Effect.parse(text), named, *rows) for text in texts]
    return RandomEffectsSolver(terms, modes, 1, 0)


@pytest.mark.parametrize(
    "texts",
    [
        ["place", "place × smooth(day, 2)", "reporting(state × day)"],
        ["state × smooth(day, 2)", "place", "reporting(place × day)"],
        ["smooth(place, 3)", "smooth(day, 2)"],
    ],
)
def test_places_are_eliminated_within_states_exactly(texts):
    rng = np.random.default_rng(0)
    effects, weights = nested(texts), rng.uniform(1, 20, 120)
    effects._system(0, weights, None)
    size = effects.values[0].size
    design = effects.lookups(no_coefficients(120)).sums(effects.fields(0, np.eye(size))).T
    centred = design - (weights @ design) / weights.sum() * (len(texts) == 2)
    second = centred.T @ (weights[:, None] * centred) + np.eye(size)
    right = rng.normal(size=(size, 2))
    effects.blocks.free(np.empty(0), np.ones(size, dtype=bool))
    found = effects.blocks.solve(right.T).T
    assert found == pytest.approx(np.linalg.solve(second, right), rel=1e-3, abs=1e-4)


@pytest.mark.parametrize(
    "texts", [["smooth(day, 2)", "reporting(state × day)"], ["day", "state × smooth(day, 2)"]]
)
def test_draws_divide_by_what_couples_days_to_places_and_states(texts, monkeypatch):
    rng = np.random.default_rng(0)
    effects = nested(["place", "smooth(place, 3)", *texts])
    weights, size = rng.uniform(1, 200, 120), effects.values[0].size
    effects.n_products = 1_000  # blocks of these weights
    system = effects._system(0, weights, None)
    right, exact = rng.normal(size=(2, size)), system._times(np.eye(size))
    monkeypatch.setattr(random_effects, "_STEPS", 3)
    system.couple()
    assert system.solve(right, 1e-6) == pytest.approx(np.linalg.solve(exact, right.T).T, abs=1e-4)


def test_a_smooth_effect_too_large_for_a_matrix_is_coupled_by_its_diagonal(monkeypatch):
    monkeypatch.setattr(blocks, "_MOST_SMOOTH", 4)
    effects, weights = nested(["smooth(place, 2)", "smooth(day, 2)", "state"]), np.arange(1.0, 121)
    system = effects._system(0, weights, None)
    effects.blocks.free(np.empty(0), system.free)
    deviation = effects.deviation_of_values(0)
    at, divided, _ = effects.blocks.couple(weights, no_coefficients(120), deviation, 600)
    exact = system._times(np.eye(system.size))
    assert list(at) == [5, 6, 7]
    own = exact[:5, :5].diagonal()[:, None]
    assert 2 * divided[:5] == pytest.approx(exact[:5, at] / own, rel=0.1, abs=0.01)


@pytest.mark.parametrize("seed", range(3))
def test_a_step_is_the_best_that_bounds_allow(seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(ROWS, 1)) + 0.5 * rng.normal(size=(ROWS, 5))  # alike: bounds interact
    mean, mu = np.full(ROWS, 30.0), np.full(ROWS, 1e9)
    y = rng.poisson(30 * np.exp(x @ [0.1, -0.1, 0.05, -0.05, 0.0])).astype(float)
    lowest = np.array([0.0, 0.0, 0.0, -0.01, -np.inf])
    step = surface().step(Given(0, mean, y, mu, 1.0, linear(x, lowest)))

    site = 0.3 * np.eye(SITES)[np.arange(ROWS) % SITES]  # which begins with a deviation of 0.3
    a = np.column_stack([x, site])
    weights = np.full(ROWS, y.mean())
    centred = a - a.mean(axis=0)
    second = (centred * weights[:, None]).T @ centred + np.eye(a.shape[1])
    root = np.linalg.cholesky(second).T
    slope = a.T @ (y - y.mean())
    low = np.concatenate([lowest, np.full(SITES, -np.inf)])
    best = lsq_linear(root, np.linalg.solve(root.T, slope), (low - 1e-12, np.inf)).x
    assert step == pytest.approx(best[:5], abs=0.005)
    assert (step >= lowest).all()


def test_coefficients_that_stay_move_nothing():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(ROWS, 3))
    y = rng.poisson(30 * np.exp(x @ [0.2, 0.1, -0.1])).astype(float)
    mean, mu, free = np.full(ROWS, 30.0), np.full(ROWS, 1e9), np.full(3, -np.inf)
    some = linear(x, free)
    some.moves[:2] = False
    rest = surface().step(Given(0, mean, y, mu, 1.0, some))
    alone = surface().step(Given(0, mean, y, mu, 1.0, linear(x[:, 2:], free[2:])))
    assert not rest[:2].any()
    assert rest[2:] == pytest.approx(alone, abs=1e-7)
