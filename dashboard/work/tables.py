"""Read a reader's own file, and make counts of it: large ones in processes with limits.

A large or hostile file then takes neither the server's memory nor its time. Each process does one
task and ends. A small file takes less time than starting one, and is read within the server.
"""

from __future__ import annotations

import io
import sys
import threading
from collections.abc import Callable
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass
from subprocess import DEVNULL  # nosec B404
from time import monotonic
from typing import Any

import pandas as pd
import polars as pl
from pydantic import TypeAdapter

from dashboard.work.pool import Lost, Worker, receive, send
from uncletc import CountTensor, Role, Roles
from uncletc.datasets import AttributeInfo, Dataset, Provenance
from uncletc.tables import (
    Columns,
    Guess,
    RawTable,
    build,
    guess,
    read_file,
)

_QUICK = 2_000_000  # bytes of text that are read at once, which takes less than starting a process
_LONG_LINE = 4_000  # bytes of the first line, beyond which there may be very many columns
_MANY_COLUMNS = 300
_PACKED = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0", b"PAR1")
_LONGEST = 100  # characters of a name
_CODE = ("-m", "dashboard.work.tables")
_PROCESSES = ThreadPoolExecutor(2, "tables")  # of a server at once; others wait
_MOST_MEMORY = 3 << 30  # bytes that one may use
_MOST_SECONDS = 180.0
_HINT = "leave out columns, or sum rows first"

Answer = tuple[dict[str, Any], list[bytes]]
_INFOS = TypeAdapter(dict[str, AttributeInfo])
_PROVENANCE = TypeAdapter(Provenance)


@dataclass(frozen=True, eq=False, kw_only=True)
class TableFile:
    """A reader's own file, as it was read.

    Attributes
    ----------
    raw : RawTable
    guess : Guess
        What its columns seem to be.
    digest : str
        SHA-256: identifies the file.
    """

    raw: RawTable
    guess: Guess
    digest: str

    @property
    def name(self) -> str:
        """Of the file."""
        return self.raw.name


class Task:
    """A task under way in a process of its own.

    Parameters
    ----------
    task : {"read", "build"}
    name : str
        What the sentences of :meth:`result` begin with.
    message, *data
        What the function there is given.
    """

    def __init__(self, task: str, name: str, message: dict[str, Any], *data: bytes) -> None:
        self.name, self._cancelled = name, False
        self._worker = Worker(*_CODE, task, errors=DEVNULL)
        self._answer = _PROCESSES.submit(self._run, message, list(data))

    @property
    def ended(self) -> bool:
        """Whether there is an answer, or none will come."""
        return self._answer.done()

    def cancel(self) -> None:
        """End it; there will be no answer."""
        self._cancelled = True
        self._answer.cancel()
        self._worker.kill(for_good=True)  # it may be about to start

    def result(self) -> Answer:
        """Wait for the answer; a ValueError has a sentence that says why there is none."""
        try:
            return self._answer.result()
        except CancelledError:
            raise ValueError(f"{self.name} was not read: it was stopped") from None

    def _run(self, message: dict[str, Any], data: list[bytes]) -> Answer:
        began, clock = monotonic(), threading.Timer(_MOST_SECONDS, self._worker.kill)
        clock.start()
        try:
            found, files = self._worker.run(message, data, lambda *_: None)
        except Lost:
            if self._cancelled:
                raise CancelledError from None
            late = monotonic() - began >= _MOST_SECONDS
            most = (
                f"{_MOST_SECONDS / 60:.0f} minutes"
                if late
                else f"{_MOST_MEMORY >> 30} GB of memory"
            )
            needs = "takes" if late else "needs"
            raise ValueError(f"{self.name} {needs} more than {most}: {_HINT}") from None
        finally:
            clock.cancel()
            self._worker.close()
        if "error" in found:
            raise ValueError(found["error"])
        return found, files


def plain_name(name: str) -> str:
    r"""The name of a file as it may be shown and handed to a process: short, and printable.

    Examples
    --------
    >>> plain_name("../../counts\x00.csv")
    'counts�.csv'
    """
    last = name.replace("\\", "/").rpartition("/")[2]
    return "".join(each if each.isprintable() else "�" for each in last)[-_LONGEST:] or "the file"


def is_quick(data: bytes) -> bool:
    """Whether a file is text so small that it can be read at once, within the server."""
    small = len(data) <= _QUICK and not data.startswith(_PACKED)
    return small and len(data.split(b"\n", 1)[0]) <= _LONG_LINE


def read_table(data: bytes, name: str, waiting: Callable[[float], None]) -> tuple[RawTable, Guess]:
    """Read a file, and guess what its columns are: a large one in a process of its own.

    Parameters
    ----------
    data : bytes
    name : str
        Of the file, as :func:`plain_name` returns it.
    waiting : callable
        Called again and again while a process reads, with the seconds so far; what it raises ends
        the process.

    Raises
    ------
    ValueError
        One sentence that says why there is no table.
    """
    if is_quick(data):
        raw = read_file(data, name)
        return raw, guess(raw)
    task, began = Task("read", name, {"name": name}, data), monotonic()
    try:
        while not task.ended:
            waiting(monotonic() - began)
        message, (frame,) = task.result()
    finally:
        task.cancel()
    found = message["guess"]
    columns = Columns.from_dict(found["columns"])
    guessed = Guess(columns, dict(found["reasons"]), tuple(found["questions"]))
    return _raw_from(message | {"name": name}, frame), guessed


@dataclass(frozen=True, eq=False, kw_only=True)
class Built:
    """Counts of a table, or why there are none.

    Attributes
    ----------
    dataset : Dataset, optional
    error : str
        One sentence that says why there is no data set; empty where there is one.
    """

    dataset: Dataset | None = None
    error: str = ""


def build_counts(raw: RawTable, columns: Columns) -> Built:
    """Make counts of a table: a large one in a process of its own.

    Parameters
    ----------
    raw : RawTable
    columns : Columns
    """
    if raw.frame.estimated_size() <= _QUICK and raw.frame.width <= _MANY_COLUMNS:
        return _built(raw, columns)
    asked = {"name": raw.name, "notes": raw.notes, "columns": columns.as_dict()}
    try:
        words, files = Task("build", raw.name, asked, _as_bytes(raw.frame.write_ipc)).result()
    except ValueError as error:
        return Built(error=str(error))
    dataset = _dataset_from(words["dataset"], files) if files else None
    return Built(dataset=dataset, error=words["refused"])


def _built(raw: RawTable, columns: Columns) -> Built:
    try:
        return Built(dataset=build(raw, columns))
    except ValueError as error:
        return Built(error=str(error))


def _as_bytes(write: Any) -> bytes:
    """What something writes to a file."""
    file = io.BytesIO()
    write(file)
    return file.getvalue()


def _raw_from(message: dict[str, Any], frame: bytes) -> RawTable:
    return RawTable(message["name"], pl.read_ipc(io.BytesIO(frame)), tuple(message["notes"]))


def _as_files(dataset: Dataset) -> Answer:
    """Words and files of a data set of a table, of which :func:`_dataset_from` makes it again."""
    words = {
        "title": dataset.title,
        "modes": list(dataset.mode_tables),
        "provenance": _PROVENANCE.dump_python(dataset.provenance, mode="json"),
        "roles": [asdict(role) for role in dataset.roles],
        "info": _INFOS.dump_python(dict(dataset.attribute_info), mode="json"),
    }
    counts = _as_bytes(lambda file: dataset.counts.save(file, compressed=False))
    return words, [counts, *(_as_bytes(table.to_parquet) for table in dataset.mode_tables.values())]


def _dataset_from(words: dict[str, Any], files: list[bytes]) -> Dataset:
    counts, *modes = map(io.BytesIO, files)
    return Dataset(
        name="own",
        title=words["title"],
        counts=CountTensor.load(counts),
        mode_tables=dict(zip(words["modes"], map(pd.read_parquet, modes), strict=True)),
        provenance=_PROVENANCE.validate_python(words["provenance"]),
        roles=Roles(Role(**role) for role in words["roles"]),
        attribute_info=_INFOS.validate_python(words["info"]),
    )


def _read_here(message: dict[str, Any], data: bytes) -> Answer:
    """Read a file; return the table, and what its columns seem to be."""
    raw = read_file(io.BytesIO(data), message["name"])
    found = guess(raw)
    words = asdict(found) | {"columns": found.columns.as_dict()}
    return {"notes": raw.notes, "guess": words}, [_as_bytes(raw.frame.write_ipc)]


def _build_here(message: dict[str, Any], frame: bytes) -> Answer:
    """Make the counts that the server asks for."""
    found = _built(_raw_from(message, frame), Columns.from_dict(message["columns"]))
    words, files = ({}, []) if found.dataset is None else _as_files(found.dataset)
    return {"dataset": words, "refused": found.error}, files


def _limit_memory() -> None:
    """Bound the memory of this process, where the system can."""
    try:
        import resource
    except ImportError:  # not on Windows
        return
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_DATA, (_MOST_MEMORY, _MOST_MEMORY))


def main(task: str) -> None:
    """Do what the server sent to this process; a ValueError becomes one of :meth:`Task.result`."""
    _limit_memory()
    message, data = receive(sys.stdin.buffer)
    try:
        found, files = (_read_here if task == "read" else _build_here)(message, *data)
    except ValueError as error:
        found, files = {"error": str(error)}, []
    send(sys.stdout.buffer, {"end": task} | found, *files)


if __name__ == "__main__":
    main(sys.argv[1])
