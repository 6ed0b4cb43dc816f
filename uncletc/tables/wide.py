"""Which columns of a wide table hold counts, one for each level of a mode."""

import itertools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import polars as pl

from uncletc.data.protocols import band_edges, stem_of_band
from uncletc.tables.columns import (
    LEVELS,
    MONTHS,
    WORDS,
    meaning_of,
    numbered,
    singular,
    speaks_of,
    tokens,
)
from uncletc.tables.histories import FIRST_YEAR, stems
from uncletc.tables.profiles import Profile, parts_of, share
from uncletc.tables.types import dates_in, period_of, periods

# Names of times at which an animal was counted first.
_TIMED = re.compile(r"(?i)\d+ ?[-–_] ?\d+ ?min.*|(t|time|min|minutes?)[ ._]*\d+ ?[-–._] ?\d+")
_LEAST_ACROSS = 3  # columns of counts in a wide table
_FEW = 3  # animals that an observer sees somewhere
_MOST_AGAIN = 0.01  # of rows that columns name twice
_MOST_TOTALS = 3
_MOST_OTHERS = 8  # beside few columns of counts
FEW_NAMED = 0.5  # share of rows below which columns do not name them
_LEAST_ALONE = 6  # the same where no other column names a row


@dataclass(frozen=True)
class Wide:
    """Columns that hold counts, one for each level of a mode."""

    columns: tuple[str, ...]
    mode: str
    why: str
    named: bool = True  # whether their names say that they are levels

    def beside(self, names: Sequence[str]) -> list[str]:
        """Other columns whose names end in the numbers of these, several after the same word."""
        blocks = numbered(self.columns).items()  # a date has several numbers
        numbers = {k for word, own in blocks if word[-1:].isalpha() for k in own}
        others = numbered(it for it in names if it not in self.columns)
        alike = [[own[k] for k in own if k in numbers] for word, own in others.items() if word]
        return [it for own in alike if len(own) > 1 for it in own]


def find_wide(columns: Sequence[Profile]) -> Wide:
    """The columns of counts of a wide table; none for a table in long form."""
    numeric = [each.name for each in columns if each.numeric or not each.n_levels]
    days = dates_in(numeric)
    named = periods(filter(period_of, numeric)) or {}
    kinds = {"W": "week", "Q": "quarter", "/": "season"}
    period = next((kinds[k] for k in kinds if k in next(iter(named.values()), "")), "month")
    if bands := _banded(columns):
        return Wide(bands, "distance", "their names are bands of distance")
    by_name = (
        ("date", list(days) if len(set(days.values())) == len(days) else []),
        (period, list(named)),
        ("year", [each for each in numeric if re.fullmatch(r"[xX]?(19|20)\d\d", each)]),
        ("month", [it for it in numeric if it.lower() in MONTHS]),
        ("pass", [it for it in numeric if _TIMED.fullmatch(it)]),
        ("series", _begin_alike(columns)),
    )
    for mode, names in by_name:
        if len(names) >= _LEAST_ACROSS:
            why = {"series": "alike", "pass": "passes"}.get(mode, f"{mode}s")
            return Wide(tuple(names), mode, f"their names are {why}")
    visits, alike, parts = _numbered(columns), _alike(columns), _of_a_total(columns)
    if parts and (alike is None or 2 * len(parts.columns) >= len(alike.columns)):
        alike = parts
    if visits is None or alike is None or meaning_of(visits.mode) in ("time", "place"):
        return visits or alike or _of_a_pair(columns) or _in_a_row(columns) or Wide((), "", "")
    same = stems(alike.columns, len(visits.columns)).values()
    few = 2 * sum(map(len, same)) < len(alike.columns)
    return alike if few and {*visits.columns} < {*alike.columns} else visits


def _begin_alike(columns: Sequence[Profile]) -> list[str]:
    """Columns of counts that begin with one word, as all numbers do: cases_men, cases_women."""
    rest = (*LEVELS, "exposure")
    numbers = [it for it in columns if it.numeric and it.meaning not in rest and it.name != "row"]
    other = ("new", "rate", "made of counts", "maybe count")
    fine = [it for it in numbers if it.meaning == "count" and not it.says(*other)]
    same = [meaning_of(word) for word in {tokens(it.name)[0] for it in fine}] == ["count"]
    whole = all(it.count_like and not it.name[-1].isdigit() for it in fine)  # no visits
    total = min((it.name for it in fine), key=len, default="")  # of which the others are parts
    parts = same and whole and not all(it.name.startswith(total) for it in fine)
    return [it.name for it in fine] if parts and len(fine) == len(numbers) else []


def _banded(columns: Sequence[Profile]) -> tuple[str, ...]:
    """Columns of counts whose names are bands of distance; () without."""
    bands: dict[str | None, list[str]] = {}
    for each in columns:
        if each.count_like and not _TIMED.fullmatch(each.name):
            bands.setdefault(stem_of_band(each.name), []).append(each.name)
    found = (names for names in bands.values() if band_edges(names) is not None)
    return tuple(next(found, ()))


def _numbered(columns: Sequence[Profile]) -> Wide | None:
    """Columns that a word and a number name, such as week1, week2 or y.1, y.2."""
    some = [it for it in columns if it.count_like]
    stems, found = numbered(it.name for it in some), []
    for stem, names in stems.items():
        if not (may_be_level(stem) or speaks_of(stem, "observer", "numbered")):
            continue
        meaning = meaning_of(stem)
        in_a_row = max(names) - min(names) == len(names) - 1 and not 1 < min(names) < FIRST_YEAR
        visits = speaks_of(stem, "count", "count alone", "visit", "observer", "numbered")
        least = 2 if in_a_row and visits else _LEAST_ACROSS
        if len(names) >= least and (meaning in ("count", *LEVELS) or in_a_row):
            found.append((meaning == "count", meaning in LEVELS, len(names), stem))
    if not found:
        return None
    counts, *_, stem = max(found)
    block, mode = tuple(stems[stem].values()), stem.strip(" ._-").lower()
    others = [it for it in some if it.name not in block and may_be_level(it.name)]
    if not counts and any(it.meaning == "count" for it in others):
        return None
    mode = "visit" if counts or len(mode) < 2 else mode
    mode = "year" if min(stems[stem]) >= FIRST_YEAR else mode
    return Wide(block, mode, f"their names are {stem!r} and a number")


def _of_a_total(columns: Sequence[Profile]) -> Wide | None:
    """Columns that add up to one of a total, such as ages."""
    named = [it for it in columns if {*tokens(it.name)} & WORDS["total"] or not it.meaning]
    for total in sorted((it for it in named if it.count_like), key=lambda it: -it.high):
        if len(parts := parts_of(total, columns)) >= _LEAST_ACROSS:
            others = [it for it in columns if it.name not in (*parts, total.name)]
            if any(it.meaning == "count" for it in others):
                continue
            why = f"they add up to {total.name}"
            return Wide(tuple(parts), series_of(others), why, named=False)
    return None


def _alike(columns: Sequence[Profile]) -> Wide | None:
    """Many columns of whole numbers that no name explains, beside a few that name the row."""
    block = [
        each
        for each in columns
        if each.kind == "whole"
        and (each.n_levels > 1 or each.high == 0 or each.missing)
        and each.count_like
        and not each.numbers_rows
        and may_be_level(each.name)
        and each.meaning in ("", meaning_of(each.name))
        and not (each.of_levels and len(tokens(each.name)) == 1)
        and "time" not in map(meaning_of, tokens(each.name)[-1:])  # such as of an MMWR week
        and not any(it.names(each) for it in columns if it.kind == "text")  # a country's code
    ]
    if len(block) < _LEAST_ALONE and any(it.high > 1 for it in block):
        block = [it for it in block if it.high > 1]  # not yes or no
    others = [each for each in columns if each not in block]
    unnamed = sum(not each.of_levels for each in others)
    least = 2 if [it.name for it in others if it.kind == "text"] == ["row"] else _LEAST_ACROSS
    bare = len(block) >= _LEAST_ALONE and all(each.low == 0 for each in block)
    texts = pl.DataFrame([it.values for it in others if it.of_levels or it.kind == "text"])
    few = len(block) < _LEAST_ALONE and 0 < texts.n_unique() < FEW_NAMED * len(texts)
    most = max(_MOST_OTHERS, len(block) / 2)
    if len(block) < max(least, unnamed) or len(others) > most or not (others or bare) or few:
        return None  # or few whole numbers beside levels that do not name rows
    named = [it for it in block if it.meaning in ("count", "maybe count") and not it.says("stage")]
    rest = [it for it in block if it not in named]
    alone = named and 2 * sum(it.low > 0 for it in rest) > len(rest)  # ages, powers beside claims
    if alone or len(named) > 0.3 * len(block):
        return None
    if sum(each.name.lower() in WORDS["count alone"] for each in block) == 1:  # in long form
        return None
    largest = sorted(block, key=lambda it: it.values.sum())[-_MOST_TOTALS:]
    totals = [it for it in largest if len(parts_of(it, block)) >= _LEAST_ACROSS]
    block = [it for it in block if it not in totals]
    why = f"these {len(block)} columns all hold whole numbers"
    return Wide(tuple(each.name for each in block), series_of(others), why, named=False)


def _of_a_pair(columns: Sequence[Profile]) -> Wide | None:
    """Two columns of like whole numbers that no name explains, as of two observers or viruses.

    No other column may hold counts, and the others name each row.
    """
    of_counts = ("", "count", "maybe count")
    may = (*of_counts, "made of counts", "exposure")
    some = [it for it in columns if it.numeric and it.n_levels > 1 and it.meaning in may]
    good = [it for it in some if it.meaning == "" and it.count_like and it.count_points > -2]
    keys = [it.values for it in columns if it.of_levels or it.kind == "text"]
    again = share(pl.DataFrame(keys).is_duplicated()) if keys else 1  # a clock may be set back
    if len(some) != 2 or len(good) != 2 or again > _MOST_AGAIN:
        return None
    first, second = good
    like = abs(first.count_points - second.count_points) < 1 and max(first.low, second.low) <= _FEW
    like &= max(first.high, second.high) > 1  # not yes or no
    like &= not any(it.few and it.low > 0 for it in good) or first.few == second.few  # no decile
    mode = "series" if {*tokens(first.name)} & {*tokens(second.name)} else "observer"
    why = "these 2 columns alone may hold counts"
    return Wide((first.name, second.name), mode, why, named=False) if like else None


def _in_a_row(columns: Sequence[Profile]) -> Wide | None:
    """Columns of numbers from 0, one after the other, where no column is named as a count."""
    named = any(it.meaning == "count" and it.numeric for it in columns)
    may = [it for it in columns if it.count_like and it.low == 0 < it.high and it.n_levels > 2]
    rows = itertools.groupby(columns, key=lambda it: it.meaning if it in may else "none")
    blocks = [[*own] for meaning, own in rows if meaning in ("", "maybe count")]
    block = max(blocks, key=len, default=[])
    others = [it for it in columns if it not in block]
    unnamed = sum(it.meaning == "" and it.numeric for it in others)
    why = "they hold numbers from 0, one after the other"
    wide = Wide(tuple(it.name for it in block), series_of(others), why, named=False)
    return None if named or len(block) < max(_LEAST_ACROSS, unnamed) else wide


def series_of(others: Iterable[Profile]) -> str:
    """What to call a mode whose levels are names of columns."""
    meanings = {each.meaning for each in others}
    return "species" if "place" in meanings and "kind" not in meanings else "series"


def may_be_level(name: str) -> bool:
    """Whether a name may be one of a level whose counts a column holds."""
    words = tokens(name)  # a date or time of each visit is none, nor a total
    other = bool(WORDS["of others"] & {*map(singular, (*words[:1], *words[-1:]))})
    every = words[:1] == ("all",) and all(it.isdigit() or meaning_of(it) for it in words[1:2])
    other = other or every or words[:1] in (("date",), ("time",))
    may = meaning_of(name) in ("", "count", "maybe count", *LEVELS)
    return may and not (other or name.startswith("column "))
