"""What visits and pollinators have in common, and the effects that follow."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from uncletc.data.groups import Group

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
