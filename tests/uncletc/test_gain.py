"""What attributes add to held-out scores: much where they matter, nothing where they do not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from uncletc import METHODS, CountTensor, FitSettings, Joint, Observations, checking, fit, simulate
from uncletc.checking import gain_of_attributes, without_detection
from uncletc.compare import evaluate

SETTINGS = FitSettings(rank=2, hidden=(), solver=Joint(network=False), max_iter=40)
pytestmark = pytest.mark.filterwarnings("ignore::uncletc.ConvergenceWarning")


@pytest.fixture(scope="module")
def telling() -> CountTensor:
    """Counts whose detection depends on their attributes."""
    return simulate((9, 9, 9), 2, observed=0.5, attributed=0.5, n_attributes=2, seed=1)[0]


def test_attributes_that_matter_improve_scores_by_what_the_folds_say(telling):
    found = gain_of_attributes(telling, SETTINGS, n_folds=3, seed=4)
    assert found.improves
    assert found.sentence().startswith("Attributes improve the held-out log score by ")
    assert "per entry (3 folds)." in found.sentence()
    both = [
        evaluate(counts, METHODS["UncleTC"], SETTINGS, n_folds=3, seed=4, every=None)
        for counts in (telling, without_detection(telling))
    ]
    gaps = both[1].values("log_score") - both[0].values("log_score")
    assert found.mean == pytest.approx(gaps.mean())
    assert found.error == pytest.approx(gaps.std(ddof=1) / np.sqrt(3))
    assert found.log_score_constant - found.log_score == pytest.approx(found.mean)


def test_without_detection_p_is_one_number_and_all_else_stays(telling):
    survey = Observations("survey", telling.indices[:5], telling.counts[:5], known_detection=0.9)
    other = Observations(
        "observer", telling.indices[:4], telling.counts[:4], attributes=np.full((4, 2), 0.5)
    )
    given = telling.with_roles(rate=["z2"]).with_observations(survey, other)
    left = without_detection(given)
    assert left.n_attributes == 0
    assert left.rate_attribute_names == ("z2",)
    assert np.array_equal(left.rate_attributes, given.rate_attributes)
    assert [process.name for process in left.observations] == ["survey", "observer"]
    assert left.observations[0].known_detection[0] == 0.9
    assert np.array_equal(left.counts, given.counts)
    short = fit(left, replace(SETTINGS, max_iter=5))
    assert np.ptp(checking.detection_of(short, left)) == 0


def test_what_cannot_be_compared_is_named(telling):
    with pytest.raises(ValueError, match="counts must have attributes that act on detection"):
        gain_of_attributes(telling.with_roles(detection=(), rate=["z1"]), SETTINGS)
    with pytest.raises(ValueError, match="n_folds must be at least 3, got 2"):
        gain_of_attributes(telling, SETTINGS, n_folds=2)
