"""Estimates to take home: a row for every entry, totals of groups, and files of both.

:func:`every_entry` lists the entries of a tensor with their labels, what was reported, λ, p and ŷ;
:func:`write` makes CSV, Parquet or NetCDF of them. :func:`totals` sums over places,
days or any other groups; :func:`group_sums` does so for groups given by number, which may be summed
further, put on any scale and ranked.

Examples
--------
>>> from uncletc import estimates, fit, simulate
>>> y, _ = simulate((12, 12, 12), rank=2, observed=0.3, seed=1)
>>> model = fit(y, rank=2)
>>> list(estimates.totals(y, model, by="mode 1").columns)[:4]
['mode 1', 'entries', 'reported', 'relative_rate']
>>> every = estimates.every_entry(y, model)  # Estimates
>>> len(every.table), len(estimates.to_bytes(every, "csv").splitlines())
(1728, 1729)
>>> estimates.write(every, "estimates.nc")  # doctest: +SKIP

Counts of US counties know the county's part of its cell's estimates, and its own reports:

>>> from uncletc import datasets
>>> covid = datasets.load("covid-twin")
>>> shares = estimates.county_shares(covid.table)
>>> len(shares) == len(estimates.reported_by_county(covid)) == len(covid.table)
True
>>> int((estimates.state_names(covid.table) == "Hawaii").sum()) > 0
True
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
