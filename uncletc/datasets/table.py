"""A user's own table in long form: one row per entry, one column per mode, one for the counts.

Which function, when: :func:`read_file` to see the columns of a CSV or Parquet file,
:func:`read_table` to make counts from it, or from a frame, once the columns are chosen.
"""

from __future__ import annotations

from collections.abc import Sequence
from io import StringIO
from pathlib import Path
from typing import IO, Any

import numpy as np
import pandas as pd

from uncletc.counts import CountTensor
from uncletc.datasets.base import Dataset, Provenance, Source
from uncletc.datasets.described import described
from uncletc.datasets.reading import scaled
from uncletc.frames import Rows, read_rows

_SEPARATORS = (",", ";", "\t")


def read_file(source: str | Path | IO[bytes], name: str | None = None) -> pd.DataFrame:
    """Read a CSV file (comma, semicolon or tab) or a Parquet file.

    Parameters
    ----------
    source : path or binary file
    name : str, optional
        Its name; Parquet if it ends in ``.parquet`` or ``.pq``. None: the name of the path.

    Returns
    -------
    DataFrame
        Columns of a CSV file as unchanged text.

    Raises
    ------
    ValueError
        If the file is empty, or neither CSV nor Parquet.
    FileNotFoundError
        If the file does not exist.
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
    """Make a data set from a table in long form.

    Parameters
    ----------
    source : DataFrame or path
        One row per entry. A combination of labels without a row is missing, not zero.
    modes : sequence of str
        Two or more columns that name an entry, such as place, species and week.
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
        ``name`` is "own". ``counts`` has its labels sorted, as numbers or dates if all labels of
        a mode are, else as text; attributes are min-max scaled to 0..1. ``table`` has one row per
        row of the source: the modes, their ``<mode>_index`` and ``count`` (NaN: not counted).
        ``mode_tables`` have, for each label, the number of rows with a count, ``rows``, and their
        sum, ``total``.

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
    if isinstance(source, pd.DataFrame):
        table, called = source, name or "table"
    else:
        table, called = read_file(source), name or Path(source).name
    rows = read_rows(table, modes=modes, counts=count, attributes=attributes, exposure=exposure)
    z = scaled(rows.attribute_columns) if attributes else None
    return Dataset(
        name="own",
        title=called,
        counts=CountTensor(**rows.fields(modes, z)),
        attribute_info=described(rows.attribute_columns),
        table=_rows(rows, tuple(modes)),
        mode_tables=_mode_tables(rows, tuple(modes)),
        provenance=_provenance(called, count, tuple(attributes), exposure, rows),
    )


def _rows(rows: Rows, modes: tuple[str, ...]) -> pd.DataFrame:
    columns: dict[str, Any] = {}
    for k, mode in enumerate(modes):
        columns[mode] = np.asarray(rows.labels[k], dtype=object)[rows.indices[:, k]]
        columns[f"{mode}_index"] = rows.indices[:, k]
    return pd.DataFrame(columns | {"count": rows.counts})


def _mode_tables(rows: Rows, modes: tuple[str, ...]) -> dict[str, pd.DataFrame]:
    where, y = rows.indices[rows.counted], rows.counts[rows.counted]
    return {
        mode: pd.DataFrame(
            {
                mode: labels,
                "rows": np.bincount(where[:, k], minlength=len(labels)),
                "total": np.bincount(where[:, k], y, len(labels)),
            }
        )
        for k, (mode, labels) in enumerate(zip(modes, rows.labels, strict=True))
    }


def _provenance(
    called: str,
    count: str,
    attributes: tuple[str, ...],
    exposure: str | None,
    table: Rows,
) -> Provenance:
    rules = [
        f"Counts are those of the column {count}; combinations without a row are missing, not zero."
    ]
    if not table.counted.all():
        rules.append(f"Rows without a count are missing too ({int((~table.counted).sum())}).")
    if attributes:
        rules.append(f"Attributes are {', '.join(attributes)}, each min-max scaled to 0..1.")
        if not table.attributed.all():
            n = int((~table.attributed).sum())
            rules.append(f"Rows that lack an attribute are used without attributes ({n}).")
    if exposure is not None:
        rules.append(
            f"True counts are assumed proportional to {exposure}; entries without a row get its "
            "median."
        )
    used = ", ".join(["counts", *(["attributes"] if attributes else [])])
    source = Source(name=f"{called} (your own file)", url="", licence="none stated", used_for=used)
    return Provenance(
        simulated=False, period="as in the file", sources=(source,), rules=tuple(rules)
    )
