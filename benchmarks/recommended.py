"""Seconds of whole fits of the recommended models, with intervals; and of one further setting.

    python -m benchmarks.recommended

Each is the fit that its page shows at first, and that fit as the start of one with a component
more, of one with another μ, and of one with 7 more days. Seconds are those of one processor, the
median of `--repeats` runs (least to most), and as a ratio to 200 products of an 8,192 × 1,024
matrix with a 1,024 × 1,024 one on the same processor, in the same run. Real counts are fitted where
their files are here.
"""

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.report import grid, machine, publish
from uncletc import CountTensor, FitSettings, Group, Observations, datasets, fit, simulate
from uncletc.fitting.fit import one_thread

NAMES = {
    "covid": "COVID-19, deaths seen",
    "ppi": "Plants",
    "covid-twin": "COVID-19, simulated",
    "ppi-twin": "Plants, simulated",
    "large": "10⁷ entries, simulated",
}
RANKS = {"covid": 15, "ppi": 5}  # at which pages open
WEEK = 7
OTHER_MU = 3.0  # than the estimated one, near 2 on real counts
PRODUCTS = 200


def recommended(name: str) -> tuple[CountTensor, FitSettings]:
    """Return a data set's counts, and the settings with which its page fits them at first."""
    if name == "large":
        return large()
    dataset = datasets.load(name)
    if name.startswith("covid"):
        dataset = datasets.with_deaths(dataset)
    dataset = dataset.with_roles()
    rank = RANKS[name.removesuffix("-twin")]
    settings = FitSettings(rank=rank, signs=dataset.roles.signs, effects=tuple(dataset.effects))
    return dataset.counts, settings


def without_last(counts: CountTensor, mode: int, n: int) -> CountTensor:
    """Return counts as they were before the last n levels of a mode, such as days, were added."""
    size = counts.shape[mode] - n

    def of(indices: np.ndarray) -> np.ndarray:
        return indices[:, mode] < size

    def group(one: Group) -> Group:
        if one.modes != (counts.modes[mode],):
            return one
        codes = one.codes[:size]
        levels = codes.max() + 1
        positions = None if one.positions is None else one.positions[:levels]
        return replace(one, codes=codes, labels=one.labels[:levels], positions=positions)

    def process(one: Observations) -> Observations:
        seen, names = of(one.indices), ("indices", "counts", "known_detection", "exposure")
        return replace(one, **{name: getattr(one, name)[seen] for name in names})

    seen, known = of(counts.indices), of(counts.attribute_indices)
    exposure = counts.exposure
    if exposure is not None and exposure.shape[mode] > 1:
        exposure = np.take(exposure, np.arange(size), mode)
    return replace(
        counts,
        shape=[size if k == mode else old for k, old in enumerate(counts.shape)],
        indices=counts.indices[seen],
        counts=counts.counts[seen],
        attributes=counts.attributes[known],
        rate_attributes=counts.rate_attributes[known],
        attribute_indices=counts.attribute_indices[known],
        labels=[one[:size] if k == mode else one for k, one in enumerate(counts.labels)],
        exposure=exposure,
        observations=[process(one) for one in counts.observations],
        groups=[group(one) for one in counts.groups],
    )


def large() -> tuple[CountTensor, FitSettings]:
    """Return simulated counts of many entries, 24 attributes each, and a fit of rank 5."""
    side, size = 400, 10_000_000
    rng = np.random.default_rng(5)
    at = np.sort(rng.choice(side**3, size, replace=False))
    where = np.stack(np.unravel_index(at, (side,) * 3), axis=1)
    factors = [rng.gamma(1.0, 1.0, (side, 5)) + 0.1 for _ in range(3)]
    rate = np.prod([u[i] for u, i in zip(factors, where.T, strict=True)], axis=0).sum(axis=1)
    z = rng.standard_normal((size, 24))
    p = 1 / (1 + np.exp(z[:, :8] @ rng.standard_normal(8) / 2))
    y = rng.poisson(20 * rate / rate.mean() * p)
    return CountTensor((side,) * 3, where, y, attributes=z), FitSettings(rank=5)


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
                counts, settings = recommended(name)
            except datasets.DataUnavailableError as error:
                rows.append([NAMES[name], "–", "–", str(error).splitlines()[0]])
                continue
            works = {"": lambda c=counts, s=settings: fit(c, s)}
            if name != "large":
                before, more = fit(counts, settings), replace(settings, rank=settings.rank + 1)
                works[", one rank more"] = lambda c=counts, s=more, b=before: fit(c, s, start=b)
            if name.startswith("covid"):
                other = replace(settings, mu=OTHER_MU)
                works[f", μ = {OTHER_MU:g}"] = lambda c=counts, s=other, b=before: fit(
                    c, s, start=b
                )
                week = fit(without_last(counts, counts.modes.index("day"), WEEK), settings)
                works[f", {WEEK} days more"] = lambda c=counts, s=settings, b=week: fit(
                    c, s, start=b
                )
            for kind, work in works.items():
                found = seconds(work, chosen.repeats)
                middle = found[len(found) // 2]
                spread = f"{middle:.1f} ({found[0]:.1f}–{found[-1]:.1f})"
                rows.append([NAMES[name] + kind, spread, f"{middle / unit:.2f}", ""])
    header = ["counts", "seconds", f"over {PRODUCTS} dense layers", ""]
    parts = [
        "# Fits of the recommended models",
        machine(),
        "Rank 15 on COVID-19, 5 on plants and on 10⁷ entries.",
        grid(header, rows),
    ]
    publish("\n\n".join(parts), chosen.write)


if __name__ == "__main__":
    main()
