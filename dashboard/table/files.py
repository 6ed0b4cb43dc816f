"""An example of the form that a table should have, and a first guess at its columns. Pure."""

from __future__ import annotations

import pandas as pd

from uncletc import simulate
from uncletc.tables import AttributeColumn, Columns, ModeColumn

_COUNT_NAMES = ("count", "counts", "n", "y", "cases", "events", "number", "reports")


def plain_columns(
    *,
    modes: tuple[str, ...],
    count: str,
    attributes: tuple[str, ...] = (),
    exposure: str | None = None,
) -> Columns:
    """Return columns by their names alone, each attribute on detection."""
    return Columns(
        modes=tuple(ModeColumn(column=name) for name in modes),
        count=count,
        attributes=tuple(AttributeColumn(column=name) for name in attributes),
        exposure=exposure,
    )


def guess_columns(table: pd.DataFrame) -> Columns:
    """Guess what columns are: modes stand before the count, attributes are numbers after it."""
    names = [str(name) for name in table.columns]
    named = [name for name in names if name.strip().lower() in _COUNT_NAMES]
    if named:
        count = named[0]
    else:
        whole = [name for name in names[2:] if _whole(table[name])]
        count = whole[0] if whole else ""
    if not count:
        return plain_columns(modes=tuple(names[:2]), count="")
    at = names.index(count)
    modes = names[:at] if at >= 2 else [name for name in names if name != count][:2]
    rest = [name for name in names if name not in (*modes, count) and _numeric(table[name])]
    return plain_columns(modes=tuple(modes), count=count, attributes=tuple(rest))


def _numbers(column: pd.Series) -> pd.Series:
    return pd.to_numeric(column, errors="coerce").dropna()


def _numeric(column: pd.Series) -> bool:
    return len(_numbers(column)) > 0.5 * len(column)


def _whole(column: pd.Series) -> bool:
    values = _numbers(column)
    return _numeric(column) and bool(((values >= 0) & (values % 1 == 0)).all())


def sample_table() -> pd.DataFrame:
    """A small simulated table in the form that a reader's own file should have."""
    counts, _ = simulate(
        (12, 10, 12), 2, observed=0.5, attributed=0.5, similar=0.1, n_attributes=3, seed=5
    )
    site, species, week = counts.indices.T
    z = counts.attributes_at(counts.indices).round(2)
    table = pd.DataFrame(
        {
            "site": [f"simulated site {i + 1:02d}" for i in site],
            "species": [f"simulated species {i + 1:02d}" for i in species],
            "week": week + 1,
            "count": counts.counts,
        }
    )
    return table.assign(wind=z[:, 0], cloud=z[:, 1], effort=z[:, 2])
