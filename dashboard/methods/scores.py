"""Results of the worker as tables and sentences: methods compared on hidden counts. Pure.

A result is what :mod:`dashboard.work.orders` gives, plain numbers by name.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd

from dashboard.methods.view import OURS
from dashboard.methods.words import metric_of, number
from dashboard.shared.text.words import escape
from dashboard.work.orders import N_FOLDS, FoldKind
from uncletc import CountTensor, compare

Result = Mapping[str, Any]
FIELDS = {
    "rRMSE": "rrmse",
    "log score": "log_score",
    "deviance": "deviance",
    "MAE": "mae",
    "AUROC": "auroc",
    "coverage": "coverage",
}
SHOWN = ("log score", "deviance", "rRMSE", "MAE", "AUROC", "coverage")  # on the page


def scores_table(results: Mapping[str, Result], metric: str) -> pd.DataFrame:
    """Return mean and standard deviation of every measure over the folds of each method.

    Parameters
    ----------
    results : mapping of str to result
        By method; those that have finished.
    metric : str
        A key of :data:`FIELDS`: the best by it is first.

    Returns
    -------
    DataFrame
        method, folds, each of :data:`FIELDS` with its "± …" (NaN: one fold), seconds in all.
    """
    trials = pd.DataFrame(
        [{"method": method, **each} for method, all_ in results.items() for each in all_["trials"]],
        columns=["method", *FIELDS.values(), "seconds"],
    )
    methods = trials.groupby("method", sort=False)
    table = pd.DataFrame({"folds": methods.size()})
    for name, field in FIELDS.items():
        table[name], table[f"± {name}"] = methods[field].mean(), methods[field].std()
    table = table.assign(seconds=methods["seconds"].sum()).reset_index()
    rises = metric_of(metric).better != "higher"
    return table.sort_values(metric, ascending=rises, kind="stable", ignore_index=True)


def comparison(results: Mapping[str, Result], metric: str) -> str:
    """Which method predicts best, and in how many folds; empty with fewer than two methods."""
    described = metric_of(metric)
    if described.better is None:
        return ""
    sign = 1 if described.better == "lower" else -1
    values = pd.DataFrame(
        {
            method: pd.Series(
                [each.get(FIELDS[metric], math.nan) for each in result["trials"]], dtype=float
            )
            for method, result in results.items()
        }
    )
    means = values.mean().dropna()
    if len(means) < 2:
        return ""
    first, second = (sign * means).sort_values(kind="stable").index[:2]
    both = values[[first, second]].dropna()
    won = int((sign * both[first] < sign * both[second]).sum())
    words = (
        f"**{first} predicts hidden counts best**: {described.words} {number(means[first])}, then "
        f"{second} with {number(means[second])}"
    )
    if len(both) == 1:
        return words + ". One fold only: another may reverse it."
    gap = compare.Difference.of([sign * (both[second] - both[first])])
    words += (
        f"; it is ahead in {won} of {len(both)} folds, by {number(gap.mean)} ± {number(gap.error)} "
        "(standard error over folds)."
    )
    if not gap.clear:
        words += " Folds differ by more than this: do not rely on the difference."
    return words


def what_is_hidden(counts: CountTensor, kind: FoldKind) -> str:
    """What one fold hides, in words of the data."""
    if kind == "entry":
        return f"a random fifth of all counts, {len(counts.counts) // N_FOLDS:,}"
    *places, last = map(escape, counts.modes)
    return f"all counts of a fifth of all {' – '.join(places)} combinations, on every {last}"


def default_methods() -> list[str]:
    """Methods of a first comparison: ours, a fast one of the paper, and two common baselines."""
    return [OURS, "UncleTC(Linear)", "NTF-CPD-KL", "Main effects", "LightGBM"]
