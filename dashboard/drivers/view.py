"""Drivers page: data, fit and choices in; frozen tables and sentences to draw out. Pure."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dashboard.shared.charts.answers import contrast
from dashboard.shared.charts.places import place_modes
from dashboard.shared.sidebar.model import acts_on, effect_name
from dashboard.shared.text.words import caution, escape, read_words, times
from uncletc import CountTensor, Effect, Fit, ModeEffects, effects
from uncletc.datasets import AttributeInfo, Dataset
from uncletc.report.page import percent

_ROUNDING = 1e-6
_BARS = 8  # contributions drawn one by one
_TYPICAL = 1.1  # ratios nearer to 1 than this are no difference to speak of
# Share of the deviance that shuffling a covariate adds, below which it is called weak: counts are
# then predicted nearly as well without it.
_WEAK_SHARE = 0.1
# Ratios of p, or of λ, that a covariate makes at most: below, called none, weak and moderate.
# Weak ones are within what intervals of p usually hold.
NO_RATIO, WEAK_RATIO, STRONG_RATIO = 1.1, 1.5, 3.0

NEGLIGIBLE = 1.02  # factor below which an effect is called negligible
NOTE = read_words(__file__, "means.toml")["note"]
_BY_WEEKDAY = Effect(("state", "weekday"), (0.0, 0.0), reporting=True)
_LITTLE = 0.5  # of its mean: a weekday on which a state reports little
_CASES = 0  # the first observation process


@dataclass(frozen=True, eq=False, kw_only=True)
class ImportanceView:
    """Permutation importance of the covariates of p.

    Attributes
    ----------
    bars : DataFrame
        Most important first: covariate, rise (of the deviance, over it; mean over shuffles), sd.
    shuffles : int
    caution : str, optional
        Why not to trust p here, where there is a reason.
    """

    bars: pd.DataFrame
    shuffles: int
    caution: str | None

    @property
    def insight(self) -> str:
        """Which covariates matter most, and whether weakly."""
        clear = self.bars[self.bars["rise"] > self.bars["sd"]].head(2)
        if clear.empty:
            return "In this fit **no covariate** clearly affects detection."
        names = " and ".join(f"**{escape(name)}**" for name in clear["covariate"])
        shares = " and ".join(f"{percent(share)}\u00a0%" for share in clear["rise"])
        weak = float(clear["rise"].iloc[0]) < _WEAK_SHARE
        most = "most" if clear.index[-1] < len(clear) else "most clearly"  # longer bars are unsure
        return (
            f"Detection depends {most} on {names}{', but weakly' * weak}: shuffling increases the "
            f"deviance of predicted counts by {shares}{' only' * weak}."
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class EffectView:
    """p over one covariate.

    Attributes
    ----------
    curve : DataFrame
        value (in the covariate's unit, or the name of a level), ratio; low and high where it has
        intervals.
    spread : DataFrame
        Where entries lie: left, right (in that unit), entries; of levels: value, entries.
    axis : str
        The covariate with its unit.
    levels : bool
        Whether the covariate is a category, or has two values.
    strength : str
        How much p changes where most counts lie, in a sentence.
    """

    curve: pd.DataFrame
    spread: pd.DataFrame
    axis: str
    levels: bool
    strength: str


def importance_view(dataset: Dataset, fit: Fit) -> ImportanceView:
    """Return permutation importance of every covariate of p, and what it says."""
    counts = dataset.counts
    found = effects.permutation_importance(fit, counts)
    rise = found.rise / max(found.deviance, 1e-9)
    bars = pd.DataFrame(
        {"covariate": found.names, "rise": rise.mean(axis=1), "sd": rise.std(axis=1, ddof=1)}
    ).sort_values("rise", ascending=False, ignore_index=True)
    return ImportanceView(
        bars=bars,
        shuffles=found.rise.shape[1],
        caution=caution(contrast(fit.detection(used_attributes(counts)))),
    )


def is_category(dataset: Dataset, covariate: str) -> bool:
    """Whether a covariate has levels without order, or two values."""
    columns = effects.attribute_groups(dataset.counts)[covariate]
    z = used_attributes(dataset.counts)[:, columns[0]]
    two_values = len(z) > 0 and (np.minimum(z, 1 - z) < _ROUNDING).all()  # but for rounding
    return len(columns) > 1 or bool(two_values)


def effect_view(dataset: Dataset, fit: Fit, covariate: str) -> EffectView:
    """Return p over a covariate: accumulated local effects; of categories partial dependence."""
    if is_category(dataset, covariate):
        return _effect_of_levels(dataset, fit, covariate)
    counts, about = dataset.counts, dataset.about(covariate)
    effect = effects.accumulated_effect(fit, counts, covariate)
    z = used_attributes(counts)[:, effects.attribute_groups(counts)[covariate]]
    entries, edges = np.histogram(z, bins=40, range=(0, 1))
    edges = about.value(edges)
    values = effect.values[:, 0]
    low, high = np.quantile(z, [0.05, 0.95])
    inner = values[(values > low) & (values < high)]
    reached = np.interp([low, *inner, high], values, effect.ratio)
    ends = about.value([low, high])
    digits = 3 if max(abs(ends)) < 1 else 2
    first, last = (number(float(value), digits) for value in ends)
    unit = f" {about.unit}" if about.unit and ";" not in about.unit else ""
    curve = pd.DataFrame({"value": about.value(values), "ratio": effect.ratio})
    return EffectView(
        curve=with_interval(curve, effect),
        spread=pd.DataFrame({"left": edges[:-1], "right": edges[1:], "entries": entries}),
        axis=axis_title(covariate, about),
        levels=False,
        strength=strength_words(f"Across 90 % of the counts ({first} to {last}{unit})", reached),
    )


def _effect_of_levels(dataset: Dataset, fit: Fit, covariate: str) -> EffectView:
    counts, about = dataset.counts, dataset.about(covariate)
    columns = effects.attribute_groups(counts)[covariate]
    effect = effects.partial_dependence(fit, counts, covariate)
    z = used_attributes(counts)[:, columns]
    curve = with_interval(pd.DataFrame({"ratio": effect.ratio}), effect)
    if len(columns) > 1:
        names = level_names(dataset, covariate, effect.values)
        of_entries = level_names(dataset, covariate, z)
    else:
        curve = curve.iloc[[0, -1]].reset_index(drop=True)
        names = list(two_names(about))
        of_entries = [names[int(value > 0.5)] for value in z[:, 0]]
    curve.insert(0, "value", names)
    curve = curve.sort_values("ratio", ascending=False, kind="stable", ignore_index=True)
    names = list(curve["value"])
    return EffectView(
        curve=curve,
        spread=pd.DataFrame({"value": names, "entries": list(map(of_entries.count, names))}),
        axis=axis_title(covariate, about),
        levels=True,
        strength=strength_words(
            f"Between {escape(names[-1])} and {escape(names[0])}", curve["ratio"]
        ),
    )


def surface(dataset: Dataset, fit: Fit, first: str, second: str) -> pd.DataFrame:
    """Return how p changes with two covariates, after dividing by both single effects.

    Returns
    -------
    DataFrame, shape (n, m)
        Ratios, NaN where no counted entry lies. Index and columns are the values of the first and
        of the second covariate, and named after them with their units.
    """
    pair = effects.pair_effect(fit, dataset.counts, first, second)
    rows, columns = (
        pd.Index(_value_names(dataset, name, values), name=axis_title(name, dataset.about(name)))
        for name, values in ((first, pair.first), (second, pair.second))
    )
    return pd.DataFrame(np.where(pair.entries > 0, np.exp(pair.interaction), np.nan), rows, columns)


def explanation(dataset: Dataset, fit: Fit, *place: int) -> pd.DataFrame:
    """Return the contributions of covariates to p of one place or interaction.

    Parameters
    ----------
    dataset : Dataset
    fit : Fit
    *place : int
        Indices along the modes that name a place.

    Returns
    -------
    DataFrame
        Largest first: covariate, here (its value in words), factor; low and high where the fit has
        intervals.
    """
    counts = dataset.counts
    where = counts.attribute_indices
    at_place = (where[:, list(place_modes(dataset))] == place).all(axis=1)
    explained = effects.explain(fit, counts, where[at_place])
    here = _values_in_words(dataset, counts.attributes[at_place])
    if len(explained.names) > len(here):  # effects of places on p, beyond covariates
        here.append("high" if explained.log_effect[-1] > 0 else "low")
    parts = pd.DataFrame({"covariate": explained.names, "here": here, "factor": explained.ratio})
    strongest = np.argsort(-np.abs(explained.log_effect), kind="stable")
    return with_interval(parts, explained).iloc[strongest].reset_index(drop=True)


def explanation_bars(parts: pd.DataFrame) -> pd.DataFrame:
    """Return the parts to draw, small ones as one: label, factor; see :func:`explanation`."""
    first, rest = parts.head(_BARS), parts.iloc[_BARS:]
    labels = [*(first["covariate"] + " (" + first["here"] + ")"), f"{len(rest)} others"]
    factors = [*first["factor"], rest["factor"].prod()]
    return pd.DataFrame({"label": labels, "factor": factors}).head(len(parts))


def explanation_words(parts: pd.DataFrame) -> str:
    """Whether p is high or low, and mostly because of what; see :func:`explanation`."""
    total = float(parts["factor"].prod())
    if 1 / _TYPICAL < total < _TYPICAL:
        return "p is **about typical** here."
    pull = (1 if total > 1 else -1) * np.log(parts["factor"])
    with_it, against = parts[pull > 0], parts[pull < np.log(1 / _TYPICAL)]
    share = pull[pull > 0].cumsum() - pull[pull > 0]
    main = with_it[share < 0.6 * pull[pull > 0].sum()].head(3)
    little = "a little " * (1 / WEAK_RATIO < total < WEAK_RATIO)
    text = (
        f"p is **{little}{'higher' if total > 1 else 'lower'}** here: **{times(total)}** that of a "
        f"typical entry, mostly by {_listed(main)}."
    )
    if len(against):
        text += f" In the opposite direction: {_listed(against.head(1))}."
    return text


def rates_table(dataset: Dataset, fit: Fit) -> pd.DataFrame:
    """Return the factors by which λ changes with the covariates that affect it.

    Parameters
    ----------
    dataset : Dataset
        With the roles of the fit.
    fit : Fit
        Finished: estimates so far have no intervals.

    Returns
    -------
    DataFrame
        One row per covariate, the strongest first: covariate, factor (of λ for one standard
        deviation of the covariate), low, high.
    """
    slopes = fit.rate_slopes()
    factors = {"covariate": dataset.counts.rate_attribute_names, "factor": slopes.estimate}
    bars = pd.DataFrame(factors | {"low": slopes.low, "high": slopes.high})
    order = (-np.abs(np.log(bars["factor"]))).argsort(kind="stable")
    return bars.iloc[order].reset_index(drop=True)


@dataclass(frozen=True, eq=False, kw_only=True)
class RandomEffectsView:
    """How λ, p and reporting differ between places and times.

    Attributes
    ----------
    sizes : DataFrame
        One row per effect, the largest first: effect, acts_on, factor (exp σ: what λ, p or
        reporting is typically multiplied with, or divided by), low and high (its 90 % interval),
        negligible.
    weekdays : DataFrame
        Factors of reporting of cases, one row per state, the most uneven first, one column per
        weekday; the mean over weekdays is 1. Empty where the fit has no such effect.
    """

    sizes: pd.DataFrame
    weekdays: pd.DataFrame

    @property
    def insight(self) -> str:
        """With which effects λ, p and reporting vary most, and which are negligible."""
        names = self.sizes["effect"].str.replace("^(reporting|detection): ", "", regex=True)
        parts = []
        for what in ("λ", "p", "reporting"):
            rows = self.sizes[(self.sizes["acts_on"] == what) & ~self.sizes["negligible"]].head(2)
            if len(rows):
                named = [
                    f"**{names[i]}** (typically ×\u00a0{f:.3g})" for i, f in rows["factor"].items()
                ]
                parts.append(f"{what} varies most with {' and '.join(named)}")
        text = f"{'; '.join(parts)}." if parts else "None changes anything."
        if self.sizes["negligible"].any():
            text += f" Estimated as negligible: {', '.join(names[self.sizes['negligible']])}."
        return text


def random_effects_view(found: ModeEffects) -> RandomEffectsView:
    """Return the sizes of the random effects of a fit, and its weekday reporting pattern."""
    sizes = pd.DataFrame(
        {
            "effect": [effect_name(each) for each in found.effects],
            "acts_on": [acts_on(each) for each in found.effects],
            "factor": np.exp(found.deviations),
        }
    )
    sizes[["low", "high"]] = np.exp(found.deviation_ranges())
    sizes = sizes.assign(negligible=sizes["factor"] < NEGLIGIBLE)
    weekdays = pd.DataFrame()
    if _BY_WEEKDAY in found.effects:
        i = found.effects.index(_BY_WEEKDAY)
        states, days = (list(group.labels) for group in found.groups[i])
        weekdays = pd.DataFrame(np.exp(found.tables[i][_CASES]), index=states, columns=days)
        weekdays = weekdays.loc[weekdays.min(axis=1).sort_values(kind="stable").index]
    return RandomEffectsView(
        sizes=sizes.sort_values("factor", ascending=False, kind="stable", ignore_index=True),
        weekdays=weekdays,
    )


def weekday_words(weekdays: pd.DataFrame) -> str:
    """Which state reports least on one weekday, and on which.

    Parameters
    ----------
    weekdays : DataFrame
        As in :class:`RandomEffectsView`, not empty: the most uneven state first.
    """
    state, factors = weekdays.index[0], weekdays.iloc[0]
    if factors.min() >= _LITTLE:
        return "No state reports much less on one weekday."
    least, day = float(factors.min()), factors.idxmin()
    share = "less than 1" if least < 0.01 else percent(least)
    return f"**{state}** reports {share} % of its daily average on {day}s."


def used_attributes(counts: CountTensor) -> NDArray[np.float64]:
    """Covariates of counted entries, as in :mod:`uncletc.effects`; of all where none has any."""
    rows = counts.attribute_rows[counts.attribute_rows >= 0]
    return counts.attributes[rows] if len(rows) else counts.attributes


def with_interval(
    table: pd.DataFrame, effect: effects.Effect | effects.Explanation
) -> pd.DataFrame:
    """Add low and high, where the fit has intervals."""
    if effect.low is None or effect.high is None:
        return table
    return table.assign(low=effect.low, high=effect.high)


def level_names(dataset: Dataset, covariate: str, z: NDArray[np.float64]) -> list[str]:
    """Name of the level that each row (n, levels) of a category has; of a mode the first has 0."""
    counts = dataset.counts
    columns = effects.attribute_groups(counts)[covariate]
    names = [counts.attribute_names[j].removeprefix(f"{covariate}: ") for j in columns]
    labels = dict(zip(counts.modes, counts.labels, strict=True)).get(covariate, ())
    none = labels[0] if list(labels[1:]) == names else "none"
    if usual := dataset.about(covariate).levels:
        none = f"{usual[0]} (reference)"
    return [names[int(np.argmax(row))] if row.any() else none for row in z]


def _value_names(dataset: Dataset, covariate: str, values: NDArray[np.float64]) -> tuple[str, ...]:
    about = dataset.about(covariate)
    if values.shape[1] > 1:
        return tuple(level_names(dataset, covariate, values))
    if len(values) == 2 and about.levels:
        return about.levels
    own = about.value(values[:, 0])
    texts = (tuple(number(value, digits) for value in own) for digits in range(3, 18))
    return next(names for names in texts if len(set(names)) == len(set(own)))


def _values_in_words(dataset: Dataset, rows: NDArray[np.float64]) -> list[str]:
    """Of each covariate: high, low, medium or the level that it has, over the given rows."""
    counts = dataset.counts
    z = used_attributes(counts)
    words = []
    for covariate, columns in effects.attribute_groups(counts).items():
        mean = rows[:, columns[0]].mean()
        if len(columns) > 1:
            levels = set(level_names(dataset, covariate, rows[:, columns]))
            words.append(levels.pop() if len(levels) == 1 else "mixed")
        elif is_category(dataset, covariate):
            names = two_names(dataset.about(covariate))
            words.append("mixed" if 0.01 < mean < 0.99 else names[int(mean > 0.5)])
        else:
            low, high = np.quantile(z[:, columns[0]], [1 / 3, 2 / 3])
            words.append("low" if mean < low else "high" if mean > high else "medium")
    return words


def _listed(parts: pd.DataFrame) -> str:
    each = [
        f"*{escape(row.covariate)}* ({escape(row.here)} here, {ratio_text(row.factor)})"
        for row in parts.itertuples()
    ]
    return " and ".join([", ".join(each[:-1]), each[-1]] if len(each) > 1 else each)


def ratio_text(factor: float) -> str:
    """A contribution as readers see it: "× 0.94", "× 12"."""
    return f"× {factor:.2f}" if 0.095 <= factor < 9.95 else f"× {factor:.2g}"


def axis_title(covariate: str, about: AttributeInfo) -> str:
    """What stands below the values of a covariate."""
    if about.unit:
        return f"{covariate} ({about.unit})"
    if about.levels or (about.minimum, about.maximum) != (0.0, 1.0):
        return covariate
    return f"{covariate}, from smallest (0) to largest (1)"


def about_words(covariate: str, about: AttributeInfo) -> str:
    """What a covariate is, for Markdown: its explanation, and what to beware of."""
    name = escape(covariate)
    text = f"**{name}**: {about.explanation}" if about.explanation else f"**{name}**."
    if about.cumulative:
        text += " It is **cumulative**: its effect cannot be separated from that of time."
    return text


def two_names(about: AttributeInfo) -> tuple[str, ...]:
    """Names of the two values of a covariate that has no others."""
    return about.levels or (number(about.minimum), number(about.maximum))


def strength_words(where: str, ratios: pd.Series | NDArray[np.float64]) -> str:
    """How strong an effect is by which p is multiplied with these ratios."""
    ratio = float(ratios.max() / ratios.min())
    if ratio < NO_RATIO:
        return f"{where}, p differs by a factor of at most {ratio:.2f}: **a negligible effect**."
    called = "weak" if ratio < WEAK_RATIO else "moderate" if ratio < STRONG_RATIO else "strong"
    return f"{where}, p differs by a factor of at most {ratio:.2g}: **a {called} effect**."


def number(value: float, digits: int = 3) -> str:
    """A number with so many significant digits, without an exponent: "14,900,000", "0.81"."""
    return f"{float(f'{value:.{digits}g}'):,.15g}"
