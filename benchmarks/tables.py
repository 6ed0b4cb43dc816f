"""Counts of any tables that no fit has seen, by the usual model of a reader's own table.

    python -m benchmarks.tables FOLDER …

Each file of the folders is read as the page *Your table* reads it, without an answer to any
question. A fifth of the counts tests one fit by each method, another sets how counts scatter: main
effects, LightGBM, factors and covariates alone, and the usual model, which has random effects.
Scores are mean -log P of the counts that test. Left out are files that cannot be read or fitted,
tables of closed populations, those with fewer than 120 counts or more than 25,000, and those with
the scores of another.
"""

import argparse
import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.report import grid, machine, publish
from uncletc import METHODS, CountTensor, FitError, FitSettings
from uncletc.baselines import Method
from uncletc.compare import make_folds, run_trial, splits
from uncletc.fitting.fit import usual_rank
from uncletc.tables import build, guess, read_file

ALONE, USUAL = "factors alone", "usual"
SIZES = 120, 25_000  # of tables, in counts
FAR = 0.5  # nats a count, beyond which a difference counts as this


def methods(path: Path) -> Iterator[tuple[str, CountTensor, Method, Any]]:
    """Each method's name, what it is given of a table, and its settings; none if left out."""
    raw = read_file(path.read_bytes(), path.name)
    dataset = build(raw, guess(raw).columns)
    counts, given = dataset.counts, dataset.with_roles().counts
    if counts.closed_mode is not None or not SIZES[0] <= counts.n_observed <= SIZES[1]:
        return
    for name, more in (("Main effects", {}), ("LightGBM", {"held": "entry"})):
        yield name, counts, METHODS[name], METHODS[name].settings(**more)
    rank, network = usual_rank(counts, closed=False), "supported" if given.n_attributes else "never"
    alone = FitSettings.of(rank=rank, signs=dataset.roles.signs, network=network)
    for name, effects in ((ALONE, ()), (USUAL, tuple(dataset.effects))):
        yield name, given, METHODS["UncleTC"], replace(alone, effects=effects)


def scored(path: Path, seed: int) -> dict[str, tuple[float, float]]:
    """Score on held-out counts and seconds, by method."""
    found = {}
    for name, counts, method, settings in methods(path):
        split = splits(make_folds(counts, seed=seed))[0]
        trial = run_trial(counts, method, settings, split, None, None)
        assert trial is not None
        found[name] = trial.test.log_score, trial.seconds
    return found


def main() -> None:
    """Read the command line, score, print and optionally write the report."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.tables", description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--seed", type=int, default=0, help="of the counts held out (default: 0)")
    parser.add_argument("--write", type=Path, metavar="FILE", help="write the report here too")
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    rows: list[list[Any]] = []
    for folder in chosen.folders:
        tables: dict[float, dict[str, tuple[float, float]]] = {}
        for path in sorted(folder.iterdir()):
            try:
                found = scored(path, chosen.seed)
            except (OSError, ValueError, FitError):
                continue
            if found:
                tables[round(found["Main effects"][0], 6)] = found
                print(path.name, *(f"{k} {a:.3f} ({s:.1f} s)" for k, (a, s) in found.items()))
        values = {
            name: [one[name] for one in tables.values()] for name in next(iter(tables.values()))
        }
        usual = np.array(values[USUAL])
        for name, given in values.items():
            score, seconds = np.array(given).T
            ahead = score - usual[:, 0]
            typical = f"{np.median(ahead):+.3f}", f"{np.clip(ahead, -FAR, FAR).mean():+.3f}"
            better = "" if name == USUAL else f"{np.mean(ahead > 0):.0%}"
            took = f"{np.median(seconds):.1f}", f"{seconds.max():.0f}"
            rows.append([folder.name, len(ahead), name, *typical, better, *took])
    header = ["folder", "tables", "method", "median", "mean", "usual is better", "seconds", "most"]
    about = (
        f"-log P of a held-out count less that of the usual model (mean: within ± {FAR}), seed "
        f"{chosen.seed} of what was held out."
    )
    publish("\n\n".join(["# Own tables", machine(), about, grid(header, rows)]), chosen.write)


if __name__ == "__main__":
    main()
