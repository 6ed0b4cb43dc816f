"""A small file system in memory, to fill and to forbid."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks._waiting import until


@contextmanager
def small_disk() -> Iterator[Path | None]:
    """A file system of one megabyte in memory; None where none may be mounted."""
    with tempfile.TemporaryDirectory() as name:
        words = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", name]
        if subprocess.run(words, capture_output=True).returncode:
            yield None
            return
        try:
            yield Path(name)
        finally:
            subprocess.run(["umount", name], check=True)


def remount(folder: Path, how: str) -> None:
    """Make a mounted file system read-only ("ro"), or not ("rw"), once nobody writes to it."""
    words = ["mount", "-o", f"remount,{how}", str(folder)]
    until(lambda: not subprocess.run(words, capture_output=True).returncode, "it stayed busy")


@contextmanager
def until_full(path: Path) -> Iterator[object]:
    """A file to fill a disk with; ends when it is full."""
    try:
        with path.open("wb", buffering=0) as file:
            yield file
    except OSError:
        return
