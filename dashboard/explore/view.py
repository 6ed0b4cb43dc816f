"""Explore page: counts of any modes, a fit and choices in; frozen tables to draw out. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dashboard.explore.answers import too_many
from dashboard.shared.charts.answers import color_limits, contrast, for_download
from dashboard.shared.charts.places import Matrix, Ranking, is_ordered, level_groups, located_mode
from dashboard.shared.sidebar.anchors import Anchor, axis_title
from dashboard.shared.text.words import P_IS_THE_SAME, caution, times
from uncletc import CountTensor, Fit, Scale
from uncletc.datasets import Dataset

View = Literal["places", "pairs", "any mode"]
Quantity = Literal["p", "λ", "counts"]
QUANTITIES: tuple[Quantity, ...] = get_args(Quantity)
MOST_CHOSEN = 5  # lines drawn over each other
_MOST_DRAWN = 120  # levels of each side of a matrix
_WIDE = 20  # 95th over 5th percentile; beyond, a linear axis shows the largest alone
_NUMBERS = {"p": "mean p", "λ": "mean λ", "counts": "mean count"}


@dataclass(frozen=True, eq=False, kw_only=True)
class ExploreView(Ranking):
    """What the page draws by one mode, or by pairs of two.

    Attributes
    ----------
    modes : tuple of int
    names : tuple of str
        Of these modes.
    groups : DataFrame
        One row per level or pair with a value, highest first: label, entries (with attributes),
        observed (entries with a count), counted (their sum), value, low and high where the fit has
        intervals, and index_0, … along the modes.
    ranked : DataFrame
        The same for bars: label, value, inside, low, high.
    quantity : {"p", "λ", "counts"}
    title : str
        What the value is, for axes.
    log : bool
        Whether values spread too far for a linear axis.
    limits : tuple of float
        Colour limits.
    scale : Scale
    insight : str
        The main finding in one sentence.
    caution : str, optional
        Why not to trust it, where there is a reason.
    """

    modes: tuple[int, ...]
    names: tuple[str, ...]
    groups: pd.DataFrame
    quantity: Quantity
    title: str
    log: bool
    limits: tuple[float, float]
    scale: Scale
    insight: str
    caution: str | None

    @property
    def main_table(self) -> pd.DataFrame:
        """`groups` to download: columns of the modes, counts, and what the value is by name."""
        groups = self.groups.drop(columns=[n for n in self.groups if n.startswith("index_")])
        name = {"p": "p", "λ": "rate", "counts": "mean_count"}[self.quantity]
        renamed = groups.rename(
            columns={"value": name, "low": f"{name}_low", "high": f"{name}_high"}
        )
        return for_download(renamed, absolute=self.scale.absolute)


def views_of(dataset: Dataset) -> tuple[View, ...]:
    """What can be shown of a data set, the most telling first.

    Places come last where only a reader's shapes can tell where they lie.
    """
    places: tuple[View, ...] = ("places",) if located_mode(dataset) is not None else ()
    last = len(dataset.counts.modes) - 1
    several = last > 1 or not is_ordered(dataset, last)
    found: tuple[View, ...] = ("pairs", "any mode") if several else ("any mode", "pairs")
    return (*places, *found) if places else (*found, "places")


def mode_pairs(dataset: Dataset) -> dict[str, tuple[int, int]]:
    """Each pair of modes by its name, as indices of rows and columns."""
    modes = dataset.counts.modes
    return {f"{modes[i]} × {modes[j]}": (i, j) for i, j in combinations(range(len(modes)), 2)}


def ordered_modes(dataset: Dataset, apart_from: Sequence[int]) -> list[int]:
    """Modes whose levels follow one another, the last first, without some."""
    every = reversed(range(len(dataset.counts.modes)))
    return [k for k in every if k not in apart_from and is_ordered(dataset, k)]


def build_explore_view(
    dataset: Dataset,
    fit: Fit,
    anchor: Anchor,
    modes: tuple[int, ...],
    quantity: Quantity = "p",
    *,
    n: int = 10,
) -> ExploreView:
    """Return means over all entries of each level, or pair of levels.

    Parameters
    ----------
    dataset : Dataset
    fit : Fit
    anchor : Anchor
    modes : tuple of int
        One or two.
    quantity : {"p", "λ", "counts"}
        What is averaged: p or λ over entries with attributes, counts over those with one.
    n : int
        Bars at each end.
    """
    counts = dataset.counts
    groups, of_entry = level_groups(counts, modes)
    scale = anchor.of(counts, fit)
    groups = groups.assign(**_means(counts, fit, scale, groups, of_entry, quantity))
    groups = groups[np.isfinite(groups["value"])]
    groups = groups.sort_values("value", ascending=False, kind="stable", ignore_index=True)
    ends = [end for end in ("low", "high") if end in groups]
    ratio = contrast(groups["value"]) if (groups["value"] > 0).all() else np.inf
    names = tuple(counts.modes[k] for k in modes)
    same = quantity == "p" and not counts.n_attributes
    return ExploreView(
        modes=modes,
        names=names,
        groups=groups,
        ranked=groups[["label", "value", *ends]].assign(
            inside=[f"{total:,} counted" for total in groups["counted"]]
        ),
        n=n,
        quantity=quantity,
        title=value_title(quantity, scale),
        log=_WIDE < ratio < np.inf,
        limits=color_limits(groups["value"]) if len(groups) else (0.0, 1.0),
        scale=scale,
        insight=P_IS_THE_SAME if same else _insight(groups, names, quantity, ratio),
        caution=caution(ratio) if quantity == "p" and not same else None,
    )


def value_title(quantity: Quantity, scale: Scale) -> str:
    """What an axis or a colour bar says."""
    if quantity == "p":
        return axis_title(scale)
    if quantity == "counts":
        return "mean reported count"
    return f"λ per entry ({scale.statement})" if scale.absolute else "relative λ per entry"


def build_matrix(dataset: Dataset, view: ExploreView) -> Matrix:
    """Lay out pairs of levels as a matrix, in the order of their labels.

    Of modes with many levels those with the most counted events are kept.
    """
    rows = view.groups
    for name in ("index_0", "index_1"):
        most = rows.groupby(name)["counted"].sum().nlargest(_MOST_DRAWN).index
        rows = rows[rows[name].isin(most)]
    p, seen = (
        rows.pivot(index="index_0", columns="index_1", values=column)
        for column in ("value", "counted")
    )
    for table in (p, seen):
        table.index = pd.Index([dataset.counts.labels[view.modes[0]][i] for i in table.index])
        table.columns = pd.Index([dataset.counts.labels[view.modes[1]][i] for i in table.columns])
        table.index.name, table.columns.name = view.names
    return Matrix(p=p, seen=seen.fillna(0).astype(int))


def build_lines(
    dataset: Dataset,
    fit: Fit,
    anchor: Anchor,
    modes: tuple[int, ...],
    along: int,
    labels: tuple[str, ...],
    quantity: Quantity = "p",
) -> pd.DataFrame:
    """Means of a few levels or pairs at each step of an ordered mode.

    Parameters
    ----------
    dataset, fit, anchor, modes, quantity
        As for :func:`build_explore_view`.
    along : int
        The ordered mode.
    labels : tuple of str
        Of the groups to follow.

    Returns
    -------
    DataFrame
        One row per group and step, in order: label, step (its label), position, value, low and
        high where the fit has intervals, observed, counted.
    """
    counts = dataset.counts
    groups, _ = level_groups(counts, modes)
    chosen = groups[groups["label"].isin(labels)]
    columns = [name for name in groups if name.startswith("index_")]
    label_of = {tuple(row[columns]): row["label"] for _, row in chosen.iterrows()}
    cells, of_entry = level_groups(counts, (*modes, along))
    keys = list(cells[columns].itertuples(index=False, name=None))
    kept = np.array([key in label_of for key in keys], dtype=bool)
    keep = kept[of_entry]
    where = CountRows(counts.attribute_indices[keep], counts.attributes[keep])
    number = np.cumsum(kept) - 1
    cells = cells[kept].assign(label=[label_of[key] for key in keys if key in label_of])
    scale = anchor.of(counts, fit)
    means = _means_of(fit, scale, where, number[of_entry[keep]], cells, quantity)
    step = cells[f"index_{len(modes)}"]
    lines = cells.assign(
        step=np.asarray(counts.labels[along], dtype=object)[step], position=step, **means
    )
    order = {label: i for i, label in enumerate(labels)}
    lines = lines.assign(order=lines["label"].map(order)).sort_values(["order", "position"])
    ends = [end for end in ("low", "high") if end in lines]
    return lines[["label", "step", "position", "value", *ends, "observed", "counted"]].reset_index(
        drop=True
    )


@dataclass(frozen=True, eq=False)
class CountRows:
    """Some entries with attributes: where (n, K), and z (n, D)."""

    indices: NDArray[np.int64]
    attributes: NDArray[np.float64]


def _means(
    counts: CountTensor,
    fit: Fit,
    scale: Scale,
    groups: pd.DataFrame,
    of_entry: NDArray[np.int64],
    quantity: Quantity,
) -> dict[str, NDArray[np.float64]]:
    rows = CountRows(counts.attribute_indices, counts.attributes)
    return _means_of(fit, scale, rows, of_entry, groups, quantity)


def _means_of(
    fit: Fit,
    scale: Scale,
    rows: CountRows,
    of_entry: NDArray[np.int64],
    groups: pd.DataFrame,
    quantity: Quantity,
) -> dict[str, NDArray[np.float64]]:
    """value of each group, low and high where the fit has draws and there are not too many."""
    if quantity == "counts":
        observed = groups["observed"].to_numpy()
        means = groups["counted"] / np.maximum(observed, 1)
        return {"value": np.where(observed > 0, means, np.nan)}
    of = "detection" if quantity == "p" else "rate"
    if fit.draws is not None and not too_many(len(rows.indices), len(groups)):
        z = rows.attributes if quantity == "p" else None
        found = fit.mean(of, rows.indices, z, groups=of_entry)
        shown = scale.detection_interval(found) if quantity == "p" else scale.rate_interval(found)
        return {"value": shown.estimate, "low": shown.low, "high": shown.high}
    each = fit.detection(rows.attributes) if quantity == "p" else fit.rate(rows.indices)
    n = len(groups)
    mean = np.bincount(of_entry, each, n) / np.maximum(np.bincount(of_entry, minlength=n), 1)
    return {"value": scale.detection(mean) if quantity == "p" else scale.rate(mean)}


def _insight(groups: pd.DataFrame, names: tuple[str, ...], quantity: Quantity, ratio: float) -> str:
    what = names[0] if len(names) == 1 else f"pairs of {names[0]} and {names[1]}"
    if len(groups) < 2:
        return f"There are not two levels of {what} to compare."
    number = _NUMBERS[quantity]
    if not np.isfinite(ratio):
        return f"The {number} is 0 at some levels of {what}."
    of = f"{len(groups):,} levels of {what}" if len(names) == 1 else f"{len(groups):,} {what}"
    return (
        f"Over {of}, the {number} is **{times(ratio)}** as high among the highest 5 % as among the "
        "lowest 5 %."
    )
