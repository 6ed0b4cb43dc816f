"""Study: what a search found, read from its file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from uncletc.baselines import METHODS
from uncletc.evaluation import FoldKind
from uncletc.search.space import settings_of
from uncletc.search.work import mean_sd, need

if TYPE_CHECKING:
    import pandas as pd
    from optuna.study import Study as OptunaStudy
    from optuna.trial import FrozenTrial

FACTS = (  # what makes the trials of one file comparable, as errors name it
    "method",
    "set of counts",
    "kind of folds",
    "number of folds",
    "choice of modes across",
    "seed",
    "step of looking",
    "strategy",
    "rule of pruning",
    "set of fixed settings",
    "set of choices",
    "version of uncletc",
)


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Study:
    """What a search found, or has found so far.

    Attributes
    ----------
    path : Path
    method : str
        Name in :data:`uncletc.METHODS`.
    dataset : str
        As given to :func:`search`.
    counts_digest : str
        :attr:`uncletc.CountTensor.digest` of the counts.
    kind : {"entry", "fibre"}
    n_folds, seed : int
    fixed : mapping
        Settings that stayed.
    space : mapping of str to tuple
        What could be chosen. `units` and `layers` stand for `hidden`.
    total : int
        Trials last asked for.
    frame : pandas.DataFrame
        One row per trial, without those that go on under another number: ``number``; ``state``
        ("complete", "pruned", "failed", "running" or "waiting"); ``value``, the mean validation
        rRMSE over ``folds`` finished folds, NaN without any; ``sd`` over them; ``seconds`` of
        fitting and judging; and a column for each setting in `space`.
    """

    path: Path
    method: str
    dataset: str
    counts_digest: str
    kind: FoldKind
    n_folds: int
    seed: int
    fixed: Mapping[str, Any]
    space: Mapping[str, tuple[Any, ...]]
    total: int
    frame: pd.DataFrame
    _study: OptunaStudy

    def __repr__(self) -> str:
        n = int(self.frame["state"].isin(["complete", "pruned", "failed"]).sum())
        return f"Study({self.method} on {self.dataset}, {n} of {self.total} trials)"

    @classmethod
    def load(cls, path: str | Path) -> Study:
        """Read a study; see :func:`open_study`."""
        return open_study(path)

    @property
    def best(self) -> Any:
        """The settings with the least value of all complete trials, as their method takes them.

        Raises
        ------
        ValueError
            If no trial is complete.
        """
        chosen = self._best_trial().params
        if self.method not in METHODS:
            raise ValueError(f"{self.method} is not one of uncletc.METHODS")
        return settings_of(METHODS[self.method], self.fixed, chosen)

    @property
    def best_value(self) -> tuple[float, float]:
        """Mean and standard deviation over folds of the validation rRMSE of :attr:`best`."""
        row = self._best_row()
        return float(row["value"]), float(row["sd"])

    def test_scores(self) -> dict[str, tuple[float, float]]:
        """Mean and standard deviation over folds of each test score of :attr:`best`.

        They decided nothing. Names are those of :class:`uncletc.evaluation.Scores`, without n.
        """
        from uncletc.search.journal import folds_of

        found = [one["test"] for one in folds_of(self._best_trial()).values()]
        names = [name for name in found[0] if name != "n"]
        return {name: mean_sd([one[name] for one in found]) for name in names}

    def importance(self) -> dict[str, float]:
        """Share of the variation of values that each searched setting explains, most first.

        Functional analysis of variance over complete trials; empty with fewer than two of them.
        """
        from optuna.importance import FanovaImportanceEvaluator, get_param_importances

        done = self.frame[self.frame["state"] == "complete"]
        varied = [name for name in self.space if done[name].nunique() > 1]
        if not varied or done["value"].nunique() < 2:
            return {}
        judge = FanovaImportanceEvaluator(seed=0)
        found = get_param_importances(self._study, evaluator=judge, params=varied)
        return {name: float(share) for name, share in found.items()}

    def _best_row(self) -> dict[str, Any]:
        done = self.frame[self.frame["state"] == "complete"]
        if done.empty:
            raise ValueError(f"no trial of {self.path} is complete yet")
        return dict(done.iloc[int(done["value"].to_numpy().argmin())])

    def _best_trial(self) -> FrozenTrial:
        return self._study.get_trials(deepcopy=False)[int(self._best_row()["number"])]


def open_study(path: str | Path) -> Study:
    """Read the file of a search, finished or not; nothing is written.

    A last line that was cut off, because the search was killed or is writing, is left out.

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
        raise FileNotFoundError(f"there is no file {file}")
    need("optuna")
    from uncletc.search import journal as journal
    from uncletc.search.frame import frame_of

    study = journal.read(file)
    facts = study.user_attrs
    missing = [name for name in FACTS if name not in facts]
    if missing:
        raise ValueError(f"{file} holds no search yet")
    space = {name: tuple(choices) for name, choices in facts["set of choices"].items()}
    return Study(
        path=file,
        method=facts["method"],
        dataset=facts.get("data set", "counts"),
        counts_digest=facts["set of counts"],
        kind=facts["kind of folds"],
        n_folds=facts["number of folds"],
        seed=facts["seed"],
        fixed=facts["set of fixed settings"],
        space=space,
        total=facts.get("trials", 0),
        frame=frame_of(study.get_trials(deepcopy=False), space),
        _study=study,
    )
