"""Jays of the Swiss breeding bird survey: three visits to 238 squares, territories matched."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.truth.known import Case, Truth, by_level, file, read_rda
from uncletc import CountTensor, FitSettings


def _cases(paths: Sequence[Path]) -> list[Case]:
    jay = read_rda(paths[0])["jay"]
    history, survey = jay["caphist"], jay["covinfo"]
    where, seen, z, x, captures = [], [], [], [], []
    for square in range(len(history)):
        visits = 3 if history.iloc[square, :7].notna().all() else 2
        row = history.iloc[square].fillna(0)
        for kind, n in row.items():
            captures += [(square, kind.count("1"))] * int(n)
        for visit in range(visits):
            where.append((square, visit))
            seen.append(int(sum(n for kind, n in row.items() if kind[visit] == "1")))
            z.append(survey.iloc[square][[f"dur{visit + 1}", f"date{visit + 1}"]])
            x.append(jay["sitecovs"].iloc[square])
    attributes = np.array(z, dtype=float)
    attributes = np.where(np.isnan(attributes), np.nanmean(attributes, axis=0), attributes)
    plain = CountTensor((len(history), 3), where, seen, modes=["square", "visit"])
    of_squares = np.array(x, dtype=float)

    def covered_by(*names: str) -> CountTensor:
        return CountTensor(
            plain.shape,
            where,
            seen,
            attributes=np.column_stack([attributes, of_squares[:, :1]])[:, : len(names)],
            attribute_names=names,
            rate_attributes=of_squares,
            rate_attribute_names=["elevation", "length", "forest"],
            modes=plain.modes,
        )

    covered = covered_by("duration", "date")
    settings = FitSettings(rank=1, closed=["visit"])
    return [
        Case(
            name=name,
            counts=counts,
            settings=settings,
            number=591.0,
            groups=by_level(counts, "visit"),
            detection=np.full(3, 0.39),
            covariates={},
        )
        for name, counts in (
            ("jays", plain),
            ("jays, covariates", covered),
            ("jays, covariates, elevation on p, too", covered_by("duration", "date", "elevation")),
            ("jays, histories", plain.with_captures(captures)),
            ("jays, histories and covariates", covered.with_captures(captures)),
        )
    ]


TRUTH = Truth(
    title="Jays",
    source="R package unmarked, jay",
    licence="GPL (>= 3)",
    truth="p about .39 and N about 591 by capture histories of territories (439 seen)",
    files=(
        file(
            "biodiverse/unmarked/5db350fe29665b6610f5f9f66cfd984c757a7ad6/data/jay.rda",
            5072,
            "1aa93ff7fcc0a06c2818f0deeebbb8b851302b8858a4ca087e12f10f7a842283",
        ),
    ),
    cases=_cases,
)
