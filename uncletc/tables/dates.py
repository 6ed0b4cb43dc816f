"""Dates that stand in several columns, and dates as levels of a mode."""

from __future__ import annotations

import re

import polars as pl

_QUICK = 200_000  # counts that are fitted in some seconds

_YEAR = re.compile(r"(?i)^(year|yr|jahr|annee|año|ano)$")
_MONTH = re.compile(r"(?i)^(month|mon|mo|monat|mois|mes)$")
_DAY = re.compile(
    r"(?i)^(day|dom|tag|jour|dia|day[_ ]?of[_ ]?month|day[_ ]?end[_ ]?of[_ ]?week|day_endofweek)$"
)
_WEEK = re.compile(
    r"(?i)^(week|wk|isoweek|epiweek|week[_ ]?(no|nr|number|of[_ ]?year)|woche|semaine|semana)$"
)


def joined_dates(frame: pl.DataFrame) -> tuple[pl.DataFrame, list[str]]:
    """Add a column of dates where year, month and day, or year and week, stand apart.

    A table that has a column of dates stays as it is.
    """
    if any(kind == pl.Date or isinstance(kind, pl.Datetime) for kind in frame.dtypes):
        return frame, []
    year, month, day, week = (_column(frame, form) for form in (_YEAR, _MONTH, _DAY, _WEEK))
    if year is None:
        return frame, []
    name = "date" if "date" not in frame.columns else "date (joined)"
    years = pl.col(year)
    if month is not None:
        days = pl.col(day) if day is not None else pl.lit(1)
        made = (
            frame.select(
                pl.date(
                    years,
                    pl.col(month),
                    days,
                ).alias(name)
            )
            if _valid(frame, year, month, day)
            else None
        )
        of = [year, month] + ([day] if day is not None else [])
    elif week is not None:
        form = years.cast(pl.String) + "-W" + pl.col(week).cast(pl.String).str.zfill(2) + "-1"
        made = frame.select(form.str.to_date("%G-W%V-%u", strict=False).alias(name))
        of = [year, week]
    else:
        return frame, []
    if made is None or made.to_series().null_count():
        return frame, []
    said = ", ".join(of[:-1]) + f" and {of[-1]}"
    return pl.concat([made, frame], how="horizontal"), [
        f"The column {name} is put together from {said}."
    ]


def _column(frame: pl.DataFrame, form: re.Pattern[str]) -> str | None:
    found = [
        name
        for name in frame.columns
        if form.match(name.strip()) and frame.schema[name] == pl.Int32
    ]
    return found[0] if found and not frame.get_column(found[0]).null_count() else None


def _valid(frame: pl.DataFrame, year: str, month: str, day: str | None) -> bool:
    years, months = frame.get_column(year), frame.get_column(month)
    if not (years.is_between(1500, 2200).all() and months.is_between(1, 12).all()):
        return False
    if day is None:
        return True
    days = frame.get_column(day)
    if not days.is_between(1, 31).all():
        return False
    text = frame.select(
        pl.format("{}-{}-{}", pl.col(year), pl.col(month), pl.col(day)).str.to_date(
            "%Y-%m-%d", strict=False
        )
    ).to_series()
    return not text.null_count()


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
