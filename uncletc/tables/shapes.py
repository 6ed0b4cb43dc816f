"""Tables of other shapes as one row per count: lists of events and of distances, and visits."""

import itertools
import math
import re

import numpy as np
import polars as pl

from uncletc.common.validation import FloatArray
from uncletc.data.frames import MOST_VISITS
from uncletc.data.protocols import band_edges, stem_of_band
from uncletc.tables.columns import (
    LEVELS,
    MONTHS,
    PARTS_OF_DATES,
    WORDS,
    meaning_of,
    speaks_of,
    tokens,
)
from uncletc.tables.guess import EVENTS, choose_count
from uncletc.tables.histories import stems
from uncletc.tables.profiles import MOST_BANDS, Profile, determines, profiles_of, unique_share
from uncletc.tables.types import CHECK, listed
from uncletc.tables.wide import FEW_NAMED, find_wide, may_be_level, series_of

_Changed = tuple[pl.DataFrame, list[str]]  # or as it was, without notes

_REPEATED = 0.9  # share of rows below which they are single events
_LEAST_SEEN, _LEAST_DISTANCES, _LEAST_BANDS = 20, 8, 6
_WITHOUT_END = re.compile(
    r"(?:>=?|≥|over|beyond|more than) ?\d+(?:\.\d+)? ?[a-z]*|\d+(?:\.\d+)? ?[a-z]* ?\+ ?[a-z]*"
)
_IN_METRES = re.compile(r"\d ?k?m\b")
_MOST_AGAIN = 2.0  # places a name: of more, both columns name an entry
_LEAST_AGAIN = 0.05  # share of rows of other places of a name, or other order: of fewer, an error
_LEAST_GRID, _FULL = 6, 0.8  # columns, and share of all that two words may name
_ROUNDED = 1e-3  # of a unit
_LEAST_ROUNDED, _MORE_ROUNDED = 0.35, 0.3  # shares of distances, and of those not so by chance


def _with_events(frame: pl.DataFrame, columns: list[Profile]) -> _Changed:
    """Add a count of 1 to each row of a list of single events, such as animals with an id each.

    It is one where no column is named as a count, and rows with the same place, kind and time
    repeat, or say what was seen, where and when, of few of all combinations, and no other number.
    Whole numbers beside an id of each row are measures of an animal.
    """
    counts = ("count", "maybe count", "made of counts")
    counted = any(it.numeric and it.meaning in counts and it.missing <= 0.5 for it in columns)
    if counted or EVENTS in frame.columns or len(frame) < 2 or find_wide(columns).columns:
        return frame, []
    modes = [it for it in columns if it.of_levels and it.n_levels < _REPEATED * len(frame)]
    named = [it for it in columns if it.meaning == "id" and it.name != "row"]
    ids = any(it.n_levels == len(frame) for it in named)
    coarse = [it for it in modes if it.meaning != "kind" or not it.numeric]  # no age
    coarse = [it for it in coarse if not it.of_one_animal]
    repeated = unique_share(frame, coarse) <= _REPEATED
    maybe_counts = bool(choose_count(columns, {})[0])
    plain = [it for it in columns if not (it.meaning or any(at.codes(it) for at in modes))]
    texts = [it for it in plain if it.kind == "text" and meaning_of(it.name) == "count"]
    other = any(it.numeric for it in plain)
    other |= any(it.values.cast(pl.Float64, strict=False).count() for it in texts)
    levels = sorted((it for it in columns if it.of_levels), key=lambda it: it.n_levels)
    sizes = {it.meaning: it.n_levels for it in levels}
    alone = not any(it.numeric and it.meaning in ("", "attribute") for it in columns)
    sparse = len(sizes) > 2 - alone and 2 * len(frame) <= math.prod(sizes.values())
    zeros = any(it.count_like and it.low == 0 < it.high for it in plain)  # a row of 0 is no event
    zeros &= not any(it.of_one_animal for it in columns)
    known = ids or (repeated and not zeros) or (sparse and not other)
    few = [it for it in plain if it.kind == "text" and it.n_levels <= MOST_BANDS and not it.missing]
    again = ids and unique_share(frame, coarse + few) <= _REPEATED
    if len(modes) < 2 or not (again if maybe_counts else known):
        return frame, []
    ones = pl.Series(EVENTS, [1] * len(frame), dtype=pl.Int32)
    note = f"Each row is one event, counted in the added column {EVENTS}: no column holds counts."
    return frame.with_columns(ones), [note]


def _with_dates(frame: pl.DataFrame, columns: list[Profile]) -> _Changed:
    """Make dates of a year, a month and a day that have a column each."""
    found = [[it for it in columns if it.name.lower() in words] for words in PARTS_OF_DATES]
    if any(it.kind == "date" for it in columns) or [*map(len, found)] != [1, 1, 1]:
        return frame, []
    parts = [own[0].values.cast(pl.String).str.to_lowercase() for own in found]
    parts[1] = parts[1].replace({name: str(number) for name, number in MONTHS.items()})
    texts = pl.DataFrame(parts).select(pl.concat_str(pl.all(), separator="-")).to_series()
    dates = texts.str.to_date("%Y-%m-%d", strict=False)
    if "date" in frame.columns or dates.null_count() > texts.null_count():
        return frame, []
    names = [it.name for it in parts]
    note = f"{listed(names)} are read as one date."
    return frame.drop(names).insert_column(0, dates.alias("date")), [note]


def _with_rows(frame: pl.DataFrame, columns: list[Profile]) -> _Changed:
    """Number the rows of a wide table that no column names, such as sites without a name."""
    wide = find_wide(columns)
    if not wide.columns or "row" in frame.columns:
        return frame, []
    beside = {*wide.columns, *wide.beside(frame.columns)}
    others = [it for it in columns if it.name not in beside]
    keys = [it for it in others if it.of_levels or it.meaning == "id" or it.kind == "text"]
    named = [it for it in others if it in keys or it.numbers_rows]
    if unique_share(frame, named) >= FEW_NAMED:
        return frame, []
    numbered = frame.with_columns(pl.int_range(1, pl.len() + 1).alias("row"))
    return numbered, ["Rows are numbered in the added column row, as no column names them."]


def _with_places(frame: pl.DataFrame, columns: list[Profile]) -> _Changed:
    """Add the state to each county's name where states have counties of the same name.

    By their own names these would be one level that all such states share.
    """
    places = [it for it in columns if it.meaning == "place" and it.kind == "text"]
    for fine, coarse in itertools.permutations(places, 2):
        both = frame.group_by(fine.name, coarse.name).len().drop_nulls()
        rows = both.group_by(fine.name).agg(pl.col("len").sum() - pl.col("len").max())["len"].sum()
        again = len(both) - fine.n_levels
        few = 0 < again <= (_MOST_AGAIN - 1) * fine.n_levels and rows > _LEAST_AGAIN * len(frame)
        disjoint = not set(fine.levels) & set(coarse.levels)  # not from and to
        known = any(it.n_levels >= len(both) for it in columns if it.meaning == "place")
        if few and disjoint and 2 * coarse.n_levels <= fine.n_levels and not known:
            name = pl.concat_str(fine.name, coarse.name, separator=", ", ignore_nulls=True)
            note = f"{again:,} names of {fine.name} occur again in another {coarse.name}: "
            return frame.with_columns(name.alias(fine.name)), [f"{note}they are read together."]
    return frame, []


def _with_passes(frame: pl.DataFrame, columns: list[Profile]) -> _Changed:
    """Name the place of one depletion, and number its passes where no column does.

    Its rows are catches in order, beside the effort of each or the pass.
    """
    caught = [it for it in columns if it.says("caught") and it.count_like]
    passes = [it.name for it in columns if it.says("pass")]
    named = passes or [it.name for it in columns if "effort" in tokens(it.name)]
    others = [it for it in columns if it.of_levels and not it.is_day and it.name not in passes]
    if len(caught) != 1 or len(named) != 1 or others or not 3 <= len(frame) <= MOST_VISITS:
        return frame, []
    added = [pl.lit("all").alias("site")]
    added += [] if passes else [pl.int_range(1, pl.len() + 1).alias("pass")]
    return frame.select(*added, pl.all()), ["Rows are passes at one site: no column names another."]


def _with_visits(frame: pl.DataFrame, profiles: list[Profile]) -> _Changed:
    """Make a row of each visit where numbered columns hold counts, and others what varied.

    Such as y1, y2, y3 beside wind1, wind2, wind3, or counts of two species in coho1, coho2, coho3
    and trout1, trout2, trout3. Other tables are returned as they are.
    """
    columns = {each.name: each for each in profiles}
    wide = find_wide(profiles)
    years = wide.mode == "year"
    blocks = stems(frame.columns, len(wide.columns), years=years)
    counts = [stem for stem, names in blocks.items() if {*names} == {*wide.columns}]
    if not counts:
        return frame, []
    if meaning_of(counts[0]) in ("", "count", "maybe count"):
        counts = [k for k in blocks if k == counts[0] or _alike(k, counts[0], blocks[k], columns)]
    meaning = meaning_of(wide.mode)
    of_time = wide.mode == "visit" or meaning == "time"
    visits = of_time or (len(counts) == 1 and meaning not in ("kind", "place"))
    others = [stem for stem in blocks if stem not in counts]
    if len(counts) == 1 and not (visits and others):
        return frame, []
    rest = frame.drop(name for names in blocks.values() for name in names)
    lost = [it for it in rest.columns if columns[it].meaning == "count" and columns[it].count_like]
    rest = rest.drop(lost)
    mode = wide.mode if of_time or speaks_of(wide.mode, "pass") else "visit"
    series = series_of(columns[name] for name in rest.columns)
    count = counts[0] if len(counts) == 1 and meaning_of(counts[0]) == "count" else "count"
    if {mode, count, series, *others} & {*rest.columns}:
        return frame, []
    parts = [
        rest.with_columns(
            *([pl.lit(stem.strip(" ._-")).alias(series)] if len(counts) > 1 else []),
            pl.lit(int(wide.columns[k][-4:]) if years else k + 1).alias(mode),
            frame[blocks[stem][k]].alias(count),
            *(frame[blocks[other][k]].alias(other) for other in others),
        )
        for stem, k in itertools.product(counts, range(len(wide.columns)))
    ]
    order = np.arange(len(parts) * len(rest)).reshape(len(parts), -1).T.ravel()
    note = f"Each {mode} is read as a row: numbered columns {listed(counts)} hold its counts"
    note += f", and {listed(others)} its covariates." if others else "."
    note += f" Left out, as {mode} has no part in it: {listed(lost)}." if lost else ""
    return pl.concat(parts, how="vertical_relaxed")[order], [note]


def _with_grids(frame: pl.DataFrame, columns: list[Profile]) -> _Changed:
    """Make a row of each count whose column is named by two words, as Cases_Guinea, of a grid."""
    if speaks_of(find_wide(columns).mode, "time", "pass", "distance"):
        return frame, []
    may = [it for it in columns if it.count_like and not it.numbers_rows]
    names = [it.name for it in may if it.meaning in (*LEVELS, "", "count", "maybe count")]
    for mark, cut in itertools.product("_ .-", (str.partition, str.rpartition)):
        parts = {name: cut(name, mark) for name in names if mark in name[1:-1]}
        first, last = ({name: own[k] for name, own in parts.items()} for k in (0, 2))
        sizes = [len({*first.values()}), len({*last.values()})]
        few = min(sizes) < 2 or len(parts) < max(_LEAST_GRID, _FULL * math.prod(sizes))
        if few or {"series", "group"} & {*frame.columns}:
            continue
        rest, of = [it for it in frame.columns if it not in parts], pl.col("series")
        long = frame.unpivot([*parts], index=rest, variable_name="series", value_name="count")
        long = long.with_columns(of.replace_strict(first), of.replace_strict(last).alias("group"))
        return long, [f"Names of columns are read as series and group: {listed([*parts])}."]
    return frame, []


def _alike(stem: str, counts: str, names: list[str], columns: dict[str, Profile]) -> bool:
    """Whether numbered columns hold counts as others do, of another series."""
    whole = all(columns[name].count_like for name in names)
    same = [(meaning_of(it), speaks_of(it, "beside cases")) for it in (stem, counts)]
    return whole and same[0] == same[1] and may_be_level(stem)


def _with_ended_bands(frame: pl.DataFrame, columns: list[Profile]) -> _Changed:
    """Leave out a band of distance without an end, such as >100 m, of which no area is known."""
    names = [it.name for it in columns if it.count_like]
    few = [it for it in columns if it.kind == "text" and it.n_levels <= MOST_BANDS]
    texts = {it.name: it.levels.to_list() for it in few}
    for column, labels in (("", names), *texts.items()):
        open_ended = [label for label in labels if _WITHOUT_END.fullmatch(label.strip().lower())]
        ended = [label for label in labels if stem_of_band(label) is not None]
        named = speaks_of(column, "distance") if column else any(map(_IN_METRES.search, labels))
        if len(open_ended) != 1 or not ended or band_edges(ended) is None or not named:
            continue  # ages have such groups, too
        (label,) = open_ended
        note = f"{CHECK}counts beyond the last band of distance are left out ({label})."
        rest = frame.filter(pl.col(column).ne_missing(label)) if column else frame.drop(label)
        return rest, [note]
    return frame, []


def _with_distances(frame: pl.DataFrame, columns: list[Profile]) -> _Changed:
    """Count a list of animals, each with its distance, by line or point and band of distance.

    It is one where distances vary within lines or points, and within days or visits of them. A row
    without a distance says that nothing was seen there. Counts are those of a column of them, else
    of rows.
    """
    numbers = [it.name for it in columns if it.numeric and it.low >= 0 and it.high > 0]
    found = [it for it in numbers if "dist" in it.lower() and {*tokens(it)} <= WORDS["distance"]]
    units = [it for it in columns if it.meaning == "place" or it.says("unit")]
    units = [it for it in units if it.n_levels > 1 and not it.missing] or units[:1]
    if len(found) != 1 or not units:
        return frame, []
    at, seen = found[0], frame.drop_nulls(found[0])
    fine, names = max(units, key=lambda it: it.n_levels).name, [it.name for it in units]
    names = [fine] if all(determines(frame, [fine], it) for it in names) else names
    times = [it.name for it in columns if (it.is_day or it.is_visit) and it.n_levels > 1]
    places = names + [it for it in times if 2 * frame.select(*names, it).n_unique() <= len(seen)]
    kinds = [it.name for it in columns if it.meaning == "kind" and 1 < it.n_levels < len(seen) / 10]
    few = len(seen) < _LEAST_SEEN or seen[at].n_unique() < _LEAST_DISTANCES
    repeated = frame.select(places + kinds).n_unique() <= _REPEATED * len(frame)
    whole = [it for it in columns if it.count_like and it.name not in (*places, *kinds)]
    named = WORDS["group"] | WORDS["size of group"]
    groups = [it for it in whole if {*tokens(it.name)} <= named and it.low >= 1]
    sizes = [it.name for it in groups if 2 * it.n_levels <= it.values.count()]
    counted = [it.name for it in whole if it.meaning == "count" or it.name in sizes][:1]
    events = [it for it in columns if it.meaning in ("", "id", "time") and it.kind != "number"]
    visits = [[*names, *times], *([it.name] for it in events if it.n_levels >= _LEAST_SEEN)]
    visits = [by for by in visits if 2 * seen.select(by).n_unique() <= len(seen)]
    walked = any(determines(seen, by, at) for by in visits)  # not how far off each was seen
    when = [it.name for it in columns if it.meaning == "time" and 2 * it.n_levels <= len(seen)]
    alone = frame.select({*names, *when, *kinds}).n_unique() > _REPEATED * len(frame)
    of_rows = any((alone and it not in sizes) or seen[it].min() == 0 for it in counted)
    if few or not repeated or walked or of_rows:
        return frame, []
    bands, labels = _bands(seen[at])
    left_out = (at, "row", *places, *kinds, *counted)
    more = [it.name for it in columns if it.name not in left_out]
    kept = [it for it in more if determines(frame, places, it)]
    lost = [it for it in more if it not in kept]
    grid = frame.group_by(places, maintain_order=True).agg(pl.col(kept).drop_nulls().first())
    if kinds:
        grid = grid.join(seen.select(kinds).unique(maintain_order=True), how="cross")
    keys = [*places, *kinds, at]
    tallied = seen.with_columns(bands).group_by(keys)
    many = tallied.agg((pl.col(counted[0]).sum() if counted else pl.len()).alias("count"))
    table = grid.join(pl.DataFrame({at: labels}), how="cross")
    table = table.join(many, on=keys, how="left", nulls_equal=True)
    table = table.with_columns(pl.col("count").fill_null(0), pl.col(names).cast(pl.String))
    note = f"{len(seen):,} distances are counts by {listed(places)} and band of {at}"
    note += f"; the farthest {bands.null_count():,} are left out." if bands.has_nulls() else "."
    left = [f"Left out, as they differ within {listed(places)}: {listed(lost)}."] if lost else []
    if counted and float(seen[counted[0]].max()) > 1:  # type: ignore[arg-type]
        what = f"{counted[0]} counts the animals of each group"
        left.append(f"{CHECK}{what}; without this column N is of groups.")
    return table, [note, *left]


def _with_tests(frame: pl.DataFrame, columns: list[Profile]) -> _Changed:
    """Add tests per suspected case beside cases.

    The number of tests is as large as a place is, and so says nothing of p.
    """
    tested = [it for it in columns if it.says("test")]
    count = choose_count(columns, {})[0] if tested else ""
    some = [it for it in tested if it.meaning == "count" and it.count_like and it.name != count]
    some = [it for it in some if it.says("new") >= speaks_of(count, "new")]
    rates = [{*it.words} for it in tested if it.meaning == "attribute" or "per" in it.words]
    known = any(not words & {"positivity", *WORDS["positive"]} for words in rates)
    sick = [it for it in columns if it.says("suspected") and it.count_like and it.name != count]
    if not some or not count or speaks_of(count, "test") or known or find_wide(columns).columns:
        return frame, []
    tests = max(some, key=lambda it: it.count_points).name
    for each in sick:
        if frame[tests].gt(each.values).sum() <= _LEAST_AGAIN * len(frame):
            ratio = pl.col(tests) / pl.col(each.name)
            added = pl.when(ratio.is_finite()).then(ratio).alias(f"{tests} per {each.name}")
            return frame.with_columns(added), []
    return frame, []


def _bands(distances: pl.Series) -> tuple[pl.Series, list[str]]:
    """The band of each distance, null beyond that of the 95th percentile, and all bands in order.

    The farthest say little of p where most are seen, and much where a model of p is wrong. Bands
    end midway between distances to which most are rounded: the nearest would hold half of those at
    its end too many.
    """
    values = distances.to_numpy().astype(np.float64)
    end = float(np.quantile(values, 0.95)) or float(values.max())
    scale = 10.0 ** math.floor(math.log10(end / _LEAST_BANDS))
    width = scale * max(k for k in (1, 2, 2.5, 5) if k * scale <= end / _LEAST_BANDS)
    units = [k * scale for k in (10, 5, 1, 0.5, 0.1) if width / 20 <= k * scale <= end / 4]
    unit = _rounded_to(values[values > 0], units)
    width = unit * max(math.ceil(width / unit - 1e-9), 1) if unit else width
    first = width + unit / 2
    edges = [0.0, *(first + k * width for k in range(math.ceil((end - first) / width - 1e-9) + 1))]
    digits = max(len(f"{each:g}".partition(".")[2]) for each in (width, first))
    labels = [f"{a:.{digits}f}-{b:.{digits}f}" for a, b in itertools.pairwise(edges)]
    found = np.searchsorted(edges[1:], values)  # an end belongs to the nearer band
    names = dict(enumerate(labels))
    return pl.Series(distances.name, [names.get(k) for k in found.tolist()], pl.String), labels


def _rounded_to(values: FloatArray, units: list[float]) -> float:
    """Return the largest of descending units of which more values are multiples than by chance.

    By chance are multiples of the next smaller unit, of which 1 in 2 or 5 is one; 0 if of none.
    """

    def multiples(unit: float) -> float:
        return float((abs(values / unit - np.round(values / unit)) < _ROUNDED).mean())

    for unit, next_smaller in itertools.pairwise([*units, 0.0]):
        own, others = multiples(unit), multiples(next_smaller) if next_smaller else 1.0
        chance = next_smaller / unit * others
        if own >= _LEAST_ROUNDED and own - chance >= _MORE_ROUNDED * (others - chance):
            return unit
    return 0.0


_SHAPES = (  # in the order in which they are tried: each may give the next its columns
    _with_dates, _with_ended_bands, _with_places, _with_distances, _with_rows, _with_passes,
    _with_visits, _with_grids, _with_events, _with_tests,
)  # fmt: skip


def reshaped(frame: pl.DataFrame, notes: list[str]) -> pl.DataFrame:
    """A table of any of these shapes as one row per count; what was done is added to notes."""
    columns = profiles_of(frame)
    for shape in _SHAPES:
        changed, added = shape(frame, columns)
        notes += added
        if changed is not frame:
            frame, columns = changed, profiles_of(changed)
    return frame
