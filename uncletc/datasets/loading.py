"""load: the entry point of every data set."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from uncletc.common.validation import check_choice
from uncletc.datasets.base import Dataset
from uncletc.datasets.covid import load_covid
from uncletc.datasets.ppi import load_ppi
from uncletc.datasets.twin_covid import load_covid_twin
from uncletc.datasets.twin_ppi import load_ppi_twin

_LOADERS: dict[str, Callable[..., Dataset]] = {
    "covid": load_covid,
    "ppi": load_ppi,
    "covid-twin": load_covid_twin,
    "ppi-twin": load_ppi_twin,
}

NAMES = tuple(_LOADERS)
"""The data sets of :func:`load`."""


def load(name: str, **rules: Any) -> Dataset:
    """Load a data set.

    Parameters
    ----------
    name : {"covid", "ppi", "covid-twin", "ppi-twin"}
        Real COVID-19 cases, real plant–pollinator interactions, or the simulated twin of either.
    **rules
        The arguments of :func:`uncletc.datasets.covid.load_covid`; the others have none.

    Raises
    ------
    ValueError
        If the name is unknown, or a rule's value is not allowed.
    DataUnavailableError
        If a file is neither here nor available.

    Examples
    --------
    >>> load("covid-twin").counts.simulated
    True
    """
    check_choice("name", name, NAMES)
    return _LOADERS[name](**rules)
