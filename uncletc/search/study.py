"""Study: the results of a search, read from its file."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from uncletc.baselines import METHODS
from uncletc.compare.metrics import mean_and_sd
from uncletc.search.settings import SearchSettings
from uncletc.search.space import settings_of

if TYPE_CHECKING:
    from optuna.trial import FrozenTrial


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
        One row per trial: ``number``; ``state`` ("complete", "pruned", "failed", or "running", also
        for trials of an interrupted search); ``value``, the mean validation rRMSE over ``folds``
        finished folds, NaN without any; ``sd`` over them; ``seconds`` of fitting and scoring; and a
        column for each setting in the space.
    """

    path: Path
    method: str
    dataset: str
    counts_digest: str
    settings: SearchSettings
    frame: pd.DataFrame
    _trials: list[FrozenTrial]

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
        return mean_and_sd([fold["validation"]["rrmse"] for fold in self._best_folds()])

    def test_scores(self) -> dict[str, tuple[float, float]]:
        """Mean and standard deviation over folds of each test score of :attr:`best`.

        They had no part in the choice. Names are those of :class:`uncletc.compare.Scores`,
        without n.
        """
        scores = pd.DataFrame([fold["test"] for fold in self._best_folds()]).drop(columns="n")
        return {str(name): mean_and_sd(values) for name, values in scores.items()}

    def importance(self) -> dict[str, float]:
        """Share of the variation of values explained by each searched setting, largest first.

        Functional analysis of variance over complete trials; empty with fewer than two.
        """
        from optuna.importance import FanovaImportanceEvaluator, get_param_importances

        from uncletc.search import journal as journal

        done = self.frame[self.frame["state"] == "complete"]
        varied = [name for name in self.settings.choices if done[name].nunique(dropna=False) > 1]
        if not varied or done["value"].nunique() < 2:
            return {}
        study = journal.in_memory(self._trials)
        fanova = FanovaImportanceEvaluator(seed=0)
        shares = get_param_importances(study, evaluator=fanova, params=varied)
        return {name: float(share) for name, share in shares.items()}

    def _best_trial(self) -> FrozenTrial:
        done = self.frame[self.frame["state"] == "complete"]
        if done.empty:
            raise ValueError(f"no trial of {self.path} is complete yet")
        best = int(done["value"].to_numpy().argmin())
        return self._trials[int(done["number"].iloc[best])]

    def _best_folds(self) -> list[dict[str, Any]]:
        from uncletc.search import journal as journal

        return list(journal.folds_of(self._best_trial()).values())


def open_study(path: str | Path) -> Study:
    """Read the file of a search, finished or not, without writing to it.

    An incomplete last line, of a search that was killed or is writing, is ignored.

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
    from uncletc.search import journal as journal

    attributes, trials = journal.read(file)
    try:
        facts, request = attributes["search"], attributes["asked"]
        given = {field.name: (facts | request)[field.name] for field in fields(SearchSettings)}
        settings = SearchSettings(**given)
        settings = replace(settings, space=settings.choices)
        method, digest, dataset = facts["method"], facts["counts"], request["dataset"]
        columns = ["number", "state", "value", "sd", "folds", "seconds", *settings.choices]
    except journal.MISREAD as error:
        raise journal.unreadable(file, "its beginning", error) from error
    rows = [_row(trial) for trial in trials if trial.params.keys() == settings.choices.keys()]
    return Study(
        path=file,
        method=method,
        dataset=dataset,
        counts_digest=digest,
        settings=settings,
        frame=pd.DataFrame(rows, columns=columns),
        _trials=trials,
    )


def _row(trial: FrozenTrial) -> dict[str, Any]:
    from uncletc.search import journal as journal

    folds = [fold for fold in journal.folds_of(trial).values() if "error" not in fold]
    value, sd = mean_and_sd([fold["validation"]["rrmse"] for fold in folds])
    return {
        "number": trial.number,
        "state": journal.word_for(trial.state),
        "value": value,
        "sd": sd,
        "folds": len(folds),
        "seconds": float(sum(fold["seconds"] for fold in folds)),
        **trial.params,
    }
