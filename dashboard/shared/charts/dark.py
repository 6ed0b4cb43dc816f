"""Figures on a dark page. Nothing here calls Streamlit."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

DARK_PAPER = "#171614"  # of Streamlit's dark theme
_FINE = 101  # colours of a scale, to find where it stands out
_MARK = 3.0  # contrast of a mark with the page, at least


def on_dark(figure: go.Figure) -> go.Figure:
    """The same figure for a dark page: rising colour scales begin where they stand out from it."""
    themed = go.Figure(figure)
    for trace in themed.data:
        for holder in (trace, getattr(trace, "marker", None)):
            scale = getattr(holder, "colorscale", None)
            if scale:
                holder.colorscale = _above_ground(scale)
    return themed


def _above_ground(scale: Sequence[tuple[float, str]]) -> list[tuple[float, str]]:
    """The part of a rising scale that stands out from a dark page; any other as it is."""
    places, colors = [place for place, _ in scale], [_rgb(color) for _, color in scale]
    if None in colors or (np.diff(places) <= 0).any():
        return list(scale)
    shares = np.linspace(0, 1, _FINE)
    mixed = np.column_stack([np.interp(shares, places, part) for part in zip(*colors, strict=True)])
    light = _luminance(mixed)
    shown = (light + 0.05) / (luminance(DARK_PAPER) + 0.05) >= _MARK
    if (np.diff(light) < -1e-3).any() or light[0] >= light[-1] or shown.sum() < len(scale):
        return list(scale)
    texts = [f"rgb({red:.0f}, {green:.0f}, {blue:.0f})" for red, green, blue in mixed[shown]]
    return list(zip(np.linspace(0, 1, len(texts)).tolist(), texts, strict=True))


def luminance(color: str) -> float:
    """Relative luminance of "#rrggbb" or "rgb(r, g, b)" as WCAG 2.2 defines it."""
    parts = _rgb(color)
    if parts is None:
        raise ValueError(f"color must be '#rrggbb' or 'rgb(r, g, b)', got {color!r}")
    return float(_luminance(np.array(parts)))


def _luminance(colors: NDArray[np.float64]) -> NDArray[np.float64]:
    share = colors / 255
    linear = np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
    return np.asarray(linear @ (0.2126, 0.7152, 0.0722))


def _rgb(color: str) -> tuple[float, ...] | None:
    """Red, green and blue; None of a colour that is written in another way, or clear."""
    if color.startswith("#") and len(color) == 7:
        return tuple(float(int(color[at : at + 2], 16)) for at in (1, 3, 5))
    if color.startswith("rgb("):
        return tuple(float(part) for part in color[4:-1].split(","))
    return None
