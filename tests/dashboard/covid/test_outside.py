"""The panel of the outside check: verdicts, dots, the map of the difference; by hand."""

from __future__ import annotations

import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from dashboard.covid.charts import agreement_dots
from dashboard.covid.outside import (
    AMONG,
    OF_FIT,
    OutsideView,
    build_outside_view,
    difference_view,
)
from uncletc import CountTensor
from uncletc.data.simulate import Truth
from uncletc.datasets import Dataset, Outside, Provenance

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
                "p runs against every outside estimate.* blood surveys, later deaths and tests",
            ),
            (
                {"seroprevalence": P, "deaths": -noisy(0.05), "tests": P},
                "bad",
                "p runs against later deaths",
            ),
            (
                {"seroprevalence": noisy(0.1), "deaths": noisy(0.1, 1), "tests": noisy(0.1, 2)},
                "good",
                "about as well as they agree with one another",
            ),
            (
                {"seroprevalence": noisy(0.5), "deaths": noisy(0.5), "tests": noisy(0.5)},
                "open",
                "but less than they agree with one another",
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
        assert "with one another: **−0.33**" in view.figures
        assert view.cells == "Over 30 cells, p with later deaths: −1.00 (90 %: −1.00 to −1.00)."

    def test_what_the_fit_has_seen_is_no_outside(self, dataset):
        looked = SimpleNamespace(**vars(FIT) | {"mu_of_looks": {"deaths": 1.0}})
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
        assert view.cells.startswith("Over 30 cells, p with true p:")

    def test_of_real_counts_is_not_known(self, dataset):
        with pytest.raises(ValueError, match="outside must be given for x"):
            build_outside_view(dataset, FIT, None)


class TestDifference:
    def test_is_p_over_the_estimate_each_over_its_median(self, dataset):
        other = 10 * P.copy()
        other[0] *= 4
        view = difference_view(view_of(dataset, tests=other), "tests")
        values = view.counties["value"].to_numpy()
        assert values[1:] == pytest.approx(np.ones(N - 1))
        assert values[0] == pytest.approx(0.25)
        assert view.title == "p over tests per person, each over its median"
        assert view.counties["ranks"].iloc[-1] == (
            "of 30 states, 1 the highest: p 1, tests per person 1"
        )

    def test_a_state_without_an_estimate_has_no_value(self, dataset):
        other = P.copy()
        other[3] = np.nan
        counties = difference_view(view_of(dataset, tests=other), "tests").counties
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
