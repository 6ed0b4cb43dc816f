"""Roles that follow from how values repeat and cross, on tables whose names say little."""

import numpy as np
import pytest

from tests.uncletc.tables.made import DAYS, RNG, Reading, crossed, names

AREAS = {"Kanton": names("K", 8), "Geschlecht": ["f", "m"]}
CASES = crossed({"district": names("d", 6), "week": range(1, 11)}, {"cases": 9, "tests": 200})


@pytest.mark.parametrize(
    ("modes", "count"),
    [
        (AREAS | {"Diagnosejahr": range(2012, 2020)}, "Neuerkrankungen"),
        ({"Trap #": range(1, 8), "Geleert": range(44300, 44420, 7)}, "Psyllids"),
        ({"HaulNo": range(1, 13), "Year": [2018, 2020], "Aphia": [126436, 126441],
          "Lngt": range(10, 40, 5)}, "Catch"),
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
    assert (read.count, "Is cases the count?" in read.found.questions[0]) == ("", True)


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


def test_counts_of_males_and_females():
    sexes = ("n_Males", "n_females")
    table = crossed({"Plot": names("P"), "Date": DAYS[:9]}, dict.fromkeys(sexes, 3))
    read = Reading(table | {"rain_mm": RNG.random(45)})
    assert (read.columns.across, read.modes) == (sexes, ["Plot", "Date", "sex"])
    assert not Reading(table | {"otters": RNG.poisson(3, 45)}).columns.across


@pytest.mark.parametrize("name", ["False crawls", "Leere Körbe"])
def test_what_varies_as_counts_do_is_no_covariate_that_nobody_is_asked_about(name):
    table = crossed({"Beach": names("B"), "Survey date": DAYS[:30]}, {"Nests": 3, name: 3})
    table["Cows"] = [k // 30 for k in range(150)]  # of a place
    read = Reading(table | {"Surveyors": RNG.integers(2, 4, 150)})
    assert (read.count, read.attributes) == ("Nests", ["Surveyors", "Cows"][::-1])
    assert f"Counts or covariates: {name}?" in read.said


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


@pytest.mark.parametrize(
    "form", ["{1}. Durchgang", "Durchgang {1}", "{0}. Begang - Tiere", "{2} catch", "X{0}_y"]
)
def test_names_alike_but_for_one_number_are_visits_and_totals_that_fall_are_asked_about(form):
    numerals = [(1, "I", "first"), (2, "II", "second"), (3, "III", "third")]
    visits = {form.format(*it): 90 // 2**k for k, it in enumerate(numerals)}
    read = Reading(crossed({"Strecke": names("S", 9), "Art": list("ab")}, visits))
    assert read.counts.shape == (9, 2, 3)
    assert "removed before the next" in read.said


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


@pytest.mark.parametrize(
    ("says", "missing"),
    [
        ("Erhoben vom Amt", 0),
        ("Source: MoH. 999 = not reported; -9: missing.", 3),
        ("999: not near, 0 = missing", 0),
        ("In 2: no data", 0),
        ("-8: missing; 99 = missing", 0),  # beside 98, as a place may be
    ],
)
def test_a_footer_is_left_out_and_codes_that_it_says_are_missing_are_so(says, missing):
    cells = {3: 999, 5: -9, 11: 999, 12: 99, 13: 98}
    rows = "".join(f"o{k % 4},{k // 4},{cells.get(k, k)}\n" for k in range(20))
    read = Reading(f'Ort,Woche,Funde\n{rows}"{says}",,\n')
    assert (read.counts.shape, "Rows below the table" in read.said) == ((4, 5), True)
    assert read.raw.frame["Funde"].null_count() == missing
    assert ("999 in Funde is read as missing, as stated below" in read.said) == (missing > 0)
    assert "-8 in" not in read.said


def test_series_that_were_names_of_columns_are_asked_about_and_rounds_whatever_their_name():
    years = [f"{year} {what}" for year in (2019, 2020) for what in ("Cases", "Deaths")]
    read = Reading(crossed({"District": names("D", 9)}, dict.fromkeys(years, 9)))
    assert "Do Cases and Deaths all count the same kind of thing?" in read.said
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
