"""The code for each step of the Lab: whole scripts, since no data set is loaded. Pure."""

from __future__ import annotations

from typing import Any

from dashboard.lab.view import N_DRAWS, N_SHOWN, Setup
from dashboard.lab.view_fits import LeverName, trials
from uncletc import FitSettings

_ENTRY = """\
import numpy as np
import pandas as pd
from scipy.stats import poisson

rate, chance, n_draws = {rate!r}, {chance!r}, {n}
rng = np.random.default_rng({draw!r})
happened = rng.poisson(rate)
counted = (rng.random(happened) < chance).sum()
y = rng.binomial(rng.poisson(rate, n_draws), chance)
twin = rng.binomial(rng.poisson(2 * rate, n_draws), chance / 2)
count = np.arange(max(y.max(), twin.max()) + 1)
table = pd.DataFrame(
    {{
        "count": count,
        "share": np.bincount(y, minlength=len(count)) / n_draws,
        "twin": np.bincount(twin, minlength=len(count)) / n_draws,
        "formula": poisson.pmf(count, rate * chance),
    }}
)
print(happened, "happened,", counted, "counted")
print(table)
"""
_SIMULATE = """\
import numpy as np
import pandas as pd

import uncletc

counts, truth = uncletc.simulate(
    {arguments},
)
"""
_SLICE = """\
y = np.full(counts.shape, np.nan)
y[tuple(counts.indices.T)] = counts.counts
attributed = np.zeros(counts.shape, dtype=bool)
attributed[tuple(counts.attribute_indices.T)] = True
seen = np.isfinite(y)
# The missed events, as the model draws them given those counted.
missed = np.where(seen, truth.rate * (1 - truth.detection), truth.rate)
n = np.nan_to_num(y) + np.random.default_rng(0).poisson(missed)
kinds = np.array(["neither", "attributes only", "count only", "count and attributes"])
row, column = np.indices(counts.shape[:2]) + 1
table = pd.DataFrame(
    {{
        "row": row.ravel(),
        "column": column.ravel(),
        "rate": truth.rate[:, :, {k}].ravel(),
        "true_count": n[:, :, {k}].ravel().astype(int),
        "p": truth.detection[:, :, {k}].ravel(),
        "counted": y[:, :, {k}].ravel(),
        "known": kinds[(2 * seen + attributed)[:, :, {k}].ravel()],
    }}
)
print(table)
"""
_FIT = """\
found = uncletc.fit(counts, uncletc.FitSettings({settings}))
p = found.detection(truth.attributes.reshape(-1, counts.n_attributes))
table = pd.DataFrame(
    {{
        "rate": [uncletc.metrics.mae_rate(found.rate_tensor(), truth.rate)],
        "detection": [uncletc.metrics.mae_detection(p, truth.detection.ravel())],
    }}
)
print(table)
"""
_SCALE = """\
c = {c!r}
rate, p = truth.rate[:{n}, 0, 0], truth.detection[:{n}, 0, 0]
table = pd.DataFrame(
    {{
        "entry": [f"({{i + 1}}, 1, 1)" for i in range({n})],
        "rate": rate * c,
        "p": p / c,
        "expected": rate * p,
        "rate_1": rate,
        "p_1": p,
    }}
)
print(table)
print("c cannot be below", truth.detection.max())
"""
_LEVER = """\
import pandas as pd

import uncletc

simulation = {{
    {arguments},
}}
settings = {{{settings}}}
tried = [
    {tried},
]
rows = []
for value, other_simulation, other_settings in tried:
    for seed in range({first}, {last}):
        counts, truth = uncletc.simulate(**(simulation | other_simulation | {{"seed": seed}}))
        found = uncletc.fit(counts, uncletc.FitSettings(**(settings | other_settings)))
        p = found.detection(truth.attributes.reshape(-1, counts.n_attributes))
        rate = uncletc.metrics.mae_rate(found.rate_tensor(), truth.rate)
        detection = uncletc.metrics.mae_detection(p, truth.detection.ravel())
        rows.append((value, seed, rate, detection))
table = pd.DataFrame(rows, columns=["value", "seed", "rate", "detection"])
print(table)
"""
_SETTINGS = ("rank", "mu", "hidden", "members")  # what the Lab lets a reader choose


def entry_code(rate: float, chance: float, draw: int) -> str:
    """A script that makes the table of :func:`dashboard.lab.view.one_entry`."""
    return _ENTRY.format(rate=rate, chance=chance, draw=draw, n=N_DRAWS)


def slice_code(setup: Setup, slice_number: int) -> str:
    """A script that makes the table of :func:`dashboard.lab.view.slice_table`."""
    return _simulation(setup) + _SLICE.format(k=slice_number)


def fit_code(setup: Setup, settings: FitSettings) -> str:
    """A script that simulates, fits and measures both errors."""
    chosen = ", ".join(f"{name}={value!r}" for name, value in _chosen(settings).items())
    return _simulation(setup) + _FIT.format(settings=chosen)


def scale_code(setup: Setup, c: float) -> str:
    """A script that makes the table of :func:`dashboard.lab.view.rescaled`."""
    return _simulation(setup) + _SCALE.format(c=c, n=N_SHOWN)


def lever_code(lever: LeverName, setup: Setup, settings: FitSettings, n_draws: int) -> str:
    """A script that makes the table of :func:`dashboard.lab.view_fits.lever_table`."""
    arguments, chosen = setup.arguments, _chosen(settings)
    tried = [
        (
            trial.value,
            _differing(trial.setup.arguments, arguments),
            _differing(_chosen(trial.settings), chosen),
        )
        for trial in trials(lever, setup, settings, 1)
    ]
    return _LEVER.format(
        arguments=",\n    ".join(f'"{name}": {value!r}' for name, value in arguments.items()),
        settings=", ".join(f'"{name}": {value!r}' for name, value in chosen.items()),
        tried=",\n    ".join(map(str, tried)),
        first=setup.seed,
        last=setup.seed + n_draws,
    )


def _simulation(setup: Setup) -> str:
    given = ",\n    ".join(f"{name}={value!r}" for name, value in setup.arguments.items())
    return _SIMULATE.format(arguments=given)


def _chosen(settings: FitSettings) -> dict[str, Any]:
    return {name: getattr(settings, name) for name in _SETTINGS}


def _differing(values: dict[str, Any], usual: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value != usual[name]}
