"""Rabbits in an enclosure, and fish of a stretch of stream that was emptied afterwards."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.truth.known import Case, Truth
from uncletc import CountTensor, FitSettings

_NIGHTS = 18
# The nights at which each of 76 rabbits was caught; "8x7": eight of them at the seventh alone.
_CAUGHT = """
8x7 7x11 6x15 6x8 4x14 4x4 3x1,18 2x18 14,18 13 11,18 11,17 10 9 8,17 7,15 7,11,14 6 5 5,7,11
5,6,9 5,6,7,8 4,18 4,15 4,13 4,10,18 4,8,17 4,7,12 4,7,11,14 3 3,17 3,12 2,9,12,18 2,7 2,5,8,12
2,4,7,11 2,3,5,6,8,10,11 2,3,4 1,12 1,5 1,3,9 1,3,5,6 1,2,3,7,11,15 1,2,3,4,7,11
"""
_DARTERS = (180, 115, 94, 84, 75, 58, 60)  # caught and removed in each of seven passes


def _histories() -> list[str]:
    found = []
    for each in _CAUGHT.split():
        times, _, nights = each.rpartition("x")
        caught = {int(night) for night in nights.split(",")}
        history = "".join("01"[night in caught] for night in range(1, _NIGHTS + 1))
        found += [history] * int(times or 1)
    return found


def _case(name: str, counts: CountTensor, mode: str, number: float) -> Case:
    return Case(
        name=name,
        counts=counts,
        settings=FitSettings(rank=1, closed=[mode]),
        number=number,
        groups=np.full(counts.n_observed, -1),
        detection=np.zeros(0),
        covariates={},
    )


def _cases(_: Sequence[Path]) -> list[Case]:
    histories = _histories()
    rabbits = CountTensor.from_histories(["all"] * len(histories), histories)
    darters = CountTensor.from_dense(np.array([_DARTERS]), modes=["site", "pass"])
    return [
        _case("rabbits", rabbits, "visit", 135.0),
        _case("rabbits, p by night", rabbits.with_detection_by("visit"), "visit", 135.0),
        _case("darters", darters.with_protocol("removal"), "pass", 1151.0),
    ]


TRUTH = Truth(
    title="Rabbits and darters",
    source="R packages RMark, edwards.eberhardt, and FSAdata, DarterMahon",
    licence="GPL (>= 2)",
    truth="135 cottontail rabbits in an enclosure, of which live traps caught 76 (Edwards and "
    "Eberhardt, 1967); 1,151 fantail darters, when electrofishing had removed 666 and poison the "
    "others (Mahon, 1980)",
    files=(),
    cases=_cases,
)
