"""Plant–pollinator page: data, fit and choices in; frozen tables ready to draw out. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dashboard.shared.charts.answers import (
    Answers,
    DetectionGrids,
    axis_title,
    bars_of,
    color_limits,
    contrast,
    dense,
    findings,
    is_wide,
    rank_precision,
    undecided,
)
from dashboard.shared.charts.places import Ranking, labels_of_pairs, pair_columns, rows_of_pairs
from dashboard.shared.text.words import ALIKE, days_text
from uncletc import Fit, Scale
from uncletc.datasets import Dataset
from uncletc.estimates import Sums, group_sums

BY = ("pair", "plant", "pollinator", "guild", "season")
NOUN = "interactions"
Block = tuple[tuple[int, ...], tuple[int, ...]]
EVERYTHING: Block = ((), ())
MOST_CHOSEN = 5  # interactions drawn over each other
_NAMES = ("plant", "pollinator", "guild")


class Scope(NamedTuple):
    """Which counts a view is of; of all where nothing is chosen.

    Attributes
    ----------
    years : tuple of int
        The seasons to average over; none: all.
    block : tuple of (plants, pollinators)
        Their numbers along the modes, to keep; none: all.
    """

    years: tuple[int, ...] = ()
    block: Block = EVERYTHING


@dataclass(frozen=True, eq=False, kw_only=True)
class PpiView(Ranking):
    """What the plant–pollinator page draws.

    Attributes
    ----------
    interactions : DataFrame
        One row per interaction seen at least once in the chosen seasons, highest p
        first: pair (its label), plant, pollinator, guild, then what
        :meth:`uncletc.estimates.Sums.table` and :meth:`uncletc.estimates.Sums.ranks` have, over
        visits with a count.
    ranked : DataFrame
        As :func:`dashboard.shared.charts.answers.bars_of` returns it.
    limits : tuple of float
        For mean p.
    answers : Answers
    """

    interactions: pd.DataFrame
    answers: Answers

    @property
    def alike(self) -> bool:
        """Whether the fit finds no difference in p between interactions."""
        return contrast(self.ranked["value"]) < ALIKE or undecided(
            self.interactions, self.answers.scale
        )


def build_ppi_view(dataset: Dataset, grids: DetectionGrids, sums: Sums, scope: Scope) -> PpiView:
    """Return mean p over visits with a count, and λ, per interaction that was seen.

    Parameters
    ----------
    dataset : Dataset
        Plant–pollinator counts, real or simulated.
    grids : DetectionGrids
        ``detection_grids(dataset, fit, anchor)``.
    sums : Sums
        ``pair_sums(dataset, fit)``.
    scope : Scope
    """
    scale = grids.scale
    _, everything = _seen(dataset, sums, Scope())
    mean = sums.over(everything).table(scale)["detection"]
    names, pair = _seen(dataset, sums, scope)
    pairs, years = sums.over(pair), np.unique(_year_of(dataset))
    season = np.where(pair >= 0, np.arange(len(pair)) % len(years), -1)
    table = pd.concat([names, pairs.table(scale), pairs.ranks()], axis=1)
    answers = Answers(
        tables=_tables(dataset, scale, table, pairs, sums.over(season)),
        columns={by: [by, "guild"] if by == "pair" else [by] for by in BY},
        total=pairs.over().table(scale).iloc[0].to_dict() if len(names) else {},
        precision=rank_precision(table, scale, "interactions"),
        scale=scale,
        noun=NOUN,
    )
    note = [f"{seen:,.0f} seen" for seen in table["reported"]]
    bars = bars_of(table, pairs, scale, label=table["pair"], note=note)
    return PpiView(
        interactions=table.drop(columns=pair_columns(dataset)).sort_values(
            "detection", ascending=False, kind="stable", ignore_index=True
        ),
        ranked=bars,
        title=axis_title(scale),
        log=is_wide(mean),
        limits=color_limits(mean),
        answers=answers,
        **findings(dataset, answers.precision, bars["value"], "An interaction", "interactions"),
    )


def pair_sums(dataset: Dataset, fit: Fit) -> Sums:
    """Sum counts, λ and p of each row of the data set's table in each season; seasons fastest."""
    counts = dataset.counts
    row = rows_of_pairs(dataset, dataset.table, counts.indices)
    years, season = np.unique(_year_of(dataset), return_inverse=True)
    group = row * len(years) + season[counts.indices[:, 2]]
    return group_sums(fit, counts, np.where(row < 0, -1, group))


def _seen(dataset: Dataset, sums: Sums, scope: Scope) -> tuple[pd.DataFrame, NDArray[np.int64]]:
    """Interactions seen in a scope; and which each of the sums is of, or -1."""
    every = np.unique(_year_of(dataset))
    row, season = np.divmod(np.arange(len(sums.entries)), len(every))
    inside = np.isin(every, list(scope.years) or every)[season]
    table = dataset.table
    seen = np.bincount(row, sums.reported * inside, len(table)) > 0
    for column, kept in zip(pair_columns(dataset), scope.block, strict=True):
        if kept:
            seen &= table[column].isin(list(kept)).to_numpy()
    position = np.where(seen, np.cumsum(seen) - 1, -1)
    names = table.loc[seen, [*_NAMES, *pair_columns(dataset)]].reset_index(drop=True)
    names.insert(0, "pair", labels_of_pairs(names))
    return names, np.where(inside, position[row], -1)


def _tables(
    dataset: Dataset, scale: Scale, table: pd.DataFrame, pairs: Sums, seasons: Sums
) -> dict[str, pd.DataFrame]:
    """What is shown by pair, plant, pollinator, guild and season, most reported first."""
    tables = {"pair": table.drop(columns=pair_columns(dataset))}
    for by in _NAMES:
        labels, codes = np.unique(table[by].to_numpy(dtype=str), return_inverse=True)
        tables[by] = pairs.over(codes).table(scale)
        tables[by].insert(0, by, labels)
    tables = {
        by: found.sort_values("reported", ascending=False, ignore_index=True)
        for by, found in tables.items()
    }
    found = seasons.table(scale)
    found.insert(0, "season", np.unique(_year_of(dataset)).astype(str)[: len(found)])
    return tables | {"season": found[found["entries"] > 0].reset_index(drop=True)}


def _year_of(dataset: Dataset) -> NDArray[np.int64]:
    return dataset.mode_tables["visit"]["year"].to_numpy()


def pair_labels(dataset: Dataset) -> tuple[str, ...]:
    """The names of all interactions that were counted at least once, in order of the alphabet."""
    table = dataset.table[dataset.table["interactions"] > 0]
    return tuple(sorted(labels_of_pairs(table)))


def toggled(chosen: Sequence[str], label: str) -> list[str]:
    """The choice after a click: added, or removed; the oldest makes room beyond five."""
    if label in chosen:
        return [each for each in chosen if each != label]
    return [*chosen, label][-MOST_CHOSEN:]


def chosen_visits(
    dataset: Dataset, grids: DetectionGrids, labels: Sequence[str], *, years: Sequence[int] = ()
) -> pd.DataFrame:
    """Return p of some interactions at every visit of the chosen seasons.

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
    keep, visits = _visits(dataset, years)
    table = dataset.table.set_index(labels_of_pairs(dataset.table))
    where = tuple(table.loc[list(labels), pair_columns(dataset)].to_numpy().T)
    counted = dense(dataset.counts)[where][:, keep].ravel()
    values = {"p": grids.p, **grids.ends}
    return pd.concat([visits.assign(label=label) for label in labels] or [visits[:0]]).assign(
        **{name: grid[where][:, keep].ravel() for name, grid in values.items()},
        observed=~np.isnan(counted),
        counted=counted,
    )


def _visits(dataset: Dataset, years: Sequence[int]) -> tuple[NDArray[np.bool_], pd.DataFrame]:
    """Which visits are of some seasons, all for none; and their year, number and dates."""
    year = _year_of(dataset)
    keep = np.isin(year, list(years) or year)
    shown = dataset.mode_tables["visit"][keep]
    dates = [
        "" if pd.isna(first) or pd.isna(last) else days_text(first, last)
        for first, last in zip(shown["first_date"], shown["last_date"], strict=True)
    ]
    return keep, shown[["year", "number"]].assign(dates=dates)


def joint_visits(dataset: Dataset, fit: Fit, view: PpiView, years: Sequence[int]) -> pd.DataFrame:
    """Return mean p of all interactions of a view together at each visit, as `chosen_visits`.

    Parameters
    ----------
    dataset : Dataset
    fit : Fit
    view : PpiView
    years : sequence of int
        None: all.
    """
    counts, table = dataset.counts, dataset.table
    label = f"{len(view.interactions)} interactions together"
    shown = table[labels_of_pairs(table).isin(view.interactions["pair"])]
    inside = rows_of_pairs(dataset, shown, counts.indices) >= 0
    visit = np.where(inside, counts.indices[:, 2], -1)
    sums = group_sums(fit, counts, visit).table(view.answers.scale)
    keep, visits = _visits(dataset, years)
    found = sums.reindex(range(counts.shape[2]))[keep]
    names = {"detection": "p", "detection_low": "low", "detection_high": "high"}
    values = {new: found[old].to_numpy() for old, new in names.items() if old in found}
    counted = found["reported"].where(found["entries"] > 0).to_numpy()
    return visits.assign(label=label, **values, observed=~np.isnan(counted), counted=counted)
