"""The Lab: simulated counts beside their truth, as tables. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import numpy as np
import pandas as pd
from scipy.stats import poisson

from dashboard.shared.charts.answers import dense, on_grid
from uncletc import Scale, Truth, simulate
from uncletc.datasets import Dataset, Provenance

Detection = Literal["cubic", "steep-cubic", "log", "tanh", "interaction"]
SHAPE = (20, 20, 20)
N_ATTRIBUTES = 5
KINDS = ("neither", "attributes only", "count only", "count and attributes")
N_DRAWS = 2000  # of one entry, for its histogram
N_SHOWN = 10  # entries whose scale is changed
_DOTS_A_ROW = 10


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
