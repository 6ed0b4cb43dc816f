"""Tables in long form, dense arrays and capture histories, as the arrays of a count tensor."""

import itertools
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from uncletc.common.validation import FloatArray, IntArray, as_names, check_indices, check_unique
from uncletc.data.entries import Labels, label_texts

MISSING = ("", "NA", ".")
"""Texts that stand for a missing value."""

MOST_MODES = 8
"""Modes of a table at most: exposure is looked for along every set of them."""

_DATES = ("%d.%m.%Y", "%m/%d/%Y", "%d/%m/%Y")  # year-month-day sorts as text
_MOST_EXPOSURES = 2**26  # values kept at most: 512 MiB
_MOST_CATEGORIES = 30  # different values of a column of text
_SWEEPS = 5  # over modes, until main effects hardly change
_MOST = 2.0**53  # whole numbers beyond are not exact in a table


def with_categories(
    frame: pd.DataFrame, columns: Sequence[str], levels: Mapping[str, Sequence[Any]] | None = None
) -> tuple[pd.DataFrame, dict[str, tuple[str, ...]], dict[str, list[Any]]]:
    """Return a table in which columns of text are columns of 0 and 1.

    Parameters
    ----------
    frame : DataFrame
    columns : sequence of str
        Those without any number, or of pandas' categories, are replaced; others stay.
    levels : mapping of str to sequence, optional
        The values of each text column, the reference first. None: its own, the most frequent first.

    Returns
    -------
    DataFrame
        NaN where a value is empty or none of the levels.
    dict of str to tuple of str
        The names that stand for each of `columns`: "observer: B", or the column itself.
    dict of str to list
        The levels of those that were replaced.

    Raises
    ------
    ValueError
        If a column of text has fewer than 2 values or more than 30.
    """
    made, names, found = dict[str, Any](), dict[str, tuple[str, ...]](), dict[str, list[Any]]()
    for column in columns:
        if column not in frame.columns:
            continue
        values = frame[column]
        empty = _empty(values)
        text = not pd.api.types.is_numeric_dtype(values) and (
            isinstance(values.dtype, pd.CategoricalDtype)
            or (not empty.all() and pd.to_numeric(values[~empty], errors="coerce").isna().all())
        )
        if column not in levels if levels is not None else not text:
            names[column] = (column,)
            continue
        known = list(values[~empty].value_counts().index) if levels is None else levels[column]
        if not 2 <= len(known) <= _MOST_CATEGORIES:
            raise ValueError(
                f"{column} must have 2 to {_MOST_CATEGORIES} different values, as a column of "
                f"text, it has {len(known)}"
            )
        found[column] = list(known)
        names[column] = tuple(f"{column}: {level}" for level in known[1:])
        unknown = empty | ~values.isin(known).to_numpy()
        for name, level in zip(names[column], known[1:], strict=True):
            made[name] = np.where(unknown, np.nan, (values == level).to_numpy(dtype=np.float64))
    return frame.assign(**made), names, found


def frame_of(columns: Sequence[tuple[str, Any]]) -> pd.DataFrame:
    """Make a table of named columns; reject duplicate names."""
    names = [name for name, _ in columns]
    check_unique(names, "columns must have distinct names")
    return pd.DataFrame(dict(columns))


def read_rows(
    table: pd.DataFrame,
    modes: tuple[str, ...],
    counts: str,
    attributes: tuple[str, ...],
    exposure: str | None,
) -> dict[str, Any]:
    """Arguments of :class:`uncletc.CountTensor`; see :meth:`uncletc.CountTensor.from_frame`."""
    table = table.reset_index(drop=True)
    if table.empty:
        raise ValueError("the table must have at least one row, it has none")
    if not 2 <= len(modes) <= MOST_MODES:
        raise ValueError(f"modes must be 2 to {MOST_MODES} columns, got {len(modes)}")
    check_columns([*modes, counts, *attributes, *as_names(exposure or ())], table.columns)
    indices, ordered = _places(table, modes)
    _check_distinct(table, modes, indices)
    y = whole_counts(numbers(table, counts), counts)
    if np.isnan(y).all():
        raise ValueError(f"{counts} must hold at least one count, all its rows are empty")
    counted, shape = ~np.isnan(y), tuple(len(mode_labels) for mode_labels in ordered)
    sized = None
    if exposure is not None:
        sizes = numbers(table, exposure)
        refuse_row(~(sizes > 0), f"{exposure} must be above 0 in every row", table[exposure])
        sized = exposure_along(sizes, exposure, indices, shape)
    fields = {
        "shape": shape,
        "indices": indices[counted],
        "counts": y[counted].astype(np.int64),
        "modes": modes,
        "labels": ordered,
        "exposure": sized,
    }
    if not attributes:
        return fields
    z = filled(np.column_stack([numbers(table, column) for column in attributes]), indices)
    known = ~np.isnan(z).any(axis=1)
    if not known.any():
        raise ValueError("attributes must all have a value in at least one row; each row lacks one")
    return fields | {
        "attributes": z[known],
        "attribute_indices": indices[known],
        "attribute_names": attributes,
    }


def of_levels(values: pd.DataFrame, indices: IntArray) -> pd.DataFrame:
    """Columns in which a missing value is that of other rows with the same levels of some modes.

    That is where all known values of a column are equal in each level of one mode, or in each
    combination of levels of several, though not of all, as elevation is at a site.
    """
    modes = range(indices.shape[1])
    for chosen in itertools.chain(*(itertools.combinations(modes, n) for n in modes[1:])):
        lacking = values.columns[values.isna().any()]
        groups = values[lacking].groupby([indices[:, k] for k in chosen], sort=False)
        low = groups.min()
        decided = lacking[(low.isna() | (low == groups.max())).all()]
        if len(decided):
            values = values.assign(**values[decided].fillna(groups[[*decided]].transform("min")))
    return values


def filled(z: FloatArray, indices: IntArray) -> FloatArray:
    """Attributes (n, D) in which rows that have some lack none.

    A missing one is that of its levels, see :func:`of_levels`, or the sum of their main effects.
    Without attributes, a row would say that p of its place is that of any other: a twentieth of
    such rows halved the slopes of attributes of places.

    Parameters
    ----------
    z : ndarray, shape (n, D)
        NaN: missing.
    indices : ndarray of int, shape (n, K)
        Level of each row in each mode.
    """
    z = of_levels(pd.DataFrame(z).rename(columns=str), indices).to_numpy(copy=True)
    some = ~np.isnan(z).all(axis=1)
    for d in np.flatnonzero(np.isnan(z[some]).any(axis=0)):
        known = ~np.isnan(z[:, d])
        own = z[known, d]
        value = np.full(len(z), own.mean())
        for level in [*indices.T] * _SWEEPS:
            rest = pd.Series(own - value[known])
            value += rest.groupby(level[known]).mean().reindex(level, fill_value=0.0).to_numpy()
        z[some & ~known, d] = value[some & ~known].clip(own.min(), own.max())
    return z


def read_dense(array: ArrayLike, attributes: ArrayLike | None) -> dict[str, Any]:
    """Arguments of :class:`uncletc.CountTensor`; see :meth:`uncletc.CountTensor.from_dense`."""
    masked = np.ma.isMaskedArray(array) and np.ma.is_masked(array)
    dense = np.ma.filled(np.ma.asarray(array, dtype=float), np.nan) if masked else np.asarray(array)
    if dense.dtype.kind not in "iuf" or dense.ndim < 2:
        raise ValueError(
            "array must hold numbers along at least 2 modes, "
            f"got shape {dense.shape} of {dense.dtype}"
        )
    counted = ~np.isnan(dense)
    fields = {"shape": dense.shape, "indices": np.argwhere(counted), "counts": dense[counted]}
    if attributes is None:
        return fields
    z = np.asarray(attributes, dtype=np.float64)
    if z.shape[:-1] != dense.shape:
        raise ValueError(
            f"attributes must have shape {dense.shape} and one more axis for the attributes, "
            f"got {z.shape}"
        )
    complete = ~np.isnan(z).any(axis=-1)
    return fields | {"attributes": z[complete], "attribute_indices": np.argwhere(complete)}


def check_columns(chosen: Sequence[str], known: Iterable[Any]) -> None:
    """Reject a column that a table has not, or that has two roles."""
    for column in chosen:
        if column not in known:
            has = ", ".join(map(str, itertools.islice(known, 30)))
            raise ValueError(f"the table must have a column {column!r}; it has {has}")
        if (times := chosen.count(column)) > 1:
            raise ValueError(f"each column must have one role, {column!r} has {times}")


def _empty(column: pd.Series) -> NDArray[np.bool_]:
    """Which rows are empty; (n,)."""
    text = column.astype("str").str.strip()
    return np.asarray(column.isna() | text.isin(MISSING), dtype=bool)


def numbers(table: pd.DataFrame, column: str) -> FloatArray:
    """A column as float64, NaN where it is empty."""
    given, empty = table[column], _empty(table[column])
    numeric = pd.to_numeric(given.where(~empty), errors="coerce")
    values = numeric.to_numpy(dtype=np.float64, na_value=np.nan)
    wrong = ~np.isfinite(values) | pd.api.types.is_datetime64_any_dtype(given)
    refuse_row(wrong & ~empty, f"{column} must hold numbers", given)
    return np.asarray(values)


def refuse_row(wrong: Any, rule: str, given: Any, hint: str = "") -> None:
    """Raise an error with the first row that breaks a rule, and what it has."""
    if (wrong := np.asarray(wrong)).any():
        row = int(np.argmax(wrong))
        value = np.asarray(given)[row]
        number = isinstance(value, int | float | np.number)
        shown = f"{value:.15g}" if number else repr(str(value).strip()[:40])
        shown = "empty" if pd.isna(value) or not str(value).strip() else shown
        raise ValueError(f"{rule}; data row {row + 1} is {shown}{hint}")


def whole_counts(y: FloatArray, column: str, hint: str = "") -> FloatArray:
    """Return counts, NaN where missing; reject what is no count, with a hint on fractions."""
    for wrong, rule, what in (
        (y < 0, "at least 0", ""),
        (y != np.floor(y), "whole numbers", hint),
        (y > _MOST, "below 2**53", ""),
    ):
        refuse_row(wrong & ~np.isnan(y), f"{column} must be {rule}", y, what)
    return y


def _places(table: pd.DataFrame, modes: tuple[str, ...]) -> tuple[IntArray, list[Labels]]:
    """Index of each row in each mode (n, K), and the labels of each mode in order."""
    indices = np.empty((len(table), len(modes)), dtype=np.int64)
    labels = list[Labels]()
    for k, mode in enumerate(modes):
        refuse_row(_empty(table[mode]), f"{mode} must have a value in every row", table[mode])
        _, first, indices[:, k] = np.unique(
            sort_keys(table[mode]), return_index=True, return_inverse=True
        )
        labels.append(Labels(table[mode].iloc[first]))
    return indices, labels


def sort_keys(column: pd.Series) -> NDArray[Any]:
    """Sort keys of labels: numbers or dates if all labels are, categories as they are, or text."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        return column.cat.codes.to_numpy()
    if pd.api.types.is_datetime64_any_dtype(column):
        return column.to_numpy()
    text = label_texts(column)
    numbers = pd.to_numeric(text, errors="coerce").astype(np.float64)
    if np.isfinite(numbers).all() and numbers.nunique() == text.nunique():  # 10 is not 010
        return numbers.to_numpy()
    for form in _DATES:
        dates = pd.to_datetime(text, format=form, errors="coerce")
        if dates.notna().all():
            return dates.to_numpy()
    return text.to_numpy(dtype=object)


def _check_distinct(table: pd.DataFrame, modes: tuple[str, ...], indices: IntArray) -> None:
    repeated = pd.DataFrame(indices).duplicated().to_numpy()
    if repeated.any():
        row = int(np.argmax(repeated))
        before = int(np.argmax((indices == indices[row]).all(axis=1)))
        entry = ", ".join(f"{mode} {table[mode].iloc[row]}" for mode in modes)
        raise ValueError(
            f"each entry must have one row; data rows {before + 1} and {row + 1} are both {entry}"
        )


def exposure_along(
    values: FloatArray, column: str, indices: IntArray, shape: tuple[int, ...]
) -> FloatArray:
    """Exposure along the fewest modes that it depends on.

    That of an entry without a row is usual for its levels: a product of effects of them.

    Parameters
    ----------
    values : ndarray, shape (R,)
        > 0, of the entries of `indices`.
    column : str
        What messages call it.
    indices : ndarray of int, shape (R, K)
    shape : tuple of int

    Returns
    -------
    ndarray
        K dimensions, each of the size of its mode or 1.

    Raises
    ------
    ValueError
        If it changes along every mode of a tensor that is too large to keep that.
    """
    n = len(shape)
    for size in range(n + 1):
        for along in itertools.combinations(range(n), size):
            sizes = [shape[k] if k in along else 1 for k in range(n)]
            if math.prod(sizes) > _MOST_EXPOSURES:
                continue
            places = tuple(indices[:, k] * (k in along) for k in range(n))
            exposure = np.full(sizes, np.nan)
            exposure[places] = values
            if np.array_equal(exposure[places], values):
                return _completed(exposure)
    raise ValueError(
        f"{column} must be constant along some mode in a table of shape {shape}; it has too many "
        "different values to keep"
    )


def _completed(exposure: FloatArray) -> FloatArray:
    """Put a product of effects of its levels where exposure is not known."""
    seen = ~np.isnan(exposure)
    log = np.log(np.where(seen, exposure, 1.0))
    usual = np.full(exposure.shape, log[seen].mean())
    for axis in [*range(exposure.ndim)] * _SWEEPS:
        others = tuple(k for k in range(exposure.ndim) if k != axis)
        left = np.where(seen, log - usual, 0.0).sum(others, keepdims=True)
        usual += left / np.maximum(seen.sum(others, keepdims=True), 1)
    return np.where(seen, exposure, np.exp(usual))


LEAST_VISITS, MOST_VISITS = 2, 60


def read_histories(
    sites: Sequence[Any], histories: Sequence[str], levels: Sequence[Any] | None
) -> tuple[FloatArray, Labels, IntArray]:
    """Return animals caught by site and visit, labels of sites, and captures of each animal.

    Raises
    ------
    ValueError
        Naming the argument, the value and the rule it breaks.
    """
    texts = [str(each).strip().lower() for each in histories]
    if not texts or len(sites) != len(texts):
        raise ValueError(
            f"histories must have one value per animal, and sites as many; got {len(texts)} and "
            f"{len(sites)}"
        )
    size = len(texts[0])
    for each in texts:
        if not (LEAST_VISITS <= size <= MOST_VISITS and re.fullmatch(f"[01x]{{{size}}}", each)):
            raise ValueError(
                f"histories must have {LEAST_VISITS} to {MOST_VISITS} characters 0, 1 or x, as "
                f"many each as {texts[0]!r}, got {each!r}"
            )
    column = pd.Series(list(sites))
    refuse_row(_empty(column), "sites must have a value for every animal", column)
    own = label_texts(column).tolist()
    first = np.unique(sort_keys(column), return_index=True)[1]
    labels = Labels(column.iloc[first] if levels is None else levels)
    place = {label: k for k, label in enumerate(labels)}
    if unknown := set(own) - set(place):
        raise ValueError(f"sites must be among levels, got {min(unknown)!r}")
    codes = np.array([place[each] for each in own])
    marks = np.array([list(each) for each in texts])
    caught, unvisited = marks == "1", np.zeros((len(labels), size), dtype=bool)
    table = np.zeros((len(labels), size))
    np.add.at(table, codes, caught)
    np.logical_or.at(unvisited, codes, marks == "x")
    if (clash := unvisited & (table > 0)).any():
        site, visit = np.argwhere(clash)[0]
        raise ValueError(
            f"histories must have x only where nobody visited, at visit {visit + 1} site "
            f"{labels[site]!r} has an animal caught and one with x"
        )
    table[unvisited] = np.nan
    last = size - 1 - caught[:, ::-1].argmax(axis=1)
    captures = np.column_stack([codes, caught.sum(axis=1), caught.argmax(axis=1), last])
    return table, labels, captures[captures[:, 1] > 0]


def check_captures(captures: ArrayLike, indices: IntArray, counts: IntArray) -> IntArray:
    """Return captures (A, 2 to 4), which must add up to the counts (N,) of each first level."""
    found = np.array(captures, dtype=np.int64)
    if found.ndim != 2 or found.shape[1] not in (2, 3, 4) or indices.shape[1] != 2:
        raise ValueError(
            f"captures must have shape (A, 2), (A, 3) or (A, 4) beside counts of 2 modes, got "
            f"{found.shape} beside {indices.shape[1]}"
        )
    size = int(indices[:, 0].max(initial=-1)) + 1
    check_indices(found[:, :1], (max(size, 1),), "captures")
    sums = np.bincount(found[:, 0], found[:, 1], size)
    totals = np.bincount(indices[:, 0], counts, size)
    if (found[:, 1] < 1).any() or (sums != totals).any():
        level = int(np.argmax(sums != totals))
        raise ValueError(
            f"captures must be 1 or more each, and add up to the counts of each level of the first "
            f"mode; level {level} has {sums[level]:.0f} for {totals[level]:.0f}"
        )
    n_visits = int(indices[:, 1].max(initial=-1)) + 1
    check_indices(found[:, 2:], (n_visits,) * (found.shape[1] - 2), "captures")
    found.flags.writeable = False
    return found
