"""Whose turn it is: fair among sessions, however much each of them asks for. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from dashboard.work.jobs import Job


def in_turn(waiting: Iterable[Job], running: Iterable[Job] = ()) -> list[Job]:
    """Return those that wait in the order in which they will be worked on.

    The n-th order of one session comes after everybody's first to (n − 1)-th; among equals the one
    asked for first. An order that several sessions wait for has the best of their places. One that
    lost its process comes first.

    Parameters
    ----------
    waiting, running : iterable of Job
        Of one lane.
    """
    taken = Counter(session for job in running for session in job.sessions)
    placed = []
    for job in sorted(waiting, key=lambda job: job.asked):
        sessions = job.sessions or {""}
        turn = -1 if job.lost else min(taken[session] for session in sessions)
        placed.append((turn, job.asked, job))
        taken.update(sessions)
    return [job for *_, job in sorted(placed, key=lambda each: each[:2])]
