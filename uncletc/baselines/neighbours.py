"""Neighbours: rates smoothed over nearby days, places and other entries that are alike.

λ_i = m_i · [1 + Σ_j K(i, j) w_j (y_j / m_j)] / [1 + Σ_j K(i, j) w_j],   w_j = m_j / (1 + φ m_j)

m are the main effects (:mod:`uncletc.baselines.main_effects`): a neighbour says how far its count
lies above what its place and day have on average, and counts by what it knows. K is a product over
modes. Along an ordered mode, such as latitude or day, it falls by the factor r_k with each step;
along any other mode, such as species, all other indices are equally near, r_k (Aitchison and
Aitken, "Multivariate Binary Discrimination by the Kernel Method", Biometrika 1976). Each r_k is
the one with the best log score of counts set aside. 0 leaves an index to itself; 1 ignores the
mode.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.signal import lfilter

from uncletc.baselines.base import Algorithm, Estimate, Settings, check_dense, run
from uncletc.baselines.holding import Held, check_held, held_out_score, set_aside
from uncletc.baselines.main_effects import EffectsEstimate, MainEffects, MainEffectsSettings
from uncletc.common.validation import FloatArray, IntArray
from uncletc.data.counts import CountTensor

_DECAYS = (0.0, 0.15, 0.35, 0.6, 0.8, 0.9, 0.95, 1.0)  # r of an ordered mode
_SHARES = (0.0, 0.01, 0.03, 0.1, 0.3, 1.0)  # r of another
_NUMBER = re.compile(r"-?\d+(\.\d+)?")
_DATE = re.compile(r"\d{4}-\d{1,2}(-\d{1,2}.*)?")


@dataclass(frozen=True, kw_only=True)
class NeighboursSettings(Settings):
    """Settings of the kernel over neighbours.

    Parameters
    ----------
    held : {"entry", "fibre"}
        What is set aside to choose the kernel: single entries, or whole fibres along the last
        mode if such are to be predicted.
    ordered : tuple of int, optional
        Modes with an order. None: those whose labels are numbers or dates.
    max_iter : int
        Modes whose kernel is chosen, one after the other and over again, at most.
    tol : float
        0: that many are chosen in any case; else until no choice changes.
    seed
        See :class:`~uncletc.baselines.base.Settings`. It decides what is set aside.
    """

    held: Held = "entry"
    ordered: tuple[int, ...] | None = None
    max_iter: int = 40

    def __post_init__(self) -> None:
        super().__post_init__()
        check_held(self.held)
        if self.ordered is not None:
            object.__setattr__(self, "ordered", tuple(self.ordered))


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class NeighboursEstimate(Estimate):
    """λ = main effects × what neighbours say.

    Attributes
    ----------
    base : EffectsEstimate
    ratio : ndarray, shape (I_1, …, I_K)
    nearness : tuple of float
        r_k of each mode.
    """

    base: EffectsEstimate
    ratio: FloatArray
    nearness: tuple[float, ...]

    def _rate(self, indices: IntArray) -> FloatArray:
        return np.asarray(self.base.rate(indices) * self.ratio[tuple(indices.T)])


class Neighbours(Algorithm):
    """Choose the kernel of one mode at a time; the objective is the log score set aside.

    It starts from a kernel that ignores no mode and knows no neighbour: main effects and an
    entry's own count.
    """

    def __init__(self, data: CountTensor, settings: NeighboursSettings) -> None:
        check_dense(data, "Neighbours")
        self.settings, self.data = settings, data
        self.ordered = _ordered(data) if settings.ordered is None else settings.ordered
        aside = set_aside(data, settings.held, settings.seed)
        self.aside = data.subset(aside)
        rest = data.subset(~aside)
        self.base, self.guide = _effects(data), _effects(rest)
        self.rest_base = self.guide.rate(self.aside.indices)
        self.whole, self.part = _known(self.base, data), _known(self.guide, rest)
        self.nearness = [0.0] * len(data.shape)
        self.value = self._score(self.nearness)
        self.mode, self.unchanged = 0, 0

    def _score(self, nearness: list[float]) -> float:
        ratio = _ratio(self.part, nearness, self.ordered)[tuple(self.aside.indices.T)]
        return held_out_score(self.aside.counts, self.rest_base * ratio)

    def objective(self) -> float:
        """Mean -log P(y) of the counts set aside."""
        return self.value

    def step(self) -> None:
        """Choose the kernel of the next mode."""
        k, before = self.mode, self.nearness[self.mode]
        for r in _DECAYS if k in self.ordered else _SHARES:
            trial = [*self.nearness[:k], r, *self.nearness[k + 1 :]]
            value = self._score(trial)
            if value < self.value:
                self.value, self.nearness = value, trial
        self.unchanged = self.unchanged + 1 if self.nearness[k] == before else 0
        self.mode = (k + 1) % len(self.nearness)
        if self.settings.tol:
            self.settled = self.unchanged >= len(self.nearness)

    def estimate(self, **record: Any) -> NeighboursEstimate:
        """Smooth all counts by the kernel chosen so far."""
        ratio = _ratio(self.whole, self.nearness, self.ordered)
        return NeighboursEstimate(
            **record, base=self.base, ratio=ratio, nearness=tuple(self.nearness)
        )


def _effects(counts: CountTensor) -> EffectsEstimate:
    found = run(MainEffects, MainEffectsSettings, counts, MainEffectsSettings(tol=1e-4))
    assert isinstance(found, EffectsEstimate)
    return found


def _known(base: EffectsEstimate, data: CountTensor) -> FloatArray:
    """w·y/m and w of every entry, 0 where it was not counted; (2, I_1, …, I_K)."""
    known = np.zeros((2, *data.shape))
    mean = np.maximum(base.rate(data.indices), 1e-12)
    at = tuple(data.indices.T)
    known[0][at] = data.counts / (1 + base.phi * mean)
    known[1][at] = mean / (1 + base.phi * mean)
    return known


def _ratio(known: FloatArray, nearness: list[float], ordered: tuple[int, ...]) -> FloatArray:
    for k, r in enumerate(nearness):
        if r == 0:
            continue
        if k in ordered and r < 1:
            # Forwards and backwards, the filter sums with weights r, r², … on both sides.
            known = _filter(known, r, k + 1) + _filter(known, r, k + 1, back=True) - known
        else:
            known = (1 - r) * known + r * known.sum(axis=k + 1, keepdims=True)
    return np.asarray((1 + known[0]) / (1 + known[1]))


def _filter(values: FloatArray, r: float, axis: int, *, back: bool = False) -> FloatArray:
    turned = np.flip(values, axis) if back else values
    found = lfilter([1.0], [1.0, -r], turned, axis=axis)
    return np.asarray(np.flip(found, axis) if back else found)


def _ordered(data: CountTensor) -> tuple[int, ...]:
    """Modes whose labels are numbers, other than the indices themselves, or dates."""
    return tuple(
        k
        for k, labels in enumerate(data.labels)
        if list(labels) != [str(i) for i in range(len(labels))]
        and any(all(form.fullmatch(label) for label in labels) for form in (_NUMBER, _DATE))
    )
