"""Model checking: whether held-out counts are consistent with the predictions of a fit.

Checks on the counts that were fitted flatter the fit. So hold some out with :func:`held_out`, fit
the others, predict with :func:`expected_at`, and ask:

=========================== ==================================================================
:func:`pearson`             do counts vary more than Poisson counts would, and by how much?
:func:`ratio`               are predictions right on average?
:func:`by_decile`           are they right for small and for large predictions?
:func:`quantile_residuals`  which single counts are far from their predictions?
:func:`residuals_by`        in which places, at which times?
:func:`autocorrelation`     are errors of successive counts correlated?
=========================== ==================================================================

:func:`check` runs most of them at once. Distributions are Poisson, or negative binomial with
variance ŷ + φŷ², where :func:`uncletc.compare.dispersion` estimates φ. All checks concern the
predicted count ŷ = λ·g(z), which has no free scale; a good ŷ is little evidence on λ or p alone.

Evidence on p comes from outside: :func:`compare_outside` holds p by state (:func:`by_state`) or by
cell (:func:`by_cell`) against estimates that no fit has seen, and these against one another.

Examples
--------
>>> from uncletc import checking
>>> round(checking.pearson([0, 2, 1, 3], [0.5, 2.0, 1.0, 2.5]), 2)
0.15
"""

from uncletc.checking.checks import (
    RESIDUAL_LIMIT,
    Check,
    Distribution,
    check,
    deviances,
    expected_at,
    held_out,
    ks_distance,
    log_likelihood,
    pearson,
    quantile_residuals,
)
from uncletc.checking.groups import (
    FAR,
    Ratio,
    autocorrelation,
    by_decile,
    fibres,
    ratio,
    residuals_by,
)
from uncletc.checking.outside import (
    Agreement,
    OutsideCheck,
    Verdict,
    by_cell,
    by_state,
    compare_outside,
    detection_of,
)

__all__ = [
    "FAR",
    "RESIDUAL_LIMIT",
    "Agreement",
    "Check",
    "Distribution",
    "OutsideCheck",
    "Ratio",
    "Verdict",
    "autocorrelation",
    "by_cell",
    "by_decile",
    "by_state",
    "check",
    "compare_outside",
    "detection_of",
    "deviances",
    "expected_at",
    "fibres",
    "held_out",
    "ks_distance",
    "log_likelihood",
    "pearson",
    "quantile_residuals",
    "ratio",
    "residuals_by",
]
