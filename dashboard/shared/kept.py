"""What pages show of a fit, made once for each fit and choice and shared by all sessions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import streamlit as st

from dashboard.shared.anchors import Anchor
from dashboard.shared.detection import DetectionGrids, detection_grids, fitted_detection
from dashboard.work.service import fit_key
from uncletc import Fit
from uncletc.datasets import Dataset

_Made = TypeVar("_Made")


def cached(build: Callable[..., _Made], dataset: Dataset, found: Fit, *choices: Any) -> _Made:
    """Return ``build(dataset, found, *choices)``, the very object where it was made before.

    Nobody may change what is returned. Estimates so far have the settings of the final fit, and
    are told apart by what they have reached.
    """
    last = found.history[-1]
    key = (fit_key(dataset.counts, found.settings), found.stop.name, last.iteration, last.objective)
    name = f"{build.__module__}.{build.__qualname__}"
    made: _Made = _kept(
        key, len(found.members), name, choices, lambda: build(dataset, found, *choices)
    )
    return made


def grids_of(dataset: Dataset, found: Fit, anchor: Anchor) -> DetectionGrids:
    """p of every entry on the chosen scale; the network is asked once for each fit."""
    return cached(_grids, dataset, found, anchor)


def _grids(dataset: Dataset, found: Fit, anchor: Anchor) -> DetectionGrids:
    fitted = cached(fitted_detection, dataset, found)
    return detection_grids(dataset, found, anchor, fitted=fitted)


@st.cache_resource(max_entries=60, show_spinner=False)
def _kept(
    key: tuple[str, str, int, float],  # noqa: ARG001, they make the cache's key
    members: int,  # noqa: ARG001
    name: str,  # noqa: ARG001
    choices: tuple[Any, ...],  # noqa: ARG001
    _build: Callable[[], Any],
) -> Any:
    return _build()
