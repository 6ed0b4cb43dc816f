"""Held-out errors on real counts: five folds of entries, four models.

    UNCLETC_DATA_DIR=... python -m benchmarks.real --data covid ppi

Every fifth of the observed entries is predicted once, by ŷ = λ·g(z), from the other four.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from sklearn.model_selection import KFold

from benchmarks._report import machine, publish
from uncletc import ConvergenceWarning, CountTensor, FitSettings, datasets, fit
from uncletc.metrics import poisson_deviance, rrmse
from uncletc.paper.words import grid as table

FOLDS = 5
DATA = {
    "covid": partial(datasets.load, "covid"),
    "covid-per-cell": partial(datasets.load, "covid", exposure="none"),
    "ppi": partial(datasets.load, "ppi"),
}
LEAST = 1e-3  # predicted count, so that one 0 does not make a deviance infinite


@dataclass(frozen=True)
class Result:
    """Held-out errors of one fold, and how far p spreads over Ξ."""

    rrmse: float
    deviance: float
    ratio: float
    seconds: float


def models(rank: int, mu: float, members: int) -> dict[str, FitSettings]:
    """Return the settings of each model by its name in the report."""
    joint = {"rank": rank, "mu": mu, "members": members}
    return {
        "Poisson CP, no attributes": FitSettings(**joint),
        "joint, linear g": FitSettings(**joint, hidden=()),
        "joint, neural g": FitSettings(**joint),
        "joint, neural g, 5 members": FitSettings(**joint | {"members": 5}),
        "block coordinate descent": FitSettings(rank=rank, solver="bcd", max_iter=100),
    }


def without_attributes(counts: CountTensor) -> CountTensor:
    """Return the counts and their exposure alone."""
    return CountTensor(counts.shape, counts.indices, counts.counts, exposure=counts.exposure)


def judge(counts: CountTensor, settings: FitSettings, held: np.ndarray, *, plain: bool) -> Result:
    """Fit without the held-out entries and predict them."""
    train = counts.subset(np.setdiff1d(np.arange(counts.n_observed), held))
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = fit(without_attributes(train) if plain else train, settings)
    seconds = time.perf_counter() - began
    indices, y = counts.indices[held], counts.counts[held]
    if plain:
        predicted, ratio = found.rate(indices), 1.0
    else:
        everywhere = found.detection(counts.attributes)
        rows = counts.attribute_rows[held]
        p = np.where(rows >= 0, everywhere[rows], everywhere.mean())
        predicted = found.rate(indices) * p
        low, high = np.quantile(everywhere, [0.05, 0.95])
        ratio = high / low
    predicted = np.maximum(predicted, LEAST)
    return Result(rrmse(y, predicted), poisson_deviance(y, predicted), ratio, seconds)


def run(name: str, rank: int, mu: float, members: int, seed: int) -> str:
    """Judge all models on one data set; a section in Markdown."""
    counts = DATA[name]().counts
    folds = KFold(FOLDS, shuffle=True, random_state=seed)
    rows = []
    for label, settings in models(rank, mu, members).items():
        results = []
        for _, held in folds.split(counts.indices):
            plain = label.startswith("Poisson")
            results.append(judge(counts, settings, held, plain=plain))
            print(name, rank, label, results[-1], file=sys.stderr)
        cells = [
            f"{np.mean(values):.3g} ± {np.std(values, ddof=1):.2g}"
            for values in zip(
                *((r.rrmse, r.deviance, r.ratio, r.seconds) for r in results), strict=True
            )
        ]
        rows.append([label, *cells])
    header = ["model", "rRMSE", "Poisson deviance", "p: 95th / 5th percentile", "seconds"]
    title = f"## {name}, rank {rank}, μ {mu:g}, {members} members"
    size = f"{counts.n_observed:,} observed entries, mean count {counts.counts.mean():.3g}"
    return "\n\n".join([title, size, table(header, rows)])


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line, run, print and optionally write the report."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.real", description=__doc__)
    parser.add_argument("--data", nargs="+", choices=DATA, default=list(DATA))
    parser.add_argument("--rank", nargs="+", type=int, default=[5, 10, 15])
    parser.add_argument("--mu", type=float, default=2000.0)
    parser.add_argument("--members", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0, help="of the folds (default: 0)")
    parser.add_argument("--write", type=Path, metavar="FILE", help="write the report here too")
    chosen = parser.parse_args(arguments)
    note = (
        f"{FOLDS} random folds of the observed entries (seed {chosen.seed}), mean ± standard "
        f"deviation over folds. ŷ below {LEAST:g} counts as {LEAST:g} in the deviance. The "
        "percentiles are of p over Ξ, one fold's fit each. All fits with seed 0. covid: the people "
        "of a cell are its exposure; covid-per-cell: without, as in the paper."
    )
    parts = ["# Held-out errors on real counts", machine(), note]
    for name in chosen.data:
        parts += [run(name, rank, chosen.mu, chosen.members, chosen.seed) for rank in chosen.rank]
    publish("\n\n".join(parts), chosen.write)


if __name__ == "__main__":
    main()
