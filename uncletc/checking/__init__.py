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

Hold a fifth out, fit the others, and compare:

>>> import numpy as np
>>> from uncletc import fit, simulate
>>> y, _ = simulate((12, 12, 12), rank=2, observed=0.3, seed=1)
>>> kept = checking.held_out(y)
>>> model = fit(y.subset(~kept), rank=2)
>>> seen, predicted = y.counts[kept], checking.expected_at(model, y, kept)
>>> where = y.indices[kept]
>>> found = checking.check(seen, predicted)  # a Check, with a Distribution
>>> one = checking.ratio(seen, predicted, checking.fibres(where))  # a Ratio
>>> bool(one.low < one.estimate < one.high)
True
>>> checking.by_decile(seen, predicted, bins=4).shape[0]
4
>>> residuals = checking.quantile_residuals(seen, predicted)
>>> 0 < checking.ks_distance(residuals) < 1
True
>>> places, explained = checking.residuals_by(residuals, where[:, 0], 12)
>>> len(places), len(checking.autocorrelation(residuals, where, max_lag=2))
(12, 2)

By all modes but the last, and by state, as outside estimates are. :func:`compare_outside` returns
an `OutsideCheck`, which holds an `Agreement` of each of them:

>>> p = checking.detection_of(model, y)
>>> len(checking.by_cell(y, p))
144
>>> states = checking.by_state(covid.counts, covid_p, covid.table)  # doctest: +SKIP
"""

from uncletc.checking.checks import (
    RESIDUAL_LIMIT,
    Check,
    Distribution,
    check,
    expected_at,
    held_out,
    ks_distance,
    pearson,
    quantile_residuals,
)
from uncletc.checking.groups import FAR, Ratio, autocorrelation, by_decile, ratio, residuals_by
from uncletc.checking.outside import (
    Agreement,
    OutsideCheck,
    Verdict,
    by_cell,
    by_state,
    compare_outside,
    detection_of,
)
from uncletc.data.entries import fibres

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
    "expected_at",
    "fibres",
    "held_out",
    "ks_distance",
    "pearson",
    "quantile_residuals",
    "ratio",
    "residuals_by",
]
