"""UncleTC and UncleTC(Linear) under the contract of the other methods.

Source: S. Ibrahim, X. Fu, R. Hutchinson and E. Seo, "Under-Counted Tensor Completion with Neural
Incorporation of Attributes", ICML 2023; the linear g after X. Fu, E. Seo, J. Clarke and
R. A. Hutchinson, "Link Prediction Under Imperfect Detection: Collaborative Filtering for
Ecological Networks", IEEE Transactions on Knowledge and Data Engineering 33(8), 2021.

Which one, when: :func:`fit` for the model of this library; :func:`fit_linear` to see what is lost
if detection can only be linear in the attributes. Both take :class:`uncletc.FitSettings` and so
either solver.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from uncletc.data.counts import CountTensor
from uncletc.data.entries import flat_index
from uncletc.fitting import fit as fitting
from uncletc.fitting.settings import FitSettings
from uncletc.result.fit_result import Callback, Fit


def fit(counts: CountTensor, settings: FitSettings, *, callback: Callback | None = None) -> Fit:
    """Run :func:`uncletc.fit` on the sorted entries, so that their given order is irrelevant."""
    data = counts.in_order()
    estimate = fitting.fit(data, settings, callback=callback)
    place = np.argsort(np.argsort(flat_index(counts.indices, counts.shape)))
    p = estimate.observed_detection[place]
    return replace(estimate, counts_digest=counts.digest, observed_detection=p)


def fit_linear(
    counts: CountTensor, settings: FitSettings, *, callback: Callback | None = None
) -> Fit:
    """Estimate λ and p with g linear in z: the given settings without hidden layers.

    With ``solver="bcd"`` this is the paper's g(z) = θ₁ᵀz + θ₂; the joint solver keeps g between 0
    and 1 by a sigmoid of the linear function.
    """
    if isinstance(settings, FitSettings):
        settings = replace(settings, hidden=())
    return fit(counts, settings, callback=callback)
