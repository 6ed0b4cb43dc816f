"""Tables that are arranged otherwise before their columns are guessed."""

from __future__ import annotations

import io

import numpy as np
import openpyxl
import pytest

from uncletc.tables import build, guess, read_file
from uncletc.tables.periods import periods

RNG = np.random.default_rng(4)


def lines(header: str, *rows: str) -> bytes:
    return "\n".join([header, *rows]).encode()


def modes(found) -> list[str]:
    columns = found.columns
    across = [columns.across_mode.column] if columns.across_mode else []
    return [each.column for each in columns.modes] + across


class TestVisits:
    ROWS = tuple(f"{k % 4},{k % 3},{k % 5},.{k}5,1.{k},2.{k},3.{k}" for k in range(9))
    HEAD = "y.1,y.2,y.3,forest,date.1,date.2,date.3"

    def test_each_with_its_own_date_are_put_below_each_other(self):
        raw = read_file(lines(self.HEAD, *self.ROWS), "points.csv")
        assert "3 visits" in raw.notes[0]
        found = guess(raw)
        assert (modes(found), found.columns.count) == (["row", "visit"], "y")
        assert [each.column for each in found.columns.attributes] == ["forest", "date"]
        assert build(raw, found.columns).counts.shape == (9, 3)

    def test_a_column_that_names_rows_stays(self):
        rows = [f"s{k},{row}" for k, row in enumerate(self.ROWS)]
        found = guess(read_file(lines(f"site,{self.HEAD}", *rows), "points.csv"))
        assert modes(found) == ["site", "visit"]

    def test_counts_alone_stay_wide(self):
        raw = read_file(lines("site,y.1,y.2,y.3", "a,1,2,3", "b,0,1,0", "c,2,2,1"), "points.csv")
        assert raw.notes == ()
        assert len(guess(raw).columns.across) == 3

    @pytest.mark.parametrize("stem", ["Occ", "Begehung ", "V"])
    def test_any_word_with_numbers_from_1(self, stem):
        head = ",".join(f"{stem}{k}" for k in range(1, 6))
        rows = [f"c{k},{k % 2},0,{k % 3},1,{k},{600 + 7 * k}" for k in range(8)]
        found = guess(read_file(lines(f"station,{head},elev", *rows), "traps.csv"))
        assert len(found.columns.across) == 5
        assert modes(found)[1] in (stem.strip().lower(), "visit")


def test_merged_cells_are_filled_downwards():
    book = openpyxl.Workbook()
    book.active.append(["Site", "Species", "2019", "2020", "2021"])
    for site in ("Marsh", "Wood", "Field"):
        for k, species in enumerate(("Robin", "Wren", "Dunnock")):
            book.active.append([site if not k else None, species, k, 3, 5 + k])
    file = io.BytesIO()
    book.save(file)
    raw = read_file(file.getvalue(), "birds.xlsx")
    assert "filled downwards into 6 rows" in raw.notes[0]
    assert modes(guess(raw)) == ["Site", "Species", "year"]


def test_two_rows_of_names_are_two_modes():
    rows = [f"site {k},{k},2,{k % 3},0" for k in range(6)]
    text = lines(",Robin,,Wren,", "Site,visit 1,visit 2,visit 1,visit 2", *rows)
    raw = read_file(text, "birds.csv")
    assert "Robin … over visit 1 …" in " ".join(raw.notes)
    found = guess(raw)
    assert (set(modes(found)), found.columns.count) == ({"Site", "group", "visit"}, "count")
    assert build(raw, found.columns).counts.n_observed == 24


def test_a_title_above_repeated_names_is_no_group():
    rows = [f"s{k},{k},2" for k in range(6)]
    raw = read_file(lines("My birds,,", "site,count,count", *rows), "birds.csv")
    assert raw.frame.columns == ["site", "count", "count (2)"]


def test_a_matrix_of_counts_alone_has_its_rows_numbered():
    head = "Carabus nemoralis,Abax ater,Nebria brevicollis,Amara aenea"
    rows = [",".join(map(str, RNG.poisson(3, 4))) for _ in range(6)]
    raw = read_file(lines(head, *rows), "beetles.csv")
    assert modes(guess(raw)) == ["row", "species"]
    assert "called row 1, row 2" in raw.notes[-1]


def test_degrees_that_are_no_grid_are_places():
    rows = [
        f"{45 + k / 7:.3f},{6 + k * 5 % 7 / 9:.3f},{m},{k + m}" for k in range(7) for m in (1, 2)
    ]
    found = guess(read_file(lines("lat,lon,month,sightings", *rows), "whales.csv"))
    assert modes(found) == ["place", "month"]
    assert found.columns.latitude == "lat"


def test_a_list_of_cases_is_counted():
    rows = [f"{k},2021-03-{1 + k % 20:02d},{'NESW'[k % 4]},{'fm'[k % 2]}" for k in range(80)]
    raw = read_file(lines("case_id,onset_date,region,sex", *rows), "cases.csv")
    found = guess(raw)
    assert (found.columns.count, found.columns.absent) == ("events", "zero")
    assert build(raw, found.columns).counts.counts.sum() == 80
    assert any("Each row is one event" in each for each in found.questions)


def test_totals_of_every_month_stay_and_one_at_the_end_goes():
    rows = [f"{place},{month},{month + 1}" for place in ("A", "B", "Total") for month in range(4)]
    assert len(read_file(lines("trust,month,cases", *rows), "t.csv").frame) == 12
    rows = [f"{place},{1},{2}" for place in ("A", "B", "C", "Total")]
    assert len(read_file(lines("trust,month,cases", *rows), "t.csv").frame) == 3


@pytest.mark.parametrize(
    ("names", "first"),
    [
        (["Jan-20", "Feb-20"], "2020-01"),
        (["March 2021", "April 2021"], "2021-03"),
        (["2020M01", "2020M02"], "2020-01"),
        (["2021-S01", "2021-S02"], "2021-W01"),
        (["2019 Q1", "2019 Q2"], "2019-Q1"),
        (["Week 5, 2020", "Week 6, 2020"], "2020-W05"),
        (["13/2020", "1/2020"], None),
        (["May 2020", "Mai 2020"], None),
        (["tree 12", "bush 12"], None),
    ],
)
def test_periods_in_one_form(names, first):
    found = periods(names)
    assert (found and found[names[0]]) == first


@pytest.mark.parametrize(
    ("name", "values", "first"),
    [
        ("date", ["20200501", "20200502"], "2020-05-01"),
        ("semana_epi", ["202005", "202006"], "2020-W05"),
        ("month", ["202005", "202006"], "2020-05"),
        ("time", ["2023-06-01T00:00:00+02:00", "2023-06-02T00:00:00+02:00"], "2023-06-01"),
        ("time", ["01/02/2021 11:30:00 PM", "01/13/2021 01:00:00 AM"], "2021-01-02 23:30:00"),
        ("month", ["Apr-21", "May-21"], "2021-04"),
    ],
)
def test_times_as_registers_write_them(name, values, first):
    raw = read_file(lines(f"{name},n", *(f"{each},3" for each in values)), "t.csv")
    assert str(raw.frame[name][0]) == first
    assert name in " ".join(raw.notes) or " " in first


@pytest.mark.parametrize("encoding", ["cp1251", "shift_jis", "cp1253"])
def test_letters_that_are_not_western_are_refused(encoding):
    text = {"cp1251": "район", "shift_jis": "都道府県", "cp1253": "περιοχή"}[encoding]
    with pytest.raises(ValueError, match=r"t\.csv is not UTF-8.*save the table as"):
        read_file(f"{text},n\nx,1\ny,2\n".encode(encoding), "t.csv")
