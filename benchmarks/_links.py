"""Next year's links of plants and pollinators, as Seo and Hutchinson (AAAI 2018) predict them.

Methods are fitted to the first two years. For each plant, all pollinators are ranked by the visits
that a method expects over all rounds of the third year, whether both were then there or not; the
percentile of a link that was seen is 0 at the top of the list and 1 at its end. .5 is chance.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from uncletc import CountTensor
from uncletc.common.validation import FloatArray, IntArray

DEGREE = "Degree"  # a pollinator's number of plants in the first years: no model at all


@dataclass(frozen=True)
class Links:
    """Links of the test year.

    Attributes
    ----------
    plant, pollinator : ndarray of int, shape (n,)
    new : ndarray of bool, shape (n,)
        Whether it was none before.
    """

    plant: IntArray
    pollinator: IntArray
    new: np.ndarray


def years(counts: CountTensor, test: str) -> tuple[np.ndarray, np.ndarray]:
    """Observed entries before the test year (N,), and its rounds (I_3,); both masks.

    Labels of rounds are "year-number".
    """
    of_round = np.array([label.split("-")[0] for label in counts.labels[2]])
    return of_round[counts.indices[:, 2]] < test, of_round == test


def every_pair(counts: CountTensor, rounds: np.ndarray) -> IntArray:
    """Every plant and pollinator at each of these rounds; (n, 3)."""
    plants, pollinators, _ = counts.shape
    sizes = np.arange(plants), np.arange(pollinators), np.flatnonzero(rounds)
    return np.stack(np.meshgrid(*sizes, indexing="ij"), axis=-1).reshape(-1, 3)


def seen(counts: CountTensor, mask: np.ndarray) -> np.ndarray:
    """Whether each pair was seen together in the chosen entries; (plants, pollinators)."""
    total = np.zeros(counts.shape[:2])
    np.add.at(total, tuple(counts.indices[mask, :2].T), counts.counts[mask])
    return total > 0


def links(counts: CountTensor, train: np.ndarray, rounds: np.ndarray) -> Links:
    """Find the links of the test year."""
    then = seen(counts, rounds[counts.indices[:, 2]])
    plant, pollinator = np.nonzero(then)
    return Links(plant, pollinator, ~seen(counts, train)[then])


def degree(counts: CountTensor, train: np.ndarray) -> FloatArray:
    """Score each pair by the pollinator's number of plants in the first years."""
    of_pollinator = seen(counts, train).sum(axis=0)
    return np.broadcast_to(of_pollinator, counts.shape[:2]).astype(float)


def percentiles(found: Links, score: FloatArray) -> FloatArray:
    """Percentile of each link in its plant's list of (plants, pollinators); (n,).

    Ties share the middle of their places.
    """
    rank = (rankdata(-score, axis=1) - 1) / (score.shape[1] - 1)
    return np.asarray(rank[found.plant, found.pollinator])


def mean_by_plant(values: FloatArray, plant: IntArray) -> tuple[float, float]:
    """Mean over links, and its standard error with plants as what was sampled."""
    mean = values.mean()
    totals_of = pd.Series(values - mean).groupby(plant).sum()
    return float(mean), float(np.sqrt((totals_of**2).sum()) / len(values))
