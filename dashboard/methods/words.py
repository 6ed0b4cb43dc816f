"""What tables and metrics of the page "Methods" are called, and what they mean. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

REAL = "real-data"
ABOUT = {
    "table-1": "γ_Ω is the share of all entries that have a count: the fewer, the harder.",
    "table-2": "Some entries share their covariates up to noise; a large SNR means little noise.",
    "table-3": "γ_Θ is the share of all entries that share their covariates up to noise.",
    "table-4": "λ and p are known only up to a common factor. If only that is wrong, λ̂/λ is about "
    "the same in all entries (a small sd), and λ̂p̂/λp is 1.",
    "appendix-rank": "F is the number of patterns in the true counts; the fits know it.",
    "appendix-wrong-rank": "The counts have rank 7; the fits assume another.",
    "appendix-mu": "μ says how closely each entry's detection follows its covariates.",
    REAL: "Predicted against real counts that the methods did not see; the true λ and p are not "
    "known here. The paper prepared the data in its own way: compare ranks only.",
}


@dataclass(frozen=True, kw_only=True)
class Metric:
    """What a metric is called, and which way is better.

    Attributes
    ----------
    words : str
        In a sentence: "error of λ".
    axis : str
        On an axis.
    better : {"lower", "higher"} or None
    help : str
        What it is, in a sentence.
    """

    words: str
    axis: str
    better: Literal["lower", "higher"] | None = "lower"
    help: str = ""


METRICS = {
    "MAE_λ": Metric(
        words="error of λ",
        axis="MAE of λ",
        help="Mean absolute error of the expected true counts λ over all entries, both divided by "
        "their mean. 0 is perfect.",
    ),
    "MAE_p": Metric(
        words="error of p",
        axis="MAE of p",
        help="The same for detection p = g(z), over all entries with covariates.",
    ),
    "MAE_p, own p over Ω": Metric(
        words="error of p fitted to each counted entry",
        axis="MAE of p fitted to each count",
        help="As in the paper's public code: this p has seen the counts it is judged on.",
    ),
    "MAE_p, all entries": Metric(
        words="error of p over all entries",
        axis="MAE of p, all entries",
        help="The same over all entries, most of whose covariates the fit has not seen.",
    ),
    "rRMSE": Metric(
        words="relative error of hidden counts",
        axis="rRMSE",
        help="Root mean square error of predicted hidden counts over their mean; large counts "
        "dominate. 0 is perfect.",
    ),
    "log score": Metric(
        words="log score of hidden counts",
        axis="log score (negative binomial)",
        help="Mean surprise, −log of the probability given to each hidden count; how widely large "
        "and small counts scatter is taken from other hidden counts, by one rule for all methods. "
        "A fair single number.",
    ),
    "deviance": Metric(
        words="Poisson deviance of hidden counts",
        axis="Poisson deviance per count",
        help="Misfit of predicted hidden counts under the Poisson law; large and small counts "
        "matter. About 1 where counts vary only by chance.",
    ),
    "MAE": Metric(
        words="absolute error of hidden counts",
        axis="mean absolute error",
        help="Mean distance of predicted from hidden counts, in counts.",
    ),
    "AUROC": Metric(
        words="AUROC of “any count”",
        axis="AUROC",
        better="higher",
        help="How well predictions tell entries with a count from zeros; 1 is perfect, 0.5 chance.",
    ),
    "coverage": Metric(
        words="coverage of 90 % ranges",
        axis="share of hidden counts within 90 % ranges",
        better=None,
        help="Share of hidden counts in their 90 % ranges; it should be 0.9 or a little more.",
    ),
}


def metric_of(name: str) -> Metric:
    """What a metric is called; an unknown one has its name, and no better side."""
    return METRICS.get(name, Metric(words=name, axis=name, better=None))


def number(value: float) -> str:
    """A number of a table: 3 decimals, or fewer digits where it is large."""
    return f"{value:.3f}" if abs(value) < 10 else f"{value:,.4g}" if value < 1e6 else f"{value:.2e}"


def spread(mean: float, sd: float) -> str:
    """Mean ± standard deviation, without it where it is not known; "–" for nothing."""
    if np.isnan(mean):
        return "–"
    return number(mean) if np.isnan(sd) else f"{number(mean)} ± {number(sd)}"
