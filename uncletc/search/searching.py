"""search: find good settings of a method, and keep every trial in a file."""

from __future__ import annotations

import contextlib
import json
import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from joblib import Parallel, delayed, parallel_config

from uncletc.baselines import METHODS, Method
from uncletc.common.results_version import RESULTS
from uncletc.common.validation import check_choice
from uncletc.compare import Split, make_folds, run_trial, splits
from uncletc.compare.metrics import mean_and_sd
from uncletc.data.counts import CountTensor
from uncletc.fitting.history import FitError
from uncletc.search.settings import SearchProgress, SearchSettings, Workers
from uncletc.search.space import settings_of, size_of, space_of
from uncletc.search.study import Study, distinct, folds_of, journal, open_study

try:
    import fcntl
except ImportError:  # Windows: a second search of the same file is not refused
    fcntl = None  # type: ignore[assignment]

if TYPE_CHECKING:
    import optuna
    from optuna.trial import FrozenTrial

_EVERY = 10  # iterations from one observation process at the validation fold to the next
_BEGINNING = b'{"op_code":'  # of every line of a file
_CONNECT = 20  # seconds to wait for a scheduler
_FAILURES = (FitError, ArithmeticError, MemoryError, np.linalg.LinAlgError)


def search(
    counts: CountTensor,
    method: Method | str,
    *,
    path: str | Path,
    settings: SearchSettings | None = None,
    workers: Workers | None = None,
    dataset: str = "counts",
    callback: Callable[[SearchProgress], bool | None] | None = None,
) -> Study:
    """Observations for the settings with the smallest mean validation rRMSE over folds.

    Every trial is kept in one file as it runs. Called again with the same arguments and file after
    any interruption, the search resumes: ended trials count, an interrupted one starts again.

    Parameters
    ----------
    counts : CountTensor
    method : Method or str
        One of :data:`uncletc.METHODS`, or its name.
    path : str or Path
        The file; created if absent.
    settings : SearchSettings, optional
        What to try and how to score it.
    workers : Workers, optional
        What fits the folds. None: this process, one at a time.
    dataset : str
        A name for the counts, kept in the file.
    callback : callable, optional
        Called with a :class:`SearchProgress` after each fold; return True to stop after the trial.

    Returns
    -------
    Study
        The seed determines everything but the seconds, and, with more than one job, how many folds
        of a hopeless trial are fitted.

    Raises
    ------
    ValueError, TypeError
        If an argument breaks its rule, or the file holds another search.
    RuntimeError
        If another search is writing to the file.
    OSError
        If the scheduler does not answer.
    ImportError
        If Optuna or Dask is missing: the extra "search".
    """
    if not isinstance(method, Method):
        check_choice("method", method, tuple(METHODS))
        method = METHODS[method]
    settings = settings or SearchSettings()
    fixed = {k: v.item() if hasattr(v, "item") else v for k, v in settings.fixed.items()}
    space = space_of(method, fixed, settings.space)
    n_trials = min(settings.n_trials, size_of(space))
    settings = replace(settings, fixed=fixed, space=space, n_trials=n_trials)
    folds = splits(make_folds(counts, settings.n_folds, kind=settings.kind, seed=settings.seed))

    def report(_: optuna.Study, trial: FrozenTrial | optuna.Trial) -> None:
        if callback is None:
            return
        ended = _ended(study)
        progress = SearchProgress(
            finished=len(ended),
            total=n_trials,
            best=min((t.values[0] for t in ended if t.state.name == "COMPLETE"), default=None),
            trial=trial.number,
            chosen=trial.params,
            folds=len(folds_of(trial)),
        )
        if callback(progress):
            study.stop()

    def objective(trial: optuna.Trial) -> float:
        choices = settings.choices.items()
        chosen = {name: trial.suggest_categorical(name, values) for name, values in choices}
        made = settings_of(method, fixed, chosen)
        results: list[dict[str, Any]] = []
        while True:
            results += Parallel()(
                delayed(_run_fold)(counts, method, made, split)
                for split in folds[len(results) : len(results) + size]
            )
            trial.set_user_attr("folds", results)
            mean = mean_and_sd([fold["validation"] for fold in results])[0]
            if len(results) == len(folds):
                return mean
            trial.report(mean, len(results) - 1)
            if settings.prune and trial.should_prune():
                from optuna import TrialPruned

                raise TrialPruned
            report(study, trial)

    file = Path(path)
    with _locked(file), _using(workers or Workers(), counts) as (size, lost):
        study = _opened(file, counts, method, settings, dataset)
        study.optimize(
            objective,
            n_trials=n_trials - len(_ended(study)),
            catch=(*_FAILURES, lost),
            callbacks=[report],
        )
    return open_study(file)


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Create a file, if it is absent, and refuse a second search of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+b") as file:
        if fcntl is not None:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise RuntimeError(f"another search is writing to {path}") from None
        yield


def _opened(
    path: Path, counts: CountTensor, method: Method, settings: SearchSettings, dataset: str
) -> optuna.Study:
    """Return the study of a file, new or to be resumed, whose trials are comparable with ours."""
    data = path.read_bytes()
    size = data.rfind(b"\n") + 1
    if size or not data.startswith(_BEGINNING[: len(data)]):
        journal(path)  # refuses a file of anything else before it is touched
    os.truncate(path, size)  # a killed search may have left an incomplete line
    study = journal(path, create=not size)
    given = asdict(settings)
    request = {"n_trials": given.pop("n_trials"), "dataset": dataset}
    facts = {"method": method.name, "counts": counts.digest, "results": RESULTS, **given}
    facts = json.loads(json.dumps(facts))
    from optuna.pruners import MedianPruner
    from optuna.trial import TrialState

    from uncletc.search.sampler import Untried

    for name, value in study.user_attrs.get("search", facts).items():
        if facts.get(name) != value:
            raise ValueError(
                f"{path} holds a search with another {name}, {json.dumps(value)} and not "
                f"{json.dumps(facts.get(name))}; give another file, or the same arguments"
            )
    study.set_user_attr("asked", request)
    study.set_user_attr("search", facts)
    for trial in distinct(study):
        if trial.state.name == "RUNNING":  # interrupted: start it again
            study.tell(trial.number, state=TrialState.FAIL)
            study.enqueue_trial(trial.params, user_attrs={"replaces": trial.number})
    study.sampler = Untried(settings)
    study.pruner = MedianPruner(n_startup_trials=5, n_warmup_steps=1)
    return study


def _ended(study: optuna.Study) -> list[FrozenTrial]:
    return [trial for trial in distinct(study) if trial.state.is_finished()]


def _run_fold(counts: CountTensor, method: Method, settings: Any, split: Split) -> dict[str, Any]:
    """Fit the training counts of one fold, and score the others."""
    trial = run_trial(counts, method, settings, split, _EVERY, callback=None)
    assert trial is not None
    return {
        "validation": trial.validation.rrmse,
        "test": asdict(trial.test),
        "seconds": trial.seconds,
    }


@contextlib.contextmanager
def _using(workers: Workers, counts: CountTensor) -> Iterator[tuple[int, type[Exception]]]:
    """Make joblib use these workers; yield folds at a time, and the error where one dies."""
    if workers.scheduler is None:
        jobs = workers.jobs or 1
        with parallel_config(
            "loky", n_jobs=jobs, inner_max_num_threads=1, initializer=_leave_interrupts
        ):
            yield jobs, BrokenExecutor
        return
    from distributed import Client, KilledWorker

    client: Any = Client(  # type: ignore[no-untyped-call]
        workers.scheduler, timeout=_CONNECT, set_as_default=False
    )
    with client, parallel_config("dask", client=client, scatter=[counts]):
        yield workers.jobs or len(client.scheduler_info(n_workers=-1)["workers"]), KilledWorker


def _leave_interrupts() -> None:
    """Leave Ctrl+C to the process that runs the search."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
