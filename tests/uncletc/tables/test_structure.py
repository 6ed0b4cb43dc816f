"""Roles that follow from how values repeat and cross, on tables whose names say little."""

import numpy as np
import pytest

from tests.uncletc.tables.made import DAYS, RNG, Reading, crossed, names
from uncletc.tables import RawTable, guess

AREAS = {"Kanton": names("K", 8), "Geschlecht": ["f", "m"]}
CASES = crossed({"district": names("d", 6), "week": range(1, 11)}, {"cases": 9, "tests": 200})


@pytest.mark.parametrize(
    ("modes", "count"),
    [
        (AREAS | {"Diagnosejahr": range(2012, 2020)}, "Neuerkrankungen"),
        ({"Trap #": range(1, 8), "Geleert": range(44300, 44420, 7)}, "Psyllids"),
    ],
)  # fmt: skip
def test_whole_numbers_that_name_rows_are_no_counts(modes, count):
    table = crossed(modes, {count: 60})
    read = Reading(table | {"hrs": RNG.integers(50, 160, len(table[count]))})
    assert (sorted(read.modes), read.count) == (sorted(modes), count)


def test_counts_near_2000_are_no_years():
    years = [str(year) for year in range(2015, 2021)]
    wide = Reading(crossed({"Ort": names("o", 9)}, dict.fromkeys(years, 2000)))
    assert wide.counts.shape == (9, 6)
    assert Reading(crossed({"Ort": names("o", 9), "Woche": range(30)}, {"q": 2000})).count == "q"


@pytest.mark.parametrize("cells", [["n/a?"], ["n/a?", "see below", "1O"]])
def test_a_named_count_is_kept_where_few_cells_are_no_numbers(cells):
    y = [*cells, *map(str, CASES["cases"][len(cells) :])]
    read = Reading(CASES | {"cases": y})
    assert (read.count, read.counts.n_observed) == ("cases", 60 - len(cells))
    assert "'n/a?' (1 time)" in read.warned
    read = Reading(CASES | {"cases": [f"w{k}" if k % 3 else str(k) for k in range(60)]})
    assert "Is cases the count?" in read.found.questions[0]


def test_a_word_among_numbers_is_missing_and_999_is_warned_of():
    table = crossed({"Hide": names("H"), "Tag": DAYS[:30]}, {"Weihe": 4})
    table["Weihe"] = [
        "n.b." if k % 11 == 0 else "999" if k % 17 == 0 else str(y)
        for k, y in enumerate(table["Weihe"])
    ]
    read = Reading(table)
    assert (read.count, read.counts.n_observed) == ("Weihe", 136)
    assert "8 values of Weihe are 999, the largest" in read.warned


def test_a_day_that_no_calendar_has_leaves_its_rows_out():
    days = [f"{d:02d}/{m:02d}/2022" for m in (1, 2, 3) for d in (3, 13, 23)]
    table = crossed({"Ort": names("o"), "Datum": days}, {"Funde": 4})
    table["Datum"][4] = "32/13/2022"
    read = Reading(table)
    assert read.counts.shape == (5, 9)
    assert "'32/13/2022' is no date" in read.warned


@pytest.mark.parametrize("units", [("", "d/m/y", "n", "m"), ("Code", "date", "Ind.", "m (wet)")])
def test_a_row_of_units_is_left_out(units):
    table = crossed({"Plot": names("P", 8), "Date": DAYS[:3]}, {"Carabus": 3, "Tiefe": 20})
    rows = [units, *zip(*table.values(), strict=True)]
    text = "\n".join(",".join(map(str, row)) for row in [list(table), *rows])
    assert Reading(text).count == "Carabus"


def test_tests_are_found_by_any_text_and_no_words_that_all_names_begin_with_hide_them():
    months = [f"{m}/2023" for m in range(1, 13)]
    table = crossed({"organisationunit": names("Clinic "), "period": months})
    suspected = RNG.poisson(200, 60)
    tests = RNG.binomial(suspected, 0.6)
    own = {"suspected cases": suspected, "tests (RDT)": tests, "confirmed cases": tests // 3}
    table |= {f"MAL - Malaria {name}": values for name, values in own.items()}
    read = Reading(table)
    assert read.count == "MAL - Malaria confirmed cases"
    assert read.attributes == ["MAL - Malaria tests (RDT) per MAL - Malaria suspected cases"]
    assert (
        "MAL - Malaria tests (RDT) per" not in Reading(table | {"test rate": RNG.random(60)}).said
    )


def test_the_sum_of_a_block_is_left_out_whatever_its_name():
    parts = {"Nymphes": 3, "Adultes": 2, "Larves": 4}
    table = crossed({"Lieu": names("L"), "Date": DAYS[:9]}, parts)
    read = Reading(table | {"Tiques": np.sum([table[name] for name in parts], axis=0)})
    assert (read.columns.across, read.attributes) == (tuple(parts), [])


@pytest.mark.parametrize("name", ["False crawls", "Leere Körbe"])
def test_what_no_name_explains_is_no_covariate_and_is_asked_about(name):
    table = crossed({"Beach": names("B"), "Survey date": DAYS[:30]}, {"Nests": 3, name: 3})
    table["Cows"] = [k // 30 for k in range(150)]  # of a place
    read = Reading(table | {"Surveyors": RNG.integers(2, 4, 150)})
    assert (read.count, read.attributes) == ("Nests", ["Surveyors"])
    assert f"counted by {name} and Cows?" in read.said


@pytest.mark.parametrize(
    ("days", "first", "last"),
    [
        (["1 avr. 2023", "2 mai 2023", "4 juil. 2023"], "2023-04-01", "2023-07-04"),
        (["lun. 3 avr. 2023", "mar. 4 avr. 2023"], "2023-04-03", "2023-04-04"),
        (["26/12–01/01/2023", "02/01–08/01/2023"], "2022-12-26", "2023-01-02"),
        (["3 de abril de 2023", "14 de mayo de 2023"], "2023-04-03", "2023-05-14"),
        (["Mo, 03.04.2023", "Di, 04.04.2023"], "2023-04-03", "2023-04-04"),
        (["01/02/2021", "02/02/2021", "01/03/2021"], "2021-02-01", "2021-03-01"),
    ],
)
def test_days_with_words_ranges_and_in_the_order_in_which_they_ascend(days, first, last):
    rows = [{"Quand": day, "Site": site, "n": 3} for day in days for site in "abc"]
    labels = Reading(rows).counts.labels
    own = next(own for own in labels if len(own) == len(days) and own[0] not in "abc")
    assert (own[0], own[-1]) == (first, last)


def test_months_by_number_stay_text_and_years_out_of_order_are_said():
    months = [f"{m:02d}.2020" for m in range(1, 13)]
    table = crossed({"Ort": names("o"), "Monat": months}, {"Funde": 9})
    assert Reading(table).counts.labels[1][0] == "2020-01"
    trips = crossed({"Ort": names("o"), "Reise": ["Mai 2021 b", "Juni 2020 a", "Abril 2022"]})
    read = Reading(trips | {"Funde": [k % 7 for k in range(15)]})
    assert "is not in the order of time" in read.warned


@pytest.mark.parametrize("form", ["{1}. Durchgang", "Durchgang {1}", "{2} catch", "X{0}_y"])
def test_names_alike_but_for_one_number_are_visits_or_passes(form):
    numerals = [(1, "I", "first"), (2, "II", "second"), (3, "III", "third")]
    visits = {form.format(*it): 90 // 2**k for k, it in enumerate(numerals)}
    read = Reading(crossed({"Strecke": names("S", 9), "Art": list("ab")}, visits))
    assert read.counts.shape == (9, 2, 3)
    assert "same animals" in read.said or "removed before the next" in read.said


def test_a_code_that_a_text_names_is_no_count_and_texts_of_a_mode_are_groups():
    table = crossed({"country": names("C", 8), "year": range(2000, 2006)}, {"smear": 20})
    at = [int(name[1:]) for name in table["country"]]
    codes = {"iso": [31 * k + 4 for k in at], "Amt": ["west" if k < 5 else "ost" for k in at]}
    read = Reading(codes | table)
    assert (read.modes, read.count, read.columns.groups) == (["country", "year"], "smear", ("Amt",))


@pytest.mark.parametrize(("times", "said"), [(3, True), (1, False)])
def test_nines_more_often_than_other_large_counts_are_warned_of(times, said):
    values = [*range(800, 900), *[999] * times]
    rows = "".join(f"o{k % 4},{k // 4},{y}\n" for k, y in enumerate(values))
    warned = Reading(f"Ort,Woche,Funde\n{rows}").warned
    assert (f"{times} values of Funde are 999" in warned) == said


def test_a_footer_is_left_out():
    rows = "".join(f"o{k % 4},{k // 4},{k}\n" for k in range(20))
    read = Reading(f"Ort,Woche,Funde\n{rows}Erhoben vom Amt,,\n")
    assert (read.counts.shape, "Rows below the table" in read.said) == ((4, 5), True)


def test_rounds_are_asked_about_whatever_their_name():
    read = Reading(crossed({"Teich": names("T", 9), "Begehung": [1, 2, 3]}, {"Frösche": 4}))
    assert read.modes == ["Teich", "Begehung"]
    assert "Does each Begehung count the same" in read.said


def test_a_word_that_is_as_frequent_as_each_number_beside_it_is_a_name():
    plots = [*map(str, range(19)), "Rand"]
    table = crossed({"Parzelle": plots, "Datum": DAYS[:40:10]}, {"Funde": 4})
    assert Reading(table).counts.shape == (20, 4)


@pytest.mark.parametrize("part", ["Sectie", "Gang"])
def test_parts_of_places_that_are_numbered_hide_no_dates(part):
    modes = {"Plot": names("P", 6), part: [1, 2, 3], "Datum": DAYS[:56:7]}
    read = Reading(crossed(modes, {"Seen": 3}))
    assert (sorted(read.modes), read.attributes) == (sorted(modes), [])


def test_a_column_that_rows_of_the_same_entry_differ_in_is_a_mode_or_asked_about():
    rows = {"Island": names("I", 3), "Colony": [1.0, 2.1, 3.0, 4.0], "Date": DAYS[:9]}
    read = Reading(crossed(rows, {"Pairs count": 3}))
    assert read.modes == ["Island", "Colony", "Date"]
    depths = crossed({"Site": names("S"), "Week": [1, 2, 3], "Depth": ["low", "high"]}, {"n": 3})
    assert Reading(depths).modes == ["Site", "Depth", "Week"]
    again = crossed({"Site": names("S"), "Week": [1, 2, 3], "k": range(4)}, {"n": 3})
    read = Reading({name: own for name, own in again.items() if name != "k"})
    assert "60 rows are of 15 entries by Site and Week; rows of the same entry" in read.said


def test_another_name_of_a_level_or_of_its_group_is_no_second_mode():
    codes = {"County": names("C", 40), "Deaths": [7 + k % 5 for k in range(40)]}
    codes["County code"] = [1001 + 2 * k for k in range(40)]
    assert "Two or more are needed" in guess(RawTable.of(codes, "deaths")).questions[-1]


@pytest.mark.parametrize("name", ["Sample Number", "MeterNumber", "Sort Order"])
def test_a_number_of_something_is_no_count(name):
    table = crossed({"Site": names("S"), "Week": range(1, 13)}, {"seen": 2})
    assert Reading({name: [3 + 7 * k % 60 for k in range(60)]} | table).count == "seen"


def test_many_columns_are_counts_beside_remarks_sums_and_cells_left_blank():
    species = [f"Gen_{chr(97 + k)}us" for k in range(20)]
    table = crossed({"Reef": names("R", 8), "Year": range(2001, 2006)}, dict.fromkeys(species, 2))
    every = np.sum([table[name] for name in species], axis=0)
    remarks = [None] * 38 + ["storm", "fog"]
    read = Reading({"Remarks": remarks, "Everything": every} | table)
    assert (read.modes[:2], len(read.columns.across)) == (["Reef", "Year"], 20)
    blank = {name: [y or None for y in table[name]] for name in species}
    assert len(Reading({"Reef": table["Reef"], "Year": table["Year"]} | blank).columns.across) == 20


def test_other_counts_are_neither_modes_nor_levels_and_a_table_is_asked_about_once():
    rows = crossed({"site": names("s", 8), "week": range(1, 11), "k": range(3)})
    rows = {name: own for name, own in rows.items() if name != "k"}
    more = {name: 1 + RNG.poisson(9, 240) for name in ("cases", "deaths")}
    read = Reading(rows | more)
    assert (read.modes, read.count) == (["site", "week"], "cases")
    doses = {f"dose{k}": RNG.poisson(40, 240) for k in (1, 2, 3)}
    assert Reading(rows | {"cases": more["cases"]} | doses).count == "cases"
    long = {name: RNG.poisson(4, 240) for name in ("n", "Kolor", "Brand", "Foo", "Bar", "Baz")}
    assert Reading(rows | long).count == "n"
    full = crossed({"site": names("s", 8), "week": range(1, 11)})
    read = Reading(full | {"cases": 1 + RNG.poisson(0.3, 80)})
    assert "without a count 0" not in read.said
    found = guess(RawTable.of({"pass": ["a"] * 12, "n": RNG.poisson(9, 12)}, "one"))
    assert found.columns.modes == ()
