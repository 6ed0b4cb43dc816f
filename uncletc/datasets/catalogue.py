"""What data sets there are: title, sources with licences, files, and whether these are here."""

from __future__ import annotations

from dataclasses import dataclass

from uncletc.datasets import covid_files, ppi, twin_covid
from uncletc.datasets.base import Source
from uncletc.datasets.covid_outside import ESTIMATES, OUTSIDE
from uncletc.datasets.fetch import available, registry


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
    reported = (covid_files.REPORTED_CASES, covid_files.PINNED_COPY)
    outside = dict.fromkeys(source for each in ESTIMATES for source in each.sources)
    return (
        _listed("covid", "COVID-19 in US counties", (*reported, *covid_files.ATTRIBUTES)),
        _listed("ppi", "Plant–pollinator interactions", (ppi.WATCHED, ppi.SURVEYED)),
        _listed("covid-twin", "Simulated COVID-19 cases by US county", (twin_covid.CENSUS,)),
        _listed("ppi-twin", "Simulated plant–pollinator interactions", ()),
        _listed(OUTSIDE, "Outside estimates of detection of COVID-19 cases", tuple(outside)),
    )


def _listed(name: str, title: str, sources: tuple[Source, ...]) -> Listed:
    files = registry().get(name, {})
    return Listed(
        name=name,
        title=title,
        sources=sources,
        files=len(files),
        size=sum(file.size for file in files.values()),
        here=not files or available(name),
    )
