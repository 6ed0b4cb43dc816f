"""Stakes along a line that several observers walked: 150 were set out each year."""

import itertools
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.truth.known import Case, Truth, file, read_rda
from uncletc import CountTensor, FitSettings

_BAND, _NARROW = 4, 2  # m


def _cases(paths: Sequence[Path]) -> list[Case]:
    cases = []
    for path, width in itertools.product(paths, (_BAND, _NARROW)):
        ((name, table),) = read_rda(path).items()
        observers = [column for column in table if column.startswith("Obs")]
        band = np.minimum(table["PD"] // width, 20 // width - 1).astype(int)
        seen, size = table[observers].groupby(band).sum(), band.value_counts().sort_index()
        distance = table["PD"].groupby(band).mean().to_numpy()
        y = seen.to_numpy().astype(int)
        where = np.argwhere(np.ones(y.shape, dtype=bool))
        counts = CountTensor(
            y.shape,
            where,
            y.ravel(),
            attributes=distance[where[:, :1]],
            attribute_names=["distance"],
            modes=["band", "observer"],
        ).with_detection_by("observer")
        if width == _BAND:
            cases.append(_distances(name, table, observers))
        cases.append(
            Case(
                name=f"{name}, {width} m bands",
                counts=counts,
                settings=FitSettings(rank=1, closed=["observer"]),
                number=float(len(table)),
                groups=np.arange(len(where)),
                detection=(y / size.to_numpy()[:, None]).ravel(),
                covariates={"distance": distance[where[:, 0]]},
            )
        )
    return cases


def _distances(name: str, table: pd.DataFrame, observers: Sequence[str]) -> Case:
    """Every observer's walk as a line transect of its own, and nothing known of the others."""
    band = np.minimum(table["PD"] // _BAND, 20 // _BAND - 1).astype(int)
    size = band.value_counts().sort_index()
    y = table[list(observers)].groupby(band).sum().to_numpy().astype(int).T
    labels = [list(observers), [f"{_BAND * k}-{_BAND * (k + 1)}" for k in range(len(size))]]
    counts = CountTensor.from_dense(y, labels=labels, modes=["observer", "band"])
    return Case(
        name=f"{name}, distances alone",
        counts=counts.with_protocol("line transect"),
        settings=FitSettings(rank=1, closed=["band"]),
        number=float(len(table) * len(observers)),
        groups=np.tile(np.arange(len(size)), len(observers)),
        detection=y.sum(axis=0) / (size.to_numpy() * len(observers)),
        covariates={},
    )


_FOLDER = "DistanceDevelopment/mrds/4e1c793d3472f89d4d7054826c0f26eb64e7a0ee/data"
TRUTH = Truth(
    title="Stakes, 1977 and 1978",
    source="R package mrds, stake77 and stake78",
    licence="GPL (>= 2)",
    truth="150 stakes each year; p of an observer in a band is the share of its stakes; "
    "distances alone: as many line transects as observers, each of the 150",
    files=(
        file(
            f"{_FOLDER}/stake77.rda",
            1395,
            "da1a17ecef251377698cbd44186ad767a9267648ede6df605c1d62f299ebc67c",
        ),
        file(
            f"{_FOLDER}/stake78.rda",
            1553,
            "a74a1b37527acc7a2b09fae09855b8dd1652d563e061c809a62b8aa1d5f32570",
        ),
    ),
    cases=_cases,
)
