"""What commands say, and how they end: sentences on standard error, and exit codes.

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

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from uncletc.datasets.base import DataUnavailableError
from uncletc.fitting.history import FitError, Iteration, UnreadableFitError

FAILED, BAD_INPUT, INTERRUPTED = 1, 2, 130
_OFTEN, _SELDOM = 0.1, 5.0  # seconds between lines of progress: on a terminal, in a log


class InputError(ValueError):
    """What somebody gave cannot be understood; the message says why."""


@contextmanager
def one_sentence(command: str) -> Iterator[None]:
    """Turn errors into one sentence on standard error, and an exit code."""
    try:
        yield
    except KeyboardInterrupt:
        end(command, "interrupted", INTERRUPTED)
    except (DataUnavailableError, FitError) as error:
        end(command, str(error), FAILED)
    except (InputError, UnreadableFitError, TypeError, ValueError) as error:
        end(command, str(error), BAD_INPUT)
    except FileNotFoundError as error:
        end(command, str(error), BAD_INPUT)
    except OSError as error:
        end(command, f"{error.filename or 'a file'}: {error.strerror or error}", FAILED)


def end(command: str, sentence: str, code: int) -> None:
    """Say why a command ends, and end it."""
    note(f"uncletc {command}: {' '.join(sentence.split())}")
    raise SystemExit(code)


def note(line: str) -> None:
    """Write a line to standard error."""
    sys.stderr.write(line + "\n")
    sys.stderr.flush()


def say(line: str = "") -> None:
    """Write a line to standard output."""
    sys.stdout.write(line + "\n")


def progress(limit: int) -> Callable[[Iteration[Any]], None]:
    """Return a callback of a fit that says on standard error how far it is."""
    terminal = sys.stderr.isatty()
    begun = spoken = time.monotonic()

    def follow(record: Iteration[Any]) -> None:
        nonlocal spoken
        now = time.monotonic()
        if now - spoken < (_OFTEN if terminal else _SELDOM):
            return
        spoken = now
        text = f"iteration {record.iteration} of at most {limit}, {now - begun:.0f} s"
        sys.stderr.write(f"\r{text} " if terminal else f"{text}\n")
        sys.stderr.flush()

    return follow
