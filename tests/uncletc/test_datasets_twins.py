import importlib.util
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

from uncletc.datasets import Dataset, DataUnavailableError, twins

DATA = Path(__file__).parents[2] / "data"
COUNTY_COLUMNS = [
    "fips",
    "county",
    "state",
    "latitude",
    "longitude",
    "population",
    "latitude_index",
    "longitude_index",
    "cell",
    "counties_in_cell",
    "counted",
    "cases",
    "tests_per_1000",
]
PAIR_COLUMNS = [
    "plant",
    "pollinator",
    "plant_index",
    "pollinator_index",
    "guild",
    "interactions",
    "visits_observed",
    "visits_with_interactions",
]


@pytest.fixture(scope="module")
def covid() -> Dataset:
    return twins.load_covid_twin()


@pytest.fixture(scope="module")
def ppi() -> Dataset:
    return twins.load_ppi_twin()


@pytest.fixture(scope="module", params=["covid", "ppi"])
def twin(request: pytest.FixtureRequest) -> Dataset:
    return request.getfixturevalue(request.param)


def dense(data: Dataset) -> np.ndarray:
    y = np.full(data.counts.shape, -1, dtype=np.int64)
    y[tuple(data.counts.indices.T)] = data.counts.counts
    return y


def test_marked_simulated(twin: Dataset):
    assert twin.counts.simulated
    assert twin.provenance.simulated
    assert twin.provenance.rules
    assert "imulated" in twin.title
    assert twin.truth is not None


def test_files_are_small():
    size = sum((DATA / f"{name}_twin.npz").stat().st_size for name in ("covid", "ppi"))
    assert size < 2.5e6


def test_rate_is_nonnegative_and_of_low_rank(twin: Dataset):
    rank = {"covid-twin": 6, "ppi-twin": 5}[twin.name]
    rate = twin.truth.rate
    assert rate.shape == twin.counts.shape
    assert np.isfinite(rate).all()
    assert (rate >= 0).all()
    for mode, size in enumerate(rate.shape):
        unfolding = np.moveaxis(rate, mode, 0).reshape(size, -1)
        assert np.linalg.matrix_rank(unfolding, tol=1e-9 * np.linalg.norm(unfolding)) == rank


def test_detection_is_defined_on_attributed_entries_only(twin: Dataset):
    attributed = np.zeros(twin.counts.shape, dtype=bool)
    attributed[tuple(twin.counts.attribute_indices.T)] = True
    p = twin.truth.detection
    np.testing.assert_array_equal(np.isnan(p), ~attributed)
    assert (twin.counts.attribute_rows >= 0).all()
    assert p[attributed].min() > 0.05
    assert p[attributed].max() < 0.9
    assert p[attributed].std() > 0.1


def test_detection_is_the_stated_function_of_the_attributes(twin: Dataset):
    z, entries = twin.counts.attributes, twin.counts.attribute_indices
    with np.load(DATA / f"{twin.name.replace('-', '_')}.npz") as file:
        v, c, w, b = (
            file[f"{layer}_{part}"]
            for layer, part in (
                ("hidden", "weights"),
                ("hidden", "bias"),
                ("output", "weights"),
                ("output", "bias"),
            )
        )
    for row in np.linspace(0, len(z) - 1, 25).astype(int):
        logit = b + sum(
            w[h] * np.tanh(c[h] + sum(v[h, d] * z[row, d] for d in range(z.shape[1])))
            for h in range(len(w))
        )
        assert twin.truth.detection[tuple(entries[row])] == pytest.approx(expit(logit))


def test_attributes_fill_the_unit_interval(twin: Dataset):
    z = twin.counts.attributes
    np.testing.assert_array_equal(z.min(axis=0), 0)
    np.testing.assert_array_equal(z.max(axis=0), 1)
    assert (z.std(axis=0) > 0.05).all()


def test_counts_are_what_the_truth_makes_likely(twin: Dataset):
    where = tuple(twin.counts.indices.T)
    expected = (twin.truth.rate * twin.truth.detection)[where]
    y = twin.counts.counts
    # Thinned Poisson counts are Poisson(λp): these sums have known means and variances.
    assert abs(y.sum() - expected.sum()) < 5 * np.sqrt(expected.sum())
    zeros = np.exp(-expected)
    assert abs((y == 0).sum() - zeros.sum()) < 5 * np.sqrt((zeros * (1 - zeros)).sum())
    assert np.abs((y - expected) / np.sqrt(expected + 1)).max() < 8


def test_covid_marginals_are_near_the_real_ones(covid: Dataset):
    y = covid.counts.counts
    assert 0.19 < covid.counts.share_observed < 0.23
    assert 100 < y.mean() < 140
    assert 400 < y.std() < 550
    assert 9_000 < y.max() < 25_000
    assert 0.1 < np.mean(y == 0) < 0.16


def test_covid_labels_and_modes(covid: Dataset):
    counts = covid.counts
    assert counts.modes == ("latitude", "longitude", "day")
    assert counts.labels[0][:4] == ("20", "21", "22", "25")
    assert counts.labels[2][0] == "2021-01-01"
    assert counts.labels[2][-1] == "2021-03-01"
    assert len(counts.labels[2]) == 60
    for mode, name in enumerate(("latitude", "longitude")):
        degrees = covid.mode_tables[name]["degrees"]
        assert tuple(degrees.astype(str)) == counts.labels[mode]
    day = covid.mode_tables["day"]
    assert tuple(day["date"].dt.strftime("%Y-%m-%d")) == counts.labels[2]
    assert day["weekday"][0] == "Friday"
    weekend = counts.attributes_at([[*counts.indices[0, :2], t] for t in range(60)])[:, -1]
    np.testing.assert_array_equal(weekend == 1, day["weekday"].isin(["Saturday", "Sunday"]))


def test_covid_county_table(covid: Dataset):
    table = covid.table
    assert table.columns.tolist() == COUNTY_COLUMNS
    assert table["fips"].is_unique
    assert table["fips"].str.fullmatch(r"\d{5}").all()
    assert table["state"].nunique() == 51
    assert not table.isna().any().any()
    assert (table["population"] > 0).all()
    for mode in ("latitude", "longitude"):
        degrees = covid.mode_tables[mode]["degrees"].to_numpy()[table[f"{mode}_index"]]
        np.testing.assert_array_equal(degrees, table[mode].round())
    alone = table[table["counties_in_cell"] == 1]
    assert alone["cell"].is_unique


def test_covid_cells_add_up_their_counties(covid: Dataset):
    y = np.maximum(dense(covid), 0).sum(axis=2)
    counted = covid.table[covid.table["counted"]]
    cells = counted.groupby(["latitude_index", "longitude_index"])["cases"].sum()
    np.testing.assert_array_equal(y[tuple(np.array(cells.index.to_list()).T)], cells)
    assert y.sum() == cells.sum()
    assert len(cells) * 60 == covid.counts.n_observed


def test_covid_every_row_and_column_has_counts(covid: Dataset):
    observed = dense(covid)[:, :, 0] >= 0
    assert observed.any(axis=0).all()
    assert observed.any(axis=1).all()
    assert not covid.table["counted"].all()


def test_covid_detection_dips_at_weekends_and_rises_with_tests(covid: Dataset):
    p = covid.truth.detection[tuple(covid.table[["latitude_index", "longitude_index"]].T.values)]
    weekend = covid.mode_tables["day"]["weekday"].isin(["Saturday", "Sunday"]).to_numpy()
    assert p[:, weekend].mean() < 0.9 * p[:, ~weekend].mean()
    assert np.corrcoef(p.mean(axis=1), covid.table["tests_per_1000"])[0, 1] > 0.5


def test_ppi_marginals_are_near_the_real_ones(ppi: Dataset):
    y = dense(ppi)
    assert y.shape == (50, 50, 18)
    assert 0.27 < np.mean(y >= 0) < 0.31
    assert 0.05 < np.mean(y > 0) < 0.065
    assert 0.21 < np.mean(y == 0) < 0.26
    assert ppi.counts.n_attributed == y.size


def test_ppi_labels_and_modes(ppi: Dataset):
    counts, tables = ppi.counts, ppi.mode_tables
    assert counts.modes == ("plant", "pollinator", "visit")
    assert counts.labels[2][:7] == (*(f"2011-{n}" for n in range(1, 7)), "2012-1")
    assert tuple(tables["plant"]["plant"]) == counts.labels[0]
    assert tuple(tables["pollinator"]["pollinator"]) == counts.labels[1]
    assert tuple(tables["visit"]["label"]) == counts.labels[2]
    assert tables["visit"].columns.tolist() == [
        "label",
        "year",
        "number",
        "first_date",
        "last_date",
        "month",
    ]
    dates = tables["visit"]
    assert dates["first_date"].is_monotonic_increasing
    assert (dates["last_date"] > dates["first_date"]).all()
    assert (dates["first_date"].dt.month == dates["month"]).all()


def test_ppi_guild_attributes_say_the_guild(ppi: Dataset):
    pollinators = ppi.mode_tables["pollinator"]
    assert all(
        name.startswith(guild)
        for name, guild in zip(pollinators["pollinator"], pollinators["guild"], strict=True)
    )
    z = pd.DataFrame(ppi.counts.attributes, columns=ppi.counts.attribute_names)
    member = z.filter(like="guild: ")
    assert (member.sum(axis=1) == 1).all()
    said = member.idxmax(axis=1).str.removeprefix("guild: ")
    is_of = pollinators["guild"].to_numpy()[ppi.counts.attribute_indices[:, 1]]
    assert (said == is_of).all()


def test_ppi_pair_table(ppi: Dataset):
    assert ppi.table.columns.tolist() == PAIR_COLUMNS
    y = dense(ppi)
    for row in ppi.table.iloc[::97].itertuples():
        fibre = y[row.plant_index, row.pollinator_index]
        assert row.interactions == fibre[fibre >= 0].sum()
        assert row.visits_observed == (fibre >= 0).sum() > 0
        assert row.visits_with_interactions == (fibre > 0).sum()
        assert row.plant == ppi.counts.labels[0][row.plant_index]
        assert row.guild == ppi.mode_tables["pollinator"]["guild"][row.pollinator_index]
    total = ppi.counts.counts.sum()
    assert ppi.table["interactions"].sum() == total
    for name in ("plant", "pollinator"):
        assert ppi.mode_tables[name]["interactions"].sum() == total


def test_ppi_detection_differs_between_guilds_and_visits(ppi: Dataset):
    p = ppi.truth.detection
    assert np.ptp(p.mean(axis=(0, 1))) > 0.12
    guild = ppi.mode_tables["pollinator"]["guild"]
    assert p[:, guild == "bee"].mean() > p[:, guild == "fly"].mean() + 0.15


def test_known_detection_recovers_the_rate(twin: Dataset):
    """Poisson EM with the true p on 80 % of Ω: the rest of λ is there to be found."""
    counts, rank = twin.counts, {"covid-twin": 6, "ppi-twin": 5}[twin.name]
    rng = np.random.default_rng(0)
    train = rng.random(counts.n_observed) < 0.8
    where, y = counts.indices[train], counts.counts[train]
    p = twin.truth.detection[tuple(where.T)]
    factors = [rng.uniform(0.5, 1.5, (size, rank)) for size in counts.shape]
    for _ in range(25):
        for mode in range(3):
            rows = [factor[index] for factor, index in zip(factors, where.T, strict=True)]
            rate = np.maximum(np.prod(rows, axis=0).sum(axis=1), 1e-12)
            others = np.prod([rows[k] for k in range(3) if k != mode], axis=0)
            found = sum_by(where[:, mode], others * (y / rate)[:, None], counts.shape[mode])
            offered = sum_by(where[:, mode], others * p[:, None], counts.shape[mode])
            factors[mode] *= (found + 1e-9) / (offered + 1e-9)
    held_out = tuple(counts.indices[~train].T)
    estimate = np.einsum("if,jf,tf->ijt", *factors)[held_out]
    truth = twin.truth.rate[held_out]
    assert np.corrcoef(estimate, truth)[0, 1] > 0.95
    assert np.abs(estimate - truth).sum() < 0.25 * truth.sum()


def sum_by(index: np.ndarray, values: np.ndarray, size: int) -> np.ndarray:
    return np.stack([np.bincount(index, column, size) for column in values.T], axis=1)


def test_script_makes_the_committed_files(tmp_path: Path):
    spec = importlib.util.spec_from_file_location("make_twins", DATA / "make_twins.py")
    script = importlib.util.module_from_spec(spec)
    sys.modules["make_twins"] = script
    spec.loader.exec_module(script)
    script.main(tmp_path)
    for name in ("covid_twin.npz", "ppi_twin.npz"):
        with np.load(DATA / name) as committed, np.load(tmp_path / name) as made:
            assert committed.files == made.files
            for key in committed.files:
                np.testing.assert_array_equal(made[key], committed[key], err_msg=f"{name}: {key}")


def test_missing_file_is_one_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setattr(twins, "__file__", str(tmp_path / "uncletc" / "datasets" / "twins.py"))
    with pytest.raises(DataUnavailableError, match=r"covid_twin\.npz is missing from .*reinstall"):
        twins.load_covid_twin()


@pytest.mark.parametrize("content", [b"", b"not an archive", b"PK\x03\x04 cut short"])
def test_damaged_file_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, content: bytes
):
    monkeypatch.setattr(twins, "__file__", str(tmp_path / "uncletc" / "datasets" / "twins.py"))
    folder = tmp_path / "uncletc" / "_data"
    folder.mkdir(parents=True)
    (folder / "ppi_twin.npz").write_bytes(content)
    with pytest.raises(DataUnavailableError, match=r"ppi_twin\.npz cannot be read .*reinstall"):
        twins.load_ppi_twin()
