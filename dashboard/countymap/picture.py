"""County maps: tables in, pictures out, and the counties that have a shape. No Streamlit here.

A picture holds numbers and words alone. The browser has the county shapes already: it loads
``static/counties.json``, which ``data/make_county_shapes.py`` makes, once. Draw a picture with
:func:`dashboard.countymap.component.show_county_map`.
"""

import base64
import json
import math
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache, cached_property, lru_cache
from html import escape
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
import pandas as pd
import plotly.colors
from numpy.typing import NDArray

Box = tuple[int, ...]  # left, top, right, bottom of a part of the map; () for all of it
SHAPES_FILE = Path(__file__).parents[1] / "static" / "counties.json"


def read_shapes() -> dict[str, Any]:
    """Return what the browser loads: fips, county and state, paths of outlines, width, height."""
    return json.loads(SHAPES_FILE.read_text(encoding="utf-8"))


def as_box(given: Any) -> Box:
    """Return four whole numbers, as a browser or an address has them; () for anything else."""
    try:
        box = tuple(int(each) for each in given)
    except (TypeError, ValueError):
        return ()
    return box if len(box) == 4 and box[0] < box[2] and box[1] < box[3] else ()


@lru_cache(maxsize=64)
def counties_in(box: Box) -> frozenset[str]:
    """Return FIPS codes of the counties whose middle lies in a box."""
    shapes = read_shapes()
    left, top, right, bottom = box
    return frozenset(
        fips
        for fips, x, y in zip(shapes["fips"], shapes["x"], shapes["y"], strict=True)
        if left <= x <= right and top <= y <= bottom
    )


@cache
def county_names() -> Mapping[str, str]:
    """Return the name of every county that has a shape: FIPS code → "Baltimore city, MD"."""
    shapes = read_shapes()
    rows = zip(shapes["fips"], shapes["county"], shapes["state"], strict=True)
    return MappingProxyType({fips: f"{county}, {state}" for fips, county, state in rows})


Colorscale = Literal["cividis", "viridis", "diverging"]
# Even in lightness, or in either direction from a light middle: readable without red and green.
COLORS: Mapping[Colorscale, tuple[str, ...]] = MappingProxyType(
    {
        "cividis": tuple(plotly.colors.sequential.Cividis),
        "viridis": tuple(plotly.colors.sequential.Viridis),
        "diverging": tuple(reversed(plotly.colors.diverging.PuOr)),
    }
)
_LEVELS = 250  # colours of a scale
_MOST_TICKS = 6  # of a logarithmic colour bar
_STATE = 2  # digits of a state's code


@dataclass(frozen=True, eq=False, kw_only=True)
class MapPicture:
    """A map of the United States that colours counties by one number.

    Arrays and lines of text have one item per county with a shape, in the order of `county_names`.

    Attributes
    ----------
    title : str
        What the numbers are and on which scale.
    numbers : ndarray, shape (counties,)
        NaN where there is none.
    marks : sequence of str or None
        What follows the number of a county, as " (cell of 3 counties)".
    notes : tuple of sequence of str or None
        Lines to show below the number.
    missing : str
        What the legend says of counties without a number.
    uncertain : ndarray of bool, shape (counties,)
    uncertain_means : str
        What the legend says of uncertain counties.
    colors : tuple of str
        Of the scale, from the lowest number to the highest, evenly spaced.
    limits : tuple of float
        The numbers at the ends of the scale.
    log : bool
        Whether colours follow the logarithm.
    ticks : tuple of (float, str)
        Places along the colour bar, from 0 to 1, and their labels.
    number_format : {".3g", "+.2f"}
    remark : str
        What else a reader must know, shown below the map and in saved pictures.
    people : tuple of int
        How many live in each county, by which the search box orders what it finds; () if unknown.
    """

    title: str
    numbers: NDArray[np.float64]
    marks: Sequence[str | None]
    notes: tuple[Sequence[str | None], ...]
    missing: str
    uncertain: NDArray[np.bool_]
    uncertain_means: str
    colors: tuple[str, ...]
    limits: tuple[float, float]
    log: bool
    ticks: tuple[tuple[float, str], ...]
    number_format: Literal[".3g", "+.2f"]
    remark: str
    people: tuple[int, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return what the browser reads; five digits of each number."""
        low, high = self.limits
        return {each.name: getattr(self, each.name) for each in fields(self)} | {
            "numbers": [
                float(f"{number:.5g}") if math.isfinite(number) else None
                for number in self.numbers.tolist()
            ],
            "uncertain": np.flatnonzero(self.uncertain).tolist(),
            "beyond": [bool((self.numbers < low).any()), bool((self.numbers > high).any())],
        }

    @property
    def svg(self) -> str:
        """The map by itself as SVG, without hatching and dots; a county's numbers are its title."""
        shapes = read_shapes()
        colors = plotly.colors.sample_colorscale(list(self.colors), np.linspace(0, 1, _LEVELS))
        low, high = self.limits
        numbers = np.where(np.isfinite(self.numbers), self.numbers, low).clip(low, high)
        ends = (np.log(each / low) if self.log else each - low for each in (numbers, high))
        level = np.round(np.divide(*ends) * (_LEVELS - 1)).astype(int)
        drawn = []
        for i, (path, name) in enumerate(
            zip(shapes["paths"], county_names().values(), strict=True)
        ):
            known = bool(np.isfinite(self.numbers[i]))
            value = f"{self.numbers[i]:{self.number_format}}" if known else self.missing
            lines = [name, f"{self.title}: {value}{self.marks[i] or ''}"]
            text = "\n".join([*lines, *filter(None, (lines[i] for lines in self.notes))])
            color = colors[level[i]] if known else "none"
            drawn.append(f'<path d="{path}" fill="{color}"><title>{escape(text)}</title></path>')
        return (
            f'<svg viewBox="0 0 {shapes["width"]} {shapes["height"]}" stroke="grey" '
            f'stroke-width="3" fill-rule="evenodd">{"".join(drawn)}</svg><p>{escape(self.title)}: '
            f"{_ramp(self)} {escape(self.remark)}</p>"
        )

    @cached_property
    def packed(self) -> str:
        """`to_json` as text for the way to the browser: JSON, deflated, in base64."""
        text = json.dumps(
            self.to_json(), separators=(",", ":"), ensure_ascii=False, allow_nan=False
        )
        return base64.b64encode(zlib.compress(text.encode())).decode()


def _ramp(picture: MapPicture) -> str:
    """Ends and colours of a scale, as HTML."""
    low, high = (f"{end:{picture.number_format}}" for end in picture.limits)
    colors = ",".join(picture.colors)
    bar = f"background:linear-gradient(to right,{colors});display:inline-block;padding:.4rem 7rem"
    return f'{low} <span style="{bar}"></span> {high}'


def county_map(
    values: pd.DataFrame,
    *,
    title: str,
    color: str = "value",
    mark: str | None = None,
    limits: tuple[float, float],
    hover: Sequence[str] = (),
    log: bool = False,
    colorscale: Colorscale = "cividis",
    missing: str = "no count",
    uncertain: str | None = None,
    uncertain_means: str = "uncertain",
    simulated: bool = False,
    people: str | None = None,
) -> MapPicture:
    """Return a picture of counties coloured by one number.

    Parameters
    ----------
    values : DataFrame
        One row per county: ``fips``, the 5-digit code as text, the column ``color`` and the
        columns of text named below. A county without a row, or whose number is missing or
        infinite, is hatched, and a code without a shape is not drawn.
    title : str
        What the numbers are and on which scale, e.g. "relative p (median entry = 1)".
    color : str
        The column of numbers; NaN where there is no estimate.
    mark : str, optional
        A column of text that follows the number; missing where there is none.
    limits : tuple of float
        The numbers at the ends of the colour scale, the first below the second. Numbers outside
        take the colour of the end. Give the same to two maps that are compared.
    hover : sequence of str
        Columns of text to show below the number, one line each; missing where there is none.
    log : bool
        Colour by the logarithm. Numbers must then be >= 0, limits > 0.
    colorscale : {"cividis", "viridis", "diverging"}
        The last for differences, which are written with their sign: its middle is 0; and for
        ratios, where log is set, with 1 in the middle.
    missing : str
        What to say of counties without a number.
    uncertain : str, optional
        A column of bool; counties where it is true are dotted.
    uncertain_means : str
        What the legend says of them; the words before a colon stand beside each number.
    simulated : bool
        Whether to say so below the map, and in saved pictures.
    people : str, optional
        A column of whole numbers: how many live there.
    """
    names = county_names()
    table = values.set_index("fips").reindex(list(names))
    numbers = table[color].to_numpy(dtype=float, na_value=np.nan)
    numbers = np.where(np.isfinite(numbers), numbers, np.nan)
    unsure = np.zeros(len(table), dtype=bool)
    if uncertain is not None:
        unsure = table[uncertain].eq(True).to_numpy() & np.isfinite(numbers)
    return MapPicture(
        title=title,
        numbers=numbers,
        marks=[None] * len(table) if mark is None else _lines(table[mark]),
        notes=tuple(_lines(table[column]) for column in hover),
        missing=missing,
        uncertain=unsure,
        uncertain_means=uncertain_means,
        colors=COLORS[colorscale],
        limits=limits,
        log=log,
        ticks=_ticks(*limits, log=log),
        number_format="+.2f" if colorscale == "diverging" and not log else ".3g",
        remark="Simulated counts." * simulated,
        people=() if people is None else tuple(table[people].fillna(0).astype(int).tolist()),
    )


def by_county(values: pd.DataFrame) -> pd.DataFrame:
    """Return values of counties and of whole states as a table for the county map.

    Parameters
    ----------
    values : DataFrame
        fips: five digits of a county, or the two of a state, which gives its value to each of its
        counties that has none. Of several rows with the same code the first counts.
    """
    first = values.drop_duplicates("fips")
    of_state = first["fips"].str.len() == _STATE
    counties = pd.DataFrame({"county": list(county_names())})
    counties["fips"] = counties["county"].str[:_STATE]
    spread = counties.merge(first[of_state], on="fips").drop(columns="fips")
    both = [first[~of_state], spread.rename(columns={"county": "fips"})]
    return pd.concat([each for each in both if len(each)]).drop_duplicates("fips")


def _lines(column: pd.Series) -> list[str | None]:
    return [None if pd.isna(line) else str(line) for line in column]


def _ticks(low: float, high: float, *, log: bool) -> tuple[tuple[float, str], ...]:
    """Return a few round numbers between the limits, and where they stand on the bar."""
    numbers = log_marks(low, high, most=_MOST_TICKS) if log else _even_numbers(low, high)
    at = np.log([low, high, *numbers]) if log else np.array([low, high, *numbers])
    places = ((at[2:] - at[0]) / (at[1] - at[0])).tolist()
    texts = [f"{number:,.3g}" if abs(number) < 1000 else f"{number:,.0f}" for number in numbers]
    return tuple(zip(places, texts, strict=True))


def _even_numbers(low: float, high: float) -> list[float]:
    step = 10.0 ** math.floor(math.log10(high - low))
    step = next(s * step for s in (0.1, 0.2, 0.5, 1, 2, 5) if (high - low) / (s * step) <= 6)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [multiple * step for multiple in range(first, last + 1)]


def log_marks(low: float, high: float, *, most: int) -> list[float]:
    """Return round numbers between two limits for a logarithmic axis, `most` of them at most.

    Even ones where the limits are so close that fewer than three of the others lie between.
    """
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for steps in ((1, 1.5, 2, 3, 5, 7), (1, 2, 5), (1, 3), (1,)):
        marks = [step * 10.0**power for power in powers for step in steps]
        inside = [mark for mark in marks if low <= mark <= high]
        if len(inside) <= most:
            break
    if len(inside) < 3:
        return _even_numbers(low, high)
    return inside[:: -(-len(inside) // most) or 1]
