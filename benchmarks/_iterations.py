"""Seconds of one iteration of block coordinate descent, beside the same on dense arrays."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass

import numpy as np

from benchmarks._report import grid as table
from uncletc import BCD, ConvergenceWarning, CountTensor, FitSettings, Truth, fit, simulate

EPOCHS = SWEEPS = 5
SKIPPED = 2  # first iterations, while caches and the allocator warm up


@dataclass(frozen=True)
class Timed:
    """A simulated problem, and seconds per iteration of the public code on one like it."""

    shape: tuple[int, int, int]
    rank: int
    observed: float
    n_attributes: int
    mean_rate: float
    quoted: str

    def simulate(self) -> tuple[CountTensor, Truth]:
        """Draw the counts; every observed entry has attributes."""
        return simulate(
            self.shape,
            self.rank,
            observed=self.observed,
            attributed=self.observed,
            similar=0.0,
            n_attributes=self.n_attributes,
            factor_max=2 * (self.mean_rate / self.rank) ** (1 / len(self.shape)),
        )


TIMED = {
    "COVID-sized": Timed((43, 80, 60), 15, 0.184, 24, 100.0, "42.7"),
    "the paper's simulations": Timed((20, 20, 20), 3, 0.3, 10, 3 * 7.5**3, ".69 to 1.03"),
}


class _Stopwatch:
    """Laps in seconds: on the clock, and of this process's processor time."""

    def __init__(self) -> None:
        self._marks: list[tuple[float, float]] = []

    def mark(self, *_: object) -> None:
        """End a lap, and begin the next; fits as the callback of a fit."""
        self._marks.append((time.perf_counter(), time.process_time()))

    def laps(self) -> np.ndarray:
        """Return the laps but the first SKIPPED; (n, 2): clock, processor."""
        return np.diff(self._marks, axis=0)[SKIPPED:]


def _time_iterations(counts: CountTensor, rank: int, iterations: int, epochs: int) -> np.ndarray:
    """Time each iteration of one fit; laps."""
    settings = FitSettings(
        rank=rank,
        solver=BCD(epochs=epochs, sweeps=SWEEPS, batch_size=1024),
        max_iter=iterations,
        tol=0.0,
    )
    watch = _Stopwatch()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        fit(counts, settings, callback=watch.mark)
    return watch.laps()


def _time_dense_steps(counts: CountTensor, rank: int, repeats: int) -> np.ndarray:
    """Time the plain yardstick, SWEEPS updates of each factor; laps."""
    y, p = np.zeros(counts.shape), np.zeros(counts.shape)
    where = tuple(counts.indices.T)
    y[where], p[where] = counts.counts, 1.0
    rng = np.random.default_rng(0)
    factors = [rng.uniform(size=(size, rank)) for size in counts.shape]
    watch = _Stopwatch()
    watch.mark()
    for _ in range(repeats):
        for mode in range(len(factors)):
            dense_update(factors, mode, y, p)
        watch.mark()
    return watch.laps()


def dense_update(factors: list[np.ndarray], mode: int, y: np.ndarray, p: np.ndarray) -> None:
    """Multiplicative updates of one of three factors (paper, eq. 13), every entry included."""
    first, second = (factor for j, factor in enumerate(factors) if j != mode)
    others = (first[:, None, :] * second[None, :, :]).reshape(-1, first.shape[1])
    y, p = (np.moveaxis(x, mode, 0).reshape(x.shape[mode], -1) for x in (y, p))
    denominator = p @ others
    for _ in range(SWEEPS):
        numerator = (y / (factors[mode] @ others.T)) @ others
        factors[mode] = factors[mode] * numerator / denominator


def describe(name: str, timed: Timed, iterations: int) -> str:
    """Time one problem and sum it up in Markdown."""
    counts, _ = timed.simulate()
    measured = {
        "BCD iteration": _time_iterations(counts, timed.rank, iterations, EPOCHS),
        "the same without the θ-step": _time_iterations(counts, timed.rank, iterations, 0),
        "U-step alone, dense NumPy": _time_dense_steps(counts, timed.rank, iterations),
    }
    whole = np.median(measured["BCD iteration"][:, 1])
    rows = []
    for what, laps in measured.items():
        clock = np.quantile(laps[:, 0], [0.5, 0, 1])
        processor = np.median(laps[:, 1])
        figures = [f"{seconds:.4f}" for seconds in (*clock, processor)]
        rows.append([what, *figures, f"{processor / whole:.3f}"])
    rows.append(["BCD iteration, the paper's public code (quoted)", timed.quoted, *[""] * 4])
    header = [
        "seconds",
        "median",
        "least",
        "most",
        "median of processor time",
        "ratio of the latter",
    ]
    size = " × ".join(str(n) for n in timed.shape)
    return "\n\n".join(
        [
            f"### {name}",
            f"{size}, {counts.n_observed} entries ({counts.share_observed:.1%}) observed and "
            f"attributed, D = {timed.n_attributes}, F = {timed.rank}, mean λ about "
            f"{timed.mean_rate:.0f}",
            table(header, rows),
        ]
    )


def describe_all(iterations: int) -> str:
    """Time every problem; sections in Markdown."""
    note = (
        f"{EPOCHS} epochs of Adam in batches of 1024 and {SWEEPS} sweeps of each factor an "
        f"iteration; {iterations} iterations, the first {SKIPPED} left out. The seconds of the "
        "paper's public code are quoted: measured on another 2-core machine, one thread, on "
        "problems of these sizes. Other work on the machine lengthens the clock's seconds; the "
        "processor's feel it less. Set OMP_NUM_THREADS=1 for NumPy; a fit keeps to one thread."
    )
    parts = [describe(name, timed, iterations) for name, timed in TIMED.items()]
    return "\n\n".join(["## One iteration of block coordinate descent", note, *parts])
