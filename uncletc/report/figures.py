"""What a report draws and tabulates, from the totals of a fit: shares of an axis, and texts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from uncletc.datasets.base import Dataset
from uncletc.estimates import totals
from uncletc.estimates.entries import named_columns
from uncletc.report.words import between, number, percent
from uncletc.result.fit_result import Fit
from uncletc.result.scale import Scale

_SHOWN = 10  # lowest, and highest, of many
_MOST_LEVELS = 20_000  # groups whose totals are made for a list of a few


def extremes(dataset: Dataset, fit: Fit, scale: Scale) -> Iterator[dict[str, Any]]:
    """Yield the lowest and highest groups by p: of places and states, or of each mode but the last.

    A single level is no group, and where p is the same everywhere there is no order.

    Yields
    ------
    dict
        by, n (groups in all), heads and rows of a table (the lowest first), and bars: label, text,
        value, low and high as shares of the axis, the latter None without intervals.
    """
    free = "" if scale.absolute else "relative_"
    p, rate = f"{free}detection", f"{free}rate"
    for by, size in _groupings(dataset):
        if not 2 <= size <= _MOST_LEVELS:
            continue
        table = totals(dataset, fit, scale, by=by).sort_values(p, kind="stable")
        if np.ptp(table[p]) <= 1e-9 * table[p].max():
            continue
        n = len(table)
        if n > 2 * _SHOWN:
            table = pd.concat([table.head(_SHOWN), table.tail(_SHOWN)])
        top = 1.0 if scale.absolute and table[p].max() > 0.6 else 1.15 * float(table[p].max())
        words = free.replace("_", " ")
        heads = [by, "counted entries", "reported", f"{words}λ", f"{words}p"]
        heads += ["counted"] if "share" in table else []
        rows, bars = [], []
        for _, row in table.iterrows():
            label = _short(str(row[by]), by)
            cells = [label, f"{row['entries']:,}", f"{row['reported']:,}"]
            cells += [number(row[name]) + between(row, name) for name in (rate, p)]
            if "share" in row:
                cells.append(f"{percent(row['share'])} %{between(row, 'share', share=True)}")
            rows.append(cells)
            ends = {
                end: min(row[f"{p}_{end}"] / top, 1.0)
                if np.isfinite(row.get(f"{p}_{end}", np.nan))
                else None
                for end in ("low", "high")
            }
            value = min(row[p] / top, 1.0)
            bars.append({"label": label, "text": number(row[p]), "value": value, **ends})
        yield {"by": by, "n": n, "heads": heads, "rows": rows, "bars": bars}


def over_last(dataset: Dataset, fit: Fit, scale: Scale) -> dict[str, Any] | None:
    """Return the course over the last mode as shares of the axis; None below three levels."""
    if dataset.counts.shape[-1] < 3:
        return None
    found = totals(dataset, fit, scale, by=dataset.counts.modes[-1])
    rate = "rate" if scale.absolute else "relative_rate"
    names = {"reported": "reported", "expected": "expected", "rate": rate}
    top = 1.08 * float(found[list(names.values())].to_numpy().max()) or 1.0
    if f"{rate}_low" in found and np.isfinite(found[f"{rate}_low"]).all():
        names |= {"low": f"{rate}_low", "high": f"{rate}_high"}
    drawn = {name: (found[column] / top).clip(upper=1.0).tolist() for name, column in names.items()}
    ticks = [(s, f"{s * top:,.0f}" if top >= 10 else f"{s * top:.2g}") for s in (0.0, 0.5, 1.0)]
    labels = found.iloc[:, 0].astype(str).tolist()
    return {"low": None, "high": None, "labels": labels, "ticks": ticks} | drawn


def _short(label: str, by: str) -> str:
    """A label as a report has it: of the counties of a cell the first, and how many more."""
    if by != "counties":
        return label
    first, *more = label.split("; ")
    return f"{first} +{len(more)}" if more else first


def _groupings(dataset: Dataset) -> Iterator[tuple[str, int]]:
    others = {
        each.column: len(each.labels)
        for each in named_columns(dataset)[len(dataset.counts.modes) :]
    }
    if "counties" in others:
        yield from ((name, others[name]) for name in ("state", "counties") if name in others)
        return
    counts = dataset.counts
    last = len(counts.modes) - (counts.shape[-1] >= 3)
    yield from zip(counts.modes[:last], counts.shape[:last], strict=True)
