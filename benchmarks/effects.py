"""Random effects of single modes on small simulated tables: how often intervals hold the truth.

    python -m benchmarks.effects --write benchmarks/results/effects.md

Three attributes act on p: one of sites, one of weeks, one of entries. Sites and weeks differ in λ,
alone or also together, along curves or without any. Each seed decides both the data and the fit.
"""

import argparse
import time
import warnings
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np
from scipy.special import expit

from benchmarks.report import grid, machine, publish
from uncletc import CountTensor, FitSettings, Interval, fit
from uncletc.common.validation import FloatArray
from uncletc.result.anchor import Anchor
from uncletc.tables import usual_effects

SLOPES = np.array([1.0, 1.0, 1.5])  # of the logit of p, by the attributes of site, week and entry
SEEN = 0.85  # share of entries that are counted


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A table: its shape, its mean λ, and how λ differs.

    `together` is the rank of log-normal factors, 1 where modes act each by itself; weeks follow a
    curve if `smooth`, with scatter of its own about it if `rough`.
    """

    shape: tuple[int, ...]
    effects: tuple[str, ...]
    mean: float
    together: int = 2
    smooth: bool = True
    rough: bool = False


KINDS = {
    "curves": Kind(shape=(30, 20), effects=("site", "smooth(week)"), mean=10),
    "each by itself": Kind(
        shape=(60, 15), effects=("site", "week"), mean=5, together=1, smooth=False
    ),
    "three modes": Kind(shape=(20, 15, 10), effects=("site", "smooth(week)", "kind"), mean=3),
    "no curves": Kind(shape=(20, 15), effects=("site", "week"), mean=30, smooth=False),
    "small": Kind(shape=(20, 15), effects=("site", "smooth(week)"), mean=20),
    "curve and scatter": Kind(
        shape=(30, 20), effects=("site", "smooth(week)"), mean=10, together=1, rough=True
    ),
    "curve alone": Kind(shape=(40, 30), effects=("smooth(week)",), mean=10, together=1),
    "rank 3": Kind(shape=(30, 20), effects=("site", "week"), mean=20, together=3, smooth=False),
}


def simulated(kind: Kind, seed: int) -> tuple[CountTensor, FloatArray, FloatArray, FloatArray]:
    """Counts, the attributes of all entries, and true λ and p of all entries."""
    rng = np.random.default_rng((seed, 70))
    (sites, weeks, *more), rank = kind.shape, kind.together
    factors = [np.exp(rng.normal(0, 0.6, (sites, rank)))]
    at = np.arange(weeks)[:, None] / weeks
    waves = np.sin(2 * np.pi * (at * rng.uniform(0.7, 1.6, rank) + rng.random(rank)))
    scatter = 0.4 * (not kind.smooth) + 0.3 * kind.rough
    course = 0.57 * waves * kind.smooth + rng.normal(0, 1, (weeks, rank)) * scatter
    factors += [np.exp(course), *(np.exp(rng.normal(0, 0.4, (n, rank))) for n in more)]
    where = np.argwhere(np.ones(kind.shape))
    rate = np.prod([u[k] for u, k in zip(factors, where.T, strict=True)], axis=0).sum(axis=1)
    rate *= kind.mean / rate.mean()
    of_site, of_week = rng.uniform(-1, 1, sites), rng.uniform(-1, 1, weeks)
    z = np.column_stack(
        [of_site[where[:, 0]], of_week[where[:, 1]], rng.uniform(-1, 1, len(where))]
    )
    p = expit(z @ SLOPES - 1)
    seen = rng.random(len(where)) < SEEN
    counts = CountTensor(
        kind.shape,
        where[seen],
        rng.poisson(rate * p)[seen],
        modes=("site", "week", "kind")[: len(kind.shape)],
        attributes=z[seen],
        attribute_names=("of site", "of week", "of entry"),
        simulated=True,
    )
    return counts, z, rate, p


def trial(kind: Kind, seed: int, model: str) -> dict[str, float]:
    """Shares of true values inside nominal 90 % intervals, errors and widths of one fit."""
    counts, z, rate, p = simulated(kind, seed)
    effects = {"as drawn": kind.effects, "usual": (*usual_effects(counts),), "none": ()}[model]
    began = time.process_time()
    result = fit(counts, FitSettings(rank=2, effects=effects, seed=seed))
    row = {"seconds": time.process_time() - began}
    where = np.argwhere(np.ones(kind.shape))
    level = np.median(p[np.ravel_multi_index(tuple(counts.indices.T), kind.shape)])
    every = CountTensor(kind.shape, where, np.zeros(len(where)), modes=counts.modes, attributes=z)
    found = result.quantities(every, where, Anchor().scale(counts, result))
    truth = {"p": p / level, "λ": rate * level, "λp": rate * p}
    names = {"p": "detection", "λ": "rate", "λp": "expected"}
    for name, quantity in names.items():
        own: Interval = found[quantity]
        row[f"{name} held"] = float(np.mean((own.low <= truth[name]) & (truth[name] <= own.high)))
        row[f"error of log {name}"] = float(
            np.sqrt(np.mean(np.log(own.estimate / truth[name]) ** 2))
        )
        row[f"width of {name}"] = float(np.median(np.log(own.high / own.low)))
    table = result.confint()
    for k, name in enumerate(counts.attribute_names):
        at = np.quantile(counts.attributes[:, k], [0.05, 0.95])
        moved = [np.where(np.arange(3) == k, value, counts.attributes) for value in at]
        true = np.diff([np.log(expit(each @ SLOPES - 1)).mean() for each in moved])[0]
        low, high = np.log(table.loc[("detection", name), ["low", "high"]].to_numpy(float))
        row[f"slope {name} held"] = float(low <= true <= high)
    return row


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--seeds", nargs="+", type=int, default=list(range(8)))
    parser.add_argument("--write", type=Path)
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    rows, header = [], []
    for name, model in product(chosen.kinds, ("as drawn", "usual", "none")):
        trials = [trial(KINDS[name], seed, model) for seed in chosen.seeds]
        header = [each for each in trials[0] if each != "seconds"]
        means = [f"{np.mean([each[column] for each in trials]):.2f}" for column in header]
        seconds = np.median([each["seconds"] for each in trials])
        rows.append([name, model, *means, f"{seconds:.1f}"])
        print(*rows[-1], flush=True)
    note = (
        f"Rank 2, seeds {', '.join(map(str, chosen.seeds))} of the data and of the fit; means. "
        "Held is the share of true values, and of fits for slopes, inside nominal 90 % intervals: "
        "over all entries, on the scale on which the median p of counted entries is 1. Errors are "
        "root mean squares, widths medians, of logarithms. Kinds are in "
        "`benchmarks/effects.py`; usual effects are those of a table that somebody brings."
    )
    parts = [
        "# Random effects",
        machine(),
        note,
        grid(["kind", "effects", *header, "seconds"], rows),
    ]
    publish("\n\n".join(parts), chosen.write)


if __name__ == "__main__":
    main()
