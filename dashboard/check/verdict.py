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
    points : tuple of str
        A sentence or two each: on spread, on averages, on places and times.
    """

    status: Status
    points: tuple[str, ...]

    @property
    def headline(self) -> str:
        """The status in words."""
        return _HEADLINES[self.status]


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
        return Verdict(status="open", points=(text,))
    far, off, lag = strengths[strengths["most"] != ""], sizes_off(deciles), clear_lag(lags)
    wrong = (
        check.poisson.pearson > SPREAD
        or check.negative_binomial.distance > CLOSE
        or _off(check.ratio)
        or (far["share"].head(1) > BETWEEN).any()
        or len(off) >= _SIZES
        or lag is not None
    )
    average, groups = _average(check.ratio), _largest(far)
    if len(off) >= _SIZES:
        average += (
            f" By size they are clearly off in {len(off)} of {len(deciles)} groups: where "
            f"{off['predicted'].iloc[0]:,.2g} are predicted, {off['observed'].iloc[0]:,.2g} were "
            "counted."
        )
    if lag is not None:
        steps, value = lag
        apart = f"{steps} {mode}s apart" if steps > 1 else f"at neighbouring {mode}s"
        groups += f" Counts of one place or pair {apart} have correlated errors ({value:.2f})."
    return Verdict(status="misfit" if wrong else "fits", points=(_spread(check), average, groups))


def _spread(check: Check) -> str:
    poisson, wide = check.poisson, check.negative_binomial
    if poisson.pearson <= SPREAD:
        head = (
            "Counts vary about as much as Poisson counts around these predictions would "
            f"({poisson.pearson:.2g} times)."
        )
        if min(poisson.distance, wide.distance) <= CLOSE:
            return head
        return f"{head} But their distribution does not have the predicted shape."
    shape = f"Even a negative binomial (φ = {wide.phi:.2g}) does not have the right shape."
    if wide.distance <= CLOSE:
        shape = f"A negative binomial (φ = {wide.phi:.2g}) has about the right shape."
    return (
        f"Counts vary about **{poisson.pearson:,.{0 if poisson.pearson > 10 else 1}f} times** as "
        "much as Poisson counts around these predictions would, so Poisson ranges are "
        f"{'much ' if poisson.pearson > 4 else ''}too narrow. {shape}"
    )


def _average(ratio: Ratio) -> str:
    margin = max(abs(ratio.low - 1), abs(ratio.high - 1))
    if not _off(ratio) and margin <= OFF:
        percent = max(math.ceil(100 * margin - 1e-6), 1)
        return f"Predicted means are right on average **within ± {percent} %**."
    interval = f"95 % interval {ratio.low:.2g} to {ratio.high:.2g}"
    says = f"observed counts are **{ratio.estimate:.2f} times** the predicted ones ({interval})"
    if ratio.low <= 1 <= ratio.high:
        return f"Overall, {says}: these counts cannot tell whether predictions are off."
    return f"Predictions are too {'low' if ratio.low > 1 else 'high'} on average: {says}."


def _off(ratio: Ratio) -> bool:
    """Whether predictions are clearly wrong on average, and by more than a twentieth."""
    return not ratio.low <= 1 <= ratio.high and abs(ratio.estimate - 1) > OFF / 2


def _largest(far: pd.DataFrame) -> str:
    if far.empty:
        return "No place or time stands out."
    row = far.iloc[0]
    if row["share"] <= BETWEEN:
        return f"No place or time is far off; furthest, by {row['by']}: {row['most']}."
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
    far = far.iloc[(-far["mean"].abs() * far["n"] ** 0.5).argsort(kind="stable")]
    named = []
    for row in far.head(n).itertuples():
        what = "" if named else " was counted than predicted"
        named.append(f"{'more' if row.mean > 0 else 'less'}{what} in {row.group}")
    return ", ".join(named) + (f" ({len(far):,} stand out)" if len(far) > n else "")
