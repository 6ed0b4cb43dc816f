"""Estimates to take home: a row for every entry, totals of groups, and files of both.

:func:`every_entry` lists the entries of a tensor with their labels, what was reported, λ, p and ŷ;
:func:`write` makes CSV, Parquet or NetCDF of them. :func:`totals` sums over places,
days or any other groups; :func:`group_sums` does so for groups given by number, which may be summed
further, put on any scale and ranked.

Examples
--------
>>> from uncletc import estimates, fit, simulate
>>> y, _ = simulate((12, 12, 12), rank=2, observed=0.3, seed=1)
>>> list(estimates.totals(y, fit(y, rank=2), by="mode 1").columns)[:4]
['mode 1', 'entries', 'reported', 'relative_rate']
"""

from uncletc.estimates.entries import (
    Estimates,
    county_shares,
    every_entry,
    reported_by_county,
    state_names,
)
from uncletc.estimates.files import FORMATS, defused, to_bytes, write
from uncletc.estimates.sums import Sums, group_sums, reported_once
from uncletc.estimates.totals import totals

__all__ = [
    "FORMATS",
    "Estimates",
    "Sums",
    "county_shares",
    "defused",
    "every_entry",
    "group_sums",
    "reported_by_county",
    "reported_once",
    "state_names",
    "to_bytes",
    "totals",
    "write",
]
