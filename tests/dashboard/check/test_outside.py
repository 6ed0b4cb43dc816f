"""p beside independent estimates: verdicts, dots and the map of the difference, on the page too."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from dashboard.check.charts import agreement_dots
from dashboard.check.outside import (
    AMONG,
    OF_FIT,
    OutsideView,
    build_outside_view,
    difference_by_county,
)
from dashboard.shared import cache
from dashboard.shared.fit_status import running
from dashboard.shared.sidebar import widgets as sources
from dashboard.shared.sidebar.sidebar import Choices
from tests.dashboard.looking import PLAIN, open_screen, unpacked, words
from uncletc import CountTensor, StopReason, datasets
from uncletc.data.simulate import Truth
from uncletc.datasets import Dataset, Outside, Provenance
from uncletc.datasets.covid_outside import ESTIMATES

N = 30
P = np.linspace(0.1, 0.9, N)
STATES = [f"State {k:02}" for k in range(N)]
# Its p is z.
FIT = SimpleNamespace(mean_detection=0.5, detection=lambda z: z[:, 0], mu_of_observations={})


@pytest.fixture
def dataset() -> Dataset:
    """A county, a cell and an entry per state, whose p rises from .1 to .9."""
    entries = [[k, 0, 0] for k in range(N)]
    table = pd.DataFrame(
        {
            "fips": [f"{k + 1:02}001" for k in range(N)],
            "state": STATES,
            "population": 10,
            "latitude_index": range(N),
            "longitude_index": 0,
            "counted": True,
            "cases": 100,
        }
    )
    return Dataset(
        name="x",
        title="x",
        counts=CountTensor((N, 2, 2), entries, [100] * N, attributes=P[:, None]),
        table=table,
        provenance=Provenance(simulated=False, period="", sources=(), rules=()),
    )


def outside(**columns: np.ndarray) -> Outside:
    states = pd.DataFrame(columns, index=pd.Index(STATES, name="state"))
    cells = pd.DataFrame({"state": STATES, **columns})
    index = pd.MultiIndex.from_product([range(N), [0]], names=["latitude_index", "longitude_index"])
    return Outside(states=states, cells=cells.set_index(index), estimates=(), missing={})


def noisy(size: float, seed: int = 0) -> np.ndarray:
    return P + np.random.default_rng(seed).normal(0, size, N)


def view_of(dataset: Dataset, **columns: np.ndarray) -> OutsideView:
    return build_outside_view(dataset, FIT, outside(**columns))


class TestVerdict:
    @pytest.mark.parametrize(
        ("columns", "tone", "says"),
        [
            (
                {"seroprevalence": -P, "deaths": -noisy(0.05), "tests": -noisy(0.1)},
                "bad",
                "p runs against every independent estimate.* blood surveys, later deaths and tests",
            ),
            (
                {"seroprevalence": P, "deaths": -noisy(0.05), "tests": P},
                "bad",
                "p runs against later deaths",
            ),
            (
                {"seroprevalence": noisy(0.1), "deaths": noisy(0.1, 1), "tests": noisy(0.1, 2)},
                "good",
                "about as strongly as they do with each other",
            ),
            (
                {"seroprevalence": noisy(0.5), "deaths": noisy(0.5), "tests": noisy(0.5)},
                "open",
                "but less than they do with each other",
            ),
            (
                {"seroprevalence": (P * 977) % 0.1, "deaths": (P * 977) % 0.1},
                "open",
                "no clear relation",
            ),
        ],
    )
    def test_in_words(self, dataset, columns, tone, says):
        view = view_of(dataset, **columns)
        assert re.search(says, view.verdict)
        assert view.tone == tone

    def test_its_figures(self, dataset):
        view = view_of(dataset, seroprevalence=P, deaths=P[::-1], tests=P)
        assert "over 30 states: **+0.33**" in view.figures
        assert "with each other: **−0.33**" in view.figures
        assert "Over 30 cells, with later deaths: −1.00." in view.figures

    def test_what_the_fit_has_used_is_not_compared(self, dataset):
        looked = SimpleNamespace(**vars(FIT) | {"mu_of_observations": {"deaths": 1.0}})
        known = outside(seroprevalence=P, deaths=-P, tests=P)
        view = build_outside_view(dataset, looked, known)
        assert view.seen == ("deaths",)
        assert view.names == ["seroprevalence", "tests"]
        assert view.tone == "good"


class TestTruth:
    @pytest.mark.parametrize(
        ("p", "says"), [(P, "agrees with the truth"), (P[::-1], "runs against the truth")]
    )
    def test_simulated_counts_are_held_against_it(self, dataset, p, says):
        detection = np.full((N, 2, 2), np.nan)
        detection[:, 0, 0] = p
        simulated = replace(dataset, truth=Truth(rate=np.ones((N, 2, 2)), detection=detection))
        view = build_outside_view(simulated, FIT, None)
        assert says in view.verdict
        assert view.names == ["truth"]
        assert view.dots["group"].tolist() == [OF_FIT]
        assert "Over 30 cells, with true p:" in view.figures

    def test_of_real_counts_is_not_known(self, dataset):
        with pytest.raises(ValueError, match="outside must be given for x"):
            build_outside_view(dataset, FIT, None)


class TestDifference:
    def test_is_p_over_the_estimate_each_over_its_median(self, dataset):
        other = 10 * P.copy()
        other[0] *= 4
        counties, limit = difference_by_county(view_of(dataset, tests=other), "tests")
        assert counties["value"].tolist() == pytest.approx([0.25] + [1] * (N - 1))
        assert counties["ranks"].iloc[-1] == (
            "of 30 states, 1 the highest: p 1, tests per person 1"
        )
        assert limit >= 1.5

    def test_a_state_without_an_estimate_has_no_value(self, dataset):
        other = P.copy()
        other[3] = np.nan
        counties, _ = difference_by_county(view_of(dataset, tests=other), "tests")
        assert np.flatnonzero(counties["value"].isna()).tolist() == [3]
        assert "of 29 states" in counties["ranks"].iloc[0]


def test_dots_have_their_intervals_and_names(dataset):
    dots = view_of(dataset, seroprevalence=P, deaths=noisy(0.3), tests=noisy(0.3, 1)).dots
    assert dots["group"].tolist() == [OF_FIT] * 3 + [AMONG] * 3
    figure = agreement_dots(dots)
    of_fit, among = figure.data
    assert list(of_fit.x) == dots["estimate"].tolist()[:3]
    right = np.array(among.x) + np.array(among.error_x.array)
    assert right == pytest.approx(dots["high"].to_numpy()[3:])
    left = np.array(among.x) - np.array(among.error_x.arrayminus)
    assert left == pytest.approx(dots["low"].to_numpy()[3:])
    written = [note.text for note in figure.layout.annotations]
    assert written == [
        f"<b>{OF_FIT}</b>",
        "blood surveys",
        "later deaths",
        "tests per person",
        f"<b>{AMONG}</b>",
        "blood surveys – later deaths",
        "blood surveys – tests per person",
        "later deaths – tests per person",
    ]
    places = [*of_fit.y, *among.y]
    assert places == sorted(set(places))


class TestOnThePage:
    @pytest.fixture
    def as_real(self, monkeypatch, covid_twin, covid_fit):
        """The simulated counts, as if nobody knew their truth, with a fit of stated roles."""
        finished = replace(covid_fit, stop=StopReason.TOLERANCE)
        provenance = replace(covid_twin.provenance, simulated=False)
        real = replace(covid_twin, truth=None, provenance=provenance)
        monkeypatch.setattr(datasets, "load", lambda _: real)

        def shown(_: Dataset, choices: Choices) -> running.Shown:
            return running.Shown(real, finished, replace(choices.roles, attributes=()))

        monkeypatch.setattr(running, "fit_or_stop", shown)
        sources._load.clear()
        cache._shared_value.clear()
        yield real
        sources._load.clear()
        cache._shared_value.clear()

    @pytest.fixture
    def estimates(self, monkeypatch, as_real):
        """Independent estimates, one of them the tests turned over."""
        tests = as_real.table.groupby("state")["tests_per_1000"].mean()
        states = pd.DataFrame({"seroprevalence": -tests, "deaths": tests, "tests": tests})
        cells = as_real.table.drop_duplicates(["latitude_index", "longitude_index"])
        cells = cells.set_index(["latitude_index", "longitude_index"])[["state"]]
        known = Outside(
            states=states, cells=cells.join(states, on="state"), estimates=ESTIMATES, missing={}
        )
        monkeypatch.setattr(datasets, "available", lambda _: True)
        monkeypatch.setattr(datasets, "load_outside", lambda _: known)
        return known

    def test_real_counts_have_a_verdict_a_map_and_sources(self, estimates):
        at = open_screen("check", **PLAIN)
        text = words(at)
        assert "Does p agree with independent estimates?" in text
        assert "correlation over 5" in text
        verdict = next(each.value for each in [*at.error, *at.warning, *at.success])
        assert "Most of this agreement comes from the stated roles, not from the counts" in verdict
        for estimate in estimates.estimates:
            assert all(f"]({source.url})" in text for source in estimate.sources)
        cited = next(block.value for block in at.code if "Computed with uncletc" in block.value)
        assert "UF-IDD" in cited
        assert map_title(at) == "p over blood surveys, each over its median"
        at.button_group(key="outside").set_value("tests").run()
        assert map_title(at) == "p over tests per person, each over its median"

    @pytest.mark.usefixtures("as_real")
    def test_a_download_that_fails_is_a_sentence(self, monkeypatch):
        def fetch(_: str) -> None:
            raise datasets.DataUnavailableError("nobody answers")

        monkeypatch.setattr(datasets, "available", lambda _: False)
        monkeypatch.setattr(datasets, "fetch_all", fetch)
        at = open_screen("check", **PLAIN)
        at.button(key="download-outside").click().run()
        assert "The download did not finish: nobody answers" in words(at)

    @pytest.mark.usefixtures("as_real")
    def test_files_that_cannot_be_read_are_a_sentence(self, monkeypatch):
        def load(_: object) -> None:
            raise ValueError("week of surveys.csv must hold numbers")

        monkeypatch.setattr(datasets, "available", lambda _: True)
        monkeypatch.setattr(datasets, "load_outside", load)
        text = words(open_screen("check", **PLAIN))
        assert "p was not compared: week of surveys.csv must hold numbers" in text


def map_title(at: AppTest) -> str:
    sent = [json.loads(component.proto.json) for component in at.get("bidi_component")]
    return str(next(unpacked(m["picture"])["title"] for m in sent if m["key"] == "outside-map"))
