"""Estimates to take home: a row for every entry, totals of groups, and files of both.

:func:`every_entry` lists the entries of a tensor with their labels, what was reported, λ, p and ŷ;
its result writes itself to CSV, Parquet or NetCDF, part by part. :func:`totals` sums over places,
days or any other groups.
"""

from uncletc.estimates.entries import Entries, Estimates, every_entry
from uncletc.estimates.files import FORMATS, defused
from uncletc.estimates.totals import totals

__all__ = ["FORMATS", "Entries", "Estimates", "defused", "every_entry", "totals"]
