"""Plant–pollinator page: data, fit and choices in; frozen tables ready to draw out. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import pandas as pd

from dashboard.anchors import Anchor, axis_title
from dashboard.views_covid import detection_grids
from dashboard.words import caution, times
from uncletc import Fit, Scale
from uncletc.datasets import Dataset

Pick = Literal["highest mean", "lowest mean", "highest sd", "lowest sd"]
PICKS: dict[Pick, tuple[str, bool]] = {
    "highest mean": ("mean", False),
    "lowest mean": ("mean", True),
    "highest sd": ("sd", False),
    "lowest sd": ("sd", True),
}


@dataclass(frozen=True, eq=False, kw_only=True)
class PpiView:
    """What the plant–pollinator page draws.

    Attributes
    ----------
    interactions : DataFrame
        One row per interaction counted at least once, best mean p first: label, plant,
        pollinator, plant_index, pollinator_index, guild, interactions, mean, sd.
    top, bottom : DataFrame
        Best and worst first: label, value, inside; with 2 members or more low and high, the
        means over the visits of the ends of 90 % intervals.
    visits : DataFrame
        p of every interaction and visit: label, year, number, p, observed (bool), counted.
    scale : Scale
    title : str
        What p is, for axes.
    insight : str
        The main finding in one sentence.
    caution : str, optional
        Why not to trust it, where there is a reason.
    """

    interactions: pd.DataFrame
    top: pd.DataFrame
    bottom: pd.DataFrame
    visits: pd.DataFrame
    scale: Scale
    title: str
    insight: str
    caution: str | None


def build_ppi_view(dataset: Dataset, found: Fit, anchor: Anchor, *, n: int = 10) -> PpiView:
    """Return mean and standard deviation of p over visits, per counted interaction.

    Parameters
    ----------
    dataset : Dataset
        Plant–pollinator counts, real or simulated.
    found : Fit
    anchor : Anchor
    n : int
        Bars on either side.
    """
    grids = detection_grids(dataset, found, anchor)
    scale = grids.scale
    table = dataset.table[dataset.table["interactions"] > 0]
    label = table["plant"] + " – " + table["pollinator"]
    pairs = (table["plant_index"], table["pollinator_index"])
    over_visits = pd.DataFrame(grids.p[pairs], index=table.index)  # (interactions, visits)
    ends = {end: grid[pairs].mean(axis=1) for end, grid in grids.ends.items()}
    ranked = table.assign(
        label=label, mean=over_visits.mean(axis=1), sd=over_visits.std(axis=1, ddof=0), **ends
    ).sort_values("mean", ascending=False, kind="stable")
    bars = pd.DataFrame(
        {
            "label": ranked["label"],
            "value": ranked["mean"],
            "inside": [f"{total:,} seen" for total in ranked["interactions"]],
            **{end: ranked[end] for end in ends},
        }
    )
    worst, best = ranked["mean"].quantile([0.05, 0.95])
    ratio = float(best / worst)
    return PpiView(
        interactions=ranked.reset_index(drop=True),
        top=bars.head(n),
        bottom=bars.tail(n).iloc[::-1],
        visits=_visits(dataset, ranked, over_visits),
        scale=scale,
        title=axis_title(scale),
        insight=_insight(ratio),
        caution=caution(ratio),
    )


def quick_pick(view: PpiView, pick: Pick) -> str:
    """The label of the interaction with the highest or lowest mean or standard deviation."""
    column, ascending = PICKS[pick]
    # Highest first both ways, so that equal means come in the order of the bars.
    ordered = view.interactions.sort_values(column, ascending=False, kind="stable")
    return str(ordered["label"].iloc[-1 if ascending else 0])


def _visits(dataset: Dataset, ranked: pd.DataFrame, p: pd.DataFrame) -> pd.DataFrame:
    counts, visits = dataset.counts, dataset.mode_tables["visit"]
    y = pd.Series(
        counts.counts,
        index=pd.MultiIndex.from_arrays(counts.indices.T, names=["plant", "pollinator", "visit"]),
    )
    long = (
        p.loc[ranked.index]
        .rename_axis(columns="visit")
        .stack()
        .rename("p")
        .reset_index("visit")
        .join(ranked[["label", "plant_index", "pollinator_index"]])
    )
    entries = pd.MultiIndex.from_frame(long[["plant_index", "pollinator_index", "visit"]])
    counted = y.reindex(entries).to_numpy()
    where = long["visit"].to_numpy()
    return pd.DataFrame(
        {
            "label": long["label"].to_numpy(),
            "year": visits["year"].to_numpy()[where],
            "number": visits["number"].to_numpy()[where],
            "p": long["p"].to_numpy(),
            "observed": ~pd.isna(counted),
            "counted": counted,
        }
    )


def _insight(ratio: float) -> str:
    return (
        f"An interaction is **{times(ratio)}** as likely to be seen among the "
        f"best-detected 5 % as among the worst-detected 5 %."
    )
