"""METHODS: every method by its name; PAPER_METHODS: those that the paper compares."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import partial
from types import MappingProxyType
from typing import Any

from uncletc.baselines import undercounted
from uncletc.baselines.base import Prediction, run
from uncletc.baselines.boosting import LightGBM, LightGBMSettings
from uncletc.baselines.bptf import BPTF, BPTFSettings
from uncletc.baselines.costco import CoSTCo, CoSTCoSettings
from uncletc.baselines.halrtc import HaLRTC, HaLRTCSettings
from uncletc.baselines.main_effects import MainEffects, MainEffectsSettings
from uncletc.baselines.ntf_kl import KL, KLSettings
from uncletc.baselines.ntf_ls import LS, LSSettings
from uncletc.baselines.ntf_tucker import Tucker, TuckerSettings
from uncletc.baselines.pond import POND, PONDSettings
from uncletc.fitting.settings import FitSettings

_RANKS = (5, 10, 15, 20)


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
    source : str
        Authors, venue and year.
    grid : mapping of str to tuple
        The values that the paper searches for each setting (appendix, real data); for a method
        that it does not have, ours.
    uses_attributes : bool
        Whether its predictions depend on attributes.
    uses_exposure : bool
        Whether its λ is proportional to exposure.
    dense : bool
        Whether it holds the whole tensor.
    in_paper : bool
        Whether the paper compares it. The others show what simpler, or more usual, methods reach.
    """

    name: str
    settings: type[Any]
    fit: Callable[..., Prediction]
    source: str
    grid: Mapping[str, tuple[Any, ...]]
    uses_attributes: bool = False
    uses_exposure: bool = True
    dense: bool = False
    in_paper: bool = True

    @property
    def has_rank(self) -> bool:
        """Whether its settings hold a rank."""
        return any(field.name == "rank" for field in fields(self.settings))


_NETWORK = {
    "rank": _RANKS,
    "mu": (500.0, 1000.0, 2000.0, 3000.0),
    "learning_rate": (0.001, 0.005, 0.01),
    "batch_size": (256, 512, 1024),
}
_HIDDEN = tuple((units,) * layers for units in (10, 20, 30) for layers in (1, 3, 5))

_ALL = (
    Method(
        "UncleTC",
        FitSettings,
        undercounted.fit,
        "Ibrahim, Fu, Hutchinson and Seo, ICML 2023",
        _NETWORK | {"hidden": _HIDDEN},
        uses_attributes=True,
    ),
    Method(
        "UncleTC(Linear)",
        FitSettings,
        undercounted.fit_linear,
        "Fu, Seo, Clarke and Hutchinson, IEEE TKDE 2021, for tensors as in Ibrahim et al. 2023",
        _NETWORK,
        uses_attributes=True,
    ),
    Method(
        "NTF-CPD-KL",
        KLSettings,
        partial(run, KL, KLSettings),
        "Chi and Kolda, SIMAX 2012",
        {"rank": _RANKS},
    ),
    Method(
        "BPTF",
        BPTFSettings,
        partial(run, BPTF, BPTFSettings),
        "Schein, Paisley, Blei and Wallach, KDD 2015",
        {"rank": _RANKS, "alpha": (0.02, 0.05, 0.1, 0.2)},
    ),
    Method(
        "HaLRTC",
        HaLRTCSettings,
        partial(run, HaLRTC, HaLRTCSettings),
        "Liu, Musialski, Wonka and Ye, IEEE TPAMI 2013",
        {"rho": (1e-7, 1e-6, 1e-5, 1e-4)},
        uses_exposure=False,
        dense=True,
    ),
    Method(
        "NTF-CPD-LS",
        LSSettings,
        partial(run, LS, LSSettings),
        "Shashua and Hazan, ICML 2005",
        {"rank": _RANKS},
    ),
    Method(
        "NTF-Tucker-LS",
        TuckerSettings,
        partial(run, Tucker, TuckerSettings),
        "Kim and Choi, CVPR 2007",
        {"rank": _RANKS},
        dense=True,
    ),
    Method(
        "CoSTCo",
        CoSTCoSettings,
        partial(run, CoSTCo, CoSTCoSettings),
        "Liu, Li, Tsang and Liu, KDD 2019",
        {"rank": _RANKS},
        uses_attributes=True,
        uses_exposure=False,
    ),
    Method(
        "POND",
        PONDSettings,
        partial(run, POND, PONDSettings),
        "Tillinghast, Fang, Zhang and Zhe, ICDM 2020",
        {"rank": _RANKS},
        uses_exposure=False,
    ),
    Method(
        "Main effects",
        MainEffectsSettings,
        partial(run, MainEffects, MainEffectsSettings),
        "Breslow and Clayton, JASA 1993",
        {"fibres": (True, False)},
        in_paper=False,
    ),
    Method(
        "LightGBM",
        LightGBMSettings,
        partial(run, LightGBM, LightGBMSettings),
        "Ke, Meng, Finley, Wang, Chen, Ma, Ye and Liu, NeurIPS 2017",
        {"leaves": (15, 31, 63), "learning_rate": (0.05, 0.1), "least_entries": (5, 20)},
        uses_attributes=True,
        in_paper=False,
    ),
)

METHODS: Mapping[str, Method] = MappingProxyType({method.name: method for method in _ALL})
PAPER_METHODS: Mapping[str, Method] = MappingProxyType(
    {method.name: method for method in _ALL if method.in_paper}
)
