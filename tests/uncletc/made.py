"""What tests need and nobody measured: a fit made of random parts, a data set of counties."""

import io
from typing import Any

import numpy as np
import pandas as pd
import torch
from numpy.typing import ArrayLike, NDArray

from uncletc import CountTensor, DetectionNetwork, Fit, FitSettings, Iteration, StopReason
from uncletc.datasets import Dataset, Provenance


def table_of(text: str) -> pd.DataFrame:
    """A table written in columns, separated by two or more spaces."""
    return pd.read_csv(io.StringIO(text), sep=" {2,}", engine="python", dtype={"fips": str})


def dataset_of(
    counts: CountTensor, table: Any = None, *, name: str = "x", simulated: bool = True, **more: Any
) -> Dataset:
    """A data set of which nothing is known but its counts and its table."""
    nothing = Provenance(simulated=simulated, period="", sources=(), rules=())
    return Dataset(name=name, title=name, counts=counts, table=table, provenance=nothing, **more)


def county_dataset(counts: CountTensor, table: pd.DataFrame, daily: ArrayLike) -> Dataset:
    """A data set of counties, with what each of them reported on each day."""
    return dataset_of(counts, table, county_counts=np.array(daily, dtype=float))


def low_rank(
    shape: tuple[int, ...], rank: int, observed: float
) -> tuple[CountTensor, NDArray[np.int64]]:
    """Counts that equal a low-rank tensor of whole numbers, and all of that tensor."""
    rng = np.random.default_rng(0)
    every = np.zeros(shape, dtype=int)
    for _ in range(rank):
        component = np.ones((), dtype=int)
        for size in shape:
            component = np.multiply.outer(component, rng.integers(1, 9, size))
        every += component
    entries = np.argwhere(np.ones(shape))
    rows = np.sort(rng.permutation(len(entries))[: round(observed * len(entries))])
    return CountTensor(shape, entries[rows], every[tuple(entries[rows].T)]), every


def removed(rng: np.random.Generator, n: ArrayLike, p: ArrayLike) -> NDArray[np.int64]:
    """What each pass catches of the n animals of each site, of those that are left by then.

    p is that of each pass (K,), or of each site and pass.
    """
    left, passes = np.array(n), []
    for chance in np.broadcast_to(p, (len(left), np.shape(p)[-1])).T:
        passes.append(rng.binomial(left, chance))
        left = left - passes[-1]
    return np.column_stack(passes)


def histories_of(caught: ArrayLike) -> list[str]:
    """Capture histories, such as "011", of those of the animals that were caught at all."""
    return ["".join(map(str, row)) for row in np.asarray(caught, dtype=int) if row.any()]


def made_fit(
    shape: tuple[int, ...] = (3, 4, 2), rank: int = 2, hidden: Any = (5,), **changes: Any
) -> Fit:
    rng = np.random.default_rng(0)
    network = DetectionNetwork(3, hidden, torch.Generator().manual_seed(0))
    parts: dict[str, Any] = {
        "factors": tuple(rng.uniform(0, 3, (size, rank)) for size in shape),
        "network": network,
        "observed_detection": rng.uniform(0, 1, 7),
        "history": (
            Iteration(iteration=0, objective=1 / 3, seconds=0.1),
            Iteration(iteration=1, objective=-2e100, seconds=0.25),
        ),
        "stop": StopReason.TOLERANCE,
        "settings": FitSettings(rank=rank, hidden=hidden, seed=4),
        "counts_digest": "ab" * 32,
        **changes,
    }
    return Fit(**parts)
