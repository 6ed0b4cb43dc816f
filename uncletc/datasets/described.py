"""What attributes are, and in which units, for axes and explanations on pages."""

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
