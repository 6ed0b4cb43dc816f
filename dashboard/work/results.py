"""Results of orders, in memory and on disk, and whose they are.

Several servers may share the folder of results: files appear whole, and nobody minds that one is
gone. Results of counts that are someone's own are in the memory of this server alone, for as long
as they are, and never on a disk.
"""

import os
import tempfile
import threading
from collections import Counter, OrderedDict
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import platformdirs

from dashboard.work.orders import Order
from uncletc import CountTensor
from uncletc.common.serialization import atomic

SHIPPED = Path(__file__).parents[1] / "fits"  # results that come with the package
_IN_MEMORY = 64  # results as objects
_PRIVATE_BYTES = 5e8  # of results of people's own counts, of all together


Names = Any  # hashable: what the entries of counts are called, see `names_of`


class Results:
    """Results of orders; the ones not used for longest go first.

    Parameters
    ----------
    folder : Path, optional
        Where results are kept; see :class:`dashboard.work.engine.Service`.
    most_bytes : float
        What the files may hold together.
    """

    def __init__(self, folder: Path | None, most_bytes: float) -> None:
        self.folder = writable(folder or Path(platformdirs.user_cache_dir("uncletc")) / "results")
        self._most_bytes = most_bytes
        self._lock = threading.RLock()  # of what is in memory
        self._in_memory: OrderedDict[tuple[Names | None, str], Any] = OrderedDict()
        self._owners: Counter[Names] = Counter()  # sessions that have counts as their own
        self._private: dict[Names, OrderedDict[str, bytes]] = {}  # results by the key of the order
        self._public: list[CountTensor] = []

    def find(self, order: Order) -> Any:
        """Return the result of an order, or None. A file that cannot be read is removed."""
        private, path = self.private(order.counts), self._path(order)
        with self._lock:
            result = self._in_memory.get((private, order.key))
            data = self._private.get(private, {}).get(order.key)
        try:
            if private is None:
                os.utime(path)  # what was used last is pruned last
            if result is None and (private is None or data is not None):
                result = order.decode(path.read_bytes() if data is None else data)
        except ValueError:
            remove(path)
        except OSError:  # no file; it may be in memory all the same, or come with the package
            if result is None and private is None:
                with suppress(OSError):
                    result = order.decode((SHIPPED / path.name).read_bytes())
        if result is not None:
            self._remember(order, private, result)
        return result

    def put(self, order: Order, data: bytes, private: Names | None) -> None:
        """Keep the encoded result of an order.

        Parameters
        ----------
        order : Order
        data : bytes
        private : hashable, optional
            What its counts are called, where they were someone's own when it was asked for; what
            is nobody's any more is dropped.
        """
        if private is None:
            try:
                with atomic(self._path(order)) as partial:
                    partial.write_bytes(data)
            except OSError:  # no room: for as long as there is some in memory
                self._remember(order, None, order.decode(data))
            self._prune()
            return
        with self._lock:
            if self._owners[private]:
                self._private[private][order.key] = data
            while sum(map(_size, self._private.values())) > _PRIVATE_BYTES:
                names, largest = max(self._private.items(), key=lambda item: _size(item[1]))
                key, _ = largest.popitem(last=False)
                self._in_memory.pop((names, key), None)

    def private(self, counts: CountTensor | None) -> Names | None:
        """Return what counts are called where they are someone's own; None: they are not.

        Those of a public data set are nobody's, also where someone's own have the same labels.
        """
        if counts is None or not self._private:
            return None
        names = names_of(counts)
        with self._lock:
            alike = [every for every in self._public if names_of(every) == names]
            own = names in self._private and not any(_among(counts, every) for every in alike)
            return names if own else None

    def publish(self, counts: CountTensor) -> None:
        """Note that counts, and any part of them, are those of a public data set."""
        with self._lock:
            self._public.append(counts)

    def own(self, counts: CountTensor) -> Names:
        """Note that counts, and any with the same labels, are someone's own; return their names."""
        names = names_of(counts)
        with self._lock:
            self._owners[names] += 1
            self._private.setdefault(names, OrderedDict())
        return names

    def forget(self, names: Names) -> bool:
        """Note that one session less has counts of these names; drop all results with the last.

        Returns
        -------
        bool
            Whether it was the last.
        """
        with self._lock:
            self._owners[names] -= 1
            if self._owners[names] > 0:
                return False
            del self._owners[names], self._private[names]
            for known in [each for each in self._in_memory if each[0] == names]:
                del self._in_memory[known]
            return True

    @property
    def bytes_on_disk(self) -> int:
        """What the files hold together."""
        return sum(size for _, size, _ in self._files())

    def _path(self, order: Order) -> Path:
        return self.folder / f"{order.key}{order.suffix}"

    def _remember(self, order: Order, private: Names | None, result: Any) -> None:
        with self._lock:
            if private is not None and not self._owners[private]:  # forgotten meanwhile
                return
            self._in_memory[private, order.key] = result
            self._in_memory.move_to_end((private, order.key))
            while len(self._in_memory) > _IN_MEMORY:
                self._in_memory.popitem(last=False)

    def _prune(self) -> None:
        """Remove files beyond what may be kept."""
        total = 0
        for _, size, path in sorted(self._files(), reverse=True):
            total += size
            if total > self._most_bytes:
                remove(path)

    def _files(self) -> Iterator[tuple[float, int, Path]]:
        """When each was used last, and its size."""
        for path in self.folder.glob("*.*"):  # half-written ones of killed servers, too
            with suppress(OSError):  # another server was faster
                status = path.stat()
                yield status.st_mtime, status.st_size, path


def _size(files: OrderedDict[str, bytes]) -> int:
    return sum(map(len, files.values()))


def names_of(counts: CountTensor) -> Names:
    """Return what the entries of counts are called.

    Counts with other roles, or without what is held out, have the same names.
    """
    return counts.shape, counts.modes, counts.labels


def _among(counts: CountTensor, every: CountTensor) -> bool:
    """Whether all of some counts are among others with the same labels."""
    own, of_all = (set(zip(*it.indices.T, it.counts, strict=True)) for it in (counts, every))
    return own <= of_all


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


def trouble(error: OSError) -> str:
    """Return what is wrong with a disk, as a part of a sentence that names no path."""
    return (error.strerror or "the system did not say why").lower()
