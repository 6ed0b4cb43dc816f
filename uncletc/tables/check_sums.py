"""Counts that are sums of others: running totals, and a level that is the total of its mode."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from uncletc.common.validation import IntArray
from uncletc.data.counts import CountTensor
from uncletc.tables.findings import Finding, listed
from uncletc.tables.words import class_of

LEAST_STEPS = 8  # of a mode in time
LEAST_RISES = 20
# Share of steps that fall, by corrections; counts of their own fall about as often as they rise.
FALLS = 0.02
# Share of steps that rise at least: what stays as it is tells nothing.
RISES = 0.05
LEAST_SUMS = 5  # fibres in which a level is the sum of the others
EQUAL = 0.9  # share of them

_TOTAL = re.compile(
    r"(grand |sub-?)?totals?|all|overall|sums?|gesamt|insgesamt|summe|ensemble|tous|toutes|todos"
    r"|todas|totale|totaal|both( sexes| genders)?|persons|world|global"
    r"|(all|total|both|overall) (ages?|sexes|genders|regions?|states?|countries|causes|species"
    r"|sites|trusts|groups?|areas|types?)|(ages?|sexes|genders|causes),? (all|total)"
)


def check_running(counts: CountTensor, time: int | None) -> Iterator[Finding]:
    """Find counts that never fall along a mode in time: each holds those before it.

    Parameters
    ----------
    counts : CountTensor
    time : int, optional
        The mode whose labels are of time; others are known by name.
    """
    named = [k for k, mode in enumerate(counts.modes) if class_of(mode) == "time"]
    for k in dict.fromkeys([*([] if time is None else [time]), *named]):
        if counts.shape[k] < LEAST_STEPS:
            continue
        fibre = _fibre(counts, [j for j in range(len(counts.shape)) if j != k])
        order = np.lexsort((counts.indices[:, k], fibre))
        steps = np.diff(counts.counts[order])[np.diff(fibre[order]) == 0]
        rises, falls = int((steps > 0).sum()), int((steps < 0).sum())
        if rises < max(LEAST_RISES, RISES * len(steps)) or falls > FALLS * len(steps):
            continue
        mode = counts.modes[k]
        seldom = "never fall" if not falls else "hardly ever fall"
        yield Finding(
            kind="running totals",
            severity="mend",
            sentence=f"Counts {seldom} along {mode} (they rise in {rises:,} steps and fall in "
            f"{falls:,}): they look cumulative, each holding those before it.",
            advice="Take the differences as counts, unless counts do grow so steadily: a running "
            f"total counts each event again at every later {mode}.",
            details={"running": mode, "rises": rises, "falls": falls},
        )
        return


def check_totals(counts: CountTensor) -> Iterator[Finding]:
    """Find levels that are the sum of the others of their mode, by name or by their counts.

    Parameters
    ----------
    counts : CountTensor
    """
    found = []
    for k, labels in enumerate(counts.labels):
        if len(labels) < 3:
            continue
        gone = {i for i, label in enumerate(labels) if _TOTAL.fullmatch(label.strip().casefold())}
        largest = _sum_of_others(counts, k, gone)
        if largest is not None:
            gone.add(largest)
        if len(gone) < len(labels) - 1:
            found += [(counts.modes[k], labels[i]) for i in sorted(gone)]
    if not found:
        return
    one = len(found) == 1
    yield Finding(
        kind="totals",
        severity="mend",
        sentence=f"{listed(f'{mode} {level!r}' for mode, level in found)} {'is' if one else 'are'} "
        f"the sum of other levels, by name or by {'its' if one else 'their'} counts.",
        advice=f"Leave {'it' if one else 'them'} out: each event would be counted twice.",
        details={"without": tuple(found)},
    )


def _sum_of_others(counts: CountTensor, k: int, named: set[int]) -> int | None:
    """The level whose counts are the sums of all others wherever all are counted."""
    size = counts.shape[k]
    at, y = counts.indices[:, k], counts.counts.astype(np.float64)
    totals = np.bincount(at, y, size)
    most = int(np.argmax(totals))
    if most in named or not 0.4 * totals.sum() < totals[most] < 0.6 * totals.sum():
        return None
    fibre = _fibre(counts, [j for j in range(len(counts.shape)) if j != k])
    n = int(fibre.max(initial=-1)) + 1
    full = np.bincount(fibre, minlength=n) == size
    own = np.bincount(fibre[at == most], y[at == most], n)
    rest = np.bincount(fibre[at != most], y[at != most], n)
    told = full & (own > 0)
    enough = told.sum() >= LEAST_SUMS and np.mean(own[told] == rest[told]) >= EQUAL
    return most if enough else None


def _fibre(counts: CountTensor, modes: list[int]) -> IntArray:
    """The number of each count's fibre, given the modes that name it."""
    sizes = [counts.shape[j] for j in modes]
    flat = np.ravel_multi_index([counts.indices[:, j] for j in modes], sizes)
    return np.asarray(np.unique(flat, return_inverse=True)[1], dtype=np.int64)
