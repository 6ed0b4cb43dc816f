"""The command ``uncletc``."""

from __future__ import annotations

import argparse
import runpy
import sys
from collections.abc import Sequence
from importlib.metadata import version
from importlib.util import find_spec

from uncletc.cli import data, fit, report, search

_NEEDED = ("optuna", "plotly", "prometheus_client", "streamlit")


def main(arguments: Sequence[str] | None = None) -> None:
    """Parse the command line and run the subcommand."""
    options = read(arguments)
    options.run(options)


def read(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Parse the command line; the result's ``run`` is the subcommand."""
    parser = argparse.ArgumentParser(
        prog="uncletc", description="Under-counted tensor completion, explored in the browser."
    )
    parser.add_argument("--version", action="version", version=f"uncletc {version('uncletc')}")
    commands = parser.add_subparsers(dest="command", required=True)
    dashboard = commands.add_parser(
        "dashboard", help="serve the dashboard; `uncletc dashboard --help` says how", add_help=False
    )
    dashboard.set_defaults(run=lambda options: serve_dashboard(options.rest))
    for each in (fit, report, data, search):
        each.add_command(commands)
    options, rest = parser.parse_known_args(arguments)
    if rest and options.command != "dashboard":  # whose options are its own
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    options.rest = rest
    return options


def serve_dashboard(options: Sequence[str]) -> None:
    """Serve the dashboard until interrupted, by default only to browsers on this machine.

    Parameters
    ----------
    options : sequence of str
        As on the command line; the dashboard reads them.
    """
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        raise SystemExit(
            f"uncletc dashboard: the pages need missing packages: {', '.join(missing)}; "
            'run pip install "uncletc[dashboard]"'
        )
    sys.argv = ["uncletc dashboard", *options]
    runpy.run_module("dashboard", run_name="__main__", alter_sys=True)
