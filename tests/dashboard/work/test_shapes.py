"""A reader's own shapes: what is read, and what is a sentence."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path

import geopandas
import pytest
from shapely.geometry import Point, Polygon

from dashboard.work import shapes as work
from dashboard.work.shapes import read_shapes


def square(x: float, y: float) -> Polygon:
    return Polygon([(x, y), (x + 1, y), (x + 1, y + 1), (x, y + 1)])


@pytest.fixture
def frame() -> geopandas.GeoDataFrame:
    names = {"name": ["site 1", "site 2", "site 3"], "code": [1, 2, 3]}
    return geopandas.GeoDataFrame(
        names, geometry=[square(7 + k, 46) for k in range(3)], crs="EPSG:4326"
    )


def as_geojson(frame: geopandas.GeoDataFrame) -> bytes:
    return frame.to_json().encode()


def test_geojson(frame):
    found = read_shapes(as_geojson(frame), "sites.geojson")
    assert found.columns["name"] == ["site 1", "site 2", "site 3"]
    assert [len(rings) for rings in found.rings] == [1, 1, 1]
    assert [7.0, 46.0] in found.rings[0][0]


def test_geopackage_and_zipped_shapefile_in_a_plane(frame, tmp_path: Path):
    plane = frame.to_crs(3857)
    plane.to_file(tmp_path / "sites.gpkg")
    plane.to_file(tmp_path / "sites.shp")
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as files:
        for path in tmp_path.glob("sites.*"):
            if path.suffix != ".gpkg":
                files.write(path, path.name)
    for data, name in (
        ((tmp_path / "sites.gpkg").read_bytes(), "sites.gpkg"),
        (packed.getvalue(), "sites.zip"),
    ):
        found = read_shapes(data, name)
        assert found.columns["name"] == ["site 1", "site 2", "site 3"]
        x, y = found.rings[0][0][0]
        assert 7 - 1e-4 <= x <= 8 + 1e-4
        assert 46 - 1e-4 <= y <= 47 + 1e-4


def test_crossing_outlines_are_mended_and_said(frame):
    bow = Polygon([(0, 0), (1, 1), (1, 0), (0, 1)])
    found = read_shapes(as_geojson(frame.set_geometry([bow, *frame.geometry[1:]])), "x.geojson")
    assert "1 outlines cross themselves and were mended." in found.notes


@pytest.mark.parametrize(
    ("data", "name", "sentence"),
    [
        (b"", "x.csv", "must be GeoJSON"),
        (b"{", "x.geojson", "cannot be read as shapes"),
        (b"no zip", "x.zip", "is no zip file"),
        (b"\x00" * 10, "x.gpkg", "cannot be read as shapes"),
    ],
)
def test_what_is_wrong_is_one_sentence(data, name, sentence):
    with pytest.raises(ValueError, match=sentence) as told:
        read_shapes(data, name)
    assert "\n" not in str(told.value)


def test_points_are_no_areas(frame):
    points = frame.set_geometry([Point(k, k) for k in range(3)])
    with pytest.raises(ValueError, match="holds no areas"):
        read_shapes(as_geojson(points), "x.geojson")


def test_large_files_are_refused(monkeypatch):
    monkeypatch.setattr(work, "_MOST_BYTES", 10)
    with pytest.raises(ValueError, match="simplify its outlines"):
        read_shapes(json.dumps({"type": "FeatureCollection"}).encode(), "x.geojson")
