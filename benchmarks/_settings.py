"""The settings of the fits that are judged: the library's defaults, and the paper's for BCD."""

from __future__ import annotations

import json

from uncletc import FitSettings

SOLVERS = {"joint": "the joint solver", "bcd": "block coordinate descent"}
BCD_ITERATIONS = 100  # the paper's rule


def fit_settings(solver: str, members: int, rank: int, seed: int) -> FitSettings:
    """Return the library's defaults but for the arguments, and the paper's iterations of BCD."""
    if solver == "bcd":
        return FitSettings(rank=rank, seed=seed, solver="bcd", max_iter=BCD_ITERATIONS)
    return FitSettings(rank=rank, seed=seed, members=members)


def in_words(solver: str, members: int) -> str:
    """List all settings but the seed and the rank."""
    settings = json.loads(fit_settings(solver, members, rank=1, seed=0).to_json())
    del settings["seed"], settings["rank"]
    options = settings.pop("solver")
    settings = {"solver": options.pop("name"), **settings, **options}
    return ", ".join(f"{name} {value}" for name, value in settings.items())
