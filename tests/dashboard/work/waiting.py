"""How tests of the service wait for it."""

from collections.abc import Callable
from time import monotonic, sleep
from typing import Any

from dashboard.work.engine import Job


def wait(until: Callable[[], Any], seconds: float = 180) -> None:
    """Wait until something holds."""
    began = monotonic()
    while not until():
        assert monotonic() - began < seconds, "this took too long"
        sleep(0.01)


def finish(job: Job) -> Job:
    """Wait for the end of a job."""
    wait(lambda: not job.active)
    return job
