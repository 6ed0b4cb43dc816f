"""METHODS: every method by its name; PAPER_METHODS: those that the paper compares.

UncleTC: S. Ibrahim, X. Fu, R. Hutchinson and E. Seo, "Under-Counted Tensor Completion with Neural
Incorporation of Attributes", ICML 2023; the linear g after X. Fu, E. Seo, J. Clarke and
R. A. Hutchinson, "Link Prediction Under Imperfect Detection: Collaborative Filtering for
Ecological Networks", IEEE Transactions on Knowledge and Data Engineering 33(8), 2021. Both take
:class:`uncletc.FitSettings` and so either solver.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np

from uncletc.baselines.base import Algorithm, Prediction, Settings, run
from uncletc.baselines.boosting import LightGBM, LightGBMSettings
from uncletc.baselines.cp import BPTF, KL, LS, BPTFSettings, KLSettings, LSSettings
from uncletc.baselines.dense import HaLRTC, HaLRTCSettings, Tucker, TuckerSettings
from uncletc.baselines.main_effects import MainEffects, MainEffectsSettings
from uncletc.baselines.neural import POND, CoSTCo, CoSTCoSettings, PONDSettings
from uncletc.data.counts import CountTensor
from uncletc.data.entries import flat_index
from uncletc.fitting.fit import fit
from uncletc.fitting.settings import FitSettings
from uncletc.result.fit_result import Callback, Fit


@dataclass(frozen=True)
class Method:
    """One method of the comparison.

    Attributes
    ----------
    name : str
        As in the paper, if it is there.
    settings : type
        Class of its settings; keyword arguments only.
    fit : callable
        ``fit(counts, settings, *, callback=None)``; returns a :class:`Prediction`.
    dense : bool
        Whether it holds the whole tensor.
    in_paper : bool
        Whether the paper compares it. The others show what simpler, or more usual, methods reach.

    Examples
    --------
    >>> from uncletc import METHODS, simulate
    >>> y, _ = simulate((6, 5, 4), rank=1, observed=0.8, seed=1)
    >>> method = METHODS["BPTF"]
    >>> settings = method.settings(rank=1) if method.has_rank else method.settings()
    >>> bool((method.fit(y, settings).expected(y.indices) > 0).all())
    True
    """

    name: str
    settings: type[Any]
    fit: Callable[..., Prediction]
    dense: bool = False
    in_paper: bool = True

    @property
    def has_rank(self) -> bool:
        """Whether its settings hold a rank."""
        return any(field.name == "rank" for field in fields(self.settings))


def fit_network(
    counts: CountTensor, settings: FitSettings, *, callback: Callback | None = None
) -> Fit:
    """Run :func:`uncletc.fit` on the sorted entries, so that their given order is irrelevant."""
    data = counts.in_order()
    estimate = fit(data, settings, callback=callback)
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
    return fit_network(counts, settings, callback=callback)


def _of(name: str, algorithm: type[Algorithm], settings: type[Settings], **facts: Any) -> Method:
    """Return a method whose fit is the loop of :func:`~uncletc.baselines.base.run`."""
    return Method(name, settings, partial(run, algorithm, settings), **facts)


_ALL = (
    Method("UncleTC", FitSettings, fit_network),
    Method("UncleTC(Linear)", FitSettings, fit_linear),
    _of("NTF-CPD-KL", KL, KLSettings),
    _of("BPTF", BPTF, BPTFSettings),
    _of("HaLRTC", HaLRTC, HaLRTCSettings, dense=True),
    _of("NTF-CPD-LS", LS, LSSettings),
    _of("NTF-Tucker-LS", Tucker, TuckerSettings, dense=True),
    _of("CoSTCo", CoSTCo, CoSTCoSettings),
    _of("POND", POND, PONDSettings),
    _of("Main effects", MainEffects, MainEffectsSettings, in_paper=False),
    _of("LightGBM", LightGBM, LightGBMSettings, in_paper=False),
)

METHODS: Mapping[str, Method] = MappingProxyType({method.name: method for method in _ALL})
PAPER_METHODS: Mapping[str, Method] = MappingProxyType(
    {method.name: method for method in _ALL if method.in_paper}
)
