"""Sampling protocols by which the levels of one mode see the same animals in different ways."""

import re
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

import numpy as np

from uncletc.common.validation import FloatArray

Protocol = Literal["", "removal", "line transect", "point transect"]

_ASSUMED: dict[str, str] = tomllib.loads(
    Path(__file__).with_name("assumptions.toml").read_text(encoding="utf-8")
)
_NUMBER = r"(\d+(?:\.\d+)?)"
_ENDS = rf"([^$€£%]*?)[\[(]?\s*{_NUMBER}\s*(?:-|–|,|_|to)\s*{_NUMBER}\s*"
_BAND = re.compile(_ENDS + r"(?!min|[shyd])[a-z]*\s*[\])]?")
_INTERVAL = re.compile(_ENDS + r"[a-z]*\s*[\])]?")


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
    return _edges(labels, _BAND)


def interval_lengths(labels: Iterable[Any]) -> FloatArray | None:
    """How long each interval of distance or time is, (J,); None if these do not adjoin.

    Examples
    --------
    >>> interval_lengths(["0-3 min", "3-5 min", "5-10 min"])
    array([3., 2., 5.])
    """
    edges = _edges(labels, _INTERVAL)
    return None if edges is None else np.diff(edges, axis=1).ravel()


def _edges(labels: Iterable[Any], form: re.Pattern[str]) -> FloatArray | None:
    matches = [form.fullmatch(str(label)) for label in labels]
    ends = np.array([[float(each[2]), float(each[3])] for each in matches if each])
    if len(ends) < max(len(matches), 2) or len({each[1] for each in matches if each}) > 1:
        return None
    order = ends[np.argsort(ends[:, 0])]
    adjoin = (order[1:, 0] == order[:-1, 1]).all() and (order[:, 0] < order[:, 1]).all()
    return ends if adjoin else None


def assumption_of_closed(protocol: Protocol, n_visits: int, *, marked: bool) -> str:
    """Say what N of a closed population assumes that the sampling design cannot show.

    Examples
    --------
    >>> assumption_of_closed("removal", 2, marked=False)[:48]
    'N assumes that every pass has the same p but for'
    >>> assumption_of_closed("", 2, marked=True)[-31:]
    'interval allows, N is too small'
    """
    two = "2 visits cannot show" if n_visits == 2 else f"{n_visits} visits seldom show"
    animals = "marked" if marked else "unmarked"
    kind = "transect" if "transect" in protocol else str(protocol or animals)
    if f"{kind}, 2 visits" in _ASSUMED and n_visits == 2:
        kind += ", 2 visits"
    return _ASSUMED[kind].format(two.replace("visits", "passes") if protocol else two)
