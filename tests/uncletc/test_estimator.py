"""UncleTC as an estimator of scikit-learn."""

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import check_estimator

from uncletc import CountTensor, FitSettings, UncleTC, fit

pytestmark = pytest.mark.filterwarnings("ignore::uncletc.ConvergenceWarning")

WHOLE, ONE_ROW = "counts are whole numbers", "an entry has one row"
OF_WHOLE = """
check_n_features_in_after_fitting check_positive_only_tag_during_fit check_regressors_train
check_regressor_data_not_an_array check_regressors_no_decision_function check_fit_idempotent
check_fit_check_is_fitted check_n_features_in
"""
EXPECTED = dict.fromkeys(OF_WHOLE.split(), WHOLE) | {
    "check_estimators_dtypes": ONE_ROW,
    "check_non_transformer_estimators_n_iter": ONE_ROW,
    "check_estimators_pickle": "an entry has a label along every mode",
}


@pytest.fixture(scope="module")
def table():
    """Sites, weeks, a covariate of each kind, and counts."""
    rng = np.random.default_rng(5)
    rows = pd.MultiIndex.from_product([[f"s{i}" for i in range(12)], range(1, 11)])
    table = rows.to_frame(index=False, name=["site", "week"])
    table["effort"] = rng.random(len(table))
    table["observer"] = rng.choice(["Ann", "Bo"], len(table))
    table["height"] = rng.random(len(table))
    rate = 40 * np.exp(table["height"]) * np.repeat(rng.gamma(5, 0.2, 12), 10)
    p = 0.3 + 0.6 * table["effort"] * np.where(table["observer"] == "Bo", 0.5, 1)
    table["count"] = rng.poisson(rate * p)
    return table


def model(**changes):
    values = {"rank": 1, "max_iter": 5, "modes": ["site", "week"], "network": "never"}
    return UncleTC(**{**values, **changes})


def test_scikit_learns_checks_pass():
    plain = UncleTC(rank=1, modes=(0, 1), max_iter=2, network="never")
    found = check_estimator(plain, expected_failed_checks=EXPECTED, on_skip=None)
    assert sum(each["status"] == "passed" for each in found) > 30


def test_predictions_are_those_of_the_fit(table):
    x = table.drop(columns="count")
    found = model(rate_attributes="height").fit(x, table["count"])
    counts = CountTensor.from_frame(
        table, modes=["site", "week"], attributes=["effort", "observer"], rate_attributes="height"
    )
    plain = fit(counts, FitSettings(rank=1, max_iter=5, solver=found.fit_.settings.solver))
    z = counts.attributes_at(counts.indices)
    expected = plain.expected(counts.indices, z)  # in the order of rows
    np.testing.assert_allclose(found.predict(x), expected, rtol=1e-3)
    assert found.counts_.attribute_names[1].startswith("observer: ")
    listed = found.fit_.to_frame()
    assert listed["week"].tolist() == table["week"].tolist()  # numbers, as they were
    assert dict(found.fit_.to_xarray().sizes) == {"site": 12, "week": 10}


def test_labels_and_values_that_were_not_fitted(table):
    seen = table["site"] != "s3"
    x = table.drop(columns="count")
    found = model(rate_attributes="height").fit(x[seen], table["count"][seen])
    new = x[~seen]
    rate = found.predict_rate(new)
    higher = found.predict_rate(new.assign(height=new["height"] + 0.3))
    assert (higher > rate).all()  # λ rises with height, also where the site is new
    each = [new.assign(site=site) for site in x["site"].unique() if site != "s3"]
    mean = np.mean([found.predict(rows) for rows in each], axis=0)
    np.testing.assert_allclose(found.predict(new), mean)
    later = found.predict(new.assign(week=99))
    weeks = [found.predict(new.assign(week=week)) for week in range(1, 11)]
    np.testing.assert_allclose(later, np.mean(weeks, axis=0))
    p = found.predict_detection(new.assign(observer=["Cleo", *new["observer"][1:]]))
    assert np.isnan(p[0])
    assert (p[1:] > 0).all()
    assert np.isfinite(found.predict(new.assign(effort=np.nan))).all()


def test_exposure_of_a_row_is_its_own(table):
    x = table.drop(columns="count").assign(people=np.repeat(np.arange(1, 13), 10))
    found = model(exposure="people").fit(x, table["count"])
    doubled = found.predict(x.assign(people=2 * x["people"]))
    np.testing.assert_allclose(doubled, 2 * found.predict(x))


def test_searches_scores_and_pipelines(table):
    x, y = table.drop(columns="count"), table["count"]
    folds = KFold(2, shuffle=True, random_state=1)
    search = GridSearchCV(model(), {"rank": [1, 2], "mu": [2.0, None]}, cv=folds).fit(x, y)
    assert set(search.best_params_) == {"rank", "mu"}
    scores = cross_val_score(model(effects="site"), x, y, cv=folds)
    assert (scores > 0).all()
    doubled = FunctionTransformer(lambda frame: frame.assign(effort=2 * frame["effort"]))
    assert make_pipeline(doubled, model()).fit(x, y).score(x, y) > 0.3


def test_a_tensor_is_fitted_and_its_rows_are_divided(table):
    counts = CountTensor.from_frame(table, modes=["site", "week"], attributes=["effort"])
    assert model().fit(counts).score(counts) > 0.3
    with pytest.raises(TypeError, match=r"take its counts, or to_frame\(\)"):
        cross_val_score(model(), counts)
    rows = counts.to_frame().dropna(subset="count")
    assert cross_val_score(model(), rows.drop(columns="count"), rows["count"], cv=2).shape == (2,)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"modes": None}, "modes must be at least 2 columns"),
        ({"modes": ["site", "hour"]}, "X must have a column 'hour'"),
        ({"rate_attributes": 9}, "X must have a column 9"),
        ({"rate_attributes": "site"}, "each column must have one role, 'site' has 2"),
        ({"closed": ["visit"]}, "X must have a column 'visit'"),
        ({"rank": 0}, "rank must be"),
    ],
)
def test_what_is_wrong_is_named(table, changes, message):
    x = table.drop(columns=["count", "observer"])
    with pytest.raises(ValueError, match=message):
        model(**changes).fit(x, table["count"])


def test_counts_that_are_no_counts(table):
    with pytest.raises(ValueError, match="whole numbers; data row 1"):
        model().fit(table.drop(columns="count"), table["count"] + 0.5)
    with pytest.raises(ValueError, match="Input y contains NaN"):
        model().fit(table.drop(columns="count"), table["count"].where(table["week"] > 1))
