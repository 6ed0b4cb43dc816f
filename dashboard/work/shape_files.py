"""What a file of shapes may be. Readers of geometry also open files that name others: not here."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path, PurePosixPath

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


class ShapesError(ValueError):
    """The file is not one of shapes; the message goes on from its name."""


def checked(path: Path) -> Path:
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
