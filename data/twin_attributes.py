"""Attributes of the cells and days of the COVID-19 twin."""

import numpy as np
from scipy.special import expit
from twin_parts import Array, field

N_DAYS = 60
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
ATTRIBUTES = (*FIXED, *DAILY, "weekend")


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
    phase = field(cells, rng, width=5.0)[:, None]
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
