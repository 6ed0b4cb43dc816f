"""Plant–pollinator page: data, fit and choices in; frozen tables ready to draw out. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dashboard.shared.charts.answers import (
    Answers,
    DetectionGrids,
    axis_title,
    color_limits,
    contrast,
    dense,
    detection_grids,
    for_download,
    mean_ends,
    told_apart,
)
from dashboard.shared.charts.places import Matrix, Ranking, labels_of_pairs, pair_columns
from dashboard.shared.text.words import P_IS_THE_SAME, days_text, times
from uncletc import Anchor, Fit, Scale
from uncletc.datasets import Dataset
from uncletc.estimates import Sums, group_sums

Pick = Literal["highest mean", "lowest mean", "highest sd", "lowest sd"]
PICKS: dict[Pick, tuple[str, bool, str]] = {  # column, the smallest first, name of the button
    "highest mean": ("mean", False, "Highest mean"),
    "lowest mean": ("mean", True, "Lowest mean"),
    "highest sd": ("sd", False, "Varies most"),
    "lowest sd": ("sd", True, "Varies least"),
}
BY = ("pair", "plant", "pollinator", "guild", "season")
Order = Literal["mean p", "activity", "guild", "name"]
ORDERS: tuple[Order, ...] = ("mean p", "activity", "guild", "name")
MEADOWS_APART = "; "  # what parts the names of meadows in the table of a data set
MOST_CHOSEN = 5  # interactions drawn over each other
_WIDE = 20  # 95th over 5th percentile of mean p; beyond, a linear axis shows the largest alone


@dataclass(frozen=True, eq=False, kw_only=True)
class PpiView(Ranking):
    """What the plant–pollinator page draws.

    Attributes
    ----------
    interactions : DataFrame
        One row per interaction counted at least once in the chosen seasons and guilds, best mean
        p first: label, plant, pollinator, plant_index, pollinator_index, guild, interactions,
        mean, sd; where the fit has intervals low and high, the ends of the 90 % interval of
        that mean. Without a row where nothing was counted.
    ranked : DataFrame
        Best first: label, value, inside, and low and high as above.
    scale : Scale
    title : str
        What p is, for axes.
    log : bool
        Whether p spreads too far for a linear axis; the same for all seasons and guilds.
    limits : tuple of float
        Smallest and largest p of any interaction at any visit; the same for all seasons and guilds.
    mean_limits : tuple of float
        Colour limits for mean p; the same for all seasons and guilds.
    insight : str
        The main finding in one sentence.
    caution : str, optional
        Why not to trust it, where there is a reason.
    ranking : bool
        Whether listing the lowest and the highest says anything.
    answers : Answers, optional
        None where no interaction is shown.
    """

    interactions: pd.DataFrame
    scale: Scale
    title: str
    log: bool
    limits: tuple[float, float]
    mean_limits: tuple[float, float]
    insight: str
    caution: str | None
    ranking: bool
    answers: Answers | None

    @property
    def main_table(self) -> pd.DataFrame:
        """`interactions` to download, with what was reported and λ; what is p is `detection`."""
        table = self.interactions
        if self.answers is not None:
            pairs = self.answers.tables["pair"].rename(columns={"pair": "label"})
            drop = ["plant", "pollinator", "guild", "reported", "entries"]
            same = [name for name in pairs if name.startswith("detection")]
            table = table.merge(pairs.drop(columns=[*drop, *same]), on="label", how="left")
        return for_download(table, absolute=self.scale.absolute)


def build_ppi_view(
    dataset: Dataset,
    fit: Fit,
    anchor: Anchor,
    *,
    n: int = 10,
    years: Sequence[int] = (),
    guilds: Sequence[str] = (),
    meadows: Sequence[str] = (),
    grids: DetectionGrids | None = None,
    sums: Sums | None = None,
) -> PpiView:
    """Return mean and standard deviation of p over visits, per counted interaction.

    Parameters
    ----------
    dataset : Dataset
        Plant–pollinator counts, real or simulated.
    fit : Fit
    anchor : Anchor
    n : int
        Bars at each end.
    years : sequence of int
        The seasons to average over; none: all.
    guilds : sequence of str
        The pollinators to keep; none: all.
    meadows : sequence of str
        Keep interactions counted in any of them; none: all. p does not depend on meadows: counts
        are sums over them.
    grids : DetectionGrids, optional
        ``detection_grids(dataset, fit, anchor)`` if it has been computed already.
    sums : Sums, optional
        ``pair_sums(dataset, fit)`` if it has been computed already.
    """
    grids = detection_grids(dataset, fit, anchor) if grids is None else grids
    everything = shown = _interactions(dataset, fit, grids, (), (), ())
    if years or guilds or meadows:
        shown = _interactions(dataset, fit, grids, years, guilds, meadows)
    bars = pd.DataFrame(
        {
            "label": shown["label"],
            "value": shown["mean"],
            "inside": [
                f"{p:.2g}; {total:,} seen"
                for p, total in zip(shown["mean"], shown["interactions"], strict=True)
            ],
            **{end: shown[end] for end in grids.ends},
        }
    )
    p = grids.p[everything["plant_index"], everything["pollinator_index"]]
    ratio = contrast(shown["mean"])
    answers = None
    if not shown.empty:
        sums = pair_sums(dataset, fit) if sums is None else sums
        answers = build_answers(dataset, grids.scale, shown, sums, years=years)
    return PpiView(
        interactions=shown,
        ranked=bars,
        n=n,
        scale=grids.scale,
        title=axis_title(grids.scale),
        log=contrast(everything["mean"]) > _WIDE,
        limits=(float(np.nanmin(p)), float(np.nanmax(p))),
        mean_limits=color_limits(everything["mean"]),
        insight=_insight(ratio) if dataset.counts.n_attributes else P_IS_THE_SAME,
        caution=None
        if answers is None or not dataset.counts.n_attributes
        else answers.apart.caution(ratio),
        ranking=answers is not None and answers.apart.ranks(ratio),
        answers=answers,
    )


def pair_sums(dataset: Dataset, fit: Fit) -> Sums:
    """Sum counts, λ and p of each row of the data set's table in each season; seasons fastest."""
    counts = dataset.counts
    number = np.full(counts.shape[:2], -1)
    number[tuple(dataset.table[pair_columns(dataset)].to_numpy().T)] = np.arange(len(dataset.table))
    row = number[tuple(counts.indices[:, :2].T)]
    year = _year_of(dataset)
    season = np.searchsorted(np.unique(year), year)[counts.indices[:, 2]]
    return group_sums(fit, counts, np.where(row < 0, -1, row * len(np.unique(year)) + season))


def build_answers(
    dataset: Dataset,
    scale: Scale,
    shown: pd.DataFrame,
    sums: Sums,
    *,
    years: Sequence[int] = (),
) -> Answers:
    """Return answers for pairs, plants, pollinators, guilds and seasons of the pairs shown.

    All are of visits at which both species were seen, so that there is a count, perhaps 0.

    Parameters
    ----------
    dataset : Dataset
        Plant–pollinator counts, real or simulated.
    scale : Scale
    shown : DataFrame
        Of :class:`PpiView`: its interactions.
    sums : Sums
        ``pair_sums(dataset, fit)``.
    years : sequence of int
        The seasons to sum over; none: all.
    """
    every = np.unique(_year_of(dataset)).tolist()
    seasons = [year for year in every if year in years or not years]
    row, season = np.divmod(np.arange(len(sums.entries)), len(every))
    season = np.array([seasons.index(year) if year in seasons else -1 for year in every])[season]
    columns = pair_columns(dataset)
    position = pd.MultiIndex.from_frame(shown[columns]).get_indexer(
        pd.MultiIndex.from_frame(dataset.table[columns])
    )
    pair = np.where(season >= 0, position[row], -1)
    kept = sums.over(pair)
    ranks = kept.ranks()
    names = shown[["label", "plant", "pollinator", "guild"]].rename(columns={"label": "pair"})
    names = names.reset_index(drop=True)
    tables = {"pair": pd.concat([names, kept.table(scale), ranks], axis=1)}
    for by in ("plant", "pollinator", "guild"):
        labels, codes = np.unique(names[by].to_numpy(dtype=str), return_inverse=True)
        tables[by] = kept.over(codes).table(scale)
        tables[by].insert(0, by, labels)
    tables = {
        by: table.sort_values("reported", ascending=False, ignore_index=True)
        for by, table in tables.items()
    }
    of_seasons = sums.over(np.where(pair >= 0, season, -1)).table(scale)
    of_seasons.insert(0, "season", [str(year) for year in seasons[: len(of_seasons)]])
    return Answers(
        tables=tables | {"season": of_seasons},
        columns={by: [by, "guild"] if by == "pair" else [by] for by in BY},
        total=kept.over().table(scale).iloc[0].to_dict(),
        apart=told_apart(ranks, "interactions"),
        scale=scale,
    )


def _year_of(dataset: Dataset) -> NDArray[np.int64]:
    return dataset.mode_tables["visit"]["year"].to_numpy()


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


def pair_labels(dataset: Dataset) -> tuple[str, ...]:
    """The names of all interactions that were counted at least once, in order of the alphabet."""
    table = dataset.table[dataset.table["interactions"] > 0]
    return tuple(sorted(labels_of_pairs(table)))


def quick_pick(view: PpiView, pick: Pick) -> str:
    """The label of the interaction with the highest or lowest mean or standard deviation."""
    column, ascending, _ = PICKS[
        pick
    ]  # highest first both ways: equal means in the order of the bars
    ordered = view.interactions.sort_values(column, ascending=False, kind="stable")
    return str(ordered["label"].iloc[-1 if ascending else 0])


def toggled(chosen: Sequence[str], label: str) -> list[str]:
    """The choice after a click: added, or removed; the oldest makes room beyond five."""
    if label in chosen:
        return [each for each in chosen if each != label]
    return [*chosen, label][-MOST_CHOSEN:]


def chosen_visits(
    dataset: Dataset, grids: DetectionGrids, labels: Sequence[str], *, years: Sequence[int] = ()
) -> pd.DataFrame:
    """p of some interactions at every visit of the chosen seasons.

    Parameters
    ----------
    dataset : Dataset
    grids : DetectionGrids
    labels : sequence of str
        Of :func:`pair_labels`, in the order to draw.
    years : sequence of int
        None: all.

    Returns
    -------
    DataFrame
        One row per interaction and visit: label, year, number (of the visit in its season),
        dates, p, observed (bool), counted (NaN where not observed); low and high where the fit
        has intervals.
    """
    visits = dataset.mode_tables["visit"]
    keep = _visits_of(dataset, years)
    table = dataset.table.set_index(labels_of_pairs(dataset.table))
    where = tuple(table.loc[list(labels), pair_columns(dataset)].to_numpy().T)
    counted = dense(dataset.counts)[where][:, keep].ravel()
    shown = visits[keep]
    dates = [
        "" if pd.isna(first) or pd.isna(last) else days_text(first, last)
        for first, last in zip(shown["first_date"], shown["last_date"], strict=True)
    ]
    values = {"p": grids.p, **grids.ends}
    return pd.DataFrame(
        {
            "label": np.repeat(list(labels), len(shown)),
            "year": np.tile(shown["year"], len(labels)),
            "number": np.tile(shown["number"], len(labels)),
            "dates": dates * len(labels),
            **{name: grid[where][:, keep].ravel() for name, grid in values.items()},
            "observed": ~np.isnan(counted),
            "counted": counted,
        }
    )


def meadows_of(dataset: Dataset) -> list[str]:
    """Names of the meadows where anything was counted; none where the data do not tell."""
    if "meadows" not in dataset.table:
        return []
    names = dataset.table["meadows"].str.split(MEADOWS_APART).explode()
    return sorted(set(names) - {""})


def _interactions(
    dataset: Dataset,
    fit: Fit,
    grids: DetectionGrids,
    years: Sequence[int],
    guilds: Sequence[str],
    meadows: Sequence[str],
) -> pd.DataFrame:
    keep = _visits_of(dataset, years)
    table = dataset.table[["plant", "pollinator", "plant_index", "pollinator_index", "guild"]]
    pairs = tuple(table[pair_columns(dataset)].to_numpy().T)
    p = grids.p[pairs][:, keep]
    table = table.assign(
        label=labels_of_pairs(table),
        interactions=np.nansum(dense(dataset.counts)[pairs][:, keep], axis=1).astype(int),
        mean=p.mean(axis=1),
        sd=p.std(axis=1),
    )
    if grids.ends:
        visits, n = np.flatnonzero(keep), len(table)
        entries = np.column_stack(
            [*(np.repeat(each, len(visits)) for each in pairs), np.tile(visits, n)]
        )
        of_pair = np.repeat(np.arange(n), len(visits))
        ends = mean_ends(dataset.counts, fit, grids.scale, entries, of_pair)
        table = table.assign(**ends)
    counted = table["interactions"] > 0
    kept = table["guild"].isin(list(guilds)) if guilds else True
    if meadows:
        names = dataset.table["meadows"].str.split(MEADOWS_APART)
        kept &= names.map(lambda listed: not set(meadows).isdisjoint(listed))
    ranked = table[counted & kept].sort_values("mean", ascending=False, kind="stable")
    return ranked.reset_index(drop=True)


def _visits_of(dataset: Dataset, years: Sequence[int]) -> NDArray[np.bool_]:
    """Which visits lie in the chosen seasons; all where none is named."""
    year = _year_of(dataset)
    return np.isin(year, list(years) or year)


def _insight(ratio: float) -> str:
    return (
        f"An interaction is **{times(ratio)}** as likely to be seen among the "
        f"best-detected 5 % as among the worst-detected 5 %."
    )
