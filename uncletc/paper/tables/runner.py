"""Run trials in processes: keep each as it finishes, and skip those kept before."""

from __future__ import annotations

import json
import math
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from threading import Thread
from typing import Any, Protocol

from joblib import Parallel, delayed, parallel_config

from uncletc.fitting.history import FitError
from uncletc.paper.tables.cells import measure, settings_for
from uncletc.paper.tables.definitions import FIGURES, TABLES, Column, Table, find
from uncletc.paper.tables.results import CURVE_TRIALS, TRIALS, Store

Notify = Callable[[str], None]
Row = dict[str, Any]


class Task(Protocol):
    """Something to run once, whose rows go into a store."""

    @property
    def key(self) -> tuple[str, ...]:
        """Values of the store's key columns."""

    def run(self) -> list[Row]:
        """Run the task; return the rows to keep."""


@dataclass(frozen=True, kw_only=True)
class CellTask:
    """One trial of one cell of a table, or of one curve of a figure."""

    table: str
    measures: str
    reading: str
    column: Column
    method: str
    seed: int

    @property
    def key(self) -> tuple[str, ...]:
        """Values of the store's key columns."""
        reading = () if self.measures == "curves" else (self.reading,)
        return (self.table, *reading, self.column.label, self.method, str(self.seed))

    def run(self) -> list[Row]:
        """Simulate, fit and score; NaN where the fit fails."""
        try:
            values, seconds = measure(
                self.column, self.method, self.seed, self.reading, self.measures
            )
        except FitError:
            values, seconds = {"MAE_λ": math.nan}, math.nan
        row = {"method": self.method, "seed": self.seed, "seconds": f"{seconds:.2f}"}
        if self.measures == "curves":
            row |= {"figure": self.table, "setting": self.column.label}
            return [
                {**row, "metric": metric, "values": " ".join(f"{value:.5f}" for value in curve)}
                for metric, curve in values.items()
            ]
        row |= {"table": self.table, "reading": self.reading, "column": self.column.label}
        return [
            {**row, "metric": metric, "value": f"{value:.6g}"} for metric, value in values.items()
        ]


def plan(tables: Iterable[Table], trials: int | None = None) -> list[CellTask]:
    """Every trial of every cell: by table, column and seed, so that all methods advance together.

    Parameters
    ----------
    tables : iterable of Table
    trials : int, optional
        Per cell; None: as in the paper.
    """
    return [
        CellTask(
            table=table.id,
            measures=table.measures,
            reading=reading,
            column=column,
            method=method,
            seed=seed,
        )
        for table in tables
        for column in table.columns
        for reading in column.readings
        for seed in range(max(table.n_trials(name, trials) for name in table.methods))
        for method in table.methods
        if seed < table.n_trials(method, trials)
    ]


def run_tables(
    tables: Sequence[Table],
    folder: Path,
    *,
    trials: int | None = None,
    jobs: int = 1,
    say: Notify = lambda _: None,
) -> None:
    """Run the missing trials of some tables and figures.

    Parameters
    ----------
    tables : sequence of Table
    folder : Path
        Keeps the trials; existing ones are not rerun.
    trials : int, optional
        Per cell; None: as in the paper.
    jobs : int
        Processes, each on one thread.
    say : callable
        Called with a line after each trial.

    Raises
    ------
    ValueError
        If the folder holds trials made with other settings.
    """
    folder.mkdir(parents=True, exist_ok=True)
    _check_settings(tables, folder)
    for is_curve, store in ((False, TRIALS), (True, CURVE_TRIALS)):
        chosen = [table for table in tables if (table.measures == "curves") == is_curve]
        run_all(plan(chosen, trials), store, folder, jobs=jobs, say=say)


def run_all(
    tasks: Sequence[Task],
    store: Store,
    folder: Path,
    *,
    jobs: int = 1,
    say: Notify = lambda _: None,
) -> None:
    """Run the tasks that the store lacks, and keep the rows of each as it finishes."""
    done = store.done(folder)
    missing = [task for task in tasks if task.key not in done]
    if len(missing) < len(tasks):
        say(f"{len(tasks) - len(missing)} of {len(tasks)} trials are already in {store.name}")
    began = time.perf_counter()
    for count, (task, rows) in enumerate(_finished(missing, jobs), start=1):
        store.append(folder, rows)
        left = (time.perf_counter() - began) / count * (len(missing) - count)
        values = next((row["value"] for row in rows if row.get("value")), "")
        result = f"{rows[0]['metric']} {values}" if values else ""
        say(f"[{count}/{len(missing)}, {_clock(left)} left] {', '.join(task.key)}: {result}")


def _finished(tasks: Sequence[Task], jobs: int) -> Iterator[tuple[Task, list[Row]]]:
    """Run tasks, each on one thread; yield each with its rows as it finishes."""
    with parallel_config("loky", inner_max_num_threads=1):
        workers = Parallel(min(jobs, len(tasks)) or 1, return_as="generator_unordered")
        yield from workers(delayed(_run)(task, os.getpid()) for task in tasks)


def _run(task: Task, parent: int) -> tuple[Task, list[Row]]:
    if os.getpid() != parent:
        _end_with(parent)
    return task, task.run()


@cache
def _end_with(parent: int) -> None:
    """End this worker, even in the middle of a fit, once its parent process is killed."""

    def wait() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    Thread(target=wait, daemon=True).start()


def _check_settings(tables: Iterable[Table], folder: Path) -> None:
    """Refuse to mix trials made with different settings; record the settings of the tables."""
    path = folder / "settings.json"
    recorded: dict[str, Any] = json.loads(path.read_text("utf-8")) if path.exists() else {}
    for table in tables:
        settings = json.loads(json.dumps(_settings(table)))
        if recorded.get(table.id, settings) != settings:
            raise ValueError(
                f"{folder} holds trials of {table.id} made with other settings; choose another "
                "folder, or remove its files"
            )
        recorded[table.id] = settings
    path.write_text(json.dumps(recorded, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _settings(table: Table) -> Mapping[str, Any]:
    """Everything that determines the numbers of a table, except for the seeds."""
    methods = {}
    for method in table.methods:
        settings = asdict(settings_for(method, table.columns[0], 0))
        methods[method] = {
            name: value for name, value in settings.items() if name not in ("rank", "seed", "mu")
        }
    columns = {
        column.label: {
            "simulate": dict(column.simulation),
            "fitted_rank": column.fitted_rank,
            "mu": column.mu,
            "observed_in_code": column.observed_in_code,
        }
        for column in table.columns
    }
    return {"columns": columns, "methods": methods}


def _clock(seconds: float) -> str:
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes else f"{seconds:.0f} s"


def chosen_tables(names: Sequence[str]) -> list[Table]:
    """Tables and figures by name, in the order of the paper's tables, then figures."""
    requested = [find(name) for name in names]
    return [table for table in (*TABLES.values(), *FIGURES.values()) if table in requested]
