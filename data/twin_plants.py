"""The plant–pollinator twin: interactions by plant, pollinator and visit, and their truth."""

import numpy as np
import pandas as pd
from scipy.special import expit
from twin_covid import Drawn
from twin_parts import Array, Unit, field, network, scattered, slopes, to_levels

from uncletc.datasets.twins import detection_probability, ppi_attributes, ppi_rate

N_PLANTS, VISITS_A_YEAR, YEARS = 50, 6, (2011, 2012, 2013)
GUILDS = {"bee": 16, "beetle": 7, "butterfly": 8, "fly": 14, "wasp": 5}
N_MEADOWS = 6
INTERACTIONS = 1.5  # mean λ of an entry
MU = 3.0  # variance of a count: m + m²/μ
# sd of the log level of each, and of a pollinator's course over visits.
PLANTS, POLLINATORS, VISITS, PAIRS, COURSE = 1.1, 1.1, 0.3, 0.8, 0.4

WATCH = ("flower abundance", "month", "day of year", "wind", "cloud", "air temperature")
ATTRIBUTES = (*WATCH, *(f"guild: {guild}" for guild in GUILDS))
ON_DETECTION = (
    Unit(0.45, -0.5, {"guild: bee": 1.5}),
    Unit(-0.35, -0.5, {"guild: fly": 1.5}),
    Unit(-0.20, -0.5, {"guild: beetle": 1.5}),
    Unit(0.15, -0.5, {"guild: butterfly": 1.5}),
    Unit(-0.75, -2.4, {"air temperature": 4.5}),
    Unit(-0.75, -1.8, {"wind": 5.0}),
    Unit(-0.80, -2.2, {"cloud": 4.5}),
)
DETECTION_BIAS = -0.85
ON_RATE = {
    "flower abundance": 3.0,
    "day of year": -1.0,
    "guild: bee": 0.5,
    "guild: fly": 0.7,
    "guild: wasp": -0.5,
}
RULES = (
    "Everything is simulated; no species is real.",
    "The expected true numbers of interactions λ are a tensor of rank 2, times exp of what flower "
    "abundance, season and guild do, and of effects.",
    "Effects: plants, pollinators, visits and pairs have levels, pollinators a course over the "
    "visits of a year.",
    "p is a function of wind, cloud, air temperature and guild, stated with the data.",
    f"Seen interactions are negative binomial with mean λ · p and μ = {MU:g}: variance m + m²/μ.",
    f"A pair is observed at a visit if both were present in one of {N_MEADOWS} meadows; the counts "
    "play no part in that.",
    "Wind, cloud, air temperature and date are means over the watches of the plant at the visit.",
    "Flower abundance is on the logarithmic scale; every covariate is min-max scaled to 0..1.",
)


def draw_plants(seed: int) -> Drawn:
    """Draw the plant–pollinator twin."""
    rng = np.random.default_rng([seed, 2])
    guild = np.repeat(np.arange(len(GUILDS)), list(GUILDS.values()))
    first_dates = visit_dates(rng)
    seasons = [draw_season(n, rng) for n in (N_PLANTS, len(guild))]
    observed = seen_together(seasons, rng)
    levels = {
        "guild": guild.astype(np.uint8),
        "watch_levels": to_levels(watch_attributes(seasons[0], first_dates, rng), axis=(0, 1)),
    }
    z = ppi_attributes(levels)
    g = network(ON_DETECTION, DETECTION_BIAS, ATTRIBUTES)
    truth = {"rate_slopes": slopes(ON_RATE, ATTRIBUTES), **draw_rate(observed.shape, rng)}
    level = INTERACTIONS / ppi_rate(z, truth).mean()
    truth["factor_visit"] = (level * truth["factor_visit"]).astype(np.float32)
    rate = ppi_rate(z, truth)
    p = detection_probability(z, g).reshape(rate.shape)
    counts = scattered(rate * p, MU, rng)

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
        "attributes": ATTRIBUTES,
        "rules": RULES,
    }
    arrays = {
        **truth,
        "indices": np.argwhere(observed).astype(np.uint8),
        "counts": counts[observed],
        **levels,
        **g,
    }
    return Drawn(header, arrays, counts[observed], p)


def visit_dates(rng: np.random.Generator) -> pd.DatetimeIndex:
    """Draw the first date of each visit: from June on, every twelve days or so."""
    starts = [
        pd.Timestamp(year, 6, 6) + pd.Timedelta(days=int(12 * n + rng.integers(0, 5)))
        for year in YEARS
        for n in range(VISITS_A_YEAR)
    ]
    return pd.DatetimeIndex(starts)


def draw_rate(shape: tuple[int, ...], rng: np.random.Generator) -> dict[str, Array]:
    """Draw the factors, and the effects on λ."""
    n_plants, n_pollinators, n_visits = shape

    def levels(deviation: float, *sizes: int) -> Array:
        drawn = rng.standard_normal(sizes)
        return (deviation * (drawn - drawn.mean())).astype(np.float32)

    when = np.tile(np.arange(VISITS_A_YEAR), len(YEARS)) + 20.0 * np.repeat(YEARS, VISITS_A_YEAR)
    course = [field(when[:, None], rng, width=2.0) for _ in range(n_pollinators)]
    return {
        **{
            f"factor_{mode}": np.exp(levels(0.15, size, 2))
            for mode, size in zip(("plant", "pollinator", "visit"), shape, strict=True)
        },
        "effect_plant": levels(PLANTS, n_plants),
        "effect_pollinator": levels(POLLINATORS, n_pollinators),
        "effect_visit": levels(VISITS, n_visits),
        "effect_pair": levels(PAIRS, n_plants, n_pollinators),
        "effect_course": (COURSE * np.stack(course)).astype(np.float32),
    }


def draw_season(n: int, rng: np.random.Generator) -> Array:
    """Draw how far into its season each of n species is at each visit, 0 to 1; (n, 18)."""
    peak, length = rng.uniform(0, 5, (n, 1)), rng.uniform(1.2, 3.0, (n, 1))
    season = np.exp(-(((np.arange(VISITS_A_YEAR) - peak) / length) ** 2)) + 0.03
    season = np.tile(season, len(YEARS)) * rng.lognormal(0.0, 0.3, (n, VISITS_A_YEAR * len(YEARS)))
    return season / season.max(axis=1, keepdims=True)


def seen_together(seasons: list[Array], rng: np.random.Generator) -> Array:
    """Draw Ω: the pairs present in the same meadow, likelier in their season; (50, 50, 18)."""

    def present(season: Array, base: float) -> Array:
        lives_in = rng.random((len(season), N_MEADOWS)) < 0.55
        seen = rng.random((*season.shape, N_MEADOWS)) < (base + 0.56 * season)[..., None]
        return seen & lives_in[:, None, :]

    plant, pollinator = present(seasons[0], 0.27), present(seasons[1], 0.15)
    return np.einsum("itm,jtm->ijt", plant, pollinator, dtype=np.int64) > 0


def watch_attributes(
    season: Array, first_dates: pd.DatetimeIndex, rng: np.random.Generator
) -> Array:
    """Draw what is known of each plant at each visit, (50, 18, 6)."""
    shape = (N_PLANTS, len(first_dates))
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
