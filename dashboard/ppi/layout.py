"""The interactions of a view as a matrix of plants and pollinators, in an order. Pure."""

from __future__ import annotations

from typing import Literal

import pandas as pd

from dashboard.ppi.view import PpiView
from dashboard.shared.charts.places import Matrix

Order = Literal["mean p", "activity", "guild", "name"]
ORDERS: tuple[Order, ...] = ("mean p", "activity", "guild", "name")


def build_matrix(view: PpiView, order: Order) -> Matrix:
    """Lay out the interactions of a view as a matrix.

    Parameters
    ----------
    view : PpiView
    order : {"mean p", "activity", "guild", "name"}
        Highest mean of mean p first; most interactions counted first; pollinators by the name of
        their guild and within it by activity, plants by activity; by name.
    """
    rows = view.interactions
    guild = rows.drop_duplicates("pollinator").set_index("pollinator")["guild"]
    plants, pollinators = (_ranked(rows, mode, order) for mode in ("plant", "pollinator"))
    if order == "guild":
        pollinators = sorted(pollinators, key=lambda name: guild[name])  # stable
    p, seen = (
        rows.pivot(index="plant", columns="pollinator", values=column).loc[plants, pollinators]
        for column in ("mean", "interactions")
    )
    return Matrix(p=p, seen=seen.fillna(0).astype(int), guilds=tuple(guild[pollinators]))


def _ranked(rows: pd.DataFrame, mode: str, order: Order) -> list[str]:
    by_name = rows.sort_values(mode).groupby(mode)
    if order == "name":
        return list(by_name.groups)
    score = by_name["mean"].mean() if order == "mean p" else by_name["interactions"].sum()
    return list(score.sort_values(ascending=False, kind="stable").index)
