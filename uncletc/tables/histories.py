"""Tables of capture histories as counts by site and visit, and captures of each animal."""

import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import polars.selectors as cs
from numpy.typing import NDArray

from uncletc.common.validation import IntArray
from uncletc.data.counts import CountTensor
from uncletc.data.frames import LEAST_VISITS, MOST_VISITS, read_histories
from uncletc.tables.columns import WORDS, meaning_of, numbered, speaks_of, tokens
from uncletc.tables.profiles import determines
from uncletc.tables.types import CHECK, dates_in, flags_of, listed

CAPTURES = "captures of each animal"
"""The added column, at a site's first visit: how often each animal was caught, first and last."""

OF_ANIMALS = " of animals"
"""Ends the names of covariates that animals of one site differ in, on which p may depend."""

_NUMBERED = r"(.*?)[\W_]*(\d[\dx]+)"
_YEAR = re.compile(r"(?:19|20)\d\d")
_HISTORIES, _MANY = "history", "count"  # columns made of columns named by histories
_LISTED = "list "  # begins the names of columns that hold the name of the list, by visit
_LISTS = ("list", "source", "register", "registry")
_MOST_ANIMALS = 1_000_000
_LEAST_UNNAMED = 10  # animals
_LEAST_CAUGHT = 3  # on average, where a visit without any capture was hardly made
_MOST_VALUES = 5  # of what animals differ in, such as their sex, with that of no value
_LEAST_EACH = 5  # rows for each list: of fewer, columns may be species and rows samples
FIRST_YEAR = 1900  # numbers from here on are years

_Found = tuple[list[int], list[str], pl.DataFrame]  # a row of each animal, histories, other columns


def with_histories(frame: pl.DataFrame, notes: list[str]) -> pl.DataFrame:
    """Turn a table of capture histories into counts of animals by site and visit.

    Histories are texts such as 101 in a column, names of columns that hold how many animals have
    them, columns of 0 and 1 by visit beside one that names each animal, or rows of one animal and
    visit each. Other tables are returned as they are. What was done is added to notes.
    """
    pair, of_form = _of_two_observers(frame)
    named = _in_names(pair)
    found = _in_a_column(frame, notes) or named or _across(frame)
    if named is None or found is not named:
        of_form = []  # they come from another form
    if found is None and (found := _in_lists(frame)) is not None:
        lists = listed(found[2].select(cs.starts_with(_LISTED)).row(0))
        of_form = [f"{CHECK}a row of 0 and 1 says which of {lists} found one and the same."]
    found = found or _in_rows(frame, notes)
    if found is None:
        return frame
    rows, histories, rest = found
    rest = rest.drop({*_animals(rest), *(_keys(rest) if len(rows) == len(rest) else ())})
    if sizes := [name for name in rest.columns if _is_size(name) and rest[name].dtype.is_integer()]:
        of_form = [*of_form, f"{CHECK}{sizes[0]} counts the animals of each group; N is of groups."]
    site = _site(rest)
    sites = ["all"] * len(rest) if site is None else rest[site].cast(pl.String).to_list()
    if None in sites:
        return frame
    rest, sites = _divided(rest, sites)
    mode = "animals" if any(name.endswith(OF_ANIMALS) for name in rest.columns) else site or "site"
    first = pl.Series(sites).arg_unique().to_list()
    labels = [sites[row] for row in first]
    try:
        table, _, captures = read_histories([sites[row] for row in rows], histories, labels)
    except ValueError:
        return frame
    n_visits = table.shape[1]
    caught = [""] * len(labels)
    for at, times, since, until in captures.tolist():
        caught[at] += f"{times}:{since + 1}:{until + 1} "
    columns: dict[str, Any] = {
        mode: np.repeat(labels, n_visits),
        "visit": np.tile(np.arange(1, n_visits + 1), len(labels)),
        "count": pl.Series(table.ravel(), nan_to_null=True).cast(pl.Int64),
        CAPTURES: [text for each in caught for text in (each.strip(), *[None] * (n_visits - 1))],
    }
    for stem, names in stems(rest.columns, n_visits).items():
        block = rest[first].select(names)
        if len({True if it.is_numeric() else it for it in block.dtypes}) > 1:
            block = block.cast(pl.String)
        columns[stem] = pl.Series(block.to_numpy().ravel(), nan_to_null=True)
        rest = rest.drop(names)
    more = [name for name in rest.columns if name != "row" and name not in columns]
    of_site = rest.with_columns(pl.Series(CAPTURES, sites))
    lost = [name for name in more if not determines(of_site, [CAPTURES], name)]
    every = np.repeat(first, n_visits)
    columns |= {name: rest[name].gather(every) for name in more if name not in lost}
    if "list" in columns:
        visits = zip(columns["visit"], columns["list"], strict=True)
        columns["visit"] = [f"{k} {name}" for k, name in visits]
    notes += of_form
    notes.append(
        f"{len(captures):,} capture histories of {n_visits} visits are counts by {mode} and visit; "
        "with closed-population repeat visits the histories themselves are fitted."
    )
    if lost:
        notes.append(f"Left out, as they differ within {mode}: {', '.join(lost)}.")
    return pl.DataFrame(columns, strict=False)


def _divided(rest: pl.DataFrame, sites: list[str]) -> tuple[pl.DataFrame, list[str]]:
    """Divide animals of a site by what they differ in, such as size or sex, that p may follow.

    A number that has many values is taken in fifths of the animals, each by its mean.
    """
    for name in _traits(rest):
        values = rest[name].fill_null("unknown")
        cells = [f"{site}, {name} {value}" for site, value in zip(sites, values, strict=True)]
        if len({*sites}) < len({*cells}) <= len(cells) / 2:
            rest, sites = rest.drop(name).with_columns(values.alias(name + OF_ANIMALS)), cells
    for each in (it for it in rest.get_columns() if it.dtype.is_numeric() and not it.null_count()):
        part = (each.rank("min") - 1) * 5 // len(each) if each.n_unique() > 5 else each
        mean = pl.DataFrame({"of": each, "part": part}).select(pl.col("of").mean().over("part"))
        cells = [f"{site}, {each.name} {x:.3g}" for site, x in zip(sites, mean["of"], strict=True)]
        coded = each.dtype.is_integer() and each.n_unique() == len(each)
        coded = coded or each.name == "row" or meaning_of(each.name) == "id"
        if not coded and len({*sites}) < len({*cells}) <= len(cells) / 2:
            rest = rest.drop(each.name).with_columns(mean["of"].alias(each.name + OF_ANIMALS))
            sites = cells
    return rest, sites


def _traits(rest: pl.DataFrame) -> list[str]:
    """Texts that say what animals differ in, such as their sex, and not where they were."""
    texts = [it for it in rest.select(cs.string()) if it.n_unique() <= _MOST_VALUES]
    return [it.name for it in texts if WORDS["trait"] & {*tokens(it.name)}]


def with_captures(counts: CountTensor, frame: pl.DataFrame, site: str) -> CountTensor:
    """The counts, and how often each animal was caught and when first, as the added column says.

    Raises
    ------
    ValueError
        If some of its sites or visits are not among the counts.
    """
    levels = {label: k for k, label in enumerate(counts.labels[0])}
    visits = {label.split()[0]: k for k, label in enumerate(counts.labels[1])}  # 1, or 1 hospital
    texts = zip(frame[CAPTURES], frame[site].cast(pl.String), strict=True)
    captures = [
        (levels.get(name, -1), int(times), *(visits.get(each, -1) for each in at))
        for text, name in texts
        for times, *at in (each.split(":") for each in (text or "").split())
    ]
    return counts.with_captures(np.array(captures, dtype=np.int64).reshape(-1, 4))


def _in_a_column(frame: pl.DataFrame, notes: list[str]) -> _Found | None:
    for each in frame.get_columns():
        named = speaks_of(each.name, "history")
        may_be = each.dtype == pl.String or (each.dtype.is_integer() and named)
        if each.null_count() or not may_be:
            continue
        marks = each.cast(pl.String)
        if named:  # A or B say where an animal was caught, and a dot that nobody looked
            marks = marks.str.replace_all("[A-WYZ]", "1").str.replace_all(".", "x", literal=True)
        width = int(marks.str.len_chars().to_numpy().max())
        marks = marks.str.zfill(width) if each.dtype.is_integer() else marks
        lengths, site = marks.str.len_chars(), _site(frame.drop(each.name))
        if named and lengths.n_unique() > 1 and marks.str.contains("^[01xX]+$").all():
            of_site = pl.DataFrame([frame[site or each.name], lengths.alias(_MANY)])
            shorter = site is not None and determines(of_site, [site], _MANY)
            marks = marks.str.pad_end(width, "x") if shorter else marks
            lack = "differ in length, and are not used; mark visits that were not held with a dot"
            what = f"that are shorter end with the last visit of their {site}" if shorter else lack
            notes.append(f"{CHECK}histories in {each.name} {what}.")
        plain = width > 1 and marks.str.contains(f"^[01xX]{{{width}}}$").all()
        if plain and (named or (width > 2 and marks.n_unique() > 2)):
            letters = [marks.str.slice(k, 1) for k in range(width)]
            texts = frame.select(pl.all().cast(pl.String))  # some are the same captures by visit
            again = [it.name for it in texts if any((it == letter).all() for letter in letters)]
            rest = _beside(marks.to_list(), frame.drop(each.name, *again))
            return _of_animals(marks.to_list(), *_repeated(rest))
    return None


def _of_two_observers(frame: pl.DataFrame) -> tuple[pl.DataFrame, list[str]]:
    """Name by histories what one of two observers saw, what the other, and what both."""
    whole = {it.name: tokens(it.name) for it in frame.get_columns() if it.dtype.is_integer()}
    whole = {name: own for name, own in whole.items() if not WORDS["of others"] & {*own}}
    both = [name for name, own in whole.items() if WORDS["both"] & {*own}]
    seen = [name for name in whole if name not in both]
    only = [name for name in seen if WORDS["alone"] & {*whole[name]}]
    counts = [name for name in seen if meaning_of(name) in ("", "count", "maybe count")]
    seen = only if len(only) == 2 else counts
    if len(both) != 1 or len(seen) != 2 or any(frame.select(both + seen).null_count().row(0)):
        return frame, []
    first, second = (frame[name] - frame[both[0]] for name in seen)
    part = not only and bool((first >= 0).all() and (second >= 0).all())
    table = frame.drop(seen, both).with_columns(frame[both[0]].alias("11"))
    own = (first, second) if part else (frame[name] for name in seen)
    table = table.with_columns(it.alias(name) for it, name in zip(own, ("10", "01"), strict=True))
    words = [re.findall(r"[^\W_]+", name) for name in seen]
    no_name = WORDS["alone"] | WORDS["count alone"]
    names = [" ".join(it for it in each if it.lower() not in no_name) for each in words]
    table = _with_lists(table, names if all(names) else seen)
    note = f"{seen[0]} and {seen[1]} are of two observers or visits, {both[0]} of both."
    more = f"{CHECK}{both[0]} is taken as part of {seen[0]} and of {seen[1]}, as it is never more."
    return table, [note] + [more] * part


def _in_names(frame: pl.DataFrame) -> _Found | None:
    """Columns named by histories, such as 101; with something before them, of several surveys."""
    days = dates_in(frame.columns)  # 2021-01-10 is no history
    surveys: dict[str, dict[str, str]] = {}
    for name in frame.columns:
        if match := None if name in days else re.fullmatch(_NUMBERED, name):
            surveys.setdefault(match[1], {})[match[2]] = name
    surveys = {
        survey: own
        for survey, own in surveys.items()
        if len({*map(len, own)}) == 1 < len(own) - 1
        and {*"".join(own)} <= {*"01x"}  # 01, 10 and 11 among others are months
        and all(frame[name].dtype.is_integer() for name in own.values())
    }
    if len({frozenset(own) for own in surveys.values()}) != 1:
        return None
    rest = frame.drop(name for own in surveys.values() for name in own.values())
    varied = stems(rest.columns, len(surveys)) if len(surveys) > 1 else {}
    rest = rest.drop(name for names in varied.values() for name in names)
    site = _site(rest) or "site"
    more = [it for it in rest.columns if meaning_of(it) in ("kind", "time") and it != site]
    if site in rest.columns and more and not rest.select(site, *more).is_duplicated().any():
        rest = rest.with_columns(pl.concat_str(site, *more, separator=", ").alias(site))
    parts = []
    for k, (survey, own) in enumerate(surveys.items()):
        part = rest.with_columns(frame[names[k]].alias(stem) for stem, names in varied.items())
        if len(surveys) > 1:
            of = [rest[site].cast(pl.String)] if site in rest.columns else []
            part = part.with_columns(pl.concat_str(*of, pl.lit(survey), separator=", ").alias(site))
        parts.append(part.with_columns(frame[name].alias(each) for each, name in own.items()))
    index = [name for name in parts[0].columns if name not in own]
    long = pl.concat(parts).unpivot([*own], index=index, variable_name=_HISTORIES, value_name=_MANY)
    caught = pl.col(_HISTORIES).str.contains("1") & pl.col(_MANY).is_not_null()
    return _in_a_column(long.select(_HISTORIES, _MANY, *long.columns[:-2]).filter(caught), [])


def _across(frame: pl.DataFrame) -> _Found | None:
    """Columns of 0 and 1 by visit, of animals with a name each.

    Without a name, rows that nothing else names are of animals where each was caught: sites at
    which nothing was seen would be rows of zeros.
    """
    animals = [each for each in _animals(frame) if frame[each].n_unique() == len(frame)]
    blocks = stems(frame.columns, None, years=True)
    in_time = [it for it in frame.columns if _YEAR.fullmatch(it) or it.lower() in WORDS["month"]]
    if animals and len(in_time) >= LEAST_VISITS:
        blocks["time"] = in_time
    for names in blocks.values():
        values = frame.select(names)
        if not all(each.dtype.is_integer() for each in values.get_columns()):
            continue
        marks = values.fill_null(0).to_numpy()
        if not np.isin(marks, (0, 1)).all() or not marks.any():
            continue
        rest, times = _repeated(_beside(_texts(marks), frame.drop([*names, *animals])))
        alone = len(blocks) == 1 and len(marks) >= _LEAST_UNNAMED and marks.any(axis=1).all()
        names_of = [it for it in rest if it.dtype == pl.String or meaning_of(it.name) == "place"]
        whole = [it for it in rest if it.dtype.is_integer() and not speaks_of(it.name, "kind")]
        names_of += [it for it in whole if it.diff().eq(1).sum() == len(it) - 1]  # 1, 2, 3, …
        names_of = [it for it in names_of if meaning_of(it.name) != "id"]
        named = any(2 * it.n_unique() > len(it) for it in names_of if it.name != "row")
        unnamed = alone and len(names) > min(2, len(rest.columns)) and not named
        if animals:
            times = np.ones(len(marks), dtype=np.int64)
        rest = _with_lists(rest, [name for name in names if speaks_of(name, "observer")])
        seen = 2 * times[marks.any(axis=1)].sum() > times.sum()  # of each history
        some = animals or unnamed or (np.any(times > 1) and seen)
        once = not animals and (marks.sum(axis=1) == 1).all()  # such as a category's columns
        if some and not once:
            return _of_animals(_texts(marks), rest, times)
    return None


def _in_lists(frame: pl.DataFrame) -> _Found | None:
    """Columns of 0 and 1 by list, such as registers: persons, or how many are on the same lists.

    In each row there is a 1, in some there are more. A column names each person or what else was
    found, or lists are named as such; numbers are given once for each of several combinations.
    """
    frame = frame.drop("row", strict=False)  # which R numbers
    few = [it for it in frame if it.head(1000).n_unique() == 2]
    marked = frame.with_columns(flags for it in few if (flags := flags_of(it)) is not None)
    whole = [it for it in marked if it.dtype.is_integer() and not it.null_count()]
    names = [it.name for it in whole if (it.min(), it.max()) == (0, 1)]
    names = [name for name in names if not speaks_of(name, "kind")]
    if len(names) < LEAST_VISITS:
        return None
    marks, rest = marked.select(names).to_numpy(), frame.drop(names)
    counts = [name for name in rest.columns if _is_count(rest[name])]
    strata = rest.drop(counts)
    n = strata.n_unique() if strata.width else 1
    once = not frame.drop(counts).is_duplicated().any() and len(names) * n <= len(frame)
    keyed = bool(_keys(rest)) and _LEAST_EACH * len(names) <= len(frame)
    keyed |= not rest.columns and _LEAST_EACH * 2 ** len(names) <= len(frame)  # persons alone
    known = once if counts else keyed or all(speaks_of(name, "list") for name in names)
    on = marks.sum(axis=1)
    if on.min() < 1 or on.max() < 2 or not known:
        return None
    rest, times = _repeated(rest)
    return _of_animals(_texts(marks), _with_lists(rest, names), times)


def _with_lists(rest: pl.DataFrame, names: Iterable[object]) -> pl.DataFrame:
    """Add a column with the name of the list, or of the observer, of each visit."""
    columns = (pl.lit(str(name)).alias(f"{_LISTED}{k}") for k, name in enumerate(names, 1))
    return rest.with_columns(columns)


def _keys(rest: pl.DataFrame) -> list[str]:
    """Columns that name each row, and no place, time or kind."""
    some = [it for it in rest.select(cs.string() | cs.integer()) if it.n_unique() == len(rest)]
    some = some if len(rest) >= _LEAST_UNNAMED else []
    names = [it.name for it in some if not WORDS["no name"] & {*tokens(it.name)}]
    return [k for k in names if speaks_of(k, "animal") or meaning_of(k, number=False) in ("", "id")]


def _texts(marks: NDArray[Any]) -> list[str]:
    """Histories from a row of 0 and 1 each."""
    return ["".join(map(str, row)) for row in marks.tolist()]


def _beside(texts: list[str], rest: pl.DataFrame) -> pl.DataFrame:
    """Leave out how often an animal was caught, or not, and when first or last, as p follows it."""
    of_captures = (str.count, str.find, str.rfind) if len(texts) >= _LEAST_UNNAMED else ()
    made = (pl.Series([of(text, "1") for text in texts]) for of in of_captures)
    some = [(it, own) for own in made if own.n_unique() > 1 for it in rest.select(cs.numeric())]
    return rest.drop({it.name for it, k in some if 1 in ((it - k).n_unique(), (it + k).n_unique())})


def _of_animals(texts: list[str], rest: pl.DataFrame, times: IntArray) -> _Found:
    """Rows and histories of animals, of which a row of the table may hold several."""
    rows = np.repeat(np.arange(len(texts)), times).tolist()
    return rows, [texts[row] for row in rows], rest


def _repeated(rest: pl.DataFrame) -> tuple[pl.DataFrame, IntArray]:
    """How many animals have each history, by a column that is left out; 1 where there is none."""
    many = next((name for name in rest.columns if _is_count(rest[name])), None)
    times = np.ones(len(rest), dtype=np.int64) if many is None else rest[many].to_numpy()
    if times.min() < 0 or times.sum() > _MOST_ANIMALS:
        times = np.zeros(len(rest), dtype=np.int64)  # which is no table of histories
    return rest if many is None else rest.drop(many), times


def _in_rows(frame: pl.DataFrame, notes: list[str]) -> _Found | None:
    """One row for each animal and visit or list, with 0 and 1 in a column, or of captures alone."""
    full = [name for name in frame.columns if not frame[name].null_count()]
    visits = [name for name in full if speaks_of(name, "visit")]
    lists = [] if visits else [name for name in full if name.lower() in _LISTS][:1]
    visits += lists or [name for name in full if frame[name].dtype.is_temporal()]
    if not visits and "detected" in frame.columns:  # each animal and observer
        visits = lists = [n for n in frame.columns if n.lower() == "observer"]
    for animal in _animals(frame) if visits else ():
        visit, own = frame[visits[0]], frame[animal]
        levels = visit.unique().sort()
        if not LEAST_VISITS <= len(levels) <= MOST_VISITS or own.n_unique() == len(frame):
            continue
        known = pl.col(_traits(frame)).drop_nulls().first().over(animal)  # at any capture
        rest = frame.with_columns(known).drop(animal, visits[0])
        numbers = rest.select(cs.numeric()).columns
        by = {it: [determines(frame, [of], it) for of in (visits[0], animal)] for it in numbers}
        rest = rest.drop(it for it in by if by[it] == [True, False])  # such as of a night
        site = _site(rest)
        moved = site is not None and not determines(frame, [animal], site)
        moved |= site is not None and frame[site].has_nulls()
        if moved or frame.select(animal, visits[0]).is_duplicated().any():
            continue
        rest, marks = _repeated(rest)
        if not marks.any() or marks.max() > 1:
            continue
        of, first, codes = np.unique(own.cast(pl.String), return_index=True, return_inverse=True)
        table = np.zeros((len(of), len(levels)), dtype=np.int64)
        at = np.searchsorted(levels.to_numpy(), visit.to_numpy())
        table[codes, at] = marks
        where = np.full(len(frame), "") if site is None else frame[site].cast(pl.String).to_numpy()
        rows = pd.crosstab(where, at)
        often = rows.sum(axis=1) / rows.gt(0).sum(axis=1) >= _LEAST_CAUGHT
        gone = rows.eq(0).mul(often, axis=0)
        texts = np.where(gone.loc[where[first]], "x", table.astype(str))
        if n := int(gone.to_numpy().sum()):
            taken, row = ("not to cover", "of it") if lists else ("as not held in", "then")
            what = f"{visits[0]} is taken {taken} a {site} without a row {row} ({n:,} in all)"
            notes.append(f"{CHECK}{what}; rows with 0 would say that none was found.")
        return first.tolist(), _texts(texts), _with_lists(rest, levels if lists else ())
    return None


def _animals(frame: pl.DataFrame) -> list[str]:
    """Columns that name animals."""
    named = [name for name in frame.columns if speaks_of(name, "animal")]
    return [name for name in named if not frame[name].null_count()]


def stems(names: Sequence[str], size: int | None, *, years: bool = False) -> dict[str, list[str]]:
    """Columns named by a word and 1, 2, …, or a year and the next ones; of so many only."""
    return {
        stem: [found[k] for k in sorted(found)]
        for stem, found in numbered(names).items()
        if stem
        and max(found) - min(found) + 1 == len(found)
        and (min(found) == 1 or (years and min(found) >= FIRST_YEAR))
        and len(found) in ({size} if size else range(LEAST_VISITS, MOST_VISITS + 1))
    }


def _site(rest: pl.DataFrame) -> str | None:
    places = [name for name in rest.columns if meaning_of(name, number=False) == "place"]
    texts = [it for it in rest.select(cs.string()).columns if not it.startswith(_LISTED)]
    texts = [it for it in texts if it not in _traits(rest)]
    return next(iter([*places, *sorted(texts, key="row".__eq__)]), None)


def _is_count(column: pl.Series) -> bool:
    whole = column.dtype.is_integer() and not column.null_count()
    numbers_rows = whole and column.diff()[1:].eq(1).all()
    counts = meaning_of(column.name) == "count" and not _is_size(column.name)
    return whole and counts and not numbers_rows


def _is_size(name: str) -> bool:
    words = {*tokens(name)}
    return bool(words & WORDS["group"]) and words <= WORDS["group"] | WORDS["size of group"]
