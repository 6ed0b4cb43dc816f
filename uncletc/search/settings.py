"""What a search tries, how it scores, what does the work, and what it reports."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from uncletc.common.validation import check_choice, check_whole
from uncletc.compare import FoldKind
from uncletc.search.space import Space

Strategy = Literal["tpe", "random", "grid"]


@dataclass(frozen=True, kw_only=True)
class SearchSettings:
    """What a search tries and how it scores.

    Attributes
    ----------
    n_trials : int
        Number of trials in the file, earlier ones included: complete, pruned or failed. Never more
        than there are distinct choices.
    strategy : {"tpe", "random", "grid"}
        Tree-structured Parzen estimator, random, or in order. No strategy repeats a choice.
    prune : bool
        Give a trial up after its second or a later fold if its mean so far is above the median of
        complete trials at that fold; not before five trials are complete.
    space : mapping of str to sequence, optional
        Choices for some settings, instead of those of the method's grid. `units` and `layers`
        define `hidden`.
    fixed : mapping
        Fixed settings, such as ``{"solver": "bcd"}``. In UncleTC only that solver has a learning
        rate and a batch size to choose, and only for it μ is searched by itself: the joint solver
        takes it from the counts unless `space` has choices, of which None stands for the counts'.
    kind, n_folds, seed
        See :func:`uncletc.compare.make_folds`; the seed also determines what is tried.
    """

    n_trials: int = 40
    strategy: Strategy = "tpe"
    prune: bool = True
    space: Mapping[str, Iterable[Any]] | None = None
    fixed: Mapping[str, Any] = field(default_factory=dict)
    kind: FoldKind = "entry"
    n_folds: int = 5
    seed: int = 0

    def __post_init__(self) -> None:
        check_whole("n_trials", self.n_trials, 1)
        check_choice("strategy", self.strategy, get_args(Strategy))

    @property
    def choices(self) -> Space:
        """The space; empty if the method's grid is used."""
        return {name: tuple(values) for name, values in (self.space or {}).items()}


@dataclass(frozen=True, kw_only=True)
class Workers:
    """What fits the folds.

    Attributes
    ----------
    jobs : int, optional
        Number of folds of a trial fitted at a time, each on one thread: 1, in this process, or
        more, in separate processes. None: 1, or with a scheduler one per worker of the cluster.
    scheduler : str, optional
        Address of a Dask scheduler whose workers fit the folds. They need the same version of
        uncletc, and one thread each (``dask worker ADDRESS --nthreads 1``). Dask makes them return
        freed memory at once, which slows a fit by up to half. To avoid this, set
        ``MALLOC_TRIM_THRESHOLD_: 134217728`` and ``MALLOC_MMAP_THRESHOLD_: 33554432`` under
        ``distributed.nanny.pre-spawn-environ`` in Dask's configuration.
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
        Number of trials ended, and requested.
    best : float, optional
        Smallest mean validation rRMSE so far; None before a trial is complete.
    trial : int
        Number of the trial that the fold belongs to.
    chosen : mapping
        The settings chosen for it.
    folds : int
        Number of its folds scored so far.
    """

    finished: int
    total: int
    best: float | None
    trial: int
    chosen: Mapping[str, Any]
    folds: int
