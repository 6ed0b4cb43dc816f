"""What one session asks of the service of fits, several fits at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dashboard.work.service import FitService, Job
from uncletc import CountTensor, FitSettings

_AT_ONCE = 2  # fits of a sweep in the queue, so that a comparison need not wait for all of them


@dataclass(frozen=True, eq=False)
class Task:
    """One fit to ask for.

    Attributes
    ----------
    key : str
        See :func:`dashboard.work.service.fit_key`.
    counts : CountTensor
        What it may see.
    settings : FitSettings
    """

    key: str
    counts: CountTensor
    settings: FitSettings


@dataclass(frozen=True)
class Orders:
    """What one browser session asks of the service that all sessions share.

    Attributes
    ----------
    service : FitService
    watcher : str
        Names the session: what others wait for as well is not stopped with it.
    """

    service: FitService
    watcher: str

    def submit_missing(self, wanted: Sequence[Task]) -> None:
        """Queue the fits that are not there yet."""
        for each in wanted:
            if self.service.lookup(each.key) is None:
                self.service.submit(each.counts, each.settings, self.watcher)

    def under_way(self, wanted: Sequence[Task]) -> list[Job]:
        """Those of this session that wait or run."""
        found = (self.service.job(each.key) for each in wanted)
        return [job for job in found if job and job.active and self.watcher in job.watchers]

    def cancel(self, wanted: Sequence[Task]) -> None:
        """Leave what waits or runs, what waits first, so that nothing starts in between."""
        for job in reversed(self.under_way(wanted)):
            self.service.cancel(job, self.watcher)

    def trouble(self, wanted: Sequence[Task]) -> str | None:
        """Why a fit did not come to its end, as a sentence; None where none failed."""
        for each in wanted:
            job = self.service.job(each.key)
            if job and job.state == "failed" and self.service.lookup(each.key) is None:
                return f"A fit did not finish: {job.message}"
        return None

    def n_missing(self, wanted: Sequence[Task]) -> int:
        """How many fits are not there yet."""
        return sum(self.service.lookup(each.key) is None for each in wanted)

    def advance(self, wanted: Sequence[Task], asked: set[str]) -> bool:
        """Queue the next fits of a sweep, and return whether anything is left to wait for.

        Parameters
        ----------
        wanted : sequence of Task
        asked : set of str
            Keys queued for this sweep so far; grows. One that failed or was cancelled since is
            not tried again.
        """
        under_way = len(self.under_way(wanted))
        for each in wanted:
            if under_way >= _AT_ONCE:
                return True
            if each.key not in asked and self.service.lookup(each.key) is None:
                asked.add(each.key)
                self.service.submit(each.counts, each.settings, self.watcher)
                under_way += 1
        return under_way > 0
