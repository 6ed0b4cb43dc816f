from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.optimize import approx_fprime
from scipy.special import expit

from uncletc import CountTensor, FitSettings, fit
from uncletc.compare.metrics import coverage
from uncletc.estimates import every_entry, totals
from uncletc.model.features import AttributeFeatures
from uncletc.result.posterior import Doubt
from uncletc.solvers.closed import log_likelihood
from uncletc.solvers.closed.cells import Cells
from uncletc.solvers.closed.design import Design
from uncletc.solvers.closed.marginal import Form, Marginal

CLOSED = FitSettings(rank=1, closed=["visit"])


def draw(seed, sites=150, visits=3, noise=0.0, mean=4.0):
    """Sites × visits whose factors are log-normal, with a covariate of p and one of λ."""
    rng = np.random.default_rng(seed)
    x, z = rng.random(sites), rng.random((sites, visits))
    n = rng.poisson(mean * np.exp(1.2 * (x - 0.5) + 0.5 * rng.standard_normal(sites)))
    p = expit(-0.4 + 2 * (z - 0.5) + noise * rng.standard_normal(z.shape))
    both = np.stack([z, np.repeat(x[:, None], visits, axis=1)], axis=-1)
    y = rng.binomial(n[:, None], p)
    counts = CountTensor.from_dense(y, attributes=both, modes=["site", "visit"])
    return counts.with_roles(detection=["z1"], rate=["z2"]), n, p


def visit_fit(y):
    return fit(CountTensor.from_dense(y, modes=["site", "visit"]), CLOSED)


@pytest.fixture(scope="module")
def sites():
    return draw(1)


@pytest.fixture(scope="module")
def found(sites):
    return fit(sites[0], CLOSED)


def test_p_and_the_true_number_are_found_with_honest_intervals(sites, found):
    counts, n, p = sites
    interval = found.detection(counts.attributes, spread=True)
    assert coverage(p.ravel(), interval.low, interval.high) > 0.6
    number = found.population.numbers()
    assert number.low[0] < n.sum() < number.high[0]
    assert number.estimate[0] == pytest.approx(n.sum(), rel=0.25)
    each = found.population.numbers(np.arange(len(n)))
    assert coverage(n, each.low, each.high) > 0.8
    assert (found.population.drawn.min(axis=1) >= counts.counts.reshape(p.shape).max(axis=1)).all()
    assert not found.population.doubts


def test_rank_means_nothing_with_one_open_mode(sites, found):
    again = fit(sites[0], replace(CLOSED, rank=3))
    assert again.rank == 1
    assert np.array_equal(again.rate(sites[0].indices), found.rate(sites[0].indices))


def test_totals_count_each_animal_once(sites, found):
    counts, n, _ = sites
    table = totals(counts, found)
    most = counts.counts.reshape(len(n), -1).max(axis=1).sum()
    assert table["reported"][0] == most
    assert table["N"][0] == pytest.approx(found.population.numbers().estimate[0])
    by_visit = totals(counts, found, by="visit")
    assert by_visit["N"].to_numpy() == pytest.approx(table["N"][0])
    every = every_entry(counts, found).table.query("visit == visit.iloc[0]")
    assert every["N"].sum() == pytest.approx(table["N"][0])
    assert (every["N_low"] >= every["reported"].fillna(0) - 1e-9).all()
    assert by_visit["expected"].mean() == pytest.approx(table["expected"][0])


def test_the_slope_of_a_covariate_that_says_nothing_has_as_wide_an_interval(sites, found):
    counts, n, _ = sites
    at = np.random.default_rng(0).permutation(len(n))
    x = counts.rate_attributes.reshape(len(n), -1)[at].reshape(-1, 1)
    none = fit(replace(counts, rate_attributes=x), CLOSED).rate_slopes()
    assert none.low[0] < 1 < none.high[0]
    known = found.rate_slopes()
    assert np.log(none.high / none.low) > 0.8 * np.log(known.high / known.low)


@pytest.mark.filterwarnings("ignore::uncletc.MisfitWarning")
def test_visits_that_disagree_have_a_free_level_and_say_so_before_any_number():
    counts, _, _ = draw(2, sites=60, visits=5, noise=1.3, mean=10.0)
    result = fit(counts, CLOSED)
    assert Doubt.SCATTER in result.population.doubts
    assert result.scale is None
    assert "These counts do not determine" in result.population.warning
    assert "relative_rate" in totals(counts, result)


@pytest.mark.parametrize("mean", [2.0, 0.05])
def test_detections_are_no_counts_where_some_should_be_above_1(mean):
    rng = np.random.default_rng(8)
    y = np.minimum(rng.binomial(rng.poisson(mean, 200)[:, None], 0.3, (200, 4)), 1)
    doubts = visit_fit(y).population.doubts
    assert (Doubt.DETECTIONS in doubts) == (mean > 1)


@pytest.mark.parametrize(
    ("left_out", "shape"),
    [("nothing", (60, 8)), ("most visits", (150,)), ("places", (150,)), ("places", (60, 8))],
)
def test_a_table_without_its_zeros_leaves_the_level_open(left_out, shape):
    """Without zeros p of .4 was .55, without empty cells .33, and nothing was said."""
    rng = np.random.default_rng(9)
    rate = 3.0 * rng.gamma(2.0, 0.5, shape)
    y = rng.binomial(rng.poisson(rate)[..., None], 0.4, (*rate.shape, 4))
    listed = {
        "nothing": np.ones_like(y, dtype=bool),
        "most visits": (y > 0) | (rng.random(y.shape) < 0.2),
        "places": np.broadcast_to(y.any(axis=-1, keepdims=True), y.shape),
    }
    at = np.argwhere(listed[left_out])
    modes = ["site", *["species"] * (len(shape) - 1), "visit"]
    doubts = fit(CountTensor(y.shape, at, y[tuple(at.T)], modes=modes), CLOSED).population.doubts
    assert (Doubt.ZEROS in doubts) == (left_out != "nothing")


@pytest.mark.parametrize("slope", [0.0, -0.8])
def test_a_covariate_of_true_counts_that_moves_p_leaves_the_level_open(slope):
    """N was .8 of true, its interval narrow, and nothing was said; acting on both it is right."""
    rng = np.random.default_rng(4)
    x, z = rng.normal(size=(150, 1)), rng.normal(size=(150, 4))
    n = rng.poisson(4.0 * np.exp(0.6 * x) * rng.gamma(3.0, 1 / 3.0, (150, 1)))
    y, elevation = rng.binomial(n, expit(-0.4 + 0.6 * z + slope * x)), x + 0 * z
    covariates = np.stack([z, elevation], axis=-1)
    both = CountTensor.from_dense(y, attributes=covariates, modes=["site", "visit"])
    alone, every = (both.with_roles(detection=d, rate=["z2"]) for d in (["z1"], ["z1", "z2"]))
    assert (Doubt.COVARIATES in fit(alone, CLOSED).population.doubts) == (slope != 0)
    found = fit(every, CLOSED).population
    assert not found.doubts
    total = found.numbers()
    assert total.low[0] <= n.sum() <= total.high[0]


@pytest.mark.parametrize("y", [[[0, 1], [1, 0], [0, 0], [1, 0]], [[0, 0, 0]] * 8])
def test_too_few_counts_leave_the_level_open_and_visits_cannot_disagree(y):
    doubts = {*visit_fit(y).population.doubts}
    assert {Doubt.FLAT, Doubt.LOW} & doubts
    assert Doubt.SCATTER not in doubts


def test_covariates_of_p_that_say_nothing_leave_n_as_it_is():
    rng = np.random.default_rng(103)
    n = rng.poisson(4.0 * rng.gamma(2.0, 0.5, (60, 1)))
    plain = CountTensor.from_dense(rng.binomial(n, 0.5, (60, 3)), modes=["site", "visit"])
    z = rng.random((180, 4))
    covered = CountTensor((60, 3), plain.indices, plain.counts, attributes=z, modes=plain.modes)
    found = [fit(each, CLOSED).population.numbers().estimate for each in (plain, covered)]
    assert found[1] == pytest.approx(found[0], rel=0.07)  # .10 less where curves bend by chance


@pytest.mark.parametrize("mean", [4.0, 30.0])
def test_animals_that_come_and_go_leave_n_to_a_small_correlation(mean):
    rng = np.random.default_rng(4)
    rate = mean * rng.gamma(3.0, 1 / 3.0, 200)
    n = [rng.poisson(rate)]
    for _ in range(2):
        n.append(rng.binomial(n[-1], 0.6) + rng.poisson(0.4 * rate))
    numbers = np.stack(n, axis=1), np.repeat(n[0][:, None], 3, axis=1)
    gone, stayed = (visit_fit(rng.binomial(each, 0.4)) for each in numbers)
    assert Doubt.FRAGILE in gone.population.doubts
    assert gone.scale is None
    assert Doubt.FRAGILE not in stayed.population.doubts


def test_animals_that_move_to_the_next_site_are_flagged():
    rng = np.random.default_rng(4)
    n = rng.poisson(6 * rng.gamma(3.0, 1 / 3.0, 300))
    away = rng.binomial(n[:, None], 0.35, (300, 4))
    there = n[:, None] - away + np.roll(away, 1, axis=0)
    numbers = there, np.repeat(n[:, None], 4, axis=1)
    moved, stayed = (visit_fit(rng.binomial(each, 0.5)) for each in numbers)
    assert Doubt.MOVING in moved.population.doubts
    assert not stayed.population.doubts


@pytest.fixture(scope="module")
def marginal(sites):
    cells = Cells.of_counts(sites[0], ("visit",))
    cells = replace(cells, exposure=np.linspace(0.5, 2.0, len(cells.indices)))
    z = np.column_stack([np.ones(len(cells.of)), cells.attributes])
    lines = np.linspace(-1, 1, len(cells.indices))[:, None]
    design = Design(np.zeros(2), z)
    return Marginal(cells, design, lines, np.full(3, 3.0), np.zeros(3, dtype=bool))


@pytest.mark.parametrize("curves", [1, 20])
def test_features_are_the_same_whether_only_what_is_unusual_is_stored_or_all(curves):
    rng = np.random.default_rng(4)
    z = np.column_stack([np.eye(60)[rng.integers(60, size=400)], rng.random((400, curves))])
    features = AttributeFeatures.of(z, rng, curved=True)
    design, usual = Design.of(features, z), features(torch.from_numpy(z)).numpy()
    assert isinstance(design.rest, np.ndarray) == (curves == 20)
    theta, of = rng.normal(size=features.n_features), np.repeat(np.arange(100), 4)
    assert design @ theta == pytest.approx(usual @ theta)
    assert design.back(z[:, -1]) == pytest.approx(usual.T @ z[:, -1])
    sums = np.add.reduceat(usual * z[:, -1:], np.arange(0, 400, 4))
    assert design.sums(of, z[:, -1], 100) == pytest.approx(sums)
    assert design[of] @ theta == pytest.approx(usual[of] @ theta)
    assert design.mean_detection(theta[None]) == pytest.approx(expit(usual @ theta).mean())


@pytest.mark.parametrize("mixture", ["Poisson", "negative binomial", "log-normal"])
@pytest.mark.parametrize("extra", ["", "between visits", "between sites", "empty sites"])
def test_gradients_are_those_of_the_posterior(marginal, mixture, extra):
    form = Form(mixture, "" if mixture == "log-normal" and extra == "between sites" else extra)
    values = marginal.start(form) + np.random.default_rng(1).normal(0, 0.2, 4 + len(form.scatters))
    numeric = approx_fprime(values, lambda values: marginal.cost(form, values)[0], 1e-7)
    assert marginal.cost(form, values)[1] == pytest.approx(numeric, abs=2e-3)


def test_the_usual_form_is_the_exact_likelihood(marginal):
    form = Form("negative binomial")
    values = marginal.start(form)
    rate, p = np.exp(marginal.log_rates(values)), expit(marginal.logits(values))
    cells, mu = marginal.cells, marginal.mu(form, values)
    exact = log_likelihood(rate, p, cells.counts, cells.of, mu=mu)
    assert marginal.log_likelihood(form, values) == pytest.approx(exact)


@pytest.mark.parametrize("scatter", [0.0, 1.0])
def test_evidence_is_that_of_the_form_which_counts_have(scatter):
    rng = np.random.default_rng(3)
    n = rng.poisson(4.0 * np.exp(scatter * rng.standard_normal(150)))
    counts = CountTensor.from_dense(rng.binomial(n, 0.5, (3, 150)).T, modes=["site", "visit"])
    cells, design = Cells.of_counts(counts, ("visit",)), Design(np.ones(1), np.zeros((450, 1)))
    marginal = Marginal(cells, design, np.empty((150, 0)), np.ones(1), np.zeros(1, dtype=bool))
    forms = Form("Poisson"), Form("negative binomial")
    poisson, scattered = (marginal.evidence(marginal.optimum(form)) for form in forms)
    assert (poisson > scattered) == (not scatter)


def test_equal_visits_and_counts_of_thousands_contradict_nothing():
    rng = np.random.default_rng(0)
    n = rng.poisson(6, 60)
    found = visit_fit(np.tile(n, (4, 1)).T)
    assert found.population.numbers().estimate[0] == n.sum()
    assert not found.population.doubts
    n = rng.poisson(3000 * rng.gamma(3.0, 1 / 3.0, 40))
    found = visit_fit(rng.binomial(n[:, None], 0.5, (40, 4)))
    assert Doubt.ZEROS not in found.population.doubts
