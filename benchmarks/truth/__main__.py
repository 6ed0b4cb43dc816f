"""Fit every table of known detection and say how near the fit comes."""

import argparse
import time
import warnings
from pathlib import Path

import numpy as np

from benchmarks.report import grid, machine, publish
from benchmarks.truth import (
    enclosed,
    england,
    flycatchers,
    jays,
    measles,
    rodents,
    stakes,
    states,
    tees,
)
from benchmarks.truth.known import Case, agreement

_SETS = {
    module.__name__.rsplit(".", 1)[1]: module.TRUTH
    for module in (stakes, tees, enclosed, jays, flycatchers, measles, rodents, england, states)
}
_HEADER = (
    "table",
    "true N",
    "N (90 %)",
    "true mean p",
    "mean p",
    "p, rank correlation",
    "best single covariate",
    "ahead",
    "level",
    "seconds",
)


def row(case: Case) -> list[str]:
    """Fit a case; return its line of the report."""
    began = time.process_time()
    found, p = case.fitted()
    seconds = time.process_time() - began
    population, number = found.population, "–"
    if population is not None:
        n = population.numbers()
        number = f"{n.estimate[0]:,.0f} ({n.low[0]:,.0f}–{n.high[0]:,.0f})"
    level = "relative" if found.scale is None else "absolute"
    if population is not None and population.doubts:
        level = "flagged: " + ", ".join(doubt.name.lower() for doubt in population.doubts)
    mean = true_mean = ours = single = ahead = "–"
    if len(case.detection):
        ours, single, ahead = agreement(case, p)
        true_mean = f"{np.nanmean(case.detection):.2f}"
        mean = f"{p.mean():.2f}" if population is not None else "–"
    known = f"{case.number:,.0f}" if np.isfinite(case.number) else "–"
    of_p = [true_mean, mean, ours, single, ahead]
    return [case.name, known, number, *of_p, level, f"{seconds:.1f}"]


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.truth", description=__doc__)
    parser.add_argument("--sets", nargs="+", choices=_SETS, default=list(_SETS))
    parser.add_argument("--write", type=Path)
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = []
    for name in chosen.sets:
        for case in _SETS[name].load():
            rows.append(row(case))
            print(*rows[-1], sep=" | ", flush=True)
    facts = "\n".join(
        f"- {known.title}: {known.truth}. {known.source}, {known.licence}."
        for known in (_SETS[name] for name in chosen.sets)
    )
    note = (
        "N of a flagged level is shown to no reader, and stands here for the record. Correlations "
        "are of ranks, over groups whose p was measured, ± the standard error by resampled "
        "groups, the same for both; the best single covariate is chosen knowing the truth."
    )
    publish(
        "\n\n".join(["# Measured detection", machine(), note, facts, grid(_HEADER, rows)]),
        chosen.write,
    )


if __name__ == "__main__":
    main()
