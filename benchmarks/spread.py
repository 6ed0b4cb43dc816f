"""How often the intervals of the joint solver hold the truth of simulated counts.

    python -m benchmarks.spread

Each seed decides both the simulated data and the fit, of the true rank.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks._report import machine, publish
from uncletc import ConvergenceWarning, FitSettings, fit, simulate
from uncletc.paper.words import grid as table

RANK = 3
OBSERVED = (0.1, 0.2, 0.3)
QUANTITIES = ("λ·p over Ξ", "p over Ξ, relative to its median", "λ, relative to its mean")


@dataclass(frozen=True)
class Coverage:
    """How one set of intervals did.

    Attributes
    ----------
    share : float
        Of the true values, those inside their interval.
    width : float
        Median of high/low over intervals.
    """

    share: float
    width: float


def cover(low: np.ndarray, high: np.ndarray, truth: np.ndarray) -> Coverage:
    """Hold intervals against the truth; arrays (n,)."""
    inside = (low <= truth) & (truth <= high)
    return Coverage(float(inside.mean()), float(np.median(high / np.maximum(low, 1e-300))))


def run_trial(observed: float, seed: int, members: int, level: float) -> list[Coverage]:
    """Simulate, fit and judge one seed; one coverage for each of the QUANTITIES."""
    counts, truth = simulate(rank=RANK, observed=observed, seed=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = fit(counts, FitSettings(rank=RANK, seed=seed, members=members))
    where, z = counts.attribute_indices, counts.attributes
    true_p, true_rate = (values[tuple(where.T)] for values in (truth.detection, truth.rate))
    expected = found.expected(where, z, spread=True, level=level)
    p = found.detection(z, spread=True, level=level)
    everywhere = np.argwhere(np.ones(counts.shape))
    rate = found.rate(everywhere, spread=True, level=level)
    p_unit = float(np.median(p.estimate) / np.median(true_p))
    rate_unit = float(rate.estimate.mean() / truth.rate.mean())
    return [
        cover(expected.low, expected.high, true_rate * true_p),
        cover(p.low, p.high, true_p * p_unit),
        cover(rate.low, rate.high, truth.rate.ravel() * rate_unit),
    ]


def summarise(observed: float, trials: Sequence[Sequence[Coverage]]) -> list[list[str]]:
    """Return a row per quantity: coverage and width over seeds."""
    rows = []
    for quantity, found in zip(QUANTITIES, zip(*trials, strict=True), strict=True):
        shares = np.array([coverage.share for coverage in found])
        widths = [coverage.width for coverage in found]
        figures = [f"{x:.3f}" for x in (shares.mean(), np.median(shares), shares.min())]
        rows.append([f"{observed:g}", quantity, *figures, f"{np.median(widths):.2f}"])
    return rows


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line, run, print and optionally write the report."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.spread", description=__doc__)
    parser.add_argument("--seeds", type=int, default=20, help="how many (default: 20)")
    parser.add_argument("--members", type=int, default=5)
    parser.add_argument("--level", type=float, default=0.9, help="nominal (default: 0.9)")
    parser.add_argument("--write", type=Path, metavar="FILE", help="write the report here too")
    chosen = parser.parse_args(arguments)
    if chosen.seeds < 1 or chosen.members < 2:
        parser.error("--seeds must be at least 1, --members at least 2")
    rows = []
    for observed in OBSERVED:
        trials = []
        for seed in range(chosen.seeds):
            trials.append(run_trial(observed, seed, chosen.members, chosen.level))
            print(f"γ_Ω = {observed:g} seed {seed}: {trials[-1]}", file=sys.stderr)
        rows += summarise(observed, trials)
    note = (
        f"Nominal {chosen.level:.0%} intervals of fits with {chosen.members} members; simulated "
        f"counts, 20 × 20 × 20, rank {RANK}, γ_Ξ = .3, γ_Θ = .2, SNR = 40 dB, seeds 0–"
        f"{chosen.seeds - 1}. Coverage is the share of entries whose true value lies in its "
        "interval. λ and p are known up to a factor, so that they are judged relative to their "
        "mean over all entries and their median over Ξ. Width is the median of high/low."
    )
    header = ["γ_Ω", "of", "mean coverage", "median", "least of the seeds", "median width"]
    publish(
        "\n\n".join(["# Coverage of the intervals", machine(), note, table(header, rows)]),
        chosen.write,
    )


if __name__ == "__main__":
    main()
