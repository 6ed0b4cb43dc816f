"""Which columns name an entry: those under which rows are unique, or nearly so."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from uncletc.tables.profiles import Profile, determines, unique_share
from uncletc.tables.words import is_attribute, is_fips, is_id, is_note, tokens

_UNIQUE = 0.99  # share of rows at which columns count as naming them
_MOST_MODES = 4
_MOST_CANDIDATES = 8
_MOST_ROWS_COMPARED = 300_000


def candidates(profiles: Sequence[Profile], wide: bool = False) -> list[Profile]:
    """Columns that may name an entry: text, dates, and whole numbers that are named so.

    Parameters
    ----------
    profiles : sequence of Profile
        Without the count and what is an attribute by name.
    wide : bool
        Whether each row holds many counts, so that one column may name it.
    """
    found = []
    for each in profiles:
        if each.n_levels < 2 or is_note(each.name) or each.missing > 0.5:
            continue
        if each.kind == "number" or (is_attribute(each.name) and not each.mode_class):
            continue
        named = each.mode_class or is_id(each.name) or each.designed
        if each.kind == "whole" and not (named or (wide and each.n_levels == each.n)):
            continue
        if not wide and (each.numbers_rows or each.n_days > 0.9 * each.n > 9):
            continue
        if each.of_day and any(o.mode_class == "time" and not o.of_day for o in profiles):
            continue
        found.append(each)
    return found


def choose_modes(profiles: Sequence[Profile], least: int = 2, wide: bool = False) -> list[Profile]:
    """Two to four columns that name an entry, kinds and places first, times last.

    Parameters
    ----------
    profiles : sequence of Profile
        Columns that may.
    least : int
        How many are needed: one where the names of columns are another mode.
    wide : bool
        See :func:`candidates`.
    """
    some = candidates(profiles, wide)
    distinct = _without_parents(_without_aliases(some))
    named = [each for each in distinct if each.mode_class]
    chosen = _best(named, _MOST_MODES + 2)
    chosen = _thinned(chosen, least)
    rest = [each for each in distinct if each not in chosen and (wide or not _is_note_like(each))]
    rest = sorted(rest, key=lambda each: -_points(each))[:_MOST_CANDIDATES]
    if len(chosen) < least:
        chosen = _searched(chosen, rest, least)
    chosen = _with_texts(chosen, rest)
    while rest and len(chosen) < _MOST_MODES and unique_share(chosen) < _UNIQUE:
        gains = {
            each.name: unique_share([*chosen, each])
            for each in rest
            if each not in chosen and sum(_compared(each, other) for other in chosen) < 2
        }
        if not gains:
            break
        best = max(gains, key=lambda name: gains[name])
        if gains[best] < unique_share(chosen) + 0.05 or gains[best] < 0.9:
            break
        chosen.append(next(each for each in rest if each.name == best))
    if len(chosen) > 3 and unique_share(chosen) < 0.8:
        chosen = _best(chosen, 3)
    order = {each.name: k for k, each in enumerate(profiles)}
    return sorted(chosen, key=lambda each: (each.mode_class == "time", order[each.name]))


def _with_texts(chosen: list[Profile], rest: Sequence[Profile]) -> list[Profile]:
    """Add the two columns of text without which rows repeat, and with which hardly any does."""
    texts = [each for each in rest if each.kind == "text" and each.n_levels < 0.5 * each.n]
    if len(chosen) + 2 > _MOST_MODES or len(texts) < 2 or unique_share(chosen) >= _UNIQUE:
        return chosen
    if max(unique_share([*chosen, each]) for each in texts) >= _UNIQUE:
        return chosen  # one is enough
    pairs = [[*chosen, *pair] for pair in itertools.combinations(texts, 2)]
    best = max(pairs, key=unique_share)
    return best if unique_share(best) >= _UNIQUE else chosen


def _points(each: Profile) -> float:
    """How good a column is as a mode: what its name says, and that its levels repeat."""
    words = tokens(each.name)
    points = {"kind": 3.0, "time": 2.5, "place": 2.0, "": 0.0}[each.mode_class]
    points += (each.kind == "date") + 1.5 * is_fips(each.name) + 0.3 * ("name" in words)
    points -= 0.5 * ("code" in words) + 0.2 * (each.kind == "whole") + 3 * each.missing
    points -= 2.0 * (each.n_levels > 0.5 * each.n)
    return points


def _best(columns: Sequence[Profile], most: int) -> list[Profile]:
    return sorted(columns, key=lambda each: -_points(each))[:most]


def _is_note_like(each: Profile) -> bool:
    return each.kind == "text" and each.n_levels > 0.7 * each.n and not each.mode_class


def _without_aliases(columns: Sequence[Profile]) -> list[Profile]:
    """Of columns that name the same thing in two ways, the better one."""
    kept: list[Profile] = []
    for each in sorted(columns, key=lambda each: -_points(each)):
        same = any(
            (each.mode_class in ("", other.mode_class))
            and each.n_levels >= 0.98 * other.n_levels
            and each.n_levels <= other.n_levels
            and _compared(other, each)
            for other in kept
        )
        if not same:
            kept.append(each)
    return [each for each in columns if each in kept]


def _without_parents(columns: Sequence[Profile]) -> list[Profile]:
    """Without columns that another one of their class tells, as a date tells its year."""
    return [
        each
        for each in columns
        if not any(
            other is not each
            and other.mode_class == each.mode_class
            and other.n_levels > each.n_levels
            and _compared(other, each)
            for other in columns
        )
    ]


def _compared(fine: Profile, coarse: Profile) -> bool:
    if fine.n <= _MOST_ROWS_COMPARED:
        return determines(fine, coarse)
    head = [Profile(e.name, e.kind, e.column.head(_MOST_ROWS_COMPARED)) for e in (fine, coarse)]
    return determines(*head) and determines(fine, coarse)


def _thinned(columns: list[Profile], least: int) -> list[Profile]:
    """Drop times beside times and places beside places while rows stay as unique."""
    chosen = list(columns)
    while len(chosen) > max(least, 1):
        share = unique_share(chosen)
        doubled = [
            each
            for each in chosen
            if each.mode_class in ("time", "place")
            and sum(other.mode_class == each.mode_class for other in chosen) > 1
        ]
        worst_first = sorted(doubled, key=_points)
        without = next(
            (
                each
                for each in worst_first
                if unique_share([o for o in chosen if o is not each]) >= share - 0.005
            ),
            None,
        )
        if without is None and len(chosen) > _MOST_MODES:
            without = min(chosen, key=_points)
        if without is None:
            break
        chosen.remove(without)
    return chosen


def _searched(chosen: list[Profile], rest: list[Profile], least: int) -> list[Profile]:
    """The smallest set that makes rows unique, or else the one that does so most."""
    best, found = -1.0, chosen
    for size in range(max(least - len(chosen), 1), min(_MOST_MODES - len(chosen), len(rest)) + 1):
        for more in itertools.combinations(rest, size):
            share = unique_share([*chosen, *more])
            score = share + 0.001 * sum(map(_points, more))
            if score > best + 0.02 * (size > least - len(chosen)):
                best, found = score, [*chosen, *more]
        if best >= _UNIQUE:
            break
    return found
