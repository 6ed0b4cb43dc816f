"""Views of fits, and fits made by hand for them: whose λ and p are known beforehand."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
from scipy.stats import norm

from dashboard.covid.view import CovidView, Scope, build_covid_view, cell_totals
from dashboard.ppi.view import PpiView, build_ppi_view, pair_sums
from dashboard.ppi.view import Scope as PpiScope
from dashboard.shared.charts.answers import detection_grids
from uncletc import Anchor, Fit, Interval
from uncletc.datasets import Dataset
from uncletc.result.ensemble import Shifts

Z = float(norm.ppf(0.95))


def covid_view(
    dataset: Dataset, fit: Fit, anchor: Anchor, day: int | None = None, **chosen: Any
) -> CovidView:
    grids, sums = detection_grids(dataset, fit, anchor), cell_totals(dataset, fit, day)
    return build_covid_view(dataset, fit, grids, sums, Scope(day, **chosen))


def ppi_view(dataset: Dataset, fit: Fit, anchor: Anchor, **chosen: Any) -> PpiView:
    grids, sums = detection_grids(dataset, fit, anchor), pair_sums(dataset, fit)
    return build_ppi_view(dataset, grids, sums, PpiScope(**chosen))


def fit_by_hand(
    p: Callable[[np.ndarray], np.ndarray],
    rate: Callable[[np.ndarray], np.ndarray] = lambda where: np.ones(len(where)),
    *,
    ratio: float | None = None,
    reporting: float | None = None,
    alike: bool = True,
) -> SimpleNamespace:
    """Return what views ask of a fit.

    Parameters
    ----------
    p : callable
        p of attributes (n, D).
    rate : callable
        λ of entries (n, K).
    ratio : float, optional
        Every interval, of an entry, a mean or a sum, ends at the estimate times and over this.
    reporting : float, optional
        A factor of reporting that all entries have.
    alike : bool
        Whether all groups err alike; else the first one the other way.
    """
    effects = None
    if reporting is not None:
        effects = SimpleNamespace(reporting=lambda where: np.full(len(where), reporting))

    def shown(values: np.ndarray, spread: bool) -> Any:
        if not spread:
            return values
        times = np.nan if ratio is None else ratio
        return Interval(estimate=values, low=values / times, high=values * times, level=0.9)

    def of_members(of: str, where: np.ndarray, z: np.ndarray) -> list[np.ndarray]:
        return [rate(where) if of == "rate" else p(z)]

    def log_sums(_of, _member, _where, _z, _values, groups, _shifts=0.0):  # type: ignore[no-untyped-def]
        size = int(groups.max(initial=-1)) + 1
        half = np.log(ratio) / Z
        sign = np.where((np.arange(size) == 0) | alike, 1, -1)[:, None]
        return sign * np.array([-half, half]), np.zeros(size)

    def quantity(of, counts, where, scale):  # type: ignore[no-untyped-def]
        if of == "rate":
            return scale.rate_interval(shown(rate(where), True))
        return scale.detection_interval(shown(p(counts.attributes_at(where)), True))

    draws = SimpleNamespace(log_sums=log_sums, widths=lambda _: (1.0, 0.0)) if ratio else None
    return SimpleNamespace(
        scale=None,
        settings=SimpleNamespace(closed=()),
        draws=draws,
        members=(None,),
        mode_effects=effects,
        reports_late=effects is not None,
        mean_detection=0.5,
        of_members=of_members,
        of_counts=lambda _: False,
        median_shifts=lambda _: Shifts(np.zeros(1), np.zeros(2 if ratio else 0)),
        quantity=quantity,
        detection=lambda z, _=None, spread=False: shown(p(np.asarray(z)), spread),
        rate=lambda where, spread=False: shown(rate(np.asarray(where)), spread),
        expected=lambda where, z: (
            (reporting or 1.0)
            * rate(np.asarray(where))
            * np.where(np.isnan(z).all(axis=1), 0.5, p(np.asarray(z)))
        ),
    )
