"""The counties that have a shape, which the browser loads once. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

SHAPES_FILE = Path(__file__).parents[1] / "static" / "counties.json"


def read_shapes() -> dict[str, Any]:
    """Return what the browser loads: fips, county and state, paths of outlines, width, height."""
    shapes: dict[str, Any] = json.loads(SHAPES_FILE.read_text(encoding="utf-8"))
    return shapes


@cache
def county_names() -> Mapping[str, str]:
    """Return the name of every county that has a shape: FIPS code → "Baltimore city, MD"."""
    shapes = read_shapes()
    rows = zip(shapes["fips"], shapes["county"], shapes["state"], strict=True)
    return MappingProxyType({fips: f"{county}, {state}" for fips, county, state in rows})
