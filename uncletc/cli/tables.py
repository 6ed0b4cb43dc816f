"""``uncletc tables``: rerun the paper's tables and figures."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

FULL, QUICK = Path("uncletc-tables"), Path("uncletc-tables-quick")
QUICK_TRIALS = 2
_REAL = "real"


def add_command(commands: Any) -> None:
    """Add ``tables`` to the subcommands of ``uncletc``.

    Parameters
    ----------
    commands : argparse subparsers
    """
    from uncletc.paper.tables.definitions import FIGURES, TABLES

    parts = [*TABLES, *FIGURES, _REAL]
    parser = commands.add_parser(
        "tables",
        help="rerun the paper's tables and figures",
        description="Rerun the simulations of the paper's tables and figures, and set the results "
        "beside its own numbers. Finished trials are kept, so that the same command resumes where "
        "it stopped.",
    )
    parser.add_argument(
        "--quick", action="store_true", help=f"{QUICK_TRIALS} trials per cell; takes a few minutes"
    )
    parser.add_argument(
        "--only",
        nargs="+",
        choices=parts,
        metavar="PART",
        help=f"run only these: {', '.join(parts)}",
    )
    parser.add_argument(
        "--real", action="store_true", help="include real counts that are available here"
    )
    parser.add_argument(
        "--trials", type=_positive, help="trials per cell (default: 20, as in the paper)"
    )
    parser.add_argument("--jobs", type=_positive, default=2, help="processes (default: 2)")
    parser.add_argument(
        "--out", type=Path, help=f"folder of the results (default: {FULL}, or {QUICK} with --quick)"
    )
    parser.add_argument(
        "--report-only", action="store_true", help="run nothing; summarise the trials in the folder"
    )
    parser.set_defaults(run=run)


def run(chosen: argparse.Namespace) -> None:
    """Do what the command line asks."""
    from uncletc.paper.tables.pictures import draw
    from uncletc.paper.tables.report import write_report

    folder = chosen.out or (QUICK if chosen.quick else FULL)
    try:
        if not chosen.report_only:
            _run_parts(chosen, folder)
        report = write_report(folder)
    except (FileNotFoundError, ValueError) as error:
        raise SystemExit(f"uncletc tables: {error}") from error
    except KeyboardInterrupt:
        raise SystemExit(
            "uncletc tables: stopped; finished trials are kept, and the same command resumes"
        ) from None
    try:
        draw(folder)
    except ModuleNotFoundError as error:
        _notify(str(error))
    sys.stdout.write(f"{report}\n")


def _run_parts(chosen: argparse.Namespace, folder: Path) -> None:
    from uncletc.paper.tables.definitions import FIGURES, TABLES
    from uncletc.paper.tables.real import MEMBERS, run_real
    from uncletc.paper.tables.report import note_machine
    from uncletc.paper.tables.runner import chosen_tables, run_tables

    names = chosen.only or [*TABLES, *FIGURES]
    trials = chosen.trials or (QUICK_TRIALS if chosen.quick else None)
    note_machine(folder)
    run_tables(
        chosen_tables([name for name in names if name != _REAL]),
        folder,
        trials=trials,
        jobs=chosen.jobs,
        say=_notify,
    )
    if not (chosen.real or _REAL in names):
        return
    if chosen.quick:
        run_real(folder, kinds=("entry",), folds=1, jobs=chosen.jobs, say=_notify)
        return
    run_real(folder, jobs=chosen.jobs, say=_notify)
    run_real(
        folder, data=("covid",), kinds=("entry",), methods=(MEMBERS,), jobs=chosen.jobs, say=_notify
    )


def _notify(line: str) -> None:
    sys.stderr.write(line + "\n")
    sys.stderr.flush()


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number of at least 1, got {text!r}")
    return int(text)
