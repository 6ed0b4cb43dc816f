"""The map pictures, what travels to the browser, and the shapes it draws, without a browser."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from dashboard.countymap.picture import SHAPES_FILE, by_county, county_map, county_names
from dashboard.shared.data_section import summary
from tests.dashboard.looking import read_own, unpacked

LIMITS = (0.5, 20.0)
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


def at(fips):
    return list(county_names()).index(fips)


class TestPicture:
    def test_numbers_stand_at_their_counties(self, values):
        picture = county_map(values, title="relative p", limits=LIMITS)
        known = np.flatnonzero(np.isfinite(picture.numbers)).tolist()
        assert known == sorted([at(AUTAUGA), at(LOS_ANGELES), at(BALTIMORE)])
        assert picture.numbers[at(LOS_ANGELES)] == 20
        assert len(picture.numbers) == len(county_names()) == 3142

    def test_notes_and_all_else_come_back_whole(self, values):
        picture = county_map(values, title="p", limits=LIMITS, mark="note", hover=["note"])
        (notes,) = picture.to_json()["notes"]
        said = {fips: line for fips, line in zip(county_names(), notes, strict=True) if line}
        notes = ("3 of 6 counts", "12 of 13 counts", "never counted")
        assert said == dict(zip((AUTAUGA, LOS_ANGELES, LOVING), notes, strict=True))
        assert unpacked(picture.packed) == json.loads(json.dumps(picture.to_json()))

    def test_uncertain_counties_are_those_with_a_number(self, values):
        picture = county_map(values, title="p", limits=LIMITS, uncertain="unsure")
        content = picture.to_json()
        assert content["uncertain"] == sorted([at(AUTAUGA), at(LOS_ANGELES)])
        assert not county_map(values, title="p", limits=LIMITS).uncertain.any()

    def test_codes_without_a_shape_are_named_with_the_data_and_not_below_a_map(self, values):
        values.loc[len(values)] = ["02063", 1.0, None, False]
        assert not county_map(values, title="relative p", limits=LIMITS).remark
        own = read_own(pd.DataFrame({"a": [1, 2], "b": [1, 2], "count": [3, 4]}), modes=("a", "b"))
        assert "02063" in summary(replace(own.dataset, table=values))


def test_each_county_has_the_value_of_its_state_unless_it_has_its_own():
    values = pd.DataFrame({"fips": ["01", "02", "01001", "02"], "value": [1.0, 2.0, 3.0, 9.0]})
    found = by_county(values).set_index("fips")["value"]
    assert found["01001"] == 3
    assert found["01003"] == 1
    assert found[found.index.str[:2] == "02"].eq(2).all()
    assert set(found.index) <= set(county_names())


def test_lists_of_shapes_are_of_every_county(shapes):
    ids = shapes["fips"]
    assert len(ids) == len(set(ids)) == 3142
    assert all(len(i) == 5 and i.isdigit() for i in ids)
    for name in ("county", "state", "x", "y", "paths"):
        assert len(shapes[name]) == len(ids)
    assert set(shapes["state"]) == set(shapes["states"])
    assert len(shapes["states"]) == 51
    assert shapes["states"]["MD"] == "Maryland"
