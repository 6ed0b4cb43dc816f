"""Columns of registered files, and what data sets make of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from sklearn.preprocessing import MinMaxScaler

from uncletc.common.validation import FloatArray, IntArray
from uncletc.datasets import fetch

_REVISION = r"\(r\d+\)$"  # notes of the census behind a number


def read_columns(
    path: str, text: Sequence[str], number: Sequence[str] = (), *, encoding: str = "utf-8"
) -> pd.DataFrame:
    """Return columns of a registered csv file: text, missing as ``""``, and numbers, as NaN.

    Parameters
    ----------
    path : str
        As for :func:`uncletc.datasets.fetch.find`, which verifies the file.
    text, number : sequence of str
    encoding : str
    """
    table = pd.read_csv(
        fetch.find(path),
        usecols=[*text, *number],
        dtype="str",
        keep_default_na=False,
        encoding=encoding,
    )
    for column in number:
        plain = table[column].str.replace(_REVISION, "", regex=True)
        table[column] = pd.to_numeric(plain, errors="coerce")
    return table[[*text, *number]]


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
