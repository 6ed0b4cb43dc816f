"""Counties, their cells, and pairs of species of a data set, named and in order. Pure."""

from __future__ import annotations

import pandas as pd

from uncletc.datasets import Dataset


def is_covid(dataset: Dataset) -> bool:
    """Whether the first two modes are latitude and longitude of counties; else two species."""
    return "fips" in dataset.table


def pair_columns(dataset: Dataset) -> list[str]:
    """Columns of the table that hold the indices of the first two modes."""
    if is_covid(dataset):
        return ["latitude_index", "longitude_index"]
    return ["plant_index", "pollinator_index"]


def name_columns(dataset: Dataset) -> list[str]:
    """Columns of the table that name a county or an interaction."""
    return ["fips", "county", "state"] if is_covid(dataset) else ["plant", "pollinator"]


def labels_of_pairs(table: pd.DataFrame) -> pd.Series:
    """Names of interactions, from a table with plant and pollinator."""
    return table["plant"] + " – " + table["pollinator"]


def labels_of_counties(table: pd.DataFrame) -> pd.Series:
    """Names of counties, from a table with county and state."""
    return table["county"] + ", " + table["state"]


def place_table(dataset: Dataset) -> pd.DataFrame:
    """Counties or interactions with attributes: key, label, and their two indices.

    Most populous or most often seen first; interactions seen at least once.
    """
    table, covid = dataset.table, is_covid(dataset)
    if not covid:
        table = table[table["interactions"] > 0]
    size = "population" if covid else "interactions"
    table = table.sort_values(size, ascending=False, kind="stable")
    label = labels_of_counties(table) if covid else labels_of_pairs(table)
    first, second = (table[column] for column in pair_columns(dataset))
    listed = pd.DataFrame(
        {"key": table["fips"] if covid else label, "label": label, "first": first, "second": second}
    )
    attributed = pd.MultiIndex.from_arrays(dataset.counts.attribute_indices[:, :2].T)
    has_attributes = pd.MultiIndex.from_frame(listed[["first", "second"]]).isin(attributed)
    return listed[has_attributes].reset_index(drop=True)


def cells(table: pd.DataFrame) -> pd.DataFrame:
    """One row per cell of counties, the row of its most populous one, with its label.

    A cell is named after that county; "+2" means that two more share it.
    """
    largest = table.sort_values("population", ascending=False, kind="stable")
    largest = largest.drop_duplicates(["latitude_index", "longitude_index"])
    more = [f" +{n - 1}" if n > 1 else "" for n in largest["counties_in_cell"]]
    return largest.assign(label=labels_of_counties(largest) + more)


def cell_notes(table: pd.DataFrame) -> list[str | None]:
    """What to say of counties that share their values with others; None where alone."""
    return [
        f"one value for the {n} counties of its cell" if n > 1 else None
        for n in table["counties_in_cell"]
    ]
