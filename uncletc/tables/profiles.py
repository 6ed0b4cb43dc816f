"""What rules ask of the name and the values of a column."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Literal

import numpy as np
import polars as pl

from uncletc.data.protocols import band_edges
from uncletc.tables.columns import LEVELS, Meaning, meaning_of, speaks_of, tokens

_ALL_DISTINCT = 20  # rows from which numbers that never repeat are no counts, but for their name
_MOST_BANDS, _NEARLY = 40, 0.9  # share of whole numbers beside wrong cells
# How much a name speaks for counts, and for a mode.
_FOR_COUNT: dict[Meaning, float] = {
    "count": 6,
    "maybe count": 3.5,
    "made of counts": 1.5,
    "exposure": -1,
    "": 0,
}
_OF_CODES = ("no", "nr", "num", "number")  # last words of names
_FOR_MODE: dict[Meaning, float] = {"kind": 3, "time": 2.5, "place": 2}


class Profile:
    """A column: what rules ask of its name and values."""

    def __init__(self, values: pl.Series) -> None:
        some, dtype, n = values.drop_nulls(), values.dtype, len(values)
        self.values, self.name, self.numeric = values, values.name, dtype.is_numeric()
        self.kind: Literal["whole", "number", "date", "text"] = "text"
        self.low, self.high = math.inf, -math.inf
        if self.numeric:
            self.kind = "whole" if bool((some == some.floor()).all()) else "number"
            y = some.cast(pl.Float64).to_numpy()
            self.low, self.high = y.min(initial=math.inf), y.max(initial=-math.inf)
        elif dtype.is_temporal():
            self.kind = "date"
        self.meaning: Meaning = (
            "time" if self.kind == "date" else meaning_of(self.name, number=self.numeric)
        )
        self.levels = some.unique()
        numbered = self.kind == "whole" and self.low == 1 and self.high == len(self.levels) > 1
        if numbered and tokens(self.name)[-1:] == ("night",):  # the first, the second, …
            self.meaning = "time"
        few = self.kind == "text" and len(self.levels) <= _MOST_BANDS
        self.bands = few and band_edges(self.levels) is not None
        if self.bands:
            self.meaning = "kind"
        self.of_levels = self.meaning in LEVELS
        self.n_levels, self.missing = len(self.levels), values.null_count() / n
        days = some.cast(pl.Date) if self.kind == "date" else self.levels
        self.repeats_little = days.n_unique() > 0.5 * n
        # Whole numbers of 0 or more, but for corrections below 0 or a code such as -9999.
        least = 0.5 if self.meaning == "count" or self.name[-1:].isdigit() else 0.95
        nearly = self.numeric and self.name[-1:].isdigit() and share(some == some.floor()) > _NEARLY
        self.count_like = (self.kind == "whole" or nearly) and share(some >= 0) > least
        # Of a value below 0, such as -1 where nobody counted; several are of a measure.
        self.one_code = self.low >= 0 or self.levels.filter(self.levels < 0).len() == 1
        # 1, 2, 3, … down the table.
        whole = self.kind == "whole" and n > 3 and not self.missing
        self.numbers_rows = whole and bool((values.diff()[1:] == 1).all())
        *of, last = tokens(self.name) or ("",)  # such as the number of a case
        code = self.n_levels == n and last in _OF_CODES and of and of[-1] != "total"
        if self.meaning in ("count", "maybe count", "") and n >= _ALL_DISTINCT:
            self.meaning = "id" if code or self.numbers_rows else self.meaning
        self.is_day = self.kind == "date" or bool({"date", "day"} & set(tokens(self.name)))
        numbered = speaks_of(self.name, "visit") and not self.is_day
        self.is_visit = numbered and self.meaning == "time" and self.n_levels <= 100

    @cached_property
    def count_points(self) -> float:
        """How much speaks for it as the column of counts."""
        y = self.values.drop_nulls().cast(pl.Float64).to_numpy() if self.numeric else np.zeros(1)
        points = _FOR_COUNT.get(self.meaning, -5.0) + float(y.var() > y.mean())
        if self.meaning in ("count", "maybe count"):
            points += 2 * speaks_of(self.name, "new")
        elif self.n_levels == len(self.values) >= _ALL_DISTINCT:
            points -= 8
        points -= share(self.values == 0) > 0.5
        points -= 0.5 * speaks_of(self.name, "beside cases")
        return points - 4 * self.missing - 8 * self.numbers_rows

    @cached_property
    def mode_points(self) -> float:
        """How much speaks for it as a column that names entries."""
        points = _FOR_MODE.get(self.meaning, 0.0) + (self.kind == "date")
        points += 0.3 * ("name" in tokens(self.name)) - 0.5 * speaks_of(self.name, "id")
        points -= 0.2 * (self.kind == "whole") + 2 * self.repeats_little
        return points - 3 * self.missing


def share(flags: pl.Series) -> float:
    """Share of flags that hold."""
    return float(flags.fill_null(False).mean() or 0.0) if len(flags) else 0.0  # type: ignore[arg-type]


def unique_share(frame: pl.DataFrame, columns: Sequence[Profile]) -> float:
    """Share of rows that would stay if rows with the same values in these columns were one."""
    return frame.select(each.name for each in columns).n_unique() / len(frame) if columns else 0.0


def determines(frame: pl.DataFrame, fine: Sequence[str], coarse: str) -> bool:
    """Whether the levels of some columns always say that of another."""
    both = frame.select({*fine, coarse}).drop_nulls()
    return bool(fine) and both.n_unique() <= both.select(fine).n_unique()
