"""Scripts that give the numbers of a view: run, and compared with the views."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from dashboard.shared.anchors import Anchor
from dashboard.shared.scripts import data_script, fit_script
from uncletc import BCD, Fit, FitSettings, Scale, datasets, fit

SETTINGS = FitSettings(rank=2, hidden=(5,), max_iter=4, mu=100.0, tol=0.0, members=2)
BODY = """\
table = pd.DataFrame(counts.indices, columns=counts.modes)
table["rate"] = scale.rate(found.rate(counts.indices))
"""
PLACE = (3, 4)
ANCHORS = {
    "relative": Anchor(),
    "mean": Anchor(kind="mean", mean=0.4),
    "best": Anchor(kind="best"),
    "total": Anchor(kind="total", total=123456.0),
    "entry": Anchor(kind="entry", place=PLACE, name='the "best" county', detects=0.6),
}


def run(script: str) -> dict:
    names: dict = {}
    exec(compile(script, "script", "exec"), names)
    return names


@pytest.fixture
def no_fit(monkeypatch, ppi_fit):
    """Scripts find this fit instead of making their own."""
    asked = []

    def give(_, settings):
        asked.append(settings)
        return ppi_fit

    monkeypatch.setattr("uncletc.fit", give)
    return asked


class TestFitScript:
    @pytest.mark.parametrize("name", ["covid-twin", "ppi-twin"])
    def test_runs_on_its_own_and_gives_the_same_numbers(self, name, tmp_path):
        # In a process of its own: nothing of the dashboard or of this test is there to lean on.
        body = BODY + "table.to_parquet('table.parquet')\n"
        script = tmp_path / "script.py"
        script.write_text(fit_script(name, SETTINGS, Anchor(kind="mean", mean=0.4), body))
        done = subprocess.run(
            [sys.executable, "-W", "ignore", script],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert "rate" in done.stdout
        table = pd.read_parquet(tmp_path / "table.parquet")

        counts = datasets.load(name).counts
        with pytest.warns(match="max_iter"):
            found = fit(counts, SETTINGS)
        factor = found.detection(counts.attributes).mean() / 0.4
        np.testing.assert_allclose(table["rate"], found.rate(counts.indices) * factor)

    @pytest.mark.parametrize("kind", ANCHORS)
    @pytest.mark.usefixtures("no_fit")
    def test_every_anchor_is_stated(self, kind, capsys, ppi_twin, ppi_fit):
        names = run(fit_script("ppi-twin", SETTINGS, ANCHORS[kind], "table = pd.DataFrame()"))
        scale = names["scale"]
        assert scale == ANCHORS[kind].of(ppi_twin.counts, ppi_fit)
        assert isinstance(scale, Scale)
        assert "Empty DataFrame" in capsys.readouterr().out

    @pytest.mark.parametrize(
        "settings",
        [
            FitSettings(rank=3),
            SETTINGS,
            FitSettings(rank=1, solver="bcd", hidden=(), seed=5),
            FitSettings(rank=1, solver=BCD(loss="kl", hold_scale=True), hidden=(), seed=5),
        ],
    )
    def test_the_settings_are_all_there(self, no_fit, settings):
        run(fit_script("ppi-twin", settings, Anchor(), "table = None"))
        assert no_fit == [settings]

    def test_names_come_ready_for_the_body(self, no_fit):
        body = "table = [dataset.name, counts is dataset.counts, np.pi, pd.NA, found, uncletc.fit]"
        table = run(fit_script("ppi-twin", SETTINGS, Anchor(), body))["table"]
        assert table[:2] == ["ppi-twin", True]
        assert isinstance(table[4], Fit)
        assert len(no_fit) == 1


def test_a_script_without_a_fit(ppi_twin):
    names = run(data_script("ppi-twin", "table = pd.DataFrame({'y': counts.counts})"))
    assert names["table"]["y"].tolist() == ppi_twin.counts.counts.tolist()
    assert "found" not in names
