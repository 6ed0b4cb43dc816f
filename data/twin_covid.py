"""The COVID-19 twin: reported cases by latitude, longitude and day, deaths, and their truth."""

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.special import expit
from twin_attributes import ATTRIBUTES, N_DAYS, daily_attributes, fixed_attributes
from twin_parts import Array, Unit, as_stored, field, network, scattered, slopes, to_levels
from twin_places import LEFT_OUT, Places, choose_counted, draw_places, split_cases

from uncletc.datasets.twins import covid_attributes, covid_rate, detection_probability

FIRST_DAY = "2021-01-01"
CASES = 8e-4  # mean true cases per person and day
MU, MU_DEATHS = 8.0, 20.0  # variance of a count: m + m²/μ
LAG = 16  # days from a case to its death
FATALITY = 0.005  # invented
FATALITY_ERROR = 0.1  # of all stated fatalities at once
PLACES, REGIONS = (0.3, 0.15), 0.3  # sd of the log level: smooth and rough; of regional waves
SILENT = 7  # states that publish next to nothing on Sundays

ON_DETECTION = (
    Unit(-0.60, -1.6, {"testing gap": 4.5}),
    Unit(-0.25, -3.6, {"testing gap": 4.0, "% rural": 3.0}),
    Unit(-0.55, -1.3, {"% rural": 3.0}),
    Unit(0.50, -1.2, {"median income": 4.0}),
    Unit(0.45, -1.4, {"hospital beds/1000": 5.0}),
    Unit(-0.30, -1.0, {"unemployment claims/1000": 5.0}),
    Unit(-0.16, -1.2, {"weekend": 2.4}),
)
DETECTION_BIAS = -1.25
ON_RATE = {
    "testing gap": 3.6,
    "% rural": 1.5,
    "median income": -2.2,
    "unemployment claims/1000": 1.6,
    "% Hispanic": 1.2,
    "% African American": 0.8,
    "% older than 60": -0.9,
    "unemployment rate": 0.6,
    "population density": 0.7,
    "working from home": -0.8,
    "% staying home": -1.2,
    "miles/person": 0.9,
}
RULES = (
    "Everything but the names, positions and land areas of counties is simulated.",
    "The expected true counts λ are the people of a cell of one degree by one, times exp of what "
    "covariates and effects of places do, times a tensor of rank 2; a cell holds the counties "
    "whose latitude and longitude round to it.",
    "Effects: each place has a level, alike among neighbours, and waves pass through regions.",
    "p is a function of the cell's and day's covariates, stated with the data: six move it, and "
    "four of these move λ too.",
    f"States publish by a calendar of their own: {SILENT} next to nothing on Sundays, all of them "
    "late on some days and in bulk thereafter; over the days this cancels out.",
    f"Reports are negative binomial with mean λ · p · calendar and μ = {MU:g}: variance m + m²/μ.",
    f"Deaths are a second observation process: {LAG} days later an invented share of true "
    f"cases, about "
    f"{100 * FATALITY:g} % and more where more people are old, ends in death; negative binomial "
    f"with μ = {MU_DEATHS:g}. The share that is stated is a common factor off, drawn with a "
    f"standard deviation of {FATALITY_ERROR:.0%}.",
    f"{LEFT_OUT} of the cells that have counties, small ones rather than large, are left out of "
    "Ω; their covariates are known, and their simulated reports stand in the county table only.",
    "A county's reports are a random part of its cell's, in proportion to its population.",
    "Population density is on the logarithmic scale; every covariate is min-max scaled to 0..1.",
    "Tests per 1000 people, for display only, rise with the cell's mean p.",
)


class Drawn(NamedTuple):
    """What a file holds, and what is said of it."""

    header: dict[str, Any]
    arrays: dict[str, Array]
    counts: Array
    detection: Array


def draw_covid(seed: int) -> Drawn:
    """Draw the COVID-19 twin."""
    rng = np.random.default_rng([seed, 1])
    places = draw_places(rng)
    days = pd.date_range(FIRST_DAY, periods=N_DAYS)
    levels = draw_attributes(places, np.asarray(days.day_of_week >= 5, dtype=float), rng)
    z = covid_attributes(levels)
    g = network(ON_DETECTION, DETECTION_BIAS, ATTRIBUTES)
    p = detection_probability(z, g).reshape(-1, N_DAYS)
    truth = {
        "cells": places.index.astype(np.uint8),
        **draw_rate(places, rng),
        "rate_slopes": slopes(ON_RATE, ATTRIBUTES),
    }
    total = covid_rate(z, places.people, truth).sum(axis=0).mean()
    level = CASES * places.people.sum() / total
    truth["factor_day"] = (level * truth["factor_day"]).astype(np.float32)
    rate = covid_rate(z, places.people, truth)
    weekday, by_day = draw_calendar(len(places.states), rng)
    reporting = (weekday[:, days.day_of_week] * by_day)[places.state_of_cell]
    counts = scattered(rate * p * reporting, MU, rng)
    older = levels["fixed_levels"][:, 0] / 255
    dying = as_stored(FATALITY * np.exp(1.5 * (older - older.mean())))
    before = np.maximum(np.arange(N_DAYS) - LAG, 0)  # cases of earlier days as on the first
    off = np.exp(FATALITY_ERROR * rng.standard_normal())
    deaths = scattered((rate * dying[:, None])[:, before], MU_DEATHS, rng)
    counted = choose_counted(places.index, places.people, rng)
    tests = 1.5 * np.exp(4.0 * (p.mean(axis=1) - p.mean())[places.cell])
    header = {
        "modes": ["latitude", "longitude", "day"],
        "latitudes": places.axes[0].tolist(),
        "longitudes": places.axes[1].tolist(),
        "first_day": FIRST_DAY,
        "n_days": N_DAYS,
        "attributes": ATTRIBUTES,
        "states": places.states,
        "rules": RULES,
    }
    arrays = {
        **truth,
        "reporting_weekday": weekday.astype(np.float32),
        "reporting_day": by_day.astype(np.float32),
        "counted": counted,
        "counts": counts,
        "deaths": deaths,
        "fatality": (dying * off).astype(np.float32),
        **levels,
        **g,
        "county_fips": places.counties["fips"].to_numpy(dtype="U5"),
        "county_name": places.counties["county"].to_numpy(dtype=np.str_),
        "county_state": places.state.astype(np.uint8),
        "county_latitude": places.counties["latitude"].to_numpy(),
        "county_longitude": places.counties["longitude"].to_numpy(),
        "county_cell": places.cell.astype(np.uint16),
        "county_population": places.population,
        "county_cases": split_cases(counts.sum(axis=1), places.population, places.cell, rng),
        "county_tests": np.round(tests * np.exp(0.25 * rng.standard_normal(len(tests))), 2),
    }
    return Drawn(header, arrays, counts[counted], p)


def draw_attributes(places: Places, weekend: Array, rng: np.random.Generator) -> dict[str, Array]:
    """Draw the stored levels of all attributes."""
    density = np.log(places.people / np.bincount(places.cell, places.counties["land_km2"]))
    fixed, traits = fixed_attributes(places.degrees, density, rng)
    daily = daily_attributes(traits, weekend, places.degrees, rng)
    return {
        "fixed_levels": to_levels(fixed, axis=0),
        "daily_levels": to_levels(daily, axis=(0, 1)),
        "calendar_levels": to_levels(weekend[:, None], axis=0),
    }


def draw_rate(places: Places, rng: np.random.Generator) -> dict[str, Array]:
    """Draw the factors of the waves that pass everywhere, and the effects of places."""
    day = np.arange(N_DAYS)
    falls = 0.15 + 0.85 * expit((20 - day) / 6)
    returns = 0.2 + np.exp(-(((day - 50) / 9) ** 2))
    along = [
        np.exp(0.15 * np.column_stack([field(axis[:, None] / 4, rng) for _ in range(2)]))
        for axis in places.axes
    ]
    along[1] *= np.column_stack([np.ones(len(along[1])), expit((places.axes[1] + 95) / 6)])
    n = len(places.degrees)
    smooth, rough = PLACES
    level = smooth * field(places.degrees, rng) + rough * rng.standard_normal(n)
    here = np.repeat(places.degrees, N_DAYS, axis=0) / 4.0
    when = np.tile(day, n) / 7.0
    waves = field(np.column_stack([here, when]), rng, width=1.0).reshape(n, N_DAYS)
    return {
        "factor_latitude": along[0].astype(np.float32),
        "factor_longitude": along[1].astype(np.float32),
        "factor_day": np.column_stack([falls, 0.6 * returns]).astype(np.float32),
        "effect_place": level.astype(np.float32),
        "effect_region_day": (REGIONS * waves).astype(np.float16),
    }


def draw_calendar(n_states: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Draw what share of a day's reports each state publishes: by weekday (S, 7), by day (S, 60).

    Either has a mean of 1 for each state.
    """
    weekday = np.exp(0.2 * rng.standard_normal((n_states, 7)))
    silent = rng.permutation(n_states)[:SILENT]
    weekday[silent, 6] = rng.uniform(0.02, 0.08, SILENT)
    weekday[silent, 0] *= 1.8
    weekday /= weekday.mean(axis=1, keepdims=True)
    by_day = np.exp(0.12 * rng.standard_normal((n_states, N_DAYS)))
    late = rng.random((n_states, N_DAYS - 1)) < 0.05
    by_day[:, :-1][late] *= 0.3
    by_day[:, 1:][late] *= 1.9
    by_day /= by_day.mean(axis=1, keepdims=True)
    return as_stored(weekday), as_stored(by_day)
