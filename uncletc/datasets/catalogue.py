"""What data sets there are, how to load them, and whether their files are here."""

from collections.abc import Callable
from dataclasses import dataclass

from uncletc.common.validation import check_choice
from uncletc.datasets.base import Dataset, Source, facts
from uncletc.datasets.covid import load_covid
from uncletc.datasets.covid_outside import ESTIMATES, OUTSIDE
from uncletc.datasets.fetch import available, registry
from uncletc.datasets.ppi import load_ppi
from uncletc.datasets.twins import load_covid_twin, load_ppi_twin

_LOADERS: dict[str, Callable[[], Dataset]] = {
    "covid": load_covid,
    "ppi": load_ppi,
    "covid-twin": load_covid_twin,
    "ppi-twin": load_ppi_twin,
}

NAMES = tuple(_LOADERS)
"""The data sets of :func:`load`."""


def load(name: str) -> Dataset:
    """Load a data set.

    Parameters
    ----------
    name : {"covid", "ppi", "covid-twin", "ppi-twin"}
        Real COVID-19 cases, real plant–pollinator interactions, or the simulated twin of either.

    Raises
    ------
    ValueError
        If the name is unknown.
    DataUnavailableError
        If a file is neither here nor available.

    Examples
    --------
    >>> load("covid-twin").counts.simulated
    True
    """
    check_choice("name", name, NAMES)
    return _LOADERS[name]()


@dataclass(frozen=True, kw_only=True)
class Listed:
    """A data set, without its counts.

    Attributes
    ----------
    name : str
        For :func:`uncletc.datasets.load`, or :data:`uncletc.datasets.OUTSIDE`.
    title : str
    sources : tuple of Source
    files : int
        Public files that it is made from; 0: it comes with the program.
    size : int
        Bytes of these files.
    here : bool
        Whether all of them are on this machine, by size.

    Examples
    --------
    >>> from uncletc import datasets
    >>> for each in datasets.catalogue():
    ...     if not each.files:
    ...         print(each.name, each.here)
    covid-twin True
    ppi-twin True
    """

    name: str
    title: str
    sources: tuple[Source, ...]
    files: int
    size: int
    here: bool


def catalogue() -> tuple[Listed, ...]:
    """Return all data sets that the program knows, and the outside estimates of detection.

    Examples
    --------
    >>> [each.name for each in catalogue()]
    ['covid', 'ppi', 'covid-twin', 'ppi-twin', 'covid-outside']
    """
    return tuple(_listed(name) for name in (*NAMES, OUTSIDE))


def _listed(name: str) -> Listed:
    files, known = registry().get(name, {}), facts(name)
    sources = tuple(known.sources.values())
    if name == OUTSIDE:
        sources = tuple(dict.fromkeys(source for each in ESTIMATES for source in each.sources))
    return Listed(
        name=name,
        title=known.title,
        sources=sources,
        files=len(files),
        size=sum(file.size for file in files.values()),
        here=not files or available(name),
    )
