"""True numbers of a closed population, and whether repeat visits determine their level."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np

from uncletc.common.validation import FloatArray, IntArray
from uncletc.result.ensemble import Interval


class Doubt(Enum):
    """Why the level of p, and so N, cannot be believed; the value is a sentence's end."""

    FLAT = "the counts fit almost as well with far smaller or larger p"
    LOW = "p is below 0.1, where small errors of the model change N many times over"
    SCATTER = "visits disagree more than the model allows (observers, double counts, flocks)"
    FALLING = "totals fall from visit to visit, as if animals were removed or left"
    TURNOVER = "consecutive visits agree more than distant ones, as if animals came and went"
    MOVING = "a site counts more when the next one counts less, as if animals moved between them"
    SITES = "sites differ in p, or are empty, beyond what the model allows"
    FRAGILE = (
        "N would fall by a quarter or more if animals were counted a little less independently"
    )
    ANIMALS = "some animals are caught more often than others, so that N comes out too small"
    MIXTURE = "N changes with the distribution assumed for sites, and counts prefer none"


@dataclass(frozen=True, eq=False)
class Population:
    """Draws of the true number n of each visited cell, given its counts at all visits.

    Attributes
    ----------
    cells : ndarray of int, shape (C, K)
        One entry of each cell: indices of its open modes, and 0 along closed ones.
    drawn : ndarray of int, shape (C, R)
        n in each draw of the parameters.
    mixture : str
        Distribution of true counts over sites.
    doubts : tuple of Doubt
        Empty where the level can be believed.
    """

    cells: IntArray
    drawn: IntArray
    mixture: str
    doubts: tuple[Doubt, ...] = ()

    def numbers(self, groups: IntArray | None = None, *, level: float = 0.9) -> Interval:
        """Return N of each group of cells: posterior mean and interval, each animal counted once.

        Parameters
        ----------
        groups : ndarray of int, shape (C,), optional
            Number ≥ 0 of the group of each cell; None: all are one.
        level : float
            Nominal coverage of the intervals, in (0, 1).
        """
        if not 0 < level < 1:
            raise ValueError(f"level must be in (0, 1), got {level}")
        own = np.zeros(len(self.drawn), dtype=np.int64) if groups is None else np.asarray(groups)
        sums = np.zeros((int(own.max(initial=-1)) + 1, self.drawn.shape[1]))
        np.add.at(sums, own, self.drawn)
        low, high = np.quantile(sums, [(1 - level) / 2, (1 + level) / 2], axis=1)
        return Interval(estimate=sums.mean(axis=1), low=low, high=high, level=level)

    @property
    def warning(self) -> str:
        """Why the level cannot be believed, as a sentence; empty where it can."""
        if not self.doubts:
            return ""
        reasons = "; ".join(doubt.value for doubt in self.doubts)
        return (
            "Repeat visits do not determine how many there are, so only relative values are "
            f"shown: {reasons}."
        )

    def to_arrays(self) -> tuple[dict[str, Any], dict[str, FloatArray | IntArray]]:
        """Header and arrays for a file; :meth:`from_arrays` reads them back."""
        header = {"mixture": self.mixture, "doubts": [doubt.name for doubt in self.doubts]}
        return header, {"n/cells": self.cells, "n/drawn": self.drawn}

    @classmethod
    def from_arrays(cls, header: Mapping[str, Any], arrays: Mapping[str, Any]) -> Population:
        """Build from what :meth:`to_arrays` returned."""
        doubts = tuple(Doubt[name] for name in header["doubts"])
        return cls(arrays["n/cells"], arrays["n/drawn"], header["mixture"], doubts)
