"""Simulate designs from a fit, refit them, and measure their intervals."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from uncletc.common.validation import check_seed, check_whole
from uncletc.data.counts import CountTensor
from uncletc.fitting.fit import fit as fit_counts
from uncletc.fitting.history import ConvergenceWarning, Iteration, MisfitWarning
from uncletc.fitting.settings import FitSettings
from uncletc.model.detection import JointDetection
from uncletc.planning.designs import PRESENT, Design
from uncletc.planning.drawing import World, draw_season
from uncletc.planning.growing import grow
from uncletc.planning.results import Plan
from uncletc.planning.widths import Present, Row, measured, widths_of_fit
from uncletc.result.fit_result import Fit
from uncletc.result.intervals import drawn
from uncletc.solvers.options import Joint

Follow = Callable[[int, Iteration[Any]], bool | None]


def plan(
    counts: CountTensor,
    fit: Fit,
    designs: Sequence[Design],
    *,
    repeats: int = 3,
    seed: int = 0,
    along: str | None = None,
    callback: Follow | None = None,
) -> Plan:
    """Simulate designs from a fit, refit them, and compare their intervals with the present ones.

    Parameters
    ----------
    counts : CountTensor
    fit : Fit
        Of these counts, with intervals.
    designs : sequence of Design
        The present one is always tried too.
    repeats : int
        How many seasons of each design, ≥ 1.
    seed : int
        Of everything random. A design's seasons do not depend on which others are tried.
    along : str, optional
        The mode that visits are along, such as "visit" or "day"; a place is a combination of
        levels of all others. None: the last.
    callback : callable, optional
        Called with the number of fits that have finished, of :func:`fits_of_plan`, and each
        :class:`uncletc.Iteration` of the present one; return True to stop. Finished seasons are
        kept.

    Returns
    -------
    Plan

    Raises
    ------
    ValueError
        If the fit is of other counts or has no intervals, a mode is unknown, a design cannot be
        fitted, such as a survey beside closed visits, or a survey is of more places than have a
        count above 0.

    Examples
    --------
    >>> from uncletc import FitSettings, fit, simulate
    >>> y, _ = simulate((8, 6, 4), 1, observed=0.9, attributed=0.9, n_attributes=1, seed=1)
    >>> settings = FitSettings(rank=1, hidden=())
    >>> found = plan(y, fit(y, settings), [Design(times={"mode 3": 2})], repeats=1)
    >>> list(found.table["design"].unique())
    ['as now', 'mode 3 × 2']
    """
    chosen = [PRESENT, *(design for design in dict.fromkeys(designs) if design != PRESENT)]
    tried: dict[Design, list[Row]] = {}
    done, stopped = 0, False

    def follow(number: int, record: Iteration[Any]) -> bool:
        nonlocal stopped
        stopped = callback is not None and bool(callback(done + number, record))
        return stopped

    for design in chosen:
        tried[design] = try_design(
            counts, fit, design, repeats=repeats, seed=seed, along=along, callback=follow
        )
        done += repeats * _fits_each(fit, design)
        if stopped:
            break
    return Plan.of(counts, widths_of_fit(fit, counts, along), tried)


def try_design(
    counts: CountTensor,
    fit: Fit,
    design: Design,
    *,
    repeats: int = 3,
    seed: int = 0,
    along: str | None = None,
    callback: Follow | None = None,
) -> list[Row]:
    """Do one design; see :func:`plan`, of whose table these are the rows.

    Returns
    -------
    list of dict
        Those of :func:`uncletc.planning.widths_of_fit` with "held", and "repeat", from 0.
    """
    mode = _checked(counts, fit, design, along)
    repeats, seed = check_whole("repeats", repeats, 1), check_seed(seed)
    world, added = World.of(fit, counts), design.added(counts)
    settings = _settings(fit)
    rows: list[Row] = []
    done, stopped = 0, False

    def follow(record: Iteration[Any]) -> bool:
        nonlocal stopped
        stopped = callback is not None and bool(callback(done, record))
        return stopped

    for repeat in range(repeats):
        grown = grow(counts, added, (seed, repeat, 0))
        season, p = draw_season(world, counts, grown, design.survey, mode, (seed, repeat, 1))
        found = _refitted(season, settings, follow)
        done += 1
        if not stopped and _fits_each(fit, design) > 1:
            alone = _refitted(season.with_looks(*season.looks[:-1]), settings, follow)
            found, done = _as_wide(found, alone), done + 1
        if stopped:
            break
        present = Present.of(counts, mode)
        over = world.member.detection(season.attributes)
        present = replace(
            present,
            rate=world.rate,
            detection=p,
            mean_detection=float(over.mean()) if season.n_attributes else world.level,
        )
        rows += [{"repeat": repeat, **row} for row in measured(found, season, present)]
    return rows


def fits_of_plan(fit: Fit, designs: Sequence[Design], repeats: int) -> int:
    """How many fits designs take, the present one not counted unless it is among them."""
    return repeats * sum(_fits_each(fit, design) for design in designs)


def seconds_of_plan(
    counts: CountTensor, fit: Fit, designs: Sequence[Design], repeats: int
) -> float:
    """About how many seconds designs take: fits take as long as that of a fit, by their size."""
    each = fit.history[-1].seconds
    size = 0.0
    for design in designs:
        levels = dict(zip(counts.modes, counts.shape, strict=True))
        grown = 1.0
        for mode, n in design.added(counts).items():
            grown *= 1 + n / levels[mode]
        size += grown * _fits_each(fit, design)
    return repeats * each * size


def _checked(counts: CountTensor, fit: Fit, design: Design, along: str | None) -> int:
    """Return the mode that visits are along; ValueError where a design cannot be tried."""
    if not isinstance(design, Design):
        raise TypeError(f"designs must be Design objects, got {type(design).__name__}")
    if fit.counts_digest != counts.digest:
        raise ValueError("fit must be of these counts, got one of others")
    drawn(fit)
    if along is not None and along not in counts.modes:
        raise ValueError(f"along must name a mode of {counts.modes}, got {along!r}")
    if design.survey is not None and fit.settings.closed:
        raise ValueError(
            "a survey cannot be planned beside closed visits, which tell p themselves: leave out "
            "one of the two"
        )
    design.added(counts)
    return len(counts.shape) - 1 if along is None else counts.modes.index(along)


def _settings(fit: Fit) -> FitSettings:
    """The fit's; no network is tried where it has none."""
    options = fit.settings.solver
    has_network = isinstance(fit.network, JointDetection) and bool(fit.network.layers)
    if has_network or not isinstance(options, Joint):
        return fit.settings
    return replace(fit.settings, solver=replace(options, network=False))


def _fits_each(fit: Fit, design: Design) -> int:
    """How many fits a season takes.

    Where counts are few, intervals are widened by refits, which a fit with looks does not make: a
    survey would seem to narrow what it does not tell. So it is fitted without, too.
    """
    alone = design.survey is not None and not fit.anchored_by and not fit.settings.effects
    return 2 if alone else 1


def _refitted(
    season: CountTensor, settings: FitSettings, follow: Callable[[Iteration[Any]], bool]
) -> Fit:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", MisfitWarning)
        return fit_counts(season, settings, callback=follow)


def _as_wide(found: Fit, alone: Fit) -> Fit:
    """Widen the draws of a fit at least as those of the other."""
    own, others = drawn(found), drawn(alone)
    widest = [
        (max(a[0], b[0]), max(a[1], b[1]), max(a[2], b[2]))
        for a, b in ((own.widening, others.widening), (own.shared, others.shared))
    ]
    return replace(found, draws=replace(own, widening=widest[0], shared=widest[1]))
