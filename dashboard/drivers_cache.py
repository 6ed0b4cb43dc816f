"""Views of the Drivers page, computed once per fit and choice."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import streamlit as st

from dashboard.jobs import fit_key
from uncletc import Fit
from uncletc.datasets import Dataset

_View = TypeVar("_View")


def cached(build: Callable[..., _View], dataset: Dataset, found: Fit, *choices: Any) -> _View:
    """Return ``build(dataset, found, *choices)``, from the cache where it is known.

    Estimates so far have the settings of the final fit, and are told apart by their iteration.
    """
    last = found.history[-1]
    key = (fit_key(dataset.counts, found.settings), found.stop.name, last.iteration)
    view: _View = _kept(key, build.__name__, choices, lambda: build(dataset, found, *choices))
    return view


@st.cache_data(max_entries=200, show_spinner=False)
def _kept(
    key: tuple[str, str, int],  # noqa: ARG001, they make the cache's key
    name: str,  # noqa: ARG001
    choices: tuple[Any, ...],  # noqa: ARG001
    _build: Callable[[], Any],
) -> Any:
    return _build()
