"""Planned widths of intervals beside those that the planned seasons really bring.

    python -m benchmarks.planning --write benchmarks/results/planning.md

Each seed draws a truth with more places and visits than are fitted at first. A plan is made from
the fit of the first ones; then the season that was planned is drawn from the truth and fitted.
"""

from __future__ import annotations

import argparse
import time
import warnings
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import expit, logit

from benchmarks._report import machine, publish
from uncletc import CountTensor, FitSettings, Joint, Look, fit, rate_tensor, simulate_visits
from uncletc.common.validation import FloatArray
from uncletc.paper.words import grid
from uncletc.planning import PRESENT, Design, Survey, plan
from uncletc.planning.drawing import places_of
from uncletc.planning.widths import Present, measured

MODES = ("site", "species", "visit")
_NAMES = {"detection": "p", "rate": "λ", "total": "total of λ", "scale": "scale"}


@dataclass(frozen=True, kw_only=True)
class Problem:
    """A truth, and what is planned.

    Attributes
    ----------
    now, later : tuple of int
        Sizes of what is fitted at first, and of the truth.
    rank : int
    mean : float
        Mean count.
    level : float
        p where all attributes are 0.
    mu : float
        μ of the counts.
    closed : bool
        Whether visits count the very same events.
    designs : tuple of Design
    """

    now: tuple[int, int, int]
    later: tuple[int, int, int]
    rank: int = 2
    mean: float = 8.0
    level: float = 0.3
    mu: float = 10.0
    closed: bool = False
    designs: tuple[Design, ...]


_MORE = (
    Design(times={"visit": 2}),
    Design(times={"visit": 3}),
    Design(times={"site": 2}),
)
_SURVEYS = (
    Design(survey=Survey(places=5, error=0.3, of="site")),
    Design(survey=Survey(places=15, error=0.3, of="site")),
)
PROBLEMS = {
    "usual": Problem(now=(20, 6, 6), later=(40, 6, 18), designs=_MORE + _SURVEYS),
    "few counts": Problem(now=(20, 6, 6), later=(40, 6, 18), mean=1.5, designs=_MORE + _SURVEYS),
    "p up to 1": Problem(now=(20, 6, 6), later=(40, 6, 18), level=0.7, designs=_MORE + _SURVEYS),
    "closed visits": Problem(
        now=(20, 6, 3), later=(40, 6, 9), mean=5.0, closed=True, designs=_MORE
    ),
}


@dataclass(frozen=True, eq=False)
class World:
    """Everything there is to count, and its truth."""

    problem: Problem
    counts: CountTensor
    rate: FloatArray
    detection: FloatArray

    @classmethod
    def of(cls, problem: Problem, seed: int) -> World:
        """Draw a truth and all counts of it."""
        if problem.closed:
            counts, truth = simulate_visits(
                problem.later[:2], problem.later[2], problem.rank, mean=problem.mean, seed=seed
            )
            dense = np.zeros(counts.shape, dtype=np.int64)
            dense[tuple(counts.indices.T)] = counts.counts
            seen = counts.indices
            rate, p, z = truth.rate, truth.detection, counts.attributes
            return cls(problem, _tensor(counts.shape, seen, dense, z), rate, p)
        rng = np.random.default_rng(seed)
        rate = rate_tensor([rng.gamma(2, 1, (size, problem.rank)) for size in problem.later])
        z = rng.standard_normal((rate.size, 2))
        p = expit(logit(problem.level) + z @ [0.8, -0.5]).reshape(rate.shape)
        rate *= problem.mean / (rate * p).mean()
        y = rng.poisson(rate * p * rng.gamma(problem.mu, 1 / problem.mu, rate.shape))
        seen = np.argwhere(rng.random(rate.shape) < 0.8)
        return cls(problem, _tensor(rate.shape, seen, y, z), rate, p)

    def season(self, design: Design, seed: int) -> CountTensor:
        """What a design really brings: the first levels of each mode, and a survey."""
        now = self.problem.now
        sizes = dict(zip(MODES, now, strict=True))
        sizes |= {mode: round(sizes[mode] * times) for mode, times in design.times}
        shape = tuple(sizes[mode] for mode in MODES)
        inside = (self.counts.indices < shape).all(axis=1)
        known = (self.counts.attribute_indices < shape).all(axis=1)
        season = CountTensor(
            shape,
            self.counts.indices[inside],
            self.counts.counts[inside],
            attributes=self.counts.attributes[known],
            attribute_indices=self.counts.attribute_indices[known],
            modes=MODES,
        )
        if design.survey is None:
            return season
        return season.with_looks(self._surveyed(season, design.survey, seed))

    def _surveyed(self, season: CountTensor, survey: Survey, seed: int) -> Look:
        rng, mu = np.random.default_rng((seed, 1)), self.problem.mu
        sites = rng.permutation(season.shape[0])[: survey.places]
        where = season.indices[np.isin(season.indices[:, 0], sites)]
        p = self.detection[tuple(where.T)]
        _, of = np.unique(where[:, 0], return_inverse=True)
        off = np.exp(survey.error * rng.standard_normal(survey.places))[of]
        mean = self.rate[tuple(where.T)] * p
        y = rng.poisson(mean * rng.gamma(mu, 1 / mu, len(mean)))
        weight = np.bincount(of, y)
        error = survey.error * np.sqrt((weight**2).sum()) / weight.sum()
        told = np.minimum(p * off, 1.0)
        return Look("survey", where, y, known_detection=told, known_error=float(error))

    def widths(self, season: CountTensor, settings: FitSettings) -> pd.DataFrame:
        """Widths of the intervals of a season's fit, and whether they hold the truth."""
        at = World.of_first(self.counts, self.problem.now)
        present = Present.of(at, 2)
        where = tuple(at.indices.T)
        over = self.detection[tuple(season.attribute_indices.T)]
        present = replace(
            present,
            rate=self.rate[where],
            detection=self.detection[where],
            mean_detection=float(over.mean()),
        )
        assert len(np.unique(places_of(at.indices, at.shape, 2))) == present.place.max() + 1
        return pd.DataFrame(measured(fit(season, settings), season, present))

    @staticmethod
    def of_first(counts: CountTensor, shape: tuple[int, ...]) -> CountTensor:
        """The counts of the first levels alone, without attributes."""
        inside = (counts.indices < shape).all(axis=1)
        return CountTensor(shape, counts.indices[inside], counts.counts[inside], modes=MODES)


def _tensor(
    shape: tuple[int, ...], seen: FloatArray, dense: FloatArray, z: FloatArray
) -> CountTensor:
    return CountTensor(
        shape,
        seen,
        dense[tuple(seen.T)],
        attributes=z,
        attribute_indices=np.argwhere(np.ones(shape, dtype=bool)),
        modes=MODES,
    )


def compared(name: str, seed: int, repeats: int) -> pd.DataFrame:
    """Planned and real widths of one seed of a problem."""
    problem = PROBLEMS[name]
    world = World.of(problem, seed)
    settings = FitSettings(
        rank=problem.rank,
        solver=Joint(network=False),
        seed=seed,
        closed=("visit",) if problem.closed else (),
    )
    present = world.season(PRESENT, seed)
    began = time.process_time()
    planned = plan(present, fit(present, settings), problem.designs, repeats=repeats, seed=seed)
    seconds = time.process_time() - began
    rows = []
    for design in planned.designs:
        real = world.widths(world.season(design, seed), settings)
        rows.append(real.assign(design=design.label))
    keys = ["design", "quantity", "scale"]
    both = planned.summary().merge(pd.concat(rows), on=keys, suffixes=("", "_real"))
    return both.assign(problem=name, seed=seed, seconds=seconds)


def report(found: pd.DataFrame) -> list[list[str]]:
    """One row per problem, design, quantity and scale, over seeds."""
    rows = []
    order = ["problem", "design", "quantity", "scale"]
    for key, group in found.groupby(order, sort=False):
        ratio = np.log(group["width"]) / np.log(group["width_real"])
        low, high = ratio.min(), ratio.max()
        problem, design, quantity, scale = key
        rows.append(
            [
                problem,
                design,
                f"{scale} {_NAMES[quantity]}" if quantity != "scale" else _NAMES[quantity],
                f"{np.exp(np.log(group['width']).median()):.3g}",
                f"{np.exp(np.log(group['width_real']).median()):.3g}",
                f"{ratio.median():.2f} ({low:.2f}–{high:.2f})",
                f"{group['held'].mean():.2f}",
                f"{group['held_real'].mean():.2f}",
            ]
        )
    return rows


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--problems", nargs="+", choices=PROBLEMS, default=list(PROBLEMS))
    parser.add_argument("--seeds", nargs="+", type=int, default=[31, 32, 33, 34, 35])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--write", type=Path)
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    found = []
    for name in chosen.problems:
        for seed in chosen.seeds:
            found.append(compared(name, seed, chosen.repeats))
            print(name, seed, f"{found[-1]['seconds'].iloc[0]:.0f} s", flush=True)
    everything = pd.concat(found)
    header = [
        "problem",
        "design",
        "interval of",
        "planned ×",
        "got ×",
        "planned over got",
        "held, planned",
        "held, got",
    ]
    seeds = ", ".join(map(str, chosen.seeds))
    seconds = everything.drop_duplicates(["problem", "seed"])["seconds"].median()
    note = (
        f"Seeds {seeds} of the truth, the fits and the plans; {chosen.repeats} simulated seasons "
        "of each design. Problems are in `benchmarks/planning.py`. Widths are the upper over the "
        "lower end of nominal 90 % intervals, the median over present places and then over seeds. "
        "*Planned*: from the fit of the present season, median over simulated ones. *Got*: of the "
        "fit of the season that was planned, drawn from the truth. *Planned over got*: ratio of "
        "the logarithms of the two, median (least–largest) over seeds; 1 is right. *Held*: share "
        f"of true values within, simulated and real. A plan took {seconds:.0f} s (median)."
    )
    parts = ["# Planning", machine(), note, grid(header, report(everything))]
    publish("\n\n".join(parts), chosen.write)


if __name__ == "__main__":
    main()
