"""Counties, their cells, and other places or pairs of a data set, named and in order. Pure.

What pages compare is a place: a county, a pair of species, and of a reader's own table a level of
its first mode, or a pair of levels of its first two.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dashboard.countymap.picture import county_names
from dashboard.shared.text.words import escape
from uncletc import CountTensor
from uncletc.datasets import Dataset
from uncletc.tables import time_mode
from uncletc.tables.columns import is_fips

OWN = "own"  # name of the data set that is a reader's own table
_AT_EACH_END = 10  # places of a ranking that are drawn


@dataclass(frozen=True, eq=False, kw_only=True)
class Matrix:
    """Mean p of pairs of levels, in the order to draw.

    Attributes
    ----------
    p : DataFrame, shape (rows, columns)
        NaN where the two were never counted together. Index and columns are named after modes.
    seen : DataFrame
        Of the same shape: how many events were counted; 0 where none were.
    """

    p: pd.DataFrame
    seen: pd.DataFrame

    @classmethod
    def of(cls, pairs: pd.DataFrame, modes: Sequence[str], p: str, seen: str) -> Self:
        """Return a table with a row per pair as a matrix, the most often seen levels first.

        Parameters
        ----------
        pairs : DataFrame
        modes : sequence of str
            Its columns that name rows and columns of the matrix.
        p, seen : str
            Its columns of values and of counted events.
        """
        totals = (pairs.groupby(mode)[seen].sum() for mode in modes)
        rows, columns = (each.sort_values(ascending=False, kind="stable").index for each in totals)
        first, second = modes
        wide = pairs.pivot(index=first, columns=second, values=[p, seen])
        of_seen = wide[seen].loc[rows, columns].fillna(0).astype(int)
        return cls(p=wide[p].loc[rows, columns], seen=of_seen)


@dataclass(frozen=True, eq=False, kw_only=True)
class Ranking:
    """What a page ranks by one number, how that is drawn, and what it says.

    Attributes
    ----------
    ranked : DataFrame
        Highest first.
    title : str
        What the number is, for axes and colour bars.
    limits : tuple of float
        Of the colours, the same for all views that are compared.
    log : bool
        Whether values spread too far for a linear scale; the same for these views.
    insight : str
        The main finding in one sentence.
    caution : str, optional
        Why not to trust it, where there is a reason.
    same : bool
        Whether it is the same everywhere, so that a picture shows nothing.
    """

    ranked: pd.DataFrame
    title: str
    limits: tuple[float, float]
    log: bool
    insight: str
    caution: str | None
    same: bool = False

    @property
    def drawn(self) -> dict[str, Any]:
        """What maps and matrices of the number are given."""
        return {"title": self.title, "limits": self.limits, "log": self.log}

    @property
    def top(self) -> pd.DataFrame:
        """The first ten of `ranked`, or the first half where that is less."""
        return self.ranked.head(min(_AT_EACH_END, (len(self.ranked) + 1) // 2))

    @property
    def bottom(self) -> pd.DataFrame:
        """The last ten of those below `top`, the lowest first."""
        return self.ranked.iloc[len(self.top) :].tail(_AT_EACH_END).iloc[::-1]


def is_own(dataset: Dataset) -> bool:
    """Whether it is a reader's own table, or a part of one."""
    return dataset.name == OWN or dataset.name.startswith(f"{OWN}-")


def is_covid(dataset: Dataset) -> bool:
    """Whether the first two modes are latitude and longitude of counties."""
    return not is_own(dataset) and "fips" in dataset.table


def located_mode(dataset: Dataset) -> int | None:
    """The mode of an own table whose levels lie somewhere; None where none does."""
    for k, mode in enumerate(dataset.counts.modes):
        table = dataset.mode_tables.get(mode)
        if table is not None and ("fips" in table or {"latitude", "longitude"} <= set(table)):
            return k
    return None


def place_modes(dataset: Dataset) -> tuple[int, ...]:
    """The modes that name a place."""
    if not is_own(dataset):
        return (0, 1)
    located = located_mode(dataset)
    if located is not None:
        return (located,)
    return (0,) if len(dataset.counts.modes) == 2 else (0, 1)


def place_words(dataset: Dataset) -> tuple[str, str]:
    """What a place is called, and many of them: "county" and "county cells"."""
    if is_covid(dataset):
        return "county", "county cells"
    if not is_own(dataset):
        return "interaction", "interactions"
    return level_words([escape(dataset.counts.modes[k]) for k in place_modes(dataset)])


def level_words(modes: Sequence[str]) -> tuple[str, str]:
    """What a level of one mode, or one of each of several, is called, and many of them."""
    if len(modes) == 1:
        return modes[0], f"levels of {modes[0]}"
    kind, together = "pair" if len(modes) == 2 else "combination", " and ".join(modes)
    return f"{kind} of {together}", f"{kind}s of {together}"


def is_ordered(dataset: Dataset, mode: int) -> bool:
    """Whether the levels of a mode follow one another: they are days, or numbers."""
    if not is_own(dataset):
        return is_covid(dataset) or mode == len(dataset.counts.modes) - 1
    labels = dataset.counts.labels[mode]
    numbers = pd.to_numeric(pd.Series(labels), errors="coerce")
    return bool(np.isfinite(numbers).all()) or mode == time_mode(dataset.counts)


def pair_columns(dataset: Dataset) -> list[str]:
    """Columns of the table of a preset that hold the indices of the first two modes."""
    if is_covid(dataset):
        return ["latitude_index", "longitude_index"]
    return ["plant_index", "pollinator_index"]


def rows_of_pairs(
    dataset: Dataset, table: pd.DataFrame, where: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Row of a table of a preset for the first two of some indices (n, K); -1: it has none."""
    number = np.full(dataset.counts.shape[:2], -1)
    number[tuple(table[pair_columns(dataset)].to_numpy().T)] = np.arange(len(table))
    return number[tuple(where[:, :2].T)]


def labels_of_pairs(table: pd.DataFrame) -> pd.Series:
    """Names of interactions, from a table with plant and pollinator."""
    return table["plant"] + " – " + table["pollinator"]


def labels_of_counties(table: pd.DataFrame) -> pd.Series:
    """Names of counties, "Los Angeles County, CA", from a table with fips, county and state."""
    known = table["fips"].map(county_names())
    return known.fillna(table["county"] + ", " + table["state"])


def level_table(counts: CountTensor, modes: Sequence[int]) -> pd.DataFrame:
    """Return levels of some modes that have entries with attributes, most counted events first.

    Returns
    -------
    DataFrame
        label, counted (sum of counts), and index_0, index_1, … along the modes.
    """
    chosen = list(modes)
    sizes = tuple(counts.shape[k] for k in chosen)
    attributed, counted = (
        np.ravel_multi_index(tuple(where[:, chosen].T), sizes)
        for where in (counts.attribute_indices, counts.indices)
    )
    total = np.bincount(counted, counts.counts, math.prod(sizes)).astype(np.int64)
    every = np.unique(attributed)
    every = every[np.argsort(-total[every], kind="stable")]
    table = named_levels(counts, modes, np.unravel_index(every, sizes))
    table.insert(1, "counted", total[every])
    return table


def named_levels(
    counts: CountTensor, modes: Sequence[int], at: Sequence[NDArray[np.int64]]
) -> pd.DataFrame:
    """Return label, and index_0, index_1, …, of levels at these indices along some modes.

    Codes of counties stand before their names.
    """
    names = []
    for k, index in zip(modes, at, strict=True):
        known = county_names() if is_fips(counts.modes[k]) else {}
        labels = [f"{it} {known[it]}" if it in known else it for it in counts.labels[k]]
        names.append(np.asarray(labels, dtype=object)[index])
    label = distinct([" – ".join(parts) for parts in zip(*names, strict=True)])
    return pd.DataFrame({"label": label} | {f"index_{i}": index for i, index in enumerate(at)})


def place_table(dataset: Dataset) -> pd.DataFrame:
    """Places with attributes: key, label, and where, their indices along `place_modes`.

    Most populous or most often seen first; interactions seen at least once.
    """
    if is_own(dataset):
        found = level_table(dataset.counts, place_modes(dataset))
        where = list(found.filter(like="index_").itertuples(index=False, name=None))
        return pd.DataFrame({"key": found["label"], "label": found["label"], "where": where})
    table, covid = dataset.table, is_covid(dataset)
    if not covid:
        table = table[table["interactions"] > 0]
    size = "population" if covid else "interactions"
    table = table.sort_values(size, ascending=False, kind="stable")
    label = labels_of_counties(table) if covid else labels_of_pairs(table)
    where = table[pair_columns(dataset)]
    listed = pd.DataFrame(
        {
            "key": table["fips"] if covid else label,
            "label": label,
            "where": list(where.itertuples(index=False, name=None)),
        }
    )
    attributed = pd.MultiIndex.from_arrays(dataset.counts.attribute_indices[:, :2].T)
    return listed[pd.MultiIndex.from_frame(where).isin(attributed)].reset_index(drop=True)


def free_names(names: Sequence[str], taken: Sequence[str]) -> tuple[str, ...]:
    """Names of columns that are not taken by others, with what they are behind those that are."""
    return tuple(f"{name} (mode)" if name in taken else name for name in names)


def distinct(labels: Sequence[str]) -> list[str]:
    """Return labels with a number behind those that occurred before."""
    before = pd.Series(labels, dtype=object).groupby(labels, sort=False).cumcount()
    return [f"{label} ({k + 1})" if k else label for label, k in zip(labels, before, strict=True)]


def cells(table: pd.DataFrame) -> pd.DataFrame:
    """One row per cell of counties, the row of its most populous one, with its label.

    A cell is named after that county; "+2" means that two more share it.
    """
    largest = table.sort_values("population", ascending=False, kind="stable")
    largest = largest.drop_duplicates(["latitude_index", "longitude_index"])
    more = [f" +{n - 1}" if n > 1 else "" for n in largest["counties_in_cell"]]
    return largest.assign(label=labels_of_counties(largest) + more)


def cell_marks(table: pd.DataFrame) -> list[str | None]:
    """Return what marks the number of a county that is of a whole cell; None for one alone."""
    return [f" (cell of {n} counties)" if n > 1 else None for n in table["counties_in_cell"]]
