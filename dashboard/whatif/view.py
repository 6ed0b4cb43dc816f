"""What-if page: which fits it needs, and two of them in; frozen tables and sentences out. Pure.

Each setting is fitted twice: once to all its counts, for p, and once without a random tenth of
the observed entries, which that second fit then predicts.
"""

import math
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dashboard.shared.charts import places
from dashboard.shared.charts.answers import color_limits, for_download
from dashboard.shared.sidebar.model import MODEL, NO_MODEL, ModelChoice, describe
from dashboard.shared.text.words import amount, escape, factor, times
from uncletc import CountTensor, Fit, FitSettings, Scale, checking, compare
from uncletc.compare.metrics import mae_detection, mae_rate, poisson_deviances
from uncletc.datasets import Dataset

_HELD_FOLDS = 10, 5, 3  # of which one is held out, the first that there are entries for


@dataclass(frozen=True, kw_only=True)
class Run:
    """One setting of the page.

    Attributes
    ----------
    settings : FitSettings
    roles : ModelChoice
        The model: what each covariate may affect, data sources and random effects.
    """

    settings: FitSettings
    roles: ModelChoice = NO_MODEL

    @property
    def words(self) -> str:
        """What a reader needs to recognise this setting, in one line."""
        return describe(self.settings, self.roles.words)

    @property
    def choices(self) -> dict[str, Any]:
        """What two settings may differ in, by what a sentence calls it."""
        return {setting.label.lower(): setting.value(self.settings) for setting in MODEL} | {
            "model": self.roles.words or self.roles.model,
            "closed visits": ", ".join(self.settings.closed) or "none",
        }


def differences(a: Run, b: Run) -> str:
    """Return in words what A and B differ in."""
    changes = [
        f"{name} ({first} → {second})"
        for (name, first), second in zip(a.choices.items(), b.choices.values(), strict=True)
        if first != second and None not in (first, second)
    ]
    return f"From A to B: {', '.join(changes)}." if changes else "A and B are identical."


def held_rows(counts: CountTensor) -> NDArray[np.int64]:
    """Return the rows that second fits do not see, in order: a tenth, or more of few places.

    None of tables of which not even three parts could be held out in turn.
    """
    for n_folds in _HELD_FOLDS:
        with suppress(ValueError):
            return np.flatnonzero(checking.held_out(counts, n_folds=n_folds))
    return np.empty(0, dtype=np.int64)


def without_held_out(dataset: Dataset) -> Dataset:
    """Return the data set with the counts that a second fit may see.

    Attributes of all entries stay, so that p of each is defined whatever was seen.
    """
    seen = np.ones(dataset.counts.n_observed, dtype=bool)
    seen[held_rows(dataset.counts)] = False
    return replace(dataset, counts=dataset.counts.subset(seen))


DIFFERENCE = "log₂ of p under B ÷ p under A"
_NAMES = {"p_a": "relative p, A", "p_b": "relative p, B", "log2_ratio": DIFFERENCE}
_ALIKE = ((0.95, "almost the same way"), (0.8, "similarly"), (0.5, "somewhat similarly"))
_SAME = 1e-6  # |log₂| of a ratio of p that is rounding only
_MOST_DRAWN, _MOST_ALONE = 150, 30  # levels of each side of a matrix, and of a single one


@dataclass(frozen=True, eq=False, kw_only=True)
class WhatIfView:
    """What the What-if page draws of two fits.

    Attributes
    ----------
    table : DataFrame
        One row per county, or per interaction seen at least once, or per place of an own table:
        its names, p_a and p_b (p averaged over counted days or visits, over the median of the rows;
        NaN where there are no attributes), log2_ratio of p_b to p_a, and for counties mark (what
        follows a value that is a cell's).
    cells : DataFrame
        One row per county cell (named after its most populous county) or place: label, p_a, p_b,
        log2_ratio, and their ranks rank_a and rank_b, 1 the highest p.
    of, one : str
        What a row of `cells` is, in the plural and the singular.
    limits : tuple of float
        Limits of p that pictures of A and B share.
    difference_limit : float
        Largest log2_ratio of the colour scale, either way.
    insight : str
        What differs, in words.
    sides : tuple of str
        Columns of `table` that name rows and columns of a matrix; one for a list of levels, none
        for counties.
    """

    table: pd.DataFrame
    cells: pd.DataFrame
    of: str
    one: str
    limits: tuple[float, float]
    difference_limit: float
    insight: str
    sides: tuple[str, ...] = ()

    @property
    def same(self) -> bool:
        """Whether both fits give the same p throughout."""
        return bool(self.cells["log2_ratio"].abs().max() < _SAME)

    @property
    def varying(self) -> list[str]:
        """Sides whose p differs between places, so that a picture shows something: "A", "B"."""
        return [side for side in "AB" if side not in _flat(self.cells)]

    @property
    def ranks(self) -> pd.DataFrame:
        """Relative p and ranks of each place under A and under B, as a page tabulates them."""
        names = {"label": self.one, "rank_a": "rank, A", "rank_b": "rank, B"}
        shown = self.cells[[*names, "p_a", "p_b"]]
        return shown.rename(columns=names | _NAMES).round(2)

    @property
    def main_table(self) -> pd.DataFrame:
        """`table` to download: p is called relative_detection."""
        return for_download(self.table, Scale.relative([1.0]))


def build_whatif_view(dataset: Dataset, a: Fit, b: Fit, of_b: Dataset | None = None) -> WhatIfView:
    """Return p under A and under B, each relative to its own median, place by place.

    The median is over the rows that are compared, not over entries: then the typical place does
    not differ between A and B, however much p varies over time under either.

    Parameters
    ----------
    dataset : Dataset
        With the roles of A.
    a, b : Fit
        Of these counts.
    of_b : Dataset, optional
        The same with the roles of B, where they are others.
    """
    covid, own = places.is_covid(dataset), places.is_own(dataset)
    modes = places.place_modes(dataset)
    rows, index, names = _places(dataset)
    where = tuple(rows[index].to_numpy().T)
    for side, of, found in (("p_a", dataset, a), ("p_b", of_b or dataset, b)):
        p = mean_p(of.counts, found, modes)[where]
        rows = rows.assign(**{side: p / np.nanmedian(p)})
    rows = rows.assign(log2_ratio=np.log2(rows["p_b"] / rows["p_a"]))
    with_p = rows.dropna(subset=["p_a", "p_b"])
    if covid:
        with_p = places.cells(with_p)
    elif not own:
        with_p = with_p.assign(label=places.labels_of_pairs(with_p))
    ranks = with_p[["p_a", "p_b"]].rank(method="first", ascending=False).astype(int)
    ranked = with_p[["p_a", "p_b", "log2_ratio", *index, "label"]]
    ranked = ranked.assign(rank_a=ranks["p_a"], rank_b=ranks["p_b"])
    ranked = ranked.sort_values("rank_a", ignore_index=True)
    counted = ["counted"] if own else []
    table = rows[[*names, *counted, "p_a", "p_b", "log2_ratio"]].reset_index(drop=True)
    if covid:
        table = table.assign(county=places.labels_of_counties(table), mark=places.cell_marks(rows))
    one, of_many = places.place_words(dataset)
    return WhatIfView(
        table=table,
        cells=ranked,
        of=of_many,
        one=one,
        limits=color_limits(ranked[["p_a", "p_b"]]),
        difference_limit=max(float(ranked["log2_ratio"].abs().quantile(0.98)), 0.1),
        insight=_insight(ranked, escape(of_many)),
        sides=() if covid else tuple(names),
    )


def _places(dataset: Dataset) -> tuple[pd.DataFrame, list[str], list[str]]:
    """Return the places that are compared, and their columns of indices and of names."""
    if places.is_covid(dataset):
        return dataset.table, places.pair_columns(dataset), ["fips", "county", "state"]
    if not places.is_own(dataset):
        seen = dataset.table[dataset.table["interactions"] > 0]
        return seen, places.pair_columns(dataset), ["plant", "pollinator"]
    counts, modes = dataset.counts, places.place_modes(dataset)
    rows = places.level_table(counts, modes)
    index = [f"index_{i}" for i in range(len(modes))]
    taken = [*rows, "p_a", "p_b", "log2_ratio"]
    names = list(places.free_names([counts.modes[k] for k in modes], taken))
    for name, k, column in zip(names, modes, index, strict=True):
        rows[name] = np.asarray(counts.labels[k], dtype=object)[rows[column]]
    return rows, index, names


def mean_p(counts: CountTensor, fit: Fit, modes: tuple[int, ...]) -> NDArray[np.float64]:
    """Return p averaged over counted entries, by some modes, NaN where there are no attributes.

    Returns
    -------
    ndarray, shape (I_k for k in modes)
    """
    z = counts.attributes_at(counts.indices, unknown_as_nan=True)
    known = np.isfinite(z).all(axis=1)
    where, sizes = counts.indices[known], tuple(counts.shape[k] for k in modes)
    place = np.ravel_multi_index(tuple(where[:, list(modes)].T), sizes)
    total = np.bincount(place, fit.detection(z[known], where), math.prod(sizes))
    n = np.bincount(place, minlength=math.prod(sizes))
    return np.where(n > 0, total / np.maximum(n, 1), np.nan).reshape(sizes)


def matrix(dataset: Dataset, view: WhatIfView, column: str) -> pd.DataFrame:
    """Return a column of a view as a matrix, of one column where it has one side.

    NaN where two levels never met. Of an own table it holds only the levels with most counts, as
    many as can be drawn.
    """
    if len(view.sides) == 1:
        alone = view.table.set_index(view.sides[0])[[column]].head(_MOST_ALONE)
        return alone.rename(columns=_NAMES)
    wide = view.table.pivot(index=view.sides[0], columns=view.sides[1], values=column)
    levels = [list(dataset.counts.labels[k]) for k in places.place_modes(dataset)]
    if places.is_own(dataset):
        for i, side in enumerate(view.sides):
            counted = view.table.groupby(side, sort=False)["counted"].sum()
            drawn = set(counted.nlargest(_MOST_DRAWN).index)
            levels[i] = [label for label in levels[i] if label in drawn]
    return wide.reindex(index=levels[0], columns=levels[1])


def _insight(cells: pd.DataFrame, of: str) -> str:
    if flat := _flat(cells):
        sides = " and under ".join(flat)
        return f"**p is the same in all {len(cells):,} {of} under {sides}**: nothing to compare."
    correlation = float(cells[["p_a", "p_b"]].corr("spearman").iat[0, 1])
    if cells["log2_ratio"].abs().max() < _SAME:
        return (
            f"**A and B give the same p in all {len(cells):,} {of}**: what they differ in makes "
            "no difference on these counts."
        )
    size = f"{correlation:z.2f}".replace("-", "−")
    alike = next((words for least, words in _ALIKE if correlation >= least), "very differently")
    most = cells.loc[cells["log2_ratio"].abs().idxmax()]
    ratio = 2 ** float(abs(most["log2_ratio"]))
    typical = 2 ** float(cells["log2_ratio"].abs().median())
    common = int(((cells["rank_a"] <= 10) & (cells["rank_b"] <= 10)).sum())
    sides = ("A", "B") if most["log2_ratio"] > 0 else ("B", "A")
    return (
        f"**A and B order the {len(cells):,} {of} {alike}** (rank correlation {size}); "
        f"{common} of the 10 with the highest p under A are among the 10 under B. The median "
        f"change is a factor of {factor(typical)}; the largest is that of "
        f"{escape(most['label'])}, whose relative p is {times(ratio)} as high under {sides[1]} as "
        f"under {sides[0]}."
    )


def _flat(cells: pd.DataFrame) -> list[str]:
    """Sides whose p is the same in all places."""
    spread = {side: np.ptp(np.log2(cells[f"p_{side.lower()}"])) for side in "AB"}
    return [side for side in spread if spread[side] < _SAME]


_LEAST = 1e-3  # predicted count, so that one 0 does not make a deviance infinite


@dataclass(frozen=True, eq=False)
class Score:
    """How well a second fit predicts the held-out counts; lower is better throughout.

    Attributes
    ----------
    rrmse, deviance : float
        See :mod:`uncletc.compare.metrics`; rRMSE is NaN where no event is held out.
    deviances : ndarray, shape (n,)
        Poisson deviance of each held-out entry.
    """

    rrmse: float
    deviance: float
    deviances: NDArray[np.float64]


def score(dataset: Dataset, fit: Fit | None) -> Score:
    """Return the errors of ŷ = λ·g(z) of the held-out entries, which a fit has not seen.

    Without a fit: of predicting the mean of the other counts everywhere.
    """
    counts, held = dataset.counts, held_rows(dataset.counts)
    y = counts.counts[held]
    if fit is None:
        predicted = np.full(len(held), np.delete(counts.counts, held).mean())
    else:
        predicted = checking.expected_at(fit, counts, held)
    predicted = np.maximum(predicted, _LEAST)
    found = compare.score(y, predicted)
    return Score(found.rrmse, found.deviance, poisson_deviances(y, predicted))


def held_places(dataset: Dataset) -> NDArray[np.int64]:
    """Return the place of each held-out entry as a number: counts of one place vary together."""
    where = dataset.counts.indices[held_rows(dataset.counts)][:, list(places.place_modes(dataset))]
    return np.asarray(np.unique(where, axis=0, return_inverse=True)[1].ravel())


def held_out_words(scores: Mapping[str, Score], dataset: Dataset) -> str:
    """Return which of A and B predicts held-out counts better, or that it is open.

    See :func:`uncletc.compare.difference`: entries of one place are no independent evidence.

    Parameters
    ----------
    scores : mapping of str to Score
        By "A" and "B", those known so far.
    dataset : Dataset
        With all counts.
    """
    if not {"A", "B"} <= set(scores):
        return "Not known yet: the second fits of A and B have not finished."
    a, b, groups = scores["A"], scores["B"], held_places(dataset)
    numbers = f"Poisson deviance {a.deviance:.3g} for A, {b.deviance:.3g} for B"
    if np.array_equal(a.deviances, b.deviances):
        return f"**A and B predict held-out counts identically**: {numbers}."
    found = compare.difference(a.deviances, b.deviances, groups)
    n_places = len(np.unique(groups))
    of = escape(places.place_words(dataset)[n_places > 1])
    over = f"{len(groups):,} counts in {n_places:,} {of}"
    if not found.clear:
        return (
            f"**A and B predict held-out counts about equally well**: {numbers}, a difference "
            f"that another choice of {over} could reverse."
        )
    return (
        f"**{'A' if found.mean < 0 else 'B'} predicts held-out counts better**: {numbers}, a clear "
        f"difference over {over}."
    )


def score_table(
    scores: Mapping[str, Score], first: Mapping[str, Fit], given: Mapping[str, Dataset]
) -> pd.DataFrame:
    """Return the numbers of A and B side by side.

    Parameters
    ----------
    scores : mapping of str to Score
        By "A" and "B": those of the second fits that have finished.
    first : mapping of str to Fit
        Both first ones.
    given : mapping of str to Dataset
        What they were fitted to.

    Returns
    -------
    DataFrame
        Indexed by what is measured, columns A, B and "mean count everywhere"; NaN where unknown.
    """
    known = {**scores, "mean count everywhere": score(given["A"], None)}
    names = {"deviance": "Poisson deviance per held-out entry", "rrmse": "rRMSE of held-out counts"}
    table = pd.DataFrame(
        {side: {names[of]: getattr(each, of) for of in names} for side, each in known.items()},
        columns=["A", "B", "mean count everywhere"],
    )
    for side, each in first.items():
        counts, truth = given[side].counts, given[side].truth
        if truth is not None:
            entries = counts.attribute_indices
            where = tuple(entries.T)
            rate, p = each.rate(entries), each.detection(counts.attributes, entries)
            against = "against the simulated truth"
            table.loc[f"MAE of λ {against}", side] = mae_rate(rate, truth.rate[where])
            table.loc[f"MAE of p {against}", side] = mae_detection(p, truth.detection[where])
    return table.astype(float)


def as_text(table: pd.DataFrame) -> pd.DataFrame:
    """Return numbers as a page shows them, with a dash where there are none."""
    return table.map(lambda value: "–" if pd.isna(value) else amount(value))
