"""What is read of files as people save them, and one sentence for each that cannot be."""

from __future__ import annotations

import gzip
import io
import zipfile
from datetime import date, datetime

import openpyxl
import pandas as pd
import polars as pl
import pytest

from uncletc.tables import RawTable, read_file

TEXT = "site,week,seen\na,1,4\na,2,0\nb,1,2\n"


def read(text: str | bytes, name: str = "mine.csv", encoding: str = "utf-8") -> RawTable:
    return read_file(text if isinstance(text, bytes) else text.encode(encoding), name)


def column(raw: RawTable, name: str) -> list:
    return raw.frame.get_column(name).to_list()


def workbook(**sheets: list[list[object]]) -> bytes:
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
    @pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
    def test_encodings_with_and_without_a_mark(self, encoding):
        raw = read("site,seen\nMünchen,4\nŁódź,0\n", encoding=encoding)
        assert column(raw, "site") == ["München", "Łódź"]

    def test_western_european_bytes_are_read_and_said(self):
        raw = read("site,seen\nMünchen,4\nCoruña – sur,0\n", encoding="cp1252")
        assert column(raw, "site") == ["München", "Coruña – sur"]
        assert "The file is read as Windows-1252 (Western European)." in raw.notes

    @pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
    @pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
    def test_separators_and_ends_of_lines(self, separator, end):
        raw = read(TEXT.replace(",", separator).replace("\n", end))
        assert raw.frame.columns == ["site", "week", "seen"]
        assert column(raw, "seen") == [4, 0, 2]

    def test_excels_own_line_about_the_separator(self):
        assert read("sep=;\n" + TEXT.replace(",", ";")).frame.columns == ["site", "week", "seen"]

    @pytest.mark.parametrize("head", ["site week n", '"site" "week" "n"', " site  week   n"])
    def test_columns_between_spaces(self, head):
        rows = "\n".join(f'"s {k % 2}"  {k}  {k * 3}' for k in range(5))
        raw = read_file(f"{head}\n{rows}\n".encode(), "t.txt")
        assert raw.frame.columns == ["site", "week", "n"]
        assert raw.frame["site"].to_list()[:2] == ["s 0", "s 1"]
        assert raw.notes == ("Columns are separated by spaces.",)

    def test_decimal_commas_are_read_and_said(self):
        raw = read("site;temp;seen\na;1,5;4\nb;12,25;0\nc;3;7\n")
        assert column(raw, "temp") == [1.5, 12.25, 3.0]
        assert any("Decimal commas" in note and "temp" in note for note in raw.notes)

    def test_thousands_are_told_from_decimals_by_the_column(self):
        raw = read('place,cases\na,"1,234"\nb,"12,345,678"\nc,7\n')
        assert column(raw, "cases") == [1234, 12345678, 7]
        assert any("thousands" in note for note in raw.notes)
        german = read("Ort;Fälle;Anteil\na;1.234;0,5\nb;12.345.678;0,25\nc;7;1\n")
        assert column(german, "Fälle") == [1234, 12345678, 7]
        assert column(german, "Anteil") == [0.5, 0.25, 1.0]
        french = read("lieu;cas\na;1 234\nb;12\u00a0345\nc;9\n")
        assert column(french, "cas") == [1234, 12345, 9]

    def test_codes_with_leading_zeros_stay_text(self):
        assert column(read("fips,seen\n01001,4\n02013,0\n"), "fips") == ["01001", "02013"]

    @pytest.mark.parametrize(
        ("days", "first"),
        [
            (["2024-02-10", "2023-11-05"], date(2024, 2, 10)),
            (["10.2.2024", "25.11.2023"], date(2024, 2, 10)),
            (["2/10/2024", "11/25/2023"], date(2024, 2, 10)),
            (["10/2/2024", "25/11/2023"], date(2024, 2, 10)),
            (["2/10/24", "11/25/23"], date(2024, 2, 10)),
            (["10-Feb-2024", "5-Nov-2023"], date(2024, 2, 10)),
            (["2024-02-10T00:00:00", "2023-11-05T00:00:00"], date(2024, 2, 10)),
            (["2024-02-10 07:30:00", "2023-11-05 08:00:00"], datetime(2024, 2, 10, 7, 30)),
        ],
    )
    def test_dates_in_usual_forms(self, days, first):
        raw = read("day;seen\n" + "".join(f"{day};1\n" for day in days))
        assert column(raw, "day")[0] == first

    def test_dates_that_could_be_either_way_round_are_said_to_be(self):
        raw = read("day,seen\n2/10/2024,1\n3/11/2024,2\n")
        assert any("could be the other way round" in note for note in raw.notes)

    def test_year_month_and_day_make_a_date(self):
        raw = read("year,month,day,seen\n2024,2,10,1\n2024,3,1,2\n")
        assert column(raw, "date") == [date(2024, 2, 10), date(2024, 3, 1)]
        assert any("put together from year, month and day" in note for note in raw.notes)
        weeks = read("year,week,seen\n2024,1,1\n2024,30,2\n")
        assert column(weeks, "date")[0] == date(2024, 1, 1)

    def test_counties_of_one_name_in_two_states_are_two_places(self):
        raw = read("county,state,week,seen\nLee,FL,1,2\nLee,AL,1,3\nPolk,FL,1,2\n")
        assert column(raw, "place") == ["Lee, FL", "Lee, AL", "Polk, FL"]
        assert any("put together from county and state" in note for note in raw.notes)

    def test_lines_above_the_names_are_counted(self):
        raw = read(f"My survey of bees\nby me\n\n{TEXT}")
        assert raw.frame.columns == ["site", "week", "seen"]
        assert any("3 lines above the names" in note and "My survey" in note for note in raw.notes)
        padded = read(f"Survey of 2024,,\n{TEXT}")
        assert padded.frame.columns == ["site", "week", "seen"]

    def test_a_file_without_names(self):
        raw = read("a,1,4\na,2,0\nb,1,2\n")
        assert raw.frame.columns == ["column 1", "column 2", "column 3"]
        assert len(raw.frame) == 3
        assert any("holds values, not names" in note for note in raw.notes)

    def test_years_as_names_are_names(self):
        assert read("site,2021,2022,2023\na,1,2,3\n").frame.columns[1:] == ["2021", "2022", "2023"]

    def test_names_that_are_empty_or_repeated_are_made_distinct(self):
        raw = read("site,,seen,seen\na,x,4,1\nb,y,0,2\n")
        assert raw.frame.columns == ["site", "column 2", "seen", "seen (2)"]
        assert any("Column 2 without a name" in note for note in raw.notes)
        assert any("'seen' occurs 2 times" in note for note in raw.notes)

    def test_names_of_rows_as_r_writes_them(self):
        raw = read('"site","seen"\n"1","a",4\n"2","b",0\n"3","c",5\n')
        assert raw.frame.columns == ["row", "site", "seen"]

    def test_totals_and_remarks_at_the_end_are_left_out(self):
        raw = read(f"{TEXT}Total,,6\nSource: my own walks,,\n")
        assert column(raw, "seen") == [4, 0, 2]
        assert sum("The last row is left out" in note for note in raw.notes) == 2

    def test_short_lines_are_filled_and_said(self):
        raw = read("site,week,seen\na,1,4\na,2\nb,1,2\n")
        assert column(raw, "seen") == [4, None, 2]
        assert any("line 3 with 2" in note for note in raw.notes)

    def test_few_long_lines_of_many_are_left_out_and_said(self):
        lines = [f"s{i},{i},1" for i in range(300)]
        lines[6] = "Smith, John,6,1"
        raw = read("\n".join(["site,week,seen", *lines]))
        assert len(raw.frame) == 299
        assert any("the first is line 8 with 4" in note for note in raw.notes)

    def test_text_between_quotes_may_hold_separators_and_lines(self):
        raw = read('site,seen,note\n"a, left",4,"two\nlines"\n"say ""b""",0,x\n')
        assert column(raw, "site") == ["a, left", 'say "b"']
        assert column(raw, "note")[0] == "two\nlines"

    def test_quotes_inside_text_do_not_matter(self):
        raw = read('site,seen\n5" pipe and 6" pipe,4\nb,0\n')
        assert column(raw, "site") == ['5" pipe and 6" pipe', "b"]

    def test_long_labels_are_cut_and_said(self):
        raw = read(f"site,seen\n{'x' * 5000},4\nb,0\n")
        assert len(column(raw, "site")[0]) == 200
        assert any("cut after 200" in note for note in raw.notes)

    @pytest.mark.parametrize("nothing", ["", " ", "NA", ".", "NaN", "#N/A", "NULL", "-"])
    def test_what_stands_for_nothing_is_empty(self, nothing):
        assert column(read(f"site,seen\na,4\nb,{nothing}\nc,1\n"), "seen") == [4, None, 1]

    def test_namibia_is_a_country(self):
        codes = [
            "AT",
            "BE",
            "BG",
            "CH",
            "CY",
            "CZ",
            "DE",
            "DK",
            "EE",
            "ES",
            "FI",
            "FR",
            "GR",
            "HR",
            "HU",
            "IE",
            "IT",
            "LT",
            "LU",
            "LV",
            "NA",
            "NL",
        ]
        raw = read("country,seen\n" + "".join(f"{code},1\n" for code in codes))
        assert "NA" in column(raw, "country")


class TestOtherFiles:
    def test_excel_takes_the_sheet_with_the_table(self):
        rows = [["site", "day", "seen"], *[[f"s{i}", date(2024, 5, 1 + i), i] for i in range(9)]]
        data = workbook(README=[["Bees of 2024"], ["by me"]], Data=[["Bees"], [], *rows])
        raw = read(data, "bees.xlsx")
        assert raw.frame.columns == ["site", "day", "seen"]
        assert column(raw, "day")[1] == date(2024, 5, 2)
        assert any("The sheet 'Data' is read" in note for note in raw.notes)

    def test_parquet_keeps_its_types(self):
        frame = pd.DataFrame({"site": ["a", "b"], "day": pd.to_datetime(["2024-05-01"] * 2)})
        file = io.BytesIO()
        frame.assign(seen=[1, 2], temp=[0.5, None]).to_parquet(file)
        raw = read(file.getvalue(), "mine.parquet")
        assert raw.frame.dtypes == [pl.String, pl.Date, pl.Int32, pl.Float64]
        assert column(raw, "temp") == [0.5, None]

    def test_a_path_and_an_open_file(self, tmp_path):
        path = tmp_path / "mine.csv"
        path.write_text(TEXT)
        assert read_file(path).name == "mine.csv"
        with path.open("rb") as file:
            assert read_file(file, "visits.csv").frame.equals(read_file(path).frame)


def _zip(**files: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, data in files.items():
            archive.writestr(name.replace("__", "/").replace("_", "."), data)
    return out.getvalue()


class TestMistakes:
    @pytest.mark.parametrize(
        ("data", "sentence"),
        [
            (b"", "must not be empty"),
            (b" \n\n", "must not be empty"),
            (b"site,seen\n", "at least one row below the names"),
            (b"a,b,c\n1,2,3\n4,5,6,7\n", r"line 3 has 4 fields where there are 3 columns"),
            (b'a,b\n"x,1\ny,2\n', "double quote that is never closed"),
            (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1rest", r"old Excel file \(.xls\)"),
            (gzip.compress(b"a,b\n1,2\n"), "packed with gzip: ?.*|unpack"),
            (_zip(table_csv=b"a,b\n1,2\n"), "zip archive: unpack it"),
            (_zip(content_xml=b""), "LibreOffice document: save it as .xlsx"),
            (_zip(xl__workbook_xml=b"<broken"), "cannot be read as an Excel workbook"),
            (b"PK\x03\x04 cut off", "was not copied whole"),
            (b"PAR1 cut off", "damaged Parquet file"),
            (b"%PDF-1.7", "a PDF document"),
            (b"<!DOCTYPE html><html>", "web page"),
            (b'[{"a": 1}]', "JSON"),
            (bytes(range(32)) * 30, "not a text file"),
            (b"a,b\n,\n,\n", "at least one row"),
        ],
        ids=lambda value: value if isinstance(value, str) else "",  # packed files have the time
    )
    def test_say_how_to_mend_the_file(self, data, sentence):
        with pytest.raises(ValueError, match=sentence) as caught:
            read(data, "mine.csv")
        text = str(caught.value)
        assert "mine.csv" in text
        assert "\n" not in text

    def test_a_file_that_is_too_large(self):
        with pytest.raises(ValueError, match="must have at most 1 MB, it has 2"):
            read_file(b"a,b\n" + b"1,2\n" * 500_000, "mine.csv", most=2**20)

    def test_a_workbook_that_unpacks_to_too_much(self, monkeypatch):
        monkeypatch.setattr("uncletc.tables.content._MOST_UNPACKED", 100)
        with pytest.raises(ValueError, match="unpacks to more than 1 GB"):
            read(workbook(Data=[["site", "seen"], ["a", 1]]), "mine.xlsx")

    def test_a_parquet_file_that_holds_too_much(self, monkeypatch):
        monkeypatch.setattr("uncletc.tables.workbook._MOST_VALUES", 3)
        file = io.BytesIO()
        pd.DataFrame({"a": [1, 2], "b": [3, 4]}).to_parquet(file)
        with pytest.raises(ValueError, match="more than can be read"):
            read(file.getvalue(), "mine.parquet")


class TestFrames:
    def test_text_of_a_frame_is_read_as_that_of_a_file(self):
        frame = pd.DataFrame({"site": ["a", "b"], "seen": ["4", ""], "day": ["1.5.2024"] * 2})
        raw = RawTable.of(frame, "mine")
        assert column(raw, "seen") == [4, None]
        assert column(raw, "day")[0] == date(2024, 5, 1)

    def test_names_must_be_distinct(self):
        frame = pd.DataFrame([[1, 2]], columns=["a", "a"])
        with pytest.raises(ValueError, match="'a' occurs twice"):
            RawTable.of(frame, "mine")
