"""What a search tries, how it judges, who does the work, and what it reports."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from uncletc.evaluation import FoldKind
from uncletc.search.space import Space
from uncletc.validation import check_choice, check_whole

Strategy = Literal["tpe", "random", "grid"]


@dataclass(frozen=True, kw_only=True)
class SearchSettings:
    """What a search tries and how it judges.

    Attributes
    ----------
    n_trials : int
        Trials in the whole file, earlier ones included: complete, pruned, or failed because a fit
        did. There are never more than different choices.
    strategy : {"tpe", "random", "grid"}
        Tree-structured Parzen estimator, random, or in order. None tries the same twice.
    prune : bool
        Give a trial up after a fold, the second at the earliest, if its mean so far is above the
        median of complete trials at that fold; not before five trials are complete.
    space : mapping of str to sequence, optional
        Choices of some settings, instead of those of the method's own grid. `units` and `layers`
        stand for `hidden`.
    fixed : mapping
        Settings that stay, such as ``{"solver": "bcd"}``. Of UncleTC only that solver has a
        learning rate and a batch size to choose.
    kind, across, n_folds, seed
        See :func:`uncletc.evaluation.make_folds`; the seed decides what is tried, too.
    every : int, optional
        See :func:`uncletc.evaluation.evaluate`.
    """

    n_trials: int = 40
    strategy: Strategy = "tpe"
    prune: bool = True
    space: Mapping[str, Iterable[Any]] | None = None
    fixed: Mapping[str, Any] = field(default_factory=dict)
    kind: FoldKind = "entry"
    across: Sequence[int] | None = None
    n_folds: int = 5
    seed: int = 0
    every: int | None = 10

    def __post_init__(self) -> None:
        check_whole("n_trials", self.n_trials, 1)
        check_choice("strategy", self.strategy, get_args(Strategy))
        if self.every is not None:
            check_whole("every", self.every, 1)

    @property
    def choices(self) -> Space:
        """The space, empty where it is left to the method."""
        return {name: tuple(values) for name, values in (self.space or {}).items()}


@dataclass(frozen=True, kw_only=True)
class Workers:
    """Who fits the folds.

    Attributes
    ----------
    jobs : int, optional
        Folds fitted at a time, each on one thread: 1, in this process, or more, in processes of
        their own. None: 1, or with a scheduler one per worker of the cluster.
    scheduler : str, optional
        Address of a Dask scheduler whose workers do the work. They need uncletc installed, in the
        same version, and one thread each (``dask worker ADDRESS --nthreads 1``). Dask has them hand
        freed memory back at once, which costs a fit up to half as long again; in its configuration,
        ``distributed.nanny.pre-spawn-environ``, ``MALLOC_TRIM_THRESHOLD_: 134217728`` with
        ``MALLOC_MMAP_THRESHOLD_: 33554432`` ends that.
    """

    jobs: int | None = None
    scheduler: str | None = None

    def __post_init__(self) -> None:
        if self.jobs is not None:
            check_whole("jobs", self.jobs, 1)


@dataclass(frozen=True, kw_only=True)
class SearchProgress:
    """What :func:`uncletc.search.search` reports after each fold.

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
        Its folds judged so far.
    state : {"running", "complete", "pruned", "failed"}
    """

    finished: int
    total: int
    best: float | None
    trial: int
    chosen: Mapping[str, Any]
    folds: int
    state: str
