"""What a wheel carries, so that the dashboard runs from an installed one."""

import importlib.util
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    command = ["pip", "wheel", "--no-deps", "--wheel-dir"]
    if importlib.util.find_spec("uv") is not None:  # which is quicker
        command = ["uv", "build", "--wheel", "--out-dir"]
    command = [sys.executable, "-m", *command, str(folder), str(ROOT)]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    if built.returncode and "hatchling" in built.stderr:
        pytest.skip("hatchling is not to be had")
    assert built.returncode == 0, built.stderr
    (found,) = folder.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def names(wheel):
    with zipfile.ZipFile(wheel) as file:
        return file.namelist()


FILES = """
dashboard/.streamlit/config.toml dashboard/lab/controls.toml dashboard/static/counties.json
dashboard/static/map/county_map.css dashboard/static/map/county_map.html
dashboard/static/map/county_map.js uncletc/_data/covid_twin.npz uncletc/_data/ppi_twin.npz
uncletc/_data/paper/summary.csv uncletc/_data/paper/curves.csv uncletc/_data/paper/real.csv
uncletc/datasets/files.json uncletc/py.typed uncletc/tables/words.toml
"""


@pytest.mark.parametrize("name", FILES.split())
def test_carries(names, name):
    assert name in names


def test_carries_the_default_fits_and_stays_small(names, wheel):
    fits = {path.relative_to(ROOT).as_posix() for path in (ROOT / "dashboard" / "fits").iterdir()}
    assert fits <= set(names)
    assert wheel.stat().st_size <= 3.1e6


def test_carries_every_module(names):
    for package in ("dashboard", "uncletc"):
        for path in (ROOT / package).rglob("*.py"):
            assert path.relative_to(ROOT).as_posix() in names


def test_carries_nothing_else(names):
    allowed = re.compile(r"(dashboard|uncletc|uncletc-[^/]*\.dist-info)/")
    assert [name for name in names if not allowed.match(name)] == []
    unwanted = re.compile(r"(^|/)(tests|__pycache__|benchmarks)/|\.(pyc|partial|png)$")
    assert [name for name in names if unwanted.search(name)] == []


def test_command_and_licence(wheel, names):
    (info,) = {name.split("/")[0] for name in names if ".dist-info/" in name}
    assert f"{info}/licenses/LICENSE" in names
    with zipfile.ZipFile(wheel) as file:
        assert "uncletc = uncletc.cli:main" in file.read(f"{info}/entry_points.txt").decode()
