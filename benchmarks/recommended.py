"""Seconds of whole fits of the recommended models, with intervals; and of one further setting.

    python -m benchmarks.recommended

Each is the fit that its page shows at first. Seconds are those of one processor, the median of
`--repeats` runs (least to most), and as a ratio to 200 products of an 8,192 × 1,024 matrix with a
1,024 × 1,024 one on the same processor, in the same run. Real counts are fitted where their files
are here.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from benchmarks.report import grid, machine, publish
from uncletc import Fit, FitSettings, datasets, fit, simulate
from uncletc.fitting.threads import one_thread

NAMES = {
    "covid": "COVID-19, deaths seen",
    "ppi": "Plants",
    "covid-twin": "COVID-19, simulated",
    "ppi-twin": "Plants, simulated",
}
RANK = 5
PRODUCTS = 200


def recommended(name: str) -> Callable[[], Fit]:
    """Return what fits a data set as its page does at first."""
    dataset = datasets.load(name)
    if name.startswith("covid"):
        dataset = datasets.with_deaths(dataset)
    dataset = dataset.with_roles()
    settings = FitSettings(rank=RANK, signs=dataset.roles.signs, effects=tuple(dataset.effects))
    return lambda: fit(dataset.counts, settings)


def seconds(work: Callable[[], object], repeats: int) -> list[float]:
    """Return the processor's seconds of each run, sorted."""
    found = []
    for _ in range(repeats):
        began = time.process_time()
        work()
        found.append(time.process_time() - began)
    return sorted(found)


def yardstick() -> None:
    """Multiply matrices as a network of dense layers does."""
    rng = np.random.default_rng(0)
    values, layer = rng.standard_normal((8192, 1024)), rng.standard_normal((1024, 1024))
    values, layer = values.astype(np.float32), layer.astype(np.float32)
    for _ in range(PRODUCTS):
        np.matmul(values, layer)


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line, measure, print and optionally write the report."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.recommended", description=__doc__)
    parser.add_argument("--names", nargs="+", choices=NAMES, default=list(NAMES))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--write", type=Path, metavar="FILE", help="write the report here too")
    chosen = parser.parse_args(arguments)
    rows = []
    with one_thread():
        fit(simulate()[0], FitSettings(rank=2, max_iter=15))  # compiles what is compiled
        unit = seconds(yardstick, 3)[1]
        for name in chosen.names:
            try:
                work = recommended(name)
            except datasets.DataUnavailableError as error:
                rows.append([NAMES[name], "–", "–", str(error).splitlines()[0]])
                continue
            found = seconds(work, chosen.repeats + 1)[: chosen.repeats]
            middle = found[len(found) // 2]
            spread = f"{middle:.1f} ({found[0]:.1f}–{found[-1]:.1f})"
            rows.append([NAMES[name], spread, f"{middle / unit:.2f}", ""])
    header = ["counts", "seconds", f"over {PRODUCTS} dense layers", ""]
    parts = ["# Fits of the recommended models", machine(), f"Rank {RANK}.", grid(header, rows)]
    publish("\n\n".join(parts), chosen.write)


if __name__ == "__main__":
    main()
