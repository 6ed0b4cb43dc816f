"""What a finished fit says about itself, in sentences: its μ, its network, a poor fit. Pure."""

import math
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dashboard.shared.sidebar.model import FROM_COUNTS, may_train, size_words
from dashboard.shared.text.words import read_words
from uncletc import Fit, Joint, Scale, StopReason
from uncletc.datasets import Dataset

# Ratio of two μ below which they are called alike, and the μ from which counts look Poisson on
# these pages: mean counts of some hundreds gain 10 % or less in standard deviation.
_ALIKE, _POISSON = 1.5, 1000.0
_LARGEST_SHOWN = 10_000.0
_USUAL = 20  # expected count at which an entry has the μ of the fit
_WORDS = read_words(__file__, "outcome.toml")
_FAR = 1 / 3  # of the reported total, by which the expected one differs where pages warn


Status = Literal["fits", "misfit", "open"]


class Verdict(NamedTuple):
    """What Model check found of a fit.

    Attributes
    ----------
    status : {"fits", "misfit", "open"}
    headline : str
        The same in words, and whether a misfit is one of details alone.
    points : tuple of str
        A sentence or two each: on scores, on dispersion, on averages, on places and times.
    """

    status: Status
    headline: str
    points: tuple[str, ...] = ()


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
            way = "larger" if fit.mu_power > 0 else "smaller"
            return f"μ is {number_of_mu(fit.mu)} at an expected count of {_USUAL}, {way} above it."
        return f"The estimated μ is {number_of_mu(fit.mu)}."
    low, high = sorted((fit.likely_mu, fit.mu))
    if high < _ALIKE * low or low >= _POISSON:
        return ""
    return f"The counts support a μ of {number_of_mu(fit.likely_mu)}, not {number_of_mu(fit.mu)}."


def network_words(fit: Fit) -> str:
    """What was trained, and what held-out counts say for it; empty where p has no covariates."""
    settings, solver = fit.settings, fit.settings.solver
    if not fit.n_attributes:
        return ""
    if not settings.hidden:
        return "p follows a straight line in each covariate; no network."
    if not fit.network_trained:
        judged = may_train(settings) and solver == Joint(network="supported")
        of = f"held-out counts do not support a network of {size_words(settings.hidden)}"
        return f"One curve per covariate; {of if judged else 'no network was trained'}."
    network = f"p follows a network of {size_words(fit.network_trained)}"
    if not isinstance(solver, Joint):
        return f"{network}."
    if solver.network != "always":
        return f"{network}: held-out counts support it."
    if fit.network_gain is None:
        return f"{network}, trained as chosen."
    gain, error = fit.network_gain
    how = f"are predicted {'better' if gain > 0 else 'worse'} with it, by"
    if abs(gain) <= 2 * error:
        how = "show no clear difference:"
    by = f"{abs(gain):.2g} ± {error:.1g} in log score per count"
    return f"{network}, trained as chosen; held-out counts {how} {by}."


def rank_words(fit: Fit) -> str:
    """That random effects leave nothing to patterns; else empty."""
    flat = fit.settings.effects and fit.rank > 1 and not fit.has_patterns
    return str(_WORDS["no_patterns"]) if flat else ""


def limit_words(fit: Fit) -> str:
    """A warning if a fit stopped at its limit of iterations; else empty."""
    if fit.stop is not StopReason.MAX_ITER:
        return ""
    return _WORDS["limit"].format(fit.settings.max_iter)


def level_words(fit: Fit) -> str:
    """That repeat visits or surveys do not say how many there are, and why; else empty."""
    if not fit.level_warning:
        return ""
    first, reasons = fit.level_warning.split(": ", 1)
    return f"**{first}**: {reasons}"


def misfit_words(fit: Fit) -> str:
    """A warning if counts or surveys disagree with the fit, and what may help; else empty."""
    if not fit.misfit or fit.misfit in fit.level_warning:
        return ""
    if not fit.misfit.startswith("counts scatter"):
        return f"**Poor fit: {fit.misfit}.** Interpret λ and p with caution."
    advice = "A higher rank or other covariates may explain them."
    if fit.settings.mu is not None:
        advice = f"Choose μ *{FROM_COUNTS}*, or try a higher rank."
    return _WORDS["scatter"].format(fit.dispersion, advice)


def totals(dataset: Dataset, fit: Fit) -> tuple[float, float]:
    """Reported and expected total of the entries that have a count."""
    counts = dataset.counts
    return float(counts.counts.sum()), float(fit.expected_counts(counts).sum())


def totals_words(reported: float, expected: float) -> str:
    """A warning if the expected total is far from the reported one; else empty."""
    if abs(expected - reported) <= _FAR * reported:
        return ""
    return _WORDS["totals"].format(expected, reported)


def impossible(scale: Scale, detection: ArrayLike) -> str:
    """A warning where an assumed mean makes some fitted p larger than 1; else empty."""
    shown = scale.detection(detection)
    most = float(np.max(shown, initial=0.0))
    if not scale.absolute or most <= 1 + 1e-9:
        return ""
    highest_mean = math.floor(100 * float(np.mean(shown)) / most)
    return _WORDS["impossible"].format(most, highest_mean)
