"""What-if page: two fits of one data set in; frozen tables and sentences out. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dashboard.shared.scripts import arguments
from dashboard.shared.words import times
from dashboard.whatif.runs import Run, half_of
from uncletc import CountTensor, Fit, FitSettings
from uncletc.datasets import Dataset

End = Literal["highest p under A", "highest p under B", "lowest p under A", "lowest p under B"]
ENDS: tuple[End, ...] = get_args(End)
DIFFERENCE = "log₂ of p under B ÷ p under A"
_PAIRS = ("latitude_index", "longitude_index", "plant_index", "pollinator_index")
_ALIKE = ((0.95, "almost the same way"), (0.8, "similarly"), (0.5, "in part alike"))


@dataclass(frozen=True, eq=False, kw_only=True)
class WhatIfView:
    """What the What-if page draws of two fits.

    Attributes
    ----------
    table : DataFrame
        One row per county, or per interaction seen at least once: its names, p_a and p_b (p
        averaged over days or visits, over the median of the rows; NaN where there are no
        attributes), log2_ratio of p_b to p_a, and for counties cell_note.
    cells : DataFrame
        One row per county cell (named after its most populous county) or interaction: label,
        p_a, p_b, log2_ratio, their ranks rank_a and rank_b, 1 the highest p, and indices.
    of : str
        What a row of `cells` is, in the plural.
    title, statement : str
        What p is: short, and as a part of a sentence.
    limits : tuple of float
        Limits of p that pictures of A and B share.
    difference_limit : float
        Largest log2_ratio of the colour scale, either way.
    correlation : float
        Spearman's, of p_a and p_b over the cells.
    insight : str
        What differs, in words.
    places : mapping of str to int
        For counties: row of `cells` by FIPS code; without those that have no p.
    """

    table: pd.DataFrame
    cells: pd.DataFrame
    of: str
    title: str
    statement: str
    limits: tuple[float, float]
    difference_limit: float
    correlation: float
    insight: str
    places: Mapping[str, int]

    def label_of(self, fips: str | None) -> str | None:
        """The label in `cells` that a county has; None without a county or without p."""
        row = self.places.get(fips or "")
        return None if row is None else str(self.cells["label"].iloc[row])

    def about(self, fips: str) -> str:
        """A county's p and rank under A and under B, in words."""
        row = self.table.set_index("fips").loc[fips]
        name = f"**{row['county']}, {row['state']}**"
        if fips not in self.places:
            return f"{name} has no attributes, so p is not known there."
        cell = self.cells.iloc[self.places[fips]]
        ratio = 2 ** abs(row["log2_ratio"])
        side = "B" if row["log2_ratio"] > 0 else "A"
        return (
            f"{name}: relative p is {row['p_a']:.3g} under A (rank {cell['rank_a']:,} of "
            f"{len(self.cells):,} cells) and {row['p_b']:.3g} under B (rank {cell['rank_b']:,}), "
            f"{times(ratio)} as high under {side}."
        )


def build_whatif_view(dataset: Dataset, a: Fit, b: Fit) -> WhatIfView:
    """Return p under A and under B, each relative to its own median, place by place.

    The median is over the rows that are compared, not over entries: then the typical place does
    not differ between A and B, however much p varies over time under either.

    Parameters
    ----------
    dataset : Dataset
        COVID-19 or plant–pollinator counts, real or simulated.
    a, b : Fit
        Of these counts, or of a part of them.
    """
    rows, names, pair = _rows(dataset)
    where = (rows[pair[0]].to_numpy(), rows[pair[1]].to_numpy())
    p_a, p_b = (mean_p(dataset.counts, each)[where] for each in (a, b))
    p_a, p_b = p_a / np.nanmedian(p_a), p_b / np.nanmedian(p_b)
    rows = rows.assign(p_a=p_a, p_b=p_b, log2_ratio=np.log2(p_b / p_a))
    cells = _cells(rows, covid="fips" in rows)
    of = "county cells" if "fips" in rows else "interactions"
    one = "county" if "fips" in rows else "interaction"
    values = cells[["p_a", "p_b"]].to_numpy()
    low, high = (float(limit) for limit in np.quantile(values, [0.02, 0.98]))
    change = float(np.quantile(cells["log2_ratio"].abs(), 0.98))
    correlation = spearman(cells["p_a"].to_numpy(), cells["p_b"].to_numpy())
    return WhatIfView(
        table=_with_notes(rows, names),
        cells=cells,
        of=of,
        title=f"relative p (median {one} = 1)",
        statement=f"relative: under A and under B the median {one} has 1",
        limits=(low, high) if low < high else (low * 0.9, low * 1.1),
        difference_limit=max(change, 0.1),
        correlation=correlation,
        insight=_insight(cells, of, correlation),
        places=_places(rows, cells),
    )


@lru_cache(maxsize=32)
def mean_p(counts: CountTensor, found: Fit) -> NDArray[np.float64]:
    """p averaged over the last of three modes, NaN where nothing is known.

    Returns
    -------
    ndarray, shape (I_1, I_2)
        Read-only: it is shared.
    """
    p = found.detection(counts.attributes)
    where = tuple(counts.attribute_indices[:, :2].T)
    total, n = np.zeros(counts.shape[:2]), np.zeros(counts.shape[:2])
    np.add.at(total, where, p)
    np.add.at(n, where, 1.0)
    mean = np.where(n > 0, total / np.maximum(n, 1.0), np.nan)
    mean.flags.writeable = False
    return mean


def spearman(first: NDArray[np.float64], second: NDArray[np.float64]) -> float:
    """Correlation of the ranks, between -1 and 1; NaN where either is constant."""
    ranks = pd.DataFrame({"first": first, "second": second}).dropna().rank()
    if ranks.nunique().min() < 2:
        return float("nan")
    return float(np.corrcoef(ranks["first"], ranks["second"])[0, 1])


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


def matrix(dataset: Dataset, table: pd.DataFrame, column: str) -> pd.DataFrame:
    """A column of interactions as plants × pollinators, NaN where never seen.

    Parameters
    ----------
    dataset : Dataset
        Plant–pollinator counts.
    table : DataFrame
        Of :class:`WhatIfView`.
    column : str
    """
    plants, pollinators, _ = dataset.counts.labels
    wide = table.pivot(index="plant", columns="pollinator", values=column)
    return wide.reindex(index=list(plants), columns=list(pollinators))


def code(dataset: Dataset, a: Run, b: Run) -> str:
    """Lines that make `table` of :class:`WhatIfView` from ``dataset``, ``counts`` and ``found``.

    ``found`` is a fit of all counts with the settings of A.
    """
    _, names, pair = _rows(dataset)
    rows = (
        "dataset.table" if "fips" in names else 'dataset.table[dataset.table["interactions"] > 0]'
    )
    first = [] if a.part == "all" else [f"found = uncletc.fit({_part(dataset, a)}, found.settings)"]
    quoted = ", ".join(f'"{name}"' for name in names)
    places = ", ".join(f'"{name}"' for name in pair)
    return "\n".join(
        [
            *first,
            f"other = uncletc.fit({_part(dataset, b)}, uncletc.{_settings(b.settings)})",
            f"rows = {rows}",
            f"places = pd.MultiIndex.from_frame(rows[[{places}]])",
            f"table = rows[[{quoted}]].reset_index(drop=True)",
            'for name, fit in (("p_a", found), ("p_b", other)):',
            "    p = fit.detection(counts.attributes)",
            "    by_place = list(counts.attribute_indices[:, :2].T)",
            "    mean = pd.Series(p).groupby(by_place).mean().reindex(places)",
            "    table[name] = (mean / mean.median()).to_numpy()",
            'table["log2_ratio"] = np.log2(table["p_b"] / table["p_a"])',
        ]
    )


def _rows(dataset: Dataset) -> tuple[pd.DataFrame, list[str], tuple[str, str]]:
    """Rows of the data set's table to show, the columns that name them, and their indices."""
    table = dataset.table
    if "fips" in table:
        return table, ["fips", "county", "state"], ("latitude_index", "longitude_index")
    seen = table[table["interactions"] > 0]
    return seen, ["plant", "pollinator"], ("plant_index", "pollinator_index")


def _with_notes(rows: pd.DataFrame, names: list[str]) -> pd.DataFrame:
    table = rows[[*names, "p_a", "p_b", "log2_ratio"]].reset_index(drop=True)
    if "fips" in names:
        table["cell_note"] = [
            None if n == 1 else f"one value for the {n} counties of its cell"
            for n in rows["counties_in_cell"]
        ]
    return table


def _cells(rows: pd.DataFrame, *, covid: bool) -> pd.DataFrame:
    known = rows.dropna(subset=["p_a", "p_b"])
    if covid:
        largest = known.sort_values("population", ascending=False, kind="stable")
        known = largest.drop_duplicates(["latitude_index", "longitude_index"])
        more = known["counties_in_cell"] - 1
        label = known["county"] + ", " + known["state"]
        label += [f" +{others}" if others else "" for others in more]
    else:
        label = known["plant"] + " – " + known["pollinator"]
    pair = [name for name in _PAIRS if name in known]
    cells = known[["p_a", "p_b", "log2_ratio", *pair]].assign(label=label)
    for side in ("a", "b"):
        ranks = cells[f"p_{side}"].rank(method="first", ascending=False)
        cells[f"rank_{side}"] = ranks.astype(int)
    return cells.sort_values("rank_a").reset_index(drop=True)


def _places(rows: pd.DataFrame, cells: pd.DataFrame) -> dict[str, int]:
    if "fips" not in rows:
        return {}
    pair = ["latitude_index", "longitude_index"]
    known = rows.merge(cells[pair].assign(row=range(len(cells))), on=pair)
    return dict(zip(known["fips"], known["row"].tolist(), strict=True))


def _insight(cells: pd.DataFrame, of: str, correlation: float) -> str:
    if np.isnan(correlation):
        return f"One of the two finds the same detection in all {len(cells):,} {of}."
    alike = next((words for least, words in _ALIKE if correlation >= least), "hardly alike")
    most = cells.loc[cells["log2_ratio"].abs().idxmax()]
    ratio = 2 ** float(abs(most["log2_ratio"]))
    typical = 2 ** float(cells["log2_ratio"].abs().median())
    common = int(((cells["rank_a"] <= 10) & (cells["rank_b"] <= 10)).sum())
    sides = ("A", "B") if most["log2_ratio"] > 0 else ("B", "A")
    return (
        f"**A and B order the {len(cells):,} {of} {alike}** (rank correlation {correlation:.2f}); "
        f"{common} of the 10 with the highest p under A are among the 10 under B. Half of them "
        f"change by less than {times(typical)}; the largest change is {most['label']}, with "
        f"{times(ratio)} as high a relative p under {sides[1]} as under {sides[0]}."
    )


def _part(dataset: Dataset, run: Run) -> str:
    """The counts that a setting sees, as Python."""
    if run.part == "all":
        return "counts"
    sign = "<" if run.part == "first half" else ">="
    return f"counts.subset(counts.indices[:, -1] {sign} {half_of(dataset.counts)})"


def _settings(settings: FitSettings) -> str:
    return f"FitSettings({arguments(settings)})"
