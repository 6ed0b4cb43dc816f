"""Search for good settings of a method by held-out counts, with Optuna.

Settings are compared by the mean validation error over the folds of :mod:`uncletc.compare`. Test
folds decide nothing; their scores are shown only for the best settings. As in the paper, each count
is in the validation fold of one trial, so the best settings score slightly better than on
counts of another year or place.

The file of a search is a journal of Optuna's: ``optuna.load_study`` reads it, also while a search
is writing to it.
"""

from __future__ import annotations

import contextlib
import json
import math
import signal
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor
from dataclasses import asdict, dataclass, fields
from itertools import product
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed, parallel_config

from uncletc.baselines import METHODS, Method
from uncletc.common.results_version import RESULTS
from uncletc.common.validation import check_choice, check_whole
from uncletc.compare import FoldKind, Split, make_folds, run_trial, splits
from uncletc.compare.metrics import mean_and_sd
from uncletc.data.counts import CountTensor
from uncletc.fitting.history import FitError
from uncletc.fitting.settings import FitSettings
from uncletc.solvers.options import SOLVERS

if TYPE_CHECKING:
    import optuna

__all__ = ["Found", "search"]

_NAME = "uncletc search"
_EVERY = 10  # iterations from one prediction of the validation fold to the next
_CONNECT = 20  # seconds to wait for a scheduler
_STARTUP = 5  # complete trials before one is pruned
_LOCK = 3  # seconds until the lock of a killed process is taken over
_FAILURES = (FitError, ArithmeticError, MemoryError, np.linalg.LinAlgError)
_SHAPE = ("units", "layers")  # define `hidden`, with equal layers
_BCD_ONLY = ("learning_rate", "batch_size")  # the joint solver has none


@dataclass(frozen=True, eq=False, kw_only=True)
class Found:
    """The result of a search.

    Attributes
    ----------
    best : object
        The settings of the complete trial with the smallest value, as their method takes them.
    validation : tuple of float
        Mean and standard deviation over folds of their validation rRMSE.
    test : dict of str to tuple of float
        Mean and standard deviation over folds of their test scores, which had no part in the
        choice. Names are those of :class:`uncletc.compare.Scores`, without n.
    trials : pandas.DataFrame
        One row per ended trial: ``number``; ``state`` ("complete", "pruned", "fail"); ``value``,
        the mean validation rRMSE over its finished ``folds``; and a column for each setting.
    """

    best: Any
    validation: tuple[float, float]
    test: dict[str, tuple[float, float]]
    trials: pd.DataFrame


def search(
    counts: CountTensor,
    method: Method | str,
    *,
    path: str | Path,
    n_trials: int = 40,
    space: Mapping[str, Iterable[Any]] | None = None,
    fixed: Mapping[str, Any] | None = None,
    kind: FoldKind = "entry",
    n_folds: int = 5,
    seed: int = 0,
    prune: bool = True,
    jobs: int | None = None,
    scheduler: str | None = None,
    progress: bool = False,
) -> Found:
    """Return the settings with the smallest mean validation rRMSE over folds, and all trials.

    Every trial is written to one file as it ends. Called again with the same arguments and file
    after an interruption, the search resumes. Choices are tried in order where `n_trials` suffices
    for all of them, and else drawn by Optuna's tree-structured Parzen estimator.

    Parameters
    ----------
    counts : CountTensor
    method : Method or str
        One of :data:`uncletc.METHODS`, or its name.
    path : str or Path
        The file; created if absent.
    n_trials : int
        Number of trials in the file, earlier ones included.
    space : mapping of str to sequence, optional
        Choices for some settings, instead of those of the method's grid. `units` and `layers`
        define `hidden`.
    fixed : mapping, optional
        Fixed settings, such as ``{"solver": "bcd"}``. In UncleTC only that solver has a learning
        rate and a batch size to choose, and only for it μ is searched by itself: the joint solver
        estimates it unless `space` has choices, of which None is the estimate.
    kind, n_folds, seed
        See :func:`uncletc.compare.make_folds`; the seed also determines what is tried.
    prune : bool
        Stop a trial after its second or a later fold if its mean so far is above the median of
        earlier trials at that fold.
    jobs : int, optional
        Number of folds of a trial fitted at a time, each on one thread. None: 1, or with a
        scheduler one per worker of the cluster.
    scheduler : str, optional
        Address of a Dask scheduler whose workers fit the folds. They need the same version of
        uncletc, and one thread each (``dask worker ADDRESS --nthreads 1``).
    progress : bool
        Whether to show Optuna's progress bar on standard error.

    Raises
    ------
    ValueError, TypeError
        If an argument breaks its rule, the file holds another search, or no trial is complete.
    OSError
        If the scheduler does not answer.
    ImportError
        If Optuna or Dask is missing: the extra "search".
    """
    if not isinstance(method, Method):
        check_choice("method", method, tuple(METHODS))
        method = METHODS[method]
    check_whole("n_trials", n_trials, 1)
    if jobs is not None:
        check_whole("jobs", jobs, 1)
    fixed = {k: v.item() if hasattr(v, "item") else v for k, v in (fixed or {}).items()}
    choices = _choices(method, fixed, space or {})
    folds = splits(make_folds(counts, n_folds, kind=kind, seed=seed))
    facts = {"method": method.name, "counts": counts.digest, "results": RESULTS, "kind": kind}
    facts |= {"n_folds": n_folds, "seed": seed, "fixed": fixed, "space": choices}
    study = _study(Path(path), facts, seed, prune)
    from optuna import TrialPruned

    remaining = n_trials - len(_ended(study))
    if math.prod(len(values) for values in choices.values()) <= n_trials:
        known = [  # without those that an interruption left running
            trial.system_attrs.get("fixed_params", trial.params)
            for trial in study.trials
            if trial.state.name != "RUNNING"
        ]
        for row in product(*choices.values()):
            if (one := dict(zip(choices, row, strict=True))) not in known:
                study.enqueue_trial(one)
        remaining = sum(trial.state.name == "WAITING" for trial in study.trials)
    with _workers(jobs, scheduler, counts) as (size, lost):

        def objective(trial: optuna.Trial) -> float:
            chosen = {name: trial.suggest_categorical(name, v) for name, v in choices.items()}
            for earlier in _ended(study):
                if earlier.params == chosen and earlier.state.name != "FAIL":
                    trial.set_user_attr("folds", earlier.user_attrs["folds"])
                    if earlier.state.name == "PRUNED":
                        raise TrialPruned
                    return _mean(trial)
            settings = _settings(method, fixed, chosen)
            scored: list[dict[str, Any]] = []
            while True:
                part = folds[len(scored) : len(scored) + size]
                scored += Parallel()(
                    delayed(_score)(counts, method, settings, split) for split in part
                )
                trial.set_user_attr("folds", scored)
                if len(scored) == len(folds):
                    return _mean(trial)
                trial.report(_mean(trial), len(scored) - 1)
                if trial.should_prune():
                    raise TrialPruned

        if remaining > 0:
            study.optimize(
                objective, remaining, catch=(*_FAILURES, lost), show_progress_bar=progress
            )
    return _found(study, method, fixed, tuple(choices))


def _study(path: Path, facts: Mapping[str, Any], seed: int, prune: bool) -> optuna.Study:
    """Return the study of a file, new or with earlier trials of the same search."""
    try:
        import optuna
    except ImportError as error:
        raise ImportError(
            "searching needs Optuna, which is missing; install it with: "
            'pip install "uncletc[search]"'
        ) from error
    from optuna.storages import JournalStorage
    from optuna.storages.journal import JournalFileBackend, JournalFileOpenLock

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        if path.exists() and (lines := path.read_bytes().splitlines()):
            json.loads(lines[0])["op_code"]  # before Optuna writes to it
        lock = JournalFileOpenLock(str(path), grace_period=_LOCK)
        study = optuna.create_study(
            storage=JournalStorage(JournalFileBackend(str(path), lock)),
            study_name=_NAME,
            sampler=optuna.samplers.TPESampler(seed=seed),
            pruner=optuna.pruners.MedianPruner(n_startup_trials=_STARTUP, n_warmup_steps=1)
            if prune
            else optuna.pruners.NopPruner(),
            load_if_exists=True,
        )
        # Not the same random draws again after an interruption.
        study.sampler = optuna.samplers.TPESampler(seed=seed + len(study.trials))
    except (AssertionError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise ValueError(f"{path} is not the file of a search") from error
    facts = json.loads(json.dumps(facts))
    for name, value in study.user_attrs.get("search", facts).items():
        if facts.get(name) != value:
            raise ValueError(
                f"{path} holds a search with another {name}, {json.dumps(value)} and not "
                f"{json.dumps(facts.get(name))}; give another file, or the same arguments"
            )
    study.set_user_attr("search", facts)
    return study


@contextlib.contextmanager
def _workers(
    jobs: int | None, scheduler: str | None, counts: CountTensor
) -> Iterator[tuple[int, type[Exception]]]:
    """Make joblib use these workers; yield folds at a time, and the error where one dies."""
    if scheduler is None:
        with parallel_config(
            "loky", n_jobs=jobs or 1, inner_max_num_threads=1, initializer=_ignore_interrupts
        ):
            yield jobs or 1, BrokenExecutor
        return
    from distributed import Client, KilledWorker

    client: Any = Client(  # type: ignore[no-untyped-call]
        scheduler, timeout=_CONNECT, set_as_default=False
    )
    with client, parallel_config("dask", client=client, scatter=[counts]):
        yield jobs or len(client.scheduler_info(n_workers=-1)["workers"]), KilledWorker


def _ignore_interrupts() -> None:
    """Leave Ctrl+C to the process that runs the search."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _score(counts: CountTensor, method: Method, settings: Any, split: Split) -> dict[str, Any]:
    """Return the scores of the fit to the training counts of one fold."""
    trial = run_trial(counts, method, settings, split, _EVERY, callback=None)
    assert trial is not None
    return {"validation": trial.validation.rrmse, "test": asdict(trial.test)}


def _mean(trial: optuna.Trial | optuna.trial.FrozenTrial) -> float:
    """Return the mean validation rRMSE over the finished folds of a trial, NaN without any."""
    return mean_and_sd([fold["validation"] for fold in trial.user_attrs.get("folds", [])])[0]


def _ended(study: optuna.Study) -> list[optuna.trial.FrozenTrial]:
    return [trial for trial in study.get_trials(deepcopy=False) if trial.state.is_finished()]


def _found(
    study: optuna.Study, method: Method, fixed: Mapping[str, Any], names: Sequence[str]
) -> Found:
    rows = [
        {
            "number": trial.number,
            "state": trial.state.name.lower(),
            "value": _mean(trial),
            "folds": len(trial.user_attrs.get("folds", [])),
            **trial.params,
        }
        for trial in _ended(study)
    ]
    if not any(row["state"] == "complete" for row in rows):
        raise ValueError("no trial of the search is complete: every fit failed")
    best = study.best_trial
    folds = best.user_attrs["folds"]
    scores = pd.DataFrame([fold["test"] for fold in folds]).drop(columns="n")
    return Found(
        best=_settings(method, fixed, best.params),
        validation=mean_and_sd([fold["validation"] for fold in folds]),
        test={str(name): mean_and_sd(values) for name, values in scores.items()},
        trials=pd.DataFrame(rows, columns=["number", "state", "value", "folds", *names]),
    )


def _choices(
    method: Method, fixed: Mapping[str, Any], given: Mapping[str, Iterable[Any]]
) -> dict[str, tuple[Any, ...]]:
    """Return the choices of every searched setting, each validated by making settings."""
    ours = method.settings is FitSettings
    allowed = {field.name for field in fields(method.settings)} - {"hidden"}
    if ours:
        allowed |= {field.name for kind in SOLVERS.values() for field in fields(kind) if field.init}
        allowed |= set(_SHAPE)
    for name, values in given.items():
        if isinstance(values, str) or not isinstance(values, Iterable):
            raise TypeError(f"choices of {name} must be a sequence, got {values!r}")
        if name in fixed:
            raise ValueError(f"{name} must be either fixed or searched, not both")
    for name in (*fixed, *given):
        if name not in allowed and (name != "hidden" or name in given):
            raise ValueError(
                "hidden is searched by units and layers; give choices of those"
                if name == "hidden"
                else f"{method.name} has no setting {name!r}"
            )
    space = dict(method.grid)
    hidden = space.pop("hidden", ())
    if hidden and "hidden" not in fixed:
        space["units"] = tuple(sorted({width for layers in hidden for width in layers}))
        space["layers"] = tuple(sorted({len(layers) for layers in hidden}))
    unused = set(fixed)
    if ours and fixed.get("solver", "joint") != "bcd":
        for name in _BCD_ONLY:
            if name in given:
                raise ValueError(f"{name} has no effect in the joint solver; fix solver to 'bcd'")
        unused |= {*_BCD_ONLY, "mu"} - set(given)
    space |= {name: tuple(values) for name, values in given.items()}
    space = {name: values for name, values in space.items() if name not in unused}
    if not space:
        raise ValueError(f"a search needs a setting to choose; all of {method.name} are fixed")
    return {name: _validated(method, fixed, space, name) for name in space}


def _validated(
    method: Method, fixed: Mapping[str, Any], space: Mapping[str, tuple[Any, ...]], name: str
) -> tuple[Any, ...]:
    """Return the choices of one setting as the settings hold them: 500 as 500.0 if real."""
    if not space[name]:
        raise ValueError(f"choices of {name} must hold at least 1 value, got none")
    first = {other: values[0] for other, values in space.items() if values}
    result = []
    for choice in space[name]:
        value = choice.item() if hasattr(choice, "item") else choice
        if name in _SHAPE:
            value = check_whole(name, value, 1)
        else:
            settings = _settings(method, fixed, first | {name: value})
            value = getattr(settings if hasattr(settings, name) else settings.solver, name)
        if not isinstance(value, (bool, int, float, str, NoneType)):
            raise TypeError(f"{name} can be fixed but not searched, got {choice!r}")
        result.append(value)
    if len(set(result)) != len(result):
        raise ValueError(f"choices of {name} must be distinct, got {tuple(space[name])}")
    return tuple(result)


def _settings(method: Method, fixed: Mapping[str, Any], chosen: Mapping[str, Any]) -> Any:
    """Return settings of the method from the fixed and the chosen ones."""
    values = {**fixed, **chosen}
    units, layers = values.pop("units", None), values.pop("layers", None)
    if (units is None) != (layers is None):
        raise ValueError("units and layers must be given together")
    if layers is not None:
        values["hidden"] = (units,) * layers
    return (FitSettings.of if method.settings is FitSettings else method.settings)(**values)
