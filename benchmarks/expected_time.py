"""How long fits take, beside what :mod:`uncletc.tables` expects of them.

::

    python -m benchmarks.expected_time --write benchmarks/results/expected-time.md
"""

from __future__ import annotations

import argparse
import math
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from benchmarks._report import machine, publish
from uncletc import ConvergenceWarning, CountTensor, FitSettings, MisfitWarning, fit, simulate
from uncletc.tables import check_counts

LARGE = 20_000  # counts from which a fit tries no network
SHAPES = (
    ((20, 30), 0.8),
    ((20, 20, 20), 0.3),
    ((30, 30, 30), 0.5),
    ((30, 30, 30), 0.9),
    ((40, 40, 40), 0.6),
    ((60, 60, 60), 0.5),
    ((100, 100, 30), 0.6),
    ((100, 100, 100), 0.3),
)
RANKS, ATTRIBUTES = (2, 5, 15), (1, 5, 15)


def problems() -> Iterator[tuple[CountTensor, int]]:
    """Simulated counts of rank 3, and the rank of a fit."""
    for shape, observed in SHAPES:
        for rank in RANKS:
            for n in ATTRIBUTES:
                if math.prod(shape) * observed > 5 * LARGE and (rank == RANKS[0] or n == 1):
                    continue
                counts, _ = simulate(
                    shape, observed=observed, attributed=observed, n_attributes=n, similar=0.1
                )
                yield counts, rank


def measure(counts: CountTensor, rank: int) -> dict[str, float]:
    """Seconds of the processor of a fit with the library's defaults, and those expected."""
    (expected,) = [each for each in check_counts(counts, rank=rank) if each.kind == "time"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", MisfitWarning)
        began = time.process_time()
        fit(counts, FitSettings(rank=rank))
        seconds = time.process_time() - began
    return {
        "counts": counts.n_observed,
        "rank": rank,
        "attributes": counts.n_attributes,
        "seconds": seconds,
        "expected": expected.details["seconds"],
    }


def describe(found: pd.DataFrame) -> str:
    """The table, and how far expectations were off."""
    ratio = found["seconds"] / found["expected"]
    rows = [
        f"| {row.counts:,} | {row.rank} | {row.attributes} | {row.seconds:.1f} | "
        f"{row.expected:.1f} | {share:.2f} |"
        for row, share in zip(found.itertuples(), ratio, strict=True)
    ]
    large = found["counts"] > LARGE
    verdict = [
        f"{which}: the ratio is {some.min():.2f} to {some.max():.2f}, median {some.median():.2f}."
        for which, some in (
            (f"More than {LARGE:,} counts", ratio[large]),
            ("Fewer, where several starts and a network are tried", ratio[~large]),
        )
        if len(some)
    ]
    head = "| counts | rank | attributes | seconds | expected | ratio |\n|" + " --- |" * 6
    return "\n\n".join([" ".join(verdict), "\n".join([head, *rows])])


def main(arguments: list[str] | None = None) -> None:
    """Measure all problems and print the report."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--write", type=Path, metavar="FILE", help="write the report here too")
    chosen = parser.parse_args(arguments)
    fit(simulate((6, 6, 6), 2, observed=0.5, attributed=0.5, similar=0.1)[0], FitSettings(rank=1))
    found = []
    for counts, rank in problems():
        found.append(measure(counts, rank))
        print(found[-1], file=sys.stderr)
    note = (
        "Simulated counts of rank 3, every observed entry attributed; a fit with the library's "
        "defaults, intervals included. Seconds are those of the processor. Effects of modes and "
        "further looks take longer: COVID-19 with both, rank 15, twice to three times as long."
    )
    table = describe(pd.DataFrame(found))
    publish("\n\n".join(["# Expected time of a fit", machine(), note, table]), chosen.write)


if __name__ == "__main__":
    main()
