"""Accuracy of a solver on simulated problems with a known truth, beside what must be reached.

    python -m benchmarks.accuracy --problems xor-0.3 inter --seeds 7 8 11

The problems are described in :mod:`benchmarks.problems`. Each seed decides both the simulated data
and the fit. All other settings of the fit are the library's defaults, with the true rank, or the
wrong one that a name says. The paper's own simulations are those of :mod:`benchmarks.paper`.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from benchmarks._problem import Errors
from benchmarks.problems import PROBLEMS, Goal
from benchmarks.report import grid as table
from benchmarks.report import machine, publish
from uncletc import ConvergenceWarning, CountTensor, Fit, FitSettings, fit

SEEDS = [7, 8, 11, 12, 13, 14]
BCD_ITERATIONS = 100  # the paper's rule
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


@dataclass(frozen=True, kw_only=True)
class Judged:
    """One fit of a problem.

    Attributes
    ----------
    seconds : float
        Of the processor, from the call of `fit` to its return.
    found, known, truth : Errors
        Of the fit, of one to which p is known, and of the truth itself.
    """

    problem: str
    seed: int
    solver: str
    members: int
    seconds: float
    found: Errors
    known: Errors
    truth: Errors

    @classmethod
    def read(cls, line: str) -> Judged:
        """Make one of a line of JSON."""
        values = json.loads(line)
        errors = {name: Errors(**values[name]) for name in ("found", "known", "truth")}
        return cls(**values | errors)


def judge(name: str, seed: int, solver: str = "joint", members: int = 1) -> Judged:
    """Draw a problem, fit it with and without knowing p, and judge both."""
    problem = PROBLEMS[name].make(seed)
    settings = FitSettings(rank=problem.rank, seed=seed, members=members)
    if solver == "bcd":
        settings = FitSettings(rank=problem.rank, seed=seed, solver="bcd", max_iter=BCD_ITERATIONS)
    began = time.process_time()
    found = _fit(problem.counts, settings)
    seconds = time.process_time() - began
    known = _fit(problem.with_known_detection(), FitSettings(rank=problem.rank, seed=seed))
    return Judged(
        problem=name,
        seed=seed,
        solver=solver,
        members=members,
        seconds=seconds,
        found=problem.judge(found),
        known=problem.judge_known(known),
        truth=problem.judge_truth(),
    )


def _fit(counts: CountTensor, settings: FitSettings) -> Fit:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return fit(counts, settings)


def judge_all(
    names: Sequence[str], seeds: Sequence[int], solver: str, members: int, trials: Path | None
) -> list[Judged]:
    """Judge every problem on every seed, in order.

    Results are added to the file of trials, a line each, and those that it already holds are not
    made again: a long run may be stopped, and parts run on several days.
    """
    old = [] if trials is None or not trials.exists() else trials.read_text("utf-8").splitlines()
    done = {(one.problem, one.seed, one.solver, one.members): one for one in map(Judged.read, old)}
    found = []
    for key in [(name, seed, solver, members) for name in names for seed in seeds]:
        if key not in done:
            done[key] = judge(*key)
            print(f"{key[0]} seed {key[1]}: {done[key].found}", file=sys.stderr)
            if trials is not None:
                with trials.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(asdict(done[key])) + "\n")
        found.append(done[key])
    return found


def describe(judged: Sequence[Judged]) -> str:
    """Hold the fits of every problem against what must be reached, in Markdown."""
    groups: dict[str, list[Judged]] = {}
    for one in judged:
        groups.setdefault(one.problem, []).append(one)
    header = ["problem", "seeds", "MAE_λ", "largest (seed)", "p known", "must", "MAE_p", "must"]
    header += ["rRMSE", "truth", "must", "log score", "truth", "seconds", "missed"]
    words = [f"- `{name}`: {PROBLEMS[name].about}." for name in groups]
    rows = table(header, [_row(name, group) for name, group in groups.items()])
    return "\n\n".join(["## Problems", NOTE, rows, "\n".join(words)])


def _row(name: str, group: Sequence[Judged]) -> list[str]:
    must = PROBLEMS[name].must
    rate, detection, rrmse, score = (
        np.array([getattr(one.found, field) for one in group])
        for field in ("rate", "detection", "rrmse", "log_score")
    )
    truth = {
        field: np.mean([getattr(one.truth, field) for one in group])
        for field in ("rrmse", "log_score")
    }
    return [
        name,
        ", ".join(str(one.seed) for one in group),
        f"**{_spread(rate)}**",
        f"{rate.max():.3f} ({group[int(rate.argmax())].seed})",
        f"{np.mean([one.known.rate for one in group]):.3f}",
        _goal(must.rate) + (" each" if must.every_seed else ""),
        f"**{_spread(detection)}**",
        _goal(must.detection),
        _spread(rrmse),
        f"{truth['rrmse']:.3f}",
        _goal(must.rrmse),
        _spread(score),
        f"{truth['log_score']:.3f}",
        f"{np.mean([one.seconds for one in group]):.1f}",
        missed(must, rate, detection, rrmse),
    ]


def missed(must: Goal, rate: np.ndarray, detection: np.ndarray, rrmse: np.ndarray) -> str:
    """Name the errors over seeds that miss a goal."""
    judged = {
        "λ": (rate.max() if must.every_seed else rate.mean(), must.rate),
        "p": (detection.mean(), must.detection),
        "rRMSE": (rrmse.mean(), must.rrmse),
    }
    words = [name for name, (value, most) in judged.items() if most is not None and value > most]
    return "✗ " + ", ".join(words) if words else ""


def _goal(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def _spread(values: np.ndarray) -> str:
    return f"{values.mean():.3f} ± {values.std(ddof=min(1, len(values) - 1)):.3f}"


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
