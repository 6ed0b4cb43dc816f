"""Several looks at one entry: they share λ, and a known p states its scale."""

from dataclasses import replace

import numpy as np
import pytest

from uncletc import CountTensor, FitSettings, Joint, MisfitWarning, Observations, fit, metrics
from uncletc.data.stacked import StackedObservations

SHAPE = (14, 14, 12)
KNOWN = 0.05
# Attributes act one by one here, so that a network is looked for in one fit alone.
ALONE = FitSettings(rank=2, solver=Joint(network="never"))


class Problem:
    """Counts with attributes, and what further observation processes see."""

    def __init__(self):
        rng = self.rng = np.random.default_rng(5)
        factors = [rng.gamma(2.0, 1.0, (size, 2)) for size in SHAPE]
        self.z = rng.random((int(np.prod(SHAPE)), 2))
        self.p = 1 / (1 + np.exp(1.5 - 3 * self.z[:, 0] + 2 * self.z[:, 1]))
        self.rate = 12 * np.einsum("ir,jr,kr->ijk", *factors).ravel()
        self.every = np.column_stack(np.unravel_index(np.arange(len(self.z)), SHAPE))
        seen = rng.random(len(self.z)) < 0.3
        self.some = np.flatnonzero(rng.random(len(self.z)) < 0.5)
        self.counts = CountTensor(
            SHAPE,
            self.every[seen],
            rng.poisson(self.rate * self.p)[seen],
            attributes=self.z,
            attribute_indices=self.every,
        )

    def deaths(self, scatter=0.2, name="deaths", **options):
        """A stream of which 5 % of true events are counted, with a scatter of its own."""
        mean = KNOWN * self.rate[self.some]
        y = self.rng.poisson(mean * self.rng.gamma(1 / scatter, scatter, len(mean)))
        options = {"known_detection": KNOWN, **options}
        return Observations(name, self.every[self.some], y, **options)

    def second(self):
        """An observer as good as the first."""
        mean = (self.rate * self.p)[self.some]
        return Observations("second", self.every[self.some], self.rng.poisson(mean))


@pytest.fixture(scope="module")
def problem():
    return Problem()


@pytest.fixture(scope="module")
def anchored(problem):
    return fit(problem.counts.with_observations(problem.deaths()), FitSettings(rank=2))


def test_known_detection_anchors_the_scale_and_each_look_has_its_own_scatter(problem, anchored):
    total = anchored.mean("rate", problem.every, level=0.99)
    assert total.low[0] < problem.rate.mean() < total.high[0]
    np.testing.assert_allclose(anchored.detection(problem.z).mean(), problem.p.mean(), rtol=0.15)
    assert anchored.anchored_by == "deaths"
    assert anchored.scale.absolute
    assert anchored.scale.factor == 1
    assert "deaths" in anchored.scale.statement
    assert anchored.mu > 100
    assert 2 < anchored.mu_of_observations["deaths"] < 15


def test_a_second_observer_tells_about_the_rate(problem):
    once, twice = fit(problem.counts, ALONE), problem.counts.with_observations(problem.second())
    truth = problem.rate.reshape(SHAPE)
    found = fit(twice, ALONE)
    error = metrics.mae_rate(found.rate_tensor(), truth)
    assert found.scale is None  # of which nothing is known
    assert found.detection(problem.z).max() == pytest.approx(1.0)
    assert error < 0.8 * metrics.mae_rate(once.rate_tensor(), truth)


def test_expected_counts_add_up_to_those_of_the_observers_that_scatter_least():
    rng = np.random.default_rng(1)
    rate = np.exp(rng.normal(3, 0.5, (20, 1)) + np.zeros(15))
    where = np.argwhere(rate > 0)
    rough, exact = rng.poisson(rate * rng.gamma(0.5, 2, rate.shape)), rng.poisson(rate)
    counts = CountTensor(rate.shape, where, rough.ravel(), attributes=rng.random((300, 1)))
    counts = counts.with_observations(Observations("second", where, exact.ravel()))
    found = fit(counts, FitSettings(rank=1, effects=["mode 1", "mode 2"]))
    assert abs(rough.sum() / rate.sum() - 1) > 0.05
    assert found.expected_counts(counts).sum() == pytest.approx(rate.sum(), rel=0.03)


def test_looks_may_have_attributes_of_their_own(problem):
    observer = np.column_stack([problem.z, np.zeros(len(problem.z))])
    other = observer[problem.some] + [0, 0, 1]  # an observer who sees half as much
    logit = np.log(problem.p[problem.some] / (1 - problem.p[problem.some])) - 1
    y = problem.rng.poisson(problem.rate[problem.some] / (1 + np.exp(-logit)))
    process = Observations("other", problem.every[problem.some], y, attributes=other)
    counts = replace(problem.counts, attributes=observer, attribute_names=None)
    found = fit(counts.with_observations(process), ALONE)
    ratio = found.detection(other) / found.detection(observer[problem.some])
    truth = 1 / (1 + np.exp(-logit)) / problem.p[problem.some]
    np.testing.assert_allclose(np.median(ratio / truth), 1.0, rtol=0.1)


def test_detection_is_one_number_without_attributes(problem):
    rng = np.random.default_rng(0)
    y = rng.poisson(0.3 * problem.rate[problem.some])
    counts = CountTensor(SHAPE, problem.every[problem.some], y, observations=[problem.deaths()])
    found = fit(counts, ALONE)
    np.testing.assert_allclose(found.mean_detection, 0.3, rtol=0.15)
    np.testing.assert_allclose(found.expected(counts.indices).sum(), y.sum(), rtol=0.03)


def test_a_shared_error_widens_the_scale(problem, anchored):
    process = problem.deaths(known_error=0.4, local_error=0.3)
    wide = fit(problem.counts.with_observations(process), ALONE)
    own, before = (each.mean("rate", problem.every) for each in (wide, anchored))
    np.testing.assert_allclose(np.log(own.high / own.low) / 3.29, 0.4, rtol=0.15)
    assert np.log(before.high / before.low) < 0.3
    both = wide.expected(problem.every[:50], problem.z[:50], spread=True)
    assert np.median(np.log(both.high / both.low)) < 0.6  # of ŷ it says nothing
    assert not anchored.assumption()
    assert wide.assumption() == (
        "Known p of deaths are taken to err alike everywhere: their local_error needs an effect on "
        "detection, such as detection(mode 1)"
    )


def test_known_p_are_pooled_by_their_errors_and_those_that_conflict_leave_the_level_open(problem):
    vague = problem.deaths(name="hospital", known_error=0.5, known_detection=0.6 * KNOWN)
    sure = problem.deaths(known_error=0.05)
    alone, both = (
        fit(problem.counts.with_observations(*given), ALONE).mean("rate", problem.every)
        for given in ([sure], [vague, sure])
    )
    np.testing.assert_allclose(both.estimate, alone.estimate, rtol=0.02)
    np.testing.assert_allclose(both.high / both.low, alone.high / alone.low, rtol=0.15)
    mild = problem.deaths(name="hospital", known_detection=KNOWN / 1.4)
    with pytest.warns(MisfitWarning, match="processes with a known p differ by more"):
        found = fit(problem.counts.with_observations(problem.deaths(), mild), ALONE)
    total = found.mean("rate", problem.every)
    assert total.low[0] < problem.rate.mean() < 1.4 * problem.rate.mean() < total.high[0]
    other = problem.deaths(name="hospital", known_error=0.05, known_detection=KNOWN / 3)
    with pytest.warns(MisfitWarning, match="processes with a known p differ by more"):
        found = fit(problem.counts.with_observations(sure, other), ALONE)
    assert found.scale is None
    assert found.level_warning


def test_few_known_p_set_the_level_and_the_form_of_the_curve_does_not():
    rng, where = np.random.default_rng(0), np.argwhere(np.ones((20, 15)))
    rate = 20 * np.exp(rng.normal(0, 0.7, 20)[where[:, 0]] + rng.normal(0, 0.4, 15)[where[:, 1]])
    z, few = rng.uniform(-1, 1, (300, 2)), rng.choice(300, 8, replace=False)
    y = rng.poisson(0.4 * rate / (1 + np.exp(0.8 - z @ [0.8, 0.8])))
    process = Observations("thorough", where[few], rng.poisson(rate[few]), known_detection=1.0)
    counts = CountTensor((20, 15), where, y, attributes=z, observations=[process])
    found = fit(counts, FitSettings(rank=1, effects=("mode 1", "mode 2")))
    np.testing.assert_allclose(found.rate(where[few]).sum(), process.counts.sum(), rtol=0.04)
    total, error = found.mean("rate", where), process.counts.sum() ** -0.5
    assert 1 < np.log(total.high / total.low)[0] / 3.29 / error < 1.6
    alone = fit(counts, rank=1)
    assert alone.mu_of_observations["thorough"] == alone.mu


def test_exposure_goes_with_its_rows(reloaded):
    process = Observations("again", [[0, 0], [1, 1]], [3, 1], exposure=[1.0, 2.5])
    counts = CountTensor((2, 3), [[0, 0]], [4], observations=[process])
    assert StackedObservations.of(counts).exposure.tolist() == [1.0, 1.0, 2.5]
    assert counts.digest != counts.with_observations(replace(process, exposure=1.0)).digest
    assert reloaded(counts).observations[0].exposure.tolist() == [1.0, 2.5]


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"known_detection": 1.5}, r"in \(0, 1\] or NaN; .* 0 is 1.5"),
        ({"known_detection": [0.5, 0.5]}, "each of 1 rows"),
        ({"exposure": [0.0]}, "above 0; position 0 is 0.0"),
        ({"exposure": [1, 1]}, "exposure must be one number, or one"),
        ({"counts": [-1]}, "counts must be >= 0"),
        ({"known_error": -1}, "known_error must be at least 0"),
        ({"local_error": np.inf}, "local_error must be at least 0 and finite, got inf"),
        ({"indices": [[0, 0]] * 2, "counts": [1, 1]}, "indices of 'a' must be distinct"),
        ({"indices": [[0, 9]]}, "indices of 'a' must lie inside shape"),
        ({"attributes": [[1.0, 2.0]]}, "must have the 1 columns"),
        (None, "each of observations must be Observations, got str"),
    ],
)
def test_wrong_ones_are_named(given, says):
    usual = {"name": "a", "indices": [[0, 0]], "counts": [1]}

    def counts():
        process = "a" if given is None else Observations(**usual | given)
        return CountTensor((2, 2), [[0, 0]], [1], attributes=[[0.5]], observations=[process])

    with pytest.raises((ValueError, TypeError), match=says):
        counts()
