"""Public tables as they stand: read, guessed, built and fitted without a word from anyone."""

import os
from pathlib import Path

import numpy as np
import pytest

from uncletc import FitSettings, fit
from uncletc.tables import build, guess, read_file

TABLES = {
    "flower survey": ("**/SA02602_v2.csv", ["PLOT_ID", "PLTSP_NAME", "SAMPLEDATE"], "NO_STALK"),
    "mobility index": ("**/DL-us-m50_index.csv", ["fips", "date"], "count"),
    "interactions": (
        "**/11to13_interactions.csv", ["PLTSP_NAME", "VISSP_NAME", "DATE"], "NO_INT",
    ),
    "rodents": ("**/Portal_rodent.csv", ["species", "plot", "yr"], "events"),
}  # fmt: skip


@pytest.mark.realdata
@pytest.mark.parametrize(
    "table", [pytest.param(it, marks=[pytest.mark.slow] * it.startswith("mob")) for it in TABLES]
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_from_file_to_fit(table):
    folder = os.environ.get("UNCLETC_DATA_DIR")
    if not folder:
        pytest.skip("UNCLETC_DATA_DIR names no folder with the public files")
    pattern, modes, count = TABLES[table]
    path = next(Path(folder).glob(pattern), None)
    if path is None:
        pytest.skip(f"no file {pattern} in UNCLETC_DATA_DIR")
    raw = read_file(path)
    found = guess(raw)
    assert set(raw.frame.columns) <= set(found.reasons)
    assert found.columns.count.startswith(count)
    dataset = build(raw, found.columns)
    y = dataset.with_roles().counts
    assert list(y.modes) == modes
    assert not found.columns.across or "fips" in dataset.mode_tables["fips"]
    estimate = fit(y, FitSettings(rank=2, hidden=(), max_iter=20, signs=dataset.roles.signs))
    assert np.isfinite(estimate.rate(y.indices)).all()
