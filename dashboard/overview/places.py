"""What was counted at each place, for a map. Pure."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from dashboard.countymap.picture import MapPicture, county_map
from dashboard.countymap.states import by_county
from dashboard.overview.view import along_mode, others_of, sums_over
from dashboard.shared.charts.places import is_covid, labels_of_counties
from dashboard.shared.text.words import day_text
from uncletc.datasets import Dataset


@dataclass(frozen=True, eq=False, kw_only=True)
class Places:
    """What was counted at each place.

    Attributes
    ----------
    table : DataFrame
        One row per place: name, existing and observed (entries), counted (sum of counts), share
        (observed over existing), and fips, or latitude and longitude (degrees).
    modes : tuple of int
        The modes that a place is named by.
    value : {"share", "counted"}
        What the map is coloured by: counts at a step, and where all shares are the same.
    title : str
        What that is.
    sentence : str
        How the map is to be read.
    """

    table: pd.DataFrame
    modes: tuple[int, ...]
    value: str
    title: str
    sentence: str

    @property
    def counties(self) -> bool:
        """Whether places are counties, for the county map."""
        return "fips" in self.table


def place_modes(dataset: Dataset) -> tuple[int, ...]:
    """The modes that say where: both of a grid, or the one whose levels have positions; or ()."""
    if is_covid(dataset):
        return (0, 1)
    for k, mode in enumerate(dataset.counts.modes):
        columns = dataset.mode_tables.get(mode, pd.DataFrame()).columns
        if "fips" in columns or {"latitude", "longitude"} <= set(columns):
            return (k,)
    return ()


def build_places(dataset: Dataset, step: int | None = None) -> Places:
    """Return what was counted at each place, over all steps of the mode along, or at one.

    Parameters
    ----------
    dataset : Dataset
        With places.
    step : int, optional
        Index along :func:`dashboard.overview.view.along_mode`.

    Raises
    ------
    ValueError
        If the data set has no places.
    """
    modes = place_modes(dataset)
    if not modes:
        raise ValueError(f"dataset must have places, {dataset.title!r} has none")
    counts = dataset.counts
    sums = pd.DataFrame(sums_over(dataset, modes, step))
    if is_covid(dataset):
        county = dataset.table
        at = county["latitude_index"] * counts.shape[1] + county["longitude_index"]
        named = pd.DataFrame({"name": labels_of_counties(county), "fips": county["fips"]})
        table = pd.concat([named, sums.iloc[at].set_index(named.index)], axis=1)
    else:
        mode = counts.modes[modes[0]]
        known = dataset.mode_tables[mode].reset_index(drop=True)
        where = ["fips"] if "fips" in known else ["latitude", "longitude"]
        table = pd.concat([known[where].assign(name=counts.labels[modes[0]]), sums], axis=1)
        table = table.dropna(subset=where)
    table = table[table["existing"] > 0].reset_index(drop=True)
    table["share"] = table["observed"] / table["existing"]
    return _told(dataset, table, modes, step)


def _told(
    dataset: Dataset, table: pd.DataFrame, modes: tuple[int, ...], step: int | None
) -> Places:
    shares, others = table["share"], others_of(dataset, modes)
    third = along_mode(dataset, modes)
    same = bool(np.ptp(shares) < 1e-9) if len(table) else True
    if step is not None and third is not None:
        when = f"{dataset.counts.modes[third]} {day_text(dataset.counts.labels[third][step])}"
        value, title = "counted", f"reported count, {when}"
        sentence = f"Coloured by the count reported at {when}."
    elif same and len(table):
        value, title = "counted", f"sum of reported counts over all {others}"
        sentence = (
            f"Every place has a count for {float(shares.iloc[0]):.0%} of {others}; the map shows "
            "the sum of its counts."
        )
    else:
        value, title = "share", f"share of {others} with a count"
        never = int((table["observed"] == 0).sum())
        sentence = (
            f"Coloured by the share of {others} for which there is a count. "
            f"{never:,} of {len(table):,} places have none at all."
        )
    if is_covid(dataset):
        sentence += " Counties of one cell share its value."
    sentence += " Where no place is, nothing could be counted, and nothing is missing."
    return Places(table=table, modes=modes, value=value, title=title, sentence=sentence)


def county_picture(places: Places) -> MapPicture:
    """The county map of what was counted."""
    table = places.table.assign(
        note=[
            f"{row.observed:,} of {row.existing:,} entries have a count; their sum is "
            f"{row.counted:,}"
            for row in places.table.itertuples()
        ]
    )
    shares = places.value == "share"
    numbers = table[places.value].where(table["observed"] > 0) if not shares else table["share"]
    return county_map(
        by_county(table.assign(shown=numbers)),
        title=places.title,
        color="shown",
        hover=["note"],
        limits=(0.0, 1.0) if shares else None,
        log=not shares,
        missing="not counted here",
        number_format=".0%" if shares else ",.3g",
    )
