"""What a finished fit says about itself, in sentences: its μ, joint effects, a poor fit. Pure."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from dashboard.shared.sidebar.model import FROM_COUNTS
from uncletc import Fit, Scale, StopReason
from uncletc.solvers.network.stage import MOST_ENTRIES

# Ratio of two μ below which they are called alike, and the μ from which counts look Poisson on
# these pages: mean counts of some hundreds gain 10 % or less in standard deviation.
_ALIKE, _POISSON = 1.5, 1000.0
_LARGEST_SHOWN = 10_000.0
_USUAL = 20  # expected count at which an entry has the μ of the fit


def number_of_mu(mu: float) -> str:
    """A μ as a reader needs it: "2.1", "380", "more than 10,000"."""
    if mu > _LARGEST_SHOWN:
        return f"more than {_LARGEST_SHOWN:,.0f}"
    return f"{float(f'{mu:.2g}'):,g}"


def mu_words(fit: Fit) -> str:
    """Which μ was taken from the counts, or which they prefer to the one chosen; empty for none."""
    if math.isnan(fit.likely_mu):
        return ""
    if fit.settings.mu is None:
        if fit.mu_power:
            more = "more" if fit.mu_power > 0 else "less"
            return (
                f"μ {number_of_mu(fit.mu)} where {_USUAL} counts are expected, {more} where more "
                "are; from the counts."
            )
        return f"μ {number_of_mu(fit.mu)}, from the counts."
    low, high = sorted((fit.likely_mu, fit.mu))
    if high < _ALIKE * low or low >= _POISSON:
        return ""
    return f"The counts prefer μ {number_of_mu(fit.likely_mu)} to {number_of_mu(fit.mu)}."


def joint_effect_words(fit: Fit) -> str:
    """Whether held-out counts showed that attributes act together; empty where nobody asked."""
    if fit.network is None or fit.settings.solver.name != "joint" or not fit.settings.hidden:
        return ""
    if fit.mode_effects is not None:
        return "One curve per attribute: beside effects of modes no network is tried."
    if len(fit.observed_detection) > MOST_ENTRIES:
        return f"One curve per attribute; on more than {MOST_ENTRIES:,} counts no network is tried."
    units = fit.network_trained
    if not units:
        return "No sign that attributes act together: one curve per attribute."
    network = f"{len(units)} × {units[0]}" if len(set(units)) == 1 else ", ".join(map(str, units))
    return f"Attributes act together: a network of {network} units was kept."


def outcome_words(fit: Fit) -> str:
    """The sentences of :func:`mu_words` and :func:`joint_effect_words` that there are."""
    return " ".join(filter(None, (mu_words(fit), joint_effect_words(fit))))


def limit_words(fit: Fit) -> str:
    """That a fit stopped at its limit of iterations, where it did; else empty."""
    if fit.stop is not StopReason.MAX_ITER:
        return ""
    return (
        f"**Not settled: this fit stopped at its limit of {fit.settings.max_iter:,} iterations.** "
        "The estimates may still change."
    )


def misfit_words(fit: Fit) -> str:
    """A warning if counts scatter far more than the fit allows, and what may help; else empty."""
    if not fit.misfit:
        return ""
    advice = "A higher rank or other attributes may explain them."
    if fit.likely_mu < fit.mu / 2:
        advice = (
            f"They are likeliest with μ {number_of_mu(fit.likely_mu)}: choose μ *{FROM_COUNTS}*."
        )
    return (
        f"**A poor fit: counts scatter {fit.dispersion:.1f} times as much about it as it allows.** "
        f"{advice} Until then trust neither λ nor p."
    )


def impossible(scale: Scale, detection: ArrayLike) -> str:
    """What to say where a statement makes some p larger than 1; empty where it does not.

    Parameters
    ----------
    scale : Scale
    detection : array_like, shape (n,)
        Fitted p.
    """
    most = float(np.max(scale.detection(detection), initial=0.0))
    if not scale.absolute or most <= 1 + 1e-9:
        return ""
    return (
        f"**This statement and this fit do not agree.** With “{scale.statement}” the highest p "
        f"is {most:.3g}, and a probability cannot exceed 1. Ranks and ratios still hold; state a "
        "lower detection, or use relative values."
    )
