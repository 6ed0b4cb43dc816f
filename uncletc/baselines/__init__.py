"""The methods that the paper compares, under one contract.

Each method has a module with its settings and its algorithm. :data:`METHODS` maps the paper's
names to them; ``METHODS[name].fit(counts, settings, *, callback=None)`` returns a
:class:`Prediction` for any entry. In all of them an unobserved entry is missing, not zero: it adds
nothing to any sum.

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

HaLRTC and NTF-Tucker-LS hold the whole tensor in memory and refuse one that is too large. The CP
and Tucker methods take λ proportional to exposure; HaLRTC, CoSTCo and POND ignore exposure.
"""

from uncletc.baselines.base import Callback, Estimate, Prediction, RankSettings, Settings
from uncletc.baselines.bptf import BPTFSettings
from uncletc.baselines.costco import CoSTCoSettings
from uncletc.baselines.halrtc import HaLRTCSettings
from uncletc.baselines.ntf_kl import KLSettings
from uncletc.baselines.ntf_ls import LSSettings
from uncletc.baselines.ntf_tucker import TuckerSettings
from uncletc.baselines.pond import PONDSettings
from uncletc.baselines.registry import METHODS, Method

__all__ = [
    "METHODS",
    "BPTFSettings",
    "Callback",
    "CoSTCoSettings",
    "Estimate",
    "HaLRTCSettings",
    "KLSettings",
    "LSSettings",
    "Method",
    "PONDSettings",
    "Prediction",
    "RankSettings",
    "Settings",
    "TuckerSettings",
]
