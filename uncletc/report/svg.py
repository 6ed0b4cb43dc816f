"""Figures as SVG text: bars with whiskers, a course over time, and a grid of squares.

Colours are those of the page around them, by the names of its CSS variables.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

import numpy as np
from numpy.typing import NDArray

_WIDTH = 760
_LETTERS = 34  # of a label
_VIRIDIS = ("#440154", "#414487", "#2a788e", "#22a884", "#7ad151", "#fde725")


@dataclass(frozen=True, kw_only=True)
class Bar:
    """One bar: its label, value, interval where there is one, and text at its end."""

    label: str
    value: float
    low: float = math.nan
    high: float = math.nan
    text: str = ""


def bars(items: Sequence[Bar], *, alt: str, most: float | None = None) -> str:
    """Draw horizontal bars from 0, with whiskers cut off at the edge."""
    step, left, right = 24, 260, 90
    values = [item.value for item in items if math.isfinite(item.value)]
    top = most or 1.15 * max(values, default=1.0) or 1.0
    height = step * len(items) + 8
    parts = []
    for i, item in enumerate(items):
        y = 4 + step * i
        width = _along(item.value, top, left, right) - left
        parts.append(
            f'<text x="{left - 8}" y="{y + 15}" text-anchor="end">{_label(item.label)}</text>'
            f'<rect x="{left}" y="{y + 3}" width="{width:.1f}" height="{step - 8}" class="bar"/>'
        )
        if math.isfinite(item.low):
            ends = [_along(end, top, left, right) for end in (item.low, item.high)]
            middle = y + step / 2 - 1
            parts.append(
                f'<line x1="{ends[0]:.1f}" x2="{ends[1]:.1f}" y1="{middle}" y2="{middle}" '
                'class="whisker"/>'
            )
        parts.append(
            f'<text x="{_WIDTH - right + 8}" y="{y + 15}" class="value">{escape(item.text)}</text>'
        )
    return _svg(height, alt, parts)


def course(
    labels: Sequence[str],
    reported: NDArray[np.float64],
    expected: NDArray[np.float64],
    rate: tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]] | None,
    *,
    alt: str,
) -> str:
    """Draw what was reported as bars, ŷ as a line, and λ as a line with its band.

    Parameters
    ----------
    labels : sequence of str
        n levels, in order.
    reported, expected : ndarray, shape (n,)
    rate : tuple of ndarray, optional
        λ and the ends of its interval, NaN where there is none.
    alt : str
        What is shown, for those who do not see it.
    """
    height, left, bottom, n = 260, 80, 40, len(labels)
    drawn = [reported, expected, *([rate[0]] if rate else [])]
    top = 1.08 * max(float(np.nanmax(each, initial=0.0)) for each in drawn) or 1.0
    x = left + (np.arange(n) + 0.5) * (_WIDTH - left - 10) / n
    base = height - bottom

    def at(values: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(base - np.minimum(values / top, 1.0) * (base - 10))

    wide = max(0.8 * (_WIDTH - left - 10) / n, 1.0)
    parts = _grid(top, left, base)
    parts += [
        f'<rect x="{a - wide / 2:.1f}" y="{b:.1f}" width="{wide:.1f}" height="{base - b:.1f}" '
        'class="count"/>'
        for a, b in zip(x, at(reported), strict=True)
    ]
    if rate:
        if np.isfinite(rate[1]).all():
            around = [
                *zip(x, at(rate[1]), strict=True),
                *list(zip(x, at(rate[2]), strict=True))[::-1],
            ]
            parts.append(f'<polygon points="{_points(around)}" class="band"/>')
        parts.append(
            f'<polyline points="{_points(zip(x, at(rate[0]), strict=True))}" class="rate"/>'
        )
    parts.append(
        f'<polyline points="{_points(zip(x, at(expected), strict=True))}" class="expected"/>'
    )
    for i in sorted({0, n // 2, n - 1}):
        anchor = "start" if i == 0 else "end" if i == n - 1 else "middle"
        parts.append(
            f'<text x="{x[i]:.1f}" y="{base + 18}" text-anchor="{anchor}">'
            f"{_label(labels[i])}</text>"
        )
    return _svg(height, alt, parts)


def squares(
    rows: Sequence[str],
    columns: Sequence[str],
    values: NDArray[np.float64],
    *,
    titles: tuple[str, str],
    alt: str,
) -> str:
    """Draw a grid of squares coloured by value, blank where it is NaN, with a key.

    Parameters
    ----------
    rows, columns : sequence of str
    values : ndarray, shape (rows, columns)
        ≥ 0.
    titles : pair of str
        Of the rows and of the columns.
    alt : str
    """
    left, above, key = 120, 24, 40
    size = min((_WIDTH - left - 10) / max(len(columns), 1), 22.0)
    height = int(above + size * len(rows) + key + 24)
    finite = values[np.isfinite(values)]
    low, high = np.quantile(finite, [0.02, 0.98]) if finite.size else (0.0, 1.0)
    parts = [f'<text x="{left}" y="15">{_label(titles[1])} →</text>']
    for i, row in enumerate(rows):
        y = above + i * size
        if i % math.ceil(12 / size) == 0:
            parts.append(
                f'<text x="{left - 6}" y="{y + size / 2 + 4:.1f}" text-anchor="end" class="small">'
                f"{_label(row, 18)}</text>"
            )
        for j, value in enumerate(values[i]):
            if math.isfinite(value):
                place = f"{escape(row)}, {escape(columns[j])}: {value:.3g}"
                parts.append(
                    f'<rect x="{left + j * size:.1f}" y="{y:.1f}" width="{size:.2f}" '
                    f'height="{size:.2f}" fill="{_color(value, low, high)}">'
                    f"<title>{place}</title></rect>"
                )
    y = above + size * len(rows) + 14
    parts.extend(
        f'<rect x="{left + 3 * k}" y="{y:.1f}" width="3.2" height="10" '
        f'fill="{_color(k / 59, 0.0, 1.0)}"/>'
        for k in range(60)
    )
    parts.append(f'<text x="{left}" y="{y + 24:.1f}" class="small">{low:.3g}</text>')
    parts.append(
        f'<text x="{left + 180}" y="{y + 24:.1f}" text-anchor="end" class="small">{high:.3g}</text>'
    )
    return _svg(height, alt, parts)


def _grid(top: float, left: float, base: float) -> list[str]:
    parts = []
    for share in (0.0, 0.5, 1.0):
        y, value = base - share * (base - 10), share * top
        text = f"{value:,.0f}" if top >= 10 else f"{value:.2g}"
        parts.append(
            f'<line x1="{left}" x2="{_WIDTH - 10}" y1="{y:.1f}" y2="{y:.1f}" class="grid"/>'
            f'<text x="{left - 8}" y="{y + 4:.1f}" text-anchor="end">{text}</text>'
        )
    return parts


def _along(value: float, top: float, left: float, right: float) -> float:
    share = min(max(value, 0.0) / top, 1.0) if math.isfinite(value) else 0.0
    return left + share * (_WIDTH - left - right)


def _points(pairs: Iterable[tuple[float, float]]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in pairs)


def _color(value: float, low: float, high: float) -> str:
    """Colour of a value between two; viridis."""
    share = 0.5 if high <= low else min(max((value - low) / (high - low), 0.0), 1.0)
    at = share * (len(_VIRIDIS) - 1)
    k = min(int(at), len(_VIRIDIS) - 2)
    parts = []
    for channel in (1, 3, 5):
        a, b = (int(_VIRIDIS[i][channel : channel + 2], 16) for i in (k, k + 1))
        parts.append(f"{round(a + (at - k) * (b - a)):02x}")
    return "#" + "".join(parts)


def _label(text: str, most: int = _LETTERS) -> str:
    return escape(text if len(text) <= most else text[: most - 1] + "…")


def _svg(height: float, alt: str, parts: Sequence[str]) -> str:
    return (
        f'<svg viewBox="0 0 {_WIDTH} {height}" role="img" aria-label="{escape(alt, quote=True)}">'
        + "".join(parts)
        + "</svg>"
    )
