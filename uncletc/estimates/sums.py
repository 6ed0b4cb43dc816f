"""What was reported, how many there truly were and how many were counted, summed over groups."""

from dataclasses import dataclass, replace
from typing import Any, Literal, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.sparse import csr_matrix

from uncletc.common.validation import FloatArray, IntArray, check_groups, check_kind, check_level
from uncletc.data.counts import CountTensor
from uncletc.data.entries import exposure_at, flat_index
from uncletc.result.ensemble import Interval, Shifts, between, combined, interval
from uncletc.result.fitted_model import FittedModel
from uncletc.result.posterior import Population, Quantity
from uncletc.result.scale import Scale

_LEAST = 1e-300


def check_fitted(counts: CountTensor, fit: FittedModel) -> None:
    """Reject counts that are not those of the fit."""
    fit.check_suits(counts)
    if counts.digest != fit.counts_digest:
        raise ValueError(
            "counts must be those that were fitted, with the same roles, observation processes and "
            "surveys; these are others (counts.with_surveys(surveys) has those given to fit)"
        )


def number_name(fit: FittedModel, scale: Scale) -> str:
    """What columns of true counts begin with: N where repeat visits count the same events."""
    if not scale.absolute:
        return "relative_rate"
    return "N" if fit.settings.closed else "rate"


@dataclass(frozen=True, eq=False)
class Summed:
    """Σλ or Σp of G groups as fitted, and how far each may lie from it.

    Attributes
    ----------
    values : ndarray, shape (1 + M, G)
        The estimate, then that of each of M members.
    log_deviation : ndarray, shape (G, R)
        Deviations of the logarithm in each draw; (G, 0) for a fit without draws.
    independent : ndarray, shape (G,)
        Its variance if all entries erred independent from each other.
    inflation : tuple of float
        As :meth:`uncletc.result.posterior.Draws.widths` returns them.
    of_numbers : bool
        Whether draws are of true numbers, so that their quantiles are the ends of intervals.
    of_counts : bool
        See :func:`uncletc.result.ensemble.interval`.
    """

    values: FloatArray
    log_deviation: FloatArray
    independent: FloatArray
    inflation: tuple[float, float] = (1.0, 0.0)
    of_numbers: bool = False
    of_counts: bool = False

    @property
    def beyond(self) -> FloatArray:
        """Variance of the logarithm that no draw has; (G,)."""
        return np.asarray(self.inflation[1] * self.independent + between(list(self.values[1:])))

    def weighted(self, weights: csr_matrix) -> Self:
        """Add up groups to others, each with a weight, 0 to 1; weights (H, G)."""
        own, total = self.values[0], weights @ self.values[0]
        sums = weights @ (own[:, None] * np.exp(self.log_deviation))
        total = np.maximum(total, _LEAST)
        ratio = np.where(sums > 0, sums / total[:, None], 1.0)
        independent = (weights.power(2) @ (own**2 * self.independent) / total) / total
        values = np.asarray((weights @ self.values.T).T)
        return replace(self, values=values, log_deviation=np.log(ratio), independent=independent)

    def shifted(self, by: Shifts) -> Self:
        """Return the groups relative to the median p.

        Independent errors become smaller, or larger, as those that are drawn do.
        """
        values = self.values * np.exp([0.0, *by.members])[:, None]
        moved = (self.log_deviation + by.drawn) * by.widening
        before, after = (np.square(each).sum(axis=1) for each in (self.log_deviation, moved))
        independent = np.where(before > 0, self.independent * after / np.maximum(before, _LEAST), 0)
        return replace(self, values=values, log_deviation=moved, independent=independent)

    def interval(self, level: float) -> Interval:
        """Return the sums with their intervals; (G,)."""
        if self.of_numbers:
            own, tails = self.values[0], [(1 - level) / 2, (1 + level) / 2]
            drawn = own[:, None] * np.exp(self.log_deviation)
            low, high = np.quantile(drawn, tails, axis=1).round(9)
            return Interval(own, np.minimum(low, own), np.maximum(high, own), level)
        variance = self.beyond
        if self.log_deviation.shape[1]:
            drawn = np.square(self.log_deviation).mean(axis=1)
            variance = variance + self.inflation[0] ** 2 * drawn
        return interval(self.values[0], np.sqrt(variance), level, of_counts=self.of_counts)


@dataclass(frozen=True, eq=False, kw_only=True)
class Sums:
    """Counts, λ and p of groups of counted entries.

    Made by :func:`group_sums`. Sums of groups (:meth:`over`, :meth:`weighted`) and another scale
    (:meth:`table`) need no further observation process at the fit.

    Attributes
    ----------
    entries : ndarray of int, shape (G,)
        How many counted entries each group has; in a closed fit, how many cells of them.
    attributed : ndarray, shape (G,)
        How many of them p is known of: those with attributes; all where there are none to know.
        Those of a group that belongs in part count in part.
    reported : ndarray, shape (G,)
        Their counts together.
    rate, detection : Summed
        λ of all entries and p of the attributed ones, as fitted.
    scale : Scale
        The one that the data state, or that of the fit as it stands.
    shifts : Shifts
        Of p, as :meth:`uncletc.Fit.median_shifts` returns them.

    Examples
    --------
    >>> from uncletc import estimates, fit, simulate
    >>> y, _ = simulate((6, 5, 4), rank=1, observed=0.8, attributed=0.8, seed=1)
    >>> places = estimates.group_sums(fit(y, rank=1), y, y.indices[:, 0])
    >>> list(places.ranks().columns), places.over().table()["entries"].tolist()
    (['rank', 'rank_low', 'rank_high'], [96])
    """

    entries: IntArray
    attributed: FloatArray
    reported: FloatArray
    rate: Summed
    detection: Summed
    scale: Scale
    shifts: Shifts

    @property
    def has_intervals(self) -> bool:
        """Whether the fit had draws."""
        return bool(self.rate.log_deviation.shape[1])

    def over(self, groups: ArrayLike | None = None) -> Self:
        """Sum groups further.

        Parameters
        ----------
        groups : array_like of int, shape (G,), optional
            Number ≥ 0 of the larger group that each belongs to, -1 for none. None: all are one.
        """
        own = check_groups(groups, len(self.entries), "group", -1)
        kept = np.flatnonzero(own >= 0)
        shape = (int(own.max(initial=-1)) + 1, len(own))
        return self.weighted(csr_matrix((np.ones(len(kept)), (own[kept], kept)), shape))

    def weighted(self, weights: csr_matrix, reported: FloatArray | None = None) -> Self:
        """Add up groups to others, to which they may belong in part.

        λ of a cell of counties in two states is divided between the states, for example, and p of
        a state is the mean in which such a cell has its part as weight.

        Parameters
        ----------
        weights : csr_matrix, shape (H, G)
            The part of each group in each of the others, 0 to 1.
        reported : ndarray, shape (H,), optional
            What was reported, where that is known otherwise. None: the parts of what the groups
            reported.
        """
        return replace(
            self,
            entries=(weights > 0).astype(np.int64) @ self.entries,
            attributed=weights @ self.attributed,
            reported=weights @ self.reported if reported is None else reported,
            rate=self.rate.weighted(weights),
            detection=self.detection.weighted(weights),
        )

    def relative(self) -> Self:
        """Return the same with intervals of λ and p that leave out how uncertain the median p is.

        They are for comparing the groups with one another: the level, which may rest on a fatality
        ratio that is known to within a factor of 2, moves all of them alike.
        """
        none = Shifts(0 * self.shifts.members, 0 * self.shifts.drawn)
        return replace(
            self,
            rate=self.rate.shifted(self.shifts.of_rate),
            detection=self.detection.shifted(self.shifts),
            shifts=none,
        )

    def table(
        self, scale: Scale | None = None, *, level: float = 0.9, at_least_reported: bool = True
    ) -> pd.DataFrame:
        """Tabulate the groups.

        Parameters
        ----------
        scale : Scale, optional
            Of λ and p. None: `scale`.
        level : float
            Nominal coverage of the intervals, in (0, 1).
        at_least_reported : bool
            Whether all that was reported in a group belongs to true counts of the same group. Not
            so for single days where reports come late and in bulk.

        Returns
        -------
        DataFrame
            One row per group: entries, reported, rate (Σλ), detection (mean p, NaN where no
            attributes are known) and, on an absolute scale, share (reported over rate). If the fit
            has draws each of the three is followed by the ends of its interval, "rate_low" and
            "rate_high" for example. NaN for a group without entries. On an absolute scale
            intervals of p end at 1, and those of λ hold what was reported if that is asked for,
            without which there is no share; no share exceeds 1. On a free scale intervals are those
            of :meth:`relative`.
        """
        scale = self.scale if scale is None else scale
        check_kind("scale", scale, Scale)
        if not scale.absolute:
            self = self.relative()
        bounded = scale.absolute and at_least_reported
        rate = scale.rate_interval(self.rate.interval(level), self.reported if bounded else None)
        size = np.where(self.attributed > 0, self.attributed, np.nan)
        summed = self.detection.interval(level)
        estimate, low, high = (each / size for each in (summed.estimate, summed.low, summed.high))
        detection = scale.detection_interval(Interval(estimate, low, high, level))
        ends = ("", "_low", "_high") if self.has_intervals else ("",)
        table = pd.DataFrame({"entries": self.entries, "reported": self.reported})
        for name, found in (("rate", rate), ("detection", detection)):
            for end in ends:
                value = getattr(found, end[1:] or "estimate")
                table[f"{name}{end}"] = np.where(self.entries > 0, value, np.nan)
        if bounded:
            for end, other in zip(ends, ("", "_high", "_low"), strict=False):
                rates = table[f"rate{other}"].clip(lower=_LEAST)  # N may be 0 where none was seen
                shares = self.reported / rates.where(table["rate"] > 0)
                table[f"share{end}"] = shares.clip(upper=1.0)
        return table

    def ranks(self, *, level: float = 0.9, seed: int = 0) -> pd.DataFrame:
        """Ranks of groups by mean p, and between which each lies; 1 is the highest.

        Ranks do not depend on the scale.

        Parameters
        ----------
        level : float
            How often a range should hold the true rank, in (0, 1).
        seed : int
            Of the part of an error that no draw has.

        Returns
        -------
        DataFrame
            One row per group: rank, rank_low and rank_high, whole numbers with 1 ≤ rank_low ≤ rank
            ≤ rank_high. Without draws rank alone.
        """
        check_level(level)
        p = self.detection
        size = np.where(self.attributed > 0, self.attributed, 1.0)
        middle = np.log(np.maximum(p.values[0] / size, _LEAST))[:, None]
        rank = _ranks(middle)[:, 0]
        if not self.has_intervals:
            return pd.DataFrame({"rank": rank})
        noise = np.random.default_rng(seed).standard_normal(p.log_deviation.shape)
        drawn = middle + p.inflation[0] * p.log_deviation + np.sqrt(p.beyond)[:, None] * noise
        low = np.quantile(_ranks(drawn), (1 - level) / 2, axis=1)
        high = np.quantile(_ranks(drawn, "max"), (1 + level) / 2, axis=1)
        return pd.DataFrame(
            {
                "rank": rank,
                "rank_low": np.minimum(np.floor(low).astype(int), rank),
                "rank_high": np.maximum(np.ceil(high).astype(int), rank),
            }
        )


def group_sums(fit: FittedModel, counts: CountTensor, groups: ArrayLike | None = None) -> Sums:
    """Sum counts, λ and p over groups of counted entries.

    In a closed fit every cell is summed once in each group, whatever the number of visits: its true
    number, and the most that was counted there at one visit.

    Parameters
    ----------
    fit : Fit
    counts : CountTensor
        The counts that were fitted.
    groups : array_like of int, shape (N,), optional
        Number ≥ 0 of the group of each counted entry, in the order of ``counts.indices``; -1 for
        none. None: all are one group.

    Raises
    ------
    ValueError
        If `groups` is not one of the above.

    Examples
    --------
    >>> from uncletc import FitSettings, fit, simulate
    >>> y, _ = simulate((6, 6), rank=1, observed=0.5, attributed=0.5, similar=0.1)
    >>> found = group_sums(fit(y, FitSettings(rank=1), callback=lambda i: i.iteration >= 2), y)
    >>> list(found.table().columns)[:4]
    ['entries', 'reported', 'rate', 'rate_low']
    """
    own = check_groups(groups, counts.n_observed, "counted entry", -1)
    shifts = fit.median_shifts(counts)
    kept, size = own >= 0, int(own.max(initial=-1)) + 1
    where, group = counts.indices[kept], own[kept]
    z = counts.attributes_at(where, unknown_as_nan=True)
    known = np.isfinite(z).all(axis=1)
    y, summed = counts.counts[kept], group
    each: IntArray | slice = slice(None)
    if fit.settings.closed:
        once, y, cell, share, seen = _once(fit, counts, own)
        summed = group[once]
        if "transect" not in counts.protocol:  # whose bands add up to a site
            each = once

    def over(of: Quantity, rows: Any) -> Summed:
        """λ or p of some of these entries."""
        at = where[rows], z[rows]
        values = fit.of_members(of, *at)
        centre = combined(values)
        sums = np.stack([_sums(group[rows], value, size) for value in (centre, *values)])
        if fit.draws is None or not len(at[0]):
            return Summed(sums, np.zeros((size, 0)), np.zeros(size))
        # Of a free level draws may know nothing: sums are made of deviations from it.
        level = shifts.of_rate.drawn if of == "rate" else shifts.drawn
        given = of, fit.members[0], *at, centre, group[rows], 0.0 if fit.scale else level
        log_deviation, independent = fit.draws.log_sums(*given)
        more = ((0, size - len(independent)),)  # groups at the end without entries
        return Summed(
            values=sums,
            log_deviation=np.pad(log_deviation, (*more, (0, 0))),
            independent=np.pad(independent, more),
            inflation=fit.draws.widths(of),
            of_counts=fit.of_counts(of),
        )

    rate = over("rate", each)
    if fit.settings.closed and fit.population is not None and not fit.population.doubts:
        rate = _numbers(fit.population, cell, summed, size, share, y, seen)
    return Sums(
        entries=np.bincount(summed, minlength=size),
        attributed=_sums(group, known, size),
        reported=_sums(summed, y, size),
        rate=rate,
        detection=over("detection", known),
        scale=fit.scale or Scale(1.0, "as fitted", False),
        shifts=shifts,
    )


def with_numbers(
    table: pd.DataFrame,
    flat: IntArray,
    fit: FittedModel,
    counts: CountTensor,
    scale: Scale,
    level: float,
) -> pd.DataFrame:
    """Return a table of entries of a closed fit with N, N_low and N_high instead of their rates.

    N is that of their cell, or its part in a band; NaN in cells without a count. `flat` (n,) are
    numbers of the entries in row-major order. As it is where the fit is open or its scale free.
    """
    if number_name(fit, scale) != "N":
        return table

    def cell(at: IntArray) -> IntArray:
        if "transect" in counts.protocol:
            return flat_index(at, counts.shape)
        return flat_index(*_open(fit, counts, at))

    sums = group_sums(fit, counts, cell(counts.indices))
    numbers = sums.table(scale, level=level).filter(like="rate")
    where = np.column_stack(np.unravel_index(flat, counts.shape))
    table = table.assign(**numbers.reindex(cell(where)).reset_index(drop=True))
    return table.rename(columns={it: str(it).replace("rate", "N") for it in numbers})


def expected_sums(fit: FittedModel, counts: CountTensor, groups: IntArray) -> FloatArray:
    """Σŷ of each group of counted entries; of repeat visits to a cell, their mean."""
    expected = fit.expected_counts(counts)
    if fit.settings.closed and not counts.protocol:
        cell = flat_index(*_open(fit, counts, counts.indices))
        _, of, visits = np.unique(
            np.column_stack([groups, cell]), axis=0, return_inverse=True, return_counts=True
        )
        expected = expected / visits[of.ravel()]
    return _sums(groups, expected, int(groups.max(initial=-1)) + 1)


def reported_once(counts: CountTensor) -> str:
    """What sums of a closed fit have as reported.

    Examples
    --------
    >>> from uncletc import simulate
    >>> reported_once(simulate((6, 5, 4), rank=1, observed=0.8, seed=1)[0])
    'the most counted at one visit'
    """
    if counts.closed_mode is None:
        return "the most counted at one visit"
    return f"how many were {'seen' if 'transect' in counts.protocol else 'caught'}"


def _once(
    fit: FittedModel, counts: CountTensor, groups: IntArray
) -> tuple[IntArray, IntArray, IntArray, FloatArray, IntArray]:
    """One entry of each cell in each group, the most or all counted there, its cell and share.

    Entries that differ in closed modes alone count the very same events. Their share: as many as
    were there when removal began, whatever the pass. Of a site by bands of a transect it is that of
    the animals that nobody saw; last are all that somebody saw at the site, else none.
    """
    kept = groups >= 0
    where, y = counts.indices[kept], counts.counts[kept]
    every_cell = flat_index(*_open(fit, counts, counts.indices))
    number, of_cell = np.unique(every_cell, return_inverse=True)
    pairs = np.column_stack([groups[kept], of_cell[kept]])
    distinct, first, of = np.unique(pairs, axis=0, return_index=True, return_inverse=True)
    most = np.zeros(len(distinct), dtype=np.int64)
    np.maximum.at(most, of.ravel(), y)
    if counts.captures is not None:  # animals, where all visits to a cell are in the group
        animals = np.bincount(counts.captures[:, 0], minlength=counts.shape[0])
        visits = np.bincount(counts.indices[:, 0], minlength=counts.shape[0])
        every = np.bincount(of.ravel()) == visits[where[first, 0]]
        most = np.where(every, animals[where[first, 0]], most)
    elif counts.protocol:
        most = np.bincount(of.ravel(), y).astype(np.int64)
    there = exposure_at(fit.exposure, counts.indices) / counts.exposure_at(counts.indices)
    site = distinct[:, 1]
    if "transect" in counts.protocol:
        z = counts.attributes_at(counts.indices, unknown_as_nan=True)
        p = combined(fit.of_members("detection", counts.indices, z))
        never = 1 - np.bincount(of_cell, there * p)
        share = _sums(of.ravel(), (there * (1 - p))[kept], len(distinct)) / never[site]
        return first, most, site, share, np.bincount(of_cell, counts.counts).astype(np.int64)[site]
    share = np.zeros(len(number))
    np.maximum.at(share, of_cell.ravel(), there)
    return first, most, site, share[site], np.empty(0, dtype=np.int64)


def _open(
    fit: FittedModel, counts: CountTensor, where: IntArray
) -> tuple[IntArray, tuple[int, ...]]:
    """Indices of entries in the open modes, and how long these are."""
    modes = [k for k, name in enumerate(counts.modes) if name not in fit.settings.closed]
    return where[:, modes], tuple(counts.shape[k] for k in modes)


def _numbers(
    population: Population,
    cell: IntArray,
    group: IntArray,
    size: int,
    share: FloatArray,
    counted: IntArray,
    seen: IntArray,
) -> Summed:
    """N of each group by the draws of a closed population, of which it has a share in each cell.

    Where some were seen beside those counted: of the others it has a share, at random.
    """
    which = csr_matrix((share, (group, cell)), (size, len(population.drawn)))
    drawn, mean = which @ population.drawn, np.asarray(which @ population.means)
    if len(seen):
        mean += _sums(group, counted - share * seen, size)
        drawn, rng = np.zeros_like(drawn), np.random.default_rng(0)
        for site in np.unique(cell):
            at = np.flatnonzero(cell == site)
            parts = np.append(share[at], max(1 - share[at].sum(), 0.0))
            parts /= parts.sum()  # which rounding may have left above 1
            missed = rng.multinomial(population.drawn[site] - seen[at[0]], parts)[:, :-1]
            drawn[group[at]] += counted[at, None] + missed.T
    log = np.log(np.maximum(drawn, _LEAST) / np.maximum(mean, _LEAST)[:, None])
    return Summed(np.stack([mean, mean]), log, np.zeros(size), of_numbers=True)


def _sums(groups: IntArray, values: ArrayLike, size: int) -> FloatArray:
    return np.asarray(np.bincount(groups, values, size), dtype=np.float64)


def _ranks(values: FloatArray, ties: Literal["min", "max"] = "min") -> IntArray:
    """Rank of each row in each column, 1 the highest; of equal ones the least, or the largest."""
    ranks = pd.DataFrame(-values).rank(method=ties, na_option="bottom")
    return ranks.to_numpy(dtype=np.int64)
