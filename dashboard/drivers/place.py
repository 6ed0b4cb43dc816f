"""Drivers page: why p of one county or interaction differs from a typical one. Pure."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dashboard.drivers.view import is_category, level_names, used_attributes, with_range
from dashboard.drivers.words import two_names
from dashboard.shared.charts.places import entries_at, place_modes
from dashboard.shared.text.words import times
from uncletc import Fit, effects
from uncletc.datasets import Dataset

_BARS = 8  # contributions drawn one by one
_TYPICAL = 1.1  # ratios nearer to 1 than this are no difference to speak of


@dataclass(frozen=True, eq=False, kw_only=True)
class ExplanationView:
    """Why p of one place or interaction differs from a typical one.

    Attributes
    ----------
    parts : DataFrame
        Largest first: attribute, here (in words), factor; low and high where the fit has intervals.
    bars : DataFrame
        The same for drawing, small ones as one: label, factor.
    sentence : str
    note : str
        How to read it.
    """

    parts: pd.DataFrame
    bars: pd.DataFrame
    sentence: str
    note: str


def explanation_view(dataset: Dataset, fit: Fit, *place: int) -> ExplanationView:
    """Return what the attributes of a place or a pair do to its p, over all else.

    Parameters
    ----------
    dataset : Dataset
    fit : Fit
    *place : int
        Indices along the modes that name a place.
    """
    counts = dataset.counts
    at_place = entries_at(counts, place, place_modes(dataset))
    explained = effects.explain(fit, counts, counts.attribute_indices[at_place])
    words = _where(dataset, counts.attributes[at_place])
    parts = pd.DataFrame({"attribute": explained.names, "here": words, "factor": explained.ratio})
    strongest = np.argsort(-np.abs(explained.log_effect), kind="stable")
    parts = with_range(parts, explained).iloc[strongest].reset_index(drop=True)
    total = float(np.exp(explained.log_effect.sum()))
    return ExplanationView(
        parts=parts,
        bars=_bars(parts),
        sentence=_sentence(parts, total),
        note=f"Mean of log p over {at_place.sum():,} entries, divided among the attributes: "
        "Shapley values from sampled orders, against 1,000 counted entries spread evenly over p. "
        "Typical: their geometric mean. Low, medium, high: thirds of the counted entries.",
    )


def _where(dataset: Dataset, rows: NDArray[np.float64]) -> list[str]:
    """Of each attribute: high, low, medium or the level that it has, over the given rows."""
    counts = dataset.counts
    z = used_attributes(counts)
    words = []
    for attribute, columns in effects.attribute_groups(counts).items():
        if len(columns) > 1:
            levels = set(level_names(counts, attribute, rows[:, columns]))
            words.append(levels.pop() if len(levels) == 1 else "mixed")
            continue
        if is_category(dataset, attribute):
            names = two_names(dataset.about(attribute))
            share = rows[:, columns[0]].mean()
            words.append("mixed" if 0.01 < share < 0.99 else names[int(share > 0.5)])
            continue
        low, high = np.quantile(z[:, columns[0]], [1 / 3, 2 / 3])
        mean = rows[:, columns[0]].mean()
        words.append("low" if mean < low else "high" if mean > high else "medium")
    return words


def _bars(parts: pd.DataFrame) -> pd.DataFrame:
    first, rest = parts.head(_BARS), parts.iloc[_BARS:]
    bars = pd.DataFrame(
        {"label": first["attribute"] + " (" + first["here"] + ")", "factor": first["factor"]}
    )
    if len(rest):
        others = {"label": [f"{len(rest)} others"], "factor": [rest["factor"].prod()]}
        bars = pd.concat([bars, pd.DataFrame(others)], ignore_index=True)
    return bars


def _sentence(parts: pd.DataFrame, total: float) -> str:
    if 1 / _TYPICAL < total < _TYPICAL:
        return f"p is **about typical** here: {times(total)} that of a typical entry."
    direction = 1 if total > 1 else -1
    pull = direction * np.log(parts["factor"])
    with_it, against = parts[pull > 0], parts[pull < np.log(1 / _TYPICAL)]
    share = pull[pull > 0].cumsum() - pull[pull > 0]
    main = with_it[share < 0.6 * pull[pull > 0].sum()].head(3)
    text = (
        f"p is **{'high' if total > 1 else 'low'}** here: **{times(total)}** that of a typical "
        f"entry, mostly because in this fit {_and(main)}."
    )
    if len(against):
        text += f" Pulling the other way: {_and(against.head(1))}."
    return text


def _and(parts: pd.DataFrame) -> str:
    each = [
        f"*{attribute}* is {level} ({by(factor)})"
        for attribute, level, factor in zip(
            parts["attribute"], parts["here"], parts["factor"], strict=True
        )
    ]
    return " and ".join([", ".join(each[:-1]), each[-1]] if len(each) > 1 else each)


def by(factor: float) -> str:
    """A contribution as readers see it: "× 0.94", "× 12"."""
    return f"× {factor:.2f}" if 0.095 <= factor < 9.95 else f"× {factor:.2g}"
