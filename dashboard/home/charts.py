"""The map of Home. Numbers in, a picture out; no Streamlit."""

from __future__ import annotations

import numpy as np
import pandas as pd

from dashboard.countymap.picture import MapPicture, county_map
from dashboard.home.view import place_means
from dashboard.shared.charts.answers import (
    DetectionGrids,
    axis_title,
    color_limits,
    is_wide,
    over_last,
)
from dashboard.shared.charts.places import cell_marks, pair_columns
from uncletc.datasets import Dataset


def detection_map(dataset: Dataset, grids: DetectionGrids) -> MapPicture:
    """Return the map of mean p of each county, in the colours of the COVID-19 page."""
    county = dataset.table
    counted, where = place_means(dataset, grids), tuple(county[pair_columns(dataset)].to_numpy().T)
    p = np.where(np.isfinite(counted), counted, over_last(grids.p))[where]
    return county_map(
        pd.DataFrame({"fips": county["fips"], "value": p, "mark": cell_marks(county)}),
        mark="mark",
        title=axis_title(grids.scale),
        limits=color_limits(grids.p),
        log=is_wide(grids.p),
        remark="Simulated counts." if dataset.provenance.simulated else "",
    )
