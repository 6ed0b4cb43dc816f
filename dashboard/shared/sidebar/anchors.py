"""The reader's statement about the free scale, turned into a Scale. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

import uncletc
from dashboard.shared.charts.places import place_table
from uncletc import CountTensor, Fit, Scale
from uncletc.datasets import Dataset

Stated = float | tuple[float, float]
Kind = Literal["relative", "mean", "entry", "total", "best"]


@dataclass(frozen=True, kw_only=True)
class Anchor:
    """What fixes the scale of p.

    Attributes
    ----------
    kind : {"relative", "mean", "entry", "total", "best"}
        Where looks with a known p state the scale of a fit, "relative" leaves it to them.
    mean : float or pair of float
        In (0, 1]; the stated mean detection, or the ends of its range, used by "mean" alone.
    place : tuple of int
        Used by "entry" alone: indices along `modes`, e.g. of latitude and longitude. All entries
        that have them are meant, on average.
    modes : tuple of int
        Used by "entry" alone; by default the first ones.
    name : str
        Used by "entry" alone: what the place is called.
    detects : float or pair of float
        In (0, 1]; the stated detection of the place, or its range, used by "entry" alone.
    total : float or pair of float
        > 0; the stated sum of true counts behind all counted entries, or its range, used by "total"
        alone.
    """

    kind: Kind = "relative"
    mean: Stated = 0.25
    place: tuple[int, ...] = ()
    modes: tuple[int, ...] = ()
    name: str = ""
    detects: Stated = 0.5
    total: Stated = 1.0

    def of(self, counts: CountTensor, fit: Fit, detection: ArrayLike | None = None) -> Scale:
        """Return the scale for a fit.

        Parameters
        ----------
        counts : CountTensor
            The counts that were fitted.
        fit : Fit
        detection : array_like, shape (S,), optional
            ``fit.detection(counts.attributes)`` if it has been computed already.

        Raises
        ------
        ValueError
            If no entry of the place has attributes.
        """
        if self.kind == "total":
            return Scale.known_total(fit.rate(counts.indices), self.total)
        if self.kind == "relative" and fit.scale is not None:
            return fit.scale
        p = fit.detection(counts.attributes) if detection is None else np.asarray(detection)
        if self.kind == "entry":
            at_place = entries_at(counts, self.place, self.modes)
            if not at_place.any():
                raise ValueError(f"place must have entries with attributes, {self.name} has none")
            return Scale.entry_detection(float(p[at_place].mean()), self.detects, self.name)
        if self.kind == "relative":
            return uncletc.Anchor.relative(counts, p)
        return self.scale(p)

    def scale(self, detection: ArrayLike) -> Scale:
        """Return the scale for the fitted p of all attributed entries (n,).

        "entry" and "total" need the counts and the fit as well; see :meth:`of`.
        """
        if self.kind == "mean":
            return Scale.mean_detection(detection, self.mean)
        if self.kind == "best":
            return Scale.best_detects_all(detection)
        if self.kind == "relative":
            return Scale.relative(detection)
        raise ValueError(f"kind must be relative, mean or best without a fit, got {self.kind!r}")


def entries_at(
    counts: CountTensor, place: tuple[int, ...], modes: tuple[int, ...] = ()
) -> NDArray[np.bool_]:
    """Which attributed entries have these indices along some modes, by default the first; (S,)."""
    along = list(modes or range(len(place)))
    at_place: NDArray[np.bool_] = (counts.attribute_indices[:, along] == place).all(axis=1)
    return at_place


def places(dataset: Dataset) -> dict[str, tuple[int, ...]]:
    """Places or pairs that a reader may know p of, by name, the largest first."""
    listed = place_table(dataset)
    return dict(zip(listed["label"], listed["where"], strict=True))


def axis_title(scale: Scale) -> str:
    """What an axis or a colour bar of p says."""
    return f"p ({scale.statement})" if scale.absolute else "relative p (median = 1)"


def impossible(scale: Scale, detection: ArrayLike) -> str | None:
    """What to say where a statement makes some p larger than 1; None where it does not.

    Parameters
    ----------
    scale : Scale
    detection : array_like, shape (n,)
        Fitted p.
    """
    most = float(np.max(scale.detection(detection), initial=0.0))
    if not scale.absolute or most <= 1 + 1e-9:
        return None
    return (
        f"**This statement and this fit do not agree.** With “{scale.statement}” the highest p "
        f"is {most:.3g}, and a probability cannot exceed 1. Ranks and ratios still hold; state a "
        "lower detection, or use relative values."
    )
