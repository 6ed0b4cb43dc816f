"""What pages make of counts and fits, kept for the next run: values, tables and figures.

This is the one cache between a fit and its picture. An entry is found by all that decides it: the
counts or the fit and the choices, or the numbers that a figure shows. All sessions share what is
made of data sets that come with the program; what is made of a reader's own table stays in the
reader's session and goes with the table.
"""

import json
from collections import OrderedDict
from collections.abc import Callable, Hashable
from functools import partial
from threading import Lock, RLock
from typing import Any, TypeVar

import joblib
import plotly.graph_objects as go
import plotly.io
import streamlit as st

from dashboard.shared.charts.answers import DetectionGrids, detection_grids
from dashboard.shared.charts.places import OWN, is_own
from dashboard.shared.charts.style import on_dark
from dashboard.shared.sidebar.model import ModelChoice
from dashboard.work.orders import FitOrder
from uncletc import Anchor, Fit
from uncletc.datasets import Dataset

MADE = "own-made"  # session keys that begin with it hold what was made of a reader's own table
FAMILY = "family"  # of this session: the data set that it looked at last
_KEPT = f"{MADE}-kept"
_MOST_OWN = 100  # values and figures
_Made = TypeVar("_Made")


def cached(build: Callable[..., _Made], dataset: Dataset, fit: Fit, *choices: Any) -> _Made:
    """Return ``build(dataset, fit, *choices)``, the very object where it was made before.

    Nobody may change what is returned. Estimates so far have the settings of the final fit, and
    are distinguished by what they have reached.

    Parameters
    ----------
    build : callable
        Knows nothing but its arguments: a function of a module.
    dataset : Dataset
    fit : Fit
    choices : hashable
    """
    last = fit.history[-1]
    reached = fit.stop.name, last.iteration, last.objective, len(fit.members), fit.draws is None
    key = FitOrder(dataset.counts, fit.settings).key, reached, choices
    return _value(key, build, dataset, fit, *choices)


def cached_for_counts(build: Callable[..., _Made], dataset: Dataset, *choices: Any) -> _Made:
    """Return ``build(dataset, *choices)`` as :func:`cached` does, where no fit is asked."""
    key = dataset.name, dataset.provenance.simulated, dataset.counts.digest, choices
    return _value(key, build, dataset, *choices)


def state_key(dataset: Dataset, name: str) -> str:
    """Key in the session's state of what a page keeps of a data set."""
    return f"{MADE}-{name}-{dataset.name}" if is_own(dataset) else f"{name}-{dataset.name}"


def with_model(dataset: Dataset, model: ModelChoice) -> Dataset:
    """Return a data set as a model has it: the very object for the same choice."""
    return cached_for_counts(_with_model, dataset, model)


def _with_model(dataset: Dataset, model: ModelChoice) -> Dataset:
    return model.apply(dataset)


def grids_of(dataset: Dataset, fit: Fit, anchor: Anchor) -> DetectionGrids:
    """Return p of every entry on the chosen scale."""
    return cached(detection_grids, dataset, fit, anchor)


def drawn(picture: partial[go.Figure], *, dark: bool = False) -> go.Figure:
    """Return the figure that a function of charts draws, drawn before if it was.

    Building a figure with Plotly takes longer than all else that a page does.

    Parameters
    ----------
    picture : partial
        A function of a module with all its arguments: found again by a digest of all of them, so
        that nobody gets a figure without having its numbers.
    dark : bool
        For a dark page.
    """

    def draw() -> Ready:
        figure = picture()
        return Ready(on_dark(figure) if dark else figure)

    made_by = picture.func.__module__, picture.func.__qualname__
    key = joblib.hash((made_by, picture.args, picture.keywords, dark), hash_name="sha1")
    kept = _of_session() if st.session_state.get(FAMILY) == OWN else _FIGURES
    return kept.find(key, draw)


class Ready(go.Figure):
    """A figure that is ready to send: it is neither checked nor copied again.

    Parameters
    ----------
    figure : Figure
    """

    def __init__(self, figure: go.Figure) -> None:
        super().__init__()
        self._content: dict[str, Any] = json.loads(plotly.io.to_json(figure, validate=False))

    def to_dict(self) -> dict[str, Any]:
        """Return what is sent, which nobody may change."""
        return self._content


def _value(
    key: tuple[Any, ...], build: Callable[..., _Made], dataset: Dataset, *more: Any
) -> _Made:
    if build.__closure__:
        raise ValueError(f"build must know nothing but its arguments, got {build.__qualname__}")
    kept = _of_session() if is_own(dataset) else _VALUES
    return kept.find((build, *key), lambda: build(dataset, *more))


class _Kept:
    """Values by key, the latest ones; whoever asks for one that is being made waits for it."""

    def __init__(self, most: int) -> None:
        self._most, self._lock = most, Lock()
        self.made: OrderedDict[Hashable, tuple[RLock, list[Any]]] = OrderedDict()

    def find(self, key: Hashable, build: Callable[[], Any]) -> Any:
        """Return what was made before, or make it now."""
        with self._lock:
            making, made = self.made.setdefault(key, (RLock(), []))
            self.made.move_to_end(key)
            while len(self.made) > self._most:
                self.made.popitem(last=False)
        with making:
            if not made:
                made.append(build())
        return made[0]


_VALUES, _FIGURES = _Kept(120), _Kept(200)  # a figure has 20 to 500 kB


def _of_session() -> _Kept:
    return st.session_state.setdefault(_KEPT, _Kept(_MOST_OWN))
