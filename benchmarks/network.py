"""Networks on many counts: errors where covariates interact, and what their size changes.

    python -m benchmarks.network --kinds xor pairs net step additive --seeds 521 522
    python -m benchmarks.network --covid

The first simulates 30,341 counts (43 × 80 × 60, gamma factors, rank 5, mean λ 100, 10 uniform
attributes) whose logit of p is of a kind of `benchmarks/problems.py`, and fits them with the
library's defaults and without a network. The second fits real COVID-19 as in the
paper, all attributes on p, cases alone, with networks of several sizes. Times are of the processor.
"""

import argparse
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks._draws import KINDS, acting_together
from benchmarks.report import grid, machine, publish
from uncletc import CountTensor, Fit, FitSettings, Joint, datasets, fit
from uncletc.solvers.options import NetworkChoice

_COUNTS: dict[str, Any] = {"shape": (43, 80, 60), "rank": 5, "mean": 100.0, "observed": 0.147}
_CHOICES: tuple[NetworkChoice, ...] = ("supported", "never")
_SIZES, _RANK_OF_COVID = (20, 5, 50), 15


def interactions(kinds: Sequence[str], seeds: Sequence[int]) -> Iterator[list[str]]:
    """Rows of the table of errors, as they come."""
    for kind in kinds:
        for seed in seeds:
            problem = acting_together(seed, kind=kind, **_COUNTS)
            for choice in _CHOICES:
                settings = FitSettings(rank=problem.rank, seed=seed, solver=Joint(network=choice))
                found, of_fit = _timed(problem.counts, settings)
                errors = problem.errors(found)
                of_errors = [f"{errors[name]:.3f}" for name in ("MAE_λ", "MAE_p")]
                yield [kind, str(seed), choice, *of_errors, *of_fit]


def sizes_on_covid() -> Iterator[list[str]]:
    """Rows of the table of sizes on real COVID-19, as they come."""
    counts, first = datasets.load("covid").counts, None
    for units in _SIZES:
        solver = Joint(network="always")
        settings = FitSettings(rank=_RANK_OF_COVID, hidden=(units,) * 3, solver=solver)
        found, of_fit = _timed(counts, settings)
        logs = np.log(found.detection(counts.attributes))
        logs -= logs.mean()
        first = logs if first is None else first
        yield [f"3 × {units}", f"{np.abs(logs - first).mean():.3f}", *of_fit]


def _timed(counts: CountTensor, settings: FitSettings) -> tuple[Fit, list[str]]:
    start = time.process_time()
    found = fit(counts, settings)
    seconds = f"{time.process_time() - start:.1f}"
    gain = "" if found.network_gain is None else "{:.4f} ± {:.4f}".format(*found.network_gain)
    return found, ["trained" if found.network_trained else "none", gain, seconds]


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
