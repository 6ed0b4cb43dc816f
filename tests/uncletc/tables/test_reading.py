"""What is read of files as people save them, and one sentence for each that cannot be."""

import cProfile
import gzip
import io
import pstats
import zipfile
from datetime import date, datetime

import numpy as np
import openpyxl
import pandas as pd
import polars as pl
import pytest

from uncletc.tables import RawTable, build, guess, read_file
from uncletc.tables.types import periods

TEXT = "site,week,seen\na,1,4\na,2,0\nb,1,2\n"


def read(text, name="mine.csv", encoding="utf-8"):
    return read_file(text if isinstance(text, bytes) else text.encode(encoding), name)


def column(raw, name):
    return raw.frame.get_column(name).to_list()


def notes(raw):
    return " ".join(raw.notes)


def workbook(**sheets):
    book = openpyxl.Workbook()
    book.remove(book.active)
    for title, rows in sheets.items():
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(row)
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


class TestText:
    @pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
    def test_encodings(self, encoding):
        raw = read("site,seen\nMünchen,4\nŁódź,0\n", encoding=encoding)
        assert column(raw, "site") == ["München", "Łódź"]

    def test_western_european_bytes_are_read_and_others_refused(self):
        raw = read("site,seen\nMünchen,4\nCoruña – sur,0\n", encoding="cp1252")
        assert column(raw, "site") == ["München", "Coruña – sur"]
        assert "read as Windows-1252" in notes(raw)
        raw = read("ort;woche;zählung\nMünchen;1;3\nKöln;2;4\n", encoding="cp1252")  # short
        assert column(raw, "ort") == ["München", "Köln"]
        for encoding, text in (("cp1251", "район"), ("shift_jis", "都道府県")):
            with pytest.raises(ValueError, match="save the table as"):
                read(f"{text},n\nx,1\ny,2\n", encoding=encoding)

    @pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
    @pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
    def test_separators_and_ends_of_lines(self, separator, end):
        raw = read(TEXT.replace(",", separator).replace("\n", end))
        assert raw.frame.columns == ["site", "week", "seen"]
        assert column(raw, "seen") == [4, 0, 2]
        assert read("sep=;\n" + TEXT.replace(",", ";")).frame.columns == raw.frame.columns

    def test_decimal_commas_and_thousands_are_found_by_column(self):
        raw = read("site;temp;seen\na;1,5;4\nb;12,25;0\nc;3;7\n")
        assert column(raw, "temp") == [1.5, 12.25, 3.0]
        assert "Decimal commas" in notes(raw)
        raw = read('place,cases\na,"1,234"\nb,"12,345,678"\nc,7\n')
        assert column(raw, "cases") == [1234, 12345678, 7]
        german = read("Ort;Fälle;Anteil\na;1.234;0,5\nb;12.345.678;0,25\nc;7;1\n")
        assert column(german, "Fälle") == [1234, 12345678, 7]
        assert column(german, "Anteil") == [0.5, 0.25, 1.0]
        assert column(read("lieu;cas\na;1 234\nb;12\u00a0345\nc;9\n"), "cas") == [1234, 12345, 9]

    def test_points_in_counts_mark_thousands_as_counts_are_whole(self):
        raw = read("site;cases;share\na;1.940;1.940\nb;970;2.5\n")
        assert column(raw, "cases") == [1940, 970]
        assert column(raw, "share") == [1.94, 2.5]

    def test_percent_signs_are_left_out(self):
        assert column(read("site,vaccinated\na,45.5%\nb,7 %\n"), "vaccinated") == [45.5, 7]

    def test_dates_of_several_forms_are_the_same_days(self):
        raw = read("date,seen\n2024-05-01,1\n01.05.2024,2\n13/05/2024,3\n")
        assert column(raw, "date") == [date(2024, 5, 1)] * 2 + [date(2024, 5, 13)]
        assert "Please check: dates have several forms" in notes(raw)

    @pytest.mark.parametrize("text", ["date,seen\n3/4/2024,1\n", "site,cases\na,<5\nb,7\nc,9\n"])
    def test_what_may_be_read_otherwise_asks_for_a_check(self, text):
        assert "Please check: " in notes(read(text))

    def test_codes_with_leading_zeros_stay_text(self):
        assert column(read("fips,seen\n01001,4\n02013,0\n"), "fips") == ["01001", "02013"]

    @pytest.mark.parametrize(
        ("name", "days", "first"),
        [("day", ["2024-02-10", "2023-11-05"], date(2024, 2, 10)),
         ("day", ["10.2.2024", "25.11.2023"], date(2024, 2, 10)),
         ("day", ["2/10/2024", "11/25/2023"], date(2024, 2, 10)),
         ("day", ["10/2/2024", "25/11/2023"], date(2024, 2, 10)),
         ("day", ["2/10/24", "11/25/23"], date(2024, 2, 10)),
         ("day", ["10-Feb-2024", "5-Nov-2023"], date(2024, 2, 10)),
         ("day", ["2024-02-10T00:00:00+02:00", "2023-11-05T00:00:00Z"], date(2024, 2, 10)),
         ("day", ["2024-02-10 07:30:00", "2023-11-05 08:00"], datetime(2024, 2, 10, 7, 30)),
         ("t", ["01/02/2021 11:30:00 PM", "01/13/2021 01:00:00 AM"], datetime(2021, 1, 2, 23, 30)),
         ("date", ["20240210", "20231105"], date(2024, 2, 10)),
         ("month", ["Apr-21", "May-21"], "2021-04"),
         ("x", ["31.2.2024", "1.1.2024"], "31.2.2024")],
    )  # fmt: skip
    def test_dates_in_usual_forms(self, name, days, first):
        raw = read(f"{name};seen\n" + "".join(f"{day};1\n" for day in days))
        assert column(raw, name)[0] == first
        if first == "31.2.2024":
            assert "no calendar has, are left as text" in raw.notes[-1]

    @pytest.mark.parametrize(
        ("names", "first"),
        [(["March 2021", "April 2021"], "2021-03"), (["2020M01", "2020M02"], "2020-01"),
         (["Week 5, 2020", "Week 6, 2020"], "2020-W05"), (["13/2020", "1/2020"], None),
         (["May 2020", "5/2020"], None), (["tree 12", "bush 12"], None)],
    )  # fmt: skip
    def test_weeks_months_and_quarters(self, names, first):
        found = periods(names)
        assert (found and found[names[0]]) == first

    def test_one_row_of_names_is_found(self):
        raw = read(f"My survey of bees\nby me\n\n{TEXT}")
        assert raw.frame.columns == ["site", "week", "seen"]
        assert "lines above the names" in notes(raw)
        assert read("site,2021,2022,2023\na,1,2,3\n").frame.columns[1:] == ["2021", "2022", "2023"]
        r = read('"site","seen"\n"1","a",4\n"2","b",0\n"3","c",5\n')
        assert r.frame.columns == ["row", "site", "seen"]

    def test_names_that_are_empty_or_repeated_are_made_distinct(self):
        raw = read("site,,seen,seen\na,x,4,1\nb,y,0,2\n")
        assert raw.frame.columns == ["site", "column 2", "seen", "seen (4)"]
        first = read("site,site,seen\na,x,4\nb,y,0\n")
        assert "The name 'site' occurs again: column 2 is called 'site (2)'." in first.notes

    def test_remarks_and_totals_at_the_end_do_not_become_counts(self):
        raw = read(f"{TEXT}Total,,6\nSource: my own walks,,\n")
        made = build(raw, guess(raw).columns)
        assert made.counts.labels[0] == ("a", "b")
        rules = " ".join(made.provenance.rules)
        assert "Please check: rows left out for lack of a value of week: 1," in rules

    def test_short_lines_are_filled_and_few_long_ones_left_out(self):
        assert column(read("site,week,seen\na,1,4\na,2\nb,1,2\n"), "seen") == [4, None, 2]
        lines = [f"s{i},{i},1" for i in range(300)]
        lines[6] = "Smith, John,6,1"
        raw = read("\n".join(["site,week,seen", *lines]))
        assert len(raw.frame) == 299
        assert "line 8 has 4 fields" in notes(raw)

    def test_quotes(self):
        raw = read('site,seen,note\n"a, left",4,"two\nlines"\n"say ""b""",0,5" pipe\n')
        assert column(raw, "site") == ["a, left", 'say "b"']
        assert column(raw, "note") == ["two\nlines", '5" pipe']

    @pytest.mark.parametrize("nothing", [" ", "NA", ".", "-"])
    def test_what_stands_for_nothing_is_empty(self, nothing):
        assert column(read(f"site,seen\na,4\nb,{nothing}\nc,1\n"), "seen") == [4, None, 1]


class TestCodes:
    def table(self, values, name="n_seen", times=1):
        n = len(values) * times
        sites, weeks = [f"s{k // 10}" for k in range(n)], [k % 10 for k in range(n)]
        return RawTable.of({"site": sites, "week": weeks, name: values * times}, "t.csv")

    @pytest.mark.parametrize("code", ["X", "n/d", "*", ":", "<5", "suppressed"])
    def test_are_missing_with_a_sentence(self, code):
        raw = self.table(["3", code, "0", "7", "1"], times=300)
        assert raw.frame["n_seen"].null_count() == 300
        assert f"{code!r} (300 times)" in notes(raw)
        assert ("a likely number for" in notes(raw)) == (code == "<5")
        found = guess(raw).columns
        assert found.count == "n_seen"
        named = self.table(["3", code, "0", "7", "1"], name="count").frame["count"]
        assert named.null_count() == 1

    @pytest.mark.parametrize(
        "slip", ["1O", "nil", "4 p", "about 10", "none as far as we could see"]
    )
    def test_slips_and_words_for_zero_are_none(self, slip):
        assert self.table(["3", slip, "0", "7", "1"]).frame["n_seen"].dtype == pl.String


class TestOtherFiles:
    def test_excel_takes_the_sheet_with_the_table(self):
        rows = [["site", "day", "seen"], *[[f"s{i}", date(2024, 5, 1 + i), i] for i in range(9)]]
        data = workbook(README=[["Bees of 2024"], ["by me"]], Data=[["Bees"], [], *rows])
        raw = read(data, "bees.xlsx")
        assert raw.frame.columns == ["site", "day", "seen"]
        assert column(raw, "day")[1] == date(2024, 5, 2)
        assert "The sheet 'Data' is read" in notes(raw)

    def test_merged_cells_count_for_all_their_rows(self):
        rows = [[None if k % 3 else f"s{k}", k % 3, k] for k in range(9)]
        raw = read(workbook(Data=[["site", "week", "seen"], *rows]), "bees.xlsx")
        assert column(raw, "site") == ["s0"] * 3 + ["s3"] * 3 + ["s6"] * 3
        assert "Please check: empty cells of site" in notes(raw)
        remarks = [["s1" if k % 2 else None, k, k] for k in range(9)]
        raw = read(workbook(Data=[["note", "week", "seen"], *remarks]), "bees.xlsx")
        assert column(raw, "note")[2] is None  # empty above, and a value that occurs again

    def test_merged_cells_within_merged_cells_and_names_above_merged_cells_of_data(self):
        years = [y if m == 1 else None for _ in "ab" for y in (2001, 2002) for m in (1, 2, 3)]
        rows = [[None if k % 6 else "ab"[k // 6], y, k % 3, k] for k, y in enumerate(years)]
        raw = read(workbook(Data=[["town", "year", "month", "seen"], *rows]), "bees.xlsx")
        assert column(raw, "year") == [2001] * 3 + [2002] * 3 + [2001] * 3 + [2002] * 3
        text = (
            "Births;;;\n;;Male;;Female;\n1950;Jan;495;e;463;e\n;Feb;471;e;442;e\n;Mar;536;p;530;e\n"
        )
        raw = read(f"{text}1951;Jan;480;e;450;e\n;Feb;460;e;421;e\n;Mar;501;p;498;e\n".encode())
        assert (column(raw, "Male")[0], column(raw, "row")) == (495, [1950] * 3 + [1951] * 3)

    @pytest.mark.parametrize(
        "names",
        [
            [["site", "region", "2019", "", "2020", ""], ["", "", "Jan", "Feb", "Jan", "Feb"]],
            [["", "", "2019", "", "2020", ""], ["site", "region", "Jan", "Feb", "Jan", "Feb"]],
        ],
    )
    def test_two_rows_of_names_are_one(self, names):
        rows = [["a", "x", 1, 2, 3, 4], ["b", "y", 5, 6, 7, 8], ["c", "y", 0, 0, 0, 0]]
        raw = read(workbook(Data=[*names, *rows]), "bees.xlsx")
        months = ["2019 Jan", "2019 Feb", "2020 Jan", "2020 Feb"]
        assert raw.frame.columns == ["site", "region", *months]
        assert column(raw, "2020 Feb") == [4, 8, 0]

    def test_a_path_an_open_file_and_a_frame(self, tmp_path):
        path = tmp_path / "mine.csv"
        path.write_text(TEXT)
        assert read_file(path).name == "mine.csv"
        with path.open("rb") as file:
            assert read_file(file, "visits.csv").frame.equals(read_file(path).frame)
        frame = pd.DataFrame({"site": ["a", "b"], "seen": ["4", ""], "day": ["1.5.2024"] * 2})
        raw = RawTable.of(frame, "mine")
        assert (column(raw, "seen"), column(raw, "day")[0]) == ([4, None], date(2024, 5, 1))
        file = io.BytesIO()
        frame.assign(day=pd.to_datetime(frame["day"], dayfirst=True)).to_parquet(file)
        assert column(read(file.getvalue(), "mine.parquet"), "day")[0] == date(2024, 5, 1)
        with pytest.raises(ValueError, match="unique"):
            RawTable.of(pd.DataFrame([[1, 2]], columns=["a", "a"]), "mine")


def _zip(**files):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name.replace("__", "/").replace("_", "."), data)
    return out.getvalue()


class TestHostileFiles:
    @pytest.mark.parametrize(
        ("data", "sentence"),
        [
            (b"", "must not be empty"),
            (b" \n\n", "must not be empty"),
            (b"site,seen\n", "at least one row below the names"),
            (b"a,b,c\n1,2,3\n4,5,6,7\n", r"line 3 has 4 fields where there are 3 columns"),
            (b'a,b\n"x,1\ny,2\n', "double quote that is never closed"),
            (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1rest", "cannot be read as a workbook"),
            (gzip.compress(b"a,b\n1,2\n"), "not a text file"),
            (_zip(table_csv=b"a,b\n1,2\n"), "cannot be read as a workbook"),
            (_zip(xl__workbook_xml=b"<broken"), "cannot be read as a workbook"),
            (b"PAR1 cut off", "damaged Parquet file"),
            (b"1,2\n3,4\n", "must have one row of names above its values"),
            (b"<!DOCTYPE html>\n<html>", "two columns or more"),
            (bytes(range(32)) * 30, "not a text file"),
            (b"a,b\n,\n,\n", "at least one row"),
            (b"a,b\n" + b"x" * (2 << 20) + b",1\n", "more than a million characters"),
        ],
        ids=lambda value: value if isinstance(value, str) else "",  # packed files have the time
    )
    def test_get_one_sentence_that_says_what_to_do(self, data, sentence):
        with pytest.raises(ValueError, match=sentence) as caught:
            read(data, "mine.csv")
        text = str(caught.value)
        assert "mine.csv" in text
        assert "\n" not in text

    def test_sizes_are_limited(self, monkeypatch):
        monkeypatch.setattr("uncletc.tables.read.MOST_BYTES", 2**20)
        with pytest.raises(ValueError, match="must have at most 1 MB"):
            read(b"a,b\n" + b"1,2\n" * 500_000)
        monkeypatch.setattr("uncletc.tables.types.MOST_ROWS", 2)
        with pytest.raises(ValueError, match="at most 2 rows"):
            read(TEXT)

    def test_a_wide_file_is_refused_or_read_in_steps_that_grow_with_it(self):
        def wide(n, sites=20):
            rows = np.random.default_rng(0).poisson(3, (sites, n)).astype(str).tolist()
            head = ["site", *(f"sp{k}x" for k in range(n))]
            lines = [head, *([f"s{k}", *row] for k, row in enumerate(rows))]
            return "\n".join(map(",".join, lines)).encode()

        sentence = "at most 2,000 columns, it has 20,000: put it in long"
        with pytest.raises(ValueError, match=sentence):
            read(wide(19_999, 2))
        calls = []
        for n in (40, 160):
            with cProfile.Profile() as steps:
                raw = read(wide(n))
                assert build(raw, guess(raw).columns).counts.shape == (20, n)
            calls.append(pstats.Stats(steps).total_calls)
        assert calls[1] < 4 * calls[0]  # four times as many columns; 16 if it were quadratic
