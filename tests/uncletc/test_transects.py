import numpy as np
import pytest
from scipy.optimize import minimize

from tests.uncletc.tables.made import Reading
from uncletc import CountTensor, FitSettings, fit
from uncletc.data.protocols import band_edges
from uncletc.estimates import every_entry, group_sums, totals
from uncletc.result.posterior import Doubt

BANDS = ["0-20", "20-40", "40-60", "60-80", "80-100"]


def seen(seed, *, point=False, sites=40, mean=8.0, sigma=40.0, first=1.0):
    """Numbers of animals by site and band, with a half-normal detection function; and n."""
    rng = np.random.default_rng(seed)
    n = rng.poisson(mean * rng.gamma(3.0, 1 / 3.0, sites))
    site = np.repeat(np.arange(sites), n)
    distance = 100 * rng.random(len(site)) ** (0.5 if point else 1.0)
    found = rng.random(len(site)) < first * np.exp(-((distance / sigma) ** 2) / 2)
    y = np.zeros((sites, 5), dtype=int)
    np.add.at(y, (site[found], (distance[found] // 20).astype(int)), 1)
    return y, n


def transects(y, protocol="line transect", **fields):
    labels = [[f"site {k}" for k in range(len(y))], BANDS]
    counts = CountTensor.from_dense(y, labels=labels, modes=["site", "distance"], **fields)
    return counts.with_protocol(protocol)


@pytest.mark.parametrize("protocol", ["line transect", "point transect"])
def test_numbers_are_those_of_the_multinomial_likelihood_of_distances(protocol):
    point = protocol == "point transect"
    y, n = seen(3, point=point, sites=200)
    d = np.arange(0.5, 100)
    area = (d if point else np.ones(100)) / (d.sum() if point else 100)

    def shares(log_sigma):
        return (area * np.exp(-((d / np.exp(log_sigma)) ** 2) / 2)).reshape(5, 20).sum(axis=1)

    def misfit(log_sigma):
        return -(y.sum(axis=0) * np.log(shares(log_sigma) / shares(log_sigma).sum())).sum()

    number = y.sum() / shares(minimize(misfit, np.log(50.0)).x).sum()
    counts = transects(y, protocol)
    result = fit(counts)
    found = result.population.numbers()
    assert not result.population.doubts
    assert abs(found.estimate[0] - number) < (found.high[0] - found.low[0]) / 3.3
    assert found.low[0] < n.sum() < found.high[0]
    assert result.scale.statement.endswith("all are seen at distance 0")
    assert result.dispersion == pytest.approx(1.0, abs=0.2)
    every = every_entry(counts, result).table
    assert (every["N_low"] >= every["reported"]).all()
    assert every["N"].between(every["N_low"], every["N_high"]).all()
    whole = group_sums(result, counts, counts.indices[:, 1]).over().table()
    assert whole["rate_low"][0] == pytest.approx(found.low[0], rel=1e-4)
    table = totals(counts, result, by=["distance"])
    assert table["N"].sum() == pytest.approx(found.estimate[0])
    assert table["reported"].tolist() == y.sum(axis=0).tolist()
    few = transects(seen(4)[0])  # of which shares of bands add up to a little more than 1
    one = fit(few, FitSettings(rank=1, closed="distance"))
    assert totals(few, one)["N"][0] == pytest.approx(one.population.numbers().estimate[0])
    expected = result.expected_counts(counts).reshape(y.shape)
    assert np.abs(expected.sum(axis=0) / y.sum(axis=0) - 1).max() < 0.2


def test_a_level_that_bands_do_not_determine_is_said():
    y = np.zeros((30, 5), dtype=int)
    y[:, 0] = 1  # a detection function as narrow as one likes
    assert Doubt.FLAT in fit(transects(y)).population.doubts


def test_animals_of_groups_say_less_than_as_many_one_by_one():
    y, _ = seen(4, sites=60, mean=2.0)
    fits = [fit(transects(each)) for each in (y, 6 * y)]
    numbers = [each.population.numbers() for each in fits]
    spread = [each.high[0] / each.low[0] for each in numbers]
    assert not fits[1].population.doubts
    assert fits[1].dispersion < 1.3
    assert numbers[1].estimate[0] == pytest.approx(6 * numbers[0].estimate[0], rel=0.1)
    assert np.log(spread[1]) == pytest.approx(np.log(spread[0]), rel=0.25)


def test_bands_of_distance_are_read_and_nothing_else(reloaded):
    assert band_edges(["(20,40]", "[0,20]"]).tolist() == [[20, 40], [0, 20]]
    assert band_edges(["0 to 1.5 km", "1.5 to 4 km"]).tolist() == [[0, 1.5], [1.5, 4]]
    for labels in (["0-9", "10-19"], ["a 0-5", "b 5-9"], ["2020-01", "2020-02"], ["0-5"]):
        assert band_edges(labels) is None
    y = seen(1)[0]
    counts = transects(y)
    again = reloaded(counts)
    assert again.digest == counts.digest != transects(y, "point transect").digest
    assert again.closed_mode == "distance"
    with pytest.raises(ValueError, match="bands of distance that adjoin"):
        CountTensor.from_dense(y).with_protocol("line transect")
    with pytest.raises(ValueError, match="must depend on its bands"):
        fit(counts.with_roles(detection=()), closed="distance")
    with pytest.raises(ValueError, match="'distance' alone, by line transect"):
        fit(counts, closed="site")


@pytest.mark.parametrize("wide", [True, False])
def test_a_file_with_bands_of_distance(wide):
    y, _ = seen(2)
    if wide:
        rows = ["transect,forest,jays[0-20]," + ",".join(f"jays({b}]" for b in BANDS[1:])]
        rows += [f"T{k},{k % 7},{','.join(map(str, row))}" for k, row in enumerate(y)]
    else:
        rows = ["band,transect,forest,count"]
        rows += [f"{b},T{k},{k % 7},{y[k, j]}" for k in range(40) for j, b in enumerate(BANDS)]
    read = Reading("\n".join(rows), protocol="line transect")
    assert any("from a line or from a point" in each for each in read.found.questions)
    assert read.found.columns.protocol == ""
    assert read.counts.rate_attribute_names == ("forest",)
    assert len(read.counts.attribute_names) == 4
    result = fit(read.counts)
    plain = fit(transects(y), FitSettings(rank=1, closed="distance")).population.numbers()
    assert result.population.numbers().estimate == pytest.approx(plain.estimate, rel=0.1)


@pytest.mark.parametrize(
    ("rounded", "ends"), [(0.01, "20"), (1, "20.5"), (5, "22.5"), (10, "25"), ("heaps", "25")]
)
def test_bands_of_a_list_end_midway_between_distances_to_which_most_are_rounded(rounded, ends):
    rng = np.random.default_rng(4)
    site, d = np.repeat(np.arange(30), 20), 200 * rng.random(600)
    found = rng.random(600) < np.exp(-((d / 80) ** 2) / 2)
    unit = rng.choice([1, 10], 600) if rounded == "heaps" else rounded
    near = np.round(unit * np.round(d / unit), 2)
    rows = [f"{k},{x}" for k, x in zip(site[found], near[found], strict=True)]
    listed = "\n".join(["transect,distance", *rows])
    counts = Reading(listed, protocol="line transect").data.counts
    bands = band_edges(counts.labels[1])
    assert bands[0].tolist() == [0, float(ends)]
    assert set(np.diff(bands[1:], axis=1).ravel()) == {20.0}
    number = fit(counts).population.numbers().estimate[0]
    assert number == pytest.approx((d < bands.max()).sum(), rel=0.2)
