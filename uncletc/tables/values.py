"""Columns as numbers, with one sentence for what is none."""

from __future__ import annotations

import numpy as np
import polars as pl

from uncletc.common.validation import FloatArray
from uncletc.tables.columns import AttributeColumn

_MOST_CATEGORIES = 30
_FEW = 0.05  # share of rows that may be corrected
LARGE = 20.0
"""Counts above this are changed little by rounding."""

FLAGS = dict.fromkeys(("true", "yes", "present", "detected", "ja", "oui", "si", "sí"), 1.0)
FLAGS |= dict.fromkeys(("false", "no", "absent", "not detected", "nein", "non"), 0.0)
"""Texts that stand for 1 and 0."""

_TOP = 2.0**53  # whole numbers beyond are not exact


def numbers_of(column: pl.Series) -> FloatArray:
    """A column as float64, NaN where it is empty; (n,).

    Raises
    ------
    ValueError
        If it holds other text or dates; names the first such data row.
    """
    if column.dtype.is_numeric():
        return column.cast(pl.Float64).fill_null(np.nan).to_numpy().astype(np.float64)
    if column.dtype in (pl.String, pl.Categorical):
        text = column.cast(pl.String)
        values = text.cast(pl.Float64, strict=False)
        if text.drop_nulls().str.to_lowercase().is_in(list(FLAGS)).all():
            values = text.str.to_lowercase().replace_strict(FLAGS, return_dtype=pl.Float64)
        wrong = text.is_not_null() & (values.is_null() | ~values.is_finite().fill_null(True))
        if not wrong.any():
            return values.fill_null(np.nan).to_numpy().astype(np.float64)
        row = int(wrong.arg_max() or 0)
        raise ValueError(
            f"{column.name} must hold numbers; data row {row + 1} is {str(text[row])[:40]!r}: "
            "correct it, or leave it empty if it is not known"
        )
    raise ValueError(f"{column.name} must hold numbers; it holds dates")


def counts_of(column: pl.Series, name: str, where: str = "") -> tuple[FloatArray, list[str]]:
    """Whole counts, NaN where missing, and what was corrected.

    Parameters
    ----------
    column : polars.Series
    name : str
        What messages call it.
    where : str
        Added to messages, such as the column of a wide table.

    Raises
    ------
    ValueError
        If more than a few values are no counts; names the first data row.
    """
    notes = list[str]()
    y = numbers_of(column)
    known = ~np.isnan(y)
    n = max(int(known.sum()), 1)
    below = known & (y < 0)
    if below.any():
        row = int(np.argmax(below))
        if below.sum() > _FEW * n:
            raise ValueError(
                f"{name} must be at least 0; data row {row + 1}{where} is {y[row]:.15g}"
            )
        notes.append(
            f"{int(below.sum()):,} counts below 0, the first in data row {row + 1}{where} "
            f"({y[row]:.15g}), are taken as missing: they correct others."
        )
        y = np.where(below, np.nan, y)
    known = ~np.isnan(y)
    part = known & (y != np.floor(y))
    if part.any():
        row, typical = int(np.argmax(part)), float(np.median(y[known & (y > 0)]))
        if part.sum() > _FEW * n and typical < LARGE:
            raise ValueError(
                f"{name} must be whole numbers; data row {row + 1}{where} is {y[row]:.15g}: "
                "choose the column with the counts themselves, not a mean or a rate"
            )
        notes.append(
            f"{int(part.sum()):,} counts that are not whole, the first in data row "
            f"{row + 1}{where} ({y[row]:.15g}), are rounded."
        )
        y = np.round(y)
    high = known & (y > _TOP)
    if high.any():
        row = int(np.argmax(high))
        raise ValueError(f"{name} must be below 2**53; data row {row + 1}{where} is {y[row]:.15g}")
    return y, notes


def positive(column: pl.Series, most: float = np.inf, *, empty: bool = False) -> FloatArray:
    """Numbers above 0, and at most `most`; NaN where empty, if that is allowed; (n,).

    Raises
    ------
    ValueError
        Naming the first data row that is none.
    """
    values = numbers_of(column)
    wrong = ~((values > 0) & (values <= most))
    if empty:
        wrong &= ~np.isnan(values)
    if wrong.any():
        row = int(np.argmax(wrong))
        rule = "above 0" if np.isinf(most) else f"above 0 and at most {most:g}"
        is_now = "empty" if np.isnan(values[row]) else f"{values[row]:.15g}"
        where = " where it is given" if empty else " in every row"
        raise ValueError(f"{column.name} must be {rule}{where}; data row {row + 1} is {is_now}")
    return values


def attribute_values(
    frame: pl.DataFrame, attribute: AttributeColumn
) -> tuple[dict[str, FloatArray], list[str]]:
    """The numbers of an attribute by name, NaN where missing; a category has several.

    Raises
    ------
    ValueError
        If it holds text and is no category, or has too many names.
    """
    column = frame.get_column(attribute.column)
    if not attribute.category:
        try:
            return {attribute.column: numbers_of(column)}, []
        except ValueError as error:
            raise ValueError(f"{error}; or take the column as a category") from error
    if column.dtype == pl.Float64 and (column.drop_nulls() == column.drop_nulls().floor()).all():
        column = column.cast(pl.Int64)
    text = column.cast(pl.String)
    sizes = text.drop_nulls().alias("value").value_counts(name="rows")
    names = sizes.sort(["rows", "value"], descending=[True, False]).get_column("value").to_list()
    if not 2 <= len(names) <= _MOST_CATEGORIES:
        raise ValueError(
            f"{attribute.column} must have 2 to {_MOST_CATEGORIES} different values to be a "
            f"category, it has {len(names):,}"
        )
    missing = text.is_null().to_numpy()
    found = {}
    for name in sorted(names[1:]):
        is_it = (text == name).fill_null(False).to_numpy().astype(np.float64)
        found[f"{attribute.column}: {name}"] = np.where(missing, np.nan, is_it)
    return found, [
        f"The category {attribute.column} becomes {len(found)} "
        f"{'attribute' if len(found) == 1 else 'attributes'} of 0 and 1, against its most frequent "
        f"value, {names[0]}."
    ]
