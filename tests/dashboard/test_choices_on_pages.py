"""Pages under the models that a reader may choose, with fits of a few iterations."""

from dataclasses import replace

import pandas as pd
import pytest

from dashboard.shared.sidebar import widgets as sources
from dashboard.shared.sidebar.model import CUSTOM, PAPER, RECOMMENDED, columns_of
from dashboard.shared.text.words import slug
from tests.dashboard.looking import charts, ended, open_screen, press, short_fits, waiting, words
from uncletc import Joint, Role, Roles, datasets
from uncletc.datasets.covid import covid_groups

PPI = "Plant–pollinator"
FEW = {"rank": 2, "max_iter": 12, "tol": 0.0, "hidden": (5,), "solver": Joint(network="never")}
ROLES = {
    "ppi": [Role("wind", "both", -1, "Insects are hard to see in wind."), Role("month", "rate")],
    "covid": [Role("% rural", "both", -1, "The way is longer.")],
}
EFFECTS = {
    "ppi": {"plant": "Plants differ.", "plant × visit": "Flowers open and fade."},
    "covid": {"place": "Places differ.", "reporting(state × weekday)": "Offices close on Sundays."},
}


@pytest.fixture(scope="module", autouse=True)
def quick(tmp_path_factory, covid_twin, ppi_twin):
    """Short fits of "real" counts: the simulated ones by another name, with stated effects."""
    load = datasets.load
    days = pd.DatetimeIndex(covid_twin.counts.labels[2])
    degrees = [labels.values for labels in covid_twin.counts.labels[:2]]
    groups = covid_groups(covid_twin.table, degrees, days)
    grouped = covid_twin.counts.with_groups(*groups)
    twins = {"covid": replace(covid_twin, counts=grouped, deaths=None), "ppi": ppi_twin}

    def real(name):
        if name.endswith("-twin"):
            return load(name)
        stated = {"roles": Roles(ROLES[name]), "effects": EFFECTS[name]}
        seen = replace(twins[name].provenance, simulated=False)
        return replace(twins[name], name=name, provenance=seen, **stated)

    with short_fits(tmp_path_factory.mktemp("cache"), FEW) as patch:
        patch.setattr(datasets, "available", lambda name: name in twins or "twin" in name)
        patch.setattr(datasets, "load", real)
        sources._load.clear()
        yield


def all_have(dataset, option):
    """The address where each covariate has one role."""
    names = columns_of(dataset.counts)
    return {"ppi_model": CUSTOM} | {slug(f"ppi ppi role of {name}", "_"): option for name in names}


def fitted(screen, **address):
    at = open_screen(screen, **address)
    return ended(at, lambda page: charts(page) and not waiting(page))


def downloads(at):
    return " ".join(each.proto.help for each in at.get("download_button"))


def test_two_models_are_two_fits():
    at = fitted("ppi")
    recommended = charts(at)
    assert "hard to see in wind" in at.table[0].value.to_string()
    at.selectbox(key="ppi_model").set_value(PAPER).run()
    ended(at, lambda page: not waiting(page))
    assert charts(at) != recommended
    assert "as in the paper" in words(at)
    assert "paper" in downloads(at)
    assert "with_roles" not in at.code[0].value
    at.selectbox(key="ppi_model").set_value(RECOMMENDED).run()
    assert charts(at) == recommended


@pytest.mark.parametrize(("screen", "option"), [("ppi", "nothing"), ("check", "λ")])
def test_no_covariate_on_detection_is_said(screen, option, ppi_twin):
    at = fitted(screen, data=PPI, **all_have(ppi_twin, option))
    assert "p is the same everywhere" in words(at)
    assert not at.error


def test_drivers_name_signs_and_effects():
    at = fitted("drivers", data=PPI, ppi_attribute="wind")
    assert "p may only fall with wind" in words(at)
    assert "Flowers open and fade." in at.table[1].value.to_string()
    assert "random-effects.csv" in downloads(at)


def test_reporting_has_a_table_of_its_own():
    at = fitted("drivers")
    assert "reporting-by-state-and-weekday.csv" in downloads(at)
    at = fitted("covid", county="24510")
    drawn = [trace.get("name") for chart in charts(at) for trace in chart["data"]]
    assert any("reporting" in (name or "") for name in drawn)


def test_each_side_of_what_if_has_its_own():
    at = open_screen("whatif", data=PPI)
    assert [at.selectbox(key=f"{side}_model").value for side in "ab"] == [RECOMMENDED, PAPER]
    press(at, "compare")
    ended(at, lambda page: charts(page) and not waiting(page))
    press(at, "copy")
    assert at.selectbox(key="b_model").value == RECOMMENDED
