"""County maps: tables in, Plotly figures out. Nothing here calls Streamlit.

A figure names the county shapes by URL, so the browser loads them once however often the figure
changes, and only ids and numbers travel with it. ``data/make_county_shapes.py`` makes the files.

Show a map with ``st.plotly_chart(figure, theme="streamlit", config=MAP_CONFIG, key=...)``. Without
`MAP_CONFIG` plotly.js asks a public server for its base map, and offline the map stays blank.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import NDArray

# Relative, so that they hold under any ``server.baseUrlPath``.
STATIC_URL = "app/static"
SHAPES_URL = f"{STATIC_URL}/counties.json"
SHAPES_FILE = Path(__file__).parent / "static" / "counties.json"

NO_COUNT = "no count"
_NAME = "<b>%{properties.county}, %{properties.state}</b>"
_TRANSPARENT = "rgba(0,0,0,0)"
# Greys that show on a white and on a near-black page.
_FAINT = "rgba(128,128,128,0.10)"
_OUTLINE = "rgba(128,128,128,0.7)"
_STATE_BORDER = "rgba(215,215,215,0.9)"

_GEO = {
    "projection": {"type": "albers usa"},
    "bgcolor": _TRANSPARENT,
    "showland": False,
    "showlakes": False,
    "showcoastlines": False,
    "showsubunits": False,
    # Our base map holds the state borders in the layer of rivers, the one line layer that
    # plotly.js draws over a choropleth.
    "showrivers": True,
    "rivercolor": _STATE_BORDER,
    "riverwidth": 0.8,
}
# No text colour: the page's theme, light or dark, sets it.
_LAYOUT = {
    "geo": _GEO,
    "paper_bgcolor": _TRANSPARENT,
    "modebar": {"bgcolor": _TRANSPARENT, "color": _OUTLINE, "activecolor": "rgb(128,128,128)"},
    "margin": {"l": 0, "r": 0, "t": 0, "b": 70},
    "dragmode": "pan",
    "legend": {"x": 1, "xanchor": "right", "y": 0, "yanchor": "top", "orientation": "h"},
}
# Dim the other counties a little where one is selected; by default they all but vanish.
_UNSELECTED = {"marker": {"opacity": 0.6}}
_COLORBAR = {
    "orientation": "h",
    "x": 0,
    "xanchor": "left",
    "y": 0,
    "yanchor": "top",
    "len": 0.65,
    "thickness": 12,
    "outlinewidth": 0,
}
# Plotly's own legend entry of a choropleth has no outline, so it would not show.
_LEGEND_KEY = go.Scattergeo(
    lon=[None],
    lat=[None],
    mode="markers",
    marker={
        "symbol": "square",
        "size": 12,
        "color": _FAINT,
        "line": {"width": 1, "color": _OUTLINE},
    },
    name=NO_COUNT,
    legendgroup=NO_COUNT,
    showlegend=True,
)
_ABOVE = {
    "xref": "paper",
    "yref": "paper",
    "x": 0,
    "y": 1,
    "xanchor": "left",
    "yanchor": "bottom",
    "showarrow": False,
}


def map_config(
    *, image: Literal["png", "svg"] = "png", static_url: str = STATIC_URL
) -> dict[str, Any]:
    """Return the plotly.js configuration every map needs.

    Parameters
    ----------
    image
        What the download button saves.
    static_url
        Where ``dashboard/static`` is served.

    Returns
    -------
    dict
        For the argument ``config`` of ``st.plotly_chart``. The wheel scrolls the page; the
        buttons zoom.
    """
    return {
        "topojsonURL": f"{static_url}/topojson/",
        "scrollZoom": False,
        "displaylogo": False,
        "modeBarButtonsToRemove": ["pan2d", "select2d", "lasso2d"],
        "toImageButtonOptions": {"format": image, "filename": "county-map", "scale": 2},
    }


MAP_CONFIG = map_config()


@cache
def county_names() -> Mapping[str, str]:
    """Return the name of every county that has a shape: FIPS code → "Baltimore city, MD"."""
    shapes = json.loads(SHAPES_FILE.read_text(encoding="utf-8"))
    return MappingProxyType(
        {
            feature["id"]: "{county}, {state}".format(**feature["properties"])
            for feature in shapes["features"]
        }
    )


def county_map(
    values: pd.DataFrame,
    *,
    title: str,
    color: str = "value",
    hover: Sequence[str] = (),
    limits: tuple[float, float] | None = None,
    log: bool = False,
    colorscale: Literal["cividis", "viridis"] = "cividis",
    number_format: str = ".3g",
    height: int | None = 520,
    shapes_url: str = SHAPES_URL,
) -> go.Figure:
    """Return a map of the United States that colours counties by one number.

    Parameters
    ----------
    values
        One row per county: ``fips``, the 5-digit code as text, the column ``color`` and the
        columns ``hover``. A county without a row, or whose number is missing or infinite, is
        outlined without a colour of the scale. A code without a shape is named above the map.
    title
        What the numbers are and on which scale, e.g. "relative p (median = 1)".
    color
        The column of numbers; NaN where there is no estimate.
    hover
        Columns of text to show below the number, one line each; missing where there is none.
    limits
        The numbers at the ends of the colour scale; by default the smallest and the largest.
        Numbers outside take the colour of the end. Fix them to compare two maps.
    log
        Colour by the logarithm. Numbers must then be >= 0, limits > 0.
    colorscale
        A scale even in lightness, readable without red and green.
    number_format
        The d3 format of the number under the pointer.
    height
        Of the figure, in pixels; None leaves it to the container, as the width is.
    shapes_url
        Where the browser finds ``dashboard/static/counties.json``.

    Returns
    -------
    plotly.graph_objects.Figure
        With one choropleth of the estimates and one named `NO_COUNT`.

    Raises
    ------
    ValueError
        If a column is missing, a code repeats or is not 5 digits, or limits do not suit.
    """
    _check_values(values, (color, *hover))
    names = county_names()
    table = values.set_index("fips").reindex(list(names))
    numbers = table[color].to_numpy(dtype=float, na_value=np.nan)
    known = np.isfinite(numbers)
    low, high = _limits(numbers[known], limits, log=log)
    notes = _notes(table, hover)

    estimates = go.Choropleth(
        geojson=shapes_url,
        locations=table.index[known].to_numpy(),
        z=np.log10(np.maximum(numbers[known], low)) if log else numbers[known],
        zmin=math.log10(low) if log else low,
        zmax=math.log10(high) if log else high,
        customdata=numbers[known],
        text=notes[known],
        hovertemplate=(
            f"{_NAME}<br>{title}: %{{customdata:{number_format}}}%{{text}}<extra></extra>"
        ),
        colorscale=colorscale,
        colorbar={**_COLORBAR, "title": {"text": title, "side": "top"}, **_ticks(low, high, log)},
        marker={"line": {"width": 0.3, "color": _OUTLINE}},
        unselected=_UNSELECTED,
    )
    without = go.Choropleth(
        geojson=shapes_url,
        locations=table.index[~known].to_numpy(),
        z=np.zeros(np.count_nonzero(~known)),
        text=notes[~known],
        hovertemplate=f"{_NAME}<br>{NO_COUNT}%{{text}}<extra></extra>",
        colorscale=[(0, _FAINT), (1, _FAINT)],
        showscale=False,
        name=NO_COUNT,
        legendgroup=NO_COUNT,
        marker={"line": {"width": 0.6, "color": _OUTLINE}},
        unselected=_UNSELECTED,
    )
    figure = go.Figure([estimates, without], layout={**_LAYOUT, "height": height})
    if not known.all():
        figure.add_trace(_LEGEND_KEY)
    if undrawn := sorted(set(values["fips"]) - set(names)):
        figure.add_annotation(text=_undrawn_note(undrawn), **_ABOVE)
        figure.update_layout(margin_t=24)
    return figure


def _check_values(values: pd.DataFrame, columns: Sequence[str]) -> None:
    """Reject a table that lacks a column or names its counties badly."""
    for column in ("fips", *columns):
        if column not in values:
            raise ValueError(f"values must have a column {column!r}, got {list(values)}")
    fips = values["fips"]
    bad = ~fips.map(lambda code: isinstance(code, str) and re.fullmatch(r"\d{5}", code) is not None)
    if bad.any():
        raise ValueError(f"fips must be text of 5 digits, got {fips[bad].iloc[0]!r}")
    if fips.duplicated().any():
        raise ValueError(f"fips must be distinct; {fips[fips.duplicated()].iloc[0]} repeats")


def _limits(
    numbers: NDArray[np.float64], limits: tuple[float, float] | None, *, log: bool
) -> tuple[float, float]:
    """Return the numbers at the ends of the colour scale, the first below the second."""
    if log and (numbers < 0).any():
        raise ValueError(f"log needs numbers >= 0; the smallest is {numbers.min():g}")
    if limits is None:
        return _own_limits(numbers[numbers > 0] if log else numbers, log=log)
    low, high = map(float, limits)
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise ValueError(f"limits must be two finite numbers, low < high, got {limits}")
    if log and low <= 0:
        raise ValueError(f"limits must be > 0 where log is set, got {limits}")
    return low, high


def _own_limits(numbers: NDArray[np.float64], *, log: bool) -> tuple[float, float]:
    """Return the range of ``numbers``, made wide enough to colour by."""
    if numbers.size == 0:
        return (1.0, 10.0) if log else (0.0, 1.0)
    low, high = float(numbers.min()), float(numbers.max())
    if low < high:
        return low, high
    return (low / 2, low * 2) if log else (low - 0.5, low + 0.5)


def _ticks(low: float, high: float, log: bool) -> dict[str, Any]:
    """Return colour bar ticks: Plotly's own, or round numbers placed at their logarithms."""
    if not log:
        return {"nticks": 6}
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    steps = (1, 2, 5) if len(decades) <= 3 else (1,)
    ticks = [step * 10.0**decade for decade in decades for step in steps]
    ticks = [tick for tick in ticks if low <= tick <= high] or [low, high]
    ticks = ticks[:: math.ceil(len(ticks) / 6)]
    return {
        "tickmode": "array",
        "tickvals": [math.log10(tick) for tick in ticks],
        "ticktext": [f"{tick:,.3g}" if tick < 1000 else f"{tick:,.0f}" for tick in ticks],
    }


def _notes(table: pd.DataFrame, columns: Sequence[str]) -> NDArray[np.str_]:
    """Return the hover lines of every row, each line led by a break; empty where there are none."""
    rows = table[list(columns)].itertuples(index=False)
    return np.array(["".join(f"<br>{note}" for note in row if pd.notna(note)) for row in rows])


def _undrawn_note(codes: Sequence[str]) -> str:
    """Return a sentence that names the codes the map has no shape for."""
    named = ", ".join(codes[:3]) + (", …" if len(codes) > 3 else "")
    return f"Not drawn, no such county in these shapes: {named} ({len(codes)})"
