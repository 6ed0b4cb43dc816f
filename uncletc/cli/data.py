"""``uncletc data``: which data sets there are, and fetching them."""

from __future__ import annotations

import argparse
import sys

from uncletc.datasets import catalogue, fetch_all

_MB = 1_000_000


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


def get(chosen: argparse.Namespace) -> None:
    """Fetch the files of a data set, with progress on standard error."""
    fetch_all(_with_files(chosen.name), progress=_progress)
    print(f"{chosen.name}: all files are here and verified")


def _with_files(name: str) -> str:
    known = {each.name: each.files for each in catalogue()}
    if name not in known:
        raise ValueError(f"NAME must be one of {', '.join(known)}; got {name!r}")
    if not known[name]:
        raise ValueError(f"{name} comes with the program and has no files to fetch")
    return name


def _progress(files: int, all_files: int, size: int, all_size: int) -> None:
    text = f"{files} of {all_files} files, {size / _MB:.1f} of {all_size / _MB:.1f} MB"
    begin, end = ("\r", "\n" if files == all_files else " ") if sys.stderr.isatty() else ("", "\n")
    print(begin + text, end=end, file=sys.stderr, flush=True)
