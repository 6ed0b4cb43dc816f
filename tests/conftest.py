"""Small problems and short fits that many tests share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.starting import QUICK, WHOLE, start_of
from uncletc import CountTensor, Fit, FitSettings, datasets, fit, simulate
from uncletc.datasets import Dataset


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let modules of pages, which often wait, take turns with others: both processors are busy."""
    place: dict[Path, float] = {}
    for pages in (True, False):
        some = [item for item in items if ("dashboard" in item.path.parts) is pages]
        for number, item in enumerate(some):
            place.setdefault(item.path, number / len(some))
    items.sort(key=lambda item: place[item.path])


@pytest.fixture(autouse=True, scope="session")
def quick_start() -> Iterator[None]:
    """Short fits, except in tests that ask for `whole_start`."""
    with start_of(QUICK):
        yield


@pytest.fixture
def whole_start() -> Iterator[None]:
    """The fits that users get: for what one reaches, and for what another process finds."""
    with start_of(WHOLE):
        yield


@pytest.fixture(scope="session")
def small() -> CountTensor:
    """A 6 × 5 × 4 tensor, 60 observed and 48 attributed entries, Ξ ⊂ Ω."""
    counts, _ = simulate(
        (6, 5, 4), 2, observed=0.5, attributed=0.4, similar=0.1, n_attributes=3, seed=5
    )
    return counts


@pytest.fixture(scope="session")
def short_fit() -> Callable[..., Fit]:
    """Some iterations of block coordinate descent, ended by a callback: none run out."""

    def run(
        counts: CountTensor, iterations: int = 4, *, start: Fit | None = None, **settings: Any
    ) -> Fit:
        chosen = {"rank": 2, "hidden": (4,), "solver": "bcd", **settings}
        if chosen["solver"] == "bcd":
            chosen.setdefault("epochs", 2)
        return fit(
            counts,
            FitSettings.of(max_iter=iterations + 1, **chosen),
            start=start,
            callback=lambda record: record.iteration >= iterations,
        )

    return run


@pytest.fixture(scope="session")
def small_fit(small: CountTensor, short_fit: Callable[..., Fit]) -> Fit:
    return short_fit(small)


@pytest.fixture(scope="session")
def covid_twin() -> Dataset:
    return datasets.load("covid-twin")


@pytest.fixture(scope="session")
def ppi_twin() -> Dataset:
    return datasets.load("ppi-twin")


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20240101)
