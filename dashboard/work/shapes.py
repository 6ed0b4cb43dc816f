"""A reader's own shapes, read in a process of their own: what is wrong with a file stays there.

::

    python -m dashboard.work.shapes FILE ANSWER

The answer is JSON: ``columns``, ``shapes`` (of each the outer rings, as points of longitude and
latitude) and ``notes``; or ``error``, a sentence.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import tempfile
import warnings
import zipfile
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from dashboard.work.upload_limits import READERS, limit_memory, plain_name

ENDINGS = (".geojson", ".json", ".gpkg", ".zip")
_MOST_BYTES = 30e6
_MOST_SHAPES = 5_000
_MOST_POINTS = 60_000  # drawn; outlines with more are simplified
_SECONDS = 60
_LONGEST = 200  # characters of a name, as of a level of a table
_MOST_UNPACKED = 300e6
_MOST_FILES = 200  # in a zip
_PARTS = (".shx", ".dbf", ".prj", ".cpg")  # that a shapefile is read with
_SHAPEFILE, _GEOPACKAGE = b"\x00\x00\x27\x0a", b"SQLite format 3\x00"  # first bytes
_GEOJSON = ("FeatureCollection", "Feature")
_NO_GEOJSON = "is no GeoJSON; export the shapes as GeoJSON in longitude and latitude"

_OTHERS = (  # forms that GDAL reads beside the three: some name files, addresses or commands
    "ADBC,AIVector,AVCBin,AVCE00,AmigoCloud,CSV,CSW,Carto,DGN,DXF,EDIGEO,EEDA,ESRIJSON,"
    "Elasticsearch,FlatGeobuf,GDALG,GML,GMLAS,GPSBabel,GPX,GTFS,GeoJSONSeq,GeoRSS,HTTP,"
    "Idrisi,JML,JSONFG,KML,LIBKML,LVBAG,MBTiles,MEM,MVT,MapInfo File,MapML,MiraMonVector,NAS,"
    "NGW,OAPIF,ODS,OGCAPI,OGR_GMT,OGR_PDS,OGR_VRT,OSM,OpenFileGDB,PCIDSK,PDF,PDS4,PGDUMP,"
    "PLSCENES,PMTiles,PostgreSQL,S57,SQLite,SXF,Selafin,TopoJSON,VDV,VFK,VICAR,VRT,WAsP,WFS,"
    "XLSX"
)
NO_OTHERS = {
    "GDAL_SKIP": _OTHERS,
    "CPL_VSIL_CURL_ALLOWED_EXTENSIONS": ".none",
}
"""Variables that keep the reader from forms not asked for, and from the network."""

Ring = list[list[float]]


@dataclass(frozen=True, eq=False, kw_only=True)
class Shapes:
    """Shapes of a file.

    Attributes
    ----------
    name : str
        Of the file.
    columns : dict of str to list of str
        What the file says of each shape.
    rings : list of list of ring
        Of each shape its outer rings: points of longitude and latitude, or of whatever plane the
        file is in.
    notes : tuple of str
        What was left out or changed, one sentence each.
    """

    name: str
    columns: dict[str, list[str]]
    rings: list[list[Ring]]
    notes: tuple[str, ...] = ()


def read_shapes(data: bytes, name: str) -> Shapes:
    """Read GeoJSON, a GeoPackage, or a shapefile in a zip.

    Raises
    ------
    ValueError
        With one sentence that says what is wrong and what to do.
    """
    name = plain_name(name)
    suffix = Path(name).suffix.lower()
    if suffix not in ENDINGS:
        raise ValueError(
            f"{name} must be GeoJSON (.geojson), a GeoPackage (.gpkg) or a shapefile with all its "
            "parts in one .zip"
        )
    if len(data) > _MOST_BYTES:
        raise ValueError(
            f"{name} must be at most {_MOST_BYTES / 1e6:.0f} MB, got {len(data) / 1e6:.0f} MB; "
            "simplify its outlines"
        )
    with tempfile.TemporaryDirectory(prefix="shapes-") as folder:
        path, answer = Path(folder) / f"shapes{suffix}", Path(folder) / "answer.json"
        path.write_bytes(data)
        command = [sys.executable, "-m", "dashboard.work.shapes", str(path), str(answer)]
        try:
            with READERS:
                subprocess.run(
                    command,
                    capture_output=True,
                    timeout=_SECONDS,
                    check=True,
                    env=os.environ | NO_OTHERS,
                )
            said = json.loads(answer.read_text(encoding="utf-8"))
        except subprocess.TimeoutExpired as error:
            raise ValueError(
                f"{name} takes longer than {_SECONDS} s to read; simplify its outlines"
            ) from error
        except (subprocess.CalledProcessError, OSError, ValueError) as error:
            raise ValueError(f"{name} cannot be read as shapes; save it as GeoJSON") from error
    if "error" in said:
        raise ValueError(f"{name} {said['error']}")
    return Shapes(
        name=name, columns=said["columns"], rings=said["shapes"], notes=tuple(said["notes"])
    )


def _answer(path: Path) -> dict[str, Any]:
    """What a file holds, or what is wrong with it."""
    try:
        path = _checked(path)
    except ShapesError as error:
        return {"error": str(error)}
    try:
        import geopandas

        frame = geopandas.read_file(path)
    except Exception:
        return {"error": "cannot be read as shapes; save it as GeoJSON"}
    if not isinstance(frame, geopandas.GeoDataFrame):
        return {"error": "holds a table without shapes"}
    notes = []
    frame = frame[frame.geom_type.isin(["Polygon", "MultiPolygon"])]
    whole = len(frame)
    frame = frame[~(frame.geometry.isna() | frame.geometry.is_empty)]
    if not len(frame):
        return {"error": "holds no areas; points and lines cannot be coloured"}
    if len(frame) > _MOST_SHAPES:
        return {"error": f"must hold at most {_MOST_SHAPES:,} areas, got {len(frame):,}"}
    if len(frame) < whole:
        notes.append(f"{whole - len(frame)} areas without an outline are left out.")
    broken = ~frame.geometry.is_valid
    if broken.any():
        frame = frame.set_geometry(frame.geometry.make_valid())
        notes.append(f"{int(broken.sum())} outlines cross themselves and were mended.")
    if frame.crs is not None:
        frame = frame.to_crs(4326)
    bounds = frame.total_bounds
    if not all(map(math.isfinite, bounds)):
        return {"error": "has outlines without an end"}
    points = int(frame.geometry.count_coordinates().sum())
    if points > _MOST_POINTS:
        span = max(bounds[2] - bounds[0], bounds[3] - bounds[1])
        step = span / 2_000
        while points > _MOST_POINTS:
            frame = frame.set_geometry(frame.geometry.simplify(step))
            points, step = int(frame.geometry.count_coordinates().sum()), 2 * step
        notes.append("Outlines are drawn with fewer points than the file has.")
    columns = {
        str(column)[:_LONGEST]: [str(value)[:_LONGEST] for value in frame[column]]
        for column in frame.columns
        if column != frame.geometry.name
    }
    return {
        "columns": columns,
        "shapes": [_outer(each) for each in frame.geometry],
        "notes": notes,
    }


def _outer(shape: Any) -> list[Ring]:
    parts = getattr(shape, "geoms", [shape])
    rings = [part.exterior.coords for part in parts if part.geom_type == "Polygon"]
    return [[[round(x, 5), round(y, 5)] for x, y, *_ in ring] for ring in rings]


class ShapesError(ValueError):
    """The file is not one of shapes; the message goes on from its name."""


def _checked(path: Path) -> Path:
    """Return what is to be read of a file: itself, or the shapefile that was packed in it.

    Raises
    ------
    ShapesError
        If the file is not what its ending says.
    """
    if path.suffix == ".zip":
        return _unpacked(path)
    if path.suffix == ".gpkg":
        with path.open("rb") as file:
            if file.read(len(_GEOPACKAGE)) != _GEOPACKAGE:
                raise ShapesError("is no GeoPackage; export the shapes as GeoJSON")
        return path
    try:
        said = json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        raise ShapesError(_NO_GEOJSON) from None
    if not isinstance(said, dict) or said.get("type") not in _GEOJSON:
        raise ShapesError(_NO_GEOJSON)
    return path


def _unpacked(path: Path) -> Path:
    """Unpack the largest shapefile of a zip beside it, under names of our own."""
    try:
        with zipfile.ZipFile(path) as packed:
            files = packed.infolist()
            if len(files) > _MOST_FILES:
                raise ShapesError(f"must hold at most {_MOST_FILES} files, got {len(files):,}")
            named = {each.filename.lower(): each for each in files}
            shapes = [name for name in named if name.endswith(".shp") and "__macosx" not in name]
            if not shapes:
                raise ShapesError("holds no .shp; pack the .shp, .shx, .dbf and .prj together")
            stem = PurePosixPath(max(shapes, key=lambda name: named[name].file_size)).with_suffix(
                ""
            )
            room = int(_MOST_UNPACKED)
            for suffix in (".shp", *_PARTS):
                part = named.get(f"{stem}{suffix}")
                if part is None:
                    continue
                with packed.open(part) as file:
                    data = file.read(room + 1)
                room -= len(data)
                if room < 0:
                    most = f"{_MOST_UNPACKED / 1e6:.0f} MB"
                    raise ShapesError(f"unpacks to more than {most}; simplify its outlines")
                if suffix == ".shp" and not data.startswith(_SHAPEFILE):
                    raise ShapesError("holds a .shp that is none; export the shapes as GeoJSON")
                path.with_name(f"unpacked{suffix}").write_bytes(data)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, OSError):
        raise ShapesError(
            "cannot be unpacked; pack the .shp, .shx, .dbf and .prj together, without a password"
        ) from None
    return path.with_name("unpacked.shp")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    limit_memory()
    Path(sys.argv[2]).write_text(json.dumps(_answer(Path(sys.argv[1]))), encoding="utf-8")
