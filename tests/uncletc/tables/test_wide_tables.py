"""Tables with several columns of numbers: which are counts of one kind, and of what."""

import numpy as np
import polars as pl
import pytest

from tests.uncletc.tables.test_field_tables import read
from tests.uncletc.tables.test_reading import workbook
from uncletc import FitSettings, fit
from uncletc.tables import guess, read_file

RNG = np.random.default_rng(21)


def test_ages_and_powers_beside_claims_are_no_counts():
    rows = [
        {"IDpol": 3 * k + RNG.integers(3), "ClaimNb": RNG.poisson(0.3), "Exposure": 0.5,
         "Area": "ABC"[k % 3], "Region": f"R{k % 7}", "Power": RNG.integers(4, 12),
         "Bonus": RNG.integers(50, 150), "Years held": RNG.integers(1, 20)}
        for k in range(120)
    ]  # fmt: skip
    _, columns, _ = read(rows)
    assert (columns.count, columns.exposure, columns.across) == ("ClaimNb", "Exposure", ())


def test_the_code_of_a_country_is_no_count_and_unnamed_columns_are_asked_about():
    rows = [
        {"country": f"C{c}", "iso_numeric": 31 * c + 4, "year": 2000 + y, "smear": RNG.poisson(20),
         "clin": RNG.poisson(9), "extra": RNG.poisson(4)}
        for c in range(8) for y in range(6)
    ]  # fmt: skip
    found = guess(read_file(pl.DataFrame(rows).write_csv().encode(), "t.csv"))
    assert found.columns.across == ("smear", "clin", "extra")
    assert any("smear, clin and extra all count" in each for each in found.questions)


@pytest.mark.parametrize("form", ["y{}.{}", "year{}_visit{}", "{}_{}", "Year {} Visit {}"])
def test_names_that_cross_years_and_visits(form):
    names = [form.format(year, visit) for year in (2018, 2019, 2020) for visit in (1, 2, 3)]
    rows = [{"site": f"S{k}", **{it: RNG.poisson(2) for it in names}} for k in range(30)]
    counts, _, _ = read(rows)
    assert counts.modes == ("site", "year", "visit")
    assert counts.counts.sum() == sum(row[it] for row in rows for it in names)


def test_trials_are_not_the_count():
    rows = []
    for k in range(60):
        n = int(RNG.integers(8, 13))
        rows.append({"site": f"P{k % 20}", "sample": k // 20, "n_pcr_replicates": n})
        rows[-1]["positive_replicates"] = RNG.binomial(n, 0.3)
    assert read(rows)[1].count == "positive_replicates"


def test_running_totals_among_other_counts_are_found():
    total, rows = 0, []
    for k in range(60):
        total += RNG.poisson(5)
        rows.append({"dep": "01", "jour": f"2021-{1 + k // 28:02d}-{1 + k % 28:02d}"})
        rows[-1] |= {"stay": RNG.poisson(50), "care": RNG.poisson(9), "home": total}
    rows += [{**row, "dep": "02"} for row in rows]
    _, _, warned = read(rows)
    assert any("'home' never fall along jour" in each for each in warned)


def test_a_word_in_several_columns_and_a_row_of_units():
    text = "Plot,Date,Carabus,Abax,Poecilus\n,(dd/mm/yyyy),(ind.),(ind.),(ind.)\n"
    for k in range(24):
        cells = ["lost"] * 3 if k == 7 else map(str, RNG.poisson(3, 3))
        text += f"P{k % 8},{1 + 9 * (k // 8):02d}/05/2021,{','.join(cells)}\n"
    raw = read_file(text.encode(), "t.csv")
    assert guess(raw).columns.across == ("Carabus", "Abax", "Poecilus")
    assert raw.frame["Abax"].null_count() == 1
    assert any("'lost' is read as missing" in note for note in raw.notes)


def test_sheets_that_are_not_read_are_named():
    sheets = {str(year): [["Site", "Seen"], ["a", year], ["b", 2]] for year in (2018, 2019)}
    (note,) = read_file(workbook(**sheets), "t.xlsx").notes
    assert note.startswith("Please check: The sheet '2018' is read")
    assert note.endswith("and not 2019.")


def test_claims_by_age_of_the_year_are_running_totals():
    rows = []
    for year in range(2015, 2023):
        steps = np.cumsum(RNG.poisson([30, 20, 10, 6, 3, 2]))
        known = [int(y) if year + k < 2024 else None for k, y in enumerate(steps)]
        names = [f"Dev {12 * k}" for k in range(1, 7)]
        rows.append({"Accident Year": year} | dict(zip(names, known, strict=True)))
    _, _, warned = read(rows)
    assert any("never fall along series" in each for each in warned)


def test_positive_tests_ages_and_bed_days():
    rows = []
    for k in range(60):
        n = int(RNG.integers(500, 2000))
        y = int(RNG.binomial(n, 0.05 + 0.1 * RNG.random()))
        rows.append({"area": f"A{k % 6}", "date": f"2020-09-{1 + k // 6:02d}", "tests_total": n})
        rows[-1] |= {"tests_positive": y, "positivity": round(100 * y / n, 1)}
    counts, columns, _ = read(rows)
    assert (columns.count, counts.n_attributes) == ("tests_positive", 0)
    rows = [
        {"Hospital": f"H{k % 5}", "Month": f"2022-{1 + k // 5:02d}", "Falls reported": y,
         "Falls with harm": RNG.binomial(y, 0.2), "Occupied bed days": RNG.integers(3000, 9000)}
        for k, y in enumerate(RNG.poisson(25, 60))
    ]  # fmt: skip
    counts, columns, _ = read(rows)
    assert (columns.count, columns.exposure) == ("Falls reported", "Occupied bed days")
    assert counts.n_attributes == 0
    rows = [{"CODE_MUN": f"M{k % 9}", "DT": k // 9, "NU_IDADE_N": 4000 + k % 80} for k in range(90)]
    assert guess(read_file(pl.DataFrame(rows).write_csv().encode(), "t.csv")).columns.count != (
        "NU_IDADE_N"
    )


def test_marked_caught_and_recaptured_are_two_visits_and_numbered_sightings_no_frequency():
    rows = []
    for k in range(20):
        first, second = RNG.random((2, 150)) < 0.4
        rows.append({"Lake": f"L{k}", "Marked (M)": first.sum(), "Caught (C)": second.sum()})
        rows[-1]["Recaptured (R)"] = (first & second).sum()
    rows = [{name: v if name == "Lake" else int(v) for name, v in row.items()} for row in rows]
    number = fit(read(rows)[0], FitSettings(rank=1, closed="visit")).population.numbers()
    assert number.estimate[0] == pytest.approx(20 * 150, rel=0.1)
    rows = [{"sighting": k + 1, "obs1": 1, "obs2": int(k % 3 > 0)} for k in range(90)]
    rows += [{"sighting": k + 91, "obs1": 0, "obs2": 1} for k in range(30)]
    rows = [{**row, "transect": f"T{k % 6}"} for k, row in enumerate(rows)]
    counts, _, _ = read(rows)
    assert counts.captures is None or len(counts.captures) <= 120


def test_codes_of_missing_covariates_weeks_by_number_and_yes_or_no_at_visits():
    rows = [
        {"site": f"S{k % 10}", "week": 202245 + k // 10 if k < 80 else 202300 + k // 10 - 7,
         "seen": RNG.poisson(4), "water_temp": -99.0 if k % 11 == 0 else 5 + RNG.random()}
        for k in range(120)
    ]  # fmt: skip
    counts, _, warned = read(rows)
    assert "2022-W45" in counts.labels[1]
    assert any("-99 of water_temp is taken as missing" in each for each in warned)
    rows = [
        {"Pond": f"P{k}", **{f"Night{v}": bool(RNG.random() < 0.4) for v in (1, 2, 3)}}
        for k in range(30)
    ]
    assert read(rows)[0].counts.max() == 1
