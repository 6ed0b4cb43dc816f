"""The work of a search: folds of trials, fitted here, in processes, or on a Dask cluster."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor
from dataclasses import asdict
from typing import Any

import numpy as np
from joblib import parallel_config

from uncletc.baselines import Method
from uncletc.compare import Split, run_trial
from uncletc.data.counts import CountTensor
from uncletc.fitting.history import FitError
from uncletc.search.settings import Workers

CONNECT = 20  # seconds to wait for a scheduler


def run_fold(
    number: int, counts: CountTensor, method: Method, settings: Any, split: Split, every: int | None
) -> tuple[int, int, dict[str, Any]]:
    """Fit the training counts of one fold of a trial, and score the others.

    Returns
    -------
    number, fold : int
    result : dict
        Plain values, or a message under "error".
    """
    try:
        trial = run_trial(counts, method, settings, split, every, callback=None)
    except (FitError, ArithmeticError, MemoryError, np.linalg.LinAlgError) as error:
        return number, split.trial, {"error": f"{type(error).__name__}: {error}"}
    assert trial is not None
    result = {
        "validation": asdict(trial.validation),
        "test": asdict(trial.test),
        "iteration": trial.iteration,
        "seconds": trial.seconds,
    }
    return number, split.trial, result


@contextlib.contextmanager
def opened(workers: Workers, counts: CountTensor) -> Iterator[tuple[int, type[Exception]]]:
    """Make joblib use these workers within the block.

    Yields
    ------
    size : int
        Number of folds at a time.
    lost : exception type
        Raised if a worker dies.
    """
    if workers.scheduler is None:
        jobs = workers.jobs or 1
        with parallel_config(
            "loky", n_jobs=jobs, inner_max_num_threads=1, initializer=_leave_interrupts
        ):
            yield jobs, BrokenExecutor
        return
    try:
        from distributed import Client, KilledWorker
        from distributed.comm.core import CommClosedError
    except ImportError as error:
        raise ImportError(
            "a scheduler needs Dask, which is missing; install it with: "
            'pip install "uncletc[search]"'
        ) from error
    try:
        client: Any = Client(  # type: ignore[no-untyped-call]
            workers.scheduler, timeout=CONNECT, set_as_default=False
        )
    except (OSError, ValueError) as error:
        raise ConnectionError(
            f"no Dask scheduler answers at {workers.scheduler} ({error})"
        ) from error
    with client:
        n_workers = len(client.scheduler_info(n_workers=-1)["workers"])
        if not n_workers:
            raise ConnectionError(f"the Dask scheduler at {workers.scheduler} has no workers")
        try:
            with parallel_config("dask", client=client, scatter=[counts]):
                yield workers.jobs or n_workers, KilledWorker
        except Exception as error:
            if client.status == "running" and not isinstance(error, CommClosedError):
                raise
            raise ConnectionError(
                "the Dask scheduler is gone; search again with the same arguments to resume"
            ) from error


def _leave_interrupts() -> None:
    """Leave Ctrl+C to the process that runs the search."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
