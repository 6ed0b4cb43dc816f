"""Files of settings: whatever decides estimates goes out and comes back."""

from dataclasses import replace

import pytest

from tests.uncletc.test_settings import OTHERS
from uncletc import Anchor, CountTensor, Deaths, FitSettings, Recipe, Role, Roles, Scale, datasets
from uncletc.fitting.recipe import usual_detection_by
from uncletc.tables import AttributeColumn, Columns, ModeColumn

COLUMNS = Columns(
    modes=(ModeColumn(column="site"), ModeColumn(column="day", step="week")),
    count="seen",
    across=("a", "b"),
    across_mode=ModeColumn(column="species"),
    attributes=(AttributeColumn(column="rain", acts_on="both", sign=-1),),
    exposure="traps",
    latitude="lat",
    longitude="lon",
    duplicates="sum",
    absent="zero",
    missing=(("day", "2021-01-03"),),
)


def there_and_back(recipe):
    return Recipe.from_toml(recipe.to_toml())


class TestRoundTrip:
    @pytest.mark.parametrize("name", OTHERS)
    def test_of_each_setting_of_a_fit(self, name):
        recipe = Recipe(fit=FitSettings(**{"rank": 2, name: OTHERS[name]}))
        assert there_and_back(recipe) == recipe

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("table", "covid-twin"),
            ("columns", COLUMNS),
            ("anchor", Anchor(kind="mean", value=0.25)),
            ("anchor", Anchor(kind="mean", value=(0.2, 0.4))),
            ("anchor", Anchor(kind="best")),
            ("roles", Roles()),
            ("roles", Roles([Role("a b", "both", -1), Role("c", "neither")])),
            ("deaths", Deaths(used=False)),
            ("deaths", Deaths(lag=10, fatality=1.5)),
            ("detection_by", ("species", "observer")),
            ("detection_by", ()),
            ("continued_from", (100, 200)),
            ("left_open", ("signs", "effects")),
        ],
    )
    def test_of_all_else(self, name, value):
        recipe = replace(Recipe(fit=FitSettings(rank=2)), **{name: value})
        assert there_and_back(recipe) == recipe


class TestBadFiles:
    @pytest.mark.parametrize(
        ("text", "sentence"),
        [
            ("", "rank must be given"),
            ("[fit", "settings must be written as TOML"),
            ("[fit]\nrank = 2\nrnak = 3", "settings must have names among rank, .*; got 'rnak'"),
            ('[fit]\nrank = 2\nprotocol = "removal"', "protocol must be in the section .columns."),
            ("[fits]\nrank = 2", "settings must have keys among table, .*; got 'fits'"),
            ('[fit]\nrank = 2\n[anchor]\nkind = "about"', r"\[anchor\] kind must be one of"),
            ('[fit]\nrank = 2\n[anchor]\nkind = "mean"', "value must be given"),
            ('[fit]\nrank = 2\n[anchor]\nkind = "mean"\nvalue = 2', r"value must be in \(0, 1\]"),
            ("[fit]\nrank = 2\n[anchor]\nvalue = 0.2", "value must be left out"),
            ("[fit]\nrank = 2\n[deaths]\nlag = 99", "lag must be a whole number"),
            ("[fit]\nrank = 2\n[roles]\nrain = 1", "'rain' must be a section with acts_on"),
            ("[fit]\nrank = 2\n[columns]\nmodes = 3", "modes must be a list of columns, got 3"),
            ("[fit]\nrank = 2\n[columns]\ncuont = 3", "names among .*; got 'cuont'"),
            ("continued_from = [3, 2]\n[fit]\nrank = 2", "continued_from must ascend"),
            ("table = 3\n[fit]\nrank = 2", "table must be a text, got 3"),
            ("detection_by = 3\n[fit]\nrank = 2", "detection_by must be a list of modes, got 3"),
        ],
    )
    def test_are_named_in_one_sentence(self, text, sentence):
        with pytest.raises(ValueError, match=sentence) as error:
            Recipe.from_toml(text)
        assert "\n" not in str(error.value)

    def test_the_file_is_named(self, tmp_path):
        path = tmp_path / "mine.toml"
        path.write_text("[fit]\nrank = 0", encoding="utf-8")
        with pytest.raises(ValueError, match=r"mine.toml: \[fit\] rank must be at least 1"):
            Recipe.read(path)
        path.write_bytes(b"\xff\xfe\x00")
        with pytest.raises(ValueError, match=r"mine.toml must be a text file in UTF-8"):
            Recipe.read(path)


def test_columns_come_back_from_plain_values_without_defaults():
    plain = COLUMNS.as_dict()
    assert Columns.from_dict(plain) == COLUMNS
    assert plain["modes"][0] == {"column": "site"}
    assert "groups" not in plain


def test_what_is_left_open_is_as_the_data_set_states():
    dataset = datasets.load("covid-twin")
    recipe = Recipe(fit=FitSettings(rank=2), left_open=("signs", "effects"))
    settings = recipe.settings(dataset)
    assert dict(settings.signs) == dataset.roles.signs
    assert settings.effects == tuple(dataset.effects)
    prepared = recipe.prepared(dataset)
    assert prepared.counts.digest == datasets.with_deaths(dataset.with_roles()).counts.digest


def test_modes_each_level_of_which_has_a_p():
    dataset = datasets.load("ppi-twin")
    recipe = Recipe(fit=FitSettings(rank=1), roles=Roles(), detection_by=("plant",))
    wanted = dataset.with_roles(Roles()).counts.with_detection_by("plant")
    assert recipe.prepared(dataset).counts.digest == wanted.digest
    with pytest.raises(ValueError, match=r"modes must be among .*, got 'weed'"):
        replace(recipe, detection_by=("weed",)).prepared(dataset)


@pytest.mark.parametrize(
    ("labels", "by"),
    [
        (["1 hospital", "2 police", "3 ambulance"], ("visit",)),
        (["Ann", "Bob", "Cleo"], ("visit",)),
        (["1", "2", "3"], ()),
        (["2020-05-01", "2020-05-02", "2020-05-03"], ()),
        (["visit 1", "visit 2", "visit 3"], ()),
    ],
)
def test_lists_and_observers_of_marked_animals_have_a_p_each_at_first(labels, by):
    """With one p of .7 and .5 all of 30 tables were withheld, though N by list is right."""
    marked = CountTensor.from_histories(["all"] * 4, ["100", "111", "011", "001"])
    named = replace(marked, labels=[["all"], labels])
    assert usual_detection_by(named, ["visit"]) == by
    dataset = replace(datasets.load("ppi-twin"), counts=named, roles=Roles(), effects={})
    recipe = Recipe(fit=FitSettings(rank=1), left_open=("signs", "effects"))
    assert recipe.complete(dataset).detection_by == by
    assert recipe.prepared(dataset).counts.n_attributes == 2 * len(by)


def test_anchors_state_the_scales_of_the_library(small, small_fit):
    p = small_fit.detection(small.attributes)
    assert Anchor().scale(small, small_fit) == Scale.relative(p)
    assert Anchor(kind="best").scale(small, small_fit) == Scale.best_detects_all(p)
    stated = Anchor(kind="mean", value=(0.2, 0.4))
    assert stated.scale(small, small_fit) == Scale.mean_detection(p, (0.2, 0.4))
    for kind, value in (("mean", None), ("best", 0.5)):
        with pytest.raises(ValueError, match="value must be"):
            Anchor(kind=kind, value=value)
