"""What the values of a column look like, and which columns together name a row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np
import polars as pl

from uncletc.common.validation import IntArray
from uncletc.tables.values import FLAGS
from uncletc.tables.words import Class, class_of, is_fips

Kind = Literal["whole", "number", "date", "text"]

_MOST_KEYS = 40_000  # keys that are looked at to see how many repeat


@dataclass(frozen=True, eq=False)
class Profile:
    """A column, in short.

    Attributes
    ----------
    name : str
    kind : {"whole", "number", "date", "text"}
    column : polars.Series
    grid : bool
        Whether it is one of two columns x and y.
    """

    name: str
    kind: Kind
    column: pl.Series = field(repr=False)
    grid: bool = False

    @classmethod
    def of(cls, column: pl.Series, beside: Sequence[str] = ()) -> Profile:
        """Look at a column of a :class:`uncletc.tables.RawTable`, given the names of all."""
        kind: Kind = "text"
        if column.dtype == pl.Int32:
            kind = "whole"
        elif column.dtype == pl.Float64:
            some = column.drop_nulls()
            kind = "whole" if bool((some == some.floor()).all()) else "number"
        elif column.dtype == pl.Date or isinstance(column.dtype, pl.Datetime):
            kind = "date"
        grid = column.name.lower() in ("x", "y") and {"x", "y"} <= {e.lower() for e in beside}
        return cls(column.name, kind, column, grid)

    @cached_property
    def n(self) -> int:
        """Rows."""
        return len(self.column)

    @cached_property
    def missing(self) -> float:
        """Share of rows without a value."""
        return self.column.null_count() / self.n

    @cached_property
    def levels(self) -> pl.Series:
        """Its distinct values."""
        return self.column.drop_nulls().unique()

    @property
    def n_levels(self) -> int:
        """How many distinct values it has."""
        return len(self.levels)

    @cached_property
    def n_days(self) -> int:
        """How many distinct days it has where it holds times, else levels."""
        return self.levels.dt.date().n_unique() if self.kind == "date" else self.n_levels

    @cached_property
    def of_day(self) -> bool:
        """Whether it holds times of day, without a date."""
        if self.kind != "text" or self.empty:
            return False
        return bool(
            self.levels.cast(pl.String)
            .str.contains(r"^\d{1,2}:\d{2}(:\d{2})?( ?[AaPp][Mm])?$")
            .all()
        )

    @property
    def flags(self) -> bool:
        """Whether it holds yes and no."""
        if self.kind != "text" or self.n_levels != 2:
            return False
        return {str(each).lower() for each in self.levels} <= set(FLAGS)

    @cached_property
    def range(self) -> tuple[float, float]:
        """Least and largest number."""
        low, high = self.column.min(), self.column.max()
        assert isinstance(low, int | float)
        assert isinstance(high, int | float)
        return float(low), float(high)

    @property
    def numeric(self) -> bool:
        """Whether it holds numbers."""
        return self.kind in ("whole", "number")

    @property
    def empty(self) -> bool:
        """Whether it holds nothing."""
        return self.n_levels == 0

    @cached_property
    def count_like(self) -> bool:
        """Whether it holds whole numbers ≥ 0, but for a few corrections below 0."""
        if self.kind != "whole" or self.empty:
            return False
        return share(self.column.drop_nulls() >= 0) > 0.95

    @cached_property
    def numbers_rows(self) -> bool:
        """Whether it is 1, 2, 3, … down the table."""
        if self.kind != "whole" or self.column.null_count() or self.n < 4:
            return False
        return bool((self.column.diff().drop_nulls() == 1).all())

    @cached_property
    def designed(self) -> bool:
        """Whether it has few whole levels in a row with about as many rows each, like visits."""
        if self.kind != "whole" or not 2 <= self.n_levels <= 100 or self.n < 2 * self.n_levels:
            return False
        low, high = self.range
        rows = np.unique(self.codes[self.codes > 0], return_counts=True)[1]
        return high - low == self.n_levels - 1 and bool(rows.max() <= 1.3 * rows.min())

    @cached_property
    def mode_class(self) -> Class:
        """Of what its levels are, as its name or type tells."""
        if self.kind == "date":
            return "time"
        if self.grid:
            return "place"
        return "place" if is_fips(self.name) else class_of(self.name)

    @cached_property
    def codes(self) -> IntArray:
        """The number of each row's level; 0 where it is missing; (n,)."""
        if self.column.dtype == pl.Categorical:
            known = self.column.to_physical().cast(pl.Int64) + 1
            return known.fill_null(0).to_numpy()
        return self.column.rank("dense").fill_null(0).cast(pl.Int64).to_numpy()


def share(flags: pl.Series) -> float:
    """Share of rows that are true; 0 of none."""
    return float(np.mean(flags.fill_null(False).to_numpy())) if len(flags) else 0.0


def unique_share(columns: Sequence[Profile]) -> float:
    """Share of rows that would stay if rows with the same values in these columns were one."""
    if not columns or not columns[0].n:
        return 0.0
    keys = np.zeros(columns[0].n, dtype=np.uint64)
    for each in columns:
        keys = (keys * np.uint64(1_000_003) + each.codes.astype(np.uint64)) * np.uint64(0x9E3779B1)
    every = max(1, len(keys) // _MOST_KEYS)
    if every > 1:  # some keys with all their rows, so that what repeats is seen
        keys = keys[(keys >> np.uint64(7)) % np.uint64(every) == 0]
    return len(np.unique(keys)) / len(keys) if len(keys) else 1.0


def determines(fine: Profile, coarse: Profile) -> bool:
    """Whether the level of one column always tells that of another."""
    if coarse.n_levels > fine.n_levels:
        return False
    pair = fine.codes * (int(coarse.codes.max(initial=0)) + 1) + coarse.codes
    return len(np.unique(pair)) <= len(np.unique(fine.codes))
