"""Whether a level that cannot be believed is flagged: simulated repeat visits, sound and violated.

    python -m benchmarks.level --write benchmarks/results/level.md

Each table is sites × visits of one species, with a covariate of p and one of λ. Sound ones follow
the model; violated ones break one assumption each, as `VIOLATED` says.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.random import Generator
from scipy.special import expit

from benchmarks.report import grid as table
from benchmarks.report import machine, publish
from uncletc import CountTensor, FitSettings, fit
from uncletc.common.validation import FloatArray, IntArray
from uncletc.compare.metrics import coverage

_SIZES = (100, 4), (200, 3), (200, 5), (300, 4)  # sites and visits, seed by seed
Size = tuple[int, int]
Made = tuple[IntArray, IntArray, FloatArray, FloatArray]  # counts, n, x of p, x of λ


def rates(rng: Generator, sites: int, scatter: str, mean: float = 5.0) -> tuple[FloatArray, ...]:
    """λ of each site, with its own factor, and the covariate of it."""
    x = rng.random(sites)
    factor = np.ones(sites)
    if scatter == "gamma":
        factor = rng.gamma(3.0, 1 / 3.0, sites)
    elif scatter == "log-normal":
        factor = np.exp(0.5 * rng.standard_normal(sites))
    return mean * np.exp(1.2 * (x - 0.5)) * factor, x


def _counted(rng: Generator, n: IntArray, visits: int, noise: FloatArray | float = 0.0) -> Made:
    n = np.broadcast_to(n[:, None] if n.ndim == 1 else n, (len(n), visits))
    z = rng.random(n.shape)
    p = expit(-0.4 + 2 * (z - 0.5) + noise)
    return rng.binomial(n, p), n, z, p


def sound(scatter: str, mean: float = 5.0) -> Callable[[Generator, Size], Made]:
    """Tables of the model, with factors of sites that are gamma, log-normal or 1."""

    def draw(rng: Generator, size: Size) -> Made:
        rate, x = rates(rng, size[0], scatter, mean)
        y, n, z, _ = _counted(rng, rng.poisson(rate), size[1])
        return y, n, z, x

    return draw


def violated(kind: str) -> Callable[[Generator, Size], Made]:
    """Tables that break one assumption."""

    def draw(rng: Generator, size: Size) -> Made:
        sites, visits = size
        rate, x = rates(rng, sites, "gamma")
        n = rng.poisson(rate)
        noise: FloatArray | float = 0.0
        if kind == "empty sites":
            n = n * (rng.random(sites) < 0.6)
        elif kind == "observers":
            noise = rng.normal(0, 1.0, 8)[rng.integers(0, 8, size)]
        elif kind == "sites differ in p":
            noise = rng.normal(0, 1.2, sites)[:, None]
        elif kind == "coming and going":
            there = [n]
            for _ in range(visits - 1):
                there.append(rng.binomial(there[-1], 0.6) + rng.poisson(0.4 * rate))
            n = np.stack(there, axis=1)
        elif kind == "moving to the next site":
            away = rng.binomial(n[:, None], 0.35, size)
            n = n[:, None] - away + np.roll(away, 1, axis=0)
        elif kind == "removal":
            left, seen = n.copy(), []
            for _ in range(visits):
                seen.append(left)
                left = left - rng.binomial(left, 0.25)
            n = np.stack(seen, axis=1)
        y, n, z, _ = _counted(rng, n, visits, noise)
        if kind == "double counts":
            y = y + rng.binomial(y, 0.5)
        return y, n, z, x

    return draw


SOUND = {
    f"{name}, mean {mean}": sound(name, mean)
    for name in ("none", "gamma", "log-normal")
    for mean in (3.0, 8.0)
}
VIOLATED = {
    name: violated(name)
    for name in (
        "observers",
        "coming and going",
        "moving to the next site",
        "double counts",
        "sites differ in p",
        "empty sites",
        "removal",
    )
}


def tensor(y: IntArray, z: FloatArray, x: FloatArray) -> CountTensor:
    """Sites × visits with a covariate of p and one of λ."""
    where = np.argwhere(np.ones(y.shape, dtype=bool))
    return CountTensor(
        y.shape,
        where,
        y.ravel(),
        attributes=z.reshape(-1, 1),
        rate_attributes=np.repeat(x, y.shape[1])[:, None],
        modes=["site", "visit"],
    )


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=40)
    parser.add_argument("--first", type=int, default=1000)
    parser.add_argument("--write", type=Path)
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = []
    for kinds, group in ((SOUND, "sound"), (VIOLATED, "violated")):
        for name, draw in kinds.items():
            flagged, ratios, held, wrong, reasons = [], [], [], [], []
            began = time.process_time()
            for seed in range(chosen.first, chosen.first + chosen.seeds):
                y, n, z, x = draw(np.random.default_rng(seed), _SIZES[seed % len(_SIZES)])
                result = fit(tensor(y, z, x), FitSettings(rank=1, closed=["visit"]))
                found = result.population
                assert found is not None
                p = result.detection(z.reshape(-1, 1), spread=True)
                held.append(coverage(expit(-0.4 + 2 * (z.ravel() - 0.5)), p.low, p.high))
                flagged.append(bool(found.doubts))
                reasons += [doubt.name for doubt in found.doubts]
                number = found.numbers()
                within = number.low[0] <= n[:, 0].sum() <= number.high[0]
                wrong.append(not found.doubts and not within)
                ratios.append(found.numbers().estimate[0] / n[:, 0].sum())
            share = {r: reasons.count(r) for r in sorted(set(reasons), key=reasons.count)[::-1]}
            seconds = (time.process_time() - began) / chosen.seeds
            rows.append(
                [
                    group,
                    name,
                    f"{np.mean(flagged):.2f}",
                    f"{np.mean(wrong):.2f}",
                    f"{np.median(ratios):.2f}",
                    f"{np.mean(held):.2f}" if group == "sound" else "–",
                    ", ".join(f"{k.lower()} {v}" for k, v in share.items()),
                    f"{seconds:.1f}",
                ]
            )
            print(*rows[-1], flush=True)
    header = ["table", "kind", "flagged", "wrong", "N over true", "p held", "reasons", "seconds"]
    sizes = ", ".join(f"{sites} × {visits}" for sites, visits in _SIZES)
    note = (
        f"{sizes} sites × visits in turn, seeds {chosen.first} to "
        f"{chosen.first + chosen.seeds - 1}; thresholds were chosen on other seeds. N "
        "over true is a median; it is shown to no reader where the level is flagged. Held is the "
        "share of true p inside nominal 90 % intervals; wrong is the share of tables that are not "
        "flagged and whose 90 % interval of N misses it."
    )
    publish(
        "\n\n".join(["# Levels that cannot be believed", machine(), note, table(header, rows)]),
        chosen.write,
    )


if __name__ == "__main__":
    main()
