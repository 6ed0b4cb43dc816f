"""Search for good settings of a method, by held-out counts.

Which one, when: :func:`search` to look for settings, or to go on after an interruption;
:func:`open_study` to look at what was found, also while a search is still writing the file.

Settings are judged by the mean validation error over the folds of :mod:`uncletc.evaluation`. No
test fold decides anything: its counts are scored, but only those of the best settings are shown.
Each count does validate in one of the rotating folds, as in the paper, so the best settings look a
little better than they would on counts of another year or place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from uncletc._search_space import settings_of, size_of, space_of
from uncletc._search_work import Problem, mean_sd, need, pool
from uncletc.baselines import METHODS, Method
from uncletc.counts import CountTensor
from uncletc.evaluation import FoldKind
from uncletc.settings import _check_choice, _check_whole

if TYPE_CHECKING:
    import pandas as pd
    from optuna.study import Study as OptunaStudy
    from optuna.trial import FrozenTrial

Strategy = Literal["tpe", "random", "grid"]


@dataclass(frozen=True, kw_only=True)
class SearchProgress:
    """What :func:`search` reports after each fold.

    Attributes
    ----------
    finished, total : int
        Trials that ended, and those wanted.
    best : float, optional
        Least mean validation rRMSE so far; None before a trial is complete.
    trial : int
        Number of the trial that the fold belongs to.
    chosen : mapping
        What was chosen for it.
    folds : int
        Folds of it that are judged.
    state : str
        "running", "complete", "pruned" or "failed".
    """

    finished: int
    total: int
    best: float | None
    trial: int
    chosen: Mapping[str, Any]
    folds: int
    state: str


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
        from uncletc._search_journal import folds_of

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
    from uncletc import _search_journal as journal
    from uncletc._search_frame import frame_of

    study = journal.read(file)
    facts = study.user_attrs
    missing = [name for name in _FACTS if name not in facts]
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


_FACTS = (  # what makes the trials of one file comparable, as errors name it
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


def search(
    counts: CountTensor,
    method: Method | str,
    *,
    path: str | Path,
    n_trials: int = 40,
    jobs: int | None = None,
    scheduler: str | None = None,
    kind: FoldKind = "entry",
    across: Sequence[int] | None = None,
    n_folds: int = 5,
    seed: int = 0,
    space: Mapping[str, Iterable[Any]] | None = None,
    fixed: Mapping[str, Any] | None = None,
    strategy: Strategy = "tpe",
    prune: bool = True,
    every: int | None = 10,
    dataset: str = "counts",
    callback: Callable[[SearchProgress], bool | None] | None = None,
) -> Study:
    """Look for the settings with the least mean validation rRMSE over folds.

    Every trial is kept in one file as it goes. Called again with the same arguments and file after
    an interruption, of whatever kind, the search goes on: ended trials count, and those that were
    running go on from their last finished fold.

    Parameters
    ----------
    counts : CountTensor
    method : Method or str
        One of :data:`uncletc.METHODS`, or its name.
    path : str or Path
        The file; begun where there is none.
    n_trials : int
        Trials that shall have ended in the whole file: complete, pruned, or failed because a fit
        did. Never more than there are different choices.
    jobs : int, optional
        Folds fitted at a time, each on one thread: 1, in this process, or more, in processes of
        their own. None: 1, or with a scheduler one per worker of the cluster.
    scheduler : str, optional
        Address of a Dask scheduler whose workers do the work. They need uncletc installed, in the
        same version, and one thread each (``dask worker ADDRESS --nthreads 1``).
    kind, across, n_folds, seed
        See :func:`uncletc.evaluation.make_folds`; the seed decides what is tried, too.
    space : mapping, optional
        Choices of some settings, instead of those of the method's own grid. `units` and `layers`
        stand for `hidden`.
    fixed : mapping, optional
        Settings that stay, such as ``{"solver": "bcd"}``. Of UncleTC only that solver has a
        learning rate and a batch size to choose.
    strategy : {"tpe", "random", "grid"}
        Tree-structured Parzen estimator, random, or in order. None tries the same twice.
    prune : bool
        Give a trial up after a fold, the second at the earliest, if its mean so far is above the
        median of complete trials at that fold; not before five trials are complete.
    every : int, optional
        See :func:`uncletc.evaluation.evaluate`.
    dataset : str
        A name for the counts, kept in the file.
    callback : callable, optional
        Called with a :class:`SearchProgress` after each fold; return True to stop.

    Returns
    -------
    Study
        With one job, the seed decides all of it but the seconds. With more, later choices depend on
        which trials end first.

    Raises
    ------
    ValueError, TypeError
        If an argument breaks its rule, or the file holds another search.
    RuntimeError
        If another search is writing the file.
    ConnectionError
        If the scheduler does not answer, has no workers, or is lost.
    ImportError
        If Optuna, joblib or Dask is missing: the extra "search".
    """
    chosen = _method(method)
    n_trials = _check_whole("n_trials", n_trials, 1)
    if jobs is not None:
        jobs = _check_whole("jobs", jobs, 1)
    _check_choice("strategy", strategy, get_args(Strategy))
    every = None if every is None else _check_whole("every", every, 1)
    fixed = {k: v.item() if hasattr(v, "item") else v for k, v in (fixed or {}).items()}
    choices = space_of(chosen, fixed, space)
    problem = Problem(
        counts=counts,
        method=chosen,
        kind=kind,
        n_folds=n_folds,
        across=None if across is None else tuple(across),
        seed=seed,
        every=every,
    )
    facts = dict(
        zip(
            _FACTS,
            (
                chosen.name,
                counts.digest,
                kind,
                len(problem.splits),
                across,
                seed,
                every,
                strategy,
                prune,
                fixed,
                choices,
                version("uncletc"),
            ),
            strict=True,
        )
    )
    need("optuna")
    from uncletc import _search_journal as journal
    from uncletc._search_loop import Loop

    with journal.written(Path(path), facts) as study:
        total = min(n_trials, size_of(choices))
        study.set_user_attr("trials", total)
        study.set_user_attr("data set", dataset)
        Loop(
            study,
            problem,
            space=choices,
            fixed=fixed,
            strategy=strategy,
            prune=prune,
            total=total,
            callback=callback,
        ).run(lambda: pool(problem, jobs, scheduler))
    return open_study(path)


def _method(method: Method | str) -> Method:
    if isinstance(method, Method):
        return method
    _check_choice("method", method, tuple(METHODS))
    return METHODS[method]
