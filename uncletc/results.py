"""The number of the library's results, which says whether kept numbers are still its own."""

RESULTS = 1
"""Moved by every change of numbers; kept fits of another number are not shown."""
