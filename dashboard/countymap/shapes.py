"""The counties that have a shape, which the browser loads once. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType

SHAPES_FILE = Path(__file__).parents[1] / "static" / "counties.json"


@cache
def county_names() -> Mapping[str, str]:
    """Return the name of every county that has a shape: FIPS code → "Baltimore city, MD"."""
    shapes = json.loads(SHAPES_FILE.read_text(encoding="utf-8"))
    rows = zip(shapes["fips"], shapes["county"], shapes["state"], strict=True)
    return MappingProxyType({fips: f"{county}, {state}" for fips, county, state in rows})
