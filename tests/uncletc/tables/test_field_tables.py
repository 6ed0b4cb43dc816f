"""Tables as field workers and health departments write them: the count and the modes are found."""

import re

import numpy as np
import pandas as pd
import polars as pl
import pytest

from tests.uncletc.made import removed
from tests.uncletc.tables.made import DAYS, RNG, WEEKS, Reading, crossed, names
from uncletc import CountTensor, FitSettings, fit
from uncletc.tables import check_counts, read_file
from uncletc.tables.histories import with_histories


def passes(year):
    """Three removal passes at 12 sites, in some years or on a day of each site."""
    rows, total = [], 0
    for site in range(12):
        for y in range(4 if year else 1):
            n = RNG.poisson((80, 55, 35, 20)[y])
            total += n
            when = {"Year": 2018 + y} if year else {"Date": f"2022-07-{site + 1:02d}"}
            for number, caught in enumerate(removed(RNG, [n], [0.6] * 3)[0], start=1):
                rows.append({"Site": f"E{site}", "Pass": number, **when, "Caught": caught})
    return rows, total


@pytest.mark.parametrize("year", [True, False])
def test_passes_remove_within_a_site_and_year_and_not_along_years(year):
    rows, total = passes(year)
    counts = Reading(rows, protocol="removal").data.counts
    assert counts.modes == (("Site and Year" if year else "Site"), "Pass")
    number = fit(counts, FitSettings(rank=1, closed="Pass")).population.numbers()
    assert number.estimate[0] == pytest.approx(total, rel=0.1)


@pytest.mark.parametrize(
    ("number", "count"),
    [
        ("Visit number", "Frogs"),
        ("Week number", "Number of deaths"),
        ("Plot number", "Seedlings"),
        ("Night", "Count"),
        ("Haul", "Tadpoles"),
        ("Pop", "Tadpoles"),
    ],
)
def test_numbers_that_begin_again_in_each_place_are_neither_count_nor_exposure(number, count):
    read = Reading(crossed({"Site": names("S", 12), number: [1, 2, 3]}, {count: 5}))
    assert (read.counts.modes, read.count) == (("Site", number), count)
    assert (read.counts.shape, read.columns.exposure) == ((12, 3), None)


@pytest.mark.parametrize("code", ["not surveyed", "NS", "x", -99])
def test_a_visit_with_codes_is_one_of_the_visits(code):
    table = crossed({"Site": [f"{s:03d}" for s in range(30)]}, {"Visit 1": 5, "Visit 2": 5})
    table["Visit 3"] = [str(code if s % 3 == 0 else RNG.poisson(5)) for s in range(30)]
    counts = Reading(table).counts
    assert (counts.shape, counts.n_observed) == ((30, 3), 80)


@pytest.mark.parametrize("name", ["Count of birds", "count_fish", "Birds counted", "Flock size",
                                  "dead animals", "ED visits", "Victims"])  # fmt: skip
def test_numbers_of_animals_are_counts_by_more_names(name):
    modes = {"Site": names("S", 6), "Species": list("ab"), "Date": WEEKS[:5]}
    table = crossed(modes, {name: 40})
    table[name] = [y + int(site[1:]) for y, site in zip(table[name], table["Site"], strict=True)]
    read = Reading(table)
    assert (read.count, set(read.counts.modes)) == (name, {*modes})


@pytest.mark.parametrize("name", ["Group size", "size", "clustersize"])
def test_groups_in_a_list_of_distances_are_counts_of_animals(name):
    rows = [
        {"Transect": f"L{k % 9}", "Distance": float(RNG.uniform(0, 90)), name: 1 + k % 4}
        | {"Date": DAYS[k % 59]}
        for k in range(120)
    ]
    read = Reading(rows)
    assert read.counts.counts.sum() > 200
    assert "counts the animals of each group" in read.warned


@pytest.mark.parametrize("long", [True, False])
def test_a_band_without_an_end_is_left_out_and_said(long):
    by_band = {"Square": names("S", 30), "Distance": ["0-25m", "25-100m", ">100m"]}
    table = crossed(by_band, {"Count": 3})
    if not long:
        table = pd.DataFrame(table).pivot(index="Square", columns="Distance", values="Count")
        table = table.reset_index()
    read = Reading(table)
    assert read.counts.labels[1] == ("0-25m", "25-100m")
    assert "beyond the last band" in read.warned


def test_the_oldest_are_no_band_of_distance():
    modes = {"area": names("A", 6), "week": WEEKS[:4], "age_group": ["0-15", "15-60", "60+"]}
    assert sorted(Reading(crossed(modes, {"cases": 3})).counts.shape) == [3, 4, 6]


def test_histories_beside_their_own_visits_are_read_once():
    rows = []
    for k, caught in enumerate((RNG.random((90, 4)) < 0.4).astype(int).tolist()):
        own = {f"day{v + 1}": c for v, c in enumerate(caught)}
        rows.append({"id": k, "sex": "MF"[k % 2], **own, "ch": "".join(map(str, caught))})
    rows = [row for row in rows if "1" in row["ch"]]
    counts = Reading(rows).counts
    assert (counts.shape, counts.n_attributes, len(counts.captures)) == ((2, 4), 1, len(rows))


@pytest.mark.parametrize("form", ["V{}_{}", "{1}{0}"])
@pytest.mark.parametrize("made", [1.0, 0.7])
def test_a_covariate_of_visits_is_kept_also_of_those_that_were_not_made(form, made):
    rows = []
    for k in range(40):
        row = {form.format(v, "count"): int(RNG.poisson(3)) for v in range(1, 5)}
        row |= {form.format(v, "wind"): round(float(RNG.normal()), 2) for v in range(1, 5)}
        lost = {str(v) for v in range(1, 5) if RNG.random() > made}
        rows.append({"Plot": f"P{k}"} | {n: None if lost & {*n} else x for n, x in row.items()})
    counts = Reading(rows).counts
    assert (counts.shape, counts.attribute_names) == ((40, 4), ("wind",))


@pytest.mark.parametrize("name", ["Case Number", "Complaint No", "case", "record"])
def test_the_number_of_a_case_is_no_count(name):
    rows = [
        {
            name: k + (10_000 if " " in name else 1),
            "Created Date": WEEKS[k % 40],
            "Closed Date": "" if k % 3 == 0 else WEEKS[k * 7 % 40],
            "district": f"D{k % 6}",
        }
        for k in range(500)
    ]
    read = Reading(rows)
    assert (read.count, read.counts.modes) == ("events", ("district", "Created Date"))
    assert read.counts.counts.sum() == 500


@pytest.mark.parametrize(
    "name", ["Rate per 100,000", "Age-standardised rate", "7-day average", "score", "% change"]
)
def test_rates_of_the_counts_are_no_covariates(name):
    table = crossed({"Area": names("D", 10), "Week": WEEKS[:20]}, {"Cases": 40})
    people = np.repeat(np.exp(RNG.normal(10, 1, 10)).astype(int), 20)
    table |= {"Population": people, name: 1e5 * np.array(table["Cases"]) / people}
    assert Reading(table).counts.n_attributes == 0


def test_revisions_that_are_summed_are_warned_of():
    keys = {"Area": names("D"), "Week": WEEKS[:9], "Release date": ["2022-07-01", "2022-08-01"]}
    assert "differ in Release date are summed" in Reading(crossed(keys, {"Cases": 9})).warned


def test_masked_entries_of_an_array_are_missing():
    array = np.ma.masked_greater(np.arange(24).reshape(4, 6), 20)
    assert CountTensor.from_dense(array).n_observed == 21


def test_ends_of_intervals_are_no_counts():
    weeks = range(202001, 202021)
    table = crossed({"week": weeks, "area": names("D", 8), "indicator": [3]}, {"inc": 40})
    table["inc_low"] = [max(y - 9, 0) for y in table["inc"]]
    table["inc_up"] = [y + 9 for y in table["inc"]]
    read = Reading(table)
    assert (read.count, read.counts.shape, read.attributes) == ("inc", (8, 20), [])


def test_animals_that_both_observers_saw_are_no_total():
    y = RNG.poisson((8, 4, 2), (30, 3))
    labels = [names("s", 30), ["front", "rear", "both"]]
    counts = CountTensor.from_dense(y, modes=["site", "observer"], labels=labels)
    assert "totals" not in {each.kind for each in check_counts(counts)}


def test_several_counts_of_a_day_are_warned_of():
    rows = [{"Site": f"S{k // 6}", "Date": WEEKS[k // 2 % 3], "Count": k % 7} for k in range(120)]
    assert "every entry has 2 rows" in Reading(rows).warned


MONTHS = "Ene Feb Mar Abr May Jun Jul Ago Sep Oct Nov Dic"


@pytest.mark.parametrize("visits", ["Count1 Count2 Count3", "frog1 frog2 newt1 newt2", MONTHS])
@pytest.mark.parametrize("cell", ["-1", "rain"])
def test_one_cell_of_a_wide_table_is_missing(visits, cell):
    rows = [{"Site": f"S{s}"} | dict.fromkeys(visits.split(), str(s % 5)) for s in range(20)]
    rows[3][visits.split()[-1]] = cell
    read = Reading(rows)
    assert read.counts.n_observed == 20 * len(visits.split()) - 1
    assert any("missing" in line and cell in line for line in read.warned.splitlines())


@pytest.mark.parametrize("texts", ["950;1.050;99.000", "12.345;1.001", "1,23,456;950;12,34,567"])
def test_marks_of_thousands(texts):
    text = "\n".join(["ort;people", *(f"o{k};{it}" for k, it in enumerate(texts.split(";")))])
    values = [int(re.sub("[.,]", "", each)) for each in texts.split(";")]
    assert read_file(text.encode()).frame["people"].to_list() == values


@pytest.mark.parametrize("name", ["epiweek", "mois", "Date"])
def test_running_totals_along_times(name):
    days = np.arange("2023-01-20", "2023-02-20", dtype="datetime64[D]").astype("O")
    labels = {"Date": [f"{day:%d/%m/%Y}" for day in days]}
    labels["mois"] = ["janv.", "févr.", "mars", "avr.", "mai", "juin", "août", "déc."]
    at = enumerate(labels.get(name, range(1, 41)))
    rows = [{name: x, "at": f"R{r}", "n": 9 * k} for k, x in at for r in range(9)]
    rows += [{name: "Source: MoH"}] if name == "Date" else []
    assert "running totals" in {each.kind for each in check_counts(Reading(rows).counts)}


def test_weeks_that_lack_days_are_missing_and_long_names_differ():
    days = np.arange("2021-01-01", "2022-09-01", dtype="datetime64[D]").astype(str)
    clinics = [str(2**53 + c) for c in range(8)]
    rows = [{"date": x, "clinic": c, "cases": 20} for x in days for c in clinics[2:]]
    rows += [{"date": x, "clinic": clinics[0], "cases": 20} for k, x in enumerate(days) if k % 3]
    rows += [{"date": x, "clinic": clinics[1], "cases": 20} for x in days[3::7]]
    counts = Reading(rows).counts
    assert ({*counts.counts}, counts.shape[0]) == ({20, 140}, 8)


AREAS = {"Area": names("A", 9), "Year": range(2012, 2022)}


@pytest.mark.parametrize(
    ("beside", "count"),
    [(("Injuries", "Employees", "Hours worked"), "Injuries"), (("x", "y", "Birds"), "Birds")],
)
def test_what_is_beside_counts_is_neither_count_nor_part_of_them(beside, count):
    first, second, both = beside
    table = crossed(AREAS, {first: 5, second: 50})
    if first == "x":
        at = [int(area[1:]) for area in table["Area"]]
        table |= {"x": [k + 3 for k in at], "y": [k + 40 for k in at]}
    read = Reading(table | {both: np.add(table[first], table[second])})
    assert (read.count, read.counts.shape) == (count, (9, 10))
    assert not {*read.attributes} & {"Male deaths", "y", "Employees"}


COVARIATES = ["Search hours", "traps flooded", "sea_state", "lluvia_mm", "test coverage"]


@pytest.mark.parametrize("name", COVARIATES)
def test_numbers_that_do_not_order_rows_are_covariates(name):
    table = crossed(AREAS, {name: 5, "Cases": 5})
    table[name] = [f"{1 + value % 3}" + "%" * (name == "test coverage") for value in table[name]]
    read = Reading(table)
    assert (read.count, read.columns.exposure) == ("Cases", None)
    assert read.acts_on == {name: "rate" if "lluvia" in name else "detection"}


def test_columns_of_years_are_read_by_year_and_a_fifth_key_is_a_mode():
    years = [f"{what} {year}" for what in ("Cases", "Deaths") for year in (2018, 2019, 2020)]
    read = Reading(crossed({"Area": AREAS["Area"]}, dict.fromkeys(years, 9)))
    assert (read.counts.modes, read.count) == (("Area", "year"), "Cases")
    assert "Gear" in Reading(crossed(AREAS | {"Gear": names("g")}, {"Bycatch": 5})).modes
    keys = {"Sex": "MF", "Race": "AB", "Age": "YO"}
    assert len(Reading(crossed(AREAS | keys, {"Cases": 5})).counts.modes) == 5


def test_keys_joined_by_commas_and_flags_behind_numbers_are_read_as_eurostat_writes_them():
    cells = {"AT": "326 b|: |280 p", "BE": "310|305 p|290 p", "CZ": "9|8|: c"}
    lines = ["freq,sex,geo\\TIME_PERIOD|2018 |2019 |2020 "]
    lines += [f"A,{sex},{geo}|{own}" for geo, own in cells.items() for sex in "FM"]
    read = Reading("\n".join(lines).replace("|", "\t"))
    sizes = dict(zip(read.counts.modes, read.counts.shape, strict=True))
    assert sizes == {"sex": 2, "geo": 3, "year": 3}
    assert read.counts.counts.sum() == 2 * (326 + 280 + 310 + 305 + 290 + 9 + 8)
    assert any("flags behind numbers" in note for note in read.raw.notes)


@pytest.mark.parametrize("month", ["05", "Mai"])
def test_year_month_and_day_in_columns_are_a_date(month):
    of_site = {"Jahr": [2021], "Monat": [month], "Tag": [3, 17, 30]}
    read = Reading(crossed({"Site": names("S", 9)} | of_site, {"Count": 4}))
    assert read.modes == ["Site", "date"]
    assert "2021-05-17" in read.counts.labels[1]


@pytest.mark.parametrize(
    ("seen", "visits"),
    [
        (("n_A", "n_B", "n_both"), ("1 A", "2 B")),
        (("front only", "rear only", "both"), ("1 front", "2 rear")),
        (("Only observer 1", "Only observer 2", "both"), ("1 observer 1", "2 observer 2")),
    ],
)
def test_what_both_of_two_observers_saw_makes_capture_histories_with_a_p_each(seen, visits):
    rows = []
    for k in range(60):
        n = RNG.poisson(12)
        a, b = RNG.random(n) < 0.6, RNG.random(n) < 0.5
        both = int((a * b).sum())
        only = "only" in seen[0].lower()
        own = (a.sum() - both, b.sum() - both) if only else (a.sum(), b.sum())
        rows.append({"plot": f"P{k}", **dict(zip(seen, (*map(int, own), both), strict=True))})
    read = Reading(rows)
    assert (read.counts.labels[1], read.acts_on) == (visits, {"list": "detection"})
    number = fit(read.counts, FitSettings(rank=1, closed="visit")).population.numbers()
    assert number.estimate[0] == pytest.approx(60 * 12, rel=0.15)


def test_per_cents_ages_beside_a_total_and_codes_below_zero():
    species = {"Limpet": 5, "Mussel": 3, "Whelk": 2}
    days = ["2021-04-01", "2021-06-01", "2021-08-01"]
    table = crossed({"Quadrat": names("Q", 30), "Date": days}, species)
    assert Reading(table).columns.across == tuple(species)
    table = crossed({"Week": range(20), "Region": names("R", 10)}, {"AGE 0-4": 40, "AGE 65": 20})
    read = Reading(table | {"ILITOTAL": np.add(table["AGE 0-4"], table["AGE 65"])})
    assert ({*read.modes}, read.count) == ({"Region", "Week"}, "ILITOTAL")
    table = crossed({"nestbox": range(60), "year": [2019, 2020]}, {"clutch": 7})
    table["clutch"][::7] = [-999] * len(table["clutch"][::7])
    assert Reading(table).count == "clutch"
    read = Reading(crossed({"country": "ABCD", "year": range(9)}, {"suicides_no": 30}))
    assert read.count == "suicides_no"


def test_notes_on_observers_are_of_histories_that_come_from_them():
    rows = {"animal": names("a", 12), "site": ["n", "s"] * 6, "ch": ["101", "110", "011"] * 4}
    seen = {"only A": [1, 2, 3] * 4, "only B": [2, 1, 0] * 4, "both": [1, 1, 0] * 4}
    notes = list[str]()
    with_histories(pl.DataFrame(rows | seen), notes)
    assert any("12 capture histories of 3 visits" in note for note in notes)
    assert not any("observers" in note for note in notes)
    with_histories(pl.DataFrame({"site": rows["site"]} | seen), notes)
    assert any("two observers" in note for note in notes)
