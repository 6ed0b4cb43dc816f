"""Held-out errors on real counts: five folds of entries or of places, several models.

    UNCLETC_DATA_DIR=... python -m benchmarks.real --data covid ppi --rank 5

Every fold, a fifth of the observed entries, is predicted by ŷ = λ·g(z) from the four others.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks._problem import log_score
from benchmarks._report import machine, publish
from benchmarks._settings import BCD_ITERATIONS
from benchmarks._simple import constant, place_and_time
from uncletc import METHODS, ConvergenceWarning, CountTensor, Fit, FitSettings, datasets, fit
from uncletc.evaluation import FoldKind, make_folds
from uncletc.metrics import poisson_deviance, rrmse
from uncletc.paper.words import grid as table
from uncletc.validation import FloatArray

FOLDS = 5
DATA = {
    "covid": partial(datasets.load, "covid"),
    "covid-per-cell": partial(datasets.load, "covid", exposure="none"),
    "ppi": partial(datasets.load, "ppi"),
}
LEAST = 1e-3  # predicted count, so that one 0 does not make a deviance infinite
BESIDE = "joint"  # the model that the others are compared with
KINDS: dict[str, FoldKind] = {"entries": "entry", "places": "fibre"}

# Predicts held-out entries (their indices and attributes) from counts; also g, if it has one.
Model = Callable[[CountTensor, np.ndarray, FloatArray], tuple[FloatArray, Fit | None]]


@dataclass(frozen=True)
class Result:
    """Held-out errors of one fold, how far p spreads over Ξ (NaN without g), processor seconds."""

    log_score: float
    rrmse: float
    deviance: float
    ratio: float
    seconds: float


def models(rank: int, given: dict) -> dict[str, Model]:
    """Return each model by its name in the report; `given` are settings of the joint solver."""
    joint = {"rank": rank} | given
    return {
        "constant": lambda counts, where, _: (constant(counts, where), None),
        "place and time": lambda counts, where, _: (place_and_time(counts, where), None),
        "NTF-CPD-KL": partial(_baseline, "NTF-CPD-KL", rank),
        "BPTF": partial(_baseline, "BPTF", rank),
        "joint, no attributes": partial(_without_attributes, FitSettings(**joint)),
        "joint, straight lines": partial(_ours, FitSettings(**joint | {"hidden": ()})),
        BESIDE: partial(_ours, FitSettings(**joint)),
        "joint, 5 members": partial(_ours, FitSettings(**joint | {"members": 5})),
        "block coordinate descent": partial(
            _ours, FitSettings(rank=rank, solver="bcd", max_iter=BCD_ITERATIONS)
        ),
    }


def _ours(
    settings: FitSettings, counts: CountTensor, where: np.ndarray, z: FloatArray
) -> tuple[FloatArray, Fit]:
    found = fit(counts, settings)
    return found.expected(where, z), found


def _without_attributes(
    settings: FitSettings, counts: CountTensor, where: np.ndarray, _: FloatArray
) -> tuple[FloatArray, None]:
    alone = CountTensor(counts.shape, counts.indices, counts.counts, exposure=counts.exposure)
    return fit(alone, settings).expected(where), None


def _baseline(
    name: str, rank: int, counts: CountTensor, where: np.ndarray, _: FloatArray
) -> tuple[FloatArray, None]:
    method = METHODS[name]
    return method.fit(counts, method.settings(rank=rank)).expected(where), None


def judge(counts: CountTensor, model: Model, held: np.ndarray) -> Result:
    """Predict the held-out entries, a mask (N,), from the others."""
    where, y = counts.indices[held], counts.counts[held]
    z = counts.attributes_at(where, unknown_as_nan=True)
    train = counts.subset(~held)
    began = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        predicted, found = model(train, where, z)
    seconds = time.process_time() - began
    ratio = math.nan
    if found is not None:
        low, high = np.quantile(found.detection(counts.attributes), [0.05, 0.95])
        ratio = high / low
    predicted = np.maximum(predicted, LEAST)
    return Result(
        log_score(y, predicted), rrmse(y, predicted), poisson_deviance(y, predicted), ratio, seconds
    )


def run(name: str, kind: str, rank: int, given: dict, chosen: argparse.Namespace) -> str:
    """Judge all models on one data set; a section in Markdown."""
    counts = DATA[name]().counts
    fold = make_folds(counts, FOLDS, kind=KINDS[kind], seed=chosen.seed)
    found: dict[str, list[Result]] = {}
    for label, model in models(rank, given).items():
        if chosen.models and label not in chosen.models:
            continue
        found[label] = []
        for number in range(FOLDS):
            found[label].append(judge(counts, model, fold == number))
            print(name, kind, rank, label, found[label][-1], file=sys.stderr)
    header = ["model", "log score", f"less that of {BESIDE}", "rRMSE", "Poisson deviance"]
    header += ["p: 95th / 5th percentile", "seconds"]
    rows = [[label, *_cells(results, found.get(BESIDE))] for label, results in found.items()]
    title = f"## {name}, held-out {kind}, rank {rank}"
    size = f"{counts.n_observed:,} observed entries, mean count {counts.counts.mean():.3g}"
    return "\n\n".join([title, size, table(header, rows)])


def _cells(results: Sequence[Result], beside: Sequence[Result] | None) -> list[str]:
    score = np.array([one.log_score for one in results])
    less = ""
    if beside is not None and beside is not results:
        gaps = score - [one.log_score for one in beside]
        less = f"{gaps.mean():+.3f} ± {gaps.std(ddof=1) / np.sqrt(len(gaps)):.3f}"
    cells = [f"{score.mean():.3f} ± {score.std(ddof=1):.3f}", less]
    for field in ("rrmse", "deviance", "ratio"):
        values = np.array([getattr(one, field) for one in results])
        cells.append(
            "–" if np.isnan(values).any() else f"{values.mean():.3g} ± {values.std(ddof=1):.2g}"
        )
    return [*cells, f"{np.mean([one.seconds for one in results]):.2f}"]


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line, run, print and optionally write the report."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.real", description=__doc__)
    parser.add_argument("--data", nargs="+", choices=DATA, default=list(DATA))
    parser.add_argument("--held-out", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--rank", nargs="+", type=int, default=[5, 15])
    parser.add_argument("--models", nargs="+", choices=models(1, {}), metavar="MODEL")
    parser.add_argument("--mu", type=float, help="of the joint solver (default: its own)")
    parser.add_argument("--seed", type=int, default=0, help="of the folds (default: 0)")
    parser.add_argument("--write", type=Path, metavar="FILE", help="write the report here too")
    chosen = parser.parse_args(arguments)
    given = {} if chosen.mu is None else {"mu": chosen.mu}
    note = (
        f"{FOLDS} random folds (seed {chosen.seed}) of the observed entries, or of places: all "
        "entries that differ in the last mode alone. Mean ± standard deviation over folds. The log "
        "score is the mean of -log P(y), negative binomial about ŷ with the dispersion that suits "
        "the held-out counts best; lower is better; its differences are fold by fold, ± their "
        f"standard error. ŷ below {LEAST:g} counts as {LEAST:g}. The percentiles are of p over Ξ. "
        "Seconds are of the processor. All fits with seed 0. covid: the people of a cell are its "
        "exposure; covid-per-cell: without, as in the paper. 'place and time' is a level times an "
        "effect of the place times one of the day or visit."
    )
    parts = ["# Held-out errors on real counts", machine(), note]
    for name in chosen.data:
        for kind in chosen.held_out:
            parts += [run(name, kind, rank, given, chosen) for rank in chosen.rank]
    publish("\n\n".join(parts), chosen.write)


if __name__ == "__main__":
    main()
