"""``uncletc data``: which data sets there are, fetching them, and checking them."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from uncletc.cli.saying import FAILED, InputError, note, one_sentence, say

_MB = 1_000_000


def add_command(commands: Any) -> None:
    """Add ``data`` to the subcommands of ``uncletc``.

    Parameters
    ----------
    commands : argparse subparsers
    """
    parser = commands.add_parser(
        "data",
        help="list, fetch or check the public files of data sets",
        description="Public files of the real data sets. Exit codes: 0 done, and with check all "
        "files are right; 1 a file is missing, wrong or could not be fetched; 2 wrong use.",
    )
    actions = parser.add_subparsers(dest="action", required=True)
    actions.add_parser("list", help="data sets, their sources and licences, and what is here")
    get = actions.add_parser("get", help="fetch the files of a data set, and verify them")
    get.add_argument("name", metavar="NAME", help="as uncletc data list calls it")
    check = actions.add_parser("check", help="verify the files that are here by their checksums")
    check.add_argument("name", metavar="NAME", nargs="?", help="(default: all that are here)")
    parser.set_defaults(run=run)


def run(chosen: argparse.Namespace) -> None:
    """Do what the command line asks."""
    with one_sentence(f"data {chosen.action}"):
        {"list": _list, "get": _get, "check": _check}[chosen.action](chosen)


def _list(_: argparse.Namespace) -> None:
    from uncletc.datasets import catalogue

    for each in catalogue():
        if not each.files:
            where = "comes with the program"
        else:
            here = "here" if each.here else f"not here; uncletc data get {each.name} fetches them"
            where = f"{each.files} files, {each.size / _MB:.0f} MB: {here}"
        say(f"{each.name}: {each.title} ({where})")
        for source in each.sources:
            say(f"  {source.name}, {source.url}, licence: {source.licence}; {source.used_for}")


def _get(chosen: argparse.Namespace) -> None:
    from uncletc.datasets import fetch_all

    _with_files(chosen.name)
    fetch_all(chosen.name, progress=_report)
    say(f"{chosen.name}: all files are here and verified")


def _check(chosen: argparse.Namespace) -> None:
    from uncletc.datasets import available, catalogue, problems

    if chosen.name is not None:
        names = [_with_files(chosen.name)]
    else:
        names = [each.name for each in catalogue() if each.files and available(each.name)]
        if not names:
            say("no files of data sets are here; uncletc data list says which there are")
    wrong = False
    for name in names:
        found = problems(name)
        wrong = wrong or bool(found)
        for path, problem in found.items():
            note(f"{path}: {problem}")
        say(f"{name}: {f'{len(found)} files are missing or wrong' if found else 'all right'}")
    if wrong:
        raise SystemExit(FAILED)


def _with_files(name: str) -> str:
    from uncletc.datasets import catalogue

    known = {each.name: each.files for each in catalogue()}
    if name not in known:
        raise InputError(f"NAME must be one of {', '.join(known)}; got {name!r}")
    if not known[name]:
        raise InputError(f"{name} comes with the program and has no files to fetch or check")
    return name


def _report(files: int, all_files: int, size: int, all_size: int) -> None:
    text = f"{files} of {all_files} files, {size / _MB:.1f} of {all_size / _MB:.1f} MB"
    sys.stderr.write(f"\r{text} " if sys.stderr.isatty() else f"{text}\n")
    if files == all_files and sys.stderr.isatty():
        note("")
