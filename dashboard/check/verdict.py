"""Model check page: what the checks say together, in plain words. Pure."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import pandas as pd

from dashboard.check.words import clear_lag, sizes_off
from uncletc.checking import Check, Ratio

Status = Literal["fits", "misfit", "open"]

FEW_COUNTS = 100  # held-out counts, and
FEW_POSITIVE = 30  # of them above zero, below which nothing is said
CLOSE = 0.05  # distance of residuals from normal that a reader would hardly see
SPREAD = 1.5  # times the variance of Poisson counts
OFF = 0.10  # of the mean
BETWEEN = 0.05  # share of the residuals' variance between groups
_SIZES = 2  # of ten groups by size, one of which may be off by chance
_HEADLINES: dict[Status, str] = {
    "fits": "No clear misfit",
    "misfit": "Misfit: read on before you rely on it",
    "open": "Too few counts to judge",
}


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What the checks say together.

    Attributes
    ----------
    status : {"fits", "misfit", "open"}
    headline : str
    points : tuple of str
        A sentence or two each: on spread, on averages, on places and times.
    """

    status: Status
    headline: str
    points: tuple[str, ...]


def verdict(
    check: Check,
    *,
    strengths: pd.DataFrame,
    deciles: pd.DataFrame,
    lags: pd.DataFrame,
    mode: str,
    positive: int,
) -> Verdict:
    """Sum up the checks.

    Parameters
    ----------
    check : Check
    strengths : DataFrame
        One row per grouping: by, share, most (words that name the groups furthest off, empty where
        none is far), strongest first.
    deciles, lags : DataFrame
        As in :class:`dashboard.check.view.CheckView`.
    mode : str
        The last one, "day" or "visit".
    positive : int
        Held-out counts above zero.
    """
    if check.n < FEW_COUNTS or positive < FEW_POSITIVE:
        text = (
            f"Only {check.n:,} counts were held out, {positive:,} of them above zero: too few to "
            "say whether the model fits."
        )
        return Verdict(status="open", headline=_HEADLINES["open"], points=(text,))
    far = strengths[strengths["most"] != ""]
    largest = None if far.empty else far.iloc[0]
    wrong = (
        check.poisson.pearson > SPREAD
        or check.negative_binomial.distance > CLOSE
        or _off(check.ratio)
        or (largest is not None and largest["share"] > BETWEEN)
        or len(sizes_off(deciles)) >= _SIZES
        or clear_lag(lags) is not None
    )
    status: Status = "misfit" if wrong else "fits"
    points = (
        _spread(check),
        _average(check.ratio) + _by_size(deciles),
        _largest(largest) + _rhythm(lags, mode),
    )
    return Verdict(status=status, headline=_HEADLINES[status], points=points)


def _spread(check: Check) -> str:
    poisson, wide = check.poisson, check.negative_binomial
    if poisson.pearson <= SPREAD:
        head = (
            "Counts vary about as much as Poisson counts around these predictions would "
            f"({poisson.pearson:.2g} times)."
        )
        return head if min(poisson.distance, wide.distance) <= CLOSE else head + _wrong_shape()
    how_many = f"{poisson.pearson:,.{0 if poisson.pearson > 10 else 1}f} times"
    head = (
        f"Counts vary about **{how_many}** as much as Poisson counts around these predictions "
        f"would, so Poisson ranges are {'much ' if poisson.pearson > 4 else ''}too narrow."
    )
    if wide.distance <= CLOSE:
        return head + f" A negative binomial (φ = {wide.phi:.2g}) has about the right shape."
    return head + f" Even a negative binomial (φ = {wide.phi:.2g}) does not have the right shape."


def _wrong_shape() -> str:
    return " But their distribution has another shape than predicted."


def _average(found: Ratio) -> str:
    if not _off(found) and _margin(found) <= OFF:
        percent = max(math.ceil(100 * _margin(found) - 1e-6), 1)
        return f"Predicted means are right on average **within ± {percent} %**."
    interval = f"95 % interval {found.low:.2g} to {found.high:.2g}"
    told = f"observed counts are **{found.estimate:.2f} times** the predicted ones ({interval})"
    if found.low <= 1 <= found.high:
        return f"In all, {told}: these counts cannot tell whether predictions are off."
    return f"Predictions are too {'low' if found.low > 1 else 'high'} on average: {told}."


def _by_size(deciles: pd.DataFrame) -> str:
    off = sizes_off(deciles)
    if len(off) < _SIZES:
        return ""
    worst = off.iloc[0]
    return (
        f" By size they are clearly off in {len(off)} of {len(deciles)} groups: where "
        f"{worst['predicted']:,.2g} are predicted, {worst['observed']:,.2g} were counted."
    )


def _rhythm(lags: pd.DataFrame, mode: str) -> str:
    found = clear_lag(lags)
    if found is None:
        return ""
    lag, value = found
    apart = f"{lag} {mode}s apart" if lag > 1 else f"at neighbouring {mode}s"
    return f" Counts of one place or pair {apart} go wrong together (correlation {value:.2f})."


def _margin(found: Ratio) -> float:
    return max(abs(found.low - 1), abs(found.high - 1))


def _off(found: Ratio) -> bool:
    """Whether predictions are clearly wrong on average, and by more than a twentieth."""
    return not found.low <= 1 <= found.high and abs(found.estimate - 1) > OFF / 2


def _largest(row: pd.Series | None) -> str:
    if row is None:
        return "No place and no time stands out."
    if row["share"] <= BETWEEN:
        return f"No place and no time is far off; furthest, by {row['by']}: {row['most']}."
    return (
        f"The largest misfit is **by {row['by']}**: {row['most']}. Differences by {row['by']} make "
        f"up {100 * row['share']:.0f} % of the variation of residuals."
    )


def most_off(groups: pd.DataFrame, n: int = 2) -> str:
    """Name the far groups that are most clearly off, and which way; empty where none is far.

    Parameters
    ----------
    groups : DataFrame
        group, n, mean, far.
    """
    far = groups[groups["far"]]
    clearest = (-far["mean"].abs() * far["n"] ** 0.5).argsort(kind="stable")
    far = far.iloc[clearest]
    named = [
        f"{'more' if row.mean > 0 else 'less'} was counted than predicted in {row.group}"
        if k == 0
        else f"{'more' if row.mean > 0 else 'less'} in {row.group}"
        for k, row in enumerate(far.head(n).itertuples())
    ]
    return ", ".join(named) + (f" ({len(far):,} stand out)" if len(far) > n else "")
