"""Simulated stand-ins for the two real data sets, with their truth.

They contain no real observation. They have the modes, tables and kinds of attributes of the real
sets, and roughly their share of missing entries and spread of counts; attributes have roles, places
and visits have effects, and the truth is known exactly. Use them to try the method, to teach, and
to compare estimates with the truth. ``data/make_twins.py`` makes their files.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy
from numpy.typing import NDArray
from scipy.special import expit

from uncletc.common.serialization import read_arrays
from uncletc.common.validation import FloatArray, IntArray
from uncletc.data.counts import CountTensor
from uncletc.data.roles import Roles
from uncletc.data.simulate import Truth
from uncletc.datasets import covid_files, ppi
from uncletc.datasets.base import AttributeInfo, Dataset, facts
from uncletc.datasets.covid import covid_groups, covid_mode_tables, every_day, largest_counties
from uncletc.model.cp import rate_tensor

LEVELS = 255
"""Attributes are stored as whole numbers from 0 to this, so that p is exactly g of what is read."""

Arrays = Mapping[str, NDArray[Any]]

_COVID, _PPI = facts("covid-twin"), facts("ppi-twin")


def detection_probability(z: FloatArray, network: Arrays) -> FloatArray:
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
    return np.asarray(expit(hidden @ network["output_weights"] + network["output_bias"]))


def read_twin(name: str) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Read the header and the arrays of a twin's file."""
    package = Path(__file__).parents[1]
    # An installed package carries the folder; a checkout keeps it beside the package.
    folder = package / "_data" if (package / "_data").exists() else package.parent / "data"
    return read_arrays(folder / name)


def _simulated_info(
    names: Iterable[str], known: Mapping[str, AttributeInfo]
) -> dict[str, AttributeInfo]:
    """Return what simulated attributes are: values without a unit, of what real ones would be."""
    found = {}
    for name in names:
        about = known.get(name, AttributeInfo())
        words = about.explanation and f"Simulated to resemble: {about.explanation}"
        unit = "" if about.levels else "simulated; 0: smallest, 1: largest"
        found[name] = AttributeInfo(words, unit, levels=about.levels, cumulative=about.cumulative)
    return found


def load_covid_twin() -> Dataset:
    """Simulated reported cases by latitude, longitude and day, and deaths.

    The counties' names and positions are real; everything else is drawn. 41 × 81 × 60 entries,
    21 % observed, and 15 attributes for every day of every cell that has a county, including
    cells left out of Ω.

    Returns
    -------
    Dataset
        ``counts`` sums the counties whose position, rounded to whole degrees, is the same; their
        exposure is the people of a cell, their groups are those of real cases.
        ``table`` has one row per county of the 50 states and DC: fips, county, state, latitude,
        longitude, population, latitude_index, longitude_index, cell, counties_in_cell, counted
        (whether its cell is in Ω), cases (its simulated reports over the 60 days, also where its
        cell is left out), tests_per_1000 (a day; follows p, and is not an attribute).
        ``roles`` and ``effects`` are those that the counts were drawn with, ``deaths`` a second
        observation process. ``truth`` is NaN where no county lies: no attributes exist there.
    """
    return covid_twin(*read_twin("covid_twin.npz"))


def covid_twin(header: Mapping[str, Any], arrays: Arrays) -> Dataset:
    """Build the data set from what its file holds."""
    cells = arrays["cells"].astype(np.int64)
    days = pd.date_range(header["first_day"], periods=header["n_days"])
    degrees = header["latitudes"], header["longitudes"]
    shape = (*map(len, degrees), len(days))
    table = _county_table(header, arrays)
    state = pd.Index(header["states"]).get_indexer(largest_counties(table)["state"])

    z = covid_attributes(arrays)
    attributed = every_day(cells, len(days))
    counted = np.repeat(arrays["counted"], len(days))
    people = np.bincount(arrays["county_cell"], arrays["county_population"]).astype(np.float64)
    exposure = np.zeros((*shape[:2], 1))
    exposure[cells[:, 0], cells[:, 1], 0] = people
    counts = CountTensor(
        shape,
        attributed[counted],
        arrays["counts"].ravel()[counted],
        attributes=z,
        attribute_indices=attributed,
        modes=header["modes"],
        labels=(*degrees, days),
        attribute_names=header["attributes"],
        exposure=exposure,
        simulated=True,
    )

    def everywhere(values: FloatArray) -> FloatArray:
        dense = np.full(shape, np.nan)
        dense[tuple(attributed.T)] = values.ravel()
        return dense

    weekday, day = _of(arrays, "reporting", ("weekday", "day"))
    calendar = weekday[:, np.asarray(days.day_of_week)] * day
    return Dataset(
        name="covid-twin",
        title=_COVID.title,
        counts=counts.with_groups(*covid_groups(table, degrees, days)),
        table=table,
        county_counts=_county_counts(arrays),
        mode_tables=covid_mode_tables(degrees, days),
        provenance=_COVID.provenance(
            f"{days[0]:%Y-%m-%d} to {days[-1]:%Y-%m-%d}, simulated", header["rules"], simulated=True
        ),
        truth=Truth(
            rate=everywhere(covid_rate(z, people, arrays)),
            detection=everywhere(detection_probability(z, arrays)),
            reporting=everywhere(calendar[state]),
        ),
        roles=Roles(
            role for role in covid_files.FACTS.roles if role.attribute in header["attributes"]
        ),
        effects=_COVID.effects,
        attribute_info=_simulated_info(header["attributes"], covid_files.FACTS.attributes),
        deaths=_deaths(arrays),
    )


def covid_rate(z: FloatArray, people: FloatArray, arrays: Arrays) -> FloatArray:
    """Evaluate the true λ of every cell and day.

    people · exp(zᵀβ + level of the place + wave of the region) · Σ_f U_1 U_2 U_3

    Parameters
    ----------
    z : ndarray, shape (60 C, D)
        Attributes, 0 to 1, day fastest.
    people : ndarray, shape (C,)
    arrays : mapping of str to ndarray
        ``rate_slopes`` β of shape (D,), ``effect_place`` (C,), ``effect_region_day`` (C, 60),
        ``cells`` (C, 2), and the factors U, ``factor_latitude``, ``factor_longitude`` and
        ``factor_day``.

    Returns
    -------
    ndarray, shape (C, 60)
    """
    row, column = arrays["cells"].astype(np.int64).T
    waves = arrays["effect_region_day"].astype(np.float64)
    logs = (z @ arrays["rate_slopes"]).reshape(waves.shape) + waves
    logs += arrays["effect_place"].astype(np.float64)[:, None]
    u, v, w = _of(arrays, "factor", ("latitude", "longitude", "day"))
    return np.asarray(people[:, None] * np.exp(logs) * ((u[row] * v[column]) @ w.T))


def covid_attributes(arrays: Arrays) -> FloatArray:
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
    return np.asarray(levels / LEVELS)


def _county_table(header: Mapping[str, Any], arrays: Arrays) -> pd.DataFrame:
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


def _county_counts(arrays: Arrays) -> FloatArray:
    """Divide the counts of cells by day among their counties at random; (counties, days).

    Totals of counties over the days, and of cells on each day, are those of the file.
    """
    rng = np.random.default_rng(0)
    cases, of_cells = arrays["county_cases"].astype(np.int64), arrays["counts"].astype(np.int64)
    divided = np.zeros((len(cases), of_cells.shape[1]))
    for cell, daily in enumerate(of_cells):
        counties = np.flatnonzero(arrays["county_cell"] == cell)
        divided[counties] = scipy.stats.random_table(cases[counties], daily).rvs(
            method="boyett",  # the other one loses counts of tables with a single row
            random_state=rng,
        )
    return divided


def _deaths(arrays: Arrays) -> pd.DataFrame:
    """Deaths of counted cells by day of report, with the stated fatality."""
    counted = arrays["counted"]
    cells, deaths = arrays["cells"][counted].astype(np.int64), arrays["deaths"][counted]
    n_days = deaths.shape[1]
    latitude, longitude, day = every_day(cells, n_days).T
    return pd.DataFrame(
        {
            "latitude_index": latitude,
            "longitude_index": longitude,
            "day": day,
            "deaths": deaths.ravel().astype(np.int64),
            "ifr": np.repeat(arrays["fatality"][counted].astype(np.float64), n_days),
        }
    )


def load_ppi_twin() -> Dataset:
    """Simulated plant–pollinator interactions by plant, pollinator and visit.

    50 × 50 × 18 entries, 29 % observed; all of them have attributes. No species is real.

    Returns
    -------
    Dataset
        ``table`` has one row per pair observed at least once: plant, pollinator, plant_index,
        pollinator_index, guild, interactions, visits_observed, visits_with_interactions.
        ``roles`` and ``effects`` are those that the counts were drawn with, and ``truth`` is known
        everywhere.
    """
    return ppi_twin(*read_twin("ppi_twin.npz"))


def ppi_twin(header: Mapping[str, Any], arrays: Arrays) -> Dataset:
    """Build the data set from what its file holds."""
    shape = tuple(len(arrays[f"factor_{mode}"]) for mode in header["modes"])
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
    visits = _visit_table(header)
    guild = np.asarray(header["guilds"])[arrays["guild"]]
    return Dataset(
        name="ppi-twin",
        title=_PPI.title,
        counts=counts.with_groups(ppi.visits_in_time(visits)),
        table=ppi.pair_table(counts, guild),
        mode_tables={
            "plant": pd.DataFrame({"plant": plants, "interactions": _totals(counts, 0)}),
            "pollinator": pd.DataFrame(
                {"pollinator": pollinators, "guild": guild, "interactions": _totals(counts, 1)}
            ),
            "visit": visits,
        },
        provenance=_PPI.provenance(
            "three summers of six visits, 2011 to 2013, simulated", header["rules"], simulated=True
        ),
        truth=Truth(
            rate=ppi_rate(z, arrays), detection=detection_probability(z, arrays).reshape(shape)
        ),
        roles=ppi.plant_roles(header["attributes"]),
        effects=_PPI.effects,
        attribute_info=_simulated_info(header["attributes"], ppi.FACTS.attributes),
    )


def ppi_rate(z: FloatArray, arrays: Arrays) -> FloatArray:
    """Evaluate the true λ of every plant, pollinator and visit.

    exp(zᵀβ + levels of plant, pollinator, visit and pair + course of pollinators) · Σ_f U_1 U_2 U_3

    Parameters
    ----------
    z : ndarray, shape (50 · 50 · 18, D)
        Attributes, 0 to 1, visit fastest.
    arrays : mapping of str to ndarray
        ``rate_slopes`` β of shape (D,); ``effect_plant`` (50,), ``effect_pollinator`` (50,),
        ``effect_visit`` (18,), ``effect_pair`` (50, 50), ``effect_course`` (50, 18); and the
        factors U, ``factor_plant``, ``factor_pollinator`` and ``factor_visit``.

    Returns
    -------
    ndarray, shape (50, 50, 18)
    """
    modes = ("plant", "pollinator", "visit")
    product = rate_tensor(_of(arrays, "factor", modes))
    logs = (z @ arrays["rate_slopes"]).reshape(product.shape)
    plant, pollinator, visit, pair, course = _of(arrays, "effect", (*modes, "pair", "course"))
    logs += plant[:, None, None] + pollinator[None, :, None] + visit[None, None]
    return np.asarray(product * np.exp(logs + pair[:, :, None] + course[None]))


def ppi_attributes(arrays: Arrays) -> FloatArray:
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


def _of(arrays: Arrays, stem: str, names: tuple[str, ...]) -> list[FloatArray]:
    """The arrays of these names behind a stem, in double precision."""
    return [arrays[f"{stem}_{name}"].astype(np.float64) for name in names]


def _totals(counts: CountTensor, mode: int) -> IntArray:
    totals = np.bincount(counts.indices[:, mode], counts.counts, counts.shape[mode])
    return totals.astype(np.int64)
