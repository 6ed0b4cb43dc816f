"""fit: the entry point of every solver, on one thread; continue_fit: on from where it stopped."""

import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import cache
from typing import Any

import pandas as pd
import torch
from threadpoolctl import ThreadpoolController

from uncletc.common.validation import check_among, check_kind
from uncletc.data.counts import CountTensor
from uncletc.data.surveys import Survey
from uncletc.fitting.history import ConvergenceWarning, MisfitWarning, StopReason
from uncletc.fitting.settings import FitSettings
from uncletc.fitting.surveys import condition_on_surveys, pool_known
from uncletc.model.random_effects import Effect
from uncletc.result.fit_result import Callback, Fit
from uncletc.solvers.bcd import fit_bcd
from uncletc.solvers.closed import check_closed, fit_closed
from uncletc.solvers.joint.solver import fit_joint
from uncletc.solvers.options import BCD

_lock = threading.Lock()
_within: list[int] = []  # of each block that is entered: torch's threads before the first
_blas = ExitStack()
_libraries = cache(ThreadpoolController)  # loaded ones with threads of their own; takes some 50 ms
# Patterns where no rank is given, of more than so many counts, and counts a level for each pattern
# of closed visits. With 5 where 8 or 10 are true, on 30,000 counts, intervals of λ held .5 and .7,
# with 10 .89; with 1 where 3 to 5 are true, on 400 to 650 counts, .80, with 5 .97. Closed visits
# have larger errors with more: .46 for .30 on 1,000 counts of 60 places.
_RANK, _RANK_OF_MANY, _MANY, _COUNTS_A_LEVEL = 5, 10, 20_000, 8


def usual_rank(counts: CountTensor, *, closed: bool) -> int:
    """Return the rank of a fit where none is given.

    It is 5, or 10 of more than 20,000 counts. With closed modes it is one pattern for each eight
    counts a level, from 1 to 5.

    Examples
    --------
    >>> from uncletc import simulate
    >>> y, _ = simulate((30, 40, 12), 2, observed=0.2, seed=1)
    >>> usual_rank(y, closed=False), usual_rank(y, closed=True)
    (5, 4)
    """
    if closed:
        return max(1, min(_RANK, counts.n_observed // (_COUNTS_A_LEVEL * sum(counts.shape))))
    return _RANK_OF_MANY if counts.n_observed > _MANY else _RANK


def fit(
    counts: CountTensor,
    settings: FitSettings | None = None,
    *,
    start: Fit | None = None,
    surveys: Sequence[Survey] | pd.DataFrame | None = None,
    callback: Callback | None = None,
    **options: Any,
) -> Fit:
    """Estimate λ and p from the observed counts and the attributes.

    Parameters
    ----------
    counts : CountTensor
        At least one observed entry. Ω and Ξ may nest or overlap in any way; without any
        attributes this is a Poisson CP decomposition with p = 1.
    settings : FitSettings, optional
        None: those of `options`.
    start : Fit, optional
        Begin from this fit of a tensor of the same shape, by any solver and with any rank, μ or
        network. Components are added or dropped to reach ``settings.rank``. The joint solver
        begins with the coefficients whose p over Ξ is closest to that of the start, and with its
        random effects where ``settings.effects`` are the same; modes may then have further levels
        at their end, such as days, and p, unless μ is another, stays if any effect is separate from
        attributes. Estimates agree with those without a start as far as `tol` says, not to the last
        digit. Block coordinate descent adopts a network with the same layers. Closed fits have no
        use for it.
    surveys : sequence of Survey, or DataFrame, optional
        Independent estimates of true numbers or of p of groups of entries, as
        :meth:`CountTensor.with_surveys` takes them. None: those of the counts.
    callback : callable, optional
        Called with each :class:`Iteration`, the starting point first; return True to stop. Its
        ``current()`` gives the estimates so far as a :class:`Fit`; with the joint solver they
        are useful from the first few iterations on.
    **options
        Settings by their names, those of the solver included, in place of `settings`:
        ``fit(counts, rank=3, closed="visit")``. A rank that is not given is that of
        :func:`usual_rank`, and visits of marked or removed animals, and bands of transects, are
        closed.

    Returns
    -------
    Fit

    Raises
    ------
    ValueError
        If nothing is observed, `start` has another shape, a sign names no attribute that acts
        on detection, counts with rate attributes or observation processes are to be fitted by block
        coordinate descent, or ``settings.closed`` does not go with the counts: a mode that they
        have not, no mode left open, no cell counted twice, further observation processes, entries
        without attributes among others with them, or exposure or rate attributes that vary along a
        closed mode.
    FitError
        If the objective becomes infinite or NaN in all members.

    Warns
    -----
    ConvergenceWarning
        If ``max_iter`` was reached before the objective settled.
    MisfitWarning
        If it settled where counts scatter several times as much about it as the model allows.

    Notes
    -----
    Runs on one thread: on the small matrices of these networks more threads are slower, and much
    slower beside a busy web server.

    Examples
    --------
    >>> from uncletc import FitSettings, fit, simulate
    >>> y, truth = simulate(shape=(6, 6, 6), rank=2, observed=0.5, attributed=0.5)
    >>> result = fit(y, FitSettings(rank=2, max_iter=3), callback=lambda i: i.iteration >= 2)
    >>> result.rate([[0, 0, 0]]).shape
    (1,)
    """
    check_kind("counts", counts, CountTensor)
    if start is not None:
        check_kind("start", start, Fit)
    if settings is None:
        options = {"closed": counts.closed_mode or ()} | options
        usual = {"rank": usual_rank(counts, closed=bool(options["closed"]))}
        settings = FitSettings.of(**usual | options)
    elif options:
        raise TypeError(f"{next(iter(options))} must be part of settings where these are given")
    if surveys is not None:
        counts = counts.with_surveys(surveys)
    check_kind("settings", settings, FitSettings)
    if counts.n_observed == 0:
        raise ValueError("counts must hold at least 1 observed entry, got 0")
    if start is not None and not _goes_with(start, counts, settings):
        raise ValueError(f"start must have the shape of counts {counts.shape}, got {start.shape}")
    bcd = isinstance(settings.solver, BCD)
    for given, name, without in (
        (counts.observations, "observation processes", "observations()"),
        (counts.rate_attribute_names, "rate_attributes", "roles(rate=())"),
        (counts.surveys, "surveys", "surveys([])"),
    ):
        open_modes = " without closed modes" if name == "surveys" else ""
        if given and (bcd or (settings.closed and open_modes)):
            rule = f"{name} need the joint solver{open_modes}"
            raise ValueError(f"{rule} (CountTensor.with_{without} leaves them out)")
    known = counts.attribute_names
    acting = f"signs must name attributes that act on detection, {known},"
    check_among(dict(settings.signs), known, acting)
    named = counts.every_group
    for text in settings.effects:
        Effect.parse(text).groups(named)
    if settings.closed:
        check_closed(counts, settings)
    with one_thread():
        if bcd:
            result = fit_bcd(counts, settings, start, callback)
        elif settings.closed:
            result = fit_closed(counts, settings, callback)
        else:
            result = fit_joint(counts, settings, start, callback)
    result = pool_known(replace(result, counts=counts), counts)
    result = condition_on_surveys(result, counts)
    if result.stop is StopReason.MAX_ITER and settings.max_iter > 0:
        warnings.warn(result.stop.value, ConvergenceWarning, stacklevel=2)
    if result.stop is StopReason.TOLERANCE and result.misfit:
        warnings.warn(result.misfit, MisfitWarning, stacklevel=2)
    if not (bcd or result.draws or counts.counts.any()):
        warnings.warn("no count is above 0: λ and p have no intervals", MisfitWarning, stacklevel=2)
    return result


def _goes_with(start: Fit, counts: CountTensor, settings: FitSettings) -> bool:
    """Whether counts have the shape of an earlier fit, or may have levels behind its own."""
    if isinstance(settings.solver, BCD) or settings.closed or len(start.shape) != len(counts.shape):
        return start.shape == counts.shape
    return all(old <= new for old, new in zip(start.shape, counts.shape, strict=True))


def continue_fit(
    counts: CountTensor,
    settings: FitSettings,
    limits: tuple[int, ...] = (),
    *,
    callback: Callback | None = None,
    start: Fit | None = None,
) -> Fit:
    """Fit, and go on from where fits of fewer iterations stopped.

    Parameters
    ----------
    counts : CountTensor
    settings : FitSettings
    limits : tuple of int
        ``max_iter`` of the earlier fits, ascending and below that of the settings. Each begins
        where the one before stopped; one that settles before its limit is the result.
    callback : callable, optional
        Of every fit; see :func:`uncletc.fit`.
    start : Fit, optional
        The result for the last of `limits`, where it is known already.

    Returns
    -------
    Fit

    Examples
    --------
    >>> from uncletc import FitSettings, continue_fit, simulate
    >>> y, _ = simulate((12, 12, 12), rank=2, observed=0.3, seed=1)
    >>> continue_fit(y, FitSettings(rank=2, max_iter=300), limits=(150,)).settings.max_iter
    300
    """
    chain = (*limits, settings.max_iter) if start is None else (settings.max_iter,)
    for limit in chain:
        if start is not None and start.stop is not StopReason.MAX_ITER:
            return replace(start, settings=settings)  # with a higher limit it is the same fit
        start = fit(counts, replace(settings, max_iter=limit), start=start, callback=callback)
    assert start is not None
    return start


@contextmanager
def one_thread() -> Iterator[None]:
    """Keep torch and BLAS to one thread, in the whole process, until the block ends.

    Blocks in several threads may overlap: what the first one found is there after the last one.
    """
    with _lock:
        before = _within[0] if _within else torch.get_num_threads()
        if not _within:
            _blas.enter_context(_libraries().limit(limits=1, user_api="blas"))
        _within.append(before)
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
        with _lock:
            _within.pop()
            if not _within:
                _blas.close()
