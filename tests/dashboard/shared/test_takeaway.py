"""What a reader takes away is what the page shows."""

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from dashboard.shared.fit_status.takeaway import BOX, file_stem
from tests.dashboard.looking import ran

TABLE = pd.DataFrame({"county": ["Doña Ana, NM", "Cook, IL"], "p": [0.1234567890123, None]})


def page(found, table, own=None):
    from dashboard.shared.fit_status.takeaway import take_away
    from uncletc import datasets

    dataset = datasets.load("ppi-twin") if own is None else own
    take_away("map", dataset=dataset, fit=found, tables={"Bars, all": table})


@pytest.fixture
def draw(small_fit):
    def run(found=small_fit, own=None):
        at = AppTest.from_function(page, kwargs={"found": found, "table": TABLE, "own": own})
        at.session_state[BOX] = True
        return ran(at)

    return run


class TestBox:
    def test_offers_every_file(self, draw):
        buttons = {each.proto.label for each in draw().get("download_button")}
        assert buttons == {"CSV", "Fit (.npz)"}

    def test_offers_every_entry_a_report_and_settings_of_the_counts(self, draw, ppi_twin, ppi_fit):
        labels = [each.proto.label for each in draw(ppi_fit, own=ppi_twin).get("download_button")]
        assert {"CSV", "Every entry (.csv)", "Report (.html)", "Settings (.toml)"} <= set(labels)

    def test_file_names_say_page_data_settings_and_table(self, draw):
        names = [each.proto.help for each in draw().get("download_button")]
        assert all("map-ppi-twin-rank-2-mu-2000-" in name for name in names)
        assert all("-seed-0" in name for name in names)
        assert any(name.endswith("-bars-all.csv") for name in names)
        assert file_stem("covid", "covid-twin", None) == "covid-twin"
