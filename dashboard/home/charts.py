"""The map of Home. Numbers in, a picture out; no Streamlit."""

from __future__ import annotations

import pandas as pd

from dashboard.countymap.picture import MapPicture, county_map
from dashboard.home.view import place_means
from dashboard.shared.charts.answers import DetectionGrids, axis_title, color_limits
from dashboard.shared.charts.places import cell_marks, labels_of_counties, pair_columns
from uncletc.datasets import Dataset


def detection_map(dataset: Dataset, grids: DetectionGrids) -> MapPicture:
    """Return the map of mean p of each county."""
    county = dataset.table
    p = place_means(dataset, grids)[tuple(county[pair_columns(dataset)].to_numpy().T)]
    names = labels_of_counties(county)
    shown = pd.DataFrame({"fips": county["fips"], "name": names, "value": p})
    return county_map(
        shown.assign(mark=cell_marks(county)),
        mark="mark",
        title=axis_title(grids.scale),
        limits=color_limits(p),
        log=True,
        remark="Simulated counts." if dataset.provenance.simulated else "",
    )
