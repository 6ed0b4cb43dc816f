"""What rules ask of the name and the values of a column."""

import itertools
import math
from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from typing import Literal, Self

import numpy as np
import polars as pl
from scipy.optimize import nnls
from scipy.special import xlogy

from uncletc.common.validation import FloatArray, IntArray
from uncletc.data.protocols import band_edges
from uncletc.tables.columns import LEVELS, WORDS, Meaning, meaning_of, speaks_of, tokens
from uncletc.tables.types import flags_of

_ALL_DISTINCT = 20  # rows from which numbers that never repeat are no counts, but for their name
_SELDOM = 0.05  # of the repeats to expect
_MOST_CATEGORIES = 12
MOST_BANDS, _NEARLY = 40, 0.9  # share of whole numbers beside wrong cells
_MAY_BE_MEASURES = ("", "maybe count", "kind", "place", "made of counts")
_MOST_OFTEN = 12  # visits of each place whose number no name explains
_HARDLY = 0.7  # share of rows below which columns do not name them
_NEARLY_ALL = 1.4  # combinations a row, where places have nearly all numbers of visits
_OFTEN_AGAIN = 10  # times as many rows as numbers
_MOST_NUMBERED = 100  # levels of a mode of numbers that no name explains
_MAY_COUNT = ("", "count", "maybe count")
_NO_COUNTS = 1000  # where x and y are all above, they are coordinates
_YEARS, _IN_A_ROW = (1900, 2100), 0.7  # and share of all from the first to the last
_NAMED, _LEAST = 0.95, 8  # share of rows, rows
_MOST_PARTS = 150  # columns
_NEAR_ONE, _ABOVE_0, _MOST_ROWS = 0.1, 0.8, 5_000  # of a power and its error; shares; rows read
_SCATTER = 0.7  # variance over mean of counts about what is not made of them, at least
_SCALED, _LITTLE = 20, 1e-300  # times that counts expected by rows are scaled to those of levels
# How much a name speaks for counts, and for a mode.
_FOR_COUNT = {"count": 6, "maybe count": 3.5, "made of counts": 1.5, "exposure": -1, "": 0}
_CODES = ([-1], [-9], [-99], [-999], [-9999])  # of what is missing
_FOR_MODE: dict[Meaning, float] = {"kind": 3, "time": 2.5, "place": 2}


class Profile:
    """A column: what rules ask of its name and values."""

    def __init__(self, values: pl.Series) -> None:
        some, dtype, n = values.drop_nulls(), values.dtype, len(values)
        self.values, self.name, self.numeric = values, values.name, dtype.is_numeric()
        self.kind: Literal["whole", "number", "date", "text"] = "text"
        self.meaning: Meaning = meaning_of(self.name, number=self.numeric)
        self.low, self.high = math.inf, -math.inf
        if self.numeric:
            self.kind = "whole" if bool((some == some.floor()).all()) else "number"
            y = some.cast(pl.Float64).to_numpy()
            self.low, self.high = y.min(initial=math.inf), y.max(initial=-math.inf)
            # A float of whole numbers was written with percent signs.
            percent = self.says("percent") or (dtype.is_float() and self.kind == "whole")
            if percent and self.high <= 100:
                self.kind = "number"
                self.meaning = "attribute" if self.meaning != "made of counts" else self.meaning
            if self.meaning == "count" and self.kind == "number" and 0 <= self.low < self.high <= 1:
                self.meaning = "attribute"  # a share
        elif dtype.is_temporal():
            self.kind, self.meaning = "date", "time"
        self.levels, self.words = some.unique(), tokens(self.name)
        self.names_animal = bool({*self.words} & (WORDS["animal"] | WORDS["pass"]))  # not several
        kinds = {*self.words} & WORDS["kind"] - WORDS["animal"]
        self.of_one_animal = self.says("animal") and not kinds
        self.n_levels, self.missing = len(self.levels), values.null_count() / n
        few = self.kind == "text" and self.n_levels <= MOST_BANDS
        self.bands = few and band_edges(self.levels) is not None
        self.meaning = "kind" if self.bands else self.meaning
        # Yes or no names no level, but north and south do.
        self.flags = self.kind == "text" and flags_of(some) is not None
        self.flags &= not {*self.levels.to_list()} <= {*"NSOnso"}  # north and south
        self.meaning = "" if self.flags and self.meaning in LEVELS else self.meaning
        self.flags |= self.meaning in ("kind", "time") and (self.low, self.high) == (0, 1)
        self.of_levels = self.meaning in LEVELS
        days = some.cast(pl.Date) if self.kind == "date" else self.levels
        self.repeats_little = days.n_unique() > 0.5 * n
        # Whole numbers of 0 or more, but for corrections below 0 or a code such as -9999.
        coded = self.numeric and some.filter(some < 0).unique().to_list()[:2] in _CODES
        least = 0.5 if coded else 0.95
        self.nearly = self.numeric and share(some == some.floor()) > _NEARLY
        whole = self.kind == "whole" or (self.nearly and self.name[-1:].isdigit())
        self.count_like = whole and share(some >= 0) > least
        # 1, 2, 3, … down the table.
        whole = self.kind == "whole" and n > 3 and not self.missing
        steps = values.diff()[1:] if whole else values[:0]
        self.numbers_rows = whole and bool((steps > 0 if n >= _ALL_DISTINCT else steps == 1).all())
        # Or they repeat far less often than numbers drawn from as many do: they are keys.
        of = self.high - self.low + 1 if whole else math.inf
        again = n - of * (1 - math.exp(-n / of)) if whole else 0.0
        self.numbers_rows |= _SELDOM * again > max(n - self.n_levels, 1)
        if self.meaning in _MAY_COUNT and n >= _ALL_DISTINCT and self.numbers_rows:
            self.meaning = "id"
        # Things are seldom numbered 0, and each has a number of its own.
        often = self.low == 0 or _OFTEN_AGAIN * self.n_levels < n
        if self.meaning == "id" and WORDS["number"] & {*tokens(self.name)[-1:]} and often:
            self.meaning = "maybe count"
        tool = self.says("equipment") or "".join(tokens(self.name)) in WORDS["equipment"]
        self.few = self.n_levels <= _MOST_CATEGORIES
        self.of_equipment = tool and self.few and self.kind == "text"
        of_p = self.says("of detection") or (self.says("share of") and self.says("of records"))
        self.of_detection = of_p and not self.says("of places", "driver")
        of_p = self.says("known p") or (self.says("share of") and self.says("p of"))
        of_p = of_p and not self.says("not p")
        flags = self.kind == "whole" and (self.high <= 1 or not self.says("known p", "rate"))
        self.known_p = of_p and not flags and bool(0 <= self.low <= self.high <= 100)
        self.meaning = "attribute" if self.known_p else self.meaning
        self.is_day = self.kind == "date" or bool({"date", "day"} & set(tokens(self.name)))
        numbered = self.says("visit") and not self.is_day
        self.is_visit = numbered and self.meaning == "time" and self.n_levels <= 100
        span = self.high - self.low + 1 if self.kind == "whole" else math.inf
        self.numbers_levels = self.low >= 0 and 2 * self.n_levels >= span <= _MOST_NUMBERED
        self.may_be_visit = self.is_visit  # or its numbers cross the rows as those of visits do

    def says(self, *kinds: str) -> bool:
        """Whether a word of its name is of one of these kinds, keys of `WORDS`."""
        return speaks_of(self.name, *kinds)

    def names(self, other: Self) -> bool:
        """Whether this names something that the numbers of another column belong to."""
        return self.kind == "text" and self.fixes(other)

    def codes(self, other: Self) -> bool:
        """Whether it has the names of levels that numbers of another column stand for."""
        return self.of_levels and other.numeric and (self.fixes(other) or other.fixes(self))

    def fixes(self, other: Self) -> bool:
        """Whether those of another column are the same at all rows of each level of this."""
        rows = len(self.values) if max(self.missing, other.missing) <= 0.5 else 0  # no remarks
        if self is other or not 1 < self.n_levels <= rows / 2:
            return False
        both = pl.DataFrame([self.values, other.values])
        some = other.n_levels > 2 and determines(both.head(1000), [self.name], other.name)
        return some and determines(both, [self.name], other.name)

    @cached_property
    def count_points(self) -> float:
        """How much speaks for it as the column of counts."""
        y = self.values.drop_nulls().cast(pl.Float64).to_numpy() if self.numeric else np.zeros(1)
        least = 1 - math.sqrt(8 / max(len(y), 10))  # variance over mean of counts: 2 SD below 1
        points = _FOR_COUNT.get(self.meaning, -5.0) + float(y.var() > least * y.mean())
        if self.meaning in ("count", "maybe count"):
            points += 2 * self.says("new")
        elif self.n_levels == len(self.values) >= _ALL_DISTINCT:
            points -= 8
        points -= share(self.values == 0) > 0.5
        points -= 1.1 * (self.says("beside cases", "suspected") and not self.says("positive"))
        return points - 4 * self.missing - 8 * self.numbers_rows

    @cached_property
    def mode_points(self) -> float:
        """How much speaks for it as a column that names entries."""
        points = _FOR_MODE.get(self.meaning, 0.0) + (self.kind == "date")
        points += 0.3 * ("name" in self.words) + 0.2 * (len(self.words) == 1)
        points -= 0.2 * (self.kind == "whole") + 0.5 * self.says("id")
        points -= 2 * self.repeats_little + 5 * self.numbers_rows
        return points - 3 * self.missing


def profiles_of(frame: pl.DataFrame) -> list[Profile]:
    """Profiles of all columns: what some hold only shows beside the others."""
    columns, n = [Profile(column) for column in frame.get_columns()], len(frame)
    numbers = {tokens(it.name): it for it in columns if it.numeric}
    same = [len({*words}) == 1 for words in zip(*numbers, strict=False) if len(numbers) > 2]
    for words, it in numbers.items():
        it.words = words[[*same, False].index(False) :] or words  # without those that begin all
    stems = Counter(tokens(it.name)[:-1] for it in columns)
    named = [it for it in columns if it.of_levels or it.kind == "text"]
    counts = sum(it.count_like and it.meaning == "count" for it in columns)
    # Beside another count, tonnes caught and hours open for claims.
    measures = (*_MAY_BE_MEASURES, "count") if counts > 1 else _MAY_BE_MEASURES
    for words, it in numbers.items():
        *stem, last = words[: -1 if words[-1:] in (("2",), ("3",)) else None] or ("",)
        unit = bool(stem) and last in WORDS["unit of measure"] and stems[words[:-1]] == 1
        unit &= words[-2:] != ("s", "l")  # sensu lato
        spent = it.meaning == "time" and (unit or bool(WORDS["time spent"] & {*words}))
        other = numbers.get(tuple({"x": "y", "e": "n"}.get(word, word) for word in words), it)
        fixed = words == ("x",) and any(determines(frame, [at.name], other.name) for at in named)
        # Of years, few and in a row.
        span = it.high - it.low + 1 if it.kind == "whole" else math.inf
        years = it.meaning in ("", "maybe count") and _YEARS[0] <= it.low < it.high <= _YEARS[1]
        if years and it.n_levels >= _IN_A_ROW * span and 3 * it.n_levels <= n:
            it.meaning = "time"
        elif unit and it.meaning in measures:
            it.meaning = "attribute"
        elif other is not it and (fixed or min(it.low, other.low) > _NO_COUNTS):
            it.meaning = other.meaning = "coordinate"
        elif spent:  # it names rows, or is how long a search was
            keys = [each for each in named if each is not it and 2 * each.n_levels <= n]
            needed = unique_share(frame, keys) < _NAMED <= unique_share(frame, [*keys, it])
            it.meaning = "time" if needed else "attribute"
        it.of_levels = it.meaning in LEVELS
    may = [it for it in columns if it.meaning in ("", "maybe count", "exposure") and n >= _LEAST]
    up = [it for it in may if it.kind == "whole" and it.low == 1 < it.high <= 1.25 * it.n_levels]
    keys = [it for it in columns if (it.of_levels or it.kind == "text") and 2 * it.n_levels <= n]
    for it in _crossed(frame, keys, up):
        it.meaning, it.may_be_visit, it.of_levels = "time", it.high <= _MOST_OFTEN, True
    return columns


def _crossed(
    frame: pl.DataFrame, keys: Sequence[Profile], numbers: Sequence[Profile]
) -> list[Profile]:
    """Numbers 1, 2, … that name each row beside some columns, each of which has nearly all.

    Such as visits of sites.
    """
    found = list[Profile]()
    most = max((it.high for it in numbers), default=0)
    for by in (by for size in (1, 2, 3) for by in itertools.combinations(keys[:6], size)):
        if most * math.prod(it.n_levels for it in by) < len(frame):
            continue
        some = unique_share(frame, by)
        may = [it for it in numbers if some < _HARDLY and some * it.high <= _NEARLY_ALL]
        found += [it for it in may if unique_share(frame, [*by, it]) == 1]
    return found


def parts_of(total: Profile, columns: Sequence[Profile]) -> list[str]:
    """Columns of whole numbers that add up to this one, such as men and women."""
    some = [it for it in columns if it.count_like and not it.missing]
    some = [it for it in some if it is not total][:_MOST_PARTS]
    table = pl.DataFrame([it.values for it in [total, *some]])
    y = table.gather_every(len(table) // 1000 + 1).drop_nulls().to_numpy().astype(float)
    y = y[np.isfinite(y).all(axis=1)]
    if len(some) < 2 or len(y) < len(some) + 5:
        return []
    weights, rest = nnls(y[:, 1:], y[:, 0])
    found = [it.name for it, weight in zip(some, weights, strict=True) if round(weight, 6) == 1]
    return found if len(found) > 1 and rest <= 1e-9 * np.linalg.norm(y[:, 0]) else []


def proportional(
    frame: pl.DataFrame, y: pl.Series, names: list[str], modes: list[str], others: list[str]
) -> tuple[str, str, list[str]]:
    """The number, above 0 in most rows, in proportion to which counts rise most surely, or "".

    Also the power of it with which they do, levels of modes and fifths of other numbers held, and
    numbers that are made of counts: these scatter less about them than by chance.
    """
    best, made = ("", "", _NEAR_ONE), list[str]()
    for name in (it for it in names if share(frame[it] > 0) >= _ABOVE_0):
        held = [*modes, *(it for it in others if it != name)]
        table = frame.select(name, *held).with_columns(y.alias("")).drop_nulls()
        table = table.filter(pl.col(name) > 0)
        table = table.sample(min(len(table), _MOST_ROWS), seed=0)
        seen, x = table.select(pl.col("", name).cast(pl.Float64)).to_numpy().T
        if len(seen) >= _ALL_DISTINCT and seen.min() >= 0:
            ranks = [table[it].rank("dense").to_numpy().astype(np.int64) for it in held]
            fifths = [5 * rank // (rank.max() + 1) for rank in ranks[len(modes) :]]
            codes = [*ranks[: len(modes)], *fifths]
            power, error, scatter = _power_of(seen, x / np.median(x), codes)
            if abs(power - 1) <= _NEAR_ONE and error < _NEAR_ONE and scatter < _SCATTER:
                made.append(name)
            elif abs(power - 1) <= _NEAR_ONE and error < best[2]:
                best = name, f"{power:.2f} ± {error:.2f}", error
    return *best[:2], made


def _power_of(
    y: FloatArray, x: FloatArray, codes: Sequence[IntArray]
) -> tuple[float, float, float]:
    """With which power of x > 0 counts rise, levels held, its standard error, and the scatter.

    From the deviance of three powers, with a factor for each level of each of `codes`.
    """
    deviances = []
    for power in (0.5, 1.5, 1.0):
        fit = x**power
        for each in (*codes,) * _SCALED:
            levels = np.bincount(each, y) / np.maximum(np.bincount(each, fit), _LITTLE)
            fit *= levels[each]
        deviances.append(2 * float((xlogy(y, y / np.maximum(fit, _LITTLE)) - y + fit).sum()))
    rest = max(len(y) - 1 - sum(len(np.unique(each)) - 1 for each in codes), 1)
    scatter = float(((y - fit) ** 2).sum() / max(fit.sum(), _LITTLE)) * len(y) / rest
    low, high, middle = deviances
    curved = max(4 * (low + high - 2 * middle), _LITTLE)
    return 1 - (high - low) / curved, math.sqrt(2 * max(scatter, 1.0) / curved), scatter


def share(flags: pl.Series) -> float:
    """Share of flags that hold."""
    return float(flags.fill_null(False).mean() or 0.0)  # type: ignore[arg-type]


def unique_share(frame: pl.DataFrame, columns: Sequence[Profile]) -> float:
    """Share of rows that would stay if rows with the same values in these columns were one."""
    return frame.select(each.name for each in columns).n_unique() / len(frame) if columns else 0.0


def determines(frame: pl.DataFrame, fine: Sequence[str], coarse: str) -> bool:
    """Whether the levels of some columns always say that of another."""
    both = frame.select({*fine, coarse}).drop_nulls()
    return bool(fine) and both.n_unique() <= both.select(fine).n_unique()
