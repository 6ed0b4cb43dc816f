"""Limits of iterations: a fit with more than the usual ones goes on from where another stopped."""

from __future__ import annotations

from uncletc import FitSettings

_LIMITS = {"joint": 300, "bcd": 100}  # of iterations, where nobody asked for more


def limits_before(settings: FitSettings) -> tuple[int, ...]:
    """Limits of iterations at which fits stop that a fit with these settings goes on from.

    A fit with more than the usual iterations goes on from one with half of them, so that what is
    there is not done twice; :func:`uncletc.fit_on` gives the same.

    Examples
    --------
    >>> limits_before(FitSettings(rank=2)), limits_before(FitSettings(rank=2, max_iter=1200))
    ((), (300, 600))
    """
    limits = []
    limit = _LIMITS[settings.solver.name]
    while limit < settings.max_iter:
        limits.append(limit)
        limit *= 2
    return tuple(limits)
