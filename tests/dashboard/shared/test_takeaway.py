"""What a reader takes away is what the page shows."""

from __future__ import annotations

import io

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from dashboard.shared.fit_status.takeaway import BOX, csv_bytes, file_stem, npz_bytes
from uncletc import Fit, FitSettings
from uncletc.datasets import Dataset

TABLE = pd.DataFrame({"county": ["Doña Ana, NM", "Cook, IL"], "p": [0.1234567890123, None]})


class TestFiles:
    def test_csv_reads_back(self):
        pd.testing.assert_frame_equal(pd.read_csv(io.BytesIO(csv_bytes(TABLE))), TABLE)

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


def page(found, table, own=None) -> None:
    from dashboard.shared.fit_status.takeaway import take_away
    from uncletc import datasets

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

    def test_file_names_say_page_data_settings_and_table(self, draw):
        names = [each.proto.help for each in draw().get("download_button")]
        assert all("map-ppi-twin-rank2-mu2000-4-" in name for name in names)
        assert all("-seed0" in name for name in names)
        assert any(name.endswith("-bars-all.csv") for name in names)
