"""What attributes are, and in which units: what readers see on axes, and what they are told."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from uncletc.common.validation import FloatArray
from uncletc.datasets.base import AttributeInfo

SIMULATED_UNIT = "simulated; 0: smallest, 1: largest"


@dataclass(frozen=True)
class Description:
    """What is known of an attribute beside its values.

    Attributes
    ----------
    explanation, unit, levels, cumulative
        As in :class:`~uncletc.datasets.AttributeInfo`.
    times : float
        By which stored values are multiplied to be in the unit.
    """

    explanation: str
    unit: str = ""
    times: float = 1.0
    levels: tuple[str, ...] = ()
    cumulative: bool = False


COVID_ATTRIBUTES = {
    "population": Description("People who live there, 2019.", "people"),
    "% older than 60": Description("Share of people older than 60, census of 2010.", "%"),
    "median income": Description("Median income of a household in a year, 2012–2016.", "US$"),
    "% African American": Description("Share of African Americans, 2012–2016.", "%"),
    "% Hispanic": Description("Share of Hispanics, 2012–2016.", "%"),
    "unemployment rate": Description("Share of the labour force without work, 2012–2016.", "%"),
    "% rural": Description("Share of people who live outside towns.", "%"),
    "population density": Description("People per square mile.", "people per square mile"),
    "transit mode share": Description("Share of workers who go by public transport.", "%", 100),
    "working from home": Description(
        "Share of jobs that can be done from home, a proxy for who does.", "%", 100
    ),
    "hospital beds/1000": Description("Staffed hospital beds per 1000 people.", "beds per 1000"),
    "unemployment claims/1000": Description(
        "People who newly asked for unemployment pay that week, per 1000 of the labour force.",
        "claims per 1000",
    ),
    "testing gap": Description(
        "Share of tests in the state that were positive over the last 7 days: the larger it is, "
        "the fewer of the infected are tested.",
        "% of tests positive",
        100,
    ),
    "work trips": Description(
        "Time at work places in the state, against normal: 0 is as usual.", "% against normal", 100
    ),
    "non-work trips": Description(
        "Time at shops, leisure and groceries in the state, against normal: 0 is as usual.",
        "% against normal",
        100,
    ),
    "% staying home": Description(
        "Time at home in the state, against normal: 0 is as usual.", "% against normal", 100
    ),
    "cumulative inflation": Description(
        "The national consumer price index of the month.", "1982–84 = 100", cumulative=True
    ),
    "miles/person": Description(
        "Median distance from home that people went, against normal: 100 is as usual.",
        "% of normal",
    ),
    "weekend": Description("Saturdays and Sundays.", levels=("weekday", "weekend")),
}
PLANT_ATTRIBUTES = {
    "flower abundance": Description(
        "Flowers of the plant at the visit, as log(1 + flowers): one more is 2.7 times as many.",
        "log(1 + flowers)",
    ),
    "month": Description("Month of the visit's mean day.", "month"),
    "day of year": Description("Mean day of the visit, from 1 January.", "day of the year"),
    "wind": Description("Share of watches with a breeze.", "share of watches"),
    "cloud": Description("Mean cloud of the watches: 0 sunny, 1 cloudy or shade.", "0 to 1"),
    "air temperature": Description("Mean air temperature of the watches.", "°C"),
}


def described(
    values: Mapping[str, FloatArray], known: Mapping[str, Description] | None = None
) -> dict[str, AttributeInfo]:
    """Return what unscaled attributes are, by name.

    Parameters
    ----------
    values : mapping of str to ndarray
        Finite, as they are before :func:`uncletc.datasets.reading.scaled`.
    known : mapping of str to Description, optional
    """
    found = {}
    for name, column in values.items():
        about = (known or {}).get(name, Description(""))
        ends = (float(np.min(column)), float(np.max(column))) if np.size(column) else (0.0, 1.0)
        found[name] = AttributeInfo(
            minimum=about.times * ends[0],
            maximum=about.times * ends[1],
            unit=about.unit,
            explanation=about.explanation,
            levels=about.levels,
            cumulative=about.cumulative,
        )
    return found


def simulated_info(
    names: Iterable[str], known: Mapping[str, Description]
) -> dict[str, AttributeInfo]:
    """Return what simulated attributes are: values without a unit, of what real ones would be."""
    found = {}
    for name in names:
        about = known.get(name, Description(""))
        found[name] = AttributeInfo(
            unit="" if about.levels else SIMULATED_UNIT,
            explanation=about.explanation and f"Simulated after: {about.explanation}",
            levels=about.levels,
            cumulative=about.cumulative,
        )
    return found
