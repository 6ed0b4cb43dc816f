"""Effects of modes within a fit: their posterior modes and variances, given all else.

Each effect is σ·L·t, with t standard normal and L a root of its correlations (a Kronecker product
over its groups), so that all t together have one prior. Given λ's other parts and p, the
expected counts are known up to exp(Σ effects), and t is found by Newton steps, each by conjugate
gradients that never form a matrix. σ² follows by the fixed-point iteration of MacKay (1992): the
sum of squares of an effect over the number of its values that the counts determine, which is
found by two random probes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from contextlib import suppress
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_solve

from uncletc.common.validation import FloatArray, IntArray
from uncletc.model.random_effects import ModeEffects
from uncletc.result.posterior import Float32Array
from uncletc.solvers.effects.blocks import Blocks, Root, cholesky
from uncletc.solvers.effects.linear import Linear, no_coefficients
from uncletc.solvers.effects.terms import Term
from uncletc.solvers.joint.kernels import IndexArray
from uncletc.solvers.joint.lookups import Lookups

_START, _LEAST = 0.3, 1e-3  # of σ
# Without a limit the reporting of states that publish nothing on Sundays tends to 0, and the one
# place of such a state that does publish then weighs more than all others.
MOST_OF_REPORTING = 1.0
_MOST = 3.0  # of σ of effects on λ
_FARTHEST = 1.0  # change of a log factor in one step
_BACK, _FASTER = 0.5, 1.25  # share of a step that the next may undo; by what steps grow again
_LEAST_CHANGE = 0.3  # of σ in one estimate
# Of an effect's values, those that counts determine. With .1 and .01 the courses of places vanished
# by chance in some folds of real COVID-19 counts: a held-out log score was .04 worse.
_VANISHING, _LEAST_SHARE = 0.02, 0.002
_PROBES = 2
# Prior of σ of effects on detection: its middle, and the standard deviation of log σ. Covariates
# leave as much of p open as ages and illnesses do of deaths: about a third, within a factor of 2.
_DEPARTURE, _DEPARTURE_OPEN = 0.3, 0.7
_DRAWN_AT_ONCE = 12  # columns, which bounds the memory
_DRAWN_IF_SMALL = 200  # where a draw costs next to nothing: deviations are then known within 5 %
# Iterations of conjugate gradients at most, and their relative error: of draws and probes, and of
# steps, which later ones correct. With .1 instead of .03 intervals of p on plants are 4 % narrower.
_STEPS, _PRECISION, _PRECISION_OF_DRAW = 25, 0.03, 0.003
_PRECISION_OF_STEP = 0.1, 0.05  # before μ is known, and then; with .1 log p ends .02 away
_MOST_COUPLED = 600  # values of smooth effects and coefficients: their matrix is dense
_ACTIVE_SETS = 5  # tries to find which coefficients are at their bound; one or two are usual
# Rows times squared values up to which a dense system takes next to no time; least share of an
# expected count's information that other counts are taken to have.
_MOST_DENSE, _LEAST_LEFT = 2e8, 0.02
_RENEW_BLOCKS = 60  # products, which cost what new second derivatives of the preconditioner do


class Given(NamedTuple):
    """What is held while the effects of a member are found or drawn.

    Attributes
    ----------
    m : int
        The member.
    mean : ndarray, shape (N,)
        Expected counts without these effects.
    counts, mu : ndarray, shape (N,)
    dispersion : float
        φ, by which the log-likelihood is divided.
    linear : Linear, optional
        Coefficients to find beside them. They are not moved here.
    """

    m: int
    mean: FloatArray
    counts: FloatArray
    mu: FloatArray
    dispersion: float
    linear: Linear | None


class RandomEffectsSolver:
    """Effects of the members of a fit.

    Parameters
    ----------
    terms : sequence of Term
        The effects, at least one, of the same N rows.
    modes : tuple of str
    n_members : int
        M.
    seed : int
    local_error : float
        Standard deviation of the errors of log p where it is known.

    Attributes
    ----------
    shares : bool
        Whether an effect was orthogonal to attributes and is no more.

    Notes
    -----
    An effect on detection is found as its effect r on counts with a known p, λ being what the
    counts of the tensor say it is with p of the attributes. That is the error of the known p less
    the effect q on log p. Both are normal, so that of r q takes the share -Var q / (Var q + Var
    error), the same for all such effects, and is uncertain by what the errors leave open. Var r
    is estimated from as many values as the counts determine, the variance of the error is stated;
    the share is its posterior mean, given a prior for Var q.
    """

    def __init__(
        self,
        terms: Sequence[Term],
        modes: tuple[str, ...],
        n_members: int,
        seed: int,
        local_error: float = 0.0,
    ) -> None:
        self._terms, self._modes, self._local_error = terms, modes, local_error
        self._n, self.shares = len(terms[0].where), False
        bounds = np.cumsum([0, *(math.prod(term.inner) for term in self._terms)])
        self._parts = [slice(a, b) for a, b in pairwise(bounds)]
        self.blocks, self.n_products, self._beside = Blocks(self._terms), _RENEW_BLOCKS, 0
        self._levels, self._where = _shared_levels(self._terms)
        self.n_levels = max(levels.stop for levels in self._levels)
        self.values = np.zeros((n_members, bounds[-1]))
        self._deviation = np.full((n_members, len(self._terms)), _START)
        self._shift = [[np.zeros(term.shape) for term in self._terms] for _ in range(n_members)]
        self._determined = np.zeros((n_members, len(self._terms)))
        self._solved = [np.empty((_PROBES, 0)) for _ in range(n_members)]  # for the last probes
        self._bound: list[NDArray[np.bool_] | None] = [None] * n_members  # in the last step
        self._lookups: tuple[IndexArray, Lookups] | None = None
        self._alone = no_coefficients(self._n)
        self._seed, self._rng = seed, np.random.default_rng([seed, 11])
        self.logs = np.zeros((self._n, n_members))
        self._moved, self._pace = np.zeros((n_members, self._n)), np.ones(n_members)

    def resume(self, earlier: ModeEffects, mean: FloatArray) -> None:
        """Begin all members at the same effects of an earlier fit.

        Parameters
        ----------
        earlier : ModeEffects
        mean : ndarray, shape (N, M)
            Expected counts without these effects.
        """
        of_detection = [term.effect.detection for term in self._terms]
        found = float(np.square(earlier.deviations)[of_detection].sum())
        share = max(found, _LEAST**2) / (max(found, _LEAST**2) + self._local_error**2)
        pairs = zip(self._terms, earlier.tables, earlier.deviations, strict=True)
        for i, (term, table, deviation) in enumerate(pairs):
            # Of effects on detection a fit has a share alone.
            power, sign = (0.5, -1) if term.effect.detection else (0.0, 1)
            own = max(deviation, _LEAST) / share**power
            self._deviation[:, i] = own
            self.values[:, self._parts[i]] = (
                sign * term.values_of(table) / (share ** (2 * power) * own)
            )
        for m in range(len(self.values)):
            self._settle(m, mean[:, m])

    def pick(self, chosen: Iterable[int]) -> None:
        """Keep only these members, in this order."""
        chosen = [int(m) for m in chosen]
        self.values, self._deviation = self.values[chosen], self._deviation[chosen]
        self._determined, self.logs = self._determined[chosen], self.logs[:, chosen]
        self._shift = [self._shift[m] for m in chosen]
        self._moved, self._pace = self._moved[chosen], self._pace[chosen]
        self._solved = [self._solved[m] for m in chosen]
        self._bound = [self._bound[m] for m in chosen]

    def drop_orthogonality(self) -> bool:
        """From now on, let effects share with attributes what both explain.

        Returns
        -------
        bool
            Whether an effect was orthogonal to attributes until now; else nothing changes.
        """
        found = any(term.covariate_basis is not None for term in self._terms)
        self.shares |= found
        for term in self._terms:
            term.covariate_basis = None
        self.blocks.forget_constraints()
        self.n_products = _RENEW_BLOCKS
        return found

    def n_free(self, m: int) -> float:
        """How many values the counts determine."""
        return float(self._determined[m].sum())

    def step(
        self, given: Given, *, seen: NDArray[np.bool_] | None = None, deviations: bool = False
    ) -> FloatArray:
        """Move the effects of a member towards their posterior mode, their common level left free.

        Parameters
        ----------
        given : Given
        seen : ndarray of bool, shape (N,), optional
            Rows to learn from. None: all.
        deviations : bool
            Also renew σ of each effect.

        Returns
        -------
        ndarray, shape (Q,)
            The step of the coefficients.
        """
        m, mean, counts, mu, dispersion, linear = given
        expected = mean * np.exp(self.logs[:, m])
        less = 1 / (1 + expected / mu) / dispersion
        if seen is not None:
            less = less * seen
        weights = expected * less
        level = float((counts * less).sum()) / max(float(weights.sum()), 1e-30)
        system = self._system(m, weights * level, linear)
        rest = (counts - level * expected) * less
        uphill = system.back(rest[None])[0] - system.pull()
        bound = self._bound[m]
        if bound is not None and len(bound) != len(uphill):
            bound = None
        precision = _PRECISION_OF_STEP[seen is None]
        change, self._bound[m] = system.within_bounds(uphill, bound, precision)
        moved, last = system.forward(change[None])[0], self._moved[m]
        # Steps that undo most of the last one would do so without end, and are halved.
        again = moved @ last < -_BACK * (last @ last)
        self._pace[m] = self._pace[m] / 2 if again else min(self._pace[m] * _FASTER, 1.0)
        share = min(self._pace[m], _FARTHEST / max(float(np.abs(moved).max(initial=0.0)), 1e-30))
        change *= share
        self._moved[m] = share * moved
        own = self.values.shape[1]
        self.values[m] += change[:own]
        if deviations:
            self._renew(m, system)
        self._settle(m, mean)
        return change[own:]

    def draw(self, given: Given, size: int) -> tuple[list[FloatArray], FloatArray, FloatArray]:
        """Draw how far effects of a member, and coefficients beside them, may be off.

        Each draw solves the system of a step for noise in counts and priors, and so has the
        covariance of their joint posterior.

        Parameters
        ----------
        given : Given
            Whose counts do not matter.
        size : int
            R at least; more are drawn of a small table.

        Returns
        -------
        list of ndarray, shape (levels, R)
            Of each effect; on reporting, of the first observation process.
        ndarray, shape (Q, R)
            Of the coefficients.
        ndarray, shape (R,)
            Of the level of all counts, which makes up for what these change of it.
        """
        m, mean, _, mu, dispersion, linear = given
        expected = mean * np.exp(self.logs[:, m])
        weights = expected / (1 + expected / mu) / dispersion
        self.n_products = _RENEW_BLOCKS  # blocks of these weights
        system = self._system(m, weights, linear)
        system.couple()
        size = max(size, _DRAWN_IF_SMALL) if system.is_small else size
        parts = np.diff([*range(0, size, _DRAWN_AT_ONCE), size])
        found = [system.draw(self._rng, part) for part in parts]
        drawn, level = (np.concatenate(each) for each in zip(*found, strict=True))
        tables, share = [], self._share_of_detection(m)
        for deviation, term, part in zip(self._deviation[m], self._terms, self._parts, strict=True):
            table = deviation * term.spread(drawn[:, part]).T[: term.first_process()]
            if term.effect.detection:
                noise = self._rng.standard_normal((part.stop - part.start, size)).T
                open_part = deviation * math.sqrt(share * (1 - share))
                if (term.where == term.size).all():  # no count says anything of it
                    of_detection = [each.effect.detection for each in self._terms]
                    open_part = _DEPARTURE / math.sqrt(sum(of_detection))
                table = open_part * term.spread(noise).T - share * table
            tables.append(table)
        return tables, drawn[:, self.values.shape[1] :].T, level

    def left_out(self, given: Given) -> tuple[FloatArray, FloatArray] | None:
        """What each count is expected to be by all others, from one dense system of a small table.

        Returns
        -------
        ndarray, shape (N,)
            Expected counts.
        ndarray, shape (N,)
            Their variances, relative to their squares. None for both: the table is large.
        """
        m, mean, counts, mu, dispersion, linear = given
        expected = mean * np.exp(self.logs[:, m])
        less = 1 / (1 + expected / mu) / dispersion
        expected *= float((counts * less).sum()) / max(float((expected * less).sum()), 1e-30)
        system = self._system(m, expected * less, linear)
        if not system.is_small:
            return None
        variance = system.variance()
        variance /= np.maximum(1 - expected * less * variance, _LEAST_LEFT)
        change = np.clip(0.5 * variance - variance * (counts - expected) * less, -3.0, 3.0)
        return expected * np.exp(change), np.expm1(np.minimum(variance, 3.0))

    def _share_of_detection(self, m: int) -> float:
        """Share of the effects on counts with a known p that is due to p of the others."""
        chosen = [term.effect.detection for term in self._terms]
        found = np.square(self._deviation[m, chosen]).sum()
        away = np.linspace(-3, 3, 61)
        of_p = (_DEPARTURE * np.exp(_DEPARTURE_OPEN * away)) ** 2
        total = of_p + self._local_error**2
        n = self._determined[m, chosen].sum()
        log_weight = -0.5 * (n * (np.log(total) + found / total) + away**2)
        weight = np.exp(log_weight - log_weight.max())
        return min(float(weight @ (of_p / total) / weight.sum()), 1.0)

    def _system(self, m: int, weights: FloatArray, linear: Linear | None) -> System:
        """Second derivatives for weights (N,) of the rows, with the blocks that precondition it."""
        linear = linear or self._alone
        beside = len(linear.gap)
        if self.n_products >= _RENEW_BLOCKS or beside != self._beside:
            self.n_products, self._beside = 0, beside
            self.blocks.renew(weights, linear, self.deviation_of_values(m))
        return System(self, m, weights, linear)

    def member(self, m: int) -> ModeEffects:
        """Effects of member m as a fit keeps them."""
        detection = np.array([term.effect.detection for term in self._terms], dtype=bool)
        share = self._share_of_detection(m)
        times = np.where(detection, -share, 1.0)
        deviations = self._deviation[m] * np.where(detection, math.sqrt(share), 1.0)
        return ModeEffects(
            modes=self._modes,
            effects=tuple(term.effect for term in self._terms),
            groups=tuple(tuple(term.groups) for term in self._terms),
            tables=tuple(a * field for a, field in zip(times, self._fields(m), strict=True)),
            deviations=tuple(deviations.tolist()),
        )

    def _fields(self, m: int) -> list[FloatArray]:
        found = []
        for i, (term, part) in enumerate(zip(self._terms, self._parts, strict=True)):
            values = self._deviation[m, i] * term.spread(self.values[m : m + 1, part])
            found.append(values.reshape(term.shape) - self._shift[m][i])
        return found

    def _settle(self, m: int, mean: FloatArray) -> None:
        """Sum up what rows have, reporting such that it changes no total of expected counts.

        All effects on reporting together keep, at each level of an effect but its last group, the
        sum over rows: of each they are the mean, 1 each, of a product would be another.
        """
        self._shift[m] = [np.zeros(1) for _ in self._terms]
        fields = list(zip(self._terms, self._fields(m), strict=True))
        logs, reporting = np.zeros(self._n), np.zeros(self._n)
        for term, field in fields:
            if not term.effect.reporting:
                logs += np.append(field, 0.0)[term.where]
        expected = mean * np.exp(logs)
        for i, (term, field) in enumerate(fields):
            if term.effect.reporting:
                reporting += np.append(field, 0.0)[term.where]
                level, size = term.where // term.shape[-1], term.size // term.shape[-1] + 1
                total = np.bincount(level, expected, size)
                reported = np.bincount(level, expected * np.exp(reporting), size)
                shift = np.log(np.where(total > 0, reported, 1.0) / np.where(total > 0, total, 1.0))
                shift[-1] = 0.0  # of rows that the effect says nothing of
                self._shift[m][i] = shift[:-1].reshape(*term.shape[:-1], 1)
                reporting -= shift[level]
        self.logs[:, m] = logs + reporting

    def deviation_of_values(self, m: int) -> FloatArray:
        """Return σ of the effect of each value of member m; (n,)."""
        sizes = [part.stop - part.start for part in self._parts]
        return np.repeat(self._deviation[m], sizes)

    def lookups(self, linear: Linear) -> Lookups:
        """Return what each row looks up of the effects and coefficients."""
        if self._lookups is None or self._lookups[0] is not linear.codes:
            columns = [*self._where.T, *(linear.codes.T + self.n_levels + 1)]
            own = Lookups.of(columns, linear.sloped + self.n_levels + 1)
            self._lookups = linear.codes, own
        return self._lookups[1]

    def fields(self, m: int, t: FloatArray) -> FloatArray:
        """Effects of member m that some t (C, n) stand for, at all levels; (C, levels + 1).

        Effects that share levels are added; the last column is 0.
        """
        fields = np.zeros((len(t), self.n_levels + 1))
        for i, (term, part) in enumerate(zip(self._terms, self._parts, strict=True)):
            fields[:, self._levels[i]] += self._deviation[m, i] * term.spread(t[:, part])
        return fields

    def of_fields(self, m: int, sums: FloatArray) -> FloatArray:
        """The transpose of :meth:`fields`; (C, n)."""
        out = np.empty((len(sums), self.values.shape[1]))
        for i, (term, part) in enumerate(zip(self._terms, self._parts, strict=True)):
            out[:, part] = self._deviation[m, i] * term.gather(sums[:, self._levels[i]])
        return out

    def _renew(self, m: int, system: System) -> None:
        """σ of each effect from its sum of squares and the values that counts determine."""
        if system.is_small:
            products = system.diagonal()
        else:
            # The same ones each time, so that σ converges instead of following their noise.
            chance = np.random.default_rng((self._seed, 12))
            probes = np.ascontiguousarray(chance.choice([-1.0, 1.0], (system.size, _PROBES)).T)
            before = self._solved[m]
            start = before * system.free if before.shape == probes.shape else None
            self._solved[m] = system.solve(probes, start=start)
            products = (probes * self._solved[m]).mean(axis=0)
        for i, part in enumerate(self._parts):
            undetermined = float(products[part].sum())
            size = part.stop - part.start
            determined = min(max(size - undetermined, 1.0), float(size))
            ratio = float(self.values[m, part] @ self.values[m, part]) / determined
            old = self._deviation[m, i]
            most = MOST_OF_REPORTING if self._terms[i].effect.reporting else _MOST
            # An effect of which counts determine next to nothing falls faster than by a root, else
            # it takes dozens of rounds to vanish.
            share = max(determined / size, _LEAST_SHARE)
            power = 0.5 * max(_VANISHING / share, 1.0) if ratio < 1 else 0.5
            new = min(max(old * max(ratio**power, _LEAST_CHANGE), _LEAST), most)
            self._deviation[m, i] = new
            self.values[m, part] *= old / new
            self._determined[m, i] = determined


class System:
    """Second derivatives of a step: effects of one member, and coefficients beside them.

    The whole matrix is never formed: systems are solved by conjugate gradients, several right sides
    at once, preconditioned by exact blocks; bounds by an active set.
    """

    def __init__(
        self, effects: RandomEffectsSolver, m: int, weights: FloatArray, linear: Linear
    ) -> None:
        self._effects, self._m, self._weights, self._linear = effects, m, weights, linear
        self._lookups = effects.lookups(linear)
        self._own = effects.values.shape[1]
        self.size = self._own + len(linear.gap)
        own = np.ones(self._own)
        self._prior = np.concatenate([own, linear.precision])
        self._lowest = np.concatenate([-np.inf * own, linear.lowest])
        self._moves = np.concatenate([own > 0, linear.moves])
        self.free = self._moves & (self._lowest < 0)
        self._sum = max(float(weights.sum()), 1e-30)
        self._core: tuple[IntArray, Float32Array, Root] | None = None

    def couple(self) -> None:
        """Precondition also by what couples smooth effects and coefficients to all others.

        Without it few iterations leave their deviations, and those of single places, too small: of
        real COVID-19 by a third for days and by 8 times for weekends. It takes as long as several
        steps, so these do without.
        """
        blocks = self._effects.blocks
        blocks.free(self._linear.precision, self.free)
        deviation = self._effects.deviation_of_values(self._m)
        found = blocks.couple(self._weights, self._linear, deviation, _MOST_COUPLED)
        if found is not None:
            at, divided, system = found
            with suppress(np.linalg.LinAlgError):  # by rounding, where counts say next to nothing
                self._core = at, divided, cholesky(system + np.diag(self._prior[at]))

    def forward(self, x: FloatArray) -> FloatArray:
        """Changes of the logarithms of expected counts, for each of some x (C, n); (C, N)."""
        fields = self._effects.fields(self._m, x[:, : self._own])
        tables = np.concatenate([fields, self._linear.bins(x[:, self._own :])], axis=1)
        return self._lookups.sums(tables, self._linear.slope)

    def back(self, values: FloatArray) -> FloatArray:
        """The transpose of :meth:`forward`, of values (C, N); (C, n)."""
        n_levels, linear = self._effects.n_levels + 1, self._linear
        tables = self._lookups.spread(values, n_levels + linear.n_bins, linear.slope)
        of_effects = self._effects.of_fields(self._m, tables[:, :n_levels])
        return np.concatenate([of_effects, linear.of_bins(tables[:, n_levels:])], axis=1)

    def variance(self) -> FloatArray:
        """Variances of the logarithms of expected counts, their level included; (N,)."""
        design, inverse = self._dense()
        return np.asarray(1 / self._sum + np.einsum("qn,qn->n", design, inverse @ design))

    def diagonal(self) -> FloatArray:
        """Diagonal of the inverse, 0 for what may not change; (n,)."""
        found = np.zeros(self.size)
        found[self.free] = self._dense()[1].diagonal()
        return found

    @property
    def is_small(self) -> bool:
        """Whether a dense system takes next to no time."""
        return bool(len(self._weights) * self.size**2 <= _MOST_DENSE)

    def _dense(self) -> tuple[FloatArray, FloatArray]:
        """Of what may change: logarithms of expected counts (F, N), and the inverse (F, F)."""
        chosen = np.flatnonzero(self.free)
        design = self.forward(np.eye(self.size)[chosen])
        design -= (design @ self._weights)[:, None] / self._sum
        matrix = (design * self._weights) @ design.T + np.diag(self._prior[chosen])
        return design, np.asarray(np.linalg.inv(matrix), dtype=np.float64)

    def pull(self) -> FloatArray:
        """Slope of the prior."""
        linear = self._linear
        return np.concatenate([self._effects.values[self._m], linear.precision * linear.gap])

    def within_bounds(
        self, uphill: FloatArray, bound: NDArray[np.bool_] | None, precision: float
    ) -> tuple[FloatArray, NDArray[np.bool_]]:
        """Highest point of the quadratic approximation that no bound forbids; (n,).

        Coefficients that would cross their bound are set to it, and those leave it that the slope
        pulls away from it, until neither happens (a primal-dual active set). `bound` are those that
        stayed there in the last step, None without one; the new ones are returned, too.
        """
        active = (self._lowest >= 0) & self._moves & (uphill <= 0 if bound is None else bound)
        x, rest = np.zeros((1, len(uphill))), uphill[None].copy()
        for _ in range(_ACTIVE_SETS):
            self.free = self._moves & ~active
            self._descend(x, rest, uphill[None], precision)
            changed = self._moves & np.where(active, rest[0] <= 0, x[0] < self._lowest)
            if (changed == active).all():
                break
            moved = np.where(changed, self._lowest - x[0], 0.0)[None]
            if moved.any():
                x += moved
                rest -= self._times(moved)
            active = changed
        return np.where(self._moves, np.maximum(x[0], self._lowest), 0.0), active

    def solve(
        self, right: FloatArray, precision: float = _PRECISION, start: FloatArray | None = None
    ) -> FloatArray:
        """Solve for what may change, the level of all counts left free; the rest is 0.

        Parameters
        ----------
        right : ndarray, shape (C, n)
        precision : float
            Error, relative to a start at 0.
        start : ndarray, shape (C, n), optional
            None: 0.

        Returns
        -------
        ndarray, shape (C, n)
        """
        x = np.zeros_like(right) if start is None else np.where(self.free, start, 0.0)
        rest = right - self._times(x) if x.any() else right.copy()
        self._descend(x, rest, right, precision)
        return x

    def _descend(
        self, x: FloatArray, rest: FloatArray, right: FloatArray, precision: float
    ) -> None:
        """Solve by conjugate gradients for what is free, from x; `rest` is right - H·x, of all."""
        self._effects.blocks.free(self._linear.precision, self.free)
        scaled = self._divided(right)  # 0 for what is not free
        enough = precision**2 * np.einsum("cn,cn->c", right, scaled)
        if x.any():
            scaled = self._divided(rest)
        size = np.einsum("cn,cn->c", rest, scaled)
        direction = scaled
        for _ in range(_STEPS):
            if not (size > enough).any():
                break
            product = self._times(direction)
            curved = np.einsum("cn,cn->c", direction, product)
            length = np.where(size > enough, size / np.maximum(curved, 1e-300), 0.0)[:, None]
            x += length * direction
            rest -= length * product
            scaled = self._divided(rest)
            before, size = size, np.einsum("cn,cn->c", rest, scaled)
            further = np.where(length[:, 0] > 0, size / np.maximum(before, 1e-300), 0.0)
            direction = scaled + further[:, None] * direction

    def draw(self, rng: np.random.Generator, size: int) -> tuple[FloatArray, FloatArray]:
        """Draw from the normal distribution that has this matrix for its precision.

        Returns draws (size, n) and the level of all counts, left free, that goes with each (size,).
        """
        noise = np.sqrt(self._weights) * rng.standard_normal((len(self._weights), size)).T
        noise -= noise.sum(axis=1)[:, None] / self._sum * self._weights
        prior = rng.standard_normal((self.size, size)).T * np.sqrt(self._prior)
        drawn = self.solve(self.back(noise) + prior, _PRECISION_OF_DRAW)
        return drawn, -(self.forward(drawn) @ self._weights) / self._sum

    def _divided(self, right: FloatArray) -> FloatArray:
        """Right sides (C, n) divided by the blocks, and by what couples them if that was taken."""
        out = self._effects.blocks.solve(right)
        if self._core is not None:
            at, divided, root = self._core
            found = cho_solve(root, (right[:, at] - right.astype(np.float32) @ divided).T).T
            out -= found.astype(np.float32) @ divided.T
            out[:, at] = found
        return out

    def _times(self, x: FloatArray) -> FloatArray:
        self._effects.n_products += len(x)
        moved = self.forward(x)
        moved -= (moved @ self._weights)[:, None] / self._sum  # the level of all counts is free
        product: FloatArray = self._prior * x + self.back(moved * self._weights)
        return product


def _shared_levels(terms: Sequence[Term]) -> tuple[list[slice], IndexArray]:
    """Where the levels of each effect are among all, and those of each row; (N, distinct).

    Effects of the same groups, smooth or not, share their levels.
    """
    distinct: list[tuple[Term, slice]] = []
    levels = []
    for term in terms:
        alike = (
            own
            for other, own in distinct
            if term.size == other.size and np.array_equal(term.where, other.where)
        )
        first = distinct[-1][1].stop if distinct else 0
        own = next(alike, slice(first, first + term.size))
        if own.start == first:
            distinct.append((term, own))
        levels.append(own)
    last = distinct[-1][1].stop if distinct else 0
    where = [
        np.where(term.where < term.size, term.where + own.start, last) for term, own in distinct
    ]
    return levels, np.stack(where, axis=1).astype(np.int32)
