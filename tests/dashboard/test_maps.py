"""The map figures and the files they are drawn from, without a browser."""

from __future__ import annotations

import csv
import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dashboard.maps import (
    MAP_CONFIG,
    NO_COUNT,
    SHAPES_FILE,
    SHAPES_URL,
    county_map,
    county_names,
    map_config,
)

ROOT = Path(__file__).resolve().parents[2]
BASE_MAP_FILE = SHAPES_FILE.parent / "topojson" / "usa_110m.json"
POINTS_FILE = ROOT / "data" / "county_centroids.csv"


@pytest.fixture(scope="module")
def shapes():
    return json.loads(SHAPES_FILE.read_text(encoding="utf-8"))["features"]


@pytest.fixture(scope="module")
def base_map():
    return json.loads(BASE_MAP_FILE.read_text(encoding="utf-8"))


@pytest.fixture
def values():
    return pd.DataFrame(
        {
            "fips": ["01001", "24510", "06037", "48301"],
            "value": [0.5, 1.0, 20.0, np.nan],
            "note": ["3 of 6 counts", None, "12 of 13 counts", "never counted"],
        }
    )


def colorscale_of(trace):
    return [color for _, color in trace.colorscale]


def polygons_of(feature):
    geometry = feature["geometry"]
    many = geometry["type"] == "MultiPolygon"
    return geometry["coordinates"] if many else [geometry["coordinates"]]


def signed_area(ring):
    """Twice the area, positive where the ring runs counter-clockwise."""
    x, y = np.array(ring).T
    return float(np.sum(x[:-1] * y[1:] - x[1:] * y[:-1]))


class TestFigure:
    def test_estimates_are_coloured_at_their_counties(self, values):
        estimates = county_map(values, title="relative p").data[0]
        assert list(estimates.locations) == ["01001", "06037", "24510"]
        assert list(estimates.z) == [0.5, 20.0, 1.0]
        assert estimates.geojson == SHAPES_URL

    def test_every_other_county_is_outlined_without_a_colour_of_the_scale(self, values):
        estimates, without, key = county_map(values, title="relative p").data
        assert set(estimates.locations) | set(without.locations) == set(county_names())
        assert not set(estimates.locations) & set(without.locations)
        assert "48301" in without.locations
        assert not without.showscale
        assert len(set(colorscale_of(without))) == 1
        assert not set(colorscale_of(without)) & set(colorscale_of(estimates))
        assert key.name == without.name == NO_COUNT
        assert key.legendgroup == without.legendgroup

    def test_no_legend_entry_where_every_county_has_an_estimate(self):
        full = pd.DataFrame({"fips": list(county_names()), "value": 1.0})
        figure = county_map(full, title="relative p")
        assert len(figure.data[0].locations) == len(county_names())
        assert not any(trace.showlegend for trace in figure.data)

    def test_infinite_is_no_estimate(self, values):
        figure = county_map(values.replace(20.0, np.inf), title="relative p")
        assert "06037" in figure.data[1].locations

    def test_missing_values_of_nullable_columns_are_no_estimate(self, values):
        nullable = values.astype({"value": "Float64"})
        assert "48301" in county_map(nullable, title="relative p").data[1].locations

    def test_limits_are_the_given_ones(self, values):
        estimates = county_map(values, title="relative p", limits=(0.25, 4)).data[0]
        assert (estimates.zmin, estimates.zmax) == (0.25, 4)

    def test_limits_default_to_the_range_drawn(self, values):
        values.loc[len(values)] = ["99999", 1e6, None]
        estimates = county_map(values, title="relative p").data[0]
        assert (estimates.zmin, estimates.zmax) == (0.5, 20)

    @pytest.mark.parametrize("number", [0.0, 3.0])
    @pytest.mark.parametrize("log", [False, True])
    def test_limits_of_equal_numbers_still_span_a_range(self, number, log):
        values = pd.DataFrame({"fips": ["01001"], "value": [number]})
        estimates = county_map(values, title="λ", log=log).data[0]
        assert estimates.zmin < estimates.zmax

    def test_log_colours_by_the_logarithm_and_tells_the_number(self, values):
        values.loc[3, "value"] = 0.0
        estimates = county_map(values, title="λ", log=True, limits=(0.1, 100)).data[0]
        assert list(estimates.z) == pytest.approx([math.log10(0.5), math.log10(20), 0, -1])
        assert list(estimates.customdata) == [0.5, 20.0, 1.0, 0.0]
        assert (estimates.zmin, estimates.zmax) == pytest.approx((-1, 2))
        bar = estimates.colorbar
        assert list(bar.ticktext) == ["0.1", "1", "10", "100"]
        assert list(bar.tickvals) == pytest.approx([-1, 0, 1, 2])

    @pytest.mark.parametrize("limits", [(1, 2), (3, 4), (0.001, 1e6)])
    def test_log_ticks_are_few_and_within_the_limits(self, values, limits):
        bar = county_map(values, title="λ", log=True, limits=limits).data[0].colorbar
        assert 1 <= len(bar.tickvals) <= 6
        assert min(bar.tickvals) >= math.log10(limits[0])
        assert max(bar.tickvals) <= math.log10(limits[1])

    @pytest.mark.parametrize(
        ("colorscale", "lowest"), [("cividis", "#00224e"), ("viridis", "#440154")]
    )
    def test_colour_scale(self, values, colorscale, lowest):
        estimates = county_map(values, title="relative p", colorscale=colorscale).data[0]
        assert colorscale_of(estimates)[0] == lowest

    def test_colour_bar_and_hover_say_what_the_number_is(self, values):
        title = "relative p (median = 1)"
        estimates, without, _ = county_map(values, title=title, hover=["note"]).data
        assert estimates.colorbar.title.text == title
        for part in ("properties.county", "properties.state", title, "customdata", "text"):
            assert part in estimates.hovertemplate
        assert list(estimates.text) == ["<br>3 of 6 counts", "<br>12 of 13 counts", ""]
        assert without.text[list(without.locations).index("48301")] == "<br>never counted"

    def test_codes_without_a_shape_are_named(self, values):
        assert not county_map(values, title="relative p").layout.annotations
        values.loc[len(values)] = ["02063", 1.0, None]
        (annotation,) = county_map(values, title="relative p").layout.annotations
        assert "02063" in annotation.text

    def test_colours_follow_the_page(self, values):
        layout = county_map(values, title="relative p").layout
        assert layout.paper_bgcolor == layout.geo.bgcolor == "rgba(0,0,0,0)"
        assert layout.font.color is None

    def test_other_columns_may_be_coloured(self, values):
        figure = county_map(values.rename(columns={"value": "p"}), title="p", color="p")
        assert list(figure.data[0].z) == [0.5, 20.0, 1.0]

    def test_a_table_without_rows_is_a_map_without_estimates(self, values):
        figure = county_map(values.iloc[:0], title="relative p")
        assert len(figure.data[1].locations) == len(county_names())

    def test_figure_does_not_carry_the_shapes(self, values):
        assert len(county_map(values, title="relative p").to_json()) < 250_000


class TestChecks:
    def test_missing_column(self, values):
        with pytest.raises(ValueError, match="must have a column 'p'"):
            county_map(values, title="p", color="p")

    @pytest.mark.parametrize("code", [1001, "1001", None])
    def test_codes_that_are_not_text_of_5_digits(self, values, code):
        values["fips"] = [code, *values["fips"][1:]]
        with pytest.raises(ValueError, match="text of 5 digits"):
            county_map(values, title="p")

    def test_repeated_code(self, values):
        with pytest.raises(ValueError, match="01001 repeats"):
            county_map(pd.concat([values, values[:1]]), title="p")

    @pytest.mark.parametrize("limits", [(1, 1), (2, 1), (0, math.inf), (math.nan, 1)])
    def test_limits_out_of_order(self, values, limits):
        with pytest.raises(ValueError, match="low < high"):
            county_map(values, title="p", limits=limits)

    def test_log_of_what_has_none(self, values):
        with pytest.raises(ValueError, match="limits must be > 0"):
            county_map(values, title="λ", log=True, limits=(0, 1))
        with pytest.raises(ValueError, match="the smallest is -1"):
            county_map(values.replace(0.5, -1.0), title="λ", log=True)


class TestConfig:
    def test_nothing_is_asked_of_another_host(self, values):
        assert "topojsonURL" in MAP_CONFIG
        assert "://" not in json.dumps(MAP_CONFIG)
        assert "://" not in county_map(values, title="relative p").to_json()

    def test_base_map_is_where_plotly_looks(self, values):
        geo = county_map(values, title="relative p").layout.geo
        assert geo.projection.type == "albers usa"  # hence scope "usa", at the default 1:110m
        assert MAP_CONFIG["topojsonURL"] == "app/static/topojson/"
        assert BASE_MAP_FILE.is_file()

    def test_image_format(self):
        assert map_config(image="svg")["toImageButtonOptions"]["format"] == "svg"


class TestShapes:
    def test_size(self):
        assert SHAPES_FILE.stat().st_size < 1_300_000
        assert BASE_MAP_FILE.stat().st_size < 100_000
        assert POINTS_FILE.stat().st_size < 150_000

    def test_ids_are_the_fips_codes_of_every_county(self, shapes):
        ids = [feature["id"] for feature in shapes]
        assert len(ids) == len(set(ids)) == 3142
        assert all(len(i) == 5 and i.isdigit() for i in ids)
        assert len({i[:2] for i in ids}) == 51

    def test_names(self):
        names = county_names()
        assert names["24005"] == "Baltimore County, MD"
        assert names["24510"] == "Baltimore city, MD"
        assert names["35013"] == "Doña Ana County, NM"
        assert len(set(names.values())) == len(names)

    def test_rings_are_closed_and_turn_the_way_d3_fills(self, shapes):
        for feature in shapes:
            polygons = polygons_of(feature)
            assert polygons, feature["id"]
            for exterior, *holes in polygons:
                assert signed_area(exterior) < 0, feature["id"]
                assert all(signed_area(hole) > 0 for hole in holes), feature["id"]
                for ring in (exterior, *holes):
                    assert len(ring) >= 4, feature["id"]
                    assert ring[0] == ring[-1], feature["id"]

    def test_points_name_the_same_counties(self):
        with POINTS_FILE.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        names = {row["fips"]: f"{row['county']}, {row['state']}" for row in rows}
        assert names == county_names()
        for row in rows:
            assert 18 < float(row["latitude"]) < 72
            assert -180 < float(row["longitude"]) < -66 or row["fips"] == "02016"
            assert float(row["land_km2"]) > 0


class TestBaseMap:
    def test_has_every_layer_plotly_may_look_up(self, base_map):
        layers = {"coastlines", "countries", "lakes", "land", "ocean", "rivers", "subunits"}
        assert base_map["type"] == "Topology"
        assert set(base_map["objects"]) == layers

    def test_borders_use_every_arc_once(self, base_map):
        (borders,) = base_map["objects"]["rivers"]["geometries"]
        used = [i for line in borders["arcs"] for i in line]
        assert sorted(used) == list(range(len(base_map["arcs"])))

    def test_arcs_run_along_county_borders(self, base_map, shapes):
        scale = np.array(base_map["transform"]["scale"])
        corners = {
            (round(x, 3), round(y, 3))
            for feature in shapes
            for polygon in polygons_of(feature)
            for ring in polygon
            for x, y in ring
        }
        for arc in base_map["arcs"]:
            assert len(arc) >= 2
            points = np.cumsum(arc, axis=0) * scale
            assert {(round(x, 3), round(y, 3)) for x, y in points.tolist()} <= corners
