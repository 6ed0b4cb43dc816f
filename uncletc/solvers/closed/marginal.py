"""The likelihood of one open mode: sites integrated out, so that few parameters are left.

    n ~ Poisson(λm),  λ = exposure · exp(β₀ + xᵀβ),  m of mean 1 and of each site its own,
    y_v ~ Binomial(n, p_v),  logit p_v = θ₀ + Σ_j f_j(z_vj) + e.

m is gamma (n is negative binomial), log-normal, or 1; e is 0, or normal and of each site its own.
Where p varies between visits to a site, y_v is beta-binomial with a + b = s. A share of sites may
be empty. m and e of a site are summed over nodes, n by :mod:`~uncletc.solvers.closed.sums`.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from operator import itemgetter
from typing import Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.interpolate import CubicSpline
from scipy.linalg import eigh
from scipy.optimize import minimize
from scipy.special import digamma, expit, gammaln, log_expit, logsumexp

from uncletc.common.validation import FloatArray, IntArray
from uncletc.solvers.closed.cells import Cells
from uncletc.solvers.closed.design import Design
from uncletc.solvers.closed.finite import Visits
from uncletc.solvers.closed.sums import draw_true_counts, true_counts

Mixture = Literal["Poisson", "negative binomial", "log-normal"]
Extra = Literal["", "between visits", "between sites", "empty sites"]
Function = Callable[[FloatArray], tuple[float, FloatArray]]
"""A function of parameters, and its gradient."""
# Logarithms of μ, of σ of log λ, of s, of the deviation of logit p between sites; logit of a share:
# mean and deviation of their priors, and bounds.
SCATTER = {
    "negative binomial": (1.0, 2.0),
    "log-normal": (-0.5, 1.0),
    "between visits": (2.5, 2.0),
    "between sites": (-0.5, 1.0),
    "empty sites": (-1.5, 1.5),
}
BOUNDS = {
    "negative binomial": (-4.0, 9.0),
    "log-normal": (-3.0, 1.2),
    "between visits": (-1.5, 8.0),
    "between sites": (-3.0, 1.2),
    "empty sites": (-6.0, 4.0),
}
START_LEVEL = -1.0  # logit of p
LEVEL_DEVIATION = 2.0
_NODES = 9  # of Gauss and Hermite
_SETTLED, _ALIKE = 1e-9, 1e-6  # relative changes of the log posterior at which searches end
_WIDEST = 30.0  # of parameters
_LEAST_LEVEL = -5.0  # of the logit of p: repeat visits do not distinguish less from 0
_STEP = 1e-4  # of numerical second derivatives
LEAST_CURVATURE = 1e-4  # of what nothing determines
_HELD = 1e12  # precision of a parameter that is given
_ALONG = np.linspace(-4.0, 4.0, 9)  # standard deviations of the level of p by curvature
_FINE, _LEAST_LOG = 801, -30.0  # steps between the first and last, and log density there
_CORRELATIONS = (0.001, 0.003, 0.01, 0.02, 0.04, 0.07, 0.12, 0.2, 0.3)
_NEGLIGIBLE = 7.0  # nats below the likeliest


class Form(NamedTuple):
    """Which distributions a likelihood has.

    Attributes
    ----------
    mixture : {"Poisson", "negative binomial", "log-normal"}
        Of true counts over sites.
    extra : {"", "between visits", "between sites", "empty sites"}
        What p varies between, beyond its covariates, or that some sites are empty.
    """

    mixture: Mixture
    extra: Extra = ""

    @property
    def scatters(self) -> tuple[str, ...]:
        """Names of the parameters of scatter."""
        return tuple(name for name in self if name in SCATTER)


@dataclass(frozen=True, eq=False)
class Optimum:
    """The likeliest parameters of a form.

    Attributes
    ----------
    form : Form
    values : ndarray, shape (P,)
        θ, then log λ·p at covariates of 0, β, and the parameters of scatter.
    log_likelihood : float
    held : bool
        Whether the last parameter, log s, was given.
    """

    form: Form
    values: FloatArray
    log_likelihood: float
    held: bool = False


class _Parts(NamedTuple):
    """Log-likelihood of cells, E[n], and derivatives by log λ, logit p, log μ and log s."""

    log: FloatArray
    mean: FloatArray
    by_rate: FloatArray
    by_logit: FloatArray
    by_mu: FloatArray
    by_spread: FloatArray


class Marginal:
    """Log-likelihood and priors as functions of the parameters.

    Parameters
    ----------
    cells : Cells
    design : Design
        Features of each count, the constant first.
    lines : ndarray, shape (C, P)
        Standardised covariates of λ.
    precisions : ndarray, shape (Q + P,)
        Of θ and β; that of θ₀ is not used.
    bounded : ndarray of bool, shape (Q + P,)
        Coefficients that may not be negative.
    mu : float, optional
        Of true counts; None: estimated.
    """

    def __init__(
        self,
        cells: Cells,
        design: Design,
        lines: FloatArray,
        precisions: FloatArray,
        bounded: NDArray[np.bool_],
        mu: float | None = None,
    ) -> None:
        self.cells, self.design, self.lines = cells, design, lines
        self.n_curves, self.n_rates = design.n_features, lines.shape[1]
        self._exposure = np.log(cells.exposure)
        self._empty = np.bincount(cells.of, cells.counts, len(cells.indices)) == 0
        self._bounds, self.given_mu = dict(BOUNDS), mu
        modes, whole = cells.indices.T, np.bincount(cells.of) * cells.exposure
        signed = [*((1, mode) for mode in modes), (1 - len(modes), 0 * modes[0])]
        several = signed if len(modes) > 1 else []
        self._levels = [(sign, at, np.bincount(at, whole)) for sign, at in several]
        if mu is not None:
            self._bounds["negative binomial"] = (math.log(mu), math.log(mu))
        self.bounded = bounded
        self.set_precisions(precisions)

    def set_precisions(self, precisions: FloatArray) -> None:
        """State how much θ and β may vary."""
        self.precisions = precisions.copy()
        self.precisions[0] = 1 / LEVEL_DEVIATION**2

    def start(self, form: Form) -> FloatArray:
        """Parameters under which as many events are expected as were counted."""
        centres = [SCATTER[name][0] for name in form.scatters]
        values = np.append(np.zeros(self.n_curves + 1 + self.n_rates), centres)
        values[0] = START_LEVEL
        expected = self.cells.exposure[self.cells.of].sum()
        values[self.n_curves] = math.log(max(self.cells.counts.sum(), 0.5) / expected)
        return values

    def optimum(
        self,
        form: Form,
        start: FloatArray | None = None,
        callback: Callable[[FloatArray], None] | None = None,
    ) -> Optimum:
        """Maximise the posterior by L-BFGS from a start, of which scatter may be left out."""
        return self._maximised(form, start, slice(None), _SETTLED, callback)

    def near(self, form: Form, usual: FloatArray) -> Optimum:
        """The same over levels and scatter alone, from the optimum of the usual form.

        Curves and slopes stay: for comparisons, in which the form gains at least as much.
        """
        free = [0, self.n_curves, *range(-len(form.scatters), 0)]
        return self._maximised(form, usual, free, _ALIKE)

    def correlated(self, usual: Optimum, correlation: float) -> Optimum:
        """The optimum where animals of a visit are so much alike in being counted, 1 / (1 + s)."""
        form = Form(usual.form.mixture, "between visits")
        values = np.append(usual.values, 0.0)
        values[-1] = math.log(1 / correlation - 1)
        return replace(self._maximised(form, values, slice(-1), _ALIKE), held=True)

    def correlations(self, usual: Optimum) -> tuple[list[Optimum], FloatArray]:
        """Optima over a grid of correlations, and their shares of the posterior.

        N follows the correlation, whose posterior is far from normal; its prior is uniform.
        """
        found, evidence = list[Optimum](), list[float]()
        for correlation, width in zip(_CORRELATIONS, np.gradient(_CORRELATIONS), strict=True):
            each = self.correlated(usual, correlation)
            centre, deviation = SCATTER["between visits"]
            prior = 0.5 * ((each.values[-1] - centre) / deviation) ** 2
            found.append(each)
            evidence.append(math.log(width) + prior + self.evidence(each))
            usual = replace(usual, values=each.values[:-1])
            if evidence[-1] < max(evidence) - _NEGLIGIBLE:
                break
        return found, np.exp(np.array(evidence) - logsumexp(evidence))

    def _started(self, form: Form, start: FloatArray | None) -> tuple[FloatArray, FloatArray]:
        """Parameters from which to search, and their bounds (P, 2)."""
        values = self.start(form)
        if start is not None:
            common = min(len(values), len(start))
            if form.mixture != "negative binomial":  # whose first scatter is another
                common = min(common, len(values) - len(form.scatters))
            values[:common] = start[:common]
        bounds = np.array([(-_WIDEST, _WIDEST)] * len(values))
        bounds[0] = (_LEAST_LEVEL, math.inf)  # were all bounded, the first step would be a wild one
        for column in np.flatnonzero(self.bounded):
            bounds[column if column < self.n_curves else column + 1] = (0.0, _WIDEST)
        for k, name in enumerate(form.scatters):
            bounds[k - len(form.scatters)] = self._bounds[name]
        return np.clip(values, *bounds.T), bounds

    def _maximised(
        self,
        form: Form,
        start: FloatArray | None,
        free: slice | list[int],
        tol: float,
        callback: Callable[[FloatArray], None] | None = None,
    ) -> Optimum:
        values, bounds = self._started(form, start)
        scale = np.ones(len(values))  # bends that hardly bend have precisions of 10⁸
        scale[: self.n_curves] = np.sqrt(1 + self.precisions[: self.n_curves])
        scale = scale[free]

        def moved(some: FloatArray) -> FloatArray:
            every = values.copy()
            every[free] = some / scale
            return every

        def cost(some: FloatArray) -> tuple[float, FloatArray]:
            cost, gradient = self.cost(form, moved(some))
            return cost, gradient[free] / scale

        found = minimize(  # type: ignore[call-overload]
            cost,
            values[free] * scale,
            jac=True,
            method="L-BFGS-B",
            bounds=bounds[free] * scale[:, None],
            callback=None if callback is None else lambda some: callback(moved(some)),
            options={"maxcor": 30, "ftol": tol, "gtol": 1e-4},
        )
        values = moved(found.x)
        return Optimum(form, values, float(self.log_likelihood(form, values).sum()))

    def cost(self, form: Form, values: FloatArray) -> tuple[float, FloatArray]:
        """Minus the log posterior, and its gradient."""
        log, gradient = self._likelihood(form, values)
        coefficients = np.delete(values[: self.n_curves + 1 + self.n_rates], self.n_curves)
        coefficients[0] -= START_LEVEL
        pull = np.insert(self.precisions * coefficients, self.n_curves, 0.0)
        cost = -log.sum() + 0.5 * (self.precisions * coefficients**2).sum()
        gradient = -gradient
        gradient[: len(pull)] += pull
        centre, deviation = np.array([SCATTER[name] for name in form.scatters]).reshape(-1, 2).T
        away = (values[len(pull) :] - centre) / deviation
        gradient[len(pull) :] += away / deviation
        return float(cost + 0.5 * (away**2).sum()), gradient

    def log_likelihood(self, form: Form, values: FloatArray) -> FloatArray:
        """Log-probability of the counts of each cell; (C,)."""
        return self._likelihood(form, values)[0]

    def hessian(self, found: Optimum) -> FloatArray:
        """Second derivatives of minus the log posterior; (P, P)."""
        rows = second_derivatives(partial(self.cost, found.form), found.values)
        if found.held:
            rows[-1], rows[:, -1] = 0.0, 0.0
            rows[-1, -1] = _HELD
        return rows

    def evidence(self, found: Optimum) -> float:
        """Log-probability of the counts under a form, by Laplace's method, but for a constant."""
        curvature = np.linalg.eigvalsh(self.hessian(found)).clip(LEAST_CURVATURE)
        cost = self.cost(found.form, found.values)[0]
        cost += sum(math.log(SCATTER[name][1]) for name in found.form.scatters)
        return -cost - 0.5 * float(np.log(curvature).sum())

    def draw_values(self, found: Optimum, size: int, rng: np.random.Generator) -> FloatArray:
        """Draw parameters; (size, P)."""
        bounds = self._started(found.form, None)[1].T
        bounds[0, : self.n_curves + 1 + self.n_rates], bounds[1, 0] = -_WIDEST, _WIDEST
        cost = partial(self.cost, found.form)
        return draws_along(cost, found.values, self.hessian(found), size, rng, bounds)

    def some_cells(self, most: int, rng: np.random.Generator) -> Self:
        """Return the same of so many cells drawn at random; of all where there are no more."""
        cells, size = self.cells, len(self.cells.indices)
        if size <= most:
            return self
        chosen = np.sort(rng.choice(size, most, replace=False))
        rows = np.flatnonzero(np.isin(cells.of, chosen))
        n = np.diff(cells.starts)[chosen]
        few = replace(
            cells,
            indices=cells.indices[chosen],
            starts=np.concatenate([[0], np.cumsum(n)]),
            of=np.repeat(np.arange(most), n),
            order=cells.order[rows],
            counts=cells.counts[rows],
            exposure=cells.exposure[chosen],
        )
        return type(self)(
            few, self.design[rows], self.lines[chosen], self.precisions, self.bounded, self.given_mu
        )

    def expected(self, form: Form, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Means of n, and of λ with the factor of its site, given all counts; (C,) each."""
        each, share, _, of_rate, _ = self._at_nodes(form, values)
        mu = self.mu(form, values) if form.mixture == "negative binomial" else math.inf
        log_rate = self.log_rates(values)
        n, mean = np.zeros(len(log_rate)), np.zeros(len(log_rate))
        for parts, weight, moved in zip(each, share, of_rate, strict=True):
            rate = np.exp(log_rate + moved)
            n += weight * parts.mean
            if math.isfinite(mu):
                rate = rate * (mu + parts.mean) / (mu + rate)
            mean += weight * rate
        return n, mean

    def scores(self, usual: Optimum) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Scores of each cell by what the usual form has not, and by its parameters.

        Returns
        -------
        zeros : ndarray, shape (C, 1)
            By the share of zeros left out: those that are expected of visits given n, over n given
            all counts, less those found.
        lines : ndarray, shape (C, P)
            By slopes of logit p on the covariates of λ.
        others : ndarray, shape (C, K)
        """
        cells, values, of = self.cells, usual.values, self.cells.of
        visits, mu = np.diff(cells.starts), self.mu(usual.form, values)
        log_rate, logit = self.log_rates(values), self.logits(values)
        parts = self._parts(log_rate, logit, mu, 0.0)
        log_theta, _ = self._theta(log_rate, logit, mu, 0.0)
        # (1 - p)ⁿ over n: each visit's cell as if none were counted at one more such visit.
        starts = np.append(0, np.cumsum(visits[of]))
        rows = np.arange(starts[-1]) + np.repeat(cells.starts[of] - starts[:-1], visits[of])
        again = Visits.of(starts, cells.counts[rows])
        more = true_counts(log_theta[of] + log_expit(-logit), again, mu).log
        zero = np.exp(more - true_counts(log_theta, cells.visits, mu).log[of])
        curves = self.design.sums(of, parts.by_logit, len(visits))
        others = [parts.by_rate, parts.by_mu, curves, parts.by_rate[:, None] * self.lines]
        zeros = np.asarray(np.bincount(of, zero - (cells.counts == 0)), dtype=np.float64)
        return zeros[:, None], curves[:, :1] * self.lines, np.column_stack(others)

    def logits(self, values: FloatArray) -> FloatArray:
        """Logit of p of each count; (N,)."""
        return self.design @ values[: self.n_curves]

    def mu(self, form: Form, values: FloatArray) -> float:
        """μ of a negative binomial with the same variance of true counts; infinite if Poisson."""
        if form.mixture == "Poisson":
            return math.inf
        scatter = float(values[-len(form.scatters)])
        if form.mixture == "negative binomial":
            return math.exp(scatter)
        return 1 / math.expm1(math.exp(2 * scatter))

    def spread(self, form: Form, values: FloatArray) -> float:
        """s of the beta distribution of p between visits; 0 without."""
        return math.exp(float(values[-1])) if form.extra == "between visits" else 0.0

    def draw(
        self, form: Form, values: FloatArray, rng: np.random.Generator
    ) -> tuple[IntArray, FloatArray]:
        """Draw n, and λ with the factor of its site, of each cell given its counts; (C,) each.

        Forms in which p differs between sites are for comparisons alone, and not drawn.
        """
        log_rate, spread = self.log_rates(values), self.spread(form, values)
        mu = self.mu(form, values) if form.mixture == "negative binomial" else math.inf
        if form.mixture == "log-normal":
            _, share, _, of_rate, _ = self._at_nodes(form, values)
            below = share.cumsum(axis=0) < rng.random(len(log_rate))
            log_rate = log_rate + of_rate[below.sum(axis=0).clip(max=len(of_rate) - 1)]
        log_theta, missed = self._theta(log_rate, self.logits(values), mu, spread)
        n = draw_true_counts(log_theta, self.cells.visits, mu, rng, missed, spread)
        rate = np.exp(log_rate)
        if math.isfinite(mu):
            rate = rng.gamma(mu + n) / (1 + mu / rate)
        return n, rate

    def log_rates(self, values: FloatArray) -> FloatArray:
        """log λ of each cell, before its site has a factor of its own; (C,)."""
        beta = values[self.n_curves + 1 : self.n_curves + 1 + self.n_rates]
        level = values[self.n_curves] - self._log_seen(values)
        return np.asarray(np.minimum(level + self._exposure + self.lines @ beta, _WIDEST))

    def _log_seen(self, values: FloatArray) -> FloatArray:
        """Log p at covariates of 0; with several open modes of each cell, (C,).

        Exposure then has the mean counts of their levels, which are λ times mean p of each: it is
        the product of these means, over the mean of all but for one mode.
        """
        if not self._levels:
            return np.asarray(log_expit(values[0]))
        seen = self._exposed(expit(self.logits(values)))
        means = [(sign, at, np.bincount(at, seen) / whole) for sign, at, whole in self._levels]
        return np.asarray(sum(sign * np.log(mean)[at] for sign, at, mean in means))

    def _by_seen(self, logit: FloatArray, by_rate: FloatArray) -> FloatArray:
        """Its gradient by the logit p of each count, weighted by `by_rate` (C,); (N,)."""
        p, exposure = expit(logit), self.cells.exposure
        seen = self._exposed(p)
        by_cell = sum(
            sign * (np.bincount(at, by_rate) / np.bincount(at, seen))[at]
            for sign, at, _ in self._levels
        )
        return np.asarray((by_cell * exposure)[self.cells.of] * p * (1 - p))

    def _exposed(self, p: FloatArray) -> FloatArray:
        """Exposure of each cell times the sum of p (N,) of its counts; (C,)."""
        of, exposure = self.cells.of, self.cells.exposure
        return np.asarray(exposure * np.bincount(of, p, len(exposure)))

    def _nodes(self, form: Form, values: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Shifts of log λ and of logit p, and logarithms of weights."""
        if form.mixture != "log-normal" and form.extra != "between sites":
            return np.zeros(1), np.zeros(1), np.zeros(1)
        x, weights = np.polynomial.hermite_e.hermegauss(_NODES)
        weights = np.log(weights / weights.sum())
        if form.extra == "between sites":
            return 0 * x, x * math.exp(values[-1]), weights
        sigma = math.exp(values[-len(form.scatters)])
        return sigma * x - sigma**2 / 2, 0 * x, weights

    def _theta(
        self, log_rate: FloatArray, logit: FloatArray, mu: float, spread: float
    ) -> tuple[FloatArray, FloatArray]:
        """Log θ of each cell, and b of each count; see :mod:`~uncletc.solvers.closed.sums`."""
        room = np.log(mu + np.exp(log_rate)) if math.isfinite(mu) else 0.0
        if spread:
            return np.asarray(log_rate - room), np.maximum(expit(-logit) * spread, 1e-8)
        missed = np.bincount(self.cells.of, log_expit(-logit), len(log_rate))
        return np.asarray(log_rate + missed - room), np.zeros(0)

    def _parts(self, log_rate: FloatArray, logit: FloatArray, mu: float, spread: float) -> _Parts:
        cells, y = self.cells, self.cells.counts
        log_theta, missed = self._theta(log_rate, logit, mu, spread)
        sums = true_counts(log_theta, cells.visits, mu, missed, spread)
        rate, p = np.exp(log_rate), expit(logit)
        by_mu = np.zeros(len(rate))
        if math.isfinite(mu):
            share, more = mu / (mu + rate), np.log1p(rate / mu)
            log, by_rate = sums.log - mu * more, share * (sums.mean - rate)
            by_mu = mu * (sums.by_mu + (rate - sums.mean) / (mu + rate) - more)
        else:
            log, by_rate = sums.log - rate, sums.mean - rate
        by_spread = np.zeros(len(rate))
        if not spread:
            of_counts, by_logit = y * logit, y - p * sums.mean[cells.of]
        else:
            a = np.maximum(p * spread, 1e-8)
            of_counts = gammaln(spread) - gammaln(a) - gammaln(missed) + gammaln(y + a)
            by_a = digamma(y + a) - digamma(a)
            by_b = sums.by_missed - digamma(missed)
            by_logit = p * (1 - p) * spread * (by_a - by_b)
            own = p * by_a + (1 - p) * by_b + digamma(spread) - sums.by_spread[cells.of]
            by_spread += np.bincount(cells.of, spread * own, len(rate))
        log = log + np.bincount(cells.of, of_counts, len(rate))
        return _Parts(np.asarray(log), sums.mean, by_rate, by_logit, by_mu, by_spread)

    def _at_nodes(
        self, form: Form, values: FloatArray
    ) -> tuple[list[_Parts], FloatArray, FloatArray, FloatArray, FloatArray]:
        """Parts at each node, shares of nodes given the counts (K, C), and more.

        That is the log-probability of each cell's counts (C,), and shifts of log λ and logit p.
        """
        log_rate, logit = self.log_rates(values), self.logits(values)
        mu = self.mu(form, values) if form.mixture == "negative binomial" else math.inf
        of_rate, of_logit, weights = self._nodes(form, values)
        spread = self.spread(form, values)
        each = [
            self._parts(log_rate + a, logit + b, mu, spread)
            for a, b in zip(of_rate, of_logit, strict=True)
        ]
        logs = np.array([parts.log for parts in each]) + weights[:, None]
        log = np.asarray(logsumexp(logs, axis=0))
        return each, np.exp(logs - log), log, of_rate, of_logit

    def _likelihood(self, form: Form, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Log-probability of each cell's counts, and the gradient of their sum."""
        each, share, log, of_rate, of_logit = self._at_nodes(form, values)
        gradient = np.zeros(len(values))
        if form.extra == "empty sites":
            of_none = np.where(self._empty, log_expit(values[-1]), -np.inf)
            whole = np.logaddexp(log + log_expit(-values[-1]), of_none)
            empty = np.exp(of_none - whole)
            gradient[-1] = (empty - expit(values[-1])).sum()
            log, share = np.asarray(whole), share * (1 - empty)
        of = self.cells.of
        pairs = list(zip(share, each, strict=True))
        by_rate = np.asarray(sum(w * parts.by_rate for w, parts in pairs))
        by_logit = sum(w[of] * parts.by_logit for w, parts in pairs)
        if self._levels:
            by_logit = by_logit - self._by_seen(self.logits(values), by_rate)
        gradient[: self.n_curves] = self.design.back(np.asarray(by_logit))
        if not self._levels:
            gradient[0] -= expit(-values[0]) * np.sum(by_rate)
        gradient[self.n_curves] = np.sum(by_rate)
        gradient[self.n_curves + 1 : self.n_curves + 1 + self.n_rates] = self.lines.T @ by_rate
        at = -len(form.scatters)
        if form.mixture == "negative binomial":
            gradient[at] = sum((w * parts.by_mu).sum() for w, parts in pairs)
        elif form.mixture == "log-normal":
            sigma = math.exp(values[at])
            moved = of_rate - sigma**2 / 2  # σ times the derivative by σ
            gradient[at] = sum(
                m * (w * parts.by_rate).sum() for m, (w, parts) in zip(moved, pairs, strict=True)
            )
        if form.extra == "between visits":
            gradient[-1] = sum((w * parts.by_spread).sum() for w, parts in pairs)
        elif form.extra == "between sites":
            gradient[-1] = sum(
                m * (w[of] * parts.by_logit).sum()
                for m, (w, parts) in zip(of_logit, pairs, strict=True)
            )
        return log, gradient


def second_derivatives(function: Function, at: FloatArray) -> FloatArray:
    """Return the derivatives of its gradient, by differences; (P, P)."""
    steps = _STEP * np.eye(len(at))
    rows = np.array([function(at + step)[1] - function(at - step)[1] for step in steps])
    return np.asarray((rows + rows.T) / (4 * _STEP))


def draws_along(
    cost: Function,
    at: FloatArray,
    hessian: FloatArray,
    size: int,
    rng: np.random.Generator,
    bounds: ArrayLike = (-_WIDEST, _WIDEST),
) -> FloatArray:
    """Draw parameters about their optimum, by minus their log posterior; (size, P).

    The first, the level of p, is drawn from the posterior along its ridge, which falls more slowly
    towards small p; the others are normal given it.
    """
    low, high = np.asarray(bounds)
    curvature, vectors = eigh(hessian)
    covariance = (vectors / np.maximum(curvature, LEAST_CURVATURE)) @ vectors.T
    along = covariance[:, 0] / math.sqrt(covariance[0, 0])
    of_others = covariance[1:, 1:] - np.outer(along[1:], along[1:])
    found = []
    for step in _ALONG:
        here = (at + step * along).clip(low, high)
        own, gradient = cost(here)
        nearer = np.append(here[0], here[1:] - of_others @ gradient[1:]).clip(low, high)
        found.append(min((own, here), (cost(nearer)[0], nearer), key=itemgetter(0)))
    costs, ridge = map(np.array, zip(*found, strict=True))
    fine = np.linspace(_ALONG[0], _ALONG[-1], _FINE)
    density = np.exp(CubicSpline(_ALONG, np.maximum(costs.min() - costs, _LEAST_LOG))(fine))
    below = np.cumsum(density) / density.sum()
    steps = np.interp((np.arange(size) + rng.random(size)) / size, below, fine)
    drawn = CubicSpline(_ALONG, ridge)(rng.permutation(steps))
    drawn[:, 1:] += normal_draws(np.zeros(len(at) - 1), hessian[1:, 1:], size, rng)
    return np.asarray(drawn.clip(low, high))


def normal_draws(
    at: FloatArray, hessian: FloatArray, size: int, rng: np.random.Generator
) -> FloatArray:
    """Draw parameters about their optimum from second derivatives there; (size, P)."""
    values, vectors = eigh(hessian)
    noise = rng.standard_normal((size, len(at))) / np.sqrt(np.maximum(values, LEAST_CURVATURE))
    return np.asarray(at + noise @ vectors.T)


def variances(hessian: FloatArray) -> FloatArray:
    """Variances of parameters by second derivatives of minus their log posterior; (P,)."""
    values, vectors = eigh(hessian)
    return np.asarray((vectors**2 / np.maximum(values, LEAST_CURVATURE)).sum(axis=1))
