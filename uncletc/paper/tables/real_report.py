"""The report's section on real counts."""

from __future__ import annotations

from functools import partial

import pandas as pd

from uncletc.baselines import PAPER_METHODS
from uncletc.paper.tables.real import EVERY, FOLDS, MEMBERS, RANKS
from uncletc.paper.words import amount, grid

TITLES = {"covid": "COVID-19, cases by place and day", "ppi": "Plant–pollinator interactions"}
_KINDS = {
    "entry": "single entries held out, as in the paper",
    "fibre": "whole fibres held out: a place on all days, a pair on all visits",
}
_METRICS = ("rRMSE", "deviance", "MAE", "AUROC")


def real_section(held_out: pd.DataFrame) -> str:
    """Held-out errors of all methods, for each data set and kind of folds."""
    low, high = RANKS
    parts = [
        "## Real counts: held-out errors",
        f"{FOLDS} folds in rotating roles: 3 train, 1 validates, 1 tests; mean ± standard "
        "deviation over test folds. The validation fold chooses the iteration by rRMSE (every "
        f"{EVERY}th and the last are tried); the test fold chooses nothing. One rule holds for "
        f"every method with a rank: the first trial fits ranks {low} and {high}, and all trials of "
        "that data set and kind of folds use the one with the smaller validation rRMSE. That "
        "validation fold is the test fold of the second trial, but a choice between two ranks "
        "hardly affects its score. Iteration 0 is a method's start: no later iteration predicted "
        "the validation fold better. All other settings are defaults; the paper searched a grid. "
        "ŷ of a held-out entry is λ·g(z); the paper's public code uses a random p there. Smaller "
        "is better, except for AUROC, which measures how well ŷ separates counts above zero from "
        "zeros. The paper's numbers are for different tensors (its COVID-19 tensor holds one "
        "county per cell; here a cell sums its counties, with their population as exposure), so "
        "compare rankings, not magnitudes.",
    ]
    for (data, kind), group in held_out.groupby(["data", "kind"], sort=False):
        data, kind = str(data), str(kind)
        parts += [f"### {TITLES.get(data, data)}: {_KINDS.get(kind, kind)}", _grid(group)]
        parts.append(_verdict(group))
    if MEMBERS in set(held_out["method"]):
        parts.append(
            f"“{MEMBERS}” is the median of five fits; it is costly, so one table alone has it."
        )
    return "\n\n".join(parts)


def _grid(group: pd.DataFrame) -> str:
    cells = {(row["method"], row["metric"]): row for row in group.to_dict("records")}
    rows = []
    for method in [name for name in (*PAPER_METHODS, MEMBERS) if (name, "rRMSE") in cells]:
        scores = [cells.get((method, metric)) for metric in _METRICS]
        first = cells[method, "rRMSE"]
        rows.append(
            [
                method,
                *("–" if cell is None else _amount(cell["mean"], cell["sd"]) for cell in scores),
                _amount(first["paper_mean"], first["paper_sd"]),
                first["n"],
                first["settings"],
                f"{first['seconds']:.0f}",
            ]
        )
    head = ["method", *_METRICS, "paper's rRMSE", "folds", "setting", "seconds per fold"]
    return grid(head, rows)


_amount = partial(amount, mean_as=".3g", deviation_as=".2g")


def _verdict(group: pd.DataFrame) -> str:
    """One sentence: which method has the smallest rRMSE, and the rank of UncleTC."""
    errors = group[(group["metric"] == "rRMSE") & (group["method"] != MEMBERS)]
    ordered = errors.sort_values("mean").to_dict("records")
    best, names = ordered[0], [row["method"] for row in ordered]
    text = f"Smallest mean rRMSE: {best['method']}, {best['mean']:.3g}."
    if "UncleTC" in names[1:]:
        place = names.index("UncleTC")
        ours = ordered[place]["mean"]
        text += f" UncleTC is number {place + 1} of {len(ordered)}, {ours:.3g}."
    return text
