"""Accuracy of a solver on simulations: those of the paper's tables, and other problems.

    python -m benchmarks.accuracy --setting omega-0.3 --seeds 30 --per-seed
    python -m benchmarks.accuracy --problems xor-0.3 inter --problem-seeds 7 8 11

The settings are those of Tables 1 to 3, and of appendix D.2; the problems are described in
:mod:`benchmarks.problems`. Each seed decides both the simulated data and the fit. All other
settings of the fit are the library's defaults, with the true rank, or the wrong one that a name
says.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from benchmarks import _judged
from benchmarks._columns import SETTINGS, Setting
from benchmarks._report import grid as table
from benchmarks._report import machine, publish
from benchmarks._settings import SOLVERS, fit_settings, in_words
from benchmarks.problems import PROBLEMS
from uncletc import ConvergenceWarning, fit, simulate
from uncletc.compare.metrics import mae_detection, mae_rate

SUBSET = 10  # the first so many seeds are also summed up on their own
PROBLEM_SEEDS = [7, 8, 11, 12, 13, 14]
NOTE = (
    "The seed of the data is the seed of the fit. All errors are free of scale. The summary holds "
    "the mean of MAE_p of g over Ξ and of MAE_λ over all entries against what is to be reached; "
    "'p known' is MAE_λ of a fit that is told p. Data of the settings log-… have rank F and are "
    "fitted with it; those of rank-… have rank 7 and are fitted with the rank in the name. The "
    "fractions are exact; the paper's public code thins Ω with replacement, so its columns "
    "γ_Ω = .05 and .1 really observe .132 and .156. It takes MAE_p over Ω from each entry's own "
    "p, which has seen the counts it is judged on. g outside Ξ is judged on attributes mostly "
    "unlike those of Θ."
)


@dataclass(frozen=True, kw_only=True)
class Trial:
    """One fit judged against its truth.

    Attributes
    ----------
    mean_detection : float
        Mean true p over Ξ: the smaller, the fewer counts are left to learn from.
    rate : float
        MAE_λ over all entries.
    attributed, everywhere : float
        MAE_p of g over Ξ, and over all entries.
    auxiliary : float
        MAE_p of each observed entry's own p over Ω, as the paper's public code computes it.
    """

    seed: int
    mean_detection: float
    rate: float
    attributed: float
    auxiliary: float
    everywhere: float
    iterations: int
    seconds: float


MEASURES = {
    "MAE_λ, all entries": ("rate", "paper_rate"),
    "MAE_p, g over Ξ": ("attributed", "paper_detection"),
    "MAE_p, own p over Ω": ("auxiliary", "paper_detection"),
    "MAE_p, g over all entries": ("everywhere", "paper_detection"),
}


def run_trial(name: str, seed: int, solver: str, members: int) -> Trial:
    """Simulate, fit and judge one seed of a named setting."""
    setting = SETTINGS[name]
    counts, truth = simulate(
        rank=setting.rank,
        observed=setting.observed,
        attributed=setting.attributed,
        similar=setting.similar,
        snr_db=setting.snr_db,
        detection=setting.detection,
        seed=seed,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = fit(counts, fit_settings(solver, members, setting.fitted_rank, seed))
    true_p = truth.detection
    observed = true_p[tuple(counts.indices.T)]
    attributed = true_p[tuple(counts.attribute_indices.T)]
    every_z = truth.attributes.reshape(-1, counts.n_attributes)
    return Trial(
        seed=seed,
        mean_detection=float(attributed.mean()),
        rate=mae_rate(found.rate_tensor(), truth.rate),
        attributed=mae_detection(found.detection(counts.attributes), attributed),
        auxiliary=mae_detection(found.observed_detection, observed),
        everywhere=mae_detection(found.detection(every_z), true_p.ravel()),
        iterations=found.history[-1].iteration,
        seconds=found.history[-1].seconds,
    )


def run_trials(
    name: str, seeds: Sequence[int], jobs: int, solver: str, members: int
) -> Iterator[Trial]:
    """Run every seed, in order, in at most `jobs` processes."""
    if jobs == 1:
        yield from (run_trial(name, seed, solver, members) for seed in seeds)
        return
    n = len(seeds)
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        yield from pool.map(run_trial, [name] * n, seeds, [solver] * n, [members] * n)


def summarise(trials: dict[str, Sequence[Trial]]) -> str:
    """Hold the mean errors of every setting against the paper and the targets, in Markdown."""
    rows = []
    for name, group in trials.items():
        setting, target = SETTINGS[name], SETTINGS[name].target
        for which, field in enumerate(("attributed", "rate")):
            values = np.array([getattr(trial, field) for trial in group])
            floor, must, aim, mark = "", "", "", ""
            if target is not None:
                floor = f"{target.floor:.3f}" if field == "rate" else ""
                must, aim = f"{target.must[which]:.3f}", f"{target.aim[which]:.3f}"
                mark = _shortfall(values.mean(), target.must[which], target.aim[which])
            paper = setting.paper_rate if field == "rate" else setting.paper_detection
            ours = [f"**{_spread(values)}**", f"{np.median(values):.3f}", len(values)]
            label = "MAE_λ" if field == "rate" else "MAE_p"
            rows.append([name, label, paper, floor, must, aim, *ours, mark])
    header = ["setting", "error", "paper", "p known", "must reach", "aim"]
    return "### Summary\n\n" + table(
        [*header, "ours, mean ± sd", "median", "seeds", "missed"], rows
    )


def _shortfall(mean: float, must: float, aim: float) -> str:
    if mean > must:
        return "✗ must"
    return "aim" if mean > aim else ""


def _spread(values: np.ndarray) -> str:
    deviation = values.std(ddof=min(1, len(values) - 1))
    return f"{values.mean():.3f} ± {deviation:.3f}"


def describe(name: str, trials: Sequence[Trial], *, per_seed: bool) -> str:
    """Sum up the trials of one setting in Markdown."""
    setting = SETTINGS[name]
    groups = [trials] if len(trials) <= SUBSET else [trials, trials[:SUBSET]]
    parts = [
        f"### {name}",
        f"γ_Ω = {setting.observed:g}, γ_Ξ = {setting.attributed:g}, γ_Θ = {setting.similar:g}, "
        f"SNR = {setting.snr_db:g} dB, h {setting.detection}, F = {setting.rank}, "
        f"F̂ = {setting.fitted_rank}; {np.mean([t.seconds for t in trials]):.1f} s a fit",
        *(_summary(setting, group) for group in groups),
    ]
    if per_seed:
        parts.append(_rows(trials))
    return "\n\n".join(parts)


def _summary(setting: Setting, trials: Sequence[Trial]) -> str:
    rows = []
    for measure, (field, paper) in MEASURES.items():
        values = np.array([getattr(trial, field) for trial in trials])
        worst = trials[int(values.argmax())].seed
        largest = f"{values.max():.3f} (seed {worst})"
        rows.append(
            [measure, _spread(values), f"{np.median(values):.3f}", largest, getattr(setting, paper)]
        )
    seeds = f"seeds {trials[0].seed}–{trials[-1].seed}"
    return table([seeds, "mean ± sd", "median", "largest", "paper, 20 trials"], rows)


def _rows(trials: Sequence[Trial]) -> str:
    header = ["seed", "mean true p over Ξ", *MEASURES, "iterations"]
    fields = ["mean_detection", *(field for field, _ in MEASURES.values())]
    return table(
        header,
        [[t.seed, *(f"{getattr(t, field):.3f}" for field in fields), t.iterations] for t in trials],
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line, run, print and optionally write the report."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.accuracy", description=__doc__)
    parser.add_argument("--setting", nargs="+", choices=[*SETTINGS, "all"], default=[])
    parser.add_argument("--solver", choices=list(SOLVERS), default="joint")
    parser.add_argument("--members", type=int, default=1, help="of the joint solver (default: 1)")
    parser.add_argument("--seeds", type=int, default=20, help="how many (default: 20)")
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--problems", nargs="+", choices=[*PROBLEMS, "all"], default=[])
    parser.add_argument("--problem-seeds", nargs="+", type=int, default=PROBLEM_SEEDS)
    parser.add_argument("--kept", type=Path, metavar="FILE", help="fits of problems, made before")
    parser.add_argument("--jobs", type=int, default=1, help="processes (default: 1)")
    parser.add_argument("--per-seed", action="store_true", help="add a row per seed")
    parser.add_argument("--write", type=Path, metavar="FILE", help="write the report here too")
    chosen = parser.parse_args(arguments)
    if min(chosen.seeds, chosen.jobs, chosen.members) < 1 or chosen.first_seed < 0:
        parser.error("--seeds, --jobs and --members must be at least 1, --first-seed at least 0")
    if not (chosen.setting or chosen.problems):
        parser.error("name some of --setting or --problems, or all")
    parts = [f"# Accuracy of {SOLVERS[chosen.solver]}", machine()]
    parts.append(f"Fit: {in_words(chosen.solver, chosen.members)}.")
    if chosen.problems:
        names = list(PROBLEMS) if "all" in chosen.problems else chosen.problems
        rest = chosen.solver, chosen.members, chosen.jobs, chosen.kept
        parts.append(_judged.describe(_judged.judge_all(names, chosen.problem_seeds, *rest)))
    if chosen.setting:
        parts += _settings_report(chosen)
    publish("\n\n".join(parts), chosen.write)


def _settings_report(chosen: argparse.Namespace) -> list[str]:
    seeds = range(chosen.first_seed, chosen.first_seed + chosen.seeds)
    names = list(SETTINGS) if "all" in chosen.setting else chosen.setting
    trials = {}
    for name in names:
        trials[name] = []
        for trial in run_trials(name, seeds, chosen.jobs, chosen.solver, chosen.members):
            trials[name].append(trial)
            print(f"{name} seed {trial.seed}: MAE_λ {trial.rate:.3f}", file=sys.stderr)
    return [
        "## The paper's settings",
        NOTE,
        summarise(trials),
        *(describe(name, group, per_seed=chosen.per_seed) for name, group in trials.items()),
    ]


if __name__ == "__main__":
    main()
