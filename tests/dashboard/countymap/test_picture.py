"""The map pictures, what travels to the browser, and the shapes it draws, without a browser."""

from __future__ import annotations

import json
import math

import numpy as np
import pandas as pd
import pytest

from dashboard.countymap.picture import (
    SHAPES_FILE,
    by_county,
    county_map,
    county_names,
)
from tests.dashboard.looking import unpacked

AUTAUGA, LOS_ANGELES, BALTIMORE, LOVING = "01001", "06037", "24510", "48301"


@pytest.fixture(scope="module")
def shapes():
    return json.loads(SHAPES_FILE.read_text(encoding="utf-8"))


@pytest.fixture
def values():
    return pd.DataFrame(
        {
            "fips": [AUTAUGA, BALTIMORE, LOS_ANGELES, LOVING],
            "value": [0.5, 1.0, 20.0, np.nan],
            "note": ["3 of 6 counts", None, "12 of 13 counts", "never counted"],
            "unsure": [True, False, True, True],
        }
    )


def at(fips: str) -> int:
    return list(county_names()).index(fips)


class TestPicture:
    def test_numbers_stand_at_their_counties(self, values):
        picture = county_map(values, title="relative p")
        known = np.flatnonzero(np.isfinite(picture.numbers)).tolist()
        assert known == sorted([at(AUTAUGA), at(LOS_ANGELES), at(BALTIMORE)])
        assert picture.numbers[at(LOS_ANGELES)] == 20
        assert len(picture.numbers) == len(county_names()) == 3142

    def test_notes_come_back_whole(self, values):
        (notes,) = county_map(values, title="relative p", hover=["note"]).to_json()["notes"]
        said = {
            fips: notes["start"] + notes["ends"][code]
            for fips, code in zip(county_names(), notes["codes"], strict=True)
            if code >= 0
        }
        assert said == {
            AUTAUGA: "3 of 6 counts",
            LOS_ANGELES: "12 of 13 counts",
            LOVING: "never counted",
        }

    def test_uncertain_counties_are_those_with_a_number(self, values):
        picture = county_map(values, title="p", uncertain="unsure", uncertain_means="wide")
        content = picture.to_json()
        assert content["uncertain"] == sorted([at(AUTAUGA), at(LOS_ANGELES)])
        assert content["uncertainMeans"] == "wide"
        assert not county_map(values, title="p").uncertain.any()

    def test_a_diverging_scale_of_ratios_is_even_around_1(self, values):
        ratios = values.assign(value=[0.25, 1.0, 2.0, np.nan])
        picture = county_map(ratios, title="ratio", colorscale="diverging", log=True)
        assert picture.limits == pytest.approx((0.25, 4))
        assert [place for place, text in picture.ticks if text == "1"] == pytest.approx([0.5])
        nothing = county_map(ratios.iloc[:0], title="r", colorscale="diverging", log=True)
        assert nothing.limits == pytest.approx((1 / math.e, math.e))

    def test_codes_without_a_shape_are_named(self, values):
        assert not county_map(values, title="relative p").remark
        values.loc[len(values)] = ["02063", 1.0, None, False]
        remark = county_map(values, title="relative p", remark="Simulated.").remark
        assert remark.startswith("Simulated. ")
        assert "02063" in remark


class TestOnTheWire:
    def test_picture_comes_back_as_it_was(self, values):
        picture = county_map(values, title="relative p", mark="note", hover=["note"])
        assert unpacked(picture.packed) == json.loads(json.dumps(picture.to_json()))


class TestStates:
    def test_each_county_has_the_value_of_its_state_unless_it_has_its_own(self):
        values = pd.DataFrame({"fips": ["01", "02", "01001", "02"], "value": [1.0, 2.0, 3.0, 9.0]})
        found = by_county(values).set_index("fips")["value"]
        assert found["01001"] == 3
        assert found["01003"] == 1
        assert found[found.index.str[:2] == "02"].eq(2).all()
        assert set(found.index) <= set(county_names())


class TestChecks:
    def test_missing_column(self, values):
        for arguments in ({"color": "p"}, {"hover": ["p"]}, {"uncertain": "p"}):
            with pytest.raises(ValueError, match="must have a column 'p'"):
                county_map(values, title="p", **arguments)

    @pytest.mark.parametrize("code", [1001, "1001", None])
    def test_codes_that_are_not_text_of_5_digits(self, values, code):
        values["fips"] = [code, *values["fips"][1:]]
        with pytest.raises(ValueError, match="text of 5 digits"):
            county_map(values, title="p")

    @pytest.mark.parametrize("limits", [(1, 1), (2, 1), (0, math.inf), (math.nan, 1)])
    def test_limits_out_of_order(self, values, limits):
        with pytest.raises(ValueError, match="low < high"):
            county_map(values, title="p", limits=limits)


class TestShapes:
    def test_lists_are_of_every_county(self, shapes):
        ids = shapes["fips"]
        assert len(ids) == len(set(ids)) == 3142
        assert all(len(i) == 5 and i.isdigit() for i in ids)
        for name in ("county", "state", "x", "y", "paths"):
            assert len(shapes[name]) == len(ids)
        assert set(shapes["state"]) == set(shapes["states"])
        assert len(shapes["states"]) == 51
        assert shapes["states"]["MD"] == "Maryland"
