"""Effects of modes and groups: what λ, and reporting, owe to a place, a day, or a state's weekday.

λ = exp(xᵀβ + effects)·CP. An effect is one number, on the log scale, for each level of a mode or
group, or for each combination of levels. Effects are normal about 0 with a variance of their
own, so that they are shrunk as far as the counts say; smooth ones are alike at near levels. An
effect on *reporting* multiplies the expected count and not λ: a state that publishes little on
Sundays has no fewer cases then. An effect on *detection* multiplies p, and divides λ: where other
observations with a known p find more or fewer events than p of the attributes lets expect.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.special import chdtri

from uncletc.common.validation import FloatArray, IntArray, as_names, check_unique
from uncletc.data.groups import Group

_KIND = re.compile(r"(reporting|detection|orthogonal)\((.*)\)\Z")
_SMOOTH = re.compile(r"smooth\(([^,]+?)(?:,\s*((\d+\.?\d*|\.\d+)([eE][+-]?\d+)?))?\)\Z")
_WORDS = re.compile(r"(reporting|detection|orthogonal|smooth)\(")
_TIMES = " × "


@dataclass(frozen=True)
class Effect:
    """One effect, as stated.

    Its text is "state × weekday", say: one number for each state and weekday. ``smooth(day)`` in
    the place of ``day`` makes numbers of near days alike; ``smooth(day, 10)`` states the distance,
    in units of the group's positions, at which they are still alike by a factor 1/e (default: a
    sixth of the largest distance). ``reporting(…)`` about it all makes it act on reporting.
    ``detection(…)`` makes it act on p, which further observation processes with a known p alone
    can estimate: without them it is 0.
    ``orthogonal(…)`` about an effect of one group keeps it uncorrelated, over levels, with the
    attributes until p is found: it takes what they leave. From then on p stays, and the effect
    shares with attributes that act on λ what both explain, which predicts places without counts
    better. Without it they share from the start, and p, whose attributes say much of places,
    loses most of its range.

    Attributes
    ----------
    of : tuple of str
        Names of modes or groups.
    lengths : tuple of float
        Of each: 0 where it is not smooth, NaN where it is and the distance is left open.
    reporting, orthogonal, detection : bool

    Examples
    --------
    >>> effect = Effect.parse("smooth(day, 10)")
    >>> effect.of, effect.lengths
    (('day',), (10.0,))
    """

    of: tuple[str, ...]
    lengths: tuple[float, ...]
    reporting: bool = False
    orthogonal: bool = False
    detection: bool = False

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read an effect from its text.

        Raises
        ------
        ValueError, TypeError
            Naming the text and the rule.

        Examples
        --------
        >>> Effect.parse("reporting(state * smooth(day, 10))").of
        ('state', 'day')
        """
        if not isinstance(text, str):
            raise TypeError(f"effects must be texts such as 'state × weekday', got {text!r}")
        inner = _KIND.match(text.strip())
        kind, body = (inner[1], inner[2]) if inner else ("", text.strip())
        of, lengths = [], []
        for part in re.split(r"\s*[×*]\s*", body.strip()):
            smooth = _SMOOTH.match(part)
            name = smooth[1].strip() if smooth else part
            if not name or "," in name or _WORDS.match(name):
                raise ValueError(
                    f"effects must be like 'state × weekday', 'smooth(place)' or "
                    f"'reporting(state × day)', got {text!r}"
                )
            of.append(name)
            lengths.append(float(smooth[2] or np.nan) if smooth else 0.0)
        if len(set(of)) < len(of):
            raise ValueError(f"effects must name each group once, got {text!r}")
        if kind == "orthogonal" and len(of) > 1:
            raise ValueError(
                f"effects must be of one group to be orthogonal to attributes, got {text!r}"
            )
        named = {kind: True} if kind else {}  # as the fields are
        return cls(tuple(of), tuple(lengths), **named)

    @property
    def acts_on(self) -> str:
        """What it changes: "rate" (λ), "detection" (p) or "reporting"."""
        return "reporting" if self.reporting else "detection" if self.detection else "rate"

    def __str__(self) -> str:
        """Return its text; :meth:`parse` reads it back."""
        parts = []
        for name, length in zip(self.of, self.lengths, strict=True):
            far = "" if np.isnan(length) else f", {length:g}"
            parts.append(f"smooth({name}{far})" if length else name)
        body = _TIMES.join(parts)
        kinds = "reporting", "orthogonal", "detection"
        kind = next((kind for kind in kinds if getattr(self, kind)), "")
        return f"{kind}({body})" if kind else body

    def groups(self, named: Mapping[str, Group]) -> list[Group]:
        """Return its groups among those of a tensor.

        Raises
        ------
        ValueError
            If a name is of none of them, or a group without positions is to be smooth.
        """
        found = []
        for name, length in zip(self.of, self.lengths, strict=True):
            if name not in named:
                raise ValueError(
                    f"effects must name modes or groups of the counts, {', '.join(named)}; "
                    f"got {str(self)!r}"
                )
            if length != 0 and named[name].positions is None:
                raise ValueError(
                    "effects can be smooth over modes of numbers, or of dates such as 2024-05-01, "
                    f"and groups with positions; {name!r} in {str(self)!r} is none: leave out "
                    "smooth"
                )
            found.append(named[name])
        return found


def check_effects(effects: str | Iterable[str]) -> tuple[str, ...]:
    """Return texts of distinct effects in one way of writing them."""
    texts = tuple(str(Effect.parse(text)) for text in as_names(effects))
    check_unique(texts, "effects must be distinct")
    return texts


def with_own_effects(texts: Iterable[str], groups: Mapping[str, Group], rank: int) -> list[Effect]:
    """Return the effects, and one of each mode whose levels no effect on λ distinguishes.

    Beside effects rows of a factor are alike but for what many counts say, so that such levels
    would all have the same λ. Factors of two components or more beside effects of single modes
    leave to these how levels differ in the mean. That may be more than a smooth effect says, so
    that levels then have one of their own beside it.

    Parameters
    ----------
    texts : iterable of str
        At least one.
    groups : mapping of str to Group
        Those of a tensor by name, its modes among them.
    rank : int
        F.
    """
    effects = [Effect.parse(text) for text in texts]
    smooth = rank == 1 or not of_single_modes(effects, groups)
    return effects + [Effect((mode,), (0.0,)) for mode in alike(effects, groups, smooth=smooth)]


def alike(effects: Iterable[Effect], groups: Mapping[str, Group], *, smooth: bool) -> list[str]:
    """Return the modes whose levels no effect on λ distinguishes; `smooth` ones may count."""
    distinct = {
        mode
        for effect in effects
        if effect.acts_on == "rate" and (smooth or not any(effect.lengths))
        for group in effect.groups(groups)
        for mode in group.modes
        if _distinguishes(group, mode)
    }
    modes = [n for n, group in groups.items() if group.modes == (n,) and group.n_levels > 1]
    return [mode for mode in modes if mode not in distinct]


def of_single_modes(effects: Iterable[Effect], groups: Mapping[str, Group]) -> bool:
    """Whether each effect on λ is of one mode and not orthogonal to attributes."""
    return not any(
        effect.orthogonal
        or len({mode for group in effect.groups(groups) for mode in group.modes}) > 1
        for effect in effects
        if effect.acts_on == "rate"
    )


def _distinguishes(group: Group, mode: str) -> bool:
    """Whether each level of a group lies within one level of a mode."""
    known = group.codes >= 0
    at = np.nonzero(known)[group.modes.index(mode)]
    pairs = np.unique(np.stack([group.codes[known], at]), axis=1)
    return bool(pairs.shape[1] == len(np.unique(pairs[0])))


@dataclass(frozen=True, eq=False)
class ModeEffects:
    """Estimated effects of one member, on log λ, on log p or on reporting.

    Attributes
    ----------
    modes : tuple of str
        Names of the tensor's modes.
    effects : tuple of Effect
    groups : tuple of tuple of Group
        Of each effect, in its order.
    tables : tuple of ndarray
        Of each effect: log factors, one axis for each group; those on reporting have a first axis
        more, over observation processes.
    deviations : tuple of float
        Of each effect: the standard deviation of its prior, 0 where the counts ask for none.

    Examples
    --------
    >>> from uncletc import fit, simulate
    >>> y, _ = simulate((12, 12, 12), rank=2, observed=0.3, seed=1)
    >>> effects = fit(y, rank=2, effects="mode 1").members[0].mode_effects
    >>> effects.tables[0].shape
    (12,)
    """

    modes: tuple[str, ...]
    effects: tuple[Effect, ...]
    groups: tuple[tuple[Group, ...], ...]
    tables: tuple[FloatArray, ...]
    deviations: tuple[float, ...]

    def factor(self, indices: IntArray) -> FloatArray:
        """Factor by which effects change λ at valid entries (n, K); (n,)."""
        return np.exp(self._sum(indices, "rate") - self._sum(indices, "detection"))

    def detection(self, indices: IntArray) -> FloatArray:
        """Factor by which effects change p at valid entries (n, K); (n,)."""
        return np.exp(self._sum(indices, "detection"))

    def reporting(self, indices: IntArray, process: int = 0) -> FloatArray:
        """Factor by which effects change the reporting of valid entries (n, K); (n,)."""
        return np.exp(self._sum(indices, "reporting", process))

    def deviation_ranges(self) -> tuple[tuple[float, float], ...]:
        """90 % ranges of the deviations, as that many independent levels tell a standard deviation.

        Of n normal values with standard deviation σ, n s²/σ² has a χ² distribution with n degrees
        of freedom. Levels that are alike because they are near count as one. The values
        themselves are not known exactly, so that ranges are at least so wide.

        Returns
        -------
        tuple of (float, float)
            Of each effect; (0, 0) where its deviation is 0.
        """
        found = []
        for effect, groups, deviation in zip(
            self.effects, self.groups, self.deviations, strict=True
        ):
            n = math.prod(map(_independent, groups, effect.lengths))
            low, high = (math.sqrt(n / chdtri(n, at)) for at in (0.05, 0.95))
            found.append((deviation * low, deviation * high))
        return tuple(found)

    def _sum(self, indices: IntArray, acts_on: str, process: int = 0) -> FloatArray:
        total = np.zeros(len(indices))
        for effect, groups, table in zip(self.effects, self.groups, self.tables, strict=True):
            if effect.acts_on != acts_on:
                continue
            values = table[process] if effect.reporting else table
            where = level_of(groups, indices, self.modes)
            total += np.append(values.ravel(), 0.0)[where]
        return total


def _independent(group: Group, length: float) -> float:
    """How many levels of a group differ by themselves: near ones of a smooth effect do not."""
    if not length or group.positions is None:
        return float(group.n_levels)
    spans = np.ptp(group.positions, axis=0) / length
    return float(min(np.prod(1 + spans), group.n_levels))


def level_of(groups: Sequence[Group], indices: IntArray, modes: Sequence[str]) -> IntArray:
    """Number of the combination of levels of entries (n, K), -1 where a level is none; (n,)."""
    number = np.zeros(len(indices), dtype=np.int64)
    none = np.zeros(len(indices), dtype=bool)
    for group in groups:
        code = group.at(indices, modes)
        none |= code < 0
        number = number * group.n_levels + code
    return np.where(none, -1, number)
