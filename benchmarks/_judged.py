"""Fits of the problems over seeds, and the table that holds them against what must be reached."""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from benchmarks._problem import Errors
from benchmarks._report import grid as table
from benchmarks._settings import fit_settings
from benchmarks.problems import PROBLEMS, Goal
from uncletc import ConvergenceWarning, CountTensor, Fit, FitSettings, fit

NOTE = (
    "Problems of `benchmarks/problems.py`; the seed of the data is the seed of the fit, and the "
    "rank of the fit is the true one except where the problem says so. Mean ± standard deviation "
    "over seeds. MAE_λ is over all entries. MAE_p is of p = g(z): over Ξ, and in the problems "
    "from `additive-0.3` on over the entries that are not observed, whose attributes no fit sees. "
    "rRMSE and the log score are of held-out counts; the log score is the mean of -log P(y), "
    "negative binomial about ŷ with the dispersion that suits these counts best, so that lower is "
    "better. 'p known' is MAE_λ of a fit that is told p. 'truth' is a prediction by the true λp. "
    "Seconds are of the processor. ✗ marks what misses 'must', which is for the mean over seeds, "
    "or for every one."
)


@dataclass(frozen=True, kw_only=True)
class Judged:
    """One fit of a problem.

    Attributes
    ----------
    seconds : float
        Of the processor, from the call of `fit` to its return.
    found, told, truth : Errors
        Of the fit, of one that is told p, and of the truth itself.
    """

    problem: str
    seed: int
    solver: str
    members: int
    seconds: float
    found: Errors
    told: Errors
    truth: Errors

    @classmethod
    def read(cls, line: str) -> Judged:
        """Make one of a line of JSON."""
        values = json.loads(line)
        errors = {name: Errors(**values[name]) for name in ("found", "told", "truth")}
        return cls(**values | errors)


def judge(name: str, seed: int, solver: str = "joint", members: int = 1) -> Judged:
    """Draw a problem, fit it with and without knowing p, and judge both."""
    problem = PROBLEMS[name].make(seed)
    began = time.process_time()
    found = _fit(problem.counts, fit_settings(solver, members, problem.rank, seed))
    seconds = time.process_time() - began
    told = _fit(problem.told(), FitSettings(rank=problem.rank, seed=seed))
    return Judged(
        problem=name,
        seed=seed,
        solver=solver,
        members=members,
        seconds=seconds,
        found=problem.judge(found),
        told=problem.judge_told(told),
        truth=problem.judge_truth(),
    )


def _fit(counts: CountTensor, settings: FitSettings) -> Fit:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return fit(counts, settings)


def judge_all(
    names: Iterable[str],
    seeds: Sequence[int],
    solver: str,
    members: int,
    jobs: int = 1,
    kept: Path | None = None,
) -> list[Judged]:
    """Judge every problem on every seed, in order.

    Results are added to the file `kept`, a line each, and those that it already holds are not
    made again: a long run may be stopped, and parts run on several days.
    """
    old = [Judged.read(line) for line in _lines(kept)]
    done = {(one.problem, one.seed): one for one in old if _of(one) == (solver, members)}
    wanted = [(name, seed) for name in names for seed in seeds]
    for one in _fresh([key for key in wanted if key not in done], solver, members, jobs):
        done[one.problem, one.seed] = one
        print(f"{one.problem} seed {one.seed}: {one.found}", file=sys.stderr)
        if kept is not None:
            with kept.open("a", encoding="utf-8") as file:
                file.write(json.dumps(asdict(one)) + "\n")
    return [done[key] for key in wanted]


def _of(one: Judged) -> tuple[str, int]:
    return one.solver, one.members


def _lines(kept: Path | None) -> list[str]:
    if kept is None or not kept.exists():
        return []
    return kept.read_text(encoding="utf-8").splitlines()


def _fresh(
    wanted: Sequence[tuple[str, int]], solver: str, members: int, jobs: int
) -> Iterator[Judged]:
    run = partial(judge, solver=solver, members=members)
    if jobs == 1:
        yield from (run(*key) for key in wanted)
        return
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        yield from pool.map(run, *zip(*wanted, strict=True)) if wanted else ()


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
        f"{np.mean([one.told.rate for one in group]):.3f}",
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
