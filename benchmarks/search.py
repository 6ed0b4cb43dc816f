"""Seconds of one search with one worker and with two, and with a Dask cluster of two.

    python -m benchmarks.search --dask

The same trials each time: drawn at random, none given up, so that the work is equal. One worker is
the calling process itself; two are processes of their own, whose start counts. A cluster's start
does not: it runs already when a search begins.
"""

from __future__ import annotations

import argparse
import contextlib
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from benchmarks._report import grid as table
from benchmarks._report import machine, publish
from uncletc import CountTensor, simulate
from uncletc.search import SearchSettings, Workers, search

SPACE = {
    "rank": (2, 3, 4, 5),
    "mu": (500, 1000, 2000, 3000),
    "units": (10, 20, 30),
    "layers": (1, 3),
}


def run(counts: CountTensor, trials: int, seed: int, workers: Workers) -> tuple[float, np.ndarray]:
    """Search once; seconds on the clock, and mean validation errors in an order of their own."""
    settings = SearchSettings(
        n_trials=trials, space=SPACE, strategy="random", prune=False, seed=seed
    )
    with tempfile.TemporaryDirectory() as folder:
        path, began = Path(folder) / "study.log", time.perf_counter()
        found = search(counts, "UncleTC", path=path, settings=settings, workers=workers)
        seconds = time.perf_counter() - began
    return seconds, found.frame.sort_values(list(SPACE))["value"].to_numpy()


@contextlib.contextmanager
def cluster() -> Iterator[Workers]:
    """Two Dask workers, a process and a thread each."""
    from distributed import LocalCluster

    with LocalCluster(
        n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None
    ) as two:
        yield Workers(scheduler=two.scheduler_address)


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line, run, print and optionally write the report."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.search", description=__doc__)
    parser.add_argument("--trials", type=int, default=40)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--dask", action="store_true", help="also two workers of a Dask cluster")
    parser.add_argument("--write", type=Path, metavar="FILE", help="write the report here too")
    chosen = parser.parse_args(arguments)
    counts, _ = simulate((20, 20, 20), 3, observed=0.3, attributed=0.3, seed=chosen.seed)
    run(counts, 1, chosen.seed, Workers())  # loads what the first fit loads
    with contextlib.ExitStack() as stack:
        kinds = {"1 worker": Workers(jobs=1), "2 workers": Workers(jobs=2)}
        if chosen.dask:
            kinds["2 workers of a Dask cluster"] = stack.enter_context(cluster())
        seconds: dict[str, list[float]] = {name: [] for name in kinds}
        errors = []
        for _ in range(chosen.repeats):  # in turn, so that a busy minute strikes all alike
            for name, workers in kinds.items():
                clock, values = run(counts, chosen.trials, chosen.seed, workers)
                seconds[name].append(clock)
                errors.append(values)
    rows = []
    for name, clocks in seconds.items():
        faster = np.median(np.array(seconds["1 worker"]) / clocks)
        rows.append([name, f"{np.median(clocks):.1f}", f"{faster:.2f}"])
    same = all(np.allclose(each, errors[0]) for each in errors)
    note = (
        f"{chosen.trials} trials of UncleTC, 5 folds, on {counts.n_observed} simulated counts, "
        f"seed {chosen.seed}; median of {chosen.repeats} repeats in turn. All runs found the same "
        f"errors: {'yes' if same else '**no**'}."
    )
    header = ["", "seconds", "times faster than 1 worker"]
    publish("\n\n".join(["# Search", machine(), note, table(header, rows)]), chosen.write)


if __name__ == "__main__":
    main()
