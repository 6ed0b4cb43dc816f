"""p of every entry as several screens draw it, kept between runs of a page."""

from __future__ import annotations

import streamlit as st

from dashboard.anchors import Anchor
from dashboard.views_covid import (
    DetectionGrids,
    FittedDetection,
    detection_grids,
    fitted_detection,
)
from uncletc import Fit
from uncletc.datasets import Dataset


def grids_of(dataset: Dataset, found: Fit, anchor: Anchor) -> DetectionGrids:
    """p on the chosen scale; the network is asked once for each fit."""
    last = found.history[-1]
    told_apart = (
        dataset.counts.digest,
        found.settings.digest,
        last.iteration,
        last.objective,
        len(found.members),
        found.stop.name,
    )
    return detection_grids(dataset, found, anchor, fitted=_fitted(dataset, found, told_apart))


@st.cache_resource(max_entries=4, show_spinner=False)
def _fitted(
    _dataset: Dataset, _found: Fit, told_apart: tuple[str | int | float, ...]
) -> FittedDetection:
    del told_apart  # what the cache knows a fit by
    return fitted_detection(_dataset, _found)
