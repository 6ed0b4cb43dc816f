"""Fits on pages: running, finished, their badges and downloads."""
