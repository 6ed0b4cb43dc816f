"""Small problems and short fits that many tests share.

The library is imported where it is used: the process that hands out tests to others needs none of
it, and they wait until that process has read this file.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    import numpy as np

    from uncletc import CountTensor, Fit
    from uncletc.datasets import Dataset


gc.disable()  # all that is imported stays: to look for garbage in it takes seconds


def pytest_collection_finish() -> None:
    """Look for garbage only among what tests make, as the server does."""
    gc.freeze()
    gc.enable()


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
    from tests.starting import QUICK, start_of

    with start_of(QUICK):
        yield


@pytest.fixture
def whole_start() -> Iterator[None]:
    """The fits that users get: for what one reaches, and for what another process finds."""
    from tests.starting import WHOLE, start_of

    with start_of(WHOLE):
        yield


@pytest.fixture(scope="session")
def small() -> CountTensor:
    """A 6 × 5 × 4 tensor, 60 observed and 48 attributed entries, Ξ ⊂ Ω."""
    from uncletc import simulate

    shares = {"observed": 0.5, "attributed": 0.4, "similar": 0.1}
    counts, _ = simulate((6, 5, 4), 2, **shares, n_attributes=3, seed=5)
    return counts


@pytest.fixture(scope="session")
def short_fit() -> Callable[..., Fit]:
    """Some iterations of block coordinate descent, ended by a callback: none run out."""
    from uncletc import FitSettings, fit

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
    from uncletc import datasets

    return datasets.load("covid-twin")


@pytest.fixture(scope="session")
def ppi_twin() -> Dataset:
    from uncletc import datasets

    return datasets.load("ppi-twin")


@pytest.fixture(scope="session")
def real_covid() -> Dataset:
    """From the public files, which takes five seconds."""
    from uncletc import datasets

    return datasets.load("covid")


@pytest.fixture
def reloaded(tmp_path: Path) -> Callable[[Any], Any]:
    """Counts or a fit as they come back from a file."""

    def reload(saved: Any) -> Any:
        saved.save(tmp_path / "saved.npz")
        return type(saved).load(tmp_path / "saved.npz")

    return reload


@pytest.fixture
def rng() -> np.random.Generator:
    import numpy as np

    return np.random.default_rng(20240101)
