"""p, λ and what was reported, as numbers and in words, on the chosen scale. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from dashboard.shared.text.words import SCALE_IN_WHISKERS, UNLIKELY, WHISKERS, caution, times
from uncletc import Anchor, CountTensor, Fit, Interval, Scale
from uncletc.datasets import Dataset

FittedDetection = NDArray[np.float64] | Interval
_ALIKE = 1.02  # ratio of the ends of a colour scale, below which p hardly differs
_NAMES = {
    **dict.fromkeys(("value", "p"), "detection"),
    **{name: f"detection_{name}" for name in ("mean", "sd", "low", "high")},
    **{f"p_{end}": f"detection_{end}" for end in ("low", "high", "a", "b", "hat", "1")},
}


@dataclass(frozen=True, eq=False, kw_only=True)
class DetectionGrids:
    """p of every entry on the chosen scale, NaN where there are no attributes.

    On an absolute scale neither p nor an end of an interval exceeds 1.

    Attributes
    ----------
    p : ndarray, shape (I_1, …, I_K)
    ends : dict of str to ndarray
        "low" and "high" of 90 % intervals, shaped like p; empty for a fit without draws.
    scale : Scale
    uncertain_scale : bool
        Whether `ends` hold how uncertain the scale is: by observation processes with a known p, or
        a stated range.
    """

    p: NDArray[np.float64]
    ends: dict[str, NDArray[np.float64]]
    scale: Scale
    uncertain_scale: bool = False

    @property
    def whiskers(self) -> str:
        """What intervals in a chart of these p mean; empty without."""
        if not self.ends:
            return ""
        return WHISKERS + (SCALE_IN_WHISKERS if self.uncertain_scale else "")


def detection_grids(
    dataset: Dataset, fit: Fit, anchor: Anchor, *, fitted: FittedDetection | None = None
) -> DetectionGrids:
    """Return p of every entry with attributes, and its interval where the fit has draws.

    Parameters
    ----------
    dataset : Dataset
    fit : Fit
    anchor : Anchor
    fitted : Interval or ndarray, optional
        ``fitted_detection(dataset, fit)`` if it has been computed already.
    """
    fitted = fitted_detection(dataset, fit) if fitted is None else fitted
    counts, ends = dataset.counts, {}
    estimate = fitted if isinstance(fitted, np.ndarray) else fitted.estimate
    scale = anchor.scale(counts, fit, estimate)
    if not isinstance(fitted, np.ndarray):
        found = scale.detection_interval(fitted)
        most = 1 if scale.absolute else np.inf
        ends = {"low": np.minimum(found.low, most), "high": np.minimum(found.high, most)}
    return DetectionGrids(
        p=on_grid(counts, np.minimum(scale.detection(estimate), 1 if scale.absolute else np.inf)),
        ends={end: on_grid(counts, values) for end, values in ends.items()},
        scale=scale,
        uncertain_scale=fit.scale is not None or scale.log_error > 0,
    )


def on_grid(counts: CountTensor, values: ArrayLike) -> NDArray[np.float64]:
    """Return values of the attributed entries (S,) as a dense array, NaN at all others."""
    grid = np.full(counts.shape, np.nan)
    grid[tuple(counts.attribute_indices.T)] = values
    return grid


def dense(counts: CountTensor) -> NDArray[np.float64]:
    """Return the counts as a dense array, NaN where nobody counted."""
    y = np.full(counts.shape, np.nan)
    y[tuple(counts.indices.T)] = counts.counts
    return y


def over_last(grid: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return means over the last mode, of what is not NaN; NaN where all is."""
    finite = np.isfinite(grid)
    n = finite.sum(axis=-1)
    total = np.where(finite, grid, 0.0).sum(axis=-1)
    return np.where(n > 0, total / np.maximum(n, 1), np.nan)


def fitted_detection(dataset: Dataset, fit: Fit) -> FittedDetection:
    """Return p of every entry with attributes as fitted, with intervals where it has draws."""
    attributes = dataset.counts.attributes
    if fit.draws is not None:
        return fit.detection(attributes, spread=True)
    return fit.detection(attributes)


def mean_ends(
    counts: CountTensor, fit: Fit, scale: Scale, entries: ArrayLike, groups: ArrayLike
) -> dict[str, NDArray[np.float64]]:
    """Return "low" and "high" of 90 % intervals of mean p over groups of entries.

    Errors of entries of one group are alike: the interval of their mean is not the mean of their
    intervals.

    Parameters
    ----------
    counts : CountTensor
    fit : Fit
        With draws.
    scale : Scale
    entries : array_like of int, shape (n, K)
        With attributes.
    groups : array_like of int, shape (n,)
        The group of each entry, from 0.
    """
    found = fit.mean("detection", entries, counts.attributes_at(entries), groups=groups)
    shown = scale.detection_interval(found)
    return {"low": shown.low, "high": shown.high}


def for_download(table: pd.DataFrame, *, absolute: bool) -> pd.DataFrame:
    """Return a table with columns of p called detection, and `relative_` before free scales.

    Parameters
    ----------
    table : DataFrame
        p as value or p or mean (of p), with sd, low and high, or p_low, …; λ as rate, rate_low, ….
    absolute : bool
        Whether the scale of p and λ is known.
    """
    named = table.rename(columns=_NAMES)
    if absolute:
        return named
    free = [name for name in named if str(name).startswith(("detection", "rate"))]
    return named.rename(columns={name: f"relative_{name}" for name in free})


def color_limits(p: ArrayLike) -> tuple[float, float]:
    """Limits of a colour scale that hold all but the outer 2 % of p on either side.

    Where p hardly differs they are wider, so that what is alike looks alike.
    """
    low, high = (float(limit) for limit in np.nanquantile(p, [0.02, 0.98]))
    return (low, high) if low * _ALIKE < high else (low * 0.9, high * 1.1)


def contrast(p: ArrayLike) -> float:
    """The 95th percentile of p over the 5th; 1 without values."""
    values = np.asarray(p, dtype=np.float64)
    worst, best = np.nanquantile(values, [0.05, 0.95]) if values.size else (1.0, 1.0)
    return float(best / worst)


BY_CHANCE = 0.1  # share of 90 % ranges that leave out the middle rank where all places are alike
BELOW = (
    "On a single day λ may lie below what was reported: reports of other days come in then, and "
    "that belongs to reporting."
)
_FAR = 0.15  # share of what was reported, by which a fit may miss it unsaid
_OPEN = 0.8  # of all ranks; a range that is wider tells nothing
_WIDEST = 2  # decimals of a share below 1 %
_QUANTITIES = ("rate", "detection", "share")


@dataclass(frozen=True, kw_only=True)
class Apart:
    """Whether places or pairs can be told apart by p.

    Attributes
    ----------
    words : str
        What ranks are worth, in a sentence; empty for a fit without intervals.
    ranking : bool
        Whether a ranking says anything.
    known : bool
        Whether intervals say so.
    """

    words: str
    ranking: bool
    known: bool = True

    def caution(self, ratio: float) -> str | None:
        """Why not to trust p that differs by this ratio; intervals tell whether little is clear."""
        return None if self.known and self.ranking and ratio <= UNLIKELY else caution(ratio)

    def ranks(self, ratio: float) -> bool:
        """Whether to list the lowest and the highest of p that differs by this ratio."""
        return self.ranking and ratio <= UNLIKELY


@dataclass(frozen=True, eq=False, kw_only=True)
class Answers:
    """Counts, λ, p and the share counted, with intervals where the fit has them.

    Attributes
    ----------
    tables : dict of str to DataFrame
        By what a row is: names, then what :meth:`uncletc.estimates.Sums.table` has.
    columns : dict of str to list of str
        Which names of each table a page shows.
    total : dict
        One row of the same for all together.
    apart : Apart
        Whether places or pairs can be told apart by p.
    scale : Scale
    """

    tables: dict[str, pd.DataFrame]
    columns: dict[str, list[str]]
    total: dict[str, Any]
    apart: Apart
    scale: Scale

    @cached_property
    def shown(self) -> dict[str, pd.DataFrame]:
        """`tables` as a page tabulates them."""
        return {
            by: for_display(table, self.columns[by], self.scale).rename(
                columns=lambda name: name.replace("_", " ")
            )
            for by, table in self.tables.items()
        }


def amount(value: float, least: float = 0.0) -> str:
    """A number of events as a reader needs it, and never below `least`: "61,000", "4.2", "0.03"."""
    rounded = float(f"{value:.3g}")
    if value == least or rounded < least < value:
        rounded = least
    return f"{rounded:,.0f}" if rounded >= 100 or rounded == least > 0 else f"{rounded:.3g}"


def percent(share: float) -> str:
    """A share without its sign: "58", "0.4"."""
    return f"{100 * share:.0f}" if share >= 0.01 or share == 0 else f"{100 * share:.{_WIDEST}g}"


def axis_title(scale: Scale) -> str:
    """What an axis or a colour bar of p says."""
    return f"p ({scale.statement})" if scale.absolute else "relative p (median = 1)"


def anchor_words(scale: Scale) -> str:
    """What absolute numbers rest on: "by what deaths say", "if mean detection is 25%"."""
    rule = scale.statement
    if rule.startswith("anchored by data: "):
        return f"by what {rule.removeprefix('anchored by data: ')} say"
    return f"if {rule.removeprefix('anchored: ')}"


def answer(row: Mapping[str, Any], scale: Scale, *, so_far: bool = False) -> str:
    """One place, or all together, in a sentence.

    Parameters
    ----------
    row : mapping
        A row of :meth:`uncletc.estimates.Sums.table` on `scale`.
    scale : Scale
    so_far : bool
        Whether the fit still runs.
    """
    reported = float(row["reported"])
    head = f"{'So far: reported' if so_far else 'Reported'} **{reported:,.0f}**; "
    if not np.isfinite(row["rate"]):
        return f"{head}λ cannot be estimated here."
    least = reported if "share" in row else 0.0
    rate = f"**{amount(max(row['rate'], least), least)}**{_between(row, 'rate', least)}"
    if "share" in row:
        counted = ""
        if np.isfinite(row["share"]):
            counted = f", **{percent(row['share'])} % counted**{_percents(row)}"
        return f"{head}estimated true {rate}{counted}, {anchor_words(scale)}."
    if scale.absolute:  # a day on which reports of others come in
        return f"{head}estimated true {rate}, {anchor_words(scale)}."
    return (
        f"{head}relative λ {rate}, which is what the median p would have counted; p is "
        f"**{times(float(row['detection']))}** the median{_between(row, 'detection')}."
    )


def open_scale(scale: Scale) -> str:
    """What to do for true numbers where the scale is relative; empty where it is absolute."""
    if scale.absolute:
        return ""
    return "How many there truly were stays open until you state something under *Scale of p*."


def chance_words(row: Mapping[str, Any], scale: Scale) -> str:
    """What a fit expects where that is far from what was reported; empty where it is not.

    For counts without effects on reporting, and on a relative scale: on an absolute one λ is never
    below what was reported.
    """
    expected, reported = float(row["rate"] * row["detection"]), float(row["reported"])
    if scale.absolute or not abs(expected - reported) > _FAR * reported:
        return ""
    side = "above" if expected < reported else "below"
    return (
        f"The fit itself expects {amount(expected)} counts here, λ times p: single counts far "
        f"{side} it are taken for chance."
    )


def reports_late(fit: Fit) -> bool:
    """Whether a day's reports may belong to cases of other days: effects on reporting say so."""
    effects = fit.mode_effects
    return effects is not None and any(effect.reporting for effect in effects.effects)


def share_words(*, late: bool) -> str:
    """What "% counted" is, and how it differs from p where reports may come late."""
    words = "*% counted* is what was reported, of λ."
    if not late:
        return words
    return f"{words} It holds how reports come in, too, such as late or never; p does not."


def rank_words(row: Mapping[str, Any], n: int) -> str:
    """Where a place stands by p, as a range where the fit has intervals."""
    if "rank_low" not in row:
        return f"By p it is number {row['rank']:,.0f} of {n:,}, 1 being the highest."
    low, high = int(row["rank_low"]), int(row["rank_high"])
    if high - low >= _OPEN * n:
        return f"Its rank by p cannot be told: anything from {low:,} to {high:,} of {n:,}."
    if low == high:
        return f"By p it is number {low:,} of {n:,}, 1 being the highest."
    return f"By p it is between number {low:,} and {high:,} of {n:,}, 1 being the highest."


def told_apart(ranks: pd.DataFrame, what: str) -> Apart:
    """Say what a ranking of places is worth.

    Parameters
    ----------
    ranks : DataFrame
        As :meth:`uncletc.estimates.Sums.ranks` returns it.
    what : str
        "places", "interactions".
    """
    n = len(ranks)
    if "rank_low" not in ranks or n < 2:
        return Apart(words="", ranking=True, known=False)
    middle = (n + 1) / 2
    clear = float(((ranks["rank_low"] > middle) | (ranks["rank_high"] < middle)).mean())
    if clear <= BY_CHANCE:
        return Apart(
            words=f"**These {what} cannot be told apart by p**: nearly each might be in the upper "
            "half or in the lower one.",
            ranking=False,
        )
    wide = float((ranks["rank_high"] - ranks["rank_low"]).median())
    return Apart(
        words=f"For {percent(clear)} % of the {what} the counts tell whether p is in the upper or "
        f"the lower half. A typical rank is known to within {wide:,.0f} of {n:,}.",
        ranking=True,
    )


def alike(ranks: pd.DataFrame) -> bool:
    """Whether none of these places can be told from any other of them by its range of ranks."""
    if "rank_low" not in ranks or len(ranks) < 2:
        return False
    return bool(ranks["rank_low"].max() <= ranks["rank_high"].min())


def rate_name(scale: Scale, what: str = "true") -> str:
    """What λ is called on a scale: "true, λ", or "relative λ" while the scale is free."""
    return f"{what}, λ" if scale.absolute else "relative λ"


def for_display(table: pd.DataFrame, names: Sequence[str], scale: Scale) -> pd.DataFrame:
    """Return answers as a page tabulates them: estimates as numbers, their intervals as text.

    Parameters
    ----------
    table : DataFrame
        Answers, as :class:`uncletc.estimates.Sums` gives them.
    names : sequence of str
        Columns that say what a row is about, and others to keep.
    scale : Scale
    """
    titles = {
        "rate": rate_name(scale),
        "detection": "p" if scale.absolute else "relative p",
        "share": "% counted",
    }
    shown = table[[*names, "reported"]].copy()
    for quantity in _QUANTITIES:
        if quantity not in table:
            continue
        times_what = 100.0 if quantity == "share" else 1.0
        shown[titles[quantity]] = _rounded(times_what * table[quantity])
        if f"{quantity}_low" in table:
            ends = (times_what * table[f"{quantity}_{end}"] for end in ("low", "high"))
            shown[f"{titles[quantity]}: 90 %"] = [
                f"{_three(low)}–{_three(high)}" if np.isfinite(low) else ""
                for low, high in zip(*ends, strict=True)
            ]
    if "share" in table:
        shown[titles["rate"]] = np.maximum(shown[titles["rate"]], table["reported"])
    if "rank_low" in table:
        pairs = zip(table["rank_low"], table["rank_high"], strict=True)
        shown["rank by p"] = [
            f"{low:,.0f}–{high:,.0f}" if low < high else f"{low:,.0f}" if low > 0 else ""
            for low, high in pairs
        ]
    return shown


def _rounded(values: pd.Series) -> list[float]:
    """Three digits of each number."""
    return [float(f"{value:.3g}") for value in values.tolist()]


def _three(value: float) -> str:
    """Three digits of a number, also where the last ones are 0: "0.140", "16.0", "61,000"."""
    rounded = float(f"{value:.3g}")
    return f"{rounded:,.0f}" if rounded >= 100 or rounded == 0 else f"{rounded:#.3g}"


def _between(row: Mapping[str, Any], name: str, least: float = 0.0) -> str:
    if f"{name}_low" not in row:
        return ""
    low, high = (amount(max(row[f"{name}_{end}"], least), least) for end in ("low", "high"))
    return f" ({low}–{high})"


def _percents(row: Mapping[str, Any]) -> str:
    if "share_low" not in row:
        return ""
    return f" ({percent(row['share_low'])}–{percent(row['share_high'])} %)"
