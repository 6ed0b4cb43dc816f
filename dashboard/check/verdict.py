"""Model check page: what the checks show, one by one and together, in sentences. Pure."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from dashboard.shared.fit_status.outcome import number_of_mu
from dashboard.shared.text.words import escape, plural
from uncletc import CountTensor
from uncletc.checking import Check, Ratio

Status = Literal["fits", "misfit", "open"]

FEW_COUNTS = 100  # held-out counts, and
FEW_POSITIVE = 30  # of them above zero, below which nothing is said
CLOSE = 0.05  # distance of residuals from normal that a reader would hardly see
SPREAD = 1.5  # times the variance of Poisson counts
OFF = 0.10  # of the mean
BETWEEN = 0.05  # share of the residuals' variance between groups
_SIZES = 2  # of ten groups by size, one of which may be off by chance
_FACTOR = 1.25  # of observed over predicted, in a group by size
_CLEAR_LAG = 0.15  # correlation
_BEYOND_CHANCE = 1.5  # times two standard errors: of many lags, one may lie a little beyond them
_LESS = 0.05  # ν above which large counts are said to scatter less for their size
_MORE_SPREAD = 1.5  # times the fit's own φ; held-out counts scatter somewhat more than others
_UNEVEN = 0.25  # of a density that is 1 throughout where it is right
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
    check: Check, *, strengths: pd.DataFrame, lags: pd.DataFrame, mode: str, positive: int
) -> Verdict:
    """Sum up the checks.

    Parameters
    ----------
    check : Check
    strengths : DataFrame
        One row per grouping: by, share, most (words that name the groups furthest off, empty where
        none is far), strongest first.
    lags : DataFrame
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
    far, off, lag = strengths[strengths["most"] != ""], sizes_off(check.deciles), clear_lag(lags)
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
        average = f"{average} {size_words(check.deciles)}"
    if lag is not None:
        steps, value = lag
        distance = f"{steps} {mode}s apart" if steps > 1 else f"at neighbouring {mode}s"
        groups += f" Counts of one place or pair {distance} have correlated errors ({value:.2f})."
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
    shape = "has about" if wide.distance <= CLOSE else "does not have"
    return (
        f"Counts vary about **{poisson.pearson:,.{0 if poisson.pearson > 10 else 1}f} times** as "
        "much as Poisson counts around these predictions would, so Poisson ranges are "
        f"{'much ' if poisson.pearson > 4 else ''}too narrow. A negative binomial "
        f"(φ = {wide.phi:.2g}) {shape} the right shape."
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
        named.append(f"{'more' if row.mean > 0 else 'less'}{what} in {escape(row.group)}")
    return ", ".join(named) + (f" ({len(far):,} stand out)" if len(far) > n else "")


def sizes_off(deciles: pd.DataFrame) -> pd.DataFrame:
    """Return the rows where the mean count is clearly not as predicted, the worst first."""
    inside = (deciles["low"] <= deciles["predicted"]) & (deciles["predicted"] <= deciles["high"])
    factor = np.exp(np.abs(np.log(deciles["observed"].clip(lower=1e-9) / deciles["predicted"])))
    off = deciles.assign(factor=factor)[~inside & (factor > _FACTOR)]
    return off.sort_values("factor", ascending=False).drop(columns="factor")


def size_words(deciles: pd.DataFrame) -> str:
    """For which predictions counts are most clearly off."""
    off = sizes_off(deciles)
    if off.empty:
        return (
            "From small to large, mean counts are about as predicted, or there are too few to tell."
        )
    worst = off.iloc[0]
    return (
        f"By size of the prediction, **{len(off)} of {len(deciles)}** groups are clearly off: "
        f"where {worst['predicted']:,.2g} are predicted on average, **{worst['observed']:,.2g}** "
        "were counted."
    )


def clear_lag(lags: pd.DataFrame) -> tuple[int, float] | None:
    """Return the lag with a clear correlation, and the correlation; None where there is none.

    Parameters
    ----------
    lags : DataFrame
        lag, value, chance.
    """
    measured = lags.dropna(subset="value")
    least = (_BEYOND_CHANCE * measured["chance"]).clip(lower=_CLEAR_LAG)
    clear = measured[measured["value"] > least]
    if clear.empty:
        return None
    # Of a rhythm, which comes back, the first beat.
    top = clear[clear["value"] > 0.9 * clear["value"].max()].iloc[0]
    return int(top["lag"]), float(top["value"])


def lag_words(lags: pd.DataFrame, mode: str) -> str:
    """Whether counts that follow one another go wrong together."""
    how = (
        f"Correlation of residuals of one place or pair, 1, 2, … {mode}s apart; between the dotted "
        "lines it may be chance."
    )
    clear = clear_lag(lags)
    if clear is None:
        return f"{how} Nothing clear: errors do not persist."
    lag, value = clear
    weekly = "a weekly reporting rhythm that the model does not know"
    what = weekly if mode == "day" and lag == 7 else "what the model misses persists"
    return (
        f"{how} **High at {plural(lag, mode)} ({value:.2f})**: {what}, so these counts hold less "
        "evidence than as many independent ones."
    )


def held_out_words(n: int, n_all: int, places: str | None) -> str:
    """What was kept from the fit.

    Parameters
    ----------
    n, n_all : int
        Entries held out, and counted ones.
    places : str, optional
        What was held out as a whole, with its number; None for single entries.
    """
    what = (
        f"**{n:,} of the {n_all:,} counted entries**, a fifth, drawn at random"
        if places is None
        else f"**{places}** with all their counts, {n:,} of {n_all:,}, drawn at random"
    )
    return (
        f"Held out: {what}. The fit has seen their attributes, not their counts, and predicts "
        "ŷ = λ·g(z), times reporting where it has effects on that. All checks below use them."
    )


def dispersion_words(check: Check, mu: float) -> str:
    """What the spread of counts means."""
    wide = check.negative_binomial
    if wide.phi < 1e-3:
        return "The counts spread no more than Poisson counts: φ is practically 0."
    less = " and falls where more are expected" if wide.power > _LESS else ""
    rest = ", the rest is not explained" if wide.phi > _MORE_SPREAD / mu else ""
    return (
        f"φ = {wide.phi:.2g}{less}: where 20 are expected, counts have a standard deviation of "
        f"{100 * math.sqrt(wide.phi):.0f} % of the prediction beyond Poisson variation (variance "
        f"ŷ + φŷ²). The fit's μ, {number_of_mu(mu)}, explains φ = {1 / mu:.2g}{rest}. A large φ "
        "alone does not make λ and p wrong, but ranges for single counts must use it."
    )


def pit_words(check: Check) -> str:
    """How to read the PIT histogram, and what it shows."""
    density = check.negative_binomial.pit.density
    tilt = density[-3:].mean() - density[:3].mean()
    hump = density[3:7].mean() - density[[0, -1]].mean()
    seen = "uneven: the predicted distribution has a different shape"
    if abs(density - 1).max() < _UNEVEN:
        seen = "about flat"
    elif abs(tilt) > max(_UNEVEN, abs(hump)):
        seen = f"{'rising: more' if tilt > 0 else 'falling: less'} is counted than predicted"
    elif hump < -_UNEVEN:
        seen = "higher at the ends: counts vary more than predicted"
    elif hump > _UNEVEN:
        seen = "higher in the middle: most counts vary less than predicted"
    return (
        "Where each count falls in its predicted distribution: 0 far below, 1 far above. **Flat "
        "is right**; a U: predictions are overconfident, a hump: underconfident. Under the "
        f"negative binomial it is {seen}."
    )


def credited_words(counts: CountTensor) -> str:
    """What attributes that act on detection and not on λ may be credited for; empty for none."""
    alone = [name for name in counts.attribute_names if name not in counts.rate_attribute_names]
    if not alone:
        return ""
    every = len(alone) == counts.n_attributes
    which = "All attributes" if every else ", ".join(map(escape, alone))
    return (
        f"{which} may change p and not λ: what they say of true counts is credited to detection "
        "here."
    )


def rank_words(table: pd.DataFrame, current: int) -> str:
    """What the comparison of :func:`dashboard.check.view.rank_table` says of the rank in use."""
    best, chosen = (int(table.loc[table[name], "rank"].iloc[0]) for name in ("best", "chosen"))
    head = f"Of these {len(table)} ranks, **rank {best}** predicts held-out counts best"
    head += (
        ", and no smaller one comes within one standard error of it."
        if chosen == best
        else f"; **rank {chosen}** is the smallest within one standard error of it, so the data do "
        "not clearly call for more."
    )
    if best == table["rank"].max():
        head += " It is the largest of them: a larger one may be better still."
    row = table[table["rank"] == current].iloc[0]
    if current in (best, chosen):
        return head
    if row["behind"] <= row["error"]:
        return f"{head} Rank {current}, in use here, predicts about as well."
    by = row["behind"] / row["error"]
    return f"{head} Rank {current}, in use here, lies {by:.1f} standard errors behind the best."
