"""From what a command line names to counts ready to fit, and to a fit."""

from __future__ import annotations

import os
import sys
import warnings
from dataclasses import dataclass, replace
from pathlib import Path

from uncletc import datasets
from uncletc.cli.saying import InputError, note, progress
from uncletc.datasets.base import Dataset
from uncletc.fitting.history import ConvergenceWarning, MisfitWarning
from uncletc.fitting.settings import FitSettings
from uncletc.io.recipe import Recipe
from uncletc.result.fit_result import Fit
from uncletc.tables import Columns, RawTable, build, check_counts, guess, read_file, with_entries

FIT, SETTINGS = "fit.npz", "settings.toml"
_RANKS = {"covid": 15}  # of data sets, without settings; those of pages
_RANK = 5


@dataclass(frozen=True, eq=False, kw_only=True)
class Fitted:
    """A fit, and what it was fitted to and with.

    Attributes
    ----------
    dataset : Dataset
        Its counts have the roles and looks of the fit.
    fit : Fit
    recipe : Recipe
        With nothing left open.
    """

    dataset: Dataset
    fit: Fit
    recipe: Recipe


def fitted(table: str, settings: Path | None) -> Fitted:
    """Read a table and its settings, and fit, with progress on standard error."""
    given = recipe_for(table, settings)
    loaded, columns = dataset_of(table, given.columns)
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


def kept(folder: Path, table: str | None) -> Fitted:
    """Read what ``uncletc fit`` left in a folder.

    Parameters
    ----------
    folder : Path
    table : str, optional
        Where its table is now. None: where the settings say.
    """
    recipe = Recipe.read(folder / SETTINGS)
    named = table or recipe.table
    if table is None and named not in datasets.NAMES:
        named = str(folder / named)
        if not Path(named).is_file():
            raise InputError(
                f"the table of {folder} is not at {named} any more; say where it is with --table"
            )
    dataset = recipe.prepared(dataset_of(named, recipe.columns)[0])
    fit = Fit.load(folder / FIT)
    if fit.counts_digest != dataset.counts.digest:
        raise InputError(f"the fit in {folder} is of other counts than those of {named}")
    return Fitted(dataset=dataset, fit=fit, recipe=recipe)


def is_kept(folder: str) -> bool:
    """Whether a folder holds what ``uncletc fit`` leaves."""
    return all((Path(folder) / name).is_file() for name in (FIT, SETTINGS))


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
            raise InputError(f"settings must have no [columns] for the data set {table}")
        return datasets.load(table), None
    path = Path(table)
    if not path.is_file():
        raise InputError(
            f"TABLE must be one of {', '.join(datasets.NAMES)}, or a file; got {table!r}"
        )
    raw = read_file(path)
    chosen = _guessed(raw) if columns is None else columns
    dataset = build(raw, chosen)
    if columns is None:
        _told(dataset)
    return replace(dataset, counts=with_entries(dataset.counts)), chosen


def _told(dataset: Dataset) -> None:
    """Say what was done with a table, and what to mend, on standard error."""
    for rule in dataset.provenance.rules:
        note(rule)
    for finding in check_counts(dataset):
        if finding.severity == "mend":
            note(f"To mend: {finding.sentence} {finding.advice}")


def _guessed(raw: RawTable) -> Columns:
    """What the columns of a table seem to be, said on standard error."""
    found = guess(raw)
    for name, reason in found.reasons.items():
        note(f"{name}: {reason}")
    for question in found.questions:
        note(question)
    if not found.columns.count:
        raise InputError(
            f"no column of {raw.name} seems to hold counts; say which in a file of settings, "
            "in a section [columns] with modes and count"
        )
    return found.columns
