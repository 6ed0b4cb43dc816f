"""Random effects that a table is fitted with, unless its reader leaves some out."""

from collections.abc import Collection
from itertools import combinations

import numpy as np

from uncletc.data.counts import CountTensor
from uncletc.tables.checks import time_mode
from uncletc.tables.columns import meaning_of

_MOST_LEVELS = 200_000  # pairs of levels that have a number each: 14 MB of draws
_OF_A_PAIR = 2  # counts in the mean: the effect of a pair with one is the error of that count
_YEARS = 1700, 2100  # numbers that are years under any name
_STEPS = range(6, 3_001)  # of time, over which courses are smooth; of fewer each is for itself


def usual_effects(counts: CountTensor) -> dict[str, str]:
    """Return random effects on λ of modes, of pairs of modes, and of courses over time.

    Factors alone predicted counts that no fit had seen worse in seven real tables of ten, and took
    three times as long; p of simulated tables was no nearer to the truth with them
    (``benchmarks/results/tables.md``, ``effects.md``).

    Parameters
    ----------
    counts : CountTensor

    Returns
    -------
    dict of str to str
        Texts as :class:`uncletc.FitSettings` takes them, with reasons. Pairs with hardly more
        than one count each, such as of two modes alone, have none. Empty where closed modes are
        usual, which allow no random effects.

    Examples
    --------
    >>> from uncletc.tables import usual_effects
    >>> labels = [["a", "b"], [f"2021-02-0{day}" for day in range(1, 8)]]
    >>> y = CountTensor((2, 7), [[0, 0], [1, 6]], [4, 2], modes=["site", "day"], labels=labels)
    >>> list(usual_effects(y))
    ['site', 'day', 'site × smooth(day)']
    """
    if counts.closed_mode is not None:
        return {}
    sizes = dict(zip(counts.modes, counts.shape, strict=True))
    modes = [mode for mode in counts.modes if sizes[mode] > 1 and not {*mode} & {*"(),*×"}]
    times = _times(counts)
    effects = {mode: f"Levels of {mode} differ." for mode in modes}
    for first, second in combinations(modes, 2):
        if sizes[first] * sizes[second] > _MOST_LEVELS:
            continue
        pairs = counts.indices[:, [counts.modes.index(first), counts.modes.index(second)]]
        if _OF_A_PAIR * len(np.unique(pairs, axis=0)) <= counts.n_observed:
            effects[f"{first} × {second}"] = f"Pairs of {first} and {second} differ."
        for mode, time in ((first, second), (second, first)):
            if time in times and mode not in times:
                effects[f"{mode} × smooth({time})"] = f"Each {mode} has a course over {time}."
    return effects


def _times(counts: CountTensor) -> Collection[str]:
    """Modes whose levels follow one another in time, with known distances, in many steps."""
    last, found = time_mode(counts), []
    for k, (mode, size) in enumerate(zip(counts.modes, counts.shape, strict=True)):
        at = counts.every_group[mode].positions
        if at is not None and size in _STEPS:
            years = at.min() >= _YEARS[0] and at.max() <= _YEARS[1]
            if k == last or years or meaning_of(mode) == "time":
                found.append(mode)
    return found
