"""Read tables; messages name the file, the column and the value that is wrong."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.preprocessing import MinMaxScaler

from uncletc.common.validation import FloatArray, IntArray
from uncletc.data.frames import numbers


def read_table(path: Path, columns: Sequence[str], *, encoding: str = "utf-8") -> pd.DataFrame:
    """Read some columns of a csv file as text, missing values as ``""``.

    Raises
    ------
    ValueError
        If the file is not a csv file, or lacks one of the columns.
    """
    try:
        table = pd.read_csv(
            path,
            usecols=lambda name: name in columns,
            dtype="str",
            keep_default_na=False,
            encoding=encoding,
        )
    except (pd.errors.EmptyDataError, pd.errors.ParserError, UnicodeDecodeError) as error:
        raise ValueError(f"{path.name} must be a csv file in {encoding}: {error}") from error
    check_columns(table.columns, columns, path.name)
    return table[list(columns)]


def check_columns(present: Iterable[str], needed: Iterable[str], file: str) -> None:
    """Reject a table without one of the ``needed`` columns."""
    has = set(present)
    missing = [name for name in needed if name not in has]
    if missing:
        raise ValueError(
            f"{file} must have the columns {', '.join(needed)}; {', '.join(missing)} "
            f"{'is' if len(missing) == 1 else 'are'} missing"
        )


def with_numbers(table: pd.DataFrame, columns: Iterable[str], file: str) -> pd.DataFrame:
    """Return ``table`` with some columns as numbers, NaN where they are empty."""
    values = {column: numbers(table, column, f"{column} of {file}") for column in columns}
    return table.assign(**values)


def scaled(attributes: Mapping[str, FloatArray]) -> FloatArray:
    """Min-max scale each attribute to 0..1 over its entries; a constant one becomes 0.

    Parameters
    ----------
    attributes : mapping of str to ndarray of float
        D finite arrays of one shape with S entries.

    Returns
    -------
    ndarray of float, shape (S, D)
    """
    stacked = np.stack([values.ravel() for values in attributes.values()], axis=1)
    return np.asarray(MinMaxScaler(clip=True).fit_transform(stacked), dtype=np.float64)


def every_day(cells: IntArray, n_days: int) -> IntArray:
    """Every day of every cell, day fastest; (C, 2) to (C · n_days, 3)."""
    days = np.tile(np.arange(n_days), len(cells))
    return np.column_stack([np.repeat(cells, n_days, axis=0), days])
