"""The counties that have a shape, which the browser loads once. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

Box = tuple[int, ...]  # left, top, right, bottom of a part of the map; () for all of it
SHAPES_FILE = Path(__file__).parents[1] / "static" / "counties.json"


def read_shapes() -> dict[str, Any]:
    """Return what the browser loads: fips, county and state, paths of outlines, width, height."""
    shapes: dict[str, Any] = json.loads(SHAPES_FILE.read_text(encoding="utf-8"))
    return shapes


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
