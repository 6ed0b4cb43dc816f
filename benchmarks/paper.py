"""Rerun the paper's tables, figures and real-data comparison beside its own numbers.

    python -m benchmarks.paper --quick
    python -m benchmarks.paper --only table-1 real --out results

Finished trials are in the folder, so that the same command resumes where it stopped. Beside
them it writes ``summary.csv``, ``curves.csv`` and ``real.csv``, which the pages show, and a report,
``tables.md``. The paper's numbers are those of ``results/paper/printed.csv``.

On real counts one rule holds for every method with a rank: the first trial fits each of RANKS, the
smallest validation rRMSE decides, and the other trials keep that rank.
"""

import argparse
import math
import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed, parallel_config

from benchmarks._paper_tables import FIGURES, TABLES, find
from benchmarks._paper_trials import ITERATIONS, measure
from benchmarks.report import amount, grid, machine
from uncletc import FitError, datasets
from uncletc.baselines import PAPER_METHODS
from uncletc.compare import make_folds, run_trial, splits
from uncletc.compare.metrics import mean_and_sd
from uncletc.data.counts import CountTensor
from uncletc.paper.tables import KNOWN

PRINTED = Path(__file__).parent / "results" / "paper" / "printed.csv"
CELL = ["table", "reading", "column", "method"]
CURVE = ["figure", "setting", "method"]
REAL = ["data", "kind", "method"]
RANKS = (5, 15)
MEMBERS = "UncleTC, 5 members"
_SCORES = {"rrmse": "rRMSE", "deviance": "deviance", "mae": "MAE", "auroc": "AUROC"}
Key = tuple[str, ...]


def cells(names: Sequence[str], trials: int | None) -> Iterator[Key]:
    """Yield table, reading, column, method and seed of every trial of some tables or figures."""
    for table in map(find, names):
        for column in table.columns:
            for reading in column.readings:
                seeds = range(max(table.n_trials(name, trials) for name in table.methods))
                for seed, method in product(seeds, table.methods):
                    if seed < table.n_trials(method, trials):
                        yield table.id, reading, column.label, method, str(seed)


def run_cell(key: Key) -> list[dict[str, Any]]:
    """Run one trial of a cell; return its rows of ``trials.csv`` or ``curve-trials.csv``."""
    table, reading, column, method, seed = key
    measures = find(table).measures
    try:
        values, seconds = measure(find(table).column(column), method, int(seed), reading, measures)
    except FitError:
        values, seconds = {"MAE_λ": math.nan}, math.nan
    if measures == "curves":
        row = dict(zip(CURVE, (table, column, method), strict=True))
        text = {m: " ".join(f"{value:.5f}" for value in curve) for m, curve in values.items()}
        return [row | {"metric": m, "seed": seed, "values": v} for m, v in text.items()]
    row = dict(zip(CELL, key[:4], strict=True)) | {"seconds": f"{seconds:.2f}", "seed": seed}
    return [row | {"metric": m, "value": f"{value:.6g}"} for m, value in values.items()]


@lru_cache(maxsize=1)
def _counts(name: str) -> CountTensor:
    return datasets.load(name).counts


def run_fold(key: Key, ranks: Sequence[int]) -> list[dict[str, Any]]:
    """Fit a fold of real counts at each rank; return the scores of the best by validation."""
    data, kind, method, fold = key
    counts = _counts(data)
    split = splits(make_folds(counts, kind=kind))[int(fold)]  # type: ignore[arg-type]
    chosen = PAPER_METHODS["UncleTC" if method == MEMBERS else method]
    extra = {"members": 5} if method == MEMBERS else {}
    found = []
    for rank in ranks if chosen.has_rank else (None,):
        settings = chosen.settings(**extra, **({} if rank is None else {"rank": rank}))
        try:
            found.append((rank, run_trial(counts, chosen, settings, split, 10, None)))
        except FitError:
            continue
    row: dict[str, Any] = dict(zip([*REAL, "fold"], key, strict=True))
    if not found:
        return [row | {"metric": "rRMSE", "value": "nan", "settings": "fit failed"}]
    rank, best = min(found, key=lambda pair: pair[1].validation.rrmse)
    row |= {"settings": "defaults" if rank is None else f"rank {rank}"}
    row |= {"iteration": best.iteration, "seconds": f"{best.seconds:.1f}"}
    scores = asdict(best.test)
    return [row | {"metric": m, "value": f"{scores[name]:.6g}"} for name, m in _SCORES.items()]


def read(path: Path) -> pd.DataFrame:
    """Return the rows of a file; none without one."""
    return pd.read_csv(path, na_values=["nan"]) if path.exists() else pd.DataFrame()


def run_all(path: Path, key: Sequence[str], tasks: dict[Key, Any], jobs: int) -> None:
    """Run the tasks whose key the file lacks, and add the rows of each as it finishes."""
    old = read(path)
    done = set() if old.empty else set(map(tuple, old[[*key]].astype(str).to_numpy()))
    missing = [task for own, task in tasks.items() if own not in done]
    began = time.perf_counter()
    with parallel_config("loky", inner_max_num_threads=1):
        finished = Parallel(jobs, return_as="generator_unordered")(missing)
        for count, rows in enumerate(finished, start=1):
            header = not path.exists()
            columns = old.columns if len(old) else None
            frame = pd.DataFrame(rows, columns=columns)
            frame.to_csv(path, mode="a", header=header, index=False)
            old = old if len(old) else frame
            left = (time.perf_counter() - began) / count * (len(missing) - count)
            own = ", ".join(str(rows[0][name]) for name in key)
            print(f"[{count}/{len(missing)}, {left / 60:.0f} min left] {own}", file=sys.stderr)


def run_real(folder: Path, jobs: int, folds: int) -> None:
    """Run the missing trials on the real counts that are on this machine."""
    here = [name for name in ("covid", "ppi") if datasets.available(name)]
    rows = list(product(here, ("entry", "fibre"), PAPER_METHODS))
    rows += [(name, "entry", MEMBERS) for name in here if name == "covid"]
    path, key = folder / "real-trials.csv", [*REAL, "fold"]
    first = {(*row, "0"): delayed(run_fold)((*row, "0"), RANKS) for row in rows}
    run_all(path, key, first, jobs)
    trials = read(path)
    chosen = trials[trials["fold"].astype(int) == 0].drop_duplicates(REAL).set_index(REAL)
    rest = {}
    for row, fold in product(rows, range(1, folds)):
        words = str(chosen.loc[row, "settings"]).split()
        ranks = (int(words[1]),) if words[0] == "rank" else RANKS
        own = (*row, str(fold))
        rest[own] = delayed(run_fold)(own, ranks)
    run_all(path, key, rest, jobs)


def summarise(trials: pd.DataFrame) -> pd.DataFrame:
    """Summarise ``trials.csv`` by cell and metric; see :func:`uncletc.paper.tables.committed`."""
    rate = trials[trials["metric"] == "MAE_λ"]
    floor = rate[rate["method"] == KNOWN].groupby(CELL[:3])["value"].mean()
    rows = []
    for key, group in trials.groupby([*CELL, "metric"], sort=False):
        values = group["value"].dropna()
        least = floor.get(key[:3]) if key[4] == "MAE_λ" else None
        numbers = [*mean_and_sd(values), values.median(), len(values), group["seconds"].mean()]
        rows.append([*key, *numbers, least])
    names = [*CELL, "metric", "mean", "sd", "median", "n", "seconds", "floor"]
    on = ["table", "column", "method", "metric"]
    return pd.DataFrame(rows, columns=names).merge(pd.read_csv(PRINTED), how="left", on=on)


def summarise_curves(trials: pd.DataFrame) -> pd.DataFrame:
    """Summarise ``curve-trials.csv`` by iteration."""
    rows = []
    for key, group in trials.groupby([*CURVE, "metric"], sort=False):
        values = np.array([[float(value) for value in text.split()] for text in group["values"]])
        for iteration, here in zip(ITERATIONS, values.T, strict=True):
            rows.append([*key, iteration, *mean_and_sd(here), np.count_nonzero(~np.isnan(here))])
    return pd.DataFrame(rows, columns=[*CURVE, "metric", "iteration", "mean", "sd", "n"])


def summarise_real(trials: pd.DataFrame) -> pd.DataFrame:
    """Summarise ``real-trials.csv`` over folds."""
    rows = []
    for key, group in trials.groupby([*REAL, "metric"], sort=False):
        values, used = group["value"].dropna(), "; ".join(map(str, group["settings"].unique()))
        rows.append([*key, *mean_and_sd(values), len(values), used, group["seconds"].mean()])
    names = [*REAL, "metric", "mean", "sd", "n", "settings", "seconds"]
    printed = pd.read_csv(PRINTED).query("table == 'real'").drop(columns="table")
    printed = printed.rename(columns={"column": "data"}).assign(kind="entry")
    return pd.DataFrame(rows, columns=names).merge(printed, how="left", on=[*REAL, "metric"])


def report(summary: pd.DataFrame, real: pd.DataFrame) -> str:
    """Return every table in Markdown: mean ± sd, and in brackets the paper's mean."""
    parts = ["# The paper's tables", machine()]
    for table in TABLES.values():
        here = summary[summary["table"] == table.id] if len(summary) else summary
        for reading in [] if here.empty else here["reading"].unique():
            parts += [f"## {table.title} ({reading})", _wide(here[here["reading"] == reading])]
    if len(real):
        held = real[real["metric"] == "rRMSE"].assign(column=real["data"] + ", " + real["kind"])
        parts += ["## Real counts: rRMSE of held-out counts", _wide(held)]
    return "\n\n".join(parts) + "\n"


def _wide(frame: pd.DataFrame) -> str:
    columns = list(frame["column"].unique())
    rows = []
    for (method, metric), group in frame.groupby(["method", "metric"], sort=False):
        by = group.set_index("column")
        row = [method, metric]
        for column in columns:
            text = ""
            if column in by.index:
                one = by.loc[column]
                text = amount(one["mean"], one["sd"])
                text += f" ({one['paper_mean']:.3f})" if pd.notna(one["paper_mean"]) else ""
            row.append(text)
        rows.append(row)
    return grid(["method", "metric", *columns], rows)


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line, run what is missing, and write the summaries and the report."""
    names = [*TABLES, *FIGURES]
    parser = argparse.ArgumentParser(prog="python -m benchmarks.paper", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="2 trials per cell, 1 fold")
    parser.add_argument("--only", nargs="+", choices=[*names, "real"], default=names)
    parser.add_argument("--trials", type=int, help="per cell; default: as in the paper")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--out", type=Path, default=Path("uncletc-tables"))
    parser.add_argument("--report-only", action="store_true", help="run nothing")
    chosen = parser.parse_args(arguments)
    folder = chosen.out
    folder.mkdir(parents=True, exist_ok=True)
    if not chosen.report_only:
        trials = chosen.trials or (2 if chosen.quick else None)
        for name, file, key in (
            (TABLES, "trials.csv", [*CELL, "seed"]),
            (FIGURES, "curve-trials.csv", [*CURVE, "seed"]),
        ):
            wanted = cells([each for each in chosen.only if each in name], trials)
            tasks = {
                (own if name is TABLES else (own[0], *own[2:])): delayed(run_cell)(own)
                for own in wanted
            }
            run_all(folder / file, key, tasks, chosen.jobs)
        if "real" in chosen.only:
            run_real(folder, chosen.jobs, 1 if chosen.quick else 5)
    made = {}
    for name, summary, file in (
        ("summary", summarise, "trials.csv"),
        ("curves", summarise_curves, "curve-trials.csv"),
        ("real", summarise_real, "real-trials.csv"),
    ):
        old = read(folder / file)
        made[name] = old if old.empty else summary(old)
        if len(old):
            made[name].to_csv(folder / f"{name}.csv", index=False, float_format="%.6g")
    text = report(made["summary"], made["real"])
    (folder / "tables.md").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
