"""The steps of a mode, such as days, that a county map plays through. Pure."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dashboard.countymap.picture import MapPicture, county_names, deflate, pack

_LEVELS = 125  # fewer than a still map has, for a shorter message; as in ``static/map/play.js``
_NONE = 127


@dataclass(frozen=True, eq=False, kw_only=True)
class Steps:
    """The numbers of counties at every step.

    Attributes
    ----------
    labels : tuple of str
        Of the steps, in order.
    now : int
        The step that the page shows.
    fips : Series of str, shape (counties,)
    places : ndarray of int, shape (counties,)
        Row of `numbers` that each county has; counties may share one.
    numbers : ndarray, shape (places, steps)
        NaN where there is none.
    """

    labels: tuple[str, ...]
    now: int
    fips: pd.Series
    places: NDArray[np.int64]
    numbers: NDArray[np.float64]

    def frames(self, picture: MapPicture) -> str:
        """Return the colours of every step, packed: levels of the picture's own scale.

        Each place's levels follow each other as differences modulo 256, which deflate better.
        """
        rows = pd.Series(self.places, index=self.fips).reindex(list(county_names()))
        levels = color_levels(self.numbers, picture.limits, log=picture.log)
        changes = np.diff(levels, axis=1, prepend=np.uint8(0))
        return pack(
            {
                "rows": rows.fillna(-1).astype(int).tolist(),
                "length": len(self.labels),
                "changes": deflate(changes.tobytes()),
            }
        )


def color_levels(
    numbers: NDArray[np.float64], limits: tuple[float, float], *, log: bool
) -> NDArray[np.uint8]:
    """Return numbers as levels of a colour scale, 0 to 125, and 127 where there is none."""
    low, high = limits
    finite = np.isfinite(numbers)
    inside = np.clip(np.where(finite, numbers, low), low, high)
    share = np.log(inside / low) / np.log(high / low) if log else (inside - low) / (high - low)
    return np.where(finite, np.rint(_LEVELS * share), _NONE).astype(np.uint8)
