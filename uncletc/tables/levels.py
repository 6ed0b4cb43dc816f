"""What counts would be if only the levels of their modes mattered: quick, and hard to mislead.

log m = log e + level + Σ_k a_k(i_k) + b(fibre)

One effect per index of each mode, and, of three modes or more, one per fibre along the mode in
time, or else the last: a place on all days, a pair at all visits. Counts are negative binomial. It
is the model of :mod:`uncletc.baselines.main_effects`, with priors that stay as they are, so that a
million counts take seconds, and with counts far from what is expected held back, so that a slip of
the pen does not become a level.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from uncletc.common.validation import FloatArray, IntArray
from uncletc.data.counts import CountTensor

_ROUNDS = 8  # of all effects; from marginal means on, they hardly move after six
_PRECISION = 0.2  # of effects: they stay finite where all counts are 0
_FAR = 4.0  # standard deviations beyond which a count does not pull any further
_STEP = 2.0  # of an effect at most
_LOG_RANGE = (-20.0, 40.0)
_KNOWN = 12  # counts of a fibre from which its effect is taken at its word
_PHI = (1e-4, 1e3)


@dataclass(frozen=True, eq=False)
class Levels:
    """Expected counts from levels alone.

    Attributes
    ----------
    mean : ndarray, shape (N,)
        Of each observed entry.
    phi : float
        φ: counts have variance m + φm².
    effects : tuple of ndarray, shapes (I_k,)
        Of the indices of each mode, on the log scale.
    cautious : ndarray, shape (N,)
        The same; where a fibre has few counts, no less than the modes alone let expect.
    fibre : ndarray of int, shape (N,)
        Number of the fibre of each observed entry, from 0; of its place with two modes.
    """

    mean: FloatArray
    cautious: FloatArray
    phi: float
    effects: tuple[FloatArray, ...]
    fibre: IntArray


def fit_levels(counts: CountTensor, along: int | None = None) -> Levels:
    """Estimate expected counts.

    Parameters
    ----------
    counts : CountTensor
    along : int, optional
        The mode along which fibres run. None: the last.
    """
    y = counts.counts.astype(np.float64)
    offset = np.log(counts.exposure_at(counts.indices))
    time = len(counts.shape) - 1 if along is None else along
    fibre = _fibres(counts, time)
    groups = list(counts.indices.T)
    if len(groups) > 2:
        groups.append(fibre)
    sizes = [int(group.max(initial=-1)) + 1 for group in groups]
    level = float(np.log(max(y.sum(), 0.5) / np.exp(offset).sum()))
    effects = [np.zeros(size) for size in sizes]
    log, phi = offset + level, 1.0
    for _ in range(_ROUNDS):
        for k, group in enumerate(groups):
            mean = np.exp(np.clip(log, *_LOG_RANGE))
            spread = 1 + phi * mean
            far = _FAR * np.sqrt(mean * spread)
            score = np.clip(y - mean, -far, far) / spread
            known = np.bincount(group, mean / spread, sizes[k])
            pull = np.bincount(group, score, sizes[k]) - _PRECISION * effects[k]
            step = np.clip(pull / (known + _PRECISION), -_STEP, _STEP)
            effects[k] += step
            log = log + step[group]
        mean = np.exp(np.clip(log, *_LOG_RANGE))
        phi = _dispersion(y, mean, phi)
    full = [np.zeros(size) for size in counts.shape]
    for all_levels, effect in zip(full, effects, strict=False):
        all_levels[: len(effect)] = effect
    cautious = mean
    if len(groups) > 2 and len(effects) > len(counts.shape):
        few = np.bincount(fibre)[fibre] < _KNOWN
        cautious = np.where(few, np.maximum(mean, mean * np.exp(-effects[-1][fibre])), mean)
    return Levels(mean=mean, cautious=cautious, phi=phi, effects=tuple(full), fibre=fibre)


def _fibres(counts: CountTensor, along: int) -> IntArray:
    others = [k for k in range(len(counts.shape)) if k != along]
    sizes = [counts.shape[k] for k in others]
    flat = np.ravel_multi_index([counts.indices[:, k] for k in others], sizes)
    return np.asarray(np.unique(flat, return_inverse=True)[1], dtype=np.int64)


def _dispersion(y: FloatArray, mean: FloatArray, phi: float) -> float:
    """φ by moments; a count far off adds no more than one at the edge."""
    variance = mean * (1 + phi * mean)
    squares = np.minimum((y - mean) ** 2, _FAR**2 * variance)
    return float(np.clip((squares - mean).sum() / (mean**2).sum(), *_PHI))
