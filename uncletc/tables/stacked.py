"""Tables whose rows are places with several visits beside each other, each with its own weather."""

from __future__ import annotations

import re

import polars as pl

from uncletc.tables.words import count_points, is_running

_NUMBERED = re.compile(r"(.*?\D?)[\s._-]*(\d{1,3})")
_LEAST = 2  # visits
_MOST_ROWS = 3_000_000


def stacked(frame: pl.DataFrame) -> tuple[pl.DataFrame, list[str]]:
    """Put visits below each other where each has a count and other columns of its own.

    Such as y.1, y.2, y.3 with date.1, date.2, date.3. A table with counts alone stays as it is.
    """
    stems = _stems(frame)
    counts = [stem for stem, columns in stems.items() if _of_counts(frame, stem, columns)]
    if len(counts) != 1:
        return frame, []
    of_count = stems[counts[0]]
    beside = {
        stem: columns
        for stem, columns in stems.items()
        if stem != counts[0] and set(columns) == set(of_count) and _one_type(frame, columns)
    }
    if not beside or len(frame) * len(of_count) > _MOST_ROWS:
        return frame, []
    together = {counts[0]: of_count} | beside
    gone = {name for columns in together.values() for name in columns.values()}
    rest = [name for name in frame.columns if name not in gone]
    names = {stem: _free(stem.strip(" ._-") or "value", rest) for stem in together}
    if len(set(names.values())) < len(names):
        return frame, []
    unique = [frame.get_column(name).n_unique() == len(frame) for name in rest]
    floats = [frame.schema[name] == pl.Float64 for name in rest]
    if not any(one and not other for one, other in zip(unique, floats, strict=True)):
        row = _free("row", [*rest, *names.values()])
        frame = frame.with_columns(pl.Series(row, [f"row {k + 1}" for k in range(len(frame))]))
        rest = [row, *rest]
    visit = _free("visit", [*rest, *names.values()])
    parts = [
        frame.select(
            *rest,
            pl.lit(number, dtype=pl.Int32).alias(visit),
            *(pl.col(columns[number]).alias(names[stem]) for stem, columns in together.items()),
        )
        for number in sorted(of_count)
    ]
    made = pl.concat(parts, how="vertical_relaxed")
    listed = ", ".join(f"{columns[min(columns)]} …" for columns in together.values())
    return made, [
        f"The columns {listed} have one value for each of {len(of_count)} visits: the visits are "
        f"put below each other, so that a row is one visit to one of the {len(frame):,} rows of "
        "the file."
    ]


def _stems(frame: pl.DataFrame) -> dict[str, dict[int, str]]:
    found: dict[str, dict[int, str]] = {}
    for name in frame.columns:
        match = _NUMBERED.fullmatch(name)
        if match and match[1]:
            found.setdefault(match[1].rstrip(" ._-"), {})[int(match[2])] = name
    return {stem: columns for stem, columns in found.items() if len(columns) >= _LEAST}


def _of_counts(frame: pl.DataFrame, stem: str, columns: dict[int, str]) -> bool:
    named = stem.lower() in ("y", "n") or (count_points(stem) >= 6 and not is_running(stem))
    if not named:
        return False
    kinds = {frame.schema[name] for name in columns.values()}
    lows = [frame.get_column(name).min() for name in columns.values()]
    return kinds == {pl.Int32} and all(isinstance(low, int) and low >= 0 for low in lows)


def _one_type(frame: pl.DataFrame, columns: dict[int, str]) -> bool:
    kinds = {frame.schema[name] for name in columns.values()}
    numbers = all(kind.is_numeric() for kind in kinds)
    texts = all(kind in (pl.String, pl.Categorical) for kind in kinds)
    return numbers or (len(kinds) == 1 and not texts) or kinds == {pl.String}


def _free(name: str, taken: list[str]) -> str:
    return name if name not in taken else f"{name} (visit)"
