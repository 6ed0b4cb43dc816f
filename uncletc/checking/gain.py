"""What attributes of detection add to held-out scores: whether p is more than one number."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from uncletc.baselines import METHODS
from uncletc.compare import Difference, Evaluation, FoldKind, evaluate
from uncletc.data.counts import CountTensor
from uncletc.data.stacked import anchors_of
from uncletc.fitting.history import Iteration
from uncletc.fitting.settings import FitSettings

Follow = Callable[[int, Iteration[Any]], None]
_FIT = METHODS["UncleTC"]


@dataclass(frozen=True, kw_only=True)
class Gain:
    """Held-out scores with the attributes that act on detection, and without.

    Attributes
    ----------
    mean, error : float
        By how much the attributes improve the log score, in nats per entry, and its standard error
        over folds. Above 0: counts are predicted better with them.
    n_folds : int
    kind : {"entry", "fibre"}
        What folds hold; see :func:`uncletc.compare.make_folds`.
    log_score, log_score_constant : float
        Mean held-out -log P(y) of the fit as set, and of the one whose p is one number.
    anchors : str
        Names of the further observation processes with a known p, which both fits have; empty for
        none.
    """

    mean: float
    error: float
    n_folds: int
    kind: FoldKind
    log_score: float
    log_score_constant: float
    anchors: str = ""

    @property
    def clear(self) -> bool:
        """Whether the difference is beyond two standard errors, either way."""
        return abs(self.mean) > 2 * self.error

    @property
    def improves(self) -> bool:
        """Whether scores are better with the attributes, beyond two standard errors."""
        return self.clear and self.mean > 0

    def sentence(self, whole: str = "fibres") -> str:
        """What the attributes add, in words.

        Parameters
        ----------
        whole : str
            What fibres are to the reader: "places".
        """
        folds = f"{self.n_folds} folds" + (f" of whole {whole}" if self.kind == "fibre" else "")
        gain = _with_error(self.mean, self.error)
        if self.improves:
            words = f"Attributes improve the held-out log score by {gain} per entry ({folds})."
        else:
            do = "make held-out scores worse" if self.clear else "do not improve held-out scores"
            words = (
                f"Attributes {do} ({gain} per entry, {folds}): do not read the ranking of p as "
                "evidence from these counts."
            )
        if not self.anchors:
            return words
        return (
            f"{words} Both fits had a second observation process with known p ({self.anchors}), "
            f"which states the "
            "scale of p; it is not among the counts scored."
        )


def gain_of_attributes(
    counts: CountTensor,
    settings: FitSettings,
    *,
    n_folds: int = 5,
    kind: FoldKind = "entry",
    seed: int = 0,
    callback: Follow | None = None,
) -> Gain:
    """Compare a fit with the same fit whose detection is constant, on counts held out of both.

    Attributes of detection are left out of the second fit; those that act on the true rate, looks
    and settings stay. Scores are negative binomial, of fits that have converged; the validation
    fold says how widely counts scatter, as everywhere in :mod:`uncletc.compare`.

    Parameters
    ----------
    counts : CountTensor
        With attributes that act on detection.
    settings : FitSettings
    n_folds, kind, seed
        See :func:`uncletc.compare.make_folds`.
    callback : callable, optional
        Called with the number of fits that have finished, of :func:`fits_of_gain`, and each
        :class:`uncletc.Iteration` of the present one.

    Returns
    -------
    Gain

    Raises
    ------
    ValueError
        If no attribute acts on detection.

    Notes
    -----
    An attribute that acts on detection alone is credited for all that it explains, also for what it
    does to the true rate. Let it act on both, and only what λ cannot follow counts as a gain.
    """
    if not counts.n_attributes:
        raise ValueError(
            "counts must have attributes that act on detection, else p is one number; got 0"
        )

    def judged(given: CountTensor, chosen: FitSettings, done: int) -> Evaluation:
        return evaluate(
            given,
            _FIT,
            chosen,
            n_folds=n_folds,
            kind=kind,
            seed=seed,
            every=None,
            callback=lambda trial, record: _follow(callback, done + trial, record),
        )

    full = judged(counts, settings, 0)
    constant = judged(without_detection(counts), replace(settings, signs=()), n_folds)
    lead = Difference.of([constant.values("log_score") - full.values("log_score")])
    return Gain(
        mean=lead.mean,
        error=lead.error,
        n_folds=n_folds,
        kind=kind,
        log_score=full.mean("log_score")[0],
        log_score_constant=constant.mean("log_score")[0],
        anchors=anchors_of(counts),
    )


def fits_of_gain(n_folds: int = 5) -> int:
    """How many fits :func:`gain_of_attributes` makes."""
    return 2 * n_folds


def without_detection(counts: CountTensor) -> CountTensor:
    """Leave out what acts on detection: p is one number; all else stays."""
    observations = [replace(process, attributes=None) for process in counts.observations]
    return counts.with_observations(*observations).with_roles(
        detection=(), rate=counts.rate_attribute_names
    )


def _follow(callback: Follow | None, done: int, record: Iteration[Any]) -> None:
    if callback is not None:
        callback(done, record)


def _with_error(mean: float, error: float) -> str:
    """A number and its error to two digits of the error."""
    digits = 3
    if error > 0:
        digits = min(max(1 - math.floor(math.log10(error)), 0), 9)
    return f"{mean:.{digits}f} ± {error:.{digits}f}".replace("-", "−")
