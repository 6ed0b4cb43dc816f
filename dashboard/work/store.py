"""Results in memory and on disk, by the key of what decides them.

Several servers may share the folder: files appear whole, and nobody minds that one is gone.
"""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from dashboard.work.files import remove
from dashboard.work.order import Order, Result
from dashboard.work.owned import Own

_IN_MEMORY = 64  # results, and
_BYTES_IN_MEMORY = 5e8  # as large as their files
_SET_ASIDE = 10  # damaged files
DAMAGED = ".damaged"


class Store:
    """Results of orders; the ones not looked at for longest go first.

    Parameters
    ----------
    folder : Path
        Of the files; exists.
    most_bytes : float
        What the files may hold together.
    elsewhere : callable, optional
        Tells of an order what there is of counts that are someone's own, whose results lie in a
        folder of their own; None where they are nobody's.

    Attributes
    ----------
    hits : dict of str to int
        How often a result was found in "memory" and on "disk".
    """

    def __init__(
        self,
        folder: Path,
        most_bytes: float,
        elsewhere: Callable[[Order[Any]], Own | None] = lambda _: None,
    ) -> None:
        self.folder = folder
        self._elsewhere = elsewhere
        self._most_bytes = most_bytes
        self._lock = threading.Lock()
        self._results: OrderedDict[str, tuple[int, Any]] = OrderedDict()
        self.hits = {"memory": 0, "disk": 0}

    def path(self, key: str, order: Order[Any]) -> Path:
        """Where the result under a key lies."""
        own = self._elsewhere(order)
        path = (own.folder if own else self.folder) / f"{key}{order.suffix}"
        if own:
            own.results.add(path)
        return path

    def forget(self, paths: Iterable[Path]) -> None:
        """Remove results that belonged to someone from memory and disk."""
        for path in paths:
            with self._lock:
                self._results.pop(path.stem, None)
            remove(path)

    def find(self, order: Order[Result]) -> Result | None:
        """The result of an order, or None.

        A file that cannot be read, or holds something else, is set aside: the result is made anew.
        """
        for key in order.keys:
            result = self._find(key, order)
            if result is not None:
                return order.part_of(result)
        return None

    def prune(self) -> None:
        """Remove files beyond what may be kept."""
        files = sorted(self._files(), reverse=True)
        total = 0
        for _, size, path in files:
            total += size
            if total > self._most_bytes:
                remove(path)
        aside = sorted(self.folder.glob(f"*{DAMAGED}"), key=lambda path: path.name)
        for path in aside[:-_SET_ASIDE]:
            remove(path)

    @property
    def bytes_on_disk(self) -> int:
        """What the files hold together."""
        return sum(size for _, size, _ in self._files())

    def drop(self, key: str, order: Order[Any]) -> None:
        """Remove a result from memory and disk."""
        with self._lock:
            self._results.pop(key, None)
        remove(self.path(key, order))

    def _find(self, key: str, order: Order[Result]) -> Result | None:
        path = self.path(key, order)
        with self._lock:
            _, result = self._results.get(key, (0, None))
        found = "memory"
        if result is None:
            result, found = self._read(path, order), "disk"
            if result is None:
                return None
        self.hits[found] += 1
        with suppress(OSError):
            os.utime(path)  # what was looked at last is pruned last
        self._remember(key, path, result)
        return result

    def _read(self, path: Path, order: Order[Result]) -> Result | None:
        try:
            result: Result = order.load(path)
        except FileNotFoundError:
            return None
        except (OSError, ValueError):
            _set_aside(path)
            return None
        if not order.owns(result):
            _set_aside(path)
            return None
        return result

    def _remember(self, key: str, path: Path, result: Any) -> None:
        try:
            size = path.stat().st_size
        except OSError:
            size = 0
        with self._lock:
            self._results[key] = size, result
            self._results.move_to_end(key)
            while len(self._results) > 1 and (
                len(self._results) > _IN_MEMORY
                or sum(each for each, _ in self._results.values()) > _BYTES_IN_MEMORY
            ):
                self._results.popitem(last=False)

    def _files(self) -> list[tuple[float, int, Path]]:
        """When each was looked at last, and its size."""
        files = []
        for suffix in (".npz", ".json"):
            for path in self.folder.glob(f"*{suffix}"):
                with suppress(OSError):  # another server was faster
                    status = path.stat()
                    files.append((status.st_mtime, status.st_size, path))
        return files


def _set_aside(path: Path) -> None:
    with suppress(OSError):
        path.rename(path.with_name(f"{path.name}{DAMAGED}"))
