"""How much narrower intervals would be with more visits, more places, or a survey of p.

The answer takes a second: it rests on the information of the fit, not on simulated seasons. A
parameter is informed by the counts that it has a part in, so that with T times as many of them its
posterior deviation shrinks by 1/√T. With T times the levels of one mode, say of visits, that holds
for all parameters but those of the visits themselves, each of which has as many counts as before.
The draws of the fit, shrunk so, give the intervals of λ and p by the same formulas as before.
"""

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pandas as pd

from uncletc.common.validation import FloatArray, IntArray, check_positive, check_real, check_whole
from uncletc.data.counts import CountTensor
from uncletc.result.fit_result import Fit
from uncletc.result.posterior import Draws, Quantity

_LEVEL = 0.9
_DEVIATIONS = 3.29  # standard deviations from the lower to the upper end of a 90 % interval
_MOST_ENTRIES = 200_000  # beyond, entries are sampled at equal distances


def plan(
    counts: CountTensor,
    fit: Fit,
    *,
    times: Mapping[str, float] | None = None,
    survey: int = 0,
    survey_error: float = 0.2,
    along: str | None = None,
) -> pd.DataFrame:
    """Return the widths of 90 % intervals now, and as expected of a larger study.

    Parameters
    ----------
    counts : CountTensor
    fit : Fit
        Of these counts, with intervals.
    times : mapping of str to float, optional
        By mode, how many times as many levels, ≥ 1: ``{"visit": 2}``. New ones are taken to be like
        those observed.
    survey : int
        Number of places, ≥ 0, at which a survey finds p, such as by a second observer.
    survey_error : float
        Relative standard error of p at each of them, > 0; errors of places are independent.
    along : str, optional
        The mode that visits are along, "visit" or "day"; a place is a combination of levels of all
        others. None: the last.

    Returns
    -------
    DataFrame
        One row per quantity: "detection" and "rate", the median over places, and "total", λ of all
        counted entries; "scale", the common scale of λ and p, where the data or the survey state
        it. ``now`` and ``then`` are the upper over the lower end of the interval, infinite where
        nothing states it. Intervals of the first three hold the common scale only where the data
        state it now.

    Raises
    ------
    ValueError, TypeError
        Naming the argument, the value and the rule.

    Notes
    -----
    The fit is taken for the truth, and its prior for weak: parameters that the counts hardly inform
    narrow less than that. A survey states the scale, with variance ``survey_error² / survey``
    of its logarithm, and hardly where p is high or low.

    Examples
    --------
    >>> from uncletc import FitSettings, fit, simulate
    >>> y, _ = simulate((8, 6, 4), 1, observed=0.9, attributed=0.9, n_attributes=1, seed=1)
    >>> found = plan(y, fit(y, FitSettings(rank=1, hidden=())), times={"mode 3": 2})
    >>> bool((found["then"] < found["now"]).all())
    True
    """
    if fit.counts_digest != counts.digest:
        raise ValueError("fit must be of these counts, got one of others")
    draws = fit.require_draws()
    factors = {mode: check_real(f"times of {mode}", n, 1.0) for mode, n in (times or {}).items()}
    for mode in (*factors, *([along] if along is not None else [])):
        if mode not in counts.modes:
            raise ValueError(f"a plan must name modes of {counts.modes}, got {mode!r}")
    survey = check_whole("survey", survey, 0)
    survey_error = check_positive("survey_error", survey_error)
    visits = len(counts.shape) - 1 if along is None else counts.modes.index(along)
    grown = np.array([factors.get(name, 1.0) for name in counts.modes])
    then = replace(fit, draws=_informed(fit, draws, counts, grown))
    rows = {"now": _widths(fit, counts, visits), "then": _widths(then, counts, visits)}
    table = pd.DataFrame(rows).rename_axis("quantity").reset_index()
    # Errors of places and visits that cancel in a sum do so less when only some of them shrink.
    table["then"] = np.minimum(table["now"], table["then"])
    scale: dict[str, float] = {"now": math.inf, "then": math.inf}
    if fit.anchored_by:
        where, z = counts.attribute_indices, counts.attributes
        every = np.zeros(len(where), dtype=np.int64)
        for name, each in (("now", fit), ("then", then)):
            scale[name] = _width(each, "detection", where, z, every)
    if survey:
        known = (_DEVIATIONS / math.log(scale["then"])) ** 2 if fit.anchored_by else 0.0
        scale["then"] = math.exp(_DEVIATIONS / math.sqrt(known + survey / survey_error**2))
    if math.isfinite(scale["then"]):
        table.loc[len(table)] = {"quantity": "scale", **scale}
    return table


def _informed(fit: Fit, draws: Draws, counts: CountTensor, grown: FloatArray) -> Draws:
    """Shrink deviations by the root of how many times as many counts inform each parameter."""
    whole = float(grown.prod())
    shared = np.float32(1 / math.sqrt(whole))
    tables, effects = [], fit.mode_effects
    at = {mode: k for k, mode in enumerate(counts.modes)}
    for groups, table in zip(effects.groups if effects else (), draws.tables, strict=True):
        # A weekday has as many counts more as there are days more; a day of its own has not.
        own = [g for g in groups if g.n_levels >= math.prod(counts.shape[at[m]] for m in g.modes)]
        more = math.prod(float(grown[at[m]]) for g in own for m in g.modes)
        tables.append(table * np.float32(math.sqrt(more / whole)))
    # What all levels of a mode have in common in a component all counts inform; λ has it once,
    # whichever mode holds it.
    factors, common = [], np.zeros(draws.factors[0].shape[1:], dtype=np.float32)
    for k, factor in enumerate(draws.factors):
        weight = np.bincount(counts.indices[:, k], minlength=len(factor)).astype(np.float32)
        mean = np.einsum("i,ifr->fr", weight / weight.sum(), factor)
        factors.append((factor - mean) * np.float32(np.sqrt(grown[k] / whole)))
        common += mean
    factors[0] += common * shared
    scaled = draws.mapped(lambda values: values * shared)
    return replace(scaled, factors=tuple(factors), tables=tuple(tables))


def _widths(fit: Fit, counts: CountTensor, along: int) -> dict[str, float]:
    step = -(-counts.n_observed // _MOST_ENTRIES)
    where = counts.indices[::step]
    others = np.delete(where, along, axis=1)
    place = np.unique(others, axis=0, return_inverse=True)[1].ravel()
    widths = {}
    if counts.n_attributes:
        z = counts.attributes_at(where, unknown_as_nan=True)
        known = np.isfinite(z).all(axis=1)
        if known.any():
            own = np.unique(place[known], return_inverse=True)[1]
            widths["detection"] = _width(fit, "detection", where[known], z[known], own)
    widths["rate"] = _width(fit, "rate", where, None, place)
    widths["total"] = _width(fit, "rate", where, None, np.zeros_like(place))
    return widths


def _width(
    fit: Fit, of: Quantity, where: IntArray, z: FloatArray | None, groups: IntArray
) -> float:
    """Upper over lower end of the interval of the mean of each group; the median over groups."""
    found = fit.mean(of, where, z, groups=groups, level=_LEVEL)
    return float(np.median(found.high / np.maximum(found.low, 1e-300)))
