"""The command ``uncletc``: its subcommands, and how they end.

====  ============================================================================================
code  meaning
====  ============================================================================================
0     done
1     failed: a fit that broke off, data that are not here, a file that cannot be written
2     wrong use or bad input: an option, a table or a file of settings that cannot be understood
130   interrupted by Ctrl+C
====  ============================================================================================
"""

import argparse
import io
import os
import runpy
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from uncletc import datasets
from uncletc.common.serialization import atomic
from uncletc.data.counts import CountTensor
from uncletc.datasets import catalogue, fetch_all
from uncletc.datasets.base import Dataset, DataUnavailableError
from uncletc.fitting.fit import usual_rank
from uncletc.fitting.history import FitError, FitWarning, Iteration, UnreadableFitError
from uncletc.fitting.recipe import Recipe
from uncletc.fitting.settings import FitSettings
from uncletc.result.fit_result import Fit
from uncletc.tables import Columns, Guess, build, check_counts, guess, read_file
from uncletc.tables.types import CHECK

FIT, SETTINGS = "fit.npz", "settings.toml"
_RANKS = {"covid": 15}  # of data sets, without settings; those of pages
_OFTEN, _SELDOM = 0.1, 5.0  # seconds between lines of progress: on a terminal, in a log
_MB = 1_000_000
FAILED, BAD_INPUT, INTERRUPTED = 1, 2, 130
_NEEDED = ("plotly", "prometheus_client", "streamlit")
_PAGES = {"dashboard": "dashboard", "lessons": "dashboard.lab.sheets"}  # a command's module
_FORMATS = ("csv", "parquet", "netcdf")


def main(arguments: Sequence[str] | None = None) -> None:
    """Parse the command line and run the subcommand."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a console without λ
    options = read(arguments)
    if options.command in _PAGES:  # which say themselves what is wrong
        options.run(options)
        return
    with one_sentence(" ".join(filter(None, (options.command, options.action)))):
        options.run(options)


def read(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Parse the command line; the result's ``run`` is the subcommand."""
    parser = argparse.ArgumentParser(
        prog="uncletc", description="Under-counted tensor completion, explored in the browser."
    )
    parser.add_argument("--version", action="version", version=f"uncletc {version('uncletc')}")
    parser.set_defaults(action="")
    commands = parser.add_subparsers(dest="command", required=True)
    helps = {
        "dashboard": "serve the dashboard; `uncletc dashboard --help` says how",
        "lessons": "write the five lessons as HTML files, for a class without a server",
    }
    for command, said in helps.items():
        pages = commands.add_parser(command, help=said, add_help=False)
        pages.set_defaults(run=lambda options: run_pages(options.command, options.rest))
    _add_fit(commands)
    _add_report(commands)
    _add_data(commands)
    options, rest = parser.parse_known_args(arguments)
    if rest and options.command not in _PAGES:  # whose options are their own
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    options.rest = rest
    return options


def _add_table(parser: argparse.ArgumentParser) -> None:
    """Add the table and its settings to a parser."""
    parser.add_argument(
        "table", metavar="TABLE", help="a file, or covid, ppi, covid-twin or ppi-twin"
    )
    parser.add_argument(
        "--settings",
        type=Path,
        metavar="FILE",
        help="TOML, as the pages offer it (default: as the pages begin, with columns of a file "
        "guessed)",
    )


def _add_fit(commands: Any) -> None:
    parser = commands.add_parser(
        "fit",
        help="fit a table, write the estimates of every entry",
        description="Fit a table and write the estimates of every entry, the fit, and the settings "
        "with nothing left open. The numbers are those of the pages for the same settings. Exit "
        "codes: 0 done, 1 failed, 2 wrong use or bad input, 130 interrupted.",
    )
    _add_table(parser)
    parser.add_argument(
        "--surveys",
        type=Path,
        metavar="FILE",
        help="estimates of true numbers or of p with standard errors, a table with columns "
        "estimate, standard_error, maybe of (number or p), and modes of the table",
    )
    parser.add_argument(
        "--out", type=Path, metavar="FOLDER", help="where to write (default: uncletc-TABLE)"
    )
    parser.add_argument(
        "--format",
        nargs="+",
        choices=_FORMATS,
        default=["csv"],
        metavar="FORMAT",
        help=f"of the estimates, one or more of {', '.join(_FORMATS)} (default: csv)",
    )
    parser.add_argument(
        "--by", nargs="+", default=[], metavar="NAME", help="modes or groups to sum over, as totals"
    )
    parser.set_defaults(run=fit_table)


def _add_report(commands: Any) -> None:
    parser = commands.add_parser(
        "report",
        help="write a report of a fit as one HTML file",
        description="Write one HTML file, which needs nothing beside it: the data, the settings, "
        "what was found with figures and tables, and how to cite it. Of a folder that uncletc fit "
        "wrote nothing is fitted again. Exit codes as of uncletc fit.",
    )
    _add_table(parser)
    parser.add_argument(
        "--out",
        type=Path,
        metavar="FILE",
        help="the file to write (default: report.html, in the folder where TABLE is one)",
    )
    parser.add_argument(
        "--check",
        action="store_true",
        help="fit again without a fifth of the counts, and say how well these are predicted",
    )
    parser.set_defaults(run=write_report)


def _add_data(commands: Any) -> None:
    parser = commands.add_parser(
        "data",
        help="list or fetch the public files of data sets",
        description="Public files of the real data sets. Exit codes: 0 done; 1 a file could not be "
        "fetched; 2 wrong use.",
    )
    actions = parser.add_subparsers(dest="action", required=True)
    listed = actions.add_parser("list", help="data sets, their sources and licences, what is here")
    listed.set_defaults(run=list_sets)
    fetch = actions.add_parser("get", help="fetch the files of a data set, and verify them")
    fetch.add_argument("name", metavar="NAME", help="as uncletc data list calls it")
    fetch.set_defaults(run=fetch_set)


@contextmanager
def one_sentence(command: str) -> Iterator[None]:
    """Turn errors into one sentence on standard error, and an exit code."""
    try:
        yield
    except KeyboardInterrupt as error:
        sentence, code = str(error) or "interrupted", INTERRUPTED
    except (DataUnavailableError, FitError, ImportError) as error:
        sentence, code = str(error), FAILED
    except (UnreadableFitError, TypeError, ValueError) as error:
        sentence, code = str(error), BAD_INPUT
    except OSError as error:
        sentence = f"{error.filename or 'output'}: {error.strerror or error}"
        code = BAD_INPUT if isinstance(error, FileNotFoundError | IsADirectoryError) else FAILED
    else:
        return
    note(f"uncletc {command}: {' '.join(sentence.split())}")
    raise SystemExit(code)


def run_pages(command: str, options: Sequence[str]) -> None:
    """Serve the dashboard until interrupted, or write the lessons.

    Parameters
    ----------
    command : {"dashboard", "lessons"}
    options : sequence of str
        As on the command line; the pages read them.
    """
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        raise SystemExit(
            f"uncletc {command}: the pages need missing packages: {', '.join(missing)}; "
            'run pip install "uncletc[dashboard]"'
        )
    sys.argv = [f"uncletc {command}", *options]
    runpy.run_module(_PAGES[command], run_name="__main__", alter_sys=True)


def list_sets(_: argparse.Namespace) -> None:
    """Write each data set with its sources and licences, and whether its files are here."""
    for each in catalogue():
        where = "comes with the program"
        if each.files:
            here = "here" if each.here else f"not here; uncletc data get {each.name} fetches them"
            where = f"{each.files} files, {each.size / _MB:.0f} MB: {here}"
        print(f"{each.name}: {each.title} ({where})")
        for source in each.sources:
            print(f"  {source.name}, {source.url}, licence: {source.licence}; {source.used_for}")


def fetch_set(chosen: argparse.Namespace) -> None:
    """Fetch the files of a data set, with progress on standard error."""
    known = {each.name: each.files for each in catalogue()}
    if chosen.name not in known:
        raise ValueError(f"NAME must be one of {', '.join(known)}; got {chosen.name!r}")
    if not known[chosen.name]:
        raise ValueError(f"{chosen.name} comes with the program and has no files to fetch")
    fetch_all(chosen.name, progress=_progress)
    print(f"{chosen.name}: all files are here and verified")


def _progress(files: int, all_files: int, size: int, all_size: int) -> None:
    text = f"{files} of {all_files} files, {size / _MB:.1f} of {all_size / _MB:.1f} MB"
    begin, end = ("\r", "\n" if files == all_files else " ") if sys.stderr.isatty() else ("", "\n")
    note(begin + text, end)


def fit_table(chosen: argparse.Namespace) -> None:
    """Fit a table, and write the fit, its settings and its estimates."""
    from uncletc.estimates import FORMATS, defused, every_entry, totals, write
    from uncletc.report import headline

    folder = chosen.out or Path(f"uncletc-{Path(chosen.table).stem}")
    _check_writable(folder)
    found = fitted(chosen.table, chosen.settings, chosen.surveys, chosen.by)
    fit, scale = found.fit, found.recipe.anchor.scale(found.dataset.counts, found.fit)
    sums = {name: totals(found.dataset, fit, scale, by=name.split("+")) for name in chosen.by}
    folder.mkdir(parents=True, exist_ok=True)
    began = time.time() - 1
    keep(found, folder)
    estimates = every_entry(found.dataset, fit, scale)
    for kind in dict.fromkeys(chosen.format):
        write(estimates, folder / f"estimates{FORMATS[kind]}")
    for name, table in sums.items():
        path = folder / f"totals-{name.replace(' ', '-').replace('/', '-')}.csv"
        defused(table).to_csv(path, index=False, encoding="utf-8-sig")
    if fit.misfit:
        note(f"uncletc fit: a poor fit: {fit.misfit}")
    problems = check_counts(found.dataset) if found.recipe.columns else ()
    to_fix = [f"To fix: {each.sentence}" for each in problems if each.severity == "error"]
    print(repr(fit), *to_fix, *headline(found.dataset, fit, scale), sep="\n")
    now = sorted(path.name for path in folder.iterdir() if path.stat().st_mtime >= began)
    print(f"written to {folder}: {', '.join(now)}")
    if older := sorted({path.name for path in folder.iterdir()} - {*now}):
        print(f"older files, not of this fit: {', '.join(older)}")


def _check_writable(folder: Path) -> None:
    """Reject a folder that cannot be made or written to, before a fit that may take long."""
    there = next(each for each in (folder, *folder.absolute().parents) if each.exists())
    if not (there.is_dir() and os.access(there, os.W_OK)):
        raise ValueError(f"--out must be in a folder that can be written to; {there} is none")


def write_report(chosen: argparse.Namespace) -> None:
    """Write the report of a table, or of a folder that ``uncletc fit`` wrote."""
    from uncletc.report import held_out_words, report

    folder = Path(chosen.table)
    path = chosen.out or (folder / "report.html" if folder.is_dir() else Path("report.html"))
    _check_writable(path.parent)
    if path.is_dir():
        raise ValueError(f"--out must be a file; {path} is a folder")
    if folder.is_dir():
        if not all((folder / name).is_file() for name in (FIT, SETTINGS)):
            raise ValueError(f"{folder} is no folder that uncletc fit wrote")
        if chosen.settings is not None:
            raise ValueError("--settings must be left out for a folder, which has its own")
        found = saved(folder)
    else:
        found = fitted(chosen.table, chosen.settings)
    checked = held_out_words(found.dataset.counts, found.recipe.fit) if chosen.check else ""
    text = report(found.dataset, found.fit, found.recipe, checked=checked)
    with atomic(path) as file:
        file.write_text(text, encoding="utf-8")
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


def fitted(
    table: str, settings: Path | None, surveys: Path | None = None, by: Sequence[str] = ()
) -> Fitted:
    """Read a table, its settings and surveys, and fit, with progress on standard error."""
    from uncletc.estimates.totals import chosen_names

    stated = None if settings is None else Recipe.read(settings)
    loaded, columns = dataset_of(table, stated.columns if stated else None)
    given = stated or usual_recipe(loaded.counts, table)
    if surveys is not None:
        own = loaded.counts.with_surveys(read_file(surveys).frame.to_pandas()).surveys
        given = replace(given, surveys=own)
    chosen = replace(given.complete(loaded), table=table, columns=columns)
    dataset = chosen.prepared(loaded)
    for name in by:  # before a fit that may take long
        chosen_names(dataset, name.split("+"))
    note(f"{dataset.title}: {dataset.counts}")
    with warnings.catch_warnings(action="ignore", category=FitWarning):  # the summary says it
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
    table = found.recipe.table
    if table not in datasets.NAMES:
        table = Path(table).resolve().as_posix()
        with suppress(ValueError):  # on another drive
            table = Path(os.path.relpath(table, folder)).as_posix()
    text = replace(found.recipe, table=table).to_toml()
    with atomic(folder / FIT) as own, atomic(folder / SETTINGS) as settings:
        found.fit.save(own)
        settings.write_text(text, encoding="utf-8")


def usual_recipe(counts: CountTensor, table: str) -> Recipe:
    """Return the settings that pages begin with."""
    usual = usual_rank(counts, closed=bool(counts.closed_mode))
    rank = _RANKS.get(table.removesuffix("-twin"), usual)
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
    for each in raw.notes:  # they often say why the columns do not suit
        note(each)
    found = guess(raw)
    chosen = _guessed(found, raw.name) if columns is None else columns
    dataset = build(raw, chosen)
    for rule in dataset.provenance.rules[len(raw.notes) :]:  # whoever chose the columns
        note(rule)
    for finding in check_counts(dataset):
        if finding.severity != "info" and finding.kind != "reading":  # which rules have said
            begin = "To fix: " if finding.severity == "error" else CHECK
            note(f"{begin}{finding.sentence} {finding.advice}")
    about = dataset.provenance
    asked = found.questions if chosen == found.columns else ()
    return replace(dataset, provenance=replace(about, rules=(*about.rules, *asked))), chosen


def _guessed(found: Guess, name: str) -> Columns:
    """What the columns of a table seem to be, said on standard error."""
    for column, reason in found.reasons.items():
        note(f"{column}: {reason}")
    for question in found.questions:
        note(question)
    if not found.columns.count:
        raise ValueError(
            f"no column of {name} seems to hold counts; say which in a file of settings, "
            "in a section [columns] with modes and count"
        )
    return found.columns


def note(line: str, end: str = "\n") -> None:
    """Write a line to standard error."""
    print(line, end=end, file=sys.stderr, flush=True)


def progress(limit: int) -> Callable[[Iteration[Any]], None]:
    """Return a callback of a fit that says on standard error how far it is."""
    terminal = sys.stderr.isatty()
    begun = spoken = time.monotonic()

    def follow(record: Iteration[Any]) -> None:
        nonlocal spoken
        now = time.monotonic()
        if now - spoken < (_OFTEN if terminal else _SELDOM):
            return
        spoken = now  # the steps of a network come on top of the limit
        text = f"iteration {record.iteration} of about {limit} at most, {now - begun:.0f} s"
        note(f"\r{text} " if terminal else text, end="" if terminal else "\n")

    return follow


if __name__ == "__main__":
    main()
