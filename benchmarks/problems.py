"""Simulated problems with a known truth, which solvers are judged on.

Which one, when: `covid-…` have the size of real counts and `o05` to `o30` are the paper's, whose
other settings are those of :mod:`benchmarks.paper`; those
from `K2` to `nbcov` each depart from these in one way; `additive-…` to `step-…` differ in how p
depends on attributes, with γ_Ω in the name. :data:`PROBLEMS` says what each is, and
``PROBLEMS[name].make(seed)`` draws it. A name and a seed always give the same counts.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from benchmarks._draws import (
    acting_together,
    covid_sized,
    departing,
    interacting,
    overdispersed,
    paper,
    ridge,
)
from benchmarks._problem import Problem

__all__ = ["PROBLEMS", "Family", "Goal", "Problem"]

N_NOISE = 25  # attributes that say nothing, of the problems "…-noise"
SMALL = {"shape": (30, 30, 20), "rank": 5, "mean": 50.0, "factor_shape": 1.0, "observed": 0.3}


@dataclass(frozen=True, kw_only=True)
class Goal:
    """What mean errors over seeds must reach; None where nothing is set.

    Attributes
    ----------
    rate, detection : float, optional
        MAE_λ over all entries, and MAE_p.
    rrmse : float, optional
        Of held-out counts.
    every_seed : bool
        Whether MAE_λ must be reached on each seed.
    """

    rate: float | None = None
    detection: float | None = None
    rrmse: float | None = None
    every_seed: bool = False


@dataclass(frozen=True, kw_only=True)
class Family:
    """Problems that differ in their seed alone: what they are, and what must be reached."""

    about: str
    make: Callable[[int], Problem]
    must: Goal = Goal()


_PAPER = "20 × 20 × 20, uniform factors, F = 3, cubic curves, γ_Ω = .2, γ_Ξ = .3, γ_Θ = .2"
_OTHER = "10 normal attributes, cubic curves"
_SMALL = "30 × 30 × 20, gamma factors, F = 5, mean λ 50, γ_Ω = γ_Ξ = .3"
_covid = partial(covid_sized, pattern="uniform")
_sparse = partial(
    departing, shape=(40, 40, 30), rank=8, mean=20.0, factor_shape=0.5, attributed=0.2
)

PROBLEMS = {
    "covid-uniform": Family(
        about="43 × 80 × 60, sparse gamma factors, F = 15, mean λ 100, 24 uniform attributes, "
        "cubic curves of both signs; 14.7 % of the entries observed, 3.7 % held out, at random",
        make=_covid,
        must=Goal(rate=0.036, rrmse=0.165, every_seed=True),
    ),
    "covid-fibre": Family(
        about="the same, but whole places are observed or not",
        make=partial(covid_sized, pattern="fibre"),
        must=Goal(rate=0.052, rrmse=0.165, every_seed=True),
    ),
    "o05": Family(
        about=f"the paper's: {_PAPER}; here with γ_Ω = .05",
        make=partial(paper, observed=0.05),
        must=Goal(rate=0.073),
    ),
    "o10": Family(
        about="the paper's, γ_Ω = .1", make=partial(paper, observed=0.1), must=Goal(rate=0.027)
    ),
    "o30": Family(about="the paper's, γ_Ω = .3", make=partial(paper, observed=0.3)),
    "K2": Family(
        about=f"two modes, 80 × 80, uniform factors, F = 3, {_OTHER}, γ_Ω = .2, γ_Ξ = .3",
        make=partial(departing, shape=(80, 80), similar=0.1),
    ),
    "K4": Family(
        about=f"four modes of 10, uniform factors, F = 4, {_OTHER}, γ_Ω = .1, γ_Ξ = .3",
        make=partial(departing, shape=(10, 10, 10, 10), rank=4, observed=0.1, similar=0.1),
    ),
    "low": Family(
        about=f"few counts: 50 × 50 × 18, gamma factors, F = 5, mean λ 1, {_OTHER}, γ_Ω = .2",
        make=partial(
            departing, shape=(50, 50, 18), rank=5, mean=1.0, factor_shape=1.0, attributed=0.2
        ),
        must=Goal(rate=0.295),
    ),
    "sparse": Family(
        about=f"sparse factors: 40 × 40 × 30, gamma .5, F = 8, mean λ 20, {_OTHER}, γ_Ω = .2",
        make=_sparse,
        must=Goal(rate=0.077),
    ),
    "inter": Family(
        about=f"two products of attributes and a slope: {_SMALL}",
        make=partial(departing, **SMALL, logit=interacting),
        must=Goal(rate=0.055, detection=0.07),
    ),
    "ridge": Family(
        about=f"a sine of one projection of the attributes: {_SMALL}",
        make=partial(departing, **SMALL, logit=ridge),
        must=Goal(rate=0.065, detection=0.1),
    ),
    "nb": Family(
        about="`sparse` with negative binomial counts, μ = 2",
        make=partial(overdispersed, of=_sparse),
        must=Goal(rate=0.21),
    ),
    "nbcov": Family(
        about="`covid-uniform` with negative binomial counts, μ = 2",
        make=partial(overdispersed, of=_covid),
        must=Goal(rate=0.18),
    ),
}

_KINDS = {
    "additive": "a sine of each attribute",
    "xor": "two products of attributes",
    "pairs": "the product of each attribute and the next",
    "net": "a random network with two hidden layers",
    "step": "steps at two planes and in two products",
}
_TOGETHER = {
    ("additive", 0.3): Goal(rate=0.009, detection=0.005),
    ("xor", 0.3): Goal(rate=0.015, detection=0.016),
    ("pairs", 0.3): Goal(rate=0.016, detection=0.025),
    ("net", 0.3): Goal(rate=0.040, detection=0.14),
    ("step", 0.3): Goal(rate=0.040, detection=0.13),
    ("additive", 0.1): Goal(rate=0.020, detection=0.009),
    ("xor", 0.1): Goal(rate=0.040, detection=0.035),
    ("pairs", 0.1): Goal(rate=0.10, detection=0.08),
    ("net", 0.1): Goal(rate=0.17, detection=0.23),
    ("step", 0.1): Goal(rate=0.22, detection=0.28),
}
_AMID_NOISE = {
    ("additive", 0.3): Goal(rate=0.009, detection=0.008),
    ("xor", 0.3): Goal(rate=0.025, detection=0.04),
}
PROBLEMS |= {
    f"{kind}-{observed:g}": Family(
        about=f"{_KINDS[kind]}: 20 × 20 × 20, gamma factors, F = 3, mean λ 1000, γ_Ω = γ_Ξ = "
        f"{observed:g}, 10 uniform attributes",
        make=partial(acting_together, kind=kind, observed=observed),
        must=must,
    )
    for (kind, observed), must in _TOGETHER.items()
}
PROBLEMS |= {
    f"{kind}-{observed:g}-noise": Family(
        about=f"`{kind}-{observed:g}` with {N_NOISE} more attributes, which say nothing",
        make=partial(acting_together, kind=kind, observed=observed, n_noise=N_NOISE),
        must=must,
    )
    for (kind, observed), must in _AMID_NOISE.items()
}
