"""Whether repeat visits determine the level of p: tests that run with every closed fit.

How often they alarm where the model holds, and where it does not, is measured in
`benchmarks/results/level.md`.
"""

import math
from collections.abc import Sequence

import numpy as np
from scipy.linalg import orth
from scipy.special import chdtrc, chdtri, expit, ndtri, pdtr

from uncletc.common.validation import FloatArray, IntArray
from uncletc.data.counts import CountTensor
from uncletc.result.posterior import Doubt
from uncletc.solvers.closed.cells import Cells
from uncletc.solvers.closed.marginal import Marginal, Optimum

_LOWEST = 0.1  # p below which the level is doubted
_MOST = 1 - 1e-9  # p of tests, which divide by how often animals are missed
_WIDEST = 5.0  # upper over lower end of the 90 % interval of p, and of N
_FEW = 20  # animals or counts, below which N varies, and visits differ, by chance
_LEVEL = 0.0025  # of a test of trend, or of zeros
_LEVEL_OF_TOTALS, _LEVEL_OF_VISITS, _LEVEL_OF_SITES = 0.005, 0.002, 0.0075  # of neighbouring ones
_LEVEL_OF_COVARIATES = 0.01
_SEVERAL = 5.3  # counts of 2 or more that are expected: none is by chance in 1 of 200 tables
_FEWEST = 10  # cells, or pairs, of a test of neighbours
LIKELIER = float(chdtri(1, 2 * 0.01)) / 2  # nats, of one parameter at its bound
_ALIKE = 2.0  # nats within which two mixtures fit alike
_CHANGE = 1.5  # ratio of p under two mixtures that fit alike
# Between animals of a visit, where the largest counts of cells are so small, and less the larger
# they are: variances of visits grow with the product, as much as by some that come and go.
_CORRELATION, _OF_COUNTS = 0.04, 3.5
# Largest ratio of p with and without it, and what is taken away for each nat by which counts prefer
# it. That they rule it out says little: they do, too, where animals come and go.
_FRAGILE, _FRAGILE_PER_NAT = 1.3, 0.05
_FRAGILE_OF_SEVERAL = 1.18  # with several open modes, whose means leave little to a correlation

_LEAST_LEFT = 0.05  # share of a cell's score that is its own
_LEAST_ZEROS = 0.5  # that are missing: less is an error of rounding where no 0 is expected

Where = tuple[IntArray, IntArray]  # cell and visit of each count


def doubts_of_level(levels: FloatArray, numbers: IntArray) -> list[Doubt]:
    """Whether the mean p, by draws of it (R,), is too small, or it or N (C, R) too uncertain."""
    low, high = np.quantile([levels, numbers.sum(axis=0)], [0.05, 0.95], axis=1)
    low[1] = max(low[1], _FEW)
    found = [Doubt.FLAT] if (high > _WIDEST * low).any() else []
    return [*found, Doubt.LOW] if np.median(levels) < _LOWEST else found


def doubt_of_mixtures(marginal: Marginal, mixtures: Sequence[Optimum]) -> list[Doubt]:
    """Whether mixtures that fit alike say different p."""
    most = max(each.log_likelihood for each in mixtures)
    alike = [_mean(marginal, each) for each in mixtures if most - each.log_likelihood < _ALIKE]
    return [Doubt.MIXTURE] if max(alike) > _CHANGE * min(alike) else []


def _mean(marginal: Marginal, found: Optimum) -> float:
    return float(expit(marginal.logits(found.values)).mean())


def small_correlation(cells: Cells) -> float:
    """Of animals of a visit, so small that counts seldom show it."""
    largest = np.maximum.reduceat(cells.counts, cells.starts[:-1])
    usual = float((largest**2).sum()) / max(int(largest.sum()), 1)
    return _CORRELATION * _OF_COUNTS / max(usual, _OF_COUNTS)


def doubt_of_correlation(marginal: Marginal, usual: Optimum, correlated: Optimum) -> list[Doubt]:
    """Whether p would change much if animals of a visit were a little alike in being counted.

    N follows such a correlation, and so do fits to animals that come and go, or move.
    """
    change = _mean(marginal, correlated) / _mean(marginal, usual)
    against = usual.log_likelihood - correlated.log_likelihood
    most = _FRAGILE + _FRAGILE_PER_NAT * min(against, 0.0)
    most = most if len(marginal.cells.open_modes) == 1 else _FRAGILE_OF_SEVERAL
    return [Doubt.FRAGILE] if change > most else []


def doubts_of_scores(marginal: Marginal, usual: Optimum) -> list[Doubt]:
    """Whether fewer counts are 0 than n of each cell lets expect, or covariates of λ move p.

    By score tests. What parameters of the usual form explain is taken from the scores: as a table
    lacks zeros, p is too large to expect them. Errors are those of a jackknife over cells.
    """
    zeros, lines, others = marginal.scores(usual)
    basis = orth(others / np.maximum(np.linalg.norm(others, axis=0), 1e-300), rcond=1e-8)
    scores = np.hstack([zeros, lines])
    left = scores - basis @ (basis.T @ scores)
    own = np.linalg.norm(left, axis=0) > _LEAST_LEFT * np.linalg.norm(scores, axis=0)
    error = left / np.maximum(1 - (basis**2).sum(axis=1), _LEAST_LEFT)[:, None]
    most = max(-ndtri(_LEVEL) * float(np.linalg.norm(error[:, 0])), _LEAST_ZEROS)
    found = [Doubt.ZEROS] if left[:, 0].sum() > most else []
    own[0] = False  # a covariate that acts on both moves p already
    total, variance = left[:, own].sum(axis=0), error[:, own].T @ error[:, own]
    statistic = float(total @ np.linalg.pinv(variance) @ total)
    moved = own.any() and chdtrc(own.sum(), statistic) < _LEVEL_OF_COVARIATES
    return [*found, Doubt.COVARIATES] if moved else found


def doubts_of_residuals(
    counts: CountTensor, cells: Cells, p: FloatArray, mean: FloatArray
) -> list[Doubt]:
    """Compare levels of the closed modes, near with distant visits, and neighbouring sites.

    Parameters
    ----------
    counts : CountTensor
    cells : Cells
    p : ndarray, shape (N,)
        Of each count.
    mean : ndarray, shape (C,)
        E[n | y] of each cell.
    """
    n, p = np.maximum(mean[cells.of], 0.1), np.minimum(p, _MOST)
    left, variance = cells.counts - mean[cells.of] * p, n * p * (1 - p) + 1e-9
    # n follows the counts, so that residuals vary less than counts given a known n.
    free = max(len(left) - len(mean), 1) / len(left)
    within = float((left**2).sum()) / (float(variance.sum()) * free)
    variance = variance * min(within, 1.0)
    expected = n * p
    several = float((1 - (1 + expected) * np.exp(-expected)).sum())  # counts above 1
    single = counts.captures is None and cells.counts.max(initial=0) == 1
    found = [Doubt.DETECTIONS] if several > _SEVERAL and single else []
    zeros = int((cells.counts == 0).sum())
    found += [Doubt.ZEROS] if pdtr(zeros, float(((1 - p) ** n).sum())) < _LEVEL else []
    closed = [k for k in range(len(counts.shape)) if k not in cells.open_modes]
    for mode in closed:
        at = counts.indices[cells.order, mode]
        sums = np.bincount(at, left, counts.shape[mode])
        scale = np.bincount(at, variance, counts.shape[mode])
        some = scale > 0
        sums -= scale * (sums.sum() / scale.sum())  # p of all may be too small where it is near 1
        statistic = float((sums[some] ** 2 / scale[some]).sum())
        alarm = chdtrc(max(int(some.sum()) - 1, 1), statistic) < _LEVEL_OF_TOTALS
        if alarm and cells.counts.sum() >= _FEW:
            found.append(Doubt.SCATTER)
    if len(closed) > 1:
        return list(dict.fromkeys(found))
    about_own = (cells.counts - _own(cells, p)[cells.of] * p) / np.sqrt(variance)
    if len(cells.open_modes) > 1 and _agree(counts, cells, closed[0], about_own):
        found.append(Doubt.SCATTER)
    visit = counts.indices[cells.order, closed[0]]
    where, shape = (cells.of, visit), (len(mean), counts.shape[closed[0]])
    if shape[1] > 2:
        middle = np.bincount(cells.of, visit * variance) / np.bincount(cells.of, variance)
        away = visit - middle[cells.of]
        fall = (away * left).sum() / math.sqrt(float((away**2 * variance).sum()))
        found += [Doubt.FALLING] if fall < ndtri(_LEVEL) else []
        found += [Doubt.TURNOVER] if _turns_over(where, shape, left / np.sqrt(variance)) else []
    if len(cells.open_modes) == 1 and _moves(cells, p, n, where, shape):
        found.append(Doubt.MOVING)
    return list(dict.fromkeys(found))


def doubt_of_empty_cells(
    cells: Cells, p: FloatArray, rates: FloatArray, mu: float = math.inf
) -> list[Doubt]:
    """Whether fewer cells have zeros alone than should, by λ or draws of it (C, R), p and μ."""
    seen = -np.expm1(np.bincount(cells.of, np.log1p(-np.minimum(p, _MOST))))
    expected = rates * seen[:, None]
    log = -expected if mu == math.inf else -mu * np.log1p(expected / mu)
    empty = int((np.bincount(cells.of, cells.counts) == 0).sum())
    none = float(np.exp(log).mean(axis=1).sum())
    return [Doubt.ZEROS] if pdtr(empty, none) < _LEVEL else []


def _agree(counts: CountTensor, cells: Cells, visits: int, left: FloatArray) -> bool:
    """Whether more is counted of all species of a site at some visits than at others.

    By a score test of a covariance between cells that share a level of an open mode, at each visit.
    Residuals are about the best n of each cell's own counts: about one shrunk to what others let
    expect, all those of a species whose p is a little off would agree.
    """
    size = counts.shape[visits]
    for mode in cells.open_modes:
        levels = counts.indices[cells.order, mode]
        at = levels * size + counts.indices[cells.order, visits]
        sums, squares = (np.bincount(at, w, counts.shape[mode] * size) for w in (left, left**2))
        products = (sums**2 - squares).reshape(-1, size).sum(axis=1)
        error = math.sqrt(float((products**2).sum()))
        if np.count_nonzero(products) >= _FEWEST and products.sum() > -ndtri(_LEVEL) * error:
            return True
    return False


def _own(cells: Cells, p: FloatArray) -> FloatArray:
    """The best n of each cell's own counts; (C,)."""
    of, missed = cells.of, 1 - p
    return np.asarray(np.bincount(of, cells.counts / missed) / np.bincount(of, p / missed))


def _turns_over(where: Where, shape: tuple[int, int], left: FloatArray) -> bool:
    """Whether residuals of consecutive visits agree more than others, by a test over cells."""
    table, seen = np.zeros(shape), np.zeros(shape)
    table[where], seen[where] = left, 1.0
    near, pairs = ((each[:, 1:] * each[:, :-1]).sum(axis=1) for each in (table, seen))
    every, squares = table.sum(axis=1) ** 2, (table**2).sum(axis=1)
    visits = seen.sum(axis=1)
    others = visits * (visits - 1) / 2 - pairs
    both = (pairs > 0) & (others > 0)
    if both.sum() < _FEWEST:
        return False
    far = (every - squares)[both] / 2 - near[both]
    contrast = near[both] / pairs[both] - far / others[both]
    error = contrast.std() / math.sqrt(len(contrast))
    return bool(contrast.mean() > -ndtri(_LEVEL_OF_VISITS) * max(error, 1e-12))


def _moves(
    cells: Cells, p: FloatArray, n: FloatArray, where: Where, shape: tuple[int, int]
) -> bool:
    """Whether a site counts more at the visits at which the next one counts less.

    By a score test of covariance between sites that follow each other in the table, about the best
    n of each site's own counts: about one shrunk to what others let expect, residuals of
    neighbours with as many animals would agree.
    """
    table = np.zeros(shape)
    table[where] = (cells.counts - _own(cells, p)[cells.of] * p) / ((1 - p) * np.sqrt(n))
    # Residuals of a site add up to about 0: products of two sites are not independent by visit.
    products = (table[1:] * table[:-1])[np.diff(cells.indices[:, 0]) == 1].sum(axis=1)
    if np.count_nonzero(products) < _FEWEST:
        return False
    return bool(products.sum() < ndtri(_LEVEL_OF_SITES) * math.sqrt((products**2).sum()))
