"""Make the county shapes the maps draw and the county points the simulators use.

Run ``python data/make_county_shapes.py`` in an environment with the ``test`` extra; the same
package versions write the same bytes. The source is the Census Bureau's cartographic boundary
files of 2016 (public domain), which the package ``plotly-geo`` carries. Connecticut has its
eight counties and Alaska its boroughs of that year.

It writes

- ``dashboard/static/counties.json``: GeoJSON, one feature per county of the 50 states and DC,
  its id the 5-digit FIPS code, its properties the county's full name and the state's postal code;
- ``dashboard/static/topojson/usa_110m.json``: the base map plotly.js asks for before it draws
  any map of scope "usa", here with state borders only;
- ``data/county_centroids.csv``: a point inside each county, and its land area.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from typing import Any

import geopandas as gpd
import numpy as np
import pandas as pd
import shapely
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parent.parent
STATIC = ROOT / "dashboard" / "static"
GRID = 1000  # steps to a degree; one is a thirtieth of a pixel on a map 1400 px wide
TOLERANCE = 0.03  # degrees, about one pixel there
TOLERANCE_ALASKA = 0.08  # the projection draws Alaska at about a third of the scale
SMALLEST_PART = 0.001  # square degrees; smaller islands are under a pixel

# The legal kind of county, as the Census Bureau codes it. Baltimore County is not Baltimore city.
SUFFIXES = {
    "00": "",
    "03": " City and Borough",
    "04": " Borough",
    "05": " Census Area",
    "06": " County",
    "12": " Municipality",
    "15": " Parish",
    "25": " city",
}

# Every layer plotly.js may look up. An absent name is an error there, an empty one draws nothing.
LAYERS = ("coastlines", "countries", "lakes", "land", "ocean", "rivers", "subunits")


def read_census(level: str) -> gpd.GeoDataFrame:
    """Return the Census shapes of ``level``, "county" or "state", in NAD83 degrees."""
    path = files("_plotly_geo") / "package_data" / f"cb_2016_us_{level}_500k.shp"
    return gpd.read_file(str(path), encoding="utf-8").set_crs("EPSG:4269")


def read_counties() -> gpd.GeoDataFrame:
    """Return the counties of the 50 states and DC: fips, county, state, land_km2, geometry."""
    states = read_census("state").set_index("STATEFP")["STUSPS"]
    census = read_census("county")
    census = census[census["STATEFP"].astype(int) <= 56].sort_values("GEOID", ignore_index=True)
    return gpd.GeoDataFrame(
        {
            "fips": census["GEOID"],
            "county": census["NAME"] + census["LSAD"].map(SUFFIXES),
            "state": census["STATEFP"].map(states),
            "land_km2": (census["ALAND"] / 1e6).round(1),
        },
        geometry=census.geometry,
    )


def simplify(counties: gpd.GeoDataFrame) -> gpd.GeoDataFrame:
    """Return ``counties`` with fewer corners, neighbours still sharing every border.

    Parts smaller than `SMALLEST_PART` go, but each county keeps its largest.
    """
    parts = counties[["fips", "state", "geometry"]].explode(ignore_index=True)
    area = pd.Series(shapely.area(parts.geometry.array))
    largest = area.groupby(parts["fips"]).transform("max")
    parts = parts[(area >= SMALLEST_PART) | (area == largest)].reset_index(drop=True)

    shapes = np.asarray(parts.geometry.array)
    alaska = (parts["state"] == "AK").to_numpy()
    for group, tolerance in ((alaska, TOLERANCE_ALASKA), (~alaska, TOLERANCE)):
        shapes[group] = shapely.coverage_simplify(shapes[group], tolerance)
    parts = parts.assign(geometry=shapes).dissolve("fips", method="coverage")
    return counties.assign(geometry=parts.geometry.loc[counties["fips"]].array)


def on_grid(shape: shapely.Geometry) -> NDArray[np.int64]:
    """Return the (n, 2) corners of ``shape``, longitude and latitude, in whole steps of `GRID`."""
    return np.rint(shapely.get_coordinates(shape) * GRID).astype(np.int64)


def ring_coordinates(ring: shapely.LinearRing) -> list[list[float]]:
    """Return the ring's rounded corners without repeats, closed; empty where nothing is left."""
    corners = (on_grid(ring) / GRID).tolist()
    kept = [corners[0], *(b for a, b in pairwise(corners) if a != b)]
    return kept if len(kept) >= 4 else []


def geojson_geometry(shape: shapely.Polygon | shapely.MultiPolygon) -> dict[str, Any]:
    """Return ``shape`` as GeoJSON with exterior rings clockwise.

    d3, which draws Plotly's maps, measures area on the sphere: a ring that runs the other way
    is the rest of the globe.
    """
    polygons = []
    for polygon in shapely.get_parts(shapely.orient_polygons(shape, exterior_cw=True)):
        rings = [ring_coordinates(r) for r in (polygon.exterior, *polygon.interiors)]
        if rings[0]:
            polygons.append([ring for ring in rings if ring])
    if len(polygons) == 1:
        return {"type": "Polygon", "coordinates": polygons[0]}
    return {"type": "MultiPolygon", "coordinates": polygons}


def county_geojson(counties: gpd.GeoDataFrame) -> dict[str, Any]:
    """Return the GeoJSON the choropleths read."""
    features = [
        {
            "type": "Feature",
            "id": row.fips,
            "properties": {"county": row.county, "state": row.state},
            "geometry": geojson_geometry(row.geometry),
        }
        for row in counties.itertuples()
    ]
    return {"type": "FeatureCollection", "features": features}


def state_borders(counties: gpd.GeoDataFrame) -> Iterable[shapely.LineString]:
    """Return the outlines of the states, each stretch of border once."""
    states = counties.dissolve("state", method="coverage")
    mesh = shapely.line_merge(shapely.union_all(states.boundary.array))
    return shapely.get_parts(mesh.normalize())


def base_map(borders: Iterable[shapely.LineString]) -> dict[str, Any]:
    """Return the TopoJSON plotly.js loads as its base map, with ``borders`` in two layers.

    Plotly draws the layer "subunits", meant for states, under a choropleth and "rivers" over
    it. The borders stand in both, so that a figure can have them on top.
    """
    arcs = []
    for line in borders:
        steps = on_grid(line)
        deltas = np.vstack([steps[:1], np.diff(steps, axis=0)])
        moves = deltas[1:][deltas[1:].any(axis=1)]
        if len(moves) >= (3 if line.is_closed else 1):  # fewer is a gap finer than the grid
            arcs.append([deltas[0].tolist(), *moves.tolist()])
    empty = {"type": "GeometryCollection", "geometries": []}
    lines = {"type": "MultiLineString", "arcs": [[i] for i in range(len(arcs))]}
    drawn = {"type": "GeometryCollection", "geometries": [lines]}
    return {
        "type": "Topology",
        "transform": {"scale": [1 / GRID, 1 / GRID], "translate": [0, 0]},
        "objects": {name: drawn if name in ("rivers", "subunits") else empty for name in LAYERS},
        "arcs": arcs,
    }


def write_json(path: Path, content: dict[str, Any]) -> None:
    """Write ``content`` without spaces."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(content, separators=(",", ":"), ensure_ascii=False)
    path.write_text(text + "\n", encoding="utf-8")
    print(f"{path.relative_to(ROOT)}: {path.stat().st_size / 1e6:.2f} MB")


def write_points(path: Path, counties: gpd.GeoDataFrame) -> None:
    """Write a point inside each county. Unlike a centroid it holds across the date line."""
    points = counties.representative_point()
    table = counties[["fips", "county", "state"]].assign(
        latitude=points.y.round(3),
        longitude=points.x.round(3),
        land_km2=counties["land_km2"],
    )
    table.to_csv(path, index=False, lineterminator="\n")
    print(f"{path.relative_to(ROOT)}: {path.stat().st_size / 1e6:.2f} MB, {len(table)} counties")


def main() -> None:
    """Write the three files."""
    counties = read_counties()
    write_points(ROOT / "data" / "county_centroids.csv", counties)
    simple = simplify(counties)
    write_json(STATIC / "counties.json", county_geojson(simple))
    write_json(STATIC / "topojson" / "usa_110m.json", base_map(state_borders(simple)))


if __name__ == "__main__":
    main()
