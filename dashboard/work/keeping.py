"""Tables that their owners keep on this machine: Parquet and JSON under a name nobody can guess.

Whoever has the name has the table; it stands nowhere but in its owner's address. One that nobody
opens for long is deleted: see :func:`expire`.
"""

from __future__ import annotations

import json
import os
import re
import secrets
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from time import time

import platformdirs
import polars as pl

from dashboard.work.files import atomic
from uncletc.tables import Columns, RawTable

_TOKEN = re.compile(r"[A-Za-z0-9_-]{32}")
_SUFFIXES = (".json", ".parquet")
_DAY, _NOTED = 86_400.0, 3600.0  # seconds; how exactly it is known when a table was opened


@dataclass(frozen=True, eq=False, kw_only=True)
class Kept:
    """A table as it was kept.

    Attributes
    ----------
    raw : RawTable
    columns : Columns
    digest : str
        Of the file.
    """

    raw: RawTable
    columns: Columns
    digest: str


def keep(kept: Kept) -> str:
    """Write a table, and return the name to :func:`load` it by.

    Raises
    ------
    OSError
        If it cannot be written.
    """
    token = secrets.token_urlsafe(24)
    folder = _folder()
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    with atomic(folder / f"{token}.parquet") as partial:
        kept.raw.frame.write_parquet(partial)
        os.chmod(partial, 0o600)
    _write(token, kept)
    return token


def keep_columns(token: str, kept: Kept) -> None:
    """Write what the columns of a kept table are now; nothing where it was forgotten."""
    if exists(token):
        with suppress(OSError):
            _write(token, kept)


def load(token: str) -> Kept | None:
    """The table of this name, or None where there is none, or none that can be read."""
    if not opened(token):
        return None
    try:
        said = json.loads(_path(token, ".json").read_text(encoding="utf-8"))
        frame = pl.read_parquet(_path(token, ".parquet"))
        raw = RawTable(name=said["name"], frame=frame, notes=tuple(said["notes"]))
        return Kept(raw=raw, columns=Columns.from_dict(said["columns"]), digest=said["digest"])
    except (OSError, ValueError, KeyError, TypeError, pl.exceptions.PolarsError):
        return None


def exists(token: str) -> bool:
    """Whether a table of this name is kept here."""
    return bool(_TOKEN.fullmatch(token)) and all(_path(token, s).is_file() for s in _SUFFIXES)


def opened(token: str) -> bool:
    """Whether a table of this name is kept here; notes that its owner looked at it now."""
    there = exists(token)
    if there:
        with suppress(OSError):
            if time() - _path(token, ".json").stat().st_mtime > _NOTED:
                os.utime(_path(token, ".json"))
    return there


def expire(days: float) -> int:
    """Delete tables that nobody opened for some days, and return how many."""
    old = []
    with suppress(OSError):
        old = [path for path in _folder().iterdir() if _TOKEN.fullmatch(path.stem)]
    last: dict[str, float] = {}
    for path in old:
        with suppress(OSError):
            last[path.stem] = max(path.stat().st_mtime, last.get(path.stem, 0.0))
    gone = [token for token, when in last.items() if time() - when > days * _DAY]
    for token in gone:
        drop(token)
    return len(gone)


def drop(token: str) -> None:
    """Delete the table of this name."""
    if _TOKEN.fullmatch(token):
        for suffix in _SUFFIXES:
            with suppress(OSError):
                _path(token, suffix).unlink(missing_ok=True)


def _write(token: str, kept: Kept) -> None:
    said = {
        "name": kept.raw.name,
        "notes": list(kept.raw.notes),
        "digest": kept.digest,
        "columns": kept.columns.as_dict(),
    }
    with atomic(_path(token, ".json")) as partial:
        partial.write_text(json.dumps(said), encoding="utf-8")
        os.chmod(partial, 0o600)


def _folder() -> Path:
    return Path(platformdirs.user_cache_dir("uncletc")) / "tables"


def _path(token: str, suffix: str) -> Path:
    return _folder() / f"{token}{suffix}"
