"""``uncletc fit`` and ``uncletc report``: from a table to estimates, files and a page."""

from __future__ import annotations

import argparse
import os
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from uncletc import datasets
from uncletc.datasets.base import Dataset
from uncletc.fitting.history import ConvergenceWarning, Iteration, MisfitWarning, StopReason
from uncletc.fitting.settings import FitSettings
from uncletc.io.recipe import Recipe
from uncletc.result.fit_result import Fit
from uncletc.tables import Columns, RawTable, build, check_counts, guess, read_file

FIT, SETTINGS = "fit.npz", "settings.toml"
_RANKS = {"covid": 15}  # of data sets, without settings; those of pages
_RANK = 5
_OFTEN, _SELDOM = 0.1, 5.0  # seconds between lines of progress: on a terminal, in a log


def fit_table(chosen: argparse.Namespace) -> None:
    """Fit a table, and write the fit, its settings and its estimates."""
    from uncletc.estimates import FORMATS, defused, every_entry, totals, write
    from uncletc.report import headline

    found = fitted(chosen.table, chosen.settings, chosen.surveys)
    fit, scale = found.fit, found.recipe.anchor.scale(found.dataset.counts, found.fit)
    sums = {name: totals(found.dataset, fit, scale, by=name.split("+")) for name in chosen.by}
    folder = chosen.out or Path(f"uncletc-{Path(chosen.table).stem}")
    folder.mkdir(parents=True, exist_ok=True)
    keep(found, folder)
    estimates = every_entry(found.dataset, fit, scale)
    for kind in dict.fromkeys(chosen.format):
        write(estimates, folder / f"estimates{FORMATS[kind]}")
    for name, table in sums.items():
        path = folder / f"totals-{name.replace(' ', '-').replace('/', '-')}.csv"
        defused(table).to_csv(path, index=False, encoding="utf-8-sig")
    if fit.stop is StopReason.MAX_ITER:
        note(
            "uncletc fit: the fit stopped at its limit of iterations; raise max_iter in the "
            "settings"
        )
    if fit.misfit:
        note(f"uncletc fit: a poor fit: {fit.misfit}")
    print(repr(fit), *headline(found.dataset, fit, scale), sep="\n")
    print(f"written to {folder}: {', '.join(sorted(path.name for path in folder.iterdir()))}")


def write_report(chosen: argparse.Namespace) -> None:
    """Write the report of a table, or of a folder that ``uncletc fit`` wrote."""
    from uncletc.report import held_out_words, report

    folder = Path(chosen.table)
    if folder.is_dir():
        if not all((folder / name).is_file() for name in (FIT, SETTINGS)):
            raise ValueError(f"{folder} is no folder that uncletc fit wrote")
        if chosen.settings is not None:
            raise ValueError("--settings must be left out for a folder, which has its own")
        found = saved(folder)
    else:
        found = fitted(chosen.table, chosen.settings)
    checked = held_out_words(found.dataset.counts, found.recipe.fit) if chosen.check else ""
    path = chosen.out or (folder / "report.html" if folder.is_dir() else Path("report.html"))
    text = report(found.dataset, found.fit, found.recipe, checked=checked)
    path.write_text(text, encoding="utf-8")
    print(path)


@dataclass(frozen=True, eq=False, kw_only=True)
class Fitted:
    """A fit, and what it was fitted to and with.

    Attributes
    ----------
    dataset : Dataset
        Its counts have the roles and observation processes of the fit.
    fit : Fit
    recipe : Recipe
        With nothing left open.
    """

    dataset: Dataset
    fit: Fit
    recipe: Recipe


def fitted(table: str, settings: Path | None, surveys: Path | None = None) -> Fitted:
    """Read a table, its settings and surveys, and fit, with progress on standard error."""
    given = recipe_for(table, settings)
    loaded, columns = dataset_of(table, given.columns)
    if surveys is not None:
        own = loaded.counts.with_surveys(read_file(surveys).frame.to_pandas()).surveys
        given = replace(given, surveys=own)
    chosen = replace(given.complete(loaded), table=table, columns=columns)
    dataset = chosen.prepared(loaded)
    note(f"{dataset.title}: {dataset.counts}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the summary says both
        warnings.simplefilter("ignore", MisfitWarning)
        fit = chosen.run(dataset, progress(chosen.fit.max_iter))
    if sys.stderr.isatty():
        note("")
    return Fitted(dataset=dataset, fit=fit, recipe=chosen)


def saved(folder: Path) -> Fitted:
    """Read what ``uncletc fit`` left in a folder."""
    recipe = Recipe.read(folder / SETTINGS)
    named = recipe.table
    if named not in datasets.NAMES:
        named = str(folder / named)
        if not Path(named).is_file():
            raise ValueError(
                f"the table of {folder} is not at {named} any more: name it in its {SETTINGS}"
            )
    dataset = recipe.prepared(dataset_of(named, recipe.columns)[0])
    fit = Fit.load(folder / FIT)
    if fit.counts_digest != dataset.counts.digest:
        raise ValueError(f"the fit in {folder} is of other counts than those of {named}")
    return Fitted(dataset=dataset, fit=fit, recipe=recipe)


def keep(found: Fitted, folder: Path) -> None:
    """Write the fit and its settings to a folder, which names the table by its way from there."""
    found.fit.save(folder / FIT)
    table = found.recipe.table
    if table not in datasets.NAMES:
        table = Path(os.path.relpath(table, folder)).as_posix()
    text = replace(found.recipe, table=table).to_toml()
    (folder / SETTINGS).write_text(text, encoding="utf-8")


def recipe_for(table: str, settings: Path | None) -> Recipe:
    """Return the settings in a file, or those that pages begin with."""
    if settings is not None:
        return Recipe.read(settings)
    rank = _RANKS.get(table.removesuffix("-twin"), _RANK)
    return Recipe(fit=FitSettings(rank=rank), left_open=("signs", "effects"))


def dataset_of(table: str, columns: Columns | None) -> tuple[Dataset, Columns | None]:
    """Return the data set that a command line names, as it was loaded, and its columns.

    Columns of a file that nobody named are guessed; a data set has none.
    """
    if table in datasets.NAMES:
        if columns is not None:
            raise ValueError(f"settings must have no [columns] for the data set {table}")
        return datasets.load(table), None
    path = Path(table)
    if not path.is_file():
        raise ValueError(
            f"TABLE must be one of {', '.join(datasets.NAMES)}, or a file; got {table!r}"
        )
    raw = read_file(path)
    chosen = _guessed(raw) if columns is None else columns
    dataset = build(raw, chosen)
    if columns is None:
        for rule in dataset.provenance.rules:
            note(rule)
        for finding in check_counts(dataset):
            if finding.severity == "error":
                note(f"To fix: {finding.sentence} {finding.advice}")
    return dataset, chosen


def _guessed(raw: RawTable) -> Columns:
    """What the columns of a table seem to be, said on standard error."""
    found = guess(raw)
    for name, reason in found.reasons.items():
        note(f"{name}: {reason}")
    for question in found.questions:
        note(question)
    if not found.columns.count:
        raise ValueError(
            f"no column of {raw.name} seems to hold counts; say which in a file of settings, "
            "in a section [columns] with modes and count"
        )
    return found.columns


def note(line: str) -> None:
    """Write a line to standard error."""
    print(line, file=sys.stderr, flush=True)


def progress(limit: int) -> Callable[[Iteration[Any]], None]:
    """Return a callback of a fit that says on standard error how far it is."""
    terminal = sys.stderr.isatty()
    begun = spoken = time.monotonic()

    def follow(record: Iteration[Any]) -> None:
        nonlocal spoken
        now = time.monotonic()
        if now - spoken < (_OFTEN if terminal else _SELDOM):
            return
        spoken = now
        text = f"iteration {record.iteration} of at most {limit}, {now - begun:.0f} s"
        print(
            f"\r{text} " if terminal else text,
            end="" if terminal else "\n",
            file=sys.stderr,
            flush=True,
        )

    return follow
