"""The loop of a search: which folds to fit next, and what their results decide."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from itertools import takewhile
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed
from optuna.pruners import MedianPruner, NopPruner
from optuna.study import Study
from optuna.trial import Trial, TrialState

from uncletc.baselines import Method
from uncletc.common.results_version import RESULTS
from uncletc.compare import Split, make_folds, splits
from uncletc.compare.metrics import mean_and_sd
from uncletc.data.counts import CountTensor
from uncletc.search import journal as journal
from uncletc.search.sampler import Untried
from uncletc.search.settings import SearchProgress, SearchSettings, Workers
from uncletc.search.space import settings_of
from uncletc.search.work import opened, run_fold

ATTEMPTS = 3  # times that a trial may start, so that one that kills its worker is given up


def run(
    counts: CountTensor,
    method: Method,
    settings: SearchSettings,
    *,
    path: Path,
    workers: Workers,
    dataset: str,
    callback: Callable[[SearchProgress], bool | None] | None,
) -> None:
    """Search a resolved space; see :func:`uncletc.search.search`."""
    folds = make_folds(
        counts, settings.n_folds, kind=settings.kind, across=settings.across, seed=settings.seed
    )
    facts = {"method": method.name, "counts": counts.digest, "results": RESULTS} | asdict(settings)
    request = {"n_trials": facts.pop("n_trials"), "dataset": dataset}
    with (
        journal.written(path, facts, request) as study,
        opened(workers, counts) as (size, lost),
    ):
        study.sampler = Untried(settings.choices, settings.strategy, settings.seed)
        if settings.prune:
            study.pruner = MedianPruner(n_startup_trials=5, n_warmup_steps=1)
        else:
            study.pruner = NopPruner()
        _Loop(study, counts, method, settings, splits(folds), callback).run(size, lost)


@dataclass(eq=False)
class _Active:
    """A running trial."""

    trial: Trial
    settings: Any
    folds: dict[int, dict[str, Any]]


@dataclass(eq=False)
class _Loop:
    """Rounds of folds, until enough trials have ended."""

    study: Study
    counts: CountTensor
    method: Method
    settings: SearchSettings
    splits: tuple[Split, ...]
    callback: Callable[[SearchProgress], bool | None] | None
    active: dict[int, _Active] = field(default_factory=dict)
    stopped: bool = False

    def run(self, size: int, lost: type[Exception]) -> None:
        """Search; folds whose worker died are fitted again."""
        parallel = Parallel(return_as="generator_unordered", pre_dispatch=size, batch_size=1)
        failures = 0  # since the last result
        running = self.study.get_trials(deepcopy=False, states=(TrialState.RUNNING,))
        try:
            for trial in running[: self.settings.n_trials - self.n_ended]:
                # The file holds a single study, so that a trial's number is its id.
                self.begin(Trial(self.study, trial.number))
            while not self.stopped and (folds := self.next_folds(size)):
                try:
                    for number, fold, result in parallel(self.tasks(folds)):
                        failures = 0
                        self.take(number, fold, result)
                except lost as error:
                    failures += 1
                    if failures > ATTEMPTS:
                        raise RuntimeError("workers die before they fit anything") from error
                    for number in {number for number, _ in folds} & self.active.keys():
                        self.begin(self.active[number].trial)
        finally:
            for active in self.active.values():
                active.trial.set_user_attr("attempts", 0)

    @property
    def n_ended(self) -> int:
        """Complete, pruned and failed trials."""
        return len(self.study.get_trials(deepcopy=False, states=journal.ENDED))

    def next_folds(self, size: int) -> list[tuple[int, int]]:
        """Return the trials and folds to fit next: two per worker, so that none waits for long.

        A single worker takes one fold at a time, so that a hopeless trial is given up early.
        """
        while len(self.active) < min(size, self.settings.n_trials - self.n_ended):
            self.begin(self.study.ask())
        per_trial = 1 if size == 1 else math.ceil(2 * size / max(len(self.active), 1))
        all_folds = range(len(self.splits))
        return [
            (number, fold)
            for number, active in self.active.items()
            for fold in [fold for fold in all_folds if fold not in active.folds][:per_trial]
        ]

    def tasks(self, folds: list[tuple[int, int]]) -> Iterator[Any]:
        """Yield calls as workers become free, except for trials that have ended meanwhile."""
        for number, fold in folds:
            if number in self.active and not self.stopped:
                yield delayed(run_fold)(
                    number,
                    self.counts,
                    self.method,
                    self.active[number].settings,
                    self.splits[fold],
                    self.settings.every,
                )

    def begin(self, trial: Trial) -> None:
        """Start a trial, or resume it after its last finished fold."""
        choices = self.settings.choices.items()
        chosen = {name: trial.suggest_categorical(name, values) for name, values in choices}
        settings = settings_of(self.method, self.settings.fixed, chosen)
        attempts = trial.user_attrs.get("attempts", 0) + 1
        trial.set_user_attr("attempts", attempts)
        active = _Active(trial, settings, journal.folds_of(trial))
        self.active[trial.number] = active
        if attempts > ATTEMPTS:
            error = f"its worker, or the whole search, died {ATTEMPTS} times"
            self.end(trial, TrialState.FAIL, error=error)
        else:
            self.judge(active)

    def take(self, number: int, fold: int, result: dict[str, Any]) -> None:
        """Keep the result of a fold, unless its trial has ended meanwhile."""
        active = self.active.get(number)
        if active is None:
            return
        active.folds[fold] = result
        active.trial.set_user_attr(f"fold {fold}", result)
        state = self.judge(active)
        if self.callback is not None:
            complete = self.study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
            progress = SearchProgress(
                finished=self.n_ended,
                total=self.settings.n_trials,
                best=min((t.value for t in complete if t.value is not None), default=None),
                trial=number,
                chosen=active.trial.params,
                folds=len(active.folds),
                state=journal.word_for(state),
            )
            self.stopped = bool(self.callback(progress)) or self.stopped

    def judge(self, active: _Active) -> TrialState:
        """Report new results of a trial, and end it if it is complete, hopeless or failed."""
        trial, folds = active.trial, active.folds
        for result in folds.values():
            if "error" in result:
                return self.end(trial, TrialState.FAIL, error=result["error"])
        reported = self.study.get_trials(deepcopy=False)[trial.number].intermediate_values
        errors: list[float] = []
        mean = math.nan
        for step in takewhile(folds.__contains__, range(len(self.splits))):
            errors.append(folds[step]["validation"]["rrmse"])
            mean = mean_and_sd(errors)[0]
            if step not in reported and not math.isnan(mean):
                trial.report(mean, step)
        if len(errors) < len(self.splits):
            if trial.should_prune():
                return self.end(trial, TrialState.PRUNED)
            return TrialState.RUNNING
        if math.isnan(mean):
            return self.end(trial, TrialState.FAIL, error="all validation counts are zero")
        return self.end(trial, TrialState.COMPLETE, value=mean)

    def end(
        self, trial: Trial, state: TrialState, value: float | None = None, error: str = ""
    ) -> TrialState:
        """End a trial."""
        if error:
            trial.set_user_attr("error", error)
        self.study.tell(trial, value, state)
        del self.active[trial.number]
        return state
