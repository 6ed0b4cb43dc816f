"""Every page that fits, under the roles that a reader may choose, with fits of a few iterations."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from dashboard.shared.fit_status import running
from dashboard.shared.sidebar import sidebar as state
from dashboard.shared.sidebar import widgets as sources
from dashboard.shared.sidebar.model import settings_of
from dashboard.shared.sidebar.roles import OWN, PAPER, STATED, columns_of
from dashboard.whatif import controls
from tests.dashboard.looking import charts, ended, open_screen, own_cache, press, waiting, words
from uncletc import Joint, Role, Roles, datasets
from uncletc.datasets import Dataset

PPI = "Plant–pollinator"
STATED_ROLES = {
    "ppi": [
        Role("wind", "both", -1, "Insects are hard to see in wind."),
        Role("month", "rate", 0, "There is a season."),
    ],
    "covid": [Role("% rural", "both", -1, "The way is longer."), Role("% Hispanic", "rate")],
}
FEW = {"rank": 2, "max_iter": 34, "tol": 0.0, "hidden": (5,), "solver": Joint(network=False)}


@pytest.fixture(scope="module", autouse=True)
def quick(
    tmp_path_factory: pytest.TempPathFactory, covid_twin: Dataset, ppi_twin: Dataset
) -> Iterator[None]:
    """Short fits of "real" counts: the simulated ones by another name, with stated roles."""
    whole, load = state.sidebar, datasets.load
    twins = {"covid": covid_twin, "ppi": ppi_twin}

    def sidebar(family: state.Family, **options: bool) -> state.Choices:
        choices = whole(family, **options)
        return replace(choices, settings=replace(choices.settings, **FEW))

    def real(name: str) -> Dataset:
        if name.endswith("-twin"):
            return load(name)
        twin = twins[name]
        seen = replace(twin.provenance, simulated=False)
        roles = Roles(STATED_ROLES[name])
        return replace(twin, name=name, roles=roles, effects={}, deaths=None, provenance=seen)

    with own_cache(tmp_path_factory.mktemp("cache")) as patch:
        patch.setattr(state, "sidebar", sidebar)
        patch.setattr(
            controls,
            "settings_of",
            lambda **values: (
                settings_of(**values)
                if values["solver"] == "bcd"
                else replace(settings_of(**values), **FEW)
            ),
        )
        patch.setattr(datasets, "available", lambda _: True)
        patch.setattr(datasets, "load", real)
        sources._load.clear()
        yield


def all_have(family: str, dataset: Dataset, option: str) -> dict[str, str]:
    """The address where each attribute has one role."""
    from dashboard.shared.sidebar.controls import role_key

    names = columns_of(dataset.counts)
    return {f"{family}_roles": OWN} | {role_key("", family, name): option for name in names}


def fitted(screen: str, **address: str) -> AppTest:
    at = open_screen(screen, **address)
    return ended(at, lambda page: charts(page) and not waiting(page))


class TestPlants:
    def test_stated_the_papers_and_own_are_kept_apart(self):
        at = fitted("ppi")
        stated = charts(at)
        assert "paper's roles" not in words(at)
        assert "hard to see in wind" in at.table[0].value.to_string()

        at.selectbox(key="ppi_roles").set_value(PAPER).run()
        ended(at, lambda page: not waiting(page))
        assert charts(at) != stated
        text = words(at)
        assert "The paper's choice: every attribute may move p" in text
        assert "seed 0, the paper's roles: " in text
        names = [each.proto.help for each in at.get("download_button")]
        assert all("papers-roles" in name for name in names)
        assert "with_roles" not in at.code[0].value

        at.selectbox(key="ppi_roles").set_value(STATED).run()
        assert charts(at) == stated
        assert '("ppi").with_roles()\n' in at.code[0].value

    def test_an_earlier_fit_is_shown_with_its_own_roles(self):
        at = fitted("ppi", live="false")
        before = charts(at)
        at.selectbox(key="ppi_roles").set_value(OWN).run()
        at.selectbox(key="ppi_role_of_cloud").set_value("left out").run()
        assert not at.exception
        assert charts(at) == before
        (note,) = [each.value for each in at.info if "Changed since" in each.value]
        assert "own roles (cloud: left out)" in note

    @pytest.mark.parametrize("option", ["left out", "true rate"])
    @pytest.mark.parametrize("screen", ["ppi", "check"])
    def test_no_attribute_on_detection_is_said(self, screen, option, ppi_twin):
        at = fitted(screen, data=PPI, **all_have("ppi", ppi_twin, option))
        assert "p is the same everywhere" in words(at)
        assert not at.error

    def test_drivers_with_none_on_detection(self, ppi_twin):
        at = fitted("drivers", data=PPI, **all_have("ppi", ppi_twin, "true rate"))
        assert "p is the same everywhere" in words(at)
        assert "How λ changes" in words(at)
        at = open_screen("drivers", data=PPI, **all_have("ppi", ppi_twin, "left out"))
        ended(at, lambda page: not waiting(page))
        assert "p is the same everywhere" in words(at)
        assert "How λ changes" not in words(at)

    def test_drivers_with_one_on_detection(self, ppi_twin):
        address = all_have("ppi", ppi_twin, "true rate") | {"ppi_role_of_wind": "detection, falls"}
        at = fitted("drivers", data=PPI, **address)
        assert "Two attributes at once" not in words(at)
        assert "p may only fall with wind" in words(at)

    def test_drivers_show_signs_and_what_moves_lambda(self):
        at = fitted("drivers", data=PPI, ppi_attribute="wind")
        text = words(at)
        assert "By its role p may only fall with wind. It may change λ, too." in text
        assert "one standard deviation" in text
        assert "No cause is claimed" in text
        assert sorted(charts(at)[4]["data"][0]["y"]) == ["month", "wind"]


class TestCounties:
    @pytest.mark.parametrize("option", ["left out", "true rate"])
    def test_no_attribute_on_detection_is_said(self, option, covid_twin):
        at = fitted("covid", county="24510", **all_have("covid", covid_twin, option))
        assert "p is the same everywhere" in words(at)

    def test_what_the_papers_choice_implies(self):
        at = fitted("covid", covid_roles=PAPER)
        assert "blood surveys" in words(at)


class TestWhatIf:
    def test_each_side_has_its_own(self):
        at = open_screen("whatif", data=PPI)
        assert [at.selectbox(key=f"{side}_ppi_roles").value for side in "ab"] == [STATED, PAPER]
        assert "From A to B: roles (stated roles → the paper's roles)." in words(at)
        press(at, "compare")
        ended(at, lambda page: charts(page) and not waiting(page))
        assert "**B**: **The paper's choice" in words(at)
        assert "of_b=dataset" in at.code[0].value
        press(at, "swap")
        assert [at.selectbox(key=f"{side}_ppi_roles").value for side in "ab"] == [PAPER, STATED]
        press(at, "copy")
        assert at.selectbox(key="b_ppi_roles").value == PAPER
        press(at, "return-1")
        assert at.selectbox(key="a_ppi_roles").value == STATED

    def test_own_roles_are_copied(self):
        at = open_screen("whatif", data=PPI, a_ppi_roles=OWN, a_ppi_role_of_wind="left out")
        press(at, "copy")
        assert at.selectbox(key="b_ppi_role_of_wind").value == "left out"
        assert "are the same fit" in words(at)

    def test_the_papers_algorithm_has_no_roles(self):
        at = open_screen("whatif", data=PPI, a_solver="bcd")
        assert at.selectbox(key="a_ppi_roles").disabled
        assert "knows no roles" in words(at)
        assert "block coordinate descent, seed 0, the paper's roles" in words(at)

    def test_sides_differ_in_one_thing_at_first(self):
        at = open_screen("whatif", data=PPI)
        assert [at.slider(key=f"{side}_rank").value for side in "ab"] == [5, 5]
        at.button_group(key="ppi_counts").set_value("simulated").run()
        assert not at.exception
        assert [at.slider(key=f"{side}_rank").value for side in "ab"] == [5, 5]
        roles = [at.selectbox(key=f"{side}_ppi_twin_roles").value for side in "ab"]
        assert roles == [STATED, PAPER]

    def test_without_p_both_are_alike(self, ppi_twin):
        sides = {}
        for side in "ab":
            named = all_have("ppi", ppi_twin, "left out")
            sides |= {f"{side}_{key}": value for key, value in named.items()}
        at = press(open_screen("whatif", data=PPI, **sides, b_seed="1"), "compare")
        ended(at, lambda page: charts(page) and not waiting(page))
        assert "p is the same everywhere" in words(at)


def test_overview_lists_roles_and_reasons():
    at = open_screen("overview", data=PPI)
    assert "hard to see in wind" in at.table[0].value.to_string()
    at = open_screen("overview", data=PPI, counts="simulated")
    assert "Light decides" in at.table[0].value.to_string()


def test_simulated_cases_have_roles_effects_and_deaths_at_first():
    at = fitted("covid", covid_counts="simulated")
    assert at.selectbox(key="covid_twin_roles").value == STATED
    assert at.selectbox(key="deaths_look").value == "deaths"
    text = words(at)
    assert "Simulated counts." in text
    assert "The share that dies is invented" in text
    assert "anchored by data: deaths" in text
    assert "Checked against the truth" in text
    at = fitted("covid", covid_counts="simulated", covid_twin_roles=PAPER)
    assert "On these simulated counts" in words(at)


def test_what_is_shown_can_be_taken_apart():
    assert running.Shown._fields == ("dataset", "fit", "roles")
