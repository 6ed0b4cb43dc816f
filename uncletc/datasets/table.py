"""A table in long form whose columns are known: the short way to :func:`uncletc.tables.build`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from uncletc.datasets.base import Dataset


def read_table(
    source: pd.DataFrame | str | Path,
    *,
    modes: Sequence[str],
    count: str,
    attributes: Sequence[str] = (),
    exposure: str | None = None,
    name: str | None = None,
) -> Dataset:
    """Make a data set from a table in long form.

    :mod:`uncletc.tables` says more of columns: dates by week, categories, repeated rows.

    Parameters
    ----------
    source : DataFrame or path
        One row per entry. A combination of labels without a row is missing, not zero. A file may
        be anything that :func:`uncletc.tables.read_file` takes.
    modes : sequence of str
        Two or more columns that name an entry, such as place, species and week. Rows without one
        are left out, which the provenance says.
    count : str
        The column with counts, whole numbers ≥ 0. Empty: not counted, which is missing, not zero;
        attributes of the row are still used.
    attributes : sequence of str
        Columns of numbers that detection may depend on. A row with an empty one has no attributes.
    exposure : str, optional
        A column of numbers > 0 that true counts are proportional to, such as people or traps.
    name : str, optional
        Name of the table. None: the file's name, or "table".

    Returns
    -------
    Dataset
        See :func:`uncletc.tables.build`.

    Raises
    ------
    ValueError
        Naming the column, the data row, the value and the rule it breaks.

    Examples
    --------
    >>> frame = pd.DataFrame({"site": ["a", "a", "b"], "week": [1, 2, 1], "seen": [4, 0, 2]})
    >>> read_table(frame, modes=("site", "week"), count="seen").counts
    CountTensor(2 × 2, 3 observed (75.0%), 0 attributed, 0 attributes)
    """
    from uncletc import tables  # it makes data sets, and so needs this package first

    if isinstance(source, pd.DataFrame):
        raw = tables.RawTable.of(source, name or "table")
    else:
        raw = tables.read_file(source, name)
    columns = tables.Columns(
        modes=tuple(tables.ModeColumn(column=each) for each in modes),
        count=count,
        attributes=tuple(tables.AttributeColumn(column=each) for each in attributes),
        exposure=exposure,
    )
    return tables.build(raw, columns)
