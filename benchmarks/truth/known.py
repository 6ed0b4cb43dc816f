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


def agreement(case: Case, p: FloatArray) -> tuple[str, str, str]:
    """Return rank correlations with measured p: of p, of the best single column, how far ahead.

    The column is that which agrees best, in whichever direction. ± standard errors by resampled
    groups, the same for both.
    """
    truth, columns = case.detection, {"": p, **case.covariates}
    known = np.flatnonzero(np.isfinite(case.detection) & np.isfinite(p))
    if len(known) < 4 or np.ptp(p[known]) == 0:
        return "–", "–", "–"
    rng = np.random.default_rng(0)
    samples = [known, *(rng.choice(known, len(known)) for _ in range(_RESAMPLED))]
    every = (truth, *columns.values())
    samples = [rows for rows in samples if all(np.ptp(x[rows]) > 0 for x in every)]
    found = {
        name: np.array([spearmanr(x[rows], truth[rows])[0] for rows in samples])
        for name, x in columns.items()
    }
    ours = found.pop("")
    if not found:
        return _text(ours), "–", "–"
    best = max(found, key=lambda name: abs(found[name][0]))
    single = found[best] * np.sign(found[best][0])
    return _text(ours), f"{_text(single)} ({best})", _text(ours - single, "+")


def _text(values: FloatArray, sign: str = "") -> str:
    return f"{values[0]:{sign}.2f} ± {values[1:].std():.2f}"
