"""Dates and places that stand in several columns, put together."""

from __future__ import annotations

import re

import polars as pl

from uncletc.tables.words import is_fips

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


_FINE = re.compile(r"(?i)^(county|district|city|town|municipality|admin[ _]?2|commune|kreis)$")
_COARSE = re.compile(r"(?i)^(state|province([/_ ]state)?|region|country|admin[ _]?1|land)$")


def joined_places(frame: pl.DataFrame) -> tuple[pl.DataFrame, list[str]]:
    """Add a column of places where names of counties repeat from state to state.

    A table with codes of places stays as it is.
    """
    if any(is_fips(name) for name in frame.columns):
        return frame, []
    text = [name for name in frame.columns if frame.schema[name] in (pl.String, pl.Categorical)]
    fine = [name for name in text if _FINE.match(name.strip())]
    coarse = [name for name in text if _COARSE.match(name.strip())]
    if not fine or not coarse or "place" in frame.columns:
        return frame, []
    pair = frame.select(pl.col(fine[0]).cast(pl.String), pl.col(coarse[0]).cast(pl.String))
    if pair.drop_nulls().unique().height <= pair.get_column(fine[0]).drop_nulls().n_unique():
        return frame, []
    made = pair.select(pl.concat_str(pl.all(), separator=", ").alias("place"))
    if len(made) > 1000:
        made = made.cast(pl.Categorical)
    return pl.concat([made, frame], how="horizontal"), [
        f"The column place is put together from {fine[0]} and {coarse[0]}."
    ]
