"""What-if page: how well settings predict held-out counts, as tables and sentences. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dashboard.shared.charts.places import place_modes, place_words
from dashboard.shared.memory import remembered
from dashboard.shared.text.words import escape
from dashboard.whatif.runs import SWEEPS, Run, held_rows
from dashboard.whatif.view import mean_p, spearman
from uncletc import CountTensor, Fit, checking, compare
from uncletc.compare.metrics import mae_detection, mae_rate, rrmse
from uncletc.datasets import Dataset

_LEAST = 1e-3  # predicted count, so that one 0 does not make a deviance infinite
_STEADY = 0.9  # rank correlation


@dataclass(frozen=True, eq=False)
class Score:
    """How well a second fit predicts the held-out counts; lower is better throughout.

    Attributes
    ----------
    rrmse, deviance : float
        See :mod:`uncletc.compare.metrics`; rRMSE is NaN where no event is held out.
    squares, deviances : ndarray, shape (n,)
        Squared error and Poisson deviance of each held-out entry.
    """

    rrmse: float
    deviance: float
    squares: NDArray[np.float64]
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
    each = checking.deviances(y, predicted)
    relative = rrmse(y, predicted) if y.any() else np.nan  # of sparse counts none may be held out
    return Score(relative, float(each.mean()), (y - predicted) ** 2, each)


def held_places(dataset: Dataset) -> NDArray[np.int64]:
    """Return the place of each held-out entry as a number: counts of one place vary together."""
    where = dataset.counts.indices[held_rows(dataset.counts)][:, list(place_modes(dataset))]
    return np.asarray(np.unique(where, axis=0, return_inverse=True)[1].ravel())


def verdict(a: Score, b: Score, groups: NDArray[np.int64], of: str) -> str:
    """Return which of two settings predicts held-out counts better, or that it is open.

    See :func:`uncletc.compare.difference`: entries of one group are no independent evidence.

    Parameters
    ----------
    a, b : Score
    groups : ndarray of int, shape (n,)
        Of the held-out entries; those of one group vary together.
    of : str
        What a group is, in the plural.
    """
    by_deviance = _ahead(a.deviances, b.deviances, groups)
    by_square = _ahead(a.squares, b.squares, groups)
    numbers = f"Poisson deviance {a.deviance:.3g} for A, {b.deviance:.3g} for B"
    over = f"{len(groups):,} counts in {len(np.unique(groups)):,} {of}"
    if np.array_equal(a.deviances, b.deviances):
        return f"**A and B predict held-out counts identically**: {numbers}."
    if by_deviance is None:
        head = (
            f"**A and B predict held-out counts about equally well**: {numbers}, a difference "
            f"that another choice of {over} could reverse."
        )
    else:
        head = (
            f"**{by_deviance} predicts held-out counts better**: {numbers}, a clear difference "
            f"over {over}."
        )
    if by_square is None:
        tail = " rRMSE, which a few very large counts dominate, does not separate them."
    elif by_deviance in (None, by_square):
        tail = f" By rRMSE, {by_square} is {'ahead' if by_deviance is None else 'ahead as well'}."
    else:
        tail = f" But by rRMSE, which a few very large counts dominate, {by_square} is ahead."
    return head + tail


def _ahead(a: NDArray[np.float64], b: NDArray[np.float64], groups: NDArray[np.int64]) -> str | None:
    """Return whose errors are clearly smaller on the same entries; None where it is unclear."""
    found = compare.difference(a, b, groups)
    return None if not found.clear else "A" if found.mean < 0 else "B"


def held_out_words(scores: Mapping[str, Score], dataset: Dataset, runs: Sequence[Run]) -> str:
    """Return what the held-out errors are and mean, as far as they are known.

    Parameters
    ----------
    scores : mapping of str to Score
        By "A" and "B".
    dataset : Dataset
        With all counts.
    runs : sequence of Run
        A and B.
    """
    groups, mode = held_places(dataset), escape(dataset.counts.modes[-1])
    first = "Not known yet: the second fits of A and B have not finished."
    if {"A", "B"} <= set(scores):
        first = verdict(scores["A"], scores["B"], groups, escape(place_words(dataset)[1]))
    words = [
        first,
        f"Both are fitted again without a random tenth of the counted entries ({len(groups):,}, "
        "the same for A and B), which they then predict. Lower is better.",
    ]
    words += [
        f"{side} has seen only the {run.part} of the {mode}s; for the others it predicts "
        f"with the λ of an average {mode}."
        for side, run in zip("AB", runs, strict=True)
        if run.part != "all"
    ]
    return " ".join(words)


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
            rate, p = each.rate(counts.attribute_indices), each.detection(counts.attributes)
            against = "against the simulated truth"
            table.loc[f"MAE of λ {against}", side] = mae_rate(rate, truth.rate[where])
            table.loc[f"MAE of p {against}", side] = mae_detection(p, truth.detection[where])
        table.loc["Seconds to fit", side] = each.history[-1].seconds
    return table.astype(float)


def as_text(table: pd.DataFrame) -> pd.DataFrame:
    """Return numbers as a page shows them, with a dash where there are none."""
    return table.map(lambda value: "–" if pd.isna(value) else f"{value:,.3g}")


def sweep_table(
    dataset: Dataset, fits: Mapping[Any, tuple[Fit | None, Fit | None]], current: Any
) -> pd.DataFrame:
    """Return what is known so far of a sweep, one row per value of the parameter.

    Parameters
    ----------
    dataset : Dataset
        With all counts, and the roles of the fits.
    fits : mapping of int or str to pair of Fit
        First and second fit by value, in order; None where it has not finished.
    current : int or str
        The value that A has.

    Returns
    -------
    DataFrame
        value, deviance, rrmse, like_a and like_before (Spearman's correlation of mean p, place by
        place, with that of A and with that of the value before), seconds; NaN where unknown.
    """
    counts, modes = dataset.counts, place_modes(dataset)
    nothing = np.full([counts.shape[k] for k in modes], np.nan).ravel()
    p = {
        value: nothing if first is None else mean_p(counts, first, modes).ravel()
        for value, (first, _) in fits.items()
    }
    rows, before = [], nothing
    for value, (first, second) in fits.items():
        judged = None if second is None else score(counts, second)
        rows.append(
            {
                "value": value,
                "deviance": np.nan if judged is None else judged.deviance,
                "rrmse": np.nan if judged is None else judged.rrmse,
                "like_a": spearman(p[value], p[current]),
                "like_before": spearman(p[value], before),
                "seconds": np.nan if first is None else first.history[-1].seconds,
            }
        )
        before = p[value]
    return pd.DataFrame(rows)


def sweep_insight(table: pd.DataFrame, parameter: str) -> str | None:
    """Return where the held-out deviance is lowest; None before two values are known."""
    scored = table.dropna(subset="deviance")
    if len(scored) < 2:
        return None
    best = scored.loc[scored["deviance"].idxmin(), "value"]
    low, high = scored["deviance"].min(), scored["deviance"].max()
    flat = ""
    if high <= 1.05 * low:
        flat = " All lie within 5 % of each other: the choice hardly matters for predictions."
    steady, least = "", table["like_before"].min()
    if not np.isnan(least):
        much = "hardly changes" if least >= _STEADY else "changes"
        steady = (
            f" The ranking of p {much} from one value to the next: the lowest rank correlation is "
            f"{least:.2f}."
        )
    return (
        f"Of the {len(scored)} values tried so far, **{SWEEPS[parameter]} {best}** "
        f"predicts held-out counts best.{flat}{steady}"
    )
