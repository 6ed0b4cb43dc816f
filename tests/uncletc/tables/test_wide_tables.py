"""Tables with several columns of numbers: which are counts of one kind, and of what."""

import numpy as np
import pytest

from tests.uncletc.tables.made import DAYS, RNG, WEEKS, Reading, crossed, names
from tests.uncletc.tables.test_reading import workbook
from uncletc import FitSettings, fit
from uncletc.tables import read_file


def test_ages_and_powers_beside_claims_are_no_counts():
    whole = {"IDpol": (0, 3), "Power": (4, 12), "Bonus": (50, 150), "Years held": (1, 20)}
    table = {name: RNG.integers(*ends, 120) for name, ends in whole.items()}
    table["IDpol"] += 3 * np.arange(120)
    table |= {"ClaimNb": RNG.poisson(0.3, 120), "Exposure": [0.5] * 120}
    table |= {"Area": list("ABC") * 40, "Region": [f"R{k % 7}" for k in range(120)]}
    columns = Reading(table).columns
    assert (columns.count, columns.exposure, columns.across) == ("ClaimNb", "Exposure", ())


def test_the_code_of_a_country_is_no_count_and_unnamed_columns_are_asked_about():
    kinds = {"smear": 20, "clin": 9, "extra": 4}
    table = crossed({"country": names("C", 8), "year": range(2000, 2006)}, kinds)
    read = Reading(table | {"iso_numeric": [31 * int(it[1:]) + 4 for it in table["country"]]})
    assert read.columns.across == tuple(kinds)
    assert any("smear, clin and extra all count" in each for each in read.found.questions)


def test_trials_are_not_the_count():
    table = crossed({"site": names("P", 20), "sample": [0, 1, 2]})
    n = RNG.integers(8, 13, 60)
    table |= {"n_pcr_replicates": n, "positive_replicates": RNG.binomial(n, 0.3)}
    assert Reading(table).count == "positive_replicates"


def test_running_totals_among_other_counts_are_found():
    table = crossed({"dep": ["01", "02"], "jour": WEEKS}, {"stay": 50, "care": 9})
    table["home"] = np.tile(RNG.poisson(5, len(WEEKS)).cumsum(), 2)
    assert "'home' never fall along jour" in Reading(table).warned


def test_a_word_in_several_columns_and_a_row_of_units():
    text = "Plot,Date,Carabus,Abax,Poecilus\n,(dd/mm/yyyy),(ind.),(ind.),(ind.)\n"
    for k in range(24):
        cells = ["lost"] * 3 if k == 7 else map(str, RNG.poisson(3, 3))
        text += f"P{k % 8},{1 + 9 * (k // 8):02d}/05/2021,{','.join(cells)}\n"
    read = Reading(text)
    assert read.columns.across == ("Carabus", "Abax", "Poecilus")
    assert read.raw.frame["Abax"].null_count() == 1
    assert any("read as missing, 'lost'" in note for note in read.raw.notes)


def test_sheets_that_are_not_read_are_named():
    sheets = {str(year): [["Site", "Seen"], ["a", year], ["b", 2]] for year in (2018, 2019)}
    (note,) = read_file(workbook(**sheets), "t.xlsx").notes
    assert note.startswith("Please check: The sheet '2018' is read")
    assert note.endswith("and not 2019.")


def test_claims_by_age_of_the_year_are_running_totals():
    rows = []
    for year in range(2015, 2023):
        steps = np.cumsum(RNG.poisson([30, 20, 10, 6, 3, 2]))
        known = {f"Dev {12 * k}": int(y) for k, y in enumerate(steps, 1) if year + k <= 2024}
        rows.append({"Accident Year": year} | known)
    assert "never fall along series" in Reading(rows).warned


def test_positive_tests_ages_and_bed_days():
    table = crossed({"date": WEEKS[:10], "area": names("A", 6)})
    n = RNG.integers(500, 2000, 60)
    y = RNG.binomial(n, 0.05 + 0.1 * RNG.random(60))
    table |= {"tests_total": n, "tests_positive": y, "positivity": (100 * y / n).round(1)}
    read = Reading(table)
    assert (read.count, read.counts.n_attributes) == ("tests_positive", 0)
    months = [f"2022-{month:02d}" for month in range(1, 13)]
    table = crossed({"Month": months, "Hospital": names("H")}, {"Falls reported": 25})
    table["Falls with harm"] = RNG.binomial(table["Falls reported"], 0.2)
    read = Reading(table | {"Occupied bed days": RNG.integers(3000, 9000, 60)})
    assert (read.count, read.columns.exposure) == ("Falls reported", "Occupied bed days")
    assert read.counts.n_attributes == 0
    table = crossed({"DT": range(10), "CODE_MUN": names("M", 9)})
    assert Reading(table | {"NU_IDADE_N": [4000 + k % 80 for k in range(90)]}).count != "NU_IDADE_N"


def test_marked_caught_and_recaptured_are_two_visits_and_numbered_sightings_no_frequency():
    first, second = RNG.random((2, 20, 150)) < 0.4
    caught = (first, second, first & second)
    columns = zip(("Marked (M)", "Caught (C)", "Recaptured (R)"), caught, strict=True)
    table = {"Lake": names("L", 20)} | {name: each.sum(axis=1) for name, each in columns}
    number = fit(Reading(table).counts, FitSettings(rank=1, closed="visit")).population.numbers()
    assert number.estimate[0] == pytest.approx(20 * 150, rel=0.1)
    k = np.arange(120)
    table = {"sighting": k + 1, "obs1": (k < 90) * 1, "obs2": (k >= 90) | (k % 3 > 0)}
    table |= {"obs2": table["obs2"] * 1, "transect": [f"T{each % 6}" for each in k]}
    captures = Reading(table).counts.captures
    assert captures is None or len(captures) <= 120


def test_codes_of_missing_covariates_weeks_by_number_and_yes_or_no_at_visits():
    weeks = [*range(202245, 202253), *range(202301, 202305)]
    table = crossed({"week": weeks, "site": names("S", 10)}, {"seen": 4})
    table["water_temp"] = np.where(np.arange(120) % 11, 5 + RNG.random(120), -99.0)
    read = Reading(table)
    assert "2022-W45" in read.counts.labels[1]
    assert "-99 of water_temp is taken as missing" in read.warned
    nights = {f"Night{v}": RNG.random(30) < 0.4 for v in (1, 2, 3)}
    assert Reading({"Pond": names("P", 30)} | nights).counts.counts.max() == 1


def test_numbers_from_0_in_a_row_beside_many_covariates_are_counts_by_species():
    own = ("hych", "novi", "pscr", "racl")
    table = crossed({"site_id": range(2, 8), "visit": range(1, 9)}, dict.fromkeys(own, 3))
    more = {f"{what}_{k}": RNG.random(48) for what in ("wind", "pH", "humidity") for k in "abc"}
    read = Reading(table | more | {"Acer s.l.": RNG.poisson(1, 48)})
    assert read.columns.across == own
    assert "all count the same kind of thing" in read.said
    assert "Acer s.l." not in read.attributes


def test_a_weight_of_traps_names_none_and_two_numbered_species_are_no_histories():
    species = dict.fromkeys(("Daph sp1", "Daph sp2", "Kera test", "Bosm", "Cono", "Tric"), 0.4)
    lakes = Reading(crossed({"lake": names("L", 40)}, species))
    assert lakes.counts.counts.sum() == sum(map(sum, lakes.raw.frame.select(*species)))
    table = crossed({"Site": names("S"), "Trap": [1, 2]}, dict.fromkeys("ABCDEFGH", 2))
    assert "Trap mass" not in Reading(table | {"Trap mass": RNG.random(10)}).modes


def test_names_of_two_words_are_levels_of_two_modes():
    words = [f"{what}_{at}" for what in ("Cases", "Deaths") for at in ("Guinea", "Mali", "Togo")]
    read = Reading(crossed({"Date": DAYS[:30]}, dict.fromkeys(words, 4)))
    assert sorted(read.counts.shape) == [2, 3, 30]
    assert read.counts.counts.sum() == read.raw.frame["count"].sum()
    assert "Do Cases and Deaths all count the same kind of thing?" in read.said
    months = [f"{year}-{month:02d}" for year in (2021, 2022) for month in range(1, 13)]
    assert (
        Reading({"town": names("T")} | {it: RNG.poisson(4, 5) for it in months}).modes[1] == "month"
    )
