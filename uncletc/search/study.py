"""Study: the results of a search, read from its file, a journal of Optuna's."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from uncletc.baselines import METHODS
from uncletc.compare.metrics import mean_and_sd
from uncletc.search.settings import SearchSettings
from uncletc.search.space import settings_of

if TYPE_CHECKING:
    import optuna
    from optuna.trial import FrozenTrial

_NAME = "uncletc search"
_MISREAD = (AssertionError, AttributeError, LookupError, TypeError, ValueError)


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Study:
    """The results of a search, finished or not.

    Attributes
    ----------
    path : Path
    method : str
        Name in :data:`uncletc.METHODS`.
    dataset : str
        As given to :func:`uncletc.search.search`.
    counts_digest : str
        :attr:`uncletc.CountTensor.digest` of the counts.
    settings : SearchSettings
        With all choices in its `space`, and the number last requested in `n_trials`.
    frame : pandas.DataFrame
        One row per trial: ``number``; ``state`` ("complete", "pruned", "failed", or "running");
        ``value``, the mean validation rRMSE over ``folds`` finished folds, NaN without any; ``sd``
        over them; ``seconds`` of fitting and scoring; and a column for each setting in the space.
    """

    path: Path
    method: str
    dataset: str
    counts_digest: str
    settings: SearchSettings
    frame: pd.DataFrame
    _trials: dict[int, FrozenTrial]

    def __repr__(self) -> str:
        n = int((self.frame["state"] != "running").sum())
        return f"Study({self.method} on {self.dataset}, {n} of {self.settings.n_trials} trials)"

    @property
    def best(self) -> Any:
        """The settings of the complete trial with the smallest value, as their method takes them.

        Raises
        ------
        ValueError
            If no trial is complete.
        """
        if self.method not in METHODS:
            raise ValueError(f"{self.method} is not one of uncletc.METHODS")
        return settings_of(METHODS[self.method], self.settings.fixed, self._best_trial().params)

    @property
    def best_value(self) -> tuple[float, float]:
        """Mean and standard deviation over folds of the validation rRMSE of :attr:`best`."""
        return mean_and_sd([fold["validation"] for fold in folds_of(self._best_trial())])

    def test_scores(self) -> dict[str, tuple[float, float]]:
        """Mean and standard deviation over folds of each test score of :attr:`best`.

        They had no part in the choice. Names are those of :class:`uncletc.compare.Scores`,
        without n.
        """
        scores = pd.DataFrame([fold["test"] for fold in folds_of(self._best_trial())])
        return {str(name): mean_and_sd(values) for name, values in scores.items() if name != "n"}

    def _best_trial(self) -> FrozenTrial:
        done = self.frame[self.frame["state"] == "complete"]
        if done.empty:
            raise ValueError(f"no trial of {self.path} is complete yet")
        return self._trials[int(done["number"].iloc[int(done["value"].to_numpy().argmin())])]


def open_study(path: str | Path) -> Study:
    """Read the file of a search, finished or not, without writing to it.

    Parameters
    ----------
    path : str or Path

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If it is not the file of a search, or holds none yet.
    ImportError
        If Optuna is missing.
    """
    file = Path(path)
    if not file.is_file():
        raise FileNotFoundError(f"file {file} does not exist")
    try:
        study = journal(file)
        facts, request = study.user_attrs["search"], study.user_attrs["asked"]
        space = {name: tuple(values) for name, values in facts["space"].items()}
        given = facts | {"n_trials": request["n_trials"], "space": space}
        settings = SearchSettings(**{f.name: given[f.name] for f in fields(SearchSettings)})
        trials = {t.number: t for t in distinct(study) if t.params.keys() == space.keys()}
        columns = ["number", "state", "value", "sd", "folds", "seconds", *space]
        return Study(
            path=file,
            method=facts["method"],
            dataset=request["dataset"],
            counts_digest=facts["counts"],
            settings=settings,
            frame=pd.DataFrame([_row(trial) for trial in trials.values()], columns=columns),
            _trials=trials,
        )
    except _MISREAD as error:
        raise ValueError(f"{file} is not the file of a search, or holds none yet") from error


def journal(path: Path, *, create: bool = False) -> optuna.Study:
    """Return the study of a file, or a new one; ValueError if it has none."""
    try:
        import optuna
    except ImportError as error:
        raise ImportError(
            "searching needs Optuna, which is missing; install it with: "
            'pip install "uncletc[search]"'
        ) from error
    from optuna.storages.journal import JournalFileBackend, JournalFileOpenLock

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    # Three seconds until the lock of a killed process is taken over.
    lock = JournalFileOpenLock(str(path), grace_period=3)
    try:
        storage = optuna.storages.JournalStorage(JournalFileBackend(str(path), lock))
        if create:
            return optuna.create_study(study_name=_NAME, storage=storage)
        return optuna.load_study(study_name=_NAME, storage=storage)
    except _MISREAD as error:
        raise ValueError(f"{path} is not the file of a search, or holds none yet") from error


def distinct(study: optuna.Study) -> list[FrozenTrial]:
    """Return the trials, without interrupted ones that were started again."""
    trials = study.get_trials(deepcopy=False)
    replaced = {trial.user_attrs.get("replaces") for trial in trials}
    return [trial for trial in trials if trial.number not in replaced]


def folds_of(trial: FrozenTrial | optuna.Trial) -> list[dict[str, Any]]:
    """Return validation rRMSE, test scores and seconds of each finished fold."""
    return list(trial.user_attrs.get("folds", []))


def _row(trial: FrozenTrial) -> dict[str, Any]:
    folds = folds_of(trial)
    value, sd = mean_and_sd([float(fold["validation"]) for fold in folds])
    return {
        "number": trial.number,
        "state": "failed" if trial.state.name == "FAIL" else trial.state.name.lower(),
        "value": value,
        "sd": sd,
        "folds": len(folds),
        "seconds": float(sum(fold["seconds"] for fold in folds)),
        **trial.params,
    }
