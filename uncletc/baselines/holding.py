"""Counts that a method sets aside of those it is given, to choose what it cannot choose by fit."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from uncletc.common.validation import IntArray, check_choice
from uncletc.data.counts import CountTensor
from uncletc.data.entries import flat_index

Held = Literal["entry", "fibre"]
_SHARE = 5  # one of so many is set aside


def check_held(held: str) -> None:
    """Refuse any other choice."""
    check_choice("held", held, get_args(Held))


def fibre_of(indices: IntArray, shape: tuple[int, ...]) -> IntArray:
    """Number of the fibre along the last mode of valid entries (n, K), such as a place; (n,)."""
    return flat_index(indices[:, :-1], shape[:-1])


def set_aside(counts: CountTensor, held: Held, seed: int) -> NDArray[np.bool_]:
    """Choose a fifth of the observed entries, or of the fibres along the last mode; mask (N,).

    One entry, or fibre, alone is not set aside.
    """
    n = counts.n_observed
    group = np.arange(n)
    if held == "fibre":
        group = np.unique(fibre_of(counts.indices, counts.shape), return_inverse=True)[1]
    number = int(group.max()) + 1
    chosen = np.random.default_rng(seed).permutation(number)[: -(-number // _SHARE)]
    return np.isin(group, chosen[: number - 1])
