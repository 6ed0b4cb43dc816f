"""Home: a fit of a data set in; its headline, its map and mean p of places out. Pure."""

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dashboard.countymap.picture import MapPicture, county_map
from dashboard.shared.charts import answers
from dashboard.shared.charts.places import (
    Matrix,
    cell_marks,
    is_covid,
    pair_columns,
    place_table,
    rows_of_pairs,
)
from dashboard.shared.text.words import times
from uncletc import Anchor, Fit
from uncletc.datasets import Dataset
from uncletc.estimates import group_sums


def headline(dataset: Dataset, fit: Fit, anchor: Anchor) -> str:
    """Return what was reported and what is estimated of all counts, in a sentence."""
    grids = answers.detection_grids(dataset, fit, anchor)
    scale = grids.scale
    row = group_sums(fit, dataset.counts).table(scale).iloc[0]
    if scale.absolute:
        return answers.answer(row, scale, "infections" if is_covid(dataset) else "interactions")
    means = place_means(dataset, grids)
    ratio = answers.contrast(means[np.isfinite(means)])
    where = "where detection is high (95th percentile) as where it is low (5th)"
    places = pd.DataFrame(
        place_table(dataset)["where"].unique().tolist(), columns=pair_columns(dataset)
    )
    sums = group_sums(fit, dataset.counts, rows_of_pairs(dataset, places, dataset.counts.indices))
    if answers.undecided(sums.ranks()):
        name = "places" if is_covid(dataset) else "interactions"
        where = f"at its 95th percentile as at its 5th, but almost any of these {name} could lie "
        where += "above or below the median"
    return (
        f"Reported **{row['reported']:,.0f}**; p is **{times(ratio)}** as high {where}. Only "
        "ratios of p are known."
    )


def place_means(dataset: Dataset, grids: answers.DetectionGrids) -> NDArray[np.float64]:
    """Mean p of each place or pair over its entries with a count, as on the other pages."""
    return answers.over_last(np.where(np.isfinite(answers.dense(dataset.counts)), grids.p, np.nan))


def detection_matrix(dataset: Dataset, grids: answers.DetectionGrids) -> Matrix:
    """Return mean p of each interaction that was seen, the most often seen species first."""
    table = dataset.table[dataset.table["interactions"] > 0]
    p = place_means(dataset, grids)[tuple(table[pair_columns(dataset)].to_numpy().T)]
    return Matrix.of(table.assign(p=p), ("plant", "pollinator"), "p", "interactions")


def detection_map(dataset: Dataset, grids: answers.DetectionGrids) -> MapPicture:
    """Return the map of mean p of each county, in the colours of the COVID-19 page."""
    county = dataset.table
    counted, where = place_means(dataset, grids), tuple(county[pair_columns(dataset)].to_numpy().T)
    p = np.where(np.isfinite(counted), counted, answers.over_last(grids.p))[where]
    return county_map(
        pd.DataFrame({"fips": county["fips"], "value": p, "mark": cell_marks(county)}),
        mark="mark",
        title=answers.axis_title(grids.scale),
        limits=answers.color_limits(grids.p),
        log=answers.is_wide(grids.p),
        simulated=dataset.provenance.simulated,
    )
