"""Counts of a season that follow a fit, with their truth."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from uncletc.common.validation import FloatArray, IntArray
from uncletc.data.counts import CountTensor
from uncletc.data.entries import flat_index
from uncletc.data.observations import Look
from uncletc.model.detection import JointDetection
from uncletc.model.negbin import LEAST_MEAN, MEAN_OF_MU
from uncletc.planning.designs import Survey
from uncletc.planning.growing import Grown
from uncletc.result.ensemble import Member
from uncletc.result.fit_result import Fit

SURVEY = "survey"
"""Name of the look that a survey adds."""
_LEVEL = 0.5
_LEAST = 1e-12  # of an expected count
_LEAST_VARIANCE = 1e-9  # relative, of deviations; below it counts are Poisson


@dataclass(frozen=True, eq=False)
class World:
    """What a fit says of the entries that were counted: the truth of simulated seasons.

    Attributes
    ----------
    fit : Fit
    member : Member
        Its first, on the scale on which g is a sigmoid where the scale is free: no p is above 1.
    rate : ndarray, shape (N,)
        λ of the present entries.
    detection : ndarray, shape (S,)
        p over Ξ; of an entry outside Ξ it is that of one of these, drawn anew each time.
    level : float
        p of all entries where there are no attributes: one half if the scale is free.
    scale : float
        By what λ is larger here than in the fit, and p smaller.
    """

    fit: Fit
    member: Member
    rate: FloatArray
    detection: FloatArray
    level: float
    scale: float

    @classmethod
    def of(cls, fit: Fit, counts: CountTensor) -> World:
        """Take the first member of a fit of these counts."""
        member, level, scale = fit.members[0], fit.mean_detection, 1.0
        if not counts.n_attributes and not fit.anchored_by:
            level, scale = _LEVEL, fit.mean_detection / _LEVEL
        elif isinstance(member.network, JointDetection) and not fit.anchored_by:
            scale = float(np.exp(member.network.log_scale))
            member = replace(member, network=replace(member.network, log_scale=0.0))
        rate = member.rate(counts.indices) * counts.exposure_at(counts.indices) * scale
        return cls(fit, member, rate, member.detection(counts.attributes), level, scale)

    def detection_of(
        self, counts: CountTensor, indices: IntArray, rng: np.random.Generator
    ) -> FloatArray:
        """p of entries of these or grown counts, those outside Ξ drawn from it; (n,)."""
        if not counts.n_attributes:
            return np.full(len(indices), self.level)
        rows = counts.rows_of(indices)
        p = self.member.detection(counts.attributes[rows])
        p[rows < 0] = rng.choice(self.detection, int((rows < 0).sum()))
        return p


def draw_season(
    world: World,
    present: CountTensor,
    grown: Grown,
    survey: Survey | None,
    along: int,
    seed: tuple[int, ...],
) -> tuple[CountTensor, FloatArray]:
    """Draw counts of all entries and looks, with a survey's look added where there is one.

    Parameters
    ----------
    world : World
    present : CountTensor
        The counts of the fit.
    grown : Grown
        From these.
    survey : Survey, optional
    along : int
        The mode that places are not told apart by.
    seed : tuple of int
        Counts of the present entries are the same whatever was added.

    Returns
    -------
    CountTensor
    ndarray, shape (N,)
        True p of the present entries.
    """
    n, counts = present.n_observed, grown.counts
    now, later, aside = (np.random.default_rng((*seed, k)) for k in range(3))
    p = world.detection_of(counts, counts.indices[:n], now)
    p_new = world.detection_of(counts, counts.indices[n:], later)
    rate, reporting = world.rate, world.member.reporting(present.indices)
    if world.fit.settings.closed:
        y = _closed(world, counts, grown, np.concatenate([p, p_new]), now)
    else:
        new = grown.rows[n:]
        y = np.concatenate(
            [
                scattered(rate * p * reporting, world.fit, now),
                scattered(rate[new] * p_new * reporting[new], world.fit, later),
            ]
        )
    looks = [
        _look(world, present, grown, number, now, later) for number in range(len(counts.looks))
    ]
    season = counts.with_looks(*looks).with_counts(y)
    if survey is not None:
        season = season.with_looks(*looks, _surveyed(world, season, n, p, survey, along, aside))
    return season, p


def scattered(
    mean: FloatArray, fit: Fit, rng: np.random.Generator, look: str | None = None
) -> IntArray:
    """Negative binomial counts with a fit's variance, φ·(m + m²/μ); (n,)."""
    mean = np.maximum(mean, _LEAST)
    mu = np.full(len(mean), fit.mu if look is None else fit.mu_of_looks[look])
    if look is None:
        mu = mu * (np.maximum(mean, LEAST_MEAN) / MEAN_OF_MU) ** fit.mu_power
    phi = fit.dispersion if fit.dispersion > 1 else 1.0
    variance = np.maximum((phi - 1) / mean + phi / mu, _LEAST_VARIANCE)
    return np.asarray(rng.poisson(mean * rng.gamma(1 / variance, variance)), dtype=np.int64)


def _closed(
    world: World, counts: CountTensor, grown: Grown, p: FloatArray, rng: np.random.Generator
) -> IntArray:
    """Counts of visits, all of the same true events of their cell; (N',)."""
    modes = [k for k, name in enumerate(counts.modes) if name not in world.fit.settings.closed]
    sizes = tuple(counts.shape[k] for k in modes)
    cells, first, of = np.unique(
        flat_index(counts.indices[:, modes], sizes), return_index=True, return_inverse=True
    )
    rate, mu = world.rate[grown.rows[first]], world.fit.mu
    if np.isfinite(mu):
        rate = rate * rng.gamma(mu, 1 / mu, len(cells))
    return np.asarray(rng.binomial(rng.poisson(rate)[of], np.minimum(p, 1.0)), dtype=np.int64)


def _look(
    world: World,
    present: CountTensor,
    grown: Grown,
    number: int,
    now: np.random.Generator,
    later: np.random.Generator,
) -> Look:
    """Draw a further look anew; the p told of it is off by what `known_error` says."""
    look, n = grown.counts.looks[number], len(present.looks[number].counts)
    where = present.looks[number].indices
    rate = world.member.rate(where) * present.exposure_at(where) * world.scale
    if world.member.mode_effects is not None:
        rate = rate * world.member.mode_effects.reporting(where, number + 1)
    told = look.known_detection
    if look.attributes is None:
        p = np.concatenate(
            [
                world.detection_of(grown.counts, look.indices[:n], now),
                world.detection_of(grown.counts, look.indices[n:], later),
            ]
        )
    else:
        p = world.member.detection(look.attributes)
    off = np.exp(look.known_error * now.standard_normal())
    mean = rate[grown.look_rows[number]] * look.exposure
    mean = mean * np.where(np.isnan(told), p, told / off)
    y = [scattered(part, world.fit, rng, look.name) for part, rng in _parts(mean, n, now, later)]
    return replace(look, counts=np.concatenate(y))


def _parts(
    mean: FloatArray, n: int, now: np.random.Generator, later: np.random.Generator
) -> list[tuple[FloatArray, np.random.Generator]]:
    return [(mean[:n], now), (mean[n:], later)]


def _surveyed(
    world: World,
    season: CountTensor,
    n: int,
    p: FloatArray,
    survey: Survey,
    along: int,
    rng: np.random.Generator,
) -> Look:
    """A second count of the present entries of some places, whose p is told with an error."""
    where = season.indices[:n]
    place = places_of(where, season.shape, along)
    if survey.of:
        place = where[:, season.modes.index(survey.of)]
    seen = np.unique(place[season.counts[:n] > 0])
    if len(seen) < survey.places:
        raise ValueError(
            f"places of a survey must be at most those with a count above 0, {len(seen)}, "
            f"got {survey.places}"
        )
    chosen = rng.permutation(seen)[: survey.places]
    rows = np.flatnonzero(np.isin(place, chosen))
    _, of = np.unique(place[rows], return_inverse=True)
    off = survey.error * rng.standard_normal(survey.places)
    off = off + survey.shared_error * rng.standard_normal()
    y = scattered(world.rate[rows] * p[rows], world.fit, rng)
    weight = np.bincount(of, y, survey.places)
    alone = float(np.sqrt((weight**2).sum())) / max(float(weight.sum()), 1.0)
    return Look(
        SURVEY,
        where[rows],
        y,
        known_detection=np.minimum(p[rows] * np.exp(off[of]), 1.0),
        known_error=float(np.hypot(survey.shared_error, survey.error * alone)),
    )


def places_of(indices: IntArray, shape: tuple[int, ...], along: int) -> IntArray:
    """Number of the place of entries (n, K): their indices in all modes but one; (n,)."""
    others = [k for k in range(len(shape)) if k != along]
    return flat_index(indices[:, others], tuple(shape[k] for k in others))
