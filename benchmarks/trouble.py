"""What becomes of work when processes are killed, files damaged and disks full.

    python -m benchmarks.trouble [--times 20] [--only workers server files disk …]

Each part makes trouble so many times at random moments, on small simulated counts, and ends with an
error where something was lost, hung or left behind. Nothing but its own processes and a temporary
folder is touched; the Dask cluster of its last part listens to this machine alone. The full disk
and the read-only folder need the right to mount a small file system in memory; without it those
parts say so and are left out.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from time import sleep, time

import psutil

from benchmarks._cluster import kill, local_cluster
from benchmarks._disks import remount, small_disk, until_full
from benchmarks._waiting import LONG, until
from dashboard.work.jobs import Job
from dashboard.work.limits import Limits
from dashboard.work.orders import FitOrder
from dashboard.work.service import Service
from uncletc import CountTensor, Fit, FitSettings, simulate

_DAY = 86_400
_SHORT = FitSettings(rank=2, hidden=(), max_iter=40, tol=0.0)


def small_counts(observed: float) -> CountTensor:
    """Counts that are fitted in a second."""
    counts, _ = simulate((8, 7, 6), 2, observed=observed, attributed=observed, similar=0.1, seed=1)
    return counts


def order(seed: int, iterations: int = 40, observed: float = 0.6) -> FitOrder:
    """A short fit."""
    return FitOrder(small_counts(observed), replace(_SHORT, seed=seed, max_iter=iterations))


@contextmanager
def served(folder: Path) -> Iterator[Service]:
    """A service over a folder."""
    service = Service(folder, limits=Limits())
    try:
        yield service
    finally:
        service.close()


def ended(job: Job) -> Job:
    """Wait for the end of a job."""
    until(lambda: not job.active, "an order hung")
    return job


def kill_workers(times: int, chance: random.Random) -> str:
    """Kill the process that fits, at random moments of a fit."""
    with tempfile.TemporaryDirectory() as folder, served(Path(folder)) as service:
        for k in range(times):
            job = service.submit(order(k, iterations=400), "me")
            until(lambda job=job: job.process is not None, "no process took an order")
            sleep(chance.uniform(0, 0.6))
            assert job.process is not None
            job.process.kill()
            assert ended(job).state == "done", job.message
            assert isinstance(service.lookup(job.order), Fit)
        lost = service.numbers()["lost"]
    return f"{times} workers killed ({lost:.0f} in the middle of an order): every result came."


def kill_servers(times: int, chance: random.Random) -> str:
    """Kill a server that writes one result after another; nothing half-written may be found."""
    found = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for k in range(times):
            server = subprocess.Popen([sys.executable, "-m", "benchmarks.trouble", "--write", name])
            began = len(list(folder.glob("*.npz")))
            until(lambda n=began: len(list(folder.glob("*.npz"))) > n, "a server wrote nothing")
            sleep(chance.uniform(0, 0.3))
            children = psutil.Process(server.pid).children(recursive=True)
            server.send_signal(signal.SIGKILL)
            server.wait()
            _, alive = psutil.wait_procs(children, timeout=LONG)
            assert not alive, f"{len(alive)} processes outlived their server"
            for path in folder.glob("*.npz"):
                assert FitOrder.load(path).history, path
            found = len(list(folder.glob("*.npz")))
            assert k < found
    return f"{times} servers killed while they wrote: {found} results, all whole; no process left."


def write_results(folder: Path) -> None:
    """Write results until killed."""
    with served(folder) as service:
        for seed in range(10**6):
            job = service.submit(order(os.getpid() * 1000 + seed, iterations=3), "me")
            ended(job)


def damage_files(times: int, chance: random.Random) -> str:
    """Damage results on disk; each must be made anew, and never be shown."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with served(folder) as service:
            first = order(0)
            assert ended(service.submit(first, "me")).state == "done"
        path = folder / f"{first.key}.npz"
        whole = path.read_bytes()
        for _ in range(times):
            path.write_bytes(_damaged(whole, chance))
            with served(folder) as service:
                fit = service.lookup(first)
                if fit is None:
                    assert ended(service.submit(first, "me")).state == "done"
                    fit = service.lookup(first)
                assert fit is not None
                assert fit.settings == first.settings
            path.write_bytes(whole)
    return f"{times} damaged files: each was made anew."


def _damaged(whole: bytes, chance: random.Random) -> bytes:
    kind = chance.choice(["empty", "cut", "text", "flipped", "zeros"])
    if kind == "empty":
        return b""
    if kind == "cut":
        return whole[: chance.randrange(1, len(whole))]
    if kind == "text":
        return b"not a fit"
    if kind == "zeros":
        return bytes(len(whole))
    flipped = bytearray(whole)
    for _ in range(20):
        flipped[chance.randrange(len(flipped))] ^= 0xFF
    return bytes(flipped)


def fill_disk(times: int, chance: random.Random) -> str:
    """Work on a disk that is full, and again when it has room."""
    with small_disk() as folder:
        if folder is None:
            return "The full disk was left out: no file system may be mounted here."
        with served(folder) as service:
            for k in range(times):
                rest = folder / "rest"
                with until_full(rest) as file:
                    while True:
                        file.write(bytes(chance.choice([512, 4096])))
                job = ended(service.submit(order(k), "me"))
                assert job.state == "failed", job.state
                assert "the disk is full" in job.message, job.message
                rest.unlink()
                assert ended(service.submit(order(k), "me")).state == "done"
                for path in folder.glob("*.npz"):
                    path.unlink()
    return f"{times} times a full disk: a sentence each time, and work went on with room."


def forbid_writing(times: int, chance: random.Random) -> str:
    """Have a folder of results that can only be read, from a moment on or from the start."""
    with small_disk() as folder:
        if folder is None:
            return "The read-only folder was left out: no file system may be mounted here."
        first = order(0, iterations=5)
        for k in range(times):
            with served(folder) as service:
                assert ended(service.submit(first, "me")).state == "done"
                job = service.submit(order(k + 1, iterations=400), "me")
                sleep(chance.uniform(0, 0.3))
                remount(folder, "ro")
                assert ended(job).state in {"done", "failed"}
                assert job.state == "done" or "the folder can only be read" in job.message
                assert isinstance(service.lookup(first), Fit)
                # Other counts, which have to be written first.
                job = ended(service.submit(order(0, iterations=3, observed=0.5), "me"))
                assert job.state == "failed", job.state
                assert "the folder can only be read" in job.message, job.message
                with served(folder) as other:  # has a folder of its own
                    assert ended(other.submit(order(k, iterations=3), "me")).state == "done"
                remount(folder, "rw")
                job = ended(service.submit(order(0, iterations=3, observed=0.5), "me"))
                assert job.state == "done", job.message
            for path in folder.glob("*.npz"):
                path.unlink()
    return f"{times} times a read-only folder: a sentence each time, and work went on after it."


def move_clock(times: int, chance: random.Random) -> str:
    """Look at results whose files are from yesterday, or from tomorrow."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with served(folder) as service:
            first = order(0, iterations=5)
            assert ended(service.submit(first, "me")).state == "done"
        for _ in range(times):
            moved = time() + chance.choice([-1, 1]) * chance.uniform(0, 400) * _DAY
            for path in folder.glob("*.npz"):
                os.utime(path, (moved, moved))
            with served(folder) as service:
                assert isinstance(service.lookup(first), Fit)
                assert ended(service.submit(order(1, iterations=1), "me")).state == "done"  # prunes
                assert isinstance(service.lookup(first), Fit)
    return f"{times} times a moved clock: the result stayed."


def kill_cluster_workers(times: int, chance: random.Random) -> str:
    """Kill the worker of a Dask cluster that fits, at random moments of a fit."""
    with tempfile.TemporaryDirectory() as name, local_cluster(Path(name), workers=2) as cluster:
        service = Service(Path(name), limits=Limits(), scheduler=cluster.address)
        try:
            for k in range(times):
                job = service.submit(order(k, iterations=400), "me")
                until(lambda job=job: job.process and not job.process.waits, "no worker took it")
                sleep(chance.uniform(0, 0.6))
                assert job.process is not None
                kill(cluster.worker_at(job.process.address))
                assert ended(job).state == "done", job.message
                assert isinstance(service.lookup(job.order), Fit)
                cluster.start_worker()
            lost = service.numbers()["lost"]
        finally:
            service.close()
    return f"{times} Dask workers killed ({lost:.0f} in the middle of an order): every result came."


PARTS: dict[str, Callable[[int, random.Random], str]] = {
    "workers": kill_workers,
    "server": kill_servers,
    "files": damage_files,
    "disk": fill_disk,
    "read-only": forbid_writing,
    "clock": move_clock,
    "dask": kill_cluster_workers,
}


def main() -> None:
    """Make trouble, and say how it ended."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--only", nargs="+", choices=list(PARTS), default=list(PARTS))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--write", type=Path, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.write is not None:
        write_results(chosen.write)
    for part in chosen.only:
        print(PARTS[part](chosen.times, random.Random(chosen.seed)), flush=True)


if __name__ == "__main__":
    main()
