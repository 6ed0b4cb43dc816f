"""Scripts that give the numbers of a view: run, and compared with the views."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

import dashboard
from dashboard.ppi.view import build_ppi_view
from dashboard.shared.text.scripts import fit_script
from uncletc import BCD, Anchor, FitSettings, datasets, fit

SETTINGS = FitSettings(rank=2, hidden=(), max_iter=4, mu=100.0, tol=0.0, members=2)
ANCHORS = (
    Anchor(),
    Anchor(kind="mean", value=0.4),
    Anchor(kind="entry", place=("plant 04", "bee 05"), name='the "best" – county', value=0.6),
)
ROOMS = Path(dashboard.__path__[0])
ALONE = "import sys\nsys.modules |= {'streamlit': None, 'plotly': None}\n"


def test_runs_on_its_own_with_the_library_alone(tmp_path):
    # In a process of its own: nothing of this test is there to lean on, Streamlit is not either.
    anchor = Anchor(kind="mean", value=0.4)
    text = fit_script("ppi-twin", SETTINGS, build_ppi_view, anchor, take=".main_table")
    pure = sorted(ROOMS.glob("*/view*.py"))  # all views need neither
    assert len(pure) > 7
    views = [".".join(path.relative_to(ROOMS.parent).with_suffix("").parts) for path in pure]
    text = f"{ALONE}import {', '.join(views)}\n{text}table.to_parquet('table.parquet')\n"
    (tmp_path / "script.py").write_text(text)
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "script.py"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOMS.parent)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "[" in done.stdout  # a table is printed
    dataset = datasets.load("ppi-twin")
    with pytest.warns(match="max_iter"):
        fitted = fit(dataset.counts, SETTINGS)
    expected = build_ppi_view(dataset, fitted, anchor).main_table
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "table.parquet"), expected)


@pytest.mark.parametrize("anchor", ANCHORS, ids=lambda anchor: anchor.kind)
def test_every_anchor_is_stated(anchor, run_script, ppi_twin, ppi_fit):
    text = fit_script("ppi-twin", SETTINGS, build_ppi_view, anchor, take=".main_table")
    expected = build_ppi_view(ppi_twin, ppi_fit, anchor).main_table
    pd.testing.assert_frame_equal(run_script(text, ppi_fit), expected)


@pytest.mark.parametrize(
    "settings",
    [
        SETTINGS,
        FitSettings(rank=1, solver=BCD(loss="kl"), hidden=(), seed=5),
    ],
)
def test_the_settings_are_all_there(settings, run_script, ppi_fit):
    text = fit_script("ppi-twin", settings, build_ppi_view, Anchor(), take=".main_table")
    run_script(text, ppi_fit)
    ((_, asked),) = run_script.asked
    assert asked == settings
