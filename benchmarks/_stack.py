"""Two replicas and the proxy of ``compose.yaml``, as processes on this machine alone."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic, sleep
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import urlopen

import yaml

ROOT = Path(__file__).resolve().parents[1]
HERE = "127.0.0.1"
REPLICAS = ("one", "two")
LONGEST_START = 90.0  # seconds
_CHOSEN = re.compile(r"\$\{(\w+)(?::?[-?]([^}]*))?\}")


def configuration(given: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """Return the environment of each service of ``compose.yaml``.

    Parameters
    ----------
    given : mapping of str to str
        Variables that the file asks for; the others have its defaults.
    """

    def chosen(match: re.Match[str]) -> str:
        return given.get(match[1], match[2] or "")

    text = (ROOT / "compose.yaml").read_text(encoding="utf-8")
    services = yaml.safe_load(text)["services"]
    return {
        name: {key: _CHOSEN.sub(chosen, value) for key, value in service["environment"].items()}
        for name, service in services.items()
    }


def free_ports(n: int) -> list[int]:
    """Return ports that nobody listens to now."""
    sockets = [socket.socket() for _ in range(n)]
    for each in sockets:
        each.bind((HERE, 0))
    ports = [int(each.getsockname()[1]) for each in sockets]
    for each in sockets:
        each.close()
    return ports


@dataclass
class Stack:
    """Processes that run.

    Attributes
    ----------
    address : str
        Of the proxy.
    processes : dict of str to Popen
        "one", "two" and "proxy".
    ports, metrics : dict of str to int
        Of the replicas.
    """

    address: str
    folder: Path
    ports: dict[str, int]
    metrics: dict[str, int]
    environment: dict[str, dict[str, str]]
    processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    def start(self, name: str) -> None:
        """Start a replica or the proxy."""
        command = (
            [_haproxy(), "-db", "-f", str(ROOT / "deploy" / "haproxy.cfg")]
            if name == "proxy"
            else [sys.executable, "-m", "dashboard"]
        )
        with (self.folder / f"{name}.log").open("ab") as log:
            self.processes[name] = subprocess.Popen(
                command, stdout=log, stderr=log, cwd=ROOT, env=os.environ | self.environment[name]
            )

    def wait(self, name: str) -> float:
        """Wait until a replica is ready; return how many seconds that took."""
        began = monotonic()
        while not self.ready(name):
            if self.processes[name].poll() is not None or monotonic() - began > LONGEST_START:
                log = (self.folder / f"{name}.log").read_text(encoding="utf-8")
                raise SystemExit(f"{name} did not start: {log}")
            sleep(0.2)
        return monotonic() - began

    def ready(self, name: str) -> bool:
        """Whether a replica says that it is ready."""
        try:
            with urlopen(f"http://{HERE}:{self.ports[name]}/ready", timeout=5) as answer:
                return bool(answer.status == 200)
        except (HTTPError, URLError, OSError):
            return False

    def settle(self) -> None:
        """Wait until the proxy sends newcomers to both replicas."""
        began, seen = monotonic(), set[str]()
        while len(seen) < len(REPLICAS):
            with suppress(HTTPError, URLError, OSError):
                with urlopen(f"{self.address}/_stcore/health", timeout=5) as answer:
                    cookies = " ".join(answer.headers.get_all("Set-Cookie") or [])
                seen.update(re.findall(r"\breplica=(\w+)", cookies))
            if monotonic() - began > LONGEST_START:
                raise SystemExit(f"The proxy knows of {', '.join(sorted(seen)) or 'no replica'}.")
            sleep(0.1)

    def counted(self, name: str) -> dict[str, float]:
        """Metrics of a replica, by name."""
        with urlopen(f"http://{HERE}:{self.metrics[name]}/metrics", timeout=5) as answer:
            text = answer.read().decode()
        pairs = (line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
        return {metric: float(value) for metric, value in pairs}

    def kill(self, name: str) -> None:
        """End a replica without a word."""
        self.processes[name].send_signal(signal.SIGKILL)
        self.processes[name].wait()


@contextmanager
def running(folder: Path) -> Iterator[Stack]:
    """Run two replicas and the proxy as ``compose.yaml`` says, their files in a folder."""
    proxy, *rest = free_ports(5)
    ports, metrics = (
        dict(zip(REPLICAS, rest[:2], strict=True)),
        dict(zip(REPLICAS, rest[2:], strict=True)),
    )
    address = f"http://{HERE}:{proxy}"
    environment = configuration({"COOKIE_SECRET": "of this measurement", "PUBLIC_ADDRESS": address})
    for name in REPLICAS:
        environment[name] |= {
            "UNCLETC_HOST": HERE,
            "UNCLETC_PORT": str(ports[name]),
            "UNCLETC_METRICS_HOST": HERE,
            "UNCLETC_METRICS_PORT": str(metrics[name]),
            "XDG_CACHE_HOME": str(folder),  # where the volume is mounted
        }
    environment["proxy"] |= {
        "LISTEN": f"{HERE}:{proxy}",
        "REPLICA_ONE": f"{HERE}:{ports['one']}",
        "REPLICA_TWO": f"{HERE}:{ports['two']}",
    }
    stack = Stack(address, folder, ports, metrics, environment)
    try:
        for name in (*REPLICAS, "proxy"):
            stack.start(name)
        for name in REPLICAS:
            stack.wait(name)
        stack.settle()
        yield stack
    finally:
        for process in stack.processes.values():
            process.terminate()
        for process in stack.processes.values():
            with suppress(subprocess.TimeoutExpired):
                process.wait(timeout=20)
            process.kill()
            process.wait()


def _haproxy() -> str:
    found: Any = shutil.which("haproxy") or shutil.which("haproxy", path="/usr/sbin")
    if found is None:
        raise SystemExit("haproxy is not installed; on Debian: apt-get install haproxy")
    return str(found)
