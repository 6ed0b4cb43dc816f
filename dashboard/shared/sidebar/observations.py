"""Deaths as a second look at COVID-19 cases, as a reader chooses them. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from uncletc import Look, datasets
from uncletc.datasets import DEATHS_LAG, Dataset

DEATHS = "deaths"
ALONE = "none: cases alone"


@dataclass(frozen=True)
class LookChoice:
    """Which further looks a fit has.

    Attributes
    ----------
    deaths : bool
    lag : int
        Days by which deaths are reported later than the cases they belong to.
    fatality : float
        By what the share of infections that end in death is multiplied.
    usual : bool
        Whether pages use deaths at first: where they are here, with the stated roles.
    looks : tuple of Look
        What is added to the counts.
    """

    deaths: bool = False
    lag: int = DEATHS_LAG
    fatality: float = 1.0
    usual: bool = False
    looks: tuple[Look, ...] = ()

    @property
    def words(self) -> str:
        """What a description of a fit says; empty for what is usual."""
        if not self.deaths:
            return "cases alone" if self.usual else ""
        if (self.lag, self.fatality) == (DEATHS_LAG, 1.0):
            return "" if self.usual else "deaths as a second look"
        return f"deaths {self.lag} days later, fatality × {self.fatality:g}"

    @property
    def stem(self) -> str:
        """The same as a part of a file's name."""
        if not self.deaths:
            return "cases-alone" if self.usual else ""
        return f"deaths{self.lag}x{self.fatality:g}" if self.words else ""


def may_have_deaths(dataset: Dataset) -> bool:
    """Whether deaths can be a second look: at simulated cases, at real ones where they are here."""
    if dataset.deaths is not None:
        return True
    return dataset.name == "covid" and datasets.available(datasets.OUTSIDE)


def looks_of(
    dataset: Dataset, *, deaths: bool, lag: int = DEATHS_LAG, fatality: float = 1.0
) -> LookChoice:
    """Return the looks that a choice gives to a data set that may have deaths."""
    looks = (_deaths(_Held(dataset), lag, fatality),) if deaths else ()
    return LookChoice(deaths, lag, fatality, True, looks)


class _Held:
    """A data set that is the same key as another of its name and rules."""

    def __init__(self, dataset: Dataset) -> None:
        self.dataset = dataset
        self._key = (dataset.name, dataset.provenance.rules)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Held) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)


@lru_cache(maxsize=8)  # reads 60 files; the very object for the same choice
def _deaths(held: _Held, lag: int, fatality: float) -> Look:
    return datasets.deaths_look(held.dataset, lag=lag, fatality=fatality)
