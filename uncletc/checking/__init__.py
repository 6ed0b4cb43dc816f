"""Model checking: whether counts that a fit has not seen look as it says they should.

Checks on counts that a fit has seen flatter it. So hold some out with :func:`held_out`, fit the
others, predict with :func:`expected_at`, and ask:

=========================== ==================================================================
:func:`pearson`             do counts vary more than Poisson counts would? How much?
:func:`ratio`               are predictions right on average?
:func:`by_decile`           are they right for small and for large predictions?
:func:`pit_histogram`       are the predicted distributions too narrow, too wide, or off?
:func:`quantile_residuals`  which single counts are far from what was predicted?
:func:`residuals_by`        in which places, at which times?
:func:`autocorrelation`     do counts that follow one another go wrong together?
:func:`share_of_zeros`      are there more zeros than predicted?
:func:`compare`             which rank predicts best, and is the difference more than chance?
=========================== ==================================================================

:func:`check` does most of it at once. Distributions are Poisson, or negative binomial with
variance ŷ + φŷ² and φ as :func:`uncletc.evaluation.dispersion` estimates it. Everything is about
the predicted count ŷ = λ·g(z), which has no free scale; a good ŷ says little about λ and p alone.
"""

from uncletc.checking.checks import Check, Distribution, check, expected_at, held_out
from uncletc.checking.counts import (
    PIT,
    RESIDUAL_LIMIT,
    deviances,
    ks_distance,
    log_likelihood,
    pearson,
    pit_histogram,
    quantile_residuals,
    share_of_zeros,
)
from uncletc.checking.groups import (
    FAR,
    Autocorrelation,
    Comparison,
    Deciles,
    GroupedResiduals,
    Ratio,
    autocorrelation,
    by_decile,
    compare,
    fibres,
    ratio,
    residuals_by,
)

__all__ = [
    "FAR",
    "PIT",
    "RESIDUAL_LIMIT",
    "Autocorrelation",
    "Check",
    "Comparison",
    "Deciles",
    "Distribution",
    "GroupedResiduals",
    "Ratio",
    "autocorrelation",
    "by_decile",
    "check",
    "compare",
    "deviances",
    "expected_at",
    "fibres",
    "held_out",
    "ks_distance",
    "log_likelihood",
    "pearson",
    "pit_histogram",
    "quantile_residuals",
    "ratio",
    "residuals_by",
    "share_of_zeros",
]
