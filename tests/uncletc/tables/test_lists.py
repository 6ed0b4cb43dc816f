"""Lists of what was seen, registers, rounds and places: what rows and values say, not names."""

import numpy as np
import polars as pl
import pytest

from uncletc import FitSettings, fit
from uncletc.tables import build, guess, read_file

RNG = np.random.default_rng(9)
DAYS = [str(np.datetime64("2023-05-01") + k) for k in range(1200)]


def read(rows):
    """What the columns of a table are, their modes, its counts and what was done."""
    raw = read_file(pl.DataFrame(rows).write_csv().encode(), "t.csv")
    found = guess(raw)
    data = build(raw, found.columns)
    names = [each.column for each in found.columns.all_modes]
    return found, names, data.counts, " ".join([*found.questions, *data.provenance.rules])


def acts_on(rows):
    return {each.column: each.acts_on for each in read(rows)[0].columns.attributes}


def numbers(*names):
    return {name: RNG.poisson(3) for name in names}


def test_what_was_seen_where_and_when_is_a_list():
    at = RNG.integers((12, 40, 3), size=(200, 3)).tolist()
    seen = sorted({(f"S{s}", DAYS[d], f"sp {k}") for s, d, k in at})
    found, modes, counts, _ = read([{"Site": s, "Date": d, "Species": k} for s, d, k in seen])
    assert modes == ["Species", "Site", "Date"]
    assert (found.columns.absent, counts.counts.sum()) == ("Species", len(seen))


def events(days):
    return [
        {"Reference": f"R{k:04d}", "Reported": DAYS[d + 3 + k % 2], "Onset": DAYS[d]}
        | {"Type": f"t {a}", "Reporting type": f"r {b}", "District": f"d {a + b}"}
        for k, (d, a, b) in enumerate(zip(days, *RNG.integers(3, size=(2, len(days))), strict=True))
    ]


def test_events_are_of_their_first_date_and_kind_and_by_month_where_dates_hardly_repeat():
    found, modes, _, said = read(events(RNG.permutation(500)[:200]))
    assert modes == ["Type", "District", "Onset"]
    assert found.columns.modes[2].step == "month"
    assert "Is Onset when each event happened?" in said


def test_a_time_sorts_no_kinds_into_groups():
    rows = events(RNG.integers(30, size=300))
    for k, row in enumerate(rows):
        row["Onset"] += f" {k // 60:02d}:{k % 60:02d}:00"
    assert not read(rows)[0].columns.groups  # which is built as guessed


@pytest.mark.parametrize("signs", ["01", ["nee", "ja"], ["", "x"], ["FALSE", "TRUE"]])
def test_rows_with_a_key_and_marks_by_list_are_histories_unless_they_are_sites(signs):
    marks = RNG.binomial(1, 0.4, (150, 3))
    marks = marks[marks.any(axis=1)]
    columns = zip(("Ann", "hospital", "Bob"), marks.T, strict=True)
    table = {name: [signs[k] for k in own] for name, own in columns}
    keys = [f"D-{k}" for k in range(len(marks))]
    assert read({"Defect": keys} | table)[2].captures[:, 1].sum() == marks.sum()
    raw = read_file(pl.DataFrame({"Site": keys} | table).write_csv().encode(), "t.csv")
    assert "visit" not in [each.column for each in guess(raw).columns.modes]


def test_a_key_beside_histories_names_animals_and_single_captures_are_no_sightings():
    marks = RNG.binomial(1, 0.3, (200, 5))
    histories = ["".join(map(str, each)) for each in marks if each.any()]
    rows = [{"ID": f"T{k}", "ch": each, "sex": "FM"[k % 2]} for k, each in enumerate(histories)]
    _, modes, counts, _ = read(rows)
    assert modes == ["sex", "visit"]
    assert not fit(counts, FitSettings(rank=1, closed="visit")).population.doubts


def test_the_night_of_a_date_is_no_exposure_of_animals():
    rows = [{"Grid": f"{k % 2}", "Tag": f"T{k}"} for k in range(60)]
    nights = [{"Date": DAYS[k], "Night": k + 1} for k in range(4)]
    rows = [row | night for row in rows for night in nights if RNG.random() < 0.5]
    found, modes, *_ = read(rows)
    assert (modes, found.columns.exposure) == (["Grid", "visit"], None)


def test_what_the_front_the_rear_and_both_saw_are_histories_of_each_species():
    rows = [
        {"Transect": f"L{k // 2}", "Species": "ab"[k % 2], "Sea": k // 2 % 4} for k in range(60)
    ]
    found, modes, counts, _ = read([it | numbers("Front only", "Rear only", "Both") for it in rows])
    assert (modes, found.columns.groups) == (["Transect", "visit"], ("Species",))
    assert counts.captures is not None


@pytest.mark.parametrize("names", [("Count A", "Count B"), ("Primary", "Secondary")])
def test_two_columns_of_like_numbers_are_of_two_observers(names):
    found, _, _, said = read([{"Pond": f"P{k}"} | numbers(*names) for k in range(40)])
    assert found.columns.across == names
    assert "count the same animals?" in said


def test_places_are_kept_where_each_date_is_of_one():
    rows = [
        {"Site": f"S{k // 2 % 5}", "Date": DAYS[k // 2], "Taxon": "ab"[k % 2]} for k in range(80)
    ]
    assert read([row | numbers("Count") for row in rows])[1] == ["Site", "Taxon", "Date"]


def test_years_or_rounds_stand_for_dates_that_places_do_not_share_and_for_keys():
    rows = [{"Plot": f"P{k % 30}", "Date": DAYS[365 * (k // 30) + 7 * (k % 30)]} for k in range(90)]
    years = [row | {"Year": 2021 + k // 30} | numbers("Seen") for k, row in enumerate(rows)]
    assert read(years)[1] == ["Plot", "Year"]
    rounds = [row | {"Ronda": 1 + k // 30} | numbers("Seen") for k, row in enumerate(rows)]
    _, modes, _, said = read(rounds)
    assert modes == ["Plot", "Ronda"]
    assert "Does each Ronda count the same animals?" in said
    keys = [row | {"PlotDataID": f"{k:04d}"} for k, row in enumerate(years)]
    assert read(pl.DataFrame(keys).drop("Date"))[1] == ["Plot", "Year"]


def test_searching_acts_on_detection_where_places_were_visited_once():
    rows = [{"Point": f"P{k // 3}", "Taxon": "abc"[k % 3], "Wind": k // 3 % 4} for k in range(90)]
    rows = [row | {"Slope": k // 3 % 7} for k, row in enumerate(rows)]
    assert acts_on([it | numbers("Count") for it in rows]) == {"Wind": "detection", "Slope": "rate"}
    again = [row | {"Year": y} | numbers("Count") for row in rows for y in (2021, 2022)]
    assert acts_on(again) == {"Wind": "rate", "Slope": "rate"}


def test_parts_of_a_date_are_no_covariates_and_empty_counts_are_said():
    rows = [
        {"locality": f"L{k % 6}", "species": f"sp {k % 4}", "eventDate": DAYS[3 * k]}
        | {"month": int(DAYS[3 * k][5:7]), "individualCount": None if k % 3 else 1 + k % 5}
        for k in range(120)
    ]
    found, _, _, said = read(rows)
    assert not found.columns.attributes
    assert "individualCount is empty" in said


def test_days_on_which_nothing_happened_are_levels_of_a_list_of_events():
    days = [d for d in range(1, 29) if d % 4 for _ in range(3)]
    rows = [
        {"case_id": k, "District": f"D{k % 3}", "Onset": f"2021-02-{d:02d}"}
        for k, d in enumerate(days)
    ]
    raw = read_file(pl.DataFrame(rows).write_csv().encode(), "t.csv")
    counts = build(raw, guess(raw).columns).counts
    assert counts.shape == (3, 27)
    assert "2021-02-04" in counts.labels[1]
    assert counts.n_observed == 81
