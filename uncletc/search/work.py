"""The work of a search: one fold of one trial, here, in processes, or on a Dask cluster."""

from __future__ import annotations

import contextlib
import importlib
import math
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch

from uncletc.baselines import Method
from uncletc.counts import CountTensor
from uncletc.evaluation import FoldKind, Split, make_folds, run_trial, splits
from uncletc.model import FitError

CONNECT = 20  # seconds to wait for a scheduler


@dataclass(frozen=True, eq=False, kw_only=True)
class Problem:
    """What all trials of a search share; goes to each worker once."""

    counts: CountTensor
    method: Method
    kind: FoldKind
    n_folds: int
    across: Sequence[int] | None
    seed: int
    every: int | None

    @cached_property
    def splits(self) -> tuple[Split, ...]:
        """The roles of the observed entries in each fold, the same for every trial."""
        folds = make_folds(
            self.counts, self.n_folds, kind=self.kind, across=self.across, seed=self.seed
        )
        return splits(folds)


def run_fold(problem: Problem, settings: Any, fold: int) -> dict[str, Any]:
    """Fit the training counts of one fold and judge; plain values, or why there are none."""
    split = problem.splits[fold]
    try:
        found = run_trial(
            problem.counts, problem.method, settings, split, problem.every, callback=None
        )
    except (FitError, ArithmeticError, MemoryError, np.linalg.LinAlgError) as error:
        return {"error": f"{type(error).__name__}: {error}"}
    assert found is not None
    return {
        "validation": asdict(found.validation),
        "test": asdict(found.test),
        "iteration": found.iteration,
        "seconds": found.seconds,
    }


def mean_sd(values: Sequence[float]) -> tuple[float, float]:
    """Mean and standard deviation over folds, as :class:`uncletc.evaluation.Evaluation` has them.

    NaN is left out.
    """
    known = [value for value in values if not math.isnan(value)]
    if not known:
        return math.nan, math.nan
    return float(np.mean(known)), float(np.std(known, ddof=min(1, len(known) - 1)))


@dataclass(frozen=True, kw_only=True)
class Pool:
    """Who does the work.

    Attributes
    ----------
    size : int
        Folds at a time.
    submit : callable
        ``submit(settings, fold)`` returns a future of what :func:`run_fold` returns.
    lost : tuple of exception types
        Raised by a future whose worker died for good, where the pool itself lives on.
    """

    size: int
    submit: Callable[[Any, int], Future[dict[str, Any]]]
    lost: tuple[type[BaseException], ...] = ()


@contextlib.contextmanager
def pool(problem: Problem, jobs: int | None, scheduler: str | None) -> Iterator[Pool]:
    """Open workers, and close them at the end, whatever they are doing."""
    if scheduler is not None:
        with _cluster(problem, jobs, scheduler) as workers:
            yield workers
    elif jobs is None or jobs == 1:
        yield Pool(size=1, submit=lambda settings, fold: _done(problem, settings, fold))
    else:
        with _processes(problem, jobs) as workers:
            yield workers


def need(module: str) -> Any:
    """Import what the extra "search" installs."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ImportError(
            f'{module.partition(".")[0]} is missing; install it with: pip install "uncletc[search]"'
        ) from error


def _done(problem: Problem, settings: Any, fold: int) -> Future[dict[str, Any]]:
    future: Future[dict[str, Any]] = Future()
    future.set_result(run_fold(problem, settings, fold))
    return future


@contextlib.contextmanager
def _processes(problem: Problem, jobs: int) -> Iterator[Pool]:
    loky = need("joblib.externals.loky")
    names = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
    executor: Executor = loky.ProcessPoolExecutor(
        jobs,
        timeout=3600,  # an idle worker stays; starting another takes seconds
        initializer=_receive,
        initargs=(problem, os.getpid()),
        env=dict.fromkeys(names, "1"),
    )
    try:
        yield Pool(
            size=jobs, submit=lambda settings, fold: executor.submit(_run_received, settings, fold)
        )
    finally:
        executor.shutdown(wait=True, kill_workers=True)  # type: ignore[call-arg]


_received: list[Problem] = []


def _receive(problem: Problem, parent: int) -> None:
    """Keep the problem in this worker; leave Ctrl+C to the process that searches."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    torch.set_num_threads(1)
    _received[:] = [problem]


def _end_with(parent: int) -> None:
    """End this worker when the search is no more: one that was killed cannot tell."""
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)


def _run_received(settings: Any, fold: int) -> dict[str, Any]:
    return run_fold(_received[0], settings, fold)


@contextlib.contextmanager
def _cluster(problem: Problem, jobs: int | None, scheduler: str) -> Iterator[Pool]:
    distributed = need("distributed")
    try:
        client = distributed.Client(scheduler, timeout=CONNECT, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ConnectionError(f"no Dask scheduler answers at {scheduler} ({error})") from error
    try:
        workers = len(client.scheduler_info(n_workers=-1)["workers"])
        if not workers:
            raise ConnectionError(f"the Dask scheduler at {scheduler} has no workers")
        shared = client.scatter(problem, broadcast=True, hash=False)
        executor = client.get_executor(pure=False)
        yield Pool(
            size=jobs or workers,
            submit=lambda settings, fold: executor.submit(run_fold, shared, settings, fold),
            lost=(distributed.KilledWorker,),
        )
    finally:
        client.close()
