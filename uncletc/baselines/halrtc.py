"""HaLRTC: high-accuracy low-rank tensor completion.

Source: J. Liu, P. Musialski, P. Wonka and J. Ye, "Tensor Completion for Estimating Missing Values
in Visual Data", IEEE Transactions on Pattern Analysis and Machine Intelligence 35(1), 2013.

Minimises Σ_k α_k ‖X_(k)‖_* subject to X = y on Ω, with α_k = 1/K and X_(k) the unfolding along
mode k, by the alternating direction method of multipliers: per mode a copy M_k of X whose singular
values are shrunk by α_k/ρ, X as the mean of what the copies say on missing entries and as the
counts on observed ones, multipliers W_k. As in the authors' practice ρ grows with each iteration.
X may be negative, and predicts 0 there. It knows neither counts nor exposure: y is any real number.

Dense: it holds the whole tensor, K + 1 times over and more; tensors above
:data:`~uncletc.baselines.base.DENSE_LIMIT` entries are refused.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from uncletc.baselines.base import Callback, Prediction, Run, Settings, check_dense, fitting
from uncletc.counts import CountTensor
from uncletc.model import StopReason
from uncletc.validation import FloatArray, IntArray


@dataclass(frozen=True, kw_only=True)
class HaLRTCSettings(Settings):
    """Settings of HaLRTC.

    Parameters
    ----------
    rho : float
        ρ > 0 at the start, per unit of the counts; the paper's grid is 10⁻⁷ to 10⁻⁴.
    growth : float
        Factor of ρ per iteration, ≥ 1.
    tol : float
        Stop when X changed, and the copies differ from it, by less than this, relative to the
        size of the observed counts; ≥ 0.
    max_iter, seed
        See :class:`~uncletc.baselines.base.Settings`; nothing here is random.
    """

    rho: float = 1e-6
    growth: float = 1.05

    def __post_init__(self) -> None:
        super().__post_init__()
        self._real("rho", 0.0, above=True)
        self._real("growth", 1.0)


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class DensePrediction(Prediction):
    """λ of every entry, as a tensor.

    Attributes
    ----------
    values : ndarray, shape (I_1, …, I_K)
        The completed tensor: the counts themselves on Ω.
    """

    values: FloatArray

    def _rate(self, indices: IntArray) -> FloatArray:
        return np.asarray(np.maximum(self.values[tuple(indices.T)], 0.0))


def fit(
    counts: CountTensor, settings: HaLRTCSettings, *, callback: Callback | None = None
) -> Prediction:
    """Complete the tensor with the least sum of nuclear norms.

    Parameters
    ----------
    counts : CountTensor
        At least one observed entry, and a tensor that may be held whole; attributes and exposure
        are not used.
    settings : HaLRTCSettings
    callback : callable, optional
        Called with each :class:`~uncletc.baselines.base.Progress`, whose objective is
        Σ α_k ‖X_(k)‖_* of the copies, per observed entry; it need not fall. Return True to stop.

    Returns
    -------
    DensePrediction
    """
    with fitting(counts, settings, HaLRTCSettings) as data:
        check_dense(data, "HaLRTC")
        modes = len(data.shape)
        observed = np.zeros(data.shape, dtype=bool)
        observed[tuple(data.indices.T)] = True
        x = np.full(data.shape, float(data.counts.mean()))
        x[tuple(data.indices.T)] = data.counts
        size = max(float(np.linalg.norm(data.counts)), 1.0)
        multipliers = [np.zeros(data.shape) for _ in range(modes)]
        rho = settings.rho

        def result(stop: StopReason) -> Prediction:
            return DensePrediction(
                shape=counts.shape,
                history=tuple(run.history),
                stop=stop,
                settings=settings,
                counts_digest=counts.digest,
                values=x.copy(),
            )

        run = Run(settings, callback, result)
        norms = [float(np.linalg.norm(unfold(x, k), "nuc")) for k in range(modes)]
        stop = run.record(sum(norms) / modes / data.n_observed, settled=False)
        while stop is None:
            rho *= settings.growth
            copies, total = [], 0.0
            for mode in range(modes):
                target = x + multipliers[mode] / rho
                copy, norm = shrink(unfold(target, mode), 1 / modes / rho)
                copies.append(fold(copy, mode, data.shape))
                total += norm / modes
            mean = sum(m - w / rho for m, w in zip(copies, multipliers, strict=True)) / modes
            new = np.where(observed, x, mean)
            change = float(np.linalg.norm(new - x))
            x = new
            apart = max(float(np.linalg.norm(copy - x)) for copy in copies)
            for w, copy in zip(multipliers, copies, strict=True):
                w -= rho * (copy - x)
            settled = max(change, apart) < settings.tol * size
            stop = run.record(total / data.n_observed, settled=settled)
        return run.finish(stop)


def shrink(matrix: FloatArray, threshold: float) -> tuple[FloatArray, float]:
    """Lower all singular values by `threshold`, to 0 at least; the result and its nuclear norm."""
    if matrix.shape[0] > matrix.shape[1]:
        turned, norm = shrink(matrix.T, threshold)
        return turned.T, norm
    left, values, right = np.linalg.svd(matrix, full_matrices=False)
    kept = np.maximum(values - threshold, 0.0)
    return (left * kept) @ right, float(kept.sum())


def unfold(tensor: FloatArray, mode: int) -> FloatArray:
    """Mode k first, all others in one; (I_k, J)."""
    return np.moveaxis(tensor, mode, 0).reshape(tensor.shape[mode], -1)


def fold(matrix: FloatArray, mode: int, shape: tuple[int, ...]) -> FloatArray:
    """Undo :func:`unfold`."""
    others = [size for k, size in enumerate(shape) if k != mode]
    return np.moveaxis(matrix.reshape([shape[mode], *others]), 0, mode)
