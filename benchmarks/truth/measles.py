"""Measles in England and Wales, 1944–64: nearly every child had it, so births are the truth."""

import zipfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.truth.known import Case, Truth, by_level, file
from uncletc import CountTensor, FitSettings, Observations


def _cases(paths: Sequence[Path]) -> list[Case]:
    with zipfile.ZipFile(paths[0]) as packed:
        weekly, births, people, place = (
            pd.read_csv(packed.open(f"ew{name}.csv"))
            for name in ("Mu4464", "Bu4464", "Pu4464", "XYu4464")
        )
    towns = [name for name in people if name in weekly and name != "Unnamed: 0"]
    year = np.floor(weekly.index.to_numpy(dtype=float)).astype(int) - 44
    whole = year < len(births)  # the last weeks are of a year without births
    y = weekly[towns][whole].groupby(year[whole]).sum().to_numpy().T.astype(int)
    size = people[towns].to_numpy(dtype=float).T
    where = np.argwhere(np.ones(y.shape, dtype=bool))
    longitude, latitude = place[towns].to_numpy(dtype=float)
    growth = np.log(size[:, -1] / size[:, 0])
    columns = {
        "people": np.log(size.mean(axis=1)),
        "longitude": longitude,
        "latitude": latitude,
        "growth": growth,
        "cases per person": np.log((y.sum(axis=1) + 0.5) / size.sum(axis=1)),
    }

    names = list(columns)
    counts = CountTensor(
        y.shape,
        where,
        y.ravel(),
        attributes=np.column_stack(list(columns.values()))[where[:, 0]],
        attribute_names=names,
        modes=["town", "year"],
        exposure=size,
    )
    plain = counts.with_roles(detection=names[:4])
    on_rate = counts.with_roles(detection=names[4:], rate=names[:4])
    both = counts.with_roles(rate=names)
    born = births[towns].to_numpy().T.astype(int)
    seen = np.random.default_rng(0).permutation(len(towns)) < len(towns) // 10
    some = np.argwhere(np.repeat(seen[:, None], y.shape[1], axis=1))
    of_births = Observations("births", some, born[seen].ravel(), known_detection=1.0)
    detection = y.sum(axis=1) / born.sum(axis=1)
    effects = ["town", "year"]
    return [
        Case(
            name=f"measles{name}",
            counts=counts,
            settings=settings,
            groups=by_level(counts, "town"),
            detection=detection,
            covariates=columns,
            folds=folds,
        )
        for name, counts, settings, folds in (
            ("", plain, FitSettings(rank=1), ()),
            (", cases per person on p", on_rate, FitSettings(rank=1), ()),
            (
                ", births of every tenth town",
                both,
                FitSettings(rank=1, effects=effects),
                ((both.with_observations(of_births), ~seen),),
            ),
        )
    ]


TRUTH = Truth(
    title="Measles",
    source="msylau/measles_competing_risks, CvsMeasles.zip",
    licence="none stated",
    truth="p of a town is its notified cases of 21 years over its births",
    files=(
        file(
            "msylau/measles_competing_risks/642769701b27ce89d6aa8489f8dea4cc7c39b424/"
            "data/raw_data/CvsMeasles.zip",
            1439256,
            "a4cb768938c29a3c85cba04e708b0f941c11ccc0fad01477a51f0ff9e40353fe",
        ),
    ),
    cases=_cases,
)
