"""Model check page: data and a fit without a fifth in; frozen tables ready to draw out. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import norm

from dashboard.check.groups import CELL, Grouping, county_residuals, fibres_of, groupings
from dashboard.check.verdict import Verdict, most_off, verdict
from dashboard.check.words import held_out_words
from dashboard.shared.charts.places import is_ordered
from dashboard.shared.memory import remembered
from dashboard.shared.sidebar.roles import RoleChoice
from dashboard.shared.text.scripts import (
    COUNTS,
    DATASET,
    FITTED,
    Code,
    call,
    fit_code,
    load,
    script,
)
from uncletc import CountTensor, Fit, FitSettings, checking
from uncletc.checking import Check
from uncletc.datasets import Dataset

Kind = Literal["entry", "fibre"]
_MAX_LAG = 14
_QUANTILES = 99


@dataclass(frozen=True, eq=False, kw_only=True)
class CheckView:
    """What the page draws of one fit.

    Attributes
    ----------
    check : Check
    verdict : Verdict
    held : str
        What was held out, in words.
    table : DataFrame
        One row per held-out count: its labels by mode, observed, predicted, residual (randomised
        quantile residual under the negative binomial), poisson_residual.
    numbers : DataFrame
        The checks as numbers: check, Poisson, negative binomial.
    pit : DataFrame
        left, right, poisson, negative_binomial (densities), low, high (chance).
    quantiles : DataFrame
        normal, poisson, negative_binomial: quantiles of residuals against normal ones.
    deciles : DataFrame
        n, predicted, observed, low, high, ratio.
    lags : DataFrame
        lag, value, pairs, chance; empty where the levels of the last mode have no order.
    groups : dict of str to DataFrame
        By grouping, one row per group with held-out counts: group, n, observed, predicted (means),
        mean, low, high (of residuals), far.
    strengths : DataFrame
        by, share, most; see :func:`dashboard.check.words.verdict`.
    ordered : frozenset of str
        Groupings whose groups are drawn as a line.
    counties : DataFrame, optional
        For the map of COVID-19 counts; see :func:`dashboard.check.groups.county_residuals`.
    """

    check: Check
    verdict: Verdict
    held: str
    table: pd.DataFrame
    numbers: pd.DataFrame
    pit: pd.DataFrame
    quantiles: pd.DataFrame
    deciles: pd.DataFrame
    lags: pd.DataFrame
    groups: dict[str, pd.DataFrame]
    strengths: pd.DataFrame
    ordered: frozenset[str]
    counties: pd.DataFrame | None


@remembered(16)  # counts are told apart by identity; a data set is loaded once
def held_mask(counts: CountTensor, kind: Kind) -> NDArray[np.bool_]:
    """Which observed entries are held out; (N,)."""
    return checking.held_out(counts, kind=kind)


@remembered(8)  # copies of the attributes, some MB each
def seen_counts(counts: CountTensor, kind: Kind) -> CountTensor:
    """Return the counts that the fit may see."""
    return counts.subset(~held_mask(counts, kind))


def seen_dataset(dataset: Dataset, kind: Kind) -> Dataset:
    """Return the data set without what is held out; its name tells fits of it apart."""
    return replace(
        dataset, name=f"{dataset.name}-check-{kind}", counts=seen_counts(dataset.counts, kind)
    )


def check_view(dataset: Dataset, fit: Fit, kind: Kind) -> CheckView:
    """Check a fit on the counts that it has not seen.

    Parameters
    ----------
    dataset : Dataset
        With all counts.
    fit : Fit
        Of :func:`seen_counts`.
    kind : {"entry", "fibre"}
        What was held out.
    """
    counts = dataset.counts
    held = held_mask(counts, kind)
    where, y = counts.indices[held], counts.counts[held]
    predicted = checking.expected_at(fit, counts, held)
    place = checking.fibres(where)
    check = checking.check(y, predicted, groups=place, bins=min(10, len(y)))
    residuals = check.negative_binomial.residuals
    divided = groupings(dataset)
    groups, strengths = {}, []
    for name, grouping in divided.items():
        groups[name], share = _grouped(grouping, held, y, predicted, residuals)
        strengths.append({"by": name, "share": share, "most": most_off(groups[name])})
    ranked = pd.DataFrame(strengths).sort_values("share", ascending=False, ignore_index=True)
    whole = None if kind == "entry" else fibres_of(dataset)[1]
    ordered = is_ordered(dataset, len(counts.modes) - 1)
    deciles, lags = _deciles(check), _lags(residuals, where, counts.shape[-1], known=ordered)
    return CheckView(
        check=check,
        verdict=verdict(
            check,
            strengths=ranked,
            deciles=deciles,
            lags=lags,
            mode=counts.modes[-1],
            positive=int((y > 0).sum()),
        ),
        held=held_out_words(len(y), counts.n_observed, whole=whole, groups=len(np.unique(place))),
        table=pd.DataFrame(
            {
                **{m: np.array(counts.labels[k])[where[:, k]] for k, m in enumerate(counts.modes)},
                "observed": y,
                "predicted": predicted,
                "residual": residuals,
                "poisson_residual": check.poisson.residuals,
            }
        ),
        numbers=_numbers(check),
        pit=_pit(check),
        quantiles=_quantiles(check),
        deciles=deciles,
        lags=lags,
        groups=groups,
        strengths=ranked,
        ordered=frozenset(name for name, each in divided.items() if each.ordered),
        counties=county_residuals(dataset, groups[CELL], divided[CELL])
        if CELL in divided
        else None,
    )


def check_script(
    source: str | Code, settings: FitSettings, kind: Kind, roles: RoleChoice | None = None
) -> str:
    """Return a script that gives the table of held-out counts."""
    seen = call(seen_counts, COUNTS, kind)
    table = call(check_view, DATASET, FITTED, kind, take=".table")
    return script(table, dataset=load(source, roles), fitted=fit_code(seen, settings))


def _grouped(
    grouping: Grouping,
    held: NDArray[np.bool_],
    y: NDArray[np.int64],
    predicted: NDArray[np.float64],
    residuals: NDArray[np.float64],
) -> tuple[pd.DataFrame, float]:
    group, size = grouping.groups[held], len(grouping.labels)
    by_group = checking.residuals_by(residuals, group, size)
    n = np.maximum(by_group.n, 1)
    table = pd.DataFrame(
        {
            "group": grouping.labels,
            "n": by_group.n,
            "observed": np.bincount(group, y, minlength=size) / n,
            "predicted": np.bincount(group, predicted, minlength=size) / n,
            "mean": by_group.mean,
            "low": by_group.low,
            "high": by_group.high,
            "far": by_group.far,
        }
    )
    return table[table["n"] > 0].reset_index(drop=True), by_group.share


def _numbers(check: Check) -> pd.DataFrame:
    names = {
        "pearson": "Variance of counts over predicted variance (1 is right)",
        "phi": "φ, variance beyond Poisson",
        "distance": "Distance of residuals from normal (0 is right)",
        "zeros": f"Share of zeros predicted (observed: {check.zeros:.3f})",
        "log_likelihood": "Log-likelihood per count (higher is better)",
    }
    both = {"Poisson": check.poisson, "negative binomial": check.negative_binomial}
    columns = {law: [getattr(each, name) for name in names] for law, each in both.items()}
    return pd.DataFrame({"check": list(names.values()), **columns})


def _pit(check: Check) -> pd.DataFrame:
    pit, bins = check.poisson.pit, len(check.poisson.pit.density)
    chance = 1.96 * np.sqrt((bins - 1) / pit.n)
    return pd.DataFrame(
        {
            "left": pit.edges[:-1],
            "right": pit.edges[1:],
            "poisson": pit.density,
            "negative_binomial": check.negative_binomial.pit.density,
            "low": max(1 - chance, 0.0),
            "high": 1 + chance,
        }
    )


def _quantiles(check: Check) -> pd.DataFrame:
    n = min(_QUANTILES, check.n)
    at = (np.arange(n) + 0.5) / n
    # Further out than quantiles of all counts reach: the very ends.
    at = np.unique(np.concatenate([[0.5 / check.n], at, [1 - 0.5 / check.n]]))
    return pd.DataFrame(
        {
            "normal": norm.ppf(at),
            "poisson": np.quantile(check.poisson.residuals, at),
            "negative_binomial": np.quantile(check.negative_binomial.residuals, at),
        }
    )


def _deciles(check: Check) -> pd.DataFrame:
    names = ["n", "predicted", "observed", "low", "high"]
    table = pd.DataFrame({name: getattr(check.deciles, name) for name in names})
    return table.assign(ratio=table["observed"] / table["predicted"])


def _lags(
    residuals: NDArray[np.float64], where: NDArray[np.int64], steps: int, *, known: bool
) -> pd.DataFrame:
    """Correlation by lag; without a row where the levels of the last mode have no order."""
    if not known:
        return pd.DataFrame({name: [] for name in ("lag", "value", "pairs", "chance")})
    max_lag = min(_MAX_LAG, max(steps - 1, 1))
    by_lag = checking.autocorrelation(residuals, where, max_lag=max_lag)
    with np.errstate(divide="ignore"):
        chance = 2 / np.sqrt(by_lag.pairs)
    return pd.DataFrame(
        {"lag": by_lag.lag, "value": by_lag.value, "pairs": by_lag.pairs, "chance": chance}
    )
