"""`uncletc fit`, `report` and `data`: from a table to files, and exit codes."""

import io
import re
import runpy
import shutil
import sys
from dataclasses import replace

import pandas as pd
import pytest
import xarray as xr

from uncletc import Fit, Recipe, datasets, fit, simulate
from uncletc.cli import dataset_of, main
from uncletc.report.page import assumed_everywhere
from uncletc.tables import build, read_file

SETTINGS = """
[fit]
rank = 1
hidden = []
max_iter = 2000
tol = 1e-3
[columns]
modes = ["site", "week"]
count = "seen"
attributes = ["rain"]
"""


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    counts, _ = simulate((8, 9), 1, observed=0.8, attributed=0.8, similar=0.1, n_attributes=1)
    frame = pd.DataFrame({"site": [f"<b>site {i}</b>" for i in counts.indices[:, 0]]})
    frame["week"], frame["seen"] = counts.indices[:, 1], counts.counts
    frame["rain"] = counts.attributes_at(counts.indices)[:, 0]
    path = tmp_path_factory.mktemp("table") / "beetles.csv"
    frame.to_csv(path, index=False)
    return path


@pytest.fixture
def settings(tmp_path):
    path = tmp_path / "settings.toml"
    path.write_text(SETTINGS, encoding="utf-8")
    return path


def run(*arguments):
    """Exit code of a command."""
    try:
        main([str(each) for each in arguments])
    except SystemExit as end:
        return 0 if end.code is None else int(str(end.code))
    return 0


@pytest.fixture(scope="module")
def fitted(table):
    """A folder that was written once."""
    settings = table.with_name("settings.toml")
    settings.write_text(SETTINGS, encoding="utf-8")
    assert run("fit", table, "--settings", settings, "--out", table.parent / "out") == 0
    return table.parent / "out"


@pytest.fixture
def folder(fitted):
    """A copy beside it, so that the way to the table is the same."""
    copy = fitted.with_name("copy")
    shutil.copytree(fitted, copy, dirs_exist_ok=True)
    return copy


class TestFit:
    def test_writes_all_formats(self, table, settings, tmp_path, capsys):
        folder = tmp_path / "out"
        code = run(
            *("fit", table, "--settings", settings, "--out", folder),
            *("--format", "csv", "parquet", "netcdf", "--by", "site", "site+week"),
        )
        assert code == 0
        dataset = build(read_file(table), Recipe.read(settings).columns)
        assert Fit.load(folder / "fit.npz").counts_digest == dataset.counts.digest
        said = capsys.readouterr()
        assert f"Reported {dataset.counts.counts.sum():,}. How many there truly were" in said.out
        assert "fit.npz, settings.toml" in said.out
        assert "beetles.csv: CountTensor(8 × 9" in said.err
        with xr.open_dataset(folder / "estimates.nc") as opened:
            assert dict(opened.sizes) == {"site": 8, "week": 9}
        assert len(pd.read_parquet(folder / "estimates.parquet")) == 72
        assert len(pd.read_csv(folder / "totals-site.csv")) == 8
        assert (folder / "totals-site+week.csv").is_file()

    def test_a_statement_that_makes_p_larger_than_1_is_named(self, table, tmp_path, capsys):
        path = tmp_path / "high.toml"
        path.write_text(SETTINGS + '[anchor]\nkind = "mean"\nvalue = 1\n', encoding="utf-8")
        assert run("fit", table, "--settings", path, "--out", tmp_path / "out") == 0
        assert "on this scale, and a probability cannot exceed 1" in capsys.readouterr().out

    def test_columns_that_nobody_named_are_guessed_and_said(self, table, tmp_path, capsys):
        out = tmp_path / "out"
        assert run("fit", table, "--out", out) == 0
        said = capsys.readouterr().err
        assert "seen: " in said
        assert "rain: " in said
        columns = Recipe.read(out / "settings.toml").columns
        assert [each.column for each in columns.modes] == ["site", "week"]
        none = tmp_path / "none.csv"
        none.write_text("a,b\nx,y\nz,y\n", encoding="utf-8")
        assert run("fit", none) == 2
        assert "seems to hold counts" in capsys.readouterr().err

    def test_groups_and_smooth_dates_and_what_is_left_out_of_any_columns(self, tmp_path, capsys):
        days = pd.date_range("2024-05-01", periods=8).strftime("%Y-%m-%d")
        rows = [(f"s{i}", f"r{i % 2}", day, i + k) for i in range(4) for k, day in enumerate(days)]
        frame = pd.DataFrame(rows, columns=["site", "region", "day", "seen"])
        frame.loc[3, "seen"], frame.loc[9, "site"] = -4, "S1"
        frame.to_csv(tmp_path / "a.csv", index=False)
        (tmp_path / "s.toml").write_text(
            '[fit]\nrank = 1\neffects = ["region", "smooth(day, 3)"]\n[columns]\n'
            'modes = ["site", "day"]\ncount = "seen"\ngroups = ["region"]\n',
            encoding="utf-8",
        )
        command = "fit", tmp_path / "a.csv", "--settings", tmp_path / "s.toml"
        assert run(*command, "--by", "region", "--out", tmp_path / "out") == 0
        said = capsys.readouterr()
        assert "values of seen below 0 (1: -4" in said.err
        assert "Please check: 1 level of site is written in several ways, such as" in said.err
        assert re.search("To fix: Counts never fall along day.*\nReported", said.out)
        assert "p is assumed to be the same everywhere: no covariate acts on it." in said.out
        sums = pd.read_csv(tmp_path / "out" / "totals-region.csv").set_index("region")["reported"]
        assert sums.equals(frame[frame["seen"] >= 0].groupby("region")["seen"].sum().astype(int))

    @pytest.mark.parametrize(
        ("change", "sentence"),
        [
            (('"seen"', '"cases"'), "cases"),
            (('"seen"', '"seen"\nwithout = ["a"]'), "without must be a list of pairs"),
            (("tol = 1e-3", "signs = {sun = 1}"), "'sun'"),
        ],
    )
    def test_bad_settings_end_with_a_sentence(self, table, tmp_path, capsys, change, sentence):
        path = tmp_path / "bad.toml"
        path.write_text(SETTINGS.replace(*change), encoding="utf-8")
        assert run("fit", table, "--settings", path, "--out", tmp_path / "out") == 2
        last = capsys.readouterr().err.strip().splitlines()[-1]
        assert last.startswith("uncletc fit: ")
        assert sentence in last
        assert not (tmp_path / "out").exists()

    def test_bad_input_ends_with_2(self, table, settings, tmp_path, capsys):
        assert run("fit", tmp_path / "none.csv", "--settings", settings) == 2
        assert "TABLE must be one of covid, ppi" in capsys.readouterr().err
        assert run("fit", "covid-twin", "--settings", settings) == 2
        assert "must have no [columns]" in capsys.readouterr().err
        assert run("fit", table, "--settings", tmp_path / "none.toml") == 2
        assert "none.toml" in capsys.readouterr().err
        assert run("fit", table, "--settings", tmp_path) == 2
        assert run("report", table, "--settings", settings, "--out", tmp_path) == 2
        assert "--out must be a file; " in capsys.readouterr().err
        assert run("fit", table, "--settings", settings, "--format", "xls") == 2
        assert run("fit", table, "--settings", settings, "--by", "town", "--out", tmp_path) == 2
        said = capsys.readouterr().err
        assert "by must name modes or groups, site, week; got 'town'" in said
        assert run("fit", table, "--settings", settings, "--out", table / "out") == 2
        assert run("report", table, "--settings", settings, "--out", table / "out" / "a.html") == 2
        said += capsys.readouterr().err
        assert said.count(f"--out must be in a folder that can be written to; {table} is none") == 2
        assert "CountTensor" not in said  # before the fit


class TestReport:
    def test_of_a_folder_needs_no_fit(self, folder, capsys, monkeypatch):
        monkeypatch.setattr(Recipe, "run", None)
        capsys.readouterr()
        assert run("report", folder) == 0
        assert capsys.readouterr().out == f"{folder / 'report.html'}\n"
        text = (folder / "report.html").read_text(encoding="utf-8")
        assert "How many there truly were stays open" in text
        assert "&lt;b&gt;site 1&lt;/b&gt;" in text
        assert "<b>" not in text
        assert text.count("<svg") >= 2
        assert not re.findall(r'(?:src|href)="|url\(|@import|<script', text)
        assert "How to cite" in text

    def test_of_a_table_fits_it(self, table, settings, tmp_path):
        path = tmp_path / "new" / "own.html"
        assert run("report", table, "--settings", settings, "--out", path, "--check") == 0
        assert "can be held out" in path.read_text(encoding="utf-8")

    def test_has_questions_of_the_reading_until_columns_are_chosen(self, table, tmp_path):
        path, rows = tmp_path / "papers.csv", pd.read_csv(table)
        rows["paper"] = (["red", "blue"] * len(rows))[: len(rows)]
        rows.to_csv(path, index=False)
        _, guessed = dataset_of(str(path), None)
        chosen = replace(guessed, absent="zero")
        for columns, asked in ((None, True), (guessed, True), (chosen, False)):
            rules = dataset_of(str(path), columns)[0].provenance.rules
            assert any("counted by paper?" in rule for rule in rules) == asked

    def test_names_four_covariates_at_most(self):
        counts, _ = simulate((8, 9), 1, observed=0.8, attributed=0.8, n_attributes=6)
        words = assumed_everywhere(counts, fit(counts, rank=1, hidden=(), max_iter=0))
        assert words[0].startswith("p by z1, z2, z3, z4 and 2 others assumes that λ does not")

    def test_of_a_table_that_was_moved(self, folder, table, tmp_path, capsys):
        moved = tmp_path / "moved.csv"
        moved.write_bytes(table.read_bytes())
        text = (folder / "settings.toml").read_text(encoding="utf-8")
        gone = re.sub('table = ".*"', 'table = "gone.csv"', text)
        (folder / "settings.toml").write_text(gone, encoding="utf-8")
        assert run("report", folder) == 2
        assert "name it in its settings.toml" in capsys.readouterr().err
        named = text.replace(re.search('table = ".*"', text)[0], f'table = "{moved}"')
        (folder / "settings.toml").write_text(named, encoding="utf-8")
        assert run("report", folder) == 0
        rows = pd.read_csv(moved).assign(seen=1)
        rows.to_csv(moved, index=False)
        assert run("report", folder) == 2
        assert "is of other counts" in capsys.readouterr().err


def test_data_list_names_sources_licences_and_what_is_here(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("UNCLETC_DATA_DIR", str(tmp_path))
    assert run("data", "list") == 0
    text = capsys.readouterr().out
    for name in datasets.NAMES:
        assert f"{name}: " in text
    assert "uncletc data get covid fetches them" in text
    assert "comes with the program" in text
    assert "CC BY-NC 4.0" in text


def test_a_fit_that_cannot_be_written_leaves_the_one_before(fitted, tmp_path, monkeypatch):
    folder = shutil.copytree(fitted, tmp_path / "out")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}

    def full(_, path):
        path.write_bytes(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Fit, "save", full)
    settings = fitted.parent / "settings.toml"
    table = fitted.parent / "beetles.csv"
    assert run("fit", table, "--settings", settings, "--out", folder) == 1
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_a_console_without_greek_letters_is_no_bad_input(settings, table, tmp_path, monkeypatch):
    console = io.TextIOWrapper(io.BytesIO(), "ascii")
    for stream in ("stdout", "stderr"):
        monkeypatch.setattr(sys, stream, console)
    options = map(str, ["fit", table, "--settings", settings, "--out", tmp_path / "out"])
    monkeypatch.setattr(sys, "argv", ["uncletc", *options])
    runpy.run_module("uncletc", run_name="__main__")
    console.flush()
    assert b"CountTensor(8 ? 9" in console.buffer.getvalue()


def test_surveys_set_the_scale_and_go_into_the_settings(table, settings, tmp_path, capsys):
    path, out = tmp_path / "surveys.csv", tmp_path / "out"
    path.write_text("site,estimate,standard_error\n<b>site 3</b>,900,90\n", encoding="utf-8")
    assert run("fit", table, "--settings", settings, "--surveys", path, "--out", out) == 0
    assert "calibrated to 1 survey" in capsys.readouterr().out
    assert Recipe.read(out / "settings.toml").surveys[0].where == (("site", ("<b>site 3</b>",)),)
    assert run("report", out) == 0
    assert "Surveys: 1." in (out / "report.html").read_text(encoding="utf-8")
    path.write_text("site,estimate,standard_error\n3,900,90\n", encoding="utf-8")
    assert run("fit", table, "--settings", settings, "--surveys", path, "--out", out) == 2
    assert "data row 1 of surveys: a survey must name labels of site" in capsys.readouterr().err
