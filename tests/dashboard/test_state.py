"""The sidebar: widgets, address and settings say the same."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from dashboard.state import describe
from uncletc import FitSettings, datasets


def page(family: str) -> None:
    import streamlit as st

    from dashboard.state import sidebar

    st.session_state["choices"] = sidebar(family)


@pytest.fixture
def absent(monkeypatch):
    monkeypatch.setattr(datasets, "available", lambda name: name.endswith("-twin"))


@pytest.fixture
def present(monkeypatch):
    monkeypatch.setattr(datasets, "available", lambda _: True)


def run(family="covid", **address: str) -> AppTest:
    at = AppTest.from_function(page, kwargs={"family": family}, default_timeout=30)
    for name, value in address.items():
        at.query_params[name] = value
    at.run()
    assert not at.exception
    return at


def choices(at: AppTest):
    return at.session_state["choices"]


class TestDescribe:
    def test_names_what_was_chosen(self):
        text = describe(FitSettings(rank=4, mu=500.0, hidden=(15, 15), seed=3))
        for part in ("rank 4", "500", "2 × 15 units", "seed 3"):
            assert part in text

    def test_without_hidden_layers(self):
        assert "linear" in describe(FitSettings(rank=1, hidden=()))

    def test_members_where_there_are_several(self):
        assert "member" not in describe(FitSettings(rank=1))
        assert "4 members" in describe(FitSettings(rank=1, members=4))

    def test_different_choices_read_differently(self):
        base = {"rank": 4, "hidden": (10,)}
        others = [{}, {"rank": 5}, {"mu": 100.0}, {"hidden": (10, 10)}, {"seed": 1}]
        others.append({"members": 4})
        texts = {describe(FitSettings(**base | other)) for other in others}
        assert len(texts) == len(others)


@pytest.mark.usefixtures("absent")
class TestSidebar:
    def test_simulated_counts_where_real_ones_are_absent(self):
        assert choices(run("covid")).dataset == "covid-twin"
        assert choices(run("ppi")).dataset == "ppi-twin"

    def test_widgets_become_settings(self):
        at = run()
        at.slider(key="covid_rank").set_value(7)
        at.slider(key="covid_layers").set_value(2)
        at.slider(key="covid_units").set_value(10)
        at.slider(key="covid_members").set_value(3)
        at.number_input(key="covid_seed").set_value(42)
        at.run()
        settings = choices(at).settings
        assert (settings.rank, settings.hidden, settings.seed) == (7, (10, 10), 42)
        assert settings.members == 3
        assert not choices(at).pressed

    def test_no_layers_is_a_linear_network(self):
        at = run(covid_layers="0")
        assert choices(at).settings.hidden == ()
        assert at.slider(key="covid_units").disabled

    def test_fit_is_pressed_for_one_run(self):
        at = run()
        at.button(key="fit").click().run()
        assert choices(at).pressed
        at.run()
        assert not choices(at).pressed

    def test_address_drives_the_widgets(self):
        address = {"covid_rank": "3", "covid_layers": "1", "covid_seed": "9", "covid_members": "2"}
        settings = choices(run(**address)).settings
        assert (settings.rank, len(settings.hidden), settings.seed) == (3, 1, 9)
        assert settings.members == 2

    def test_pages_have_settings_of_their_own(self):
        default = choices(run("ppi")).settings.rank
        assert choices(run("ppi", covid_rank=str(default + 1))).settings.rank == default

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("covid_rank", "abc"),
            ("covid_rank", "99"),
            ("covid_rank", ""),
            ("covid_layers", "-1"),
            ("covid_units", "7"),
            ("covid_members", "9"),
            ("covid_seed", "1e9"),
            ("covid_counts", "imagined"),
            ("scale", "imagined"),
        ],
    )
    def test_a_bad_value_in_the_address_is_no_setting(self, name, value):
        at = run(**{name: value})
        assert choices(at).settings.rank == choices(run()).settings.rank
        assert choices(at).dataset == "covid-twin"
        assert choices(at).anchor.kind == "relative"

    def test_scale_of_p(self):
        at = run()
        assert choices(at).anchor.kind == "relative"
        at.selectbox(key="scale").set_value("best").run()
        assert choices(at).anchor.kind == "best"
        at.selectbox(key="scale").set_value("mean").run()
        at.slider(key="mean").set_value(40).run()
        assert (choices(at).anchor.kind, choices(at).anchor.mean) == ("mean", 0.4)

    def test_the_stated_mean_is_asked_for_only_where_it_matters(self):
        at = run()
        assert "mean" not in [slider.key for slider in at.slider]
        at.selectbox(key="scale").set_value("mean").run()
        assert "mean" in [slider.key for slider in at.slider]


@pytest.mark.usefixtures("present")
def test_real_counts_come_first_where_they_are():
    assert choices(run("covid")).dataset == "covid"
    assert choices(run("ppi")).dataset == "ppi"
    assert choices(run("covid", covid_counts="simulated")).dataset == "covid-twin"
