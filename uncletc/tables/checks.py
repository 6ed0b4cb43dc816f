"""A report on counts before the fit: what is wrong with them, and what is odd.

:func:`check_counts` gives sentences in the order of their importance. Each threshold is a constant
with its reason.
"""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Literal

import numpy as np
import pandas as pd
from scipy.optimize import nnls

from uncletc.common.validation import IntArray
from uncletc.data.counts import CountTensor
from uncletc.datasets.base import Dataset
from uncletc.tables.columns import Columns, meaning_of, numbered
from uncletc.tables.types import CHECK, listed

Severity = Literal["error", "warning", "info"]

# Rank correlation with the count from which an attribute is nearly the count itself. Attributes of
# real detection lie far below: tests per person and cases have .5.
LEAKING = 0.95
SAMPLE = 20_000  # counts that it is computed from
LEAST = 40  # counts with attributes; fewer say nothing

# Share of counts of 1 from which zeros are missed: Poisson counts have 1 / mean times as many 0.
OFTEN = 0.05

LEAST_STEPS = 8  # of a mode in time; fewer say nothing of what is usual
# Of the counts above 0 that are usual on days around, so few there are. Below, a day is no weak day
# but none; Sundays with half the usual reports stay counts.
ALMOST_NOBODY = 0.15
LEAST_USUAL = 8.0  # counts above 0 that are usual; of fewer, none may be above 0 by chance
# Steps at each side that say what is usual: a week, of which weekends are less than half.
AROUND = 7

LEAST_RISES = 20  # of cumulative counts
_MOST_SERIES = 30  # levels of a mode of which some may be cumulative
# Share of steps that fall, by corrections; counts of their own fall about as often as they rise.
FALLS = 0.02
# Share of steps that rise at least: what remains as it is says nothing.
RISES = 0.05

# Of the days that are usual in a week; of weeks of the table, and of a place, that have these.
_FEWER, _MORE, _MOSTLY, _NEARLY_ALL = 0.9, 1.25, 0.6, 0.8

_NEARLY_SUM, _MOST_SUMS, _LEAST_SUMS = 0.02, 0.9, 5  # of sums: how near, share, how many
_MOST_LEVELS, _LEAST_TOTAL = 500, 20  # of modes, and of levels, that are searched for sums

# Times the next largest count, from which the largest may be a slip; of fewer counts it may be the
# only large one.
_FAR_OUT, _LEAST_COUNTS = 20, 30

_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_STEP = re.compile(r"\d{4}(-\d\d?|[- ]?[WSMQT]\d\d?)")
_TOTAL = re.compile(
    r"((grand |state |national |sub-?)?total(s|e|en|es)?|insgesamt|ensemble)\b.*"
    r"|all|overall|sums?|summe|suma|both( sexes| genders)?|persons|world|global"
    r"|(eu|ea)\d*(_\d+)?|efta|(all|total|both|overall) (ages?|sexes|genders|regions?|states?"
    r"|countries|causes|species|sites|trusts|groups?|areas|types?)"
)


@dataclass(frozen=True)
class Finding:
    """One thing to know of counts before they are fitted.

    Attributes
    ----------
    kind : str
        What it is about: "shape", "reading", "running totals", "totals", "labels", "days",
        "leaking", "detections", "outliers" or "no events".
    severity : {"error", "warning", "info"}
        "error": a fit would be wrong; "warning": it may be; "info": worth knowing.
    sentence : str
        What was found, in one sentence for readers.
    advice : str
        What to do, in one sentence; empty where there is nothing to do.
    remedy : mapping of str to Any
        What :class:`uncletc.tables.Columns` would have instead, by field: ``missing`` of "days",
        ``without`` of "totals", ``running`` of "running totals".

    Examples
    --------
    >>> from dataclasses import replace
    >>> from uncletc import tables
    >>> sites, weeks = ["a"] * 30 + ["b"] * 30, [f"2024-W{week:02}" for week in range(1, 31)]
    >>> table = {"site": sites, "week": weeks * 2, "cases": [*range(30), *range(30)]}
    >>> raw = tables.RawTable.of(table, "cases")
    >>> columns = tables.guess(raw).columns
    >>> first = tables.check_counts(tables.build(raw, columns))[0]
    >>> first.kind, first.remedy
    ('running totals', {'running': 'week'})
    >>> int(tables.build(raw, replace(columns, **first.remedy)).counts.counts.max())
    1
    """

    kind: str
    severity: Severity
    sentence: str
    advice: str = ""
    remedy: Mapping[str, Any] = field(default_factory=dict)


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
    'The counts form a block of 8 mode 1 × 8 mode 2 × 8 mode 3: 512 combinations.'
    """
    counts = data.counts if isinstance(data, Dataset) else data
    found = list(_shape(counts))
    rules = data.provenance.rules if isinstance(data, Dataset) else ()
    advice = "Correct the file or its columns if this is not what you want."
    for rule in (each.removeprefix(CHECK) for each in rules if each.startswith(CHECK)):
        sentence = rule[:1].upper() + rule[1:]
        found.append(Finding("reading", "warning", sentence, advice))
    if counts.n_observed and counts.counts.any():
        time = time_mode(counts)
        running = list(_running(counts, time))
        found += [*running, *_totals(counts), *_spellings(counts)]
        if not running:  # totals have no silent days
            found += _days(counts, time)
        found += _leaking(counts)
        found += _detections(counts.counts)
        found += _far_out(counts)
    else:
        sentence = "There is no count above 0."
        advice = "Check which column holds the counts: without events nothing can be estimated."
        found.append(Finding("no events", "error", sentence, advice))
    return tuple(sorted(found, key=lambda each: ("error", "warning", "info").index(each.severity)))


def _counted(n: int, one: str) -> str:
    return f"{n:,} {one if n == 1 or one.endswith('s') else f'{one}s'}"  # 10 species


def _shape(counts: CountTensor) -> Iterator[Finding]:
    size = " × ".join(f"{n:,} {mode}" for n, mode in zip(counts.shape, counts.modes, strict=True))
    zeros = float(np.mean(counts.counts == 0)) if counts.n_observed else 0.0
    for sentence in (
        f"The counts form a block of {size}: {math.prod(counts.shape):,} combinations.",
        f"{counts.n_observed:,} of them have a count ({100 * counts.share_observed:.3g} %), and "
        f"{100 * zeros:.0f} % of the counts are 0; any others are missing, which is not 0.",
    ):
        yield Finding("shape", "info", sentence)


def _detections(y: IntArray) -> Iterator[Finding]:
    """Counts that stand for whether something was seen, or that leave out where it was not."""
    alone = "If 1 means that something was seen, not how much, λ is of occasions."
    ones = np.mean(y == 1)
    unlisted = "Say what a combination without a row means, or add the zeros."
    for holds, sentence, advice in (
        (y.max() == 1, "No count is above 1.", alone),
        (y.min() == 1 and ones >= OFTEN, f"No count is 0, and {100 * ones:.0f} % are 1.", unlisted),
    ):
        if holds and y.sum() >= LEAST:
            yield Finding("detections", "warning", sentence, advice)


def _far_out(counts: CountTensor) -> Iterator[Finding]:
    """A count far above all others."""
    *_, second, largest = np.sort(counts.counts) if counts.n_observed > 1 else (0, 0)
    if counts.n_observed >= _LEAST_COUNTS and largest > _FAR_OUT * max(second, 1):
        at = counts.indices[counts.counts.argmax()]
        where = " × ".join(labels[i] for labels, i in zip(counts.labels, at, strict=True))
        sentence = f"The count of {where}, {largest:,}, is far above the next, {second:,}."
        advice = "Check it: by its size, it decides most estimates of its levels."
        yield Finding("outliers", "warning", sentence, advice)


# Attributes that say too much


def _leaking(counts: CountTensor) -> Iterator[Finding]:
    """Attributes that are nearly the count, among those of counted entries."""
    rows = np.flatnonzero(counts.attribute_rows >= 0)
    if len(rows) < LEAST:
        return
    rows = rows[:: math.ceil(len(rows) / SAMPLE)]
    z = np.column_stack([counts.attributes, counts.rate_attributes])[counts.attribute_rows[rows]]
    names = (*counts.attribute_names, *counts.rate_attribute_names)
    ranks = pd.DataFrame(dict(zip(names, z.T, strict=True))).rank()  # once those in both
    y, exposed = counts.counts[rows], counts.exposure_at(counts.indices[rows])
    each = [ranks.corrwith(pd.Series(by).rank()).abs() for by in (y, y / exposed)]
    together = each[0].combine(each[1], max)
    for name in dict.fromkeys(names):
        if together[name] >= LEAKING:
            what = f"their rank correlation is {together[name]:.2f}."
            advice = "Leave it out unless it was known before anyone counted."
            yield Finding("leaking", "error", f"{name} nearly determines the count: {what}", advice)


# Counts that are sums of others


def _running(counts: CountTensor, time: int | None) -> Iterator[Finding]:
    """Counts that never fall along a mode in time, all or those of some levels."""
    table = pd.DataFrame(counts.indices)
    for k, mode in enumerate(counts.modes):
        meaning, stems = meaning_of(mode, number=False), numbered(counts.labels[k]).values()
        in_time = k == time or meaning == "time"
        in_order = meaning in ("", "kind") and [*map(len, stems)] == [counts.shape[k]]
        if not (in_time or in_order) or counts.shape[k] < (LEAST_STEPS if in_time else 4):
            continue
        others = [j for j in range(len(counts.shape)) if j != k]
        order = table[k].sort_values(kind="stable").index
        steps = pd.Series(counts.counts)[order].groupby([table[j] for j in others]).diff().dropna()
        series = [
            (counts.modes[j], label)
            for j in others
            if counts.shape[j] <= _MOST_SERIES
            for i, label in enumerate(counts.labels[j])
            if _never_fall(steps[table[j] == i])
        ]
        every = _never_fall(steps)
        if not (every or series):
            continue
        of = "" if every else f" of {listed([f'{it} {level!r}' for it, level in series])}"
        advice = "Leave these levels out: their numbers are no counts as the others are."
        advice = "Take the differences, unless counts do grow so steadily." if every else advice
        often = "hardly ever" if every and (steps < 0).any() else "never"
        what = f"Counts{of} {often} fall along {mode}: they look cumulative, each holding those "
        remedy = {"running": mode} if every else {"without": tuple(series)}
        yield Finding("running totals", "error", f"{what}before it.", advice, remedy)
        return


def _never_fall(steps: pd.Series) -> bool:
    rises, falls = int((steps > 0).sum()), int((steps < 0).sum())
    return rises >= max(LEAST_RISES, RISES * len(steps)) and falls <= FALLS * len(steps)


def _totals(counts: CountTensor) -> Iterator[Finding]:
    """Levels that are the sum of the others of their mode, by name or by their counts."""
    found, why = [], "name"
    for k, labels in enumerate(counts.labels):
        if len(labels) < 3:
            continue
        gone = {i for i, label in enumerate(labels) if _TOTAL.fullmatch(label.strip().casefold())}
        largest = _sum_of_others(counts, k)
        # Two observers see some together: "both" is a total where it is one.
        gone -= {i for i in gone if labels[i].casefold() == "both"} - largest
        if more := ({*_sums_of_others(counts, k)} | largest) - gone:
            gone, why = gone | more, "name or counts"
        if len(gone) < len(labels) - 1:
            found += [(counts.modes[k], labels[i]) for i in sorted(gone)]
    if found:
        what = listed([f"{mode} {level!r}" for mode, level in found])
        what += f" {'is' if len(found) == 1 else 'are'} the sum of other levels, by {why}."
        advice = "Leave such levels out: each event would be counted twice."
        yield Finding("totals", "error", what, advice, {"without": tuple(found)})


def _sum_of_others(counts: CountTensor, mode: int) -> set[int]:
    """The level of a mode whose counts are the sums of all its others; none where there is none."""
    y, of = counts.counts, counts.indices[:, mode]
    total = np.bincount(of, y)
    most = int(total.argmax())
    if abs(2 * total[most] / total.sum() - 1) > _NEARLY_SUM:
        return set()
    others = pd.DataFrame(np.delete(counts.indices, mode, axis=1))
    table = others.assign(own=y * (of == most), rest=y * (of != most))
    sums = table.groupby([*others]).sum().query("own > 0")
    alike = (sums["own"] - sums["rest"]).abs() <= _NEARLY_SUM * sums["own"]
    return {most} if len(sums) >= _LEAST_SUMS and alike.mean() >= _MOST_SUMS else set()


def _sums_of_others(counts: CountTensor, mode: int) -> list[int]:
    """Levels whose counts are exactly sums of those of some others, such as regions of a country.

    Smaller ones are found first, so that larger ones are sums of what is left in one way alone.
    """
    size, of = len(counts.labels[mode]), counts.indices[:, mode]
    where = np.unique(np.delete(counts.indices, mode, axis=1), axis=0, return_inverse=True)[1]
    if size > _MOST_LEVELS or counts.n_observed < size * (size + _LEAST_SUMS):
        return []
    y = np.full((size, int(where.max()) + 1), np.nan)
    y[of, where.ravel()] = counts.counts
    y = y[:, ~np.isnan(y).any(axis=0)]
    total = y.sum(axis=1)
    some = np.argsort(total)
    some = some[total[some] >= _LEAST_TOTAL]
    if not some.size or y.shape[1] < size + _LEAST_SUMS:
        return []
    y = y[some]
    if np.linalg.matrix_rank(y / np.linalg.norm(y, axis=1, keepdims=True)) == len(y):
        return []
    found, parts = list[int](), list[int]()
    for k in range(len(y)):  # smallest first
        weights = nnls(y[parts].T, y[k])[0].round() if parts else np.empty(0)
        sums = weights.max(initial=0) == 1 and np.array_equal(weights @ y[parts], y[k])
        (found if sums else parts).append(k)
    return [int(some[k]) for k in found]


def _spellings(counts: CountTensor) -> Iterator[Finding]:
    """Labels of a mode that differ in capital letters alone."""
    for mode, labels in zip(counts.modes, counts.labels, strict=True):
        every = pd.Series(labels, dtype=object)
        plain = every.str.casefold()
        several = plain.duplicated(keep=False)
        if again := [list(each) for _, each in every[several].groupby(plain[several])]:
            of = f"{_counted(len(again), 'level')} of {mode} {'is' if len(again) == 1 else 'are'}"
            what = f"{of} written in several ways, such as {listed(again[0])}."
            advice = "Write each in one way: each spelling is a level with counts of its own."
            yield Finding("labels", "warning", what, advice)


# Days on which almost nobody reports: their zeros are not zeros


def time_mode(counts: CountTensor) -> int | None:
    """The mode whose labels are all days, weeks, months or quarters; None where none is.

    Examples
    --------
    >>> labels = [["b", "a"], ["2021-02-27", "2021-02-28"]]
    >>> time_mode(CountTensor((2, 2), [[0, 0], [1, 1]], [4, 0], labels=labels))
    1
    """
    for k in reversed(range(len(counts.shape))):
        labels = counts.labels[k]
        if all(map(is_day, labels)) or all(map(_STEP.fullmatch, labels)):
            return k
    return None


def is_day(label: str) -> bool:
    """Whether the label of a mode's step is a day of the calendar, such as 2021-02-28.

    Examples
    --------
    >>> is_day("2021-02-28"), is_day("2021-02-30"), is_day("week 8")
    (True, False, False)
    """
    try:
        return str(date.fromisoformat(label)) == label
    except ValueError:
        return False


def _days(counts: CountTensor, mode: int | None) -> Iterator[Finding]:
    """Days, and weekdays, on which almost nobody reports: far fewer than on those around."""
    if mode is None or counts.shape[mode] < LEAST_STEPS:
        return
    numbers = [list(map(int, re.findall(r"\d+", each))) for each in counts.labels[mode]]
    order = sorted(range(len(numbers)), key=numbers.__getitem__)
    labels, name = [counts.labels[mode][i] for i in order], counts.modes[mode]
    days = all(map(is_day, labels))
    weekday = pd.Series([date.fromisoformat(each).weekday() if days else -1 for each in labels])
    at = np.argsort(order)[counts.indices[:, mode]]
    steps = pd.DataFrame({"counted": np.bincount(at, minlength=len(labels))})
    steps["positive"] = np.bincount(at, counts.counts > 0, len(labels))
    share = steps["positive"] / steps["counted"]
    before, after = (
        each.rolling(AROUND if days else 2, min_periods=1).median().shift(fill_value=0.0)
        for each in (share, share[::-1])
    )
    steps["usual"] = steps["counted"] * np.minimum(before, after)  # a season's start is no gap

    def silent(sums: pd.DataFrame) -> pd.Series:
        few = sums["positive"] <= ALMOST_NOBODY * sums["usual"]
        return few & (sums["usual"] >= LEAST_USUAL)

    by_weekday = silent(steps.groupby(weekday).sum())
    weekdays = [w for w in range(7) if days and by_weekday.get(w)]
    single = silent(steps) & ~weekday.isin(weekdays)
    gone = np.flatnonzero(single | weekday.isin(weekdays))
    if len(gone):
        when = [f"{_WEEKDAYS[w]}s" for w in weekdays] + [labels[t] for t in np.flatnonzero(single)]
        zeros = _counted(int((np.isin(at, gone) & (counts.counts == 0)).sum()), "zero")
        what = f"On {listed(when)} almost nobody reports: {zeros} there would be read as nothing "
        remedy = {"missing": tuple((name, labels[t]) for t in gone)}
        advice = f"Take {_counted(len(gone), name)} as missing."
        yield Finding("days", "error", f"{what}happened.", advice, remedy)


# Weeks of which some days were not counted: their sums are no counts of weeks


def of_whole_steps(rows: pd.DataFrame, columns: Columns, rules: list[str]) -> pd.Series:
    """Counts of rows, missing in weeks or months of which fewer days were counted than is usual.

    Usual is what nearly all weeks of a place have, as where it is counted on Mondays, else what
    most of the table have. Where days differ everywhere, or zeros are not written down, sums are
    left as they are, with a warning.

    Parameters
    ----------
    rows : DataFrame
        As `build` makes them: 0 to K - 1, the levels of modes; entry, count and, of dates taken
        by step, each as it is written.
    columns : Columns
    rules : list of str
        To which notes are added.
    """
    modes, y = columns.all_modes, rows["count"]
    k = next((k for k, it in enumerate(modes) if it.step in ("week", "month")), None)
    if k is None or columns.running or columns.absent == "zero" or rows[k].nunique() < LEAST_STEPS:
        return y
    some, by = rows[y.notna()], modes[k].step
    others = [j for j, it in enumerate(modes) if j != k and it.column != columns.absent]
    place = some.groupby(others).ngroup() if others else some[k] * 0
    day = some["written"].map(lambda date: pd.Timestamp(date[:10])).astype("datetime64[ns]")
    days = day.groupby([place, some[k]]).transform("nunique")
    share = days / (day.dt.days_in_month if by == "month" else 7)
    usual, of_all = share.groupby(place).transform("median"), share.median()
    alike = share.between(_FEWER * usual, _MORE * usual).groupby(place).transform("mean")
    often = some["count"].min() > 0 and (some["count"] == 1).mean() >= OFTEN  # zeros are not listed
    uneven = share.between(_FEWER * of_all, _MORE * of_all).mean() < _MOSTLY
    if days.nunique() > 1 and (often or uneven):
        rules.append(f"{CHECK}each {by} is the sum of {days.min()} to {days.max()} of its days.")
        return y
    short = share < _FEWER * usual.where(alike >= _NEARLY_ALL, of_all)
    n, of = (each["entry"].nunique() for each in (some[short], some))
    what = f"sums of fewer days than is usual in a {by} are taken as missing: {n:,} of {of:,}."
    rules += [CHECK + what if n > OFTEN * of else what.capitalize()] if n else []
    return y.mask(short.reindex(y.index, fill_value=False))
