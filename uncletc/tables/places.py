"""Tables of the levels of modes, with where they lie, as far as the file tells."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import polars as pl

from uncletc.common.validation import FloatArray, IntArray
from uncletc.tables.columns import Columns
from uncletc.tables.mode_levels import Levels
from uncletc.tables.values import numbers_of
from uncletc.tables.words import class_of, is_fips

_STATES = {
    "AL": ("01", "Alabama"), "AK": ("02", "Alaska"), "AZ": ("04", "Arizona"),
    "AR": ("05", "Arkansas"), "CA": ("06", "California"), "CO": ("08", "Colorado"),
    "CT": ("09", "Connecticut"), "DE": ("10", "Delaware"), "DC": ("11", "District of Columbia"),
    "FL": ("12", "Florida"), "GA": ("13", "Georgia"), "HI": ("15", "Hawaii"),
    "ID": ("16", "Idaho"), "IL": ("17", "Illinois"), "IN": ("18", "Indiana"), "IA": ("19", "Iowa"),
    "KS": ("20", "Kansas"), "KY": ("21", "Kentucky"), "LA": ("22", "Louisiana"),
    "ME": ("23", "Maine"), "MD": ("24", "Maryland"), "MA": ("25", "Massachusetts"),
    "MI": ("26", "Michigan"), "MN": ("27", "Minnesota"), "MS": ("28", "Mississippi"),
    "MO": ("29", "Missouri"), "MT": ("30", "Montana"), "NE": ("31", "Nebraska"),
    "NV": ("32", "Nevada"), "NH": ("33", "New Hampshire"), "NJ": ("34", "New Jersey"),
    "NM": ("35", "New Mexico"), "NY": ("36", "New York"), "NC": ("37", "North Carolina"),
    "ND": ("38", "North Dakota"), "OH": ("39", "Ohio"), "OK": ("40", "Oklahoma"),
    "OR": ("41", "Oregon"), "PA": ("42", "Pennsylvania"), "RI": ("44", "Rhode Island"),
    "SC": ("45", "South Carolina"), "SD": ("46", "South Dakota"), "TN": ("47", "Tennessee"),
    "TX": ("48", "Texas"), "UT": ("49", "Utah"), "VT": ("50", "Vermont"), "VA": ("51", "Virginia"),
    "WA": ("53", "Washington"), "WV": ("54", "West Virginia"), "WI": ("55", "Wisconsin"),
    "WY": ("56", "Wyoming"), "AS": ("60", "American Samoa"), "GU": ("66", "Guam"),
    "MP": ("69", "Northern Mariana Islands"), "PR": ("72", "Puerto Rico"),
    "VI": ("78", "Virgin Islands"),
}  # fmt: skip
_LEAST_STATES = 5


def mode_tables(
    levels: Sequence[Levels],
    indices: IntArray,
    counts: FloatArray,
    rows: IntArray,
    raw: pl.DataFrame,
    columns: Columns,
) -> tuple[dict[str, pd.DataFrame], list[str]]:
    """One row per level of each mode: rows with a count, their total, and where it lies.

    Parameters
    ----------
    levels : sequence of Levels
    indices : ndarray of int, shape (R, K)
    counts : ndarray, shape (R,)
        NaN where missing.
    rows : ndarray of int, shape (R,)
        The row of `raw` that each comes from.
    raw : polars.DataFrame
    columns : Columns
    """
    known = ~np.isnan(counts)
    tables, rules = {}, list[str]()
    for k, each in enumerate(levels):
        where, n = indices[known, k], len(each.labels)
        tables[each.name] = pd.DataFrame(
            {
                each.name: list(each.labels),
                "rows": np.bincount(where, minlength=n),
                "total": np.bincount(where, counts[known], n).astype(np.int64),
            }
        )
        codes = fips_of(each.name, each.labels)
        if codes is not None and each.name != "fips":
            tables[each.name]["fips"] = codes
    if columns.latitude and columns.longitude:
        rules += _degrees(tables, levels, indices, rows, raw, columns)
    return tables, rules


def fips_of(name: str, labels: Sequence[str]) -> list[str] | None:
    """FIPS codes of levels that are US states or counties, None where they are not."""
    if is_fips(name) and all(each.isdigit() and len(each) in (2, 5) for each in labels):
        return list(labels)
    if class_of(name) != "place":
        return None
    by_name = {full.lower(): code for code, full in _STATES.values()}
    by_letters = {letters: code for letters, (code, _) in _STATES.items()}
    found = [by_letters.get(each) or by_name.get(each.lower(), "") for each in labels]
    many = len(labels) >= _LEAST_STATES and sum(map(bool, found)) > 0.8 * len(labels)
    return found if many else None


def _degrees(
    tables: dict[str, pd.DataFrame],
    levels: Sequence[Levels],
    indices: IntArray,
    rows: IntArray,
    raw: pl.DataFrame,
    columns: Columns,
) -> list[str]:
    """Latitude and longitude for the levels of the first mode that they are constant in."""
    given = [str(columns.latitude), str(columns.longitude)]
    degrees = [numbers_of(raw.get_column(name))[rows] for name in given]
    known = ~np.isnan(degrees[0]) & ~np.isnan(degrees[1])
    if not known.any():
        return [f"{given[0]} and {given[1]} are empty."]
    spreads = []
    for k, each in enumerate(levels):
        n = len(each.labels)
        sizes = np.maximum(np.bincount(indices[known, k], minlength=n), 1)
        means = [np.bincount(indices[known, k], d[known], n) / sizes for d in degrees]
        off = max(
            float(np.abs(d[known] - m[indices[known, k]]).max())
            for d, m in zip(degrees, means, strict=True)
        )
        has = np.bincount(indices[known, k], minlength=n) > 0
        spreads.append((off, k, [np.where(has, m, np.nan) for m in means]))
    exact = [each for each in spreads if each[0] < 0.02]
    if not exact:
        return [
            f"{given[0]} and {given[1]} differ within the levels of every mode, so that none has a "
            "place of its own."
        ]
    _, k, means = exact[0]
    name = levels[k].name
    for title, values in zip(("latitude", "longitude"), means, strict=True):
        if title != name:
            tables[name][title] = values
    return [f"{given[0]} and {given[1]} say where the levels of {name} lie."]
