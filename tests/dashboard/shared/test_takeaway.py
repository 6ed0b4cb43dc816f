"""What a reader takes away is what the page shows."""

from __future__ import annotations

import io

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from dashboard.shared.fit_status.takeaway import BOX, csv_bytes, file_stem, npz_bytes, parquet_bytes
from uncletc import Fit, FitSettings
from uncletc.datasets import Dataset
from uncletc.io.citation import PAPER, citation

TABLE = pd.DataFrame({"county": ["Doña Ana, NM", "Cook, IL"], "p": [0.1234567890123, None]})


class TestFiles:
    def test_csv_reads_back(self):
        pd.testing.assert_frame_equal(pd.read_csv(io.BytesIO(csv_bytes(TABLE))), TABLE)

    def test_parquet_reads_back(self):
        pd.testing.assert_frame_equal(pd.read_parquet(io.BytesIO(parquet_bytes(TABLE))), TABLE)

    def test_fit_reads_back(self, tmp_path, small_fit):
        path = tmp_path / "fit.npz"
        path.write_bytes(npz_bytes(small_fit))
        found = Fit.load(path)
        assert found.settings == small_fit.settings
        assert (found.factors[0] == small_fit.factors[0]).all()

    def test_names_tell_settings_apart(self):
        settings = [
            FitSettings(rank=2),
            FitSettings(rank=3),
            FitSettings(rank=2, mu=5.0),
            FitSettings(rank=2, hidden=()),
            FitSettings(rank=2, hidden=(5, 5)),
            FitSettings(rank=2, seed=1),
            FitSettings(rank=2, members=3),
            FitSettings(rank=2, solver="bcd"),
        ]
        stems = {file_stem("map", "covid", each) for each in settings}
        assert len(stems) == len(settings)
        assert all(stem.startswith("map-covid-rank") for stem in stems)
        assert not any(set(stem) & set(" /\\:;'\"") for stem in stems)
        assert file_stem("overview", "ppi-twin", None) == "overview-ppi-twin"


class TestCitation:
    def test_names_method_data_and_licences(self, covid_twin):
        text = citation(covid_twin.title, covid_twin.provenance)
        assert PAPER in text
        assert "simulated" in text
        for source in covid_twin.provenance.sources:
            for part in (source.name, source.url, source.licence):
                assert part in text


def page(found, table, own=None) -> None:
    import streamlit as st

    from dashboard.shared.fit_status.takeaway import take_away
    from dashboard.shared.text.page import chart_config
    from uncletc import datasets

    st.session_state["camera"] = chart_config()["toImageButtonOptions"]["format"]
    dataset = datasets.load("ppi-twin") if own is None else own
    take_away("map", dataset=dataset, fit=found, tables={"Bars, all": table}, code="table = 1")


@pytest.fixture
def draw(small_fit):
    def run(
        found: Fit | None = small_fit,
        opened: bool = True,
        own: Dataset | None = None,
        **address: str,
    ) -> AppTest:
        at = AppTest.from_function(page, kwargs={"found": found, "table": TABLE, "own": own})
        at.query_params.update(address)
        at.session_state[BOX] = opened
        at.run()
        assert not at.exception
        return at

    return run


class TestBox:
    def test_offers_every_file(self, draw):
        buttons = {each.proto.label for each in draw().get("download_button")}
        assert buttons == {"CSV", "Parquet", "Fit (.npz)", "Script (.py)"}

    def test_is_filled_when_it_is_opened(self, draw):
        at = draw(opened=False)
        assert [each.label for each in at.expander] == ["Download & cite"]
        assert not at.get("download_button")
        assert not at.code

    def test_offers_every_entry_a_report_and_settings_of_the_counts_fitted(
        self, draw, ppi_twin, ppi_fit
    ):
        labels = [each.proto.label for each in draw(ppi_fit, own=ppi_twin).get("download_button")]
        assert {"NetCDF", "Report (.html)", "Settings (.toml)"} <= set(labels)
        assert labels.count("Parquet") == 2

    def test_without_a_fit_there_is_none_to_take(self, draw):
        buttons = {each.proto.label for each in draw(None).get("download_button")}
        assert buttons == {"CSV", "Parquet", "Script (.py)"}

    def test_file_names_say_page_data_settings_and_table(self, draw):
        names = [each.proto.help for each in draw().get("download_button")]
        assert all("map-ppi-twin-rank2-mu2000-4-" in name for name in names)
        assert all("-seed0" in name for name in names)
        assert any(name.endswith("-bars-all.csv") for name in names)

    def test_code_and_citation_can_be_copied(self, draw):
        code, cited = (each.value for each in draw().code)
        assert code == "table = 1"
        assert PAPER in cited

    def test_pictures_are_svg_unless_asked_otherwise(self, draw):
        at = draw()
        assert at.session_state["camera"] == "svg"
        at.button_group(key="picture").set_value("png").run()
        assert at.session_state["camera"] == "png"

    @pytest.mark.parametrize(("wish", "camera"), [("png", "png"), ("gif", "svg"), ("", "svg")])
    def test_address_chooses_the_picture_from_the_first_run(self, draw, wish, camera):
        assert draw(picture=wish).session_state["camera"] == camera
