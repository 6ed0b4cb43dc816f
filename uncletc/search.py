"""Search for good settings of a method by held-out counts, with Optuna.

Settings are compared by the mean validation error over the folds of :mod:`uncletc.compare`. Test
folds decide nothing; their scores are shown only for the best settings. As in the paper, each count
is in the validation fold of one trial, so the best settings score slightly better than on
counts of another year or place.

The file of a search is a journal of Optuna's: ``optuna.load_study`` reads it, also while a search
is writing to it.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Mapping
from concurrent.futures import BrokenExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed, effective_n_jobs

from uncletc.baselines import METHODS, Method
from uncletc.common import RESULTS
from uncletc.common.validation import check_choice, check_whole
from uncletc.compare import FoldKind, Split, make_folds, run_trial, splits
from uncletc.compare.metrics import mean_and_sd
from uncletc.data.counts import CountTensor
from uncletc.fitting.history import FitError
from uncletc.fitting.settings import FitSettings

if TYPE_CHECKING:
    import optuna

__all__ = ["Found", "search"]

_EVERY = 10  # iterations from one prediction of the validation fold to the next
_STARTUP = 5  # complete trials before one is pruned
_LOCK = 3  # seconds until the lock of a killed process is taken over
_FAILURES = (FitError, ArithmeticError, MemoryError, np.linalg.LinAlgError, BrokenExecutor)
_Choices = dict[str, dict[str, Any]]  # of each setting: values by their text


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

    Examples
    --------
    >>> import tempfile
    >>> from uncletc import simulate
    >>> y, _ = simulate((6, 5, 4), rank=1, observed=0.8, seed=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = f"{folder}/effects.log"
    ...     found = search(y, "Main effects", {"fibres": (True, False)}, path=path, n_folds=3)
    >>> found.trials["state"].tolist(), "rrmse" in found.test
    (['complete', 'complete'], True)
    """

    best: Any
    validation: tuple[float, float]
    test: dict[str, tuple[float, float]]
    trials: pd.DataFrame


def search(
    counts: CountTensor,
    method: Method | str,
    space: Mapping[str, Iterable[Any]],
    *,
    path: str | Path,
    n_trials: int = 40,
    fixed: Mapping[str, Any] | None = None,
    kind: FoldKind = "entry",
    n_folds: int = 5,
    seed: int = 0,
) -> Found:
    """Return the settings with the smallest mean validation rRMSE over folds, and all trials.

    Every trial is written to one file as it ends. Called again with the same arguments and file
    after an interruption, the search resumes; with others it begins again in the same file. All
    choices are tried where `n_trials` suffices for them; else they are drawn by Optuna's
    tree-structured Parzen estimator. A trial stops after its second or a later fold if its mean
    so far is above the median of earlier trials at that fold.

    Folds are fitted by joblib: ``with joblib.parallel_config("loky", n_jobs=4):`` around the call
    fits four at a time, ``parallel_config("dask")`` those of a Dask cluster.

    Parameters
    ----------
    counts : CountTensor
    method : Method or str
        One of :data:`uncletc.METHODS`, or its name.
    space : mapping of str to sequence
        Choices for some settings, such as ``{"rank": (3, 5, 10), "hidden": [(), (20, 20)]}``.
    path : str or Path
        The file; created if absent.
    n_trials : int
        Number of trials in the file, earlier ones included.
    fixed : mapping, optional
        Fixed settings, such as ``{"solver": "bcd"}``.
    kind, n_folds, seed
        See :func:`uncletc.compare.make_folds`; the seed also determines what is tried.

    Raises
    ------
    ValueError, TypeError
        If an argument breaks its rule, the file is none of a search, or no trial is complete.
    ImportError
        If Optuna is missing: the extra "search".

    Examples
    --------
    >>> import tempfile
    >>> from uncletc import simulate
    >>> y, _ = simulate((6, 5, 4), rank=1, observed=0.8, seed=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     found = search(y, "BPTF", {"rank": (1, 2)}, path=f"{folder}/rank.log", n_folds=3)
    >>> found.best.rank
    1
    """
    if not isinstance(method, Method):
        check_choice("method", method, tuple(METHODS))
        method = METHODS[method]
    check_whole("n_trials", n_trials, 1)
    fixed = dict(fixed or {})
    choices = _choices(method, fixed, space)
    folds = splits(make_folds(counts, n_folds, kind=kind, seed=seed))
    facts = [method.name, counts.digest, RESULTS, kind, n_folds, seed, repr(fixed)]
    facts.append(texts := {name: list(values) for name, values in choices.items()})
    most = math.prod(map(len, texts.values()))
    grid = texts if most <= n_trials else None
    digest = hashlib.sha256(json.dumps(facts).encode()).hexdigest()
    study = _study(Path(path), f"uncletc {digest}", seed, grid)
    from optuna import TrialPruned

    def objective(trial: optuna.Trial) -> float:
        chosen = {name: trial.suggest_categorical(name, given) for name, given in texts.items()}
        for earlier in _ended(study):
            if earlier.params == chosen and earlier.state.name != "FAIL":  # drawn once more
                trial.set_user_attr("folds", earlier.user_attrs["folds"])
                if earlier.state.name == "PRUNED":
                    raise TrialPruned
                return _mean(trial)
        settings = _settings(method, fixed, choices, chosen)
        scored: list[dict[str, Any]] = []
        while True:
            part = folds[len(scored) : len(scored) + effective_n_jobs()]
            scored += Parallel()(delayed(_score)(counts, method, settings, each) for each in part)
            trial.set_user_attr("folds", scored)
            if len(scored) == len(folds):
                return _mean(trial)
            trial.report(_mean(trial), len(scored) - 1)
            if trial.should_prune():
                raise TrialPruned

    tried = {json.dumps(trial.params, sort_keys=True) for trial in _ended(study)}
    if len(tried) < most and (remaining := n_trials - len(_ended(study))) > 0:
        study.optimize(objective, remaining, catch=_FAILURES)
    rows = [
        {
            "number": trial.number,
            "state": trial.state.name.lower(),
            "value": _mean(trial),
            "folds": len(trial.user_attrs.get("folds", [])),
            **{name: choices[name][text] for name, text in trial.params.items()},
        }
        for trial in _ended(study)
    ]
    if not any(row["state"] == "complete" for row in rows):
        raise ValueError("no trial of the search is complete: every fit failed")
    best = study.best_trial
    scores = pd.DataFrame([fold["test"] for fold in best.user_attrs["folds"]]).drop(columns="n")
    return Found(
        best=_settings(method, fixed, choices, best.params),
        validation=mean_and_sd([fold["validation"] for fold in best.user_attrs["folds"]]),
        test={str(name): mean_and_sd(values) for name, values in scores.items()},
        trials=pd.DataFrame(rows, columns=["number", "state", "value", "folds", *choices]),
    )


def _study(path: Path, name: str, seed: int, grid: Any) -> optuna.Study:
    """Return the study of this name in a file, new or with its earlier trials; all of a grid."""
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
            study_name=name,
            pruner=optuna.pruners.MedianPruner(n_startup_trials=_STARTUP, n_warmup_steps=1),
            load_if_exists=True,
        )
    except (AssertionError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise ValueError(f"{path} is not the file of a search") from error
    # Not the same random draws again after an interruption.
    study.sampler = (
        optuna.samplers.GridSampler(grid, seed=seed)
        if grid
        else optuna.samplers.TPESampler(seed=seed + len(study.trials))
    )
    return study


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


def _choices(
    method: Method, fixed: Mapping[str, Any], space: Mapping[str, Iterable[Any]]
) -> _Choices:
    """Return the choices of every setting, each of them validated by making settings."""
    choices: _Choices = {}
    for name, values in space.items():
        if isinstance(values, str) or not isinstance(values, Iterable):
            raise TypeError(f"choices of {name} must be a sequence, got {values!r}")
        if name in fixed:
            raise ValueError(f"{name} must be either fixed or searched, not both")
        choices[name] = {str(value): value for value in values}
    if not choices or not all(choices.values()):
        raise ValueError(f"space must hold at least 1 choice of each setting, got {dict(space)}")
    first = {name: next(iter(values)) for name, values in choices.items()}
    for name, values in choices.items():
        for text in values:
            try:
                _settings(method, fixed, choices, first | {name: text})
            except TypeError as error:
                raise ValueError(f"{method.name} has no setting {name!r}, or {error}") from error
    return choices


def _settings(
    method: Method, fixed: Mapping[str, Any], choices: _Choices, texts: Mapping[str, str]
) -> Any:
    """Return settings of the method from the fixed and the chosen ones."""
    values = {**fixed, **{name: choices[name][text] for name, text in texts.items()}}
    return (FitSettings.of if method.settings is FitSettings else method.settings)(**values)
