"""What estimates may be of: the counts of the fit, and intervals that say nothing impossible."""

from __future__ import annotations

import numpy as np

from uncletc.common.validation import FloatArray
from uncletc.data.counts import CountTensor
from uncletc.result.anchor import Anchor, detection_over
from uncletc.result.ensemble import Interval
from uncletc.result.fit_result import Fit
from uncletc.result.scale import Scale


def check_fitted(counts: CountTensor, fit: Fit) -> None:
    """Reject counts that are not those of the fit."""
    if (counts.shape, counts.n_attributes) != (fit.shape, fit.n_attributes or counts.n_attributes):
        raise ValueError(
            f"data must have shape {fit.shape} and {fit.n_attributes} attributes, as in the fit, "
            f"got {counts.shape} and {counts.n_attributes}"
        )
    if counts.digest != fit.counts_digest:
        raise ValueError(
            "data must be those that were fitted, with the same roles and looks; these are others"
        )


def scale_of(counts: CountTensor, fit: Fit) -> Scale:
    """Return the scale that the data state, or p over its median."""
    return fit.scale or Anchor.relative(counts, detection_over(counts, fit))


def reports_late(fit: Fit) -> bool:
    """Whether reports may come at other times than events, so that a day's are no bound."""
    effects = fit.mode_effects
    return effects is not None and any(each.reporting for each in effects.effects)


def detection_ends(scale: Scale, found: Interval) -> Interval:
    """Intervals of p on a scale; a known one ends at 1, or at the estimate where that is larger."""
    shown = scale.detection_interval(found)
    if not scale.absolute:
        return shown
    high = np.minimum(shown.high, np.maximum(shown.estimate, 1.0))
    return Interval(estimate=shown.estimate, low=shown.low, high=high, level=shown.level)


def rate_ends(scale: Scale, found: Interval, reported: FloatArray) -> Interval:
    """Intervals of λ on a scale; on a known one they hold what was reported.

    At least as many events happened as were reported: the low end is raised to the count, or to
    the estimate where that is smaller, and the high end to the count. λ itself stays: it is what is
    to be expected on average.

    Parameters
    ----------
    scale : Scale
    found : Interval
        Of λ as fitted, or of sums of it.
    reported : ndarray, shape (n,)
        NaN where nobody counted.
    """
    shown = scale.rate_interval(found)
    if not scale.absolute:
        return shown
    low = np.fmax(shown.low, np.fmin(reported, shown.estimate))
    low = np.where(np.isnan(reported), shown.low, low)
    return Interval(
        estimate=shown.estimate,
        low=low,
        high=np.fmax(shown.high, reported),
        level=shown.level,
    )
