"""Totals of groups of entries: reported, estimated true, and the share that was counted."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import csr_matrix

from uncletc.common.validation import FloatArray, IntArray, as_names, check_among
from uncletc.data.counts import CountTensor
from uncletc.datasets.base import Dataset
from uncletc.estimates.entries import CELL, Name, county_shares, has_counties, named_columns
from uncletc.estimates.sums import Sums, check_fitted, expected_sums, group_sums, number_name
from uncletc.result.anchor import Anchor
from uncletc.result.fitted_model import FittedModel
from uncletc.result.scale import Scale


def totals(
    data: Dataset | CountTensor,
    fit: FittedModel,
    scale: Scale | None = None,
    *,
    by: str | Sequence[str] = (),
    level: float = 0.9,
) -> pd.DataFrame:
    """Sum what was reported and what is estimated over groups of counted entries.

    Both sums go over the entries with a count alone, so that they are of the same places and times.

    Parameters
    ----------
    data : Dataset or CountTensor
        What was fitted, with its roles and observation processes.
    fit : Fit
    scale : Scale, optional
        As for :func:`every_entry`.
    by : str or sequence of str
        Names of modes, groups, or other columns that name an entry; several: every combination
        that has counts. (): one row for all.
    level : float
        Nominal coverage of the intervals, in (0, 1).

    Returns
    -------
    DataFrame
        One row per group, in the order of their labels: a column for each of `by`; then those of
        :meth:`Sums.table`, and expected, Σŷ: of repeat visits that of a mean visit. rate is N where
        these count the same events. On a free scale λ and p are relative_rate and
        relative_detection. There is no share on a free scale,
        nor of single days of a fit with effects on reporting, whose reports come late. Counts of a
        state are those of its counties; estimates of a cell whose counties lie in several states
        are divided among them, as :func:`uncletc.estimates.county_shares` says.

    Raises
    ------
    ValueError
        If the counts are not those of the fit, or `by` names nothing there is.
    """
    counts = data.counts if isinstance(data, Dataset) else data
    check_fitted(counts, fit)
    scale = scale or Anchor().scale(counts, fit)
    by = as_names(by)
    chosen = chosen_names(data, by)
    over_time = any(len(counts.modes) - 1 in each.along for each in chosen)
    bound = not (fit.reports_late and over_time)
    if "state" in by and isinstance(data, Dataset) and has_counties(data):
        found, columns, expected = _by_state(data, fit, chosen)
    else:
        groups, columns = _grouped(chosen, counts.indices)
        found = group_sums(fit, counts, groups)
        expected = expected_sums(fit, counts, groups)
    table = found.table(scale, level=level, at_least_reported=bound)
    table["reported"] = table["reported"].astype(np.int64)
    shares = table.filter(like="share")
    table = table.drop(columns=shares.columns).assign(expected=expected).join(shares)
    names = table.columns.str.replace("^rate", number_name(fit, scale), regex=True)
    if not scale.absolute:
        names = names.str.replace("^detection", "relative_detection", regex=True)
    return pd.DataFrame(columns | dict(table.set_axis(names, axis=1).items()))


def _by_state(
    data: Dataset, fit: FittedModel, chosen: list[Name]
) -> tuple[Sums, dict[str, Any], FloatArray]:
    """Sums by state and other names, the columns that name them, and Σŷ."""
    counts, counties = data.counts, data.table
    place = np.arange(np.prod(counts.shape[:2])).reshape(counts.shape[:2])
    cell = Name("cell", (0, 1), place, place.ravel().astype(str))
    others = [each for each in chosen if each.column != "state"]
    groups, labels = _grouped([cell, *others], counts.indices)
    parts = pd.DataFrame({**labels, "group": np.arange(groups.max(initial=-1) + 1)})
    of_county = counties[["state"]].assign(
        cell=place[tuple(counties[name] for name in CELL)].astype(str),
        part=county_shares(counties),
        county=np.arange(len(counties)),
    )
    counted = counties.get("counted", pd.Series(True, counties.index)).to_numpy(bool)
    parts = parts.merge(of_county[counted], on="cell")
    for each in others:  # in the order of their labels, such as Monday first
        parts[each.column] = pd.Categorical(parts[each.column], pd.unique(each.labels))
    names = [each.column for each in chosen]
    together = parts.groupby(names, observed=True)
    row, rows = together.ngroup().to_numpy(), together.first().reset_index()
    reported = _reported(data, groups)[parts["county"], parts["group"]]
    found = group_sums(fit, counts, groups)
    weights = csr_matrix(
        (parts["part"], (row, parts["group"])), shape=(len(rows), len(found.entries))
    )
    expected = weights @ expected_sums(fit, counts, groups)
    sums = np.bincount(row, np.asarray(reported).ravel(), len(rows)).astype(np.float64)
    columns = {name: rows[name].to_numpy() for name in names}
    return found.weighted(weights, sums), columns, expected


def _reported(data: Dataset, groups: IntArray) -> csr_matrix:
    """What each county reported in each group of entries; (counties, groups)."""
    counts, daily = data.counts, np.asarray(data.county_counts)
    group = np.full(counts.shape, -1)
    group[tuple(counts.indices.T)] = groups
    of_days = group[tuple(data.table[name] for name in CELL)]  # (counties, days)
    county, day = np.nonzero((of_days >= 0) & np.isfinite(daily))
    shape = (len(of_days), int(groups.max(initial=-1)) + 1)
    return csr_matrix((daily[county, day], (county, of_days[county, day])), shape)


def chosen_names(data: Dataset | CountTensor, by: Sequence[str]) -> list[Name]:
    """Return the columns that name the groups of totals; ValueError for another name."""
    counts = data.counts if isinstance(data, Dataset) else data
    modes, named = counts.modes, named_columns(data)
    known = dict(zip(modes, named, strict=False)) | {n.column: n for n in named[len(modes) :]}
    check_among(by, known, f"by must name modes or groups, {', '.join(known)};")
    return [known[name] for name in by]


def _grouped(chosen: list[Name], where: IntArray) -> tuple[IntArray, dict[str, Any]]:
    """Number of the group of each entry, and the columns that name the groups."""
    if not chosen:
        return np.zeros(len(where), dtype=np.int64), {}
    codes = [each.codes[tuple(where[:, k] for k in each.along)] for each in chosen]
    levels, groups = np.unique(np.column_stack(codes), axis=0, return_inverse=True)
    labels = {each.column: each.names(level) for each, level in zip(chosen, levels.T, strict=True)}
    return np.asarray(groups, dtype=np.int64).ravel(), labels
