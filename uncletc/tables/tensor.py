"""Entries as a count tensor: zeros of absent rows, attributes, exposure, further looks."""

from __future__ import annotations

import numpy as np

from uncletc.common.validation import FloatArray
from uncletc.data.counts import CountTensor
from uncletc.data.entries import exposure_at
from uncletc.data.frames import exposure_along
from uncletc.data.observations import Look
from uncletc.datasets.reading import scaled
from uncletc.tables.absent import absent_entries, carried
from uncletc.tables.columns import Columns
from uncletc.tables.long import Long
from uncletc.tables.repeats import Entries

EXPOSURE, KNOWN, ERROR = "\x00exposure", "\x00known", "\x00error"  # no column is called so
_KNOWN_LOOK = "known detection"


def tensor_of(
    long: Long, entries: Entries, columns: Columns, names: tuple[str, ...], rules: list[str]
) -> CountTensor:
    """Make the tensor, and add a sentence to `rules` for each thing that is done.

    Parameters
    ----------
    long : Long
    entries : Entries
        Their `values` hold the attributes by name, and under `EXPOSURE`, `KNOWN` and `ERROR` what
        else is stated of counts.
    columns : Columns
    names : tuple of str
        Of the attributes.
    rules : list of str

    Raises
    ------
    ValueError
        If no entry has every attribute, detection is known for all counts, or there are too many
        zeros.
    """
    attributes = {name: entries.values[name] for name in names}
    indices, counts, look = entries.indices, entries.counts, entries.look
    known = entries.values.get(KNOWN, np.full(len(counts), np.nan))
    if columns.absent == "zero":
        more = absent_entries(indices, long.shape, long.modes)
        found, along = carried(attributes, indices, more, long.shape)
        rules.append(f"{len(more):,} combinations without a row are counts of 0.")
        rules += [
            f"{name} differs from row to row, so that entries without a row have no attributes."
            for name in names
            if name not in along
        ]
        indices = np.concatenate([indices, more])
        attributes = {n: np.concatenate([attributes[n], found[n]]) for n in names}
        counts, look, known = (
            np.concatenate([each, np.full(len(more), value)])
            for each, value in ((counts, 0.0), (look, 0), (known, np.nan))
        )
    complete = np.ones(len(counts), dtype=bool)
    for column in attributes.values():
        complete &= ~np.isnan(column)
    if names and not (complete & (look == 0)).any():
        raise ValueError("attributes must all have a value in at least one row; each row lacks one")
    if names and not complete[look == 0].all():
        n = int((~complete[look == 0]).sum())
        rules.append(f"Rows that lack an attribute are used without attributes ({n:,}).")
    z = np.full((len(counts), len(names)), np.nan)
    if names:
        z[complete] = scaled({name: column[complete] for name, column in attributes.items()})
    own = (look == 0) & ~np.isnan(counts) & np.isnan(known)
    if not own.any():
        raise ValueError(
            "known_detection must leave some rows empty, whose detection is estimated; it is given "
            "for every count: take it as the exposure instead"
        )
    with_z = (look == 0) & complete
    exposure, of_looks = None, np.ones(len(counts))
    if columns.exposure is not None:
        given, first = entries.values[EXPOSURE], entries.look == 0
        exposure = exposure_along(
            given[first], columns.exposure, entries.indices[first], long.shape
        )
        of_looks[: len(given)] = given / exposure_at(exposure, entries.indices)
        rules.append(
            f"True counts are assumed proportional to {columns.exposure}; entries without a row "
            "get its median" + ("; further looks have that of their rows." if look.any() else ".")
        )
    return CountTensor(
        long.shape,
        indices[own],
        counts[own].astype(np.int64),
        attributes=z[with_z] if names else None,
        attribute_indices=indices[with_z] if names else None,
        modes=long.modes,
        labels=[each.labels for each in long.levels],
        attribute_names=names or None,
        exposure=exposure,
        looks=_looks(
            indices, counts, look, known, z if names else None, of_looks, entries, columns, rules
        ),
    )


def _looks(
    indices: np.ndarray,
    counts: FloatArray,
    look: np.ndarray,
    known: FloatArray,
    z: FloatArray | None,
    exposure: FloatArray,
    entries: Entries,
    columns: Columns,
    rules: list[str],
) -> list[Look]:
    looks = []
    counted = ~np.isnan(counts)
    for k in range(int(look.max(initial=0)) + 1):
        for is_known, said in ((False, f"look {k + 1}"), (True, _KNOWN_LOOK)):
            rows = counted & (look == k) & (np.isnan(known) != is_known)
            if not rows.any() or (k == 0 and not is_known):
                continue
            name = said if not (is_known and k) else f"{said}, look {k + 1}"
            own = z[rows] if z is not None and not is_known else None
            if own is not None and np.isnan(own).any():
                own = _filled(own)
                rules.append(f"Attributes that {name} lacks are taken at their mean.")
            looks.append(
                Look(
                    name,
                    indices[rows],
                    counts[rows].astype(np.int64),
                    known_detection=known[rows] if is_known else None,
                    known_error=_error(entries) if is_known else 0.0,
                    attributes=own,
                    exposure=exposure[rows],
                )
            )
    if columns.known_detection is not None:
        n = int((counted & ~np.isnan(known)).sum())
        rules.append(
            f"Detection is known for {n:,} counts from {columns.known_detection}; they state the "
            f"scale of p, with a standard error of log p of {_error(entries):.2g}."
        )
    return looks


def _filled(z: FloatArray) -> FloatArray:
    means = [float(np.nanmean(c)) if (~np.isnan(c)).any() else 0.5 for c in z.T]
    return np.where(np.isnan(z), means, z)


def _error(entries: Entries) -> float:
    errors = entries.values.get(ERROR)
    if errors is None or np.isnan(errors).all():
        return 0.0
    return float(np.nanmedian(errors))
