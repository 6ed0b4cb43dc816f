"""Under-counted tensor completion: true counts λ and detection probabilities p from counts y.

``fit`` estimates, ``simulate`` makes data with known truth, ``datasets.load`` loads real and
simulated data, ``metrics`` measures errors, and ``effects`` shows how attributes change p.
``METHODS`` are those that the paper compares, ``compare`` scores them on held-out counts,
``search`` finds good settings, ``tables`` reads a table of one's own, ``paper.tables`` holds the
paper's tables. ``checking`` shows how well a fit describes held-out counts;
``estimates`` lists what a fit says of every entry, and a ``Recipe`` holds all
that decided it.
"""

from __future__ import annotations

import importlib
import warnings
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from uncletc import (
        baselines,
        checking,
        compare,
        datasets,
        effects,
        estimates,
        paper,
        planning,
        search,
        tables,
    )
    from uncletc.baselines import METHODS, PAPER_METHODS
    from uncletc.common import RESULTS
    from uncletc.compare import metrics
    from uncletc.data.counts import CountTensor
    from uncletc.data.groups import Group
    from uncletc.data.observations import Observations
    from uncletc.data.roles import Role, Roles
    from uncletc.data.simulate import Truth, simulate, simulate_visits
    from uncletc.data.surveys import Survey
    from uncletc.estimator import UncleTC
    from uncletc.fitting.fit import continue_fit, fit
    from uncletc.fitting.history import (
        ConvergenceWarning,
        FitError,
        Iteration,
        MisfitWarning,
        StopReason,
        UnreadableFitError,
    )
    from uncletc.fitting.recipe import Deaths, Recipe
    from uncletc.fitting.settings import FitSettings
    from uncletc.formula import fit_formula
    from uncletc.model.detection import DetectionNetwork
    from uncletc.model.random_effects import Effect, ModeEffects
    from uncletc.model.rates import rate_tensor
    from uncletc.result.anchor import Anchor
    from uncletc.result.ensemble import Interval, Member
    from uncletc.result.fit_result import Fit
    from uncletc.result.scale import Scale
    from uncletc.solvers.options import BCD, Joint

__all__ = [
    "BCD",
    "METHODS",
    "PAPER_METHODS",
    "RESULTS",
    "Anchor",
    "ConvergenceWarning",
    "CountTensor",
    "Deaths",
    "DetectionNetwork",
    "Effect",
    "Fit",
    "FitError",
    "FitSettings",
    "Group",
    "Interval",
    "Iteration",
    "Joint",
    "Member",
    "MisfitWarning",
    "ModeEffects",
    "Observations",
    "Recipe",
    "Role",
    "Roles",
    "Scale",
    "StopReason",
    "Survey",
    "Truth",
    "UncleTC",
    "UnreadableFitError",
    "baselines",
    "checking",
    "compare",
    "continue_fit",
    "datasets",
    "effects",
    "estimates",
    "fit",
    "fit_formula",
    "metrics",
    "paper",
    "planning",
    "rate_tensor",
    "search",
    "simulate",
    "simulate_visits",
    "tables",
]

# Where names are defined. They are imported when they are first used, so that importing the package
# takes no torch and no numba.
_DEFINED = {
    "baselines": ("METHODS", "PAPER_METHODS"),
    "common": ("RESULTS",),
    "data.counts": ("CountTensor",),
    "data.groups": ("Group",),
    "data.observations": ("Observations",),
    "data.roles": ("Role", "Roles"),
    "data.simulate": ("Truth", "simulate", "simulate_visits"),
    "data.surveys": ("Survey",),
    "estimator": ("UncleTC",),
    "fitting.fit": ("continue_fit", "fit"),
    "fitting.history": (
        "ConvergenceWarning",
        "FitError",
        "Iteration",
        "MisfitWarning",
        "StopReason",
        "UnreadableFitError",
    ),
    "fitting.recipe": ("Deaths", "Recipe"),
    "fitting.settings": ("FitSettings",),
    "formula": ("fit_formula",),
    "model.rates": ("rate_tensor",),
    "model.detection": ("DetectionNetwork",),
    "model.random_effects": ("Effect", "ModeEffects"),
    "result.anchor": ("Anchor",),
    "result.ensemble": ("Interval", "Member"),
    "result.fit_result": ("Fit",),
    "result.scale": ("Scale",),
    "solvers.options": ("BCD", "Joint"),
}
_MODULE_OF = {name: f"uncletc.{module}" for module, names in _DEFINED.items() for name in names}
_RENAMED = {"Look": "Observations", "fit_on": "continue_fit"}  # former names, for one release


def __getattr__(name: str) -> Any:
    if name in _RENAMED:
        new = _RENAMED[name]
        warnings.warn(f"uncletc.{name} is uncletc.{new} now", DeprecationWarning, stacklevel=2)
        return __getattr__(new)
    if name == "metrics":
        found: Any = importlib.import_module("uncletc.compare.metrics")
    elif name in _MODULE_OF:
        found = getattr(importlib.import_module(_MODULE_OF[name]), name)
    elif name in __all__ or name == "evaluation":  # a package; the former name of `compare`
        found = importlib.import_module(f"uncletc.{name}")
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
