"""UncleTC and UncleTC(Linear) under the contract of the other methods.

Source: S. Ibrahim, X. Fu, R. Hutchinson and E. Seo, "Under-Counted Tensor Completion with Neural
Incorporation of Attributes", ICML 2023; the linear g after X. Fu, E. Seo, J. Clarke and
R. A. Hutchinson, "Link Prediction Under Imperfect Detection: Collaborative Filtering for
Ecological Networks", IEEE Transactions on Knowledge and Data Engineering 33(8), 2021.

Which one, when: :func:`fit` for the model of this library; :func:`fit_linear` to see what is lost
when detection can only be linear in the attributes. Both take :class:`uncletc.FitSettings`, and
with them either solver.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from uncletc import fitting as library
from uncletc.baselines.base import Callback, Prediction, Progress, fitting
from uncletc.counts import CountTensor
from uncletc.model import Fit, Iteration
from uncletc.settings import FitSettings
from uncletc.validation import FloatArray, IntArray


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class UncleTCPrediction(Prediction):
    """ŷ = λ·g(z), with λ and p known up to one common factor.

    Attributes
    ----------
    fit : Fit
        The whole result; its observed entries are sorted by index.
    mean_detection : float
        Mean p over Ξ, which stands in for entries without attributes; 1 without any.
    """

    fit: Fit
    mean_detection: float

    def detection(self, attributes: ArrayLike) -> FloatArray:
        """p = g(z) of attributes (n, D), the mean p over Ξ in rows with NaN; (n,)."""
        z = np.asarray(attributes, dtype=np.float64)
        known = ~np.isnan(z).any(axis=1)
        p = np.full(len(z), self.mean_detection)
        if known.any():
            p[known] = self.fit.detection(z[known])
        return p

    def _rate(self, indices: IntArray) -> FloatArray:
        return self.fit.rate(indices)

    def _expected(self, indices: IntArray, attributes: FloatArray) -> FloatArray:
        return self._rate(indices) * self.detection(attributes)


def fit(
    counts: CountTensor, settings: FitSettings, *, callback: Callback | None = None
) -> UncleTCPrediction:
    """Estimate λ and p; see :func:`uncletc.fit`, of which this is the same in another dress."""
    with fitting(counts, settings, FitSettings) as data:

        def result(found: Fit) -> UncleTCPrediction:
            p = found.detection(data.attributes) if found.n_attributes else np.ones(1)
            return UncleTCPrediction(
                shape=found.shape,
                history=_history(found.history),
                stop=found.stop,
                settings=settings,
                counts_digest=counts.digest,
                n_attributes=found.n_attributes,
                fit=found,
                mean_detection=float(p.mean()),
            )

        def pass_on(record: Iteration) -> bool | None:
            current = record.current
            assert callback is not None
            return callback(
                replace(
                    _progress(record),
                    current=None if current is None else lambda: result(current()),
                )
            )

        found = library.fit(data, settings, callback=None if callback is None else pass_on)
        return result(found)


def fit_linear(
    counts: CountTensor, settings: FitSettings, *, callback: Callback | None = None
) -> UncleTCPrediction:
    """Estimate λ and p with g linear in z: settings as given, but for no hidden layers.

    With ``solver="bcd"`` this is the paper's g(z) = θ₁ᵀz + θ₂; the joint solver keeps g between 0
    and 1 and so has the linear function inside a sigmoid.
    """
    if isinstance(settings, FitSettings):
        settings = replace(settings, hidden=())
    return fit(counts, settings, callback=callback)


def _history(records: Sequence[Iteration]) -> tuple[Progress, ...]:
    return tuple(_progress(record) for record in records)


def _progress(record: Iteration) -> Progress:
    return Progress(iteration=record.iteration, objective=record.objective, seconds=record.seconds)
