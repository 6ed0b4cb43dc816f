"""The version of the library's results, which decides whether cached fits are still valid."""

RESULTS = 5
"""Raised whenever results change; cached fits of another version are not shown."""
