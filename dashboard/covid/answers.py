"""COVID-19 page: reported and true cases of places, states and all together. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dashboard.shared.charts.answers import Apart, for_display, reports_late, told_apart
from dashboard.shared.charts.places import cells
from uncletc import Fit, Scale
from uncletc.datasets import Dataset
from uncletc.estimates import Sums, group_sums

PER = 1000  # people


@dataclass(frozen=True, eq=False, kw_only=True)
class CovidAnswers:
    """Counts, λ, p and the share counted, with intervals where the fit has them.

    Attributes
    ----------
    all_places : DataFrame
        One row per cell, the most populous first, whatever states are chosen: place (its label),
        fips (of the county that it is named after), cell, state, population, then what
        :meth:`uncletc.estimates.Sums.table` has, per_1000 (λ per 1000 people) and the columns of
        :meth:`uncletc.estimates.Sums.ranks`.
    states : DataFrame
        The same by chosen state, without ranks; a cell belongs to the state of its most populous
        county.
    total : dict
        One row of the same for all of these together.
    apart : Apart
        Whether places can be told apart by p.
    scale : Scale
    """

    all_places: pd.DataFrame
    states: pd.DataFrame
    total: dict[str, Any]
    apart: Apart
    scale: Scale

    @property
    def places(self) -> pd.DataFrame:
        """`all_places` in the chosen states."""
        kept = self.all_places["state"].isin(self.states["state"])
        return self.all_places[kept].reset_index(drop=True)

    @cached_property
    def shown(self) -> dict[str, pd.DataFrame]:
        """`states` and `places` as a page tabulates them."""
        return {
            "states": for_display(self.states, ["state", "population"], self.scale),
            "places": for_display(self.places, ["place", "state", "population"], self.scale),
        }


def cell_totals(
    dataset: Dataset, fit: Fit, day: int | None = None, *, listed: pd.DataFrame | None = None
) -> Sums:
    """Sum counts, λ and p of cells, over the days or of one, in the order of :func:`places_of`.

    `listed` is what that returned, if it was asked already.
    """
    counts, listed = dataset.counts, places_of(dataset) if listed is None else listed
    number = np.full(counts.shape[:2], -1)
    number[listed["latitude_index"], listed["longitude_index"]] = np.arange(len(listed))
    groups = number[tuple(counts.indices[:, :2].T)]
    if day is not None:
        groups = np.where(counts.indices[:, 2] == day, groups, -1)
    return group_sums(fit, counts, groups)


def places_of(dataset: Dataset) -> pd.DataFrame:
    """Return one row per counted cell: place, fips, cell, state, population and its indices."""
    table = dataset.table
    living = table[table["counted"]] if "counted" in table else table
    people = living.groupby("cell")["population"].sum()
    listed = cells(table).rename(columns={"label": "place"})
    listed = listed.assign(population=listed["cell"].map(people))
    counted = set(map(tuple, np.unique(dataset.counts.indices[:, :2], axis=0).tolist()))
    pairs = zip(listed["latitude_index"], listed["longitude_index"], strict=True)
    listed = listed[[pair in counted for pair in pairs]]
    columns = ["place", "fips", "cell", "state", "population", "latitude_index", "longitude_index"]
    return listed[columns].reset_index(drop=True)


def build_answers(
    dataset: Dataset,
    fit: Fit,
    scale: Scale,
    *,
    day: int | None = None,
    states: Sequence[str] = (),
    sums: Sums | None = None,
    listed: pd.DataFrame | None = None,
) -> CovidAnswers:
    """Return answers for places, states and all together.

    Parameters
    ----------
    dataset : Dataset
        COVID-19 counts, real or simulated.
    fit : Fit
    scale : Scale
        Of λ and p.
    day : int, optional
        Index of one day; None: all days.
    states : sequence of str
        The states to keep; none: all. Ranks are those among all places.
    sums : Sums, optional
        ``cell_totals(dataset, fit, day)`` if it has been computed already.
    listed : DataFrame, optional
        ``places_of(dataset)``, likewise.
    """
    listed = places_of(dataset) if listed is None else listed
    sums = cell_totals(dataset, fit, day, listed=listed) if sums is None else sums
    listed = listed.drop(columns=["latitude_index", "longitude_index"])
    listed = listed.head(len(sums.entries))  # those at the end may have no count on a day
    bounded = day is None or not reports_late(fit)
    names, state = np.unique(listed["state"].to_numpy(dtype=str), return_inverse=True)
    kept: NDArray[np.bool_] = np.isin(names, list(states)) if states else names == names
    inside = kept[state]

    def table(found: Sums) -> pd.DataFrame:
        return found.table(scale, at_least_reported=bounded)

    ranks = sums.ranks()
    places = _per_person(pd.concat([listed, table(sums), ranks], axis=1))
    people = np.bincount(state, listed["population"], len(names))
    by_state = pd.DataFrame({"state": names, "population": people.astype(int)})
    by_state = _per_person(pd.concat([by_state, table(sums.over(state))], axis=1))
    total = table(sums.over(np.where(inside, 0, -1)))
    return CovidAnswers(
        all_places=places,
        states=by_state[kept].sort_values("population", ascending=False, ignore_index=True),
        total=total.iloc[0].to_dict(),
        apart=told_apart(ranks, "places"),
        scale=scale,
    )


def _per_person(table: pd.DataFrame) -> pd.DataFrame:
    people = table["population"].where(table["population"] > 0)
    return table.assign(per_1000=PER * table["rate"] / people)
