import importlib
from pathlib import Path

import numpy as np
import pytest
from scipy.special import expit

from uncletc import datasets
from uncletc.datasets import twins

DATA = Path(__file__).parents[2] / "data"
MU = {"covid-twin": 8.0, "ppi-twin": 3.0}


@pytest.fixture(scope="module", params=["covid_twin", "ppi_twin"])
def twin(request):
    return request.getfixturevalue(request.param)


def arrays_of(data):
    with np.load(DATA / f"{data.name.replace('-', '_')}.npz") as file:
        return dict(file)


def test_rate_is_what_attributes_and_effects_make_of_a_low_rank(twin):
    rows = np.linspace(0, len(twin.counts.attributes) - 1, 25).astype(int)
    entries, z = twin.counts.attribute_indices[rows], twin.counts.attributes[rows]
    held = arrays_of(twin)
    i, j, t = entries.T
    by_mode = zip(twin.counts.modes, entries.T, strict=True)
    product = np.prod([held[f"factor_{mode}"][at] for mode, at in by_mode], 0).sum(axis=1)
    if twin.name == "covid-twin":
        cell = [np.flatnonzero((held["cells"] == entry[:2]).all(axis=1))[0] for entry in entries]
        effects = held["effect_place"][cell] + held["effect_region_day"][cell, t]
        people = twin.counts.exposure_at(entries)
    else:
        effects = held["effect_plant"][i] + held["effect_pollinator"][j] + held["effect_visit"][t]
        effects = effects + held["effect_pair"][i, j] + held["effect_course"][j, t]
        people = 1.0
    expected = people * product * np.exp(effects + z @ held["rate_slopes"])
    np.testing.assert_allclose(twin.truth.rate[tuple(entries.T)], expected, rtol=1e-4)


def test_roles_are_those_that_the_counts_were_drawn_with(twin):
    held, names = arrays_of(twin), twin.counts.attribute_names
    # An attribute of one entry raised from 0 to 1, the others in the middle.
    middle = np.full((len(names), len(names)), 0.5)
    low, high = (middle * (1 - np.eye(len(names))) + end * np.eye(len(names)) for end in (0, 1))
    moved = twins.detection_probability(high, held) - twins.detection_probability(low, held)
    for name, change, slope in zip(names, moved, held["rate_slopes"], strict=True):
        role = twin.roles.of(name)
        assert role.reason
        if change != 0:
            assert role.on_detection
            assert role.sign in (0, np.sign(change))
        if slope != 0:
            assert role.on_rate
    assert {twin.roles.of(name).acts_on for name in names} == {"detection", "rate", "both"}


def test_detection_is_the_stated_function_of_the_attributes(twin):
    z, entries = twin.counts.attributes, twin.counts.attribute_indices
    held, parts = arrays_of(twin), ("weights", "bias")
    v, c, w, b = (held[f"{layer}_{part}"] for layer in ("hidden", "output") for part in parts)
    for row in np.linspace(0, len(z) - 1, 25).astype(int):
        sums = [sum(v[h, d] * z[row, d] for d in range(z.shape[1])) for h in range(len(w))]
        logit = b + sum(w[h] * np.tanh(c[h] + sums[h]) for h in range(len(w)))
        assert twin.truth.detection[tuple(entries[row])] == pytest.approx(expit(logit))


def test_counts_are_what_the_truth_makes_likely(twin):
    where = tuple(twin.counts.indices.T)
    reporting = 1.0 if twin.truth.reporting is None else twin.truth.reporting[where]
    expected = (twin.truth.rate * twin.truth.detection)[where] * reporting
    y, mu = twin.counts.counts, MU[twin.name]
    variance = expected + expected**2 / mu
    assert abs(y.sum() - expected.sum()) < 5 * np.sqrt(variance.sum())
    zeros = (1 + expected / mu) ** -mu
    assert abs((y == 0).sum() - zeros.sum()) < 5 * np.sqrt((zeros * (1 - zeros)).sum())
    assert np.mean((y - expected) ** 2 / variance) == pytest.approx(1, abs=0.15)


def test_covid_deaths_are_a_look_at_the_cases_some_days_before(covid_twin):
    process = datasets.deaths_observations(covid_twin)
    assert process.name == "deaths"
    assert 0 < process.known_error < 0.2
    assert process.indices[:, 2].max() == 59 - datasets.DEATHS_LAG
    expected = covid_twin.truth.rate[tuple(process.indices.T)] * process.known_detection
    assert process.counts.sum() == pytest.approx(expected.sum(), rel=0.3)
    later = datasets.deaths_observations(covid_twin, lag=20, fatality=2.0, without=["Texas"])
    assert later.indices[:, 2].max() == 39
    assert len(later.counts) < len(process.counts) * 40 / 44
    assert later.known_detection.mean() > 1.9 * process.known_detection.mean()
    with_deaths = datasets.with_deaths(covid_twin).counts
    assert [each.name for each in with_deaths.observations] == ["deaths"]
    assert with_deaths.simulated


def test_script_makes_the_committed_files(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(DATA)
    script = importlib.import_module("make_twins")
    script.main(tmp_path)
    for name in ("covid_twin.npz", "ppi_twin.npz"):
        with np.load(DATA / name) as committed, np.load(tmp_path / name) as made:
            assert committed.files == made.files
            for key in committed.files:
                np.testing.assert_array_equal(made[key], committed[key], err_msg=f"{name}: {key}")
