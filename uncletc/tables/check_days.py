"""Days on which almost nobody reports: their zeros are not zeros."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date

import numpy as np
from numpy.typing import NDArray

from uncletc.common.validation import FloatArray, IntArray
from uncletc.data.counts import CountTensor
from uncletc.tables.findings import Finding, counted, listed
from uncletc.tables.levels import Levels

# Of the places that would have a count above 0 by what they have on days around, so few have one.
# Below, a day is no weak day but none; Sundays with half the usual reports stay counts.
ALMOST_NOBODY = 0.15
# Places that would have one at least: of fewer, none must have one, against all chance.
LEAST_PLACES = 8.0
# Steps at each side that say what is usual: a week, of which weekends are less than half.
AROUND = 7
LEAST_STEPS = 8  # of a mode in time; fewer say nothing of what is usual
LEAST_WEEKS = 3  # of a weekday
# -log P that zeros of one place on one weekday are chance; e^-25 is rare among a million pairs,
# and half of it among some hundred days.
NO_CHANCE = 25.0

_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_STEP = re.compile(r"\d{4}(-\d\d?|[- ]?[WSMQT]\d\d?)")
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def time_mode(counts: CountTensor) -> int | None:
    """The mode whose labels are all days, weeks, months or quarters; None where none is."""
    for k in reversed(range(len(counts.shape))):
        labels = counts.labels[k]
        if all(_is_day(label) for label in labels) or all(_STEP.fullmatch(each) for each in labels):
            return k
    return None


def check_days(counts: CountTensor, levels: Levels) -> Iterator[Finding]:
    """Find days, and weekdays, on which almost nobody reports, and places that never do on one.

    Parameters
    ----------
    counts : CountTensor
    levels : Levels
        Of these counts, with fibres along the mode in time.
    """
    mode = time_mode(counts)
    if mode is None or counts.shape[mode] < LEAST_STEPS:
        return
    time = _Time.of(counts, levels, mode)
    weekdays = [w for w in range(7) if time.silent(time.weekday == w, time.apart(w), LEAST_WEEKS)]
    on_weekday = np.isin(time.weekday, weekdays)
    usual = time.around(~on_weekday)
    silent = [t for t in range(len(time.labels)) if not on_weekday[t] and time.silent_at(t, usual)]
    if weekdays or silent:
        gone = sorted({*np.flatnonzero(on_weekday).tolist(), *silent})
        yield _silent(time, weekdays, silent, gone, counts)
    if (time.weekday >= 0).all() and len(counts.shape) > 1:
        yield from _places(time, levels, counts, weekdays, on_weekday)


@dataclass(frozen=True, eq=False)
class _Time:
    """The mode in time, in its order: what was counted, and what would be usual."""

    mode: str
    labels: tuple[str, ...]
    weekday: IntArray  # of each step, -1 where steps are no days
    effects: FloatArray  # of each step on the log scale
    at: IntArray  # step of each entry
    y: NDArray[np.bool_]  # whether it has a count above 0
    mean: FloatArray  # without the step's effect
    phi: float

    @classmethod
    def of(cls, counts: CountTensor, levels: Levels, mode: int) -> _Time:
        given = counts.labels[mode]
        order = np.array(sorted(range(len(given)), key=lambda i: _key(given[i])))
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        labels = tuple(given[i] for i in order)
        days = all(_is_day(label) for label in labels)
        effects = levels.effects[mode][order]
        at = rank[counts.indices[:, mode]]
        return cls(
            mode=counts.modes[mode],
            labels=labels,
            weekday=np.array(
                [date.fromisoformat(each).weekday() if days else -1 for each in labels]
            ),
            effects=effects,
            at=at,
            y=counts.counts > 0,
            mean=levels.mean * np.exp(-effects[at]),
            phi=levels.phi,
        )

    def around(self, usable: NDArray[np.bool_]) -> FloatArray:
        """What the effect of each step would be by the usable ones around it."""
        has_entries = np.bincount(self.at, minlength=len(self.labels)) > 0
        return np.array([self._around(t, usable & has_entries) for t in range(len(self.labels))])

    def apart(self, weekday: int) -> FloatArray:
        """The same from other weekdays."""
        return self.around(self.weekday != weekday)

    def silent(self, steps: NDArray[np.bool_], usual: FloatArray, least: int) -> bool:
        """Whether almost nobody reports on these steps, and on most of them one by one."""
        if steps.sum() < least:
            return False
        return self._almost_nobody(steps[self.at], usual)

    def silent_at(self, step: int, usual: FloatArray) -> bool:
        """Whether almost nobody reports on one step."""
        return self._almost_nobody(self.at == step, usual)

    def log_zero(self, entries: NDArray[np.bool_], usual: FloatArray) -> FloatArray:
        """-log P(0) of entries, as is usual around their step."""
        mean = self.mean[entries] * np.exp(usual[self.at[entries]])
        return np.log1p(self.phi * mean) / self.phi

    def _almost_nobody(self, entries: NDArray[np.bool_], usual: FloatArray) -> bool:
        """Whether few have a count above 0 of those that would; of few places, none."""
        against = self.log_zero(entries, usual)
        found, expected = int(self.y[entries].sum()), float(-np.expm1(-against).sum())
        if expected < LEAST_PLACES:
            return found == 0 and float(against.sum()) > NO_CHANCE / 2
        return found <= ALMOST_NOBODY * expected

    def _around(self, step: int, usable: NDArray[np.bool_]) -> float:
        """The lower of what is usual before and after: a season's first day is no gap."""
        numbers = np.arange(len(self.labels))
        sides = [numbers[max(step - AROUND, 0) : step], numbers[step + 1 : step + 1 + AROUND]]
        kept = [side[usable[side]] for side in sides]
        return min(
            (float(np.median(self.effects[each])) for each in kept if len(each)), default=-np.inf
        )


def _silent(
    time: _Time, weekdays: list[int], silent: list[int], gone: list[int], counts: CountTensor
) -> Finding:
    when = [f"{_WEEKDAYS[w]}s" for w in weekdays] + [time.labels[t] for t in silent]
    zeros = int((np.isin(time.at, gone) & ~time.y).sum())
    return Finding(
        kind="days",
        severity="mend",
        sentence=f"On {listed(when)} almost nobody reports: {counted(zeros, 'zero')} there would "
        "be read as nothing happened.",
        advice=f"Take {'this' if len(gone) == 1 else f'these {len(gone):,}'} {time.mode}"
        f"{'' if len(gone) == 1 else 's'} as missing: what happened then is "
        "estimated from the days around.",
        details={
            "missing": tuple((time.mode, time.labels[t]) for t in gone),
            "weekdays": tuple(_WEEKDAYS[w] for w in weekdays),
            "zeros": zeros,
            "counts": int(np.isin(time.at, gone).sum()),
            "of": counts.n_observed,
        },
    )


def _places(
    time: _Time,
    levels: Levels,
    counts: CountTensor,
    weekdays: list[int],
    on_weekday: NDArray[np.bool_],
) -> Iterator[Finding]:
    """Places without a single count on some weekday on which others report."""
    usual = time.around(~on_weekday)
    every = np.ones(counts.n_observed, dtype=bool)
    pair = levels.fibre * 7 + time.weekday[time.at]
    size = (int(levels.fibre.max(initial=-1)) + 1) * 7
    against = np.bincount(pair, time.log_zero(every, usual), size)
    positive, entries = np.bincount(pair, time.y, size), np.bincount(pair, minlength=size)
    never = (positive == 0) & (against > NO_CHANCE) & (entries >= LEAST_WEEKS)
    never = never.reshape(-1, 7)
    never[:, weekdays] = False
    places = int(never.any(axis=1).sum())
    if not places:
        return
    of = never.sum(axis=0)
    most = [w for w in np.argsort(-of, kind="stable").tolist() if of[w]]
    others = [mode for mode in counts.modes if mode != time.mode]
    named = [group.name for group in counts.groups if sorted(group.modes) == sorted(others)]
    what = f"{named[0] if named else ' × '.join(others)}s"
    yield Finding(
        kind="weekdays of places",
        severity="look",
        sentence=f"{places:,} of {len(never):,} {what} report nothing on one of the weekdays, most "
        f"of them on {_WEEKDAYS[most[0]]}s, though they do on other days.",
        advice="Their zeros are days without a report: let reporting differ by weekday among the "
        "effects of the fit, or leave these counts empty in the table.",
        details={"places": places, "by weekday": {_WEEKDAYS[w]: int(of[w]) for w in most}},
    )


def _is_day(label: str) -> bool:
    if not _DAY.fullmatch(label):
        return False
    try:
        date.fromisoformat(label)
    except ValueError:
        return False
    return True


def _key(label: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", label))
