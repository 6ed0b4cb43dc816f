"""What a report says of a fit, in sentences of plain text."""

from __future__ import annotations

import math

import pandas as pd

from uncletc import checking
from uncletc.data.counts import CountTensor
from uncletc.datasets.base import Dataset
from uncletc.estimates import reported_once, totals
from uncletc.fitting.fit import fit as fit_counts
from uncletc.fitting.history import StopReason
from uncletc.fitting.settings import FitSettings
from uncletc.result.fit_result import Fit
from uncletc.result.scale import Scale

_CLOSE, _OFF = 0.05, 0.10  # as on the page Model check: of residuals, and of the mean
_FEWEST = 100  # held-out counts below which nothing is said


def headline(dataset: Dataset, fit: Fit, scale: Scale) -> list[str]:
    """Say what was reported, how many there truly were, and what that rests on.

    Parameters
    ----------
    dataset : Dataset
        With the counts of the fit.
    fit : Fit
    scale : Scale

    Returns
    -------
    list of str
        While the scale is free, true counts are left open.
    """
    row = totals(dataset, fit, scale).iloc[0]
    sentences = []
    if fit.population is not None and fit.population.doubts:
        sentences.append(fit.population.warning)
    reported = f"Reported {row['reported']:,.0f}"
    if scale.absolute:
        sentences.append(
            f"{reported}; estimated true {number(row['rate'])}{between(row, 'rate')}, "
            f"{percent(row['share'])} % counted{between(row, 'share', share=True)}; "
            f"{scale.statement}."
        )
    else:
        sentences.append(
            f"{reported}. How many there truly were stays open: only ratios of λ and of p are "
            f"known until a statement anchors them ({scale.statement})."
        )
    if fit.settings.closed:
        once = reported_once(dataset.counts)
        sentences.append(f"Each event counts once: reported is {once}.")
    if dataset.provenance.simulated:
        sentences.append("Simulated counts: no number here was observed.")
    if fit.stop is StopReason.MAX_ITER:
        sentences.append("The fit stopped at its limit of iterations, before it had settled.")
    return sentences


def scatter_words(fit: Fit) -> str:
    """Say whether the counts scatter about the fit as the model allows."""
    if math.isnan(fit.dispersion):
        return "How far counts scatter about the fit was not measured."
    if fit.misfit:
        return f"A poor fit: {fit.misfit}. Trust neither λ nor p until that is solved."
    return (
        f"The fitted counts scatter {fit.dispersion:.2g} times as much about the fit as it allows; "
        "about 1 is right."
    )


def held_out_words(counts: CountTensor, settings: FitSettings) -> str:
    """Fit again without a fifth of the counts, and say how well these are predicted."""
    held = checking.held_out(counts)
    seen = fit_counts(counts.subset(~held), settings)
    n = int(held.sum())
    if n < _FEWEST:
        return f"Only {n} counts can be held out: too few to say whether the model fits."
    found = checking.check(counts.counts[held], checking.expected_at(seen, counts, held))
    ratio, wide = found.ratio, found.negative_binomial
    off = not ratio.low <= 1 <= ratio.high and abs(ratio.estimate - 1) > _OFF / 2
    verdict = "Misfit" if off or wide.distance > _CLOSE else "No clear misfit"
    return (
        f"{verdict}, on {n:,} counts that were kept from a fit with the same settings: they are "
        f"{ratio.estimate:.2f} times the predicted ones in all ({ratio.low:.2f}–{ratio.high:.2f}), "
        f"vary {found.poisson.pearson:,.2g} times as much as Poisson counts would, and their "
        f"residuals lie {wide.distance:.2f} from those of a negative binomial (up to {_CLOSE} is "
        "close)."
    )


def number(value: float) -> str:
    """A number of events as a reader needs it: "15,700,000", "61,000", "4.2"."""
    if not math.isfinite(value):
        return "–"
    rounded = float(f"{value:.3g}")
    return f"{rounded:,.0f}" if rounded >= 100 else f"{rounded:.3g}"


def percent(share: float) -> str:
    """A share without its sign: "58", "0.4"."""
    if not math.isfinite(share):
        return "–"
    return f"{100 * share:.0f}" if share >= 0.01 or share == 0 else f"{100 * share:.2g}"


def between(row: pd.Series, name: str, *, share: bool = False) -> str:
    """The interval of a number in brackets, empty where there is none."""
    if f"{name}_low" not in row or not math.isfinite(row[f"{name}_low"]):
        return ""
    ends = (row[f"{name}_low"], row[f"{name}_high"])
    if share:
        return f" ({'–'.join(map(percent, ends))} %)"
    return f" ({'–'.join(map(number, ends))})"
