"""Seconds of one search with one worker and with two.

    python -m benchmarks.search

The same trials each time: drawn at random, none given up, so that the work is equal. One worker is
the calling process itself; two are processes of their own, whose start counts. With --dask also a
Dask cluster of two worker processes on this machine, whose start does not count: a cluster runs
already when a search begins.
"""

from __future__ import annotations

import argparse
import contextlib
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from benchmarks._report import grid as table
from benchmarks._report import machine, publish
from uncletc import CountTensor, simulate
from uncletc.search import SearchSettings, Study, Workers, search

WANTED = 1.6  # times faster with two workers
SPACE = {
    "rank": (2, 3, 4, 5),
    "mu": (500, 1000, 2000, 3000),
    "units": (10, 20, 30),
    "layers": (1, 3),
}


def run(counts: CountTensor, trials: int, seed: int, workers: Workers) -> tuple[float, Study]:
    """Search once; seconds on the clock, and what was found."""
    with tempfile.TemporaryDirectory() as folder, tqdm(total=trials, unit="trial") as bar:

        def move(record: Any) -> None:
            bar.update(record.finished - bar.n)

        began = time.perf_counter()
        found = search(
            counts,
            "UncleTC",
            path=Path(folder) / "study.log",
            settings=SearchSettings(
                n_trials=trials, space=SPACE, strategy="random", prune=False, seed=seed
            ),
            workers=workers,
            callback=move,
        )
        return time.perf_counter() - began, found


@contextlib.contextmanager
def cluster() -> Iterator[Workers]:
    """Two Dask workers, a process and a thread each."""
    from distributed import Client, LocalCluster

    with LocalCluster(
        n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None
    ) as two:
        with Client(two) as client:
            client.run(_load)
        yield Workers(scheduler=two.scheduler_address)


def _load() -> None:
    """Import the library on a worker."""
    simulate((4, 4, 4), 1, observed=0.5, attributed=0.5)


def values(study: Study) -> np.ndarray:
    """Mean validation error of every choice, in an order of its own; (trials,)."""
    return study.frame.sort_values(list(SPACE))["value"].to_numpy()


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
    ways: dict[str, Callable[[], Any]] = {
        "1 worker": lambda: contextlib.nullcontext(Workers(jobs=1)),
        "2 workers": lambda: contextlib.nullcontext(Workers(jobs=2)),
    }
    if chosen.dask:
        ways["2 workers of a Dask cluster"] = cluster
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    folds: dict[str, list[float]] = {name: [] for name in ways}
    shares: dict[str, list[float]] = {name: [] for name in ways}
    found = []
    for _ in range(chosen.repeats):  # in turn, so that a busy minute strikes all alike
        for name, way in ways.items():
            with way() as workers:
                clock, study = run(counts, chosen.trials, chosen.seed, workers)
            seconds[name].append(clock)
            fitting = study.frame["seconds"].sum()
            folds[name].append(fitting / study.frame["folds"].sum())
            shares[name].append(fitting / (clock * (1 if name == "1 worker" else 2)))
            found.append(values(study))
    rows = []
    for name, clocks in seconds.items():
        ratios = np.array(seconds["1 worker"]) / clocks
        rows.append(
            [
                name,
                f"{np.median(clocks):.1f} ({min(clocks):.1f}–{max(clocks):.1f})",
                f"{np.median(folds[name]):.2f}",
                f"{np.median(shares[name]):.0%}",
                f"{np.median(ratios):.2f} ({ratios.min():.2f}–{ratios.max():.2f})",
            ]
        )
    same = all(np.allclose(one, found[0]) for one in found)
    size = " × ".join(str(n) for n in counts.shape)
    note = (
        f"{chosen.trials} trials of UncleTC, 5 folds each, on simulated counts ({size}, "
        f"{counts.n_observed} observed and attributed, seed {chosen.seed}); the same trials drawn "
        f"at random each time, none given up. {chosen.repeats} repeats in turn, median "
        f"(least–most); ratios are of one repeat. Wanted of two workers: {WANTED} times faster. "
        f"All runs found the same errors: {'yes' if same else '**no**'}."
    )
    header = [
        "",
        "seconds",
        "seconds a fold",
        "workers busy with folds",
        "times faster than 1 worker",
    ]
    publish("\n\n".join(["# Search", machine(), note, table(header, rows)]), chosen.write)


if __name__ == "__main__":
    main()
