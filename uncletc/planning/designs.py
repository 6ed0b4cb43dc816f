"""What the next season would have: more levels of modes, or a survey that tells p."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Self

from uncletc.common.jsonable import Jsonable
from uncletc.common.validation import check_real, check_whole
from uncletc.data.counts import CountTensor

_LARGEST = 20.0  # times as many levels: beyond, a refit is no plan


@dataclass(frozen=True, kw_only=True)
class Survey(Jsonable):
    """A further look at some places, whose p is told.

    It counts once more, in the way of the counts themselves, at every counted entry of these
    places, and finds out how likely it was to count: on the way into the intervals is how well.

    Parameters
    ----------
    places : int
        How many, ≥ 1; they are drawn at random among those with a count above 0.
    error : float
        Relative standard error, ≥ 0, of the p told at each place: .2 if it is right within a fifth.
        The errors of places are independent, so that more places tell the common scale better.
    shared_error : float
        The same of what all places share, ≥ 0, such as a test that misses some everywhere.
    of : str
        The mode whose levels are surveyed, "site". Empty: each combination of levels of the modes
        beside the one that visits are along.

    Raises
    ------
    ValueError, TypeError
        Naming the argument, the value and the rule.
    """

    places: int
    error: float = 0.2
    shared_error: float = 0.0
    of: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "places", check_whole("places", self.places, 1))
        for name in ("error", "shared_error"):
            object.__setattr__(self, name, check_real(name, getattr(self, name), 0.0))
        if not isinstance(self.of, str):
            raise TypeError(f"of must be the name of a mode, got {self.of!r}")


@dataclass(frozen=True, kw_only=True, init=False)
class Design(Jsonable):
    """How the next season differs from the counts at hand; as it is, not at all.

    Parameters
    ----------
    times : mapping of str to float
        By mode, how many times as many levels, from 1 to 20: ``{"visit": 2}``.
    more : mapping of str to int
        By mode, how many more levels, ≥ 1: ``{"site": 10}``. No mode is in both.
    survey : Survey, optional

    Raises
    ------
    ValueError, TypeError
        Naming the argument, the value and the rule.

    Examples
    --------
    >>> Design(times={"visit": 2}, survey=Survey(places=10)).label
    'visit × 2, survey of 10 ± 20 %'
    """

    times: tuple[tuple[str, float], ...] = ()
    more: tuple[tuple[str, int], ...] = ()
    survey: Survey | None = None

    def __init__(
        self,
        *,
        times: Mapping[str, float] | Iterable[tuple[str, float]] = (),
        more: Mapping[str, int] | Iterable[tuple[str, int]] = (),
        survey: Survey | None = None,
    ) -> None:
        factors = [(mode, check_real(f"times of {mode}", n, 1.0)) for mode, n in _pairs(times)]
        for mode, factor in factors:
            if factor > _LARGEST:
                raise ValueError(f"times of {mode} must be at most {_LARGEST:g}, got {factor}")
        numbers = [(mode, check_whole(f"more of {mode}", n, 1)) for mode, n in _pairs(more)]
        named = [mode for mode, _ in (*factors, *numbers)]
        for mode in named:
            if named.count(mode) > 1:
                raise ValueError(f"a design must name each mode once, {mode!r} occurs twice")
        if survey is not None and not isinstance(survey, Survey):
            raise TypeError(f"survey must be a Survey, got {type(survey).__name__}")
        object.__setattr__(self, "times", tuple(sorted(factors)))
        object.__setattr__(self, "more", tuple(sorted(numbers)))
        object.__setattr__(self, "survey", survey)

    @classmethod
    def from_dict(cls, values: Any) -> Self:
        """Make a design from what :meth:`to_json` wrote, validating every value."""
        if isinstance(values, Mapping) and isinstance(values.get("survey"), Mapping):
            values = {**values, "survey": Survey.from_dict(values["survey"])}
        return super().from_dict(values)

    @property
    def label(self) -> str:
        """What it adds, in a few words."""
        words = [f"{mode} × {factor:g}" for mode, factor in self.times if factor != 1]
        words += [f"{mode} + {n}" for mode, n in self.more]
        if self.survey is not None:
            survey = self.survey
            of = f" {survey.of}" if survey.of else ""
            words.append(f"survey of {survey.places}{of} ± {100 * survey.error:.3g} %")
        return ", ".join(words) or "as now"

    def added(self, counts: CountTensor) -> dict[str, int]:
        """How many levels each mode gains; 0 is left out.

        Raises
        ------
        ValueError
            If a mode is not among those of the counts.
        """
        survey = [self.survey.of] if self.survey is not None and self.survey.of else []
        for mode in (*dict(self.times), *dict(self.more), *survey):
            if mode not in counts.modes:
                raise ValueError(f"a design must name modes of {counts.modes}, got {mode!r}")
        sizes = dict(zip(counts.modes, counts.shape, strict=True))
        levels = {mode: round(sizes[mode] * (factor - 1)) for mode, factor in self.times}
        return {mode: n for mode, n in (levels | dict(self.more)).items() if n}


def _pairs(given: Mapping[str, Any] | Iterable[tuple[str, Any]]) -> list[tuple[str, Any]]:
    pairs = [*(given.items() if isinstance(given, Mapping) else given)]
    for pair in pairs:
        if len(pair) != 2 or not isinstance(pair[0], str):
            raise TypeError(f"a design must map names of modes to numbers, got {pair!r}")
    return [(str(mode), number) for mode, number in pairs]


PRESENT = Design()
"""The counts as they are, simulated like any other design: what others are compared with."""
