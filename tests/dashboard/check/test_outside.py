"""p beside independent estimates: verdicts, dots and the map of the difference, on the page too."""

import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from dashboard.check.outside import OF_FIT, build_outside_view
from dashboard.shared import cache
from dashboard.shared.fit_status import running
from dashboard.shared.sidebar import widgets as sources
from tests.dashboard.looking import PLAIN, open_screen, unpacked, words
from tests.uncletc.made import dataset_of
from uncletc import CountTensor, StopReason, datasets
from uncletc.data.simulate import Truth
from uncletc.datasets import Outside
from uncletc.datasets.covid_outside import ESTIMATES

N = 30
P = np.linspace(0.1, 0.9, N)
CELL = ["latitude_index", "longitude_index"]
STATES = [f"State {k:02}" for k in range(N)]
# Its p is z.
FIT = SimpleNamespace(of_members=lambda *given: [given[-1][:, 0]], mu_of_observations={})


@pytest.fixture
def dataset():
    """A county, a cell and an entry per state, whose p rises from .1 to .9."""
    table = pd.DataFrame({"fips": [f"{k + 1:02}001" for k in range(N)], "state": STATES})
    at = {"latitude_index": range(N), "longitude_index": 0}
    table = table.assign(population=10, counted=True, cases=100, **at)
    entries = [[k, 0, 0] for k in range(N)]
    counts = CountTensor((N, 2, 2), entries, [100] * N, attributes=P[:, None])
    return dataset_of(counts, table, simulated=False)


def outside(**columns):
    states = pd.DataFrame(columns, index=pd.Index(STATES, name="state"))
    index = pd.MultiIndex.from_product([range(N), [0]], names=CELL)
    cells = pd.DataFrame({"state": STATES, **columns}).set_index(index)
    return Outside(states=states, cells=cells, estimates=(), missing={})


def noisy(size, seed=0):
    return P + np.random.default_rng(seed).normal(0, size, N)


@pytest.mark.parametrize(
    ("columns", "tone", "says"),
    [
        ((-P, -noisy(0.05), -noisy(0.1)), "bad", "every independent estimate"),
        ((P, -noisy(0.05), P), "bad", "against later deaths"),
        ((noisy(0.1), noisy(0.1, 1), noisy(0.1, 2)), "good", "about as strongly"),
        ((noisy(0.5), noisy(0.5), noisy(0.5)), "open", "but less than"),
        (((P * 977) % 0.1,) * 3, "open", "no clear relation"),
    ],
)
def test_verdicts(dataset, columns, tone, says):
    names = ("seroprevalence", "deaths", "tests")
    known = outside(**dict(zip(names, columns, strict=True)))
    view = build_outside_view(dataset, FIT, known)
    assert says in view.verdict
    assert view.tone == tone


def test_what_the_fit_has_used_is_not_compared(dataset):
    used = SimpleNamespace(**vars(FIT) | {"mu_of_observations": {"deaths": 1.0}})
    view = build_outside_view(dataset, used, outside(seroprevalence=P, deaths=-P, tests=P))
    assert view.seen == ("deaths",)
    assert view.names == ["seroprevalence", "tests"]
    assert view.tone == "good"


@pytest.mark.parametrize(("p", "says"), [(P, "agrees with"), (P[::-1], "runs against")])
def test_simulated_counts_are_compared_with_the_truth(dataset, p, says):
    detection = np.full((N, 2, 2), np.nan)
    detection[:, 0, 0] = p
    simulated = replace(dataset, truth=Truth(rate=np.ones((N, 2, 2)), detection=detection))
    view = build_outside_view(simulated, FIT, None)
    assert f"p {says} the truth" in view.verdict
    assert view.names == ["truth"]
    assert view.dots["group"].tolist() == [OF_FIT]
    with pytest.raises(ValueError, match="outside must be given for x"):
        build_outside_view(dataset, FIT, None)


class TestOnThePage:
    @pytest.fixture
    def as_real(self, monkeypatch, covid_twin, covid_fit):
        """The simulated counts, as if nobody knew their truth, with a fit of stated roles."""
        finished = replace(covid_fit, stop=StopReason.TOLERANCE)
        provenance = replace(covid_twin.provenance, simulated=False)
        real = replace(covid_twin, truth=None, provenance=provenance)
        monkeypatch.setattr(datasets, "load", lambda _: real)

        def shown(_, choices):
            return running.FittedPage(real, finished, replace(choices.roles, attributes=()))

        monkeypatch.setattr(running, "fit_or_stop", shown)
        sources._load.clear()
        cache._VALUES.made.clear()
        yield real
        sources._load.clear()
        cache._VALUES.made.clear()

    def test_real_counts_have_a_verdict_a_map_and_sources(self, monkeypatch, as_real):
        tests = as_real.table.groupby("state")["tests_per_1000"].mean()
        states = pd.DataFrame({"seroprevalence": -tests, "deaths": tests, "tests": tests})
        cells = as_real.table.drop_duplicates(CELL).set_index(CELL)[["state"]]
        cells = cells.join(states, on="state")
        known = Outside(states=states, cells=cells, estimates=ESTIMATES, missing={})
        monkeypatch.setattr(datasets, "available", lambda _: True)
        monkeypatch.setattr(datasets, "load_outside", lambda _, known=known: known)
        at = open_screen("check", **PLAIN)
        text = words(at)
        assert "Does p agree with independent estimates?" in text
        verdict = next(each.value for each in [*at.error, *at.warning, *at.success])
        assert "Most of this agreement comes from the stated roles, not from the counts" in verdict
        for estimate in ESTIMATES:
            assert all(f"]({source.url})" in text for source in estimate.sources)
        assert any("UF-IDD" in block.value for block in at.code)  # cited
        assert map_title(at) == "p over blood surveys, each over its median"
        at.button_group(key="outside").set_value("tests").run()
        assert map_title(at) == "p over tests per person, each over its median"

    @pytest.mark.usefixtures("as_real")
    @pytest.mark.slow
    def test_files_that_are_not_there_or_not_readable_are_a_sentence(self, monkeypatch):
        def fail(_, **__):
            raise datasets.DataUnavailableError("nobody answers")

        monkeypatch.setattr(datasets, "available", lambda _: False)
        monkeypatch.setattr(datasets, "fetch_all", fail)
        at = open_screen("check", **PLAIN)
        at.button(key=f"download-{datasets.OUTSIDE}").click().run()
        assert "The download did not finish: nobody answers" in words(at)
        monkeypatch.setattr(datasets, "available", lambda _: True)
        monkeypatch.setattr(datasets, "load_outside", fail)
        assert "p was not compared: nobody answers" in words(open_screen("check", **PLAIN))


def map_title(at):
    sent = [json.loads(component.proto.json) for component in at.get("bidi_component")]
    return str(next(unpacked(m["picture"])["title"] for m in sent if m["key"] == "outside-map"))
