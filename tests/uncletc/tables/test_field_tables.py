"""Tables as field workers and health departments write them: the count and the modes are found."""

import re
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from uncletc import CountTensor, FitSettings, fit
from uncletc.tables import build, check_counts, guess, read_file

RNG = np.random.default_rng(8)
WEEKS = [f"2022-{1 + k // 28:02d}-{1 + k % 28:02d}" for k in range(0, 280, 7)]


def read(rows):
    """Counts of a table, its column of counts and what is warned of."""
    raw = read_file(pl.DataFrame(rows).write_csv().encode(), "t.csv")
    found = guess(raw)
    data = build(raw, found.columns)
    warned = [each.sentence for each in check_counts(data) if each.severity != "info"]
    return data.with_roles().counts, found.columns, warned


def passes(year):
    """Three removal passes at 12 sites, in some years or on a day of each site."""
    rows, total = [], 0
    for site in range(12):
        for y in range(4 if year else 1):
            n = RNG.poisson((80, 55, 35, 20)[y])
            total += n
            when = {"Year": 2018 + y} if year else {"Date": f"2022-07-{site + 1:02d}"}
            for number in range(3):
                caught = RNG.binomial(n, 0.6)
                n -= caught
                rows.append({"Site": f"E{site}", "Pass": number + 1, **when, "Caught": caught})
    return rows, total


@pytest.mark.parametrize("year", [True, False])
def test_passes_remove_within_a_site_and_year_and_not_along_years(year):
    rows, total = passes(year)
    raw = read_file(pl.DataFrame(rows).write_csv().encode(), "t.csv")
    counts = build(raw, replace(guess(raw).columns, protocol="removal")).counts
    assert counts.modes == (("Site and Year" if year else "Site"), "Pass")
    number = fit(counts, FitSettings(rank=1, closed="Pass")).population.numbers()
    assert number.estimate[0] == pytest.approx(total, rel=0.1)


@pytest.mark.parametrize(
    ("name", "count"),
    [("Visit number", "Frogs"), ("Week number", "Number of deaths"), ("Plot number", "Seedlings")],
)
def test_the_number_of_a_visit_is_no_count(name, count):
    rows = [
        {"Site": f"S{s}", name: v + 1, count: RNG.poisson(5)} for s in range(20) for v in range(4)
    ]
    counts, columns, _ = read(rows)
    assert (counts.modes, columns.count) == (("Site", name), count)


@pytest.mark.parametrize("code", ["not surveyed", "NS", "x", -99])
def test_a_visit_with_codes_is_one_of_the_visits(code):
    rows = [
        {"Site": f"{s:03d}", "Visit 1": RNG.poisson(5), "Visit 2": RNG.poisson(5)}
        | {"Visit 3": str(code if s % 3 == 0 else RNG.poisson(5))}
        for s in range(30)
    ]
    counts, *_ = read(rows)
    assert (counts.shape, counts.n_observed) == ((30, 3), 80)


def test_nights_by_number_are_times_and_no_exposure():
    rows = [
        {"Site": f"S{s}", "Night": v + 1, "Count": RNG.poisson(5)}
        for s in range(9)
        for v in range(5)
    ]
    counts, columns, _ = read(rows)
    assert (counts.modes, columns.exposure) == (("Site", "Night"), None)


@pytest.mark.parametrize("name", ["Count of birds", "count_fish", "Birds counted", "Flock size"])
def test_numbers_of_animals_are_counts_by_more_names(name):
    rows = [
        {"Site": f"S{s}", "Species": "ab"[k], "Date": day, name: RNG.poisson(40) + s}
        for s in range(6)
        for k in range(2)
        for day in WEEKS[:5]
    ]
    counts, columns, _ = read(rows)
    assert (columns.count, set(counts.modes)) == (name, {"Site", "Species", "Date"})


@pytest.mark.parametrize("name", ["Group size", "size", "clustersize"])
def test_groups_in_a_list_of_distances_are_counts_of_animals(name):
    rows = [
        {"Transect": f"L{k % 9}", "Distance": float(RNG.uniform(0, 90)), name: 1 + k % 4}
        for k in range(120)
    ]
    counts, _, notes = read(rows)
    assert counts.counts.sum() > 200
    assert any("counts the animals of each group" in each for each in notes)


def test_tags_by_date_are_capture_histories():
    rows = [
        {"Date": f"2021-08-0{v + 1}", "Site": "AB"[k % 2], "Tag": 1000 + k}
        for k in range(80)
        for v in range(5)
        if RNG.random() < 0.35
    ]
    counts, *_ = read(rows)
    assert (counts.shape, len(counts.captures)) == ((2, 5), len({row["Tag"] for row in rows}))


def test_totals_and_areas_beside_passes_are_none():
    rows = []
    for s in range(20):
        caught = [int(RNG.poisson(mean)) for mean in (30, 15, 8)]
        row = {"Site": f"E{s}", "Area_m2": int(RNG.integers(80, 200))}
        row |= {f"Pass {k + 1}": n for k, n in enumerate(caught)}
        rows.append(row | {"Total catch": sum(caught), "Max count": max(caught)})
    counts, *_ = read(rows)
    assert counts.modes == ("Site", "pass")
    assert counts.rate_attribute_names + counts.attribute_names == ("Area_m2",)


@pytest.mark.parametrize("long", [True, False])
def test_a_band_without_an_end_is_left_out_and_said(long):
    bands = ["0-25m", "25-100m", ">100m"]
    rows = [{"Square": f"S{s}"} | {band: RNG.poisson(3) for band in bands} for s in range(30)]
    if long:
        rows = [
            {"Square": row["Square"], "Distance": band, "Count": row[band]}
            for row in rows
            for band in bands
        ]
    counts, _, warned = read(rows)
    assert counts.labels[1] == ("0-25m", "25-100m")
    assert any("beyond the last band" in each for each in warned)


def test_the_oldest_are_no_band_of_distance():
    ages = ["0-15", "15-60", "60+"]
    rows = [
        {"area": f"A{a}", "week": week, "age_group": age, "cases": RNG.poisson(3)}
        for a in range(6)
        for week in WEEKS[:4]
        for age in ages
    ]
    assert sorted(read(rows)[0].shape) == [3, 4, 6]


def test_histories_beside_their_own_visits_are_read_once():
    rows = []
    for k in range(90):
        caught = (RNG.random(4) < 0.4).astype(int).tolist()
        own = {f"day{v + 1}": c for v, c in enumerate(caught)}
        rows.append({"id": k, "sex": "MF"[k % 2], **own, "ch": "".join(map(str, caught))})
    rows = [row for row in rows if "1" in row["ch"]]
    counts, *_ = read(rows)
    assert (counts.shape, counts.n_attributes, len(counts.captures)) == ((2, 4), 0, len(rows))


def test_numbers_of_visits_within_names():
    rows = [
        {"Site": f"S{s}"}
        | {f"V{k}_count": RNG.poisson(4) for k in (1, 2, 3)}
        | {f"V{k}_wind": float(RNG.normal()) for k in (1, 2, 3)}
        for s in range(30)
    ]
    counts, *_ = read(rows)
    assert (counts.shape, counts.attribute_names) == ((30, 3), ("wind",))


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
    counts, columns, _ = read(rows)
    assert (columns.count, counts.modes) == ("events", ("district", "Created Date"))
    assert counts.counts.sum() == 500


@pytest.mark.parametrize("name", ["Rate per 100,000", "Age-standardised rate", "7-day average"])
def test_rates_of_the_counts_are_no_covariates(name):
    people = np.exp(RNG.normal(10, 1, 10)).astype(int)
    rows = [
        {"Area": f"D{a}", "Week": week, "Cases": (y := int(RNG.poisson(40)))}
        | {"Population": int(people[a]), name: 1e5 * y / people[a]}
        for a in range(10)
        for week in WEEKS[:20]
    ]
    assert read(rows)[0].n_attributes == 0
    renamed = [
        {"score" if key == name else key: value for key, value in row.items()} for row in rows
    ]
    assert read(renamed)[0].n_attributes == 0  # whatever it is called


def test_revisions_that_are_summed_are_warned_of():
    rows = [
        {"Area": f"D{a}", "Week": week, "Release date": f"2022-0{7 + k}-01", "Cases": 9 + a + k}
        for k in range(2)
        for a in range(5)
        for week in WEEKS[:9]
    ]
    assert any("differ in Release date are summed" in each for each in read(rows)[2])


def test_masked_entries_of_an_array_are_missing():
    array = np.ma.masked_greater(np.arange(24).reshape(4, 6), 20)
    assert CountTensor.from_dense(array).n_observed == 21


def test_ends_of_intervals_are_no_counts():
    rows = [
        {"week": 202001 + w, "area": f"D{a}", "indicator": 3, "inc": (y := int(RNG.poisson(40)))}
        | {"inc_low": max(y - 9, 0), "inc_up": y + 9}
        for a in range(8)
        for w in range(20)
    ]
    counts, columns, _ = read(rows)
    assert (columns.count, counts.shape, counts.n_attributes) == ("inc", (8, 20), 0)


def test_animals_that_both_observers_saw_are_no_total():
    y = RNG.poisson((8, 4, 2), (30, 3))
    labels = [[f"s{k}" for k in range(30)], ["front", "rear", "both"]]
    counts = CountTensor.from_dense(y, modes=["site", "observer"], labels=labels)
    assert "totals" not in {each.kind for each in check_counts(counts)}


def test_a_covariate_of_visits_that_were_not_made_is_kept():
    rows = []
    for k in range(40):
        made = RNG.random(4) < 0.7
        row = {"Plot": f"P{k}"} | {f"count{v}": int(RNG.poisson(3)) for v in range(1, 5)}
        row |= {f"wind{v}": round(float(RNG.normal()), 2) for v in range(1, 5)}
        rows.append({n: x if n == "Plot" or made[int(n[-1]) - 1] else None for n, x in row.items()})
    assert read(rows)[0].attribute_names == ("wind",)


@pytest.mark.parametrize("times", [["June", "July", "August"], ["2019", "2020", "2021"]])
def test_marked_animals_by_month_or_year_are_capture_histories(times):
    rows = [{"Ring": f"B{k}"} | {t: int(k % 3 != i) for i, t in enumerate(times)} for k in range(9)]
    assert len(read(rows)[0].captures) == 9


def test_numbered_units_that_detect_are_no_animals():
    rows = [
        {"nestbox": k + 1} | {f"visit{v}": int(k % 3 != v) for v in (1, 2, 3)} for k in range(12)
    ]
    assert read(rows)[0].captures is None


@pytest.mark.parametrize("name", ["as_of", "version"])
def test_the_last_of_revisions_is_taken(name):
    rows = [
        {"region": f"R{k % 5}", "week": WEEKS[k // 5], name: v, "cases": 30 + 3 * v}
        for k in range(50)
        for v in range(3)
    ]
    counts, _, warned = read(rows)
    assert counts.counts.sum() == 50 * 36
    assert any(f"only the last {name}" in each.lower() for each in warned)


def test_several_counts_of_a_day_are_warned_of():
    rows = [{"Site": f"S{k // 6}", "Date": WEEKS[k // 2 % 3], "Count": k % 7} for k in range(120)]
    assert any("every entry has 2 rows" in each for each in read(rows)[2])


MONTHS = "Ene Feb Mar Abr May Jun Jul Ago Sep Oct Nov Dic"


@pytest.mark.parametrize("names", ["Count1 Count2 Count3", "frog1 frog2 newt1 newt2", MONTHS])
@pytest.mark.parametrize("cell", ["-1", "rain"])
def test_one_cell_of_a_wide_table_is_missing(names, cell):
    rows = [{"Site": f"S{s}"} | dict.fromkeys(names.split(), str(s % 5)) for s in range(20)]
    rows[3][names.split()[-1]] = cell
    counts, _, warned = read(rows)
    assert counts.n_observed == 20 * len(names.split()) - 1
    assert any("missing" in each and cell in each for each in warned)


@pytest.mark.parametrize("texts", ["950;1.050;99.000", "12.345;1.001", "1,23,456;950;12,34,567"])
def test_marks_of_thousands(texts):
    text = "\n".join(["ort;people", *(f"o{k};{it}" for k, it in enumerate(texts.split(";")))])
    values = [int(re.sub("[.,]", "", each)) for each in texts.split(";")]
    assert read_file(text.encode()).frame["people"].to_list() == values


@pytest.mark.parametrize("name", ["epiweek", "SE", "mois", "Date"])
def test_running_totals_along_times(name):
    days = np.arange("2023-01-20", "2023-02-20", dtype="datetime64[D]").astype("O")
    labels = {"Date": [f"{day:%d/%m/%Y}" for day in days]}
    labels["mois"] = ["janv.", "févr.", "mars", "avr.", "mai", "juin", "août", "déc."]
    at = enumerate(labels.get(name, range(1, 41)))
    rows = [{name: x, "at": f"R{r}", "n": 9 * k} for k, x in at for r in range(9)]
    rows += [{name: "Source: MoH"}] if name == "Date" else []
    assert "running totals" in {each.kind for each in check_counts(read(rows)[0])}


def test_weeks_that_lack_days_are_missing_and_long_names_differ():
    days = np.arange("2021-01-01", "2022-09-01", dtype="datetime64[D]").astype(str)
    clinics = [str(2**53 + c) for c in range(8)]
    rows = [{"date": x, "clinic": c, "cases": 20} for x in days for c in clinics[2:]]
    rows += [{"date": x, "clinic": clinics[0], "cases": 20} for k, x in enumerate(days) if k % 3]
    rows += [{"date": x, "clinic": clinics[1], "cases": 20} for x in days[3::7]]
    counts = read(rows)[0]
    assert ({*counts.counts}, counts.shape[0]) == ({20, 140}, 8)


AREAS = [(f"A{a}", year) for a in range(9) for year in range(2012, 2022)]


def y(mean=5):
    return int(RNG.poisson(mean))


@pytest.mark.parametrize("name", ["Haul", "Encounter", "Test", "Pop"])
def test_numbers_that_begin_again_in_each_place_are_no_counts(name):
    rows = [{"Station": f"S{s}", name: k, "Tadpoles": y()} for s in range(12) for k in (1, 2, 3)]
    counts, columns, _ = read(rows)
    assert (columns.count, counts.shape) == ("Tadpoles", (12, 3))


@pytest.mark.parametrize(
    ("names", "count"),
    [
        (("Male deaths", "Female deaths", "All persons"), "All persons"),
        (("Injuries", "Employees", "Hours worked"), "Injuries"),
        (("x", "y", "Birds"), "Birds"),
    ],
)
def test_what_is_beside_counts_is_neither_count_nor_part_of_them(names, count):
    rows = []
    for area, year in AREAS:
        a, b = (int(area[1]) + 3, int(area[1]) + 40) if names[0] == "x" else (y(), y(50))
        rows.append({"Area": area, "Year": year} | dict(zip(names, (a, b, a + b), strict=True)))
    counts, columns, _ = read(rows)
    assert (columns.count, counts.shape) == (count, (9, 10))
    assert not {*counts.all_attribute_names} & {"Male deaths", "y", "Employees"}


def test_hours_that_do_not_order_rows_are_effort():
    rows = [{"Area": a, "Year": t, "Search hours": 1 + y() % 3, "Count": y()} for a, t in AREAS]
    assert read(rows)[0].attribute_names == ("Search hours",)


def test_columns_of_years_are_read_by_year_and_a_fifth_key_is_a_mode():
    years = [f"{what} {year}" for what in ("Cases", "Deaths") for year in (2018, 2019, 2020)]
    rows = [{"Area": f"A{a}"} | {name: y(9) for name in years} for a in range(9)]
    assert (read(rows)[0].modes, read(rows)[1].count) == (("Area", "year"), "Cases")
    keys = [{"Sex": s, "Race": r, "Age": g, "Cases": y()} for s in "MF" for r in "AB" for g in "YO"]
    assert len(read([{"Area": a, "Year": t} | key for a, t in AREAS for key in keys])[0].modes) == 5


def test_keys_joined_by_commas_and_flags_behind_numbers_are_read_as_eurostat_writes_them():
    years = ["2018 ", "2019 ", "2020 "]
    cells = {
        "AT": ["326 b", ": ", "280 p"],
        "BE": ["310", "305 p", "290 p"],
        "CZ": ["9", "8", ": c"],
    }
    lines = ["freq,sex,geo\\TIME_PERIOD\t" + "\t".join(years)]
    lines += [f"A,{s},{geo}\t" + "\t".join(own) for geo, own in cells.items() for s in "FM"]
    raw = read_file("\n".join(lines).encode(), "t.tsv")
    data = build(raw, guess(raw).columns)
    assert dict(zip(data.counts.modes, data.counts.shape, strict=True)) == {
        "sex": 2, "geo": 3, "year": 3
    }  # fmt: skip
    assert data.counts.counts.sum() == 2 * (326 + 280 + 310 + 305 + 290 + 9 + 8)
    assert any("flags behind numbers" in note for note in raw.notes)


@pytest.mark.parametrize("month", ["05", "Mai"])
def test_year_month_and_day_in_columns_are_a_date(month):
    rows = [
        {"Site": f"S{s}", "Jahr": 2021, "Monat": month, "Tag": day, "Count": RNG.poisson(4)}
        for s in range(9)
        for day in (3, 17, 30)
    ]
    counts, columns, _ = read(rows)
    assert [it.column for it in columns.modes] == ["Site", "date"]
    assert "2021-05-17" in counts.labels[1]


@pytest.mark.parametrize("names", [("n_A", "n_B", "n_both"), ("only A", "only B", "both")])
def test_what_both_of_two_observers_saw_makes_capture_histories(names):
    rows = []
    for k in range(60):
        n = RNG.poisson(12)
        a, b = RNG.random(n) < 0.6, RNG.random(n) < 0.5
        both = int((a * b).sum())
        own = (a.sum() - both, b.sum() - both) if "only" in names[0] else (a.sum(), b.sum())
        rows.append({"plot": f"P{k}", **dict(zip(names, (*map(int, own), both), strict=True))})
    counts, _, _ = read(rows)
    number = fit(counts, FitSettings(rank=1, closed="visit")).population.numbers()
    assert number.estimate[0] == pytest.approx(60 * 12, rel=0.15)


def test_per_cents_ages_beside_a_total_and_codes_below_zero():
    rows = [
        {"Quadrat": f"Q{q}", "Date": f"2021-0{m}-01", "Limpet": RNG.poisson(5),
         "Mussel": RNG.poisson(3), "Whelk": RNG.poisson(2), "Bare_ground": 5 * RNG.integers(20)}
        for q in range(30) for m in (4, 6, 8)
    ]  # fmt: skip
    assert read(rows)[1].across == ("Limpet", "Mussel", "Whelk")
    rows = []
    for k in range(200):
        young, old = RNG.poisson(40), RNG.poisson(20)
        rows.append({"Region": f"R{k % 10}", "Week": k // 10, "AGE 0-4": young, "AGE 65": old})
        rows[-1]["ILITOTAL"] = young + old
    _, columns, _ = read(rows)
    assert ([it.column for it in columns.modes], columns.count) == (["Region", "Week"], "ILITOTAL")
    rows = [
        {"nestbox": k, "year": y, "clutch": -999 if (k + y) % 7 == 0 else RNG.poisson(7)}
        for k in range(60)
        for y in (2019, 2020)
    ]
    assert read(rows)[1].count == "clutch"
    rows = [
        {"country": c, "year": y, "suicides_no": RNG.poisson(30)} for c in "ABCD" for y in range(9)
    ]
    assert read(rows)[1].count == "suicides_no"
