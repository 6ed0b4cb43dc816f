"""Fits from formulas."""

import numpy as np
import pandas as pd
import pytest

from uncletc import CountTensor, fit, fit_formula

pytestmark = pytest.mark.filterwarnings("ignore::uncletc.ConvergenceWarning")


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(1)
    rows = pd.MultiIndex.from_product([list("abcdefgh"), range(6)], names=["site", "day"])
    table = rows.to_frame(index=False)
    table["height"], table["wind"] = rng.random((2, len(table)))
    table["observer"] = rng.choice(["Ann", "Bo", "Cleo"], len(table))
    table["count"] = rng.poisson(20 * np.exp(table["height"]))
    return table


def test_terms_are_attributes_and_random_effects(table):
    formula = "count ~ (site + day) | log(height) + (1 | site) + (1 | site:day) | wind + observer"
    found = fit_formula(formula, table, rank=1, max_iter=2)
    assert found.counts.rate_attribute_names == ("log(height)",)
    assert found.counts.attribute_names == ("wind", "observer: Bo", "observer: Cleo")
    assert tuple(found.confint().loc["detection"].index) == found.counts.attribute_names
    assert found.settings.effects == ("site", "site × day")


def test_the_fit_is_that_of_the_same_columns(table):
    short = fit_formula("count ~ site + day | | wind", table, rank=1, max_iter=3)
    counts = CountTensor.from_frame(table, modes=["site", "day"], attributes="wind")
    assert short.counts_digest == counts.digest
    own = fit(counts, rank=1, hidden=(), max_iter=3)
    np.testing.assert_array_equal(short.rate(counts.indices), own.rate(counts.indices))


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        ("count ~ site", "formula must have the form"),
        ("site + day", "formula must have the form"),
        ("count ~ site + day | rain", "`rain` is not present"),
        ("count ~ site + day | a | b | c", "formula must have the form"),
        ("count ~ site + hour", "must have a column 'hour'"),
    ],
)
def test_what_is_wrong_is_named(table, formula, message):
    with pytest.raises(ValueError, match=message):
        fit_formula(formula, table)


def test_a_covariate_may_act_on_both(table):
    found = fit_formula("count ~ site + day | wind | wind", table, rank=1, max_iter=1)
    assert found.counts.attribute_names == found.counts.rate_attribute_names == ("wind",)
    with pytest.raises(TypeError, match="table must be DataFrame, got None"):
        fit_formula("count ~ site + day", None)
