"""Model check page: data and a fit without a fifth of them in; frozen tables to draw out. Pure."""

import calendar
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import ndtri

from dashboard.check.verdict import held_out_words, most_off, verdict
from dashboard.shared.charts import places
from dashboard.shared.fit_status.outcome import Verdict
from dashboard.shared.text.words import escape
from uncletc import METHODS, ConvergenceWarning, CountTensor, Fit, checking
from uncletc.checking import Check
from uncletc.compare import FoldKind, difference, likely_law
from uncletc.datasets import Dataset
from uncletc.model.negbin import floored, log_scores
from uncletc.tables import is_day

CELL, PAIR = "county cell", "interaction"
_FEW_IN_CELL = 5
_MAX_LAG = 14
_QUANTILES = 99
_USUAL = np.array([20.0])  # expected counts of which φ is
_ONE_ERROR = 0.6827  # level of an interval whose ends are a standard deviation from its middle
_MOST_FOR_EFFECTS = 200_000  # counts; more would take the server some seconds


@dataclass(frozen=True, eq=False, kw_only=True)
class CheckView:
    """What the page draws of one fit.

    Attributes
    ----------
    check : Check
    allowed : float
        φ that the fit allows where 20 are expected: 1/μ, and the squared error of log ŷ by its
        intervals, of which large ŷ weigh more.
    verdict : Verdict
    held : str
        What was held out, in words.
    table : DataFrame
        One row per held-out count: its labels by mode, observed, predicted, residual (randomised
        quantile residual under the negative binomial), poisson_residual.
    scores : DataFrame
        See :func:`score_table`.
    quantiles : DataFrame
        normal, poisson, negative_binomial: quantiles of residuals against normal ones.
    groups : dict of str to DataFrame
        By grouping, one row per group with held-out counts: group, n, observed, predicted (means),
        mean, low, high (of residuals), far.
    ordered : frozenset of str
        Groupings whose groups are drawn as a line.
    counties : DataFrame, optional
        For the map of COVID-19 counts; see :func:`county_residuals`.
    """

    check: Check
    allowed: float
    verdict: Verdict
    held: str
    table: pd.DataFrame
    scores: pd.DataFrame
    quantiles: pd.DataFrame
    groups: dict[str, pd.DataFrame]
    ordered: frozenset[str]
    counties: pd.DataFrame | None


@dataclass(frozen=True, eq=False, kw_only=True)
class Grouping:
    """Observed entries divided into groups.

    Attributes
    ----------
    labels : tuple of str
        Of the groups.
    groups : ndarray of int, shape (N,)
        The group of each observed entry.
    ordered : bool
        Whether the order of the groups means something, such as time.
    """

    labels: tuple[str, ...]
    groups: NDArray[np.int64]
    ordered: bool = False


def seen_dataset(dataset: Dataset, kind: FoldKind) -> Dataset:
    """Return the data set without what is held out, under a name of its own."""
    seen = dataset.counts.subset(~checking.held_out(dataset.counts, kind=kind))
    return replace(dataset, name=f"{dataset.name}-check-{kind}", counts=seen)


def check_view(dataset: Dataset, fit: Fit, kind: FoldKind) -> CheckView:
    """Check a fit on the counts that it has not seen.

    Parameters
    ----------
    dataset : Dataset
        With all counts.
    fit : Fit
        Of :func:`seen_dataset`.
    kind : {"entry", "fibre"}
        What was held out.
    """
    counts, held = dataset.counts, checking.held_out(dataset.counts, kind=kind)
    where, y = counts.indices[held], counts.counts[held]
    predicted, place = checking.expected_at(fit, counts, held), checking.fibres(where)
    check = checking.check(y, predicted, groups=place, bins=min(10, len(y)))
    entries = zip(counts.modes, counts.labels, where.T, strict=True)
    table = pd.DataFrame({mode: np.array(labels)[at] for mode, labels, at in entries}).assign(
        observed=y,
        predicted=predicted,
        residual=check.negative_binomial.residuals,
        poisson_residual=check.poisson.residuals,
    )
    divided = groupings(dataset)
    groups, strengths = {}, []
    for name, grouping in divided.items():
        group, size = grouping.groups[held], len(grouping.labels)
        residuals, share = checking.residuals_by(table["residual"], group, size)
        means = table[["observed", "predicted"]].groupby(group).mean().reindex(range(size))
        residuals.insert(0, "group", grouping.labels)
        rows = pd.concat([residuals, means], axis=1)
        groups[name] = rows[rows["n"] > 0].reset_index(drop=True)
        strengths.append({"by": name, "share": share, "most": most_off(groups[name])})
    ranked = pd.DataFrame(strengths).sort_values("share", ascending=False, ignore_index=True)
    whole = f"{len(np.unique(place)):,} {escape(fibres_of(dataset)[1])}"
    scores, allowed = score_table(counts, held, predicted), float(fit.inverse_mu(_USUAL).item())
    if fit.draws is not None:
        z = counts.attributes_at(where, unknown_as_nan=True)
        found = fit.expected(where, z, spread=True, level=_ONE_ERROR)
        error = np.log(found.high / found.low) / 2
        allowed += float(np.average(error**2, weights=floored(predicted)))
    return CheckView(
        check=check,
        allowed=allowed,
        verdict=verdict(
            check,
            scores,
            allowed=allowed,
            strengths=ranked.assign(by=ranked["by"].map(escape)),
            lags=_lags(dataset, where, table["residual"]),
            mode=escape(counts.modes[-1]),
            positive=int((y > 0).sum()),
        ),
        held=held_out_words(len(y), counts.n_observed, None if kind == "entry" else whole),
        table=table,
        scores=scores,
        quantiles=_quantiles(check),
        groups=groups,
        ordered=frozenset(name for name, each in divided.items() if each.ordered),
        counties=county_residuals(dataset, groups[CELL], divided[CELL])
        if CELL in divided
        else None,
    )


def fibres_of(dataset: Dataset) -> tuple[str, str]:
    """What all counts along the last mode belong to, and many of them."""
    if not places.is_own(dataset):
        return (CELL, f"{CELL}s") if places.is_covid(dataset) else (PAIR, f"{PAIR}s")
    return places.level_words(dataset.counts.modes[:-1])


def groupings(dataset: Dataset) -> dict[str, Grouping]:
    """Return all ways to divide the counts of a data set, by name; places first, then time."""
    counts, last = dataset.counts, len(dataset.counts.modes) - 1
    divided = {fibres_of(dataset)[0]: _places(dataset)}
    for k in (last, *range(0 if not places.is_covid(dataset) else last, last)):
        name, labels, steps = counts.modes[k], counts.labels[k], counts.indices[:, k]
        divided[name] = Grouping(labels=labels, groups=steps, ordered=places.is_ordered(dataset, k))
        table = _calendar(labels) if places.is_own(dataset) else dataset.mode_tables.get(name, {})
        for part in ("weekday", "year", "month", "guild"):
            if part in table:
                divided[part] = _coded(table[part], steps)
    return divided


def _places(dataset: Dataset) -> Grouping:
    """What shares all modes but the last; cells are named after their most populous county."""
    counts, covid = dataset.counts, places.is_covid(dataset)
    at, groups = np.unique(counts.indices[:, :-1], axis=0, return_inverse=True)
    parts = zip(*(np.asarray(counts.labels[k])[i] for k, i in enumerate(at.T)), strict=True)
    labels = pd.Series([(", " if covid else " – ").join(each) for each in parts])
    if covid:
        plain = labels
        named = places.cells(dataset.table).set_index(places.pair_columns(dataset))["label"]
        labels = named.reindex(pd.MultiIndex.from_arrays(at.T)).reset_index(drop=True).fillna(plain)
        labels = labels.mask(labels.duplicated(keep=False), labels + " (" + plain + ")")
    return Grouping(labels=tuple(labels), groups=groups.ravel().astype(np.int64))


def _calendar(labels: Sequence[str]) -> pd.DataFrame:
    """Weekday of each label that is a day, and its month where there are several."""
    if not all(map(is_day, labels)):
        return pd.DataFrame()
    days = pd.to_datetime(pd.Series(labels)).dt
    table = pd.DataFrame({"weekday": days.day_name(), "month": days.month})
    return table if days.month.nunique() > 1 else table[["weekday"]]


def _coded(values: pd.Series, step: NDArray[np.int64]) -> Grouping:
    """Divide entries by a value that each step of a mode has: a name, a year or a month."""
    if values.name == "month":
        values = values.map(lambda month: calendar.month_name[month])
    present = set(values := values.astype(str))
    named = [name for name in (*calendar.day_name, *calendar.month_name) if name in present]
    order = named or sorted(present)
    codes = pd.Categorical(values, categories=order).codes.astype(np.int64)
    return Grouping(labels=tuple(order), groups=codes[step])


def county_residuals(dataset: Dataset, means: pd.DataFrame, grouping: Grouping) -> pd.DataFrame:
    """Mean residual of each county's cell, for a map.

    Parameters
    ----------
    dataset : Dataset
        COVID-19 counts.
    means : DataFrame
        ``view.groups["county cell"]``.
    grouping : Grouping
        That it was made with.

    Returns
    -------
    DataFrame
        fips, value (NaN without held-out counts), unsure (whether the interval holds 0 or the cell
        has few held-out counts), mark (whose value is a cell's), and the line counted.
    """
    table = dataset.table
    group = pd.Series(grouping.groups, pd.MultiIndex.from_arrays(dataset.counts.indices[:, :2].T))
    group = group[~group.index.duplicated()]
    cell_of_county = group.reindex(pd.MultiIndex.from_frame(table[places.pair_columns(dataset)]))
    labels = pd.Series(grouping.labels).reindex(cell_of_county.to_numpy())
    county = means.set_index("group").reindex(labels).reset_index(drop=True)
    counted = [
        f"held-out counts: {each.n:.0f}, mean {each.observed:,.1f}, predicted {each.predicted:,.1f}"
        if each.n > 0
        else None
        for each in county.itertuples()
    ]
    return pd.DataFrame(
        {
            "fips": table["fips"].to_numpy(),
            "value": county["mean"],
            "unsure": (county["low"].le(0) & county["high"].ge(0)) | county["n"].lt(_FEW_IN_CELL),
            "counted": counted,
            "mark": places.cell_marks(table),
        }
    )


def score_table(
    counts: CountTensor, held: NDArray[np.bool_], predicted: NDArray[np.float64]
) -> pd.DataFrame:
    """Compare predictions of held-out counts with those of simpler models of the same counts.

    Parameters
    ----------
    counts : CountTensor
        All counts.
    held : ndarray of bool, shape (N,)
        Which are held out.
    predicted : ndarray, shape (n,)
        ŷ of the held-out ones.

    Returns
    -------
    DataFrame
        One row per model, the fit first: model, log_score (mean -log P of a held-out count under
        a negative binomial with its own dispersion; lower is better), worse_by (than the fit) and
        its standard error, which allows for correlated errors within a place.
    """
    seen = counts.subset(~held)
    y, place = counts.counts[held], checking.fibres(counts.indices[held])
    models = {"this model": predicted}
    if counts.n_observed <= _MOST_FOR_EFFECTS:
        simple = METHODS["Main effects"]
        with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):
            effects = simple.fit(seen, simple.settings())
        models["main effects without covariates"] = checking.expected_at(effects, counts, held)
    models["one mean for all"] = np.full(len(y), max(float(seen.counts.mean()), 1e-9))
    means = map(floored, models.values())
    scores = [log_scores(y, mean, likely_law(y, mean).phi(mean)) for mean in means]
    gaps = [difference(each, scores[0], place) for each in scores]
    return pd.DataFrame(
        {
            "model": list(models),
            "log_score": [float(each.mean()) for each in scores],
            "worse_by": [gap.mean for gap in gaps],
            "error": [gap.error for gap in gaps],
        }
    )


def _quantiles(check: Check) -> pd.DataFrame:
    n = min(_QUANTILES, check.n)
    # Further out than these quantiles reach: the very ends.
    at = np.unique([0.5 / check.n, *((np.arange(n) + 0.5) / n), 1 - 0.5 / check.n])
    return pd.DataFrame(
        {
            "normal": ndtri(at),
            "poisson": np.quantile(check.poisson.residuals, at),
            "negative_binomial": np.quantile(check.negative_binomial.residuals, at),
        }
    )


def _lags(dataset: Dataset, where: NDArray[np.int64], residuals: pd.Series) -> pd.DataFrame:
    """Correlation by lag; without a row where the levels of the last mode have no order."""
    last = len(dataset.counts.modes) - 1
    if not places.is_ordered(dataset, last):
        return pd.DataFrame({name: [] for name in ("lag", "value", "pairs", "chance")})
    most = min(_MAX_LAG, max(dataset.counts.shape[-1] - 1, 1))
    lags = checking.autocorrelation(residuals, where, max_lag=most)
    return lags.assign(chance=2 / np.sqrt(lags["pairs"]))
