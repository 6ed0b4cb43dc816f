"""What-if page: two fits of one data set in; frozen tables and sentences out. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dashboard.shared.charts.answers import color_limits, for_download, on_grid, over_last
from dashboard.shared.charts.places import (
    cell_notes,
    cells,
    free_names,
    is_covid,
    is_own,
    labels_of_pairs,
    level_groups,
    name_columns,
    pair_columns,
    place_modes,
    place_words,
)
from dashboard.shared.memory import remembered
from dashboard.shared.text.scripts import DATASET, Code, call, fit_code, given, load, script
from dashboard.shared.text.words import times
from dashboard.whatif.runs import Run, visible
from uncletc import CountTensor, Fit
from uncletc.datasets import Dataset

DIFFERENCE = "log₂ of p under B ÷ p under A"
_ALIKE = ((0.95, "almost the same way"), (0.8, "similarly"), (0.5, "somewhat similarly"))


@dataclass(frozen=True, eq=False, kw_only=True)
class WhatIfView:
    """What the What-if page draws of two fits.

    Attributes
    ----------
    table : DataFrame
        One row per county, or per interaction seen at least once, or per place of an own table:
        its names, p_a and p_b (p averaged over days or visits, over the median of the rows; NaN
        where there are no attributes), log2_ratio of p_b to p_a, and for counties cell_note.
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
    sides : tuple of str
        Columns of `table` that name rows and columns of a matrix; one for a list of levels, none
        for counties.
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
    sides: tuple[str, ...] = ()

    @property
    def main_table(self) -> pd.DataFrame:
        """`table` to download: p is called relative_detection."""
        return for_download(self.table, absolute=False)

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


def build_whatif_view(
    dataset: Dataset, a: Fit, b: Fit, *, of_b: Dataset | None = None
) -> WhatIfView:
    """Return p under A and under B, each relative to its own median, place by place.

    The median is over the rows that are compared, not over entries: then the typical place does
    not differ between A and B, however much p varies over time under either.

    Parameters
    ----------
    dataset : Dataset
        With the roles of A.
    a, b : Fit
        Of these counts, or of a part of them.
    of_b : Dataset, optional
        The same with the roles of B, where they are others.
    """
    if is_own(dataset):
        return _own_view(dataset, a, b, dataset if of_b is None else of_b)
    covid, pair, rows = is_covid(dataset), pair_columns(dataset), dataset.table
    if not covid:
        rows = rows[rows["interactions"] > 0]
    where = tuple(rows[pair].to_numpy().T)
    both = ((dataset, a), (dataset if of_b is None else of_b, b))
    p_a, p_b = (mean_p(each.counts, fit)[where] for each, fit in both)
    p_a, p_b = p_a / np.nanmedian(p_a), p_b / np.nanmedian(p_b)
    rows = rows.assign(p_a=p_a, p_b=p_b, log2_ratio=np.log2(p_b / p_a))
    ranked = _ranked(rows, pair, covid=covid)
    of, one = ("county cells", "county") if covid else ("interactions", "interaction")
    table = rows[[*name_columns(dataset), "p_a", "p_b", "log2_ratio"]].reset_index(drop=True)
    places: dict[str, int] = {}
    if covid:
        table["cell_note"] = cell_notes(rows)
        rows_with_p = rows.merge(ranked[pair].assign(row=range(len(ranked))), on=pair)
        places = dict(zip(rows_with_p["fips"], rows_with_p["row"].tolist(), strict=True))
    correlation = spearman(ranked["p_a"].to_numpy(), ranked["p_b"].to_numpy())
    return WhatIfView(
        table=table,
        cells=ranked,
        of=of,
        title=f"relative p (median {one} = 1)",
        statement=f"relative: under A and under B the median {one} has 1",
        limits=color_limits(ranked[["p_a", "p_b"]]),
        difference_limit=max(float(ranked["log2_ratio"].abs().quantile(0.98)), 0.1),
        correlation=correlation,
        insight=_insight(ranked, of, correlation),
        places=places,
        sides=() if covid else ("plant", "pollinator"),
    )


def _own_view(dataset: Dataset, a: Fit, b: Fit, of_b: Dataset) -> WhatIfView:
    """The same by the places of a reader's own table."""
    modes = place_modes(dataset)
    places, _ = level_groups(dataset.counts, modes)
    index = [f"index_{i}" for i in range(len(modes))]
    for side, of, fit in (("p_a", dataset, a), ("p_b", of_b, b)):
        # B may know attributes of other entries, and so other places, than A.
        known, groups = level_groups(of.counts, modes)
        p = np.bincount(groups, fit.detection(of.counts.attributes), len(known)) / known["entries"]
        means = known[index].assign(**{side: p / np.nanmedian(p)})
        places = places.merge(means, on=index, how="left")
    places = places.assign(log2_ratio=np.log2(places["p_b"] / places["p_a"]))
    ranked = _with_ranks(places.dropna(subset=["p_a", "p_b"]))
    correlation = spearman(ranked["p_a"].to_numpy(), ranked["p_b"].to_numpy())
    one, of_many = place_words(dataset)
    sides = free_names(
        [dataset.counts.modes[k] for k in modes], ("p_a", "p_b", "log2_ratio", "counted")
    )
    named = {
        side: np.asarray(dataset.counts.labels[k], dtype=object)[places[column]]
        for side, k, column in zip(sides, modes, index, strict=True)
    }
    return WhatIfView(
        table=pd.DataFrame(named | dict(places[["counted", "p_a", "p_b", "log2_ratio"]])),
        cells=ranked,
        of=of_many,
        title=f"relative p (median {one} = 1)",
        statement=f"relative: under A and under B the median {one} has 1",
        limits=color_limits(ranked[["p_a", "p_b"]]),
        difference_limit=max(float(ranked["log2_ratio"].abs().quantile(0.98)), 0.1),
        correlation=correlation,
        insight=_insight(ranked, of_many, correlation),
        places={},
        sides=sides,
    )


@remembered(32)
def mean_p(counts: CountTensor, fit: Fit) -> NDArray[np.float64]:
    """p averaged over the last mode, NaN where nothing is known.

    Returns
    -------
    ndarray, shape (I_1, …, I_{K-1})
        Read-only: it is shared.
    """
    mean = over_last(on_grid(counts, fit.detection(counts.attributes)))
    mean.flags.writeable = False
    return mean


def spearman(first: NDArray[np.float64], second: NDArray[np.float64]) -> float:
    """Correlation of the ranks, between -1 and 1; NaN where either is constant."""
    ranks = pd.DataFrame({"first": first, "second": second}).dropna().rank()
    if ranks.nunique().min() < 2:
        return float("nan")
    return float(np.corrcoef(ranks["first"], ranks["second"])[0, 1])


def whatif_script(source: str | Code, a: Run, b: Run) -> str:
    """Return a script that makes `table` of :class:`WhatIfView`."""
    same = (a.roles.roles, a.roles.looks) == (b.roles.roles, b.roles.looks)
    dataset = load(source, a.roles if same else None)
    of_run = {run: DATASET if same else given(DATASET, run.roles) for run in (a, b)}
    fits = {}
    for name, run in (("a", a), ("b", b)):
        counts = Code(f"{of_run[run].text}.counts", of_run[run].imports)
        seen = counts if run.part == "all" else call(visible, counts, run.part)
        fits[name] = fit_code(seen, run.settings)
    of_b = {} if same else {"of_b": of_run[b]}
    table = call(build_whatif_view, of_run[a], Code("a"), Code("b"), take=".main_table", **of_b)
    return script(table, dataset=dataset, **fits)


def _ranked(rows: pd.DataFrame, pair: list[str], *, covid: bool) -> pd.DataFrame:
    """One row per cell or interaction with p, the highest p under A first."""
    with_p = rows.dropna(subset=["p_a", "p_b"])
    with_p = cells(with_p) if covid else with_p.assign(label=labels_of_pairs(with_p))
    return _with_ranks(with_p[["p_a", "p_b", "log2_ratio", *pair, "label"]])


def _with_ranks(rows: pd.DataFrame) -> pd.DataFrame:
    ranked = rows.copy()
    for side in ("a", "b"):
        ranks = ranked[f"p_{side}"].rank(method="first", ascending=False)
        ranked[f"rank_{side}"] = ranks.astype(int)
    return ranked.sort_values("rank_a").reset_index(drop=True)


def _insight(cells: pd.DataFrame, of: str, correlation: float) -> str:
    if np.isnan(correlation):
        return f"One of the two finds the same detection in all {len(cells):,} {of}."
    alike = next((words for least, words in _ALIKE if correlation >= least), "very differently")
    most = cells.loc[cells["log2_ratio"].abs().idxmax()]
    ratio = 2 ** float(abs(most["log2_ratio"]))
    typical = 2 ** float(cells["log2_ratio"].abs().median())
    common = int(((cells["rank_a"] <= 10) & (cells["rank_b"] <= 10)).sum())
    sides = ("A", "B") if most["log2_ratio"] > 0 else ("B", "A")
    return (
        f"**A and B order the {len(cells):,} {of} {alike}** (rank correlation {correlation:.2f}); "
        f"{common} of the 10 with the highest p under A are among the 10 under B. Half of them "
        f"change by less than a factor of {_factor_above(typical)}; the largest change is "
        f"{most['label']}, whose relative p is {times(ratio)} as high under {sides[1]} as under "
        f"{sides[0]}."
    )


def _factor_above(ratio: float) -> str:
    """A round number just above a ratio of at least 1: "1.1" for 1.04."""
    if ratio < 10:
        return f"{(math.floor(10 * ratio) + 1) / 10:.1f}"
    return f"{math.floor(ratio) + 1:,}"
