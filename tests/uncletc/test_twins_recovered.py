"""Fits of the simulated twins as pages make them at first, held against the truth."""

import numpy as np
import pandas as pd
import pytest

from uncletc import FitSettings, datasets, fit
from uncletc.checking import by_cell, by_state, detection_of


def stated(data, rank):
    """With stated roles and effects, and deaths where there are any."""
    given = data.with_roles()
    if data.deaths is not None:
        given = datasets.with_deaths(given)
    settings = FitSettings(rank=rank, signs=data.roles.signs, effects=list(data.effects))
    return fit(given.counts, settings)


def agreement(data, found):
    """Rank correlation of p with its truth, over states, cells and entries."""
    counts = data.with_roles().counts
    p, true = detection_of(found, counts), at(data, data.truth.detection)
    states, cells = (
        pd.concat([of(p), of(true)], axis=1).dropna().to_numpy()
        for of in (lambda p: by_state(counts, p, data.table), lambda p: by_cell(counts, p))
    )
    return rank_correlation(*states.T), rank_correlation(*cells.T), rank_correlation(p, true)


def rank_correlation(a, b):
    return float(pd.Series(a).corr(pd.Series(b), method="spearman"))


def at(data, values):
    return values[tuple(data.counts.indices.T)]


def within_guilds(data, found):
    """Mean rank correlation of p with its truth over the entries of each guild."""
    counts = data.with_roles().counts
    guild = data.mode_tables["pollinator"]["guild"].to_numpy()[data.counts.attribute_indices[:, 1]]
    p, true = found.detection(counts.attributes), data.truth.detection.ravel()
    own = [guild == each for each in np.unique(guild)]
    return float(np.mean([rank_correlation(p[rows], true[rows]) for rows in own]))


@pytest.fixture(scope="module")
def covid_fit(covid_twin):
    return stated(covid_twin, 15)


@pytest.mark.slow
class TestCovid:
    def test_detection(self, covid_twin, covid_fit):
        assert min(agreement(covid_twin, covid_fit)) > 0.97

    def test_the_level_of_detection_needs_no_statement(self, covid_twin, covid_fit):
        where = covid_twin.counts.indices
        z = covid_twin.with_roles().counts.attributes_at(where)
        mean = covid_fit.mean("detection", where, z)
        true = at(covid_twin, covid_twin.truth.detection).mean()
        assert mean.low[0] < true < mean.high[0]
        assert mean.estimate[0] == pytest.approx(true, rel=0.2)

    def test_rate(self, covid_twin, covid_fit):
        rate = covid_fit.rate(covid_twin.counts.indices)
        true = at(covid_twin, covid_twin.truth.rate)
        assert np.corrcoef(np.log(rate), np.log(true))[0, 1] > 0.97
        assert rate.sum() == pytest.approx(true.sum(), rel=0.2)

    def test_calendar(self, covid_twin, covid_fit):
        reporting = covid_fit.mode_effects.reporting(covid_twin.counts.indices)
        true = at(covid_twin, covid_twin.truth.reporting)
        assert np.corrcoef(np.log(reporting), np.log(true))[0, 1] > 0.9


@pytest.fixture(scope="module")
def ppi_fit(ppi_twin):
    return stated(ppi_twin, 5)


class TestPlants:
    def test_detection_within_guilds(self, ppi_twin, ppi_fit):
        assert within_guilds(ppi_twin, ppi_fit) > 0.9

    def test_rate(self, ppi_twin, ppi_fit):
        rate, true = ppi_fit.rate(ppi_twin.counts.indices), at(ppi_twin, ppi_twin.truth.rate)
        assert rank_correlation(rate, true) > 0.85

    def test_range_of_detection_is_no_wider_than_its_truth_allows(self, ppi_twin, ppi_fit):
        p = ppi_fit.detection(ppi_twin.with_roles().counts.attributes)
        quantiles = (np.percentile(each, [5, 95]) for each in (p, ppi_twin.truth.detection))
        found, true = (high / low for low, high in quantiles)
        assert 1.2 < found < 2 * true < 20
