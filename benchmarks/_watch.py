"""A fit watched from its callback: how good it is by when, the time of judging left out."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from uncletc import ConvergenceWarning, CountTensor, Fit, FitSettings, Iteration, Truth, fit
from uncletc.metrics import mae_rate, poisson_deviance, rrmse

HELD = 8000  # entries outside Ω that predictions are judged on
LEAST = 1e-3  # predicted count, so that one 0 does not make a deviance infinite


@dataclass(frozen=True, eq=False)
class Case:
    """Counts with their truth, and counts of other entries that no fit sees."""

    counts: CountTensor
    truth: Truth
    held_indices: np.ndarray
    held_attributes: np.ndarray
    held_counts: np.ndarray

    @classmethod
    def of(cls, counts: CountTensor, truth: Truth, seed: int = 0) -> Case:
        """Draw counts of some entries that are not observed."""
        rng = np.random.default_rng(seed)
        n = int(np.prod(counts.shape))
        observed = np.ravel_multi_index(tuple(counts.indices.T), counts.shape)
        held = rng.choice(np.setdiff1d(np.arange(n), observed), HELD, replace=False)
        return cls(
            counts=counts,
            truth=truth,
            held_indices=np.column_stack(np.unravel_index(held, counts.shape)),
            held_attributes=truth.attributes.reshape(n, -1)[held],
            held_counts=rng.poisson((truth.rate * truth.detection).ravel()[held]),
        )

    @property
    def constant(self) -> float:
        """MAE_λ of one rate for all entries."""
        return mae_rate(np.ones_like(self.truth.rate), self.truth.rate)


@dataclass(frozen=True)
class Seen:
    """The estimates at one iteration; seconds on the clock and of the processor.

    Attributes
    ----------
    clock, processor : float
        From the start of the fit until these estimates were at hand as a fit.
    """

    iteration: int
    clock: float
    processor: float
    rate: float
    rrmse: float
    deviance: float


@dataclass(eq=False)
class Watch:
    """A fit of a case, judged on the way; `wanted` says at which iterations.

    Attributes
    ----------
    seen : list of Seen
        In order. The last one is of the fit as it ended.
    """

    case: Case
    settings: FitSettings
    stop: Callable[[Seen], bool] = lambda _: False
    wanted: Callable[[int], bool] = lambda _: False
    start: Fit | None = None
    seen: list[Seen] = field(default_factory=list)

    def run(self) -> Fit:
        """Fit until the end, or until `stop` is true of what is seen."""
        self._spent = np.zeros(2)
        self._began = _now()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            found = fit(self.case.counts, self.settings, start=self.start, callback=self._look)
        self.seen.append(self._judge(found, found.history[-1].iteration, _now()))
        return found

    def _look(self, now: Iteration) -> bool:
        if not self.wanted(now.iteration):
            return False
        began = _now()
        found = now.current()
        seen = self._judge(found, now.iteration, _now())
        self.seen.append(seen)
        stop = self.stop(seen)
        self._spent += _now() - began
        return stop

    def _judge(self, found: Fit, iteration: int, now: np.ndarray) -> Seen:
        case = self.case
        clock, processor = now - self._began - self._spent
        expected = np.maximum(found.expected(case.held_indices, case.held_attributes), LEAST)
        return Seen(
            iteration=iteration,
            clock=float(clock),
            processor=float(processor),
            rate=mae_rate(found.rate_tensor(), case.truth.rate),
            rrmse=rrmse(case.held_counts, expected),
            deviance=poisson_deviance(case.held_counts, expected),
        )


def _now() -> np.ndarray:
    return np.array([time.perf_counter(), time.process_time()])
