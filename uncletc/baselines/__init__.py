"""The methods that the paper compares, and simpler or more usual ones, under one contract.

Each method has a module with its settings and its algorithm. :data:`METHODS` maps names to them,
:data:`PAPER_METHODS` those that the paper compares; ``METHODS[name].fit(counts, settings, *,
callback=None)`` returns a :class:`Prediction` for any entry. In all of them an unobserved entry is
missing, not zero: it adds nothing to any sum.

Which one, when:

================ ================================ ============== ========== =======================
method           model of a count                 loss           attributes good for
================ ================================ ============== ========== =======================
UncleTC          CP × detection network           Poisson        yes        counts with misses
UncleTC(Linear)  CP × linear detection            Poisson        yes        is a network needed?
NTF-CPD-KL       CP                               Poisson        no         counts all reported
BPTF             CP with gamma priors             Poisson        no         few counts, many zeros
NTF-CPD-LS       CP                               least squares  no         large counts, even noise
NTF-Tucker-LS    Tucker                           least squares  no         modes of unlike ranks
HaLRTC           low rank in every unfolding      exact fit      no         dense, noiseless values
CoSTCo           convolutional network            least squares  yes        many entries
POND             Gaussian process on embeddings   Gaussian       no         smooth, nonlinear
================ ================================ ============== ========== =======================

Not in the paper, and without any idea of detection: they predict reported counts. A method that
does no better than they do has learnt little.

================ ================================ ============== ========== =======================
method           model of a count                 loss           attributes good for
================ ================================ ============== ========== =======================
Main effects     effects of places, days, …       neg. binomial  no         the usual first model
LightGBM         boosted trees                    Poisson        yes        many entries, attributes
================ ================================ ============== ========== =======================

HaLRTC and NTF-Tucker-LS hold the whole tensor in memory and refuse one that is too large. HaLRTC,
CoSTCo and POND ignore exposure; all others take λ proportional to it.

Examples
--------
>>> from uncletc import METHODS, simulate
>>> y, _ = simulate((12, 12, 12), rank=2, observed=0.3, seed=1)
>>> entry = METHODS["Main effects"]
>>> entry.fit(y, entry.settings()).expected([[0, 0, 0]]).shape
(1,)
"""

from uncletc.baselines.base import Callback, Estimate, Prediction, RankSettings, Settings
from uncletc.baselines.boosting import LightGBMSettings
from uncletc.baselines.cp import BPTFSettings, KLSettings, LSSettings
from uncletc.baselines.dense import HaLRTCSettings, TuckerSettings
from uncletc.baselines.main_effects import MainEffectsSettings
from uncletc.baselines.neural import CoSTCoSettings, PONDSettings
from uncletc.baselines.registry import METHODS, PAPER_METHODS, Method

__all__ = [
    "METHODS",
    "PAPER_METHODS",
    "BPTFSettings",
    "Callback",
    "CoSTCoSettings",
    "Estimate",
    "HaLRTCSettings",
    "KLSettings",
    "LSSettings",
    "LightGBMSettings",
    "MainEffectsSettings",
    "Method",
    "PONDSettings",
    "Prediction",
    "RankSettings",
    "Settings",
    "TuckerSettings",
]
