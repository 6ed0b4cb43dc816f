"""A report on counts before the fit: what is wrong with them, and what is odd.

:func:`check_counts` gives sentences in the order of their importance. Each threshold is a constant
with its reason.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from uncletc.common.validation import FloatArray, IntArray
from uncletc.data.counts import CountTensor
from uncletc.datasets.base import Dataset
from uncletc.tables.columns import meaning_of
from uncletc.tables.types import listed

CHECK = "Please check: "
"""Begins a rule of a table's provenance that its owner should read: a warning of the report."""

Severity = Literal["error", "warning", "info"]

# Counts for each level of all modes: a fit of rank 1 alone has so many unknowns.
FEW = 2.0

# Rank correlation with the count from which an attribute is nearly the count itself. Attributes of
# real detection lie far below: tests per person and cases have .5.
LEAKING = 0.95
SAMPLE = 20_000  # counts that it is computed from
LEAST = 40  # counts with attributes; fewer say nothing

LEAST_STEPS = 8  # of a mode in time; fewer say nothing of what is usual
# Of the places that usually have a count above 0 on days around, so few have one. Below, a day is
# no weak day but none; Sundays with half the usual reports stay counts.
ALMOST_NOBODY = 0.15
LEAST_PLACES = 8.0  # that usually have one; of fewer, none may have one by chance
# Steps at each side that say what is usual: a week, of which weekends are less than half.
AROUND = 7
LEAST_WEEKS = 3  # of a weekday

LEAST_RISES = 20  # of cumulative counts
# Share of steps that fall, by corrections; counts of their own fall about as often as they rise.
FALLS = 0.02
# Share of steps that rise at least: what remains as it is says nothing.
RISES = 0.05

_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_STEP = re.compile(r"\d{4}(-\d\d?|[- ]?[WSMQT]\d\d?)")
_TOTAL = re.compile(
    r"(grand |sub-?)?totals?|all|overall|sums?|both( sexes| genders)?|persons|world|global"
    r"|(all|total|both|overall) (ages?|sexes|genders|regions?|states?|countries|causes|species"
    r"|sites|trusts|groups?|areas|types?)"
)


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One thing to know of counts before they are fitted.

    Attributes
    ----------
    kind : str
        What it is about: "shape", "share", "reading", "running totals", "totals", "days",
        "leaking" or "few counts".
    severity : {"error", "warning", "info"}
        "error": a fit would be wrong; "warning": it may be; "info": worth knowing.
    sentence : str
        What was found, in one sentence for readers.
    advice : str
        What to do, in one sentence; empty where there is nothing to do.
    details : mapping of str to Any
        Plain values behind the sentence. Of "days": ``missing``, pairs of a mode and a level for
        :attr:`uncletc.tables.Columns.missing`. Of "running totals": ``running``, the mode for
        :attr:`uncletc.tables.Columns.running`. Of "totals":
        ``without``, pairs for :attr:`uncletc.tables.Columns.without`.
    """

    kind: str
    severity: Severity
    sentence: str
    advice: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)


def check_counts(data: Dataset | CountTensor) -> tuple[Finding, ...]:
    """Findings on counts before they are fitted, the most important first.

    Parameters
    ----------
    data : Dataset or CountTensor
        Of a data set, rules of its provenance that ask for a check are findings too.

    Examples
    --------
    >>> from uncletc import simulate
    >>> y, _ = simulate((8, 8, 8), 2, observed=0.5, attributed=0.5, n_attributes=2, seed=1)
    >>> check_counts(y)[0].sentence
    'The counts form a block of 8 mode 1s × 8 mode 2s × 8 mode 3s: 512 combinations.'
    """
    counts = data.counts if isinstance(data, Dataset) else data
    found = list(_shape(counts))
    rules = data.provenance.rules if isinstance(data, Dataset) else ()
    advice = "Correct the file or its columns if this is not what you want."
    for rule in (each.removeprefix(CHECK) for each in rules if each.startswith(CHECK)):
        sentence = rule[:1].upper() + rule[1:]
        found.append(Finding(kind="reading", severity="warning", sentence=sentence, advice=advice))
    if counts.n_observed and counts.counts.any():
        time = time_mode(counts)
        running = list(_running(counts, time))
        found += [*running, *_totals(counts)]
        if not running:  # totals have no silent days
            found += _days(counts, time)
        found += [*_leaking(counts), *_few(counts)]
    else:
        what = "no count at all" if not counts.n_observed else "no count above 0"
        advice = "Check which column holds the counts: without events nothing can be estimated."
        found.append(
            Finding(
                kind="few counts", severity="error", sentence=f"There is {what}.", advice=advice
            )
        )
    return tuple(sorted(found, key=lambda each: ("error", "warning", "info").index(each.severity)))


def _counted(n: int, one: str) -> str:
    return f"{n:,} {one if n == 1 else f'{one}s'}"


def _shape(counts: CountTensor) -> Iterator[Finding]:
    pairs = zip(counts.shape, counts.modes, strict=True)
    size = " × ".join(f"{size:,} {mode}s" for size, mode in pairs)
    every, n = math.prod(counts.shape), n_existing(counts)
    yield Finding(
        kind="shape",
        severity="info",
        sentence=f"The counts form a block of {size}: {every:,} combinations.",
        details={"shape": counts.shape, "entries": every},
    )
    share = counts.n_observed / n if n else 0.0
    zeros = float(np.mean(counts.counts == 0)) if counts.n_observed else 0.0
    yield Finding(
        kind="share",
        severity="info",
        sentence=f"{counts.n_observed:,} of the {n:,} combinations{' that exist' * (n < every)} "
        f"have a count ({share:.0%}), and {zeros:.0%} of the counts are 0; the others are missing, "
        "which is not 0.",
        details={"observed": counts.n_observed, "existing": n, "share": share, "zeros": zeros},
    )


def _few(counts: CountTensor) -> Iterator[Finding]:
    used = sum(len(np.unique(counts.indices[:, k])) for k in range(len(counts.shape)))
    if counts.n_observed < FEW * used:
        yield Finding(
            kind="few counts",
            severity="warning",
            sentence=f"There are {_counted(counts.n_observed, 'count')} for {used:,} levels of the "
            "modes: hardly more than a fit of rank 1 has unknowns.",
            advice="Join levels, such as days to weeks, or fit with rank 1.",
        )


# Attributes that say too much


def _leaking(counts: CountTensor) -> Iterator[Finding]:
    """Attributes that are nearly the count, among those of counted entries."""
    rows = np.flatnonzero(counts.attribute_rows >= 0)
    if len(rows) < LEAST:
        return
    if len(rows) > SAMPLE:
        rows = np.sort(np.random.default_rng(0).choice(rows, SAMPLE, replace=False))
    z = np.column_stack([counts.attributes, counts.rate_attributes])[counts.attribute_rows[rows]]
    y = counts.counts[rows].astype(np.float64)
    both = pd.DataFrame({"count": y, "per": y / counts.exposure_at(counts.indices[rows])})
    names = (*counts.attribute_names, *counts.rate_attribute_names)
    ranks = pd.DataFrame(z, columns=names).rank()
    for name in names:
        together = both.rank().corrwith(ranks[name]).abs().max()
        if together >= LEAKING:
            yield Finding(
                kind="leaking",
                severity="error",
                sentence=f"{name} nearly determines the count: their rank correlation is "
                f"{together:.2f}.",
                advice="Leave it out unless it was known before anyone counted.",
                details={"attribute": name, "rank correlation": float(together)},
            )


# Counts that are sums of others


def _fibres(counts: CountTensor, along: int) -> IntArray:
    """The number of each count's fibre along a mode; (N,)."""
    others = [k for k in range(len(counts.shape)) if k != along]
    flat = np.ravel_multi_index(
        [counts.indices[:, k] for k in others], [counts.shape[k] for k in others]
    )
    return np.asarray(np.unique(flat, return_inverse=True)[1], dtype=np.int64)


def _running(counts: CountTensor, time: int | None) -> Iterator[Finding]:
    """Counts that never fall along a mode in time: each holds those before it."""
    named = [
        k
        for k, mode in enumerate(counts.modes)
        if k == time or meaning_of(mode, number=False) == "time"
    ]
    for k in (each for each in named if counts.shape[each] >= LEAST_STEPS):
        fibre = _fibres(counts, k)
        order = np.lexsort((counts.indices[:, k], fibre))
        steps = np.diff(counts.counts[order])[np.diff(fibre[order]) == 0]
        rises, falls = int((steps > 0).sum()), int((steps < 0).sum())
        if rises < max(LEAST_RISES, RISES * len(steps)) or falls > FALLS * len(steps):
            continue
        mode = counts.modes[k]
        yield Finding(
            kind="running totals",
            severity="error",
            sentence=f"Counts {'hardly ever' if falls else 'never'} fall along {mode} (they rise "
            f"in {rises:,} steps and fall in {falls:,}): they look cumulative, each holding those "
            "before it.",
            advice="Take the differences as counts, unless counts do grow so steadily.",
            details={"running": mode, "rises": rises, "falls": falls},
        )
        return


def _totals(counts: CountTensor) -> Iterator[Finding]:
    """Levels that are the sum of the others of their mode, by name."""
    found = []
    for k, labels in enumerate(counts.labels):
        if len(labels) < 3:
            continue
        gone = {i for i, label in enumerate(labels) if _TOTAL.fullmatch(label.strip().casefold())}
        if len(gone) < len(labels) - 1:
            found += [(counts.modes[k], labels[i]) for i in sorted(gone)]
    if found:
        yield Finding(
            kind="totals",
            severity="error",
            sentence=f"{listed([f'{mode} {level!r}' for mode, level in found])} "
            f"{'is' if len(found) == 1 else 'are'} the sum of other levels, by name.",
            advice="Leave such levels out: each event would be counted twice.",
            details={"without": tuple(found)},
        )


# Days on which almost nobody reports: their zeros are not zeros


def time_mode(counts: CountTensor) -> int | None:
    """The mode whose labels are all days, weeks, months or quarters; None where none is."""
    for k in reversed(range(len(counts.shape))):
        labels = counts.labels[k]
        if all(map(is_day, labels)) or all(map(_STEP.fullmatch, labels)):
            return k
    return None


def is_day(label: str) -> bool:
    """Whether the label of a mode's step is a day of the calendar, such as 2021-02-28."""
    try:
        return str(date.fromisoformat(label)) == label
    except ValueError:
        return False


def _days(counts: CountTensor, mode: int | None) -> Iterator[Finding]:
    """Days, and weekdays, on which almost nobody reports."""
    if mode is None or counts.shape[mode] < LEAST_STEPS:
        return
    order = sorted(range(counts.shape[mode]), key=lambda i: _numbers(counts.labels[mode][i]))
    labels, name = [counts.labels[mode][i] for i in order], counts.modes[mode]
    days = all(map(is_day, labels))
    weekday = np.array([date.fromisoformat(each).weekday() if days else -1 for each in labels])
    at = np.argsort(order)[counts.indices[:, mode]]
    fibre, positive = _fibres(counts, mode), counts.counts > 0

    def silent(usable: NDArray[np.bool_], group: IntArray) -> NDArray[np.bool_]:
        """In which groups of steps few fibres have a count above 0 of those that usually do.

        Usable steps say what is usual: of a fibre on all of them, of a step on those around.
        """
        own, n = usable[at], len(labels)
        some, every = (
            np.bincount(fibre[own], weights, fibre.max() + 1) for weights in (positive[own], None)
        )
        chance = ((some + 0.5) / (every + 1))[fibre]
        found, expected = np.bincount(at, positive, n), np.bincount(at, chance, n)
        level = np.full(n, np.nan)
        np.divide(found, expected, out=level, where=usable & (expected > 0))
        usual = np.minimum(_around(level), _around(level[::-1])[::-1])  # a season's start is no gap
        found, expected = np.bincount(group, found), np.bincount(group, expected * usual)
        return (expected >= LEAST_PLACES) & (found <= ALMOST_NOBODY * expected)

    weekdays = [
        w
        for w in range(7)
        if (weekday == w).sum() >= LEAST_WEEKS
        and silent(weekday != w, (weekday == w).astype(int))[1]
    ]
    usable = ~np.isin(weekday, weekdays)
    single = np.flatnonzero(silent(usable, np.arange(len(labels))) & usable)
    gone = sorted({*np.flatnonzero(~usable).tolist(), *single.tolist()})
    if gone:
        when = [f"{_WEEKDAYS[w]}s" for w in weekdays] + [labels[t] for t in single]
        zeros = int((np.isin(at, gone) & ~positive).sum())
        yield Finding(
            kind="days",
            severity="error",
            sentence=f"On {listed(when)} almost nobody reports: {_counted(zeros, 'zero')} there "
            "would be read as nothing happened.",
            advice=f"Take {_counted(len(gone), name)} as missing.",
            details={"missing": tuple((name, labels[t]) for t in gone)},
        )


def _numbers(label: str) -> list[int]:
    return [int(part) for part in re.findall(r"\d+", label)]


def _around(level: FloatArray) -> FloatArray:
    """The median of the steps before each; 0 where there is none."""
    before = pd.Series(level).rolling(AROUND, min_periods=1).median().shift()
    return before.fillna(0.0).to_numpy()


# Which entries exist


def existing(counts: CountTensor) -> NDArray[np.bool_]:
    """Mark the entries that could be counted at all: no county lies in the sea.

    An entry exists if each of its levels has a row, in Ω or Ξ, if its exposure is not 0, and if
    it belongs to a level of each group.

    Parameters
    ----------
    counts : CountTensor

    Returns
    -------
    ndarray of bool, shape (I_1 or 1, …, I_K or 1)
        1 along a mode with which it does not change; broadcasts to the shape of the counts.

    Examples
    --------
    >>> y = CountTensor((2, 3), [[0, 0], [0, 2]], [4, 0])
    >>> existing(y).astype(int).tolist()
    [[1, 0, 1], [0, 0, 0]]
    """
    n_modes = len(counts.shape)
    exists = np.ones((1,) * n_modes, dtype=bool)

    def along(values: NDArray[np.bool_], modes: Iterable[int]) -> NDArray[np.bool_]:
        sizes = dict(zip(modes, values.shape, strict=True))
        return values.reshape([sizes.get(k, 1) for k in range(n_modes)])

    for k, size in enumerate(counts.shape):
        has_row = np.zeros(size, dtype=bool)
        has_row[counts.indices[:, k]] = True
        has_row[counts.attribute_indices[:, k]] = True
        if not has_row.all():
            exists = exists & along(has_row, [k])
    if counts.exposure is not None and (counts.exposure == 0).any():
        exists = exists & (counts.exposure > 0)
    for group in counts.groups:
        if (group.codes < 0).any():
            at = [counts.modes.index(mode) for mode in group.modes]
            exists = exists & along(np.transpose(group.codes, np.argsort(at)) >= 0, sorted(at))
    return exists


def n_existing(counts: CountTensor) -> int:
    """How many entries exist, as :func:`existing` marks them; at least those with a count."""
    exists = existing(counts)
    same = [size for size, own in zip(counts.shape, exists.shape, strict=True) if own == 1]
    return max(int(exists.sum()) * int(np.prod(same, dtype=np.int64)), counts.n_observed)


def with_entries(counts: CountTensor) -> CountTensor:
    """Copy in which every entry has an (empty) attribute row, where there are none.

    Detection is then known there, the same everywhere. The fit is the same.

    Parameters
    ----------
    counts : CountTensor
    """
    if counts.n_attributed:
        return counts
    return CountTensor(
        counts.shape,
        counts.indices,
        counts.counts,
        attributes=np.empty((counts.n_observed, 0)),
        modes=counts.modes,
        labels=counts.labels,
        exposure=counts.exposure,
        observations=counts.observations,
        groups=counts.groups,
        surveys=counts.surveys,
        simulated=counts.simulated,
    )
