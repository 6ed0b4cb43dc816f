"""A closed fit of marked or removed animals: the multinomial likelihood of their histories.

Of n animals of a site, M are caught at least once. With p_v that of visit v, as curves of the
covariates say, an animal is never caught with probability q = ∏_v (1 - p_v), and a history of
captures has, given that the animal was caught at all, the probability

    ∏_v p_v^{h_v} (1 - p_v)^{1 - h_v} / (1 - q).

Where visits remove what they count, the product ends with the capture, and p of a visit with effort
e is 1 - (1 - p)^e, p that of the mean effort. The likeliest p under these
(Huggins, Biometrika 1989) depends on nothing that is assumed of n: unlike that of unmarked animals
it cannot take differences between sites in λ for differences in p. Two observers are two visits.

Then M is negative binomial about λ(1 - q), with covariates on λ, and n - M is drawn given M.

Animals always differ in p, N follows how much, and few captures show it (Link, Biometrics 2003).
So intervals hold that, too: q and histories are means over a normal deviation of logit p between
animals, whose standard deviation is 0 before captures are seen with probability 1/2, else
half-normal.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from scipy.optimize import minimize
from scipy.special import chdtrc, digamma, expit, gammaln, log_expit, ndtri, softmax

from uncletc.common.validation import FloatArray, IntArray
from uncletc.data.counts import CountTensor
from uncletc.data.entries import flat_index
from uncletc.fitting.history import StopReason
from uncletc.result.fit_result import Fit
from uncletc.result.posterior import Doubt
from uncletc.solvers.closed.cells import Cells
from uncletc.solvers.closed.level import doubts_of_level, doubts_of_residuals
from uncletc.solvers.closed.marginal import (
    BOUNDS,
    LEVEL_DEVIATION,
    SCATTER,
    START_LEVEL,
    Function,
    draws_along,
    normal_draws,
    second_derivatives,
    variances,
)
from uncletc.solvers.closed.sites import Sites
from uncletc.solvers.uncertainty.draws import DRAWS

_ROUNDS = 8  # of parameters and of how smooth curves are
_LOG_MU, _LOG_MU_DEVIATION = SCATTER["negative binomial"]  # of the prior of log μ
_LEVEL = 0.005  # of tests
_MOST_OF_HABIT = -float(ndtri(0.01 / 2))
_MOST_BETWEEN = -float(ndtri(0.01))
_LEAST_LEFT = 1e-3  # of the variance of a score, from which counts can tell its parameter
_DEVIATIONS = (0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75)  # of logit p between animals
_USUAL_DEVIATION = 0.7  # of these, before captures are seen, and log odds of none over one of them
_LOG_OF_NONE = math.log(3)
_LEAST_LIKELY = 0.25  # that p is equal, where estimates take it to be
_X, _W = np.polynomial.hermite_e.hermegauss(9)
_LOG_W = np.log(_W / _W.sum())
_PULL = 0.346  # of the logit of a mean p, for each unit of variance of logit p
_LEAST_EXPECTED = 5.0  # animals, fewer are taken together
_ENOUGH = 0.3  # share of animals ever caught from which a small p does no harm


@dataclass(frozen=True, eq=False)
class Histories:
    """Captures at the visits of each site.

    Attributes
    ----------
    cells : Cells
    animals : ndarray of int, shape (C,)
        M.
    times : ndarray of int, shape (A, 2), optional
        The cell of each marked animal, and how often it was caught.
    first, last : ndarray of int, shape (A,), optional
        The count at which it was caught first, and last.
    """

    cells: Cells
    animals: IntArray
    times: IntArray | None
    first: IntArray | None
    last: IntArray | None

    @classmethod
    def of(cls, counts: CountTensor, cells: Cells) -> Self:
        """Make them of the captures of counts; without any, of counts that visits remove."""
        if counts.captures is not None:
            cell = np.searchsorted(cells.indices[:, 0], counts.captures[:, 0])
            animals = np.bincount(cell, minlength=len(cells.indices))
            times = np.column_stack([cell, counts.captures[:, 1]])
            rows = flat_index(counts.indices[cells.order], counts.shape)
            first, last, *_ = [
                np.searchsorted(rows, flat_index(counts.captures[:, [0, k]], counts.shape))
                for k in range(2, counts.captures.shape[1])
            ] + [None, None]
            return cls(cells, animals, times, first, last)
        animals = np.add.reduceat(cells.counts, cells.starts[:-1])
        return cls(cells, animals, None, None, None)

    @cached_property
    def kinds(self) -> tuple[IntArray, IntArray]:
        """Cells and captures of animals that have the same ones, and how many these are."""
        assert self.times is not None
        return np.unique(self.times, axis=0, return_counts=True)

    def log_never(self, logit: FloatArray, deviation: float = 0.0) -> FloatArray:
        """log q of each cell, where logit p of animals has this standard deviation; (C,)."""
        nodes, log_weights = _nodes(deviation)
        missed = self.cells.effort * log_expit(-(logit + nodes))
        missed = np.add.reduceat(missed, self.cells.starts[:-1], axis=1)
        return np.asarray(np.logaddexp.reduce(log_weights + missed, axis=0))

    def availability(self, logit: FloatArray) -> FloatArray:
        """Share of n that is there to be counted each time, as often as by usual effort; (N,)."""
        if self.times is not None:
            return np.ones(len(logit))
        missed = self.cells.effort * log_expit(-logit)
        total = np.append(0.0, np.cumsum(missed))
        log = total[:-1] - total[self.cells.starts[:-1]][self.cells.of]
        return np.asarray(np.exp(log) * -np.expm1(missed) / expit(logit))

    def expected(self, logit: FloatArray) -> FloatArray:
        """Mean of each count, given M; (N,)."""
        n = self.animals / -np.expm1(self.log_never(logit))
        return np.asarray(n[self.cells.of] * self.availability(logit) * expit(logit))

    def log_likelihood(self, logit: FloatArray, deviation: float = 0.0) -> tuple[float, FloatArray]:
        """Of all histories given that each animal was caught, and derivatives by logit p."""
        y, of, first = self.cells.counts, self.cells.of, self.cells.starts[:-1]
        nodes, log_weights = _nodes(deviation)
        missed = self.cells.effort * log_expit(-(logit + nodes))
        caught = -np.expm1(missed)
        total = np.add.reduceat(missed, first, axis=1)
        log_never = np.logaddexp.reduce(log_weights + total, axis=0)
        log_ever = _log_ever(log_never)
        log, by_caught = -float(self.animals @ log_ever), y
        slope = self.cells.effort * expit(logit + nodes)  # of -log of missing it
        if self.times is None:
            so_far = np.cumsum(missed, axis=1)
            so_far -= (so_far[:, first] - missed[:, first])[:, of]
            here = log_weights + np.log(caught) - missed + so_far
            whole = np.logaddexp.reduce(here, axis=0)
            log += float(y @ whole)
            own = y * np.exp(here - whole)
            by_caught = (own * slope / caught).sum(axis=0)
            left = np.cumsum(own, axis=1) - own
            there = (np.add.reduceat(own, first, axis=1) + left[:, first])[:, of] - left
        else:
            kinds, number = self.kinds
            here = log_weights + nodes * kinds[:, 1] + total[:, kinds[:, 0]]
            whole = np.logaddexp.reduce(here, axis=0)
            log += float(y @ logit + number @ whole)
            own = number * np.exp(here - whole)
            there = np.array([np.bincount(kinds[:, 0], w, len(first)) for w in own])[:, of]
        never = self.animals * np.exp(log_weights + total - log_ever)
        return log, by_caught - ((there + never[:, of]) * slope).sum(axis=0)


class Search:
    """The likeliest parameters: θ of p, and γ of numbers, which are log λ at 0, β and log μ."""

    def __init__(self, sites: Sites, histories: Histories) -> None:
        self.sites, self.histories = sites, histories
        self.design, self.lines = sites.design, sites.lines
        self.precisions = sites.precisions()
        self.deviation = 0.0  # of logit p between animals
        self.size = 1.0  # of groups of animals that are seen together
        self.theta = np.zeros(self.design.n_features)
        self.theta[0] = START_LEVEL
        exposure = histories.cells.exposure
        self.offset = np.log(exposure)
        mu = sites.settings.mu
        self.held = mu is not None
        self.gamma = np.zeros(self.lines.shape[1] + 2)
        self.gamma[0] = math.log((histories.animals.sum() + 0.5) / exposure.sum())
        self.gamma[-1] = _LOG_MU if mu is None else math.log(mu)

    def run(self) -> Fit:
        """Maximise the posterior, smooth curves, and draw."""
        mu = (self.gamma[-1],) * 2 if self.held else BOUNDS["negative binomial"]
        bounds = [(None, None)] * (len(self.gamma) - 1) + [mu]
        for step in range(_ROUNDS + 1):
            if step:
                self.theta = self.likeliest()
                self.gamma = _minimised(self.cost_of_numbers, self.gamma, bounds)
            log = self.histories.log_likelihood(self.design @ self.theta)[0]
            log += self._numbers(self.gamma)[0]
            if (stop := self.sites.report(log, self.result)) is not None:
                return self.result(stop)
            if 0 < step < _ROUNDS:
                of_numbers = variances(second_derivatives(self.cost_of_numbers, self.gamma))
                both = np.append(self.variances(), of_numbers[1:-1])
                self.sites.smooth(np.append(self.theta, self.gamma[1:-1]), both)
                self.precisions = self.sites.precisions()
        rng = np.random.default_rng((self.sites.settings.seed, 1))
        return self.result(StopReason.TOLERANCE, rng)

    def likeliest(self) -> FloatArray:
        """θ, by the likelihood of histories alone; (Q,)."""
        bounded = self.sites.smoothing.bounded[: len(self.theta)]
        bounds = [(0.0 if low else None, None) for low in bounded]
        return _minimised(self.cost, self.theta, bounds)

    def variances(self) -> FloatArray:
        """Of θ; (Q,)."""
        return variances(second_derivatives(self.cost, self.theta))

    def draw(self, rng: np.random.Generator) -> tuple[FloatArray, FloatArray, int]:
        """Draws of θ (R, Q), of shares of animals ever caught (R, C), and how many by equal p.

        Animals differ in p more than counts of their captures show, and N with it: how much is
        drawn from its posterior. Draws by equal p are the first; 0 where captures speak against it.
        """
        found, usual = [], self.theta
        for deviation in _DEVIATIONS:
            self.deviation = deviation
            self.theta = self.likeliest()
            curvature = second_derivatives(self.cost, self.theta)
            prior = -0.5 * (deviation / _USUAL_DEVIATION) ** 2 if deviation else _LOG_OF_NONE
            evidence = prior - self.cost(self.theta)[0] - 0.5 * np.linalg.slogdet(curvature)[1]
            found.append((evidence, deviation, self.theta, curvature))
        shares = softmax([each[0] for each in found])
        sizes = rng.multinomial(DRAWS, shares)
        of_p, ever = [], []
        for size, (_, self.deviation, theta, curvature) in zip(sizes, found, strict=True):
            for values in draws_along(self.cost, theta, curvature, size, rng) if size else ():
                never = self.histories.log_never(self.design @ values, self.deviation)
                ever.append(-np.expm1(never))
                of_p.append(values / math.sqrt(1 + _PULL * self.deviation**2))  # of the mean p
        self.deviation, self.theta = 0.0, usual
        return np.array(of_p), np.array(ever), sizes[0] if shares[0] > _LEAST_LIKELY else 0

    def cost(self, theta: FloatArray) -> tuple[float, FloatArray]:
        """Minus the log posterior of θ, and its gradient."""
        log, by_logit = self.histories.log_likelihood(self.design @ theta, self.deviation)
        away, precisions = theta.copy(), self.precisions[: len(theta)].copy()
        away[0] -= START_LEVEL
        precisions[0] = LEVEL_DEVIATION**-2
        cost = 0.5 * float((precisions * away**2).sum()) - log
        return cost, precisions * away - self.design.back(by_logit)

    def cost_of_numbers(self, gamma: FloatArray) -> tuple[float, FloatArray]:
        """Minus the log posterior of γ given θ, and its gradient."""
        log, by_mean, by_mu = self._numbers(gamma)
        precisions = self.precisions[len(self.theta) :]
        pull = np.concatenate([[0.0], precisions, [0.0 if self.held else _LOG_MU_DEVIATION**-2]])
        away = gamma - np.append(np.zeros(len(gamma) - 1), _LOG_MU)
        gradient = np.concatenate([[by_mean.sum()], self.lines.T @ by_mean, [by_mu]])
        return 0.5 * float((pull * away**2).sum()) - log, pull * away - gradient

    def _numbers(self, gamma: FloatArray) -> tuple[float, FloatArray, float]:
        """Log-likelihood of M about its mean λ(1 - q), and derivatives by log mean and log μ."""
        log_mean = self._log_rate(gamma) + _log_ever(self._log_never(self.theta))
        m, mean, mu = self.histories.animals, np.exp(log_mean), math.exp(gamma[-1])
        more, room = np.log1p(mean / mu), mu + mean
        log = gammaln(m + mu) - gammaln(mu) - gammaln(m + 1) - mu * more
        log += m * (log_mean - np.log(room))
        by_mu = mu * (digamma(m + mu) - digamma(mu) - more + (mean - m) / room)
        return float(log.sum()), mu * (m - mean) / room, float(by_mu.sum())

    def _log_rate(self, gamma: FloatArray) -> FloatArray:
        return np.asarray(gamma[0] + self.offset + self.lines @ gamma[1:-1])

    def _log_never(self, theta: FloatArray) -> FloatArray:
        return self.histories.log_never(self.design @ theta)

    def result(self, stop: StopReason, rng: np.random.Generator | None = None) -> Fit:
        """Return the estimates, with draws where `rng` is given."""
        rates, mu = np.exp(self._log_rate(self.gamma)), math.exp(self.gamma[-1])
        animals = self.histories.animals
        ever = -np.expm1(self._log_never(self.theta))
        own = rates * (mu + animals) / (mu + rates * ever)
        values = np.concatenate([self.theta, self.gamma[:-1]])
        values[len(self.theta)] += log_expit(self.theta[0])
        available = self.histories.availability(self.design @ self.theta)
        if rng is None:
            return self.sites.fit(stop, values, own, mu, available=available)
        drawn, n, each = [], [], []
        of_p, of_ever, n_equal = self.draw(rng)
        curvature = second_derivatives(self.cost_of_numbers, self.gamma)
        of_numbers = normal_draws(self.gamma, curvature, DRAWS, rng)
        for theta, gamma, now in zip(of_p, of_numbers, of_ever, strict=True):
            # As many animals are caught whatever p is.
            gamma[0] += math.log((rates * ever).sum() / (rates * now).sum())
            rate, own_mu = np.exp(self._log_rate(gamma)), math.exp(gamma[-1])
            rate *= rng.gamma(own_mu + animals) / (own_mu + rate * now)
            never = self.size * rng.poisson(rate * (1 - now) / self.size)
            n.append(animals + np.rint(never).astype(np.int64))
            each.append(rate)
            drawn.append(np.concatenate([theta, gamma[:-1]]))
            drawn[-1][len(theta)] += log_expit(theta[0])
        numbers = np.stack(n, axis=1)
        found = self.doubts(self.levels(of_p), ever, numbers)
        missed = numbers[:, : n_equal or None] - animals[:, None]
        total = missed.sum(axis=0)  # skewed, as small p are likelier than large ones
        middle = total.mean() if "transect" in self.sites.counts.protocol else np.median(total)
        means = animals + missed.mean(axis=1) * middle / max(total.mean(), 1e-300)
        population = self.sites.population(numbers, "negative binomial", found, means)
        if not n_equal:
            values, own = np.mean(drawn, axis=0), np.mean(each, axis=0)
            available = self.histories.availability(self.design @ values[: len(self.theta)])
        several = np.array(drawn), np.stack(each, axis=1), population
        return self.sites.fit(stop, values, own, mu, several, available=available)

    def levels(self, of_p: FloatArray) -> FloatArray:
        """The mean p, by draws of θ (R, Q); (R,)."""
        return self.design.mean_detection(of_p)

    def doubts(self, levels: FloatArray, ever: FloatArray, numbers: IntArray) -> list[Doubt]:
        """Why the level cannot be believed, by draws of the mean p and of n, and shares caught."""
        counts, cells, histories = self.sites.counts, self.histories.cells, self.histories
        logit = self.design @ self.theta
        found = doubts_of_level(levels, numbers)
        if Doubt.LOW in found and histories.animals @ ever > _ENOUGH * histories.animals.sum():
            found.remove(Doubt.LOW)
        if histories.times is not None:
            n = histories.animals / ever
            found += doubts_of_residuals(counts, cells, expit(logit), n)
            found += [Doubt.ANIMALS] if _differ(histories, logit) else []
            found += self._recaptured(logit)
            found += [] if Doubt.HABIT in found else self._dependent(logit)
            if (both := {Doubt.SCATTER, Doubt.HABIT}) <= {*found}:
                found = [*{*found} - both, Doubt.VISIT_OR_HABIT]
            return found
        (mode,) = (k for k in range(len(counts.shape)) if k not in cells.open_modes)
        at, expected = counts.indices[cells.order, mode], histories.expected(logit)
        removed = counts.protocol == "removal"
        found += [Doubt.FLAT] if removed and self._free_by_pass(at) else []
        means = np.bincount(at, expected, counts.shape[mode])
        left = np.bincount(at, cells.counts, counts.shape[mode]) - means
        statistic = float((left**2 / np.maximum(means, 1e-9)).sum())
        off = chdtrc(max(counts.shape[mode] - 1, 1), statistic / self.size) < _LEVEL
        return [*found, Doubt.SCATTER] if off else found

    def _free_by_pass(self, at: IntArray) -> bool:
        """Whether p may be any at each pass: then as many animals as one likes may be left."""
        z = self.sites.counts.attributes_at(
            self.sites.counts.indices[self.histories.cells.order], unknown_as_nan=True
        )
        _, rows, of = np.unique(at, return_index=True, return_inverse=True)
        own = z[rows][:, (z == z[rows[of]]).all(axis=0)]
        away = np.c_[own - own.mean(axis=0), 0 * rows]  # of at least one column
        return bool(np.linalg.matrix_rank(away) >= len(rows) - 1)

    def _recaptured(self, logit: FloatArray) -> list[Doubt]:
        """Whether p changes once an animal was caught, or is higher between its captures.

        Given when an animal was caught first, later captures are independent of each other, and
        given when it was last, too, so are those between. There animals that come and go are there.
        """
        histories, p = self.histories, expit(logit)
        if histories.times is None or histories.first is None:
            return []
        of, starts = histories.cells.of, histories.cells.starts
        total, missed = np.append(0, np.cumsum(p)), np.append(0, np.cumsum(log_expit(-logit)))
        n = -(histories.animals / np.expm1(histories.log_never(logit)))[of]
        before = n * -np.expm1(missed[:-1] - missed[starts[:-1]][of])  # caught by then
        times, first, end = histories.times[:, 1], histories.first, starts[1:]
        later = total[end][of][first] - total[first + 1]  # Σ p of later visits
        excess = self._excess(before * p * (1 - p), times - 1 - later)
        found = [Doubt.HABIT] if abs(excess) > _MOST_OF_HABIT else []
        if histories.last is None:
            return found
        between = before * -np.expm1(missed[end][of] - missed[1:])  # and caught later
        left = (times - 2 - total[histories.last] + total[first + 1])[times > 1]
        if self._excess(between * p * (1 - p), left) > _MOST_BETWEEN:
            found.append(Doubt.PRESENCE)
        return found

    def _dependent(self, logit: FloatArray) -> list[Doubt]:
        """Test by chi-squared whether captures are independent, as of lists they may not be.

        Counted are animals by first and last capture, with and without one between.
        """
        histories, cells = self.histories, self.histories.cells
        if histories.times is None or histories.first is None or histories.last is None:
            return []
        (mode,) = (k for k in range(len(self.sites.counts.shape)) if k not in cells.open_modes)
        size, of, starts = self.sites.counts.shape[mode], cells.of, cells.starts
        visit = self.sites.counts.indices[cells.order, mode]
        p, missed = expit(logit), np.append(0, np.cumsum(log_expit(-logit)))
        n = -(histories.animals / np.expm1(histories.log_never(logit)))[of]
        alone = n * p * np.exp(missed[:-1] - missed[starts[:-1]][of])  # and none before
        expected = np.zeros(2 * size**2)
        for lag in range(size):
            i = np.flatnonzero(of[: len(of) - lag] == of[lag:])
            j, key = i + lag, 2 * (size * visit[i] + visit[i + lag])
            all_of = alone[i] * np.exp(missed[starts[1:]][of[j]] - missed[j + 1])
            all_of *= p[j] if lag else 1.0
            none = np.exp(missed[j] - missed[i + 1]) if lag else np.ones(len(i))
            np.add.at(expected, key, all_of * none)
            np.add.at(expected, key + 1, all_of * (1 - none))
        key = 2 * (size * visit[histories.first] + visit[histories.last])
        seen = np.bincount(key + (histories.times[:, 1] > 2), minlength=len(expected))
        enough = expected >= _LEAST_EXPECTED
        left = np.append((seen - expected)[enough], (seen - expected)[~enough].sum())
        of_rest = max(float(expected[~enough].sum()), _LEAST_EXPECTED)
        statistic = float((left**2 / np.append(expected[enough], of_rest)).sum())
        fitted = 1 - self.precisions[: len(self.theta)] * self.variances()  # of each parameter
        free = enough.sum() - max(float(fitted.sum()), 1.0)
        return [Doubt.HABIT] if free > 0.5 and chdtrc(free, statistic) < _LEVEL else []

    def _excess(self, variances: FloatArray, left: FloatArray) -> float:
        """The sum of residuals of animals in standard errors, with the scores of θ taken out."""
        own, variance = self.design.back(variances), float(variances.sum())
        curvature = second_derivatives(self.cost, self.theta)
        error = variance - float(own @ np.linalg.solve(curvature, own))
        return float(left.sum()) / math.sqrt(error) if error > _LEAST_LEFT * variance else 0.0


def _differ(histories: Histories, logit: FloatArray) -> bool:
    """Whether captures of animals scatter more than by chance, by a score test.

    Of the variance of logit p between animals, with the score of the level taken out.
    """
    assert histories.times is not None
    cells, (of, times) = histories.cells, histories.times.T
    p, size = expit(logit), len(histories.animals)
    mean, variance = np.bincount(cells.of, p, size), np.bincount(cells.of, p * (1 - p), size)
    log_never = histories.log_never(logit)
    odds = np.exp(log_never - _log_ever(log_never))  # of never being caught
    score = times - (mean * (1 + odds))[of]
    wide = (times - mean[of]) ** 2 - variance[of] + ((mean**2 - variance) * odds)[of]
    wide -= score * (score @ wide) / max(score @ score, 1e-12)
    error = math.sqrt(float(wide @ wide))
    return error > 1e-6 * len(wide) and float(wide.sum()) > -float(ndtri(_LEVEL)) * error


def _nodes(deviation: float) -> tuple[FloatArray, FloatArray]:
    """Deviations of logit p between animals, and logarithms of their weights; (K, 1) each."""
    if not deviation:
        return np.zeros((1, 1)), np.zeros((1, 1))
    return deviation * _X[:, None], _LOG_W[:, None]


def _log_ever(log_never: FloatArray) -> FloatArray:
    return np.asarray(np.log(np.maximum(-np.expm1(log_never), 1e-300)))


def _minimised(function: Function, start: FloatArray, bounds: Sequence[Any]) -> FloatArray:
    options = {"maxcor": 30, "ftol": 1e-12, "gtol": 1e-5}
    found = minimize(  # type: ignore[call-overload]
        function, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options
    )
    return np.asarray(found.x)
