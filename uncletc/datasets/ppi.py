"""Plant–pollinator interactions, as a plant × pollinator × visit tensor."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from uncletc.common.validation import FloatArray
from uncletc.data.counts import CountTensor
from uncletc.data.groups import Group
from uncletc.data.roles import Roles
from uncletc.datasets import fetch
from uncletc.datasets.base import Dataset, described, facts, scaled
from uncletc.datasets.fetch import read_columns

FACTS = facts("ppi")
"""Sources, rules, attributes with their roles, and random effects."""

MOST_ACTIVE = 50  # plants, and pollinators, that are kept
_WATCH_COLUMNS = {
    "year": "year",
    "DATE": "date",
    "MEADOW": "meadow",
    "WATCH": "watch",
    "NO_INT": "count",
    "PLTSP_NAME": "plant",
    "VISSP_NAME": "pollinator",
    "STATUS": "status",
    "VECTOR GUILD": "guild",
    "CLOUDS": "clouds",
    "WIND": "wind",
    "TEMP": "temperature",
}
_MOST_FIELDS = 64  # of a row: rows differ in length
_CLOUD = {"S": 0.0, "PC": 0.5, "PSH": 0.5, "SH": 1.0, "C": 1.0}
_WIND = {"ST": 0.0, "S": 0.0, "B": 1.0, "BR": 1.0}
_COLDEST, _HOTTEST = 5.0, 45.0  # degrees Celsius; other readings are in another unit, or slips
_GUILDS = {"social-wasp": "social wasp", "kloeptoparasitic bee": "kleptoparasitic bee", "": "none"}
_VISIT_COLUMNS = ["label", "year", "number", "first_date", "last_date", "month"]
_BETWEEN_YEARS = 20.0  # distance of visits of different years, in visits: far


def load_ppi() -> Dataset:
    """Load plant–pollinator interactions of the H.J. Andrews Experimental Forest, 2011–2013.

    Ω holds the plants and pollinators that were both seen at the same meadow and visit; Ξ every
    plant, pollinator and visit.

    Returns
    -------
    Dataset
        ``table`` has one row per pair observed at a visit or more: ``plant``, ``pollinator``,
        ``plant_index``, ``pollinator_index`` (of the modes), ``guild``, ``interactions`` (sum over
        the visits), ``visits_observed`` and ``visits_with_interactions``. ``mode_tables`` has
        ``plant`` and ``interactions`` of "plant"; ``pollinator``, ``guild`` and ``interactions`` of
        "pollinator"; ``label``, ``year``, ``number``, ``first_date``, ``last_date`` (NaT: unknown)
        and ``month`` of "visit". ``provenance`` states the sources and every rule applied.

    Raises
    ------
    DataUnavailableError
        If a public file is neither here nor available.

    Notes
    -----
    About 5 MB are downloaded once, then checked and read from the cache.
    """
    watches = read_watches()
    flowers = read_flowers()
    plant_table = _most_active(watches, "plant")
    pollinator_table = _most_active(watches, "pollinator")
    guilds = watches.groupby("pollinator")["guild"].agg(lambda noted: noted.mode()[0])
    pollinator_table.insert(1, "guild", pollinator_table["pollinator"].map(guilds))
    visits = _visits(watches)

    rows = pd.concat([watches, flowers])
    visit = rows["year"].astype("str") + "-" + rows["visit"].astype("str")
    rows = rows.assign(  # -1: not kept
        plant_index=pd.Index(plant_table["plant"]).get_indexer(rows["plant"]),
        pollinator_index=pd.Index(pollinator_table["pollinator"]).get_indexer(rows["pollinator"]),
        visit_index=pd.Index(visits["label"]).get_indexer(visit),
    )
    shape = (len(plant_table), len(pollinator_table), len(visits))
    counts = np.zeros(shape, dtype=np.int64)
    together = rows[(rows["plant_index"] >= 0) & (rows["pollinator_index"] >= 0)]
    places = tuple(together[f"{mode}_index"] for mode in ("plant", "pollinator", "visit"))
    np.add.at(counts, places, together["count"].to_numpy(np.int64))
    observed = _seen_together(rows, shape)

    attributes = _attributes(rows, pollinator_table["guild"], visits, shape)
    tensor = CountTensor(
        shape,
        np.argwhere(observed),
        counts[observed],
        attributes=scaled(attributes),
        attribute_indices=np.indices(shape).reshape(3, -1).T,
        modes=("plant", "pollinator", "visit"),
        labels=(plant_table["plant"], pollinator_table["pollinator"], visits["label"]),
        attribute_names=tuple(attributes),
    )
    tensor = tensor.with_groups(
        visits_in_time(visits), genus_of(pollinator_table["pollinator"].astype(str).tolist())
    )
    return Dataset(
        name="ppi",
        roles=plant_roles(attributes),
        effects=FACTS.effects,
        attribute_info=described(attributes, FACTS.attributes),
        title="Plant–pollinator interactions, H.J. Andrews Experimental Forest",
        counts=tensor,
        table=pair_table(tensor, pollinator_table["guild"]),
        mode_tables={
            "plant": plant_table,
            "pollinator": pollinator_table,
            "visit": visits[_VISIT_COLUMNS],
        },
        provenance=FACTS.provenance(
            f"{visits['year'].min()} to {visits['year'].max()}, {len(visits)} visits"
        ),
    )


def read_watches() -> pd.DataFrame:
    """Read the usable rows of the watches of 2011–2013.

    Returns
    -------
    pandas.DataFrame
        One row per plant, pollinator and minute of a watch: ``plant``, ``pollinator``, ``guild``,
        ``meadow`` (text), ``year``, ``visit`` (of the year, from 1), ``count`` (interactions ≥ 0),
        ``date`` (NaT: unknown), ``wind`` and ``cloud`` (0 to 1; NaN: unknown) and
        ``temperature`` (°C; NaN: unknown).
    """
    raw = pd.read_csv(
        fetch.find(FACTS.paths["watches"]),
        header=None,
        names=range(_MOST_FIELDS),
        dtype="str",
        keep_default_na=False,
        encoding="utf-8-sig",
        encoding_errors="replace",
    ).fillna("")
    place = {name: at for at, name in raw.iloc[0].items() if name}
    table = pd.DataFrame({own: raw[place[name]][1:] for name, own in _WATCH_COLUMNS.items()})
    table = table.apply(lambda column: column.str.strip())
    for column in ("year", "watch", "count"):
        table[column] = pd.to_numeric(table[column], errors="coerce")
    usable = (
        table["status"].isin(["1", ""])
        & table[["year", "watch", "count"]].notna().all(axis=1)
        & ~table[["plant", "pollinator"]].isin(["", "NA"]).any(axis=1)
    )
    table = table[usable].reset_index(drop=True)
    year = table["year"].astype(np.int64) + 2000
    date = pd.to_datetime(table["date"], format="%m/%d/%y", errors="coerce").dt.as_unit("ns")
    temperature = pd.to_numeric(table["temperature"], errors="coerce")
    watches: pd.DataFrame = table.assign(
        guild=table["guild"].replace(_GUILDS),
        year=year,
        visit=_whole_visits(table["watch"]),
        count=table["count"].astype(np.int64),
        date=date.where(date.dt.year == year),
        wind=table["wind"].str.upper().map(_WIND),
        cloud=table["clouds"].str.upper().map(_CLOUD),
        temperature=temperature.where(temperature.between(_COLDEST, _HOTTEST)),
    )
    return watches.drop(columns=["watch", "status", "clouds"])


def read_flowers() -> pd.DataFrame:
    """Read the plants found in flower by the surveys of 2011–2015.

    Returns
    -------
    pandas.DataFrame
        One row per plot and plant: ``plant``, ``meadow`` (text), ``year``, ``visit`` (of the
        year, from 1) and ``flowers`` (stalks times flowers per stalk ≥ 0).
    """
    numeric = ("YEAR", "WATCH", "NO_STALK", "NO_FLWS")
    table = read_columns(FACTS.paths["surveys"], ("MEADOW", "FLW_STATUS", "PLTSP_NAME"), numeric)
    table = table[(table["FLW_STATUS"] == "FLW") & (table["PLTSP_NAME"].str.strip() != "")]
    return pd.DataFrame(
        {
            "plant": table["PLTSP_NAME"].str.strip(),
            "meadow": table["MEADOW"].str.strip(),
            "year": table["YEAR"].astype(np.int64),
            "visit": _whole_visits(table["WATCH"]),
            "flowers": (table["NO_STALK"] * table["NO_FLWS"]).fillna(0),
        }
    )


def _whole_visits(watch: pd.Series) -> pd.Series:
    """Put a half-numbered round, an early part of a visit, into the next whole one."""
    return -(-watch // 1).astype(np.int64)


def _most_active(watches: pd.DataFrame, mode: str) -> pd.DataFrame:
    """Rank the names of a mode by their interactions and keep the first ones."""
    active = watches.groupby(mode)["count"].sum().sort_values(ascending=False, kind="stable")
    return active.head(MOST_ACTIVE).rename("interactions").reset_index()


def _visits(watches: pd.DataFrame) -> pd.DataFrame:
    """Describe each visit, in order of time: its dates and the means of its conditions."""
    conditions = ["day_of_year", "wind", "cloud", "temperature"]
    by_visit = watches.assign(day_of_year=watches["date"].dt.day_of_year).groupby(["year", "visit"])
    means = by_visit[conditions].mean()
    means = means.fillna(means.median()).fillna(0.0)  # without any, a constant has no effect
    dates = by_visit["date"].agg(first_date="min", last_date="max")
    visits: pd.DataFrame = dates.join(means).reset_index().rename(columns={"visit": "number"})
    year, number = visits["year"].astype("str"), visits["number"].astype("str")
    visits.insert(0, "label", year + "-" + number)
    middle = pd.to_timedelta(visits["day_of_year"].round().clip(lower=1) - 1, unit="D")
    return visits.assign(month=(pd.to_datetime(year + "-01-01") + middle).dt.month)


def _seen_together(rows: pd.DataFrame, shape: tuple[int, int, int]) -> NDArray[np.bool_]:
    """Which pairs were seen at the same meadow of a visit; of ``shape``."""
    place = ["visit_index", "meadow"]
    plants = rows[[*place, "plant_index"]].drop_duplicates()
    pollinators = rows[[*place, "pollinator_index"]].drop_duplicates()
    both = plants.merge(pollinators, on=place)[["plant_index", "pollinator_index", "visit_index"]]
    observed = np.zeros(shape, dtype=bool)
    observed[tuple(both[(both >= 0).all(axis=1)].to_numpy().T)] = True
    return observed


def _attributes(
    rows: pd.DataFrame, guild: pd.Series, visits: pd.DataFrame, shape: tuple[int, int, int]
) -> dict[str, FloatArray]:
    """Collect the unscaled attributes of every entry, by name; each of ``shape``."""
    abundance = np.zeros((shape[0], shape[2]))
    kept = rows[(rows["plant_index"] >= 0) & (rows["visit_index"] >= 0)].dropna(subset="flowers")
    np.add.at(abundance, (kept["plant_index"], kept["visit_index"]), kept["flowers"])
    values = {
        "flower abundance": np.log1p(abundance)[:, np.newaxis, :],
        "month": visits["month"].to_numpy(),
        "day of year": visits["day_of_year"].to_numpy(),
        "wind": visits["wind"].to_numpy(),
        "cloud": visits["cloud"].to_numpy(),
        "air temperature": visits["temperature"].to_numpy(),
    }
    for name in sorted(set(guild)):
        values[f"guild: {name}"] = (guild == name).to_numpy()[:, np.newaxis]
    return {
        name: np.broadcast_to(array.astype(np.float64), shape) for name, array in values.items()
    }


def pair_table(counts: CountTensor, guilds: ArrayLike) -> pd.DataFrame:
    """Return one row per plant and pollinator with a count, and what was seen of them together."""
    entries = pd.DataFrame(counts.indices[:, :2], columns=["plant_index", "pollinator_index"])
    entries = entries.assign(count=counts.counts, positive=counts.counts > 0)
    pairs = entries.groupby(["plant_index", "pollinator_index"], as_index=False).agg(
        interactions=("count", "sum"),
        visits_observed=("count", "size"),
        visits_with_interactions=("positive", "sum"),
    )
    pairs.insert(0, "plant", np.asarray(counts.labels[0])[pairs["plant_index"]])
    pairs.insert(1, "pollinator", np.asarray(counts.labels[1])[pairs["pollinator_index"]])
    pairs.insert(4, "guild", np.asarray(guilds)[pairs["pollinator_index"]])
    return pairs


def plant_roles(attributes: Iterable[str]) -> Roles:
    """Return the role of each attribute; those of a guild have that of "guild"."""
    stated = ((name, FACTS.roles.of(name.partition(":")[0])) for name in attributes)
    return Roles(replace(role, attribute=name) for name, role in stated)


def genus_of(pollinators: Sequence[str]) -> Group:
    """Return pollinators by genus, the first word of their names."""
    genera, codes = np.unique([name.partition(" ")[0] for name in pollinators], return_inverse=True)
    return Group("genus", ["pollinator"], codes, genera.tolist())


def visits_in_time(visits: pd.DataFrame) -> Group:
    """Return visits with positions: those of a year are near each other.

    Parameters
    ----------
    visits : DataFrame
        One row per visit: ``label``, ``year`` and ``number``.
    """
    when = visits["number"] + _BETWEEN_YEARS * (visits["year"] - visits["year"].min())
    labels = visits["label"].astype(str).tolist()
    positions = when.to_numpy(dtype=np.float64)[:, None]
    return Group("visit", ["visit"], np.arange(len(visits)), labels, positions)
