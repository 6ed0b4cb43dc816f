"""Read a reader's own file, and make counts of it, in processes with a limit on their memory.

A large or hostile file then takes neither the server's memory nor its time. A process is given
the file's name and its bytes, writes the table and what its columns seem to be, and ends:
:class:`Reading` is the server's side. Another is given the table and its columns, and writes the
counts: :func:`build_counts`.
"""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import tempfile
import threading
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from time import monotonic
from typing import Any

import pandas as pd
import polars as pl

from dashboard.work.table_files import guess_as_dict, guess_from
from dashboard.work.upload_limits import MOST_MEMORY, READERS, limit_memory, plain_name
from uncletc import CountTensor, Role, Roles
from uncletc.datasets import AttributeInfo, Dataset, Provenance, Source
from uncletc.tables import (
    Columns,
    Guess,
    ModeColumn,
    RawTable,
    build,
    guess,
    read_file,
    repeated_rows,
)

MOST_SECONDS = 180.0

_LOOKED_AFTER = 0.2  # seconds between two looks at whether it is still wanted, while it waits
_QUICK = 2_000_000  # bytes of text that are read at once, which takes less than starting a process
_LONG_LINE = 4_000  # bytes of the first line, beyond which there may be very many columns
_MANY_COLUMNS = 300
_CODE = ["-m", "dashboard.work.tables"]
_PACKED = (b"PK\x03\x04", b"PAR1")


def is_quick(data: bytes) -> bool:
    """Whether a file is text so small that it can be read at once, within the server."""
    small = len(data) <= _QUICK and not data.startswith(_PACKED)
    return small and len(data.split(b"\n", 1)[0]) <= _LONG_LINE


class Reading:
    """A file that is being read beside the server.

    Parameters
    ----------
    data : bytes
    name : str
        Of the file.

    Attributes
    ----------
    name : str
    digest : str
        What the caller knows it by.
    """

    def __init__(self, data: bytes, name: str, digest: str = "") -> None:
        self.name, self.digest = plain_name(name), digest
        self._began = monotonic()
        self._outcome: tuple[RawTable, Guess] | str | None = None
        self._cancelled = False
        self._folder = tempfile.TemporaryDirectory(prefix="uncletc-reading-")  # for this user only
        self._path = Path(self._folder.name) / "table.arrow"
        self._process: subprocess.Popen[bytes] | None = None
        self._thread = threading.Thread(target=self._follow, args=(data,), daemon=True)
        self._thread.start()

    @property
    def seconds(self) -> float:
        """How long it has taken so far."""
        return monotonic() - self._began

    @property
    def ended(self) -> bool:
        """Whether there is an outcome."""
        return not self._thread.is_alive()

    def table(self) -> tuple[RawTable, Guess]:
        """The table and what its columns seem to be, once it has ended.

        Raises
        ------
        ValueError
            One sentence that says why there is none.
        """
        self._thread.join()
        if isinstance(self._outcome, tuple):
            return self._outcome
        raise ValueError(self._outcome or f"{self.name} was not read")

    def cancel(self) -> None:
        """End it; there will be no table."""
        self._cancelled = True
        if self._process is not None:
            self._process.kill()

    def _follow(self, data: bytes) -> None:
        places = READERS  # the same to give back, whatever the name is of then
        try:
            while not places.acquire(timeout=_LOOKED_AFTER):
                if self._cancelled:
                    self._outcome = f"{self.name} was not read: it was stopped"
                    return
            try:
                self._read(data)
            finally:
                places.release()
        finally:
            self._folder.cleanup()

    def _read(self, data: bytes) -> None:
        process = self._process = _process("read", str(self._path), self.name)
        if self._cancelled:  # just now
            process.kill()
        try:
            said, _ = process.communicate(data, timeout=MOST_SECONDS)
            message = json.loads(said) if said else {}
            if "notes" in message:
                frame = pl.read_ipc(io.BytesIO(self._path.read_bytes()))
                raw = RawTable(self.name, frame, tuple(message["notes"]))
                self._outcome = (raw, guess_from(message["guess"]))
            else:
                stopped = f"{self.name} was not read: it was stopped"
                self._outcome = (
                    message.get("error")
                    or self._cancelled * stopped
                    or (
                        f"{self.name} needs more than {MOST_MEMORY >> 30} GB of memory: leave out "
                        "columns, or sum rows first"
                    )
                )
        except subprocess.TimeoutExpired:
            self._outcome = (
                f"{self.name} takes more than {MOST_SECONDS / 60:.0f} minutes to read: save it as "
                "Parquet or CSV, or leave out columns"
            )
        finally:
            with suppress(OSError):
                process.kill()
            process.wait()


@dataclass(frozen=True, eq=False, kw_only=True)
class Built:
    """Counts of a table, or why there are none.

    Attributes
    ----------
    dataset : Dataset, optional
    repeated : int
        How many rows name an entry that a row above names too, its levels as the file has them.
    error : str
        One sentence that says why there is no data set; empty where there is one.
    """

    dataset: Dataset | None = None
    repeated: int = 0
    error: str = ""


def build_counts(raw: RawTable, columns: Columns) -> Built:
    """Make counts of a table: a large one in a process of its own.

    Rows that name the same entry only because levels stand for several dates or numbers are summed,
    whatever `columns` say of rows that repeat.

    Parameters
    ----------
    raw : RawTable
    columns : Columns
    """
    if raw.frame.estimated_size() <= _QUICK and raw.frame.width <= _MANY_COLUMNS:
        return _built(raw, columns)
    with tempfile.TemporaryDirectory(prefix="uncletc-building-") as folder, READERS:
        raw.frame.write_ipc(Path(folder) / "raw.arrow")
        asked = {"name": raw.name, "notes": raw.notes, "columns": columns.as_dict()}
        process = _process("build", folder)
        try:
            answer, _ = process.communicate(json.dumps(asked).encode(), timeout=MOST_SECONDS)
        except subprocess.TimeoutExpired:
            return Built(error=f"they take more than {MOST_SECONDS / 60:.0f} minutes")
        finally:
            process.kill()
            process.wait()
        if not answer:
            return Built(error=f"they need more than {MOST_MEMORY >> 30} GB of memory")
        message = json.loads(answer)
        dataset = _load_dataset(Path(folder), message["dataset"]) if message["dataset"] else None
        return Built(dataset=dataset, repeated=message["repeated"], error=message["error"])


def _built(raw: RawTable, columns: Columns) -> Built:
    repeated = 0
    with suppress(ValueError):  # too many levels as they stand: only coarser ones can be used
        repeated = repeated_rows(raw, _as_in_file(columns))
    try:
        rows = columns if repeated else replace(columns, duplicates="sum")
        return Built(dataset=build(raw, rows), repeated=repeated)
    except ValueError as error:
        return Built(repeated=repeated, error=str(error))


def _as_in_file(columns: Columns) -> Columns:
    """The same modes with their levels as they stand in the file, and nothing else."""
    across = columns.across_mode
    return Columns(
        modes=tuple(ModeColumn(column=each.column) for each in columns.modes),
        count=columns.count,
        across=columns.across,
        across_mode=None if across is None else ModeColumn(column=across.column),
    )


def _save_dataset(dataset: Dataset, folder: Path) -> dict[str, Any]:
    """Write a data set of a table as arrays and Parquet, and return its words."""
    dataset.counts.save(folder / "counts.npz")
    dataset.table.to_parquet(folder / "table.parquet")
    for number, table in enumerate(dataset.mode_tables.values()):
        table.to_parquet(folder / f"mode-{number}.parquet")
    return {
        "title": dataset.title,
        "modes": list(dataset.mode_tables),
        "provenance": asdict(dataset.provenance),
        "roles": [asdict(role) for role in dataset.roles],
        "info": {name: asdict(info) for name, info in dataset.attribute_info.items()},
    }


def _load_dataset(folder: Path, words: dict[str, Any]) -> Dataset:
    about, infos = words["provenance"], words["info"]
    about["sources"] = tuple(Source(**source) for source in about["sources"])
    about["rules"] = tuple(about["rules"])
    return Dataset(
        name="own",
        title=words["title"],
        counts=CountTensor.load(folder / "counts.npz"),
        table=pd.read_parquet(folder / "table.parquet"),
        mode_tables={
            mode: pd.read_parquet(folder / f"mode-{number}.parquet")
            for number, mode in enumerate(words["modes"])
        },
        provenance=Provenance(**about),
        roles=Roles(Role(**role) for role in words["roles"]),
        attribute_info={
            name: AttributeInfo(**(info | {"levels": tuple(info["levels"])}))
            for name, info in infos.items()
        },
    )


def _process(*arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, *_CODE, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=Path(__file__).resolve().parents[2],
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    )


def _read_here(path: str, name: str) -> dict[str, Any]:
    """Read what stands on the input, write the table to `path`, and return what it seems to be."""
    try:
        raw = read_file(io.BytesIO(sys.stdin.buffer.read()), name)
        raw.frame.write_ipc(path)
        return {"notes": raw.notes, "guess": guess_as_dict(guess(raw))}
    except ValueError as error:
        return {"error": str(error)}


def _build_here(folder: str) -> dict[str, Any]:
    """Make the counts that the input asks for, and write them to a folder."""
    asked = json.load(sys.stdin)
    frame = pl.read_ipc(io.BytesIO((Path(folder) / "raw.arrow").read_bytes()))
    raw = RawTable(asked["name"], frame, tuple(asked["notes"]))
    found = _built(raw, Columns.from_dict(asked["columns"]))
    words = None if found.dataset is None else _save_dataset(found.dataset, Path(folder))
    return {"dataset": words, "repeated": found.repeated, "error": found.error}


def main(task: str, *arguments: str) -> None:
    """Do a task of this module within the limit of memory, and print its answer."""
    limit_memory()
    answer = _read_here(*arguments) if task == "read" else _build_here(*arguments)
    sys.stdout.write(json.dumps(answer))


if __name__ == "__main__":
    main(*sys.argv[1:])
