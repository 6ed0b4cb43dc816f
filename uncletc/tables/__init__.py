"""A user's own table, from a file to a data set.

:class:`Columns` says what each column is.
"""

from uncletc.tables.columns import AttributeColumn, Columns, ModeColumn

__all__ = ["AttributeColumn", "Columns", "ModeColumn"]
