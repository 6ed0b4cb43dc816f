"""The Lab: simulated counts beside their truth, and estimates beside both, as tables. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal

import numpy as np
import pandas as pd
from scipy.stats import poisson

from dashboard.shared.charts.answers import dense, on_grid
from dashboard.shared.sidebar.model import SETTINGS, changed
from dashboard.shared.text.scripts import Code, call, script
from dashboard.work.orders import Recovery
from dashboard.work.worker import recover, recovery_errors
from uncletc import Fit, FitSettings, Joint, Scale, Truth, simulate
from uncletc.datasets import Dataset, Provenance

Detection = Literal["cubic", "steep-cubic", "log", "tanh", "interaction"]
SHAPE = (20, 20, 20)
N_ATTRIBUTES = 5
KINDS = ("neither", "attributes only", "count only", "count and attributes")
N_DRAWS = 2000  # of one entry, for its histogram
N_SHOWN = 10  # entries whose scale is changed
_DOTS_A_ROW = 10
_N_POINTS = 400  # of a scatter plot: what a page can send and an eye can use
_CLEARLY = 0.8  # of another error, to be called smaller

Quantity = Literal["rate", "detection"]
ERROR_NAMES: dict[Quantity, str] = {"rate": "error of λ", "detection": "error of p"}
Trial = tuple[dict[str, Any], Recovery]  # what names a fit, and its order
LINES, CURVES, NETWORK = "straight lines", "curves", "curves and a network"


@dataclass(frozen=True, kw_only=True)
class Setup:
    """How the counts of the Lab are drawn; see :func:`uncletc.simulate`.

    Attributes
    ----------
    observed, attributed, similar : float
        γ_Ω, γ_Ξ, γ_Θ. γ_Θ beyond γ_Ξ is taken as γ_Ξ.
    snr_db : float
    detection : {"cubic", "steep-cubic", "log", "tanh", "interaction"}
    rank : int
    events : float
        True events an entry has on average, in expectation over the factors.
    seed : int
    """

    observed: float = 0.2
    attributed: float = 0.5
    similar: float = 0.2
    snr_db: float = 40.0
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
        return {
            "shape": SHAPE,
            "rank": self.rank,
            "observed": self.observed,
            "attributed": self.attributed,
            "similar": min(self.similar, self.attributed),
            "snr_db": self.snr_db,
            "n_attributes": N_ATTRIBUTES,
            "detection": self.detection,
            "factor_max": round(2 * float(np.cbrt(self.events / self.rank)), 6),
            "seed": self.seed,
        }


@lru_cache(maxsize=64)  # half a megabyte each
def simulated(setup: Setup) -> Dataset:
    """Draw the counts, and keep their truth."""
    counts, truth = simulate(**setup.arguments)
    return Dataset(
        name=f"lab-seed{setup.seed}",
        title="Lab, a tensor of 20 × 20 × 20 entries",
        counts=counts,
        table=pd.DataFrame(),
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
    if dataset.truth is None:
        raise ValueError(f"dataset must be simulated, {dataset.name} has no known truth")
    return dataset.truth


@dataclass(frozen=True, eq=False, kw_only=True)
class EntryView:
    """One entry: events that happen, and those that are counted.

    Attributes
    ----------
    events : DataFrame
        One row per true event of this draw: x, y (place in a grid), counted (bool).
    draws : DataFrame
        Per possible count: count, share of many draws, twin (share where λ is doubled and p
        halved), formula (the Poisson probability with mean λp).
    happened, counted : int
    """

    events: pd.DataFrame
    draws: pd.DataFrame
    happened: int
    counted: int


def one_entry(rate: float, chance: float, draw: int) -> EntryView:
    """Draw n ~ Poisson(λ) and y ~ Binomial(n, p) once, and then many times.

    Parameters
    ----------
    rate : float
        λ.
    chance : float
        p.
    draw : int
        Seed.
    """
    rng = np.random.default_rng(draw)
    happened = int(rng.poisson(rate))
    counted = rng.random(happened) < chance
    number = np.arange(happened)
    y = rng.binomial(rng.poisson(rate, N_DRAWS), chance)
    twin = rng.binomial(rng.poisson(2 * rate, N_DRAWS), chance / 2)
    most = int(max(y.max(), twin.max()))
    count = np.arange(most + 1)
    return EntryView(
        events=pd.DataFrame(
            {"x": number % _DOTS_A_ROW, "y": number // _DOTS_A_ROW, "counted": counted}
        ),
        draws=pd.DataFrame(
            {
                "count": count,
                "share": np.bincount(y, minlength=most + 1) / N_DRAWS,
                "twin": np.bincount(twin, minlength=most + 1) / N_DRAWS,
                "formula": poisson.pmf(count, rate * chance),
            }
        ),
        happened=happened,
        counted=int(counted.sum()),
    )


def slice_table(dataset: Dataset, slice_number: int) -> pd.DataFrame:
    """One slice of the tensor, what happened beside what is seen of it.

    Returns
    -------
    DataFrame
        row, column, rate (λ), true_count (n), p, counted (y, NaN where nobody counted), known
        (one of `KINDS`).

    Notes
    -----
    A simulation keeps λ, p and y. The missed events are drawn here: given λ and p they are
    Poisson with mean λ(1 - p) and independent of those counted; where nobody counted, n is drawn
    from λ. So n has exactly the distribution that the model gives it beside y.
    """
    counts, truth = dataset.counts, truth_of(dataset)
    y = dense(counts)
    seen, attributed = np.isfinite(y), np.isfinite(on_grid(counts, 1.0))
    mean_missed = np.where(seen, truth.rate * (1 - truth.detection), truth.rate)
    missed = np.random.default_rng(0).poisson(mean_missed)  # of the whole tensor: slices agree
    at = (slice(None), slice(None), slice_number)
    row, column = np.indices(counts.shape[:2])
    return pd.DataFrame(
        {
            "row": row.ravel() + 1,
            "column": column.ravel() + 1,
            "rate": truth.rate[at].ravel(),
            "true_count": (np.nan_to_num(y) + missed)[at].astype(int).ravel(),
            "p": truth.detection[at].ravel(),
            "counted": y[at].ravel(),
            "known": np.array(KINDS)[(2 * seen + attributed)[at].ravel()],
        }
    )


def picture(table: pd.DataFrame, column: str) -> pd.DataFrame:
    """One column of a slice as a matrix: rows of the tensor by columns of the tensor."""
    return table.pivot(index="row", columns="column", values=column)


@dataclass(frozen=True, eq=False, kw_only=True)
class ScaleView:
    """Some entries after λ·c and p/c.

    Attributes
    ----------
    entries : DataFrame
        entry (label), rate, p, expected (ŷ), and rate_1, p_1, the values at c = 1.
    limits : dict of str to float
        Upper ends of the axes that no c of the slider exceeds, by column.
    least : float
        The smallest c that keeps every p of the tensor at or below 1.
    n_impossible : int
        Entries of the whole tensor with p above 1.
    """

    entries: pd.DataFrame
    limits: dict[str, float]
    least: float
    n_impossible: int


def rescaled(dataset: Dataset, c: float, *, furthest: float = 2.0) -> ScaleView:
    """Multiply λ by c and divide p by c, for some entries of the truth.

    Parameters
    ----------
    dataset : Dataset
    c : float
        > 0.
    furthest : float
        The largest c, or 1/c, that axes must have room for.
    """
    truth = truth_of(dataset)
    rate, p = truth.rate[:N_SHOWN, 0, 0], truth.detection[:N_SHOWN, 0, 0]
    scale = Scale(c, "chosen by hand", False)
    entries = pd.DataFrame(
        {
            "entry": [f"({i + 1}, 1, 1)" for i in range(N_SHOWN)],
            "rate": scale.rate(rate),
            "p": scale.detection(p),
            "expected": scale.rate(rate) * scale.detection(p),
            "rate_1": rate,
            "p_1": p,
        }
    )
    return ScaleView(
        entries=entries,
        limits={
            "rate": 1.05 * furthest * float(rate.max()),
            "p": 1.05 * furthest * max(float(p.max()), 1 / furthest),
            "expected": 1.05 * float((rate * p).max()),
        },
        least=float(truth.detection.max()),
        n_impossible=int((scale.detection(truth.detection) > 1).sum()),
    )


def in_figures(dataset: Dataset) -> str:
    """How much of the tensor was counted, and how many events that is, in sentences."""
    counts, truth = dataset.counts, truth_of(dataset)
    n = int(np.prod(counts.shape))
    both = int((counts.attribute_rows >= 0).sum())
    at = tuple(counts.indices.T)
    expected = float(truth.rate[at].sum())
    return (
        f"Of {n:,} entries **{counts.n_observed:,}** were counted, {both:,} of these with "
        f"attributes; {counts.n_attributed:,} have attributes in all. In the counted entries "
        f"**{counts.counts.sum():,}** events were counted, of about {expected:,.0f} that happened "
        f"({counts.counts.sum() / expected:.0%})."
    )


@dataclass(frozen=True, eq=False, kw_only=True)
class Comparison:
    """Truth beside estimate.

    Attributes
    ----------
    entries : DataFrame
        Every entry: i, j, k (from 1), counted (bool), rate, rate_hat, p, p_hat; the estimates in
        the truth's scale.
    scale : Scale
        The one factor c that makes mean λ agree with the truth's: λ·c, p/c.
    errors : dict of str to float
        "rate" (MAE_λ) and "detection" (MAE_p), each on its own mean; see :mod:`uncletc.metrics`.
    """

    entries: pd.DataFrame
    scale: Scale
    errors: dict[str, float]

    @property
    def points(self) -> pd.DataFrame:
        """Some of the entries, to draw."""
        return self.entries.sample(_N_POINTS, random_state=0).sort_index()

    def slice(self, slice_number: int) -> pd.DataFrame:
        """Return the entries of one slice as :func:`picture` takes them."""
        in_slice = self.entries[self.entries["k"] == slice_number + 1]
        return in_slice.rename(columns={"i": "row", "j": "column"})


def compare(dataset: Dataset, fit: Fit) -> Comparison:
    """Return estimates beside the truth, scaled to it with one factor."""
    truth, rate = truth_of(dataset), fit.rate_tensor().ravel()
    assert truth.attributes is not None
    p = fit.detection(truth.attributes.reshape(-1, N_ATTRIBUTES))
    scale = Scale.known_total(rate, float(truth.rate.sum()))
    i, j, k = (axis.ravel() + 1 for axis in np.indices(SHAPE))
    entries = pd.DataFrame(
        {
            "i": i,
            "j": j,
            "k": k,
            "counted": np.isfinite(dense(dataset.counts)).ravel(),
            "rate": truth.rate.ravel(),
            "rate_hat": scale.rate(rate),
            "p": truth.detection.ravel(),
            "p_hat": scale.detection(p),
        }
    )
    return Comparison(entries=entries, scale=scale, errors=recovery_errors(fit, truth))


def error_table(dataset: Dataset, fit: Fit) -> pd.DataFrame:
    """Return both errors of a fit in one row: rate, detection."""
    return pd.DataFrame([recovery_errors(fit, truth_of(dataset))])


def recovery(setup: Setup, settings: FitSettings) -> Recovery:
    """Return the order that measures how near a fit comes to the truth, iteration by iteration."""
    return Recovery(simulation=setup.arguments, settings=settings)


def error_curve(result: Mapping[str, Any]) -> pd.DataFrame:
    """Return MAE_λ and MAE_p at some iterations of a fit: iteration (from 1), rate, detection."""
    return pd.DataFrame([{"iteration": k} | errors for k, errors in result["curve"]])


def final_errors(
    results: Iterable[tuple[Mapping[str, Any], Mapping[str, Any]]],
) -> pd.DataFrame:
    """Return what names each fit, and its errors at the end: rate (MAE_λ), detection (MAE_p).

    Parameters
    ----------
    results : iterable of (mapping, mapping)
        What names a fit of :func:`trials` or :func:`compare_models`, and the result of its order.
    """
    return pd.DataFrame([{**name, **result["curve"][-1][1]} for name, result in results])


def compare_models(setup: Setup, settings: FitSettings) -> list[Trial]:
    """Return three fits of the same counts by what g is made of: lines, curves, a network."""
    largest = settings
    if not settings.hidden:
        largest = changed(settings, "layers", SETTINGS["layers"].default)
    models = {
        LINES: changed(settings, "layers", 0),
        CURVES: replace(largest, solver=Joint(network="never")),
        NETWORK: largest,
    }
    return [({"g": g}, recovery(setup, each)) for g, each in models.items()]


def models_words(table: pd.DataFrame) -> str:
    """Return what the three errors of p mean for g.

    Parameters
    ----------
    table : DataFrame
        As :func:`final_errors` makes it of all three fits of :func:`compare_models`.
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
    values : tuple of float
    says : str
        What the theorem says about it.
    judged : {"rate", "detection"}
        The error that a prediction is about.
    setup : callable, optional
        What a value changes in a :class:`Setup`.
    setting : str
        The setting of the fit that a value changes, where it is one.
    """

    label: str
    values: tuple[float, ...]
    says: str
    judged: Quantity = "rate"
    setup: Callable[[float, Setup], dict[str, Any]] = lambda _value, _setup: {}
    setting: str = ""


# The words on the page are also those in the address: Streamlit ties the two together.
LEVERS: dict[str, Lever] = {
    "entries counted": Lever(
        label="γ_Ω: share of entries counted",
        values=(0.03, 0.05, 0.1, 0.2, 0.4),
        says="More counted entries (larger |Ω|) make the bounds on both errors smaller.",
        setup=lambda value, _: {"observed": value},
    ),
    "attributes known": Lever(
        label="share of counted entries whose attributes are known",
        values=(0.1, 0.25, 0.5, 1.0),
        says="The theorem asks for attributes at every counted entry (Ω ⊆ Ξ). Below 1 it says "
        "nothing, although a fit can still be made.",
        # As large a part of Ξ is similar as before: only the overlap is to change.
        setup=lambda value, setup: {
            "attributed": round(value * setup.observed, 6),
            "similar": round(
                value * setup.observed * min(setup.similar / setup.attributed, 1.0), 6
            ),
        },
    ),
    "similar attributes": Lever(
        label="γ_Θ / γ_Ξ: share of attributed entries with similar attributes",
        values=(0.0, 0.25, 0.5, 0.75, 1.0),
        says="More entries with similar attributes (larger |Θ|) make the bounds smaller. In these "
        "small fits they can also hurt: where attributes hardly differ, they teach little about g.",
        judged="detection",
        setup=lambda value, setup: {"similar": round(value * setup.attributed, 6)},
    ),
    "SNR": Lever(
        label="SNR of similar attributes (dB)",
        values=(0, 10, 20, 40),
        says="Attributes in Θ that are more alike (a higher SNR) make the bounds smaller. A bound "
        "is not the error itself: these fits need not follow it.",
        judged="detection",
        setup=lambda value, _: {"snr_db": float(value)},
    ),
    "network size": Lever(
        label="hidden layers of the network (0: linear g)",
        values=(0, 1, 3, 5),
        says="A larger network can come closer to the true g, which helps, but is more complex, "
        "which enlarges another part of the bounds: there is a trade-off. (These fits keep a "
        "network only where covariates interact; else any layers give the same curves.)",
        judged="detection",
        setting="layers",
    ),
    "rank assumed": Lever(
        label="rank assumed in the fit",
        values=(1, 2, 3, 5, 8),
        says="The theorem takes the rank as known; the larger it is, the larger the bounds.",
        setting="rank",
    ),
    "true events": Lever(
        label="mean true events per entry",
        values=(5, 25, 100, 400),
        says="The theorem needs λ and p bounded away from 0; it does not single out large counts. "
        "With few events, chance weighs heavily in every count.",
        setup=lambda value, _: {"events": float(value)},
    ),
}


def trials(name: str, setup: Setup, settings: FitSettings, n_draws: int) -> list[Trial]:
    """Return the fits to make: each value of a lever with some draws of the counts.

    Parameters
    ----------
    name : str
        A key of `LEVERS`.
    setup : Setup
        All but the lever and the seed.
    settings : FitSettings
        Likewise.
    n_draws : int
        Counts drawn per value, with the setup's seed and those after it.
    """
    lever, tried = LEVERS[name], []
    for value in lever.values:
        how = changed(settings, lever.setting, int(value)) if lever.setting else settings
        for seed in range(setup.seed, setup.seed + n_draws):
            drawn = replace(setup, seed=seed, **lever.setup(value, setup))
            tried.append(({"value": value, "seed": seed}, recovery(drawn, how)))
    return tried


def lever_script(lever: str, setup: Setup, settings: FitSettings, n_draws: int) -> str:
    """Return a script that makes all fits of a lever and gives their errors."""
    each = call(recover, Code("order"))
    results = Code(f"[(name, {each.text}) for name, order in tried]", each.imports)
    tried = call(trials, lever, setup, settings, n_draws)
    return script(call(final_errors, results), tried=tried)


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
