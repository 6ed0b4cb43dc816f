"""The Lab: simulated counts beside their truth, and estimates beside both, as tables. Pure."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from typing import Any, Literal

import numpy as np
import pandas as pd
import scipy

from dashboard.shared.charts.answers import dense
from dashboard.shared.sidebar.model import SETTINGS, changed
from dashboard.shared.text.words import read_words
from dashboard.work.orders import SimulatedFit, recovery_errors
from uncletc import Fit, FitSettings, Joint, Scale, Truth, simulate
from uncletc.datasets import Dataset, Provenance
from uncletc.report.page import percent

Detection = Literal["cubic", "steep-cubic", "log", "tanh", "interaction"]
SHAPE = (20, 20, 20)
N_ATTRIBUTES = 5
N_DRAWS = 2000  # of one entry, for its histogram
N_SHOWN = 10  # places whose scale is changed
PLACES = sorted(
    f"{side} {place}"
    for side in ("North", "East", "South", "West")
    for place in ("Bridge", "Creek", "Field", "Hill", "Lake")
)
_FURTHEST = 2.0  # the largest c, or 1/c, that axes have room for
_DOTS_A_ROW = 10
_N_SEEDS = 2  # simulations per value of a lever
_CLEARLY = 0.8  # of another error, to be called smaller

Quantity = Literal["rate", "detection"]
ERROR_NAMES: dict[Quantity, str] = {"rate": "error of λ", "detection": "error of p"}
Trial = tuple[dict[str, Any], SimulatedFit]  # what names a fit, and its order
LINES, CURVES, NETWORK = "straight lines", "curves", "curves and a network"


@dataclass(frozen=True)
class Setup:
    """How the counts of the Lab are drawn; see :func:`uncletc.simulate`.

    Attributes
    ----------
    observed, attributed : float
        γ_Ω, γ_Ξ.
    detection : {"cubic", "steep-cubic", "log", "tanh", "interaction"}
    rank : int
    events : float
        True events an entry has on average, in expectation over the factors.
    seed : int
    """

    observed: float = 0.2
    attributed: float = 0.5
    detection: Detection = "log"
    rank: int = 3
    events: float = 25.0
    seed: int = 0

    @property
    def arguments(self) -> dict[str, Any]:
        """Arguments of :func:`uncletc.simulate`.

        An element of a factor is uniform on [0, κ], so an entry's λ is F·(κ/2)³ on average:
        κ follows from `events` and the rank.
        """
        arguments = asdict(self)
        factor_max = round(2 * float(np.cbrt(arguments.pop("events") / self.rank)), 6)
        fixed = {"shape": SHAPE, "similar": 0.0, "n_attributes": N_ATTRIBUTES}
        return arguments | fixed | {"factor_max": factor_max}


@lru_cache(maxsize=64)  # half a megabyte each
def simulated(setup: Setup) -> Dataset:
    """Draw the counts, and keep their truth."""
    counts, truth = simulate(**setup.arguments)
    return Dataset(
        name=f"lab-seed{setup.seed}",
        title="Lab, a tensor of 20 × 20 × 20 entries",
        counts=counts,
        provenance=Provenance(
            simulated=True,
            period="no period: drawn from the model",
            sources=(),
            rules=("Drawn by uncletc.simulate with the settings shown.",),
        ),
        truth=truth,
    )


def truth_of(dataset: Dataset) -> Truth:
    """The truth that simulated counts came from."""
    assert dataset.truth is not None
    return dataset.truth


def one_draw(rate: float, chance: float, draw: int) -> pd.DataFrame:
    """Draw n ~ Poisson(λ) events, of which each is counted with probability p.

    Returns
    -------
    DataFrame
        One row per event that is there: x, y (place in a grid), counted (bool).
    """
    rng = np.random.default_rng(draw)
    number = np.arange(rng.poisson(rate))
    counted = rng.random(len(number)) < chance
    return pd.DataFrame({"x": number % _DOTS_A_ROW, "y": number // _DOTS_A_ROW, "counted": counted})


def many_draws(rate: float, chance: float, draw: int) -> pd.DataFrame:
    """Draw the count y of one entry many times.

    Returns
    -------
    DataFrame
        Per possible count: count, share of the draws, twin (share where λ is doubled and p
        halved), formula (the Poisson probability with mean λp).
    """
    rng = np.random.default_rng(draw)
    y = rng.binomial(rng.poisson(rate, N_DRAWS), chance)
    twin = rng.binomial(rng.poisson(2 * rate, N_DRAWS), chance / 2)
    count = np.arange(max(y.max(), twin.max()) + 1)
    return pd.DataFrame(
        {
            "count": count,
            "share": np.bincount(y, minlength=len(count)) / N_DRAWS,
            "twin": np.bincount(twin, minlength=len(count)) / N_DRAWS,
            "formula": scipy.stats.poisson.pmf(count, rate * chance),
        }
    )


def entries_table(dataset: Dataset, fit: Fit | None = None) -> pd.DataFrame:
    """Return every entry: what is there beside what is counted of it, and estimates of a fit.

    Returns
    -------
    DataFrame
        place, species, day, rate (λ), true_count (n), p, counted (y, NaN where nobody counted); of
        a fit rate_hat and p_hat: λ·c and p/c, with the c that makes mean λ agree with the truth's.

    Notes
    -----
    A simulation keeps λ, p and y. The missed events are drawn here: given λ and p they are
    Poisson with mean λ(1 - p) and independent of those counted; where nobody counted, n is drawn
    from λ. So n has exactly the distribution that the model gives it beside y.
    """
    truth, y = truth_of(dataset), dense(dataset.counts)
    mean_missed = np.where(np.isfinite(y), truth.rate * (1 - truth.detection), truth.rate)
    missed = np.random.default_rng(0).poisson(mean_missed)
    place, species, day = (axis.ravel() for axis in np.indices(SHAPE))
    table = pd.DataFrame(
        {
            "place": np.array(PLACES)[place],
            "species": species + 1,
            "day": day + 1,
            "rate": truth.rate.ravel(),
            "true_count": (np.nan_to_num(y) + missed).astype(int).ravel(),
            "p": truth.detection.ravel(),
            "counted": y.ravel(),
        }
    )
    if fit is None:
        return table
    rate, p = fit.rate_tensor(), fit.detection(truth.attributes.reshape(-1, N_ATTRIBUTES))
    scale = Scale.known_total(rate, float(truth.rate.sum()))
    return table.assign(rate_hat=scale.rate(rate.ravel()), p_hat=scale.detection(p))


def picture(table: pd.DataFrame, column: str) -> pd.DataFrame:
    """Return one column of the entries of a day as a matrix: places by species."""
    return table.pivot(index="place", columns="species", values=column)


def rescaled(dataset: Dataset, c: float) -> tuple[pd.DataFrame, dict[str, float], int]:
    """Multiply λ by c and divide p by c, in some places of the truth, of one species on one day.

    Parameters
    ----------
    dataset : Dataset
    c : float
        > 0.

    Returns
    -------
    entries : DataFrame
        place, rate, p, expected (ŷ), and rate_1, p_1, the values at c = 1.
    limits : dict of str to float
        Upper ends of the axes that no c of the slider exceeds, by column.
    n_impossible : int
        Entries of the whole tensor with p above 1.
    """
    truth = truth_of(dataset)
    rate, p = truth.rate[:N_SHOWN, 0, 0], truth.detection[:N_SHOWN, 0, 0]
    scale = Scale(c, "chosen by hand", False)
    entries = pd.DataFrame(
        {
            "place": PLACES[:N_SHOWN],
            "rate": scale.rate(rate),
            "p": scale.detection(p),
            "expected": scale.rate(rate) * scale.detection(p),
            "rate_1": rate,
            "p_1": p,
        }
    )
    limits = {
        "rate": 1.05 * _FURTHEST * float(rate.max()),
        "p": 1.05 * _FURTHEST * max(float(p.max()), 1 / _FURTHEST),
        "expected": 1.05 * float((rate * p).max()),
    }
    return entries, limits, int((scale.detection(truth.detection) > 1).sum())


def entries_in_words(dataset: Dataset) -> str:
    """Return how much of the tensor was counted, and how many events that is, in sentences."""
    counts, truth = dataset.counts, truth_of(dataset)
    there = float(truth.rate[tuple(counts.indices.T)].sum())
    return (
        f"**{counts.n_observed:,}** of {int(np.prod(counts.shape)):,} entries were counted. About "
        f"{there:,.0f} events are in these, of which **{counts.counts.sum():,}** are counted "
        f"({percent(counts.counts.sum() / there)} %). {counts.n_attributed:,} entries have "
        "covariates."
    )


def models_of(settings: FitSettings) -> dict[str, FitSettings]:
    """Return three models of g to compare: straight lines, curves, and curves with a network."""
    largest = settings
    if not settings.hidden:
        largest = changed(settings, "layers", SETTINGS["layers"].default)
    return {
        LINES: changed(settings, "layers", 0),
        CURVES: replace(largest, solver=Joint(network="never")),
        NETWORK: largest,
    }


def model_errors(dataset: Dataset, fits: Mapping[str, Fit]) -> pd.DataFrame:
    """Return the errors of fits by the model of g: g, rate (MAE_λ), detection (MAE_p)."""
    errors = {g: recovery_errors(fit, truth_of(dataset)) for g, fit in fits.items()}
    return pd.DataFrame([{"g": g, **each} for g, each in errors.items()])


def models_words(table: pd.DataFrame) -> str:
    """Return what the three errors of p mean for g.

    Parameters
    ----------
    table : DataFrame
        Of all three models of :func:`models_of`; see :func:`model_errors`.
    """
    errors = table.set_index("g")["detection"]
    # The same fit up to the network: equal errors mean that none was kept.
    if errors[NETWORK] == errors[CURVES]:
        kept = "The counts show no sign that covariates interact, so no network was kept."
        if errors[CURVES] > _CLEARLY * errors[LINES]:
            return f"{kept} Here **straight lines** do about as well as curves."
        return f"**Curves are enough.** Straight lines miss how covariates bend p. {kept}"
    if errors[NETWORK] < _CLEARLY * min(errors[CURVES], errors[LINES]):
        return (
            "**Only the network finds it.** Covariates interact here: what one does to p "
            "depends on another. No sum of lines or curves of one covariate each can express that."
        )
    return "A network was kept, but it hardly helps here."


@dataclass(frozen=True, kw_only=True)
class Lever:
    """Something that may make a fit better, and the values to try.

    Attributes
    ----------
    label : str
        For an axis.
    values : list of float
    says : str
        What the theorem says about it.
    judged : {"rate", "detection"}
        The error that a prediction is about.
    control : str
        Of the Lab, which it decides instead.
    setup, setting : str
        What a value changes: an attribute of :class:`Setup`, or a setting of the fit.
    """

    label: str
    values: list[float]
    says: str
    control: str
    judged: Quantity = "rate"
    setup: str = ""
    setting: str = ""


# The words on the page are also those in the address: Streamlit ties the two together.
LEVERS = {name: Lever(**values) for name, values in read_words(__file__, "levers.toml").items()}


def trials(name: str, setup: Setup, settings: FitSettings) -> list[Trial]:
    """Return the fits to make: each value of a lever with a few draws of the counts.

    Parameters
    ----------
    name : str
        A key of `LEVERS`.
    setup : Setup
        All but the lever and the seed: counts are drawn with its seed and those after it.
    settings : FitSettings
        Likewise.
    """
    lever, tried = LEVERS[name], []
    if lever.setting != "layers":  # the others show the same without one, in a third of the time
        settings = replace(settings, solver=Joint(network="never"))
    for value in lever.values:
        how = changed(settings, lever.setting, int(value)) if lever.setting else settings
        moved = {lever.setup: float(value)} if lever.setup else {}
        for seed in range(setup.seed, setup.seed + _N_SEEDS):
            drawn = replace(setup, seed=seed, **moved)
            order = SimulatedFit(simulation=drawn.arguments, settings=how)
            tried.append(({"value": value, "seed": seed}, order))
    return tried


def change(table: pd.DataFrame, quantity: Quantity) -> tuple[str, str]:
    """Return what the median of an error does from the first value to the last, and in words.

    The first is "Fall", "Hardly change" or "Rise"; a ratio from 4/5 to 5/4 is hardly a change.
    """
    medians = table.groupby("value")[quantity].median()
    first, last = float(medians.iloc[0]), float(medians.iloc[-1])
    ratio = last / first
    kind = "Fall" if ratio < 0.8 else "Rise" if ratio > 1.25 else "Hardly change"
    words = {"Fall": "falls", "Hardly change": "hardly changes", "Rise": "rises"}[kind]
    return kind, (
        f"From {medians.index[0]:g} to {medians.index[-1]:g}, the median {ERROR_NAMES[quantity]} "
        f"{words}: {first:.3f} → {last:.3f}."
    )
