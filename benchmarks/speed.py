"""Seconds of the joint solver to a goal, to a first estimate and to the end, beside the paper's.

    python -m benchmarks.speed

The joint solver, with one member and with five, and block coordinate descent are watched until
their errors are those of a goal, and on to their end. Fits of real counts, and fits that start
from others, are those of :mod:`benchmarks.recommended`.
"""

import argparse
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks._problem import Problem
from benchmarks.accuracy import BCD_ITERATIONS, SEEDS
from benchmarks.problems import PROBLEMS
from benchmarks.report import grid, machine, publish
from uncletc import ConvergenceWarning, Fit, FitSettings, Iteration, fit, simulate
from uncletc.compare.metrics import mae_rate, rrmse

PROBLEM = "covid-uniform"
GOAL_RATE, GOAL_RRMSE = 0.069, 0.455  # MAE_λ, and rRMSE of held-out counts, of 99 iterations of BCD
SOLVERS: dict[str, dict[str, Any]] = {
    "joint, 1 member": {},
    "joint, 5 members": {"members": 5},
    "block coordinate descent": {"solver": "bcd", "max_iter": BCD_ITERATIONS},
}


class Seen(NamedTuple):
    """Errors of the estimates at one iteration; seconds of the processor until then."""

    iteration: int
    seconds: float
    rate: float
    rrmse: float


def watch(problem: Problem, settings: FitSettings) -> list[Seen]:
    """Fit, and judge on the way; the last one is of the fit as it ended.

    Judged are the first 5 iterations, then every other one, later every 8th, and their seconds
    do not count.
    """
    seen, spent, began = list[Seen](), 0.0, time.process_time()

    def judge(found: Fit, iteration: int, seconds: float) -> None:
        held = problem.indices(problem.held), problem.attributes(problem.held)
        rate = mae_rate(found.rate_tensor(), problem.truth.rate)
        of_held = rrmse(problem.held_counts, found.expected(*held))
        seen.append(Seen(iteration, seconds, rate, of_held))

    def process(now: Iteration[Fit]) -> bool:
        nonlocal spent
        i = now.iteration
        if 0 < i <= 5 or i % (2 if i < 60 else 8) == 0 < i:
            start = time.process_time()
            found = now.current()
            before = time.process_time() - began - spent
            judge(found, i, before)
            spent += time.process_time() - start
        return False

    with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):
        found = fit(problem.counts, settings, callback=process)
    judge(found, found.history[-1].iteration, time.process_time() - began - spent)
    return seen


def row(name: str, problems: Sequence[Problem], watched: Sequence[Sequence[Seen]]) -> list[str]:
    """Return what a solver reached, and when, over seeds."""
    goals = [
        next((s for s in seen if s.rate <= GOAL_RATE and s.rrmse <= GOAL_RRMSE), None)
        for seen in watched
    ]
    firsts = [
        next((s for s in seen if s.rate < problem.constant), None)
        for problem, seen in zip(problems, watched, strict=True)
    ]
    ends = [seen[-1] for seen in watched]
    got = [seen for seen in goals if seen is not None]
    return [
        name,
        _range(goals) + (f" ({np.median([s.iteration for s in got]):.0f})" if got else ""),
        f"{len(got)} of {len(goals)}",
        _range(ends),
        f"{np.median([s.iteration for s in ends]):.0f}",
        f"{np.mean([s.rate for s in ends]):.3f}, at most {max(s.rate for s in ends):.3f}",
        f"{np.mean([s.rrmse for s in ends]):.3f}",
        _range(firsts),
    ]


def _range(seen: Sequence[Seen | None]) -> str:
    """Median (least to most) of seconds, if they are there on every seed."""
    values = [one.seconds for one in seen if one is not None]
    if len(values) < len(seen):
        return "–"
    return f"{np.median(values):.2f} ({min(values):.2f}–{max(values):.2f})"


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line, measure, print and optionally write the report."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.speed", description=__doc__)
    parser.add_argument("--seeds", nargs="+", type=int, default=SEEDS)
    parser.add_argument("--write", type=Path, metavar="FILE", help="write the report here too")
    chosen = parser.parse_args(arguments)
    # So that nothing is loaded or compiled below.
    fit(simulate()[0], FitSettings(rank=2, max_iter=15), callback=lambda i: i.iteration == 14)
    problems = [PROBLEMS[PROBLEM].make(seed) for seed in chosen.seeds]
    rows = []
    for name, values in SOLVERS.items():
        watched = [
            watch(problem, FitSettings(rank=problem.rank, seed=seed, **values))
            for problem, seed in zip(problems, chosen.seeds, strict=True)
        ]
        rows.append(row(name, problems, watched))
    header = ["solver", "seconds to the goal (iteration)", "reached on", "seconds to the end"]
    header += ["iterations", "MAE_λ", "rRMSE", "first estimate better than a constant"]
    note = (
        f"`{PROBLEM}`: {PROBLEMS[PROBLEM].about}. Seeds {', '.join(map(str, chosen.seeds))} of the "
        f"data and of the fit. Goal: MAE_λ at most {GOAL_RATE} and rRMSE of the held-out counts at "
        f"most {GOAL_RRMSE}; a constant rate has MAE_λ "
        f"{np.mean([problem.constant for problem in problems]):.3f}. Seconds of the processor, one "
        "thread, median (least–most); judging is left out. Code compiled on first use was compiled "
        "before."
    )
    publish("\n\n".join(["# Speed", machine(), note, grid(header, rows)]), chosen.write)


if __name__ == "__main__":
    main()
