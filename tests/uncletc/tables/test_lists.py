"""Lists of what was seen, registers, rounds and places: what rows and values say, not names."""

import polars as pl
import pytest

from tests.uncletc.made import histories_of
from tests.uncletc.tables.made import DAYS, RNG, Reading, crossed
from uncletc import FitSettings, fit


def numbers(*names):
    return {name: RNG.poisson(3) for name in names}


def test_what_was_seen_where_and_when_is_a_list():
    at = RNG.integers((12, 40, 3), size=(200, 3)).tolist()
    seen = sorted({(f"S{s}", DAYS[d], f"sp {k}") for s, d, k in at})
    read = Reading([{"Site": s, "Date": d, "Species": k} for s, d, k in seen])
    assert read.modes == ["Species", "Site", "Date"]
    assert (read.columns.absent, read.counts.counts.sum()) == ("Species", len(seen))


@pytest.mark.parametrize("more", ["entry order", "distcod", "crime", "ora dec"])
def test_what_numbers_or_codes_rows_is_no_count_and_rows_without_one_are_events(more):
    n, again = 300, more == "ora dec"
    at, days = RNG.integers((20 if again else 60, 9 if again else 200), size=(n, 2)).T
    values = {"entry order": RNG.permutation(n), "distcod": 7000 + 13 * at}
    values |= {"crime": [f"theft of {k} things" for k in range(n)]}
    values |= {"ora dec": RNG.uniform(0, 9, n).round(3) * (at > 5)}
    rows = {"District": [f"D{k}" for k in at], "Date": [DAYS[k] for k in days], more: values[more]}
    if more in ("entry order", "distcod"):
        rows |= {"Cause": RNG.choice(list("abc"), n), "Age": RNG.choice([*"123456789", "?"], n)}
    read = Reading(rows)
    assert (read.count, read.counts.counts.sum()) == ("events", n)
    assert read.modes == ["Cause"] * ("Cause" in rows) + ["District", "Date"]


def test_weeks_of_several_years_of_events_are_kept_apart():
    of = RNG.integers((4, 2, 30), size=(400, 3)).tolist()
    read = Reading([{"District": f"D{a}", "Year": 2018 + y, "Week": 1 + w} for a, y, w in of])
    assert read.modes == ["District", "Week", "Year"]
    assert read.count == "events"


def events(days):
    return [
        {"Reference": f"R{k:04d}", "Reported": DAYS[d + 3 + k % 2], "Onset": DAYS[d]}
        | {"Type": f"t {a}", "Reporting type": f"r {b}", "District": f"d {a + b}"}
        for k, (d, a, b) in enumerate(zip(days, *RNG.integers(3, size=(2, len(days))), strict=True))
    ]


def test_events_are_of_their_first_date_and_kind_and_by_month_where_dates_hardly_repeat():
    read = Reading(events(RNG.permutation(500)[:200]))
    assert read.modes == ["Type", "District", "Onset"]
    assert read.columns.modes[2].step == "month"
    assert "Is Onset when each event happened?" in read.said


def test_a_time_sorts_no_kinds_into_groups():
    rows = events(RNG.integers(30, size=300))
    for k, row in enumerate(rows):
        row["Onset"] += f" {k // 60:02d}:{k % 60:02d}:00"
    read = Reading(rows)
    assert not read.columns.groups
    assert read.counts.counts.sum() == 300


@pytest.mark.parametrize("signs", ["01", ["nee", "ja"], ["", "x"], ["FALSE", "TRUE"]])
def test_rows_with_a_key_and_marks_by_list_are_histories_unless_they_are_sites(signs):
    marks = RNG.binomial(1, 0.4, (150, 3))
    marks = marks[marks.any(axis=1)]
    columns = zip(("Ann", "hospital", "Bob"), marks.T, strict=True)
    table = {name: [signs[k] for k in own] for name, own in columns}
    keys = [f"D-{k}" for k in range(len(marks))]
    assert Reading({"Defect": keys} | table).counts.captures[:, 1].sum() == marks.sum()
    assert "visit" not in Reading({"Site": keys} | table).modes


def test_a_key_beside_histories_names_animals_and_single_captures_are_no_sightings():
    histories = enumerate(histories_of(RNG.binomial(1, 0.3, (200, 5))))
    rows = [{"ID": f"T{k}", "ch": each, "sex": "FM"[k % 2]} for k, each in histories]
    read = Reading(rows)
    assert read.modes == ["animals", "visit"]
    assert not fit(read.counts, FitSettings(rank=1, closed="visit")).population.doubts


@pytest.mark.parametrize("of_date", [[], ["Night"]])
def test_tags_by_date_are_capture_histories_and_a_night_is_no_exposure(of_date):
    rows = [{"Grid": f"{k % 2}", "Tag": f"T{k}"} for k in range(60)]
    nights = [{"Date": DAYS[k]} | dict.fromkeys(of_date, k + 1) for k in range(4)]
    held = {"0": nights, "1": nights[:3]}
    rows = [row | night for row in rows for night in held[row["Grid"]] if RNG.random() < 0.5]
    tags = {row["Tag"] for row in rows}
    read = Reading(rows)
    assert (read.modes, read.columns.exposure) == (["Grid", "visit"], None)
    assert (read.counts.n_observed, len(read.counts.captures)) == (7, len(tags))


def test_what_the_front_the_rear_and_both_saw_are_histories_of_each_species():
    rows = [
        {"Transect": f"L{k // 2}", "Species": "ab"[k % 2], "Sea": k // 2 % 4} for k in range(60)
    ]
    read = Reading([row | numbers("Front only", "Rear only", "Both") for row in rows])
    assert (read.modes, read.columns.groups) == (["Transect", "visit"], ("Species",))
    assert read.counts.captures is not None


def test_rows_of_what_either_of_two_observers_saw_have_a_p_of_each():
    seen = [{"observer1": a, "observer2": b} for a, b in ((1, 0), (0, 1), (1, 1))]
    read = Reading([{"Line": f"L{k % 20}"} | seen[k % 3] for k in range(200)])
    assert read.counts.labels[1] == ("1 observer1", "2 observer2")
    assert read.acts_on["list"] == "detection"


@pytest.mark.parametrize("names", [("Count A", "Count B"), ("Primary", "Secondary")])
def test_two_columns_of_like_numbers_are_of_two_observers(names):
    read = Reading([{"Pond": f"P{k}"} | numbers(*names) for k in range(100)])
    assert read.columns.across == names
    assert "count the same animals?" in read.said


def test_places_are_kept_where_each_date_is_of_one():
    rows = [
        {"Site": f"S{k // 2 % 5}", "Date": DAYS[k // 2], "Taxon": "ab"[k % 2]} for k in range(80)
    ]
    read = Reading([row | numbers("Count") for row in rows])
    assert read.modes == ["Site", "Taxon", "Date"]
    assert read.counts.n_observed == 80


def test_years_or_rounds_stand_for_dates_that_places_do_not_share_and_for_keys():
    rows = [{"Plot": f"P{k % 30}", "Date": DAYS[365 * (k // 30) + 7 * (k % 30)]} for k in range(90)]
    years = [row | {"Year": 2021 + k // 30} | numbers("Seen") for k, row in enumerate(rows)]
    assert Reading(years).modes == ["Plot", "Year"]
    rounds = Reading([row | {"Ronda": 1 + k // 30} | numbers("Seen") for k, row in enumerate(rows)])
    assert rounds.modes == ["Plot", "Ronda"]
    assert "Does each Ronda count the same animals?" in rounds.said
    keys = [row | {"PlotDataID": f"{k:04d}"} for k, row in enumerate(years)]
    assert Reading(pl.DataFrame(keys).drop("Date")).modes == ["Plot", "Year"]


def test_searching_acts_on_detection_where_places_were_visited_once():
    rows = [{"Point": f"P{k // 3}", "Taxon": "abc"[k % 3], "Wind": k // 3 % 4} for k in range(90)]
    rows = [row | {"Slope": k // 3 % 7, "Training days": k // 3 % 5} for k, row in enumerate(rows)]
    once = Reading([row | numbers("Count") for row in rows])
    assert once.acts_on == {"Wind": "detection", "Slope": "rate", "Training days": "detection"}
    again = Reading([row | {"Year": y} | numbers("Count") for row in rows for y in (2021, 2022)])
    assert again.acts_on == {"Wind": "rate", "Slope": "rate", "Training days": "detection"}


def test_parts_of_a_date_are_no_covariates_and_empty_counts_are_said():
    rows = [
        {"locality": f"L{k % 6}", "species": f"sp {k % 4}", "eventDate": DAYS[3 * k]}
        | {"month": int(DAYS[3 * k][5:7]), "individualCount": None if k % 3 else 1 + k % 5}
        for k in range(120)
    ]
    read = Reading(rows)
    assert not read.attributes
    assert "individualCount is empty" in read.said


def test_days_on_which_nothing_happened_are_levels_of_a_list_of_events():
    days = [d for d in range(1, 29) if d % 4 for _ in range(3)]
    rows = [
        {"case_id": k, "District": f"D{k % 3}", "Onset": f"2021-02-{d:02d}"}
        for k, d in enumerate(days)
    ]
    counts = Reading(rows).counts
    assert counts.shape == (3, 27)
    assert "2021-02-04" in counts.labels[1]
    assert counts.n_observed == 81


@pytest.mark.parametrize("wide", [True, False])
def test_what_is_made_of_captures_is_neither_a_number_of_animals_nor_a_covariate(wide):
    marks = RNG.binomial(1, 0.3, (200, 6))
    marks = marks[marks.any(axis=1)]
    n, first = marks.sum(axis=1), marks.argmax(axis=1) + 1
    made = {"cap": n, "noncap": 6 - n, "n": n, "recaptures": n - 1, "first": first}
    visits = {f"y{k + 1}": marks[:, k] for k in range(6)} if wide else {"ch": histories_of(marks)}
    own = {"id": [f"A{k}" for k in range(len(n))], "fat": RNG.binomial(1, 0.5, len(n))}
    read = Reading(own | visits | made)
    assert read.attributes == ["fat of animals"]
    assert read.counts.captures[:, 1].sum() == marks.sum()


def test_numbers_of_persons_by_lists_are_histories_beside_the_row_names_of_r():
    held = [(1, 0, 0, 54), (0, 1, 0, 46), (0, 0, 1, 90), (1, 1, 0, 15), (1, 0, 1, 19), (0, 1, 1, 6)]
    rows = "".join(f"{k},{','.join(map(str, row))}\n" for k, row in enumerate(held, 1))
    read = Reading(f'"","LA","NG","PF","count"\n{rows}')
    assert (read.modes, read.counts.captures.shape[0]) == (["site", "visit"], 230)


def test_marks_by_list_of_many_persons_without_a_name_are_histories():
    marks = RNG.binomial(1, 0.4, (900, 4))
    marks = marks[marks.any(axis=1)]
    table = dict(zip(("EXH", "ABA", "OSCE", "HRW"), marks.T, strict=True))
    read = Reading(table)
    assert read.counts.captures[:, 1].sum() == marks.sum()
    assert "says which of EXH, ABA, OSCE and HRW found one and the same" in read.said


def test_sizes_of_groups_that_two_observers_saw_are_no_numbers_of_independent_animals():
    seen = RNG.binomial(1, 0.6, (80, 2))
    seen = seen[seen.any(axis=1)]
    sizes = 1 + RNG.poisson(10, len(seen))
    read = Reading({"Group.size": sizes, "Obs1": seen[:, 0], "Obs2": seen[:, 1]})
    assert read.counts.captures.shape[0] == len(seen)
    assert "Group.size of animals" in read.attributes
    assert "N is of groups" in read.said


def test_whether_each_obs_counts_the_same_is_asked():
    table = crossed({"quadrat": range(20), "obs_letter": "ABCD"}, {"count": 5})
    assert "Does each obs_letter count the same" in Reading(table).said
