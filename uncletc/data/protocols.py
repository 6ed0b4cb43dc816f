"""Sampling protocols by which the levels of one mode see the same animals in different ways."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Literal

import numpy as np

from uncletc.common.validation import FloatArray

Protocol = Literal["", "removal", "line transect", "point transect"]

_NUMBER = r"(\d+(?:\.\d+)?)"
_BAND = re.compile(rf"(.*?)[\[(]?\s*{_NUMBER}\s*(?:-|–|,|_|to)\s*{_NUMBER}\s*[a-z]*\s*[\])]?")


def stem_of_band(label: str) -> str | None:
    """What stands before the distances in the label of a band; None if it is none."""
    match = _BAND.fullmatch(label)
    return match[1] if match else None


def band_edges(labels: Iterable[Any]) -> FloatArray | None:
    """The ends of each band of distance, (J, 2); None if these are no bands that adjoin.

    Examples
    --------
    >>> band_edges(["0-25 m", "25-50 m"])
    array([[ 0., 25.],
           [25., 50.]])
    >>> band_edges(["jays[0-100]", "jays(100-200]"]).shape
    (2, 2)
    >>> band_edges(["0-9", "10-19"])
    """
    matches = [_BAND.fullmatch(str(label)) for label in labels]
    ends = np.array([[float(each[2]), float(each[3])] for each in matches if each])
    if len(ends) < max(len(matches), 2) or len({each[1] for each in matches if each}) > 1:
        return None
    order = ends[np.argsort(ends[:, 0])]
    adjoin = (order[1:, 0] == order[:-1, 1]).all() and (order[:, 0] < order[:, 1]).all()
    return ends if adjoin else None
