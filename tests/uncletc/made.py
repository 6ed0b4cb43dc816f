"""What tests need and nobody measured: a fit made of random parts, a data set of counties."""

import io
from typing import Any

import numpy as np
import pandas as pd
import torch
from numpy.typing import ArrayLike

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
