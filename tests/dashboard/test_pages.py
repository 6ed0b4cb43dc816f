"""Every page under Streamlit's own test runner, with fits of a few iterations."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from time import monotonic, sleep

import pytest
from streamlit.testing.v1 import AppTest

from dashboard import running, sources, state
from uncletc import datasets

APP = Path(running.__file__).with_name("app.py")
TITLES = {
    "overview": "What was counted, and what was missed?",
    "covid": "Where were COVID-19 cases missed?",
    "ppi": "Which interactions were overlooked?",
}
FITTING = ["covid", "ppi"]
REAL_FOLDER = os.environ.get("UNCLETC_DATA_DIR")
CHANGED = "Changed since this result"
SO_FAR = "estimates so far"
ITERATION = re.compile(r"iteration [1-9]\d* of")


@dataclass
class Iterations:
    """How the pages' fits end: after few enough iterations to wait for, once p differs."""

    at_most: int = 40
    tol: float = 1e-6

    def never(self) -> None:
        self.at_most, self.tol = 10**6, 0.0

    def soon(self) -> None:
        self.at_most, self.tol = Iterations.at_most, Iterations.tol


def forget() -> None:
    """End the fitting process and drop what the pages remember."""
    running.fit_service().close()
    running.fit_service.clear()
    sources._load.clear()


@pytest.fixture(scope="module")
def iterations(
    tmp_path_factory: pytest.TempPathFactory, workers: list[subprocess.Popen[str]]
) -> Iterator[Iterations]:
    """Pages with a cache of their own, no real data, and no way to other machines."""
    limit = Iterations()
    whole = state.sidebar

    def sidebar(family: state.Family) -> state.Choices:
        choices = whole(family)
        settings = replace(choices.settings, max_iter=limit.at_most, tol=limit.tol)
        return replace(choices, settings=settings)

    with pytest.MonkeyPatch.context() as patch, socket.socket() as nobody_listens:
        nobody_listens.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{nobody_listens.getsockname()[1]}"
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        patch.setenv("UNCLETC_DATA_URL", address)
        patch.delenv("UNCLETC_DATA_DIR", raising=False)
        patch.setattr(state, "sidebar", sidebar)
        forget()
        yield limit
        forget()
        assert all(worker.poll() is not None for worker in workers)


@pytest.fixture
def endless(iterations: Iterations) -> Iterator[None]:
    iterations.never()
    yield
    iterations.soon()


@pytest.fixture
def open_page(iterations: Iterations) -> Callable[..., AppTest]:  # noqa: ARG001, it prepares them
    """Open a page by its name, with the given address."""

    def run(name: str, **address: str) -> AppTest:
        at = AppTest.from_file(APP, default_timeout=120).switch_page(f"screens/{name}.py")
        for key, value in address.items():
            at.query_params[key] = value
        at.run()
        assert not at.exception
        assert [title.value for title in at.title] == [TITLES[name]]
        return at

    return run


@pytest.fixture
def fitted(open_page: Callable[..., AppTest]) -> Callable[..., AppTest]:
    """Open a page and wait for its fit."""

    def run(name: str, **address: str) -> AppTest:
        return fitted_now(open_page(name, **address))

    return run


def until(at: AppTest, holds: Callable[[AppTest], object], seconds: float = 180) -> AppTest:
    """Run the page again until something holds, as the browser does while a fit is on."""
    began = monotonic()
    while not holds(at):
        assert monotonic() - began < seconds, f"this took too long: {words(at)}"
        sleep(0.1)
        at.run()
        assert not at.exception
    return at


def fitted_now(at: AppTest) -> AppTest:
    return until(at, lambda page: charts(page) and not page.get("progress"))


def charts(at: AppTest) -> list[dict]:
    return [json.loads(chart.proto.spec) for chart in at.get("plotly_chart")]


def words(at: AppTest) -> str:
    """Everything the page says."""
    blocks = [*at.info, *at.warning, *at.error, *at.markdown, *at.caption, *at.subheader]
    bars = [bar.proto.text for bar in at.get("progress")]
    return "\n".join([block.value for block in blocks] + bars)


def button(at: AppTest, label: str):
    (found,) = [each for each in at.button if each.label == label]
    return found


class TestOverview:
    @pytest.mark.usefixtures("iterations")
    def test_opens_first(self):
        at = AppTest.from_file(APP, default_timeout=120).run()
        assert not at.exception
        assert at.title[0].value == TITLES["overview"]

    def test_shows_the_simulated_covid_counts(self, open_page, covid_twin):
        at = open_page("overview")
        assert at.header[0].value == covid_twin.title
        assert "Simulated counts" in words(at)
        facts = {metric.label: metric.value for metric in at.metric}
        assert facts["Size"] == "41 × 81 × 60"
        assert facts["Counted"] == f"{covid_twin.counts.share_observed:.1%}"
        pattern, steps = charts(at)
        assert pattern["data"][0]["type"] == "heatmap"
        assert len(steps["data"][0]["x"]) == 60
        assert len(at.dataframe[0].value) == covid_twin.counts.n_attributes

    def test_provenance_is_on_the_page(self, open_page, covid_twin):
        text = words(open_page("overview"))
        for source in covid_twin.provenance.sources:
            assert source.name in text
            assert source.url in text
            assert source.licence in text
        for rule in covid_twin.provenance.rules:
            assert rule in text

    def test_other_data_set(self, open_page, ppi_twin):
        at = open_page("overview")
        at.button_group(key="data").set_value("ppi").run()
        assert not at.exception
        assert at.header[0].value == ppi_twin.title
        assert len(charts(at)) == 2


class TestCovid:
    def test_fits_by_itself_and_draws(self, fitted, covid_twin):
        at = fitted("covid")
        assert "Simulated counts" in words(at)
        assert not at.info
        shapes, top, bottom, objective = charts(at)
        assert shapes["data"][0]["type"] == "choropleth"
        assert len(shapes["data"][0]["locations"]) == len(covid_twin.table)
        for bars in (top, bottom):
            assert len(bars["data"][0]["y"]) == 10
            assert all(text.endswith("tests per 1000") for text in bars["data"][0]["text"])
        assert top["layout"]["xaxis"]["range"] == bottom["layout"]["xaxis"]["range"]
        assert objective["data"][0]["x"]

    def test_a_day_has_other_colours_on_the_same_scale(self, fitted):
        at = fitted("covid")
        mean = charts(at)[0]["data"][0]
        at.button_group(key="span").set_value("day").run()
        at.select_slider(key="day").set_value("2021-01-11").run()
        assert not at.exception
        day = charts(at)[0]["data"][0]
        assert day["z"] != mean["z"]
        assert (day["zmin"], day["zmax"]) == (mean["zmin"], mean["zmax"])

    def test_an_anchor_changes_the_numbers_without_a_new_fit(self, fitted):
        at = fitted("covid")
        before = charts(at)[1]["data"][0]
        at.selectbox(key="scale").set_value("best").run()
        assert not at.exception
        assert not at.info
        assert not at.get("progress")
        after = charts(at)[1]["data"][0]
        assert after["x"] != before["x"]
        assert after["y"] == before["y"]
        assert "best entry detects everything" in words(at)

    def test_says_that_the_scale_is_free(self, fitted):
        text = words(fitted("covid"))
        assert "relative: the median p is 1" in text
        assert "Only ratios of p are known" in text


class TestPlantPollinator:
    def test_fits_by_itself_and_draws(self, fitted, ppi_twin):
        at = fitted("ppi")
        assert "Simulated counts" in words(at)
        top, bottom, visits, _ = charts(at)
        assert len(top["data"][0]["y"]) == len(bottom["data"][0]["y"]) == 10
        years = ppi_twin.mode_tables["visit"]["year"].astype(str).unique().tolist()
        assert [line["name"] for line in visits["data"]] == years
        assert at.selectbox(key="interaction").value == top["data"][0]["y"][0]

    def test_quick_picks_choose_the_interaction(self, fitted):
        at = fitted("ppi")
        chosen = {}
        for name in ("Highest mean", "Lowest mean", "Varies most", "Varies least"):
            button(at, name).click().run()
            assert not at.exception
            chosen[name] = at.selectbox(key="interaction").value
        top, bottom, *_ = charts(at)
        assert chosen["Highest mean"] == top["data"][0]["y"][0]
        assert chosen["Lowest mean"] == bottom["data"][0]["y"][0]
        assert len(set(chosen.values())) >= 3

    def test_the_chosen_interaction_is_drawn(self, fitted):
        at = fitted("ppi")
        first = charts(at)[2]
        button(at, "Lowest mean").click().run()
        assert charts(at)[2]["data"][0]["y"] != first["data"][0]["y"]

    def test_address_names_the_interaction(self, fitted):
        at = fitted("ppi")
        other = at.selectbox(key="interaction").options[7]
        at = fitted("ppi", interaction=other)
        assert at.selectbox(key="interaction").value == other


@pytest.mark.parametrize("name", FITTING)
class TestFits:
    @pytest.mark.usefixtures("endless")
    def test_progress_names_iteration_and_objective(self, open_page, workers, name):
        at = until(open_page(name), lambda page: ITERATION.search(words(page)))
        (bar,) = at.get("progress")
        for part in ("Fitting rank", "objective", "left"):
            assert part in bar.proto.text
        button(at, "Cancel").click().run()
        until(at, lambda page: "was cancelled" in words(page))
        assert "Press **Fit**" in words(at)
        assert SO_FAR not in words(at)
        assert not charts(at)
        assert workers[-1].poll() is None

    @pytest.mark.usefixtures("endless")
    def test_estimates_are_drawn_while_a_fit_goes_on(self, open_page, name):
        at = until(open_page(name, **{f"{name}_seed": "7"}), lambda page: SO_FAR in words(page))
        assert "Still being fitted with" in words(at)
        assert at.get("progress")
        first = charts(at)
        until(at, lambda page: charts(page) != first)
        assert SO_FAR in words(at)
        button(at, "Cancel").click().run()
        until(at, lambda page: "was cancelled" in words(page))
        assert not charts(at)

    def test_members_have_whiskers(self, fitted, name):
        at = fitted(name, **{f"{name}_members": "2"})
        assert "2 members" in words(at)
        assert "Whiskers" in words(at)
        bars = [chart for chart in charts(at) if chart["data"][-1].get("error_x")]
        assert len(bars) == 2
        at.slider(key=f"{name}_members").set_value(1).run()
        at.button(key="fit").click().run()
        until(at, lambda page: not page.get("progress") and CHANGED not in words(page))
        assert "Whiskers" not in words(at)

    def test_changed_settings_keep_the_result_until_fit_is_pressed(self, fitted, name):
        at = fitted(name)
        before = charts(at)
        rank = at.slider(key=f"{name}_rank").value
        at.slider(key=f"{name}_rank").set_value(2).run()
        assert not at.exception
        assert charts(at) == before
        (note,) = [info.value for info in at.info]
        assert CHANGED in note
        assert f"rank {rank}" in note
        assert "rank 2" in note

        at.button(key="fit").click().run()
        until(at, lambda page: not page.get("progress") and CHANGED not in words(page))
        assert charts(at) != before
        assert "Fitted with rank 2" in words(at)

        at.slider(key=f"{name}_rank").set_value(rank).run()  # fitted before: at once
        assert not at.info
        assert charts(at) == before

    def test_a_cancelled_fit_keeps_the_result(self, fitted, iterations, name):
        at = fitted(name)
        before = charts(at)
        iterations.never()
        at.slider(key=f"{name}_rank").set_value(3)
        at.button(key="fit").click().run()
        assert charts(at) == before
        button(at, "Cancel").click().run()
        until(at, lambda page: "was cancelled" in words(page))
        iterations.soon()
        assert charts(at) == before
        assert CHANGED in words(at)

    def test_a_lost_process_is_a_sentence(self, fitted, iterations, workers, name):
        at = fitted(name)
        before = charts(at)
        iterations.never()
        at.slider(key=f"{name}_rank").set_value(4)
        at.button(key="fit").click().run()
        workers[-1].kill()
        until(at, lambda page: page.error)
        iterations.soon()
        assert "did not finish" in at.error[0].value
        assert charts(at) == before
        at.slider(key=f"{name}_rank").set_value(6)
        at.button(key="fit").click().run()
        until(at, lambda page: "Fitted with rank 6" in words(page) and not page.get("progress"))

    def test_address_drives_the_settings(self, open_page, name):
        at = open_page(name, **{f"{name}_rank": "2", f"{name}_seed": "0"})
        assert at.slider(key=f"{name}_rank").value == 2

    @pytest.mark.parametrize(
        ("key", "value"),
        [
            ("{}_rank", "many"),
            ("{}_rank", "21"),
            ("{}_counts", "imagined"),
            ("{}_seed", "-1"),
            ("scale", "imagined"),
            ("span", "imagined"),
            ("interaction", "nobody – nothing"),
        ],
    )
    def test_a_bad_value_in_the_address_is_ignored(self, fitted, name, key, value):
        at = fitted(name, **{key.format(name): value})
        assert charts(at)


@pytest.mark.parametrize("name", list(TITLES))
class TestRealCountsAbsent:
    def ask(self, open_page, name: str) -> AppTest:
        return open_page(name, **{f"{'covid' if name == 'overview' else name}_counts": "real"})

    def test_says_what_to_do_and_offers_the_download(self, open_page, name):
        at = self.ask(open_page, name)
        (note,) = [info.value for info in at.info]
        assert "not on this machine" in note
        assert "UNCLETC_DATA_DIR" in note
        assert button(at, "Download the public files")
        assert not charts(at)
        assert "Simulated counts." not in words(at).replace(note, "")

    def test_a_failed_download_is_a_sentence(self, open_page, name):
        at = self.ask(open_page, name)
        button(at, "Download the public files").click().run()
        assert not at.exception
        (error,) = [each.value for each in at.error]
        assert error.startswith("The download did not finish: ")
        assert "127.0.0.1" in error
        assert "Traceback" not in error
        assert "\n" not in error
        assert button(at, "Download the public files")

    def test_a_finished_download_opens_the_page(self, open_page, monkeypatch, name):
        family = "ppi" if name == "ppi" else "covid"
        twin = datasets.load(f"{family}-twin")
        real = replace(twin, provenance=replace(twin.provenance, simulated=False))
        here: list[str] = []

        def fetch(asked: str, progress: Callable[[int, int, int, int], None]) -> None:
            progress(0, 1, 0, 10)
            progress(1, 1, 10, 10)
            here.append(asked)

        monkeypatch.setattr(datasets, "available", here.__contains__)
        monkeypatch.setattr(datasets, "fetch_all", fetch)
        monkeypatch.setattr(datasets, "load", lambda _: real)
        sources._load.clear()
        at = self.ask(open_page, name)
        button(at, "Download the public files").click().run()
        assert here == [family]
        until(at, charts)
        assert "Simulated counts." not in words(at)
        sources._load.clear()

    def test_counts_that_cannot_be_read_are_a_sentence(self, open_page, monkeypatch, name):
        def load(_: str) -> None:
            raise datasets.DataUnavailableError("the file is torn; replace it")

        monkeypatch.setattr(datasets, "available", lambda _: True)
        monkeypatch.setattr(datasets, "load", load)
        sources._load.clear()
        at = self.ask(open_page, name)
        assert [each.value for each in at.error] == [
            "These counts cannot be read: the file is torn; replace it"
        ]
        sources._load.clear()


@pytest.mark.realdata
@pytest.mark.skipif(not REAL_FOLDER, reason="UNCLETC_DATA_DIR names no folder of public files")
class TestRealCounts:
    @pytest.fixture(autouse=True)
    def real(self, iterations, monkeypatch):  # noqa: ARG002, it takes them away first
        monkeypatch.setenv("UNCLETC_DATA_DIR", REAL_FOLDER)

    def test_overview(self, open_page):
        at = open_page("overview")
        assert "Simulated counts." not in words(at)
        assert at.metric[0].value == "42 × 80 × 60"
        at.button_group(key="data").set_value("ppi").run()
        assert not at.exception
        assert at.metric[0].value == "50 × 50 × 18"
        assert "Simulated counts." not in words(at)

    def test_covid(self, fitted):
        at = fitted("covid")
        assert "Simulated counts." not in words(at)
        shapes, top, bottom, _ = charts(at)
        assert len(shapes["data"][0]["locations"]) > 3_000
        assert len(top["data"][0]["y"]) == len(bottom["data"][0]["y"]) == 10
        assert not any("nan" in text for text in top["data"][0]["text"])

    def test_plant_pollinator(self, fitted):
        at = fitted("ppi")
        assert "Simulated counts." not in words(at)
        visits = charts(at)[2]
        assert [line["name"] for line in visits["data"]] == ["2011", "2012", "2013"]
