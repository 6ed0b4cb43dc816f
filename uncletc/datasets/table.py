"""A user's own table in long form: one row per entry, one column per mode, one for the counts.

Which function, when: :func:`read_file` to see which columns a CSV or Parquet file has,
:func:`read_table` to make counts of it, or of a frame, once the columns are chosen.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from io import StringIO
from pathlib import Path
from typing import IO, Any

import numpy as np
import pandas as pd

from uncletc.counts import CountTensor
from uncletc.datasets.base import Dataset, Provenance, Source
from uncletc.datasets.reading import scaled
from uncletc.validation import FloatArray, IntArray

_MISSING = ("", "NA", ".")
_SEPARATORS = (",", ";", "\t")
_DATES = ("%d.%m.%Y", "%m/%d/%Y", "%d/%m/%Y")  # year-month-day sorts as text
_MOST_EXPOSURES = 2**26  # values kept at most: 512 MiB
_MOST = 2.0**53  # whole numbers beyond are not exact in a table


def read_file(source: str | Path | IO[bytes], name: str | None = None) -> pd.DataFrame:
    """Read a CSV file (comma, semicolon or tab) or a Parquet file.

    Parameters
    ----------
    source : path or binary file
    name : str, optional
        What to call it; Parquet where it ends so. None: the name of the path.

    Returns
    -------
    DataFrame
        Columns of a CSV file as text, exactly as they stand there.

    Raises
    ------
    ValueError
        In one sentence: if the file is empty, or neither of the two.
    FileNotFoundError
        If there is no such file.
    """
    called = name or Path(str(source)).name
    if called.lower().endswith((".parquet", ".pq")):
        try:
            table = pd.read_parquet(source)
        except (OSError, ValueError, KeyError) as error:
            if isinstance(error, FileNotFoundError):
                raise
            raise ValueError(f"{called} must be a Parquet file: {error}") from error
    else:
        table = _read_csv(source, called)
    if table.empty:
        raise ValueError(f"{called} must have at least one row below the names of its columns")
    return table


def _read_csv(source: str | Path | IO[bytes], called: str) -> pd.DataFrame:
    data = Path(source).read_bytes() if isinstance(source, str | Path) else source.read()
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"{called} must be a CSV file in UTF-8, or a Parquet file") from error
    if not text.strip():
        raise ValueError(f"{called} must not be empty")
    head = text.lstrip().split("\n", 1)[0]
    separator = max(_SEPARATORS, key=head.count)
    try:
        return pd.read_csv(StringIO(text), sep=separator, dtype="str", keep_default_na=False)
    except pd.errors.ParserError as error:
        raise ValueError(f"{called} must be a CSV file: {error}") from error


def read_table(
    source: pd.DataFrame | str | Path,
    *,
    modes: Sequence[str],
    count: str,
    attributes: Sequence[str] = (),
    exposure: str | None = None,
    name: str | None = None,
) -> Dataset:
    """Make counts of a table in long form.

    Parameters
    ----------
    source : DataFrame or path
        One row per entry. A combination of labels without a row is missing, not zero.
    modes : sequence of str
        Two or more columns that name an entry, such as place, species and week.
    count : str
        The column with counts, whole numbers ≥ 0. Empty: not counted, which is missing, not zero;
        attributes of the row are used all the same.
    attributes : sequence of str
        Columns of numbers that detection may depend on. A row where one is empty has no attributes.
    exposure : str, optional
        A column of numbers > 0 that true counts are proportional to, such as people or traps.
    name : str, optional
        What to call the table. None: the file's name, or "table".

    Returns
    -------
    Dataset
        ``name`` is "own". ``counts`` has its labels sorted, as numbers or dates where all of a
        mode's labels are, else as text; attributes are min-max scaled to 0..1. ``table`` has one
        row per row: the modes, their ``<mode>_index``, ``count`` (NaN: not counted).
        ``mode_tables`` have per label the rows with a count, ``rows``, and the sum, ``total``.

    Raises
    ------
    ValueError
        In one sentence that names the column, the data row and the value, where one breaks a rule.

    Examples
    --------
    >>> frame = pd.DataFrame({"site": ["a", "a", "b"], "week": [1, 2, 1], "seen": [4, 0, 2]})
    >>> read_table(frame, modes=("site", "week"), count="seen").counts
    CountTensor(2 × 2, 3 observed (75.0%), 0 attributed, 0 attributes)
    """
    if isinstance(source, pd.DataFrame):
        table, called = source.reset_index(drop=True), name or "table"
    else:
        table, called = read_file(source), name or Path(source).name
    _check_columns(table, tuple(modes), count, tuple(attributes), exposure)
    indices, labels = _modes(table, tuple(modes))
    _check_distinct(table, tuple(modes), indices)
    shape = tuple(len(each) for each in labels)

    y = _counts(table, count)
    counted = ~np.isnan(y)
    if not counted.any():
        raise ValueError(f"{count} must hold at least one count, all its rows are empty")
    z = {column: _numbers(table, column) for column in attributes}
    known = np.ones(len(table), dtype=bool)
    for values in z.values():
        known &= ~np.isnan(values)
    if z and not known.any():
        raise ValueError("attributes must all be there in at least one row, each row lacks one")
    tensor = CountTensor(
        shape,
        indices[counted],
        y[counted].astype(np.int64),
        attributes=scaled({c: values[known] for c, values in z.items()}) if z else None,
        attribute_indices=indices[known] if z else None,
        modes=tuple(modes),
        labels=labels,
        attribute_names=tuple(attributes) if z else None,
        exposure=None if exposure is None else _exposure(table, exposure, indices, shape),
    )
    return Dataset(
        name="own",
        title=called,
        counts=tensor,
        table=_rows(indices, labels, tuple(modes), y),
        mode_tables=_mode_tables(indices, labels, tuple(modes), y),
        provenance=_provenance(called, count, tuple(attributes), exposure, counted, known),
    )


def _check_columns(
    table: pd.DataFrame,
    modes: tuple[str, ...],
    count: str,
    attributes: tuple[str, ...],
    exposure: str | None,
) -> None:
    if table.empty:
        raise ValueError("the table must have at least one row, it has none")
    if len(modes) < 2:
        raise ValueError(f"modes must be at least 2 columns, got {len(modes)}")
    chosen = [*modes, count, *attributes, *([] if exposure is None else [exposure])]
    for column in chosen:
        if column not in table.columns:
            has = ", ".join(map(str, table.columns))
            raise ValueError(f"the table must have a column {column!r}; it has {has}")
        if chosen.count(column) > 1:
            raise ValueError(
                f"each column must have one role, {column!r} has {chosen.count(column)}"
            )


def _empty(column: pd.Series) -> np.ndarray:
    """Which rows hold nothing; (n,)."""
    text = column.astype("str").str.strip()
    return np.asarray(column.isna() | text.isin(_MISSING), dtype=bool)


def _numbers(table: pd.DataFrame, column: str) -> FloatArray:
    """A column as float64, NaN where it is empty."""
    empty = _empty(table[column])
    values = pd.to_numeric(table[column].where(~empty), errors="coerce").to_numpy(dtype=np.float64)
    wrong = ~(np.isfinite(values) | empty)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise ValueError(
            f"{column} must hold numbers; data row {row + 1} is {str(table[column].iloc[row])!r}"
        )
    return np.asarray(values)


def _counts(table: pd.DataFrame, column: str) -> FloatArray:
    """Whole counts, NaN where there is none."""
    y = _numbers(table, column)
    for wrong, rule in (
        (y < 0, "at least 0"),
        (y != np.floor(y), "whole numbers"),
        (y > _MOST, "below 2**53"),
    ):
        wrong = wrong & ~np.isnan(y)
        if wrong.any():
            row = int(np.argmax(wrong))
            raise ValueError(f"{column} must be {rule}; data row {row + 1} is {y[row]:.15g}")
    return y


def _modes(table: pd.DataFrame, modes: tuple[str, ...]) -> tuple[IntArray, list[list[str]]]:
    """Index of each row in each mode (n, K), and the labels of each mode in order."""
    indices = np.empty((len(table), len(modes)), dtype=np.int64)
    labels = []
    for k, mode in enumerate(modes):
        empty = _empty(table[mode])
        if empty.any():
            row = int(np.argmax(empty))
            raise ValueError(f"{mode} must be there in every row; data row {row + 1} is empty")
        keys = _sortable(table[mode])
        distinct, indices[:, k] = np.unique(keys, return_inverse=True)
        first = np.unique(indices[:, k], return_index=True)[1]
        text = _as_text(table[mode])
        labels.append([str(text.iloc[row]) for row in first])
        assert len(distinct) == len(first)
    return indices, labels


def _sortable(column: pd.Series) -> np.ndarray[Any, Any]:
    """Values to sort labels by: numbers or dates where all are, else the text itself."""
    if pd.api.types.is_datetime64_any_dtype(column):
        return column.to_numpy()
    text = _as_text(column)
    numbers = pd.to_numeric(text, errors="coerce")
    if np.isfinite(numbers).all():
        return numbers.to_numpy(dtype=np.float64)
    for form in _DATES:
        dates = pd.to_datetime(text, format=form, errors="coerce")
        if dates.notna().all():
            return dates.to_numpy()
    return text.to_numpy(dtype=object)


def _as_text(column: pd.Series) -> pd.Series:
    if pd.api.types.is_datetime64_any_dtype(column):
        whole_days = bool((column == column.dt.normalize()).all())
        text = column.dt.strftime("%Y-%m-%d" if whole_days else "%Y-%m-%d %H:%M:%S")
    else:
        text = column.astype("str").str.strip()
    return pd.Series(text)


def _check_distinct(table: pd.DataFrame, modes: tuple[str, ...], indices: IntArray) -> None:
    again = pd.DataFrame(indices).duplicated().to_numpy()
    if again.any():
        row = int(np.argmax(again))
        before = int(np.argmax((indices == indices[row]).all(axis=1)))
        entry = ", ".join(f"{mode} {table[mode].iloc[row]}" for mode in modes)
        raise ValueError(
            f"each entry must have one row; data rows {before + 1} and {row + 1} are both {entry}"
        )


def _exposure(
    table: pd.DataFrame, column: str, indices: IntArray, shape: tuple[int, ...]
) -> FloatArray:
    """Exposure along the fewest modes that it depends on; the median where no row says it."""
    values = _numbers(table, column)
    wrong = ~(values > 0)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise ValueError(
            f"{column} must be above 0 in every row; data row {row + 1} is "
            f"{str(table[column].iloc[row])!r}"
        )
    n = len(shape)
    for size in range(n + 1):
        for along in itertools.combinations(range(n), size):
            sizes = [shape[k] if k in along else 1 for k in range(n)]
            if math.prod(sizes) > _MOST_EXPOSURES:
                continue
            places = tuple(indices[:, k] * (k in along) for k in range(n))
            found = np.full(sizes, np.nan)
            found[places] = values
            if np.array_equal(found[places], values):
                return np.where(np.isnan(found), np.median(values), found)
    raise ValueError(
        f"{column} must be the same along some mode in a table of shape {shape}; it has too many "
        "different values to keep"
    )


def _rows(
    indices: IntArray, labels: list[list[str]], modes: tuple[str, ...], y: FloatArray
) -> pd.DataFrame:
    columns: dict[str, Any] = {}
    for k, mode in enumerate(modes):
        columns[mode] = np.asarray(labels[k], dtype=object)[indices[:, k]]
        columns[f"{mode}_index"] = indices[:, k]
    return pd.DataFrame(columns | {"count": y})


def _mode_tables(
    indices: IntArray, labels: list[list[str]], modes: tuple[str, ...], y: FloatArray
) -> dict[str, pd.DataFrame]:
    counted = ~np.isnan(y)
    return {
        mode: pd.DataFrame(
            {
                mode: labels[k],
                "rows": np.bincount(indices[counted, k], minlength=len(labels[k])),
                "total": np.bincount(indices[counted, k], y[counted], len(labels[k])),
            }
        )
        for k, mode in enumerate(modes)
    }


def _provenance(
    called: str,
    count: str,
    attributes: tuple[str, ...],
    exposure: str | None,
    counted: np.ndarray,
    known: np.ndarray,
) -> Provenance:
    rules = [
        f"Counts are those of the column {count}; combinations without a row are missing, not zero."
    ]
    if not counted.all():
        rules.append(f"{int((~counted).sum())} rows without a count are missing too.")
    if attributes:
        rules.append(f"Attributes are {', '.join(attributes)}, each min-max scaled to 0..1.")
        if not known.all():
            rules.append(f"{int((~known).sum())} rows that lack an attribute have none of them.")
    if exposure is not None:
        rules.append(
            f"True counts are taken as proportional to {exposure}; its median stands in where no "
            "row tells it."
        )
    used = ", ".join(["counts", *(["attributes"] if attributes else [])])
    source = Source(name=f"{called} (your own file)", url="", licence="none stated", used_for=used)
    return Provenance(
        simulated=False, period="as in the file", sources=(source,), rules=tuple(rules)
    )
