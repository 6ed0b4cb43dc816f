"""Whether p of real COVID-19 counts agrees with outside estimates that no fit has seen.

    UNCLETC_DATA_DIR=... python -m benchmarks.outside --models "roles and signs" --seeds 0 1 2 3 4

One more model is one more item of `MODELS`.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd

from benchmarks.report import grid, machine, publish
from uncletc import ConvergenceWarning, Effect, FitSettings, MisfitWarning, datasets, fit
from uncletc.checking import (
    Agreement,
    OutsideCheck,
    by_cell,
    by_state,
    compare_outside,
    detection_of,
)
from uncletc.common.validation import FloatArray
from uncletc.datasets import Dataset, Outside
from uncletc.datasets.covid_files import FACTS

RANK = 15  # the page's default
SEEDS = [0, 1, 2, 3, 4]
# Least mean correlations over seeds, where one is asked for.
MUST = {("state", "seroprevalence"): 0.30, ("state", "tests"): 0.45, ("cell", "deaths"): 0.35}
_STEP = 0.3  # of log p by one standard deviation of an index: p then spreads about 2-fold


@dataclass(frozen=True, kw_only=True)
class Model:
    """What is fitted, and whose deaths are seen.

    With deaths "elsewhere" each state is judged by a fit that has seen those of others alone.
    """

    roles: bool = True
    signs: bool = True
    effects: Literal["none", "stated", "sharing"] = "none"
    deaths: Literal["none", "elsewhere", "all"] = "none"

    def settings(self, dataset: Dataset, seed: int) -> FitSettings:
        """Return the settings of a seed."""
        effects = [] if self.effects == "none" else list(dataset.effects)
        if self.effects == "sharing":
            effects = [str(replace(Effect.parse(each), orthogonal=False)) for each in effects]
        signs = dataset.roles.signs if self.signs else {}
        return FitSettings(rank=RANK, seed=seed, signs=signs, effects=effects)


MODELS = {
    "all attributes on p": Model(roles=False, signs=False),
    "roles": Model(signs=False),
    "roles and signs": Model(),
    "roles, signs, deaths elsewhere": Model(deaths="elsewhere"),
    "roles, signs, effects": Model(effects="stated"),
    "roles, signs, effects, deaths elsewhere": Model(effects="stated", deaths="elsewhere"),
    "the page's default: roles, signs, effects, deaths": Model(effects="stated", deaths="all"),
    "the same, places sharing with attributes": Model(effects="sharing", deaths="all"),
}

# Attributes whose stated signs make p without any count: what a fit has to add to.
INDICES = {
    "stated signs, no counts": tuple(FACTS.roles.signs),
    "testing gap alone, no counts": ("testing gap",),
}


@dataclass(frozen=True)
class Trial:
    """One fit, held against the outside.

    Attributes
    ----------
    checks : dict of str to OutsideCheck
        By "state" and by "cell".
    detection : ndarray, shape (S,)
        p over Ξ.
    seconds : float
        Of the processor, for the fit.
    """

    checks: dict[str, OutsideCheck]
    detection: FloatArray
    seconds: float

    @classmethod
    def of(
        cls,
        dataset: Dataset,
        observed: FloatArray,
        p: FloatArray,
        outside: Outside,
        seconds: float = 0.0,
    ) -> Trial:
        """Compare p of the observed entries (N,); p over Ξ (S,) is as given."""
        counts, cells = dataset.counts, outside.cells
        states, known = by_state(counts, observed, dataset.table), cells.drop(columns="state")
        checks = {
            "state": compare_outside(states, outside.states),
            "cell": compare_outside(by_cell(counts, observed), known, groups=cells["state"]),
        }
        return cls(checks, p, seconds)


_covid = cache(datasets.load)


def run_trial(model: Model, seed: int, outside: Outside) -> Trial:
    """Fit and compare."""
    began = time.process_time()
    dataset = _covid("covid").with_roles() if model.roles else _covid("covid")
    counts, settings = dataset.counts, model.settings(dataset, seed)
    observed, p = np.full(counts.n_observed, np.nan), np.full(counts.n_attributed, np.nan)
    state = pd.Series(outside.cells["state"], dtype=object)
    # Two halves of the states, always the same.
    halves = np.array_split(np.random.default_rng(0).permutation(sorted(state.unique())), 2)
    for half in halves if model.deaths == "elsewhere" else [None]:
        fitted, judged, known = counts, slice(None), slice(None)
        if model.deaths == "all":
            fitted = counts.with_observations(datasets.deaths_observations(dataset))
        if half is not None:
            deaths = datasets.deaths_observations(dataset, without=sorted(half))
            fitted = counts.with_observations(deaths)
            judged, known = (
                state.reindex(pd.MultiIndex.from_arrays(where[:, :2].T)).isin(half).to_numpy()
                for where in (counts.indices, counts.attribute_indices)
            )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            warnings.simplefilter("ignore", MisfitWarning)
            found = fit(fitted, settings)
        everywhere = found.detection(counts.attributes, counts.attribute_indices)
        unit = everywhere.mean()  # else what deaths elsewhere say of the scale would divide halves
        observed[judged] = detection_of(found, counts)[judged] / unit
        p[known] = everywhere[known] / unit
    return Trial.of(dataset, observed, p, outside, time.process_time() - began)


def index_trial(outside: Outside, attributes: Sequence[str]) -> Trial:
    """Hold the mean of standardised attributes, each times its stated sign, against the outside."""
    dataset = _covid("covid")
    counts, signs = dataset.counts, dataset.roles.signs
    z = (counts.attributes - counts.attributes.mean(axis=0)) / counts.attributes.std(axis=0)
    terms = [signs[name] * z[:, counts.attribute_names.index(name)] for name in attributes]
    index = np.mean(terms, axis=0)
    p = np.exp(_STEP * index / index.std())
    return Trial.of(dataset, p[counts.attribute_rows], p, outside)


def rows_of(name: str, trials: Sequence[Trial]) -> list[list[str]]:
    """Return a row per outside estimate: correlations over seeds, by state and by cell."""
    rows = []
    for k, one in enumerate(trials[0].checks["state"].of_fit):
        row, missed = [name if not k else "", one.second], []
        for level in ("state", "cell"):
            found = [trial.checks[level].of_fit[k] for trial in trials]
            values = np.array([each.estimate for each in found])
            low, high = (np.mean([getattr(each, end) for each in found]) for end in ("low", "high"))
            row += [f"**{values.mean():+.2f}**", f"{values.min():+.2f} to {values.max():+.2f}"]
            row += [f"{low:+.2f} to {high:+.2f}"]
            if values.mean() < MUST.get((level, one.second), -1):
                missed.append(level)
        rows.append([*row, "✗ " + ", ".join(missed) if missed else ""])
    return rows


def seeds_row(name: str, trials: Sequence[Trial]) -> list[str]:
    """Return verdicts, the spread of p, and how alike log p is between seeds."""
    verdicts = sorted({trial.checks["state"].verdict for trial in trials})
    spread = [np.divide(*np.quantile(trial.detection, [0.95, 0.05])) for trial in trials]
    logs = [np.log(trial.detection) for trial in trials]
    between = [float(np.corrcoef(a, b)[0, 1]) for a, b in combinations(logs, 2)] or [np.nan]
    seconds = np.mean([trial.seconds for trial in trials])
    alike = f"{min(between):.2f} ({np.mean(between):.2f})"
    return [name, ", ".join(verdicts), f"{np.mean(spread):.3g}", alike, f"{seconds:.0f}"]


def among_rows(trial: Trial) -> list[list[str]]:
    """Return a row per pair of outside estimates."""

    def cells(one: Agreement) -> list[str]:
        return [f"**{one.estimate:+.2f}**", f"{one.low:+.2f} to {one.high:+.2f}", str(one.n)]

    pairs = zip(trial.checks["state"].among, trial.checks["cell"].among, strict=True)
    return [[f"{s.first} – {s.second}", *cells(s), *cells(c)] for s, c in pairs]


def report(
    found: dict[str, list[Trial]], indices: dict[str, Trial], seeds: Sequence[int], outside: Outside
) -> str:
    """Return the report in Markdown."""
    first = next(iter(found.values()))[0]
    listed = [f"- {one.name}: {one.meaning}" for one in outside.estimates]
    listed += [f"- {name} is missing: {why}" for name, why in outside.missing.items()]
    note = (
        f"Fits of real COVID-19 counts, seeds {', '.join(map(str, seeds))}; p of a place is what "
        "it reported over what the fit says truly happened, Σ y / Σ (y/p). Spearman's rank "
        "correlations with outside estimates that no fit has seen; mean and range over seeds, and "
        "the mean ends of 90% intervals from 1,000 bootstrap samples of states (cells are drawn "
        "by state). Surveys and tests are known by state alone: a cell has those of its state. "
        "'deaths elsewhere': deaths are a second observation process, and each half of the "
        "states is judged by a "
        "fit that has seen the deaths of the other half alone. "
        f"✗ marks a mean below {', '.join(f'{x:+.2f} ({b} by {a})' for (a, b), x in MUST.items())}."
    )
    of_seeds = (
        "Verdict: what the intervals by state allow to say. Spread: 95th over 5th percentile of p "
        "over Ξ. Then the least (and mean) correlation of log p over pairs of seeds. Seconds are "
        "of the processor, per fit."
    )
    levels = ["by state", "range", "interval", "by cell", "range", "interval"]
    every = found | {name: [one] for name, one in indices.items()}
    rows = [row for name, trials in every.items() for row in rows_of(name, trials)]
    parts = [
        "# p against outside estimates",
        machine(),
        note,
        "\n".join(listed),
        "## p against each",
        grid(["model", "against", *levels, "missed"], rows),
        "Rows with no counts are no fits: the mean of standardised attributes, each times the sign "
        "stated for it. What a fit with these signs reaches beyond them is what its counts add. "
        "The testing gap is the share of positive tests; it holds the number of tests.",
        "## Outside estimates against one another",
        "No p can be expected to agree with all of them better than they agree with one another.",
        grid(
            ["pair", "by state", "interval", "states", "by cell", "interval", "cells"],
            among_rows(first),
        ),
        "## Between seeds",
        of_seeds,
        grid(
            ["model", "verdict", "spread", "log p", "seconds"],
            [seeds_row(name, trials) for name, trials in found.items()],
        ),
    ]
    return "\n\n".join(parts)


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line, run, print and optionally write the report."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.outside", description=__doc__)
    parser.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS))
    parser.add_argument("--seeds", nargs="+", type=int, default=SEEDS)
    parser.add_argument("--write", type=Path, metavar="FILE", help="write the report here too")
    chosen = parser.parse_args(arguments)
    outside = datasets.load_outside(_covid("covid"))
    indices = {name: index_trial(outside, names) for name, names in INDICES.items()}
    found: dict[str, list[Trial]] = {}
    for name in chosen.models:
        found[name] = []
        for seed in chosen.seeds:
            found[name].append(run_trial(MODELS[name], seed, outside))
            print(name, seed, *rows_of(name, found[name][-1:]), file=sys.stderr)
    publish(report(found, indices, chosen.seeds, outside), chosen.write)


if __name__ == "__main__":
    main()
