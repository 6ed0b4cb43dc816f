"""How often the intervals of the joint solver hold the truth of simulated counts.

    python -m benchmarks.spread --problems o10 inter --seeds 7 8 11

Each seed decides both the simulated data and the fit. The problems are described in
:mod:`benchmarks.problems`.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks._problem import Problem
from benchmarks.problems import PROBLEMS
from benchmarks.report import grid as table
from benchmarks.report import machine, publish
from uncletc import ConvergenceWarning, Fit, FitSettings, Interval, fit
from uncletc.common.validation import FloatArray, IntArray
from uncletc.compare.metrics import coverage

USUAL = ["covid-uniform", "o05", "o10", "o30", "sparse", "low", "nb", "inter"]
MOST = 8000  # entries that coverage is taken over
MUST = (0.85, 0.96)  # mean coverage of nominal 90 %
MOST_WIDTH = {"covid-uniform": 1.3}  # median of high/low, of λ


@dataclass(frozen=True)
class Held:
    """How one set of intervals did.

    Attributes
    ----------
    share : float
        Of the true values, those inside their interval.
    width : float
        Median of high/low over intervals.
    """

    share: float
    width: float

    @classmethod
    def of(cls, found: Interval, truth: FloatArray) -> Held:
        """Hold intervals against the truth (n,)."""
        width = np.median(found.high / np.maximum(found.low, 1e-300))
        return cls(coverage(truth, found.low, found.high), float(width))


def run_trial(problem: Problem, settings: FitSettings, level: float) -> tuple[dict, float, float]:
    """Fit and judge: how each quantity is held, seconds of the fit, and of the intervals."""
    began = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = fit(problem.counts, settings)
    fitted = time.process_time()
    held = judge(problem, found, level)
    return held, fitted - began, time.process_time() - fitted


def judge(problem: Problem, found: Fit, level: float) -> dict[str, Held]:
    """Hold intervals of λ, p and λp, and of their means over slices, against the truth.

    λ and p are known up to a factor: the truth is put on the scale on which its mean p over Ξ is
    that of the fit.
    """
    counts, truth = problem.counts, problem.truth
    known = truth.detection[tuple(counts.attribute_indices.T)]
    unit = float(found.detection(counts.attributes).mean() / known.mean())
    rng = np.random.default_rng(0)
    everywhere = _some(np.arange(truth.rate.size), rng)
    judged, unseen = _some(problem.judged, rng), _some(problem.held, rng)
    rate, p = truth.rate.ravel() / unit, truth.detection.ravel() * unit
    parts = {
        "λ": ("rate", everywhere, rate),
        "p": ("detection", judged, p),
        "λp": ("expected", unseen, rate * p),
    }
    held = {}
    for name, (of, entries, true) in parts.items():
        where, z = problem.indices(entries), problem.attributes(entries)
        if of == "rate":
            single = found.rate(where, spread=True, level=level)
        elif of == "detection":
            single = found.detection(z, spread=True, level=level)
        else:
            single = found.expected(where, z, spread=True, level=level)
        held[name] = Held.of(single, true[entries])
        slices, own = np.unique(where[:, 0], return_inverse=True)
        means = found.mean(of, where, z, groups=own, level=level)
        sums = np.bincount(own, true[entries], len(slices))
        held[f"{name}, mean of a slice"] = Held.of(means, sums / np.bincount(own))
    return held


def _some(entries: IntArray, rng: np.random.Generator) -> IntArray:
    return entries if len(entries) <= MOST else rng.choice(entries, MOST, replace=False)


def summarise(name: str, seeds: Sequence[int], trials: Sequence[dict[str, Held]]) -> list[list]:
    """Return a row per quantity: coverage and width over seeds."""
    rows = []
    for quantity in trials[0]:
        shares = np.array([trial[quantity].share for trial in trials])
        width = float(np.median([trial[quantity].width for trial in trials]))
        missed = [] if MUST[0] <= shares.mean() <= MUST[1] else ["coverage"]
        if quantity == "λ" and width > MOST_WIDTH.get(name, np.inf):
            missed.append("width")
        least = f"{shares.min():.3f} ({seeds[int(shares.argmin())]})"
        figures = [f"**{shares.mean():.3f}**", f"{np.median(shares):.3f}", least, f"{width:.2f}"]
        rows.append([name, quantity, *figures, "✗ " + ", ".join(missed) if missed else ""])
    return rows


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line, run, print and optionally write the report."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.spread", description=__doc__)
    parser.add_argument("--problems", nargs="+", choices=PROBLEMS, default=USUAL)
    parser.add_argument("--seeds", nargs="+", type=int, default=[7, 8, 11, 12, 13, 14])
    parser.add_argument("--members", type=int, default=1, help="of the fit (default: 1)")
    parser.add_argument("--level", type=float, default=0.9, help="nominal (default: 0.9)")
    parser.add_argument("--write", type=Path, metavar="FILE", help="write the report here too")
    chosen = parser.parse_args(arguments)
    if chosen.members < 1:
        parser.error("--members must be at least 1")
    rows, times = [], []
    for name in chosen.problems:
        trials, spent = [], []
        for seed in chosen.seeds:
            problem = PROBLEMS[name].make(seed)
            settings = FitSettings(rank=problem.rank, seed=seed, members=chosen.members)
            held, *seconds = run_trial(problem, settings, chosen.level)
            trials.append(held)
            spent.append(seconds)
            shares = {quantity: round(one.share, 3) for quantity, one in held.items()}
            print(f"{name} seed {seed}: {shares}", file=sys.stderr)
        rows += summarise(name, chosen.seeds, trials)
        times.append([name, *(f"{x:.1f}" for x in np.mean(spent, axis=0))])
    seeds = ", ".join(map(str, chosen.seeds))
    members = f"{chosen.members} member{'s' if chosen.members > 1 else ''}"
    note = (
        f"Nominal {chosen.level:.0%} intervals of fits with {members}, on problems of "
        f"`benchmarks/problems.py`, seeds {seeds} of the data and of the fit. Coverage is the "
        "share of entries whose true value lies in its interval: of λ over all entries, of p where "
        "the problem judges it, of λp over held-out entries; at most "
        f"{MOST:,} of each, drawn at random. A slice is all of these with one index of the first "
        "mode. λ and p are known up to a factor: the truth has the mean p over Ξ of the fit. Width "
        f"is the median of high/low. ✗ marks mean coverage outside {MUST[0]}–{MUST[1]}, or a "
        "median width of λ above "
        + ", ".join(f"{most} (`{name}`)" for name, most in MOST_WIDTH.items())
        + "."
    )
    header = ["problem", "of", "mean coverage", "median", "least (seed)", "width", "missed"]
    parts = ["# Coverage of the intervals", machine(), note, table(header, rows), "## Seconds"]
    parts.append(table(["problem", "of a fit", "of all its intervals"], times))
    publish("\n\n".join(parts), chosen.write)


if __name__ == "__main__":
    main()
