"""Rodents of the Portal project: marked, so that it is known which were alive and not caught."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.truth.known import Case, Truth, by_level, file
from uncletc import CountTensor, FitSettings

_KNOWN = {"DO": 0.72, "DM": 0.65, "PB": 0.65, "OT": 0.46, "PE": 0.46, "PP": 0.32}
_FIRST, _VISITS, _WINDOWS = 240, 3, 24  # new moons


def _cases(paths: Sequence[Path]) -> list[Case]:
    caught = pd.read_csv(paths[0], low_memory=False)
    trapped = pd.read_csv(paths[1])
    species = list(_KNOWN)
    last = _FIRST + _VISITS * _WINDOWS
    caught = caught[caught["species"].isin(species) & caught["period"].between(_FIRST, last - 1)]
    y = np.zeros((24, last - _FIRST, len(species)), dtype=int)
    at = (
        caught["plot"].astype(int) - 1,
        caught["period"].astype(int) - _FIRST,
        caught["species"].map(species.index),
    )
    np.add.at(y, at, 1)
    open_plots = np.zeros(y.shape[:2], dtype=bool)
    inside = trapped[trapped["Period"].between(_FIRST, last - 1) & (trapped["Sampled"] == 1)]
    open_plots[inside["Plot"] - 1, inside["Period"] - _FIRST] = True
    plot, period = np.nonzero(open_plots)
    where = np.column_stack(
        [
            np.repeat(plot * _WINDOWS + period // _VISITS, len(species)),
            np.tile(np.arange(len(species)), len(plot)),
            np.repeat(period % _VISITS, len(species)),
        ]
    )
    counts = CountTensor(
        (24 * _WINDOWS, len(species), _VISITS),
        where,
        y[plot, period].ravel(),
        modes=["plot and season", "species", "month"],
        labels=[list(range(24 * _WINDOWS)), species, list(range(_VISITS))],
    ).with_detection_by("species")
    total = y.sum(axis=(0, 1)).astype(float)
    return [
        Case(
            name="rodents",
            counts=counts,
            settings=FitSettings(rank=1, closed=["month"]),
            groups=by_level(counts, "species"),
            detection=np.array(list(_KNOWN.values())),
            covariates={"number caught": total},
        )
    ]


_FOLDER = "weecology/PortalData/1c3aae83fb59c25bff6367ae61e4ed0be008a545/Rodents"
TRUTH = Truth(
    title="Rodents",
    source="weecology/PortalData",
    licence="CC0",
    truth="share of animals known to be alive that a month's trapping caught, by species",
    files=(
        file(
            f"{_FOLDER}/Portal_rodent.csv",
            4041338,
            "3ccc02fa71763a2a13ff186f5762e5d990cdb7d3dd2aa976b0f3b32dc1283392",
        ),
        file(
            f"{_FOLDER}/Portal_rodent_trapping.csv",
            185970,
            "a2a6c0ac03e5dbe9b8e92cb4747ffe0be4962d4bed49eaf604294b90d708abae",
        ),
    ),
    cases=_cases,
)
