"""Drivers page: data, fit and choices in; frozen tables ready to draw out. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dashboard.drivers.words import (
    axis_title,
    importance_words,
    in_unit,
    number,
    strength_words,
    two_names,
)
from dashboard.shared.charts.answers import contrast
from dashboard.shared.text.words import caution
from uncletc import CountTensor, Fit, effects
from uncletc.datasets import Dataset

Method = Literal["ALE", "partial dependence"]
Surface = Literal["both together", "beyond each alone"]
METHODS: list[Method] = ["ALE", "partial dependence"]
SURFACES: list[Surface] = ["both together", "beyond each alone"]
_ROUNDING = 1e-6
_FEW = 5_000  # entries whose p shows how far it spreads


@dataclass(frozen=True, eq=False, kw_only=True)
class ImportanceView:
    """Which attributes the predicted counts depend on.

    Attributes
    ----------
    bars : DataFrame
        Most important first: attribute, rise (of the deviance per count, mean over repeats), sd,
        share (of the rise in the deviance).
    insight : str
        The main finding in one sentence.
    note : str
        How the numbers were made.
    caution : str, optional
        Why not to trust p here, where there is a reason.
    """

    bars: pd.DataFrame
    insight: str
    note: str
    caution: str | None


@dataclass(frozen=True, eq=False, kw_only=True)
class EffectView:
    """How p moves with one attribute.

    Attributes
    ----------
    curve : DataFrame
        value (in the attribute's unit, or the name of a level), ratio; low and high where it has
        intervals.
    spread : DataFrame
        Where entries lie: left, right (in that unit), entries; of levels: value, entries.
    axis : str
        What stands below values: the attribute with its unit.
    levels : bool
        Whether the attribute is a category, or has two values.
    method : str
        What was computed.
    strength : str
        How much p changes where most counts lie, in a sentence.
    note : str
        How to read it.
    """

    curve: pd.DataFrame
    spread: pd.DataFrame
    axis: str
    levels: bool
    method: Method
    strength: str
    note: str


@dataclass(frozen=True, eq=False, kw_only=True)
class SurfaceView:
    """How p moves with two attributes.

    Attributes
    ----------
    cells : DataFrame
        One row per pair of values: the two attributes by name, ratio (NaN without entries),
        entries.
    log_ratio : ndarray, shape (n, m)
        Natural logarithm, NaN without entries.
    entries : ndarray of int, shape (n, m)
    rows, columns : tuple of str
        Values of the first and of the second attribute.
    titles : tuple of str
        The two attributes with their units.
    note : str
        How to read it.
    """

    cells: pd.DataFrame
    log_ratio: NDArray[np.float64]
    entries: NDArray[np.int64]
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    titles: tuple[str, str]
    note: str


def importance_view(dataset: Dataset, fit: Fit) -> ImportanceView:
    """Return permutation importance of every attribute, and what it says."""
    counts = dataset.counts
    importance = effects.permutation_importance(fit, counts, size=None)
    bars = pd.DataFrame(
        {
            "attribute": importance.names,
            "rise": importance.rise.mean(axis=1),
            "sd": importance.rise.std(axis=1, ddof=1),
            "share": importance.rise.mean(axis=1) / max(importance.deviance, 1e-9),
        }
    ).sort_values("rise", ascending=False, ignore_index=True)
    z = used_attributes(counts)
    if len(z) > _FEW:
        z = z[np.random.default_rng(0).choice(len(z), _FEW, replace=False)]
    whose = "the counts it was fitted to" if importance.in_sample else "counts that it has not seen"
    note = (
        f"Bar: mean rise of the misfit over {importance.rise.shape[1]} shuffles; whisker: their "
        f"standard deviation. Misfit: negative binomial deviance per count, "
        f"{importance.deviance:.2f} with nothing shuffled, on {importance.entries:,} counts "
        f"drawn at random from {whose}. Correlated attributes can stand in for each "
        "other; each then looks less important than it is."
    )
    return ImportanceView(
        bars=bars,
        insight=importance_words(bars),
        note=note,
        caution=caution(contrast(fit.detection(z))),
    )


def is_category(dataset: Dataset, attribute: str) -> bool:
    """Whether an attribute has levels without order, or two values."""
    columns = effects.attribute_groups(dataset.counts)[attribute]
    return len(columns) > 1 or _two_values(used_attributes(dataset.counts)[:, columns[0]])


def effect_view(dataset: Dataset, fit: Fit, attribute: str, method: Method) -> EffectView:
    """Return p over one attribute; levels of a category always as partial dependence."""
    counts, about = dataset.counts, dataset.about(attribute)
    columns = effects.attribute_groups(counts)[attribute]
    levels = is_category(dataset, attribute)
    used: Method = "partial dependence" if levels else method
    effect = (
        effects.accumulated_effect(fit, counts, attribute)
        if used == "ALE"
        else effects.partial_dependence(fit, counts, attribute)
    )
    z = used_attributes(counts)[:, columns]
    curve = with_range(pd.DataFrame({"ratio": effect.ratio}), effect)
    if levels:
        if len(columns) > 1:
            names = level_names(counts, attribute, effect.values)
            of_entries = level_names(counts, attribute, z)
        else:
            curve = curve.iloc[[0, -1]].reset_index(drop=True)
            names = two_names(about)
            of_entries = [names[int(value > 0.5)] for value in z[:, 0]]
        spread = pd.DataFrame(
            {"value": names, "entries": [of_entries.count(name) for name in names]}
        )
        curve.insert(0, "value", names)
        order = np.argsort(-curve["ratio"].to_numpy(), kind="stable")
        curve, spread = (each.iloc[order].reset_index(drop=True) for each in (curve, spread))
        most = f"Between {curve['value'].iloc[-1]} and {curve['value'].iloc[0]}"
        reached = curve["ratio"].to_numpy()
    else:
        entries, edges = np.histogram(z, bins=40, range=(0, 1))
        edges = about.value(edges)
        spread = pd.DataFrame({"left": edges[:-1], "right": edges[1:], "entries": entries})
        values = effect.values[:, 0]
        low, high = np.quantile(z, [0.05, 0.95])
        inner = values[(values > low) & (values < high)]
        reached = np.interp([low, *inner, high], values, effect.ratio)
        most = f"Among nine counts of ten ({in_unit(about, low, high)})"
        curve.insert(0, "value", about.value(values))
    return EffectView(
        curve=curve,
        spread=spread,
        axis=axis_title(attribute, about),
        levels=levels,
        method=used,
        strength=strength_words(most, float(reached.max() / reached.min())),
        note=_effect_note(curve, used),
    )


def surface_view(dataset: Dataset, fit: Fit, first: str, second: str, kind: Surface) -> SurfaceView:
    """Return p over two attributes, NaN where no counted entry lies."""
    counts = dataset.counts
    pair = effects.pair_effect(fit, counts, first, second)
    log_effect = pair.log_effect if kind == "both together" else pair.interaction
    shown = np.where(pair.entries > 0, log_effect, np.nan)
    rows = _value_names(dataset, first, pair.first)
    columns = _value_names(dataset, second, pair.second)
    cells = pd.DataFrame(
        {
            first: np.repeat(rows, len(columns)),
            second: np.tile(columns, len(rows)),
            "ratio": np.exp(shown).ravel(),
            "entries": pair.entries.ravel(),
        }
    )
    return SurfaceView(
        cells=cells,
        log_ratio=shown,
        entries=pair.entries,
        rows=rows,
        columns=columns,
        titles=(axis_title(first, dataset.about(first)), axis_title(second, dataset.about(second))),
        note="Each row and column holds about as many counts as the others where values allow it, "
        "and is labelled with its middle value. Grey: no count has such a pair of values. "
        "Partial dependence over 200 counts drawn at random.",
    )


def _two_values(z: NDArray[np.float64]) -> bool:
    """Whether an attribute is 0 or 1 everywhere, but for rounding."""
    return bool(len(z)) and bool((np.minimum(z, 1 - z) < _ROUNDING).all())


def used_attributes(counts: CountTensor) -> NDArray[np.float64]:
    """Attributes of counted entries, as in :mod:`uncletc.effects`; of all where none has any."""
    rows = counts.attribute_rows[counts.attribute_rows >= 0]
    return counts.attributes[rows] if len(rows) else counts.attributes


def with_range(table: pd.DataFrame, effect: effects.Effect | effects.Explanation) -> pd.DataFrame:
    """Add low and high, where the fit has intervals."""
    if effect.low is None or effect.high is None:
        return table
    return table.assign(low=effect.low, high=effect.high)


def level_names(counts: CountTensor, attribute: str, z: NDArray[np.float64]) -> list[str]:
    """Name of the level that each row (n, levels) of a category has."""
    columns = effects.attribute_groups(counts)[attribute]
    names = [counts.attribute_names[j].removeprefix(f"{attribute}: ") for j in columns]
    return [names[int(np.argmax(row))] if row.any() else "none" for row in z]


def _value_names(dataset: Dataset, attribute: str, values: NDArray[np.float64]) -> tuple[str, ...]:
    about = dataset.about(attribute)
    if values.shape[1] > 1:
        return tuple(level_names(dataset.counts, attribute, values))
    if len(values) == 2 and about.levels:
        return about.levels
    own = about.value(values[:, 0])
    for digits in range(3, 18):
        names = tuple(number(value, digits) for value in own)
        if len(set(names)) == len(names):
            return names
    return tuple(str(value) for value in values[:, 0])


def _effect_note(curve: pd.DataFrame, method: Method) -> str:
    how = (
        "accumulated local effects over at most 4,000 counts drawn at random"
        if method == "ALE"
        else "partial dependence over at most 500 counts drawn at random"
    )
    band = (
        "Band: 90 % interval. It reflects chance in the counts, not errors of the model itself. "
        if "low" in curve
        else ""
    )
    return (
        f"Computed as {how}. × 1: the average p (geometric mean). {band}Where few counts lie, "
        "little is known."
    )
