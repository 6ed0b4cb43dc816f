"""Seconds to a goal and to a first estimate, beside yardsticks; seconds per BCD iteration.

    python -m benchmarks.speed

The joint solver is timed until its errors are those of a goal, block coordinate descent and
pyttb's masked Poisson GCP (a rate without detection) beside it. Of an iteration of block
coordinate descent one yardstick is quoted: the paper's public code, measured elsewhere. The
other runs here: the U-step alone as dense NumPy over the whole tensor, with missing entries as
zeros. pyttb comes with the extra "benchmark".
"""

from __future__ import annotations

import argparse
import logging
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks._report import machine, publish
from benchmarks._watch import Case, Seen, Watch
from uncletc import BCD, ConvergenceWarning, CountTensor, Fit, FitSettings, Truth, fit, simulate
from uncletc.metrics import mae_rate
from uncletc.paper.words import grid as table

EPOCHS = SWEEPS = 5
SKIPPED = 2  # first iterations, while caches and the allocator warm up
GOAL_RATE, GOAL_RRMSE = 0.069, 0.455  # MAE_λ, and rRMSE of held-out counts
BCD_ITERATIONS = 100  # the paper's rule
CLOSE = 1.02  # held-out deviance of a warm start, over that of the cold fit


@dataclass(frozen=True)
class Problem:
    """A simulated problem, and seconds per iteration of the public code on one like it."""

    shape: tuple[int, int, int]
    rank: int
    observed: float
    n_attributes: int
    mean_rate: float
    quoted: str

    def simulate(self) -> tuple[CountTensor, Truth]:
        """Draw the counts; every observed entry has attributes."""
        return simulate(
            self.shape,
            self.rank,
            observed=self.observed,
            attributed=self.observed,
            similar=0.0,
            n_attributes=self.n_attributes,
            factor_max=2 * (self.mean_rate / self.rank) ** (1 / len(self.shape)),
        )


PROBLEMS = {
    "COVID-sized": Problem((43, 80, 60), 15, 0.184, 24, 100.0, "42.7"),
    "the paper's simulations": Problem((20, 20, 20), 3, 0.3, 10, 3 * 7.5**3, ".69 to 1.03"),
}


class Stopwatch:
    """Laps in seconds: on the clock, and of this process's processor time."""

    def __init__(self) -> None:
        self._marks: list[tuple[float, float]] = []

    def mark(self, *_: object) -> None:
        """End a lap, and begin the next; fits as the callback of a fit."""
        self._marks.append((time.perf_counter(), time.process_time()))

    def laps(self) -> np.ndarray:
        """Return the laps but the first SKIPPED; (n, 2): clock, processor."""
        return np.diff(self._marks, axis=0)[SKIPPED:]


def time_iterations(counts: CountTensor, rank: int, iterations: int, epochs: int) -> np.ndarray:
    """Time each iteration of one fit; laps."""
    settings = FitSettings(
        rank=rank,
        solver=BCD(epochs=epochs, sweeps=SWEEPS, batch_size=1024),
        max_iter=iterations,
        tol=0.0,
    )
    watch = Stopwatch()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        fit(counts, settings, callback=watch.mark)
    return watch.laps()


def time_dense_steps(counts: CountTensor, rank: int, repeats: int) -> np.ndarray:
    """Time the plain yardstick, SWEEPS updates of each factor; laps."""
    y, p = np.zeros(counts.shape), np.zeros(counts.shape)
    where = tuple(counts.indices.T)
    y[where], p[where] = counts.counts, 1.0
    rng = np.random.default_rng(0)
    factors = [rng.uniform(size=(size, rank)) for size in counts.shape]
    watch = Stopwatch()
    watch.mark()
    for _ in range(repeats):
        for mode in range(len(factors)):
            dense_update(factors, mode, y, p)
        watch.mark()
    return watch.laps()


def dense_update(factors: list[np.ndarray], mode: int, y: np.ndarray, p: np.ndarray) -> None:
    """Multiplicative updates of one of three factors (paper, eq. 13), every entry included."""
    first, second = (factor for j, factor in enumerate(factors) if j != mode)
    others = (first[:, None, :] * second[None, :, :]).reshape(-1, first.shape[1])
    y, p = (np.moveaxis(x, mode, 0).reshape(x.shape[mode], -1) for x in (y, p))
    denominator = p @ others
    for _ in range(SWEEPS):
        numerator = (y / (factors[mode] @ others.T)) @ others
        factors[mode] = factors[mode] * numerator / denominator


def describe(name: str, problem: Problem, iterations: int) -> str:
    """Time one problem and sum it up in Markdown."""
    counts, _ = problem.simulate()
    timed = {
        "BCD iteration": time_iterations(counts, problem.rank, iterations, EPOCHS),
        "the same without the θ-step": time_iterations(counts, problem.rank, iterations, 0),
        "U-step alone, dense NumPy": time_dense_steps(counts, problem.rank, iterations),
    }
    whole = np.median(timed["BCD iteration"][:, 1])
    rows = []
    for what, laps in timed.items():
        clock = np.quantile(laps[:, 0], [0.5, 0, 1])
        processor = np.median(laps[:, 1])
        figures = [f"{seconds:.4f}" for seconds in (*clock, processor)]
        rows.append([what, *figures, f"{processor / whole:.3f}"])
    rows.append(["BCD iteration, the paper's public code (quoted)", problem.quoted, *[""] * 4])
    header = [
        "seconds",
        "median",
        "least",
        "most",
        "median of processor time",
        "ratio of the latter",
    ]
    size = " × ".join(str(n) for n in problem.shape)
    return "\n\n".join(
        [
            f"## One iteration of block coordinate descent, {name}",
            f"{size}, {counts.n_observed} entries ({counts.share_observed:.1%}) observed and "
            f"attributed, D = {problem.n_attributes}, F = {problem.rank}, mean λ about "
            f"{problem.mean_rate:.0f}",
            table(header, rows),
        ]
    )


def reached(seen: Seen) -> bool:
    """Say whether the goal is reached."""
    return seen.rate <= GOAL_RATE and seen.rrmse <= GOAL_RRMSE


def often(iteration: int) -> bool:
    """Say whether to judge this iteration: the first 5, then every other one."""
    return 0 < iteration <= 5 or iteration % 2 == 0 < iteration


def towards_goal(case: Case, rank: int, repeats: int) -> tuple[str, dict[str, float]]:
    """Time every solver until the goal; a table, and processor seconds of each."""
    kinds = {
        "joint, 1 member": FitSettings(rank=rank),
        "joint, 5 members": FitSettings(rank=rank, members=5),
        "block coordinate descent": FitSettings(rank=rank, solver="bcd", max_iter=BCD_ITERATIONS),
    }
    rows, seconds = [], {}
    for name, settings in kinds.items():
        ends, firsts, thirds = [], [], []
        for _ in range(repeats):
            watch = Watch(case, settings, stop=reached, wanted=often)
            watch.run()
            ends.append(watch.seen[-1])
            firsts.append(next((s for s in watch.seen if s.rate < case.constant), None))
            thirds.append(next(s for s in watch.seen if s.iteration == 3))
        seconds[name] = float(np.median([end.processor for end in ends]))
        first = _range(firsts) if None not in firsts else "never"
        one = firsts[0].iteration if firsts[0] is not None else "–"
        last = ends[0]
        rows.append(
            [
                name,
                _range(ends),
                f"{seconds[name]:.2f}",
                last.iteration,
                f"{last.rate:.3f}",
                f"{last.rrmse:.3f}",
                "yes" if reached(last) else "**no**",
                f"{seconds[name] / seconds['joint, 1 member']:.2f}",
                f"{first} ({one})",
                _range(thirds),
            ]
        )
    header = ["solver", "seconds to the goal", "of the processor", "iterations", "MAE_λ", "rRMSE"]
    header += ["reached", "ratio", "first estimate better than a constant (iteration)"]
    return table([*header, "iteration 3"], rows), seconds


def _range(seen: Sequence[Seen]) -> str:
    values = [one.clock for one in seen]
    return f"{np.median(values):.2f} ({min(values):.2f}–{max(values):.2f})"


def warm_starts(case: Case, previous: Fit, repeats: int) -> str:
    """Time fits of other settings from scratch and from a known fit; a table."""
    rank = previous.rank
    changes = {
        f"rank {rank + 1}": FitSettings(rank=rank + 1),
        f"rank {rank - 1}": FitSettings(rank=rank - 1),
        "μ × 2": FitSettings(rank=rank, mu=2 * FitSettings(rank=rank).mu),
    }
    rows = []
    for name, settings in changes.items():
        cold = Watch(case, settings, wanted=lambda i: i % 4 == 0 < i)
        cold.run()
        enough = CLOSE * cold.seen[-1].deviance
        alone = next(seen for seen in cold.seen if seen.deviance <= enough)
        ends = [_warm(case, settings, previous, enough) for _ in range(repeats)]
        processor = float(np.median([end.processor for end in ends]))
        there = "" if ends[0].deviance <= enough else " (not reached)"
        rows.append(
            [
                name,
                f"{cold.seen[-1].deviance:.4f}",
                f"{cold.seen[-1].clock:.2f}",
                f"{alone.clock:.2f} ({alone.iteration})",
                f"{_range(ends)}{there}",
                ends[0].iteration,
                f"{processor:.2f}",
                f"{alone.processor / processor:.1f}",
            ]
        )
    header = ["change", "deviance, cold", "seconds, cold", "cold, within 2 % (iteration)"]
    header += ["warm, within 2 %", "iterations", "of the processor"]
    return table([*header, "cold over warm, within 2 %"], rows)


def _warm(case: Case, settings: FitSettings, previous: Fit, enough: float) -> Seen:
    def close(seen: Seen) -> bool:
        return seen.deviance <= enough

    watch = Watch(case, settings, stop=close, wanted=lambda i: i > 0, start=previous)
    watch.run()
    return watch.seen[-1]


def time_gcp(case: Case, rank: int, seed: int) -> tuple[float, float, float]:
    """Run pyttb's masked Poisson GCP; seconds on the clock, of the processor, and MAE_λ."""
    try:
        import pyttb
        from pyttb.gcp.handles import Objectives
        from pyttb.gcp.optimizers import LBFGSB
    except ImportError:
        raise SystemExit("pyttb is missing; install it with: pip install -e .[benchmark]") from None
    counts = case.counts
    y, mask = np.zeros(counts.shape), np.zeros(counts.shape)
    where = tuple(counts.indices.T)
    y[where], mask[where] = counts.counts, 1.0
    rng = np.random.default_rng(seed)
    level = (counts.counts.mean() / rank) ** (1 / len(counts.shape))
    factors = [2 * level * rng.uniform(size=(size, rank)) for size in counts.shape]
    logging.disable(logging.WARNING)  # it warns of every copy of a factor
    began = time.perf_counter(), time.process_time()
    model, _, _ = pyttb.gcp_opt(
        pyttb.tensor(y), rank, Objectives.POISSON, LBFGSB(), factors, pyttb.tensor(mask), None, 0
    )
    clock, processor = time.perf_counter() - began[0], time.process_time() - began[1]
    logging.disable(logging.NOTSET)
    return clock, processor, mae_rate(np.asarray(model.full().data), case.truth.rate)


def beside_gcp(case: Case, rank: int, repeats: int, whole: Sequence[Seen], to_goal: float) -> str:
    """Hold pyttb against whole fits of the joint solver; a table."""
    runs = np.array([time_gcp(case, rank, seed) for seed in range(repeats)])
    clock, processor, rate = np.median(runs, axis=0)
    ours = float(np.median([seen.processor for seen in whole]))
    rows = [
        [
            "joint, 1 member, until it settles",
            _range(whole),
            f"{ours:.2f}",
            f"{whole[0].rate:.3f}",
            "1.00",
            "1.00",
            f"{ours / to_goal:.2f}",
        ],
        [
            "pyttb gcp_opt, Poisson, masked, L-BFGS-B",
            f"{clock:.2f} ({runs[:, 0].min():.2f}–{runs[:, 0].max():.2f})",
            f"{processor:.2f}",
            f"{rate:.3f}",
            f"{processor / ours:.2f}",
            f"{rate / whole[0].rate:.2f}",
            f"{processor / to_goal:.2f}",
        ],
    ]
    header = ["", "seconds", "of the processor", "MAE_λ", "ratio of seconds", "ratio of MAE_λ"]
    return table([*header, "seconds over those of joint to the goal"], rows)


def describe_joint(problem: Problem, repeats: int) -> str:
    """Time the joint solver, and what stands beside it, on one problem."""
    case = Case.of(*problem.simulate())
    fit(simulate()[0], FitSettings(rank=2, max_iter=15), callback=lambda i: i.iteration == 14)
    goals, seconds = towards_goal(case, problem.rank, repeats)
    ratio = seconds["joint, 5 members"] / seconds["joint, 1 member"]
    whole: list[Seen] = []
    for _ in range(repeats):
        watch = Watch(case, FitSettings(rank=problem.rank))
        previous = watch.run()
        whole.append(watch.seen[-1])
    return "\n\n".join(
        [
            "## Joint solver, COVID-sized",
            f"The problem below. Goal: MAE_λ at most {GOAL_RATE} and rRMSE of "
            f"{len(case.held_counts)} unobserved entries at most {GOAL_RRMSE}; a constant rate "
            f"has MAE_λ {case.constant:.3f}. {repeats} repeats, median (least–most) of the "
            "clock's seconds; ratios are of the processor's. Judging is left out, making the fit "
            "is not. The same seed each time; only pyttb starts from another.",
            "### To the goal",
            goals,
            f"5 members to 1: {ratio:.2f}.",
            "### Warm starts",
            warm_starts(case, previous, repeats),
            "Until the Poisson deviance of the unobserved entries is within 2 % of that of the "
            "cold fit at its end. Cold fits ran once, and were looked at every 4 rounds.",
            "### Beside a decomposition without detection",
            beside_gcp(case, problem.rank, repeats, whole, seconds["joint, 1 member"]),
            "pyttb fits λp as a low-rank rate to the observed entries of the dense tensor, by "
            "its default stopping rules.",
        ]
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line, measure, print and optionally write the report."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.speed", description=__doc__)
    parser.add_argument("--iterations", type=int, default=22, help="per fit (default: 22)")
    parser.add_argument("--repeats", type=int, default=3, help="of the joint part (default: 3)")
    parser.add_argument("--write", type=Path, metavar="FILE", help="write the report here too")
    chosen = parser.parse_args(arguments)
    if chosen.iterations <= SKIPPED:
        parser.error(f"--iterations must be at least {SKIPPED + 1}, got {chosen.iterations}")
    if chosen.repeats < 1:
        parser.error(f"--repeats must be at least 1, got {chosen.repeats}")
    note = (
        f"Block coordinate descent: {EPOCHS} epochs of Adam in batches of 1024 and {SWEEPS} sweeps "
        f"of each factor an iteration; {chosen.iterations} iterations, the first {SKIPPED} left "
        "out. The seconds of the paper's public code are quoted: measured on another 2-core "
        "machine, one thread, on problems of these sizes. Other work on the machine lengthens "
        "the clock's seconds; the "
        "processor's feel it less. Set OMP_NUM_THREADS=1 for NumPy; a fit keeps to one thread."
    )
    parts = ["# Speed", machine()]
    parts += [describe_joint(PROBLEMS["COVID-sized"], chosen.repeats), note]
    parts += [describe(name, problem, chosen.iterations) for name, problem in PROBLEMS.items()]
    publish("\n\n".join(parts), chosen.write)


if __name__ == "__main__":
    main()
