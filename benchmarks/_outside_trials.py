"""One fit of real COVID-19 counts, or one index of attributes, held against outside estimates."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from uncletc import ConvergenceWarning, FitSettings, MisfitWarning, datasets, fit
from uncletc.checking import OutsideCheck, by_cell, by_state, compare_outside, detection_of
from uncletc.common.validation import FloatArray
from uncletc.datasets import Dataset, Outside

_STEP = 0.3  # of log p by one standard deviation of an index: p then spreads about 2-fold


@dataclass(frozen=True)
class Model:
    """What is fitted: the data set, the settings of a seed, and whose deaths are seen.

    With deaths "elsewhere" each state is judged by a fit that has seen those of others alone.
    """

    load: Callable[[], Dataset]
    settings: Callable[[int], FitSettings]
    deaths: Literal["none", "elsewhere", "all"] = "none"


@dataclass(frozen=True)
class Trial:
    """One fit, held against the outside.

    Attributes
    ----------
    checks : dict of str to OutsideCheck
        By "state" and by "cell".
    states : pandas.Series
        p by state.
    detection : ndarray, shape (S,)
        p over Ξ.
    seconds : float
        Of the processor, for the fit.
    """

    checks: dict[str, OutsideCheck]
    states: pd.Series
    detection: FloatArray
    seconds: float


def run_trial(dataset: Dataset, model: Model, seed: int, outside: Outside) -> Trial:
    """Fit and compare."""
    began = time.process_time()
    counts = dataset.counts
    observed, p = np.full(counts.n_observed, np.nan), np.full(counts.n_attributed, np.nan)
    state = pd.Series(outside.cells["state"], dtype=object)
    for states in _halves(state) if model.deaths == "elsewhere" else [None]:
        fitted, judged, known = counts, slice(None), slice(None)
        if model.deaths == "all":
            fitted = counts.with_observations(datasets.deaths_observations(dataset))
        if states is not None:
            fitted = counts.with_observations(datasets.deaths_observations(dataset, without=states))
            judged, known = (
                state.reindex(pd.MultiIndex.from_arrays(where[:, :2].T)).isin(states).to_numpy()
                for where in (counts.indices, counts.attribute_indices)
            )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            warnings.simplefilter("ignore", MisfitWarning)
            found = fit(fitted, model.settings(seed))
        everywhere = found.detection(counts.attributes, counts.attribute_indices)
        unit = everywhere.mean()  # else what deaths elsewhere say of the scale would divide halves
        observed[judged] = detection_of(found, counts)[judged] / unit
        p[known] = everywhere[known] / unit
    return _held(dataset, observed, p, outside, time.process_time() - began)


def _halves(state: pd.Series) -> list[list[str]]:
    """Return two halves of the states, always the same."""
    states = np.random.default_rng(0).permutation(sorted(state.unique()))
    return [sorted(half) for half in np.array_split(states, 2)]


def index_trial(dataset: Dataset, outside: Outside, attributes: Sequence[str]) -> Trial:
    """Hold the mean of standardised attributes, each times its stated sign, against the outside."""
    counts, signs = dataset.counts, dataset.roles.signs
    z = (counts.attributes - counts.attributes.mean(axis=0)) / counts.attributes.std(axis=0)
    terms = [signs[name] * z[:, counts.attribute_names.index(name)] for name in attributes]
    index = np.mean(terms, axis=0)
    p = np.exp(_STEP * index / index.std())
    return _held(dataset, p[counts.attribute_rows], p, outside)


def _held(
    dataset: Dataset, observed: FloatArray, p: FloatArray, outside: Outside, seconds: float = 0.0
) -> Trial:
    """Compare p of the observed entries (N,); p over Ξ (S,) is as given."""
    counts, cells = dataset.counts, outside.cells
    states = by_state(counts, observed, dataset.table)
    known = cells.drop(columns="state")
    return Trial(
        checks={
            "state": compare_outside(states, outside.states),
            "cell": compare_outside(by_cell(counts, observed), known, groups=cells["state"]),
        },
        states=states,
        detection=p,
        seconds=seconds,
    )
