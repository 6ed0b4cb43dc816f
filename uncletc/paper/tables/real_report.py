"""The report's section on real counts."""

from __future__ import annotations

from functools import partial

import pandas as pd

from uncletc.baselines import METHODS
from uncletc.paper.tables.real import EVERY, FOLDS, MEMBERS, RANKS
from uncletc.paper.words import amount, grid

TITLES = {"covid": "COVID-19, cases by place and day", "ppi": "Plant–pollinator interactions"}
_KINDS = {
    "entry": "single entries hidden, as in the paper",
    "fibre": "whole fibres hidden: a place on all days, a pair on all visits",
}
_METRICS = ("rRMSE", "deviance", "MAE", "AUROC")


def real_section(held_out: pd.DataFrame) -> str:
    """Held-out errors of all methods, for each data set and kind of folds."""
    low, high = RANKS
    parts = [
        "## Real counts: held-out errors",
        f"{FOLDS} folds, roles rotating: 3 train, 1 validates, 1 tests; mean ± standard deviation "
        "over test folds. The validation fold chooses the iteration (looked at every "
        f"{EVERY}, and the last) by rRMSE; the test fold chooses nothing. One rule for every "
        f"method with a rank: the first trial fits ranks {low} and {high}, the one with the less "
        "validation rRMSE is used in all trials of that data set and kind of folds; that "
        "validation fold is the test fold of the second trial, which such a choice of one in two "
        "hardly touches. Iteration 0 is a method's start: no fit predicted the validation fold "
        "better than that. All else is at its defaults; the paper searched a grid. ŷ of a held-out "
        "entry is λ·g(z); the paper's public code takes a random p there. Smaller is better but "
        "for AUROC, which asks whether ŷ tells any count from none. The paper's figures are for "
        "its own, different tensors (its COVID-19 tensor holds one county per cell; here a cell "
        "sums its counties and its people are the exposure), so ranks compare, sizes do not.",
    ]
    for (data, kind), group in held_out.groupby(["data", "kind"], sort=False):
        data, kind = str(data), str(kind)
        parts += [f"### {TITLES.get(data, data)}: {_KINDS.get(kind, kind)}", _grid(group)]
        parts.append(_verdict(group))
    if MEMBERS in set(held_out["method"]):
        parts.append(f"“{MEMBERS}”: the median of five fits; run on one table only, for its cost.")
    return "\n\n".join(parts)


def _grid(group: pd.DataFrame) -> str:
    cells = {(one["method"], one["metric"]): one for one in group.to_dict("records")}
    rows = []
    for method in [name for name in (*METHODS, MEMBERS) if (name, "rRMSE") in cells]:
        own = [cells.get((method, metric)) for metric in _METRICS]
        first = cells[method, "rRMSE"]
        rows.append(
            [
                method,
                *("–" if one is None else _amount(one["mean"], one["sd"]) for one in own),
                _amount(first["paper_mean"], first["paper_sd"]),
                first["n"],
                first["settings"],
                f"{first['seconds']:.0f}",
            ]
        )
    head = ["method", *_METRICS, "paper's rRMSE", "folds", "setting", "seconds a fold"]
    return grid(head, rows)


_amount = partial(amount, mean_as=".3g", deviation_as=".2g")


def _verdict(group: pd.DataFrame) -> str:
    """One sentence: who has the least rRMSE, and where UncleTC stands."""
    errors = group[(group["metric"] == "rRMSE") & (group["method"] != MEMBERS)]
    ordered = errors.sort_values("mean").to_dict("records")
    best, names = ordered[0], [one["method"] for one in ordered]
    text = f"Least mean rRMSE: {best['method']}, {best['mean']:.3g}."
    if "UncleTC" in names[1:]:
        place = names.index("UncleTC")
        ours = ordered[place]["mean"]
        text += f" UncleTC is number {place + 1} of {len(ordered)}, {ours:.3g}."
    return text
