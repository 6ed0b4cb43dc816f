"""What is known of US counties and days: attributes, their roles, groups, and effects."""

from __future__ import annotations

import numpy as np
import pandas as pd

from uncletc.common.validation import FloatArray
from uncletc.data.groups import Group
from uncletc.data.roles import Role, Roles
from uncletc.datasets.base import AttributeInfo

ATTRIBUTES = {
    "population": AttributeInfo("People who live there, 2019.", "people"),
    "% older than 60": AttributeInfo("Share of people older than 60, census of 2010.", "%"),
    "median income": AttributeInfo("Median income of a household in a year, 2012–2016.", "US$"),
    "% African American": AttributeInfo("Share of African Americans, 2012–2016.", "%"),
    "% Hispanic": AttributeInfo("Share of Hispanics, 2012–2016.", "%"),
    "unemployment rate": AttributeInfo("Share of the labour force without work, 2012–2016.", "%"),
    "% rural": AttributeInfo("Share of people who live outside towns.", "%"),
    "population density": AttributeInfo("People per square mile.", "people per square mile"),
    "transit mode share": AttributeInfo(
        "Share of workers who go by public transport.", "%", maximum=100
    ),
    "working from home": AttributeInfo(
        "Share of jobs that can be done from home, a proxy for who does.", "%", maximum=100
    ),
    "hospital beds/1000": AttributeInfo("Staffed hospital beds per 1000 people.", "beds per 1000"),
    "unemployment claims/1000": AttributeInfo(
        "People who newly asked for unemployment pay that week, per 1000 of the labour force.",
        "claims per 1000",
    ),
    "testing gap": AttributeInfo(
        "Share of tests in the state that were positive over the last 7 days: the larger it is, "
        "the fewer of the infected are tested.",
        "% of tests positive",
        maximum=100,
    ),
    "work trips": AttributeInfo(
        "Time at work places in the state, against normal: 0 is as usual.",
        "% against normal",
        maximum=100,
    ),
    "non-work trips": AttributeInfo(
        "Time at shops, leisure and groceries in the state, against normal: 0 is as usual.",
        "% against normal",
        maximum=100,
    ),
    "% staying home": AttributeInfo(
        "Time at home in the state, against normal: 0 is as usual.", "% against normal", maximum=100
    ),
    "cumulative inflation": AttributeInfo(
        "The national consumer price index of the month.", "1982–84 = 100", cumulative=True
    ),
    "miles/person": AttributeInfo(
        "Median distance from home that people went, against normal: 100 is as usual.",
        "% of normal",
    ),
    "weekend": AttributeInfo("Saturdays and Sundays.", levels=("weekday", "weekend")),
}

COVID_ROLES = Roles(
    [
        Role(
            "testing gap",
            "both",
            -1,
            "Where a larger share of tests is positive, fewer of the infected are tested. It also "
            "rises with infections.",
        ),
        Role("% rural", "both", -1, "The way to a test site is longer."),
        Role("median income", "both", 1, "Tests cost time off work, and sometimes money."),
        Role("hospital beds/1000", "both", 1, "More places where people are tested."),
        Role(
            "weekend",
            "detection",
            -1,
            "Offices report fewer cases at weekends; people are infected on all days.",
        ),
        Role(
            "unemployment claims/1000",
            "both",
            -1,
            "People who lose work lose insurance and tests at work.",
        ),
        *(
            Role(name, "rate", 0, "Who lives there, how close and how they move: infections vary.")
            for name in (
                "population",
                "% older than 60",
                "% African American",
                "% Hispanic",
                "unemployment rate",
                "population density",
                "transit mode share",
                "working from home",
                "work trips",
                "non-work trips",
                "% staying home",
                "cumulative inflation",
                "miles/person",
            )
        ),
    ]
)
"""Stated before any fit, from how cases are found and reported. What speaks for them are outside
estimates of detection, which no fit sees: `benchmarks/results/outside.md`."""

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
