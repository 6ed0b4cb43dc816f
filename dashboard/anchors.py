"""The reader's statement about the free scale, turned into a Scale. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from numpy.typing import ArrayLike

from uncletc import Scale


@dataclass(frozen=True, kw_only=True)
class Anchor:
    """What fixes the scale of p.

    Attributes
    ----------
    kind : {"relative", "mean", "best"}
    mean : float
        In (0, 1]; the stated mean detection, used by "mean" alone.
    """

    kind: Literal["relative", "mean", "best"] = "relative"
    mean: float = 0.25

    def scale(self, detection: ArrayLike) -> Scale:
        """Return the scale for the fitted p of all attributed entries (n,)."""
        if self.kind == "mean":
            return Scale.mean_detection(detection, self.mean)
        if self.kind == "best":
            return Scale.best_detects_all(detection)
        return Scale.relative(detection)


def axis_title(scale: Scale) -> str:
    """What an axis or a colour bar of p says."""
    return f"p ({scale.statement})" if scale.absolute else "relative p (median = 1)"
