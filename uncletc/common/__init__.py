"""What every room uses: validation, files of arrays and of settings, the version of results."""

RESULTS = 35
"""Raised whenever fits or scores change; cached ones of another version are not shown."""
