"""Results of orders, counts that orders are of, and whose they are: in memory and on disk.

Several servers may share the folder of results: files appear whole, and nobody minds that one is
gone. Counts, estimates so far, and results of counts that are someone's own lie in a folder of this
server alone, which goes with it.
"""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
import threading
from collections import OrderedDict
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from time import time
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import platformdirs

if TYPE_CHECKING:
    from dashboard.work.jobs import Job
    from dashboard.work.orders import Order, Result
    from uncletc import CountTensor

try:
    import fcntl
except ImportError:  # not on Windows
    fcntl = None  # type: ignore[assignment]

_IN_MEMORY = 64  # results, and
_BYTES_IN_MEMORY = 5e8  # as large as their files
_COUNTS_ON_DISK = 8  # that no order is of at the moment
_SET_ASIDE = 10  # damaged files
_LEFT_BEHIND = 86_400  # seconds after which unfinished files belong to no server
_DAMAGED, _PARTIAL, _PRIVATE = ".damaged", ".partial", "counts-"


@dataclass(frozen=True, eq=False)
class Claim:
    """That counts are someone's own, from one :meth:`Results.own` to the :meth:`Results.forget`.

    Attributes
    ----------
    names : hashable
        What the entries are called; see :func:`names_of`.
    owner : str
    """

    names: Any
    owner: str


@dataclass(eq=False)
class _Own:
    """Where counts that belong to someone and their results lie, and who says so."""

    folder: Path
    claims: set[Claim] = field(default_factory=set)


class Results:
    """Results of orders; the ones not looked at for longest go first.

    Parameters
    ----------
    folder : Path, optional
        Where results are kept; see :class:`dashboard.work.engine.Service`.
    most_bytes : float
        What the files may hold together.

    Attributes
    ----------
    folder, private : Path
        Of results that servers share; of this server alone.
    hits : dict of str to int
        How often a result was found in "memory" and on "disk".
    """

    def __init__(self, folder: Path | None, most_bytes: float) -> None:
        self.folder = writable(folder or Path(platformdirs.user_cache_dir("uncletc")) / "results")
        self.hits = {"memory": 0, "disk": 0}
        self._most_bytes = most_bytes
        self._lock = threading.Lock()  # of what is known to be in memory and on disk
        self._writing = threading.Lock()  # of counts, which takes a while
        self._in_memory: OrderedDict[Path, tuple[int, Any]] = OrderedDict()
        self._counts: OrderedDict[Path, None] = OrderedDict()  # on disk, the latest last
        self._owned: dict[Any, _Own] = {}  # by what entries are called
        self._forgotten: list[_Own] = []  # that runs may still need
        remove_left_behind(self.folder)
        new = Path(tempfile.mkdtemp(prefix=f".{_PRIVATE}", dir=self.folder))
        self._held = _hold(new)  # before another server can see it
        self.private = new.rename(new.with_name(new.name[1:]))

    def find(self, order: Order[Result]) -> Result | None:
        """Return the result of an order, or None.

        A file that cannot be read, or holds something else, is set aside: the order runs again.
        """
        for key in order.keys:
            path = self.path(order, key)
            with self._lock:
                _, result = self._in_memory.get(path, (0, None))
            found = "memory"
            if result is None:
                result, found = _read(path, order), "disk"
            if result is not None:
                self.hits[found] += 1
                with suppress(OSError):
                    os.utime(path)  # what was looked at last is pruned last
                self._remember(path, result)
                return order.part_of(result)
        return None

    def path(self, order: Order[Any], key: str = "") -> Path:
        """Return where the result of an order, or one under another key, lies."""
        own = self._owned.get(names_of(order.counts)) if self._owned and order.counts else None
        return (own.folder if own else self.folder) / f"{key or order.key}{order.suffix}"

    def task(self, run: str, order: Order[Any], result: Path) -> dict[str, Any]:
        """Write the counts of an order, and return the message for its worker.

        Parameters
        ----------
        run : str
        order : Order
        result : Path
            Where its result will lie, as :meth:`path` said when the run began: counts that are
            someone's own lie in the same folder, which stays until the run has ended.

        Raises
        ------
        OSError
            If counts cannot be written.
        """
        message = {"run": run, "result": str(result), "so_far": str(self.so_far(run))}
        if (counts := order.counts) is not None:
            folder = self.private if result.parent == self.folder else result.parent
            path = folder / f"{counts.digest}.npz"
            message["counts"] = str(path)
            with self._writing:
                with self._lock:
                    self._counts[path] = None
                    self._counts.move_to_end(path)
                self._hold_private()
                if not path.exists():
                    with atomic(path) as partial:
                        counts.save(partial)
        if (first := order.begins_with) is not None:
            message["begins_with"] = str(result.with_name(f"{first.key}{first.suffix}"))
        return message | order.message()

    def so_far(self, run: str) -> Path:
        """Return where the estimates so far of a run lie."""
        return self.private / f"{run}.part"

    def own(self, counts: CountTensor, owner: str) -> Claim:
        """Note that counts, and any with the same labels, belong to someone."""
        claim = Claim(names_of(counts), owner)
        folder = self.private / uuid4().hex
        self._owned.setdefault(claim.names, _Own(folder)).claims.add(claim)
        return claim

    def holds(self, claim: Claim) -> bool:
        """Whether a claim has not been dropped yet."""
        own = self._owned.get(claim.names)
        return own is not None and claim in own.claims

    def forget(self, claim: Claim) -> Path | None:
        """Drop a claim that holds; a later one to the same counts stays, also of the same owner.

        Returns
        -------
        Path or None
            Where all that was made of them lies, and lies until the next :meth:`release`; None
            where another claim stays.
        """
        own = self._owned[claim.names]
        own.claims.remove(claim)
        if own.claims:
            return None
        del self._owned[claim.names]
        self._forgotten.append(own)
        return own.folder

    def release(self, job: Job | None, runs: Collection[Job]) -> None:
        """Remove what an ended job needed, and what was forgotten, unless runs need it too."""
        if job is not None:
            remove(self.so_far(job.run))
        needed = {Path(each.task["counts"]) for each in runs if "counts" in each.task}
        with self._lock:
            for path in [path for path in self._counts if path not in needed][:-_COUNTS_ON_DISK]:
                del self._counts[path]
                remove(path)
        folders = {each.result.parent for each in runs}  # also before its counts are written
        for own in [each for each in self._forgotten if each.folder not in folders]:
            self._forgotten.remove(own)
            shutil.rmtree(own.folder, ignore_errors=True)
            with self._lock:
                for known in (self._in_memory, self._counts):
                    for path in [each for each in known if each.parent == own.folder]:
                        del known[path]

    def prune(self) -> None:
        """Remove files beyond what may be kept."""
        total = 0
        for _, size, path in sorted(self._files(), reverse=True):
            total += size
            if total > self._most_bytes:
                remove(path)
        for path in sorted(self.folder.glob(f"*{_DAMAGED}"))[:-_SET_ASIDE]:
            remove(path)

    @property
    def bytes_on_disk(self) -> int:
        """What the files hold together."""
        return sum(size for _, size, _ in self._files())

    def close(self) -> None:
        """Remove the folder of this server."""
        shutil.rmtree(self.private, ignore_errors=True)
        if self._held is not None:
            os.close(self._held)
            self._held = None

    def _remember(self, path: Path, result: Any) -> None:
        size = 0
        with suppress(OSError):
            size = path.stat().st_size
        with self._lock:
            if not path.parent.exists():  # what was read is forgotten meanwhile
                return
            self._in_memory[path] = size, result
            self._in_memory.move_to_end(path)
            while len(self._in_memory) > 1 and (
                len(self._in_memory) > _IN_MEMORY
                or sum(each for each, _ in self._in_memory.values()) > _BYTES_IN_MEMORY
            ):
                self._in_memory.popitem(last=False)

    def _files(self) -> list[tuple[float, int, Path]]:
        """When each was looked at last, and its size."""
        files = []
        for suffix in (".npz", ".json"):
            for path in self.folder.glob(f"*{suffix}"):
                with suppress(OSError):  # another server was faster
                    status = path.stat()
                    files.append((status.st_mtime, status.st_size, path))
        return files

    def _hold_private(self) -> None:
        """Make the folder of this server again where somebody deleted it."""
        with suppress(OSError):
            if self._held is None or os.path.samestat(os.stat(self.private), os.fstat(self._held)):
                return
        self.private.mkdir(parents=True, exist_ok=True)
        if self._held is not None:
            os.close(self._held)
        self._held = _hold(self.private)


def names_of(counts: CountTensor) -> Any:
    """Return what the entries of counts are called.

    Counts with other roles, or without what is held out, have the same names.
    """
    return counts.shape, counts.modes, counts.labels


def _read(path: Path, order: Order[Any]) -> Any:
    """Return a result; None where there is none, or none of this order, which is set aside."""
    try:
        result = order.load(path)
        if order.owns(result):
            return result
    except FileNotFoundError:
        return None
    except (OSError, ValueError):
        pass
    with suppress(OSError):
        path.rename(path.with_name(f"{path.name}{_DAMAGED}"))
    return None


@contextmanager
def atomic(path: Path) -> Iterator[Path]:
    """Yield a name of its own to write to, and put that file in the place of `path` at the end."""
    path.parent.mkdir(parents=True, exist_ok=True)  # somebody may have deleted the cache folder
    partial = path.with_name(f".{path.name}.{uuid4().hex}{_PARTIAL}")
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


def remove_left_behind(folder: Path) -> None:
    """Remove what a server left in a folder of results when it was killed.

    A server holds a lock on its own folder, which ends with it; where the system knows no such
    locks, age decides.
    """
    for left in (*folder.glob(f"{_PRIVATE}*"), *folder.glob(".*")):
        with suppress(OSError):
            old = time() - left.stat().st_mtime > _LEFT_BEHIND
            if not left.is_dir():
                if old and left.name.endswith(_PARTIAL):
                    left.unlink()
            elif left.name.startswith(_PRIVATE) and fcntl is not None:
                held = _hold(left)  # an OSError where a server has it
                shutil.rmtree(left, ignore_errors=True)
                os.close(held or 0)
            elif old and left.name.startswith((_PRIVATE, f".{_PRIVATE}")):
                shutil.rmtree(left, ignore_errors=True)


def _hold(folder: Path) -> int | None:
    """Lock a folder for this process, as long as it lives; an OSError where another one has it."""
    if fcntl is None:
        return None
    held = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(held)
        raise
    return held


_TROUBLES = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "there is no room left for this account on the disk",
    errno.EROFS: "the folder can only be read",
    errno.EACCES: "the folder may not be written to",
    errno.ENOMEM: "there is no memory left",
}


def trouble(error: OSError) -> str:
    """Return what is wrong with a disk, as a part of a sentence that names no path."""
    known = _TROUBLES.get(error.errno or 0)
    return known or (error.strerror or "the system did not say why").lower()
