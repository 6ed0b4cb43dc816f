"""Files that several processes, and several servers, may write and read at the same time."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from uuid import uuid4

PARTIAL = ".partial"


@contextmanager
def atomic(path: Path) -> Iterator[Path]:
    """Yield a name of its own to write to, and put that file in the place of `path` at the end."""
    partial = path.with_name(f".{path.name}.{uuid4().hex}{PARTIAL}")
    try:
        yield partial
        os.replace(partial, path)
    finally:
        remove(partial)


def remove(path: Path) -> None:
    """Remove a file where it is there and may be removed."""
    with suppress(OSError):
        path.unlink(missing_ok=True)


def writable(folder: Path) -> Path:
    """Return the folder, made where it was missing; a temporary one where it cannot be written."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except OSError:
        return Path(tempfile.mkdtemp(prefix=f"uncletc-{folder.name}-"))


_TROUBLES = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "there is no room left for this account on the disk",
    errno.EROFS: "the folder can only be read",
    errno.EACCES: "the folder may not be written to",
    errno.ENOMEM: "there is no memory left",
}


def trouble(error: OSError) -> str:
    """What is wrong with a disk, as a part of a sentence that names no path."""
    known = _TROUBLES.get(error.errno or 0)
    return known or (error.strerror or "the system did not say why").lower()


class ClusterError(OSError):
    """A cluster takes no order; the reason is a part of a sentence."""


def refused(error: OSError) -> str:
    """Why no process took an order, as the end of a sentence."""
    if isinstance(error, ClusterError):
        return f"{error}. Ask again in a minute."
    return f"no process took it: {trouble(error)}."
