"""FitSettings: everything that decides a fit besides the data."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Literal, get_args

from uncletc.validation import check_choice, check_real, check_whole

Solver = Literal["joint", "bcd"]
Loss = Literal["ls", "kl"]
Precision = Literal["float32", "float64"]


@dataclass(frozen=True, kw_only=True)
class FitSettings:
    """Settings of a fit; the same settings and data give the same answer on one machine.

    Parameters
    ----------
    rank : int
        F ≥ 1, the number of components of λ.
    solver : {"joint", "bcd"}
        The algorithm; see :mod:`uncletc.solvers`.
    mu : float
        μ > 0, how strongly each entry's p is held to g(z); larger is closer. In "joint" each
        entry's p is g(z) times a gamma deviation of mean 1 and variance 1/μ: free of scale. In
        "bcd" it weighs (g - p)² (paper, eq. 11a), which depends on the scale.
    hidden : tuple of int
        Units of each hidden layer of the detection network; (): linear g.
    max_iter : int
        Iterations at most, ≥ 0. The paper's rule for "bcd" is 100.
    tol : float
        Stop when the objective changes by less than this, relative to its size; ≥ 0.
    seed : int
        Decides everything random, ≥ 0.
    members : int
        "joint" only: fits combined into one, ≥ 1; 2 or more give a spread.
    resample : float
        "joint" only: how much the members' entries differ, in [0, 1]. Each entry weighs
        1 + `resample`·(w - 1) with w exponential of mean 1, drawn per member; 1 is the Bayesian
        bootstrap, 0 leaves only the starts to differ. One member alone sees every entry fully.
    precision : {"float32", "float64"}
        "joint" only: of passes over entries; sums over chunks and small systems are double.
    device : str
        "joint" only: "auto" (a GPU where there is one), "cpu", "cuda", "cuda:1", …
    loss : {"ls", "kl"}
        "bcd" only: ℓ(g, p), least squares (g - p)², or g log(g/p) - g + p (paper, Table 5).
    hold_scale : bool
        "bcd" only: undo the drift of the scale after each iteration, which the paper does not.
    learning_rate : float
        "bcd" only: step size of Adam for the network, > 0.
    batch_size : int
        "bcd" only: attributed entries per step of Adam, ≥ 1.
    epochs : int
        "bcd" only: passes of Adam over Ξ per iteration, at most; ≥ 0.
    sweeps : int
        "bcd" only: multiplicative updates of each factor per iteration, at most; ≥ 1.

    Raises
    ------
    ValueError, TypeError
        Naming the setting, the value and the rule.
    """

    rank: int
    solver: Solver = "joint"
    mu: float = 2000.0
    hidden: tuple[int, ...] = (20, 20, 20)
    max_iter: int = 300
    tol: float = 1e-6
    seed: int = 0
    members: int = 1
    resample: float = 0.5
    precision: Precision = "float32"
    device: str = "auto"
    loss: Loss = "ls"
    hold_scale: bool = False
    learning_rate: float = 1e-3
    batch_size: int = 1024
    epochs: int = 10
    sweeps: int = 5

    def __post_init__(self) -> None:
        if isinstance(self.hidden, str) or not isinstance(self.hidden, Iterable):
            raise TypeError(f"hidden must be a sequence of whole numbers, got {self.hidden!r}")
        hidden = tuple(check_whole("hidden", units, 1) for units in self.hidden)
        object.__setattr__(self, "hidden", hidden)
        for name, least in _WHOLE.items():
            object.__setattr__(self, name, check_whole(name, getattr(self, name), least))
        if self.seed >= 2**63:
            raise ValueError(f"seed must be below 2**63, got {self.seed}")
        check_choice("solver", self.solver, get_args(Solver))
        check_choice("loss", self.loss, get_args(Loss))
        check_choice("precision", self.precision, get_args(Precision))
        if not isinstance(self.hold_scale, bool):
            raise TypeError(f"hold_scale must be True or False, got {self.hold_scale!r}")
        if not (isinstance(self.device, str) and _DEVICE.fullmatch(self.device)):
            raise ValueError(f"device must be auto, cpu, cuda or cuda:<n>, got {self.device!r}")
        for name in ("mu", "learning_rate", "tol", "resample"):
            object.__setattr__(self, name, check_real(name, getattr(self, name)))
        for name in ("mu", "learning_rate"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value > 0):
                raise ValueError(f"{name} must be positive and finite, got {value}")
        if not 0 <= self.resample <= 1:
            raise ValueError(f"resample must be in [0, 1], got {self.resample}")
        if not self.tol >= 0:
            raise ValueError(f"tol must be at least 0, got {self.tol}")

    def to_json(self) -> str:
        """Text that :meth:`from_json` reads back, with the keys in order."""
        return json.dumps(asdict(self), sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> FitSettings:
        """Read settings from JSON text, checking every value."""
        values = json.loads(text)
        if not isinstance(values, Mapping):
            raise TypeError(f"settings must be a JSON object, got {type(values).__name__}")
        unknown = sorted(set(values) - {field.name for field in fields(cls)})
        if unknown:
            raise ValueError(f"settings must not hold unknown names, got {unknown[0]!r}")
        return cls(**values)

    @property
    def digest(self) -> str:
        """SHA-256 of all settings."""
        return hashlib.sha256(self.to_json().encode()).hexdigest()


_WHOLE = {"rank": 1, "max_iter": 0, "seed": 0, "batch_size": 1, "epochs": 0, "sweeps": 1}
_WHOLE["members"] = 1
_DEVICE = re.compile(r"auto|cpu|cuda(:\d+)?")
