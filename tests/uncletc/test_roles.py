"""Roles of attributes: what acts on the true rate, and in which direction p may move."""

from dataclasses import replace

import numpy as np
import pytest

from uncletc import BCD, CountTensor, FitSettings, Joint, Role, Roles, fit, metrics
from uncletc.result.assumptions import ACT_ON_BOTH

SHAPE = (14, 14, 12)
NAMES = ("rising", "falling", "both")


def made(*, joint=False, share=0.6):
    """Counts whose p rises, falls, and hangs on an attribute that moves λ too; λ, p and all z."""
    rng = np.random.default_rng(3)
    factors = [rng.gamma(2.0, 1.0, (size, 2)) for size in SHAPE]
    z = rng.random((int(np.prod(SHAPE)), 3))
    x = rng.normal(size=len(z))
    logit = 2 * np.tanh(4 * (z[:, 0] - 0.5)) - 3 * z[:, 1] + z[:, 2]
    if joint:
        logit = logit + 6 * np.sign((z[:, 0] - 0.5) * (z[:, 1] - 0.5))
    p = 1 / (1 + np.exp(-logit))
    rate = 10 * np.einsum("ir,jr,kr->ijk", *factors).ravel() * np.exp(0.4 * x - 0.8 * z[:, 2])
    indices = np.column_stack(np.unravel_index(np.arange(len(z)), SHAPE))
    seen = np.sort(rng.permutation(len(z))[: int(share * len(z))])
    counts = CountTensor(
        SHAPE,
        indices[seen],
        rng.binomial(rng.poisson(rate), p)[seen],
        attributes=z,
        attribute_indices=indices,
        attribute_names=NAMES,
        rate_attributes=np.column_stack([x, z[:, 2]]),
        rate_attribute_names=("people", "both"),
    )
    return counts, rate, p, z


@pytest.fixture(scope="module")
def problem():
    return made()


@pytest.fixture(scope="module")
def fitted(problem):
    return fit(problem[0], FitSettings(rank=2, signs={"rising": 1, "falling": -1}))


def along(fit, attribute):
    """p where one attribute alone runs over its range and beyond."""
    z = np.full((80, 3), 0.4)
    z[:, attribute] = np.linspace(-0.1, 1.1, 80)
    return fit.detection(z)


class TestRateAttributes:
    def test_are_told_from_detection(self, problem, fitted):
        counts, rate, p, z = problem
        assert metrics.mae_rate(fitted.rate_tensor(), rate.reshape(SHAPE)) < 0.06
        assert metrics.mae_detection(fitted.detection(z), p) < 0.06
        without = fit(counts.with_roles(), FitSettings(rank=2, solver=Joint(network="never")))
        assert metrics.mae_rate(without.rate_tensor(), rate.reshape(SHAPE)) > 0.2

    def test_slopes_have_intervals_about_the_truth(self, fitted):
        slopes = fitted.rate_slopes(level=0.99)
        truth = np.exp([0.4, -0.8 * np.sqrt(1 / 12)])
        assert ((slopes.low < truth) & (truth < slopes.high)).all()
        np.testing.assert_allclose(slopes.estimate[0], truth[0], rtol=0.05)

    def test_alone_leave_p_at_one(self, problem):
        counts = problem[0].with_roles(detection=(), rate=("people",))
        found = fit(counts, FitSettings(rank=2))
        assert found.n_attributes == 0
        assert (found.detection(np.empty((3, 0))) == 1).all()
        predicted = found.expected(counts.indices).sum()
        np.testing.assert_allclose(predicted, counts.counts.sum(), rtol=0.02)

    def test_survive_a_file(self, fitted, reloaded):
        again = reloaded(fitted)
        where = [[0, 1, 2], [3, 4, 5]]
        np.testing.assert_array_equal(again.rate(where), fitted.rate(where))
        np.testing.assert_array_equal(again.rate_slopes().low, fitted.rate_slopes().low)
        assert again.settings == fitted.settings


class TestSigns:
    @pytest.mark.parametrize("hidden", [(8, 8), ()], ids=["curves", "lines"])
    def test_hold_over_the_whole_range(self, problem, hidden):
        signs, solver = {"rising": -1, "falling": -1}, Joint(network="never")
        wrong = FitSettings(rank=2, hidden=hidden, signs=signs, solver=solver)
        found = fit(problem[0], wrong)
        assert np.ptp(along(found, 0)) < 1e-6  # no p can fall with what it rises with
        assert (np.diff(along(found, 1)) <= 1e-9).all()
        assert np.ptp(along(found, 1)) > 0.1

    @pytest.mark.slow
    def test_hold_beside_a_network(self):
        counts = made(joint=True)[0]
        found = fit(counts, FitSettings(rank=2, signs={"rising": 1}))
        assert (np.diff(along(found, 0)) >= -1e-9).all()

    @pytest.mark.parametrize(
        ("signs", "says"),
        [
            ({"a": 2}, "signs must be -1 or 1, got 2 for 'a'"),
            ([("a", 1), ("a", 1)], "'a' occurs twice"),
            ("a", "signs must map names"),
            ({"people": 1}, "signs must name attributes .*, got 'people'"),
        ],
    )
    def test_wrong_ones_are_named(self, problem, signs, says):
        with pytest.raises((ValueError, TypeError), match=says):
            fit(problem[0], FitSettings(rank=1, signs=signs))


def test_the_papers_algorithm_knows_neither(problem):
    with pytest.raises(ValueError, match="rate_attributes need the joint solver"):
        fit(problem[0], FitSettings(rank=2, solver="bcd"))
    with pytest.raises(ValueError, match="signs need the joint solver"):
        FitSettings(rank=1, solver=BCD(), signs={"a": 1})


class TestRoles:
    def test_apply_and_undo(self, problem):
        counts = problem[0]
        stated = [Role("both", "rate"), Role("falling", "both", -1), Role("people", "neither")]
        roles = Roles(stated)
        given = roles.apply(counts)
        assert given.attribute_names == ("rising", "falling")
        assert given.rate_attribute_names == ("falling", "both")
        assert roles.signs == {"falling": -1}
        np.testing.assert_array_equal(given.rate_attributes[:, 1], counts.attributes[:, 2])
        assert given.digest != counts.digest

    def test_wrong_ones_are_named(self, problem):
        with pytest.raises(ValueError, match="'wind'"):
            Roles([Role("wind")]).apply(problem[0])
        with pytest.raises(ValueError, match="'a' occurs twice"):
            Roles([Role("a"), Role("a", "rate")])
        with pytest.raises(ValueError, match="sign must be 0 for an attribute without effect"):
            Role("a", "rate", 1)
        with pytest.raises(ValueError, match="detection must hold distinct names"):
            problem[0].with_roles(detection=["rising", "rising"])


def test_a_slope_that_factors_of_sites_take_is_not_determined():
    rng = np.random.default_rng(3)
    x = rng.standard_normal((20, 1))
    y = rng.poisson(np.broadcast_to(20 * np.exp(0.5 * x), (20, 12)))
    counts = CountTensor.from_dense(y, attributes=rng.random((20, 12, 1)), modes=["site", "week"])
    counts = replace(counts, rate_attributes=np.repeat(x, 12)[:, None], rate_attribute_names=["x"])
    found = fit(counts, rank=1, hidden=())
    assert np.isnan(found.rate_slopes().estimate[0])
    of_p, of_rate, *_ = found.assumption().split(". ")
    assert of_p.startswith("p is taken to have nothing to do with x, as only λ depends on it")
    assert of_rate.startswith("What x may do to λ is not determined: each site has")
    slope = fit(counts, rank=1, hidden=(), effects=["site", "week"]).rate_slopes()
    assert np.log(slope.estimate[0]) == pytest.approx(0.5 * x.std(), abs=0.15)


def effort_and_wind(seed, *, of_site=False, slope=0.8, linked=0.0):
    """Counts whose p rises with effort, which wind may go with but does nothing itself."""
    rng = np.random.default_rng(seed)
    rate = 20 * np.exp(rng.normal(0, 0.7, (30, 1)) + rng.normal(0, 0.4, (1, 15)))
    where = np.argwhere(rng.random(rate.shape) < 0.8)
    effort = rng.normal(size=30)[where[:, 0]] if of_site else rng.normal(size=len(where))
    wind = linked * effort + np.sqrt(1 - linked**2) * rng.normal(size=len(where))
    p = 1 / (1 + np.exp(1 - slope * effort))
    y = rng.poisson(rate[tuple(where.T)] * p * rng.gamma(5, 1 / 5, len(where)))
    z = {"attributes": np.column_stack([effort, wind]), "attribute_names": ("effort", "wind")}
    return CountTensor(rate.shape, where, y, modes=("site", "week"), **z)


class TestSignsThatCountsContradict:
    @pytest.fixture(params=[(), ("site", "week")], ids=["factors", "random effects"])
    def settings(self, request):
        solver = Joint(network="never")
        return FitSettings(rank=2, effects=request.param, solver=solver, signs={"effort": 1})

    def test_are_named_before_the_estimates(self, settings):
        wrong = fit(effort_and_wind(1), replace(settings, signs={"effort": -1}))
        assert "The sign of effort is stated as p falls with it, but" in str(wrong.summary())
        assert "check its sign, leave it open, or let it act on λ too" in wrong.assumption()
        assert not fit(effort_and_wind(1), settings).assumption()
        free = fit(effort_and_wind(1), replace(settings, signs={}))
        assert not free.assumption()

    def test_an_attribute_that_does_nothing_may_have_either_sign(self, settings):
        for sign in (-1, 1):
            found = fit(effort_and_wind(2, slope=0.0), replace(settings, signs={"effort": sign}))
            assert not found.assumption()

    def test_one_that_goes_with_another_is_not_named_in_its_place(self, settings):
        counts = effort_and_wind(3, linked=0.7)
        said = fit(counts, replace(settings, signs={"effort": -1, "wind": -1})).assumption()
        assert "The sign of effort" in said
        assert "The sign of wind" not in said

    def test_counts_of_sites_may_be_what_lambda_has_there(self, settings):
        counts = effort_and_wind(5, of_site=True)
        said = fit(counts, replace(settings, signs={"effort": -1})).assumption()
        assert said.startswith("p by effort assumes that λ does not depend on it")
        assert ACT_ON_BOTH in said

    def test_a_direction_that_lambda_can_make_up_for_is_named_unless_it_is_stated(self, settings):
        counts = effort_and_wind(5, of_site=True)  # wind does nothing
        counts = counts.with_roles(detection=["effort", "wind"], rate=["effort"])
        free, stated = (fit(counts, replace(settings, signs=it)) for it in ({}, {"effort": 1}))
        assert "Whether p rises or falls with effort is hardly known" in free.assumption()
        assert "rises or falls" not in stated.assumption()
