"""What the page "Methods" asks for: methods compared, and cells of the paper's tables. Pure."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import version
from typing import Any, Literal

from uncletc import METHODS, CountTensor

FoldKind = Literal["entry", "fibre"]
N_FOLDS = 5


@cache
def _version() -> str:
    return version("uncletc")  # reads files


def _digest(*parts: object) -> str:
    return hashlib.sha256("\n".join(map(str, (*parts, _version()))).encode()).hexdigest()


@dataclass(frozen=True, eq=False, kw_only=True)
class Evaluate:
    """Cross-validate one method.

    Attributes
    ----------
    counts : CountTensor
    method : str
        A key of :data:`uncletc.METHODS`.
    settings : object
        Of that method.
    kind : {"entry", "fibre"}
        See :func:`uncletc.evaluation.make_folds`; fibres run along the last mode.
    trials : int
        How many of the five folds are judged, 1 to 5.
    seed : int
        Decides the folds.
    """

    counts: CountTensor = field(repr=False)
    method: str
    settings: Any
    kind: FoldKind = "entry"
    trials: int = 1
    seed: int = 0

    @property
    def key(self) -> str:
        """Digest of data, method, settings, folds, how many are judged, and version."""
        return self._key(self.trials)

    @property
    def keys(self) -> tuple[str, ...]:
        """Keys of results that hold this one: its own first, then those of more folds."""
        return tuple(self._key(n) for n in range(self.trials, N_FOLDS + 1))

    def _key(self, trials: int) -> str:
        what = self.counts.digest, self.method, self.settings.to_json(), self.kind, self.seed
        return _digest("evaluate", *what, trials)

    def message(self) -> dict[str, Any]:
        """What the worker is told, but for the counts."""
        return {
            "task": "evaluate",
            "method": self.method,
            "settings": self.settings.to_json(),
            "kind": self.kind,
            "trials": self.trials,
            "n_folds": N_FOLDS,
            "seed": self.seed,
        }


@dataclass(frozen=True, kw_only=True)
class Cell:
    """Run one trial of a cell of the paper's tables; see :func:`uncletc.paper.tables.run_cell`.

    Attributes
    ----------
    table, column, method, reading : str
    seed : int
    """

    table: str
    column: str
    method: str
    seed: int
    reading: str = "exact"

    @property
    def key(self) -> str:
        """Digest of all of it, and the version."""
        return _digest("cell", self.table, self.column, self.method, self.seed, self.reading)

    @property
    def keys(self) -> tuple[str, ...]:
        """Its key alone."""
        return (self.key,)

    def message(self) -> dict[str, Any]:
        """What the worker is told."""
        return {"task": "cell"} | {
            name: getattr(self, name) for name in ("table", "column", "method", "seed", "reading")
        }


Order = Evaluate | Cell


def make_settings(method: str, rank: int, seed: int) -> Any:
    """Settings of a method: its defaults but for the seed, and the rank where it has one."""
    known = METHODS[method]
    return known.settings(**({"rank": rank} if known.has_rank else {}), seed=seed)
