"""Validation, JSON and the version of results."""
