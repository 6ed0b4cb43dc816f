"""What a service looks after: orders beyond the limits, and sessions that are gone."""

from __future__ import annotations

from collections.abc import Callable

from dashboard.work.jobs import Job
from dashboard.work.limits import Limits

_CANCELLED = 20.0  # seconds after its last word after which a cancelled order is ended
_GONE = 30.0  # seconds without a session after which it counts as closed; a reload takes less


class Presence:
    """Which sessions are still there.

    Parameters
    ----------
    alive : callable
        Tells of a session whether it is there now.
    """

    def __init__(self, alive: Callable[[str], bool]) -> None:
        self._alive = alive
        self._seen: dict[str, float] = {}

    def gone(self, sessions: set[str], now: float) -> set[str]:
        """Return those of these sessions that have not been there for a while."""
        self._seen = {each: self._seen.get(each, now) for each in sessions}
        for session in sessions:
            if self._alive(session):
                self._seen[session] = now
        return {each for each, when in self._seen.items() if now - when > _GONE}


def must_end(job: Job, limits: Limits, now: float) -> bool:
    """Whether the process of a job is to be ended; notes in the job why, where that is final.

    One that has said nothing for long is hung: another process may try its order again.
    """
    if job.process is None or job.process.waits:
        return False
    if now - job.began > limits.seconds:
        job.stopped = limits.too_long
    elif job.process.memory > limits.memory_gb * 1e9:
        job.stopped = limits.too_large
    silent = limits.silent_seconds if job.active else _CANCELLED
    return bool(job.stopped) or now - job.heard > silent
