"""Which designs the Plan page compares, and what it calls them. Nothing here calls Streamlit."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from dashboard.shared.charts.places import is_covid
from dashboard.shared.text.words import escape
from dashboard.work.orders import TryDesign
from uncletc import CountTensor, FitSettings
from uncletc.datasets import Dataset
from uncletc.planning import PRESENT, Design, Survey

_PLAIN = re.compile(r"[\w .()/-]+")
TIMES = (1.5, 2.0, 3.0)
SURVEYED = (5, 10, 20, 50, 100)
_WORDS = {1.5: "One and a half times the", 2.0: "Twice the", 3.0: "Three times the"}


@dataclass(frozen=True, kw_only=True)
class Kinds:
    """What can be added to the counts of a data set, in its own words.

    Attributes
    ----------
    along : str
        The mode that visits are along.
    places : tuple of str
        Modes that may have more levels; empty where all there are have been counted.
    place, all_places : str
        What a combination of levels of all modes but `along` is called: one, and several.
    """

    along: str
    places: tuple[str, ...]
    place: str
    all_places: str


def kinds_of(dataset: Dataset, along: str | None = None) -> Kinds:
    """Return what can be added to the counts of a data set; None: its own order of time."""
    modes = dataset.counts.modes
    chosen = along or ordered_mode(dataset.counts)
    others = tuple(mode for mode in modes if mode != chosen)
    if is_covid(dataset):
        return Kinds(along=chosen, places=(), place="county cell", all_places="county cells")
    if len(others) == 1:
        return Kinds(
            along=chosen,
            places=others,
            place=shown_name(others[0]),
            all_places=plural_name(others[0]),
        )
    if set(others) == {"plant", "pollinator"}:
        return Kinds(along=chosen, places=others, place="pair of species", all_places="pairs")
    return Kinds(along=chosen, places=others, place="place", all_places="places")


def ordered_mode(counts: CountTensor) -> str:
    """The mode that is most likely time: of dates, else of numbers, else the last."""
    for kind in (_all_dates, _all_numbers):
        for mode, labels in zip(reversed(counts.modes), reversed(counts.labels), strict=True):
            if kind(labels):
                return mode
    return counts.modes[-1]


def _all_dates(labels: Iterable[str]) -> bool:
    texts = pd.Series(list(labels))
    if not texts.str.fullmatch(r"\d{4}-\d{1,2}-\d{1,2}.*").all():
        return False
    return bool(pd.to_datetime(texts, errors="coerce").notna().all())


def _all_numbers(labels: Iterable[str]) -> bool:
    return bool(pd.to_numeric(pd.Series(list(labels)), errors="coerce").notna().all())


def plural_name(mode: str) -> str:
    """Several levels of a mode.

    Examples
    --------
    >>> plural_name("visit"), plural_name("species"), plural_name("county")
    ('visits', 'species', 'counties')
    """
    name = shown_name(mode)
    if mode.endswith("s") or name != mode:
        return name
    if mode.endswith("y") and mode[-2:-1] not in "aeiou":
        return f"{mode[:-1]}ies"
    return f"{mode}s"


def shown_name(mode: str) -> str:
    """A mode as sentences have it: what a file calls it, even where that looks like markup."""
    return mode if _PLAIN.fullmatch(mode) else escape(mode)


@dataclass(frozen=True, kw_only=True)
class Choice:
    """What a reader wants to compare.

    Attributes
    ----------
    kinds : Kinds
    times : tuple of float
        How many times as many visits.
    places : str
        The mode that gains levels, and that is surveyed; empty: places are surveyed.
    more : tuple of float
        How many times as many of these.
    surveys : tuple of int
        Numbers of places surveyed.
    error : float
        Relative standard error of what a survey tells.
    repeats : int
    """

    kinds: Kinds
    times: tuple[float, ...] = ()
    places: str = ""
    more: tuple[float, ...] = ()
    surveys: tuple[int, ...] = ()
    error: float = 0.2
    repeats: int = 3

    @property
    def steps(self) -> list[Step]:
        """All designs but the present one, by kind and size."""
        along, of = plural_name(self.kinds.along), plural_name(self.places)
        steps = [
            Step(f"more {along}", f"× {n:g}", n, 1.0, Design(times={self.kinds.along: n}))
            for n in sorted(self.times)
        ]
        steps += [
            Step(f"more {of}", f"× {n:g}", n, 1.0, Design(times={self.places: n}))
            for n in sorted(self.more)
            if self.places
        ]
        surveyed = of if self.places else self.kinds.all_places
        return steps + [
            Step(
                f"survey of {surveyed}",
                f"{n}",
                float(n),
                0.0,
                Design(survey=Survey(places=n, error=self.error, of=self.places)),
            )
            for n in sorted(self.surveys)
        ]

    @property
    def designs(self) -> list[Design]:
        """All designs, the present one first."""
        return [PRESENT, *(step.design for step in self.steps)]

    def orders(self, counts: CountTensor, settings: FitSettings) -> dict[Design, TryDesign]:
        """What is asked of the service, by design."""
        return {
            design: TryDesign(
                counts=counts,
                settings=settings,
                design=design,
                repeats=self.repeats,
                seed=settings.seed,
                along=self.kinds.along,
            )
            for design in self.designs
        }


@dataclass(frozen=True)
class Step:
    """A design as one point of a curve.

    Attributes
    ----------
    kind : str
        The curve: "more visits".
    name : str
        The point: "× 2".
    size : float
        Where it lies along the curve.
    from_size : float
        Where the present design lies.
    design : Design
    """

    kind: str
    name: str
    size: float
    from_size: float
    design: Design

    @property
    def words(self) -> str:
        """What is added, as the beginning of a sentence."""
        if self.design.survey is not None:
            survey = self.design.survey
            what = self.kind.removeprefix("survey of ")
            return (
                f"A survey that tells p at {self.name} {what} (each ± {100 * survey.error:.3g} %)"
            )
        what = self.kind.removeprefix("more ")
        return f"{_WORDS.get(self.size, f'{self.size:g} times the')} {what}"


def most_surveyed(counts: CountTensor, kinds: Kinds, of: str) -> int:
    """How many places, or levels of a mode, have a count above 0: as many can be surveyed."""
    seen = counts.indices[counts.counts > 0]
    modes = (
        [counts.modes.index(of)]
        if of
        else [k for k, mode in enumerate(counts.modes) if mode != kinds.along]
    )
    return len(np.unique(seen[:, modes], axis=0))
