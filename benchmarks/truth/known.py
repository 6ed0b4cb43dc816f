"""What a data set of known detection states, and the comparison of a fit with it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import spearmanr

from uncletc import CountTensor, Fit, FitSettings
from uncletc.common.validation import FloatArray, IntArray
from uncletc.datasets.fetch import PublicFile, verified

_RESAMPLED = 200  # times, groups with replacement, for a standard error
_BASE = "https://raw.githubusercontent.com"


@dataclass(frozen=True, kw_only=True)
class Case:
    """One table to fit, and what is known of it.

    Attributes
    ----------
    name : str
    counts : CountTensor
    settings : FitSettings
    number : float
        True N; NaN where it is not known.
    groups : ndarray of int, shape (N,)
        The group of each counted entry in which p is known, -1 for none.
    detection : ndarray, shape (G,)
        Measured p of each group.
    covariates : dict of str to ndarray, shape (G,)
        Single columns that could stand for p instead.
    """

    name: str
    counts: CountTensor
    settings: FitSettings
    number: float
    groups: IntArray
    detection: FloatArray
    covariates: dict[str, FloatArray]

    def mean_detection(self, fit: Fit) -> FloatArray:
        """Fitted p of each group, a mean over its entries; (G,)."""
        some = self.groups >= 0
        size = len(self.detection)
        each = fit.observed_detection  # g of closed fits
        if not fit.settings.closed:
            each = fit.detection(self.counts.attributes_at(self.counts.indices))
        p = np.bincount(self.groups[some], each[some], size)
        return np.asarray(p / np.bincount(self.groups[some], minlength=size))


@dataclass(frozen=True, kw_only=True)
class Truth:
    """A data set.

    Attributes
    ----------
    title, source, licence, truth : str
        Where it is from, and what is known by whom.
    files : tuple of PublicFile
    cases : callable
        Takes the paths of the files; returns the cases.
    """

    title: str
    source: str
    licence: str
    truth: str
    files: tuple[PublicFile, ...]
    cases: Callable[[Sequence[Path]], list[Case]]

    def load(self) -> list[Case]:
        """Fetch the files and make the cases."""
        return self.cases([verified(file) for file in self.files])


def file(path: str, size: int, sha256: str) -> PublicFile:
    """Return a file of a public repository by path and checksum."""
    return PublicFile(path=path, size=size, sha256=sha256, urls=(f"{_BASE}/{path}",))


def read_rda(path: Path) -> dict[str, Any]:
    """Return the objects of an R data file, by name."""
    try:
        import rdata
    except ImportError as error:
        raise SystemExit("files of R are read with the package rdata: pip install rdata") from error
    return dict(rdata.read_rda(path))


def by_level(counts: CountTensor, mode: str) -> IntArray:
    """Return the level of each counted entry along a mode."""
    return counts.indices[:, counts.modes.index(mode)]


def agreement(ours: FloatArray, truth: FloatArray) -> tuple[float, float]:
    """Rank correlation with the truth, and its standard error by resampled groups."""
    known = np.isfinite(ours) & np.isfinite(truth)
    ours, truth = ours[known], truth[known]
    if len(truth) < 4 or np.ptp(ours) == 0:
        return float("nan"), float("nan")
    rng, found = np.random.default_rng(0), []
    for _ in range(_RESAMPLED):
        rows = rng.integers(0, len(truth), len(truth))
        if np.ptp(ours[rows]) > 0 and np.ptp(truth[rows]) > 0:
            found.append(float(spearmanr(ours[rows], truth[rows])[0]))
    return float(spearmanr(ours, truth)[0]), float(np.std(found))


def best_covariate(case: Case) -> tuple[str, float, float]:
    """The single column that agrees best with the truth, in whichever direction; "" for none."""
    best = ("", float("nan"), float("nan"))
    for name, column in case.covariates.items():
        value, error = agreement(column, case.detection)
        if not abs(value) <= abs(best[1]):
            best = (name, abs(value), error)
    return best
