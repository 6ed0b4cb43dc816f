"""Drivers page: how λ changes with the attributes that act on it. Pure."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from dashboard.drivers.words import WEAK_RATIO
from uncletc import Fit
from uncletc.datasets import Dataset


@dataclass(frozen=True, eq=False, kw_only=True)
class RatesView:
    """How λ changes with attributes.

    Attributes
    ----------
    bars : DataFrame
        One row per attribute that acts on λ, the strongest first: attribute, factor (of λ for one
        standard deviation of the attribute), low, high.
    insight : str
    note : str
        How to read it.
    """

    bars: pd.DataFrame
    insight: str
    note: str


def rates_view(dataset: Dataset, fit: Fit) -> RatesView:
    """Return the factors by which λ changes; without a row where no attribute acts on λ.

    Parameters
    ----------
    dataset : Dataset
        With the roles of the fit.
    fit : Fit
        Finished: estimates so far have no intervals.
    """
    slopes = fit.rate_slopes()
    bars = pd.DataFrame(
        {
            "attribute": dataset.counts.rate_attribute_names,
            "factor": slopes.estimate,
            "low": slopes.low,
            "high": slopes.high,
        }
    )
    strength = bars["factor"].where(bars["factor"] >= 1, 1 / bars["factor"])
    bars = bars.iloc[(-strength).argsort(kind="stable")].reset_index(drop=True)
    return RatesView(
        bars=bars,
        insight=_insight(bars),
        note="Dot: the factor by which λ changes where the attribute is one standard deviation "
        "higher, all else as fitted; × 1: no change. Whiskers: 90 % intervals. They reflect chance "
        "in the counts, not errors of the model itself. No cause is claimed.",
    )


def _insight(bars: pd.DataFrame) -> str:
    clear = bars[(bars["low"] > 1) | (bars["high"] < 1)]
    if clear.empty:
        return "In this fit **no attribute** clearly changes λ."
    named = [f"**{row.attribute}** (× {row.factor:.2g})" for row in clear.head(2).itertuples()]
    weak = max(float(clear["factor"].iloc[0]), 1 / float(clear["factor"].iloc[0])) < WEAK_RATIO
    said = f"In this fit, λ changes most with {' and '.join(named)}"
    return f"{said}, but weakly." if weak else f"{said}."
