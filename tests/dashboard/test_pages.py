"""Every page under Streamlit's own test runner, with fits of a few iterations."""

import json
import re
from dataclasses import replace

import pytest

from dashboard.shared.fit_status import running
from dashboard.shared.sidebar import widgets as sources
from dashboard.work.limits import Limits
from tests.dashboard.looking import (
    active_jobs,
    charts,
    ended,
    fitting_process,
    in_address,
    leave_all,
    open_screen,
    ran,
    short_fits,
    until,
    words,
)
from uncletc import Joint, datasets

CHANGED = "Changed since this result"
SO_FAR = "estimates so far"


# Few enough iterations to wait for, once p differs; effects and a network take long on the counts
# of COVID-19.
SOON = {"max_iter": 40, "tol": 1e-6, "effects": (), "solver": Joint(network="never")}
NEVER = {"max_iter": 10**6, "tol": 0.0}


@pytest.fixture(scope="module")
def ending(tmp_path_factory):
    """How the fits of these pages end."""
    settings = dict(SOON)
    with short_fits(tmp_path_factory.mktemp("cache"), settings):
        yield settings


@pytest.fixture(autouse=True)
def no_fit_is_left(ending):
    yield
    ending.update(SOON)
    leave_all()


@pytest.fixture
def endless(ending):
    ending.update(NEVER)


def open_page(**address):
    """Open a page that fits, with the given address; others have the same code."""
    at = open_screen("ppi", **address)
    assert [title.value for title in at.title] == ["Which interactions were overlooked?"]
    return at


def fitted():
    """Open the page and wait for its fit."""
    return ended(open_page(), lambda page: charts(page) and not page.get("progress"))


def button(at, label):
    (found,) = [each for each in at.button if each.label == label]
    return found


@pytest.mark.usefixtures("endless")
def test_progress_and_estimates_so_far_then_cancelled():
    at = until(open_page(ppi_seed="7"), lambda page: SO_FAR in words(page))
    (bar,) = at.get("progress")
    assert re.fullmatch(r"Fitting [\d,]+ counts: \d+\xa0s", bar.proto.text)
    assert "Still being fitted with" in words(at)
    first = charts(at)
    until(at, lambda page: charts(page) != first)
    button(at, "Cancel").click().run()
    until(at, lambda page: "was cancelled" in words(page))
    assert button(at, "Fit again")
    assert SO_FAR not in words(at)
    assert not charts(at)
    assert fitting_process().poll() is None


class TestResults:
    """What stays of a fit that was changed, cancelled or lost."""

    def test_a_cancelled_fit_keeps_the_result(self, ending):
        at = fitted()
        before = charts(at)
        ending.update(NEVER)
        at.slider(key="ppi_rank").set_value(3).run()
        button(at, "Cancel").click().run()
        until(at, lambda page: "was cancelled" in words(page))
        ending.update(SOON)
        assert charts(at) == before
        assert CHANGED in words(at)

    @pytest.mark.slow  # its process starts again; the engine's own tests are quick
    def test_a_fit_beyond_the_limits_is_a_sentence(self, ending, one_service, monkeypatch):
        at = fitted()
        before = charts(at)
        ending.update(NEVER)
        with monkeypatch.context() as patch:
            patch.setattr(one_service, "limits", Limits(seconds=0.1))
            at.slider(key="ppi_rank").set_value(4).run()
            until(at, lambda page: page.error)
        for _ in range(3):  # it is not tried over and over
            at.run()
            assert "did not finish" in at.error[0].value
        ending.update(SOON)
        assert charts(at) == before
        at.slider(key="ppi_rank").set_value(6).run()
        ended(at, lambda page: "Fitted with rank 6" in words(page) and not page.get("progress"))


class TestFitAsIChange:
    def test_a_change_fits_by_itself(self):
        at = fitted()
        before, rank = charts(at), at.slider(key="ppi_rank").value
        at.slider(key="ppi_rank").set_value(2).run()
        ended(at, lambda page: "Fitted with rank 2" in words(page) and not page.get("progress"))
        assert CHANGED not in words(at)
        assert charts(at) != before

        at.slider(key="ppi_rank").set_value(rank).run()  # fitted before: at once
        assert not at.info or CHANGED not in words(at)
        assert charts(at) == before

    @pytest.mark.usefixtures("endless")
    def test_fast_changes_leave_one_fit(self):
        at = open_page(ppi_seed="11")
        for rank in (3, 4, 6, 7):
            ran(at.slider(key="ppi_rank").set_value(rank))
        (job,) = active_jobs()
        assert job.order.settings.rank == 7
        button(at, "Cancel").click().run()
        assert not active_jobs()
        for _ in range(2):  # it is not begun again until it is asked for
            at.run()
            assert not at.get("progress")
        button(at, "Fit again").click().run()
        assert at.get("progress")
        button(at, "Cancel").click().run()

    def test_a_scale_needs_no_fit_and_a_choice_that_soon_follows_gets_none(self, monkeypatch):
        at = fitted()
        before = charts(at)
        assert "is not used" not in words(at)
        ran(at.selectbox(key="scale").set_value("mean"))
        assert not at.get("progress")
        assert charts(at) != before
        assert "mean detection is 20–40 %" in words(at)
        assert "mean detection is 20–40 %" in json.dumps(charts(at), ensure_ascii=False)
        at.slider(key="mean").set_range(100, 100).run()
        assert "is not used" in words(at)  # nor are numbers of it shown beside the warning
        assert charts(at) == before
        monkeypatch.setattr(running, "_LASTED", 600.0)
        at.slider(key="ppi_rank").set_value(9).run()
        assert not active_jobs()
        assert charts(at) == before
        assert CHANGED in words(at)
        monkeypatch.setattr(running, "monotonic", lambda: 1e9)
        at.slider(key="ppi_rank").set_value(10).run()
        assert active_jobs()


class TestRealCountsAbsent:
    def test_says_what_to_do_and_a_failed_download_is_a_sentence(self):
        at = open_page(ppi_counts="real")
        (note,) = [info.value for info in at.info]
        assert "not on this machine" in note
        assert "UNCLETC_DATA_DIR" in note
        assert not charts(at)
        assert "Simulated counts." not in words(at).replace(note, "")
        ran(button(at, "Download the public files").click())
        (error,) = [each.value for each in at.error]
        assert error.startswith("The download did not finish: ")
        assert "127.0.0.1" in error
        assert button(at, "Download the public files")

    def test_a_finished_download_opens_the_page(self, monkeypatch):
        twin = datasets.load("ppi-twin")
        real = replace(twin, provenance=replace(twin.provenance, simulated=False))
        here = []
        monkeypatch.setattr(datasets, "available", here.__contains__)
        monkeypatch.setattr(datasets, "fetch_all", here.append)
        monkeypatch.setattr(datasets, "load", lambda _: real)
        sources._load.clear()
        at = open_page(ppi_counts="real")
        button(at, "Download the public files").click().run()
        assert here == ["ppi"]
        until(at, charts)
        assert "Simulated counts." not in words(at)
        sources._load.clear()


def test_what_the_address_has_instead_of_a_setting_is_named_once():
    at = open_screen("ppi", ppi_rank="abc", ppi_mu="-3", ppi_layers="3", data="x", ppi_counts="y")
    toasts = "\n".join(each.value for each in at.toast)
    assert "abc in the address is not valid: 5 is used instead." in toasts
    assert "3 in the address is not valid: estimated is used instead." in toasts
    assert "counts=y in the address is not valid: " in toasts.replace("\\", "")
    assert len(at.toast) == 3
    assert not ran(at).toast


@pytest.mark.parametrize(
    ("name", "key", "text"), [("covid", "covid_seed", "1e999"), ("lab", "lab_draw", "-inf")]
)
def test_a_number_without_end_is_dropped_from_the_address(name, key, text):
    at = open_screen(name, **{key: text})
    assert not at.exception
    assert in_address(at, key) is None
