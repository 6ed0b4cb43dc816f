"""A reader's own table: an example of its form, and a first guess at its columns. Pure."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import pandas as pd

from dashboard.shared.scripts import Code, call
from uncletc import datasets, simulate

_COUNT_NAMES = ("count", "counts", "n", "y", "cases", "events", "number", "reports")


@dataclass(frozen=True, kw_only=True)
class Columns:
    """What the columns of a table are.

    Attributes
    ----------
    modes : tuple of str
    count : str
        Empty: not said.
    attributes : tuple of str
    exposure : str, optional
    """

    modes: tuple[str, ...]
    count: str
    attributes: tuple[str, ...] = ()
    exposure: str | None = None

    def load(self, file_name: str) -> Code:
        """Return the code that reads the file so."""
        return call(datasets.read_table, file_name, **asdict(self))


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
        return Columns(modes=tuple(names[:2]), count="")
    at = names.index(count)
    modes = names[:at] if at >= 2 else [name for name in names if name != count][:2]
    rest = [name for name in names if name not in (*modes, count) and _numeric(table[name])]
    return Columns(modes=tuple(modes), count=count, attributes=tuple(rest))


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
