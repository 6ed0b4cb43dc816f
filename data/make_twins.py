"""Make the simulated twins of the two real data sets, with their truth.

Run ``python data/make_twins.py`` where uncletc is installed; the same package versions write the
same content. No real observation enters: the counties' names, positions and land areas come from
``data/county_centroids.csv`` (Census Bureau, public domain), everything else is drawn here. The
constants were set by hand so that the size of the tensors, the share observed, and the mean,
spread, maximum and share of zeros of the counts come near those of the real data.

It writes ``covid_twin.npz`` and ``ppi_twin.npz``. Attributes are rounded to 256 levels and factors
to float32 before anything is computed from them, so that what is stored states the truth exactly.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import expit

from uncletc.datasets.twins import (
    LEVELS,
    covid_attributes,
    detection_probability,
    ppi_attributes,
)

HERE = Path(__file__).resolve().parent
SEED = 2021
Array = NDArray[Any]

# --- detection ---------------------------------------------------------------------------------


class Unit(NamedTuple):
    """One term w·tanh(c + Σ v·z) of the logit of p; attributes lie in 0..1."""

    weight: float
    bias: float
    slopes: dict[str, float]


def network(units: tuple[Unit, ...], bias: float, attributes: tuple[str, ...]) -> dict[str, Array]:
    """Write ``units`` as the weights of a network with one hidden layer."""
    hidden = [[unit.slopes.get(name, 0.0) for name in attributes] for unit in units]
    return {
        "hidden_weights": np.array(hidden),
        "hidden_bias": np.array([unit.bias for unit in units]),
        "output_weights": np.array([unit.weight for unit in units]),
        "output_bias": np.array(bias),
    }


def to_levels(values: Array, axis: int | tuple[int, ...]) -> Array:
    """Min-max scale over ``axis`` and round to the stored levels."""
    low, high = values.min(axis=axis, keepdims=True), values.max(axis=axis, keepdims=True)
    return np.rint(LEVELS * (values - low) / (high - low)).astype(np.uint8)


def as_stored(factor: Array) -> Array:
    """Round to what float32 can hold, kept as float64 for computing with it."""
    return factor.astype(np.float32).astype(np.float64)


def reported(rate: Array, p: Array, rng: np.random.Generator) -> Array:
    """Draw y ~ Binomial(n, p), n ~ Poisson(λ)."""
    return rng.binomial(rng.poisson(rate), p).astype(np.uint32)


# --- COVID-19 ----------------------------------------------------------------------------------

FIRST_DAY, N_DAYS = "2021-01-01", 60
LEFT_OUT = 128  # cells that have attributes but no count


class Wave(NamedTuple):
    """One component of λ: where it is strong, and how the winter wave passes through it."""

    cases: float  # a day, summed over all counties, if λ had this component only
    latitude: float
    latitude_width: float
    longitude: float
    longitude_width: float
    turn: float  # day on which half of the fall is over
    fall_days: float
    end: float  # share of the peak that is left in the end
    return_day: float  # a second, smaller wave
    return_height: float


WAVES = (
    Wave(34e3, 41.0, 1.6, -75.0, 3.0, 28, 6.0, 0.35, 52, 0.25),  # Northeast
    Wave(32e3, 34.0, 2.5, -83.0, 4.0, 20, 5.0, 0.20, 40, 0.05),  # South-East
    Wave(24e3, 41.0, 2.0, -87.0, 4.0, 12, 7.0, 0.15, 58, 0.20),  # Great Lakes
    Wave(26e3, 31.0, 2.5, -97.0, 3.0, 25, 5.0, 0.15, 48, 0.30),  # Texas and the plains
    Wave(34e3, 35.0, 1.8, -118.0, 1.5, 18, 4.0, 0.08, 45, 0.02),  # West coast
    Wave(15e3, 39.0, 6.0, -100.0, 18.0, 14, 9.0, 0.25, 30, 0.10),  # everywhere
)
SPREAD = 0.85  # standard deviation of the logarithm of a factor within a wave

FIXED = (
    "% older than 60",
    "median income",
    "% African American",
    "% Hispanic",
    "unemployment rate",
    "% rural",
    "population density",
    "transit mode share",
    "working from home",
    "hospital beds/1000",
)
DAILY = ("unemployment claims/1000", "testing gap", "% staying home", "miles/person")
COVID_ATTRIBUTES = (*FIXED, *DAILY, "weekend")
COVID_UNITS = (
    Unit(-0.59, -2.2, {"testing gap": 5.0}),
    Unit(-0.24, -3.6, {"testing gap": 4.0, "% rural": 3.0}),
    Unit(-0.38, -3.2, {"weekend": 2.4, "% rural": 2.6}),
    Unit(0.30, -1.8, {"median income": 4.0}),
    Unit(-0.27, -2.0, {"% African American": 2.5, "% Hispanic": 2.5, "unemployment rate": 2.0}),
    Unit(0.27, -2.2, {"hospital beds/1000": 4.5, "transit mode share": 2.0}),
    Unit(-0.22, -2.5, {"miles/person": 4.0, "% older than 60": 2.0}),
    Unit(0.19, -2.5, {"% staying home": 5.0}),
    Unit(0.16, -2.0, {"working from home": 4.0}),
    Unit(-0.14, -1.5, {"unemployment claims/1000": 4.0}),
    Unit(-0.16, -5.0, {"population density": 8.0}),
)
COVID_BIAS = -0.68
COVID_RULES = (
    "Everything but the names, positions and land areas of counties is simulated.",
    "The expected true counts λ are a tensor of rank 6, smooth over the days, of cells of one "
    "degree by one; a cell holds the counties whose latitude and longitude round to it.",
    "True counts are Poisson(λ); reported ones are Binomial(true count, p), independently.",
    "p is a function of the cell's and day's attributes, stated with the data.",
    f"{LEFT_OUT} of the cells that have counties, small ones rather than large, are left out of "
    "Ω; their attributes are known, and their simulated reports stand in the county table only.",
    "A county's reports are a random part of its cell's, in proportion to its population.",
    "Populations follow the cell's true counts and are at least 90 for each county.",
    "Population density is on the logarithmic scale; every attribute is min-max scaled to 0..1.",
    "Tests per 1000 people, for display only, rise with the cell's mean p.",
)

# fmt: off
STATES = {
    "AL": "Alabama", "AK": "Alaska", "AZ": "Arizona", "AR": "Arkansas", "CA": "California",
    "CO": "Colorado", "CT": "Connecticut", "DE": "Delaware", "DC": "District of Columbia",
    "FL": "Florida", "GA": "Georgia", "HI": "Hawaii", "ID": "Idaho", "IL": "Illinois",
    "IN": "Indiana", "IA": "Iowa", "KS": "Kansas", "KY": "Kentucky", "LA": "Louisiana",
    "ME": "Maine", "MD": "Maryland", "MA": "Massachusetts", "MI": "Michigan", "MN": "Minnesota",
    "MS": "Mississippi", "MO": "Missouri", "MT": "Montana", "NE": "Nebraska", "NV": "Nevada",
    "NH": "New Hampshire", "NJ": "New Jersey", "NM": "New Mexico", "NY": "New York",
    "NC": "North Carolina", "ND": "North Dakota", "OH": "Ohio", "OK": "Oklahoma",
    "OR": "Oregon", "PA": "Pennsylvania", "RI": "Rhode Island", "SC": "South Carolina",
    "SD": "South Dakota", "TN": "Tennessee", "TX": "Texas", "UT": "Utah", "VT": "Vermont",
    "VA": "Virginia", "WA": "Washington", "WV": "West Virginia", "WI": "Wisconsin",
    "WY": "Wyoming",
}
# fmt: on


def make_covid(folder: Path) -> None:
    """Draw the COVID-19 twin and write it."""
    rng = np.random.default_rng([SEED, 1])
    counties = pd.read_csv(
        HERE / "county_centroids.csv", dtype={"fips": str}, keep_default_na=False
    )
    degrees = counties[["latitude", "longitude"]].round().astype(int).to_numpy()
    cells, cell_of = np.unique(degrees, axis=0, return_inverse=True)
    axes = [np.unique(cells[:, 0]), np.unique(cells[:, 1])]
    places = np.column_stack([np.searchsorted(axes[mode], cells[:, mode]) for mode in (0, 1)])

    factors = wave_factors(axes, places, rng)
    rate = np.einsum("cf,cf,tf->ct", factors[0][places[:, 0]], factors[1][places[:, 1]], factors[2])
    population = draw_populations(rate.sum(axis=1), cell_of, rng)
    people = np.bincount(cell_of, population)
    density = np.log(people / np.bincount(cell_of, counties["land_km2"]))

    days = pd.date_range(FIRST_DAY, periods=N_DAYS)
    weekend = np.asarray(days.day_of_week >= 5, dtype=float)
    fixed, traits = fixed_attributes(cells, density, rng)
    daily = daily_attributes(traits, weekend, cells, rng)
    levels = {
        "fixed_levels": to_levels(fixed, axis=0),
        "daily_levels": to_levels(daily, axis=(0, 1)),
        "calendar_levels": to_levels(weekend[:, None], axis=0),
    }
    g = network(COVID_UNITS, COVID_BIAS, COVID_ATTRIBUTES)
    p = detection_probability(covid_attributes(levels), g).reshape(rate.shape)
    counts = reported(rate, p, rng)

    counted = choose_counted(places, people, rng)
    state_names = sorted(STATES.values())
    state = counties["state"].map(STATES)
    tests = 1.5 * np.exp(2.5 * (p.mean(axis=1) - p.mean())[cell_of])
    header = {
        "modes": ["latitude", "longitude", "day"],
        "latitudes": axes[0].tolist(),
        "longitudes": axes[1].tolist(),
        "first_day": FIRST_DAY,
        "n_days": N_DAYS,
        "attributes": COVID_ATTRIBUTES,
        "states": state_names,
        "rules": COVID_RULES,
    }
    arrays = {
        "factor_latitude": factors[0].astype(np.float32),
        "factor_longitude": factors[1].astype(np.float32),
        "factor_day": factors[2].astype(np.float32),
        "cells": places.astype(np.uint8),
        "counted": counted,
        "counts": counts,
        **levels,
        **g,
        "county_fips": counties["fips"].to_numpy(dtype="U5"),
        "county_name": counties["county"].to_numpy(dtype=np.str_),
        "county_state": np.searchsorted(state_names, state).astype(np.uint8),
        "county_latitude": counties["latitude"].to_numpy(),
        "county_longitude": counties["longitude"].to_numpy(),
        "county_cell": cell_of.astype(np.uint16),
        "county_population": population,
        "county_cases": split_cases(counts.sum(axis=1), population, cell_of, rng),
        "county_tests": np.round(tests * np.exp(0.25 * rng.standard_normal(len(tests))), 2),
    }
    write(folder / "covid_twin.npz", header, arrays)
    describe("covid", counts[counted], p)


def wave_factors(axes: list[Array], places: Array, rng: np.random.Generator) -> list[Array]:
    """Draw U_1, U_2 and U_3, each (I_k, 6)."""
    day = np.arange(N_DAYS)
    u = [np.empty((size, len(WAVES))) for size in (len(axes[0]), len(axes[1]), N_DAYS)]
    for f, wave in enumerate(WAVES):
        for mode, centre, width in (
            (0, wave.latitude, wave.latitude_width),
            (1, wave.longitude, wave.longitude_width),
        ):
            distance = (axes[mode] - centre) / width
            bump = (1 + distance**2) ** -2.4
            u[mode][:, f] = bump * np.exp(SPREAD * smooth_noise(len(bump), rng))
        fall = wave.end + (1 - wave.end) * expit((wave.turn - day) / wave.fall_days)
        u[2][:, f] = fall + wave.return_height * np.exp(-(((day - wave.return_day) / 7) ** 2))
        u[2][:, f] /= u[2][:, f].mean()
        total = np.sum(u[0][places[:, 0], f] * u[1][places[:, 1], f])
        u[0][:, f] *= np.sqrt(wave.cases / total)
        u[1][:, f] *= np.sqrt(wave.cases / total)
    return [as_stored(factor) for factor in u]


def smooth_noise(n: int, rng: np.random.Generator) -> Array:
    """Draw n values with variance 1 and a correlation of .6 between neighbours."""
    white = rng.standard_normal(n + 2)
    kernel = np.array([0.4, 1.0, 0.4])
    return np.convolve(white, kernel / np.linalg.norm(kernel), mode="valid")


def draw_populations(cases: Array, cell_of: Array, rng: np.random.Generator) -> Array:
    """Draw the counties' populations such that about 3 % of a cell's people are true cases."""
    share = rng.lognormal(0.0, 1.0, len(cell_of))
    share /= np.bincount(cell_of, share)[cell_of]
    attack_rate = 0.031 * np.exp(0.25 * rng.standard_normal(len(cases)))
    people = (cases / attack_rate)[cell_of] * share
    return np.maximum(people, 90 + 400 * rng.random(len(cell_of))).astype(np.int32)


def field(cells: Array, rng: np.random.Generator, degrees: float = 8.0) -> Array:
    """Draw a smooth random surface at the cells, features about ``degrees`` wide."""
    waves = rng.standard_normal((2, 40)) / degrees
    return np.cos(cells @ waves + rng.uniform(0, 2 * np.pi, 40)).sum(axis=1) / np.sqrt(20)


def fixed_attributes(
    cells: Array, density: Array, rng: np.random.Generator
) -> tuple[Array, dict[str, Array]]:
    """Draw the attributes that do not change, (C, 10), and the traits that daily ones follow."""
    urban = (density - density.mean()) / density.std()
    south = expit((37 - cells[:, 0]) / 2) * expit((cells[:, 1] + 97) / 3)
    south_west = expit((38 - cells[:, 0]) / 2) * expit((-97 - cells[:, 1]) / 4)

    def noise() -> Array:
        return rng.standard_normal(len(cells))

    income = 0.5 * urban + 0.5 * field(cells, rng) + 0.7 * noise()
    jobless = -0.5 * income + 0.4 * field(cells, rng) + 0.6 * noise()
    columns = {
        "% older than 60": -0.5 * urban + 0.8 * noise(),
        "median income": np.exp(0.25 * income),
        "% African American": expit(3.5 * south + 0.8 * noise() - 3),
        "% Hispanic": expit(3.5 * south_west + 0.3 * urban + 0.8 * noise() - 3),
        "unemployment rate": np.exp(0.3 * jobless),
        "% rural": expit(-1.6 * urban + 0.9 * noise()),
        "population density": density,
        "transit mode share": np.exp(0.5 * urban + 0.4 * noise()),
        "working from home": 0.6 * income + 0.4 * urban + 0.5 * noise(),
        "hospital beds/1000": np.exp(0.4 * noise() + 0.1 * urban),
    }
    traits = {"urban": urban, "income": income, "jobless": jobless}
    return np.column_stack([columns[name] for name in FIXED]), traits


def daily_attributes(
    traits: dict[str, Array], weekend: Array, cells: Array, rng: np.random.Generator
) -> Array:
    """Draw the attributes that change by day, (C, 60, 4)."""
    day = np.arange(N_DAYS)
    n = len(cells)
    urban, income, jobless = (traits[name][:, None] for name in ("urban", "income", "jobless"))
    ease = (day / N_DAYS)[None, :]
    place = [field(cells, rng)[:, None] for _ in range(4)]
    phase = field(cells, rng, degrees=5.0)[:, None]
    by_week = np.repeat(rng.standard_normal((n, N_DAYS // 7 + 1)), 7, axis=1)[:, :N_DAYS]
    claims = np.exp(0.4 * jobless + 0.3 * place[0] - 0.4 * ease + 0.15 * by_week)
    gap = (
        0.5 * jobless
        + 0.6 * place[1]
        + 0.8 * np.sin(day / 9 + 2 * phase)
        - 1.2 * ease
        + 0.6 * persistent_noise(n, rng)
    )
    wander = persistent_noise(n, rng)
    home = 0.4 * urban + 0.4 * income + 0.6 * weekend - 0.8 * ease + 0.4 * place[2] - 0.4 * wander
    miles = -0.5 * urban - 0.5 * weekend + 0.7 * ease + 0.4 * place[3] + 0.6 * wander
    home = home + 0.3 * rng.standard_normal((n, N_DAYS))
    return np.stack([claims, gap, home, miles], axis=2)


def persistent_noise(n: int, rng: np.random.Generator) -> Array:
    """Draw n series over the days, variance 1, with a correlation of .8 from day to day."""
    series = rng.standard_normal((n, N_DAYS))
    for t in range(1, N_DAYS):
        series[:, t] = 0.8 * series[:, t - 1] + 0.6 * series[:, t]
    return series


def choose_counted(places: Array, people: Array, rng: np.random.Generator) -> Array:
    """Leave cells out, smaller ones rather, but keep two in every latitude and longitude.

    A latitude without any count would leave its row of U_1 undetermined.
    """
    counted = np.ones(len(places), dtype=bool)
    for cell in np.argsort(0.45 * np.log(people) + rng.gumbel(size=len(places))):
        left = [np.sum(counted & (places[:, mode] == places[cell, mode])) for mode in (0, 1)]
        if min(left) > 2:
            counted[cell] = False
        if np.sum(~counted) == LEFT_OUT:
            break
    return counted


def split_cases(
    totals: Array, population: Array, cell_of: Array, rng: np.random.Generator
) -> Array:
    """Share each cell's reports out among its counties."""
    cases = np.empty(len(cell_of), dtype=np.int32)
    for cell, total in enumerate(totals):
        members = np.flatnonzero(cell_of == cell)
        weights = population[members] / population[members].sum()
        cases[members] = rng.multinomial(total, weights)
    return cases


# --- plants and pollinators --------------------------------------------------------------------

N_PLANTS, VISITS_A_YEAR, YEARS = 50, 6, (2011, 2012, 2013)
GUILDS = {"bee": 16, "beetle": 7, "butterfly": 8, "fly": 14, "wasp": 5}
COMMUNITIES = 5
N_MEADOWS = 6
# A community's peak, in visits of the season, and how long its season is.
SEASONS = ((0.5, 1.2), (1.5, 1.2), (2.8, 1.3), (4.0, 1.4), (2.5, 3.0))
INTERACTIONS = 3.6  # mean λ of an entry

WATCH = ("flower abundance", "month", "day of year", "wind", "cloud", "air temperature")
PPI_ATTRIBUTES = (*WATCH, *(f"guild: {guild}" for guild in GUILDS))
PPI_UNITS = (
    Unit(0.60, -0.5, {"guild: bee": 1.5}),
    Unit(-0.42, -0.5, {"guild: fly": 1.5}),
    Unit(-0.30, -0.5, {"guild: beetle": 1.5}),
    Unit(0.24, -0.5, {"guild: butterfly": 1.5}),
    Unit(0.36, -2.5, {"air temperature": 5.0}),
    Unit(0.36, -5.0, {"air temperature": 4.0, "guild: butterfly": 3.5}),
    Unit(-0.36, -2.5, {"wind": 5.0}),
    Unit(-0.30, -4.5, {"wind": 4.0, "guild: fly": 3.0}),
    Unit(-0.27, -4.5, {"cloud": 4.0, "guild: bee": 2.0}),
    Unit(-0.30, -2.5, {"flower abundance": 4.5}),
    Unit(-0.27, -4.0, {"day of year": 3.5, "guild: beetle": 3.0, "guild: wasp": 3.0}),
    Unit(0.40, -1.0, {"day of year": 5.0}),
    Unit(-0.50, -4.0, {"day of year": 5.0}),
)
PPI_BIAS = -1.15
PPI_RULES = (
    "Everything is simulated; no species is real.",
    "The expected true numbers of interactions λ are a tensor of rank 5.",
    "True counts are Poisson(λ); seen ones are Binomial(true count, p), independently.",
    "p is a function of the entry's attributes, stated with the data.",
    f"A pair is observed at a visit if both were present in one of {N_MEADOWS} meadows; the counts "
    "play no part in that.",
    "Wind, cloud, air temperature and date are means over the watches of the plant at the visit.",
    "Flower abundance is on the logarithmic scale; every attribute is min-max scaled to 0..1.",
)


def make_ppi(folder: Path) -> None:
    """Draw the plant–pollinator twin and write it."""
    rng = np.random.default_rng([SEED, 2])
    guild = np.repeat(np.arange(len(GUILDS)), list(GUILDS.values()))
    first_dates = visit_dates(rng)
    factors = community_factors(guild, rng)
    rate = np.einsum("if,jf,tf->ijt", *factors)
    observed = seen_together(factors, rng)

    levels = {
        "guild": guild.astype(np.uint8),
        "watch_levels": to_levels(watch_attributes(factors, first_dates, rng), axis=(0, 1)),
    }
    g = network(PPI_UNITS, PPI_BIAS, PPI_ATTRIBUTES)
    p = detection_probability(ppi_attributes(levels), g).reshape(rate.shape)
    counts = reported(rate, p, rng)

    numbers = [number for size in GUILDS.values() for number in range(1, size + 1)]
    header = {
        "modes": ["plant", "pollinator", "visit"],
        "plants": [f"plant {number:02}" for number in range(1, N_PLANTS + 1)],
        "pollinators": [
            f"{list(GUILDS)[kind]} {number:02}" for kind, number in zip(guild, numbers, strict=True)
        ],
        "guilds": list(GUILDS),
        "visits": [f"{year}-{n}" for year in YEARS for n in range(1, VISITS_A_YEAR + 1)],
        "first_dates": first_dates.strftime("%Y-%m-%d").tolist(),
        "last_dates": (first_dates + pd.Timedelta(days=6)).strftime("%Y-%m-%d").tolist(),
        "attributes": PPI_ATTRIBUTES,
        "rules": PPI_RULES,
    }
    arrays = {
        "factor_plant": factors[0].astype(np.float32),
        "factor_pollinator": factors[1].astype(np.float32),
        "factor_visit": factors[2].astype(np.float32),
        "indices": np.argwhere(observed).astype(np.uint8),
        "counts": counts[observed],
        **levels,
        **g,
    }
    write(folder / "ppi_twin.npz", header, arrays)
    describe("ppi", counts[observed], p)


def visit_dates(rng: np.random.Generator) -> pd.DatetimeIndex:
    """Draw the first date of each visit: from June on, every twelve days or so."""
    starts = [
        pd.Timestamp(year, 6, 6) + pd.Timedelta(days=int(12 * n + rng.integers(0, 5)))
        for year in YEARS
        for n in range(VISITS_A_YEAR)
    ]
    return pd.DatetimeIndex(starts)


def community_factors(guild: Array, rng: np.random.Generator) -> list[Array]:
    """Draw U_1 (plants), U_2 (pollinators) and U_3 (visits), each (I_k, 5)."""

    def activity(n: int, membership: Array) -> Array:
        return rng.lognormal(0.0, 1.9, (n, 1)) * membership

    plants = activity(N_PLANTS, rng.dirichlet(np.full(COMMUNITIES, 0.35), N_PLANTS))
    taste = rng.dirichlet(np.full(COMMUNITIES, 0.8), len(GUILDS))
    pollinators = activity(
        len(guild), np.array([rng.dirichlet(0.05 + 1.5 * taste[kind]) for kind in guild])
    )
    number = np.arange(VISITS_A_YEAR)
    visits = np.concatenate(
        [
            rng.lognormal(0.0, 0.3, COMMUNITIES)
            * np.column_stack([np.exp(-(((number - t) / w) ** 2)) + 0.03 for t, w in SEASONS])
            for _ in YEARS
        ]
    )
    mean = np.mean(np.einsum("if,jf,tf->ijt", plants, pollinators, visits))
    return [as_stored(u) for u in (plants * INTERACTIONS / mean, pollinators, visits)]


def seen_together(factors: list[Array], rng: np.random.Generator) -> Array:
    """Draw Ω: the pairs present in the same meadow, likelier in their season; (50, 50, 18)."""

    def present(mode: int, base: float, slope: float) -> Array:
        season = factors[mode] @ factors[2].T
        season = season / season.max(axis=1, keepdims=True)
        lives_in = rng.random((len(season), N_MEADOWS)) < 0.55
        seen = rng.random((*season.shape, N_MEADOWS)) < (base + slope * season)[..., None]
        return seen & lives_in[:, None, :]

    plant, pollinator = present(0, 0.23, 0.52), present(1, 0.1, 0.52)
    return np.einsum("itm,jtm->ijt", plant, pollinator, dtype=np.int64) > 0


def watch_attributes(
    factors: list[Array], first_dates: pd.DatetimeIndex, rng: np.random.Generator
) -> Array:
    """Draw what is known of each plant at each visit, (50, 18, 6)."""
    shape = (N_PLANTS, len(first_dates))
    season = factors[0] @ factors[2].T
    season = season / season.max(axis=1, keepdims=True)
    stalks = rng.lognormal(3.0, 1.0, (N_PLANTS, 1))
    flowers = np.log1p(stalks * (0.05 + season) * rng.lognormal(0.0, 0.6, shape))
    start = np.asarray(first_dates.day_of_year)
    day = start + 7 * rng.random(shape)

    def weather(mean: Array) -> Array:
        of_visit = mean + 0.7 * rng.standard_normal(shape[1])
        return of_visit + 0.6 * rng.standard_normal(shape)

    warmth = 1.5 * np.sin((start - 160) / 80 * np.pi)
    temperature = weather(warmth)
    cloud = expit(weather(np.zeros(shape[1])) - 0.5 * temperature)
    wind = np.exp(0.4 * weather(np.zeros(shape[1])))
    return np.stack([flowers, (day - 15) // 30.4 + 1, day, wind, cloud, temperature], axis=2)


# --- files -------------------------------------------------------------------------------------


def write(path: Path, header: dict[str, Any], arrays: dict[str, Array]) -> None:
    """Write ``arrays`` and the header, as json bytes, without pickle."""
    text = json.dumps(header, ensure_ascii=False)
    np.savez_compressed(
        path, header=np.frombuffer(text.encode(), dtype=np.uint8), allow_pickle=False, **arrays
    )
    print(f"{path.name}: {path.stat().st_size / 1e6:.2f} MB")


def describe(name: str, counts: Array, p: Array) -> None:
    """Say how near the marginals come."""
    counts = counts.astype(np.int64)
    print(
        f"{name}: {counts.size:,} observed, mean {counts.mean():.1f}, sd {counts.std():.1f}, "
        f"largest {counts.max():,}, {np.mean(counts == 0):.1%} zeros; "
        f"p {p.min():.3f} to {p.max():.3f}, mean {p.mean():.3f}"
    )


def main(folder: Path = HERE) -> None:
    """Write both twins into ``folder``."""
    make_covid(folder)
    make_ppi(folder)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
