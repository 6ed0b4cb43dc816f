"""The figures and tables of a report, from the totals of a fit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from uncletc.datasets.base import Dataset
from uncletc.estimates import totals
from uncletc.estimates.names import named_columns
from uncletc.report.svg import Bar, bars, course, squares
from uncletc.report.words import number
from uncletc.result.fit_result import Fit
from uncletc.result.scale import Scale

_SHOWN = 10  # lowest, and highest, of many
_MOST_LEVELS = 20_000  # groups whose totals are made for a list of a few
_MOST_ROWS, _MOST_COLUMNS = 60, 100  # of a grid; of larger ones those with most counts
_MOST_PAIRS = 50_000


@dataclass(frozen=True, eq=False, kw_only=True)
class Extremes:
    """The groups with the lowest and the highest mean p.

    Attributes
    ----------
    by : str
        What a group is.
    n : int
        Groups in all.
    table : DataFrame
        Their totals, the lowest first.
    figure : str
        SVG.
    """

    by: str
    n: int
    table: pd.DataFrame
    figure: str


def extremes(dataset: Dataset, fit: Fit, scale: Scale) -> Iterator[Extremes]:
    """Yield the lowest and highest groups by p: of places and states, or of each mode but the last.

    A single level is no group, and where p is the same everywhere there is no order.
    """
    column = "detection" if scale.absolute else "relative_detection"
    for by, size in _groupings(dataset):
        if not 2 <= size <= _MOST_LEVELS:
            continue
        table = totals(dataset, fit, scale, by=by).sort_values(column, kind="stable")
        if np.ptp(table[column]) <= 1e-9 * table[column].max():
            continue
        n = len(table)
        if n > 2 * _SHOWN:
            table = pd.concat([table.head(_SHOWN), table.tail(_SHOWN)])
        drawn = [_bar(row, by, column) for _, row in table.iterrows()]
        most = 1.0 if scale.absolute and table[column].max() > 0.6 else None
        yield Extremes(
            by=by,
            n=n,
            table=table,
            figure=bars(drawn, alt=f"Mean p by {by}, lowest and highest", most=most),
        )


def over_last(dataset: Dataset, fit: Fit, scale: Scale) -> str:
    """Draw the course over the last mode; empty where it has fewer than three levels."""
    counts = dataset.counts
    if counts.shape[-1] < 3:
        return ""
    mode = counts.modes[-1]
    found = totals(dataset, fit, scale, by=mode)
    free = "" if scale.absolute else "relative_"
    missing = np.full(len(found), np.nan)
    rate = tuple(
        found.get(f"{free}rate{end}", pd.Series(missing)).to_numpy(dtype=np.float64)
        for end in ("", "_low", "_high")
    )
    return course(
        found.iloc[:, 0].astype(str).tolist(),
        found["reported"].to_numpy(dtype=np.float64),
        found["expected"].to_numpy(dtype=np.float64),
        (rate[0], rate[1], rate[2]),
        alt=f"Reported and estimated counts by {mode}",
    )


def over_pairs(dataset: Dataset, fit: Fit, scale: Scale) -> str:
    """Draw mean p over the first two modes; empty where p is the same everywhere."""
    counts = dataset.counts
    if counts.shape[0] * counts.shape[1] > _MOST_PAIRS:
        return ""
    known = counts.rows_of(counts.indices)
    p = np.full(counts.n_observed, fit.mean_detection)
    if counts.n_attributed:
        p[known >= 0] = fit.detection(counts.attributes[known[known >= 0]])
    if not len(p) or np.ptp(p) <= 1e-9 * p.max():
        return ""
    flat = counts.indices[:, 0] * counts.shape[1] + counts.indices[:, 1]
    size = counts.shape[0] * counts.shape[1]
    n = np.bincount(flat, minlength=size)
    with np.errstate(invalid="ignore"):
        mean = (np.bincount(flat, scale.detection(p), size) / n).reshape(counts.shape[:2])
    seen = np.bincount(flat, counts.counts, size).reshape(counts.shape[:2])
    rows, columns = (
        _busiest(seen.sum(axis=1), _MOST_ROWS),
        _busiest(seen.sum(axis=0), _MOST_COLUMNS),
    )
    if counts.modes[0] == "latitude":
        rows = rows[::-1]  # north above
    return squares(
        [counts.labels[0][i] for i in rows],
        [counts.labels[1][j] for j in columns],
        mean[np.ix_(rows, columns)],
        titles=(counts.modes[0], counts.modes[1]),
        alt=f"Mean p by {counts.modes[0]} and {counts.modes[1]}",
    )


def short(label: str, by: str) -> str:
    """A label as a report has it: of the counties of a cell the first, and how many more."""
    if by != "counties":
        return label
    first, *more = label.split("; ")
    return f"{first} +{len(more)}" if more else first


def _busiest(seen: np.ndarray, most: int) -> np.ndarray:
    """Levels in their order; of too many those with most counts."""
    if len(seen) <= most:
        return np.arange(len(seen))
    return np.sort(np.argsort(-seen, kind="stable")[:most])


def _groupings(dataset: Dataset) -> Iterator[tuple[str, int]]:
    others = {each.column: len(each.labels) for each in named_columns(dataset).others}
    if "counties" in others:
        yield from ((name, others[name]) for name in ("state", "counties") if name in others)
        return
    counts = dataset.counts
    last = len(counts.modes) - (counts.shape[-1] >= 3)
    yield from zip(counts.modes[:last], counts.shape[:last], strict=True)


def _bar(row: pd.Series, by: str, column: str) -> Bar:
    low, high = (float(row.get(f"{column}_{end}", np.nan)) for end in ("low", "high"))
    value = float(row[column])
    return Bar(label=short(str(row[by]), by), value=value, low=low, high=high, text=number(value))
