"""A user's own table, from a file to a data set, and what to know of counts before they are fitted.

:func:`read_file` reads a file, :func:`guess` says what each column seems to be, :class:`Columns`
what it is, and :func:`build` makes the data set. :func:`check_counts` reports on counts of any
origin, and :func:`usual_effects` says which random effects they are usually fitted with.

Examples
--------
>>> from uncletc import tables
>>> rows = {"site": list("aaabbb"), "week": [1, 2, 3] * 2, "seen": [4, 0, 2, 7, 1, 3]}
>>> raw = tables.RawTable.of(rows, "visits")  # or tables.read_file("visits.csv")
>>> found = tables.guess(raw)
>>> found.reasons["seen"]
'Count: by its name.'
>>> mine = tables.build(raw, found.columns)
>>> tables.check_counts(mine)[0].sentence
'The counts form a block of 2 site × 3 week: 6 combinations.'
"""

from uncletc.tables.build import SAME_ENTRY, build
from uncletc.tables.checks import Finding, check_counts, is_day, time_mode
from uncletc.tables.columns import AttributeColumn, Columns, ModeColumn
from uncletc.tables.effects import usual_effects
from uncletc.tables.guess import Guess, guess
from uncletc.tables.read import read_file
from uncletc.tables.types import MOST_ROWS, RawTable

__all__ = [
    "MOST_ROWS",
    "SAME_ENTRY",
    "AttributeColumn",
    "Columns",
    "Finding",
    "Guess",
    "ModeColumn",
    "RawTable",
    "build",
    "check_counts",
    "guess",
    "is_day",
    "read_file",
    "time_mode",
    "usual_effects",
]
