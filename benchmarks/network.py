"""Networks on many counts: errors where covariates interact, and what their size changes.

    python -m benchmarks.network --kinds xor pairs net step additive --seeds 521 522
    python -m benchmarks.network --covid

The first simulates 30,341 counts (43 × 80 × 60, gamma factors, rank 5, mean λ 100, 10 uniform
attributes) whose logit of p is of a kind of `benchmarks/problems.py`, and fits them with the
library's defaults and without a network. The second fits real COVID-19 as in the
paper, all attributes on p, cases alone, with networks of several sizes. Times are of the processor.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from benchmarks._draws import KINDS
from benchmarks.report import grid, machine, publish
from uncletc import CountTensor, Fit, FitSettings, Joint, datasets, fit, metrics
from uncletc.solvers.options import NetworkChoice

_SHAPE, _RANK, _ATTRIBUTES = (43, 80, 60), 5, 10
_OBSERVED, _MEAN = 0.147, 100.0
_UNSEEN = 20_000  # entries over which p is compared
_CHOICES: tuple[NetworkChoice, ...] = ("supported", "never")
_SIZES, _RANK_OF_COVID = (20, 5, 50), 15


def simulated(kind: str, seed: int) -> tuple[CountTensor, np.ndarray, np.ndarray, np.ndarray]:
    """Return counts, all λ, and p and attributes of entries that are not observed."""
    rng = np.random.default_rng(seed)
    factors = [rng.gamma(1.0, 1.0, (size, _RANK)) for size in _SHAPE]
    rate = np.einsum("if,jf,kf->ijk", *factors)
    rate *= _MEAN / rate.mean()
    z = rng.random((rate.size, _ATTRIBUTES))
    p = 1 / (1 + np.exp(-KINDS[kind](z - 0.5, rng)))
    y = rng.binomial(rng.poisson(rate.ravel()), p)
    order = rng.permutation(rate.size)
    seen, unseen = np.split(order, [int(_OBSERVED * rate.size)])
    seen.sort()
    where = np.stack(np.unravel_index(seen, _SHAPE), axis=1)
    counts = CountTensor(_SHAPE, where, y[seen], attributes=z[seen])
    return counts, rate, p[unseen[:_UNSEEN]], z[unseen[:_UNSEEN]]


def interactions(kinds: Sequence[str], seeds: Sequence[int]) -> Iterator[list[str]]:
    """Rows of the table of errors, as they come."""
    for kind in kinds:
        for seed in seeds:
            counts, rate, p, z = simulated(kind, seed)
            for choice in _CHOICES:
                settings = FitSettings(rank=_RANK, seed=seed, solver=Joint(network=choice))
                found, seconds = _timed(counts, settings)
                errors = (
                    metrics.mae_rate(found.rate_tensor(), rate),
                    metrics.mae_detection(found.detection(z), p),
                )
                row = [kind, str(seed), choice, *(f"{error:.3f}" for error in errors)]
                yield [*row, *_of_fit(found), f"{seconds:.1f}"]


def sizes_on_covid() -> Iterator[list[str]]:
    """Rows of the table of sizes on real COVID-19, as they come."""
    counts = datasets.load("covid").counts
    first: np.ndarray | None = None
    for units in _SIZES:
        settings = FitSettings(
            rank=_RANK_OF_COVID, hidden=(units,) * 3, solver=Joint(network="always")
        )
        found, seconds = _timed(counts, settings)
        logs = np.log(found.detection(counts.attributes))
        logs -= logs.mean()
        first = logs if first is None else first
        yield [
            f"3 × {units}",
            f"{np.abs(logs - first).mean():.3f}",
            *_of_fit(found),
            f"{seconds:.1f}",
        ]


def _timed(counts: CountTensor, settings: FitSettings) -> tuple[Fit, float]:
    start = time.process_time()
    found = fit(counts, settings)
    return found, time.process_time() - start


def _of_fit(found: Fit) -> list[str]:
    gain = "" if found.network_gain is None else "{:.4f} ± {:.4f}".format(*found.network_gain)
    return ["trained" if found.network_trained else "none", gain]


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line, run, print and optionally write the report."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.network", description=__doc__)
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=[])
    parser.add_argument("--seeds", nargs="+", type=int, default=[521])
    parser.add_argument("--covid", action="store_true", help="real COVID-19, networks of all sizes")
    parser.add_argument("--write", type=Path, metavar="FILE", help="write the report here too")
    chosen = parser.parse_args(arguments)
    rest = ["network", "gain per held-out count", "seconds"]
    parts = ["# Networks on many counts", machine()]
    if chosen.kinds:
        header = ["kind", "seed", "asked", "MAE_λ", "MAE_p", *rest]
        parts.append(grid(header, list(interactions(chosen.kinds, chosen.seeds))))
    if chosen.covid:
        header = ["units", "mean |Δ log p| from the first", *rest]
        parts.append(grid(header, list(sizes_on_covid())))
    publish("\n\n".join(parts), chosen.write)


if __name__ == "__main__":
    main()
