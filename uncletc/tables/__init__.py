"""A user's own table, from a file to a data set, and what to know of counts before they are fitted.

:class:`Columns` says what each column is. :func:`check_counts` reports on counts of any origin;
:func:`as_missing` takes days without reports out of them.
"""

from uncletc.tables.check_days import time_mode
from uncletc.tables.checks import check_counts
from uncletc.tables.columns import AttributeColumn, Columns, ModeColumn
from uncletc.tables.existing import as_missing, existing, n_existing
from uncletc.tables.findings import Finding

__all__ = [
    "AttributeColumn",
    "Columns",
    "Finding",
    "ModeColumn",
    "as_missing",
    "check_counts",
    "existing",
    "n_existing",
    "time_mode",
]
