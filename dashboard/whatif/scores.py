"""What-if page: how well settings predict held-out counts, as tables and sentences. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dashboard.shared.charts.places import level_groups
from dashboard.shared.memory import remembered
from dashboard.whatif.runs import SWEEPS, Run, counts_of, held_rows
from dashboard.whatif.view import spearman
from uncletc import CountTensor, Fit, checking
from uncletc.compare.metrics import mae_detection, mae_rate, rrmse
from uncletc.datasets import Dataset

_LEAST = 1e-3  # predicted count, so that one 0 does not make a deviance infinite
_CLEAR = 2.0  # standard errors
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
def score(counts: CountTensor, fit: Fit) -> Score:
    """Judge a fit by ŷ = λ·g(z) of the held-out entries, which it has not seen."""
    held = held_rows(counts)
    return _score(counts.counts[held], checking.expected_at(fit, counts, held))


def constant_score(counts: CountTensor) -> Score:
    """Judge predicting the mean of the other counts everywhere."""
    held = held_rows(counts)
    return _score(counts.counts[held], np.full(len(held), np.delete(counts.counts, held).mean()))


def _score(y: NDArray[np.int64], predicted: NDArray[np.float64]) -> Score:
    predicted = np.maximum(predicted, _LEAST)
    each = checking.deviances(y, predicted)
    relative = rrmse(y, predicted) if y.any() else np.nan  # of sparse counts none may be held out
    return Score(relative, float(each.mean()), (y - predicted) ** 2, each)


def verdict(a: Score, b: Score, n: int) -> str:
    """Which of two settings predicts held-out counts better, or that one cannot tell.

    A difference counts as clear beyond two standard errors of its mean over the entries.
    """
    by_deviance, by_square = _ahead(a.deviances, b.deviances), _ahead(a.squares, b.squares)
    numbers = f"Poisson deviance {a.deviance:.3g} for A, {b.deviance:.3g} for B"
    if by_deviance is None:
        head = (
            "**A and B predict held-out counts about equally well**: "
            f"{numbers}, a difference that another choice of {n:,} entries could reverse."
        )
    else:
        head = (
            f"**{by_deviance} predicts held-out counts better**: {numbers}, a clear difference "
            f"over {n:,} entries."
        )
    if by_square is None:
        tail = " rRMSE, which a few very large counts dominate, does not separate them."
    elif by_deviance in (None, by_square):
        tail = f" By rRMSE, {by_square} is {'ahead' if by_deviance is None else 'ahead as well'}."
    else:
        tail = f" But by rRMSE, which a few very large counts dominate, {by_square} is ahead."
    return head + tail


def held_out_words(scores: Mapping[str, Score], counts: CountTensor, runs: Sequence[Run]) -> str:
    """What the held-out errors are and say, as far as they are known.

    Parameters
    ----------
    scores : mapping of str to Score
        By "A" and "B".
    counts : CountTensor
        All counts of the data set.
    runs : sequence of Run
        A and B.
    """
    n, mode = len(held_rows(counts)), counts.modes[-1]
    words = [
        f"Both are fitted again without a random tenth of the counted entries ({n:,}, the same "
        "for A and B), which they then predict. Lower is better."
    ]
    if runs[0] == runs[1]:
        words.insert(0, "A and B are identical.")
    elif {"A", "B"} <= set(scores):
        words.insert(0, verdict(scores["A"], scores["B"], n))
    else:
        words.insert(0, "Not known yet: the second fits of A and B have not finished.")
    words += [
        f"{side} has seen only the {run.part} of the {mode}s; for the others it predicts "
        f"with the λ of an average {mode}."
        for side, run in zip("AB", runs, strict=True)
        if run.part != "all"
    ]
    return " ".join(words)


def _ahead(a: NDArray[np.float64], b: NDArray[np.float64]) -> str | None:
    """Whose errors are clearly smaller on the same entries; None where it is unclear."""
    gap = b - a
    error = gap.std(ddof=1) / np.sqrt(len(gap)) if len(gap) > 1 else np.inf
    if not abs(gap.mean()) > _CLEAR * error:
        return None
    return "A" if gap.mean() > 0 else "B"


def score_table(
    dataset: Dataset,
    second: Mapping[str, Fit],
    first: Mapping[str, Fit],
    runs: Mapping[str, Run],
) -> pd.DataFrame:
    """Numbers of A and B side by side.

    Parameters
    ----------
    dataset : Dataset
        As it was loaded.
    second : mapping of str to Fit
        Second fits by "A" and "B", those that have finished.
    first : mapping of str to Fit
        First fits by "A" and "B".
    runs : mapping of str to Run
        Their settings.

    Returns
    -------
    DataFrame
        Indexed by what is measured, columns A, B and "mean count everywhere"; NaN where unknown.
    """
    truth = dataset.truth
    seen = {side: counts_of(dataset.counts, run) for side, run in runs.items()}
    scores = {side: score(seen[side], each) for side, each in second.items()}
    scores["mean count everywhere"] = constant_score(dataset.counts)
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
    """Numbers as a page shows them, with a dash where there are none."""
    return table.map(lambda value: "–" if pd.isna(value) else f"{value:,.3g}")


def sweep_table(
    counts: CountTensor, fits: Mapping[Any, tuple[Fit | None, Fit | None]], current: Any
) -> pd.DataFrame:
    """What is known so far of a sweep, one row per value of the parameter.

    Parameters
    ----------
    counts : CountTensor
        All counts of the data set, with the roles of the fits.
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
    _, groups = level_groups(counts, range(len(counts.modes) - 1))
    nothing = np.full(int(groups.max(initial=-1)) + 1, np.nan)
    p = {
        value: nothing if first is None else _means(counts, first, groups)
        for value, (first, _) in fits.items()
    }
    rows, before = [], nothing
    for value, (first, second) in fits.items():
        row = {"value": value, "deviance": np.nan, "rrmse": np.nan}
        if second is not None:
            judged = score(counts, second)
            row |= {"deviance": judged.deviance, "rrmse": judged.rrmse}
        row |= {"like_a": spearman(p[value], p[current]), "like_before": spearman(p[value], before)}
        row["seconds"] = np.nan if first is None else first.history[-1].seconds
        rows.append(row)
        before = p[value]
    return pd.DataFrame(rows)


def _means(counts: CountTensor, fit: Fit, groups: NDArray[np.int64]) -> NDArray[np.float64]:
    """Mean p of groups of the entries with attributes."""
    means: NDArray[np.float64] = np.bincount(groups, fit.detection(counts.attributes))
    return means / np.bincount(groups)


def sweep_insight(table: pd.DataFrame, parameter: str) -> str | None:
    """Where the held-out deviance is lowest; None before two values are known."""
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
