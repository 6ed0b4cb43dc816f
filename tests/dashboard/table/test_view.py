"""Tables of the results: sums by level, one number of each, lines, and sentences."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from dashboard.shared.charts.places import named_levels
from dashboard.table import view
from dashboard.table.roles import sample_table
from dashboard.table.view import build_lines, level_view, lines_table
from tests.dashboard.looking import read_own
from tests.uncletc.made import histories_of, removed
from tests.uncletc.tables.made import Reading
from uncletc import Anchor, CountTensor, FitSettings, fit
from uncletc.estimates import every_entry, group_sums


@pytest.fixture(scope="module")
def by_plant(ppi_twin, ppi_fit):
    return level_view(ppi_twin, ppi_fit, Anchor(), (0,))


def test_levels_add_up_to_all(ppi_twin, ppi_fit, by_plant):
    table, counts = by_plant.table, ppi_twin.counts
    assert table["reported"].is_monotonic_decreasing
    assert table["reported"].sum() == by_plant.answers.total["reported"] == counts.counts.sum()
    assert table["rate"].sum() == pytest.approx(by_plant.answers.total["rate"])
    first = counts.labels[0].index(table["label"][0])
    of_first = counts.indices[:, 0] == first
    assert table["reported"][0] == counts.counts[of_first].sum()
    rates = by_plant.scale.rate(ppi_fit.rate(counts.indices[of_first]))
    assert table["rate"][0] == pytest.approx(rates.sum())


@pytest.mark.filterwarnings("ignore:residuals follow a pattern")  # as the rank is low
def test_one_number_of_each_level_lies_within_its_interval():
    dataset = read_own().dataset
    found = fit(dataset.counts, FitSettings(rank=2, hidden=()))
    by_site = level_view(dataset, found, Anchor(), (0,))
    for quantity in ("p", "λ", "counts"):
        groups = by_site.values(quantity).ranked
        assert groups["value"].is_monotonic_decreasing
        if quantity != "counts":
            assert groups["value"].between(groups["low"], groups["high"]).all()
    first = groups.iloc[0]
    row = by_site.table.set_index("label").loc[first["label"]]
    assert first["value"] == row["reported"] / row["entries"]


def test_capture_histories_have_animals_caught_and_how_many_there_are():
    rng = np.random.default_rng(1)
    caught = rng.random((400, 3)) < 0.5
    texts = histories_of(caught)
    rows = "\n".join(f"s{k % 20},{text}" for k, text in enumerate(texts))
    dataset = Reading(f"site,history\n{rows}\n").data
    found = level_view(dataset, fit(dataset.counts), Anchor(), (0,))
    total = found.answers.total
    assert total["reported"] == len(texts)
    assert total["rate_low"] < 400 < total["rate_high"]
    assert "how many were caught" in found.sentence()
    first = found.values("λ").ranked.iloc[0]  # of a site, whose animals count once
    assert first["value"] == pytest.approx(found.table["rate"].max())


def test_of_a_removal_n_is_the_same_at_each_pass_and_p_is_that_of_one_pass():
    passes = removed(np.random.default_rng(1), np.full(40, 30), [0.4] * 3)
    frame = pd.DataFrame(passes).melt(ignore_index=False).reset_index()
    dataset = read_own(frame, modes=("index", "variable"), count="value").dataset
    dataset = replace(dataset, counts=dataset.counts.with_protocol("removal"))
    found = fit(dataset.counts, FitSettings(rank=1, closed="variable"))
    (n,) = {*group_sums(found, dataset.counts, dataset.counts.indices[:, 1]).table()["rate"]}
    shown = level_view(dataset, found, Anchor(), (0,))
    assert n == pytest.approx(shown.answers.total["rate"])
    assert "caught in 3 variables**" in shown.sentence(counted="catch")
    assert shown.sentence(counted="catch").startswith("**All counts together.** Reported catch: **")
    p = shown.values("p")
    assert p.same
    assert p.insight.startswith("p per pass is **0.4")
    assert "p per pass (calibrated to removal)" in p.title
    assert list(view.modes_of(dataset, ("variable",))) == ["index"]
    assert not view.ordered_modes(dataset, (0,), ("variable",))
    table = every_entry(dataset, found).table
    assert table["N"].sum() == pytest.approx(3 * n)
    assert "rate" not in table


def test_what_is_too_long_to_list_is_one_row(monkeypatch, ppi_twin, ppi_fit, by_plant):
    monkeypatch.setattr(view, "MOST_LISTED", 3)
    found = level_view(ppi_twin, ppi_fit, Anchor(), (0,))
    assert found.rest == len(by_plant.table) - 3
    assert found.table["label"].tolist()[-1] == f"all {found.rest:,} others"
    np.testing.assert_allclose(found.answers.total["rate"], by_plant.answers.total["rate"])
    assert np.isnan(found.table["rank"].iloc[-1])
    assert len(found.answers.shown["levels"]) == 4
    assert len(found.values("p").ranked) == 3


def test_lines_follow_levels_over_an_ordered_mode(ppi_twin, ppi_fit, by_plant):
    chosen = tuple(by_plant.table["label"][:2])
    lines = build_lines(ppi_twin, ppi_fit, Anchor(), (0,), 2, chosen, "counts")
    assert lines["label"].unique().tolist() == list(chosen)
    of_first = lines[lines["label"] == chosen[0]]
    assert of_first["counted"].sum() == by_plant.table["reported"][0]
    assert of_first["position"].is_monotonic_increasing
    names = {"p": "relative_detection", "λ": "relative_rate", "counts": "mean_reported"}
    for quantity, name in names.items():
        assert name in lines_table(lines, quantity, by_plant.scale)


def test_the_contrast_of_few_levels_is_largest_over_smallest():
    rows = [(f"s{i}", f"w{j}", (3 + i) * (2 + j)) for i in range(30) for j in range(3)]
    table = read_own(pd.DataFrame(rows, columns=["s", "w", "count"]), modes=("s", "w"))
    found = fit(table.dataset.counts, FitSettings(rank=1))
    levels = [level_view(table.dataset, found, Anchor(), (k,)) for k in (1, 0)]
    few, many = (each.values("counts").insight for each in levels)
    assert "**2.0 times** as high at the highest as at the lowest." in few
    assert "at the 95th percentile as at the 5th" in many


def test_without_attributes_p_is_not_listed_and_a_mode_may_be_called_as_a_column():
    rows = [(f"s{i}", j, (i + j) % 4) for i in range(5) for j in range(4)]
    frame = pd.DataFrame(rows, columns=["reported", "week", "n"])
    dataset = read_own(frame, modes=("reported", "week"), count="n").dataset
    found = level_view(dataset, fit(dataset.counts, FitSettings(rank=1)), Anchor(), (0,))
    assert "p is assumed to be the same everywhere" in found.sentence()
    shown = found.answers.shown["levels"]
    assert shown.columns[0] == "reported (mode)"
    assert not [name for name in shown if name in ("p", "relative p")]


def test_sums_by_region_of_a_site_add_up_to_all():
    rows = "".join(f"s{k},{'ns'[k > 2]},{w},{k + w}\n" for k in range(6) for w in range(1, 5))
    dataset = Reading(f"site,region,week,seen\n{rows}").data
    options = view.modes_of(dataset)
    assert list(options) == ["site", "week", "region", "site × week"]
    found = fit(dataset.counts, FitSettings(rank=1))
    by_region = level_view(dataset, found, Anchor(), options["region"])
    assert by_region.names == ("region",)
    assert by_region.table.set_index("label")["reported"].to_dict() == {"s": 78, "n": 42}
    assert by_region.table["rate"].sum() == pytest.approx(by_region.answers.total["rate"])
    weeks = build_lines(dataset, found, Anchor(), options["region"], 1, ("n",), "counts")
    assert weeks["counted"].tolist() == [6, 9, 12, 15]


def test_p_differs_along_the_modes_that_covariates_do():
    table = sample_table()
    table["wind"] = (5 * table["site"].str[-2:].astype(int) + table["week"]) % 7
    assert view.modes_of_p(read_own(table, attributes=("wind",)).dataset) == {0, 2}
    assert view.modes_of_p(read_own(table).dataset) == set()


def test_counties_have_their_names():
    counts = CountTensor.from_dense(np.ones((2, 2)), modes=["fips", "week"])
    counts = replace(counts, labels=[["06037", "99999"], ["1", "2"]])
    names = named_levels(counts, [0], [np.array([0, 1])])["label"].tolist()
    assert names == ["06037 Los Angeles County, CA", "99999"]
