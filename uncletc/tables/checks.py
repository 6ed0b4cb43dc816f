"""A report on counts before the fit: what is wrong with them, what is odd, and what a fit costs.

:func:`check_counts` gives sentences in the order of their importance. Each threshold is a constant
with its reason, here or in the modules of days, attributes and time.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.stats import nbinom

from uncletc.data.counts import CountTensor
from uncletc.datasets.base import Dataset
from uncletc.tables.check_attributes import check_attributes
from uncletc.tables.check_days import check_days, time_mode
from uncletc.tables.check_sums import check_running, check_totals
from uncletc.tables.existing import existing, n_existing
from uncletc.tables.expected_time import NETWORK_UP_TO, expected_seconds, seconds_text
from uncletc.tables.findings import Finding, by_importance, counted, listed
from uncletc.tables.levels import Levels, fit_levels

# An outlier is so many times what its levels let expect, as a digit too many makes it; spread of
# p and patterns of λ stay below it on simulated counts.
TIMES = 10.0
# And so many times what the highest hundredth of counts begins with: where p is near 0 or 1 at
# random, as in some simulated counts, one count in a hundred is 8 times what its levels say.
APART = 3.0
# And no more probable than this among counts that scatter as the others do, all counts together.
CHANCE = 1e-4
# Share of counts beyond that: then counts scatter widely, and it is no matter of single ones.
MANY = 0.01
# Variance over mean below which counts scatter less than chance alone lets them: averages,
# rounded or capped numbers. Poisson counts have 1, and 400 of them .86 at least.
TOO_EVEN = 0.7
LEAST_COUNTS = 200  # from which that is told
LEAST_MEAN = 1.0  # of counts that tell it: small ones are always near Poisson
# Counts for each level of all modes: a fit of rank 1 alone has so many unknowns.
FEW = 2.0
_NAMED = 5  # levels and entries that a sentence names
_USUAL_RANK = 5  # what the pages fit with at first


def check_counts(data: Dataset | CountTensor, *, rank: int = _USUAL_RANK) -> tuple[Finding, ...]:
    """Look at counts before they are fitted.

    Parameters
    ----------
    data : Dataset or CountTensor
    rank : int
        Of the fit whose time is expected.

    Returns
    -------
    tuple of Finding
        The most important first. What was looked for and not found is said in one of them.

    Examples
    --------
    >>> from uncletc import simulate
    >>> y, _ = simulate((8, 8, 8), 2, observed=0.5, attributed=0.5, n_attributes=2, seed=1)
    >>> check_counts(y)[-1].sentence[:14]
    'Nothing speaks'
    """
    counts = data.counts if isinstance(data, Dataset) else data
    found = [_shape(counts), _share(counts)]
    if counts.n_observed and counts.counts.any():
        levels = fit_levels(counts, time_mode(counts))
        running = list(check_running(counts, time_mode(counts)))
        found += running
        found += check_totals(counts)
        if not running:  # totals have no silent days
            found += check_days(counts, levels)
        found += check_attributes(counts, levels)
        found += _outliers(counts, levels)
        found += _empty(counts)
        found += _few(counts)
        found.append(_scatter(counts, levels))
        found.append(_time(counts, rank))
        found.append(_clean({each.kind for each in found}, counts))
    else:
        found.append(_nothing(counts))
    return by_importance(found)


def _shape(counts: CountTensor) -> Finding:
    size = " × ".join(
        f"{size:,} {mode}s" for size, mode in zip(counts.shape, counts.modes, strict=True)
    )
    entries = int(np.prod([float(size) for size in counts.shape]))
    return Finding(
        kind="shape",
        severity="note",
        sentence=f"The counts form a block of {size}: {entries:,} combinations.",
        details={"shape": counts.shape, "entries": entries},
    )


def _share(counts: CountTensor) -> Finding:
    n = n_existing(counts)
    entries = float(np.prod([float(size) for size in counts.shape]))
    share = counts.n_observed / n if n else 0.0
    zeros = float(np.mean(counts.counts == 0)) if counts.n_observed else 0.0
    which = "" if n == entries else f" of the {n:,} that exist"
    return Finding(
        kind="share",
        severity="note",
        sentence=f"{counts.n_observed:,} combinations{which} have a count ({share:.0%}), and "
        f"{zeros:.0%} of the counts are 0; the others are missing, which is not 0.",
        details={"observed": counts.n_observed, "existing": n, "share": share, "zeros": zeros},
    )


def _outliers(counts: CountTensor, levels: Levels) -> Iterator[Finding]:
    y, mean, phi = counts.counts, levels.cautious, levels.phi
    ratio = (y + 0.5) / (mean + 0.5)
    at = np.flatnonzero(ratio > max(TIMES, APART * float(np.quantile(ratio, 1 - MANY))))
    chance = nbinom.sf(y[at] - 1, 1 / phi, 1 / (1 + phi * mean[at]))
    at = at[chance * len(y) < CHANCE]
    if not len(at):
        return
    at = at[np.argsort(mean[at] / y[at], kind="stable")]
    labels = counts.label_columns(counts.indices[at[:_NAMED]])
    named = [
        {mode: str(of[i]) for mode, of in labels}
        | {"count": int(y[at[i]]), "expected": float(mean[at[i]])}
        for i in range(min(len(at), _NAMED))
    ]
    first = named[0]
    where = ", ".join(_named(mode, str(first[mode])) for mode in counts.modes)
    details = {"n": len(at), "largest": tuple(named)}
    if len(at) > MANY * len(y):
        yield Finding(
            kind="outliers",
            severity="look",
            sentence=f"{counted(len(at), 'count')} ({len(at) / len(y):.0%}) are more than "
            f"{TIMES:.0f} times what their levels let expect: counts come in bursts.",
            advice="Look for what sets them apart and give it as an attribute or a mode; the fit "
            "takes the wide scatter into account.",
            details=details,
        )
        return
    yield Finding(
        kind="outliers",
        severity="look",
        sentence=f"{counted(len(at), 'count')} far above what other counts of the same levels let "
        f"expect: {where} has {first['count']:,} where about {first['expected']:,.2g} would be "
        "usual.",
        advice="Compare with the source; where it is a slip or a backlog reported at once, empty "
        "the count in the table.",
        details=details,
    )


def _named(mode: str, label: str) -> str:
    return label if label.startswith(mode) else f"{mode} {label}"


def _empty(counts: CountTensor) -> Iterator[Finding]:
    """Levels without a count, and levels whose counts are all 0."""
    exists = existing(counts)
    for k, (mode, labels) in enumerate(zip(counts.modes, counts.labels, strict=True)):
        at, size = counts.indices[:, k], len(labels)
        n, total = np.bincount(at, minlength=size), np.bincount(at, counts.counts, size)
        others = tuple(i for i in range(exists.ndim) if i != k)
        real = np.broadcast_to(exists.any(axis=others), n.shape)
        empty = tuple(labels[i] for i in np.flatnonzero(real & (n == 0)))
        zero = tuple(labels[i] for i in np.flatnonzero((n > 0) & (total == 0)))
        if empty:
            yield Finding(
                kind="empty levels",
                severity="look",
                sentence=f"{len(empty):,} of {counted(size, mode)} without any count: "
                f"{listed(empty)}.",
                advice="Leave them out unless you want a guess there: λ comes from what others "
                "share, and its interval is wide.",
                details={"mode": mode, "levels": empty},
            )
        if zero:
            yield Finding(
                kind="zero levels",
                severity="note",
                sentence=f"{len(zero):,} of {counted(size, mode)} with zeros alone: "
                f"{listed(zero)}.",
                advice="λ is near 0 there whatever p is; they tell nothing of p.",
                details={"mode": mode, "levels": zero},
            )


def _few(counts: CountTensor) -> Iterator[Finding]:
    used = [len(np.unique(counts.indices[:, k])) for k in range(len(counts.shape))]
    n = counts.n_observed / sum(used)
    if n >= FEW:
        return
    yield Finding(
        kind="few counts",
        severity="look",
        sentence=f"There are {counted(counts.n_observed, 'count')} for {sum(used):,} levels of the "
        "modes: hardly more than a fit of rank 1 has unknowns.",
        advice="Join levels, such as days to weeks or rare species to groups, or fit with rank 1.",
        details={"counts": counts.n_observed, "levels": sum(used)},
    )


def _scatter(counts: CountTensor, levels: Levels) -> Finding:
    """How widely counts scatter around what their levels let expect."""
    large = levels.mean >= LEAST_MEAN
    mean, y = levels.mean[large], counts.counts[large]
    if large.sum() < LEAST_COUNTS:
        return Finding(
            kind="dispersion",
            severity="note",
            sentence="Too few counts are large enough to tell how widely they scatter.",
            advice="Expect wide intervals.",
        )
    unknowns = sum(counts.shape) + (levels.fibre.max() + 1 if len(counts.shape) > 2 else 0)
    free = max(1 - unknowns / counts.n_observed, 0.1)
    ratio = float(np.median((y - mean) ** 2 / mean) / 0.455 / free)
    details = {"variance over mean": ratio, "phi": levels.phi}
    if ratio < TOO_EVEN:
        return Finding(
            kind="dispersion",
            severity="look",
            sentence=f"Counts scatter less than chance lets them: their variance is {ratio:.2g} "
            "times their mean within levels, and that of counts is 1 at least.",
            advice="Find out whether they are averages, rounded or capped, and use the counts "
            "themselves."
            if (counts.counts == 0).any()
            else "There is no 0 among them: if nothing was seen where there is no row, say that "
            "such combinations are 0; else find out whether they are averages or rounded.",
            details=details,
        )
    word = "about as" if ratio < 1.5 else "more" if ratio < 10 else "far more"
    than = "widely as chance alone" if ratio < 1.5 else "widely than chance alone"
    return Finding(
        kind="dispersion",
        severity="note",
        sentence=f"Counts scatter {word} {than} would let them: within levels their variance is "
        f"about {ratio:,.2g} times their mean.",
        advice="Nothing to do: patterns and attributes may explain it; intervals hold the rest.",
        details=details,
    )


def _time(counts: CountTensor, rank: int) -> Finding:
    seconds = expected_seconds(counts, rank)
    tried = bool(counts.attribute_names) and counts.n_observed <= NETWORK_UP_TO
    return Finding(
        kind="time",
        severity="note",
        sentence=f"A fit of {counted(counts.n_observed, 'count')} with rank {rank} takes "
        f"{seconds_text(seconds)}{', or some 15 where a network is tried' if tried else ''}.",
        advice="" if seconds < 120 else "Try a smaller rank first, or longer steps of time.",
        details={"seconds": seconds, "rank": rank},
    )


def _clean(kinds: set[str], counts: CountTensor) -> Finding:
    looked = {
        "running totals": "running totals",
        "totals": "levels that are sums of others",
        "days": "days without reports",
        "leaking": "attributes that give the count away",
        "constant": "attributes that never change",
        "collinear": "attributes that repeat others",
        "outliers": "single counts far too high",
        "empty levels": "levels without counts",
    }
    if not counts.all_attribute_names:
        looked = {kind: words for kind, words in looked.items() if "attributes" not in words}
    if time_mode(counts) is None:
        del looked["days"], looked["running totals"]
    fine = {kind: words for kind, words in looked.items() if kind not in kinds}
    *first, last = fine.values() or ("",)
    said = f"{', '.join(first)} or {last}" if first else last
    return Finding(
        kind="clean",
        severity="note",
        sentence=f"Nothing speaks for {said}." if fine else "All that was looked for was found.",
        details={"fine": tuple(fine)},
    )


def _nothing(counts: CountTensor) -> Finding:
    what = "no count at all" if not counts.n_observed else "no count above 0"
    return Finding(
        kind="few counts",
        severity="mend",
        sentence=f"There is {what}.",
        advice="Check which column holds the counts: without events nothing can be estimated.",
        details={"counts": counts.n_observed},
    )
