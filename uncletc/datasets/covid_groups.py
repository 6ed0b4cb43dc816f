"""What cells and days of the COVID-19 counts have in common, and the effects that follow."""

from __future__ import annotations

import numpy as np
import pandas as pd

from uncletc.common.validation import FloatArray
from uncletc.data.groups import Group

EFFECTS = {
    "apart(place)": "Places differ in how much happens there, beyond what attributes tell.",
    "smooth(day, 3)": "The epidemic rises and falls everywhere at once, from week to week.",
    "apart(smooth(place, 2))": "Neighbouring places are alike, over some 2 degrees.",
    "smooth(place, 4) × smooth(day, 7)": "Waves travel: regions differ from week to week.",
    "place × smooth(day, 10)": "A place has a course of its own, over weeks.",
    "reporting(state × weekday)": "States publish little, or nothing, on some weekdays.",
    "reporting(state × day)": "States publish late, and correct in bulk.",
    "reporting(place × weekday)": "Offices of one place have weekdays of their own.",
}
"""Effects of modes, with reasons; distances in degrees and days."""


def covid_groups(table: pd.DataFrame, days: pd.DatetimeIndex) -> list[Group]:
    """Places with their positions, states, days and weekdays.

    Parameters
    ----------
    table : DataFrame
        One row per county: ``latitude_index``, ``longitude_index``, ``latitude_degrees``,
        ``longitude_degrees``, ``state``, ``population`` and ``cell``.
    days : DatetimeIndex
    """
    first = table.sort_values("population", ascending=False, kind="stable").drop_duplicates("cell")
    first = first.sort_values(["latitude_index", "longitude_index"])
    rows, columns = (first[f"{mode}_index"].to_numpy() for mode in ("latitude", "longitude"))
    shape = tuple(int(table[f"{mode}_index"].max()) + 1 for mode in ("latitude", "longitude"))
    states, state = np.unique(first["state"].to_numpy(dtype=str), return_inverse=True)
    places, of_state = np.full(shape, -1), np.full(shape, -1)
    places[rows, columns] = np.arange(len(first))
    of_state[rows, columns] = state
    grid = ["latitude", "longitude"]
    labels = [f"{day:%Y-%m-%d}" for day in days]
    number = np.arange(len(days))
    weekdays = list(pd.date_range("2024-01-01", periods=7).day_name())
    return [
        Group("place", grid, places, first["cell"].tolist(), _positions(first)),
        Group("state", grid, of_state, states.tolist()),
        Group("day", ["day"], number, labels, number[:, None].astype(float)),
        Group("weekday", ["day"], np.asarray(days.day_of_week), weekdays),
    ]


def _positions(places: pd.DataFrame) -> FloatArray:
    """Degrees of latitude north, and as many east as are equally far."""
    north = places["latitude_degrees"].to_numpy(dtype=np.float64)
    east = places["longitude_degrees"].to_numpy(dtype=np.float64)
    return np.column_stack([north, east * np.cos(np.deg2rad(north))])
