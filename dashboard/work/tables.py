"""Read a reader's own file in a process of its own, with a limit on its memory.

A large or hostile file then takes neither the server's memory nor its time. The process is given
the file's name and its bytes, writes the table and what its columns seem to be, and ends;
:class:`Reading` is the server's side.
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
from pathlib import Path
from time import monotonic

import polars as pl

from dashboard.work.brought import MOST_MEMORY, READERS, limit_memory, plain_name
from uncletc.tables import Columns, Guess, RawTable, guess, read_file

MOST_SECONDS = 180.0

_LOOKED_AFTER = 0.2  # seconds between two looks at whether it is still wanted, while it waits
_QUICK = 2_000_000  # bytes of text that are read at once, which takes less than starting a process
_CODE = ["-m", "dashboard.work.tables"]
_PACKED = (b"PK\x03\x04", b"PAR1")


def is_quick(data: bytes) -> bool:
    """Whether a file is text so small that it can be read at once, within the server."""
    return len(data) <= _QUICK and not data.startswith(_PACKED)


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
        try:
            while not READERS.acquire(timeout=_LOOKED_AFTER):
                if self._cancelled:
                    self._outcome = f"{self.name} was not read: it was stopped"
                    return
            try:
                self._read(data)
            finally:
                READERS.release()
        finally:
            self._folder.cleanup()

    def _read(self, data: bytes) -> None:
        process = self._process = subprocess.Popen(
            [sys.executable, *_CODE, str(self._path), self.name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=Path(__file__).resolve().parents[2],
            env=os.environ | {"OMP_NUM_THREADS": "1"},
        )
        if self._cancelled:  # just now
            process.kill()
        try:
            said, _ = process.communicate(data, timeout=MOST_SECONDS)
            message = json.loads(said) if said else {}
            if "notes" in message:
                frame = pl.read_ipc(io.BytesIO(self._path.read_bytes()))
                raw = RawTable(self.name, frame, tuple(message["notes"]))
                columns = Columns.from_dict(message["columns"])
                questions = tuple(message["questions"])
                self._outcome = (raw, Guess(columns, message["reasons"], questions))
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


def main(path: str, name: str) -> None:
    """Read what stands on the input, write the table to `path`, and say how it went."""
    limit_memory()
    try:
        raw = read_file(io.BytesIO(sys.stdin.buffer.read()), name)
        raw.frame.write_ipc(path)
        found = guess(raw)
        message: dict[str, object] = {
            "notes": raw.notes,
            "columns": found.columns.as_dict(),
            "reasons": found.reasons,
            "questions": found.questions,
        }
    except ValueError as error:
        message = {"error": str(error)}
    sys.stdout.write(json.dumps(message))


if __name__ == "__main__":
    main(*sys.argv[1:])
