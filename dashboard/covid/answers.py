"""COVID-19 page: reported and true cases of counties, cells, states and all together. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from dashboard.shared.charts.answers import Apart, for_display, reports_late, told_apart
from dashboard.shared.charts.places import cells
from uncletc import Fit, Scale
from uncletc.datasets import Dataset
from uncletc.estimates import Sums, county_shares, group_sums, reported_by_county, state_names

PER = 1000  # people
CELL = ["latitude_index", "longitude_index"]


@dataclass(frozen=True, eq=False, kw_only=True)
class CovidAnswers:
    """Counts, λ, p and the share counted, with intervals where the fit has them.

    Attributes
    ----------
    all_places : DataFrame
        One row per cell, the most populous first, whatever states are chosen: place (its label),
        fips (of the county that it is named after), cell, state (all of its states), population,
        then what :meth:`uncletc.estimates.Sums.table` has, per_1000 (λ per 1000 people) and the
        columns of :meth:`uncletc.estimates.Sums.ranks`.
    counties : DataFrame
        Index fips, one row per county of the counts: cell, counties_in_cell, population, reported
        by the county itself, its part of the cell's rate, per_1000, share, and the cell's
        detection.
    states : DataFrame
        The same by chosen state: what its counties reported, and the sum of their parts; cells,
        and how many of these it shares with other states.
    total : dict
        One row of the same for all of these together.
    apart : Apart
        Whether places can be told apart by p.
    scale : Scale
    """

    all_places: pd.DataFrame
    counties: pd.DataFrame
    states: pd.DataFrame
    total: dict[str, Any]
    apart: Apart
    scale: Scale

    @property
    def places(self) -> pd.DataFrame:
        """`all_places` with a county in the chosen states."""
        chosen = set(self.states["state"])
        kept = [not chosen.isdisjoint(each.split(", ")) for each in self.all_places["state"]]
        return self.all_places[kept].reset_index(drop=True)

    @cached_property
    def shown(self) -> dict[str, pd.DataFrame]:
        """`states` and `places` as a page tabulates them."""
        cells = self.states["cells"].astype(str) + self.states["shared_cells"].map(
            lambda n: f", {n} shared" if n else ""
        )
        return {
            "states": for_display(
                self.states.assign(cells=cells), ["state", "population", "cells"], self.scale
            ),
            "places": for_display(self.places, ["place", "state", "population"], self.scale),
        }


def cell_totals(
    dataset: Dataset, fit: Fit, day: int | None = None, *, listed: pd.DataFrame | None = None
) -> Sums:
    """Sum counts, λ and p of cells, over the days or of one, in the order of :func:`places_of`.

    `listed` is what that returned, if it was asked already.
    """
    counts, listed = dataset.counts, places_of(dataset) if listed is None else listed
    groups = _numbers(dataset, listed)[tuple(counts.indices[:, :2].T)]
    if day is not None:
        groups = np.where(counts.indices[:, 2] == day, groups, -1)
    return group_sums(fit, counts, groups)


def places_of(dataset: Dataset) -> pd.DataFrame:
    """Return one row per counted cell: place, fips, cell, states, population and its indices."""
    table = dataset.table
    living = table[table["counted"]] if "counted" in table else table
    people = living.groupby("cell")["population"].sum()
    listed = cells(table).rename(columns={"label": "place"}).drop(columns="state")
    listed = listed.join(state_names(table), on=CELL)
    listed = listed.assign(population=listed["cell"].map(people))
    counted = set(map(tuple, np.unique(dataset.counts.indices[:, :2], axis=0).tolist()))
    pairs = zip(listed["latitude_index"], listed["longitude_index"], strict=True)
    listed = listed[[pair in counted for pair in pairs]]
    return listed[["place", "fips", "cell", "state", "population", *CELL]].reset_index(drop=True)


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
    """Return answers for counties, cells, states and all together.

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
    number = _numbers(dataset, listed)
    listed = listed.drop(columns=CELL)
    listed = listed.head(len(sums.entries))  # those at the end may have no count on a day
    bounded = day is None or not reports_late(fit)

    def table(found: Sums) -> pd.DataFrame:
        return found.table(scale, at_least_reported=bounded)

    ranks = sums.ranks()
    places = _per_person(pd.concat([listed, table(sums), ranks], axis=1))
    counties = dataset.table.assign(
        group=number[tuple(dataset.table[CELL].to_numpy().T)],
        part=county_shares(dataset.table),
        reported=reported_by_county(dataset, day),
    )
    counties = counties[(counties["group"] >= 0) & (counties["group"] < len(places))]
    names, state = np.unique(counties["state"].to_numpy(dtype=str), return_inverse=True)
    kept: NDArray[np.bool_] = np.isin(names, list(states)) if states else names == names

    def together(rows: NDArray[np.int64], size: int) -> pd.DataFrame:
        """Sums of counties: of their own reports and of their parts of cells; row -1: left out."""
        own = counties[rows >= 0].assign(row=rows[rows >= 0])
        weights = csr_matrix((own["part"], (own["row"], own["group"])), shape=(size, len(places)))
        reported = np.bincount(own["row"], own["reported"], size)
        return table(sums.weighted(weights, reported))

    of_states = counties.groupby("state")
    shared = counties.groupby("group")["state"].transform("nunique") > 1
    by_state = pd.DataFrame(
        {
            "state": names,
            "population": of_states["population"].sum().to_numpy(),
            "cells": of_states["group"].nunique().to_numpy(),
            "shared_cells": counties["group"].where(shared).groupby(counties["state"]).nunique(),
        }
    ).reset_index(drop=True)
    by_state = _per_person(pd.concat([by_state, together(state, len(names))], axis=1))
    total = together(np.where(kept[state], 0, -1), 1)
    return CovidAnswers(
        all_places=places,
        counties=_of_counties(counties, places),
        states=by_state[kept].sort_values("population", ascending=False, ignore_index=True),
        total=total.iloc[0].to_dict(),
        apart=told_apart(ranks, "places"),
        scale=scale,
    )


def _numbers(dataset: Dataset, listed: pd.DataFrame) -> NDArray[np.int64]:
    """Row of `listed` of each cell over latitude and longitude; -1: none."""
    number = np.full(dataset.counts.shape[:2], -1)
    number[tuple(listed[CELL].to_numpy().T)] = np.arange(len(listed))
    return number


def _of_counties(counties: pd.DataFrame, places: pd.DataFrame) -> pd.DataFrame:
    """What each county reported, and its part of what is estimated of its cell."""
    cell = places.iloc[counties["group"]].reset_index(drop=True)
    kept = ["fips", "cell", "counties_in_cell", "population", "reported"]
    found = counties[kept].reset_index(drop=True)
    part = counties["part"].to_numpy()
    for name in [name for name in places if name.startswith(("rate", "detection", "rank"))]:
        found[name] = cell[name] * part if name.startswith("rate") else cell[name]
    if "share" in places:
        ends = ("", "_low", "_high") if "rate_low" in places else ("",)
        for end, other in zip(ends, ("", "_high", "_low"), strict=False):
            rates = found[f"rate{other}"]
            found[f"share{end}"] = (found["reported"] / rates.where(rates > 0)).clip(upper=1.0)
    return _per_person(found).set_index("fips")


def _per_person(table: pd.DataFrame) -> pd.DataFrame:
    people = table["population"].where(table["population"] > 0)
    return table.assign(per_1000=PER * table["rate"] / people)
