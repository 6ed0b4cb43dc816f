"""What-if page: how well settings predict held-out counts, as tables and sentences. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dashboard.shared.charts.places import place_modes, place_words
from dashboard.shared.memory import remembered
from dashboard.shared.text.words import escape
from dashboard.whatif.runs import Run, held_rows
from uncletc import CountTensor, Fit, checking, compare
from uncletc.compare.metrics import mae_detection, mae_rate
from uncletc.datasets import Dataset

_LEAST = 1e-3  # predicted count, so that one 0 does not make a deviance infinite


@dataclass(frozen=True, eq=False)
class Score:
    """How well a second fit predicts the held-out counts; lower is better throughout.

    Attributes
    ----------
    rrmse, deviance : float
        See :mod:`uncletc.compare.metrics`; rRMSE is NaN where no event is held out.
    deviances : ndarray, shape (n,)
        Poisson deviance of each held-out entry.
    """

    rrmse: float
    deviance: float
    deviances: NDArray[np.float64]


@remembered(32)
def score(counts: CountTensor, fit: Fit | None) -> Score:
    """Return the errors of ŷ = λ·g(z) of the held-out entries, which a fit has not seen.

    Without a fit: of predicting the mean of the other counts everywhere.
    """
    held = held_rows(counts)
    y = counts.counts[held]
    if fit is None:
        predicted = np.full(len(held), np.delete(counts.counts, held).mean())
    else:
        predicted = checking.expected_at(fit, counts, held)
    predicted = np.maximum(predicted, _LEAST)
    found = compare.score(y, predicted)
    return Score(found.rrmse, found.deviance, checking.deviances(y, predicted))


def held_places(dataset: Dataset) -> NDArray[np.int64]:
    """Return the place of each held-out entry as a number: counts of one place vary together."""
    where = dataset.counts.indices[held_rows(dataset.counts)][:, list(place_modes(dataset))]
    return np.asarray(np.unique(where, axis=0, return_inverse=True)[1].ravel())


def held_out_words(scores: Mapping[str, Score], dataset: Dataset) -> str:
    """Return which of A and B predicts held-out counts better, or that it is open.

    See :func:`uncletc.compare.difference`: entries of one place are no independent evidence.

    Parameters
    ----------
    scores : mapping of str to Score
        By "A" and "B", those known so far.
    dataset : Dataset
        With all counts.
    """
    if not {"A", "B"} <= set(scores):
        return "Not known yet: the second fits of A and B have not finished."
    a, b, groups = scores["A"], scores["B"], held_places(dataset)
    numbers = f"Poisson deviance {a.deviance:.3g} for A, {b.deviance:.3g} for B"
    if np.array_equal(a.deviances, b.deviances):
        return f"**A and B predict held-out counts identically**: {numbers}."
    found = compare.difference(a.deviances, b.deviances, groups)
    of = escape(place_words(dataset)[1])
    over = f"{len(groups):,} counts in {len(np.unique(groups)):,} {of}"
    if not found.clear:
        return (
            f"**A and B predict held-out counts about equally well**: {numbers}, a difference "
            f"that another choice of {over} could reverse."
        )
    return (
        f"**{'A' if found.mean < 0 else 'B'} predicts held-out counts better**: {numbers}, a clear "
        f"difference over {over}."
    )


def score_table(
    dataset: Dataset,
    second: Mapping[str, Fit],
    first: Mapping[str, Fit],
    runs: Mapping[str, Run],
) -> pd.DataFrame:
    """Return the numbers of A and B side by side.

    Parameters
    ----------
    dataset : Dataset
        As it was loaded.
    second, first : mapping of str to Fit
        By "A" and "B": the second fits that have finished, and both first ones.
    runs : mapping of str to Run
        Their settings.

    Returns
    -------
    DataFrame
        Indexed by what is measured, columns A, B and "mean count everywhere"; NaN where unknown.
    """
    truth = dataset.truth
    seen = {side: run.roles.of(dataset.counts) for side, run in runs.items()}
    scores = {side: score(seen[side], each) for side, each in second.items()}
    scores["mean count everywhere"] = score(dataset.counts, None)
    names = {"deviance": "Poisson deviance per held-out entry", "rrmse": "rRMSE of held-out counts"}
    table = pd.DataFrame(
        {side: {names[of]: getattr(each, of) for of in names} for side, each in scores.items()},
        columns=["A", "B", "mean count everywhere"],
    )
    for side, each in first.items():
        counts = seen[side]
        if truth is not None:
            where = tuple(counts.attribute_indices.T)
            entries = counts.attribute_indices
            rate, p = each.rate(entries), each.detection(counts.attributes, entries)
            against = "against the simulated truth"
            table.loc[f"MAE of λ {against}", side] = mae_rate(rate, truth.rate[where])
            table.loc[f"MAE of p {against}", side] = mae_detection(p, truth.detection[where])
        table.loc["Seconds to fit", side] = each.history[-1].seconds
    return table.astype(float)


def as_text(table: pd.DataFrame) -> pd.DataFrame:
    """Return numbers as a page shows them, with a dash where there are none."""
    return table.map(lambda value: "–" if pd.isna(value) else f"{value:,.3g}")
