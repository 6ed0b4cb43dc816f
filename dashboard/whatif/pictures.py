"""What-if page: tables behind its pictures of ranks and of pairs. Pure."""

from __future__ import annotations

from typing import Literal, get_args

import pandas as pd

from dashboard.shared.charts.places import is_own, place_modes
from dashboard.whatif.view import WhatIfView
from uncletc.datasets import Dataset

End = Literal["highest p under A", "highest p under B", "lowest p under A", "lowest p under B"]
ENDS: tuple[End, ...] = get_args(End)
_MOST_DRAWN = 150  # levels of each side of a matrix


def rank_shift(cells: pd.DataFrame, end: End, n: int = 10) -> pd.DataFrame:
    """The first n under A or under B, and where the other setting puts them.

    Parameters
    ----------
    cells : DataFrame
        See :class:`WhatIfView`.
    end : str
        Whose first n, and whether rank 1 is the highest or the lowest p.
    n : int

    Returns
    -------
    DataFrame
        label, rank_a, rank_b, and heights at_a and at_b to draw them at: the rank itself among
        the first n, below them in the order of their ranks.
    """
    which, side = end.split(" ")[0], end[-1].lower()
    ranks = cells[["label", "rank_a", "rank_b"]].copy()
    if which == "lowest":
        for column in ("rank_a", "rank_b"):
            ranks[column] = len(cells) + 1 - ranks[column]
    shown = ranks.nsmallest(n, f"rank_{side}").reset_index(drop=True)
    for column, at in (("rank_a", "at_a"), ("rank_b", "at_b")):
        rank = shown[column]
        place = rank.where(rank <= n)
        outside = rank[rank > n].rank(method="first") + n + 0.5
        shown[at] = place.fillna(outside).astype(float)
    return shown


def matrix(dataset: Dataset, view: WhatIfView, column: str) -> pd.DataFrame:
    """A column of a view as a matrix, NaN where the two were never seen together.

    Parameters
    ----------
    dataset : Dataset
    view : WhatIfView
        With two sides.
    column : str

    Returns
    -------
    DataFrame
        Of an own table with the levels that have most counts alone, as many as can be told apart.
    """
    rows, columns = view.sides
    wide = view.table.pivot(index=rows, columns=columns, values=column)
    if not is_own(dataset):
        plants, pollinators, _ = dataset.counts.labels
        return wide.reindex(index=list(plants), columns=list(pollinators))
    most = [
        view.table.groupby(side, sort=False)["counted"].sum().nlargest(_MOST_DRAWN).index
        for side in view.sides
    ]
    kept = [
        [label for label in dataset.counts.labels[k] if label in chosen]
        for k, chosen in zip(place_modes(dataset), map(set, most), strict=True)
    ]
    return wide.reindex(index=kept[0], columns=kept[1])
