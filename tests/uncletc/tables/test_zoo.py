"""Awkward tables of many kinds: each becomes a data set, with what was done to it said."""

from __future__ import annotations

import io
import itertools
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from uncletc.tables import build, guess, read_file

RNG = np.random.default_rng(11)


def grid(**levels) -> pd.DataFrame:
    return pd.DataFrame(itertools.product(*levels.values()), columns=list(levels))


def some(frame: pd.DataFrame, name: str = "count", mean: float = 3.0) -> pd.DataFrame:
    return frame.assign(**{name: RNG.negative_binomial(1, 1 / (1 + mean), len(frame))})


def sites(n: int = 6) -> list[str]:
    return [f"site {k + 1}" for k in range(n)]


def days(n: int = 5, form: str = "%Y-%m-%d") -> list[str]:
    return [day.strftime(form) for day in pd.date_range("2024-05-01", periods=n, freq="3D")]


def csv(frame: pd.DataFrame, encoding: str = "utf-8", **said) -> bytes:
    return frame.to_csv(index=False, **said).encode(encoding)


def excel(frame: pd.DataFrame, above: int = 0) -> bytes:
    file = io.BytesIO()
    with pd.ExcelWriter(file, engine="openpyxl") as book:
        pd.DataFrame({"about": ["read me"]}).to_excel(book, sheet_name="About", index=False)
        frame.to_excel(book, sheet_name="Data", index=False, startrow=above)
    return file.getvalue()


def parquet(frame: pd.DataFrame) -> bytes:
    file = io.BytesIO()
    frame.to_parquet(file)
    return file.getvalue()


def long(*more: str) -> pd.DataFrame:
    levels = {"site": sites(), "species": ["A bee", "B bee", "C fly"], "date": days()}
    frame = some(grid(**levels))
    for name in more:
        frame[name] = RNG.normal(10, 3, len(frame)).round(2)
    return frame


def matrix(n: int = 8) -> pd.DataFrame:
    species = ["Apis mellifera", "Bombus terrestris", "Osmia bicornis", "Eristalis tenax"]
    return pd.DataFrame({"site": sites(n)} | {s: RNG.poisson(2, n) for s in species})


def german(frame: pd.DataFrame) -> bytes:
    return frame.to_csv(index=False, sep=";", decimal=",").encode("cp1252")


ZOO: dict[str, tuple[Callable[[], bytes], tuple[str, ...]]] = {
    "plain": (lambda: csv(long("temp")), ("site", "species", "date")),
    "two modes": (lambda: csv(some(grid(plant=sites(), week=[1, 2, 3]))), ("plant", "week")),
    "four modes": (
        lambda: csv(some(grid(site=sites(3), species=["x", "y"], age=["old", "young"],
                              week=[1, 2, 3]))),
        ("site", "species", "age", "week"),
    ),
    "five labels, one the parent": (
        lambda: csv(long().assign(region=lambda f: "r" + f["site"].str[-1].astype(int).mod(2)
                                  .astype(str))),
        ("site", "species", "date"),
    ),
    "semicolons and decimal commas": (lambda: german(long("Temp")), ("site", "species", "date")),
    "tabs": (lambda: csv(long(), sep="\t"), ("site", "species", "date")),
    "pipes": (lambda: csv(long(), sep="|"), ("site", "species", "date")),
    "UTF-16": (lambda: csv(long(), "utf-16"), ("site", "species", "date")),
    "lines of Windows": (lambda: csv(long(), lineterminator="\r\n"), ("site", "species", "date")),
    "preamble": (lambda: b"Bees\nsince 2024\n\n" + csv(long()), ("site", "species", "date")),
    "total at the end": (
        lambda: csv(some(grid(site=sites(), week=[1, 2, 3]))) + b"Total,,99\n", ("site", "week"),
    ),
    "Excel": (lambda: excel(long("temp"), above=3), ("site", "species", "date")),
    "Parquet": (
        lambda: parquet(long().assign(date=lambda f: pd.to_datetime(f["date"]))),
        ("site", "species", "date"),
    ),
    "row names": (lambda: long().to_csv().encode(), ("site", "species", "date")),
    "count first": (lambda: csv(long().pipe(lambda f: f[["count", "date", "site", "species"]])),
                    ("site", "species", "date")),
    "shouting": (lambda: csv(long().rename(columns=str.upper)), ("SITE", "SPECIES", "DATE")),
    "days of Europe": (
        lambda: csv(some(grid(site=sites(), date=days(9, "%d.%m.%Y")))), ("site", "date"),
    ),
    "days of America": (
        lambda: csv(some(grid(site=sites(), date=days(9, "%m/%d/%Y")))), ("site", "date"),
    ),
    "times of day": (
        lambda: csv(some(grid(camera=sites(), time=days(9, "%Y-%m-%d 07:30:00")))),
        ("camera", "time"),
    ),
    "years and weeks": (
        lambda: csv(some(grid(county=sites(), year=[2023, 2024], week=[10, 20, 30]), "cases")),
        ("county", "date"),
    ),
    "missing counts": (
        lambda: csv(long().assign(count=lambda f: f["count"].where(f.index % 4 > 0))),
        ("site", "species", "date"),
    ),
    "a matrix": (lambda: csv(matrix()), ("site", "species")),
    "a matrix with visits": (
        lambda: csv(pd.concat([matrix().assign(visit=v) for v in (1, 2, 3)])),
        ("site", "visit", "species"),
    ),
    "a grid of dates": (
        lambda: csv(pd.DataFrame({"site": sites()} | {d: RNG.poisson(2, 6) for d in days(8)})),
        ("site", "date"),
    ),
    "repeated visits as unmarked has them": (
        lambda: csv(pd.DataFrame({"site": sites()} | {f"y.{k}": RNG.poisson(2, 6)
                                                      for k in range(1, 5)}
                                 | {"elev": RNG.random(6).round(3)})),
        ("site", "visit"),
    ),
    "years across": (
        lambda: csv(pd.DataFrame({"district": sites()}
                                 | {str(y): RNG.poisson(9, 6) for y in range(2015, 2024)})),
        ("district", "year"),
    ),
    "repeats": (lambda: csv(pd.concat([long(), long()])), ("site", "species", "date")),
    "thousands": (
        lambda: csv(long().assign(count=lambda f: [f"{1000 + 37 * k:,}" for k in range(len(f))])),
        ("site", "species", "date"),
    ),
    "counties": (
        lambda: csv(some(grid(fips=["01001", "06037", "36061", "48201"], date=days()), "cases")),
        ("fips", "date"),
    ),
    "states by letters": (
        lambda: csv(some(grid(state=["AL", "CA", "NY", "TX", "WA"], date=days()), "deaths")),
        ("state", "date"),
    ),
    "people and weather": (
        lambda: csv(some(grid(county=sites(), week=[1, 2, 3, 4]), "cases").assign(
            population=1000, weather=lambda f: ["sun", "rain"] * (len(f) // 2))),
        ("county", "week"),
    ),
    "accents": (
        lambda: csv(some(grid(lieu=["Orléans", "Nîmes"], espèce=["é", "à"], semaine=[1, 2]),
                         "nombre"), "cp1252"),
        ("lieu", "espèce", "semaine"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("animal", ZOO)
def test_becomes_a_data_set(animal):
    data, modes = ZOO[animal]
    raw = read_file(data(), f"{animal}.csv")
    found = guess(raw)
    assert set(raw.frame.columns) <= set(found.reasons), "each column has a reason"
    dataset = build(raw, found.columns)
    assert dataset.counts.modes == modes
    assert dataset.counts.n_observed > 0
    assert set(dataset.mode_tables) == set(modes)
    assert {*modes, *(f"{mode}_index" for mode in modes), "count"} <= set(dataset.table)
    if "repeats" not in animal and "across" not in animal:
        assert found.columns.duplicates == "refuse"
