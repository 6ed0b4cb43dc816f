"""``uncletc fit``: from a table to estimates of every entry."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from uncletc.cli.saying import note, one_sentence, say

if TYPE_CHECKING:
    from uncletc.cli.reading import Fitted

_FORMATS = ("csv", "parquet", "netcdf")
_LIMIT = "the fit stopped at its limit of iterations; raise max_iter in the settings"


def add_command(commands: Any) -> None:
    """Add ``fit`` to the subcommands of ``uncletc``.

    Parameters
    ----------
    commands : argparse subparsers
    """
    parser = commands.add_parser(
        "fit",
        help="fit a table, write the estimates of every entry",
        description="Fit a table and write the estimates of every entry, the fit, and the settings "
        "with nothing left open. The numbers are those of the pages for the same settings. Exit "
        "codes: 0 done, 1 failed, 2 wrong use or bad input, 130 interrupted.",
    )
    add_table(parser)
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
    parser.set_defaults(run=run)


def add_table(parser: argparse.ArgumentParser) -> None:
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


def run(chosen: argparse.Namespace) -> None:
    """Fit, and write."""
    from uncletc.cli.reading import fitted, keep
    from uncletc.estimates import FORMATS, defused, every_entry, totals, write

    with one_sentence("fit"):
        found = fitted(chosen.table, chosen.settings)
        scale = found.recipe.anchor.scale(found.dataset.counts, found.fit)
        sums = {
            name: totals(found.dataset, found.fit, scale, by=name.split("+")) for name in chosen.by
        }
        folder = chosen.out or Path(f"uncletc-{Path(chosen.table).stem}")
        folder.mkdir(parents=True, exist_ok=True)
        keep(found, folder)
        estimates = every_entry(found.dataset, found.fit, scale)
        for kind in dict.fromkeys(chosen.format):
            write(estimates, folder / f"estimates{FORMATS[kind]}")
        for name, table in sums.items():
            path = folder / f"totals-{name.replace(' ', '-').replace('/', '-')}.csv"
            defused(table).to_csv(path, index=False, encoding="utf-8-sig")
        for line in summary(found):
            say(line)
        say(f"written to {folder}: {', '.join(sorted(path.name for path in folder.iterdir()))}")


def summary(found: Fitted) -> list[str]:
    """What a fit says in a few lines."""
    from uncletc.fitting.history import StopReason
    from uncletc.report import headline

    fit = found.fit
    scale = found.recipe.anchor.scale(found.dataset.counts, fit)
    lines = [repr(fit), *headline(found.dataset, fit, scale)]
    if fit.stop is StopReason.MAX_ITER:
        note(f"uncletc fit: {_LIMIT}")
    if fit.misfit:
        note(f"uncletc fit: a poor fit: {fit.misfit}")
    return lines
