"""What is known of plant–pollinator watches: attributes, their roles, groups, and effects."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd

from uncletc.data.groups import Group
from uncletc.data.roles import ActsOn, Role, Roles
from uncletc.datasets.base import AttributeInfo

ATTRIBUTES = {
    "flower abundance": AttributeInfo(
        "Flowers of the plant at the visit, as log(1 + flowers): one more is 2.7 times as many.",
        "log(1 + flowers)",
    ),
    "month": AttributeInfo("Month of the visit's mean day.", "month"),
    "day of year": AttributeInfo("Mean day of the visit, from 1 January.", "day of the year"),
    "wind": AttributeInfo("Share of watches with a breeze.", "share of watches"),
    "cloud": AttributeInfo("Mean cloud of the watches: 0 sunny, 1 cloudy or shade.", "0 to 1"),
    "air temperature": AttributeInfo("Mean air temperature of the watches.", "°C"),
}
EFFECTS = {
    "plant": "Plants draw more visitors or fewer.",
    "pollinator": "Some pollinators are common, others rare.",
    "visit": "Some watches find more of everything.",
    "plant × genus": "Pollinators of one genus prefer the same plants.",
    "plant × visit": "How much of a plant is in flower differs from visit to visit.",
    "pollinator × visit": "How many of a pollinator fly differs from visit to visit.",
    "plant × smooth(visit, 2)": "Plants flower over weeks.",
    "pollinator × smooth(visit, 2)": "Pollinators fly over weeks.",
}
"""Effects of modes, with reasons; distances in visits."""
_BETWEEN_YEARS = 20.0  # distance of visits of different years, in visits: far


def plant_roles(attributes: Iterable[str]) -> Roles:
    """Return the role of each attribute, stated before any fit; unknown names are guilds."""
    stated: dict[str, tuple[ActsOn, str]] = {
        "flower abundance": ("rate", "More flowers, more visits, whoever watches."),
        "month": ("rate", "Plants and insects have their season."),
        "day of year": ("rate", "Plants and insects have their season."),
        "wind": ("detection", "Insects are harder to see and to follow in wind."),
        "cloud": ("detection", "Light decides what a watcher sees."),
        "air temperature": ("detection", "Insects that fly fast are missed more often."),
    }
    guild: tuple[ActsOn, str] = (
        "both",
        "Guilds differ in how many there are and in how easily they are seen.",
    )
    pairs = [(name, stated.get(name, guild)) for name in attributes]
    return Roles(Role(name, acts_on, 0, reason) for name, (acts_on, reason) in pairs)


def genus_of(pollinators: Sequence[str]) -> Group:
    """Return pollinators by genus, the first word of their names."""
    genera, codes = np.unique([name.partition(" ")[0] for name in pollinators], return_inverse=True)
    return Group("genus", ["pollinator"], codes, genera.tolist())


def visits_in_time(visits: pd.DataFrame) -> Group:
    """Return visits with positions: those of a year are near each other.

    Parameters
    ----------
    visits : DataFrame
        One row per visit: ``label``, ``year`` and ``number``.
    """
    when = visits["number"] + _BETWEEN_YEARS * (visits["year"] - visits["year"].min())
    labels = visits["label"].astype(str).tolist()
    positions = when.to_numpy(dtype=np.float64)[:, None]
    return Group("visit", ["visit"], np.arange(len(visits)), labels, positions)
