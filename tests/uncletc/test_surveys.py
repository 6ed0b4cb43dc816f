"""Surveys of p or of true numbers, beside the counts of a table."""

import numpy as np
import pandas as pd
import pytest

from uncletc import CountTensor, FitSettings, Group, MisfitWarning, Recipe, Survey, estimates, fit

SITES, WEEKS = 20, 8


def counts_of(seed, *, attributes=True):
    """Counts whose level is not identified, and λ."""
    rng = np.random.default_rng(seed)
    rate = np.exp(rng.normal(3.5, 0.6, SITES))[:, None] * np.exp(rng.normal(0, 0.3, WEEKS))
    z = rng.uniform(-1, 1, (SITES, WEEKS))
    p = 1 / (1 + np.exp(1.5 - z)) if attributes else np.full_like(z, 0.3)
    indices = np.argwhere(rng.random(z.shape) < 0.9)
    counts = CountTensor(
        z.shape,
        indices,
        rng.poisson(rate * p)[tuple(indices.T)],
        attributes=z[tuple(indices.T)][:, None] if attributes else None,
        modes=["site", "week"],
        groups=[Group("region", ["site"], np.arange(SITES) // 10, ["north", "south"])],
    )
    return counts, rate


@pytest.fixture(scope="module")
def counts():
    return counts_of(3)[0]


@pytest.fixture(scope="module")
def alone(counts):
    return fit(counts, rank=1)


def rates(found):
    return found.rate_tensor()


class TestTables:
    def test_cells_name_one_label_several_or_all(self, counts):
        table = pd.DataFrame(
            {
                "site": [1, None, 2],
                "week": ["2 to 4", "1; 3", None],
                "region": [None, "south", None],
                "estimate": [20, 0.4, 30],
                "standard_error": [2, 0.1, 3],
                "of": [None, "p", "number"],
            }
        )  # pandas keeps whole numbers beside an empty cell as floats
        first, second, third = counts.with_surveys(table).surveys
        assert first == Survey(20, 2, {"site": "1", "week": ["2", "3", "4"]})
        assert second == Survey(0.4, 0.1, {"week": ["1", "3"], "region": "south"}, of="p")
        assert third == Survey(30, 3, {"site": "2"})
        given = counts.every_group, counts.modes, counts.shape
        assert first.entries(*given).tolist() == [[1, 2], [1, 3], [1, 4]]
        assert len(second.entries(*given)) == 20

    @pytest.mark.parametrize(
        ("columns", "sentence"),
        [
            ({"estimate": [3]}, "surveys must have a column 'standard_error'; they have estimate"),
            ({"estimate": ["a"], "standard_error": [1]}, "estimate must hold numbers; data row 1"),
            ({"estimate": [0], "standard_error": [1]}, "row 1 of surveys: estimate must be posit"),
            ({"estimate": [1], "standard_error": [0]}, "standard_error must be positive"),
            ({"estimate": [3], "standard_error": [3]}, "row 1 of surveys: standard_error must be"),
            ({"estimate": [3], "standard_error": [1], "of": ["q"]}, "of must be one of"),
            ({"estimate": [2], "standard_error": [1], "of": ["p"]}, "estimate must be at most 1"),
            ({"estimate": [3], "standard_error": [1], "day": [1]}, "must name modes .*; got 'day'"),
            (
                {"estimate": [3], "standard_error": [1], "week": ["1 to 9"]},
                "labels of week, such as '0', '1', '2'; got '1 to 9'",
            ),
        ],
    )
    def test_what_is_wrong_is_said_in_one_sentence(self, counts, columns, sentence):
        with pytest.raises(ValueError, match=sentence) as error:
            counts.with_surveys(pd.DataFrame(columns))
        assert "\n" not in str(error.value)

    def test_one_label_needs_no_list(self):
        assert Survey(20, 2, {"week": 1}) == Survey(20, 2, {"week": ["1"]})
        with pytest.raises(TypeError, match="where must map modes or groups to labels, got 'site'"):
            Survey(20, 2, "site")

    def test_go_into_files_and_identify_the_counts(self, counts, reloaded):
        given = counts.with_surveys([Survey(300, 30, {"site": ["1", "2"]}, of="number")])
        assert reloaded(given).surveys == given.surveys
        assert given.digest != counts.digest == given.with_surveys([]).digest
        recipe = Recipe(fit=FitSettings(rank=1), surveys=given.surveys)
        assert Recipe.from_toml(recipe.to_toml()) == recipe
        with pytest.raises(ValueError, match=r"\[\[surveys\]\] estimate must be positive"):
            Recipe.from_toml(recipe.to_toml().replace("estimate = 300.0", "estimate = 0.0"))


class TestFits:
    @pytest.mark.parametrize(("of", "estimate"), [("number", 400), ("p", 0.2)])
    def test_of_one_entry_is_as_uncertain_as_counts_scatter(self, counts, of, estimate):
        one = Survey(estimate, estimate / 100, {"site": "4", "week": "3"}, of=of)
        for mu in (2.0, 2000.0):
            found = fit(counts, rank=1, mu=mu, surveys=[one])
            total = found.mean("rate", counts.indices)
            least = 2 * 1.645 * np.sqrt(np.log1p(1 / mu))
            assert np.log(total.high[0] / total.low[0]) > least

    def test_one_survey_sets_the_level_and_nothing_else(self, counts, alone, reloaded):
        site = rates(alone)[4].sum()
        found = fit(counts, rank=1, surveys=[Survey(3 * site, 0.3 * site, {"site": "4"})])
        assert alone.scale is None
        assert found.scale.statement == "calibrated to 1 survey"
        np.testing.assert_allclose(rates(found), 3 * rates(alone), rtol=1e-6)
        expected = counts.indices, counts.attributes_at(counts.indices)
        np.testing.assert_allclose(found.expected(*expected), alone.expected(*expected), rtol=1e-6)
        total = found.mean("rate", counts.indices)
        assert 0.14 < np.log(total.high / total.estimate)[0] < 0.32  # 1.64 times .1, and the fit's
        p = found.mean("detection", counts.attribute_indices, counts.attributes)
        assert 0.14 < np.log(p.estimate / p.low)[0] < 0.32
        assert reloaded(found).mean("rate", counts.indices).low == pytest.approx(total.low)

    def test_of_p_is_the_share_that_was_counted(self, counts):
        there = counts.indices[:, 0] == 4
        where = counts.indices[there]
        found = fit(counts, rank=1, surveys=[Survey(0.2, 0.02, {"site": "4"}, of="p")])
        z = counts.attributes_at(where)
        assert found.expected(where, z).sum() / found.rate(where).sum() == pytest.approx(0.2)

    def test_surveys_that_agree_with_the_fit_do_not_move_it(self, counts, alone):
        totals = rates(alone).sum(axis=1)
        surveys = [Survey(2 * totals[i], 0.2 * totals[i], {"site": str(i)}) for i in range(6)]
        found = fit(counts, rank=1, surveys=surveys)
        np.testing.assert_allclose(rates(found), 2 * rates(alone), rtol=2e-3)

    def test_several_move_groups_as_far_as_counts_leave_open(self, counts, alone):
        totals = rates(alone).sum(axis=1)
        more = Survey(2.4 * totals[4], 0.05 * totals[4], {"site": "4"})
        others = [Survey(2 * totals[i], 0.1 * totals[i], {"site": str(i)}) for i in (1, 2, 3)]
        ratio = rates(fit(counts, rank=1, surveys=[more, *others])).sum(axis=1) / totals
        assert 2.02 < ratio[4] / np.median(ratio) * 2 < 2.4

    def test_surveys_that_contradict_each_other_leave_the_level_open(self, counts, alone):
        totals = rates(alone).sum(axis=1)
        surveys = [Survey(k * totals[i], 0.01 * totals[i], {"site": str(i)}) for i, k in PAIRS]
        with pytest.warns(MisfitWarning, match="surveys differ from what the fit says"):
            found = fit(counts, rank=1, surveys=surveys)
        assert "χ²" in found.misfit
        open_level = "Surveys or known p do not agree on the level, so only relative"
        assert found.level_warning.startswith(open_level)
        assert "relative_rate" in estimates.totals(counts.with_surveys(surveys), found)
        np.testing.assert_array_equal(rates(found), rates(alone))
        with pytest.warns(MisfitWarning, match="fewer events happened than were reported"):
            assert fit(counts, rank=1, surveys=[Survey(counts.counts.sum() / 3, 5)]).scale is None
        sentence = r"surveys; these are others \(counts.with_surveys\(surveys\) has those given"
        with pytest.raises(ValueError, match=sentence):
            estimates.totals(counts, found)

    def test_surveys_that_differ_beyond_their_errors_widen_intervals(self, counts, alone):
        """Three that differed by 30 % with errors of 10 % held the total in .56 of tables."""
        totals = rates(alone).sum(axis=1)

        def fitted(*ratios):
            given = zip((1, 2, 3, 5), ratios, strict=True)
            surveys = [Survey(k * totals[i], 0.05 * totals[i], {"site": str(i)}) for i, k in given]
            return fit(counts, rank=1, surveys=surveys)

        def half_width(found):
            total = found.mean("rate", counts.indices)
            return float(np.log(total.high / total.estimate)[0])

        agree = fitted(2.0, 2.05, 1.95, 2.0)
        with pytest.warns(MisfitWarning, match="intervals hold a further error of 3.% of each"):
            differ = fitted(1.3, 1.6, 2.5, 3.1)
        assert differ.scale == agree.scale
        assert rates(differ).sum() == pytest.approx(rates(agree).sum(), rel=0.06)
        assert half_width(agree) < 0.18
        assert 0.25 < half_width(differ) < 0.45  # 1.645 standard errors of the mean are .33

    def test_without_attributes_p_is_one_number(self):
        counts, rate = counts_of(5, attributes=False)
        found = fit(counts, rank=1, surveys=[Survey(rate[:10].sum(), 50, {"region": "north"})])
        assert found.mean_detection == pytest.approx(0.3, rel=0.15)
        assert rates(found).sum() == pytest.approx(rate.sum(), rel=0.15)
        p = found.detection(np.empty((1, 0)), spread=True)
        assert p.low < p.estimate < p.high

    def test_with_random_effects(self):
        counts, rate = counts_of(6)
        surveys = [Survey(rate[i].sum(), 0.1 * rate[i].sum(), {"site": str(i)}) for i in range(4)]
        found = fit(counts, rank=1, effects=("site", "week"), surveys=surveys)
        total = found.mean("rate", np.argwhere(np.ones_like(rate)))
        assert total.low < rate.mean() < total.high

    def test_do_not_go_with_repeat_visits_or_block_descent(self, counts):
        for options in ({"closed": "week"}, {"solver": "bcd"}):
            with pytest.raises(ValueError, match="surveys need the joint solver without closed"):
                fit(counts, rank=1, surveys=[Survey(50, 5)], **options)
        nobody = CountTensor((2, 2), [[0, 0], [0, 1]], [3, 4])
        with pytest.raises(ValueError, match="a survey must concern at least one entry"):
            fit(nobody, rank=1, surveys=[Survey(0.5, 0.1, {"mode 1": "1"}, of="p")])


PAIRS = [(1, 2.0), (2, 4.0), (3, 1.0)]
