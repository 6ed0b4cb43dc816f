"""Tables that their owners save on this machine: Parquet files under a name nobody can guess.

The name stands in its owner's address. Where people sign in, a table opens for its owner alone;
elsewhere whoever has the name has the table. One that nobody opens for long is deleted: see
:func:`expire`.
"""

from __future__ import annotations

import errno
import json
import math
import os
import re
import secrets
from contextlib import suppress
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from time import time
from typing import Any, NamedTuple

import platformdirs
import polars as pl

from dashboard.work.results import atomic, remove
from uncletc.tables import Columns, Guess, RawTable

_NAME = re.compile(r"[A-Za-z0-9_-]{32}")
_DAY = 86_400.0  # seconds
_ABOUT = "uncletc"  # key of what a Parquet file says beside its columns


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


class SavedTable(NamedTuple):
    """A file, what its columns are, and its mode of closed-population visits; empty for none."""

    file: TableFile
    columns: Columns
    closed: str = ""


def save(
    table: SavedTable, user: str | None = None, name: str = "", *, most_bytes: float = math.inf
) -> str:
    """Write a table, and return the name to :func:`load` it by.

    Parameters
    ----------
    table : SavedTable
    user : str, optional
        Who is signed in; nobody else can load it then.
    name : str
        Of a saved table, to write it again; empty: a new one.
    most_bytes : float
        Size of all saved tables together, beyond which no other is taken.

    Raises
    ------
    OSError
        If it cannot be written, or there is no room for it.
    """
    name, file = name or secrets.token_urlsafe(24), table.file
    about = {
        "name": file.name,
        "notes": list(file.raw.notes),
        "digest": file.digest,
        "columns": table.columns.as_dict(),
        "guess": guess_as_dict(file.guess),
        "closed": table.closed,
        "owner": _owner(name, user),
    }
    _folder().mkdir(parents=True, exist_ok=True, mode=0o700)
    with atomic(_path(name)) as partial:
        file.raw.frame.write_parquet(partial, metadata={_ABOUT: json.dumps(about)})
        os.chmod(partial, 0o600)
        if sum(path.stat().st_size for path in _folder().iterdir()) > most_bytes:
            raise OSError(errno.EDQUOT, "the room for saved tables is full")
    return name


def load(name: str, user: str | None = None) -> SavedTable | None:
    """Return the table of this name; None where there is none to read, or it is another user's."""
    if not opened(name):
        return None
    try:
        about = json.loads(pl.read_parquet_metadata(_path(name))[_ABOUT])
        if about["owner"] != _owner(name, user):
            return None
        raw = RawTable(about["name"], pl.read_parquet(_path(name)), tuple(about["notes"]))
        file = TableFile(raw=raw, guess=guess_from(about["guess"]), digest=about["digest"])
        return SavedTable(file, Columns.from_dict(about["columns"]), about["closed"])
    except (OSError, ValueError, KeyError, TypeError, pl.exceptions.PolarsError):
        return None


def opened(name: str) -> bool:
    """Whether a table of this name is saved here; notes that its owner opened it now."""
    if not _NAME.fullmatch(name) or not _path(name).is_file():
        return False
    with suppress(OSError):
        os.utime(_path(name))
    return True


def expire(days: float) -> int:
    """Delete tables that nobody opened for some days, and return how many."""
    gone = []
    for path in _folder().glob("*"):
        with suppress(OSError):
            if _NAME.fullmatch(path.stem) and time() - path.stat().st_mtime > days * _DAY:
                gone.append(path)
    for path in gone:
        remove(path)
    return len(gone)


def drop(name: str) -> None:
    """Delete the table of this name."""
    if _NAME.fullmatch(name):
        remove(_path(name))


def guess_as_dict(guess: Guess) -> dict[str, Any]:
    """Return plain values for JSON, of which :func:`guess_from` makes the guess again."""
    return asdict(guess) | {"columns": guess.columns.as_dict()}


def guess_from(values: dict[str, Any]) -> Guess:
    """Return the guess of which :func:`guess_as_dict` gave the values."""
    columns = Columns.from_dict(values["columns"])
    return Guess(columns, dict(values["reasons"]), tuple(values["questions"]))


def _owner(name: str, user: str | None) -> str:
    """Who may load a table, without saying who that is; empty where nobody signs in."""
    return "" if user is None else sha256(f"{name} {user}".encode()).hexdigest()


def _folder() -> Path:
    return Path(platformdirs.user_cache_dir("uncletc")) / "tables"


def _path(name: str) -> Path:
    return _folder() / f"{name}.parquet"
