"""Which observed entries train, validate and test."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uncletc.common.validation import IntArray, check_choice, check_whole
from uncletc.data.counts import CountTensor

FoldKind = Literal["entry", "fibre"]


def make_folds(
    counts: CountTensor,
    n_folds: int = 5,
    *,
    kind: FoldKind = "entry",
    across: Sequence[int] | None = None,
    seed: int = 0,
) -> IntArray:
    """Divide the observed entries into disjoint folds of nearly equal size.

    Parameters
    ----------
    counts : CountTensor
    n_folds : int
        At least 3: to train, validate and test.
    kind : {"entry", "fibre"}
        Whether folds hold single entries, or whole fibres.
    across : sequence of int, optional
        "fibre" only: the modes whose indices identify a fibre; entries that agree in them stay
        together. None: all modes except the last.
    seed : int
        Seed of everything random, ≥ 0.

    Returns
    -------
    ndarray of int, shape (N,)
        The fold of each observed entry, 0 to `n_folds` - 1.

    Raises
    ------
    ValueError
        If there are fewer entries, or fibres, than folds, or an argument breaks its rule.

    Examples
    --------
    >>> y = CountTensor((2, 3), [[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2]], [1] * 6)
    >>> sorted(make_folds(y, 3).tolist())
    [0, 0, 1, 1, 2, 2]
    """
    n_folds, seed = check_whole("n_folds", n_folds, 3), check_whole("seed", seed, 0)
    check_choice("kind", kind, get_args(FoldKind))
    modes = _check_modes(across, len(counts.shape))
    if kind == "entry":
        group, noun = np.arange(counts.n_observed), "entries"
    else:
        sizes = [counts.shape[k] for k in modes]
        flat = np.ravel_multi_index([counts.indices[:, k] for k in modes], sizes)
        group, noun = np.unique(flat, return_inverse=True)[1], "fibres"
    entries = np.bincount(group)
    if len(entries) < n_folds:
        raise ValueError(
            f"n_folds must be at most the {len(entries)} observed {noun}, got {n_folds}"
        )
    order = np.random.default_rng(seed).permutation(len(entries))
    order = order[np.argsort(-entries[order], kind="stable")]  # large groups first, ties random
    return _fill_evenly(entries, order, n_folds)[group]


def _fill_evenly(entries: IntArray, order: IntArray, n_folds: int) -> IntArray:
    """Give each group in turn, the largest first, to the fold that holds the fewest entries.

    Groups of equal size are dealt at once: they go where the folds, after 0, 1, 2, … of them, have
    the m smallest sizes, with ties to the fold of the lower number.
    """
    fold, filled = np.empty(len(entries), dtype=np.int64), np.zeros(n_folds, dtype=np.int64)
    for same_size in np.split(order, np.flatnonzero(np.diff(entries[order])) + 1):
        m, size = len(same_size), int(entries[same_size[0]])
        most = int(np.ptp(filled)) // size + m // n_folds + 2  # no fold gets more of them
        sizes = filled[:, None] + size * np.arange(most)
        fold[same_size] = np.argsort(sizes, axis=None, kind="stable")[:m] // most
        filled += size * np.bincount(fold[same_size], minlength=n_folds)
    return fold


@dataclass(frozen=True, eq=False)
class Split:
    """The roles of the observed entries in one trial, disjoint masks (N,).

    Attributes
    ----------
    trial : int
    train, validation, test : ndarray of bool, shape (N,)
    """

    trial: int
    train: NDArray[np.bool_]
    validation: NDArray[np.bool_]
    test: NDArray[np.bool_]


def splits(folds: ArrayLike) -> tuple[Split, ...]:
    """Make one trial per fold: it tests, the next one validates, the others train.

    Parameters
    ----------
    folds : array_like of int, shape (N,)
        As :func:`make_folds` returns them.
    """
    fold = np.asarray(folds, dtype=np.int64)
    n = int(fold.max()) + 1 if fold.size else 0
    if n < 3:
        raise ValueError(f"folds must number at least 3, got {n}")
    return tuple(
        Split(
            trial,
            ~np.isin(fold, (trial, (trial + 1) % n)),
            fold == (trial + 1) % n,
            fold == trial,
        )
        for trial in range(n)
    )


def _check_modes(across: Sequence[int] | None, n_modes: int) -> tuple[int, ...]:
    modes = tuple(range(n_modes - 1)) if across is None else tuple(across)
    if not modes or len(set(modes)) != len(modes) or not set(modes) <= set(range(n_modes)):
        raise ValueError(f"across must hold distinct modes from 0 to {n_modes - 1}, got {across}")
    return modes
