"""Pages with effects of places and calendars, with fits of a few iterations."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from dashboard.shared.sidebar import sidebar as state
from dashboard.shared.sidebar import widgets as sources
from dashboard.shared.sidebar.model import settings_of
from dashboard.shared.sidebar.roles import NO_EFFECTS, OWN_EFFECTS, PAPER, STATED_EFFECTS
from dashboard.whatif import controls
from tests.dashboard.looking import charts, ended, open_screen, own_cache, press, waiting, words
from uncletc import Joint, Role, Roles, datasets
from uncletc.datasets import Dataset
from uncletc.datasets.covid_facts import covid_groups

PPI = "Plant–pollinator"
FEW = {"rank": 2, "max_iter": 34, "tol": 0.0, "hidden": (5,), "solver": Joint(network=False)}
ROLES = {"ppi": [Role("wind", "both", -1, "Seen less.")], "covid": [Role("% rural", "both", -1)]}
EFFECTS = {
    "ppi": {"plant": "Plants differ.", "plant × visit": "Flowers open and fade."},
    "covid": {"place": "Places differ.", "reporting(state × weekday)": "Offices close on Sundays."},
}


@pytest.fixture(scope="module", autouse=True)
def quick(
    tmp_path_factory: pytest.TempPathFactory, covid_twin: Dataset, ppi_twin: Dataset
) -> Iterator[None]:
    """Short fits of "real" counts: the simulated ones by another name, with stated effects."""
    whole, load = state.sidebar, datasets.load
    days = pd.DatetimeIndex(covid_twin.counts.labels[2])
    degrees = {f"{mode}_degrees": covid_twin.table[mode] for mode in ("latitude", "longitude")}
    groups = covid_groups(covid_twin.table.assign(**degrees), days)
    grouped = covid_twin.counts.with_groups(*groups)
    twins = {"covid": replace(covid_twin, counts=grouped), "ppi": ppi_twin}

    def sidebar(family: state.Family, **options: bool) -> state.Choices:
        choices = whole(family, **options)
        return replace(choices, settings=replace(choices.settings, **FEW))

    def real(name: str) -> Dataset:
        if name.endswith("-twin"):
            return replace(load(name), effects={})
        twin = twins[name]
        seen = replace(twin.provenance, simulated=False)
        return replace(
            twin, name=name, roles=Roles(ROLES[name]), effects=EFFECTS[name], provenance=seen
        )

    with own_cache(tmp_path_factory.mktemp("cache")) as patch:
        patch.setattr(state, "sidebar", sidebar)
        patch.setattr(
            controls, "settings_of", lambda **values: replace(settings_of(**values), **FEW)
        )
        patch.setattr(datasets, "available", lambda name: name in twins or "twin" in name)
        patch.setattr(datasets, "load", real)
        sources._load.clear()
        yield


def fitted(screen: str, **address: str) -> AppTest:
    at = open_screen(screen, **address)
    return ended(at, lambda page: charts(page) and not waiting(page))


class TestDrivers:
    def test_what_lambda_owes_to_species_and_visits(self):
        at = fitted("drivers", data=PPI)
        assert "What λ owes to species and visits" in words(at)
        assert "Flowers open and fade." in at.table[1].value.to_string()
        assert "λ follows 2 effects of modes beside its patterns." in words(at)
        helps = " ".join(each.proto.help for each in at.get("download_button"))
        assert "effects-of-species-and-visits.csv" in helps
        assert "effect-of-plant.csv" in helps
        assert 'effects=("plant", "plant × visit")' in at.code[0].value.replace("'", '"')

    def test_without_effects_nothing_is_said(self):
        at = fitted("drivers", data=PPI, ppi_effects=NO_EFFECTS)
        assert "What λ owes" not in words(at)
        assert "no effects: " in words(at)

    def test_who_reports_when(self):
        at = fitted("drivers")
        text = words(at)
        assert "What λ and reporting owe to places and calendars" in text
        assert "In the median state the weakest weekday has" in text
        helps = " ".join(each.proto.help for each in at.get("download_button"))
        assert "reporting-by-state-and-weekday.csv" in helps
        assert at.selectbox(key="covid_levels").options == ["place"]


def test_one_place_over_time_has_reporting_apart():
    at = fitted("covid", county="24510")
    assert "what λ, p and reporting together predict" in words(at)
    assert "1 more acts on reporting" in words(at)
    drawn = [trace.get("name") for chart in charts(at) for trace in chart["data"]]
    assert "predicted, ŷ = λp × reporting" in drawn


def test_a_change_of_effects_is_another_fit():
    at = fitted("ppi")
    before = charts(at)
    at.selectbox(key="ppi_effects").set_value(NO_EFFECTS).run()
    ended(at, lambda page: not waiting(page))
    assert charts(at) != before
    at.selectbox(key="ppi_effects").set_value(STATED_EFFECTS).run()
    assert charts(at) == before


class TestWhatIf:
    def test_sides_have_their_own_and_swap_them(self):
        at = open_screen("whatif", data=PPI)
        said = "From A to B: roles (stated roles → the paper's roles), effects (stated effects → "
        assert f"{said}no effects)." in words(at)
        assert at.selectbox(key="b_ppi_effects").disabled
        press(at, "swap")
        assert [at.selectbox(key=f"{side}_ppi_effects").value for side in "ab"] == [
            NO_EFFECTS,
            STATED_EFFECTS,
        ]
        assert at.selectbox(key="a_ppi_roles").value == PAPER

    def test_own_ones_are_copied(self):
        address = {"a_ppi_effects": OWN_EFFECTS, "a_ppi_effect_plant": "false"}
        at = press(open_screen("whatif", data=PPI, **address), "copy")
        assert not at.checkbox(key="b_ppi_effect_plant").value
        assert at.checkbox(key="b_ppi_effect_plant_x_visit").value
        assert "are the same fit" in words(at)


def test_overview_lists_effects_and_reasons():
    at = open_screen("overview", data=PPI)
    table = at.table[1].value
    assert table["why"].tolist() == list(EFFECTS["ppi"].values())
    assert set(table["used"]) == {"yes"}
    assert len(open_screen("overview", data=PPI, counts="simulated").table) == 1
