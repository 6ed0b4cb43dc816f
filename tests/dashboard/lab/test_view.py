"""The tables of the Lab, against the model's formulas and against fits made here."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import poisson

from dashboard.lab.lessons import LESSONS, QUESTIONS, STEPS, lesson_links
from dashboard.lab.view import (
    CURVES,
    LEVERS,
    LINES,
    NETWORK,
    Setup,
    change,
    compare,
    compare_models,
    final_errors,
    in_figures,
    lever_script,
    models_words,
    one_entry,
    picture,
    recovery,
    rescaled,
    simulated,
    slice_table,
    trials,
    truth_of,
)
from dashboard.shared.sidebar.model import settings_of
from dashboard.work.worker import recovery_errors
from uncletc import Fit, fit, simulate

SETUP = Setup(observed=0.3, attributed=0.2, similar=0.1, seed=3)
SETTINGS = settings_of(rank=2, mu=100, layers=0, members=1)


@pytest.fixture(scope="module")
def dataset():
    return simulated(SETUP)


@pytest.fixture(scope="module")
def found(dataset) -> Fit:
    return fit(dataset.counts, SETTINGS)


class TestSetup:
    def test_more_similar_than_attributed_entries_count_as_all_of_them(self):
        assert replace(SETUP, similar=0.9).arguments["similar"] == SETUP.attributed
        assert SETUP.arguments["similar"] == SETUP.similar

    def test_a_data_set_without_truth_is_refused(self, dataset):
        with pytest.raises(ValueError, match="must be simulated"):
            truth_of(replace(dataset, truth=None))


class TestOneEntry:
    def test_dots_are_the_events_and_those_filled_are_counted(self):
        view = one_entry(20, 0.5, 4)
        assert len(view.events) == view.happened
        assert view.events["counted"].sum() == view.counted
        assert len(view.events[["x", "y"]].drop_duplicates()) == view.happened
        assert view.events["x"].max() == 9

    def test_both_kinds_of_place_follow_the_formula(self):
        draws = one_entry(20, 0.5, 0).draws
        for column in ("share", "twin"):
            assert draws[column].sum() == pytest.approx(1)
            assert (draws["count"] * draws[column]).sum() == pytest.approx(10, abs=0.4)
            # Of 2,000 draws, a share has a standard deviation of .008 at most.
            assert (draws[column] - draws["formula"]).abs().max() < 0.035
        assert draws["formula"].to_numpy() == pytest.approx(poisson.pmf(draws["count"], 10))


class TestSlice:
    @pytest.fixture
    def table(self, dataset):
        return slice_table(dataset, 4)

    def test_counts_stand_where_they_were_counted(self, table, dataset):
        counts = dataset.counts
        seen = counts.indices[:, 2] == 4
        expected = {
            (row + 1, column + 1): count
            for (row, column, _), count in zip(
                counts.indices[seen].tolist(), counts.counts[seen].tolist(), strict=True
            )
        }
        given = table.dropna(subset="counted").set_index(["row", "column"])["counted"]
        assert given.to_dict() == expected
        assert picture(table, "rate").to_numpy() == pytest.approx(truth_of(dataset).rate[:, :, 4])
        assert (table["true_count"] >= table["counted"].fillna(0)).all()

    def test_what_happened_follows_the_model(self, dataset):
        table = pd.concat([slice_table(dataset, k) for k in range(20)])
        for rows in (table, table[table["counted"].notna()], table[table["counted"].isna()]):
            total = rows["rate"].sum()
            assert rows["true_count"].sum() == pytest.approx(total, abs=5 * np.sqrt(total))

    def test_figures_in_words(self, dataset):
        text = in_figures(dataset)
        assert "8,000 entries **2,400** were counted, 1,600 of these with" in text
        assert f"**{dataset.counts.counts.sum():,}**" in text


class TestScale:
    def test_rates_and_p_move_and_what_is_counted_does_not(self, dataset):
        one, two = rescaled(dataset, 1.0), rescaled(dataset, 1.6)
        assert (two.entries["rate"] / one.entries["rate"]).to_numpy() == pytest.approx(1.6)
        assert (one.entries["p"] / two.entries["p"]).to_numpy() == pytest.approx(1.6)
        assert two.entries["expected"].to_numpy() == pytest.approx(one.entries["expected"])
        assert two.limits == one.limits

    def test_the_bound_is_the_largest_p_of_all_entries(self, dataset):
        p = truth_of(dataset).detection
        view = rescaled(dataset, 0.6)
        assert view.least == p.max()
        assert view.n_impossible == (p > 0.6).sum() > 0
        assert rescaled(dataset, view.least * 1.0001).n_impossible == 0
        assert rescaled(dataset, view.least * 0.9999).n_impossible >= 1


class TestCompare:
    def test_errors_are_the_papers(self, dataset, found):
        truth = truth_of(dataset)
        p = found.detection(truth.attributes.reshape(-1, 5)).reshape(truth.detection.shape)
        rate = found.rate(np.argwhere(np.ones(truth.rate.shape, bool))).reshape(truth.rate.shape)
        at = compare(dataset, found).errors
        for value, estimate, true in (
            (at["rate"], rate, truth.rate),
            (at["detection"], p, truth.detection),
        ):
            own = np.abs(estimate / estimate.mean() - true / true.mean()).mean()
            assert value == pytest.approx(own)

    def test_one_factor_brings_estimates_to_the_truth(self, dataset, found):
        view = compare(dataset, found)
        entries = view.entries
        assert entries["rate_hat"].mean() == pytest.approx(entries["rate"].mean())
        where = entries[["i", "j", "k"]].to_numpy() - 1
        assert entries["rate_hat"].to_numpy() == pytest.approx(
            found.rate(where) * view.scale.factor
        )
        z = truth_of(dataset).attributes[tuple(where.T)]
        assert entries["p_hat"].to_numpy() == pytest.approx(found.detection(z) / view.scale.factor)
        assert entries["counted"].sum() == dataset.counts.n_observed

    def test_what_is_ordered_is_the_fit_of_these_counts(self, dataset):
        order = recovery(SETUP, SETTINGS)
        counts, truth = simulate(**order.simulation)
        assert counts.digest == dataset.counts.digest
        assert (truth.rate == truth_of(dataset).rate).all()
        assert order.settings == SETTINGS


class TestLevers:
    MOVED = {  # noqa: RUF012
        "entries counted": {"observed"},
        "attributes known": {"attributed", "similar"},
        "similar attributes": {"similar"},
        "SNR": {"snr_db"},
        "true events": {"factor_max"},
        "network size": {"hidden"},
        "rank assumed": {"rank"},
    }

    @pytest.mark.parametrize("lever", LEVERS)
    def test_a_lever_moves_one_thing(self, lever):
        tried, usual = trials(lever, SETUP, SETTINGS, 2), recovery(SETUP, SETTINGS)
        assert [name["value"] for name, _ in tried[::2]] == list(LEVERS[lever].values)
        assert {name["seed"] for name, _ in tried} == {3, 4}
        assert len({order for _, order in tried}) == len(tried)
        for name, order in tried:
            arguments = order.simulation | {"seed": SETUP.seed}
            changed = {key for key in arguments if arguments[key] != usual.simulation[key]}
            fields = vars(order.settings)
            changed |= {key for key in fields if fields[key] != vars(SETTINGS)[key]}
            assert changed <= self.MOVED[lever]
            assert order.simulation["seed"] == name["seed"]

    def test_overlap_is_the_share_of_counted_entries_with_attributes(self):
        for name, order in trials("attributes known", SETUP, SETTINGS, 1):
            counts, _ = simulate(**order.simulation)
            known = (counts.attribute_rows >= 0).mean()
            assert known == pytest.approx(name["value"], abs=0.001)

    @pytest.mark.parametrize(
        ("last", "kind"), [(0.07, "Fall"), (0.09, "Hardly change"), (0.13, "Rise")]
    )
    def test_change_from_first_to_last_median(self, last, kind):
        table = pd.DataFrame(
            {
                "value": [1.0, 1.0, 1.0, 2.0, 2.0],
                "seed": [0, 1, 2, 0, 1],
                "rate": [0.1, 9.0, 0.05, last, last],
                "detection": [0.5, 0.5, 0.5, 0.5, 0.5],
            }
        )
        found, says = change(table, "rate")
        assert found == kind
        assert "From 1 to 2" in says
        assert f"0.100 → {last:.3f}" in says
        assert change(table, "detection")[0] == "Hardly change"


@pytest.mark.parametrize(
    "lever", ["attributes known", pytest.param("network size", marks=pytest.mark.slow)]
)
def test_the_script_makes_the_fits_of_a_lever(lever, monkeypatch, run_script):
    few = replace(LEVERS[lever], values=LEVERS[lever].values[1:3])
    monkeypatch.setitem(LEVERS, lever, few)
    made = []
    for name, order in trials(lever, SETUP, SETTINGS, 2):
        counts, truth = simulate(**order.simulation)
        errors = recovery_errors(fit(counts, order.settings), truth)
        made.append((name, {"curve": [[1, errors]]}))
    table = run_script(lever_script(lever, SETUP, SETTINGS, 2))
    pd.testing.assert_frame_equal(table, final_errors(made), rtol=1e-12)


class TestModels:
    @pytest.mark.parametrize("layers", [0, 1])
    def test_three_fits_of_the_same_counts(self, layers):
        tried = compare_models(SETUP, settings_of(layers=layers, rank=2))
        orders = {name["g"]: order for name, order in tried}
        assert list(orders) == [LINES, CURVES, NETWORK]
        assert {str(order.simulation) for order in orders.values()} == {str(SETUP.arguments)}
        sizes = [len(order.settings.hidden) for order in orders.values()]
        assert sizes == [0, layers or 3, layers or 3]
        chosen = [each.settings.solver.network for each in orders.values()]
        assert chosen == ["supported", "never", "supported"]

    @pytest.mark.parametrize(
        ("errors", "says"),
        [
            ((0.6, 0.6, 0.1), "Only the network"),
            ((0.6, 0.1, 0.1), "Curves are enough"),
            ((0.1, 0.1, 0.1), "straight lines"),
            ((0.6, 0.1, 0.11), "hardly helps"),
        ],
    )
    def test_words_name_the_model_that_is_needed(self, errors, says):
        table = final_errors(
            ({"g": g}, {"curve": [[1, {"detection": 9}], [5, {"detection": error}]]})
            for g, error in zip((LINES, CURVES, NETWORK), errors, strict=True)
        )
        assert table["detection"].tolist() == list(errors)
        assert says in models_words(table)


class TestLessons:
    def test_links_for_the_readme(self):
        lines = lesson_links().splitlines()
        assert len(lines) == len(LESSONS) == len(STEPS) == 5
        for line, lesson in zip(lines, LESSONS, strict=True):
            assert line == f"- [{lesson.title}](/lab?{lesson.query}): {lesson.aim}"

    def test_questions_have_three_answers_one_of_them_right(self):
        for step, question in QUESTIONS.items():
            assert len(set(question.answers)) == 3
            if step != "levers":
                right = [answer for answer in question.answers if question.verdict(answer)[0]]
                assert right == [question.right]
                assert question.verdict(right[0])[1].startswith("**Right.**")
