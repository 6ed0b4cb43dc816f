"""Runs that keep every finished trial and go on where they ended; the command."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from uncletc import FitError
from uncletc.cli.tables import add_command
from uncletc.paper.tables import FIGURES, KNOWN, PAPERS_OWN, TABLES, Column, Table, run_tables
from uncletc.paper.tables import runner as running
from uncletc.paper.tables.results import CURVE_TRIALS, TRIALS, Store
from uncletc.paper.tables.runner import plan, run_all

SMALL = {"shape": (5, 5, 5), "rank": 2, "observed": 0.6, "attributed": 0.6, "similar": 0.2}
CHEAP = ("NTF-CPD-KL", "NTF-CPD-LS")


def tiny(name: str = "tiny", **changes: Any) -> Table:
    columns = (
        Column(label="a", simulation=SMALL, fitted_rank=2, observed_in_code=0.8),
        Column(label="b", simulation=SMALL | {"observed": 0.9}, fitted_rank=1),
    )
    return Table(id=name, title="Tiny", columns=columns, methods=CHEAP, **changes)


class TestPlan:
    def test_every_trial_of_every_cell_once(self) -> None:
        tasks = plan([TABLES["table-1"]])
        assert len(tasks) == len({task.key for task in tasks}) == (3 + 2) * 10 * 20

    def test_seeds_advance_together(self) -> None:
        first = [task for task in plan([tiny()], 2) if task.column.label == "a"][:4]
        assert [(task.seed, task.method) for task in first] == [
            (0, CHEAP[0]),
            (0, CHEAP[1]),
            (1, CHEAP[0]),
            (1, CHEAP[1]),
        ]

    def test_costly_methods_have_fewer(self) -> None:
        tasks = plan([TABLES["appendix-mu"]], 8)
        per_method = pd.Series([task.method for task in tasks]).value_counts() / 16
        assert per_method.to_dict() == {"UncleTC": 8, KNOWN: 8, PAPERS_OWN: 2}


class TestRuns:
    def test_a_run_goes_on_where_it_ended(self, tmp_path: Path) -> None:
        run_tables([tiny()], tmp_path, trials=1)
        before = (tmp_path / "trials.csv").read_text("utf-8")
        said: list[str] = []
        run_tables([tiny()], tmp_path, trials=2, say=said.append)
        after = (tmp_path / "trials.csv").read_text("utf-8")
        assert after.startswith(before)
        assert said[0] == "6 of 12 trials are already in trials.csv"
        assert len(said) == 1 + 6
        rows = TRIALS.read(tmp_path)
        assert not rows.duplicated([*TRIALS.key, "metric"]).any()
        assert len(rows) == 12

    def test_two_processes_find_what_one_finds(self, tmp_path: Path) -> None:
        for folder, jobs in (("one", 1), ("two", 2)):
            run_tables([tiny()], tmp_path / folder, trials=2, jobs=jobs)
        keys = [*TRIALS.key, "metric"]
        one, two = (
            TRIALS.read(tmp_path / folder).set_index(keys)["value"].sort_index()
            for folder in ("one", "two")
        )
        pd.testing.assert_series_equal(one, two)

    def test_a_line_cut_by_a_kill_is_run_again(self, tmp_path: Path) -> None:
        run_tables([tiny()], tmp_path, trials=1)
        whole = (tmp_path / "trials.csv").read_text("utf-8")
        (tmp_path / "trials.csv").write_text(whole[:-20], "utf-8")
        run_tables([tiny()], tmp_path, trials=1)
        rows = TRIALS.read(tmp_path)
        assert len(rows) == len(rows.drop_duplicates(list(TRIALS.key))) == 6

    def test_other_settings_are_refused(self, tmp_path: Path) -> None:
        run_tables([tiny()], tmp_path, trials=1)
        other = replace(tiny(), columns=tiny().columns[1:])
        with pytest.raises(ValueError, match="holds trials of tiny made with other settings"):
            run_tables([other], tmp_path, trials=1)
        assert len(TRIALS.read(tmp_path)) == 6

    def test_settings_are_written_down(self, tmp_path: Path) -> None:
        run_tables([tiny()], tmp_path, trials=1)
        found = json.loads((tmp_path / "settings.json").read_text("utf-8"))["tiny"]
        assert found["columns"]["b"]["fitted_rank"] == 1
        assert found["columns"]["a"]["observed_in_code"] == 0.8
        assert found["methods"]["NTF-CPD-KL"] == {"max_iter": 500, "sweeps": 5, "tol": 1e-6}

    def test_a_fit_that_fails_is_kept_as_no_value(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def fail(*_: Any) -> Any:
            raise FitError("the objective became nan")

        monkeypatch.setattr(running, "measure", fail)
        run_tables([tiny()], tmp_path, trials=1)
        assert TRIALS.read(tmp_path)["value"].isna().all()
        assert len(TRIALS.done(tmp_path)) == 6

    def test_curves_go_to_a_file_of_their_own(self, tmp_path: Path) -> None:
        figure = replace(tiny("lines", measures="curves"), columns=tiny().columns[1:])
        run_tables([figure], tmp_path, trials=1)
        rows = CURVE_TRIALS.read(tmp_path)
        assert set(rows["metric"]) == {"MAE_λ"}
        assert set(rows["method"]) == set(CHEAP)
        assert len(rows) == 2
        assert not (tmp_path / "trials.csv").exists()


@dataclass(frozen=True)
class Slow:
    """A task that finishes at once or never."""

    name: str
    seconds: float

    @property
    def key(self) -> tuple[str, ...]:
        return (self.name,)

    def run(self) -> list[dict[str, Any]]:
        time.sleep(self.seconds)
        return [{"name": self.name, "metric": "x", "value": os.getpid()}]


SLOW = Store("slow.csv", ("name", "metric", "value"), ("name",))


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    state = Path(f"/proc/{pid}/stat")
    return not state.exists() or ") Z " not in state.read_text("utf-8")


@pytest.mark.slow
def test_killing_a_run_leaves_its_trials_and_no_process(tmp_path: Path) -> None:
    here = Path(__file__)
    script = (
        f"import sys; sys.path.insert(0, {str(here.parent)!r})\n"
        f"from pathlib import Path\nfrom {here.stem} import SLOW, Slow, run_all\n"
        "if __name__ == '__main__':\n"
        "    tasks = [Slow('a', 0), Slow('b', 0), Slow('c', 600), Slow('d', 600)]\n"
        f"    run_all(tasks, SLOW, Path({str(tmp_path)!r}), jobs=2)\n"
    )
    (tmp_path / "script.py").write_text(script, "utf-8")
    process = subprocess.Popen([sys.executable, str(tmp_path / "script.py")])
    try:
        _wait(lambda: len(SLOW.read(tmp_path)) == 2)
    finally:
        process.kill()
        process.wait()
    workers = set(SLOW.read(tmp_path)["value"])
    _wait(lambda: not any(_alive(pid) for pid in workers))
    said: list[str] = []
    run_all([Slow("a", 600), Slow("b", 600), Slow("e", 0)], SLOW, tmp_path, say=said.append)
    assert said[0] == "2 of 3 trials are already in slow.csv"
    assert set(SLOW.read(tmp_path)["name"]) == {"a", "b", "e"}


def _wait(condition: Callable[[], bool]) -> None:
    limit = time.monotonic() + 240
    while not condition():
        assert time.monotonic() < limit, "waited in vain"
        time.sleep(0.2)


class TestCommand:
    @pytest.fixture
    def command(self, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
        """The command, on tiny tables of the same names."""
        small = {name: tiny(name) for name in ("table-1", "appendix-rank")}
        monkeypatch.setattr("uncletc.paper.tables.runner.TABLES", small)
        monkeypatch.setattr("uncletc.paper.tables.definitions.TABLES", small)
        monkeypatch.setattr("uncletc.paper.tables.runner.FIGURES", {})
        monkeypatch.setattr("uncletc.paper.tables.definitions.FIGURES", {})

        def run(*arguments: str) -> None:
            parser = argparse.ArgumentParser(prog="uncletc")
            add_command(parser.add_subparsers(required=True))
            chosen = parser.parse_args(["tables", *arguments])
            chosen.run(chosen)

        return run

    def test_quick_writes_a_report_beside_the_trials(
        self,
        command: Callable[..., None],
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        monkeypatch.chdir(tmp_path)
        command("--quick", "--jobs", "1")
        folder = tmp_path / "uncletc-tables-quick"
        assert capsys.readouterr().out.strip() == "uncletc-tables-quick/tables.md"
        assert (folder / "tables.md").exists()
        assert set(TRIALS.read(folder)["seed"]) == {0, 1}
        assert not (tmp_path / "uncletc-tables").exists()

    def test_only_some_tables_and_trials(
        self, command: Callable[..., None], tmp_path: Path
    ) -> None:
        command("--only", "appendix-rank", "--trials", "3", "--jobs", "1", "--out", str(tmp_path))
        rows = TRIALS.read(tmp_path)
        assert set(rows["table"]) == {"appendix-rank"}
        assert set(rows["seed"]) == {0, 1, 2}

    def test_report_only_runs_nothing(self, command: Callable[..., None], tmp_path: Path) -> None:
        command("--only", "table-1", "--trials", "1", "--jobs", "1", "--out", str(tmp_path))
        before = (tmp_path / "trials.csv").read_bytes()
        (tmp_path / "tables.md").unlink()
        command("--report-only", "--out", str(tmp_path))
        assert (tmp_path / "trials.csv").read_bytes() == before
        assert (tmp_path / "tables.md").exists()

    def test_nothing_to_report_is_one_sentence(
        self, command: Callable[..., None], tmp_path: Path
    ) -> None:
        with pytest.raises(SystemExit, match=r"uncletc tables: No trials in .*; run `uncletc"):
            command("--report-only", "--out", str(tmp_path))

    def test_bad_arguments(
        self, command: Callable[..., None], capsys: pytest.CaptureFixture[str]
    ) -> None:
        for wrong in (["--trials", "0"], ["--jobs", "x"], ["--only", "table-9"]):
            with pytest.raises(SystemExit):
                command(*wrong)
        assert "must be a whole number of at least 1, got '0'" in capsys.readouterr().err


def test_figures_and_tables_share_no_name() -> None:
    assert not set(TABLES) & set(FIGURES)
