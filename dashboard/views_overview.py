"""Overview page: a data set in; the facts and the observed pattern out. Pure."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from uncletc.datasets import Dataset


@dataclass(frozen=True, eq=False, kw_only=True)
class OverviewView:
    """What the overview draws.

    Attributes
    ----------
    facts : tuple of (label, value, help)
    observed_share : ndarray, shape (I_1, I_2)
        Share of the third mode that is observed, 0 to 1.
    row_labels, column_labels : tuple of str
    row_mode, column_mode, last_mode : str
    per_step : DataFrame
        Along the last mode: step, counted (sum of counts), observed (number of entries).
    attributes : DataFrame
        One row per attribute: attribute, median, spread (5th to 95th percentile, 0 to 1 scale).
    """

    facts: tuple[tuple[str, str, str], ...]
    observed_share: NDArray[np.float64]
    row_labels: tuple[str, ...]
    column_labels: tuple[str, ...]
    row_mode: str
    column_mode: str
    last_mode: str
    per_step: pd.DataFrame
    attributes: pd.DataFrame


def build_overview(dataset: Dataset) -> OverviewView:
    """Return the facts and pictures that introduce a data set with three modes."""
    counts = dataset.counts
    share = np.zeros(counts.shape[:2])
    np.add.at(share, tuple(counts.indices[:, :2].T), 1 / counts.shape[2])
    steps = counts.indices[:, 2]
    per_step = pd.DataFrame(
        {
            "step": counts.labels[2],
            "counted": np.bincount(steps, weights=counts.counts, minlength=counts.shape[2]),
            "observed": np.bincount(steps, minlength=counts.shape[2]),
        }
    )
    return OverviewView(
        facts=_facts(dataset),
        observed_share=share,
        row_labels=counts.labels[0],
        column_labels=counts.labels[1],
        row_mode=counts.modes[0],
        column_mode=counts.modes[1],
        last_mode=counts.modes[2],
        per_step=per_step,
        attributes=_attributes(dataset),
    )


def _facts(dataset: Dataset) -> tuple[tuple[str, str, str], ...]:
    counts = dataset.counts
    size = " × ".join(str(size) for size in counts.shape)
    zeros = float(np.mean(counts.counts == 0))
    return (
        ("Size", size, " × ".join(counts.modes)),
        (
            "Counted",
            f"{counts.share_observed:.1%}",
            f"{counts.n_observed:,} entries have a reported count; all others are missing, "
            "which is not the same as zero.",
        ),
        ("Zeros", f"{zeros:.1%}", "Share of the reported counts that are 0."),
        (
            "Mean count",
            f"{counts.counts.mean():,.1f}",
            f"Standard deviation {counts.counts.std():,.0f}, largest {counts.counts.max():,}.",
        ),
        (
            "Attributes",
            str(counts.n_attributes),
            f"Known for {counts.n_attributed:,} entries, counted or not.",
        ),
    )


def _attributes(dataset: Dataset) -> pd.DataFrame:
    low, median, high = np.quantile(dataset.counts.attributes, [0.05, 0.5, 0.95], axis=0)
    return pd.DataFrame(
        {
            "attribute": dataset.counts.attribute_names,
            "5th percentile": low,
            "median": median,
            "95th percentile": high,
        }
    )
