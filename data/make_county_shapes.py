"""Make the county shapes the maps draw and the county points the simulators use.

Run ``python data/make_county_shapes.py`` where geopandas 1.2.0, plotly-geo 1.0.0, pyproj 3.7.2 and
shapely 2.2.0 are installed; the same versions write the same bytes. The source is the Census
Bureau's cartographic boundary files of 2016 (public domain), which the package ``plotly-geo``
carries. Connecticut has its eight counties and Alaska its boroughs of that year.

It writes

- ``dashboard/static/counties.json``: for every county of the 50 states and DC its 5-digit FIPS
  code, full name, state, a point inside and its outline, an SVG path; the borders of the states as
  one more path; all drawn on the flat map that `place` describes;
- ``data/county_centroids.csv``: a point inside each county, and its land area.
"""

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import geopandas as gpd
import numpy as np
import pandas as pd
import shapely
from numpy.typing import NDArray
from pyproj import Proj

ROOT = Path(__file__).resolve().parent.parent
STATIC = ROOT / "dashboard" / "static"
WIDTH, HEIGHT = 8200, 5100  # of the flat map, in its own whole steps
EARTH = 10_700.0  # steps to the earth's radius in the 48 states that touch each other
TOLERANCE = 2.5  # steps; a quarter of such a pixel
SMALLEST_PART = 25.0  # square steps, a quarter of a pixel of a map 820 pixels wide

# Equal-area conic maps. Alaska, at about a third of the scale, and Hawaii stand in the lower
# left. Of each: standard parallels, central meridian, the point (longitude, latitude) that
# comes to lie at (x, y), the scale.
Place = tuple[float, float, float, tuple[float, float], tuple[float, float], float]
PLACES: dict[str, Place] = {
    "AK": (55.0, 65.0, -154.0, (-156.0, 58.5), (1250.0, 4640.0), 0.35),
    "HI": (8.0, 18.0, -157.0, (-160.0, 19.9), (2470.0, 4790.0), 1.0),
}
MAINLAND = (29.5, 45.5, -96.0, (-96.6, 38.7), (4100.0, 2440.0), 1.0)

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


def place(counties: gpd.GeoDataFrame) -> gpd.GeoDataFrame:
    """Return ``counties`` on one flat map of `WIDTH` × `HEIGHT`, y pointing down."""
    shapes = np.asarray(counties.geometry.array)
    states = counties["state"].to_numpy()
    for state in (*PLACES, "others"):
        here = states == state if state in PLACES else ~np.isin(states, list(PLACES))
        shapes[here] = shapely.transform(shapes[here], flat(PLACES.get(state, MAINLAND)))
    return counties.set_geometry(gpd.GeoSeries(shapes, index=counties.index))


def flat(place: Place) -> Any:
    """Return the map from (n, 2) longitudes and latitudes to steps; see `PLACES`."""
    first, second, meridian, anchor, at, scale = place
    project = Proj(proj="aea", lat_1=first, lat_2=second, lat_0=0, lon_0=meridian, R=EARTH * scale)
    origin = np.array(project(*anchor))

    def to_steps(degrees: NDArray[np.float64]) -> NDArray[np.float64]:
        away = np.column_stack(project(degrees[:, 0], degrees[:, 1])) - origin
        return np.asarray(np.array(at) + away * (1, -1))

    return to_steps


def simplify(counties: gpd.GeoDataFrame) -> gpd.GeoDataFrame:
    """Return placed ``counties`` with fewer corners, neighbours still sharing every border.

    Parts smaller than `SMALLEST_PART` go, but each county keeps its largest.
    """
    parts = counties[["fips", "state", "geometry"]].explode(ignore_index=True)
    area = pd.Series(shapely.area(parts.geometry.array))
    largest = area.groupby(parts["fips"]).transform("max")
    parts = parts[(area >= SMALLEST_PART) | (area == largest)].reset_index(drop=True)
    shapes = shapely.coverage_simplify(np.asarray(parts.geometry.array), TOLERANCE)
    parts = parts.assign(geometry=shapes).dissolve("fips", method="coverage")
    return counties.assign(geometry=parts.geometry.loc[counties["fips"]].array)


def svg_path(lines: shapely.Geometry, *, closed: bool) -> str:
    """Return lines or rings as an SVG path of whole steps; empty where nothing is left."""
    pieces = []
    for line in shapely.get_parts(lines):
        corners = np.rint(shapely.get_coordinates(line)).astype(np.int64)
        moves = np.diff(corners, axis=0)
        moves = moves[moves.any(axis=1)]
        if len(moves) < (3 if closed else 1):
            continue
        start, steps = corners[0], moves[:-1] if closed else moves
        numbers = " ".join(f"{x} {y}" for x, y in steps.tolist()).replace(" -", "-")
        pieces.append(f"M{start[0]} {start[1]}l{numbers}" + ("z" if closed else ""))
    return "".join(pieces)


def outline(shape: shapely.Geometry) -> str:
    """Return a county's rings, holes among them, as one SVG path."""
    polygons = shapely.get_parts(shape)
    rings = [ring for polygon in polygons for ring in (polygon.exterior, *polygon.interiors)]
    return svg_path(
        shapely.multilinestrings([shapely.linestrings(r.coords) for r in rings]), closed=True
    )


def state_borders(counties: gpd.GeoDataFrame) -> str:
    """Return the outlines of the states, each stretch of border once.

    Outer rings only: a hole in a state is what a dropped part has left.
    """
    states = counties.dissolve("state", method="coverage")
    rings = shapely.get_exterior_ring(shapely.get_parts(states.geometry.array))
    mesh = shapely.line_merge(shapely.union_all(rings))
    return svg_path(mesh.normalize(), closed=False)


def flat_map(counties: gpd.GeoDataFrame) -> dict[str, Any]:
    """Return what the map in the browser reads: lists in one order, that of the codes."""
    points = np.rint(shapely.get_coordinates(counties.representative_point().array)).astype(int)
    names = read_census("state").set_index("STUSPS")["NAME"]
    return {
        "width": WIDTH,
        "height": HEIGHT,
        "fips": counties["fips"].tolist(),
        "county": counties["county"].tolist(),
        "state": counties["state"].tolist(),
        "states": names[sorted(set(counties["state"]))].to_dict(),
        "x": points[:, 0].tolist(),
        "y": points[:, 1].tolist(),
        "paths": [outline(shape) for shape in counties.geometry],
        "borders": state_borders(counties),
    }


def write_json(path: Path, content: dict[str, Any]) -> None:
    """Write ``content`` without spaces, one entry a line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    entries = (
        f"{json.dumps(name)}:{json.dumps(value, separators=(',', ':'), ensure_ascii=False)}"
        for name, value in content.items()
    )
    path.write_text("{" + ",\n".join(entries) + "}\n", encoding="utf-8")
    print(f"{path.relative_to(ROOT)}: {path.stat().st_size / 1e6:.2f} MB")


def write_points(path: Path, counties: gpd.GeoDataFrame) -> None:
    """Write a point inside each county. Unlike a centroid it holds across the date line."""
    points = counties.representative_point()
    table = counties[["fips", "county", "state"]].assign(
        latitude=points.y.round(3), longitude=points.x.round(3), land_km2=counties["land_km2"]
    )
    table.to_csv(path, index=False, lineterminator="\n")
    print(f"{path.relative_to(ROOT)}: {path.stat().st_size / 1e6:.2f} MB, {len(table)} counties")


def main() -> None:
    """Write the two files."""
    counties = read_counties()
    write_points(ROOT / "data" / "county_centroids.csv", counties)
    write_json(STATIC / "counties.json", flat_map(simplify(place(counties))))


if __name__ == "__main__":
    main()
