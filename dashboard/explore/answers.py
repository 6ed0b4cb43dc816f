"""Explore page: reported and true counts by level or pair of levels, and together. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from dashboard.shared.charts.answers import (
    Apart,
    answer,
    chance_words,
    for_display,
    open_scale,
    reports_late,
    told_apart,
)
from dashboard.shared.charts.places import distinct, free_names, is_ordered
from dashboard.shared.text.words import P_IS_THE_SAME
from uncletc import Fit, Scale
from uncletc.datasets import Dataset
from uncletc.estimates import Sums, group_sums

_TAKEN = ("reported", "rate", "detection", "share", "p", "relative p", "relative λ", "entries")
MOST_ENTRIES = 2_000_000  # beyond, means have no intervals: each draw looks at every entry
MOST_GROUPS = 20_000  # the same of levels or pairs, of each of which every draw has a mean
MOST_LISTED = 10_000  # rows: each has some hundred draws of its λ and of its p


@dataclass(frozen=True, eq=False, kw_only=True)
class LevelSums:
    """Counts, λ and p of levels of one mode, or of pairs of two, as fitted.

    Attributes
    ----------
    names : DataFrame
        One row per level or pair with a count, most reported first: label.
    rest : int
        How many more there are; the last group of `sums` holds them all, where there are any.
    sums : Sums
    """

    names: pd.DataFrame
    rest: int
    sums: Sums


@dataclass(frozen=True, eq=False, kw_only=True)
class ExploreAnswers:
    """Counts, λ, p and the share counted, with intervals where the fit has them.

    Attributes
    ----------
    table : DataFrame
        One row per level or pair: label, what :meth:`uncletc.estimates.Sums.table` has and, where
        attributes act on p, the columns of :meth:`uncletc.estimates.Sums.ranks`. The last row
        holds all others where there are too many to list.
    total : dict
        One row of the same for all together, without a label.
    apart : Apart
        Whether levels can be told apart by p.
    rest : int
        How many levels the last row holds.
    moved : bool
        Whether anything acts on p.
    late : bool
        Whether reports may come late; see :func:`dashboard.shared.charts.answers.reports_late`.
    scale : Scale
    """

    table: pd.DataFrame
    total: dict[str, Any]
    apart: Apart
    rest: int
    moved: bool
    late: bool
    scale: Scale

    def sentence(self, *, so_far: bool = False) -> str:
        """What was reported, and how many there truly were, all together."""
        if not self.moved and not self.scale.absolute:
            words = f"Reported **{self.total['reported']:,.0f}**. {P_IS_THE_SAME}"
        else:
            words = answer(self.total, self.scale, so_far=so_far)
            if not so_far and not self.late:
                words = f"{words} {chance_words(self.total, self.scale)}".rstrip()
        return f"**All counts together.** {words} {open_scale(self.scale)}"

    def display(self, names: tuple[str, ...]) -> pd.DataFrame:
        """`table` as the page draws it, levels under the name of their modes."""
        (name,) = free_names([" – ".join(names)], _TAKEN)
        table = self.table.rename(columns={"label": name})
        if not self.moved:
            table = table.drop(columns=[n for n in table if str(n).startswith("detection")])
        return for_display(table, [name], self.scale)


def level_sums(dataset: Dataset, fit: Fit, modes: tuple[int, ...]) -> LevelSums:
    """Sum counts, λ and p of counted entries by their levels of one mode or two."""
    counts, chosen = dataset.counts, list(modes)
    sizes = tuple(counts.shape[k] for k in chosen)
    keys = np.ravel_multi_index(tuple(counts.indices[:, chosen].T), sizes)
    every, own = np.unique(keys, return_inverse=True)
    reported = np.bincount(own, counts.counts, len(every))
    order = np.argsort(-reported, kind="stable")
    place = np.empty(len(every), dtype=np.int64)
    place[order] = np.arange(len(every))
    listed = order[:MOST_LISTED]
    at = np.unravel_index(every[listed], sizes)
    labels = (
        np.asarray(counts.labels[k], dtype=object)[index]
        for k, index in zip(chosen, at, strict=True)
    )
    names = distinct([" – ".join(parts) for parts in zip(*labels, strict=True)])
    return LevelSums(
        names=pd.DataFrame({"label": names}),
        rest=len(every) - len(listed),
        sums=group_sums(fit, counts, np.minimum(place, MOST_LISTED)[own]),
    )


def build_answers(
    dataset: Dataset,
    fit: Fit,
    scale: Scale,
    modes: tuple[int, ...],
    *,
    found: LevelSums | None = None,
) -> ExploreAnswers:
    """Return answers by level, and for all counts together.

    Parameters
    ----------
    dataset : Dataset
    fit : Fit
    scale : Scale
        Of λ and p.
    modes : tuple of int
        One or two.
    found : LevelSums, optional
        ``level_sums(dataset, fit, modes)`` if it has been computed already.
    """
    found = level_sums(dataset, fit, modes) if found is None else found
    timed = any(is_ordered(dataset, k) for k in modes)
    late = reports_late(fit)
    bounded = not (timed and late)
    names, moved = found.names, bool(fit.n_attributes)
    table = [found.sums.table(scale, at_least_reported=bounded)]
    apart = Apart(words="", ranking=True, known=False)
    what = f"levels of {dataset.counts.modes[modes[0]]}" if len(modes) == 1 else "pairs"
    if moved:
        group = np.arange(len(found.sums.entries))
        ranks = found.sums.over(np.where(group < len(names), group, -1)).ranks()
        table.append(ranks)
        apart = told_apart(ranks, what)
    if found.rest:
        others = f"all {found.rest:,} others"
        names = pd.concat([names, pd.DataFrame({"label": [others]})], ignore_index=True)
    return ExploreAnswers(
        table=pd.concat([names, *table], axis=1),
        total=found.sums.over().table(scale).iloc[0].to_dict(),
        apart=apart,
        rest=found.rest,
        moved=moved,
        late=late,
        scale=scale,
    )


def too_many(entries: int, groups: int) -> str:
    """Why means over entries have no intervals, as a sentence; empty where they may have them."""
    if entries > MOST_ENTRIES:
        return f"Without intervals, since there are more than {MOST_ENTRIES:,} entries."
    if groups > MOST_GROUPS:
        return f"Without intervals, since there are more than {MOST_GROUPS:,} of them."
    return ""
