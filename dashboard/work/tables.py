"""Read a reader's own file, and make counts of it: large ones in processes with limits.

A large or hostile file then takes neither the server's memory nor its time. Each process does one
task and ends. A small file takes less time than starting one, and is read within the server.
"""

import io
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from subprocess import DEVNULL
from time import monotonic, sleep
from typing import Any

import pandas as pd
import polars as pl
from pydantic import TypeAdapter

from dashboard.work.pool import Lost, Worker
from dashboard.work.wire import as_bytes, receive, send
from uncletc import CountTensor, Role, Roles
from uncletc.datasets import AttributeInfo, Dataset, Provenance
from uncletc.tables import Columns, Guess, RawTable, build, guess, read_file

_QUICK = 2_000_000  # bytes of text that are read at once, which takes less than starting a process
_LONG_LINE = 4_000  # bytes of the first line, beyond which there may be very many columns
_MANY_COLUMNS = 300
_PACKED = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0", b"PAR1")
_LONGEST = 100  # characters of a name
_CODE = ("-m", "dashboard.work.tables")
_PROCESSES = ThreadPoolExecutor(2, "tables")  # of a server at once; others wait
_MOST_MEMORY = 3 << 30  # bytes that one may use
_MOST_SECONDS = 180.0
_POLL = 0.05  # seconds between two looks at a process
_GUESSED = "Guessed from the name and values of the column."
_STATED = "Stated by the owner of the table."
_HINT = "leave out columns, or sum rows first"

Answer = tuple[dict[str, Any], list[bytes]]
_GUESS, _PROVENANCE = TypeAdapter(Guess), TypeAdapter(Provenance)
_INFOS = TypeAdapter(dict[str, AttributeInfo])


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


def _beside(
    task: str,
    name: str,
    message: dict[str, Any],
    *data: bytes,
    waiting: Callable[[float], None] = lambda _: sleep(_POLL),
) -> Answer:
    """Have a task done in a process of its own, with limits.

    Parameters
    ----------
    task : {"read", "build"}
    name : str
        Of the table; sentences of errors begin with it.
    message, *data
        What the function there is given.
    waiting : callable
        Called again and again, with the seconds so far; what it raises ends the process.

    Raises
    ------
    ValueError
        One sentence that says why there is no answer.
    """
    worker = Worker(*_CODE, task, errors=DEVNULL)
    answer = _PROCESSES.submit(worker.run, message, list(data), lambda *_: None)
    began = start = monotonic()
    try:
        while not answer.done():
            waiting(monotonic() - began)
            if not answer.running():
                start = monotonic()
            elif monotonic() - start > _MOST_SECONDS:
                most = f"{_MOST_SECONDS / 60:.0f} minutes"
                raise ValueError(f"{name} takes more than {most}: {_HINT}")
        found, files = answer.result()
    except Lost:
        most = f"{_MOST_MEMORY >> 30} GB of memory"
        raise ValueError(f"{name} needs more than {most}: {_HINT}") from None
    finally:
        answer.cancel()
        worker.kill(for_good=True)  # it may be about to start
        worker.close()
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
    found, (frame,) = _beside("read", name, {"name": name}, data, waiting=waiting)
    return _raw_from(found | {"name": name}, frame), _GUESS.validate_python(found["guess"])


def build_counts(file: TableFile, columns: Columns) -> Dataset:
    """Make counts of a table; roles say whether they are as they were guessed.

    Parameters
    ----------
    file : TableFile
    columns : Columns

    Raises
    ------
    ValueError
        One sentence that says why there is no data set.
    """
    dataset, guessed = _built(file.raw, columns), file.guess.columns.attributes
    names = {each.column for each in columns.attributes if each in guessed}
    roles = []
    for role in dataset.roles:
        of_column = names & {role.attribute, role.attribute.rpartition(": ")[0]}  # or a category's
        roles.append(replace(role, reason=_GUESSED if of_column else _STATED))
    return replace(dataset, roles=Roles(roles))


def _built(raw: RawTable, columns: Columns) -> Dataset:
    """Make counts of a table: a large one in a process of its own."""
    if raw.frame.estimated_size() <= _QUICK and raw.frame.width <= _MANY_COLUMNS:
        return build(raw, columns)
    asked = {"name": raw.name, "notes": raw.notes, "columns": columns.as_dict()}
    words, files = _beside("build", raw.name, asked, as_bytes(raw.frame.write_ipc))
    return _dataset_from(words, files)


def _raw_from(message: dict[str, Any], frame: bytes) -> RawTable:
    return RawTable(message["name"], pl.read_ipc(io.BytesIO(frame)), tuple(message["notes"]))


def _build_here(message: dict[str, Any], frame: bytes) -> Answer:
    """Make the counts that the server asks for; what is returned is for :func:`_dataset_from`."""
    dataset = build(_raw_from(message, frame), Columns.from_dict(message["columns"]))
    words = {
        "title": dataset.title,
        "modes": list(dataset.mode_tables),
        "provenance": _PROVENANCE.dump_python(dataset.provenance, mode="json"),
        "roles": [asdict(role) for role in dataset.roles],
        "effects": dict(dataset.effects),
        "info": _INFOS.dump_python(dict(dataset.attribute_info), mode="json"),
    }
    counts = as_bytes(dataset.counts.save, compressed=False)
    return words, [counts, *(as_bytes(table.to_parquet) for table in dataset.mode_tables.values())]


def _dataset_from(words: dict[str, Any], files: list[bytes]) -> Dataset:
    counts, *modes = map(io.BytesIO, files)
    return Dataset(
        name="own",
        title=words["title"],
        counts=CountTensor.load(counts),
        mode_tables=dict(zip(words["modes"], map(pd.read_parquet, modes), strict=True)),
        provenance=_PROVENANCE.validate_python(words["provenance"]),
        roles=Roles(Role(**role) for role in words["roles"]),
        effects=words["effects"],
        attribute_info=_INFOS.validate_python(words["info"]),
    )


def _read_here(message: dict[str, Any], data: bytes) -> Answer:
    """Read a file; return the table, and what its columns seem to be."""
    raw = read_file(io.BytesIO(data), message["name"])
    guessed = _GUESS.dump_python(guess(raw), mode="json")
    return {"notes": raw.notes, "guess": guessed}, [as_bytes(raw.frame.write_ipc)]


def _limit_memory() -> None:
    """Bound the memory of this process, where the system can."""
    try:
        import resource
    except ImportError:  # not on Windows
        return
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_DATA, (_MOST_MEMORY, _MOST_MEMORY))


def main(task: str) -> None:
    """Do what the server sent to this process; a ValueError becomes one there."""
    _limit_memory()
    message, data = receive(sys.stdin.buffer)
    try:
        found, files = (_read_here if task == "read" else _build_here)(message, *data)
    except ValueError as error:
        found, files = {"error": str(error)}, []
    send(sys.stdout.buffer, {"end": task} | found, *files)


if __name__ == "__main__":
    main(sys.argv[1])
