"""Closed visits on simulated counts: what repeat visits identify, and what they do not.

    python -m benchmarks.closed --write benchmarks/results/closed.md

Each seed decides both the simulated data and the fit. The problems are those of `PROBLEMS`, drawn
by :func:`uncletc.simulate_visits`.
"""

import argparse
import math
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.report import grid as table
from benchmarks.report import machine, publish
from uncletc import CountTensor, FitSettings, Scale, Truth, fit, simulate_visits
from uncletc.common.validation import FloatArray
from uncletc.compare.metrics import coverage

PROBLEMS = {
    "usual": {},
    "low p": {"level": 0.15, "mean": 20.0},
    "two visits": {"visits": 2},
    "three modes": {"shape": (8, 8, 10), "visits": 4, "rank": 3},
    "large": {"shape": (100, 40), "rank": 4},
    "many species": {"shape": (250, 150), "rank": 4},
    "scattered": {"mu": 2.0, "visits": 4},
}

Row = dict[str, float]


def closed(counts: CountTensor, truth: Truth, settings: FitSettings) -> Row:
    """Errors of the closed fit, to which nothing is known."""
    settings = replace(settings, closed=("visit",))
    result = fit(counts, settings)
    every, z = counts.attribute_indices, counts.attributes
    row = errors(result.rate_tensor(), result.detection(z), truth)
    if result.draws is not None:
        rate, p = result.rate(every, spread=True), result.detection(z, spread=True)
        mean, true_mean = result.mean("detection", every, z), truth.detection.mean()
        row["λ held"] = coverage(truth.rate.ravel(), rate.low, rate.high)
        row["p held"] = coverage(truth.detection.ravel(), p.low, p.high)
        row["mean p held"] = float(mean.low[0] <= true_mean <= mean.high[0])
    return row


def ordinary(counts: CountTensor, truth: Truth, settings: FitSettings) -> Row:
    """Errors of the ordinary model with visits as a mode, put on the true mean p."""
    result = fit(counts, settings)
    p = result.detection(counts.attributes)
    scale = Scale.mean_detection(p, float(truth.detection.mean()))
    return errors(scale.rate(result.rate_tensor()), scale.detection(p), truth)


METHODS: dict[str, Callable[[CountTensor, Truth, FitSettings], Row]] = {
    "closed": closed,
    "ordinary, known mean p": ordinary,
}


def errors(rate: FloatArray, p: FloatArray, truth: Truth) -> Row:
    """Errors of λ and p as they stand, relative to the mean of the truth, and of their levels."""
    known = np.isfinite(rate)  # where p is known, cells that nobody visited have no λ
    off = np.abs(rate - truth.rate)[known].sum() / truth.rate[known].sum()
    error = np.abs(p.ravel() - truth.detection.ravel()).mean()
    return {
        "error of λ": float(off),
        "MAE of p": float(error),
        "λ over true": float(rate[known].sum() / truth.rate[known].sum()),
        "p over true": float(p.sum() / truth.detection.sum()),
    }


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--problems", nargs="+", choices=PROBLEMS, default=list(PROBLEMS))
    parser.add_argument("--seeds", nargs="+", type=int, default=[21, 22, 23, 24, 25, 26])
    parser.add_argument("--write", type=Path)
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = []
    for name in chosen.problems:
        for method, run in METHODS.items():
            found, seconds = [], []
            for seed in chosen.seeds:
                counts, truth = simulate_visits(**PROBLEMS[name], seed=seed)
                rank = PROBLEMS[name].get("rank", 2)
                began = time.process_time()
                found.append(run(counts, truth, FitSettings(rank=rank, seed=seed)))
                seconds.append(time.process_time() - began)
            rows.append([name, method, *_means(found), f"{np.median(seconds):.1f}"])
            print(*rows[-1], flush=True)
    header = ["problem", "method", *_COLUMNS, "seconds"]
    seeds = ", ".join(map(str, chosen.seeds))
    note = (
        f"Seeds {seeds} of the data and of the fit; means, ± the standard error of the mean. "
        "Problems are in `benchmarks/closed.py`. The error of λ is Σ|λ̂ - λ|/Σλ over all entries. "
        "Nothing is known to the closed fit; the ordinary model, whose level is free, has the "
        "true mean p. Held is the share of true values, and of "
        "fits, inside nominal 90 % intervals."
    )
    parts = ["# Closed visits", machine(), note, table(header, rows)]
    publish("\n\n".join(parts), chosen.write)


_COLUMNS = (
    "error of λ",
    "MAE of p",
    "λ over true",
    "p over true",
    "λ held",
    "p held",
    "mean p held",
)


def _means(found: list[Row]) -> list[str]:
    cells = []
    for column in _COLUMNS:
        values = np.array([row[column] for row in found if column in row])
        if not len(values):
            cells.append("–")
            continue
        error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else math.nan
        held = column.endswith("held")
        cells.append(f"{values.mean():.2f}" if held else f"{values.mean():.3f} ± {error:.3f}")
    return cells


if __name__ == "__main__":
    main()
