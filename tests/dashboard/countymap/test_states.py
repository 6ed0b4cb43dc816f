"""Values of states on the county map."""

from __future__ import annotations

import pandas as pd

from dashboard.countymap.picture import county_map, county_names
from dashboard.countymap.states import by_county


def test_each_county_has_the_value_of_its_state_unless_it_has_its_own():
    values = pd.DataFrame({"fips": ["01", "02", "01001", "02"], "value": [1.0, 2.0, 3.0, 9.0]})
    found = by_county(values).set_index("fips")["value"]
    assert found["01001"] == 3
    assert found["01003"] == 1
    assert found[found.index.str[:2] == "02"].eq(2).all()
    assert set(found.index) <= set(county_names())
    county_map(found.reset_index(), title="x")


def test_counties_alone_stay_as_they_are():
    values = pd.DataFrame({"fips": ["01001", "01003"], "value": [1.0, 2.0]})
    pd.testing.assert_frame_equal(by_county(values), values)
