"""The same table through the command line and through the page's way gives the same numbers."""

from dataclasses import replace

import pytest

from dashboard.shared.fit_status.service import service
from dashboard.shared.fit_status.takeaway import recipe_of
from dashboard.shared.sidebar.model import model_of
from dashboard.table.roles import sample_table
from dashboard.work.orders import FitOrder
from tests.dashboard.work.waiting import finish
from uncletc import Anchor, FitSettings, Recipe
from uncletc.cli import main
from uncletc.estimates import every_entry, to_bytes
from uncletc.tables import AttributeColumn, Columns, ModeColumn, build, read_file

pytestmark = pytest.mark.usefixtures("whole_start")
COLUMNS = Columns(
    modes=tuple(ModeColumn(column=name) for name in ("site", "species", "week")),
    count="count",
    attributes=(
        AttributeColumn(column="wind", sign=-1),
        AttributeColumn(column="effort", acts_on="both", sign=1),
        AttributeColumn(column="cloud", acts_on="rate"),
    ),
)
SETTINGS = FitSettings(rank=2, members=2, seed=3)


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("own") / "mine.csv"
    sample_table().head(360).to_csv(path, index=False)
    return path


@pytest.mark.parametrize("has_attributes", [True, False])
def test_to_the_last_digit(file, tmp_path, has_attributes):
    columns = COLUMNS if has_attributes else replace(COLUMNS, attributes=())
    loaded = build(read_file(file.read_bytes(), file.name), columns)
    roles = model_of(loaded)
    shown = roles.apply(loaded)
    settings = SETTINGS if has_attributes else replace(SETTINGS, members=1, max_iter=20)
    order = FitOrder(shown.counts, roles.settings(settings))
    job = finish(service().submit(order))
    found = service().lookup(order)
    assert found is not None, job.message
    anchor = Anchor(kind="mean", value=(0.2, 0.4)) if has_attributes else Anchor(kind="relative")
    recipe = recipe_of(shown, found, anchor=anchor, roles=roles, table=file.name, columns=columns)
    (tmp_path / "settings.toml").write_text(recipe.to_toml(), encoding="utf-8")
    out = tmp_path / "out"
    main(["fit", str(file), "--settings", str(tmp_path / "settings.toml"), "--out", str(out)])
    page = to_bytes(every_entry(shown, found, anchor.scale(shown.counts, found)), "csv")
    assert (out / "estimates.csv").read_bytes() == page


@pytest.mark.parametrize("protocol", ["removal", "line transect"])
@pytest.mark.parametrize("acts_on", ["rate", "both"])
def test_counts_of_a_protocol_are_those_of_the_page_by_its_settings(protocol, acts_on):
    rows = [f"s{i},{b},{i % 5},{i % 3},{i % 4}" for i in range(9) for b in ("0-20", "20-40")]
    raw = read_file("\n".join(["site,band,depth,wind,count", *rows]).encode(), "seen.csv")
    given = AttributeColumn(column="depth", acts_on=acts_on), AttributeColumn(column="wind", sign=1)
    modes = ModeColumn(column="site"), ModeColumn(column="band")
    columns = Columns(modes=modes, count="count", attributes=given, protocol=protocol)
    loaded = build(raw, columns)
    roles = model_of(loaded)
    settings = roles.settings(replace(SETTINGS, closed=("band",)))
    recipe = Recipe(fit=settings, roles=roles.roles, detection_by=())
    again = Recipe.from_toml(recipe.to_toml()).prepared(loaded)
    assert again.counts.digest == roles.apply(loaded).counts.digest == loaded.counts.digest
    assert again.counts.rate_attribute_names == ("depth",)
