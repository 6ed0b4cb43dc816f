"""Next year's links of plants and pollinators, as Seo and Hutchinson (AAAI 2018) predict them.

Methods are fitted to the first two years. For each plant, pollinators are ranked by the visits that
a method expects in the third year; the percentile of a link that then was seen is 0 at the top of
the list and 1 at its end. .5 is chance.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from uncletc import CountTensor
from uncletc.validation import FloatArray, IntArray

DEGREE = "Degree"  # a pollinator's number of plants in the first years: no model at all


@dataclass(frozen=True)
class Links:
    """Pairs (n,) that were watched in the test year.

    Attributes
    ----------
    plant, pollinator : ndarray of int, shape (n,)
    seen : ndarray of bool, shape (n,)
        Whether it was a link in the test year.
    new : ndarray of bool, shape (n,)
        Whether it was none before.
    """

    plant: IntArray
    pollinator: IntArray
    seen: np.ndarray
    new: np.ndarray


def years(counts: CountTensor, test: str) -> tuple[np.ndarray, np.ndarray]:
    """Entries of the earlier years and of the test year, masks (N,); visits are "year-number"."""
    of_visit = np.array([label.split("-")[0] for label in counts.labels[2]])
    year = of_visit[counts.indices[:, 2]]
    return year < test, year == test


def totals(counts: CountTensor, mask: np.ndarray, values: FloatArray) -> FloatArray:
    """Sum values of the chosen entries by pair; (plants, pollinators)."""
    total = np.zeros(counts.shape[:2])
    np.add.at(total, tuple(counts.indices[mask, :2].T), values)
    return total


def links(counts: CountTensor, train: np.ndarray, test: np.ndarray) -> Links:
    """Find the pairs watched in the test year, and which of them were links."""
    watched = totals(counts, test, np.ones(test.sum())) > 0
    plant, pollinator = np.nonzero(watched)
    then, before = (totals(counts, mask, counts.counts[mask])[watched] for mask in (test, train))
    return Links(plant, pollinator, then > 0, before == 0)


def degree(counts: CountTensor, train: np.ndarray) -> FloatArray:
    """Score each pair by the pollinator's number of plants in the first years."""
    seen = totals(counts, train, counts.counts[train]) > 0
    return np.broadcast_to(seen.sum(axis=0), counts.shape[:2]).astype(float)


def percentiles(found: Links, score: FloatArray) -> FloatArray:
    """Percentile of each watched pair in its plant's list; ties share the middle; (n,)."""
    value = pd.Series(-score[found.plant, found.pollinator])
    by_plant = value.groupby(found.plant)
    rank = by_plant.transform(lambda one: rankdata(one) - 1)
    return (rank / (by_plant.transform("size") - 1).clip(lower=1)).to_numpy()


def mean_by_plant(values: FloatArray, plant: IntArray) -> tuple[float, float]:
    """Mean over links, and its standard error with plants as what was sampled."""
    mean = values.mean()
    totals_of = pd.Series(values - mean).groupby(plant).sum()
    return float(mean), float(np.sqrt((totals_of**2).sum()) / len(values))
