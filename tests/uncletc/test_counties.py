"""Counties of cells that span states: reports are theirs, estimates are divided among them."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from tests.uncletc.made import county_dataset, table_of
from uncletc import CountTensor, FitSettings, Scale, datasets, fit
from uncletc.data.groups import Group
from uncletc.estimates import county_shares, every_entry, reported_by_county, totals

SCALE = Scale(1.0, "known", True)


@pytest.fixture(scope="module")
def two_states():
    """Cell (0, 0) holds two counties of A and one of B; cell (0, 1) one of B."""
    daily = np.array([[8, 0, 4, 4], [0, 2, np.nan, 0], [1, 1, 1, 3], [5, 0, 2, 9]], dtype=float)
    counts = CountTensor(
        (1, 2, 4),
        [(0, j, day) for j in (0, 1) for day in range(4)],
        [*np.nansum(daily[:3], axis=0).astype(int), *daily[3].astype(int)],
        modes=("latitude", "longitude", "day"),
    )
    states = Group("state", ["latitude", "longitude"], np.array([[0, 1]]), ["A", "B"])
    table = table_of("""\
fips   county  state  population  cell  longitude_index  counties_in_cell
01001  First   A      900         a     0                3
01003  Second  A      50          a     0                3
02001  Third   B      40          a     0                3
02003  Fourth  B      300         b     1                1
""").assign(latitude_index=0, counted=True, cases=np.nansum(daily, axis=1).astype(int))
    return county_dataset(counts.with_groups(states), table.assign(tests_per_1000=1.0), daily)


@pytest.fixture(scope="module")
def fitted(two_states):
    return fit(two_states.counts, FitSettings(rank=1))


def test_states_report_what_their_counties_do_and_share_the_estimates(two_states, fitted):
    of_cells = totals(two_states, fitted, SCALE, by="longitude")
    of_states = totals(two_states, fitted, SCALE, by="state")
    assert of_states["state"].tolist() == ["A", "B"]
    assert of_states["reported"].tolist() == [18, 22]
    part = np.array([[18 / 24, 0], [6 / 24, 1]])  # of the reports of each cell
    for name in ("rate", "expected"):
        np.testing.assert_allclose(of_states[name], part @ of_cells[name])
    assert (of_states["rate_low"] <= of_states["rate"]).all()
    assert (of_states["rate"] < of_states["rate_high"]).all()
    same_draws = totals(two_states, fitted, SCALE, by="longitude").iloc[0]  # all of A is in it
    spread = of_states["rate_high"][0] / of_states["rate"][0]
    assert spread == pytest.approx(same_draws["rate_high"] / same_draws["rate"])


def test_a_state_without_reports_in_shared_cells_alone_is_listed(two_states, fitted):
    more = two_states.table.iloc[:1].assign(fips="03001", state="C", cases=0)
    table = pd.concat([two_states.table, more], ignore_index=True)
    daily = np.vstack([two_states.county_counts, np.zeros((1, 4))])
    wider = replace(two_states, table=table, county_counts=daily)
    found = totals(wider, fitted, SCALE, by="state").set_index("state")
    assert found["reported"].to_dict() == {"A": 18, "B": 22, "C": 0}
    assert np.isnan(found.loc["C", "rate"])  # its part of the cells is not known
    left_out = replace(wider, table=wider.table.assign(counted=[True] * 4 + [False]))
    assert totals(left_out, fitted, SCALE, by="state")["state"].tolist() == ["A", "B"]


def test_states_on_days(two_states, fitted):
    table = totals(two_states, fitted, SCALE, by=("day", "state"))
    assert table["reported"].tolist() == [8, 6, 2, 1, 4, 3, 4, 12]
    assert table.columns[:2].tolist() == ["day", "state"]
    cells = totals(two_states, fitted, SCALE, by=("day", "longitude"))
    of_days, of_cells = (each.groupby("day")["rate"].sum() for each in (table, cells))
    np.testing.assert_allclose(of_days, of_cells)


def test_an_entry_names_all_states_of_its_cell(two_states, fitted):
    assert set(every_entry(two_states, fitted).table["state"]) == {"A, B", "B"}


def test_parts_are_of_reports_then_of_people(two_states):
    table = two_states.table
    assert county_shares(table).tolist() == [16 / 24, 2 / 24, 6 / 24, 1]
    nothing = county_shares(table.assign(cases=0))
    assert nothing == pytest.approx([900 / 990, 50 / 990, 40 / 990, 1])
    without = county_shares(table.assign(counted=[True, False, True, False]))
    assert without.tolist() == [16 / 22, 0, 6 / 22, 0]
    assert reported_by_county(two_states, 2).tolist() == [4, 0, 1, 2]


def test_counties_add_up_to_cells_on_every_day():
    dataset = datasets.load("covid-twin")
    counts, table = dataset.counts, dataset.table
    summed = np.zeros(counts.shape)
    where = tuple(table[f"{mode}_index"] for mode in ("latitude", "longitude"))
    np.add.at(summed, where, np.nan_to_num(dataset.county_counts))
    assert summed[tuple(counts.indices.T)].tolist() == counts.counts.tolist()
    assert np.nansum(dataset.county_counts, axis=1).tolist() == table["cases"].tolist()
