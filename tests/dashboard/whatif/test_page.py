"""The What-if page under Streamlit's own test runner, with fits of a few iterations."""

import re

import pytest

from dashboard.shared.own_table import NAME
from dashboard.shared.sidebar.model import NEVER, RECOMMENDED
from dashboard.work.engine import Service
from tests.dashboard.looking import (
    charts,
    ended,
    fitting_process,
    open_own,
    open_screen,
    press,
    ran,
    read_own,
    short_fits,
    until,
    waiting,
    words,
)

QUICK = {"a_rank": "2", "b_rank": "1", "a_layers": "0", "b_layers": "0"}
PPI = QUICK | {"data": "Plant–pollinator"}

# On small problems g may not move in the first 30 iterations.
FEW = {"max_iter": 34, "tol": 0.0, "effects": ()}


@pytest.fixture(scope="module")
def settings(tmp_path_factory):
    """Short fits, in a cache of their own."""
    chosen = dict(FEW)
    with short_fits(tmp_path_factory.mktemp("cache"), chosen):
        yield chosen


@pytest.fixture
def endless(settings):
    settings["max_iter"] = 10**6
    yield
    settings.update(FEW)


@pytest.fixture
def open_page(settings):  # noqa: ARG001, it prepares them
    return lambda **address: open_screen("whatif", **address)


@pytest.fixture
def compared(open_page):
    """Open the page, press Compare where that is needed, and wait for all fits."""

    def run(**address):
        at = open_page(**address)
        if not at.dataframe:
            press(at, "compare")
        return ended(at, lambda page: page.dataframe and not waiting(page))

    return run


def test_defaults_are_those_of_the_data_set_and_nothing_is_fitted_yet(open_page):
    at = open_page()
    assert [at.slider(key=f"{side}_rank").value for side in "ab"] == [15, 15]
    ran(at.button_group(key="data").set_value("ppi"))
    assert [at.slider(key=f"{side}_rank").value for side in "ab"] == [5, 5]
    assert not charts(at)
    assert not waiting(at)


class TestCompare:
    def test_plants_both_sides_difference_ranks_and_errors(self, compared, ppi_twin):
        at = compared(**PPI)
        a, b, difference = charts(at)
        assert [chart["data"][0]["type"] for chart in (a, b, difference)] == ["heatmap"] * 3
        for limit in ("zmin", "zmax"):
            assert a["data"][0][limit] == b["data"][0][limit]
        assert difference["data"][0]["zmin"] == -difference["data"][0]["zmax"]
        seen = int((ppi_twin.table["interactions"] > 0).sum())
        assert f"order the {seen:,} interactions" in words(at)
        assert "Not converged" in words(at)
        ranks = at.dataframe[0].value
        assert list(ranks)[1:3] == ["rank, A", "rank, B"]
        assert len(ranks) == seen
        assert re.search(r"predicts held-out counts better|about equally well", words(at))
        table = at.table[0].value
        assert list(table.columns) == ["A", "B", "mean count everywhere"]
        for name in ("Poisson deviance", "rRMSE", "MAE of λ", "MAE of p"):
            (row,) = [index for index in table.index if index.startswith(name)]
            assert all(float(table.loc[row, side].replace(",", "")) >= 0 for side in "AB")

    def test_fits_that_are_gone_are_asked_for_again(self, compared, monkeypatch):
        at = compared(**PPI)
        monkeypatch.setattr(Service, "lookup", lambda *_: None)
        ran(at.number_input(key="b_seed").set_value(77))
        assert not charts(at)

    @pytest.mark.slow
    def test_copy_and_changed_settings(self, compared):
        at = compared(**PPI)
        before = at.table[0].value
        ran(at.number_input(key="b_seed").set_value(77))
        assert "Changed since this result" in words(at)
        assert at.table[0].value["B"].tolist() == before["B"].tolist()
        press(at, "copy")
        assert at.slider(key="b_rank").value == 2
        assert "are the same fit" in words(at)
        assert "Changed since this result" in words(at)

    @pytest.mark.parametrize(
        "difference",
        [{}, {"a_network": NEVER, "b_network": NEVER, "a_units": "10", "b_units": "50"}],
    )
    def test_the_same_fit_twice_is_said_before_it_is_fitted(self, open_page, difference):
        both = {"b_rank": "2", "b_model": RECOMMENDED, "a_seed": "9", "b_seed": "9"}
        at = open_page(**PPI | both | difference)
        assert "are the same fit" in words(at)
        assert at.button(key="compare").disabled
        assert not waiting(at)


@pytest.mark.usefixtures("endless")
def test_progress_of_fits_then_cancel(open_page):
    at = press(open_page(**PPI | {"a_seed": "5", "b_seed": "5"}), "compare")
    until(at, lambda page: "**Fitting**: 0 of 4 fits finished" in words(page))
    press(at, "cancel-compare")
    until(at, lambda page: not waiting(page))
    assert not charts(at)
    assert fitting_process().poll() is None


def test_closed_visits_of_an_own_table_are_part_of_both_settings(settings):  # noqa: ARG001
    at = open_own("whatif", read_own(), data=NAME, **QUICK)
    (closed,) = [each for each in at.selectbox if "repeat visits" in each.label]
    ran(closed.set_value("week"))
    assert "closed visits (" not in words(at)
    assert "Closed-population repeat visits have no network" in words(at)
