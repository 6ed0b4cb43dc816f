"""Files of results: trials appended one by one, and their summaries."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd

from uncletc.compare.metrics import mean_and_sd
from uncletc.paper.tables.cells import ITERATIONS
from uncletc.paper.tables.definitions import KNOWN, TABLES, Table
from uncletc.paper.tables.printed import REAL, SCALING

Results = Literal["summary", "curves", "real", "trials"]

CELL = ("table", "reading", "column", "method")
FOLD = ("data", "kind", "method", "fold")
DATA = ("covid", "ppi")


@dataclass(frozen=True)
class Store:
    """A csv file that grows by one finished trial at a time.

    Attributes
    ----------
    name : str
        Of the file.
    columns : tuple of str
    key : tuple of str
        The columns that name a trial.
    """

    name: str
    columns: tuple[str, ...]
    key: tuple[str, ...]

    def read(self, folder: Path) -> pd.DataFrame:
        """All rows so far; none without a file."""
        path = folder / self.name
        if not path.exists():
            return pd.DataFrame(columns=list(self.columns))
        return pd.read_csv(path, keep_default_na=False, na_values=["nan"])[list(self.columns)]

    def done(self, folder: Path) -> set[tuple[str, ...]]:
        """Keys of the finished trials; a line left incomplete by a killed process is cut off."""
        path = folder / self.name
        if path.exists():
            whole = path.read_bytes()
            kept = whole[: whole.rfind(b"\n") + 1]
            if len(kept) < len(whole):
                path.write_bytes(kept)
        rows = self.read(folder)
        return {tuple(map(str, row)) for row in rows[list(self.key)].itertuples(index=False)}

    def append(self, folder: Path, rows: Iterable[Mapping[str, Any]]) -> None:
        """Add the rows of one trial in a single write."""
        path, text = folder / self.name, io.StringIO()
        writer = csv.DictWriter(text, self.columns, lineterminator="\n")
        if not path.exists():
            writer.writeheader()
        writer.writerows(rows)
        with path.open("a", encoding="utf-8") as file:
            file.write(text.getvalue())


TRIALS = Store("trials.csv", (*CELL, "metric", "seed", "value", "seconds"), (*CELL, "seed"))
CURVE_TRIALS = Store(
    "curve-trials.csv",
    ("figure", "setting", "method", "metric", "seed", "values", "seconds"),
    ("figure", "setting", "method", "seed"),
)
REAL_TRIALS = Store(
    "real-trials.csv", (*FOLD, "metric", "value", "settings", "iteration", "seconds"), FOLD
)


def committed(name: Results) -> pd.DataFrame:
    """Read results shipped with the project.

    Parameters
    ----------
    name : {"summary", "curves", "real", "trials"}
        ``summary``: table, reading, column, method, metric, mean, sd, median, n, seconds,
        paper_mean, paper_sd, floor (mean MAE_λ with p known); ``curves``: figure, setting, method,
        metric, iteration, mean, sd, n; ``real``: data, kind, method, metric, mean, sd, n,
        settings, seconds, paper_mean, paper_sd; ``trials``: table, reading, column, method,
        metric, seed, value, seconds.

    Raises
    ------
    FileNotFoundError
        If neither a checkout nor the installed package holds them.
    """
    if name not in get_args(Results):
        raise ValueError(f"name must be one of {get_args(Results)}, got {name!r}")
    package = Path(__file__).resolve().parents[2]
    for folder in (
        package.parent / "benchmarks" / "results" / "paper",
        package / "_data" / "paper",
    ):
        path = folder / f"{name}.csv"
        if path.exists():
            return pd.read_csv(path)
    raise FileNotFoundError(
        f"No {name} of the paper's tables in this copy of uncletc; run `uncletc tables`."
    )


def summarise(trials: pd.DataFrame, tables: Mapping[str, Table] = TABLES) -> pd.DataFrame:
    """Summarise trials by cell and metric, beside the paper's numbers and the floor.

    Parameters
    ----------
    trials : DataFrame
        As in ``trials.csv``.
    tables : mapping of str to Table
        Tables whose cells to summarise, in this order.

    Returns
    -------
    DataFrame
        See :func:`committed`. Trials whose fit failed have no value and are not in `n`.
    """
    floors = trials[(trials["method"] == KNOWN) & (trials["metric"] == "MAE_λ")]
    floor = floors.groupby(list(CELL[:3]))["value"].mean()
    present = dict(iter(trials.groupby(list(CELL), sort=False)))
    rows = []
    for table in tables.values():
        for position, column in enumerate(table.columns):
            for reading, method in product(column.readings, table.methods):
                cell = (table.id, reading, column.label, method)
                if cell not in present:
                    continue
                for metric, group in present[cell].groupby("metric", sort=False):
                    values = group["value"].dropna()
                    rows.append(
                        [
                            *(*cell, metric, *mean_and_sd(values), values.median(), len(values)),
                            group["seconds"].mean(),
                            *_printed(table, method, str(metric), position),
                            floor.get(cell[:3]) if metric == "MAE_λ" else None,
                        ]
                    )
    names = [*CELL, "metric", "mean", "sd", "median", "n", "seconds"]
    return pd.DataFrame(rows, columns=[*names, "paper_mean", "paper_sd", "floor"])


def summarise_curves(trials: pd.DataFrame) -> pd.DataFrame:
    """Summarise ``curve-trials.csv`` by iteration; see :func:`committed`."""
    rows = []
    for key, group in trials.groupby(["figure", "setting", "method", "metric"], sort=False):
        values = np.array([[float(value) for value in text.split()] for text in group["values"]])
        for place, iteration in enumerate(ITERATIONS):
            here = values[:, place]
            n = np.count_nonzero(~np.isnan(here))
            rows.append([*key, iteration, *mean_and_sd(here), n])
    names = ["figure", "setting", "method", "metric", "iteration", "mean", "sd", "n"]
    return pd.DataFrame(rows, columns=names)


def summarise_real(trials: pd.DataFrame) -> pd.DataFrame:
    """Summarise ``real-trials.csv`` over folds; see :func:`committed`."""
    rows = []
    for key, group in trials.groupby(["data", "kind", "method", "metric"], sort=False):
        data, kind, method, metric = map(str, key)
        values = group["value"].dropna()
        paper = (np.nan, np.nan)
        if metric == "rRMSE" and method in REAL and kind == "entry":  # as in the paper
            paper = REAL[method][DATA.index(data)]
        settings = "; ".join(
            f"{text} ({count} of {len(group)})" if count < len(group) else str(text)
            for text, count in group["settings"].value_counts(sort=False).items()
        )
        if group["iteration"].notna().any():
            low, high = int(group["iteration"].min()), int(group["iteration"].max())
            settings += f", iteration {low}" + (f" to {high}" if high > low else "")
        spent = group["seconds"].mean()
        rows.append([*key, *mean_and_sd(values), len(values), settings, spent, *paper])
    names = ["data", "kind", "method", "metric", "mean", "sd", "n", "settings", "seconds"]
    return pd.DataFrame(rows, columns=[*names, "paper_mean", "paper_sd"])


def _printed(table: Table, method: str, metric: str, position: int) -> Sequence[float]:
    """Mean and standard deviation that the paper prints in a cell; NaN where it prints none."""
    if table.measures == "ratios":
        name, _, part = metric.rpartition(" ")
        return mean_and_sd([pair[part == "sd"] for pair in SCALING[name]])
    if (method, metric) in table.printed:
        return table.printed[method, metric][position]
    return np.nan, np.nan
