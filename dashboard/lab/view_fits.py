"""The Lab: estimates beside the truth they should find, and what makes them better. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dashboard.lab.view import N_ATTRIBUTES, SHAPE, Setup, truth_of
from dashboard.shared.charts.answers import dense
from dashboard.shared.sidebar.model import changed
from dashboard.shared.text.scripts import Code, call, script
from dashboard.work.orders import Recovery
from dashboard.work.recovery import recover, recovery_errors
from uncletc import Fit, FitSettings, Scale
from uncletc.datasets import Dataset

Quantity = Literal["rate", "detection"]
ERROR_NAMES: dict[Quantity, str] = {"rate": "error of λ", "detection": "error of p"}
_N_POINTS = 400  # of a scatter plot: what a page can send and an eye can use


def error_table(dataset: Dataset, fit: Fit) -> pd.DataFrame:
    """Both errors of a fit in one row: rate, detection."""
    return pd.DataFrame([recovery_errors(fit, truth_of(dataset))])


def _detection(dataset: Dataset, fit: Fit) -> NDArray[np.float64]:
    """p of all entries of the tensor, in their order."""
    z = truth_of(dataset).attributes
    assert z is not None
    p: NDArray[np.float64] = fit.detection(z.reshape(-1, N_ATTRIBUTES))
    return p


@dataclass(frozen=True, eq=False, kw_only=True)
class Comparison:
    """Truth beside estimate.

    Attributes
    ----------
    entries : DataFrame
        Every entry: i, j, k (from 1), counted (bool), rate, rate_hat, p, p_hat; the estimates in
        the truth's scale.
    points : DataFrame
        Some of them, to draw.
    scale : Scale
        The one factor c that makes mean λ agree with the truth's: λ·c, p/c.
    errors : dict of str to float
        "rate" (MAE_λ) and "detection" (MAE_p), each on its own mean; see :mod:`uncletc.metrics`.
    """

    entries: pd.DataFrame
    points: pd.DataFrame
    scale: Scale
    errors: dict[str, float]

    def slice(self, slice_number: int) -> pd.DataFrame:
        """The entries of one slice as :func:`picture` takes them."""
        in_slice = self.entries[self.entries["k"] == slice_number + 1]
        return in_slice.rename(columns={"i": "row", "j": "column"})


def compare(dataset: Dataset, fit: Fit) -> Comparison:
    """Bring estimates to the truth's scale with one factor, and set them beside it."""
    truth = truth_of(dataset)
    rate = fit.rate_tensor().ravel()
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
            "p_hat": scale.detection(_detection(dataset, fit)),
        }
    )
    return Comparison(
        entries=entries,
        points=entries.sample(_N_POINTS, random_state=0).sort_index(),
        scale=scale,
        errors=recovery_errors(fit, truth),
    )


def recovery(setup: Setup, settings: FitSettings) -> Recovery:
    """Return the order that measures how near a fit comes to the truth, iteration by iteration."""
    return Recovery(simulation=setup.arguments, settings=settings)


def error_curve(result: Mapping[str, Any]) -> pd.DataFrame:
    """MAE_λ and MAE_p at some iterations of a fit: iteration (from 1), rate, detection.

    Parameters
    ----------
    result : mapping
        Of :func:`recovery`. The last row is the finished fit.
    """
    rows = [{"iteration": iteration} | values for iteration, values in result["curve"]]
    return pd.DataFrame(rows, columns=["iteration", "rate", "detection"])


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
    """

    label: str
    values: tuple[float, ...]
    says: str
    judged: Quantity = "rate"


# The words on the page are also those in the address: Streamlit ties the two together.
LeverName = Literal[
    "entries counted",
    "attributes known",
    "similar attributes",
    "SNR",
    "network size",
    "rank assumed",
    "true events",
]
LEVERS: dict[LeverName, Lever] = {
    "entries counted": Lever(
        label="γ_Ω: share of entries counted",
        values=(0.03, 0.05, 0.1, 0.2, 0.4),
        says="More counted entries (larger |Ω|) make the bounds on both errors smaller.",
    ),
    "attributes known": Lever(
        label="share of counted entries whose attributes are known",
        values=(0.1, 0.25, 0.5, 1.0),
        says="The theorem asks for attributes at every counted entry (Ω ⊆ Ξ). Below 1 it says "
        "nothing, although a fit can still be made.",
    ),
    "similar attributes": Lever(
        label="γ_Θ: share of entries with similar attributes",
        values=(0.0, 0.25, 0.5, 0.75, 1.0),
        says="More entries with similar attributes (larger |Θ|) make the bounds smaller. In these "
        "small fits they can also hurt: where attributes hardly differ, they teach little about g.",
        judged="detection",
    ),
    "SNR": Lever(
        label="SNR of similar attributes (dB)",
        values=(0, 10, 20, 40),
        says="Attributes in Θ that are more alike (a higher SNR) make the bounds smaller. A bound "
        "is not the error itself: these fits need not follow it.",
        judged="detection",
    ),
    "network size": Lever(
        label="hidden layers of the network (0: linear g)",
        values=(0, 1, 3, 5),
        says="A larger network can come closer to the true g, which helps, but is more complex, "
        "which enlarges another part of the bounds: there is a trade-off. (These fits keep a "
        "network only where attributes act together; else any layers give the same curves.)",
        judged="detection",
    ),
    "rank assumed": Lever(
        label="rank assumed in the fit",
        values=(1, 2, 3, 5, 8),
        says="The theorem takes the rank as known; the larger it is, the larger the bounds.",
    ),
    "true events": Lever(
        label="mean true events per entry",
        values=(5, 25, 100, 400),
        says="The theorem needs λ and p bounded away from 0; it does not single out large counts. "
        "With few events, chance weighs heavily in every count.",
    ),
}


@dataclass(frozen=True, kw_only=True)
class Trial:
    """One of the small fits of a lever: the value tried, and all that decides the fit."""

    value: float
    setup: Setup
    settings: FitSettings

    @property
    def order(self) -> Recovery:
        """The fit, and how near it comes to the truth."""
        return recovery(self.setup, self.settings)


def trials(lever: LeverName, setup: Setup, settings: FitSettings, n_draws: int) -> list[Trial]:
    """Return the fits to make: each value of the lever with some draws of the counts.

    Parameters
    ----------
    lever : str
        A name in `LEVERS`.
    setup : Setup
        All but the lever and the seed.
    settings : FitSettings
        Likewise.
    n_draws : int
        Counts drawn per value, with the setup's seed and those after it.
    """
    pulled = [_pull(lever, value, setup, settings) for value in LEVERS[lever].values]
    return [
        Trial(value=value, setup=replace(changed, seed=setup.seed + draw), settings=how)
        for value, changed, how in pulled
        for draw in range(n_draws)
    ]


def lever_table(tried: Iterable[tuple[Trial, Mapping[str, Any]]]) -> pd.DataFrame:
    """The errors of the fits of a lever: value, seed, rate (MAE_λ), detection (MAE_p).

    Parameters
    ----------
    tried : iterable of (Trial, mapping)
        Each with the result of its order.
    """
    rows = [
        {"value": trial.value, "seed": trial.setup.seed} | result["curve"][-1][1]
        for trial, result in tried
    ]
    return pd.DataFrame(rows, columns=["value", "seed", "rate", "detection"])


def lever_script(lever: LeverName, setup: Setup, settings: FitSettings, n_draws: int) -> str:
    """Return a script that makes all fits of a lever and gives their errors."""
    each = call(recover, Code("each.order"))
    tried = call(trials, lever, setup, settings, n_draws)
    table = call(lever_table, Code(f"[(each, {each.text}) for each in tried]", each.imports))
    return script(table, tried=tried)


Change = Literal["Fall", "Hardly change", "Rise"]


def change(table: pd.DataFrame, quantity: Quantity) -> tuple[Change, str]:
    """What the median of an error does from the lever's first value to its last, and in words.

    A ratio from 4/5 to 5/4 counts as hardly a change.
    """
    medians = table.groupby("value")[quantity].median()
    first, last = float(medians.iloc[0]), float(medians.iloc[-1])
    ratio = last / first
    kind: Change = "Fall" if ratio < 0.8 else "Rise" if ratio > 1.25 else "Hardly change"
    words = {"Fall": "falls", "Hardly change": "hardly changes", "Rise": "rises"}[kind]
    return kind, (
        f"From {medians.index[0]:g} to {medians.index[-1]:g}, the median {ERROR_NAMES[quantity]} "
        f"{words}: {first:.3f} → {last:.3f}."
    )


def _pull(
    lever: LeverName, value: float, setup: Setup, settings: FitSettings
) -> tuple[float, Setup, FitSettings]:
    if lever == "network size":
        return value, setup, changed(settings, "layers", int(value))
    if lever == "rank assumed":
        return value, setup, changed(settings, "rank", int(value))
    changes: dict[str, Any] = {
        "entries counted": {"observed": value},
        "attributes known": {
            "attributed": round(value * setup.observed, 6),
            # As large a part of Ξ as before: only the overlap is to change.
            "similar": round(
                value * setup.observed * min(setup.similar / setup.attributed, 1.0), 6
            ),
        },
        "similar attributes": {"similar": round(value * setup.attributed, 6)},
        "SNR": {"snr_db": float(value)},
        "true events": {"events": float(value)},
    }[lever]
    shown = value * setup.attributed if lever == "similar attributes" else value
    return round(shown, 4), replace(setup, **changes), settings
