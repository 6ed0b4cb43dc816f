"""What was missed, by level of a mode or by pair of levels of two: tables, numbers, lines. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dashboard.shared.charts import places
from dashboard.shared.charts.answers import (
    FEW,
    Answers,
    anchor_words,
    answer,
    axis_title,
    color_limits,
    contrast,
    for_download,
    rank_precision,
    rate_name,
)
from dashboard.shared.text.words import P_IS_THE_SAME, caution, escape, plural, span, times
from uncletc import Anchor, CountTensor, Fit, Scale
from uncletc.datasets import Dataset
from uncletc.estimates import group_sums, reported_once

Quantity = Literal["p", "λ", "counts"]
MOST_CHOSEN = 5  # lines drawn over each other
MOST_LISTED = 10_000  # rows: each has some hundred draws of its λ and of its p
_MOST_DRAWN = 120  # levels of each side of a matrix
_WIDE = 20  # 95th over 5th percentile; beyond, a linear axis shows the largest alone
_SAME = 1 + 1e-6  # largest over smallest p that differ by rounding alone
_NUMBERS = {"p": "mean p", "λ": "mean λ", "counts": "mean count"}
_TAKEN = ("reported", "rate", "detection", "share", "p", "relative p", "entries")


@dataclass(frozen=True, eq=False, kw_only=True)
class LevelView:
    """Counts, λ and p by one mode, or by pairs of two; sums and means over entries with a count.

    Attributes
    ----------
    names : tuple of str
        Of the modes.
    table : DataFrame
        One row per level or pair with a count, most reported first: label, index_0, … along the
        modes, what :meth:`uncletc.estimates.Sums.table` has and, where attributes act on p, the
        columns of :meth:`uncletc.estimates.Sums.ranks`. The last row holds all others where there
        are too many to list.
    answers : Answers
        The same as the page shows it, under "levels".
    rest : int
        How many levels the last row holds.
    moved : bool
        Whether any attribute acts on p.
    once : str
        What sums have as reported where visits count the very same events; else empty.
    passes : str
        How many passes remove what they count, as "3 passes"; else empty.
    """

    names: tuple[str, ...]
    table: pd.DataFrame
    answers: Answers
    rest: int
    moved: bool
    once: str = ""
    passes: str = ""

    @property
    def scale(self) -> Scale:
        """Of p and λ."""
        return self.answers.scale

    @property
    def symbol(self) -> str:
        """What estimates of true counts are: N where repeat visits count the same events, or λ."""
        return "N" if self.once and self.scale.absolute else "λ"

    def sentence(self, *, so_far: bool = False, counted: str = "") -> str:
        """What was reported of what is `counted`, and how many there truly were, all together."""
        total = self.answers.total
        head = f"Reported {escape(counted)}:" if counted else "Reported"
        of = f"caught in {self.passes}" if self.passes else "reported"
        words = answer(total, self.scale, so_far=so_far, counted=head, detected=of, total=True)
        if not self.moved and not self.scale.absolute:
            words += f" {P_IS_THE_SAME}"
        if self.once:
            estimate = ", and the estimate is N" * self.scale.absolute
            words += f" Each event counts once: *reported* is {self.once}{estimate}."
        return f"**All counts together.** {words}"

    @property
    def main_table(self) -> pd.DataFrame:
        """`table` to download."""
        table = self.table.drop(columns=[n for n in self.table if str(n).startswith("index_")])
        table = for_download(table, self.scale)
        ends = ("", "_low", "_high") if self.symbol == "N" else ()
        return table.rename(columns={f"rate{end}": f"N{end}" for end in ends})

    def values(self, quantity: Quantity) -> places.Ranking:
        """Return p, λ per entry or the mean count of each level.

        Ranked are label, note (words in a bar), counted, index_0, …, value, low and high where the
        fit has intervals.
        """
        listed = self.table.head(len(self.table) - bool(self.rest))
        groups = listed[["label", *(name for name in listed if str(name).startswith("index_"))]]
        counted = listed["reported"].astype(np.int64)
        groups = groups.assign(
            note=[f"{total:,} counted" for total in counted],
            counted=counted,
            **_means(listed, quantity),
        )
        groups = groups[np.isfinite(groups["value"])].sort_values(
            "value", ascending=False, kind="stable", ignore_index=True
        )
        total, insight = self.answers.total, P_IS_THE_SAME
        ratio = contrast(groups["value"]) if (groups["value"] > 0).all() else np.inf
        same = quantity == "p" and (not self.moved or (len(groups) > 1 and ratio < _SAME))
        value = _NUMBERS[quantity].replace("λ", self.symbol)
        if same and "detection_low" in total and self.scale.absolute:
            ends = span(total["detection_low"], total["detection_high"])
            head = f"{'Mean p' if self.moved else 'p'}{' per pass' * bool(self.passes)}"
            each = " × ".join(map(escape, self.names))
            where = f"at each {each}" if self.moved else "everywhere"
            insight = f"{head} is **{total['detection']:.3g}** ({ends}) {where}."
        return places.Ranking(
            ranked=groups,
            title=value_title(quantity, self.scale, self.symbol, " per pass" * bool(self.passes)),
            log=_WIDE < ratio < np.inf,
            limits=color_limits(groups["value"]) if len(groups) else (0.0, 1.0),
            insight=insight if same else _insight(len(groups), self.names, value, ratio),
            caution=caution(ratio) if quantity == "p" and not same and len(groups) > 1 else None,
            same=same,
        )


def modes_of(dataset: Dataset, closed: Sequence[str] = ()) -> dict[str, tuple[int, ...]]:
    """Return the modes, groups and pairs that results may be by, the most telling first.

    Along a closed mode N is the same.
    """
    modes, groups = dataset.counts.modes, dataset.counts.groups
    shown = [k for k, mode in enumerate(modes) if mode not in closed]
    located = places.located_mode(dataset)
    single = {modes[k]: (k,) for k in shown}
    for g, each in enumerate(groups):
        if each.name not in modes and not {*each.modes} & {*closed}:
            single[each.name] = (-1 - g,)
    pairs = {f"{modes[i]} × {modes[j]}": (i, j) for i, j in combinations(shown, 2)}
    several = located is None and (len(modes) > 2 or not places.is_ordered(dataset, len(modes) - 1))
    first = {} if located is None else {modes[located]: (located,)}
    return pairs | single if several else first | single | pairs


def modes_of_p(dataset: Dataset) -> set[int]:
    """Modes along which covariates differ where all other levels are the same, so that p may."""
    index = pd.MultiIndex.from_arrays(dataset.counts.attribute_indices.T)
    z, modes = pd.DataFrame(dataset.counts.attributes, index), {*range(index.nlevels)}
    along = {k: z.groupby(level=sorted(modes - {k})) for k in modes}
    return {k for k, each in along.items() if (each.max() > each.min()).any(axis=None)}


def ordered_modes(
    dataset: Dataset, besides: Sequence[int], closed: Sequence[str] = ()
) -> dict[str, int]:
    """Return modes whose levels follow one another, the last first, besides some."""
    return {
        mode: k
        for k, mode in reversed(list(enumerate(dataset.counts.modes)))
        if k not in besides and mode not in closed and places.is_ordered(dataset, k)
    }


def value_title(quantity: Quantity, scale: Scale, symbol: str = "λ", per: str = "") -> str:
    """What an axis or a colour bar says."""
    if quantity == "p":
        return axis_title(scale).replace("probability p", f"probability p{per}")
    if quantity == "counts":
        return "mean reported count"
    if not scale.absolute:
        return rate_name(scale, per=" per entry")
    return f"{symbol} per entry ({anchor_words(scale)})"


def level_view(dataset: Dataset, fit: Fit, anchor: Anchor, modes: tuple[int, ...]) -> LevelView:
    """Return counts, λ and p of counted entries by level, and for all counts together.

    Parameters
    ----------
    dataset : Dataset
    fit : Fit
    anchor : Anchor
    modes : tuple of int
        One or two. -1, -2, …: one group of levels, in their order.
    """
    counts = dataset.counts
    levels, level = _levels(counts, modes)
    rest = max(len(levels) - MOST_LISTED, 0)
    if rest:
        levels = levels.head(MOST_LISTED + 1).copy()
        levels.loc[MOST_LISTED, "label"] = f"all {rest:,} others"
    sums = group_sums(fit, counts, np.minimum(level, MOST_LISTED))
    scale, moved = anchor.scale(counts, fit), bool(fit.n_attributes)
    in_time = any(k >= 0 and places.is_ordered(dataset, k) for k in modes)
    parts = [levels, sums.table(scale, at_least_reported=not (in_time and fit.reports_late))]
    precision = ""
    names = tuple(counts.modes[k] if k >= 0 else counts.groups[-1 - k].name for k in modes)
    if moved:
        group = np.arange(len(levels))
        group[len(group) - bool(rest) :] = -1
        parts.append(sums.over(group).ranks())
    table = pd.concat(parts, axis=1)
    if moved:
        what = f"levels of {escape(names[0])}" if len(modes) == 1 else "pairs"
        precision = rank_precision(table.head(len(table) - bool(rest)), scale, what)
    (name,) = places.free_names([" – ".join(names)], _TAKEN)
    same = [] if moved else [n for n in table if str(n).startswith("detection")]
    answers = Answers(
        tables={"levels": table.rename(columns={"label": name}).drop(columns=same)},
        columns={"levels": [name]},
        total=group_sums(fit, counts).table(scale).iloc[0].to_dict(),
        precision=precision,
        scale=scale,
    )
    return LevelView(
        names=names,
        table=table,
        answers=answers,
        rest=rest,
        moved=moved,
        once=reported_once(counts) if fit.settings.closed else "",
        passes=plural(counts.shape[1], counts.modes[1])
        if fit.settings.closed and counts.protocol == "removal"
        else "",
    )


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
    dataset, fit, anchor, modes
        As for :func:`level_view`.
    along : int
        The ordered mode.
    labels : tuple of str
        Of the levels or pairs to follow.
    quantity : {"p", "λ", "counts"}

    Returns
    -------
    DataFrame
        One row per label and step with a count, in order: label, step (its label), position,
        counted, value, low and high where the fit has intervals.
    """
    counts = dataset.counts
    levels, level = _levels(counts, modes)
    of_label = {label: i for i, label in enumerate(labels)}
    line = levels["label"].map(of_label).fillna(-1).to_numpy(dtype=np.int64)[level]
    n_steps, step = counts.shape[along], counts.indices[:, along]
    found = group_sums(fit, counts, np.where(line < 0, -1, line * n_steps + step))
    table = found.table(anchor.scale(counts, fit), at_least_reported=False)
    line, step = np.divmod(np.arange(len(table)), n_steps)
    lines = pd.DataFrame(
        {
            "label": np.asarray(labels, dtype=object)[line],
            "step": np.asarray(counts.labels[along], dtype=object)[step],
            "position": step,
            "counted": table["reported"].astype(np.int64),
            **_means(table, quantity),
        }
    )
    return lines[table["entries"] > 0].reset_index(drop=True)


def lines_table(lines: pd.DataFrame, quantity: Quantity, scale: Scale) -> pd.DataFrame:
    """Return the lines of :func:`build_lines` to download, their value called what it is."""
    name = {"p": "p", "λ": "rate", "counts": "mean_reported"}[quantity]
    names = {"value": name, "low": f"{name}_low", "high": f"{name}_high"}
    return for_download(lines.rename(columns=names), scale)


def build_matrix(dataset: Dataset, modes: tuple[int, ...], values: places.Ranking) -> places.Matrix:
    """Lay out pairs of levels as a matrix, in the order of their labels.

    Of modes with many levels those with the most counted events are kept.
    """
    rows, counts = values.ranked, dataset.counts
    for name in ("index_0", "index_1"):
        most = rows.groupby(name)["counted"].sum().nlargest(_MOST_DRAWN).index
        rows = rows[rows[name].isin(most)]
    p, seen = (
        rows.pivot(index="index_0", columns="index_1", values=column)
        for column in ("value", "counted")
    )
    for table in (p, seen):
        table.index = pd.Index([counts.labels[modes[0]][i] for i in table.index])
        table.columns = pd.Index([counts.labels[modes[1]][i] for i in table.columns])
        table.index.name, table.columns.name = (counts.modes[k] for k in modes)
    return places.Matrix(p=p, seen=seen.fillna(0).astype(int))


def _levels(counts: CountTensor, modes: tuple[int, ...]) -> tuple[pd.DataFrame, NDArray[np.int64]]:
    """Levels or pairs with a count, most reported first, and the row of each counted entry."""
    names, chosen = np.empty(0, dtype=object), list(modes)
    sizes = tuple(counts.shape[k] for k in chosen)
    if modes[0] >= 0:
        keys = np.ravel_multi_index(tuple(counts.indices[:, chosen].T), sizes)
    else:
        group = counts.groups[-1 - modes[0]]
        names = np.asarray([*group.labels, "none"], dtype=object)
        keys = group.at(counts.indices, counts.modes) % len(names)  # -1 is none
    every, own = np.unique(keys, return_inverse=True)
    order = np.argsort(-np.bincount(own, counts.counts, len(every)), kind="stable")
    if len(names):
        levels = pd.DataFrame({"label": names[every[order]], "index_0": every[order]})
    else:
        levels = places.named_levels(counts, modes, np.unravel_index(every[order], sizes))
    return levels, np.asarray(np.argsort(order)[own])


def _means(table: pd.DataFrame, quantity: Quantity) -> dict[str, pd.Series]:
    """value of each row, low and high where the fit has draws."""
    if quantity == "counts":
        return {"value": table["reported"] / table["entries"]}
    name, size = ("detection", 1) if quantity == "p" else ("rate", table["entries"])
    columns = {"value": name, "low": f"{name}_low", "high": f"{name}_high"}
    return {end: table[column] / size for end, column in columns.items() if column in table}


def _insight(n: int, names: tuple[str, ...], value: str, ratio: float) -> str:
    _, what = places.level_words([escape(name) for name in names])
    if n < 2:
        return f"There are not two {what} to compare."
    if not np.isfinite(ratio):
        return f"The {value} is 0 at some {what}."
    ends = "at the highest as at the lowest"
    if n >= FEW:
        ends = "at the 95th percentile as at the 5th"
    return f"Over {n:,} {what}, the {value} is **{times(ratio)}** as high {ends}."
