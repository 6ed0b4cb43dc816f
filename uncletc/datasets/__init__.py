"""Data sets ready to fit: COVID-19 by US county, plant–pollinator interactions, and their twins.

- ``"covid"``, ``"ppi"``: real counts, from public files (:mod:`uncletc.datasets.fetch`).
- ``"covid-twin"``, ``"ppi-twin"``: simulated stand-ins whose truth is known; they need no network.

:func:`read_table` makes a data set of your own table.
"""

from uncletc.datasets.base import Dataset, DataUnavailableError, Provenance, Source
from uncletc.datasets.fetch import available, fetch_all
from uncletc.datasets.loading import NAMES, load
from uncletc.datasets.table import read_file, read_table

__all__ = [
    "NAMES",
    "DataUnavailableError",
    "Dataset",
    "Provenance",
    "Source",
    "available",
    "fetch_all",
    "load",
    "read_file",
    "read_table",
]
