"""What is found in counts before the fit: known faults, and nothing where there are none."""

import numpy as np
import pandas as pd
import pytest

from uncletc import CountTensor, datasets, simulate
from uncletc.tables import check_counts

N_SITES, N_SPECIES, N_DAYS = 12, 6, 42


def survey(**changes):
    """Counts by site, species and day that follow their levels, with three plain attributes."""
    rng = np.random.default_rng(7)
    shape = (N_SITES, N_SPECIES, N_DAYS)
    levels = [rng.normal(1, 0.5, size) for size in shape]
    mean = np.exp(sum(np.ix_(*levels)))
    z = rng.uniform(size=(*shape, 3))
    counts = rng.poisson(mean)
    fields = {
        "shape": shape,
        "indices": np.indices(shape).reshape(3, -1).T,
        "counts": counts.ravel(),
        "attributes": z.reshape(-1, 3),
        "attribute_names": ["wind", "cloud", "effort"],
        "modes": ["site", "species", "day"],
        "labels": [
            [f"site {i}" for i in range(N_SITES)],
            [f"species {i}" for i in range(N_SPECIES)],
            pd.date_range("2024-01-01", periods=N_DAYS).strftime("%Y-%m-%d"),
        ],
    }
    for name, change in changes.items():
        fields[name] = change(fields[name]) if callable(change) else change
    return CountTensor(**fields)


def dense(change):
    """A change of counts, given as one of the array of all entries."""

    def changed(counts):
        array = counts.reshape(N_SITES, N_SPECIES, N_DAYS).copy()
        change(array)
        return array.ravel()

    return changed


def found(counts, kind):
    """The one finding of a kind."""
    (finding,) = [each for each in check_counts(counts) if each.kind == kind]
    return finding


def faults(counts):
    return [each.kind for each in check_counts(counts) if each.severity != "info"]


def test_nothing_is_found_where_nothing_is_wrong():
    assert faults(survey()) == []
    assert " 6 species × " in check_counts(survey())[0].sentence


@pytest.mark.parametrize("seed", range(8))
def test_simulated_counts_raise_no_alarm(seed):
    assert faults(simulate(seed=seed)[0]) == []


@pytest.mark.parametrize("name", ["covid-twin", "ppi-twin"])
def test_twins_raise_no_alarm(name):
    assert faults(datasets.load(name).counts) == []


def test_a_date_without_reports_is_offered_as_missing():
    def silence(array):
        array[:, :, 10] = 0
        array[3, 1, 10] = 2  # one reported all the same

    counts = survey(counts=dense(silence))
    finding = found(counts, "days")
    assert finding.severity == "error"
    assert finding.remedy["missing"] == (("day", "2024-01-11"),)


def test_weekdays_without_reports_are_named():
    def silence(array):
        array[:, :, 5::7] = 0
        array[:, :, 6::7] = 0

    finding = found(survey(counts=dense(silence)), "days")
    assert "Saturdays and Sundays" in finding.sentence
    assert len(finding.remedy["missing"]) == 12


def test_an_attribute_that_is_the_count_leaks():
    counts = survey()
    leak = np.log1p(counts.counts)
    z = np.column_stack([counts.attributes[:, :2], leak])
    finding = found(survey(attributes=z), "leaking")
    assert finding.sentence.startswith("effort nearly determines")
    assert finding.severity == "error"


@pytest.mark.parametrize("counts", [[], [0, 0]])
def test_without_events_there_is_nothing_to_fit(counts):
    y = CountTensor((2, 2), [[0, 0], [1, 1]][: len(counts)] or np.empty((0, 2), int), counts)
    assert check_counts(y)[0].severity == "error"


def test_cumulative_counts_and_totals_are_found():
    rng = np.random.default_rng(3)
    new = rng.poisson(4, (6, 20))
    labels = [[f"s{k}" for k in range(6)], [f"2020-04-{day:02d}" for day in range(1, 21)]]

    def remedies(counts, places=labels[0]):
        y = CountTensor.from_dense(counts, modes=["site", "day"], labels=[places, labels[1]])
        return {each.kind: each.remedy for each in check_counts(y) if each.severity == "error"}

    assert remedies(new) == {}
    assert remedies(new.cumsum(axis=1))["running totals"]["running"] == "day"
    named = [*labels[0][:5], "All regions"]
    assert remedies(new, named)["totals"]["without"] == (("site", "All regions"),)
    whole = np.vstack([new[:5], new[:5].sum(axis=0)])
    assert remedies(whole)["totals"]["without"] == (("site", "s5"),)
    whole[5, ::3] += 1
    assert remedies(whole) == {}


@pytest.mark.parametrize(("many", "value"), [(1, 50_000), (2, 50_000), (1, 999)])
def test_a_count_far_above_all_others_is_named(many, value):
    def change(counts):
        counts[0, 0, :many] = value

    counts = survey(counts=dense(change))
    if (many, value) != (1, 50_000):
        assert faults(counts) == []
        return
    sentence = found(counts, "outliers").sentence
    assert "site 0 × species 0 × 2024-01-01, 50,000, is far above the next" in sentence


def test_levels_written_in_several_ways_are_said():
    labels = [["Ash", "ash", "Elm"], list("vw")]
    y = CountTensor.from_dense([[1, 2], [3, 0], [2, 5]], labels=labels, modes=["tree", "visit"])
    assert "1 level of tree is written in several ways, such as Ash and ash." in {
        each.sentence for each in check_counts(y) if each.kind == "labels"
    }
