"""Fitted p against outside estimates of detection. Public in `checking`.

A fit of counts alone can predict them well with a p that is upside down. Whether p is right shows
against estimates that the fit has not seen; see :func:`uncletc.datasets.load_outside`. These
disagree too, so that a correlation means something only beside theirs with one another.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from uncletc.common.validation import FloatArray, IntArray
from uncletc.data.counts import CountTensor
from uncletc.result.ensemble import combined
from uncletc.result.fit_result import Fit

_LEAST_PLACES = 4  # a rank correlation of fewer has no interval worth the name
_DRAWS = 1000  # bootstrap samples, the same for all correlations
_TAILS = [0.05, 0.95]  # of the bootstrap samples, where intervals end

Verdict = Literal["against", "partly against", "unclear", "weaker", "as well", "agrees"]


@dataclass(frozen=True, kw_only=True)
class Agreement:
    """Rank correlation of two estimates of detection.

    Attributes
    ----------
    first, second : str
        Their names; "p" is the fit's.
    estimate, low, high : float
        Spearman's, -1 to 1, and its 90 % bootstrap interval; NaN with fewer than 4 places.
    n : int
        Places that both know.
    """

    first: str
    second: str
    estimate: float
    low: float
    high: float
    n: int


@dataclass(frozen=True, kw_only=True)
class OutsideCheck:
    """How far fitted p agrees with outside estimates, and they with one another.

    Attributes
    ----------
    of_fit : tuple of Agreement
        p with each outside estimate.
    among : tuple of Agreement
        Outside estimates with one another; empty with one alone.
    mean : Agreement
        The mean of `of_fit`.
    lead : Agreement
        The mean of `of_fit` less the mean of `among`; NaN without any.
    """

    of_fit: tuple[Agreement, ...]
    among: tuple[Agreement, ...]
    mean: Agreement
    lead: Agreement

    @property
    def verdict(self) -> Verdict:
        """What the intervals allow to say.

        - "against": p runs against every outside estimate, all intervals are below 0;
        - "partly against": it runs against some of them;
        - "unclear": the interval of the mean includes 0;
        - "weaker": p agrees, but less than the estimates with one another;
        - "as well": p agrees about as well as they agree with one another;
        - "agrees": p agrees with the only outside estimate.
        """
        below = [one.high < 0 for one in self.of_fit]
        if any(below):
            return "against" if all(below) else "partly against"
        if not self.mean.low > 0:
            return "unclear"
        if not self.among:
            return "agrees"
        return "weaker" if self.lead.high < 0 else "as well"


def detection_of(fit: Fit, counts: CountTensor) -> FloatArray:
    """p of each observed entry, up to the free scale; the mean where attributes are unknown; (N,).

    Parameters
    ----------
    fit : Fit
    counts : CountTensor
        The counts that were fitted, or others with the same attributes.
    """
    z = counts.attributes_at(counts.indices, unknown_as_nan=True)
    return combined(fit.of_members("detection", counts.indices, z))


def by_cell(counts: CountTensor, detection: ArrayLike) -> pd.Series:
    """Share of true counts that was reported, by place: Σ y / Σ (y/p) over its observed entries.

    Parameters
    ----------
    counts : CountTensor
        Modes: latitude, longitude, and others.
    detection : array_like of float, shape (N,)
        p > 0 of each observed entry, as from :func:`detection_of`.

    Returns
    -------
    pandas.Series
        Index ``latitude_index``, ``longitude_index``; NaN where nothing was reported. On the scale
        of p.
    """
    p = np.asarray(detection, dtype=np.float64)
    if p.shape != counts.counts.shape or not (p > 0).all():
        raise ValueError(
            f"detection must be above 0 for each of the {counts.n_observed} observed entries, "
            f"got shape {p.shape}"
        )
    table = pd.DataFrame(counts.indices[:, :2], columns=["latitude_index", "longitude_index"])
    table = table.assign(reported=counts.counts, true=counts.counts / p)
    return _share(table.groupby(["latitude_index", "longitude_index"]).sum())


def by_state(counts: CountTensor, detection: ArrayLike, table: pd.DataFrame) -> pd.Series:
    """Share of true counts that was reported, by state: Σ y / Σ (y/p) over its counties' entries.

    Parameters
    ----------
    counts, detection
        As for :func:`by_cell`.
    table : pandas.DataFrame
        One row per county: ``state``, ``latitude_index``, ``longitude_index``, ``counted`` and
        ``cases``, its share of the counts of its cell.

    Returns
    -------
    pandas.Series
        Index ``state``; on the scale of p.
    """
    p = by_cell(counts, detection)
    rows = table[table["counted"]]
    of_county = p.reindex(pd.MultiIndex.from_frame(rows[list(p.index.names)])).to_numpy()
    known = np.isfinite(of_county)
    reported = np.where(known, rows["cases"], 0.0)
    true = np.where(known, rows["cases"] / of_county, 0.0)
    sums = pd.DataFrame({"state": rows["state"], "reported": reported, "true": true})
    return _share(sums.groupby("state").sum())


def compare_outside(
    fitted: pd.Series, outside: pd.DataFrame, *, groups: Sequence[object] | pd.Series | None = None
) -> OutsideCheck:
    """Correlate fitted p with outside estimates by rank, and these with one another.

    Parameters
    ----------
    fitted : pandas.Series
        p by place, on any scale.
    outside : pandas.DataFrame, n rows
        A column for each outside estimate, indexed by the same places; NaN where unknown.
    groups : sequence, shape (n,), optional
        What the places of `outside` are drawn by, such as states of cells: neighbours share errors,
        and a bootstrap of single cells would make too much of them. None: places one by one.

    Raises
    ------
    ValueError
        If `outside` has no column or one called "p", or `groups` does not name a group of each
        place.

    Examples
    --------
    >>> p = pd.Series([0.1, 0.2, 0.3, 0.4, 0.5], index=list("abcde"))
    >>> surveys = pd.DataFrame({"surveys": [0.5, 0.4, 0.3, 0.2, 0.1]}, index=list("abcde"))
    >>> compare_outside(p, surveys).verdict
    'against'
    """
    names = [str(name) for name in outside.columns]
    if not names or "p" in names:
        raise ValueError(f"outside must have columns, none of them 'p', got {names}")
    values = np.column_stack([fitted.reindex(outside.index), outside]).astype(np.float64)
    weights = resampled(groups, len(outside))

    def agreement(first: str, second: str, found: FloatArray, n: int) -> Agreement:
        drawn = found[1:][np.isfinite(found[1:])]
        low, high = np.nan, np.nan
        if len(drawn):
            low, high = np.quantile(drawn, _TAILS).tolist()
        return Agreement(
            first=first, second=second, estimate=float(found[0]), low=low, high=high, n=n
        )

    labels = ["p", *names]
    found: list[FloatArray] = []
    of_pairs: list[Agreement] = []
    for a, b in combinations(range(len(labels)), 2):
        known = np.isfinite(values[:, [a, b]]).all(axis=1)
        found.append(spearman(values[known, a], values[known, b], weights[:, known]))
        of_pairs.append(agreement(labels[a], labels[b], found[-1], int(known.sum())))
    k = len(names)  # the first pairs are those with p
    mean = np.mean(found[:k], axis=0)
    lead = mean - np.mean(found[k:], axis=0) if found[k:] else np.full(_DRAWS + 1, np.nan)
    n = min(one.n for one in of_pairs)
    return OutsideCheck(
        of_fit=tuple(of_pairs[:k]),
        among=tuple(of_pairs[k:]),
        mean=agreement("p", "mean", mean, n),
        lead=agreement("p", "one another", lead, n),
    )


def _share(sums: pd.DataFrame) -> pd.Series:
    """Shares without the last digits of sums: where p is the same, so are they."""
    share = sums["reported"] / sums["true"].where(sums["true"] > 0)
    return share.map(lambda each: float(f"{each:.10g}")).rename("p")


def spearman(first: FloatArray, second: FloatArray, weights: FloatArray) -> FloatArray:
    """Spearman's correlation of places that occur several times; NaN where one is constant.

    Parameters
    ----------
    first, second : ndarray, shape (n,)
        Finite.
    weights : ndarray, shape (B, n)
        How often each place occurs in each of B samples.

    Returns
    -------
    ndarray, shape (B,)
    """
    if len(first) < _LEAST_PLACES:
        return np.full(len(weights), np.nan)
    a, b = _ranks(first, weights), _ranks(second, weights)
    total = weights.sum(axis=1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        a -= (weights * a).sum(axis=1, keepdims=True) / total
        b -= (weights * b).sum(axis=1, keepdims=True) / total
        products = (weights * a * b).sum(axis=1)
        sizes = (weights * a * a).sum(axis=1) * (weights * b * b).sum(axis=1)
        return np.asarray(products / np.sqrt(np.where(sizes > 0, sizes, np.nan)))


def _ranks(values: FloatArray, weights: FloatArray) -> FloatArray:
    """Mid-ranks of values (n,) in each sample, less a half; (B, n)."""
    order = np.argsort(values, kind="stable")
    first = np.flatnonzero(np.diff(values[order], prepend=-np.inf) > 0)  # of each distinct value
    size = np.add.reduceat(weights[:, order], first, axis=1)
    middle = size.cumsum(axis=1) - size / 2
    own = np.searchsorted(values[order][first], values)
    return np.asarray(middle[:, own])


def resampled(groups: Sequence[object] | pd.Series | None, n: int) -> FloatArray:
    """How often each place occurs: once in the first row, then in bootstrap samples; (1 + B, n)."""
    own: IntArray = np.arange(n) if groups is None else pd.factorize(np.asarray(groups))[0]
    if own.shape != (n,) or (own < 0).any():
        raise ValueError(f"groups must name a group for each of the {n} places, got {own.shape}")
    size = int(own.max(initial=-1)) + 1
    rng = np.random.default_rng(0)
    picked = rng.multinomial(size, np.full(size, 1 / max(size, 1)), size=_DRAWS)
    return np.vstack([np.ones(n), picked[:, own]])
