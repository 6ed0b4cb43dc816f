"""Home: a fit of a data set in; its headline, its map and mean p of places out. Pure."""

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dashboard.countymap.picture import MapPicture, county_map
from dashboard.shared.charts import answers, places
from dashboard.shared.text.words import times
from uncletc import Anchor, Fit
from uncletc.datasets import Dataset
from uncletc.estimates import group_sums


def headline(dataset: Dataset, fit: Fit, anchor: Anchor) -> str:
    """Return what was reported and what is estimated of all counts, in a sentence."""
    grids = answers.detection_grids(dataset, fit, anchor)
    scale, covid = grids.scale, places.is_covid(dataset)
    row = group_sums(fit, dataset.counts).table(scale).iloc[0]
    first, *_, last = dataset.counts.labels[-1]
    of = f"United States, {first} to {last}" if covid else "All interactions together"
    if scale.absolute:
        return f"**{of}.** {answers.answer(row, scale, 'infections' if covid else 'interactions')}"
    where = "where detection is high (95th percentile) as where it is low (5th)"
    at = places.place_table(dataset)["where"].unique().tolist()
    table = pd.DataFrame(at, columns=places.pair_columns(dataset))
    pair = places.rows_of_pairs(dataset, table, dataset.counts.indices)
    sums = group_sums(fit, dataset.counts, pair)
    found = sums.table(scale).join(sums.ranks())
    ratio = answers.contrast(found["detection"])
    if answers.undecided(found, scale):
        name = "places" if covid else "interactions"
        where = f"at its 95th percentile as at its 5th, but almost any of these {name} could lie "
        where += "above or below the median"
    return (
        f"**{of}.** Reported **{row['reported']:,.0f}**; p is **{times(ratio)}** as high {where}. "
        "Only ratios of p are known."
    )


def place_means(dataset: Dataset, grids: answers.DetectionGrids) -> NDArray[np.float64]:
    """Mean p of each place or pair over its entries with a count, as on the other pages."""
    return answers.over_last(np.where(np.isfinite(answers.dense(dataset.counts)), grids.p, np.nan))


def detection_matrix(dataset: Dataset, grids: answers.DetectionGrids) -> places.Matrix:
    """Return mean p of each interaction that was seen, the most often seen species first."""
    table = dataset.table[dataset.table["interactions"] > 0]
    p = place_means(dataset, grids)[tuple(table[places.pair_columns(dataset)].to_numpy().T)]
    return places.Matrix.of(table.assign(p=p), ("plant", "pollinator"), "p", "interactions")


def detection_map(dataset: Dataset, grids: answers.DetectionGrids) -> MapPicture:
    """Return the map of mean p of each county, in the colours of the COVID-19 page."""
    county = dataset.table
    counted = place_means(dataset, grids)
    where = tuple(county[places.pair_columns(dataset)].to_numpy().T)
    p = np.where(np.isfinite(counted), counted, answers.over_last(grids.p))[where]
    return county_map(
        pd.DataFrame({"fips": county["fips"], "value": p, "mark": places.cell_marks(county)}),
        mark="mark",
        title=answers.axis_title(grids.scale),
        limits=answers.color_limits(grids.p),
        log=answers.is_wide(grids.p),
        simulated=dataset.provenance.simulated,
    )
