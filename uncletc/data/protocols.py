"""Sampling protocols by which the levels of one mode see the same animals in different ways."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Literal

import numpy as np

from uncletc.common.validation import FloatArray

Protocol = Literal["", "removal", "line transect", "point transect"]

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
    if "transect" in protocol:
        return (
            "N assumes that every animal at distance 0 is seen, before it moves: distances cannot "
            "show that some are missed there, which makes N too small, or come nearer, which makes "
            "it too large"
        )
    if protocol:
        return (
            "N assumes that every pass has the same p but for covariates: "
            f"{two.replace('visits', 'passes')} that p falls, which makes N too small, or rises, "
            "which makes it too large; its interval allows for animals that differ in p"
        )
    if marked:
        differing = (
            "; nor how far they differ in p: beyond a standard deviation of logit p of 1, for "
            "which its interval allows, N is too small"
            if n_visits == 2
            else "; its interval allows for differences in p"
        )
        return (
            "N assumes that none comes, leaves or changes its p once caught, that observers or "
            "lists are independent, and that no mark or match is wrong: "
            f"{two} where that fails, and N is then wrong{differing}"
        )
    alike = (
        "N, the true number, assumes that animals differ in p by covariates alone, which counts do "
        "not show: else it is too small, by 5 to 33 % if logit p has a standard deviation of 1"
    )
    if n_visits == 2:
        return (
            "N assumes that none come or leave between visits, and that animals are counted "
            f"independently of each other: {two} where that fails, and N is then wrong. {alike}"
        )
    return alike
