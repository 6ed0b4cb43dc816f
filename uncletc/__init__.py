"""Under-counted tensor completion: true counts λ and detection probabilities p from counts y.

``fit`` estimates, ``simulate`` makes data with known truth, ``datasets.load`` reads real and
simulated data, ``metrics`` judges, ``effects`` tells what moves p.
"""

from uncletc import datasets, effects, metrics
from uncletc.counts import CountTensor
from uncletc.detection import DetectionNetwork
from uncletc.fitting import fit
from uncletc.model import (
    ConvergenceWarning,
    Fit,
    FitError,
    Interval,
    Iteration,
    Member,
    StopReason,
    UnreadableFitError,
)
from uncletc.scale import Scale
from uncletc.settings import FitSettings
from uncletc.simulate import Truth, rate_tensor, simulate

__all__ = [
    "ConvergenceWarning",
    "CountTensor",
    "DetectionNetwork",
    "Fit",
    "FitError",
    "FitSettings",
    "Interval",
    "Iteration",
    "Member",
    "Scale",
    "StopReason",
    "Truth",
    "UnreadableFitError",
    "datasets",
    "effects",
    "fit",
    "metrics",
    "rate_tensor",
    "simulate",
]
