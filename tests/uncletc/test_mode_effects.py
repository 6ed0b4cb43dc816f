"""Effects of modes and groups: how they are stated, fitted, kept and predicted with."""

from dataclasses import replace

import numpy as np
import pytest

from uncletc import (
    BCD,
    CountTensor,
    Effect,
    FitSettings,
    Group,
    MisfitWarning,
    ModeEffects,
    Observations,
    fit,
    simulate,
)
from uncletc.estimates import group_sums
from uncletc.result.assumptions import TOO_LITTLE
from uncletc.solvers.network import stage
from uncletc.tables import usual_effects

SITES, DAYS = 30, 28


def sites_and_days(seed=0, *, observed=0.7):
    """Counts of sites on days; the second half of the sites hardly reports on weekends."""
    rng = np.random.default_rng(seed)
    site, weekend = rng.normal(0, 0.7, SITES), np.arange(DAYS) % 7 >= 5
    wave = np.sin(np.arange(DAYS) / 4)
    rate = 30 * np.exp(site[:, None] + wave[None])
    late = np.arange(SITES) >= SITES // 2
    reporting = np.where(late[:, None] & weekend[None], 0.1, 1.0)
    y = rng.poisson(rate * reporting * rng.gamma(5, 1 / 5, rate.shape))
    seen = rng.random(rate.shape) < observed
    day, where = np.arange(DAYS), np.argwhere(seen)
    groups = [
        Group("office", ["site"], late.astype(int), ["prompt", "late"]),
        Group("weekday", ["day"], day % 7, list("MTWTFSS")),
        Group("day", ["day"], day, list(map(str, day)), day[:, None]),
    ]
    counts = CountTensor(rate.shape, where, y[seen], modes=("site", "day"), groups=groups)
    return counts, rate, reporting, y, ~seen


def first_days(counts, n):
    """The counts as they were when n days had passed."""
    groups = []
    for group in counts.groups:
        if group.modes == ("day",):
            levels = n if group.name == "day" else 7
            positions = None if group.positions is None else group.positions[:levels]
            own = group.codes[:n], group.labels[:levels], positions
            group = Group(group.name, ["day"], *own)
        groups.append(group)
    seen = counts.indices[:, 1] < n
    at, y = counts.indices[seen], counts.counts[seen]
    return CountTensor((SITES, n), at, y, modes=counts.modes, groups=groups)


EFFECTS = ("site", "smooth(day, 3)", "reporting(office × weekday)")


@pytest.fixture(scope="module")
def fitted():
    counts, *_ = sites_and_days()
    return fit(counts, FitSettings(rank=1, effects=EFFECTS))


class TestStating:
    @pytest.mark.parametrize(
        "text",
        ["site × weekday", "smooth(day, 10)", "reporting(site × smooth(day))",
         "orthogonal(site (ID))", "reporting(site (ID) × smooth(day (UTC), 10))"],
    )  # fmt: skip
    def test_text_is_read_and_written_alike(self, text):
        assert str(Effect.parse(text)) == text

    @pytest.mark.parametrize(
        ("effects", "message"),
        [
            *(
                ([text], "effects must")
                for text in ("", "smooth()", "site ×", "orthogonal(a × b)", "smooth(a, -1)")
            ),
            (["site", " site "], "'site' occurs twice"),
        ],
    )
    def test_other_texts_are_refused(self, effects, message):
        with pytest.raises((ValueError, TypeError), match=message):
            FitSettings(rank=1, effects=effects)
        with pytest.raises(ValueError, match="effects need the joint solver"):
            FitSettings(rank=1, effects=["site"], solver=BCD())

    @pytest.mark.parametrize(
        ("text", "rule"),
        [("town", "must name modes or groups"), ("smooth(office)", "groups with positions")],
    )
    def test_counts_must_have_them(self, text, rule):
        counts, *_ = sites_and_days()
        with pytest.raises(ValueError, match=rule):
            fit(counts, FitSettings(rank=1, effects=[text]))


class TestFit:
    def test_a_total_is_known_as_well_as_its_counts_are(self, fitted):
        (total,) = group_sums(fitted, sites_and_days()[0]).table().itertuples()
        assert 1.05 < total.rate_high / total.rate_low < 1.3

    def test_reporting_is_told_from_the_rate(self, fitted):
        _, rate, reporting, _, _ = sites_and_days()
        every = np.argwhere(rate > 0)
        found = fitted.mode_effects.reporting(every).reshape(rate.shape)
        ratio = found / found[:, :5].mean(axis=1, keepdims=True)
        assert np.median(ratio[reporting < 1]) < 0.25
        assert np.median(ratio[:15, 5:7]) > 0.8
        weekends, week = fitted.rate(every).reshape(rate.shape)[20, 5:7], rate[20, 5:7]
        assert np.corrcoef(fitted.rate(every), rate.ravel())[0, 1] > 0.95
        assert (weekends / week).std() < 0.5

    def test_file_holds_all(self, fitted, reloaded):
        loaded = reloaded(fitted)
        assert np.array_equal(loaded.rate_tensor(), fitted.rate_tensor())
        where = [[20, 5], [3, 2]]
        assert np.array_equal(loaded.expected(where), fitted.expected(where))
        assert loaded.mode_effects.deviations == fitted.mode_effects.deviations
        assert loaded.mu_power == fitted.mu_power
        both = [one.expected(where, spread=True).high for one in (loaded, fitted)]
        assert both[0] == pytest.approx(both[1], rel=1e-6)

    def test_intervals_hold_what_effects_may_be(self):
        counts, rate, reporting, _, _ = sites_and_days(3)
        found = fit(counts, FitSettings(rank=1, effects=EFFECTS))
        where, level = np.argwhere(rate > 0), reporting.mean(axis=1, keepdims=True)
        for of, truth in (("rate", rate * level), ("expected", rate * reporting)):
            interval = getattr(found, of)(where, spread=True)
            held = (interval.low <= truth.ravel()) & (truth.ravel() <= interval.high)
            assert held.mean() > 0.8
            assert np.median(interval.high / interval.low) < 4
        sites = found.mean("rate", where, groups=where[:, 0])
        truth = (rate * level).mean(axis=1)
        assert ((sites.low <= truth) & (truth <= sites.high)).mean() > 0.7

    def test_in_the_end_effects_share_with_attributes_and_p_stays(self):
        rng = np.random.default_rng(4)
        x = rng.normal(size=(SITES, 9))  # which tell nothing of the level of a site
        level = 0.7 * np.sin(np.arange(SITES) / 3) + 0.4 * x[:, 0]
        y = rng.poisson(20 * np.exp(level)[:, None] * rng.gamma(3, 1 / 3, (SITES, DAYS)))
        site = np.arange(SITES)
        place = Group("place", ["site"], site, list(map(str, site)), site[:, None].astype(float))
        z = np.repeat(x[:, None], DAYS, axis=1)
        every = CountTensor.from_dense(y, attributes=z, modes=("site", "day"))
        counts = every.with_roles(detection=["z1"], rate=[f"z{k}" for k in range(2, 10)])
        counts = counts.with_groups(place)
        logs, slopes = [], []

        def watch(now):
            found = now.current()
            logs.append(np.log(found.detection(x[:, :1])))
            slopes.append(found.effects.slopes)

        settings = FitSettings(rank=1, signs={"z1": 1}, effects=["orthogonal(smooth(place, 2))"])
        orthogonal = fit(counts, settings, callback=watch)
        shared = fit(counts, replace(settings, effects=["smooth(place, 2)"]))
        steady = [abs(each - logs[-1]).max() < 1e-6 for each in logs]
        first = steady.index(True)
        assert 0 < first < len(steady) - 5
        assert all(steady[first:])
        assert logs[-1].std() > np.log(shared.detection(x[:, :1])).std()
        assert abs(slopes[first]).max() > 0.15  # of what has nothing to do with the counts
        assert abs(orthogonal.effects.slopes).max() < 0.1

    def test_rare_counts_settle(self):
        rng = np.random.default_rng(2)
        at = np.argwhere(rng.random((60, 20)) < 0.15)
        z = rng.normal(size=(len(at), 2))
        rate = 3 * np.exp(rng.normal(0, 0.6, 60))[at[:, 0]]
        y = rng.poisson(rate / (1 + np.exp(4 - 2 * z[:, 0] - 1.5 * z[:, 1])))
        counts = CountTensor((60, 20), at, y, attributes=z, modes=("site", "day"))
        effects = ["site", "day", "site × smooth(day)"]
        assert len(fit(counts, FitSettings(rank=1, effects=effects)).history) < 100

    @pytest.mark.parametrize("seed", [105, 106])
    def test_slopes_of_sites_are_as_uncertain_as_sites_differ(self, seed):
        """One among others that say nothing fell to 0, with a narrow interval."""
        rng = np.random.default_rng(seed)
        x, w = rng.normal(size=(SITES, 6)), rng.normal(size=(SITES, DAYS))
        level = 1.5 + 0.4 * x[:, :1] + 0.5 * rng.normal(size=(SITES, 1))
        y = rng.poisson(np.exp(level) / (1 + np.exp(-w)))
        z = np.concatenate([w[:, :, None], np.repeat(x[:, None], DAYS, axis=1)], axis=2)
        every = CountTensor.from_dense(y, attributes=z, modes=("site", "day"))
        counts = every.with_roles(detection=["z1"], rate=[f"z{k}" for k in range(2, 8)])
        slopes = fit(counts, FitSettings(rank=1, effects=["site", "day"])).rate_slopes()
        assert np.log(slopes.low[0]) < 0.4 < np.log(slopes.high[0])
        assert np.log(slopes.high / slopes.low).min() > 0.2  # 30 sites, which differ by .5


def test_ranges_of_deviations_hold_them_as_often_as_said():
    rng = np.random.default_rng(0)
    group = Group("site", ["site"], np.arange(SITES), list(map(str, range(SITES))))
    held = 0
    for _ in range(400):
        of_levels = float(np.sqrt(np.square(rng.normal(0, 0.7, SITES)).mean()))
        of_sites = ("site",), (Effect.parse("site"),), ((group,),), (np.zeros(SITES),)
        effects = ModeEffects(*of_sites, (of_levels,))
        ((low, high),) = effects.deviation_ranges()
        held += low < 0.7 < high
    assert held / 400 == pytest.approx(0.9, abs=0.04)


@pytest.mark.parametrize("rank", [1, 2])
@pytest.mark.parametrize(("shape", "low", "high"), [(np.inf, 100, np.inf), (4.0, 2.5, 7.0)])
def test_mu_of_a_small_table_comes_from_every_count(shape, low, high, rank):
    """From a sample of them it was 9 to 128 for one table, as the seed had it."""
    rng = np.random.default_rng(5)
    rate = 20 * np.exp(rng.normal(0, 0.8, (20, 1)) + rng.normal(0, 0.5, 15))
    y = rng.poisson(rate * (1.0 if np.isinf(shape) else rng.gamma(shape, 1 / shape, rate.shape)))
    counts = CountTensor(y.shape, np.argwhere(y >= 0), y.ravel(), modes=("site", "day"))
    found = [fit(counts, rank=rank, effects=["site", "day"], seed=seed) for seed in range(3)]
    assert all(low < each.mu < high for each in found)
    assert np.ptp([np.log(each.mu) for each in found]) < 0.2
    assert np.ptp([each.mode_effects.deviations for each in found], axis=0).max() < 0.02


def test_given_mu_near_poisson_ends_in_a_fit_that_follows_no_single_count():
    """Counts scatter far more than μ = 10000 allows: φ has to take that, not the effects."""
    counts, rate, reporting, _, hidden = sites_and_days(1)
    wide = replace(counts, counts=20 * counts.counts)
    with pytest.warns(MisfitWarning, match="scatter"):
        found = fit(wide, FitSettings(rank=1, mu=1e4, effects=EFFECTS))
    free = fit(wide, FitSettings(rank=1, effects=EFFECTS))
    assert found.dispersion > 2
    where = np.argwhere(hidden)
    truth = 20 * (rate * reporting)[hidden]
    error, best = (np.abs(np.log(f.expected(where) / truth)).mean() for f in (found, free))
    assert error < 1.5 * best


@pytest.mark.parametrize("effects", [(), ("site", "week", "site × week")])
def test_counts_without_covariates_may_be_detected_less_than_others(effects):
    """A third of the entries has no covariates, and .3 times the p of others."""
    rng = np.random.default_rng(3)
    shape = 20, 15, 4
    where = np.argwhere(np.ones(shape))
    site, week = np.exp(rng.normal(0, 0.6, (20, 2))), np.exp(rng.normal(0, 0.4, (15, 2)))
    rate = 20 * np.einsum("if,jf->ij", site, week)[where[:, 0], where[:, 1]]
    z, unknown = rng.uniform(-1, 1, len(where)), rng.random(len(where)) < 0.33
    p = 1 / (1 + np.exp(1 - 2 * z)) * np.where(unknown, 0.3, 1.0)
    counts = CountTensor(
        shape,
        where,
        rng.poisson(rate * p),
        modes=("site", "week", "pass"),
        attributes=z[~unknown, None],
        attribute_indices=where[~unknown],
    )
    found = fit(counts, FitSettings(rank=2, effects=effects))
    error = np.log(found.detection(counts.attributes) / p[~unknown])
    assert error.std() < 0.1
    expected = found.expected(where[unknown], np.full((unknown.sum(), 1), np.nan))
    assert 0.9 < expected.sum() / counts.counts[unknown].sum() < 1.1


@pytest.mark.parametrize("seed", [0, 1])
def test_a_level_that_a_step_left_open_is_no_scatter(seed):
    """Large counts were taken to scatter with μ = 130, and expected ones were .05 to .1 off."""
    rng = np.random.default_rng(seed)
    city, year, month = shape = 20, 12, 8
    course = np.cumsum(rng.normal(0, 0.1, (city, year)), axis=1)
    season = 0.3 * np.sin(np.arange(month)) * np.exp(rng.normal(0, 0.2, (city, 1)))
    log_rate = rng.normal(0, 1.2, (city, 1, 1)) + course[:, :, None] + season[:, None]
    rate, where = 300 * np.exp(log_rate).ravel(), np.argwhere(np.ones(shape))
    listings = (rate * np.exp(rng.normal(0, 0.3, rate.shape)))[:, None]
    labels = [[f"city {i}" for i in range(city)], range(2000, 2000 + year), range(1, month + 1)]
    given = {"modes": ("city", "year", "month"), "labels": labels, "attributes": listings}
    counts = CountTensor(shape, where, rng.poisson(rate), **given)
    found = fit(counts, FitSettings(rank=1, effects=[*usual_effects(counts)]))
    assert found.mu > 1000
    assert 0.7 < found.dispersion < 1.3
    assert np.log(found.expected(where, listings) / rate).std() < 0.04


@pytest.mark.parametrize("rank", [1, 3])
def test_factors_come_first_where_modes_act_together_along_few_patterns(rank):
    """The error of log λ was .25 beside effects of all pairs of modes."""
    counts, truth = simulate(seed=0)
    found = fit(counts, FitSettings(rank=rank, effects=[*usual_effects(counts)]))
    assert found.has_patterns == (rank > 1)
    error = np.log(found.rate_tensor() / truth.rate).std()
    assert (error < 0.08) == (rank > 1)
    more = fit(counts, FitSettings(rank=4, effects=found.settings.effects), start=found)
    assert more.has_patterns
    assert np.log(more.rate_tensor() / truth.rate).std() < 0.08


def test_factors_stay_flat_where_random_effects_say_it_all():
    found = fit(sites_and_days()[0], FitSettings(rank=3, effects=EFFECTS))
    assert not found.has_patterns


REGIONS = 12


def regions(seed, effects, *, local=0.2, deaths=True, most=0.4):
    """A fit of sites on days whose p differs by region, deaths with errors of regions beside."""
    rng = np.random.default_rng(seed)
    region = np.arange(60) % REGIONS
    z, beyond = rng.normal(size=60), rng.normal(0, 0.4, REGIONS)
    p = np.exp(beyond[region]) * most / (1 + np.exp(-z))
    rate = 40 * np.exp(rng.normal(0, 0.7, 60)[:, None] + np.sin(np.arange(DAYS) / 4))
    y = rng.poisson(rate * p[:, None] * rng.gamma(10, 1 / 10, rate.shape))
    where = np.argwhere(y >= 0)
    died = rng.poisson(0.1 * np.exp(local * rng.normal(size=REGIONS))[region][:, None] * rate)
    known = {"known_detection": 0.1, "known_error": 0.1, "local_error": local}
    died = Observations("deaths", where, died.ravel(), **known)
    counts = CountTensor(
        y.shape,
        where,
        y.ravel(),
        modes=("site", "day"),
        groups=[Group("region", ["site"], region, list(map(str, range(REGIONS))))],
        attributes=z[where[:, 0], None],
        observations=[died] if deaths else [],
    )
    found = fit(counts, FitSettings(rank=1, effects=("orthogonal(site)", "day", *effects)))
    return found, counts, p[where[:, 0]], rate.ravel(), beyond


class TestDetection:
    OF_REGIONS = ("detection(region)",)

    def test_deaths_show_where_p_departs_from_its_attributes(self, reloaded):
        found, counts, p, rate, beyond = regions(0, self.OF_REGIONS)
        where, z = counts.indices, counts.attributes
        assert np.corrcoef(found.mode_effects.tables[-1], beyond)[0, 1] > 0.85
        assert not found.assumption()  # what local_error is for
        here, of_attributes = found.detection(z, where), found.detection(z)
        error = [np.log(each / p).std() for each in (here, of_attributes)]
        assert error[0] < 0.75 * error[1]
        assert np.log(found.rate(where) / rate).std() < 0.3
        np.testing.assert_allclose(
            found.expected(where, z), found.rate(where) * here, rtol=1e-6
        )  # λ has what p has not
        np.testing.assert_array_equal(reloaded(found).detection(z, where), here)

    def test_intervals_of_p_hold_what_deaths_leave_open(self):
        held = []
        for seed in (1, 2):
            found, counts, p, _, _ = regions(seed, self.OF_REGIONS)
            first = np.unique(counts.indices[:, 0], return_index=True)[1]
            given = counts.attributes[first], counts.indices[first]
            interval = found.detection(*given, spread=True)
            held.append(((interval.low < p[first]) & (p[first] < interval.high)).mean())
        assert np.mean(held) > 0.8

    def test_an_entry_whose_p_is_above_1_lowers_no_other(self):
        found, counts, *_ = regions(0, self.OF_REGIONS, most=0.8)
        assert found.detection(counts.attributes, counts.indices).max() > 1.1
        assert found.expected_counts(counts).sum() == pytest.approx(counts.counts.sum(), rel=0.05)

    def test_without_deaths_it_is_none(self):
        found, counts, *_ = regions(0, self.OF_REGIONS, deaths=False)
        alone, *_ = regions(0, (), deaths=False)
        given = counts.attributes, counts.indices
        np.testing.assert_array_equal(found.detection(*given), found.detection(given[0]))
        np.testing.assert_allclose(found.detection(*given), alone.detection(*given), rtol=5e-3)
        wide, narrow = (each.detection(*given, spread=True) for each in (found, alone))
        more = (np.log(each.high / each.low) / 3.29 for each in (wide, narrow))
        assert np.median(np.subtract(*map(np.square, more))) == pytest.approx(0.09, rel=0.6)


class TestStartingFromAFit:
    @pytest.mark.parametrize("change", [{"rank": 2}, {"mu": 3.0}])
    def test_the_answer_is_that_without_a_start(self, change, monkeypatch):
        monkeypatch.setattr("uncletc.solvers.joint.rounds._MANY", 0)
        counts, *_ = sites_and_days()
        # Further factors would get what a day has beside a smooth effect alone.
        before = FitSettings(rank=1, effects=(*EFFECTS, "day"))
        settings, start = replace(before, **change), fit(counts, before)
        warm, cold = fit(counts, settings, start=start), fit(counts, settings)
        logs = [np.log(each.expected(counts.indices)) for each in (warm, cold)]
        assert np.corrcoef(logs)[0, 1] > 0.999
        assert len(warm.history) < 0.8 * len(cold.history)
        # Further factors take over from the effects of sites, in one fit a little more.
        assert warm.history[-1].objective == pytest.approx(cold.history[-1].objective, rel=0.1)
        assert warm.mu == pytest.approx(cold.mu, rel=0.15)

    def test_days_may_be_appended_and_sites_be_others(self, fitted):
        counts, *_ = sites_and_days()
        others = replace(counts, indices=np.abs(counts.indices - (SITES - 1, 0)))
        for before in (first_days(counts, DAYS - 7), others):
            warm = fit(counts, fitted.settings, start=fit(before, fitted.settings))
            assert warm.mu == pytest.approx(fitted.mu, rel=0.15)
            logs = [np.log(each.expected(counts.indices)) for each in (warm, fitted)]
            assert np.corrcoef(logs)[0, 1] > 0.999

    def test_a_network_is_asked_for_once_while_days_are_few_more(self, monkeypatch):
        asked, rng = [], np.random.default_rng(2)
        monkeypatch.setattr(stage, "joint_effect", lambda *_: asked.append(1) or 0.0)
        y, z = rng.poisson(5.0, (20, 40)), rng.random((20, 40, 1))

        def some(n, start=None, **settings):
            counts = CountTensor.from_dense(y[:, :n], attributes=z[:, :n])
            return fit(counts, FitSettings(rank=1, effects="mode 1", **settings), start=start)

        before = some(25)
        assert asked == [1]
        assert some(30, before).shape == (20, 30)
        assert asked == [1]
        some(30, before, hidden=(9,))
        some(40, before)
        assert asked == [1, 1, 1]

    def test_fewer_days_than_before_are_refused(self, fitted):
        counts, *_ = sites_and_days()
        with pytest.raises(ValueError, match="start must have the shape of counts"):
            fit(first_days(counts, 20), FitSettings(rank=1, effects=EFFECTS), start=fitted)


def test_detection_by_species_alone_adds_up_to_the_counts_and_the_known_number():
    """Without attributes p still differs between entries, and ŷ is λ times p of each."""
    rng = np.random.default_rng(2)
    p = np.array([0.2, 0.3, 0.4, 0.5, 0.6, 0.75])
    n = rng.poisson(np.exp(rng.normal(3, 1, (6, 1)) + rng.normal(0, 0.7, (6, 140))))
    where, months = np.argwhere(n >= 0), rng.permutation(140)[:70]
    y, watched = rng.binomial(n, p[:, None]), where[np.isin(where[:, 1], months)]
    alive = rng.binomial(n[tuple(watched.T)], 0.8)
    marked = Observations("marked", watched, alive, known_detection=0.8)
    counts = CountTensor(n.shape, where, y.ravel(), modes=["species", "month"])
    effects = ["species", "species × month", "detection(species)"]
    found = fit(counts.with_observations(marked), FitSettings(rank=1, effects=effects))
    one = found.quantities(counts, where[::140], found.scale)
    np.testing.assert_allclose(one["detection"].estimate, p, rtol=0.3)
    np.testing.assert_allclose(found.expected(where).sum(), y.sum(), rtol=0.01)
    np.testing.assert_allclose(found.rate(where).sum(), n.sum(), rtol=0.15)
    own = found.observed_detection.reshape(n.shape).mean(axis=1)
    np.testing.assert_allclose(own, p, rtol=0.4)


def site_attribute(others=0, together=0.0):
    """Counts whose λ rises with an attribute of sites, p does not; others act a little on λ.

    Sites and days act together along one pattern of this size.
    """
    rng = np.random.default_rng(0)
    level = rng.normal(size=20)
    same = np.repeat(0.7 * level + 0.7 * rng.normal(size=20), 15)
    z = np.column_stack([rng.uniform(-1, 1, 300), same, rng.normal(size=(300, others))])
    p = 1 / (1 + np.exp(1 - z[:, 0]))
    log_rate = 0.8 * np.repeat(level, 15) + z[:, 2:] @ rng.normal(0, 0.08, others)
    log_rate += together * np.outer(np.sin(3 * level + 1), np.sin(np.arange(15) ** 2)).ravel()
    y = rng.poisson(20 * np.exp(log_rate) * p)
    return CountTensor((20, 15), np.argwhere(np.ones((20, 15))), y, attributes=z)


def test_an_attribute_that_is_one_with_places_is_said_and_may_act_on_both():
    """λ of sites rises with it and p does not: counts alone cannot tell."""
    counts, settings = site_attribute(), FitSettings(rank=1, effects=["mode 1", "mode 2"])
    alone, both = fit(counts, settings), fit(counts.with_roles(rate="z2"), settings)
    assert "p by z2 assumes" in str(alone.summary())
    assert alone.confint().loc[("detection", "z2"), "low"] > 1
    assert not both.assumption()
    assert both.confint().loc[("detection", "z2"), "low"] < 1


def test_p_by_what_sites_have_is_as_unsure_whatever_factors_could_take_up():
    """Factors of two components, or of a mode without effects, explained how sites differ.

    So did those of a mode whose effect is smooth, which says too little of sites that are not. And
    λ is but for interactions no less sure: what sites have is off in effects, not in factors too.
    Factors that come first, where modes act together, made p a third as unsure.
    """
    counts, together = site_attribute(), site_attribute(together=0.7)

    def widths(rank, *effects, counts=counts):
        found = fit(counts, FitSettings(rank=rank, effects=effects))
        slope = found.confint().loc[("detection", "z2")]
        rate = found.rate(counts.indices, spread=True)
        return np.log([slope["high"] / slope["low"], np.median(rate.high / rate.low)])

    alone = widths(1, "mode 1", "mode 2")
    others = ["mode 1", "mode 2"], ["smooth(mode 1)", "mode 2"], ["mode 1"]
    for other in (widths(1, "mode 2"), *(widths(2, *effects) for effects in others)):
        slope, rate = other / alone
        assert 0.85 < slope < 1.3
        assert 0.9 < rate < 1.22
    main = "mode 1", "mode 2"
    first = widths(2, *main, "mode 1 × smooth(mode 2)", counts=together)
    assert 0.85 < (first / widths(2, *main, counts=together))[0] < 1.3


def test_an_attribute_that_is_one_with_reporting_is_said_to_assume_that_of_reporting():
    """λ of sites and days does not explain what differs by site and weekday: reporting may."""
    rng, where = np.random.default_rng(3), np.argwhere(np.ones((10, 28)))
    z = rng.normal(size=(10, 7))[where[:, 0], where[:, 1] % 7]
    y = rng.poisson(30 / (1 + np.exp(-z)))
    week = Group("weekday", ["mode 2"], np.arange(28) % 7, list("MTWtFSs"))
    counts = CountTensor((10, 28), where, y, attributes=z[:, None], groups=[week])
    effects = ["mode 1", "mode 2", "reporting(mode 1 × weekday)"]
    said = fit(counts, FitSettings(rank=1, effects=effects)).assumption()
    assert said.startswith("p by z1 assumes that reporting does not depend on it")
    assert "λ" not in said


def test_that_p_differs_too_little_without_random_effects_is_said():
    """Ratios of p at high and low values of a site's attribute were .6 of true, held .38 of .90."""
    counts = site_attribute()
    for effects in ([], ["mode 1"]):
        said = fit(counts, FitSettings(rank=1, hidden=(), effects=effects)).assumption()
        assert (TOO_LITTLE in said) == (not effects)


def test_attributes_of_rates_alone_leave_open_what_one_of_both_does():
    counts, settings = site_attribute(6), FitSettings(rank=1, effects=["mode 1", "mode 2"])
    counts = counts.with_roles(detection=["z1", "z2"], rate=[f"z{j}" for j in range(2, 9)])
    slope = fit(counts, settings).confint().loc[("detection", "z2")]
    assert slope["low"] < 1 < slope["high"]
