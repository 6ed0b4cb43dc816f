from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, logit

from uncletc import (
    CountTensor,
    FitSettings,
    MisfitWarning,
    Observations,
    Scale,
    StopReason,
    fit,
    simulate_visits,
)
from uncletc.compare.metrics import coverage
from uncletc.estimates import every_entry
from uncletc.result.posterior import Doubt
from uncletc.solvers.closed import log_likelihood

CLOSED = FitSettings(rank=2, closed=["visit"])


@pytest.fixture(scope="module")
def visits():
    return simulate_visits(seed=1)


@pytest.fixture(scope="module")
def found(visits):
    return fit(visits[0], CLOSED)


def absolute(result, counts, truth):
    """Ratios of estimated to true totals of λ and p."""
    p = result.detection(counts.attributes)
    return result.rate_tensor().sum() / truth.rate.sum(), p.sum() / truth.detection.sum()


def test_levels_of_rate_and_detection_are_found_without_an_anchor(visits, found):
    assert absolute(found, *visits) == pytest.approx((1.0, 1.0), abs=0.2)
    assert found.mu == found.likely_mu == np.inf  # true counts are Poisson
    assert not found.misfit


def test_intervals_hold_the_truth_about_as_often_as_they_say(visits, found):
    counts, truth = visits
    rate = found.rate(counts.attribute_indices, spread=True)
    p = found.detection(counts.attributes, spread=True)
    mean = found.mean("detection", counts.attribute_indices, counts.attributes)
    assert mean.low < mean.estimate < mean.high
    assert coverage(truth.rate.ravel(), rate.low, rate.high) > 0.75
    assert coverage(truth.detection.ravel(), p.low, p.high) > 0.75


def test_the_result_is_an_ordinary_fit(visits, found, reloaded):
    counts, truth = visits
    rate = found.rate_tensor()
    assert rate.shape == counts.shape
    assert np.ptp(rate, axis=2) == pytest.approx(0.0)
    assert found.scale == Scale(1.0, "calibrated to repeat visits", True)
    assert found.mean_detection == pytest.approx(found.detection(counts.attributes).mean())
    assert found.dispersion == pytest.approx(1.0, abs=0.2)
    p = found.detection(counts.attributes_at(counts.indices))
    assert found.observed_detection == pytest.approx(p)
    again = reloaded(found)
    assert np.array_equal(again.population.drawn, found.population.drawn)
    assert again.population.mixture == found.population.mixture
    assert again.settings == found.settings
    assert again.scale == found.scale
    assert np.array_equal(again.rate(counts.indices), found.rate(counts.indices))
    frame = found.to_frame(counts).rename(columns={"count": "reported"})
    written = every_entry(counts, found).table  # of all entries, as files have them
    modes = [*counts.modes]
    written = written.set_index(modes).loc[pd.MultiIndex.from_frame(frame[modes])]
    estimates = [name for name in frame if name not in modes]
    assert {"reported", "N", "N_low", "detection_high", "expected"} < {*estimates}
    np.testing.assert_array_equal(frame[estimates], written[estimates])
    half = found.to_frame(counts, level=0.5)
    assert (half["N_high"] < frame["N_high"]).mean() > 0.5
    others = counts.subset(np.arange(1, counts.n_observed))  # not those that were fitted
    assert "rate" in found.to_frame(others)
    assert truth.rate.shape == rate.shape


def test_objective_is_the_exact_likelihood_of_the_estimates(visits, found):
    counts, _ = visits
    cell = counts.indices[:, 0] * counts.shape[1] + counts.indices[:, 1]
    order = np.argsort(cell, kind="stable")
    rate, p = found.rate_tensor()[..., 0].ravel(), found.observed_detection[order]
    own = log_likelihood(rate, p, counts.counts[order], cell[order])
    assert found.history[-1].objective == pytest.approx(-own.sum() / counts.n_observed)


@pytest.mark.parametrize("drawing", [False, True])
def test_callback_sees_warm_estimates_and_stops_the_fit(visits, found, drawing):
    counts, truth = visits
    seen, last = [], len(found.history) - 3 if drawing else 8

    def callback(iteration):
        if iteration.iteration > last - 3:  # while draws are made each takes a while
            seen.append(iteration.current())
        return iteration.iteration >= last

    result = fit(counts, CLOSED, callback=callback)
    assert result.stop is StopReason.CALLBACK
    assert (len(seen), len(result.history)) == (3, last + 1)
    assert result.draws is None
    assert np.abs(seen[-1].rate_tensor() - truth.rate).sum() < 0.5 * truth.rate.sum()
    assert result.history[-1].objective < result.history[0].objective


def test_max_iter_ends_a_fit_with_a_warning_and_the_same_seed_gives_the_same_answer(visits):
    with pytest.warns(UserWarning, match="max_iter"):
        result, again = (fit(visits[0], replace(CLOSED, max_iter=3)) for _ in range(2))
    assert result.stop is StopReason.MAX_ITER
    assert len(result.history) == 4
    assert np.array_equal(again.rate_tensor(), result.rate_tensor())


def species(y, **more):
    """Counts of species at visits to sites."""
    return CountTensor.from_dense(y, modes=["site", "species", "visit"], **more)


def closed_fit(counts, rank=1):
    return fit(counts, rank=rank, closed="visit")


def fit_drawn(rng, rate, p, visits, **more):
    """Fit what visits see of Poisson numbers."""
    y = rng.binomial(rng.poisson(rate)[..., None], p, (*rate.shape, visits))
    return closed_fit(species(y, **more))


def test_p_of_each_species_is_told_from_how_many_there_are_of_it():
    rng = np.random.default_rng(50_000)
    p = np.array([0.2, 0.35, 0.5, 0.6, 0.75])
    n = rng.poisson(np.outer(rng.gamma(4, 1.5, 60), [1.5, 0.5, 1.0, 0.5, 1.5]))
    y = rng.binomial(n[..., None], p[:, None], (*n.shape, 3))
    result = closed_fit(species(y).with_detection_by("species"))
    assert not result.population.doubts
    own = result.observed_detection.reshape(y.shape)[0, :, 0]
    assert own == pytest.approx(p, abs=0.12)
    number = result.population.numbers(result.population.cells[:, 1])
    assert coverage(n.sum(axis=0), number.low, number.high) >= 0.8


@pytest.fixture(scope="module")
def community():
    """40 species at 80 sites in two patterns, few of most: counts, n and logit p."""
    rng = np.random.default_rng(53_000)
    rate = rng.gamma(0.7, 1, (80, 2)) @ rng.gamma(0.7, 1, (40, 2)).T
    n, logits = rng.poisson(3 * rate / rate.mean()), rng.normal(-0.8, 0.7, 40)
    y = rng.binomial(n[..., None], expit(logits)[:, None], (*n.shape, 3))
    return species(y), n, logits


def test_the_level_of_each_species_is_unsure_with_what_slopes_make_of_it():
    rng = np.random.default_rng(1)
    wind = rng.normal(size=(60, 1, 3))
    n = rng.poisson(np.outer(rng.gamma(3, 1.5, 60), [1, 1.5, 0.7, 2]))
    y = rng.binomial(n[..., None], expit(np.array([-0.8, -0.3, 0, 0.3])[:, None] + wind))
    counts = species(y, attributes=np.broadcast_to(wind, y.shape)[..., None])
    drawn = closed_fit(counts.with_detection_by("species")).draws.coefficients
    assert -0.7 < np.corrcoef(drawn[0], drawn[1])[0, 1] < -0.4  # of one p for all: -.55


def test_p_of_many_species_is_held_however_few_there_are_of_some(community):
    counts, n, logits = community
    result = closed_fit(counts.with_detection_by("species"), rank=2)
    assert not result.population.doubts
    number = result.population.numbers()
    assert number.low[0] < n.sum() < number.high[0] < 1.5 * number.low[0]
    first = counts.with_detection_by("species").attributes[: 40 * 3 : 3]
    p = result.detection(first, spread=True)
    assert coverage(expit(logits), p.low, p.high) > 0.8
    away = logit(p.estimate) - logits
    assert abs(away.mean()) < 0.2  # those with few counts are not drawn to those with many
    of_species = result.population.numbers(result.population.cells[:, 1])
    assert coverage(n.sum(axis=0), of_species.low, of_species.high) > 0.75


@pytest.mark.parametrize("seen", [0, 1])
def test_hardly_anything_seen_at_any_visit_is_a_small_rate(seen):
    y = np.zeros((4, 11, 2), dtype=int)
    y[2, 5] = seen
    counts = species(y)
    result = closed_fit(counts, rank=2)
    assert np.isfinite(result.rate_tensor()).all()
    assert result.expected(counts.indices).mean() < 0.1


def test_species_that_differ_in_p_are_flagged_where_all_have_one(community):
    counts, n, _ = community
    assert Doubt.LEVELS in closed_fit(counts, rank=2).population.doubts
    alike = species(np.random.default_rng(5).binomial(n[..., None], 0.4, (*n.shape, 3)))
    assert not closed_fit(alike, rank=2).population.doubts


def test_numbers_vary_with_draws_of_p_where_most_animals_are_missed():
    rng = np.random.default_rng(52_000)
    n = rng.poisson(np.outer(rng.gamma(4, 1, 40), [2.0, 3.0, 1.0, 2.0]))
    y = rng.binomial(n[..., None], 0.15, (*n.shape, 3))
    result = closed_fit(species(y))
    p = expit(logit(result.mean_detection) + result.draws.coefficients[0])
    spread = np.log(result.population.drawn.sum(axis=0)).std() / np.log(p).std()
    assert 0.9 < spread < 1.3


@pytest.mark.parametrize("kind", ["double counts", "observers", "coming and going"])
def test_several_species_whose_visits_break_the_model_are_flagged(kind):
    rng = np.random.default_rng(51_003)
    rate = np.outer(rng.gamma(4, 1, 50), rng.gamma(4, 0.25, 6))
    n, noise = rng.poisson(rate), rng.normal(0, kind == "observers", (50, 1, 3))
    there = np.repeat(n[..., None], 3, axis=2)
    if kind == "coming and going":
        for visit in (1, 2):
            there[..., visit] = rng.binomial(there[..., visit - 1], 0.6) + rng.poisson(0.4 * rate)
    y = rng.binomial(there, np.broadcast_to(expit(noise), there.shape))
    y += rng.binomial(y, 0.5 * (kind == "double counts"))
    doubts = closed_fit(species(y)).population.doubts
    assert Doubt.SCATTER in doubts if kind == "observers" else doubts


@pytest.mark.parametrize("p", [0.97, pytest.param(0.03, marks=pytest.mark.slow)])
def test_p_near_its_ends(p):
    rng = np.random.default_rng(4)
    rate = np.outer(rng.uniform(2, 10, 25), rng.uniform(0.5, 1.5, 12)) * (10 if p < 0.5 else 1)
    result = fit_drawn(rng, rate, p, 4)
    if p > 0.5:
        assert result.mean_detection == pytest.approx(p, abs=0.02)
    else:
        assert result.mean_detection < 0.15
    assert np.isfinite(result.rate_tensor()).all()


def test_signs_hold_and_a_wrong_one_flattens_its_curve(visits):
    counts, _ = visits
    grid = np.column_stack([np.linspace(-2, 2, 30), np.zeros(30)])
    result = fit(counts, replace(CLOSED, signs={"z1": -1}))
    assert (np.diff(result.detection(grid)) <= 1e-9).all()


@pytest.mark.filterwarnings("ignore::uncletc.ConvergenceWarning")
def test_a_few_counts_without_attributes_have_those_of_the_mean(visits):
    counts, _ = visits
    few = 5
    kept = np.ones(counts.n_attributed, dtype=bool)
    kept[np.random.default_rng(0).choice(counts.n_attributed, few, replace=False)] = False
    known = counts.attributes[kept], counts.attribute_indices[kept]
    lacking = replace(counts, attributes=known[0], attribute_indices=known[1], rate_attributes=None)
    every, some = (fit(each, replace(CLOSED, max_iter=8)) for each in (counts, lacking))
    assert some.rate_tensor().sum() == pytest.approx(every.rate_tensor().sum(), rel=0.1)


def test_exposure_multiplies_the_rate():
    rng = np.random.default_rng(7)
    size = rng.uniform(0.5, 5.0, 30)
    rate = np.outer(size, rng.uniform(1, 4, 10))
    result = fit_drawn(rng, rate, 0.5, 4, exposure=size[:, None, None])
    assert result.rate_tensor()[..., 0] == pytest.approx(rate, rel=0.6)
    assert result.rate_tensor()[..., 0].sum() == pytest.approx(rate.sum(), rel=0.2)


@pytest.mark.slow
def test_scatter_of_true_counts_is_found_and_taken_for_no_detection():
    counts, truth = simulate_visits((30, 20), visits=4, mean=8.0, mu=2.0, seed=2)
    with pytest.warns(MisfitWarning, match="likeliest with mu"):
        poisson = fit(counts, replace(CLOSED, mu=1e6))
    result = fit(counts, CLOSED)
    too_large, found = (absolute(each, counts, truth)[1] for each in (poisson, result))
    assert poisson.mu == 1e6
    assert poisson.likely_mu < 5
    assert result.mu == pytest.approx(2.0, rel=0.5)
    assert abs(np.log(found)) < abs(np.log(too_large))
    assert found == pytest.approx(1.0, abs=0.1)
    assert result.history[-1].objective < poisson.history[-1].objective


def made(shape=(3, 4, 2), **other):
    """Ones at every visit to sites, with what is to be refused."""
    every = species(np.ones(shape))
    return CountTensor(shape, every.indices, every.counts, modes=every.modes, **other)


VISIT = {"closed": ["visit"]}


@pytest.mark.parametrize(
    ("counts", "given", "message"),
    [(made(), {"closed": ["visits"]}, "closed must name modes of .*site"),
     (made(), {"closed": ["site", "species", "visit"]}, "at least 1 mode open"),
     (made(observations=[Observations("again", [[0, 0, 0]], [1])]), VISIT, "closed .* observation"),
     (made(attributes=[[1.0]], attribute_indices=[[0, 0, 0]]), VISIT, "23 of 24 have none"),
     (made((3, 4, 1)), VISIT, "closed needs repeat visits"),
     (made(exposure=[[[1.0, 2.0]]]), VISIT, "exposure must be the same"),
     (made(rate_attributes=np.arange(24.0)[:, None]), VISIT, "is not"),
     (made(), VISIT | {"solver": "bcd"}, "closed needs the joint solver"),
     (made(), {"closed": [1]}, "closed must be a sequence"),
     (made(), {"closed": ["visit", "visit"]}, "'visit' occurs twice")],
)  # fmt: skip
def test_what_does_not_go_together_is_refused(counts, given, message):
    with pytest.raises((ValueError, TypeError), match=message):
        fit(counts, FitSettings(rank=1, **given))


def test_p_of_each_level_where_a_few_counts_have_no_covariates():
    given, _ = simulate_visits((20, 4), visits=3, seed=1)
    known = given.attributes[3:], given.attribute_indices[3:]
    lacking = replace(given, attributes=known[0], attribute_indices=known[1], rate_attributes=None)
    result = closed_fit(lacking.with_detection_by(given.modes[1]))
    assert result.n_attributes == given.n_attributes + given.shape[1] - 1
    assert np.isfinite(result.observed_detection).all()


@pytest.mark.parametrize("share", [0.9, 1.0])
def test_slopes_of_what_differs_between_sites_are_found(share):
    rng = np.random.default_rng(11)
    x = np.sqrt(share) * rng.standard_normal((60, 1))
    x = x + np.sqrt(1 - share) * rng.standard_normal((60, 6))
    rate = np.exp(1.5 + 0.2 * rng.standard_normal((60, 1)) + 0.5 * x)
    y = rng.binomial(rng.poisson(rate)[..., None], 0.5, (60, 6, 3))
    counts = CountTensor.from_dense(y, modes=["site", "season", "visit"])
    rates = {"attributes": np.empty((y.size, 0)), "attribute_indices": counts.indices}
    rates |= {"rate_attributes": np.repeat(x.ravel(), 3)[:, None], "rate_attribute_names": ["x"]}
    slope = closed_fit(replace(counts, **rates)).rate_slopes()
    assert np.log(slope.estimate[0]) / x.std() == pytest.approx(0.5, abs=0.15)
    assert np.log(slope.low[0]) < 0.5 * x.std() < np.log(slope.high[0])


def test_many_sites_of_few_species_are_believed():
    rng = np.random.default_rng(12)
    n = rng.poisson(np.exp(0.4 * rng.standard_normal((200, 1)) + [0.0, 0.5]))
    y = rng.binomial(n[..., None], 0.5, (200, 2, 3))
    found = closed_fit(species(y)).population
    assert not found.doubts
    assert found.numbers().estimate[0] == pytest.approx(n.sum(), rel=0.08)
