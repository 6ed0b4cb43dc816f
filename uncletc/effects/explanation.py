"""Why p of some entries differs from that of a typical entry."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from uncletc.common.validation import check_indices, check_whole
from uncletc.data.counts import CountTensor
from uncletc.effects.entries import along_p, attribute_groups, log_p, validated
from uncletc.effects.records import Explanation
from uncletc.result.fit_result import Fit


def explain(
    fit: Fit,
    counts: CountTensor,
    indices: ArrayLike,
    *,
    background: int = 1000,
    seed: int = 0,
) -> Explanation:
    """Attribute the difference of mean log p between some entries and typical ones.

    Shapley values by sampled orders (Štrumbelj and Kononenko, Knowledge and Information Systems,
    2014), each order with its reverse (Mitchell et al., JMLR, 2022): one after the other, the
    attributes of a background entry are replaced by those of an entry to explain, and each is
    credited with the change of log p. Every entry is paired with equally many background entries,
    so the contributions add up exactly. The background has one entry from each of many equal
    runs along p, so that its mean log p hardly depends on the seed.

    Parameters
    ----------
    fit, counts : Fit, CountTensor
        As for :func:`partial_dependence`.
    indices : array_like of int, shape (n, K)
        Entries of Ξ to explain together, n ≥ 1: all days of one place, for example.
    background : int
        Number of background entries, ≥ 1, drawn at random; rounded up to a multiple of n.
    seed : int
        Seed of the background and the orders.

    Raises
    ------
    ValueError
        As :func:`partial_dependence`, or if an entry lies outside Ξ.
    """
    z, _ = validated(fit, counts)
    check_whole("background", background, 1)
    entries = check_indices(indices, counts.shape, "indices")
    if not len(entries):
        raise ValueError("indices must name at least 1 entry, got none")
    rows = counts.attributes_at(entries)
    rng = np.random.default_rng(seed)
    n = len(rows) * math.ceil(background / len(rows))
    typical = along_p(fit, z, n, rng)
    explained = np.tile(rows, (n // len(rows), 1))
    groups = attribute_groups(counts)
    owner = np.empty(z.shape[1], dtype=np.int64)  # group of each column
    for g, columns in enumerate(groups.values()):
        owner[list(columns)] = g
    order = rng.permuted(np.tile(np.arange(len(groups)), (n, 1)), axis=1)
    start = log_p(fit, typical)
    shares = np.zeros((len(start), len(groups)))
    for turns in (order, order[:, ::-1]):
        now, before = typical, start
        for turn in turns.T:
            now = np.where(owner == turn[:, None], explained, now)
            after = log_p(fit, now)
            for share, change in zip(shares, after - before, strict=True):
                share += np.bincount(turn, change, minlength=len(groups))
            before = after
    shares /= 2 * n
    return Explanation(
        log_effect=shares[0],
        draws=shares[1:],
        names=tuple(groups),
        log_p=float(log_p(fit, rows)[0].mean()),
        typical_log_p=float(start[0].mean()),
    )
