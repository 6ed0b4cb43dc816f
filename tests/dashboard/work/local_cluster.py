"""A Dask cluster on this machine alone, as processes that may be killed."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from tests.dashboard.work.waiting import wait

_COMMAND = [sys.executable, "-m", "distributed.cli.dask_"]


@dataclass
class LocalCluster:
    """A scheduler, and workers of one thread each.

    Attributes
    ----------
    folder : Path
        Where it keeps what it needs.
    address : str
        Of the scheduler.
    processes : list of Popen
        The scheduler, then the workers.
    """

    folder: Path
    address: str = ""
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def start_scheduler(self, port: int = 0) -> None:
        """Start a scheduler at this port of the loopback interface, and wait for it."""
        file = self.folder / "scheduler.json"
        file.unlink(missing_ok=True)
        words = ["--host", f"tcp://127.0.0.1:{port}", "--scheduler-file", str(file)]
        self._start("scheduler", *words, "--no-dashboard")
        wait(lambda: file.is_file() and file.read_text(encoding="utf-8").endswith("}"))
        self.address = json.loads(file.read_text(encoding="utf-8"))["address"]

    def start_worker(self) -> subprocess.Popen[bytes]:
        """Start a worker, and return its process."""
        words = [self.address, "--nthreads", "1", "--no-nanny", "--no-dashboard"]
        return self._start("worker", *words, "--host", "127.0.0.1", "--death-timeout", "30")

    def worker_at(self, address: str) -> subprocess.Popen[bytes]:
        """The process of the worker that listens at an address."""
        port = int(address.rpartition(":")[2])
        for process in (each for each in self.processes[1:] if each.poll() is None):
            listens = psutil.Process(process.pid).net_connections()
            if any(each.laddr.port == port for each in listens):
                return process
        raise LookupError(f"no worker listens at {address}")

    def end(self) -> None:
        """Kill all processes, and what they started."""
        for process in reversed(self.processes):
            kill(process)

    def _start(self, kind: str, *words: str) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            [*_COMMAND[:2], _COMMAND[2] + kind, *words],
            cwd=self.folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self.processes.append(process)
        return process


@contextmanager
def local_cluster(folder: Path, workers: int = 1) -> Iterator[LocalCluster]:
    """Have a cluster within the block."""
    cluster = LocalCluster(folder)
    try:
        cluster.start_scheduler()
        for _ in range(workers):
            cluster.start_worker()
        yield cluster
    finally:
        cluster.end()


def kill(process: subprocess.Popen[bytes]) -> None:
    """Kill a process; what it started must end by itself."""
    started = psutil.Process(process.pid).children(recursive=True) if process.poll() is None else []
    process.kill()
    process.wait()
    _, alive = psutil.wait_procs(started, timeout=120.0)
    assert not alive, f"{len(alive)} processes outlived a Dask worker"
