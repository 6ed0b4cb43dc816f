"""Attributes that tell nothing, the same twice, or too much."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from uncletc.common.validation import FloatArray, IntArray
from uncletc.data.counts import CountTensor
from uncletc.tables.findings import Finding, listed
from uncletc.tables.levels import Levels

# Rank correlation with the count from which an attribute is nearly the count itself. Attributes of
# real detection lie far below: tests per person and cases have .5.
LEAKING = 0.95
# Share of what levels leave open that steps of one attribute explain in counts not seen. p alone
# cannot explain so much beside λ, chance and other attributes.
EXPLAINS = 0.9
# Correlation of two attributes from which their effects cannot be told apart in practice.
ALIKE = 0.98
# 1 / (1 - R²) of an attribute by all others from which the same holds of several (R² = .97).
INFLATION = 30.0
SAMPLE = 20_000  # counts that these are computed from
STEPS = 20  # of an attribute, with as many counts each
_REST = 1e-6  # share of the variance of counts that their parts leave open
_RIDGE = 1e-8  # keeps attributes that follow exactly from others within what can be inverted
LEAST = 40  # counts with attributes; fewer say nothing


def check_attributes(counts: CountTensor, levels: Levels) -> Iterator[Finding]:
    """Find constant, collinear and leaking attributes among those of counted entries.

    Parameters
    ----------
    counts : CountTensor
    levels : Levels
        Of these counts.
    """
    names = counts.all_attribute_names
    rows = np.flatnonzero(counts.attribute_rows >= 0)
    if not names or not len(rows):
        return
    table = np.column_stack([counts.attributes, counts.rate_attributes])
    every = (*counts.attribute_names, *counts.rate_attribute_names)
    z = table[:, [every.index(name) for name in names]]
    where = counts.attribute_rows[rows]
    constant = np.ptp(z[where], axis=0) == 0
    if constant.any():
        yield _constant([name for name, same in zip(names, constant, strict=True) if same])
    if len(rows) < LEAST:
        return
    if len(rows) > SAMPLE:
        rows = np.sort(np.random.default_rng(0).choice(rows, SAMPLE, replace=False))
    z = z[counts.attribute_rows[rows]]
    y, mean = counts.counts[rows].astype(np.float64), levels.mean[rows]
    per = y / counts.exposure_at(counts.indices[rows])
    yield from _leaking(names, z, y, per, mean, levels.phi, ~constant)
    yield from _together(names, z, y, ~constant)
    yield from _collinear(names, z, ~constant)


def _constant(names: list[str]) -> Finding:
    have = "have" if len(names) > 1 else "has"
    return Finding(
        kind="constant",
        severity="look",
        sentence=f"{listed(names)} {have} the same value at every count.",
        advice=f"Leave {'them' if len(names) > 1 else 'it'} out: what never changes explains no "
        "difference.",
        details={"attributes": tuple(names)},
    )


def _leaking(
    names: tuple[str, ...],
    z: FloatArray,
    y: FloatArray,
    per: FloatArray,
    mean: FloatArray,
    phi: float,
    used: NDArray[np.bool_],
) -> Iterator[Finding]:
    """Attributes that nearly determine the count, or what levels leave open of it."""
    ranked = [rankdata(y), rankdata(per)]
    half = np.random.default_rng(0).permutation(len(y)) % 2 == 0
    for j in np.flatnonzero(used & (np.ptp(z, axis=0) > 0)):
        ranks = rankdata(z[:, j])
        together = max((abs(_correlation(ranks, each)) for each in ranked), default=0.0)
        share = _explained(z[:, j], y, mean, phi, half)
        if together < LEAKING and share < EXPLAINS:
            continue
        how = (
            f"their rank correlation is {together:.2f}"
            if together >= LEAKING
            else f"it explains {share:.0%} of what differs between counts of the same levels"
        )
        yield Finding(
            kind="leaking",
            severity="mend",
            sentence=f"{names[j]} nearly determines the count: {how}.",
            advice="Leave it out unless it was known before anyone counted: an attribute made from "
            "the counts says nothing of what they miss.",
            details={"attribute": names[j], "rank correlation": together, "explained": share},
        )


def _together(
    names: tuple[str, ...], z: FloatArray, y: FloatArray, used: NDArray[np.bool_]
) -> Iterator[Finding]:
    """Attributes whose sum is the count, as its parts are: males and females."""
    varied = np.flatnonzero(used & (np.ptp(z, axis=0) > 0))
    if len(varied) < 2 or len(y) < 10 * len(varied) or not y.any():
        return
    design = np.column_stack([np.ones(len(y)), z[:, varied]])
    slopes = np.linalg.lstsq(design, y, rcond=None)[0]
    rest = float(np.square(y - design @ slopes).sum() / np.square(y - y.mean()).sum())
    if not rest < _REST:
        return
    parts = varied[np.abs(slopes[1:]) * np.ptp(z[:, varied], axis=0) > 0.01 * np.ptp(y)]
    if len(parts) < 2:
        return  # one that does so alone is told above
    yield Finding(
        kind="leaking",
        severity="mend",
        sentence=f"{listed(names[j] for j in parts)} together make up the count: nothing is left "
        "of it beyond them.",
        advice="Leave them out, or take them as counts of one more mode: parts of a count say "
        "nothing of what it misses.",
        details={"attributes": tuple(names[j] for j in parts)},
    )


def _correlation(first: FloatArray, second: FloatArray) -> float:
    first, second = first - first.mean(), second - second.mean()
    scale = np.sqrt((first @ first) * (second @ second))
    return float(first @ second / scale) if scale > 0 else 0.0


def _explained(
    z: FloatArray, y: FloatArray, mean: FloatArray, phi: float, half: NDArray[np.bool_]
) -> float:
    """Share of the deviance beyond levels that steps of an attribute explain in the other half."""
    cuts = np.unique(np.quantile(z, np.linspace(0, 1, STEPS + 1)[1:-1]))
    step: IntArray = np.searchsorted(cuts, z, side="left")
    n = len(cuts) + 1
    weight = 1 / (1 + phi * mean)
    up = np.bincount(step[half], (y * weight)[half], n) + 0.5
    down = np.bincount(step[half], (mean * weight)[half], n) + 0.5
    rest = ~half
    better = (mean * (up / down)[step])[rest]
    before = _deviance(y[rest], mean[rest], phi)
    return 1 - _deviance(y[rest], better, phi) / before if before > 0 else 0.0


def _deviance(y: FloatArray, mean: FloatArray, phi: float) -> float:
    """Of negative binomial counts; large counts weigh as their logarithm does."""
    ratio = np.where(y > 0, y * np.log(np.maximum(y, 1e-9) / mean), 0.0)
    spread = (y + 1 / phi) * np.log((1 + phi * y) / (1 + phi * mean))
    return float(2 * (ratio - spread).sum())


def _collinear(names: tuple[str, ...], z: FloatArray, used: NDArray[np.bool_]) -> Iterator[Finding]:
    varied = np.flatnonzero(used & (np.ptp(z, axis=0) > 0)).tolist()
    chosen = [j for j in varied if not _last_level(j, names)]
    if len(chosen) < 2 or len(z) < 3 * len(chosen):
        return
    correlation = np.asarray(np.corrcoef(z[:, chosen].T)).reshape(len(chosen), len(chosen))
    rows, columns = np.nonzero(np.triu(np.abs(correlation) >= ALIKE, 1))
    for a, b in zip(rows.tolist(), columns.tolist(), strict=True):
        first, second = names[chosen[a]], names[chosen[b]]
        yield Finding(
            kind="collinear",
            severity="look",
            sentence=f"{first} and {second} carry the same information: their correlation is "
            f"{correlation[a, b]:.3f}.",
            advice="Keep the one that you can interpret: counts cannot tell their effects apart.",
            details={"attributes": (first, second), "correlation": float(correlation[a, b])},
        )
    kept = [i for i in range(len(chosen)) if i not in set(columns.tolist())]
    if len(kept) < 2:
        return
    alone = correlation[np.ix_(kept, kept)] + _RIDGE * np.eye(len(kept))
    inflation = np.diag(np.linalg.inv(alone))
    high = [names[chosen[kept[i]]] for i in np.argsort(-inflation) if inflation[i] >= INFLATION]
    if high:
        yield Finding(
            kind="collinear",
            severity="look",
            sentence=f"{listed(high)} follow{'' if len(high) > 1 else 's'} almost exactly from the "
            "other attributes.",
            advice="Leave one of them out, or read their effects together: counts cannot tell them "
            "apart.",
            details={"attributes": tuple(high), "inflation": float(inflation.max())},
        )


def _last_level(j: int, names: tuple[str, ...]) -> bool:
    """Whether it is the last level of a category, which follows from the others."""
    stem, colon, _ = names[j].partition(": ")
    return bool(colon) and not any(name.startswith(f"{stem}: ") for name in names[j + 1 :])
