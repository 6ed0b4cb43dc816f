"""The loop of a search: which fold of which trial is next, and what follows from its result."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Future, wait
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

from optuna.pruners import MedianPruner, NopPruner
from optuna.study import Study
from optuna.trial import Trial, TrialState

from uncletc.search import SearchProgress
from uncletc.search import journal as journal
from uncletc.search.sampler import Strategy, Untried, distributions
from uncletc.search.space import Space, settings_of
from uncletc.search.work import Pool, Problem, mean_sd

_Work = Future[dict[str, Any]]


@dataclass(eq=False)
class _Active:
    """A trial under way."""

    trial: Trial
    settings: Any
    folds: dict[int, dict[str, Any]]
    running: set[int] = field(default_factory=set)
    reported: int = 0  # folds, counted from the first one on
    mean: float = math.nan  # of their errors


class Loop:
    """Keeps every worker busy until enough trials have ended.

    Folds of one trial run after one another, so that a hopeless trial is given up early; only when
    no further trial may begin do idle workers take folds of the same trial.
    """

    def __init__(
        self,
        study: Study,
        problem: Problem,
        *,
        space: Space,
        fixed: Mapping[str, Any],
        strategy: Strategy,
        prune: bool,
        total: int,
        callback: Callable[[SearchProgress], bool | None] | None,
    ) -> None:
        self._study, self._problem, self._callback = study, problem, callback
        self._space, self._fixed, self._strategy = space, fixed, strategy
        self._total, self._n_folds = total, len(problem.splits)
        self._active: list[_Active] = []
        self._taken = 0  # folds, from the present pool
        study.pruner = MedianPruner(n_startup_trials=5, n_warmup_steps=1) if prune else NopPruner()

    def run(self, open_pool: Callable[[], AbstractContextManager[Pool]]) -> None:
        """Search; pools are opened anew where a worker process died."""
        journal.requeue(self._study, self._space, by_accident=True)
        in_vain = 0
        try:
            while self._left() > 0:
                self._active.clear()
                self._taken = 0
                try:
                    with open_pool() as workers:
                        if self._work(workers):
                            return
                except BrokenExecutor as error:
                    in_vain = 0 if self._taken else in_vain + 1
                    if in_vain > journal.ATTEMPTS:
                        raise RuntimeError(
                            "worker processes die before they fit anything"
                        ) from error
                    journal.requeue(self._study, self._space, by_accident=True)
                except CancelledError:
                    raise ConnectionError(
                        "the Dask scheduler is gone; search again with the same arguments to go on"
                    ) from None
        finally:
            journal.requeue(self._study, self._space, by_accident=False)

    def _work(self, workers: Pool) -> bool:
        """Search with one pool; True where the callback stopped it."""
        pending: dict[_Work, tuple[_Active, int]] = {}
        while True:
            while len(pending) < workers.size and (task := self._next()) is not None:
                active, fold = task
                active.running.add(fold)
                pending[workers.submit(active.settings, fold)] = active, fold
            if not pending:
                return False
            for future in wait(pending, return_when=FIRST_COMPLETED).done:
                if future not in pending:  # of a trial that ended meanwhile
                    continue
                active, fold = pending.pop(future)
                try:
                    found = future.result()
                except workers.lost as error:
                    found = {"error": f"its worker died: {error}"}
                stop = self._take(active, fold, found)
                if active not in self._active:
                    for other in [one for one, (of, _) in pending.items() if of is active]:
                        other.cancel()
                        del pending[other]
                if stop:
                    return True

    def _next(self) -> tuple[_Active, int] | None:
        """Return the next fold to fit: of an idle trial, of a new one, or of any."""
        for active in self._active:
            if not active.running:
                return active, self._open_folds(active)[0]
        while self._left() > len(self._active):
            active = self._begin()
            if active in self._active:
                return active, self._open_folds(active)[0]
        for active in self._active:
            if open_folds := self._open_folds(active):
                return active, open_folds[0]
        return None

    def _begin(self) -> _Active:
        position = self._total - self._left() + len(self._active)
        self._study.sampler = Untried(self._space, self._strategy, self._problem.seed, position)
        trial = self._study.ask(distributions(self._space))
        settings = settings_of(self._problem.method, self._fixed, trial.params)
        frozen = self._study.get_trials(deepcopy=False)[trial.number]
        active = _Active(trial, settings, journal.folds_of(frozen))
        self._active.append(active)
        self._judge(active)
        return active

    def _take(self, active: _Active, fold: int, found: dict[str, Any]) -> bool:
        """Keep the result of a fold, and say whether the callback wants to stop."""
        self._taken += 1
        active.running.discard(fold)
        active.folds[fold] = found
        active.trial.set_user_attr(f"fold {fold}", found)
        state = self._judge(active)
        if self._callback is None:
            return False
        done = self._study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
        return bool(
            self._callback(
                SearchProgress(
                    finished=self._total - self._left(),
                    total=self._total,
                    best=min((one.value for one in done if one.value is not None), default=None),
                    trial=active.trial.number,
                    chosen=active.trial.params,
                    folds=len(active.folds),
                    state=state,
                )
            )
        )

    def _judge(self, active: _Active) -> str:
        """Report what is new of a trial, and end it where it is complete, hopeless or failed."""
        failed = [one["error"] for one in active.folds.values() if "error" in one]
        if failed:
            return self._end(active, TrialState.FAIL, error=failed[0])
        while active.reported in active.folds:
            active.reported += 1
            errors = [active.folds[i]["validation"]["rrmse"] for i in range(active.reported)]
            active.mean = mean_sd(errors)[0]
            if not math.isnan(active.mean):
                active.trial.report(active.mean, step=active.reported - 1)
        if active.reported == self._n_folds:
            if math.isnan(active.mean):
                return self._end(active, TrialState.FAIL, error="all validation counts are zero")
            return self._end(active, TrialState.COMPLETE, value=active.mean)
        if active.trial.should_prune():
            return self._end(active, TrialState.PRUNED)
        return "running"

    def _end(
        self, active: _Active, state: TrialState, value: float | None = None, error: str = ""
    ) -> str:
        if error:
            active.trial.set_user_attr("error", error)
        self._study.tell(active.trial, value, state)
        self._active.remove(active)
        return "failed" if state == TrialState.FAIL else state.name.lower()

    def _left(self) -> int:
        """Trials that must still end."""
        return self._total - len(journal.ended(self._study.get_trials(deepcopy=False)))

    def _open_folds(self, active: _Active) -> list[int]:
        """Folds that nobody has fitted, or is fitting."""
        taken = active.folds.keys() | active.running
        return [fold for fold in range(self._n_folds) if fold not in taken]
