"""Simulated stand-ins for the two real data sets, with their truth.

They contain no real observation. They have the modes, tables and kinds of attributes of the real
sets, and roughly their share of missing entries and spread of counts; the truth is known exactly.
Use them to try the method, to teach, and to compare estimates with the truth.
``data/make_twins.py`` makes their files.
"""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import expit

from uncletc.counts import CountTensor
from uncletc.cp import rate_tensor
from uncletc.datasets.base import Dataset, DataUnavailableError, Provenance, Source
from uncletc.datasets.reading import every_day
from uncletc.saving import read_arrays
from uncletc.simulate import Truth
from uncletc.validation import FloatArray, IntArray

LEVELS = 255
"""Attributes are stored as whole numbers from 0 to this, so that p is exactly g of what is read."""

_Arrays = Mapping[str, NDArray[Any]]

_CENSUS = Source(
    name="US Census Bureau, cartographic boundary file of counties, 2016",
    url="https://www.census.gov/geographies/mapping-files/time-series/geo/carto-boundary-file.html",
    licence="public domain",
    used_for="names, FIPS codes, positions and land areas of counties; nothing else is real",
)


def load_covid_twin() -> Dataset:
    """Simulated reported cases by latitude, longitude and day.

    The counties' names and positions are real; everything else is drawn. 41 × 81 × 60 entries,
    21 % observed, and 15 attributes for every day of every cell that has a county, including
    cells left out of Ω.

    Returns
    -------
    Dataset
        ``counts`` sums the counties whose position, rounded to whole degrees, is the same.
        ``table`` has one row per county of the 50 states and DC: fips, county, state, latitude,
        longitude, population, latitude_index, longitude_index, cell, counties_in_cell, counted
        (whether its cell is in Ω), cases (its simulated reports over the 60 days, also where its
        cell is left out), tests_per_1000 (a day; follows p, and is not an attribute).
        ``truth.rate`` is a rank-6 tensor defined everywhere; ``truth.detection`` is NaN where no
        county lies, because no attributes exist there.

    Raises
    ------
    DataUnavailableError
        If the file is missing or damaged.
    """
    header, arrays = _read("covid_twin.npz")
    cells = arrays["cells"].astype(np.int64)
    days = pd.date_range(header["first_day"], periods=header["n_days"])
    factors = [arrays[f"factor_{mode}"].astype(np.float64) for mode in header["modes"]]
    shape = tuple(len(factor) for factor in factors)

    z = covid_attributes(arrays)
    attributed = every_day(cells, len(days))
    counted = np.repeat(arrays["counted"], len(days))
    counts = CountTensor(
        shape,
        attributed[counted],
        arrays["counts"].ravel()[counted],
        attributes=z,
        attribute_indices=attributed,
        modes=header["modes"],
        labels=(header["latitudes"], header["longitudes"], days.strftime("%Y-%m-%d").tolist()),
        attribute_names=header["attributes"],
        simulated=True,
    )
    detection = np.full(shape, np.nan)
    detection[tuple(attributed.T)] = detection_probability(z, arrays)
    return Dataset(
        name="covid-twin",
        title="Simulated COVID-19 cases by US county",
        counts=counts,
        table=_county_table(header, arrays),
        mode_tables={
            "latitude": pd.DataFrame({"degrees": header["latitudes"]}),
            "longitude": pd.DataFrame({"degrees": header["longitudes"]}),
            "day": pd.DataFrame({"date": days, "weekday": days.day_name()}),
        },
        provenance=Provenance(
            simulated=True,
            period=f"{days[0]:%Y-%m-%d} to {days[-1]:%Y-%m-%d}, simulated",
            sources=(_CENSUS,),
            rules=tuple(header["rules"]),
        ),
        truth=Truth(rate=rate_tensor(factors), detection=detection),
    )


def load_ppi_twin() -> Dataset:
    """Simulated plant–pollinator interactions by plant, pollinator and visit.

    50 × 50 × 18 entries, 29 % observed; all of them have attributes. No species is real.

    Returns
    -------
    Dataset
        ``table`` has one row per pair observed at least once: plant, pollinator, plant_index,
        pollinator_index, guild, interactions, visits_observed, visits_with_interactions.
        ``truth.rate`` is a rank-5 tensor; ``truth.detection`` is known everywhere.

    Raises
    ------
    DataUnavailableError
        If the file is missing or damaged.
    """
    header, arrays = _read("ppi_twin.npz")
    factors = [arrays[f"factor_{mode}"].astype(np.float64) for mode in header["modes"]]
    shape = tuple(len(factor) for factor in factors)
    plants, pollinators = header["plants"], header["pollinators"]

    z = ppi_attributes(arrays)
    counts = CountTensor(
        shape,
        arrays["indices"],
        arrays["counts"],
        attributes=z,
        attribute_indices=np.indices(shape).reshape(3, -1).T,
        modes=header["modes"],
        labels=(plants, pollinators, header["visits"]),
        attribute_names=header["attributes"],
        simulated=True,
    )
    guild = np.asarray(header["guilds"])[arrays["guild"]]
    return Dataset(
        name="ppi-twin",
        title="Simulated plant–pollinator interactions",
        counts=counts,
        table=_pair_table(counts, guild),
        mode_tables={
            "plant": pd.DataFrame({"plant": plants, "interactions": _totals(counts, 0)}),
            "pollinator": pd.DataFrame(
                {"pollinator": pollinators, "guild": guild, "interactions": _totals(counts, 1)}
            ),
            "visit": _visit_table(header),
        },
        provenance=Provenance(
            simulated=True,
            period="three summers of six visits, 2011 to 2013, simulated",
            sources=(),
            rules=tuple(header["rules"]),
        ),
        truth=Truth(
            rate=rate_tensor(factors), detection=detection_probability(z, arrays).reshape(shape)
        ),
    )


def detection_probability(z: FloatArray, network: _Arrays) -> FloatArray:
    """Evaluate the twins' true detection function.

    g(z) = sigmoid(b + Σ_h w_h tanh(c_h + Σ_d v_hd z_d))

    Parameters
    ----------
    z : ndarray, shape (n, D)
        Attributes, 0 to 1.
    network : mapping of str to ndarray
        ``hidden_weights`` v of shape (H, D), ``hidden_bias`` c of shape (H,), ``output_weights``
        w of shape (H,), and ``output_bias`` b of shape ().

    Returns
    -------
    ndarray, shape (n,)
        p in (0, 1).
    """
    hidden = np.tanh(z @ network["hidden_weights"].T + network["hidden_bias"])
    p: FloatArray = expit(hidden @ network["output_weights"] + network["output_bias"])
    return p


def _read(name: str) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    package = Path(__file__).parents[1]
    # An installed package carries the folder; a checkout keeps it beside the package.
    for folder in (package / "_data", package.parent / "data"):
        path = folder / name
        if path.is_file():
            break
    else:
        raise DataUnavailableError(
            f"{name} is missing from {package / '_data'}; reinstall uncletc, or run "
            f"data/make_twins.py in a checkout"
        )
    try:
        return read_arrays(path)
    except (OSError, EOFError, KeyError, ValueError, zipfile.BadZipFile, zlib.error) as error:
        raise DataUnavailableError(
            f"{path} cannot be read ({error}); reinstall uncletc, or run data/make_twins.py in a "
            f"checkout"
        ) from error


def covid_attributes(arrays: _Arrays) -> FloatArray:
    """Join the attributes that are fixed per cell, change daily, or are the same everywhere.

    Parameters
    ----------
    arrays : mapping of str to ndarray of uint8
        ``fixed_levels`` of shape (C, 10), ``daily_levels`` (C, 60, 4), ``calendar_levels`` (60, 1).

    Returns
    -------
    ndarray of float, shape (60 C, 15)
        z, 0 to 1, day fastest.
    """
    n_cells, n_days, _ = arrays["daily_levels"].shape
    levels = np.concatenate(
        [
            np.repeat(arrays["fixed_levels"], n_days, axis=0),
            arrays["daily_levels"].reshape(n_cells * n_days, -1),
            np.tile(arrays["calendar_levels"], (n_cells, 1)),
        ],
        axis=1,
    )
    z: FloatArray = levels / LEVELS
    return z


def ppi_attributes(arrays: _Arrays) -> FloatArray:
    """Spread the attributes of watches and the pollinators' guilds over all entries.

    Parameters
    ----------
    arrays : mapping of str to ndarray of uint8
        ``watch_levels`` of shape (50, 18, 6), per plant and visit, and ``guild``, (50,), the
        number of each pollinator's guild.

    Returns
    -------
    ndarray of float, shape (50 · 50 · 18, 11)
        z, 0 to 1, visit fastest.
    """
    watch = arrays["watch_levels"][:, np.newaxis] / LEVELS
    guild = np.eye(int(arrays["guild"].max()) + 1)[arrays["guild"]][:, np.newaxis]
    shape = (len(watch), len(guild), watch.shape[2])
    z = np.concatenate(
        [np.broadcast_to(part, (*shape, part.shape[-1])) for part in (watch, guild)], axis=3
    )
    return z.reshape(-1, z.shape[-1])


def _county_table(header: Mapping[str, Any], arrays: _Arrays) -> pd.DataFrame:
    cell = arrays["county_cell"].astype(np.int64)
    row, column = arrays["cells"].astype(np.int64)[cell].T
    names = [
        f"{header['latitudes'][i]}°, {header['longitudes'][j]}°"
        for i, j in zip(row.tolist(), column.tolist(), strict=True)
    ]
    return pd.DataFrame(
        {
            "fips": arrays["county_fips"].astype(str),
            "county": arrays["county_name"].astype(str),
            "state": np.asarray(header["states"])[arrays["county_state"]],
            "latitude": arrays["county_latitude"],
            "longitude": arrays["county_longitude"],
            "population": arrays["county_population"].astype(np.int64),
            "latitude_index": row,
            "longitude_index": column,
            "cell": names,
            "counties_in_cell": np.bincount(cell)[cell],
            "counted": arrays["counted"][cell],
            "cases": arrays["county_cases"].astype(np.int64),
            "tests_per_1000": arrays["county_tests"].astype(np.float64),
        }
    )


def _pair_table(counts: CountTensor, guild: NDArray[np.str_]) -> pd.DataFrame:
    plant, pollinator, _ = counts.indices.T
    entries = pd.DataFrame(
        {
            "plant_index": plant,
            "pollinator_index": pollinator,
            "count": counts.counts,
            "positive": counts.counts > 0,
        }
    )
    pairs = (
        entries.groupby(["plant_index", "pollinator_index"])
        .agg(
            interactions=("count", "sum"),
            visits_observed=("count", "size"),
            visits_with_interactions=("positive", "sum"),
        )
        .reset_index()
    )
    pairs.insert(0, "plant", np.asarray(counts.labels[0])[pairs["plant_index"]])
    pairs.insert(1, "pollinator", np.asarray(counts.labels[1])[pairs["pollinator_index"]])
    pairs.insert(4, "guild", guild[pairs["pollinator_index"]])
    return pairs


def _visit_table(header: Mapping[str, Any]) -> pd.DataFrame:
    first = pd.to_datetime(header["first_dates"])
    return pd.DataFrame(
        {
            "label": header["visits"],
            "year": [int(label.split("-")[0]) for label in header["visits"]],
            "number": [int(label.split("-")[1]) for label in header["visits"]],
            "first_date": first,
            "last_date": pd.to_datetime(header["last_dates"]),
            "month": first.month.astype(np.int64),
        }
    )


def _totals(counts: CountTensor, mode: int) -> IntArray:
    totals = np.zeros(counts.shape[mode], dtype=np.int64)
    np.add.at(totals, counts.indices[:, mode], counts.counts)
    return totals
