"""The real-data table: all methods on COVID-19 and plant–pollinator counts, by held-out error."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, get_args

import pandas as pd

from uncletc import datasets
from uncletc.baselines import PAPER_METHODS
from uncletc.compare import FoldKind, Trial, make_folds, run_trial, splits
from uncletc.data.counts import CountTensor
from uncletc.fitting.history import FitError
from uncletc.fitting.settings import FitSettings
from uncletc.paper.tables.results import DATA, REAL_TRIALS
from uncletc.paper.tables.runner import Notify, Row, run_all
from uncletc.solvers.options import Joint

FOLDS = 5
RANKS = (5, 15)
EVERY = 10
MEMBERS = "UncleTC, 5 members"
KINDS: tuple[str, ...] = get_args(FoldKind)
_NAMES = {"rrmse": "rRMSE", "deviance": "deviance", "mae": "MAE", "auroc": "AUROC"}


@dataclass(frozen=True, kw_only=True)
class FoldTask:
    """One trial of the cross-validation of one method.

    Attributes
    ----------
    data, kind, method : str
    fold : int
    ranks : tuple of int
        Ranks to try; the smallest validation rRMSE decides. Empty for a method without a rank.
    """

    data: str
    kind: str
    method: str
    fold: int
    ranks: tuple[int, ...]

    @property
    def key(self) -> tuple[str, ...]:
        """Values of the store's key columns."""
        return (self.data, self.kind, self.method, str(self.fold))

    def run(self) -> list[Row]:
        """Fit at each rank, keep the best by validation, and score it on the test fold."""
        trials = [(rank, self._trial(rank)) for rank in self.ranks or (None,)]
        finished = [(rank, trial) for rank, trial in trials if trial is not None]
        row: Row = dict(zip(REAL_TRIALS.key, self.key, strict=True))
        if not finished:
            return [{**row, "metric": "rRMSE", "value": math.nan, "settings": "fit failed"}]
        rank, best = min(finished, key=lambda candidate: candidate[1].validation.rrmse)
        row |= {
            "settings": "defaults" if rank is None else f"rank {rank}",
            "iteration": best.iteration,
            "seconds": f"{best.seconds:.1f}",
        }
        scores = asdict(best.test)
        return [
            {**row, "metric": metric, "value": f"{scores[name]:.6g}"}
            for name, metric in _NAMES.items()
        ]

    def _trial(self, rank: int | None) -> Trial | None:
        counts = _counts(self.data)
        split = splits(make_folds(counts, FOLDS, kind=self.kind))[self.fold]  # type: ignore[arg-type]
        method = PAPER_METHODS["UncleTC" if self.method == MEMBERS else self.method]
        try:
            return run_trial(counts, method, _settings(self.method, rank), split, EVERY, None)
        except FitError:
            return None


def run_real(
    folder: Path,
    *,
    data: Sequence[str] = DATA,
    methods: Sequence[str] = tuple(PAPER_METHODS),
    kinds: Sequence[str] = KINDS,
    folds: int = FOLDS,
    jobs: int = 1,
    say: Notify = lambda _: None,
) -> None:
    """Run the missing trials of the real-data table, on the data available on this machine.

    Parameters
    ----------
    folder : Path
        Keeps the trials; existing ones are not rerun.
    data, methods, kinds : sequence of str
        Data sets, methods and kinds of folds to run.
    folds : int
        How many of the five trials to run.
    jobs : int
        Processes, each on one thread.
    say : callable
        Called with a line after each trial, and for each data set that is absent.

    Notes
    -----
    One rule holds for every method with a rank: the first trial fits each of :data:`RANKS`, the
    smallest validation rRMSE decides, separately for each data set and kind of folds, and the
    other trials keep that rank. All other settings are the method's defaults.
    """
    folder.mkdir(parents=True, exist_ok=True)
    here = [name for name in data if datasets.available(name)]
    for name in data:
        if name not in here:
            say(
                f"Real data {name!r} are not on this machine, so their rows are left out; see "
                "UNCLETC_DATA_DIR in docs/data.md."
            )
    cells = [(name, kind, method) for method in methods for name in here for kind in kinds]
    first = [
        FoldTask(data=name, kind=kind, method=method, fold=0, ranks=_ranks(method))
        for name, kind, method in cells
    ]
    run_all(first, REAL_TRIALS, folder, jobs=jobs, say=say)
    chosen = chosen_ranks(REAL_TRIALS.read(folder))
    rest = [
        FoldTask(data=name, kind=kind, method=method, fold=fold, ranks=chosen[name, kind, method])
        for name, kind, method in cells
        for fold in range(1, folds)
    ]
    run_all(rest, REAL_TRIALS, folder, jobs=jobs, say=say)


def chosen_ranks(trials: pd.DataFrame) -> dict[tuple[str, str, str], tuple[int, ...]]:
    """Ranks chosen in the first trials, by data, kind and method."""
    first = trials[trials["fold"] == 0].drop_duplicates(["data", "kind", "method"])
    return {
        (row["data"], row["kind"], row["method"]): (int(row["settings"].split()[1]),)
        if str(row["settings"]).startswith("rank ")
        else _ranks(row["method"])
        for _, row in first.iterrows()
    }


def _ranks(method: str) -> tuple[int, ...]:
    return RANKS if method == MEMBERS or PAPER_METHODS[method].has_rank else ()


def _settings(method: str, rank: int | None) -> Any:
    extra: dict[str, Any] = {} if rank is None else {"rank": rank}
    if method == MEMBERS:
        return FitSettings(**extra, members=5, solver=Joint(device="cpu"))
    kind = PAPER_METHODS[method].settings
    return kind(**extra, **({"solver": Joint(device="cpu")} if kind is FitSettings else {}))


@lru_cache(maxsize=1)
def _counts(name: str) -> CountTensor:
    return datasets.load(name).counts
