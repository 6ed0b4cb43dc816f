"""Model check views: tables and sentences against counts worked out here."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from dashboard.check.verdict import score_words, verdict
from dashboard.check.view import check_view, seen_dataset
from uncletc import checking


@pytest.fixture(scope="module")
def covid_seen(covid_twin, short_fit):
    return short_fit(seen_dataset(covid_twin, "entry").counts, 2, hidden=(5,))


@pytest.fixture(scope="module")
def covid_view(covid_twin, covid_seen):
    return check_view(covid_twin, covid_seen, "entry")


def test_a_fifth_is_not_seen_and_attributes_stay(covid_twin):
    counts, seen = covid_twin.counts, seen_dataset(covid_twin, "entry")
    assert seen.counts.n_observed == counts.n_observed - counts.n_observed // 5
    assert seen.counts.n_attributed == counts.n_attributed
    assert seen.name != seen_dataset(covid_twin, "fibre").name != covid_twin.name


def test_labels_counts_and_predictions(covid_view, covid_twin, covid_seen):
    counts, held = covid_twin.counts, checking.held_out(covid_twin.counts, kind="entry")
    table = covid_view.table
    assert table["observed"].tolist() == counts.counts[held].tolist()
    row = counts.indices[[np.flatnonzero(held)[7]]]
    names = [counts.labels[k][i] for k, i in enumerate(row[0])]
    assert table.iloc[7][list(counts.modes)].tolist() == names
    expected = covid_seen.expected(row, counts.attributes_at(row))[0]
    assert table.iloc[7]["predicted"] == pytest.approx(expected)


def clean(n=4000, seed=0):
    """Checks of Poisson counts with their true means."""
    mean = np.exp(np.random.default_rng(seed).normal(2, 1, n))
    return checking.check(np.random.default_rng(seed + 1).poisson(mean), mean)


BETTER = pd.DataFrame({"model": ["this model", "one mean for all"]})
BETTER = BETTER.assign(log_score=[2.0, 2.5], worse_by=[0, 0.5], error=[0, 0.1])
NOTHING = pd.DataFrame({"by": ["day"], "share": [0.0], "most": [""]})
FAR = pd.DataFrame({"by": ["weekday"], "share": [0.2], "most": ["less in Sunday"]})


QUIET = pd.DataFrame({"lag": [1], "value": [0.01], "chance": [0.1]})
RIGHT = pd.DataFrame({"predicted": [1.0], "observed": [1.0], "low": [0.9], "high": [1.1]})


def judge(check, strengths=NOTHING, deciles=RIGHT, scores=BETTER, **changed):
    given = {"allowed": 0.0, "positive": 4000, "lags": QUIET, "mode": "day"} | changed
    return verdict(replace(check, deciles=deciles), scores, strengths=strengths, **given)


def test_a_right_model_fits():
    found = judge(clean())
    assert found.status == "fits"
    text = " ".join(found.points)
    assert "as Poisson counts do" in text
    assert "within ± " in text
    assert "No place or time stands out." in text
    assert judge(clean(), positive=5).status == "open"
    few = [judge(clean(n=130, seed=10 * k)).status for k in range(20)]  # and differ by chance
    assert few.count("fits") >= 18
    assert judge(clean(), scores=BETTER.assign(worse_by=[0, -0.5])).status == "misfit"


def test_overdispersion_is_a_misfit_where_the_fit_does_not_explain_it():
    y = np.random.default_rng(0).negative_binomial(1, 1 / 21, 4000)
    check = checking.check(y, np.full(4000, 20.0))
    found = judge(check)
    assert found.status == "misfit"
    assert "**more than this fit expects**; the shape" in found.points[1]
    found = judge(check, allowed=1.0)
    assert found.status == "fits"
    assert "as this fit expects" in found.points[1]
    found = judge(checking.check(np.repeat([0, 40], 2000), np.full(4000, 20.0)), allowed=1.0)
    assert found.status == "misfit"
    assert "is not as expected" in found.points[1]


def test_places_times_sizes_and_rhythm():
    found = judge(clean(), FAR)
    assert found.status == "misfit"
    assert "**by weekday** (20 % of the residual variance): less in Sunday" in found.points[3]
    found = judge(clean(), FAR.assign(share=0.02))
    assert found.status == "fits"
    assert "No place or time is far off; furthest, by weekday" in found.points[3]
    off = pd.concat([RIGHT, RIGHT.assign(observed=3.0, low=2.0, high=4.0)] * 2)
    found = judge(clean(), deciles=off)
    assert found.status == "misfit"
    assert "Where 1 are predicted, **3** were counted" in found.points[2]
    assert judge(clean(), deciles=off.head(2)).status == "fits"
    found = judge(clean(), lags=QUIET.assign(lag=7, value=0.4))
    assert found.status == "misfit"
    assert "Errors 7 days apart are correlated (0.40)" in found.points[3]


def test_a_misfit_of_details_alone_is_no_poor_fit():
    slight = judge(clean(), FAR.assign(share=0.06), lags=QUIET.assign(lag=14, value=0.2))
    assert slight.status == "misfit"
    assert slight.headline == "Right on average; details differ"
    worse = BETTER.assign(worse_by=[0, -0.5])
    for poor in (judge(clean(), FAR), judge(clean(), FAR.assign(share=0.06), scores=worse)):
        assert poor.headline.startswith("Poor fit")


def test_scores_are_those_of_the_library_and_main_effects_are_harder_to_beat(covid_view):
    scores = covid_view.scores
    others = ["main effects without covariates", "one mean for all"]
    assert scores["model"].tolist() == ["this model", *others]
    worse_by = scores["log_score"] - scores["log_score"].iloc[0]
    assert scores["worse_by"].tolist() == pytest.approx(worse_by.tolist())
    assert scores["error"].iloc[0] == 0
    assert scores["log_score"].iloc[1] < scores["log_score"].iloc[2]
    table = scores.assign(worse_by=[0, -0.1, 0.3], error=[0, 0.2, 0.1])
    words = score_words(table)
    assert "**about as good as** main effects without covariates (0.1 ± 0.2 per count)" in words
    assert "**better than** one mean for all (0.3 ± 0.1 per count)" in words
