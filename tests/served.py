"""A dashboard in a process of its own, as ``uncletc dashboard`` starts it."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from time import monotonic, sleep
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

LONGEST = 90.0  # seconds, on a busy machine


def free_port() -> int:
    """A port that nobody listens to now."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


class Answering(BaseHTTPRequestHandler):
    """Answers without a line on the console."""

    def say(self, body: bytes, sent: bytes | None = None) -> None:
        """Answer with this body; `sent` is what arrives of it."""
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body if sent is None else sent)

    def log_message(self, *_: object) -> None:
        pass


class Local(ThreadingHTTPServer):
    """A server of the loopback, in a thread of its own; its handler finds `known` in it."""

    daemon_threads = True

    def __init__(self, handler: type[BaseHTTPRequestHandler], **known: Any) -> None:
        super().__init__(("127.0.0.1", 0), handler)
        vars(self).update(known)
        self.address = f"http://127.0.0.1:{self.server_address[1]}"
        running = {"target": self.serve_forever, "kwargs": {"poll_interval": 0.01}}
        threading.Thread(**running, daemon=True).start()

    def server_close(self) -> None:
        self.shutdown()
        super().server_close()


class Served:
    """A server in a process of its own."""

    def __init__(self, cache: Path, *, port: int | None = None, **variables: str) -> None:
        self.port = port or free_port()
        self.errors = cache / "errors"
        with self.errors.open("wb") as errors:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "uncletc.cli", "dashboard", "--port", str(self.port)],
                stdout=subprocess.DEVNULL,
                stderr=errors,
                env=os.environ | {"XDG_CACHE_HOME": str(cache)} | variables,
                cwd=cache,
            )

    @property
    def address(self) -> str:
        """The address to open."""
        return f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> Served:
        return self

    def __exit__(self, *_: object) -> None:
        """End the server."""
        self.process.terminate()
        try:
            self.process.wait(timeout=LONGEST)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def until_healthy(self) -> None:
        """Wait until it answers."""
        self.until(lambda: self.get("/_stcore/health")[0] == 200, "not healthy")

    def get(self, path: str, **headers: str) -> tuple[int, str]:
        """Status and text of an answer; 0 where there is none."""
        request = Request(f"{self.address}{path}", headers=headers)
        try:
            with urlopen(request, timeout=10) as answer:
                return answer.status, answer.read().decode()
        except HTTPError as error:
            with error:
                return error.code, error.read().decode()
        except (URLError, OSError):
            return 0, ""

    def until(self, seen: Callable[[], bool], what: str) -> None:
        """Wait until something is so."""
        began = monotonic()
        while not seen():
            assert self.process.poll() is None, self.errors.read_text()
            assert monotonic() - began < LONGEST, f"{what}: {self.errors.read_text()}"
            sleep(0.1)
