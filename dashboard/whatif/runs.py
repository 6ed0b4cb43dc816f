"""Which fits the What-if page asks for, and how far they are. Nothing here calls Streamlit.

Each setting is fitted twice: once to all its counts, for p, and once without a random tenth of
the observed entries, which that second fit then predicts.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from dashboard.work.fit_orders import Orders, Task
from dashboard.work.service import fit_key
from uncletc import CountTensor, Fit, FitSettings

Part = Literal["all", "first half", "second half"]
Parameter = Literal["rank", "μ", "units", "layers"]
Solver = Literal["joint", "bcd"]

PARTS: tuple[Part, ...] = ("all", "first half", "second half")
SWEEPS: dict[Parameter, str] = {
    "rank": "rank",
    "μ": "μ",
    "units": "units per layer",
    "layers": "hidden layers",
}
_VALUES: dict[Parameter, tuple[int, ...]] = {
    "rank": (2, 5, 10, 15, 20),
    "μ": (10, 100, 500, 2000, 10000),
    "units": (5, 10, 20, 35, 50),
    "layers": (0, 1, 2, 3, 5),
}
_USUAL_UNITS = 20  # where the setting that a sweep starts from has no hidden layer
_BCD_ITERATIONS = 100  # the paper's rule
_HELD_SHARE = 0.1
_HELD_SEED = 0


@dataclass(frozen=True, kw_only=True)
class Run:
    """One setting of the page: how to fit, and to which part of the counts.

    Attributes
    ----------
    settings : FitSettings
    part : {"all", "first half", "second half"}
        Of the last mode: days or visits.
    """

    settings: FitSettings
    part: Part = "all"


def make_settings(
    *, rank: int, mu: float, layers: int, units: int, members: int, solver: Solver, seed: int
) -> FitSettings:
    """Return settings; block coordinate descent has one member and ends as the paper says."""
    settings = FitSettings(
        rank=rank, mu=float(mu), hidden=(units,) * layers, seed=seed, members=members
    )
    if solver == "bcd":
        return replace(settings, solver="bcd", members=1, max_iter=_BCD_ITERATIONS)
    return settings


def describe_run(run: Run, last_mode: str) -> str:
    """What a reader needs to recognise a setting, in one line."""
    settings = run.settings
    hidden = settings.hidden
    parts = [
        f"rank {settings.rank}",
        f"μ {settings.mu:g}",
        f"{len(hidden)} × {hidden[0]} units" if hidden else "linear g",
        f"{settings.members} members" if settings.members > 1 else "",
        "block coordinate descent" if settings.solver.name == "bcd" else "",
        f"seed {settings.seed}",
        f"{run.part} of the {last_mode}s" if run.part != "all" else "",
    ]
    return ", ".join(part for part in parts if part)


def differences(a: Run, b: Run) -> str:
    """What A and B differ in, in words."""
    told = {
        "rank": (a.settings.rank, b.settings.rank),
        "μ": (f"{a.settings.mu:g}", f"{b.settings.mu:g}"),
        "hidden layers": (len(a.settings.hidden), len(b.settings.hidden)),
        "units": (a.settings.hidden[:1], b.settings.hidden[:1]),
        "members": (a.settings.members, b.settings.members),
        "solver": (a.settings.solver.name, b.settings.solver.name),
        "seed": (a.settings.seed, b.settings.seed),
        "counts": (a.part, b.part),
    }
    changed = []
    for name, (first, second) in told.items():
        if first == second or (name == "units" and not (first and second)):
            continue
        first, second = (v[0] if isinstance(v, tuple) else v for v in (first, second))
        changed.append(f"{name} ({first} → {second})")
    if not changed:
        return "A and B are the same setting: change one of them to compare."
    return f"From A to B: {', '.join(changed)}."


def held_rows(counts: CountTensor) -> NDArray[np.int64]:
    """Rows of the random tenth of the observed entries that second fits do not see, in order."""
    n = max(round(_HELD_SHARE * counts.n_observed), 1)
    return np.sort(np.random.default_rng(_HELD_SEED).permutation(counts.n_observed)[:n])


@lru_cache(maxsize=8)  # copies of the attributes, some MB each
def visible(counts: CountTensor, part: Part, held_out: bool) -> CountTensor:
    """Return the counts that a fit may see: of one part, with or without the held-out entries.

    Attributes of all entries stay, so that p of each is defined whatever was seen.
    """
    if part == "all" and not held_out:
        return counts  # the very fit that other pages show
    steps, half = counts.indices[:, -1], half_of(counts)
    keep = {"all": steps >= 0, "first half": steps < half, "second half": steps >= half}[part]
    if held_out:
        keep[held_rows(counts)] = False
    return counts.subset(keep)


def half_of(counts: CountTensor) -> int:
    """Where the second half of the last mode begins."""
    return counts.shape[-1] // 2


def task(counts: CountTensor, run: Run, *, held_out: bool = False) -> Task:
    """Return the fit of a setting, or its second fit without the held-out entries."""
    seen = visible(counts, run.part, held_out)
    return Task(fit_key(seen, run.settings), seen, run.settings)


def tasks(counts: CountTensor, runs: Iterable[Run]) -> list[Task]:
    """Return both fits of each setting, those to look at first; each fit once."""
    wanted = list(runs)
    both = [task(counts, run, held_out=held) for held in (False, True) for run in wanted]
    return list({each.key: each for each in both}.values())


def value_of(run: Run, parameter: Parameter) -> int:
    """The value that a setting has of a parameter that can be swept."""
    settings = run.settings
    if parameter == "units":
        return settings.hidden[0] if settings.hidden else 0
    if parameter == "layers":
        return len(settings.hidden)
    return settings.rank if parameter == "rank" else int(settings.mu)


def sweep_runs(base: Run, parameter: Parameter) -> dict[int, Run]:
    """Return settings that differ from `base` in one parameter alone, by its value.

    The base's own value is among them. Empty for units where the base has no hidden layer.
    """
    hidden = base.settings.hidden
    if parameter == "units" and not hidden:
        return {}
    units = hidden[0] if hidden else _USUAL_UNITS
    changes = {
        "rank": lambda value: {"rank": value},
        "μ": lambda value: {"mu": float(value)},
        "units": lambda value: {"hidden": (value,) * len(hidden)},
        "layers": lambda value: {"hidden": (units,) * value},
    }[parameter]
    values = sorted({*_VALUES[parameter], value_of(base, parameter)})
    return {
        value: replace(base, settings=replace(base.settings, **changes(value))) for value in values
    }


def sweep_tasks(counts: CountTensor, runs: Iterable[Run]) -> list[Task]:
    """Return both fits of each setting, one setting after the other."""
    return [task(counts, run, held_out=held) for run in runs for held in (False, True)]


def fits(mine: Orders, counts: CountTensor, run: Run) -> tuple[Fit | None, Fit | None]:
    """The fit of a setting and its second one, each None where it is not there yet."""
    first, second = (task(counts, run, held_out=held).key for held in (False, True))
    return mine.service.lookup(first), mine.service.lookup(second)
