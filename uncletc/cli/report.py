"""``uncletc report``: one page that tells what was fitted and what was found."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from uncletc.cli.fit import add_table
from uncletc.cli.saying import InputError, one_sentence, say


def add_command(commands: Any) -> None:
    """Add ``report`` to the subcommands of ``uncletc``.

    Parameters
    ----------
    commands : argparse subparsers
    """
    parser = commands.add_parser(
        "report",
        help="write a report of a fit as one HTML file",
        description="Write one HTML file, which needs nothing beside it: the data, the settings, "
        "what was found with figures and tables, and how to cite it. Of a folder that uncletc fit "
        "wrote nothing is fitted again. Exit codes as of uncletc fit.",
    )
    add_table(parser)
    parser.add_argument(
        "--table",
        dest="moved",
        metavar="FILE",
        help="where the table of a folder is now, if it was moved",
    )
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
    parser.set_defaults(run=run)


def run(chosen: argparse.Namespace) -> None:
    """Write the report."""
    from uncletc.cli.reading import fitted, is_kept, kept
    from uncletc.report import held_out_words, report

    with one_sentence("report"):
        folder = Path(chosen.table)
        if folder.is_dir():
            if not is_kept(chosen.table):
                raise InputError(f"{folder} is no folder that uncletc fit wrote")
            if chosen.settings is not None:
                raise InputError("--settings must be left out for a folder, which has its own")
            found = kept(folder, chosen.moved)
        else:
            found = fitted(chosen.table, chosen.settings)
        checked = held_out_words(found.dataset.counts, found.recipe.fit) if chosen.check else ""
        text = report(found.dataset, found.fit, found.recipe, checked=checked)
        path = chosen.out or (folder / "report.html" if folder.is_dir() else Path("report.html"))
        path.write_text(text, encoding="utf-8")
        say(str(path))
