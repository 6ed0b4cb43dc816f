"""A reader's own shapes: what is read, and what is a sentence."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import geopandas
import pytest
from shapely.geometry import Point, Polygon

from dashboard.work import shapes as work
from dashboard.work.shapes import NO_OTHERS, read_shapes


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


def test_names_are_no_longer_than_those_of_a_table(frame, tmp_path):
    path = tmp_path / "shapes.geojson"
    path.write_bytes(as_geojson(frame.assign(name="x" * 100_000)))
    assert work._answer(path)["columns"]["name"] == ["x" * 200] * 3


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
        (b"{", "x.geojson", "is no GeoJSON"),
        (b"no zip", "x.zip", "cannot be unpacked"),
        (b"\x00" * 10, "x.gpkg", "is no GeoPackage"),
    ],
)
def test_what_is_wrong_is_one_sentence(data, name, sentence):
    with pytest.raises(ValueError, match=sentence) as told:
        read_shapes(data, name)
    assert "\n" not in str(told.value)


VRT = (
    "<OGRVRTDataSource><OGRVRTLayer name='private'><SrcDataSource>{}</SrcDataSource>"
    "<GeometryType>wkbPolygon</GeometryType><GeometryField encoding='WKT' field='WKT'/>"
    "</OGRVRTLayer></OGRVRTDataSource>"
)
ALGORITHM = '{"type": "gdal_streamed_alg", "command_line": "gdal vector info", "features": []}'


def zipped(**files: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as into:
        for name, data in files.items():
            into.writestr(name, data)
    return packed.getvalue()


@pytest.mark.parametrize("name", ["x.geojson", "x.json", "x.gpkg", "x.vrt.zip", "x.shp.zip"])
def test_a_file_that_names_another_on_the_server_is_refused(name, tmp_path):
    private = tmp_path / "private.csv"
    private.write_text('WKT,diagnosis\n"POLYGON((0 0,1 0,1 1,0 0))",measles\n')
    data = VRT.format(private).encode()
    if name.endswith(".zip"):
        data = zipped(**{name.removesuffix(".zip"): data})
    path = tmp_path / f"shapes{Path(name).suffix}"
    path.write_bytes(data)
    assert set(work._answer(path)) == {"error"}


def test_readers_of_such_files_are_off_too():
    process = "import pyogrio; print(*pyogrio.list_drivers(), sep=',')"
    found = subprocess.run(
        [sys.executable, "-c", process], env=os.environ | NO_OTHERS, capture_output=True, check=True
    )
    assert {"GeoJSON", "GPKG", "ESRI Shapefile"} <= set(found.stdout.decode().strip().split(","))
    assert not {"OGR_VRT", "GDALG", "CSV", "WFS", "HTTP"} & set(found.stdout.decode().split(","))


@pytest.mark.parametrize(
    ("data", "suffix", "sentence"),
    [
        (ALGORITHM.encode(), ".json", "is no GeoJSON"),
        (b"[" * 10**5, ".geojson", "is no GeoJSON"),
        (zipped(**{f"{k}.shp": b"" for k in range(201)}), ".zip", "must hold at most 200 files"),
        (zipped(**{"a.shp": bytes(2_000)}), ".zip", "unpacks to more than"),
        (zipped(**{"../../a.shp": b"no"}), ".zip", "holds a .shp that is none"),
        (zipped(**{"a.txt": b"no"}), ".zip", "holds no .shp"),
    ],
)
def test_bombs_and_tricks_are_sentences(data, suffix, sentence, tmp_path, monkeypatch):
    monkeypatch.setattr(work, "_MOST_UNPACKED", 1_000)
    path = tmp_path / f"shapes{suffix}"
    path.write_bytes(data)
    assert sentence in work._answer(path)["error"]
    assert {each.name for each in tmp_path.iterdir()} == {path.name}


def test_points_are_no_areas(frame):
    points = frame.set_geometry([Point(k, k) for k in range(3)])
    with pytest.raises(ValueError, match="holds no areas"):
        read_shapes(as_geojson(points), "x.geojson")


def test_large_files_are_refused(monkeypatch):
    monkeypatch.setattr(work, "_MOST_BYTES", 10)
    with pytest.raises(ValueError, match="simplify its outlines"):
        read_shapes(json.dumps({"type": "FeatureCollection"}).encode(), "x.geojson")
