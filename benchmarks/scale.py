"""Seconds a round and bytes an entry of the joint solver, by the number of observed entries.

    python -m benchmarks.scale
    python -m benchmarks.scale --sizes 1000000 --rounds 20

Fits run to their own end unless ``--rounds`` cuts them short.

Each size runs in a process of its own. Linux only: it reads and resets the process's peak
memory under /proc.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np

from benchmarks._report import grid as table
from benchmarks._report import machine, publish
from uncletc import ConvergenceWarning, CountTensor, FitSettings, fit

SHAPE = (400, 400, 400)
RANK = 5
N_ATTRIBUTES = 24
SIZES = (10**5, 10**6, 10**7)
SKIPPED = 12  # rounds in which g is held, or taken from its start
WARM_UP = 2000  # entries of a fit that loads and compiles what is used
MOST_SECONDS = 1.0  # a round, per 10⁶ entries
MOST_BYTES = 300  # an entry, beyond the input
ENOUGH = 10**6  # entries from which bytes an entry are judged: some memory does not grow
MOST_GROWTH = 1.5  # of the seconds per entry of whole fits, from one size to the next
INPUT_BYTES = 8 * (N_ATTRIBUTES + 2 * len(SHAPE) + 1)  # an entry: attributes, indices, count
# Bytes from which the C library returns a freed block at once. By default it keeps blocks of up to
# 32 MB for later, and the peak then depends on what the process did before.
RETURNED = {"MALLOC_MMAP_THRESHOLD_": str(2**20)}
COPIES = 3  # of the input, that a size needs in free memory to be tried


def build(n_entries: int, seed: int = 0) -> CountTensor:
    """Draw a tensor with random entries, attributes, and counts that follow from them."""
    rng = np.random.default_rng(seed)
    flat = np.unique(rng.integers(0, np.prod(SHAPE), int(n_entries * 1.2)))
    flat = np.sort(rng.choice(flat, n_entries, replace=False))
    indices = np.column_stack(np.unravel_index(flat, SHAPE))
    z = rng.standard_normal((n_entries, N_ATTRIBUTES))
    rate = np.zeros(n_entries)
    for _ in range(RANK):
        rate += 20 * np.prod(
            [rng.uniform(size=size)[indices[:, mode]] for mode, size in enumerate(SHAPE)], axis=0
        )
    p = 1 / (1 + np.exp(1 - 0.5 * z[:, 0] - 0.3 * z[:, 1] ** 2))
    return CountTensor(SHAPE, indices, rng.poisson(rate * p), attributes=z, simulated=True)


def measure(n_entries: int, rounds: int | None) -> dict[str, float]:
    """Fit once, in this process: seconds of the rounds, and bytes an entry beyond the input."""
    marks = []

    def mark(_: object) -> None:
        marks.append(time.process_time())

    warnings.simplefilter("ignore", ConvergenceWarning)
    fit(build(WARM_UP), FitSettings(rank=RANK, max_iter=2 * SKIPPED))
    counts = build(n_entries)
    settings = FitSettings(rank=RANK)
    if rounds is not None:
        settings = replace(settings, max_iter=rounds, tol=0.0)
    before = reset_peak()
    began = time.process_time()
    found = fit(counts, settings, callback=mark)
    whole = time.process_time() - began
    low, middle, high = np.quantile(np.diff(marks)[SKIPPED:], [0.05, 0.5, 0.95])
    return {
        "round": float(middle),
        "least": float(low),
        "most": float(high),
        "rounds": found.history[-1].iteration,
        "whole": whole,
        "bytes": (peak() - before) / n_entries,
    }


def reset_peak() -> int:
    """Forget the process's peak memory; its memory now, in bytes."""
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    return _memory("VmRSS")


def peak() -> int:
    """Most memory since :func:`reset_peak`, in bytes."""
    return _memory("VmHWM")


def _memory(name: str) -> int:
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(name + ":"))


def _free() -> int:
    lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable"))


def measure_apart(n_entries: int, rounds: int | None) -> dict[str, float]:
    """Measure in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.scale", "--only", str(n_entries)]
    if rounds is not None:
        command += ["--rounds", str(rounds)]
    surroundings = os.environ | RETURNED
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=surroundings)
    return json.loads(done.stdout)


def describe(found: dict[int, dict[str, float]], skipped: Sequence[str]) -> str:
    """Sum up all sizes in Markdown."""
    rows = []
    for n, one in found.items():
        cells = [f"{one[name] / n * 1e6:.2f}" for name in ("round", "least", "most", "whole")]
        memory = [f"{one['bytes'] * n / 1e6:,.0f}", f"{one['bytes']:.0f}"]
        rows.append([f"{n:,}", *cells, one["rounds"], *memory])
    header = ["entries", "seconds a round, per 10⁶ entries", "5 %", "95 %"]
    header += ["whole fit, per 10⁶ entries", "rounds", "peak, MB", "bytes an entry"]
    wholes = [one["whole"] / n for n, one in found.items()]
    slowest = max(one["round"] / n * 1e6 for n, one in found.items())
    words = [
        f"A round takes at most {slowest:.2f} s per 10⁶ entries (at most {MOST_SECONDS:g}: "
        f"{_word(slowest <= MOST_SECONDS)}).",
    ]
    if len(wholes) > 1:
        growth = max(after / before for before, after in pairwise(wholes))
        words.append(
            f"From each size to the next, time an entry of a whole fit grows by a factor of at "
            f"most {growth:.2f} (1 is linear; at most {MOST_GROWTH}: "
            f"{_word(growth <= MOST_GROWTH)})."
        )
    large = [one["bytes"] for n, one in found.items() if n >= ENOUGH]
    if large:
        words.append(
            f"Peak memory from {ENOUGH:,} entries on is at most {max(large):.0f} bytes an entry "
            f"(at most {MOST_BYTES}: {_word(max(large) <= MOST_BYTES)})."
        )
    return "\n\n".join([table(header, rows), " ".join(words), *skipped])


def _word(good: bool) -> str:
    return "reached" if good else "**missed**"


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line, measure, print and optionally write the report."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale", description=__doc__)
    parser.add_argument("--sizes", nargs="+", type=int, default=list(SIZES), metavar="N")
    parser.add_argument("--rounds", type=int, help="of a fit (default: until it ends by itself)")
    parser.add_argument("--only", type=int, metavar="N", help="measure this size here, as JSON")
    parser.add_argument("--write", type=Path, metavar="FILE", help="write the report here too")
    chosen = parser.parse_args(arguments)
    if chosen.rounds is not None and chosen.rounds <= SKIPPED:
        parser.error(f"--rounds must be at least {SKIPPED + 1}, got {chosen.rounds}")
    if chosen.only is not None:
        print(json.dumps(measure(chosen.only, chosen.rounds)))
        return
    found, skipped = {}, []
    for n in chosen.sizes:
        need, free = COPIES * INPUT_BYTES * n, _free()
        if need > free:
            skipped.append(f"{n:,} entries left out: {need:.2g} bytes needed, {free:.2g} free.")
            continue
        found[n] = measure_apart(n, chosen.rounds)
        print(n, found[n], file=sys.stderr)
    size = " × ".join(str(side) for side in SHAPE)
    until = "to its end" if chosen.rounds is None else f"of {chosen.rounds} rounds"
    note = (
        f"Simulated counts in a tensor of {size}, D = {N_ATTRIBUTES}, every observed entry "
        f"attributed; a fit of rank {RANK} with the library's defaults, {until}. A round is the "
        f"median of those after the first {SKIPPED}, in seconds of processor time; in some of them "
        "g moves and in others it does not, hence the quantiles. Memory is the peak during the fit "
        "beyond what the process held before it, with the input "
        f"({INPUT_BYTES} bytes an entry) built and a small fit done. Some of it does not grow with "
        "entries: intervals need a dense matrix of the parameters of all modes but one, here some "
        "170 MB with what ties it to the last. It is memory in use: the C library is told to "
        "return blocks of 1 MB and more as they are freed. By default it keeps smaller ones for "
        "later, and a process was seen to hold 275 to 400 bytes an entry at 10⁶; at 10⁷ blocks are "
        "too large to be kept."
    )
    publish(
        "\n\n".join(["# Scale of the joint solver", machine(), note, describe(found, skipped)]),
        chosen.write,
    )


if __name__ == "__main__":
    main()
