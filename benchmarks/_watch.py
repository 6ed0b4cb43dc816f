"""A fit watched from its callback: how good it is by when, the time of judging left out."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from benchmarks._problem import Problem
from uncletc import ConvergenceWarning, Fit, FitSettings, Iteration, fit
from uncletc.compare.metrics import mae_rate, poisson_deviance, rrmse

LEAST = 1e-3  # predicted count, so that one 0 does not make a deviance infinite


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
    """A fit of a problem, judged on the way; `wanted` says at which iterations.

    Attributes
    ----------
    seen : list of Seen
        In order. The last one is of the fit as it ended.
    """

    problem: Problem
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
            found = fit(
                self.problem.counts, self.settings, start=self.start, callback=self._process
            )
        self.seen.append(self._judge(found, found.history[-1].iteration, _now()))
        return found

    def _process(self, now: Iteration) -> bool:
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
        problem = self.problem
        clock, processor = now - self._began - self._spent
        held = problem.indices(problem.held), problem.attributes(problem.held)
        expected = np.maximum(found.expected(*held), LEAST)
        return Seen(
            iteration=iteration,
            clock=float(clock),
            processor=float(processor),
            rate=mae_rate(found.rate_tensor(), problem.truth.rate),
            rrmse=rrmse(problem.held_counts, expected),
            deviance=poisson_deviance(problem.held_counts, expected),
        )


def _now() -> np.ndarray:
    return np.array([time.perf_counter(), time.process_time()])
