"""Model check page: how to read each figure, and what it shows. Pure."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from dashboard.shared.fit_status.outcome import number_of_mu
from dashboard.shared.text.words import plural, times
from uncletc import CountTensor
from uncletc.checking import Check, Gain

_CLEAR_LAG = 0.15  # correlation
_BEYOND_CHANCE = 1.5  # times two standard errors: of many lags, one may lie a little beyond them
_FACTOR = 1.25  # of observed over predicted
_LESS = 0.05  # ν above which large counts are said to scatter less for their size
_MORE_SPREAD = 1.5  # times the fit's own φ; held-out counts scatter somewhat more than others


def held_out_words(n: int, n_all: int, *, whole: str | None, groups: int) -> str:
    """What was kept from the fit.

    Parameters
    ----------
    n, n_all : int
        Entries held out, and counted ones.
    whole : str, optional
        What was held out as a whole, in the plural; None for single entries.
    groups : int
        How many of them.
    """
    what = (
        f"**{n:,} of the {n_all:,} counted entries**, a fifth, drawn at random"
        if whole is None
        else f"**{groups:,} {whole}** with all their counts, {n:,} of {n_all:,}, drawn at random"
    )
    return (
        f"Held out: {what}. The fit has seen their attributes, not their counts, and predicts "
        "them as ŷ = λ·g(z), times reporting where it has effects on that. All checks below use "
        "these counts: those that a fit has seen would flatter it."
    )


def dispersion_words(check: Check, mu: float) -> str:
    """What the spread of counts means."""
    wide = check.negative_binomial
    if wide.phi < 1e-3:
        return "The counts spread no more than Poisson counts: φ is practically 0."
    extra = math.sqrt(wide.phi)
    typical = (
        f"counts typically lie {100 * extra:.0f} % above or below the prediction"
        if extra <= 1
        else "most counts lie far below the prediction and a few far above it (standard deviation "
        f"{extra:.1f} times the prediction)"
    )
    rest = (
        "; the rest is variation that the model does not explain"
        if wide.phi > _MORE_SPREAD / mu
        else ", so the model explains it"
    )
    less = ", and φ is less where more are expected" if wide.power > _LESS else ""
    return (
        f"φ = {wide.phi:.2g} means that where 20 are expected, {typical}, beyond Poisson "
        f"variation: the variance is ŷ + φŷ²{less}. The fit's μ, {number_of_mu(mu)}, allows each "
        f"entry's p a spread of φ = {1 / mu:.2g}{rest}. A large φ alone does not make λ and p "
        "wrong, but ranges for single counts must use it."
    )


def pit_words(check: Check) -> str:
    """How to read the PIT histogram, and what it shows."""
    density = check.negative_binomial.pit.density
    tilt = density[-3:].mean() - density[:3].mean()
    ends, middle = density[[0, -1]].mean(), density[3:7].mean()
    seen = (
        "about flat"
        if abs(density - 1).max() < 0.25
        else f"{'rising: more' if tilt > 0 else 'falling: less'} is counted than predicted"
        if abs(tilt) > max(0.25, abs(ends - middle))
        else "higher at the ends: counts vary more than predicted"
        if ends > middle + 0.25
        else "higher in the middle: most counts vary less than predicted"
        if middle > ends + 0.25
        else "uneven: the predicted distribution has a different shape"
    )
    return (
        "Where each count falls in its predicted distribution: 0 far below, 1 far above. **Flat "
        "is right**; a U means that predictions are overconfident, a hump that they are "
        f"underconfident. Under the negative binomial it is {seen}."
    )


def lag_words(lags: pd.DataFrame, mode: str) -> str:
    """Whether counts that follow one another go wrong together."""
    how = (
        f"Correlation of residuals of one place or pair, 1, 2, … {mode}s apart. Values between the "
        "dotted lines may be chance."
    )
    clear = clear_lag(lags)
    if clear is None:
        return f"{how} Nothing clear: errors do not persist."
    lag, value = clear
    weekly = "a weekly reporting rhythm that the model does not know"
    what = weekly if mode == "day" and lag == 7 else "what the model misses persists"
    return (
        f"{how} **High at {plural(lag, mode)} ({value:.2f})**: {what}, so these "
        "counts hold less evidence than as many independent ones."
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


def size_words(deciles: pd.DataFrame) -> str:
    """For which predictions counts are most clearly off.

    Parameters
    ----------
    deciles : DataFrame
        predicted, observed, low, high.
    """
    off = sizes_off(deciles)
    if off.empty:
        return (
            "From small to large, mean counts are about as predicted, or there are too few to tell."
        )
    worst = off.iloc[0]
    return (
        f"Clearly off in **{len(off)} of {len(deciles)}** groups: where {worst['predicted']:,.2g} "
        f"are predicted on average, **{worst['observed']:,.2g}** were counted."
    )


def sizes_off(deciles: pd.DataFrame) -> pd.DataFrame:
    """Return the rows where the mean count is clearly not as predicted, the worst first."""
    inside = (deciles["low"] <= deciles["predicted"]) & (deciles["predicted"] <= deciles["high"])
    factor = np.exp(np.abs(np.log(deciles["observed"].clip(lower=1e-9) / deciles["predicted"])))
    off = deciles.assign(factor=factor)[~inside & (factor > _FACTOR)]
    return off.sort_values("factor", ascending=False).drop(columns="factor")


def spread_words(gain: Gain) -> str:
    """How much fitted p differs between counted entries."""
    return (
        f"In a fit of all counts p is {times(gain.spread)} as high at its 95th percentile over the "
        "counted entries as at its 5th."
    )


def alone_words(counts: CountTensor) -> str:
    """What attributes that act on detection and not on λ may be credited for; empty for none."""
    alone = [name for name in counts.attribute_names if name not in counts.rate_attribute_names]
    if not alone:
        return ""
    which = "All attributes" if len(alone) == counts.n_attributes else ", ".join(alone)
    return (
        f"{which} may change p and not λ: what they tell of true counts is credited to detection "
        "here."
    )
