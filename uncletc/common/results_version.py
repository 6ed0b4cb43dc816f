"""The version of the library's results, which decides whether cached fits are still valid."""

RESULTS = 17
"""Raised whenever fits or scores change; cached ones of another version are not shown."""
