"""Drivers page: data, fit and choices in; frozen tables and sentences to draw out. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dashboard.shared.charts.answers import contrast
from dashboard.shared.charts.places import entries_at, place_modes
from dashboard.shared.text.words import caution, escape, times
from uncletc import CountTensor, Fit, effects
from uncletc.datasets import AttributeInfo, Dataset

Method = Literal["ALE", "partial dependence"]
Surface = Literal["both together", "beyond each alone"]
METHODS: list[Method] = ["ALE", "partial dependence"]
SURFACES: list[Surface] = ["both together", "beyond each alone"]
_ROUNDING = 1e-6
_FEW = 5_000  # entries whose p shows how far it spreads
_BARS = 8  # contributions drawn one by one
_TYPICAL = 1.1  # ratios nearer to 1 than this are no difference to speak of
# Share of the misfit that shuffling an attribute adds, below which it is called weak: counts are
# then predicted nearly as well without it.
_WEAK_SHARE = 0.1
# Ratios of p, or of λ, that an attribute makes at most: below, called none, weak and moderate.
# Weak ones are within what intervals of p usually hold.
NO_RATIO, WEAK_RATIO, STRONG_RATIO = 1.1, 1.5, 3.0


@dataclass(frozen=True, eq=False, kw_only=True)
class ImportanceView:
    """Which attributes the predicted counts depend on.

    Attributes
    ----------
    bars : DataFrame
        Most important first: attribute, rise (of the deviance per count, mean over repeats), sd,
        share (of the rise in the deviance).
    note : str
        How the numbers were made.
    caution : str, optional
        Why not to trust p here, where there is a reason.
    """

    bars: pd.DataFrame
    note: str
    caution: str | None

    @property
    def insight(self) -> str:
        """Which attributes matter most, and whether weakly."""
        clear = self.bars[self.bars["rise"] > self.bars["sd"]].head(2)
        if clear.empty:
            return "In this fit **no attribute** clearly matters for the predicted counts."
        names = " and ".join(f"**{escape(name)}**" for name in clear["attribute"])
        shares = " and ".join(f"{share:.0%}" for share in clear["share"])
        weak = float(clear["share"].iloc[0]) < _WEAK_SHARE
        return (
            f"In this fit, the predicted counts depend most on {names}{', but weakly' * weak}: "
            f"shuffling raises the misfit by {shares}{' only' * weak}."
        )


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
    """

    curve: pd.DataFrame
    spread: pd.DataFrame
    axis: str
    levels: bool
    method: Method
    strength: str

    @property
    def note(self) -> str:
        """How to read it."""
        how = (
            "accumulated local effects over at most 4,000 counts drawn at random"
            if self.method == "ALE"
            else "partial dependence over at most 500 counts drawn at random"
        )
        band = "Band: 90 % interval, of chance in the counts alone. " if "low" in self.curve else ""
        return (
            f"Computed as {how}. × 1: the average p (geometric mean). {band}Where few counts lie, "
            "little is known."
        )


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
    """

    cells: pd.DataFrame
    log_ratio: NDArray[np.float64]
    entries: NDArray[np.int64]
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    titles: tuple[str, str]


@dataclass(frozen=True, eq=False, kw_only=True)
class ExplanationView:
    """Why p of one place or interaction differs from a typical one.

    Attributes
    ----------
    parts : DataFrame
        Largest first: attribute, here (in words), factor; low and high where the fit has intervals.
    entries : int
        How many entries are explained together.
    """

    parts: pd.DataFrame
    entries: int

    @property
    def bars(self) -> pd.DataFrame:
        """The parts to draw, small ones as one: label, factor."""
        first, rest = self.parts.head(_BARS), self.parts.iloc[_BARS:]
        labels = [*(first["attribute"] + " (" + first["here"] + ")")]
        factors = [*first["factor"]]
        if len(rest):
            labels.append(f"{len(rest)} others")
            factors.append(rest["factor"].prod())
        return pd.DataFrame({"label": labels, "factor": factors})

    @property
    def sentence(self) -> str:
        """Whether p is high or low, and mostly because of what."""
        total = float(self.parts["factor"].prod())
        if 1 / _TYPICAL < total < _TYPICAL:
            return f"p is **about typical** here: {times(total)} that of a typical entry."
        pull = (1 if total > 1 else -1) * np.log(self.parts["factor"])
        with_it, against = self.parts[pull > 0], self.parts[pull < np.log(1 / _TYPICAL)]
        share = pull[pull > 0].cumsum() - pull[pull > 0]
        main = with_it[share < 0.6 * pull[pull > 0].sum()].head(3)
        text = (
            f"p is **{'high' if total > 1 else 'low'}** here: **{times(total)}** that of a typical "
            f"entry, mostly because in this fit {_listed(main)}."
        )
        if len(against):
            text += f" Pulling the other way: {_listed(against.head(1))}."
        return text

    @property
    def note(self) -> str:
        """How to read it."""
        return (
            f"Mean of log p over {self.entries:,} entries, divided among the attributes: Shapley "
            "values from sampled orders, against 1,000 counted entries spread evenly over p. "
            "Typical: their geometric mean. Low, medium, high: thirds of the counted entries."
        )


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
        "standard deviation. Misfit: negative binomial deviance per count, "
        f"{importance.deviance:.2f} with nothing shuffled, on {importance.entries:,} of {whose}. "
        "Correlated attributes can stand in for each other; each then looks less important."
    )
    return ImportanceView(bars=bars, note=note, caution=caution(contrast(fit.detection(z))))


def is_category(dataset: Dataset, attribute: str) -> bool:
    """Whether an attribute has levels without order, or two values."""
    columns = effects.attribute_groups(dataset.counts)[attribute]
    z = used_attributes(dataset.counts)[:, columns[0]]
    two_values = len(z) > 0 and (np.minimum(z, 1 - z) < _ROUNDING).all()  # but for rounding
    return len(columns) > 1 or bool(two_values)


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
            names = list(two_names(about))
            of_entries = [names[int(value > 0.5)] for value in z[:, 0]]
        curve.insert(0, "value", names)
        curve = curve.sort_values("ratio", ascending=False, kind="stable", ignore_index=True)
        names, reached = list(curve["value"]), curve["ratio"].to_numpy()
        spread = pd.DataFrame(
            {"value": names, "entries": [of_entries.count(name) for name in names]}
        )
        most = f"Between {escape(names[-1])} and {escape(names[0])}"
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
    )


def surface_view(dataset: Dataset, fit: Fit, first: str, second: str, kind: Surface) -> SurfaceView:
    """Return p over two attributes, NaN where no counted entry lies."""
    pair = effects.pair_effect(fit, dataset.counts, first, second)
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
    )


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
    here = _where(dataset, counts.attributes[at_place])
    parts = pd.DataFrame({"attribute": explained.names, "here": here, "factor": explained.ratio})
    strongest = np.argsort(-np.abs(explained.log_effect), kind="stable")
    parts = with_range(parts, explained).iloc[strongest].reset_index(drop=True)
    return ExplanationView(parts=parts, entries=int(at_place.sum()))


def rates_table(dataset: Dataset, fit: Fit) -> pd.DataFrame:
    """Return the factors by which λ changes with the attributes that act on it.

    Parameters
    ----------
    dataset : Dataset
        With the roles of the fit.
    fit : Fit
        Finished: estimates so far have no intervals.

    Returns
    -------
    DataFrame
        One row per attribute, the strongest first: attribute, factor (of λ for one standard
        deviation of the attribute), low, high.
    """
    slopes = fit.rate_slopes()
    names = dataset.counts.rate_attribute_names
    bars = pd.DataFrame({"attribute": names, "factor": slopes.estimate})
    bars = bars.assign(low=slopes.low, high=slopes.high)
    order = (-np.abs(np.log(bars["factor"]))).argsort(kind="stable")
    return bars.iloc[order].reset_index(drop=True)


def rates_words(bars: pd.DataFrame) -> str:
    """Which attributes change λ most, and whether weakly; see :func:`rates_table`."""
    clear = bars[(bars["low"] > 1) | (bars["high"] < 1)]
    if clear.empty:
        return "In this fit **no attribute** clearly changes λ."
    named = [
        f"**{escape(row.attribute)}** (× {row.factor:.2g})" for row in clear.head(2).itertuples()
    ]
    weak = max(float(clear["factor"].iloc[0]), 1 / float(clear["factor"].iloc[0])) < WEAK_RATIO
    return f"In this fit, λ changes most with {' and '.join(named)}{', but weakly' * weak}."


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


def _where(dataset: Dataset, rows: NDArray[np.float64]) -> list[str]:
    """Of each attribute: high, low, medium or the level that it has, over the given rows."""
    counts = dataset.counts
    z = used_attributes(counts)
    words = []
    for attribute, columns in effects.attribute_groups(counts).items():
        mean = rows[:, columns[0]].mean()
        if len(columns) > 1:
            levels = set(level_names(counts, attribute, rows[:, columns]))
            words.append(levels.pop() if len(levels) == 1 else "mixed")
        elif is_category(dataset, attribute):
            names = two_names(dataset.about(attribute))
            words.append("mixed" if 0.01 < mean < 0.99 else names[int(mean > 0.5)])
        else:
            low, high = np.quantile(z[:, columns[0]], [1 / 3, 2 / 3])
            words.append("low" if mean < low else "high" if mean > high else "medium")
    return words


def _listed(parts: pd.DataFrame) -> str:
    each = [
        f"*{escape(row.attribute)}* is {escape(row.here)} ({ratio_text(row.factor)})"
        for row in parts.itertuples()
    ]
    return " and ".join([", ".join(each[:-1]), each[-1]] if len(each) > 1 else each)


def ratio_text(factor: float) -> str:
    """A contribution as readers see it: "× 0.94", "× 12"."""
    return f"× {factor:.2f}" if 0.095 <= factor < 9.95 else f"× {factor:.2g}"


def axis_title(attribute: str, about: AttributeInfo) -> str:
    """What stands below the values of an attribute."""
    if about.unit:
        return f"{attribute} ({about.unit})"
    if about.levels or (about.minimum, about.maximum) != (0.0, 1.0):
        return attribute
    return f"{attribute}, from smallest (0) to largest (1)"


def about_words(attribute: str, about: AttributeInfo) -> str:
    """What an attribute is, for Markdown: its explanation, its range, and what to beware of."""
    name = escape(attribute)
    text = f"**{name}**: {about.explanation}" if about.explanation else f"**{name}**."
    if not about.levels and (about.minimum, about.maximum) != (0.0, 1.0):
        unit = f" {about.unit}" if about.unit else ""
        text += f" It goes from {number(about.minimum)} to {number(about.maximum)}{unit}."
    if about.cumulative:
        text += (
            " It is **cumulative**: it hardly does anything but rise, so its effect cannot be "
            "separated from that of time."
        )
    return text


def in_unit(about: AttributeInfo, low: float, high: float) -> str:
    """A range of scaled values, in the attribute's unit."""
    first, last = (number(float(value)) for value in about.value([low, high]))
    unit = f" {about.unit}" if about.unit and ";" not in about.unit else ""
    return f"{first} to {last}{unit}"


def two_names(about: AttributeInfo) -> tuple[str, ...]:
    """Names of the two values of an attribute that has no others."""
    return about.levels or (number(about.minimum), number(about.maximum))


def strength_words(where: str, ratio: float) -> str:
    """How strong an effect is that changes p by a ratio of at most this."""
    if ratio < NO_RATIO:
        return f"{where}, p hardly differs: × {ratio:.2f} at most, **no effect to speak of**."
    called = "weak" if ratio < WEAK_RATIO else "moderate" if ratio < STRONG_RATIO else "strong"
    return f"{where}, p differs by × {ratio:.2g} at most: **a {called} effect**."


def number(value: float, digits: int = 3) -> str:
    """A number with so many significant digits, without an exponent: "14,900,000", "0.81"."""
    if value == 0 or not np.isfinite(value):
        return "0" if value == 0 else str(value)
    places = digits - 1 - int(np.floor(np.log10(abs(value))))
    text = f"{round(value, places):,.{max(places, 0)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
