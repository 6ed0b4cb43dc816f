"""Model check page: what the checks show, one by one and together, in sentences. Pure."""

import math

import numpy as np
import pandas as pd

from dashboard.shared.fit_status.outcome import Status, Verdict
from dashboard.shared.text.words import amount, escape
from uncletc.checking import Check, Ratio

FEW_COUNTS = 100  # held-out counts, and
FEW_POSITIVE = 30  # of them above zero, below which nothing is said
SPREAD = 1.5  # times the variance of Poisson counts
OFF = 0.10  # of the mean
BETWEEN = 0.05  # share of the residuals' variance between groups
_NAMED = 2  # groups named as far off
_SIZES = 2  # of ten groups by size, one of which may be off by chance
_FACTOR = 1.25  # of observed over predicted, in a group by size
_CLEAR_LAG = 0.15  # correlation
_BEYOND_CHANCE = 1.5  # times two standard errors: of many lags, one may lie a little beyond them
_MORE_SPREAD = 1.5  # times the fit's own φ; held-out counts scatter somewhat more than others
_MUCH = 2.0  # times the limits of shape, groups and lags, up to which a misfit is one of details


def verdict(
    check: Check,
    scores: pd.DataFrame,
    *,
    allowed: float,
    strengths: pd.DataFrame,
    lags: pd.DataFrame,
    mode: str,
    positive: int,
) -> Verdict:
    """Sum up the checks.

    Parameters
    ----------
    check : Check
    scores : DataFrame
        As :func:`dashboard.check.view.score_table` returns it.
    allowed : float
        The dispersion φ that the fit allows: by its μ, and by how uncertain its predictions are.
    strengths : DataFrame
        One row per grouping: by, share, most (words that name the groups furthest off, empty where
        none is far), strongest first.
    lags : DataFrame
        lag, value, chance: correlation of residuals of one place by their distance along the last
        mode, and two standard errors of it.
    mode : str
        The last one, "day" or "visit".
    positive : int
        Held-out counts above zero.
    """
    if check.n < FEW_COUNTS or positive < FEW_POSITIVE:
        text = f"Only {check.n:,} counts were held out, {positive:,} of them above zero; "
        text += f"a check needs {FEW_COUNTS} and {FEW_POSITIVE}, so a table of five times as many."
        return Verdict(status="open", headline="Too few counts to judge", points=(text,))
    far, off, lag = strengths[strengths["most"] != ""], sizes_off(check.deciles), clear_lag(lags)
    poor = (
        unexplained(check, allowed)
        or _off(check.ratio)
        or len(off) >= _SIZES
        or (scores["worse_by"] < -2 * scores["error"]).any()
    )
    excess = max(  # of shape, groups and lags over their limits
        0.0 if lag is None else lag[1] / _CLEAR_LAG,
        far["share"].iloc[0] / BETWEEN if len(far) else 0.0,
        check.negative_binomial.distance / check.close,
    )
    status: Status = "misfit" if poor or excess > 1 else "fits"
    headline = "Right on average; details differ" if status == "misfit" else "No clear misfit"
    if poor or excess > _MUCH:
        headline = "Poor fit: interpret with caution"
    average, groups = _average(check.ratio), _largest(far)
    if len(off) >= _SIZES:
        worst = off.iloc[0]
        average += (
            f" Where {amount(worst['predicted'])} are predicted, "
            f"**{amount(worst['observed'])}** were counted."
        )
    if lag is not None:
        steps, value = lag
        distance = f"{steps} {mode}s apart" if steps > 1 else f"at neighbouring {mode}s"
        groups += f" Errors {distance} are correlated ({value:.2f})."
    points = (score_words(scores), _spread(check, allowed), average, groups)
    return Verdict(status=status, headline=headline, points=points)


def unexplained(check: Check, allowed: float) -> bool:
    """Whether held-out counts are clearly more dispersed than the fit allows."""
    return check.poisson.pearson > SPREAD and check.negative_binomial.phi > _MORE_SPREAD * allowed


def _spread(check: Check, allowed: float) -> str:
    poisson, wide = check.poisson, check.negative_binomial
    if poisson.pearson <= SPREAD:
        head = f"Counts vary about as Poisson counts do (variance/mean ≈ {poisson.pearson:.2g})"
        close = min(poisson.distance, wide.distance) <= check.close
        return f"{head}." if close else f"{head}, but their distribution has another shape."
    shape = "is about" if wide.distance <= check.close else "is not"
    how = "**more than this fit expects**" if unexplained(check, allowed) else "as this fit expects"
    times = f"{poisson.pearson:,.{0 if poisson.pearson > 10 else 1}f} times"
    return (
        f"The variance of held-out counts about their predictions is {times} that of chance alone "
        f"(Poisson), {how}; the shape of their distribution {shape} as expected."
    )


def _average(ratio: Ratio) -> str:
    margin = max(abs(ratio.low - 1), abs(ratio.high - 1))
    if not _off(ratio) and margin <= OFF:
        percent = max(math.ceil(100 * margin - 1e-6), 1)
        return f"Predicted means are right on average **within ± {percent} %**."
    interval = f"95 % interval {ratio.low:.2g} to {ratio.high:.2g}"
    says = f"observed counts are **{ratio.estimate:.2f} times** the predicted ones ({interval})"
    if ratio.low <= 1 <= ratio.high:
        return f"Overall, {says}."
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
        f"The largest misfit is **by {row['by']}** ({100 * row['share']:.0f} % of the residual "
        f"variance): {row['most']}."
    )


def most_off(groups: pd.DataFrame) -> str:
    """Name the far groups that are most clearly off, and which way; empty where none is far.

    Parameters
    ----------
    groups : DataFrame
        group, n, mean, far.
    """
    far = groups[groups["far"]]
    far = far.iloc[(-far["mean"].abs() * far["n"] ** 0.5).argsort(kind="stable")]
    named = []
    for row in far.head(_NAMED).itertuples():
        what = "" if named else " was counted than predicted"
        named.append(f"{'more' if row.mean > 0 else 'less'}{what} in {escape(row.group)}")
    return ", ".join(named) + (f" ({len(far):,} stand out)" if len(far) > _NAMED else "")


def sizes_off(deciles: pd.DataFrame) -> pd.DataFrame:
    """Return the rows where the mean count is clearly not as predicted, the worst first."""
    inside = (deciles["low"] <= deciles["predicted"]) & (deciles["predicted"] <= deciles["high"])
    factor = np.exp(np.abs(np.log(deciles["observed"].clip(lower=1e-9) / deciles["predicted"])))
    off = deciles.assign(factor=factor)[~inside & (factor > _FACTOR)]
    return off.sort_values("factor", ascending=False).drop(columns="factor")


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
    # Of a rhythm, which repeats, the first beat.
    top = clear[clear["value"] > 0.9 * clear["value"].max()].iloc[0]
    return int(top["lag"]), float(top["value"])


def held_out_words(n: int, n_all: int, places: str | None) -> str:
    """What was held out, in one line.

    Parameters
    ----------
    n, n_all : int
        Entries held out, and counted ones.
    places : str, optional
        What was held out as a whole, with its number; None for single entries.
    """
    if places is None:
        return f"Held out: **{n:,} of the {n_all:,} counts**, a fifth, at random."
    return f"Held out: **{places}** with all their counts, {n:,} of {n_all:,}, at random."


def dispersion_words(check: Check, allowed: float) -> str:
    """What the dispersion of held-out counts means, and how much of it the fit explains."""
    wide = check.negative_binomial
    if wide.phi < 1e-3:
        return "No overdispersion: φ ≈ 0."
    counted, expected = (math.sqrt(20 + 400 * phi) for phi in (wide.phi, allowed))
    return (
        f"Where 20 are predicted, counts vary by ± {counted:.2g} (SD; φ = {wide.phi:.2g}); this "
        f"fit expects ± {expected:.2g} (φ = {allowed:.2g}), chance alone gives ± 4.5."
    )


def score_words(scores: pd.DataFrame) -> str:
    """Whether the fit predicts held-out counts better than each simpler model, and by how much.

    Parameters
    ----------
    scores : DataFrame
        As :func:`dashboard.check.view.score_table` returns it.
    """
    words = []
    for row in scores.iloc[1:].itertuples():
        how = "better than" if row.worse_by > 0 else "worse than"
        if abs(row.worse_by) <= 2 * row.error:
            how = "about as good as"
        words.append(f"**{how}** {row.model} ({abs(row.worse_by):.2g} ± {row.error:.1g} per count)")
    return f"The held-out log score is {' and '.join(words)}."
