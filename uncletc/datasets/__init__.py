"""Data sets ready to fit: COVID-19 by US county, plant–pollinator interactions, and their twins.

- ``"covid"``, ``"ppi"``: real counts, from public files (:mod:`uncletc.datasets.fetch`).
- ``"covid-twin"``, ``"ppi-twin"``: simulated stand-ins whose truth is known; they need no network.

:mod:`uncletc.tables` makes a data set of your own table.

Beside the real cases stand outside estimates of their detection: :func:`load_outside` reads them
(`OUTSIDE` names their files), :func:`deaths_observations` makes deaths a second observation process
at them.

Examples
--------
>>> from uncletc import datasets
>>> plants = datasets.load("ppi-twin")
>>> plants.provenance.simulated, plants.counts.modes
(True, ('plant', 'pollinator', 'visit'))
>>> plants.about(plants.counts.attribute_names[0])  # doctest: +ELLIPSIS
AttributeInfo(...)

Deaths and outside estimates belong to real COVID-19 counts, whose files are downloaded:

>>> datasets.available("covid"), datasets.fetch_all("covid")  # doctest: +SKIP
>>> covid = datasets.with_deaths(datasets.load("covid"))  # doctest: +SKIP
>>> datasets.load_outside(covid).states  # doctest: +SKIP
"""

from uncletc.datasets.base import AttributeInfo, Dataset, DataUnavailableError, Provenance, Source
from uncletc.datasets.catalogue import NAMES, Listed, catalogue, load
from uncletc.datasets.covid_outside import (
    DEATHS_LAG,
    OUTSIDE,
    Outside,
    OutsideEstimate,
    deaths_by_cell,
    deaths_observations,
    load_outside,
    with_deaths,
)
from uncletc.datasets.fetch import available, fetch_all

__all__ = [
    "DEATHS_LAG",
    "NAMES",
    "OUTSIDE",
    "AttributeInfo",
    "DataUnavailableError",
    "Dataset",
    "Listed",
    "Outside",
    "OutsideEstimate",
    "Provenance",
    "Source",
    "available",
    "catalogue",
    "deaths_by_cell",
    "deaths_observations",
    "fetch_all",
    "load",
    "load_outside",
    "with_deaths",
]
