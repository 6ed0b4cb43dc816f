"""Closed visits: coverage of p and N, and whether wrong levels are flagged.

    python -m benchmarks.level --write benchmarks/results/level.md

Each table of one species is sites × visits, with a covariate of p and one of λ. Sound ones follow
the model; violated ones break one assumption each, as `VIOLATED` says. In those of histories each
animal that was caught has its own row of captures.
"""

import argparse
import math
import time
import warnings
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.random import Generator
from scipy.special import expit, logit

from benchmarks.report import grid, machine, publish
from uncletc import CountTensor, FitSettings, fit
from uncletc.common.validation import FloatArray, IntArray
from uncletc.compare.metrics import coverage

Size = tuple[int, int]
Draw = Callable[[Generator, Size], tuple[CountTensor, IntArray, FloatArray]]  # counts, n, p

_SIZES = (100, 4), (200, 3), (200, 5), (300, 4)  # sites and visits, seed by seed
_OWN_SIZES = {"50 × 3": (50, 3), "200 × 3": (200, 3)}
_OF_HISTORIES = (60, 4)
_OF_LISTS = (400, 3), (1000, 3), (1000, 4)  # persons and lists
_OF_SEVERAL, _USUAL = ((30, 3), (40, 4), (60, 3), (50, 5)), (0.2, 0.75)  # sizes, and range of p
_OF_MANY = (200, 3), (400, 3), (300, 4)
_OF_COMMUNITIES = (60, 3), (80, 4), (120, 3), (60, 2)
_OF_TRANSECTS = (30, 4), (60, 5), (60, 8)


def sites(rng: Generator, n: int, scatter: str, mean: float = 5.0) -> tuple[FloatArray, FloatArray]:
    """λ of each site, with its own factor, and the covariate of it."""
    x = rng.random(n)
    factor = np.ones(n)
    if scatter == "gamma":
        factor = rng.gamma(3.0, 1 / 3.0, n)
    elif scatter == "log-normal":
        factor = np.exp(0.5 * rng.standard_normal(n))
    return mean * np.exp(1.2 * (x - 0.5)) * factor, x


def probabilities(
    rng: Generator, size: Size, noise: FloatArray | float = 0.0
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Covariate of p, p as it says, and p with noise of its logit."""
    z = rng.random(size)
    logit = -0.4 + 2 * (z - 0.5)
    return z, expit(logit), expit(logit + noise)


def tensor(y: IntArray, z: FloatArray, x: FloatArray) -> CountTensor:
    """Sites × visits with a covariate of p and one of λ."""
    return CountTensor(
        y.shape,
        np.argwhere(np.ones(y.shape, dtype=bool)),
        y.ravel(),
        attributes=z.reshape(-1, 1),
        rate_attributes=np.repeat(x, y.shape[1])[:, None],
        modes=["site", "visit"],
    )


def sound(scatter: str, mean: float) -> Draw:
    """Tables of the model, with factors of sites that are gamma, log-normal or 1."""

    def draw(rng: Generator, size: Size) -> tuple[CountTensor, IntArray, FloatArray]:
        rate, x = sites(rng, size[0], scatter, mean)
        n = rng.poisson(rate)
        z, p, _ = probabilities(rng, size)
        return tensor(rng.binomial(n[:, None], p), z, x), n, p

    return draw


def plain(mean: float, p: float) -> Draw:
    """Tables of the model with one λ and one p, of which covariates say nothing."""

    def draw(rng: Generator, size: Size) -> tuple[CountTensor, IntArray, FloatArray]:
        n = rng.poisson(mean, size[0])
        y = rng.binomial(n[:, None], p, size)
        return tensor(y, rng.random(size), rng.random(size[0])), n, np.full(size, p)

    return draw


def violated(kind: str) -> Draw:
    """Tables that break one assumption."""

    def draw(rng: Generator, size: Size) -> tuple[CountTensor, IntArray, FloatArray]:
        rate, x = sites(rng, size[0], "gamma")
        n = rng.poisson(rate)
        noise: FloatArray | float = 0.0
        there = np.repeat(n[:, None], size[1], axis=1)
        if kind == "empty sites":
            there = there * (rng.random(size[0]) < 0.6)[:, None]
        elif kind == "observers":
            noise = rng.normal(0, 1.0, 8)[rng.integers(0, 8, size)]
        elif kind == "a covariate of λ moves p":
            noise = -0.6 * (x - x.mean())[:, None] / x.std()
        elif kind == "sites differ in p":
            noise = rng.normal(0, 1.2, size[0])[:, None]
        elif kind == "coming and going":
            for v in range(1, size[1]):
                stay = rng.binomial(there[:, v - 1], 0.6)
                there[:, v] = stay + rng.poisson(0.4 * rate)
        elif kind == "moving to the next site":
            away = rng.binomial(there, 0.35)
            there = there - away + np.roll(away, 1, axis=0)
        elif kind == "removal":
            for v in range(1, size[1]):
                there[:, v] = there[:, v - 1] - rng.binomial(there[:, v - 1], 0.25)
        z, p, own = probabilities(rng, size, noise)
        y = rng.binomial(there, own)
        if kind == "double counts":
            y = y + rng.binomial(y, 0.5)
        elif kind == "animals differ in p":
            site = np.repeat(np.arange(size[0]), n)
            each = expit(logit(p[site]) + rng.standard_normal((len(site), 1)))
            y = np.zeros(size, dtype=np.int64)
            np.add.at(y, site, rng.random(each.shape) < each)
        return tensor(y, z, x), there[:, 0], p

    return draw


def histories(deviation: float, habit: float = 0.0) -> Draw:
    """Tables of captures, whose animals differ in logit p by this standard deviation.

    And change it by `habit` once they were caught.
    """

    def draw(rng: Generator, size: Size) -> tuple[CountTensor, IntArray, FloatArray]:
        n = rng.poisson(sites(rng, size[0], "log-normal", 3.0)[0])
        site = np.repeat(np.arange(size[0]), n)
        z, p, _ = probabilities(rng, size)
        own = deviation * rng.standard_normal((len(site), 1))
        chance, usual = rng.random((len(site), size[1])), -0.4 + 2 * (z[site] - 0.5) + own
        caught = np.zeros(chance.shape, dtype=bool)
        for visit in range(size[1]):
            before = caught[:, :visit].any(axis=1)
            caught[:, visit] = chance[:, visit] < expit(usual[:, visit] + habit * before)
        seen = caught.any(axis=1)
        texts = ["".join("01"[each] for each in row) for row in caught[seen].astype(int)]
        levels = range(size[0])
        counts = CountTensor.from_histories(
            site[seen], texts, levels=levels, attributes=z[..., None]
        )
        return counts, n, p

    return draw


def lists(dependence: float) -> Draw:
    """Tables of persons on lists, by whom one of two changes logit p of the other by so much."""

    def draw(rng: Generator, size: Size) -> tuple[CountTensor, IntArray, FloatArray]:
        n, p = size[0], rng.uniform(0.15, 0.5, size[1])
        on = rng.random(size) < p
        one, other = np.sort(rng.choice(size[1], 2, replace=False))
        now = expit(logit(p[other]) + dependence * (on[:, one] - p[one]))
        on[:, other] = rng.random(n) < now
        seen = on[on.any(axis=1)].astype(int)
        texts = ["".join(map(str, row)) for row in seen.tolist()]
        counts = CountTensor.from_histories(["all"] * len(texts), texts)
        return counts.with_detection_by("visit"), np.array([n]), p

    return draw


def removal(rng: Generator, size: Size) -> tuple[CountTensor, IntArray, FloatArray]:
    """Tables of visits that remove what they count, fitted as such."""
    rate, x = sites(rng, size[0], "gamma")
    n = rng.poisson(rate)
    z, p, _ = probabilities(rng, size)
    left, y = n.copy(), np.zeros(size, dtype=np.int64)
    for visit in range(size[1]):
        y[:, visit] = rng.binomial(left, p[:, visit])
        left -= y[:, visit]
    return tensor(y, z, x).with_protocol("removal"), n, p


def first_counts(*, said: bool) -> Draw:
    """Tables of animals by the interval in which each was counted first, as long as labels say.

    Or as they do not: where intervals differ in length, so does p.
    """

    def draw(rng: Generator, size: Size) -> tuple[CountTensor, IntArray, FloatArray]:
        n = rng.poisson(sites(rng, size[0], "gamma")[0])
        ends = np.append(0, np.cumsum(rng.permutation([1, 2, 3, 4, 5])[: size[1]]))
        hazard = rng.uniform(0.08, 0.2)
        p = np.diff(-np.exp(-hazard * ends))
        y = rng.multinomial(n, [*p, 1 - p.sum()])[:, :-1]
        labels = [f"{a}-{b} min" if said else f"pass {b}" for a, b in pairwise(ends)]
        counts = CountTensor.from_dense(
            y, labels=[list(range(size[0])), labels], modes=["site", "pass"]
        )
        usual = -np.expm1(-hazard * ends[-1] / size[1])
        return counts.with_protocol("removal"), n, np.full(size, usual)

    return draw


def transects(point: bool, shape: float = 0.0, on_line: float = 1.0) -> Draw:
    """Tables of animals by band of distance.

    With a detection function that is half-normal, or hazard-rate with this shape, and so high at
    distance 0.
    """

    def draw(rng: Generator, size: Size) -> tuple[CountTensor, IntArray, FloatArray]:
        n = rng.poisson(sites(rng, size[0], "gamma")[0])
        site = np.repeat(np.arange(size[0]), n)
        distance = rng.random(len(site)) ** (0.5 if point else 1.0)
        ends = np.arange(size[1] + 1) / size[1]
        fine = np.linspace(1e-6, 1, 1000 * size[1])

        def seen(d: FloatArray) -> FloatArray:
            ratio = d / 0.45
            g = -np.expm1(-(ratio**-shape)) if shape else np.exp(-(ratio**2) / 2)
            return np.asarray(on_line * g)

        found = rng.random(len(site)) < seen(distance)
        band = np.minimum((distance[found] * size[1]).astype(np.int64), size[1] - 1)
        y = np.zeros(size, dtype=np.int64)
        np.add.at(y, (site[found], band), 1)
        area = fine if point else np.ones_like(fine)
        both = [(area * each).reshape(size[1], -1).sum(axis=1) for each in (seen(fine), 1.0)]
        bands = [f"{low:g}-{high:g}" for low, high in pairwise(ends)]
        counts = CountTensor.from_dense(
            y, labels=[list(range(size[0])), bands], modes=["site", "distance"]
        )
        counts = counts.with_protocol("point transect" if point else "line transect")
        return counts, n, np.broadcast_to(both[0] / both[1], size)

    return draw


def several(p: tuple[float, float], kind: str = "") -> Draw:
    """Tables of 3 to 9 species, whose p lies in this range, with or without a broken assumption."""

    def draw(rng: Generator, size: Size) -> tuple[CountTensor, IntArray, FloatArray]:
        n_species = int(rng.integers(3, 10))
        of_species = rng.uniform(*p, n_species)[:, None]
        rate = np.outer(rng.gamma(3.0, 1 / 3.0, size[0]), rng.gamma(3.0, 1.0, n_species))
        if kind == "sites of their own":
            rate = rate * rng.gamma(3.0, 1 / 3.0, rate.shape)
        n = rng.poisson(rate)
        there = np.repeat(n[..., None], size[1], axis=2)
        logit: FloatArray = np.log(of_species / (1 - of_species))
        if kind == "coming and going":
            for v in range(1, size[1]):
                there[..., v] = rng.binomial(there[..., v - 1], 0.6) + rng.poisson(0.4 * rate)
        elif kind == "observers":
            logit = logit + rng.normal(0, 1.0, (size[0], 1, size[1]))
        chance = np.broadcast_to(expit(logit), there.shape)
        y = rng.binomial(there, chance)
        if kind == "double counts":
            y = y + rng.binomial(y, 0.5)
        counts = CountTensor.from_dense(y, modes=["site", "species", "visit"])
        return counts.with_detection_by("species"), n, chance

    return draw


def few_species(spread: float) -> Draw:
    """Tables of 2 or 3 species with one p, at many sites of this standard deviation of log λ."""

    def draw(rng: Generator, size: Size) -> tuple[CountTensor, IntArray, FloatArray]:
        rate = np.exp(
            rng.normal(0, spread, (size[0], 1)) + rng.normal(0, 0.5, int(rng.integers(2, 4)))
        )
        n = rng.poisson(rng.uniform(0.7, 3.0) * rate)
        z = np.broadcast_to(rng.normal(size=(size[0], 1, size[1])), (*n.shape, size[1]))
        chance = expit(rng.uniform(-0.5, 0.2) + 0.5 * z)
        counts = CountTensor.from_dense(
            rng.binomial(n[..., None], chance),
            attributes=z[..., None],
            modes=["site", "species", "visit"],
        )
        return counts, n, chance

    return draw


def community(kind: str = "") -> Draw:
    """Tables of 10 to 40 species in two patterns of sites, some with far more animals than others.

    Logit p of species has a standard deviation of .7, and one p is fitted where `kind` says so.
    """

    def draw(rng: Generator, size: Size) -> tuple[CountTensor, IntArray, FloatArray]:
        n_species = int(rng.integers(10, 41))
        rate = rng.gamma(0.7, 1.0, (size[0], 2)) @ rng.gamma(0.7, 1.0, (n_species, 2)).T
        n = rng.poisson(rng.uniform(1.5, 4.0) * rate / rate.mean())
        logit = rng.normal(rng.uniform(-1.0, 0.0), 0.7, (n_species, 1))
        if kind == "observers":
            logit = logit + rng.normal(0, 1.0, (size[0], 1, size[1]))
        chance = np.broadcast_to(expit(logit), (*n.shape, size[1]))
        y = rng.binomial(n[..., None], chance)
        counts = CountTensor.from_dense(y, modes=["site", "species", "visit"])
        return counts if kind == "one p" else counts.with_detection_by("species"), n, chance

    return draw


SOUND: dict[str, tuple[Draw, tuple[Size, ...]]] = {
    f"{name}, mean {mean:g}": (sound(name, mean), _SIZES)
    for name in ("none", "gamma", "log-normal")
    for mean in (3.0, 8.0)
}
SOUND |= {
    f"log-normal, mean 3, {name}": (sound("log-normal", 3.0), (size,))
    for name, size in _OWN_SIZES.items()
}
SOUND |= {
    f"one λ of {mean:g}, p {p:g}, {n} × 3": (plain(mean, p), ((n, 3),))
    for mean, p, n in ((6.0, 0.5, 60), (3.0, 0.4, 60), (2.0, 0.3, 100))
}
SOUND["histories"] = (histories(0.0), (_OF_HISTORIES,))
SOUND["lists of persons"] = (lists(0.0), _OF_LISTS)
SOUND["removal, fitted as such"] = (removal, _SIZES)
SOUND["first counts by intervals that differ"] = (first_counts(said=True), _SIZES)
SOUND |= {
    f"{'point' if point else 'line'} transect, {name}": (transects(point, shape), _OF_TRANSECTS)
    for point in (False, True)
    for name, shape in (("half-normal", 0.0), ("hazard-rate", 3.0))
}
SOUND |= {
    "several species": (several(_USUAL), _OF_SEVERAL),
    "several species, sites of their own": (several(_USUAL, "sites of their own"), _OF_SEVERAL),
    "several species, p .1 to .3": (several((0.1, 0.3)), _OF_SEVERAL),
    "few species, many sites that are alike": (few_species(0.0), _OF_MANY),
    "few species, many sites that differ": (few_species(0.5), _OF_MANY),
    "community": (community(), _OF_COMMUNITIES),
}
VIOLATED = {
    name: (violated(name), _SIZES)
    for name in (
        "observers",
        "coming and going",
        "moving to the next site",
        "double counts",
        "a covariate of λ moves p",
        "sites differ in p",
        "animals differ in p",
        "empty sites",
        "removal",
    )
}
VIOLATED["histories, animals differ in p"] = (histories(1.2), (_OF_HISTORIES,))
VIOLATED["histories of 2 visits, animals differ in p"] = (histories(1.2), ((60, 2),))
VIOLATED |= {
    f"histories, animals {verb} traps": (histories(0.0, sign * math.log(2.5)), (_OF_HISTORIES,))
    for verb, sign in (("seek", 1), ("shun", -1))
}
VIOLATED |= {
    f"lists, one {verb} by another": (lists(sign), _OF_LISTS)
    for verb, sign in (("raised", 1.0), ("lowered", -1.0))
}
VIOLATED |= {
    f"several species, {kind}": (several(_USUAL, kind), _OF_SEVERAL)
    for kind in ("observers", "coming and going", "double counts")
}
VIOLATED |= {
    f"community, {kind}": (community(kind), _OF_COMMUNITIES) for kind in ("one p", "observers")
}
VIOLATED["first counts by intervals taken as alike"] = (first_counts(said=False), _SIZES)
VIOLATED["line transect, .8 seen on the line"] = (transects(False, 0.0, 0.8), _OF_TRANSECTS)


def row(draw: Draw, sizes: tuple[Size, ...], seeds: range) -> list[str]:
    """Fit a table of each seed; return the figures of a kind."""
    found, reasons = [], list[str]()
    began = time.process_time()
    for seed in seeds:
        counts, n, p = draw(np.random.default_rng(seed), sizes[seed % len(sizes)])
        rank = 2 if sizes is _OF_COMMUNITIES else 1
        result = fit(counts, FitSettings(rank=rank, closed=[counts.modes[-1]]))
        population = result.population
        assert population is not None
        z = counts.attributes if counts.n_attributes else np.empty((counts.n_observed, 0))
        each, number = result.detection(z, spread=True), population.numbers()
        flagged = bool(population.doubts)
        held = number.low[0] <= n.sum() <= number.high[0]
        ratio = number.estimate[0] / n.sum()
        shown = [coverage(p.ravel(), each.low, each.high), held, ratio - 1]
        found.append([flagged, held or flagged, ratio, *(shown if not flagged else [np.nan] * 3)])
        reasons += [doubt.name.lower() for doubt in population.doubts]
    table = np.array(found, dtype=float)
    flagged, right, _, *of_shown = table.mean(axis=0)
    if flagged < 1:
        of_shown = list(np.nanmean(table[:, 3:], axis=0))
    often = sorted(set(reasons), key=reasons.count, reverse=True)
    return [
        f"{flagged:.3f}",
        f"{1 - right:.3f}",
        f"{np.median(table[:, 2]):.2f}",
        *("–" if np.isnan(value) else f"{value:.3f}" for value in of_shown),
        ", ".join(f"{each} {reasons.count(each)}" for each in often),
        f"{(time.process_time() - began) / len(seeds):.1f}",
    ]


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    kinds = SOUND | VIOLATED
    parser.add_argument("--kinds", nargs="+", choices=kinds, default=list(kinds))
    parser.add_argument("--seeds", type=int, default=40)
    parser.add_argument("--first", type=int, default=1000)
    parser.add_argument("--write", type=Path)
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    seeds, rows = range(chosen.first, chosen.first + chosen.seeds), []
    for name in chosen.kinds:
        rows.append(["sound" if name in SOUND else "violated", name, *row(*kinds[name], seeds)])
        print(*rows[-1], flush=True)
    header = ["table", "kind", "flagged", "wrong", "N over true", "p held", "N held", "bias of N"]
    note = (
        f"{', '.join(f'{n} × {visits}' for n, visits in _SIZES)} sites × visits in turn, histories "
        f"{' × '.join(map(str, _OF_HISTORIES))}, lists "
        f"{', '.join(f'{n:,} persons × {k}' for n, k in _OF_LISTS)}, several species "
        f"{', '.join(f'{n} × 3 to 9 × {visits}' for n, visits in _OF_SEVERAL)}, few species "
        f"{', '.join(f'{n} × 2 or 3 × {visits}' for n, visits in _OF_MANY)}, communities "
        f"{', '.join(f'{n} × 10 to 40 × {visits}' for n, visits in _OF_COMMUNITIES)}; seeds "
        f"{seeds[0]} to {seeds[-1]}, on which nothing was chosen. Wrong is the share of tables "
        "that are not flagged and whose 90 % interval of N misses it. N over true is a median over "
        "all tables; where the level is flagged no reader sees N. Of tables that are not flagged: "
        "the shares of true p and of true N inside nominal 90 % intervals, and the mean error of N."
    )
    text = grid([*header, "reasons", "seconds"], rows)
    parts = ["# Levels that cannot be believed", machine(), note, text]
    publish("\n\n".join(parts), chosen.write)


if __name__ == "__main__":
    main()
