"""Dates as levels of a mode."""

from __future__ import annotations

import polars as pl

_QUICK = 200_000  # counts that are fitted in some seconds


def by_step(dates: pl.Series, step: str) -> pl.Series:
    """The first day of each date's day, week (from Monday) or month."""
    every = {"day": "1d", "week": "1w", "month": "1mo"}[step]
    return dates.dt.truncate(every).cast(pl.Date)


def step_of(levels: pl.Series, n_counts: int) -> str | None:
    """A step under which dates make a sensible number of levels; None: as they stand.

    Parameters
    ----------
    levels : polars.Series
        Distinct dates or times.
    n_counts : int
        Counts of all of them: where they are many, fewer levels are faster.
    """
    days = levels.cast(pl.Date).unique()
    most = 500 if n_counts <= _QUICK else 120
    if len(days) <= most:
        return "day" if len(days) < levels.n_unique() else None
    weeks = by_step(days, "week").n_unique()
    if weeks <= 300:
        return "week" if weeks < len(days) else None
    return "month"
