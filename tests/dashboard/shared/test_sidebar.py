"""The sidebar: widgets, address and settings say the same."""

from __future__ import annotations

from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from dashboard.shared.sidebar import widgets as sources
from dashboard.shared.sidebar.roles import (
    NO_EFFECTS,
    OWN,
    OWN_EFFECTS,
    PAPER,
    STATED,
    STATED_EFFECTS,
)
from dashboard.shared.sidebar.sidebar import _labels_of_places
from tests.dashboard.looking import in_address
from uncletc import Anchor, Role, Roles, datasets
from uncletc.datasets.covid_facts import COVID_ROLES

EFFECTS = {
    "plant": "Plants differ.",
    "smooth(visit, 2)": "Weeks are alike.",
    "reporting(plant × visit)": "Some are told of later.",
}
PPI_ROLES = Roles([Role("wind", "both", -1, "Insects are hard to see in wind.")])


def page(family: str) -> None:
    import streamlit as st

    from dashboard.shared.sidebar.sidebar import sidebar

    st.session_state["choices"] = sidebar(family)


@pytest.fixture
def absent(monkeypatch):
    monkeypatch.setattr(datasets, "available", lambda name: name.endswith("-twin"))


@pytest.fixture
def present(monkeypatch, covid_twin, ppi_twin):
    """Real counts with stated roles, which are the simulated ones by another name."""
    load = datasets.load

    def real(name):
        if name.endswith("-twin"):
            return load(name)
        roles = {"covid": COVID_ROLES, "ppi": PPI_ROLES}[name]
        twin = {"covid": covid_twin, "ppi": ppi_twin}[name]
        known = [role for role in roles if role.attribute in twin.counts.attribute_names]
        effects = EFFECTS if name == "ppi" else {}
        return replace(twin, name=name, roles=Roles(known), effects=effects)

    monkeypatch.setattr(datasets, "available", lambda _: True)
    monkeypatch.setattr(datasets, "load", real)
    sources._load.clear()
    yield
    sources._load.clear()


def run(family="covid", **address: str | list[str]) -> AppTest:
    at = AppTest.from_function(page, kwargs={"family": family}, default_timeout=30)
    for name, value in address.items():
        at.query_params[name] = value
    at.run()
    assert not at.exception
    return at


def choices(at: AppTest):
    return at.session_state["choices"]


@pytest.mark.usefixtures("absent")
def test_no_scale_is_asked_for_where_no_number_has_one():
    def page() -> None:
        import streamlit as st

        from dashboard.shared.sidebar.sidebar import sidebar

        st.session_state["choices"] = sidebar("covid", scale=False)

    at = AppTest.from_function(page, default_timeout=30)
    at.query_params["anchor"] = "mean"
    at.run()
    assert not at.exception
    assert choices(at).anchor == Anchor()
    assert "Scale of p" not in [each.label for each in at.selectbox]
    assert "Scale of p" in [each.label for each in run().selectbox]


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

    def test_mu_is_taken_from_the_counts_unless_chosen(self):
        at = run()
        assert choices(at).settings.mu is None
        at.select_slider(key="covid_mu").set_value(50).run()
        assert choices(at).settings.mu == 50
        assert choices(run(covid_mu="50")).settings.mu == 50
        assert choices(run(covid_mu="from the counts")).settings.mu is None

    def test_address_drives_the_widgets(self):
        address = {"covid_rank": "3", "covid_layers": "1", "covid_seed": "9", "covid_members": "2"}
        settings = choices(run(**address)).settings
        assert (settings.rank, len(settings.hidden), settings.seed) == (3, 1, 9)
        assert settings.members == 2

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("covid_rank", "abc"),
            ("covid_rank", "99"),
            ("covid_rank", ""),
            ("covid_layers", "-1"),
            ("covid_units", "many"),
            ("covid_members", "9"),
            ("covid_seed", "1e9"),
            ("covid_rank", "999"),
            ("covid_mu", "3.3"),
            ("covid_mu", "many"),
            ("live", "perhaps"),
            ("mean", "200"),
            ("picture", "gif"),
            ("covid_counts", "imagined"),
            ("scale", "imagined"),
        ],
    )
    def test_a_bad_value_in_the_address_is_no_setting(self, name, value):
        at = run(**{name: value})
        assert choices(at) == choices(run())

    def test_scale_of_p(self):
        at = run()
        assert choices(at).anchor.kind == "relative"
        at.selectbox(key="scale").set_value("best").run()
        assert choices(at).anchor.kind == "best"
        at.selectbox(key="scale").set_value("mean").run()
        at.slider(key="mean").set_value(40).run()
        assert (choices(at).anchor.kind, choices(at).anchor.value) == ("mean", 0.4)

    @pytest.mark.parametrize("family", ["covid", "ppi"])
    def test_one_place_of_a_known_detection(self, family):
        at = run(family, scale="known place or pair")
        known = _labels_of_places(datasets.load(f"{family}-twin"))
        first = next(iter(known))
        assert choices(at).anchor == Anchor(kind="entry", place=known[first], name=first, value=0.5)
        other = sorted(known)[3]
        at.selectbox(key=f"{family}_place").set_value(other)
        at.slider(key=f"{family}_detects").set_value(80).run()
        anchor = choices(at).anchor
        assert (anchor.name, anchor.place, anchor.value) == (other, known[other], 0.8)

    @pytest.mark.parametrize("family", ["covid", "ppi"])
    def test_a_known_total(self, family):
        at = run(family, scale="known total")
        reported = int(datasets.load(f"{family}-twin").counts.counts.sum())
        assert choices(at).anchor == Anchor(kind="total", value=4.0 * reported)
        assert f"{reported:,}" in at.main.caption[-1].value
        assert not at.main.warning
        at.number_input(key=f"{family}_twin_total").set_value(reported - 1).run()
        assert choices(at).anchor.value == reported - 1
        assert "Fewer than were reported" in at.main.warning[0].value

    def test_a_mean_may_be_a_range_and_is_in_the_address(self):
        at = run(scale="known mean")
        assert in_address(at, "scale") == "I know the average detection"
        assert "mean_range" not in [slider.key for slider in at.slider]
        at.toggle(key="range").set_value(True).run()
        assert choices(at).anchor == Anchor(kind="mean", value=(0.2, 0.4))
        assert "A 90 % interval" in at.main.caption[-1].value
        assert "its middle, 28.3 %" in at.main.caption[-1].value
        linked = run(scale="known mean", range="true", mean_range=["10", "35"])
        assert choices(linked).anchor == Anchor(kind="mean", value=(0.1, 0.35))
        assert not linked.main.warning
        usual = run(scale="known mean", range="true", mean_range=["0", "400"])
        assert choices(usual).anchor.value == (0.2, 0.4)

    @pytest.mark.parametrize("ends", [["30", "10"], ["30", "30"]])
    def test_a_range_that_is_none_is_a_sentence(self, ends):
        at = run(scale="known mean", range="true", mean_range=ends)
        (words,) = [each.value for each in at.main.warning]
        assert words.startswith(f"30 to {ends[1]} % is no range: its low end must be below")
        assert choices(at).anchor.value == 0.3

    @pytest.mark.parametrize("kind", ["known place or pair", "known total"])
    def test_statements_about_absent_counts_wait(self, kind):
        assert choices(run(scale=kind, covid_counts="real")).anchor == Anchor()

    @pytest.mark.parametrize("family", ["covid", "ppi"])
    def test_reset_brings_the_defaults_back(self, family):
        usual = choices(run(family))
        address = {
            "rank": "3",
            "mu": "50",
            "layers": "1",
            "units": "5",
            "members": "4",
            "seed": "8",
        }
        at = run(
            family,
            scale="best is complete",
            **{f"{family}_{key}": value for key, value in address.items()},
        )
        assert choices(at) != usual
        at.button(key=f"{family}_reset").click().run()
        assert not at.exception
        assert choices(at) == usual
        at.run()
        assert choices(at) == usual


@pytest.mark.usefixtures("present")
def test_real_counts_come_first_where_they_are():
    assert choices(run("covid")).dataset == "covid"
    assert choices(run("ppi")).dataset == "ppi"
    assert choices(run("covid", covid_counts="simulated")).dataset == "covid-twin"


@pytest.mark.usefixtures("present")
class TestRoles:
    def test_stated_ones_first_with_their_signs(self):
        found = choices(run("ppi"))
        assert found.roles.preset == STATED
        assert found.settings.signs == (("wind", -1),)
        assert dict(choices(run("covid")).settings.signs)["testing gap"] == -1

    def test_the_papers_are_one_click_away_and_in_the_address(self):
        at = run("ppi")
        at.selectbox(key="ppi_roles").set_value(PAPER).run()
        assert not at.exception
        assert choices(at).settings.signs == ()
        assert not choices(at).roles.roles.roles
        assert choices(run("ppi", ppi_roles=PAPER)) == choices(at)

    def test_own_ones_begin_as_stated_and_change_by_a_click(self):
        at = run("ppi", ppi_roles=OWN)
        boxes = [each for each in at.selectbox if " role" in (each.key or "").replace("_", " ")]
        assert at.selectbox(key="ppi_role_of_wind").value == "both, p falls"
        assert "hard to see in wind" in at.selectbox(key="ppi_role_of_wind").help
        assert len(boxes) == 1 + len(choices(at).roles.attributes)
        assert choices(at).settings.signs == (("wind", -1),)
        at.selectbox(key="ppi_role_of_wind").set_value("true rate").run()
        assert choices(at).settings.signs == ()
        assert choices(at).roles.changes == ["wind: true rate"]
        linked = run("ppi", ppi_roles=OWN, ppi_role_of_wind="true rate")
        assert choices(linked) == choices(at)

    @pytest.mark.parametrize(
        ("name", "value"),
        [("ppi_roles", "imagined"), ("ppi_role_of_wind", "imagined"), ("ppi_roles", "")],
    )
    def test_a_bad_value_in_the_address_is_no_role(self, name, value):
        assert choices(run("ppi", **{name: value})) == choices(run("ppi"))

    def test_reset_brings_the_stated_ones_back(self):
        at = run("ppi", ppi_roles=OWN, ppi_role_of_wind="left out")
        at.button(key="ppi_reset").click().run()
        assert not at.exception
        assert choices(at) == choices(run("ppi"))
        at.selectbox(key="ppi_roles").set_value(OWN).run()
        assert choices(at).roles.changes == []

    def test_without_any_the_papers_are_had_and_why_is_said(self, monkeypatch, ppi_twin):
        plain = replace(ppi_twin, roles=Roles(), effects={})
        monkeypatch.setattr(datasets, "load", lambda _: plain)
        at = run("ppi", ppi_counts="simulated")
        assert choices(at).roles.preset == PAPER
        assert "have no stated roles" in "".join(each.value for each in at.sidebar.caption)
        assert at.selectbox(key="ppi_twin_roles").options == [PAPER, OWN]


@pytest.mark.usefixtures("present")
class TestEffects:
    def test_stated_ones_first(self):
        at = run("ppi")
        assert at.selectbox(key="ppi_effects").value == STATED_EFFECTS
        assert "ignore the network" in at.selectbox(key="ppi_effects").help
        assert choices(at).settings.effects == tuple(EFFECTS)
        assert choices(at).roles.words == ""

    def test_none_is_one_click_away_and_in_the_address(self):
        at = run("ppi")
        at.selectbox(key="ppi_effects").set_value(NO_EFFECTS).run()
        assert not at.exception
        assert choices(at).settings.effects == ()
        assert choices(at).roles.words == "no effects"
        assert choices(run("ppi", ppi_effects=NO_EFFECTS)) == choices(at)

    def test_own_ones_are_switched_one_by_one(self):
        at = run("ppi", ppi_effects=OWN_EFFECTS)
        assert [each.label for each in at.checkbox] == [
            "plant",
            "visit (2 visits)",
            "reporting: plant × visit",
        ]
        assert at.checkbox[0].help == "Plants differ."
        assert choices(at).settings.effects == tuple(EFFECTS)
        at.checkbox(key="ppi_effect_smooth_visit_2").set_value(False).run()
        assert choices(at).settings.effects == ("plant", "reporting(plant × visit)")
        linked = run("ppi", ppi_effects=OWN_EFFECTS, ppi_effect_smooth_visit_2="false")
        assert choices(linked) == choices(at)

    @pytest.mark.parametrize(
        ("name", "value"),
        [("ppi_effects", "imagined"), ("ppi_effects", ""), ("ppi_effect_plant", "perhaps")],
    )
    def test_a_bad_value_in_the_address_is_no_effect(self, name, value):
        assert choices(run("ppi", **{name: value})) == choices(run("ppi"))

    def test_the_papers_roles_have_none(self):
        at = run("ppi", ppi_roles=PAPER)
        assert at.selectbox(key="ppi_effects").disabled
        assert choices(at).settings.effects == ()
        assert choices(at).roles.words == "the paper's roles, no effects"

    def test_reset_brings_the_stated_ones_back(self):
        at = run("ppi", ppi_effects=OWN_EFFECTS, ppi_effect_plant="false")
        at.button(key="ppi_reset").click().run()
        assert not at.exception
        assert choices(at) == choices(run("ppi"))
        at.selectbox(key="ppi_effects").set_value(OWN_EFFECTS).run()
        assert choices(at).settings.effects == tuple(EFFECTS)
