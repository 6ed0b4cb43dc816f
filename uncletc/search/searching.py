"""search: find good settings of a method, and keep every trial in a file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from uncletc.baselines import METHODS, Method
from uncletc.common.validation import check_choice
from uncletc.data.counts import CountTensor
from uncletc.search.settings import SearchProgress, SearchSettings, Workers
from uncletc.search.space import size_of, space_of
from uncletc.search.study import Study, open_study


def search(
    counts: CountTensor,
    method: Method | str,
    *,
    path: str | Path,
    settings: SearchSettings | None = None,
    workers: Workers | None = None,
    dataset: str = "counts",
    callback: Callable[[SearchProgress], bool | None] | None = None,
) -> Study:
    """Look for the settings with the smallest mean validation rRMSE over folds.

    Every trial is kept in one file as it runs. Called again with the same arguments and file after
    any interruption, the search resumes: ended trials count, and interrupted trials continue after
    their last finished fold.

    Parameters
    ----------
    counts : CountTensor
    method : Method or str
        One of :data:`uncletc.METHODS`, or its name.
    path : str or Path
        The file; created if absent.
    settings : SearchSettings, optional
        What to try and how to score it.
    workers : Workers, optional
        What fits the folds. None: this process, one at a time.
    dataset : str
        A name for the counts, kept in the file.
    callback : callable, optional
        Called with a :class:`SearchProgress` after each fold; return True to stop.

    Returns
    -------
    Study
        With one job, the seed determines everything but the seconds. With more, later choices may
        depend on which folds finish first.

    Raises
    ------
    ValueError, TypeError
        If an argument breaks its rule, or the file holds another search.
    RuntimeError
        If another search is writing to the file.
    ConnectionError
        If the scheduler does not answer, has no workers, or is lost.
    ImportError
        If Optuna or Dask is missing: the extra "search".
    """
    if not isinstance(method, Method):
        check_choice("method", method, tuple(METHODS))
        method = METHODS[method]
    settings = settings or SearchSettings()
    fixed = {k: v.item() if hasattr(v, "item") else v for k, v in settings.fixed.items()}
    space = space_of(method, fixed, settings.space)
    settings = replace(
        settings, fixed=fixed, space=space, n_trials=min(settings.n_trials, size_of(space))
    )
    from uncletc.search.loop import run  # needs Optuna

    run(
        counts,
        method,
        settings,
        path=Path(path),
        workers=workers or Workers(),
        dataset=dataset,
        callback=callback,
    )
    return open_study(path)
