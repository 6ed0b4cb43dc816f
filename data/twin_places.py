"""Where people live in the COVID-19 twin: counties, cells, populations, and which are counted."""

import json
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from twin_parts import Array, smooth_noise

HERE = Path(__file__).resolve().parent
COUNTIES = HERE / "county_centroids.csv"
SHAPES = HERE.parent / "dashboard" / "static" / "counties.json"
PEOPLE = 320e6
LEFT_OUT = 128  # cells that have attributes but no count


class Settled(NamedTuple):
    """A part of the country where many live."""

    people: float  # a share
    latitude: float
    latitude_width: float
    longitude: float
    longitude_width: float


SETTLED = (
    Settled(0.21, 41.0, 1.6, -75.0, 3.0),  # Northeast
    Settled(0.19, 34.0, 2.5, -83.0, 4.0),  # South-East
    Settled(0.15, 41.0, 2.0, -87.0, 4.0),  # Great Lakes
    Settled(0.16, 31.0, 2.5, -97.0, 3.0),  # Texas and the plains
    Settled(0.20, 35.0, 1.8, -118.0, 1.5),  # West coast
    Settled(0.09, 39.0, 6.0, -100.0, 18.0),  # everywhere
)
SPREAD = 0.85  # standard deviation of the logarithm along either axis

STATES = json.loads(SHAPES.read_text(encoding="utf-8"))["states"]  # names by their codes


class Places(NamedTuple):
    """Counties and their cells."""

    counties: pd.DataFrame  # one row each: fips, county, state, latitude, longitude, land_km2
    degrees: Array  # (C, 2) of the cells
    axes: list[Array]  # degrees of each latitude and longitude in use
    index: Array  # (C, 2) of the cells along the axes
    cell: Array  # of each county
    population: Array  # of each county
    people: Array  # of each cell
    states: list[str]
    state: Array  # of each county
    state_of_cell: Array  # that of the county with most people


def draw_places(rng: np.random.Generator) -> Places:
    """Read the counties, and draw how many live there."""
    counties = pd.read_csv(COUNTIES, dtype={"fips": str}, keep_default_na=False)
    degrees = counties[["latitude", "longitude"]].round().astype(int).to_numpy()
    cells, cell_of = np.unique(degrees, axis=0, return_inverse=True)
    axes = [np.unique(cells[:, 0]), np.unique(cells[:, 1])]
    index = np.column_stack([np.searchsorted(axes[mode], cells[:, mode]) for mode in (0, 1)])
    population = draw_populations(settled(axes, index, rng), cell_of, rng)
    names = sorted(STATES.values())
    state = np.searchsorted(names, counties["state"].map(STATES))
    order = np.argsort(-population, kind="stable")
    _, first = np.unique(cell_of[order], return_index=True)
    return Places(
        counties=counties,
        degrees=cells,
        axes=axes,
        index=index,
        cell=cell_of,
        population=population,
        people=np.bincount(cell_of, population),
        states=names,
        state=state,
        state_of_cell=state[order[first]],
    )


def settled(axes: list[Array], index: Array, rng: np.random.Generator) -> Array:
    """Draw the people of each cell."""
    people = np.zeros(len(index))
    for part in SETTLED:
        along = []
        for mode, centre, width in (
            (0, part.latitude, part.latitude_width),
            (1, part.longitude, part.longitude_width),
        ):
            bump = (1 + ((axes[mode] - centre) / width) ** 2) ** -2.4
            along.append(bump * np.exp(SPREAD * smooth_noise(len(bump), rng)))
        there = along[0][index[:, 0]] * along[1][index[:, 1]]
        people += part.people * there / there.sum()
    return PEOPLE * people * np.exp(0.25 * rng.standard_normal(len(people)))


def draw_populations(people: Array, cell_of: Array, rng: np.random.Generator) -> Array:
    """Share the people of each cell out among its counties; a county has at least 90."""
    share = rng.lognormal(0.0, 1.0, len(cell_of))
    share /= np.bincount(cell_of, share)[cell_of]
    return np.maximum(people[cell_of] * share, 90 + 400 * rng.random(len(cell_of))).astype(np.int32)


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
