"""Under-counted tensor completion: true counts λ and detection probabilities p from counts y.

``fit`` estimates, ``simulate`` makes data with known truth, ``datasets.load`` loads real and
simulated data, ``metrics`` measures errors, and ``effects`` shows how attributes change p.
``METHODS`` are those that the paper compares, ``evaluation`` scores them on held-out counts,
``search`` finds good settings, ``tables`` reads a table of one's own, ``paper.tables`` holds the
paper's tables. ``checking`` shows how well a fit describes held-out counts, ``planning`` what more
of them would bring; ``estimates`` lists what a fit says of every entry, and a ``Recipe`` holds all
that decided it; ``theory`` evaluates the recoverability theorem for a problem.
"""

from uncletc import (
    baselines,
    checking,
    datasets,
    effects,
    estimates,
    evaluation,
    metrics,
    paper,
    planning,
    search,
    tables,
)
from uncletc.anchor import Anchor
from uncletc.baselines import METHODS, PAPER_METHODS
from uncletc.counts import CountTensor
from uncletc.cp import rate_tensor
from uncletc.detection import DetectionNetwork
from uncletc.fitting import fit, fit_on
from uncletc.groups import Group
from uncletc.looks import Look
from uncletc.members import Interval, Member
from uncletc.mode_effects import Effect, ModeEffects
from uncletc.model import Fit
from uncletc.paper import theory
from uncletc.recipe import Deaths, Recipe
from uncletc.records import (
    ConvergenceWarning,
    FitError,
    Iteration,
    MisfitWarning,
    StopReason,
    UnreadableFitError,
)
from uncletc.results import RESULTS
from uncletc.roles import Role, Roles
from uncletc.scale import Scale
from uncletc.settings import FitSettings
from uncletc.simulate import Truth, simulate, simulate_visits
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
    "Look",
    "Member",
    "MisfitWarning",
    "ModeEffects",
    "Recipe",
    "Role",
    "Roles",
    "Scale",
    "StopReason",
    "Truth",
    "UnreadableFitError",
    "baselines",
    "checking",
    "datasets",
    "effects",
    "estimates",
    "evaluation",
    "fit",
    "fit_on",
    "metrics",
    "paper",
    "planning",
    "rate_tensor",
    "search",
    "simulate",
    "simulate_visits",
    "tables",
    "theory",
]
