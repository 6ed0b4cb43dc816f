"""Which fits are compared, their held-out errors, and what is said of them."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from dashboard.shared.sidebar.model import settings_of
from dashboard.whatif import view
from tests.uncletc.made import dataset_of
from uncletc import CountTensor, metrics


def usual(**changes):
    values = {"rank": 5, "mu": 100, "layers": 2, "units": 10, "members": 3}
    return settings_of(**(values | {"seed": 1} | changes))


def seen_of(counts):
    return view.without_held_out(dataset_of(counts, pd.DataFrame())).counts


class TestRuns:
    def test_differences_name_both_values_and_nothing_else(self):
        a = view.Run(settings=usual())
        assert view.differences(a, view.Run(settings=usual(rank=7))) == "From A to B: rank (5 → 7)."
        assert "identical" in view.differences(a, a)
        closed = view.Run(settings=replace(usual(), closed=("visit",)))
        assert "closed visits (none → visit)" in view.differences(a, closed)

    def test_held_out_counts_are_a_tenth_and_not_seen(self, small):
        held = {tuple(entry) for entry in small.indices[view.held_rows(small)].tolist()}
        seen = {tuple(entry) for entry in seen_of(small).indices.tolist()}
        assert len(held) == round(small.n_observed / 10)
        assert not seen & held
        assert seen | held == {tuple(entry) for entry in small.indices.tolist()}

    @pytest.mark.parametrize(("sites", "held"), [("abcde", 2), ("ab", 0)])
    def test_of_few_sites_a_fifth_is_held_out_or_none(self, sites, held):
        marked = CountTensor.from_histories([*sites] * 2, ["11"] * len(sites) + ["10"] * len(sites))
        assert len(view.held_rows(marked)) == held
        assert seen_of(marked).n_observed == marked.n_observed - held


@pytest.fixture(scope="module")
def second_fit(ppi_twin, short_fit):
    return short_fit(view.without_held_out(ppi_twin).counts, 2, hidden=(5,))


def test_a_score_is_that_of_the_held_out_entries(small, short_fit):
    found = short_fit(seen_of(small))
    held, p = view.held_rows(small), found.detection(small.attributes)
    y, rows = small.counts[held], small.attribute_rows[held]
    detection = np.where(rows < 0, p.mean(), p[rows])
    expected = np.maximum(found.rate(small.indices[held]) * detection, 1e-3)
    result = view.score(dataset_of(small, pd.DataFrame()), found)
    assert result.deviances == pytest.approx(metrics.poisson_deviances(y, expected))
    assert result.deviance == pytest.approx(metrics.poisson_deviance(y, expected))
    assert result.rrmse == pytest.approx(metrics.rrmse(y, expected))


class TestVerdict:
    noise = np.random.default_rng(0).normal(size=400)

    @pytest.fixture
    def said(self, ppi_twin, monkeypatch):
        def words(a, b, groups=None):
            groups = np.arange(400) if groups is None else groups
            monkeypatch.setattr(view, "held_places", lambda _: groups)
            scores = [view.Score(1.0, each.mean(), each) for each in (a, b)]
            made = dict(zip("AB", scores, strict=True))
            return view.held_out_words(made, ppi_twin)

        return words

    def test_a_clear_difference_names_which_is_ahead(self, said):
        a, b = 10 + self.noise, 9 + 0.9 * self.noise
        assert said(a, b).startswith("**B predicts held-out counts better**")
        assert said(b, a).startswith("**A predicts held-out counts better**")
        assert "400 counts in 400 interactions" in said(a, b)

    def test_days_of_a_place_are_no_independent_evidence(self, said):
        # Each of 20 places favours one side on all of its 20 days, A in a few places more.
        by_place = np.repeat(np.where(np.arange(20) < 12, 1.0, -1.0), 20)
        places = np.repeat(np.arange(20), 20)
        a, b = np.full(400, 10.0), 10 + by_place
        assert said(a, b).startswith("**A predicts")  # were the days independent
        assert "about equally well" in said(a, b, places)
        assert "400 counts in 20 interactions" in said(a, b, places)


def test_simulated_counts_have_errors_against_the_truth(ppi_twin, ppi_fit, second_fit):
    scores, first = {"A": view.score(ppi_twin, second_fit)}, dict.fromkeys("AB", ppi_fit)
    table = view.score_table(scores, first, dict.fromkeys("AB", ppi_twin))
    counts, truth = ppi_twin.counts, ppi_twin.truth
    where = tuple(counts.attribute_indices.T)
    for name, estimate, true in (
        ("MAE of λ", ppi_fit.rate(counts.attribute_indices), truth.rate[where]),
        ("MAE of p", ppi_fit.detection(counts.attributes), truth.detection[where]),
    ):
        row = table.loc[f"{name} against the simulated truth"]
        assert row["A"] == row["B"] == pytest.approx(metrics.mae_rate(estimate, true))
    held = "Poisson deviance per held-out entry"
    assert table.loc[held, "A"] == scores["A"].deviance
    assert view.as_text(table).loc[held, "B"] == "–"
