"""Plant–pollinator page: reported and true interactions of pairs, species and seasons. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from dashboard.shared.charts.answers import Apart, for_display, told_apart
from uncletc import Fit, Scale
from uncletc.datasets import Dataset
from uncletc.estimates import Sums, group_sums

BY = ("pair", "plant", "pollinator", "guild", "season")


@dataclass(frozen=True, eq=False, kw_only=True)
class PpiAnswers:
    """Counts, λ, p and the share counted, with intervals where the fit has them.

    All are of visits at which both species were seen, so that there is a count, perhaps 0.

    Attributes
    ----------
    tables : dict of str to DataFrame
        By what is in `BY`: its name, then what :meth:`uncletc.estimates.Sums.table` has, most
        reported first, and for pairs the columns of :meth:`uncletc.estimates.Sums.ranks`.
    total : dict
        One row of the same for all of them together.
    apart : Apart
        Whether pairs can be told apart by p.
    scale : Scale
    """

    tables: dict[str, pd.DataFrame]
    total: dict[str, Any]
    apart: Apart
    scale: Scale

    @cached_property
    def shown(self) -> dict[str, pd.DataFrame]:
        """`tables` as a page tabulates them."""
        return {
            by: for_display(table, [by, "guild"] if by == "pair" else [by], self.scale)
            for by, table in self.tables.items()
        }


def pair_sums(dataset: Dataset, fit: Fit, years: Sequence[int] = ()) -> Sums:
    """Sum counts, λ and p of each row of the data set's table, over the visits of some seasons."""
    counts = dataset.counts
    number = np.full(counts.shape[:2], -1)
    rows = dataset.table[["plant_index", "pollinator_index"]].to_numpy()
    number[tuple(rows.T)] = np.arange(len(rows))
    groups = number[tuple(counts.indices[:, :2].T)]
    if years:
        inside = np.isin(_year_of(dataset), list(years))
        groups = np.where(inside[counts.indices[:, 2]], groups, -1)
    return group_sums(fit, counts, groups)


def season_sums(dataset: Dataset, fit: Fit, pairs: Sequence[int]) -> tuple[list[int], Sums]:
    """Sum them over the pairs of some rows of the table, by season; return its years, too."""
    counts, year = dataset.counts, _year_of(dataset)
    years = sorted(set(year.tolist()))
    number = np.zeros(counts.shape[:2], dtype=bool)
    rows = dataset.table[["plant_index", "pollinator_index"]].to_numpy()[list(pairs)]
    number[tuple(rows.T)] = True
    season = np.searchsorted(years, year[counts.indices[:, 2]])
    shown = number[tuple(counts.indices[:, :2].T)]
    return years, group_sums(fit, counts, np.where(shown, season, -1))


def build_answers(
    dataset: Dataset,
    fit: Fit,
    scale: Scale,
    shown: pd.DataFrame,
    *,
    years: Sequence[int] = (),
    sums: Sums | None = None,
) -> PpiAnswers:
    """Return answers for the pairs shown.

    Parameters
    ----------
    dataset : Dataset
        Plant–pollinator counts, real or simulated.
    fit : Fit
    scale : Scale
    shown : DataFrame
        Of :class:`dashboard.ppi.view.PpiView`: its interactions.
    years : sequence of int
        The seasons to sum over; none: all.
    sums : Sums, optional
        ``pair_sums(dataset, fit, years)`` if it has been computed already.
    """
    sums = pair_sums(dataset, fit, years) if sums is None else sums
    pairs = pd.MultiIndex.from_frame(dataset.table[["plant_index", "pollinator_index"]])
    rows = pairs.get_indexer(pd.MultiIndex.from_frame(shown[["plant_index", "pollinator_index"]]))
    position = np.full(len(sums.entries), -1)
    position[rows] = np.arange(len(rows))
    kept = sums.over(position)
    ranks = kept.ranks()
    names = shown[["label", "plant", "pollinator", "guild"]].rename(columns={"label": "pair"})
    names = names.reset_index(drop=True)
    table = pd.concat([names, kept.table(scale), ranks], axis=1)
    tables = {"pair": table.sort_values("reported", ascending=False, ignore_index=True)}
    for by in ("plant", "pollinator", "guild"):
        labels, codes = np.unique(names[by].to_numpy(dtype=str), return_inverse=True)
        summed = kept.over(codes).table(scale)
        summed.insert(0, by, labels)
        tables[by] = summed.sort_values("reported", ascending=False, ignore_index=True)
    seasons, by_season = season_sums(dataset, fit, rows.tolist())
    summed = by_season.table(scale)
    summed.insert(0, "season", [str(year) for year in seasons[: len(summed)]])
    if years:
        summed = summed[summed["season"].isin([str(year) for year in years])]
    tables["season"] = summed.reset_index(drop=True)
    return PpiAnswers(
        tables=tables,
        total=kept.over().table(scale).iloc[0].to_dict(),
        apart=told_apart(ranks, "interactions"),
        scale=scale,
    )


def _year_of(dataset: Dataset) -> np.ndarray:
    return dataset.mode_tables["visit"]["year"].to_numpy()
