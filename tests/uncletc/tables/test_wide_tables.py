"""Tables with several columns of numbers: which are counts of one kind, and of what."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from tests.uncletc.tables.test_field_tables import read
from tests.uncletc.tables.test_reading import workbook
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
