"""A user's own table, from a file to a data set, and what to know of counts before they are fitted.

:func:`read_file` reads a file, :func:`guess` says what each column seems to be, :class:`Columns`
what it is, and :func:`build` makes the data set. :func:`check_counts` reports on counts of any
origin; :func:`as_missing` takes days without reports out of them.
"""

from uncletc.tables.building import build
from uncletc.tables.check_days import time_mode
from uncletc.tables.checks import check_counts
from uncletc.tables.columns import AttributeColumn, Columns, ModeColumn
from uncletc.tables.existing import as_missing, existing, n_existing, with_entries
from uncletc.tables.findings import Finding
from uncletc.tables.guessing import Guess, guess
from uncletc.tables.reading import RawTable, read_file
from uncletc.tables.repeats import repeated_rows

__all__ = [
    "AttributeColumn",
    "Columns",
    "Finding",
    "Guess",
    "ModeColumn",
    "RawTable",
    "as_missing",
    "build",
    "check_counts",
    "existing",
    "guess",
    "n_existing",
    "read_file",
    "repeated_rows",
    "time_mode",
    "with_entries",
]
