"""Simulated plant–pollinator interactions, with their truth."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from uncletc.common.validation import FloatArray, IntArray
from uncletc.data.counts import CountTensor
from uncletc.data.simulate import Truth
from uncletc.datasets.base import Dataset, Provenance, simulated_info
from uncletc.datasets.ppi_facts import ATTRIBUTES, plant_roles, visits_in_time
from uncletc.datasets.twins import LEVELS, Arrays, detection_probability, read_twin
from uncletc.model.cp import rate_tensor

EFFECTS = {
    "plant": "Plants draw more visitors or fewer.",
    "pollinator": "Some pollinators are common, others rare.",
    "visit": "Some watches find more of everything.",
    "plant × pollinator": "Pollinators have plants they prefer.",
    "pollinator × smooth(visit, 2)": "Pollinators fly over weeks.",
}
"""Effects of modes that the counts were drawn with; distances in visits."""


def load_ppi_twin() -> Dataset:
    """Simulated plant–pollinator interactions by plant, pollinator and visit.

    50 × 50 × 18 entries, 29 % observed; all of them have attributes. No species is real.

    Returns
    -------
    Dataset
        ``table`` has one row per pair observed at least once: plant, pollinator, plant_index,
        pollinator_index, guild, interactions, visits_observed, visits_with_interactions.
        ``roles`` and ``effects`` are those that the counts were drawn with, and ``truth`` is known
        everywhere.

    Raises
    ------
    DataUnavailableError
        If the file is missing or damaged.
    """
    return ppi_twin(*read_twin("ppi_twin.npz"))


def ppi_twin(header: Mapping[str, Any], arrays: Arrays) -> Dataset:
    """Build the data set from what its file holds."""
    shape = tuple(len(arrays[f"factor_{mode}"]) for mode in header["modes"])
    plants, pollinators = header["plants"], header["pollinators"]

    z = ppi_attributes(arrays)
    counts = CountTensor(
        shape,
        arrays["indices"],
        arrays["counts"],
        attributes=z,
        attribute_indices=np.indices(shape).reshape(3, -1).T,
        modes=header["modes"],
        labels=(plants, pollinators, header["visits"]),
        attribute_names=header["attributes"],
        simulated=True,
    )
    visits = _visit_table(header)
    guild = np.asarray(header["guilds"])[arrays["guild"]]
    return Dataset(
        name="ppi-twin",
        title="Simulated plant–pollinator interactions",
        counts=counts.with_groups(visits_in_time(visits)),
        table=_pair_table(counts, guild),
        mode_tables={
            "plant": pd.DataFrame({"plant": plants, "interactions": _totals(counts, 0)}),
            "pollinator": pd.DataFrame(
                {"pollinator": pollinators, "guild": guild, "interactions": _totals(counts, 1)}
            ),
            "visit": visits,
        },
        provenance=Provenance(
            simulated=True,
            period="three summers of six visits, 2011 to 2013, simulated",
            sources=(),
            rules=tuple(header["rules"]),
        ),
        truth=Truth(
            rate=ppi_rate(z, arrays), detection=detection_probability(z, arrays).reshape(shape)
        ),
        roles=plant_roles(header["attributes"]),
        effects=EFFECTS,
        attribute_info=simulated_info(header["attributes"], ATTRIBUTES),
    )


def ppi_rate(z: FloatArray, arrays: Arrays) -> FloatArray:
    """Evaluate the true λ of every plant, pollinator and visit.

    exp(zᵀβ + levels of plant, pollinator, visit and pair + course of pollinators) · Σ_f U_1 U_2 U_3

    Parameters
    ----------
    z : ndarray, shape (50 · 50 · 18, D)
        Attributes, 0 to 1, visit fastest.
    arrays : mapping of str to ndarray
        ``rate_slopes`` β of shape (D,); ``effect_plant`` (50,), ``effect_pollinator`` (50,),
        ``effect_visit`` (18,), ``effect_pair`` (50, 50), ``effect_course`` (50, 18); and the
        factors U, ``factor_plant``, ``factor_pollinator`` and ``factor_visit``.

    Returns
    -------
    ndarray, shape (50, 50, 18)
    """
    modes = ("plant", "pollinator", "visit")
    product = rate_tensor([arrays[f"factor_{mode}"].astype(np.float64) for mode in modes])
    logs = (z @ arrays["rate_slopes"]).reshape(product.shape)
    names = ("plant", "pollinator", "visit", "pair", "course")
    plant, pollinator, visit, pair, course = (
        arrays[f"effect_{name}"].astype(np.float64) for name in names
    )
    logs += plant[:, None, None] + pollinator[None, :, None] + visit[None, None]
    rate: FloatArray = product * np.exp(logs + pair[:, :, None] + course[None])
    return rate


def ppi_attributes(arrays: Arrays) -> FloatArray:
    """Spread the attributes of watches and the pollinators' guilds over all entries.

    Parameters
    ----------
    arrays : mapping of str to ndarray of uint8
        ``watch_levels`` of shape (50, 18, 6), per plant and visit, and ``guild``, (50,), the
        number of each pollinator's guild.

    Returns
    -------
    ndarray of float, shape (50 · 50 · 18, 11)
        z, 0 to 1, visit fastest.
    """
    watch = arrays["watch_levels"][:, np.newaxis] / LEVELS
    guild = np.eye(int(arrays["guild"].max()) + 1)[arrays["guild"]][:, np.newaxis]
    shape = (len(watch), len(guild), watch.shape[2])
    z = np.concatenate(
        [np.broadcast_to(part, (*shape, part.shape[-1])) for part in (watch, guild)], axis=3
    )
    return z.reshape(-1, z.shape[-1])


def _pair_table(counts: CountTensor, guild: NDArray[np.str_]) -> pd.DataFrame:
    plant, pollinator, _ = counts.indices.T
    entries = pd.DataFrame(
        {
            "plant_index": plant,
            "pollinator_index": pollinator,
            "count": counts.counts,
            "positive": counts.counts > 0,
        }
    )
    pairs = (
        entries.groupby(["plant_index", "pollinator_index"])
        .agg(
            interactions=("count", "sum"),
            visits_observed=("count", "size"),
            visits_with_interactions=("positive", "sum"),
        )
        .reset_index()
    )
    pairs.insert(0, "plant", np.asarray(counts.labels[0])[pairs["plant_index"]])
    pairs.insert(1, "pollinator", np.asarray(counts.labels[1])[pairs["pollinator_index"]])
    pairs.insert(4, "guild", guild[pairs["pollinator_index"]])
    return pairs


def _visit_table(header: Mapping[str, Any]) -> pd.DataFrame:
    first = pd.to_datetime(header["first_dates"])
    return pd.DataFrame(
        {
            "label": header["visits"],
            "year": [int(label.split("-")[0]) for label in header["visits"]],
            "number": [int(label.split("-")[1]) for label in header["visits"]],
            "first_date": first,
            "last_date": pd.to_datetime(header["last_dates"]),
            "month": first.month.astype(np.int64),
        }
    )


def _totals(counts: CountTensor, mode: int) -> IntArray:
    totals = np.zeros(counts.shape[mode], dtype=np.int64)
    np.add.at(totals, counts.indices[:, mode], counts.counts)
    return totals
