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
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dashboard.work.brought import READERS, limit_memory, plain_name
from dashboard.work.shape_files import NO_OTHERS, ShapesError, checked

ENDINGS = (".geojson", ".json", ".gpkg", ".zip")
_MOST_BYTES = 30e6
_MOST_SHAPES = 5_000
_MOST_POINTS = 60_000  # drawn; outlines with more are simplified
_SECONDS = 60
_LONGEST = 200  # characters of a name, as of a level of a table

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
        path = checked(path)
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


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    limit_memory()
    Path(sys.argv[2]).write_text(json.dumps(_answer(Path(sys.argv[1]))), encoding="utf-8")
