"""The map of *Your table*: levels that lie somewhere, or shapes that a reader brings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import streamlit as st

from dashboard.countymap.component import show_county_map
from dashboard.countymap.picture import by_county, county_map
from dashboard.shared.charts.places import located_mode
from dashboard.shared.own_table import PREFIX
from dashboard.shared.sidebar.widgets import segmented
from dashboard.shared.text.page import show_chart
from dashboard.table.charts import places_chart
from dashboard.table.view import LevelValues
from dashboard.work.shapes import Ring, Shapes, read_shapes
from uncletc.datasets import Dataset

_SHAPES = f"{PREFIX}shapes"
_NAMED = 5  # levels that a sentence names


@dataclass(frozen=True, eq=False, kw_only=True)
class Joined:
    """Shapes by the levels that they are of.

    Attributes
    ----------
    rings : dict of int to list of ring
        Outer rings by the index of a level.
    sentence : str
        How many levels have one, and which have none.
    """

    rings: dict[int, list[Ring]]
    sentence: str


def key_columns(shapes: Shapes, levels: Sequence[str]) -> list[str]:
    """Columns of a file of shapes, the one first that names most levels."""
    wanted = {_plain(level) for level in levels}
    hits = {name: len(wanted & set(map(_plain, values))) for name, values in shapes.columns.items()}
    return sorted(hits, key=lambda column: -hits[column])


def join(shapes: Shapes, column: str, levels: Sequence[str]) -> Joined:
    """Join the shapes whose value in a column is the name of a level, whatever its case."""
    by_name: dict[str, list[Ring]] = {}
    for value, rings in zip(shapes.columns[column], shapes.rings, strict=True):
        by_name.setdefault(_plain(value), []).extend(rings)
    found = {i: by_name[_plain(name)] for i, name in enumerate(levels) if _plain(name) in by_name}
    without = [level for i, level in enumerate(levels) if i not in found]
    sentence = f"{len(found):,} of {len(levels):,} levels have a shape"
    if without:
        named = ", ".join(without[:_NAMED]) + (", …" if len(without) > _NAMED else "")
        sentence = f"{sentence}; without one: {named}"
    return Joined(rings=found, sentence=f"{sentence}.")


def _plain(value: str) -> str:
    """A name without case and spaces at its ends; a whole number without its decimals."""
    return value.strip().casefold().removesuffix(".0")


def place_mode(dataset: Dataset) -> int:
    """The mode that is drawn as a map: one whose levels lie somewhere, or that shapes are of."""
    located, names = located_mode(dataset) or 0, list(dataset.counts.modes)
    if _SHAPES not in st.session_state:
        return located
    chosen = segmented(
        "Shapes are of",
        names,
        default=names[located],
        key=f"{PREFIX}shapes-of",
        wrap=True,
        help="The mode whose levels the shapes are.",
    )
    return names.index(chosen)


def places_map(dataset: Dataset, name: str, mode: int, values: LevelValues) -> None:
    """Draw the values of places where they lie, or as the shapes that a reader brings."""
    here = st.container()
    joined = _choose_shapes(dataset, mode)
    process = {"title": values.title, "limits": values.limits, "log": values.log}
    alt = f"Map of {len(values.groups):,} levels of {name} by {values.title}"
    if joined is not None:
        chart = partial(places_chart, values.groups, joined.rings, **process)
        show_chart(chart, key="table-places", alt=alt, where=here)
        return
    if mode != located_mode(dataset):
        st.info("Nothing says where these levels lie. Bring their shapes to see a map.")
        return
    known = dataset.mode_tables[dataset.counts.modes[mode]].reset_index(drop=True)
    where = ["fips"] if "fips" in known else ["latitude", "longitude"]
    places = values.groups.join(known[where], on="index_0").dropna(subset=where)
    if where != ["fips"]:
        show_chart(
            partial(places_chart, places, **process), key="table-places", alt=alt, where=here
        )
        return
    notes = [f"{row.label}: {row.counted:,} counted" for row in places.itertuples()]
    counties = by_county(places.assign(note=notes))
    with here:
        show_county_map(
            county_map(counties, hover=("note",), missing="no value", **process),
            key="table-map",
            alt=alt,
        )


def _choose_shapes(dataset: Dataset, mode: int) -> Joined | None:
    """Ask for shapes of the levels of a mode, and for the column that names them."""
    shapes: Shapes | None = st.session_state.get(_SHAPES)
    nowhere = shapes is None and mode != located_mode(dataset)
    with st.expander("Shapes of your own", expanded=nowhere, icon=":material/layers:"):
        st.markdown(
            "GeoJSON, a GeoPackage, or a shapefile with all its parts in one zip. One column must "
            "name the levels; the file stays in this session."
        )
        file = st.file_uploader(
            "Shapes",
            key=f"{PREFIX}shapes-file",
            max_upload_size=30,
            help="Up to 30 MB and 5,000 areas.",
        )
        if file is not None and (shapes is None or shapes.name != file.name):
            try:
                with st.spinner("Reading the shapes …"):
                    shapes = st.session_state[_SHAPES] = read_shapes(file.getvalue(), file.name)
            except ValueError as error:
                st.error(f"{error}.", icon=":material/error:")
                return None
            st.rerun()
        if shapes is None:
            return None
        levels = dataset.counts.labels[mode]
        columns = key_columns(shapes, levels)
        if not columns:
            st.error("This file names no shape: it needs a column beside the outlines.")
            return None
        column = st.selectbox(
            "Column with the names",
            columns,
            key=f"{PREFIX}shapes-column-{mode}",
            help="The one that names most levels comes first.",
        )
        joined = join(shapes, column, levels)
        st.text(" ".join([joined.sentence, *shapes.notes]))
    return joined if joined.rings else None
