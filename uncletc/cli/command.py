"""The command ``uncletc``."""

from __future__ import annotations

import argparse
import runpy
import sys
from collections.abc import Sequence
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from uncletc.cli import data, fit, report, search, tables

_NEEDED = ("optuna", "plotly", "streamlit")
_THIS_MACHINE = "127.0.0.1"
_EVERYWHERE = "0.0.0.0"


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
    dashboard = commands.add_parser("dashboard", help="serve the dashboard on this machine")
    dashboard.add_argument(
        "--port", type=_port, default=8501, help="port to listen on (default: 8501)"
    )
    dashboard.add_argument(
        "--host",
        default=_THIS_MACHINE,
        help=f"address to listen on (default: {_THIS_MACHINE}, for this machine only; "
        f"{_EVERYWHERE}: for anyone who can reach this machine)",
    )
    dashboard.set_defaults(run=lambda options: serve_dashboard(options.port, options.host))
    for each in (fit, report, data, search):
        each.add_command(commands)
    tables.add_command(commands)
    return parser.parse_args(arguments)


def serve_dashboard(port: int, host: str = _THIS_MACHINE) -> None:
    """Serve the dashboard until interrupted, by default only to browsers on this machine."""
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        raise SystemExit(
            f"uncletc dashboard: the pages need missing packages: {', '.join(missing)}; "
            'run pip install "uncletc[dashboard]"'
        )
    app = Path(__file__).resolve().parents[2] / "dashboard" / "app.py"
    shown = _THIS_MACHINE if host == _EVERYWHERE else host
    print(f"uncletc dashboard: http://{shown}:{port}  (Ctrl+C to stop)", flush=True)
    options = ["--server.address", host, "--server.port", str(port)]
    sys.argv = ["streamlit", "run", str(app), *options]
    runpy.run_module("streamlit", run_name="__main__", alter_sys=True)


def _port(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 65535:
        raise argparse.ArgumentTypeError(f"port must be a number from 1 to 65535, got {text!r}")
    return int(text)
