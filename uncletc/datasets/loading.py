"""load: the entry point of every data set."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from typing import Any

from uncletc.common.validation import check_choice
from uncletc.datasets.base import Dataset

_LOADERS = {
    "covid": ("uncletc.datasets.covid", "load_covid"),
    "ppi": ("uncletc.datasets.ppi", "load_ppi"),
    "covid-twin": ("uncletc.datasets.twin_covid", "load_covid_twin"),
    "ppi-twin": ("uncletc.datasets.twin_ppi", "load_ppi_twin"),
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
        How to prepare it: the arguments of :func:`uncletc.datasets.covid.load_covid` or
        :func:`uncletc.datasets.ppi.load_ppi`. The twins have none.

    Raises
    ------
    ValueError
        If the name or a rule is unknown, or a rule's value is not allowed.
    DataUnavailableError
        If a file is neither here nor available.

    Examples
    --------
    >>> load("covid-twin").counts.simulated
    True
    """
    check_choice("name", name, NAMES)
    module, function = _LOADERS[name]
    loader: Callable[..., Dataset] = getattr(importlib.import_module(module), function)
    allowed = tuple(inspect.signature(loader).parameters)
    for rule in rules:
        if rule not in allowed:
            raise ValueError(
                f"{name!r} has no rule {rule!r}; it has {', '.join(allowed) or 'none'}"
            )
    return loader(**rules)
