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

from __future__ import annotations

import argparse
import runpy
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from uncletc.cli import data, fitting
from uncletc.datasets.base import DataUnavailableError
from uncletc.fitting.history import FitError, UnreadableFitError

FAILED, BAD_INPUT, INTERRUPTED = 1, 2, 130
_NEEDED = ("plotly", "prometheus_client", "streamlit")
_PAGES = {"dashboard": "dashboard", "lessons": "dashboard.lab.sheets"}  # a command's module
_FORMATS = ("csv", "parquet", "netcdf")


def main(arguments: Sequence[str] | None = None) -> None:
    """Parse the command line and run the subcommand."""
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
    parser.set_defaults(run=fitting.fit_table)


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
    parser.set_defaults(run=fitting.write_report)


def _add_data(commands: Any) -> None:
    parser = commands.add_parser(
        "data",
        help="list or fetch the public files of data sets",
        description="Public files of the real data sets. Exit codes: 0 done; 1 a file could not be "
        "fetched; 2 wrong use.",
    )
    actions = parser.add_subparsers(dest="action", required=True)
    listed = actions.add_parser("list", help="data sets, their sources and licences, what is here")
    listed.set_defaults(run=data.list_sets)
    get = actions.add_parser("get", help="fetch the files of a data set, and verify them")
    get.add_argument("name", metavar="NAME", help="as uncletc data list calls it")
    get.set_defaults(run=data.get)


@contextmanager
def one_sentence(command: str) -> Iterator[None]:
    """Turn errors into one sentence on standard error, and an exit code."""
    try:
        yield
    except KeyboardInterrupt as error:
        sentence, code = str(error) or "interrupted", INTERRUPTED
    except (DataUnavailableError, FitError, ImportError) as error:
        sentence, code = str(error), FAILED
    except (UnreadableFitError, TypeError, ValueError, FileNotFoundError) as error:
        sentence, code = str(error), BAD_INPUT
    except OSError as error:
        sentence, code = f"{error.filename or 'a file'}: {error.strerror or error}", FAILED
    else:
        return
    fitting.note(f"uncletc {command}: {' '.join(sentence.split())}")
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
