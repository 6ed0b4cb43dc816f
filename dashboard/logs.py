"""Logs as lines of JSON, without what users uploaded or chose.

A line of this project's own loggers is what the code wrote. Of other packages' lines it has the
constant part alone, as ``"connection from %s"``, and an exception is its type and the places in the
code that it passed: messages of exceptions quote labels, file names and counts. What is added to a
line (``extra=``) is kept where it is a number, and of our own loggers where it is a word.
"""

import json
import logging
import sys
import threading
import traceback
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, TextIO

_OWN = ("dashboard", "uncletc")
_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "color_message"}
_CONSTANT = ("streamlit", "uvicorn", *_OWN)  # packages that put nothing into a line but by %s
_LONGEST = 200  # characters of one value
_FRAMES = 12  # the innermost


def entry(record: logging.LogRecord) -> dict[str, Any]:
    """What is written of a record: plain values by name."""
    package = record.name.split(".")[0]
    own = package in _OWN
    values: dict[str, Any] = {
        "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
        "level": record.levelname.lower(),
        "logger": record.name,
        "where": f"{Path(record.pathname).name}:{record.lineno}",
    }
    if own:
        values["message"] = record.getMessage()[:_LONGEST]
    elif record.args or package in _CONSTANT:
        values["message"] = str(record.msg).split("\n", 1)[0][:_LONGEST]
    for name, value in vars(record).items():
        if name in _STANDARD or name.startswith("_"):
            continue
        if isinstance(value, int | float) or (own and isinstance(value, str)):
            values[name] = value if not isinstance(value, str) else value[:_LONGEST]
    if record.exc_info and record.exc_info[0] is not None:
        values["error"] = record.exc_info[0].__name__
        frames = traceback.extract_tb(record.exc_info[2])[-_FRAMES:]
        values["passed"] = [f"{Path(at.filename).name}:{at.lineno} {at.name}" for at in frames]
    return values


class Lines(logging.Formatter):
    """Writes records as lines of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        return json.dumps(entry(record), ensure_ascii=True)


def start(level: str, stream: TextIO | None = None) -> None:
    """Log from now on.

    Parameters
    ----------
    level : {"debug", "info", "warning", "error"}
        What is below is left out.
    stream : text stream, optional
        Where lines go; without one, to standard error.
    """
    lines = logging.StreamHandler(stream)
    lines.setFormatter(Lines())
    lines.setLevel(level.upper())
    root = logging.getLogger()
    root.handlers = [lines]
    root.setLevel(level.upper())
    logging.captureWarnings(True)
    threading.excepthook = _thread_ended
    sys.excepthook = _ended


def take(logger: logging.Logger) -> None:
    """Make a logger that writes by itself, as some packages' do, leave its lines to ours."""
    logger.handlers.clear()
    logger.propagate = True


def _thread_ended(ended: threading.ExceptHookArgs) -> None:
    if ended.exc_value is not None and not isinstance(ended.exc_value, SystemExit):
        logging.getLogger(__name__).error("a thread ended", exc_info=ended.exc_value)


def _ended(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    if not issubclass(kind, KeyboardInterrupt):
        logging.getLogger(__name__).critical("the server ended", exc_info=(kind, error, trace))
