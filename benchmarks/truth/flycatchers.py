"""Alder flycatchers: three intervals of a point count, in which individuals were followed."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.truth.known import Case, Truth, by_level, file
from uncletc import CountTensor, FitSettings


def _cases(paths: Sequence[Path]) -> list[Case]:
    birds = pd.read_csv(paths[0])
    points = list(pd.read_csv(paths[1], index_col=0).index)
    intervals = ["interval1", "interval2", "interval3"]
    y = np.zeros((len(points) * 3, 3), dtype=int)
    row = birds["id"].map(points.index) * 3 + birds["survey"] - 1
    np.add.at(y, row.to_numpy(), birds[intervals].to_numpy())
    counts = CountTensor.from_dense(y, modes=["point and survey", "interval"])
    counts = counts.with_detection_by("interval")
    found = birds[intervals].sum() / len(birds)
    return [
        Case(
            name="flycatchers",
            counts=counts,
            settings=FitSettings(rank=1, closed=["interval"]),
            number=float(len(birds)) / float(1 - (1 - found).prod()),
            groups=by_level(counts, "interval"),
            detection=found.to_numpy(),
            covariates={},
        )
    ]


_FOLDER = "biodiverse/unmarked/5db350fe29665b6610f5f9f66cfd984c757a7ad6/inst/csv"
TRUTH = Truth(
    title="Alder flycatchers",
    source="R package unmarked, alfl",
    licence="GPL (>= 3)",
    truth="98 individuals with histories over three intervals; N counts those never heard, too",
    files=(
        file(
            f"{_FOLDER}/alfl.csv",
            1773,
            "39459dd7def47964964f88835cdb7058c3170322511e78d8ff96bc9661b2b470",
        ),
        file(
            f"{_FOLDER}/alflCovs.csv",
            2271,
            "2b077cbacd693eb31d34477245f2dc2be6b51af5de31b251837ad25add7e02d7",
        ),
    ),
    cases=_cases,
)
