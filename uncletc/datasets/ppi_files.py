"""Watches of plants and their pollinators, and the flower surveys that go with them."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import numpy as np
import pandas as pd

from uncletc.data.frames import numbers
from uncletc.datasets import fetch
from uncletc.datasets.reading import read_table, with_numbers

WATCHES = (
    "lamb-j/plant-pollinator-prediction/5ddfcce2b7f4ab04933bcec2839f10a167845f86/"
    "Code/old/11to13_interactions.csv"
)
SURVEYS = (
    "Hutchinson-Lab/pollination-networks-implicit-feedback/"
    "5a70c3ff59e492fb7ec6929a59fba43ae0a23032/Data/official_dataset_11-15/SA02602_v2.csv"
)

# Headers differ between versions of the table; they are compared by lower-case letters and digits.
_NEEDED = {
    "year": ("year",),
    "date": ("date", "sampledate"),
    "meadow": ("meadow",),
    "watch": ("watch",),
    "count": ("noint",),
    "plant": ("pltspname",),
    "pollinator": ("visspname",),
}
_OPTIONAL = {
    "status": ("status",),
    "guild": ("vectorguild", "vissptype"),
    "clouds": ("clouds",),
    "wind": ("wind",),
    "temperature": ("temp",),
}
_OFFICIAL = {
    "year": "YEAR",
    "date": "DATE",
    "meadow": "MEADOW",
    "watch": "WATCH",
    "count": "NO_INT",
    "plant": "PLTSP_NAME",
    "pollinator": "VISSP_NAME",
}
_CLOUD = {"S": 0.0, "PC": 0.5, "PSH": 0.5, "SH": 1.0, "C": 1.0}
_WIND = {"ST": 0.0, "S": 0.0, "B": 1.0, "BR": 1.0}
_COLDEST, _HOTTEST = 5.0, 45.0  # degrees Celsius; other readings are in another unit, or slips
_GUILDS = {"social-wasp": "social wasp", "kloeptoparasitic bee": "kleptoparasitic bee", "": "none"}


def read_watches(path: str | Path | None = None) -> pd.DataFrame:
    """Read the usable rows of the watches.

    Parameters
    ----------
    path : path, optional
        The user's own table; None: the public one of 2011–2013.

    Returns
    -------
    pandas.DataFrame
        One row per plant, pollinator and minute of a watch: ``plant``, ``pollinator``, ``guild``,
        ``meadow`` (text), ``year``, ``visit`` (of the year, from 1), ``count`` (interactions ≥ 0),
        ``date`` (NaT: unknown), ``wind`` and ``cloud`` (0 to 1; NaN: unknown) and
        ``temperature`` (°C; NaN: unknown).

    Raises
    ------
    ValueError
        If a column is missing, a number or date cannot be read, a count is negative or
        fractional, or most interactions have no pollinator.
    """
    file = fetch.find(WATCHES) if path is None else Path(path)
    table = _read_uneven(file)
    for column in ("year", "watch", "count"):
        table[column] = numbers(table, column, f"{_OFFICIAL[column]} of {file.name}")
    _check_pollinators(table, file.name)
    usable = (
        table["status"].isin(["1", ""])
        & table[["year", "watch", "count"]].notna().all(axis=1)
        & ~table[["plant", "pollinator"]].isin(["", "NA"]).any(axis=1)
    )
    table = table[usable].reset_index(drop=True)
    if table.empty:
        raise ValueError(f"{file.name} must have rows with STATUS 1, NO_INT, WATCH and both names")
    wrong = (table["count"] < 0) | (table["count"] % 1 != 0)
    if wrong.any():
        first = table["count"][wrong].iloc[0]
        raise ValueError(f"NO_INT of {file.name} must hold whole numbers >= 0, got {first:g}")
    year = table["year"].astype(np.int64)
    year = year.where(year >= 100, year + 2000)
    date = _dates(table["date"], file.name)
    temperature = pd.to_numeric(table["temperature"], errors="coerce")
    return pd.DataFrame(
        {
            "plant": table["plant"],
            "pollinator": table["pollinator"],
            "guild": table["guild"].replace(_GUILDS),
            "meadow": table["meadow"],
            "year": year,
            "visit": _whole_visits(table["watch"]),
            "count": table["count"].astype(np.int64),
            "date": date.where(date.dt.year == year),
            "wind": table["wind"].str.upper().map(_WIND),
            "cloud": table["clouds"].str.upper().map(_CLOUD),
            "temperature": temperature.where(temperature.between(_COLDEST, _HOTTEST)),
        }
    )


def read_flowers() -> pd.DataFrame:
    """Read the plants found in flower by the surveys of 2011–2015.

    Returns
    -------
    pandas.DataFrame
        One row per plot and plant: ``plant``, ``meadow`` (text), ``year``, ``visit`` (of the
        year, from 1) and ``flowers`` (stalks times flowers per stalk ≥ 0).
    """
    file = fetch.find(SURVEYS)
    columns = ("YEAR", "WATCH", "NO_STALK", "NO_FLWS")
    table = read_table(file, ("MEADOW", "FLW_STATUS", "PLTSP_NAME", *columns))
    table = table[(table["FLW_STATUS"] == "FLW") & (table["PLTSP_NAME"].str.strip() != "")]
    table = with_numbers(table, columns, file.name)
    return pd.DataFrame(
        {
            "plant": table["PLTSP_NAME"].str.strip(),
            "meadow": table["MEADOW"].str.strip(),
            "year": table["YEAR"].astype(np.int64),
            "visit": _whole_visits(table["WATCH"]),
            "flowers": (table["NO_STALK"] * table["NO_FLWS"]).fillna(0),
        }
    )


def _read_uneven(file: Path) -> pd.DataFrame:
    """Read a csv file whose rows differ in length; all text, stripped, absent fields ``""``."""
    with file.open(encoding="utf-8-sig", errors="replace", newline="") as lines:
        rows = csv.reader(lines)
        header = [re.sub("[^a-z0-9]", "", name.lower()) for name in next(rows, [])]
        place = {
            column: next((header.index(name) for name in names if name in header), None)
            for column, names in (_NEEDED | _OPTIONAL).items()
        }
        missing = [_OFFICIAL[column] for column in _NEEDED if place[column] is None]
        if missing:
            raise ValueError(
                f"{file.name} must have the columns {', '.join(_OFFICIAL.values())}; "
                f"{', '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing"
            )
        read = [
            [row[at].strip() if at is not None and at < len(row) else "" for at in place.values()]
            for row in rows
        ]
    return pd.DataFrame(read, columns=list(place), dtype="str")


def _check_pollinators(table: pd.DataFrame, file: str) -> None:
    seen = table["count"] > 0
    nameless = int((seen & table["pollinator"].isin(["", "NA"])).sum())
    if 2 * nameless > seen.sum():
        raise ValueError(
            f"VISSP_NAME of {file} must name the pollinator of most interactions; "
            f"{nameless:,} of {int(seen.sum()):,} rows have none"
        )


def _dates(text: pd.Series, file: str) -> pd.Series:
    dates = pd.Series(pd.NaT, index=text.index, dtype="datetime64[ns]")
    for style in ("%m/%d/%y", "%m/%d/%Y", "%Y-%m-%d"):
        dates = dates.fillna(pd.to_datetime(text, format=style, errors="coerce"))
    wrong = dates.isna() & ~text.isin(["", "NA"])
    if wrong.any():
        raise ValueError(
            f"DATE of {file} must be like 7/12/11 or 2011-07-12, got {text[wrong].iloc[0]!r}"
        )
    return dates


def _whole_visits(watch: pd.Series) -> pd.Series:
    """Put a half-numbered round, an early part of a visit, into the next whole one."""
    return -(-watch // 1).astype(np.int64)
