from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from scipy.special import expit

from tests.uncletc.made import histories_of, removed
from tests.uncletc.tables.made import Reading
from uncletc import CountTensor, FitSettings, fit
from uncletc.checking import held_out
from uncletc.estimates import totals
from uncletc.result.posterior import Doubt

CLOSED = FitSettings(rank=1, closed=["visit"])


def histories(site, caught, **more):
    """Of the animals, one a row, that were caught at any visit."""
    return CountTensor.from_histories(site[caught.any(axis=1)], histories_of(caught), **more)


def marked(seed, deviation=0.0, sites=60, visits=4, habit=0.0):
    """Capture histories at sites, with a covariate of p, whose logit changes once caught."""
    rng = np.random.default_rng(seed)
    n, z = rng.poisson(5 * rng.gamma(3.0, 1 / 3.0, sites)), rng.random((sites, visits))
    site = np.repeat(np.arange(sites), n)
    eta = -0.6 + 2 * (z[site] - 0.5) + deviation * rng.standard_normal((len(site), 1))
    caught, chance = np.zeros(eta.shape, dtype=bool), rng.random(eta.shape)
    for visit in range(visits):
        before = caught[:, :visit].any(axis=1)
        caught[:, visit] = chance[:, visit] < expit(eta[:, visit] + habit * before)
    counts = histories(site, caught, levels=range(sites), attributes=z[..., None])
    seen = caught.any(axis=1)
    return counts, n, z, site[seen], caught[seen]


def conditional(log_probabilities, size):
    """Parameters by maximum likelihood of animals caught at all, and N of each animal's kind."""

    def misfit(theta):
        seen, never = log_probabilities(theta)
        return -(seen - np.log1p(-np.exp(never))).sum()

    theta = minimize(misfit, np.zeros(size)).x
    return theta, (1 / -np.expm1(log_probabilities(theta)[1])).sum()


@pytest.mark.parametrize("seed", [11, 12])
def test_p_and_n_agree_with_the_conditional_multinomial_likelihood(seed):
    counts, n, z, site, caught = marked(seed)

    def log_probabilities(theta):
        eta = theta[0] + theta[1] * (z[site] - 0.5)
        missed = -np.logaddexp(0, eta).sum(axis=1)
        return (caught * eta).sum(axis=1) + missed, missed

    theta, number = conditional(log_probabilities, 2)
    result = fit(counts)
    p = result.detection(counts.attributes, spread=True)
    own = expit(theta[0] + theta[1] * (z - 0.5)).ravel()
    assert (np.abs(p.estimate - own) < (p.high - p.low) / 3.3).mean() > 0.9
    found = result.population.numbers()
    assert abs(found.estimate[0] - number) < (found.high[0] - found.low[0]) / 3.3
    assert found.low[0] < n.sum() < found.high[0]
    assert not result.population.doubts
    table = totals(counts, result)
    assert table["reported"][0] == len(site)
    for name, value in (("N", found.estimate), ("N_low", found.low), ("N_high", found.high)):
        assert table[name][0] == pytest.approx(value[0])


def test_animals_that_differ_in_p_are_found_by_how_often_each_was_caught():
    counts, *_ = marked(8, deviation=1.5, sites=100, visits=6)
    result = fit(counts, CLOSED)
    assert Doubt.ANIMALS in result.population.doubts
    assert result.scale is None


@pytest.mark.parametrize("removed", [False, True])
def test_intervals_hold_n_where_animals_differ_in_p_and_too_few_visits_show_it(removed):
    held = 0
    for seed in range(8):
        rng = np.random.default_rng(seed)
        site, easy = rng.integers(0, 20, 400), rng.standard_normal((400, 1))
        caught = rng.random((400, 3)) < expit(easy - 0.4)
        if removed:
            caught &= caught.cumsum(axis=1) == 1
            y = np.array([np.bincount(site, each, 20) for each in caught.T]).T
            counts = CountTensor.from_dense(y, modes=["site", "visit"]).with_protocol("removal")
        else:
            counts = histories(site, caught)
        found = fit(counts, CLOSED).population.numbers()
        held += found.low[0] <= 400 <= found.high[0]
    assert held > 4


@pytest.mark.parametrize("by", ["labels", "exposure"])
def test_passes_of_a_removal_may_differ_in_effort(by):
    rng = np.random.default_rng(6)
    n, minutes = rng.poisson(20, 80), np.array([2.0, 3.0, 5.0])
    y = removed(rng, n, -np.expm1(-0.12 * minutes))
    labels = ["0-2 min", "2-5 min", "5-10 min"] if by == "labels" else ["1", "2", "3"]
    exposure = None if by == "labels" else np.broadcast_to(minutes, y.shape)
    counts = CountTensor.from_dense(
        y, modes=["point", "pass"], labels=[range(80), labels], exposure=exposure
    ).with_protocol("removal")
    found = fit(counts, FitSettings(rank=1, closed="pass"))
    number = found.population.numbers()
    assert not found.population.doubts
    assert number.estimate[0] == pytest.approx(n.sum(), rel=0.1)
    expected = found.expected_counts(counts).reshape(y.shape).sum(axis=0)
    np.testing.assert_allclose(expected, y.sum(axis=0), rtol=0.1)
    alike = CountTensor.from_dense(y, modes=["point", "pass"]).with_protocol("removal")
    assert fit(alike, FitSettings(rank=1, closed="pass")).population.doubts


def test_animals_that_come_and_go_are_caught_most_between_their_first_and_last_captures():
    rng = np.random.default_rng(5)
    first, stay = rng.integers(-3, 6, 600), rng.geometric(0.3, 600)
    visit = np.arange(6)
    there = (visit >= first[:, None]) & (visit < (first + stay)[:, None])
    caught = there & (rng.random((600, 6)) < 0.4)
    counts = histories(rng.integers(0, 20, 600), caught)
    assert Doubt.PRESENCE in fit(counts).population.doubts
    untold = fit(counts.with_captures(counts.captures[:, :3]))
    assert Doubt.PRESENCE not in untold.population.doubts


def test_what_a_design_cannot_show_is_said_before_n():
    marked_twice = CountTensor.from_histories(["a"] * 9, ["11"] * 5 + ["10", "10", "01", "01"])
    result = fit(marked_twice)
    assert "2 visits cannot show where that fails" in result.assumption()
    facts = list(result.summary(marked_twice).facts)
    assert facts.index("p") < facts.index("N")
    passes = CountTensor.from_dense([[9, 4, 2], [8, 3, 1]], modes=["site", "visit"])
    removal = fit(passes.with_protocol("removal"), CLOSED)
    assert "3 passes seldom show that p falls" in removal.assumption()
    assert fit(passes, CLOSED).assumption() == ""  # N is not shown
    visits = np.repeat(np.random.default_rng(3).poisson(6.0, (40, 1)), 4, axis=1)
    unmarked = fit(CountTensor.from_dense(visits, modes=["site", "visit"]), CLOSED)
    said = unmarked.assumption()
    assert said.index("N, the true number, is too small where") < said.index("do not show")


@pytest.mark.parametrize("habit", [1.0, -1.0])
def test_animals_that_learn_to_seek_or_shun_traps_are_found_by_captures_after_the_first(habit):
    counts, n, *_ = marked(21, habit=habit)
    result = fit(counts, CLOSED)
    found = result.population.numbers()
    assert not found.low[0] < n.sum() < found.high[0]
    assert {Doubt.HABIT, Doubt.VISIT_OR_HABIT} & {*result.population.doubts}
    untold = fit(counts.with_captures(counts.captures[:, :2]), CLOSED)
    assert Doubt.HABIT not in untold.population.doubts


def test_few_that_a_removal_caught_leave_open_how_many_there_are():
    y = np.array([[3, 3, 2], [2, 2, 1], [3, 0, 1]])  # 8, 5 and 4 by pass
    counts = CountTensor.from_dense(y, modes=["site", "visit"]).with_protocol("removal")
    theta = np.linspace(-9, 5, 2000)  # where all have the same p
    missed = -np.logaddexp(0, theta)
    log = 17 * theta + 30 * missed - 17 * np.log(-np.expm1(3 * missed)) - (theta + 1) ** 2 / 8
    below = np.exp(log - log.max()).cumsum()
    small = missed[np.searchsorted(below, 0.25 * below[-1])]
    found = fit(counts, CLOSED).population.numbers(level=0.5)
    assert found.high[0] > 0.8 * 17 / -np.expm1(3 * small)


def test_visits_that_remove_what_they_count():
    rng = np.random.default_rng(4)
    z, n = rng.random((80, 4)), rng.poisson(6.0, 80)
    y = removed(rng, n, expit(-0.5 + 2 * (z - 0.5)))
    site, caught = np.repeat(np.argwhere(y >= 0), y.ravel(), axis=0).T

    def log_probabilities(theta):
        eta = (theta[0] + theta[1] * (z - 0.5))[site]
        missed = -np.logaddexp(0, eta)
        before = missed.cumsum(axis=1) - missed
        rows = np.arange(len(site))
        return (before + missed + eta)[rows, caught], missed.sum(axis=1)

    _, number = conditional(log_probabilities, 2)
    plain = CountTensor.from_dense(y, modes=["site", "visit"], attributes=z[..., None])
    counts = plain.with_protocol("removal")
    assert counts.digest != plain.digest
    result = fit(counts, CLOSED)
    found = result.population.numbers()
    assert abs(found.estimate[0] - number) < (found.high[0] - found.low[0]) / 3.3
    assert found.low[0] < n.sum() < found.high[0]
    assert not result.population.doubts
    assert totals(counts, result)["reported"][0] == y.sum()
    free = fit(counts.with_detection_by("visit"), CLOSED)  # as many may be left as one likes
    assert Doubt.FLAT in free.population.doubts
    left = result.expected_counts(counts).reshape(y.shape).sum(axis=0)
    assert np.abs(left / y.sum(axis=0) - 1).max() < 0.15
    with pytest.raises(ValueError, match="all visits up to the last of each site"):
        fit(counts.subset(counts.indices[:, 1] != 1), CLOSED)


def test_marked_animals_are_saved_and_checked(reloaded):
    counts = CountTensor.from_histories(["b", "a", "b"], ["101", "001", "010"])
    again = reloaded(counts)
    assert again.captures.tolist() == [[1, 2, 0, 2], [0, 1, 2, 2], [1, 1, 1, 1]]
    assert again.digest == counts.digest != counts.with_counts(counts.counts).digest
    assert counts.subset([0, 1]).captures is None
    with pytest.raises(ValueError, match="add up to the counts"):
        counts.with_captures([[0, 2]])
    with pytest.raises(ValueError, match="captures must lie inside"):
        counts.with_captures([[1, 2, 0, 3], [0, 1, 2, 2], [1, 1, 1, 1]])
    with pytest.raises(ValueError, match="histories must have 2 to 60 characters"):
        CountTensor.from_histories(["a"], ["1?1"])
    for sites, levels, rule in (("a", "aa", "'a' occurs twice"), ([None], None, "row 1 is empty")):
        with pytest.raises(ValueError, match=rule):
            CountTensor.from_histories(sites, ["101"], levels=levels)
    with pytest.raises(ValueError, match="'visit' alone, by marked animals"):
        fit(counts, replace(CLOSED, closed=("site",)))
    with pytest.raises(ValueError, match="removal must be of counts of 2 modes"):
        CountTensor.from_dense(np.ones((2, 2, 2))).with_protocol("removal")


@pytest.mark.parametrize("last", [0.0, -1.0])
@pytest.mark.parametrize("form", ["numbers", "persons", "records"])
def test_persons_on_lists_are_read_and_lists_that_depend_on_each_other_are_found(last, form):
    rng = np.random.default_rng(1)
    names = ["hospital", "ngo", "police"]
    listed = rng.random((1000, 3)) < (0.3, 0.4, 0.2)
    listed[:, 2] = rng.random(1000) < expit(-1.4 + last * (listed[:, 1] - 0.4))
    table = pd.DataFrame(listed[listed.any(axis=1)].astype(int), columns=names)
    found = table.value_counts().rename("n").reset_index()
    if form != "numbers":
        found = table.assign(person=[f"P{k}" for k in range(len(table))])
    if form == "records":
        found = found.melt("person", var_name="source", value_name="on").query("on > 0")
        found = found.drop(columns="on")
    counts = Reading(found.to_csv(index=False)).data.counts
    assert counts.labels[1] == ("1 hospital", "2 ngo", "3 police")
    result = fit(counts, CLOSED)
    number = result.population.numbers()
    assert (number.low[0] < 1000 < number.high[0]) == (last == 0)
    assert (Doubt.HABIT in result.population.doubts) == (last != 0)


def test_animals_stay_marked_where_whole_sites_are_held_out():
    """Counts without their histories were fitted as of unmarked animals: N 265 to 913, not 400."""
    counts, n, *_ = marked(5)
    held = held_out(counts, kind="entry")
    seen = counts.subset(~held)
    assert not {*counts.indices[held, 0]} & {*seen.indices[:, 0]}
    left = np.unique(seen.indices[:, 0])
    found = fit(seen).population.numbers()
    assert found.low[0] < n[left].sum() < found.high[0] < 2 * found.low[0]
    assert counts.subset(np.arange(counts.n_observed) > 0).captures is None


@pytest.mark.filterwarnings("ignore::uncletc.MisfitWarning")
def test_p_that_differs_by_night_is_said_to_be_one_of_two_things_and_a_p_of_each_makes_it_right():
    rng = np.random.default_rng(3)
    caught = rng.random((300, 5)) < [0.15, 0.3, 0.6, 0.2, 0.5]
    counts = histories(np.zeros(300, dtype=int), caught)
    found = [fit(it, CLOSED).population for it in (counts, counts.with_detection_by("visit"))]
    assert Doubt.VISIT_OR_HABIT in found[0].doubts
    assert found[1].doubts == ()
    assert found[1].numbers().low[0] < 300 < found[1].numbers().high[0]
