"""The report: every table beside the paper's numbers, in Markdown, and where the claims fail."""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from uncletc.paper.tables.claims import claims
from uncletc.paper.tables.definitions import KNOWN, PAPERS_OWN, TABLES, Column, Table
from uncletc.paper.tables.printed import SCALING
from uncletc.paper.tables.real_report import real_section
from uncletc.paper.tables.results import (
    CURVE_TRIALS,
    REAL_TRIALS,
    TRIALS,
    summarise,
    summarise_curves,
    summarise_real,
)
from uncletc.paper.words import amount, grid, machine_facts

SHOWN = ("MAE_p", "MAE_λ")


def write_report(folder: Path, tables: Mapping[str, Table] = TABLES) -> Path:
    """Summarise all trials in a folder as ``summary``, ``curves``, ``real.csv`` and ``tables.md``.

    Parameters
    ----------
    folder : Path
        Where the trials are.
    tables : mapping of str to Table

    Returns
    -------
    Path
        The Markdown file.

    Raises
    ------
    FileNotFoundError
        If the folder holds no trials.
    """
    trials, curves = TRIALS.read(folder), CURVE_TRIALS.read(folder)
    real = REAL_TRIALS.read(folder)
    if not len(trials) + len(curves) + len(real):
        raise FileNotFoundError(f"No trials in {folder}; run `uncletc tables --out {folder}`.")
    summary, held_out = summarise(trials, tables), summarise_real(real)
    for name, frame in (
        ("summary", summary),
        ("curves", summarise_curves(curves)),
        ("real", held_out),
    ):
        if len(frame):
            frame.to_csv(folder / f"{name}.csv", index=False, float_format="%.6g")
    machine_file = folder / "machine.json"
    machine = json.loads(machine_file.read_text("utf-8")) if machine_file.exists() else {}
    parts = ["# The paper's tables, rerun", _head(machine), _legend()]
    for table in tables.values():
        present = summary[summary["table"] == table.id]
        if not len(present):
            continue
        parts.append(f"## {table.title}")
        parts += _scaling(trials) if table.measures == "ratios" else _sections(table, present)
    parts += claims(trials, tables)
    if len(curves):
        parts.append(
            "## Figure: errors over iterations\n\nSee `iterations.png` and `curves.csv`. "
            "An iteration is not the same work in every method: UncleTC's is two sweeps of its "
            "factors and a Newton step of g. After a fit's last iteration its errors stay constant."
        )
    if len(held_out):
        parts.append(real_section(held_out))
    path = folder / "tables.md"
    path.write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    return path


def note_machine(folder: Path) -> None:
    """Record the date, the processor and the software versions of the trials."""
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(machine_facts(), indent=1, ensure_ascii=False)
    (folder / "machine.json").write_text(text + "\n", encoding="utf-8")


def _head(machine: Mapping[str, str]) -> str:
    facts = [f"- {name}: {value}" for name, value in machine.items()]
    return "\n".join(
        [*facts, "- Threads: 1 per fit", "- Data: *simulated*, except for the last table"]
    )


def _legend() -> str:
    return (
        "Each cell: our mean ± standard deviation over trials, and in brackets what the paper "
        "prints for 20 trials of its own draws. MAE_λ is over all entries, MAE_p of g(z) over the "
        "entries with known attributes; both are free of the common scale of λ and p. (The "
        "paper's public code computes MAE_p over Ω from each entry's auxiliary p, which has seen "
        "the count that it is scored on; `trials.csv` holds that version too.) Trial s draws its "
        "data with seed s and fits with seed s; every method sees the same data.\n\n"
        "Settings: every method's defaults in this library with the true rank, or the wrong one "
        "that a column names; HaLRTC has no rank. UncleTC: joint solver, with a network of "
        "3 × 20 units where held-out counts show joint effects, μ from the counts. No setting was "
        "chosen by looking at the truth. All settings: `settings.json`.\n\n"
        f"“{KNOWN}” is the floor: the same counts fitted by a masked Poisson CP that is given "
        "every true p, so that only λ is unknown. “Exact” means that exactly the stated fractions "
        "are observed; “as in the public code” means that Ω is as large as the paper's code makes "
        "it: that code thins with replacement, and so observes .132 and .156 of all entries in the "
        "columns .05 and .1. Seconds, here and in the csv files, are wall-clock times; the machine "
        "may have had other work."
    )


def _sections(table: Table, summary: pd.DataFrame) -> list[str]:
    """One grid for each reading, and for each group of columns where there are many."""
    parts = []
    for reading in summary["reading"].unique():
        here = summary[summary["reading"] == reading]
        for name, columns in _groups(table, set(here["column"])).items():
            title = f"### {reading.capitalize()}{name}"
            n = here[here["method"] == table.methods[0]]["n"]
            parts += [f"{title} ({_span(n)} trials)", _grid(table, here, columns)]
    if table.id == "appendix-mu":
        parts.append(
            "In UncleTC μ is the inverse variance of a gamma deviation of p from g(z) and does not "
            f"depend on the scale; in “{PAPERS_OWN}” it weights (g - p)², as in the paper, whose "
            "numbers stand beside both. That algorithm is costly and has fewer trials: "
            f"{_span(summary[summary['method'] == PAPERS_OWN]['n'])}."
        )
    if table.id == "appendix-wrong-rank":
        parts.append(
            "The paper prints the row of NTF-CPD-KL as MAE_p; the method has no p, so it is taken "
            "as MAE_λ."
        )
    return parts


def _groups(table: Table, present: set[str]) -> dict[str, list[tuple[str, Column]]]:
    """Columns with their short labels, by the part of the label before its last comma."""
    groups: dict[str, list[tuple[str, Column]]] = {}
    for column in table.columns:
        if column.label in present:
            name, comma, short = column.label.rpartition(", ")
            groups.setdefault(f", {name}" if comma else "", []).append((short, column))
    return groups


def _grid(table: Table, summary: pd.DataFrame, columns: Sequence[tuple[str, Column]]) -> str:
    """Methods by columns."""
    cells = {
        (row["method"], row["metric"], row["column"]): row for row in summary.to_dict("records")
    }
    rows = []
    for method in table.methods:
        for metric in SHOWN:
            line = [
                _cell(cells[key]) if (key := (method, metric, column.label)) in cells else ""
                for _, column in columns
            ]
            if any(line):
                rows.append([method, metric, *line])
    return grid(["method", "error", *(short for short, _ in columns)], rows)


def _cell(row: Mapping[Hashable, Any]) -> str:
    ours = amount(row["mean"], row["sd"])
    if np.isnan(row["paper_mean"]):
        return ours
    return f"{ours} ({amount(row['paper_mean'], row['paper_sd'])})"


def _scaling(trials: pd.DataFrame) -> list[str]:
    """Table 4, one row for each trial."""
    here = trials[trials["table"] == "table-4"]
    rows = []
    for place, (seed, group) in enumerate(here.groupby("seed")):
        values = dict(zip(group["metric"], group["value"], strict=True))
        line = [str(int(str(seed)) + 1)]
        for name, figures in SCALING.items():
            mean, deviation = values[f"{name} mean"], values[f"{name} sd"]
            ours, relative = amount(mean, deviation, ".2f", ".2f"), deviation / mean
            line.append(f"{ours}, {relative:.0%} ({amount(*figures[place], '.2f', '.2f')})")
        rows.append(line)
    note = (
        "Mean ± standard deviation over entries, and the deviation as a percentage of the mean; "
        "λ̂/λ over all entries, p̂/p and the product over those with attributes. Each solver sets "
        "the common scale of λ and p arbitrarily (here the largest p is 1), so the means cannot be "
        "compared with the paper's. What can be compared: each ratio varies little, and the two "
        "are reciprocal, so that the product is near 1. Draws differ, too: trial 1 here is not the "
        "paper's."
    )
    return [note, grid(["trial", *SCALING], rows)]


def _span(counts: pd.Series) -> str:
    low, high = int(counts.min()), int(counts.max())
    return str(low) if low == high else f"{low} to {high}"
