"""Entries of a tensor: their numbers, exposure and attributes, and checks of such input."""

from collections.abc import Iterable, Sequence
from typing import Any, Literal, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from uncletc.common.validation import (
    FloatArray,
    IntArray,
    check_distinct,
    check_finite,
    check_indices,
    check_kind,
    check_unique,
    reject_where,
)


def flat_index(indices: IntArray, shape: tuple[int, ...]) -> IntArray:
    """Number the entries of a tensor in row-major order; (n, K) to (n,)."""
    return np.asarray(np.ravel_multi_index(tuple(indices.T), shape), dtype=np.int64)


def fibres(indices: ArrayLike) -> IntArray:
    """Number, from 0, the fibre along the last mode that each entry (n, K) lies in; (n,)."""
    where = np.asarray(indices, dtype=np.int64)
    return np.asarray(np.unique(where[:, :-1], axis=0, return_inverse=True)[1].ravel())


def exposure_at(exposure: FloatArray | None, indices: IntArray) -> FloatArray:
    """Exposure of valid entries (n, K) as :class:`CountTensor` holds it; 1 for None; (n,)."""
    if exposure is None:
        return np.ones(len(indices))
    along = [
        np.minimum(where, size - 1) for where, size in zip(indices.T, exposure.shape, strict=True)
    ]
    return np.asarray(exposure[tuple(along)])


def check_exposure(
    exposure: ArrayLike | None, shape: tuple[int, ...], observed: IntArray
) -> FloatArray | None:
    """Return exposure ≥ 0 that broadcasts to `shape` and is > 0 where there is a count."""
    if exposure is None:
        return None
    array = check_finite(exposure, "exposure", len(shape))
    if any(size not in (1, whole) for size, whole in zip(array.shape, shape, strict=True)):
        raise ValueError(
            f"exposure must have size 1 or that of the mode along each of {shape}, "
            f"got shape {array.shape}"
        )
    reject_where(array < 0, "exposure must be >= 0", array)
    none = exposure_at(array, observed) == 0
    if none.any():
        entry = tuple(observed[int(np.argmax(none))].tolist())
        raise ValueError(f"exposure must be > 0 where there is a count; entry {entry} has 0")
    return array


def check_attributed(
    attributes: ArrayLike | None,
    rate_attributes: ArrayLike | None,
    attribute_indices: ArrayLike | None,
    observed: IntArray,
    shape: tuple[int, ...],
) -> tuple[FloatArray, IntArray, FloatArray]:
    """Return attributes (S, D), their entries (S, K), and those that act on the rate (S, P)."""
    given = {"attributes": attributes, "rate_attributes": rate_attributes}
    tables = {
        name: check_finite(values, name, 2) for name, values in given.items() if values is not None
    }
    if not tables:
        if attribute_indices is not None:
            raise ValueError("attribute_indices needs attributes; attributes is None")
        nothing = np.empty((0, 0))
        return nothing, np.empty((0, len(shape)), dtype=np.int64), nothing
    n = len(observed)
    attributed, rule = observed, f"row of indices ({n}) unless attribute_indices is given"
    if attribute_indices is not None:
        attributed = check_indices(attribute_indices, shape, "attribute_indices")
        n, rule = len(attributed), f"row of attribute_indices ({len(attributed)})"
    for name, table in tables.items():
        if len(table) != n:
            raise ValueError(f"{name} must have one row per {rule}, got {len(table)} rows")
    check_distinct(flat_index(attributed, shape), attributed, "attribute_indices")
    z, x = (tables.get(name, np.empty((n, 0))) for name in given)
    return z, attributed, x


def check_names(given: Sequence[str] | None, n: int, name: str, stem: str) -> tuple[str, ...]:
    """Return n distinct names; None gives `stem` with a number."""
    if given is None:
        return tuple(f"{stem}{i + 1}" for i in range(n))
    names = tuple(str(value) for value in given)
    if len(names) != n or len(set(names)) != n:
        raise ValueError(f"{name} must be {n} distinct names, got {names}")
    return names


LabelKind = Literal["text", "number", "date", "category"]


class Labels(tuple[str, ...]):
    """The labels of a mode as text, days as year-month-day, and what they were before.

    Parameters
    ----------
    values : iterable
    kind : {"text", "number", "date", "category"}, optional
        What :meth:`values` makes of them. None: what they are now.
    """

    kind: LabelKind

    def __new__(cls, values: Iterable[Any], kind: LabelKind | None = None) -> Self:
        """Return the labels."""
        column = pd.Series(values if hasattr(values, "dtype") else list(values))
        labels = super().__new__(cls, label_texts(column))
        labels.kind = kind_of(column) if kind is None else kind
        return labels

    def contents(self) -> dict[str, Any]:
        """Arguments that make these labels, for a file."""
        return {"values": list(self), "kind": self.kind}

    @property
    def values(self) -> pd.Index:
        """The labels as they were: numbers, dates, categories in this order, or text."""
        if self.kind == "number":
            return pd.Index(pd.to_numeric(list(self)))
        if self.kind == "date":
            return pd.DatetimeIndex(self)
        if self.kind == "category":
            return pd.CategoricalIndex(self, categories=list(self))
        return pd.Index(self, dtype=object)


def kind_of(column: pd.Series) -> LabelKind:
    """Return what the labels in a column are."""
    if pd.api.types.is_datetime64_any_dtype(column):
        return "date"
    if isinstance(column.dtype, pd.CategoricalDtype):
        return "category"
    plain = pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column)
    return "number" if plain else "text"


def label_texts(column: pd.Series) -> pd.Series:
    """Return labels as text, days as year-month-day; (n,)."""
    if pd.api.types.is_datetime64_any_dtype(column):
        whole_days = bool((column == column.dt.normalize()).all())
        text = column.dt.strftime("%Y-%m-%d" if whole_days else "%Y-%m-%d %H:%M:%S")
    else:
        text = column.astype("str").str.strip()
    return pd.Series(text)


def pandas_of(table: Any, name: str) -> pd.DataFrame:
    """Return a table of pandas, polars or Arrow as one of pandas; messages call it `name`."""
    found: pd.DataFrame = table.to_pandas() if hasattr(table, "to_pandas") else table
    check_kind(name, found, pd.DataFrame)
    return found


def check_labels(
    given: Sequence[Iterable[Any]] | None, shape: tuple[int, ...]
) -> tuple[Labels, ...]:
    """Return the labels of each mode; None gives the indices themselves."""
    if given is None:
        return tuple(Labels(range(size)) for size in shape)
    labels = tuple(mode if isinstance(mode, Labels) else Labels(mode) for mode in given)
    sizes = tuple(len(mode) for mode in labels)
    if sizes != shape:
        raise ValueError(f"labels must hold {shape} labels per mode, got {sizes}")
    for mode in labels:
        check_unique(mode, "labels of a mode must be distinct")
    return labels
