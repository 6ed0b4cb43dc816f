"""The search: what is to be tried, where it is kept, and who does the work."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal, get_args

from uncletc.baselines import METHODS, Method
from uncletc.counts import CountTensor
from uncletc.evaluation import FoldKind
from uncletc.search.space import size_of, space_of
from uncletc.search.study import FACTS, Study, open_study
from uncletc.search.work import Problem, need, pool
from uncletc.validation import check_choice, check_whole

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
        same version, and one thread each (``dask worker ADDRESS --nthreads 1``). Dask has them hand
        freed memory back at once, which costs a fit up to half as long again; in its configuration,
        ``distributed.nanny.pre-spawn-environ``, ``MALLOC_TRIM_THRESHOLD_: 134217728`` with
        ``MALLOC_MMAP_THRESHOLD_: 33554432`` ends that.
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
    n_trials = check_whole("n_trials", n_trials, 1)
    if jobs is not None:
        jobs = check_whole("jobs", jobs, 1)
    check_choice("strategy", strategy, get_args(Strategy))
    every = None if every is None else check_whole("every", every, 1)
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
            FACTS,
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
    from uncletc.search import journal as journal
    from uncletc.search.loop import Loop

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
    check_choice("method", method, tuple(METHODS))
    return METHODS[method]
