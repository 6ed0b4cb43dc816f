"""What pages show of counts and fits, made once for each choice and shared by all sessions.

Of a reader's own table nothing is shared: the session keeps it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import streamlit as st

from dashboard.shared.charts.detection import DetectionGrids, detection_grids, fitted_detection
from dashboard.shared.charts.places import is_own
from dashboard.shared.own_table import own
from dashboard.shared.sidebar.anchors import Anchor
from dashboard.work.orders import FitOrder
from uncletc import Fit
from uncletc.datasets import Dataset

_Made = TypeVar("_Made")


def cached(
    name: str, build: Callable[..., _Made], dataset: Dataset, fit: Fit, *choices: Any
) -> _Made:
    """Return ``build(dataset, fit, *choices)``, the very object where it was made before.

    Nobody may change what is returned. Estimates so far have the settings of the final fit, and
    are told apart by what they have reached.

    Parameters
    ----------
    name : str
        Of what is built; no two builders share one.
    build : callable
        Knows nothing but its arguments: a function of a module.
    dataset : Dataset
    fit : Fit
    choices : hashable
    """
    if build.__closure__:
        raise ValueError(f"build must know nothing but its arguments, got a closure for {name!r}")
    last = fit.history[-1]
    reached = fit.stop.name, last.iteration, last.objective, len(fit.members), fit.draws is None
    key = FitOrder(dataset.counts, fit.settings).key
    if is_own(dataset):
        return own.made(name, (key, reached, choices), lambda: build(dataset, fit, *choices))
    made: _Made = _kept(name, key, reached, choices, lambda: build(dataset, fit, *choices))
    return made


def of_counts(name: str, build: Callable[..., _Made], dataset: Dataset, *choices: Any) -> _Made:
    """Return ``build(dataset, *choices)`` as :func:`cached` does, where no fit is asked."""
    if build.__closure__:
        raise ValueError(f"build must know nothing but its arguments, got a closure for {name!r}")
    if is_own(dataset):
        return own.made(name, (dataset.counts.digest, choices), lambda: build(dataset, *choices))
    key = f"{dataset.name} {dataset.counts.digest}"
    made: _Made = _kept(name, key, (), choices, lambda: build(dataset, *choices))
    return made


def grids_of(dataset: Dataset, fit: Fit, anchor: Anchor) -> DetectionGrids:
    """p of every entry on the chosen scale; the network is asked once for each fit."""
    return cached("p on a scale", _grids, dataset, fit, anchor)


def _grids(dataset: Dataset, fit: Fit, anchor: Anchor) -> DetectionGrids:
    fitted = cached("p as fitted", fitted_detection, dataset, fit)
    return detection_grids(dataset, fit, anchor, fitted=fitted)


@st.cache_resource(max_entries=120, show_spinner=False)
def _kept(
    name: str,  # noqa: ARG001, they make the cache's key
    key: str,  # noqa: ARG001
    reached: tuple[Any, ...],  # noqa: ARG001
    choices: tuple[Any, ...],  # noqa: ARG001
    _build: Callable[[], Any],
) -> Any:
    return _build()
