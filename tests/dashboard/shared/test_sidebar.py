"""The sidebar: widgets, address and settings say the same."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from dashboard.shared import cache
from dashboard.shared.cache import MADE
from dashboard.shared.sidebar import model as models
from dashboard.shared.sidebar import widgets as sources
from dashboard.shared.sidebar.model import (
    ALWAYS,
    CUSTOM,
    NEVER,
    PAPER,
    RECOMMENDED,
    WITH_ROLES,
    at_first,
    may_have_deaths,
)
from tests.dashboard.looking import in_address, ran, read_own, words
from tests.uncletc.tables.made import Reading
from uncletc import Anchor, Observations, Role, Roles, datasets

CLOSED = f"{MADE}-closed"


@pytest.fixture(autouse=True)
def absent(monkeypatch):
    """Simulated counts alone."""
    monkeypatch.setattr(datasets, "available", lambda name: name.endswith("-twin"))


def page(family, scale):
    import streamlit as st

    from dashboard.shared.sidebar.sidebar import sidebar

    st.session_state["choices"] = sidebar(family, scale=scale)


def run(family="covid", with_scale=True, **address):
    given = {"family": family, "scale": with_scale}
    at = AppTest.from_function(page, kwargs=given, default_timeout=30)
    at.query_params.update(address)
    return ran(at)


def choices(at):
    return at.session_state["choices"]


class TestSettings:
    @pytest.mark.parametrize("family", ["covid", "ppi"])
    def test_first_are_those_that_others_prepare(self, family):
        found = choices(run(family))
        assert found.dataset == f"{family}-twin"
        usual, settings = at_first(sources._load(f"{family}-twin"), family)
        same = replace(found.roles, observations=usual.observations)  # read by another thread too
        assert (same, found.settings) == (usual, settings)

    def test_widgets_become_settings(self):
        at = run("ppi", ppi_model=PAPER, ppi_mu="2", ppi_rank="3", ppi_members="2")
        first = choices(at).settings
        assert (first.rank, first.members, first.mu) == (3, 2, 2)
        for key, value in {"rank": 7, "layers": 2, "units": 10, "members": 3}.items():
            at.slider(key=f"ppi_{key}").set_value(value)
        at.number_input(key="ppi_seed").set_value(42)
        at.select_slider(key="ppi_mu").set_value(50)
        settings = choices(ran(at)).settings
        assert (settings.rank, settings.hidden, settings.seed) == (7, (10, 10), 42)
        assert (settings.members, settings.mu) == (3, 50)

    @pytest.mark.parametrize(
        "bad",
        [
            {"covid_rank": "999", "covid_units": "many", "covid_seed": "1e9", "covid_mu": "3.3"},
            {"covid_rank": "", "mean": ["200", "x"], "covid_layers": "-1"},
            {"covid_counts": "imagined", "scale": "I state nothing", "covid_model": "imagined"},
        ],
    )
    def test_bad_and_old_values_in_the_address_are_no_settings(self, bad):
        assert choices(run(**bad)) == choices(run())

    def test_reset_brings_the_defaults_back(self):
        family = "ppi"
        usual = choices(run(family))
        address = {"rank": "3", "mu": "50", "layers": "1", "units": "5", "members": "4"}
        address |= {"seed": "8", "model": PAPER, "network_always": NEVER, "max_iter": "1200"}
        address = {f"{family}_{key}": value for key, value in address.items()}
        at = run(family, scale="The best entry detects everything", **address)
        assert choices(at) != usual
        ran(at.button(key=f"{family}_reset").click())
        assert choices(at) == usual
        assert choices(ran(at)) == usual


class TestModel:
    def test_recommended_first_and_each_with_a_sentence(self):
        at = run("ppi")
        control = at.selectbox(key="ppi_model")
        assert control.value == RECOMMENDED
        assert control.options == [PAPER, WITH_ROLES, RECOMMENDED, CUSTOM]
        for model in control.options:
            ran(at.selectbox(key="ppi_model").set_value(model))
            assert f"**{model}**: " in control.help
            assert choices(at) == choices(run("ppi", ppi_model=model))

    def test_a_control_that_cannot_act_is_disabled_with_its_reason(self):
        without = {"ppi_model": PAPER, "ppi_network_always": NEVER}
        at = run("ppi", **without)
        for name in ("layers", "units"):
            assert at.slider(key=f"ppi_{name}").disabled
        assert "*never*" in words(at)
        at = run("ppi", ppi_model=PAPER, ppi_layers="0", ppi_network_always=ALWAYS)
        assert at.selectbox(key="ppi_network_always").disabled
        assert at.slider(key="ppi_units").disabled
        assert not at.slider(key="ppi_layers").disabled

    def test_custom_begins_as_recommended_and_changes_by_a_click(self):
        at = run("ppi", ppi_model=CUSTOM)
        first = choices(at)
        assert first.settings == choices(run("ppi")).settings
        assert at.selectbox(key="ppi_ppi_twin_role_of_wind").help
        ran(at.selectbox(key="ppi_ppi_twin_role_of_wind").set_value("nothing"))
        effect = at.checkbox[0]
        ran(effect.set_value(False))
        assert choices(at).roles.changes[0] == "wind: nothing"
        assert len(choices(at).settings.effects) == len(first.settings.effects) - 1
        linked = run(
            "ppi", ppi_model=CUSTOM, ppi_ppi_twin_role_of_wind="nothing", **{effect.key: "false"}
        )
        assert choices(linked) == choices(at)
        ran(at.button(key="ppi_reset").click())
        ran(at.selectbox(key="ppi_model").set_value(CUSTOM))
        assert choices(at) == first

    def test_deaths_that_cannot_be_read_are_a_sentence(self, monkeypatch):
        def torn(*_, **__):
            raise datasets.DataUnavailableError("the file is torn")

        monkeypatch.setattr(datasets, "deaths_observations", torn)
        models._deaths.cache_clear()
        cache._VALUES.made.clear()
        at = run("covid")
        assert "the file is torn" in at.sidebar.warning[0].value
        assert not choices(at).roles.deaths.used
        assert may_have_deaths(datasets.load("covid-twin"))


class TestScale:
    def test_statements(self):
        assert "scale" not in [each.key for each in run(with_scale=False).selectbox]
        at = run()
        assert choices(at).anchor.kind == "relative"
        ran(at.selectbox(key="scale").set_value("best"))
        assert choices(at).anchor.kind == "best"
        ran(at.selectbox(key="scale").set_value("mean"))
        assert choices(at).anchor == Anchor(kind="mean", value=(0.2, 0.4))
        assert "around 28.3 %" in at.main.caption[-1].value

    def test_a_mean_is_a_range_or_one_number(self):
        known = {"scale": "Average detection is known"}
        for ends, value in (
            (["10", "35"], (0.1, 0.35)),
            (["0", "400"], (0.2, 0.4)),
            (["30", "30"], 0.3),
        ):
            assert choices(run(**known, mean=ends)).anchor == Anchor(kind="mean", value=value)


def test_real_counts_come_first_where_they_are(monkeypatch, ppi_twin):
    monkeypatch.setattr(datasets, "available", lambda _: True)
    monkeypatch.setattr(datasets, "load", lambda name: replace(ppi_twin, name=name))
    sources._load.clear()
    assert choices(run("ppi")).dataset == "ppi"
    assert choices(run("ppi", ppi_counts="simulated")).dataset == "ppi-twin"
    sources._load.clear()


class TestClosed:
    @pytest.fixture
    def nests(self):
        return self.counted(site=4, visit=3)

    def counted(self, **sizes):
        """A table of every combination of levels, of which each site has a count of its own."""
        columns = np.indices([*sizes.values()]).reshape(len(sizes), -1)
        frame = pd.DataFrame(dict(zip(sizes, columns, strict=True)))
        frame = frame.assign(count=frame["site"] + 1, height=frame["site"] ** 2)
        return read_own(frame, modes=tuple(sizes), attributes=("height",)).dataset

    def asked(self, dataset):
        def page():
            import streamlit as st

            from dashboard.shared.sidebar.sidebar import choose_closed, choose_model

            dataset = st.session_state["dataset"]
            closed = choose_closed(dataset)
            model, st.session_state["chosen"] = choose_model(dataset, "own", "own", closed=closed)
            st.session_state["by"] = model.by

        at = AppTest.from_function(page)
        at.session_state["dataset"] = dataset
        return ran(at)

    def test_a_mode_is_chosen_and_random_effects_give_way(self, nests):
        at = self.asked(replace(nests, effects={"site": "Sites differ."}))
        assert at.session_state["chosen"].closed == ()
        assert at.session_state["chosen"].effects == ("site",)
        ran(at.selectbox(key=CLOSED).set_value("visit"))
        assert at.session_state["chosen"].closed == ("visit",)
        assert at.session_state["chosen"].effects == ()
        assert in_address(at, CLOSED) is None

    def test_p_differs_by_species_at_first_where_another_mode_is_open(self, nests):
        ran(at := self.asked(nests))
        ran(at.selectbox(key=CLOSED).set_value("visit"))
        assert at.session_state["by"] == ()
        at = self.asked(self.counted(species=4, site=5, visit=3))
        assert at.session_state["by"] == ()
        ran(at.selectbox(key=CLOSED).set_value("visit"))
        assert at.session_state["by"] == ("species",)
        ran(at.multiselect[0].set_value([]))
        assert at.session_state["by"] == ()

    def test_a_mode_along_which_a_covariate_of_rate_differs_is_not_used(self):
        frame = pd.DataFrame(np.indices((4, 3)).reshape(2, -1).T, columns=["site", "visit"])
        frame = frame.assign(count=frame["site"] + 1, height=frame["visit"] ** 2)
        table = read_own(frame, modes=("site", "visit"), attributes=("height",)).dataset
        for acts_on, closed in (("rate", ()), ("detection", ("visit",))):
            at = self.asked(replace(table, roles=Roles([Role("height", acts_on)])))
            # sites are no repeats
            assert at.selectbox(key=CLOSED).options == ["no", "each visit sees the same animals"]
            ran(at.selectbox(key=CLOSED).set_value("visit"))
            assert at.session_state["chosen"].closed == closed
            assert bool(closed) != ("height affects λ and differs" in words(at))

    def test_visits_of_capture_histories_are_closed_unless_it_is_changed(self):
        at = self.asked(Reading("site,history\na,011\na,100\nb,111\n").data)
        assert at.session_state["chosen"].closed == ("visit",)
        ran(at.selectbox(key=CLOSED).set_value(""))
        assert at.session_state["chosen"].closed == ()

    def test_repeated_observations_do_not_go_with_it(self, nests):
        y = nests.counts
        observations = [Observations("look 2", y.indices, y.counts)]
        at = self.asked(replace(nests, counts=y.with_observations(*observations)))
        ran(at.selectbox(key=CLOSED).set_value("visit"))
        assert at.session_state["chosen"].closed == ()
        assert "observations" in words(at)
