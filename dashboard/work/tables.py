"""Read a reader's own file, and make counts of it: large ones in processes with limits.

A small one takes less time than starting a process, and is read within the server.
"""

from __future__ import annotations

import io
import sys
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from typing import Any

import pandas as pd
import polars as pl

from dashboard.work.limited import Answer, Task, answer, plain_name
from dashboard.work.table_files import guess_as_dict, guess_from
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

_QUICK = 2_000_000  # bytes of text that are read at once, which takes less than starting a process
_LONG_LINE = 4_000  # bytes of the first line, beyond which there may be very many columns
_MANY_COLUMNS = 300
_CODE = ("-m", "dashboard.work.tables")
_PACKED = (b"PK\x03\x04", b"PAR1")


def is_quick(data: bytes) -> bool:
    """Whether a file is text so small that it can be read at once, within the server."""
    small = len(data) <= _QUICK and not data.startswith(_PACKED)
    return small and len(data.split(b"\n", 1)[0]) <= _LONG_LINE


class Reading(Task):
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
        super().__init__((*_CODE, "read"), self.name, {"name": self.name}, data)

    def table(self) -> tuple[RawTable, Guess]:
        """The table and what its columns seem to be, once it has ended.

        Raises
        ------
        ValueError
            One sentence that says why there is none.
        """
        message, (frame,) = self.result()
        return _raw_from(message | {"name": self.name}, frame), guess_from(message["guess"])


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
    asked = {"name": raw.name, "notes": raw.notes, "columns": columns.as_dict()}
    try:
        words, files = Task(
            (*_CODE, "build"), raw.name, asked, _as_bytes(raw.frame.write_ipc)
        ).result()
    except ValueError as error:
        return Built(error=str(error))
    dataset = _dataset_from(words["dataset"], files) if files else None
    return Built(dataset=dataset, repeated=words["repeated"], error=words["refused"])


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
        "provenance": asdict(dataset.provenance),
        "roles": [asdict(role) for role in dataset.roles],
        "info": {name: asdict(info) for name, info in dataset.attribute_info.items()},
    }
    counts = _as_bytes(lambda file: dataset.counts.save(file, compressed=False))
    return words, [counts, *(_as_bytes(table.to_parquet) for table in dataset.mode_tables.values())]


def _dataset_from(words: dict[str, Any], files: list[bytes]) -> Dataset:
    about, infos = words["provenance"], words["info"]
    about["sources"] = tuple(Source(**source) for source in about["sources"])
    about["rules"] = tuple(about["rules"])
    counts, *modes = map(io.BytesIO, files)
    return Dataset(
        name="own",
        title=words["title"],
        counts=CountTensor.load(counts),
        mode_tables=dict(zip(words["modes"], map(pd.read_parquet, modes), strict=True)),
        provenance=Provenance(**about),
        roles=Roles(Role(**role) for role in words["roles"]),
        attribute_info={
            name: AttributeInfo(**(info | {"levels": tuple(info["levels"])}))
            for name, info in infos.items()
        },
    )


def _read_here(message: dict[str, Any], data: bytes) -> Answer:
    """Read a file; return the table, and what its columns seem to be."""
    raw = read_file(io.BytesIO(data), message["name"])
    found = {"notes": raw.notes, "guess": guess_as_dict(guess(raw))}
    return found, [_as_bytes(raw.frame.write_ipc)]


def _build_here(message: dict[str, Any], frame: bytes) -> Answer:
    """Make the counts that the server asks for."""
    found = _built(_raw_from(message, frame), Columns.from_dict(message["columns"]))
    words, files = ({}, []) if found.dataset is None else _as_files(found.dataset)
    return {"dataset": words, "repeated": found.repeated, "refused": found.error}, files


if __name__ == "__main__":
    answer(_read_here if sys.argv[1] == "read" else _build_here)
