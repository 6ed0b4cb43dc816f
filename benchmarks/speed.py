"""Seconds to a goal, to a first estimate and to the end, beside yardsticks; and of warm starts.

    python -m benchmarks.speed

The joint solver is watched until its errors are those of a goal and on to its end, block
coordinate descent and pyttb's masked Poisson GCP (a rate without detection) beside it. pyttb comes
with the extra "benchmark".
"""

from __future__ import annotations

import argparse
import logging
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from benchmarks._problem import Problem
from benchmarks.accuracy import BCD_ITERATIONS
from benchmarks.problems import PROBLEMS
from benchmarks.report import grid as table
from benchmarks.report import machine, publish
from uncletc import ConvergenceWarning, Fit, FitSettings, Iteration, fit, simulate
from uncletc.compare.metrics import mae_rate, poisson_deviance, rrmse

PROBLEM = "covid-uniform"
GOAL_RATE, GOAL_RRMSE = 0.069, 0.455  # MAE_λ, and rRMSE of held-out counts, of 99 iterations of BCD
LEAST = 1e-3  # predicted count, so that one 0 does not make a deviance infinite
CLOSE = 1.02  # held-out deviance of a warm start, over that of the cold fit


@dataclass(frozen=True)
class Seen:
    """The estimates at one iteration; seconds on the clock and of the processor.

    Attributes
    ----------
    clock, processor : float
        From the start of the fit until these estimates were a fit.
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


def reached(seen: Seen) -> bool:
    """Say whether the goal is reached."""
    return seen.rate <= GOAL_RATE and seen.rrmse <= GOAL_RRMSE


def often(iteration: int) -> bool:
    """Say whether to judge this iteration: the first 5, then every other one, later every 8th."""
    return 0 < iteration <= 5 or iteration % (2 if iteration < 60 else 8) == 0 < iteration


def towards_goal(problems: Sequence[Problem], seeds: Sequence[int]) -> str:
    """Watch every solver on its way to the goal, and to its end; a table."""
    rank = problems[0].rank
    kinds = {
        "joint, 1 member": {"rank": rank},
        "joint, 5 members": {"rank": rank, "members": 5},
        "block coordinate descent": {"rank": rank, "solver": "bcd", "max_iter": BCD_ITERATIONS},
    }
    rows = []
    for name, values in kinds.items():
        watches = []
        for problem, seed in zip(problems, seeds, strict=True):
            watch = Watch(problem, FitSettings(**values, seed=seed), wanted=often)
            watch.run()
            watches.append(watch)
        rows.append([name, *_on_the_way(watches)])
    header = ["solver", "seconds to the goal (iteration)", "reached on", "seconds to the end"]
    header += ["iterations", "MAE_λ", "rRMSE", "first estimate better than a constant", "round 3"]
    return table(header, rows)


def _on_the_way(watches: Sequence[Watch]) -> list[str]:
    goals = [next((s for s in watch.seen if reached(s)), None) for watch in watches]
    firsts = [
        next((s for s in watch.seen if s.rate < watch.problem.constant), None) for watch in watches
    ]
    ends = [watch.seen[-1] for watch in watches]
    thirds = [next(s for s in watch.seen if s.iteration >= 3) for watch in watches]
    got = [seen for seen in goals if seen is not None]
    iteration = f" ({np.median([seen.iteration for seen in got]):.0f})" if got else ""
    return [
        _range(goals) + iteration,
        f"{len(got)} of {len(goals)}",
        _range(ends),
        f"{np.median([seen.iteration for seen in ends]):.0f}",
        f"{np.mean([seen.rate for seen in ends]):.3f}, at most {max(s.rate for s in ends):.3f}",
        f"{np.mean([seen.rrmse for seen in ends]):.3f}",
        _range(firsts),
        _range(thirds),
    ]


def _range(seen: Sequence[Seen | None]) -> str:
    """Median (least to most) of processor seconds, if they are there on every seed."""
    values = [one.processor for one in seen if one is not None]
    if len(values) < len(seen):
        return "–"
    return f"{np.median(values):.2f} ({min(values):.2f}–{max(values):.2f})"


def warm_starts(problem: Problem, previous: Fit, repeats: int) -> str:
    """Time fits of other settings from scratch and from a known fit; a table."""
    rank = previous.rank
    changes = {
        f"rank {rank + 1}": FitSettings(rank=rank + 1),
        f"rank {rank - 1}": FitSettings(rank=rank - 1),
        "μ 1000": FitSettings(rank=rank, mu=1000.0),
    }
    rows = []
    for name, settings in changes.items():
        cold = Watch(problem, settings, wanted=lambda i: i % 4 == 0 < i)
        cold.run()
        end = cold.seen[-1]
        enough = CLOSE * end.deviance
        alone = next(seen for seen in cold.seen if seen.deviance <= enough)
        ends = [_warm(problem, settings, previous, enough) for _ in range(repeats)]
        there = "" if ends[0].deviance <= enough else " (not reached)"
        ratio = alone.processor / float(np.median([one.processor for one in ends]))
        rows.append(
            [
                name,
                f"{end.deviance:.4f}",
                f"{end.processor:.2f}",
                f"{alone.processor:.2f} ({alone.iteration})",
                f"{_range(ends)}{there}",
                ends[0].iteration,
                f"{ratio:.1f}",
            ]
        )
    header = ["change", "deviance, cold", "seconds, cold", "cold, within 2 % (iteration)"]
    header += ["warm, within 2 %", "iterations", "cold over warm, within 2 %"]
    return table(header, rows)


def _warm(problem: Problem, settings: FitSettings, previous: Fit, enough: float) -> Seen:
    def close(seen: Seen) -> bool:
        return seen.deviance <= enough

    watch = Watch(problem, settings, stop=close, wanted=lambda i: i > 0, start=previous)
    watch.run()
    return watch.seen[-1]


def time_gcp(problem: Problem, seed: int) -> tuple[float, float]:
    """Run pyttb's masked Poisson GCP; seconds of the processor, and MAE_λ."""
    try:
        import pyttb
        from pyttb.gcp.handles import Objectives
        from pyttb.gcp.optimizers import LBFGSB
    except ImportError:
        raise SystemExit("pyttb is missing; install it with: pip install -e .[benchmark]") from None
    counts, rank = problem.counts, problem.rank
    y, mask = np.zeros(counts.shape), np.zeros(counts.shape)
    where = tuple(counts.indices.T)
    y[where], mask[where] = counts.counts, 1.0
    rng = np.random.default_rng(seed)
    level = (counts.counts.mean() / rank) ** (1 / len(counts.shape))
    factors = [2 * level * rng.uniform(size=(size, rank)) for size in counts.shape]
    logging.disable(logging.WARNING)  # it warns of every copy of a factor
    began = time.process_time()
    model, _, _ = pyttb.gcp_opt(
        pyttb.tensor(y), rank, Objectives.POISSON, LBFGSB(), factors, pyttb.tensor(mask), None, 0
    )
    seconds = time.process_time() - began
    logging.disable(logging.NOTSET)
    return seconds, mae_rate(np.asarray(model.full().data), problem.truth.rate)


def beside_gcp(problem: Problem, end: Seen, repeats: int) -> str:
    """Hold pyttb against a whole fit of the joint solver; a table."""
    runs = np.array([time_gcp(problem, seed) for seed in range(repeats)])
    seconds, rate = np.median(runs, axis=0)
    spread = f"{seconds:.2f} ({runs[:, 0].min():.2f}–{runs[:, 0].max():.2f})"
    rows = [
        ["joint, 1 member, whole fit", f"{end.processor:.2f}", f"{end.rate:.3f}"],
        ["pyttb gcp_opt, Poisson, masked, L-BFGS-B", spread, f"{rate:.3f}"],
    ]
    return table(["", "seconds", "MAE_λ"], rows)


def describe_joint(seeds: Sequence[int], repeats: int) -> str:
    """Time the joint solver, and what is compared with it."""
    warm_up = FitSettings(rank=2, max_iter=15)  # so that nothing is loaded or compiled below
    fit(simulate()[0], warm_up, callback=lambda i: i.iteration == 14)
    problems = [PROBLEMS[PROBLEM].make(seed) for seed in seeds]
    first, constant = problems[0], np.mean([problem.constant for problem in problems])
    whole = Watch(first, FitSettings(rank=first.rank))
    previous = whole.run()
    return "\n\n".join(
        [
            f"## Joint solver, `{PROBLEM}`",
            f"{PROBLEMS[PROBLEM].about}. Goal: MAE_λ at most {GOAL_RATE} and rRMSE of the held-out "
            f"counts at most {GOAL_RRMSE}; a constant rate has MAE_λ {constant:.3f}. Seconds of "
            "the processor, one thread, median (least–most); judging is left out. Code compiled "
            "on first use was compiled before.",
            "### To the goal, and to the end",
            f"Seeds {', '.join(map(str, seeds))} of the data and of the fit.",
            towards_goal(problems, seeds),
            "### Warm starts",
            warm_starts(first, previous, repeats),
            f"Seed {seeds[0]}. Until the Poisson deviance of the held-out counts is within 2 % of "
            "that of the cold fit at its end. Cold fits were looked at every 4 rounds.",
            "### Beside a decomposition without detection",
            beside_gcp(first, whole.seen[-1], repeats),
            f"Seed {seeds[0]}; pyttb from {repeats} starts. It fits λp as a low-rank rate to the "
            "observed entries of the dense tensor, by its default stopping rules.",
        ]
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line, measure, print and optionally write the report."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.speed", description=__doc__)
    parser.add_argument("--seeds", nargs="+", type=int, default=[7, 8, 11, 12, 13, 14])
    parser.add_argument("--repeats", type=int, default=3, help="of warm starts and pyttb")
    parser.add_argument("--write", type=Path, metavar="FILE", help="write the report here too")
    chosen = parser.parse_args(arguments)
    if chosen.repeats < 1:
        parser.error(f"--repeats must be at least 1, got {chosen.repeats}")
    parts = ["# Speed", machine(), describe_joint(chosen.seeds, chosen.repeats)]
    publish("\n\n".join(parts), chosen.write)


if __name__ == "__main__":
    main()
