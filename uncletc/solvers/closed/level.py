"""Whether repeat visits determine the level of p: tests that run with every closed fit.

How often they alarm where the model holds, and where it does not, is measured in
`benchmarks/results/level.md`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy.special import expit
from scipy.stats import chi2, norm

from uncletc.common.validation import FloatArray
from uncletc.data.counts import CountTensor
from uncletc.result.population import Doubt
from uncletc.solvers.closed.cells import Cells
from uncletc.solvers.closed.marginal import Marginal, Optimum

_LOWEST = 0.1  # p below which the level is doubted
_WIDEST = 5.0  # upper over lower end of the 90 % interval of p
_LEVEL = 0.0025  # of a test of trend
_LEVEL_OF_TOTALS, _LEVEL_OF_TURNOVER = 0.005, 0.005
LIKELIER = float(chi2.ppf(1 - 2 * 0.01, 1)) / 2  # nats, of one parameter at its bound
_ALIKE = 2.0  # nats within which two mixtures fit alike
_CHANGE = 1.5  # ratio of p under two mixtures that fit alike
CORRELATION = 0.04  # between animals of a visit
# Ratio of p with and without it: the largest where counts do not rule it out, and what is added
# for each nat by which they do.
_FRAGILE, _FRAGILE_PER_NAT = 1.25, 0.1


def doubts_of_level(levels: FloatArray) -> list[Doubt]:
    """Whether the mean p, by draws of it (R,), is too small or too uncertain."""
    low, high = np.quantile(levels, [0.05, 0.95])
    found = [Doubt.FLAT] if high > _WIDEST * low else []
    return [*found, Doubt.LOW] if np.median(levels) < _LOWEST else found


def doubt_of_mixtures(marginal: Marginal, mixtures: Sequence[Optimum]) -> list[Doubt]:
    """Whether mixtures that fit alike say different p."""
    best = max(each.log_likelihood for each in mixtures)
    alike = [each for each in mixtures if best - each.log_likelihood < _ALIKE]
    means = [_mean(marginal, each) for each in alike]
    return [Doubt.MIXTURE] if max(means) > _CHANGE * min(means) else []


def _mean(marginal: Marginal, found: Optimum) -> float:
    return float(expit(marginal.logits(found.values)).mean())


def doubt_of_correlation(marginal: Marginal, usual: Optimum, correlated: Optimum) -> list[Doubt]:
    """Whether p would change much if animals of a visit were a little alike in being counted.

    N follows such a correlation, and so do fits to animals that come and go, or move.
    """
    change, against = (
        _mean(marginal, correlated) / _mean(marginal, usual),
        max(usual.log_likelihood - correlated.log_likelihood, 0.0),
    )
    most = _FRAGILE + _FRAGILE_PER_NAT * max(against - LIKELIER, 0.0)
    return [Doubt.FRAGILE] if change > most else []


def doubts_of_residuals(
    counts: CountTensor, cells: Cells, p: FloatArray, mean: FloatArray
) -> list[Doubt]:
    """Compare levels of the closed modes: totals, their trend, and near with distant visits.

    Parameters
    ----------
    counts : CountTensor
    cells : Cells
    p : ndarray, shape (N,)
        Of each count.
    mean : ndarray, shape (C,)
        E[n | y] of each cell.
    """
    n = np.maximum(mean[cells.of], 0.1)
    left, variance = cells.counts - mean[cells.of] * p, n * p * (1 - p) + 1e-9
    # n follows the counts, so that residuals vary less than counts given a known n.
    within = float((left**2 / variance).sum()) / max(len(left) - len(mean), 1)
    variance = variance * min(within, 1.0)
    found = []
    closed = [k for k in range(len(counts.shape)) if k not in cells.open_modes]
    for mode in closed:
        at = counts.indices[cells.order, mode]
        sums = np.bincount(at, left, counts.shape[mode])
        scale = np.bincount(at, variance, counts.shape[mode])
        some = scale > 0
        statistic = float((sums[some] ** 2 / scale[some]).sum())
        if chi2.sf(statistic, max(int(some.sum()) - 1, 1)) < _LEVEL_OF_TOTALS:
            found.append(Doubt.SCATTER)
    if len(closed) == 1 and counts.shape[closed[0]] > 2:
        at = counts.indices[cells.order, closed[0]].astype(np.float64)
        if _falls(cells, at, left, variance):
            found.append(Doubt.FALLING)
        if _turns_over(cells, at, left / np.sqrt(variance)):
            found.append(Doubt.TURNOVER)
    return list(dict.fromkeys(found))


def _falls(cells: Cells, at: FloatArray, left: FloatArray, variance: FloatArray) -> bool:
    """Whether residuals fall along visits, by a score test of a trend."""
    size = len(cells.indices)
    middle = np.bincount(cells.of, at * variance, size) / np.bincount(cells.of, variance, size)
    away = at - middle[cells.of]
    return bool((away * left).sum() / math.sqrt((away**2 * variance).sum()) < norm.ppf(_LEVEL))


def _turns_over(cells: Cells, at: FloatArray, left: FloatArray) -> bool:
    """Whether residuals of consecutive visits agree more than others, by a test over cells."""
    near, far = np.zeros(len(cells.indices)), np.zeros(len(cells.indices))
    pairs = np.zeros((2, len(cells.indices)))
    for step in range(1, int(np.diff(cells.starts).max())):
        first = np.arange(len(at) - step)
        first = first[cells.of[first] == cells.of[first + step]]
        product, of = left[first] * left[first + step], cells.of[first]
        close = at[first + step] - at[first] <= 1
        for total, which, row in ((near, close, 0), (far, ~close, 1)):
            np.add.at(total, of[which], product[which])
            np.add.at(pairs[row], of[which], 1.0)
    both = (pairs > 0).all(axis=0)
    if both.sum() < 10:
        return False
    contrast = near[both] / pairs[0][both] - far[both] / pairs[1][both]
    error = contrast.std() / math.sqrt(len(contrast))
    return bool(contrast.mean() > norm.isf(_LEVEL_OF_TURNOVER) * max(error, 1e-12))
