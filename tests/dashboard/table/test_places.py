"""Shapes joined to levels by name, and places drawn."""

from __future__ import annotations

import pandas as pd

from dashboard.table.charts import places_chart
from dashboard.table.places import join, key_columns
from dashboard.work.shapes import Shapes

RING = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 0.0]]
SHAPES = Shapes(
    name="x.geojson",
    columns={"code": ["1", "2", "3"], "name": [" Site A", "site b", "elsewhere"]},
    rings=[[RING], [RING, RING], [RING]],
)


def test_the_column_that_names_most_levels_comes_first():
    assert key_columns(SHAPES, ["site a", "Site B"]) == ["name", "code"]
    assert key_columns(SHAPES, ["1", "2", "9"]) == ["code", "name"]


def test_names_are_joined_whatever_their_case():
    joined = join(SHAPES, "name", ["site a", "Site B", "site c"])
    assert joined.rings == {0: [RING], 1: [RING, RING]}
    assert joined.sentence == "2 of 3 levels have a shape; without one: site c."
    assert join(SHAPES, "code", ["1.0", "2", "3"]).sentence == "3 of 3 levels have a shape."


def test_shapes_have_a_colour_for_each_value_and_a_mark_to_point_at():
    places = pd.DataFrame(
        {"label": ["a", "b", "c"], "value": [1.0, 2.0, 5.0], "counted": 3, "index_0": [0, 1, 2]}
    )
    rings = {0: [RING], 1: [RING, RING]}
    *areas, marks = places_chart(places, rings, title="p", limits=(1, 2), log=False).data
    assert len({area.fillcolor for area in areas}) == 2
    assert list(marks.customdata[:, 0]) == ["a", "b"]
    assert list(marks.x) == [0.5, 0.5]
