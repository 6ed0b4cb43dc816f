"""p, λ and what was reported, as numbers and in words, on the chosen scale. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from dashboard.shared.text.words import ALIKE, P_IS_THE_SAME, amount, caution, factor, span, times
from uncletc import Anchor, CountTensor, Fit, Scale
from uncletc.datasets import Dataset
from uncletc.estimates import Sums
from uncletc.report.page import percent

FEW = 20  # values, of which fewer have no outer 5 %
_WIDE = 20.0  # 95th over 5th percentile
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


def detection_grids(dataset: Dataset, fit: Fit, anchor: Anchor) -> DetectionGrids:
    """Return p of every entry with attributes, and its interval where the fit has draws."""
    counts, scale = dataset.counts, anchor.scale(dataset.counts, fit)
    p = fit.quantity("detection", counts, counts.attribute_indices, scale)
    found = {"p": p.estimate} | ({} if fit.draws is None else {"low": p.low, "high": p.high})
    most = 1 if scale.absolute else np.inf
    grids = {name: on_grid(counts, np.minimum(value, most)) for name, value in found.items()}
    uncertain = fit.scale is not None or scale.log_error > 0
    return DetectionGrids(p=grids.pop("p"), ends=grids, scale=scale, uncertain_scale=uncertain)


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
    means: NDArray[np.float64] = np.ma.masked_invalid(grid).mean(axis=-1).filled(np.nan)
    return means


def for_download(table: pd.DataFrame, scale: Scale | None) -> pd.DataFrame:
    """Return a table with columns of p called detection, and what fixes the scale in the last.

    Where nothing fixes it, names of columns of p and λ begin with `relative_`.

    Parameters
    ----------
    table : DataFrame
        p as value or p or mean (of p), with sd, low and high, or p_low, …; λ as rate, rate_low, ….
    scale : Scale, optional
        None: these are true values, of a simulation.
    """
    named = table.rename(columns=_NAMES)
    if scale is None:
        return named
    if not scale.absolute:
        free = [name for name in named if str(name).startswith(("detection", "rate"))]
        named = named.rename(columns={name: f"relative_{name}" for name in free})
    return named.assign(scale=scale.statement)


def color_limits(p: ArrayLike) -> tuple[float, float]:
    """Limits of a colour scale that hold all but the outer 2 % of p on either side.

    Where p hardly differs they are wider, so that what is alike looks alike.
    """
    low, high = (float(limit) for limit in np.nanquantile(p, [0.02, 0.98]))
    return (low, high) if low * _ALIKE < high else (low * 0.9, high * 1.1)


def contrast(p: ArrayLike) -> float:
    """The 95th percentile of p over the 5th, of few values the largest over the smallest.

    1 without values.
    """
    values = np.asarray(p, dtype=np.float64)
    outer = 0.05 if np.isfinite(values).sum() >= FEW else 0.0
    worst, best = np.nanquantile(values, [outer, 1 - outer]) if values.size else (1.0, 1.0)
    return float(best / worst)


def is_wide(values: ArrayLike) -> bool:
    """Whether values spread so far that a linear scale shows the largest alone."""
    return contrast(values) > _WIDE


_BY_CHANCE = 0.1  # share of 90 % intervals that leave out the median where all places are alike
BELOW = "On a single day λ may lie below the reported count, which may be of other days."
_OPEN = 0.8  # of all ranks; beyond, a range says nothing
_QUANTITIES = ("rate", "detection", "share")


@dataclass(frozen=True, eq=False, kw_only=True)
class Answers:
    """Counts, λ, p and the share reported, with intervals where the fit has them.

    Attributes
    ----------
    tables : dict of str to DataFrame
        By what a row is: names, then what :meth:`uncletc.estimates.Sums.table` has.
    columns : dict of str to list of str
        Which names of each table a page shows.
    total : dict
        One row of the same for all together.
    precision : str
        How precisely ranks by p of all are known, or empty: without intervals, or for a part.
    scale : Scale
    noun : str
        What λ counts: "infections".
    simulated : bool
        Whether nothing in it was observed, people included.
    """

    tables: dict[str, pd.DataFrame]
    columns: dict[str, list[str]]
    total: dict[str, Any]
    precision: str
    scale: Scale
    noun: str = "true count"
    simulated: bool = False

    @cached_property
    def shown(self) -> dict[str, pd.DataFrame]:
        """`tables` as a page tabulates them."""
        names = {"population": "population, simulated"} if self.simulated else {}
        return {
            by: for_display(table, self.columns[by], self.scale, self.noun).rename(
                columns=lambda name: names.get(name, name.replace("_", " "))
            )
            for by, table in self.tables.items()
        }


def axis_title(scale: Scale) -> str:
    """What an axis or a colour bar of p says."""
    if not scale.absolute:
        return "relative p (median entry = 1)"
    return f"detection probability p ({anchor_words(scale)})"


def anchor_words(scale: Scale) -> str:
    """What absolute numbers rest on: "calibrated to deaths", "if mean detection is 25 %"."""
    return scale.statement.replace("%", " %").replace("anchored: ", "if ")


def answer(
    row: Mapping[str, Any],
    scale: Scale,
    noun: str = "true count",
    *,
    so_far: bool = False,
    counted: str = "Reported",
    detected: str = "reported",
    total: bool = False,
) -> str:
    """One place, or all together, in a sentence.

    Parameters
    ----------
    row : mapping
        A row of :meth:`uncletc.estimates.Sums.table` on `scale`.
    scale : Scale
    noun : str
        What λ counts: "infections".
    so_far : bool
        Whether the fit still runs.
    counted, detected : str
        What the counts are called, and what happened to the share that was counted.
    total : bool
        Whether these are all together: without a level, nothing says how many were missed.
    """
    reported = float(row["reported"])
    counted = f"So far: {counted[0].lower()}{counted[1:]}" if so_far else counted
    head = f"{counted} **{reported:,.0f}**"
    if total and not scale.absolute:
        return f"{head}. Absolute totals need an assumed detection level."
    head += "; "
    if not np.isfinite(row["rate"]):
        return f"{head}λ cannot be estimated here."
    if not scale.absolute:
        p = float(row["detection"])
        ratio = times(p)
        ratio = "equal to" if ratio in ("1 times", "1.00 times") else ratio
        ends = [row[name] for name in ("detection_low", "detection_high") if name in row]
        between = f" ({'–'.join(factor(end, p) for end in ends)})" if ends else ""
        return f"{head}p is **{ratio}** the median{between}."
    least = reported if "share" in row else 0.0
    rate = f"**{amount(max(row['rate'], least), least)}**"
    if "rate_low" in row:
        rate += f" ({span(row['rate_low'], row['rate_high'], least)})"
    share = ""
    if np.isfinite(row.get("share", np.nan)):
        share = f"; **{percent(row['share'])}\u00a0% {detected}**"
        if "share_low" in row:
            low, high = percent(row["share_low"]), percent(row["share_high"])
            share += f" (90 % interval {low}–{high}\u00a0%)"
    return f"{head}estimated {noun} {rate}{share}, {anchor_words(scale)}."


def share_words(*, late: bool) -> str:
    """What "% reported" is, and how it differs from p where reports may come late."""
    words = "*% reported*: reported counts over λ."
    return f"{words} It also reflects reporting delays and gaps; p does not." if late else words


def rank_words(row: Mapping[str, Any], n: int) -> str:
    """Where a place stands by p, as a range where the fit has intervals."""
    if "rank_low" not in row:
        return f"Detection rank {row['rank']:,.0f} of {n:,} (1 = highest)."
    low, high = int(row["rank_low"]), int(row["rank_high"])
    if high - low >= _OPEN * n:
        return f"Detection rank not determined: {low:,}–{high:,} of {n:,} (90 % interval)."
    ranks = f"{low:,}–{high:,}" if low < high else f"{low:,}"
    return f"Detection rank {ranks} of {n:,} (1 = highest; 90 % interval)."


def rank_precision(table: pd.DataFrame, scale: Scale, what: str) -> str:
    """Return how precisely places can be ranked, in a sentence; empty without intervals.

    Parameters
    ----------
    table : DataFrame
        The columns of :meth:`uncletc.estimates.Sums.ranks`, and where the scale is free those of
        ``sums.table(scale)``.
    scale : Scale
    what : str
        "places", "interactions".
    """
    n = len(table)
    if "rank_low" not in table or n < 2:
        return ""
    median = f"the median of these {what}" if scale.absolute else "the median p"
    share = _off_the_median(table, scale)
    if share <= _BY_CHANCE:
        return f"**Almost any of these {what} could lie above or below {median}.**"
    wide = round((table["rank_high"] - table["rank_low"]).median())
    typical = f"a typical rank has a 90 % interval {wide:,} rank{'s' * (wide > 1)} wide (of {n:,})"
    return (
        f"For {percent(share)} % of {what}, p is clearly above or below {median}; "
        f"{typical if wide else 'ranks are as good as certain'}."
    )


def undecided(table: pd.DataFrame, scale: Scale) -> bool:
    """Whether almost any place could lie above or below the median; False without intervals."""
    return "rank_low" in table and len(table) > 1 and _off_the_median(table, scale) <= _BY_CHANCE


def _off_the_median(table: pd.DataFrame, scale: Scale) -> float:
    """Share of places whose interval leaves out the median that is 1, or else the middle rank."""
    of, middle = ("rank", (len(table) + 1) / 2) if scale.absolute else ("detection", 1.0)
    return float(((table[f"{of}_low"] > middle) | (table[f"{of}_high"] < middle)).mean())


def bars_of(
    table: pd.DataFrame, sums: Sums, scale: Scale, **columns: Sequence[Any] | pd.Series
) -> pd.DataFrame:
    """Return bars of mean p, highest first.

    Parameters
    ----------
    table : DataFrame
        ``sums.table(scale)``, with the columns of ``sums.ranks()``.
    sums : Sums
        Of places or pairs.
    scale : Scale
    **columns
        label, note, and what else a bar has.

    Returns
    -------
    DataFrame
        The columns, value and, where the fit has intervals, low and high (relative to all others),
        level_low and level_high (with the uncertainty of the level, too), rank_low, rank_high. No
        row without p.
    """
    bars = pd.DataFrame({**columns, "value": table["detection"]}, table.index)
    if sums.has_intervals:
        alone = sums.relative().table(replace(scale, log_error=0.0))
        for end in ("low", "high"):
            bars[end] = alone[f"detection_{end}"].to_numpy()
            bars[f"level_{end}"] = table[f"detection_{end}"]
            bars[f"rank_{end}"] = table[f"rank_{end}"]
    if scale.absolute:
        levels = bars.filter(["value", "low", "high", "level_low", "level_high"])
        bars[levels.columns] = levels.clip(upper=1.0)
    bars = bars[np.isfinite(bars["value"])]
    return bars.sort_values("value", ascending=False, kind="stable", ignore_index=True)


def findings(
    dataset: Dataset, precision: str, p: ArrayLike, event: str, places: str
) -> dict[str, str | None]:
    """Return the main finding about p in a sentence or two, and why not to trust it.

    Parameters
    ----------
    dataset : Dataset
    precision : str
        Of :func:`rank_precision`.
    p : array_like of float, shape (n,)
        Of places or pairs.
    event, places : str
        What is reported or not, and where: "A case", "places".

    Returns
    -------
    dict
        insight and caution, the latter None where there is no reason.
    """
    ratio = contrast(p)
    if not dataset.counts.n_attributes:
        return {"insight": P_IS_THE_SAME, "caution": None}
    if ratio < ALIKE:
        insight = f"**This fit finds no difference in detection between these {places}.**"
        return {"insight": insight, "caution": None}
    ends = f"where detection is highest among these {places} as where it is lowest"
    if np.isfinite(p).sum() >= FEW:
        ends = f"at the 95th percentile of these {places} as at the 5th"
    insight = f"{event} is **{times(ratio)}** as likely to be reported {ends}. {precision}"
    return {"insight": insight.strip(), "caution": caution(ratio)}


def not_distinguishable(ranks: pd.DataFrame) -> bool:
    """Whether none of these places differs from any other by its range of ranks."""
    if "rank_low" not in ranks or len(ranks) < 2:
        return False
    return bool(ranks["rank_low"].max() <= ranks["rank_high"].min())


def rate_name(scale: Scale, noun: str = "true count", per: str = "") -> str:
    """What λ is called on a scale: "estimated infections", "expected at median p" while free."""
    return f"estimated {noun}{per}" if scale.absolute else f"expected{per} at median p"


def for_display(table: pd.DataFrame, names: Sequence[str], scale: Scale, noun: str) -> pd.DataFrame:
    """Return answers as a page tabulates them: estimates as numbers, their intervals as text.

    Parameters
    ----------
    table : DataFrame
        Answers, as :class:`uncletc.estimates.Sums` gives them.
    names : sequence of str
        Columns that say what a row is about, and others to keep.
    scale : Scale
    noun : str
        What λ counts.
    """
    titles = {
        "rate": rate_name(scale, noun),
        "detection": "p" if scale.absolute else "relative p",
        "share": "% reported",
    }
    shown = table[[*names, "reported"]].copy()
    decimals = 3 if scale.absolute else 2  # of p
    for quantity in [each for each in _QUANTITIES if each in table]:
        times_what = 100.0 if quantity == "share" else 1.0
        shown[titles[quantity]] = [float(f"{v:.3g}") for v in times_what * table[quantity]]
        if f"{quantity}_low" in table:
            ends = (times_what * table[f"{quantity}_{end}"] for end in ("low", "high"))
            of_p = quantity == "detection"
            shown[f"{titles[quantity]} (90 % interval)"] = [
                (f"{low:.{decimals}f}–{high:.{decimals}f}" if of_p else span(low, high))
                if np.isfinite([low, high]).all()
                else ""
                for low, high in zip(*ends, strict=True)
            ]
    if "share" in table:
        shown[titles["rate"]] = np.maximum(shown[titles["rate"]], table["reported"])
    if "rank_low" in table:
        shown["rank by p"] = [
            f"{low:,.0f}–{high:,.0f}" if low < high else f"{low:,.0f}" if low > 0 else ""
            for low, high in zip(table["rank_low"], table["rank_high"], strict=True)
        ]
    return shown
