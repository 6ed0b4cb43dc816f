"""Errors of a solver on simulated problems with a known truth, and coverage of its intervals.

    python -m benchmarks.accuracy --problems xor-0.3 inter --seeds 7 8 11

The problems are described in :mod:`benchmarks.problems`. Each seed decides both the simulated data
and the fit. All other settings of the fit are the library's defaults, with the true rank, or the
wrong one that a name says. The paper's own simulations are those of :mod:`benchmarks.paper`.
"""

import argparse
import sys
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.problems import PROBLEMS, Goal
from benchmarks.report import grid, machine, publish
from uncletc import ConvergenceWarning, CountTensor, Fit, FitSettings, fit
from uncletc.compare.metrics import mae_rate

SEEDS = [7, 8, 11, 12, 13, 14]
BCD_ITERATIONS = 100  # the paper's rule
HELD = (0.85, 0.96)  # mean coverage of nominal 90 %
_KEY = ["problem", "seed", "solver", "members"]
_QUANTITIES = [f"{name}{of}" for name in ("λ", "p", "λp") for of in ("", ", mean of a slice")]
NOTE = (
    "Problems of `benchmarks/problems.py`; the seed of the data is the seed of the fit, and the "
    "rank of the fit is the true one except where the problem says so. Mean ± standard deviation "
    "over seeds. MAE_λ is over all entries. MAE_p is of p = g(z): over Ξ, and in the problems "
    "from `additive-0.3` on over the entries that are not observed, whose attributes no fit sees. "
    "rRMSE and the log score are of held-out counts; the log score is the mean of -log P(y), "
    "negative binomial about ŷ with the dispersion that suits these counts best, so that lower is "
    "better. 'p known' is MAE_λ of a fit to which p is known. 'truth' is a prediction by the true "
    "λp. Seconds are of the processor. ✗ marks what misses 'must', which is for the mean over "
    "seeds, or for every one."
)
NOTE_HELD = (
    "Share of true values inside nominal 90 % intervals: of λ over all entries, of p where the "
    "problem judges it, of λp over held-out entries, at most 8,000 of each; and of their means "
    "over slices with one index of the first mode. Mean over seeds (least one), and after it the "
    "median of high/low. λ and p are known up to a factor: the truth has the mean p over Ξ of the "
    f"fit. ✗ marks a mean outside {HELD[0]}–{HELD[1]}."
)


def judge(name: str, seed: int, solver: str = "joint", members: int = 1) -> dict[str, Any]:
    """Draw a problem, fit it with and without knowing p, and judge both; a row."""
    problem = PROBLEMS[name].make(seed)
    settings = FitSettings(rank=problem.rank, seed=seed, members=members)
    if solver == "bcd":
        settings = FitSettings(rank=problem.rank, seed=seed, solver="bcd", max_iter=BCD_ITERATIONS)
    began = time.process_time()
    found = _fit(problem.counts, settings)
    row: dict[str, Any] = dict(zip(_KEY, (name, seed, solver, members), strict=True))
    row |= {"seconds": time.process_time() - began, **problem.errors(found)}
    counts = problem.with_known_detection()
    known = _fit(counts, FitSettings(rank=problem.rank, seed=seed))
    row["p known"] = mae_rate(known.rate_tensor() / counts.exposure, problem.truth.rate)
    row |= {f"{score} of truth": value for score, value in problem.scores_of_truth().items()}
    if found.draws is not None:
        for quantity, (share, width) in problem.held_shares(found).items():
            row |= {f"{quantity} held": share, f"{quantity} width": width}
    return row


def _fit(counts: CountTensor, settings: FitSettings) -> Fit:
    with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):
        return fit(counts, settings)


def judge_all(
    names: Sequence[str], seeds: Sequence[int], solver: str, members: int, trials: Path | None
) -> pd.DataFrame:
    """Judge every problem on every seed; a row each, in order.

    Rows are added to the file of trials, and those that it already holds are not made again: a
    long run may be stopped, and parts run on several days.
    """
    rows = []
    if trials is not None and trials.exists():
        rows = pd.read_csv(trials).to_dict("records")
    done = {tuple(row[each] for each in _KEY): row for row in rows}
    keys = [(name, seed, solver, members) for name in names for seed in seeds]
    for key in keys:
        if key not in done:
            done[key] = judge(*key)
            print(f"{key[0]} seed {key[1]}: {done[key]}", file=sys.stderr)
            if trials is not None:
                pd.DataFrame(done.values()).to_csv(trials, index=False)
    return pd.DataFrame([done[key] for key in keys])


def describe(judged: pd.DataFrame) -> str:
    """Hold the fits of every problem against what must be reached, in Markdown."""
    header = ["problem", "seeds", "MAE_λ", "largest (seed)", "p known", "must", "MAE_p", "must"]
    header += ["rRMSE", "truth", "must", "log score", "truth", "seconds", "missed"]
    groups = dict(iter(judged.groupby("problem", sort=False)))
    parts = ["## Errors", NOTE, grid(header, [_row(*each) for each in groups.items()])]
    if "λ held" in judged:
        rows = [_held(*each) for each in groups.items()]
        parts += ["## Coverage", NOTE_HELD, grid(["problem", *_QUANTITIES], rows)]
    return "\n\n".join([*parts, "\n".join(f"- `{n}`: {PROBLEMS[n].about}." for n in groups)])


def _row(name: str, group: pd.DataFrame) -> list[str]:
    must, rate, mean = PROBLEMS[name].must, group["MAE_λ"], group.mean(numeric_only=True)
    return [
        name,
        ", ".join(map(str, group["seed"])),
        f"**{_spread(rate)}**",
        f"{rate.max():.3f} ({group['seed'][rate.idxmax()]})",
        f"{mean['p known']:.3f}",
        _goal(must.rate) + (" each" if must.every_seed else ""),
        f"**{_spread(group['MAE_p'])}**",
        _goal(must.detection),
        _spread(group["rRMSE"]),
        f"{mean['rRMSE of truth']:.3f}",
        _goal(must.rrmse),
        _spread(group["log score"]),
        f"{mean['log score of truth']:.3f}",
        f"{mean['seconds']:.1f}",
        missed(must, group),
    ]


def _held(name: str, group: pd.DataFrame) -> list[str]:
    cells = [name]
    for quantity in _QUANTITIES:
        share, width = group[f"{quantity} held"], group[f"{quantity} width"].median()
        mark = "" if HELD[0] <= share.mean() <= HELD[1] else " ✗"
        cells.append(f"{share.mean():.3f} ({share.min():.2f}), {width:.2f}{mark}")
    return cells


def missed(must: Goal, group: pd.DataFrame) -> str:
    """Name the errors over seeds that miss a goal."""
    rate = group["MAE_λ"]
    judged = {
        "λ": (rate.max() if must.every_seed else rate.mean(), must.rate),
        "p": (group["MAE_p"].mean(), must.detection),
        "rRMSE": (group["rRMSE"].mean(), must.rrmse),
    }
    words = [name for name, (value, most) in judged.items() if most is not None and value > most]
    return "✗ " + ", ".join(words) if words else ""


def _goal(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def _spread(values: pd.Series) -> str:
    return f"{values.mean():.3f} ± {np.std(values, ddof=min(1, len(values) - 1)):.3f}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line, run, print and optionally write the report."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.accuracy", description=__doc__)
    parser.add_argument("--problems", nargs="+", choices=PROBLEMS, default=list(PROBLEMS))
    parser.add_argument("--seeds", nargs="+", type=int, default=SEEDS)
    parser.add_argument("--solver", choices=["joint", "bcd"], default="joint")
    parser.add_argument("--members", type=int, default=1, help="of the joint solver (default: 1)")
    parser.add_argument("--trials", type=Path, metavar="FILE", help="finished fits, to resume")
    parser.add_argument("--write", type=Path, metavar="FILE", help="write the report here too")
    chosen = parser.parse_args(arguments)
    name = {"joint": "the joint solver", "bcd": "block coordinate descent"}[chosen.solver]
    found = judge_all(chosen.problems, chosen.seeds, chosen.solver, chosen.members, chosen.trials)
    publish("\n\n".join([f"# Accuracy of {name}", machine(), describe(found)]), chosen.write)


if __name__ == "__main__":
    main()
