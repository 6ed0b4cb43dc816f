"""The tables of the Lab, against the model's formulas and against fits made here."""

import numpy as np
import pytest
from scipy.stats import poisson

from dashboard.lab import view
from dashboard.shared.sidebar.model import settings_of
from uncletc import fit
from uncletc.compare.metrics import mae_rate

SETUP = view.Setup(observed=0.3, attributed=0.2, seed=3)
SETTINGS = settings_of(rank=3, layers=0)


@pytest.fixture(scope="module")
def dataset():
    return view.simulated(SETUP)


@pytest.fixture(scope="module")
def found(dataset):
    return fit(dataset.counts, SETTINGS)


def test_one_draw_and_both_kinds_of_place_follow_the_formula():
    events = view.one_draw(20, 0.5, 4)
    assert len(events[["x", "y"]].drop_duplicates()) == len(events)
    assert 0 < events["counted"].sum() < len(events)
    draws = view.many_draws(20, 0.5, 0)
    for column in ("share", "twin"):
        assert draws[column].sum() == pytest.approx(1)
        assert (draws["count"] * draws[column]).sum() == pytest.approx(10, abs=0.4)
        # Of 2,000 draws, a share has a standard deviation of .008 at most.
        assert (draws[column] - draws["formula"]).abs().max() < 0.035
    assert draws["formula"].to_numpy() == pytest.approx(poisson.pmf(draws["count"], 10))


class TestEntries:
    def test_counts_are_where_they_were_counted(self, dataset):
        counts, table = dataset.counts, view.entries_table(dataset)
        y = np.full(counts.shape, np.nan)
        y[tuple(counts.indices.T)] = counts.counts
        np.testing.assert_array_equal(table["counted"], y.ravel())
        day = table[table["day"] == 5]
        assert view.picture(day, "rate").to_numpy() == pytest.approx(
            view.truth_of(dataset).rate[:, :, 4]
        )
        assert list(view.picture(day, "rate").index) == view.PLACES
        assert (table["true_count"] >= table["counted"].fillna(0)).all()

    def test_what_is_there_follows_the_model(self, dataset):
        table = view.entries_table(dataset)
        for rows in (table, table[table["counted"].notna()], table[table["counted"].isna()]):
            total = rows["rate"].sum()
            assert rows["true_count"].sum() == pytest.approx(total, abs=5 * np.sqrt(total))

    def test_one_factor_brings_estimates_to_the_truth(self, dataset, found):
        entries = view.entries_table(dataset, found)
        assert entries["rate_hat"].mean() == pytest.approx(entries["rate"].mean())
        where = np.argwhere(np.ones((20, 20, 20), bool))
        c = entries["rate_hat"].to_numpy() / found.rate(where)
        assert c == pytest.approx(c[0])
        z = view.truth_of(dataset).attributes[tuple(where.T)]
        assert entries["p_hat"].to_numpy() == pytest.approx(found.detection(z) / c[0])


class TestLevers:
    MOVED = {  # noqa: RUF012
        "entries counted": {"observed"},
        "true events": {"factor_max"},
        "network size": {"hidden", "solver"},
        "rank assumed": {"rank"},
    }

    @pytest.mark.parametrize("lever", view.LEVERS)
    def test_a_lever_moves_one_thing(self, lever):
        tried = view.trials(lever, SETUP, SETTINGS)
        assert [name["value"] for name, _ in tried[::2]] == list(view.LEVERS[lever].values)
        assert {name["seed"] for name, _ in tried} == {3, 4}
        assert len({order for _, order in tried}) == len(tried)
        usual, first = SETUP.arguments, vars(tried[0][1].settings)
        for name, order in tried:
            arguments = order.simulation | {"seed": SETUP.seed}
            changed = {key for key in arguments if arguments[key] != usual[key]}
            fields = vars(order.settings)
            changed |= {key for key in fields if fields[key] != first[key]}
            assert changed <= self.MOVED[lever]
            assert order.simulation["seed"] == name["seed"]


def test_errors_of_models_are_the_papers(dataset, found):
    errors = view.model_errors(dataset, {view.LINES: found}).set_index("g").loc[view.LINES]
    truth, entries = view.truth_of(dataset), view.entries_table(dataset, found)
    for value, column, true in (
        (errors["rate"], "rate_hat", truth.rate),
        (errors["detection"], "p_hat", truth.detection),
    ):
        assert value == pytest.approx(mae_rate(entries[column], true.ravel()))
