"""What a data set of known detection states, and the comparison of a fit with it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import spearmanr

from uncletc import CountTensor, Fit, FitSettings, fit
from uncletc.checking import detection_of
from uncletc.common.validation import FloatArray, IntArray
from uncletc.datasets.fetch import PublicFile, verified

_RESAMPLED = 200  # times, groups with replacement, for a standard error
Mask = NDArray[np.bool_]
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
    folds : tuple of (CountTensor, ndarray of bool, shape (G,))
        Counts with observations of some groups, and the other groups, whose p these fits are
        judged by. Empty: one fit of `counts`.
    clusters : ndarray of int, shape (G,), optional
        Numbers from 0 of what groups have in common, by which they are resampled.
    """

    name: str
    counts: CountTensor
    settings: FitSettings
    number: float = np.nan
    groups: IntArray
    detection: FloatArray
    covariates: dict[str, FloatArray]
    folds: tuple[tuple[CountTensor, Mask], ...] = ()
    clusters: IntArray | None = None

    def fitted(self) -> tuple[Fit, FloatArray]:
        """Fit the counts, or those of each fold; return the last fit and p of each group (G,)."""
        if not self.folds:
            found = fit(self.counts, self.settings)
            return found, self._mean_detection(found)
        p = np.full(len(self.detection), np.nan)
        for counts, judged in self.folds:
            found = fit(counts, self.settings)
            each = self._mean_detection(found)
            p[judged] = each[judged] / np.nanmean(each)  # the level is that of the observations
        return found, p

    def _mean_detection(self, found: Fit) -> FloatArray:
        """Fitted p of each group: of closed visits the mean over entries, else Σ y / Σ (y/p)."""
        some, size = self.groups >= 0, len(self.detection)
        of, weights = self.groups[some], np.ones(int(some.sum()))
        each = found.observed_detection[some]  # g of closed fits
        if not found.settings.closed:
            weights = self.counts.counts[some] / detection_of(found, self.counts)[some]
            each = self.counts.counts[some] / np.where(weights > 0, weights, 1.0)
        with np.errstate(invalid="ignore"):
            p = np.bincount(of, each * weights, size) / np.bincount(of, weights, size)
        return np.asarray(p)


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


def halves(n: int) -> tuple[Mask, Mask]:
    """Return two masks (n,) that share n groups out by chance, always the same."""
    first = np.random.default_rng(0).permutation(n) < n // 2
    return first, ~first


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
    of = np.arange(len(truth)) if case.clusters is None else case.clusters
    parts = [known[of[known] == each] for each in np.unique(of[known])]
    drawn = rng.integers(0, len(parts), (_RESAMPLED, len(parts)))
    samples = [known, *(np.concatenate([parts[k] for k in each]) for each in drawn)]
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
