"""The default fits of the simulated data sets come with the package."""

import numpy as np
import pytest

from dashboard.lab.steps import LESSONS
from dashboard.shared.sidebar.model import at_first
from dashboard.work.orders import FitOrder
from dashboard.work.results import SHIPPED, Results
from data.make_fits import first_orders
from uncletc import StopReason, datasets


@pytest.mark.parametrize("family", ["covid", "ppi"])
def test_the_default_fit_of_a_twin_is_found_in_an_empty_cache(family, tmp_path):
    dataset = datasets.load(f"{family}-twin")
    model, settings = at_first(dataset, family)
    fit = Results(tmp_path, 1e9).find(FitOrder(model.apply(dataset).counts, settings))
    assert fit is not None, "RESULTS, the twins or the defaults changed: run `make fits`"
    assert fit.stop is StopReason.TOLERANCE
    rate = fit.rate(dataset.counts.indices, spread=True)
    assert (rate.low < rate.high).all()
    true = dataset.truth.rate[tuple(dataset.counts.indices.T)]
    assert np.corrcoef(rate.estimate, true)[0, 1] > 0.9
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_what_a_lesson_shows_first_is_found_in_an_empty_cache(lesson, tmp_path):
    found = Results(tmp_path, 1e9)
    assert all(found.find(order) is not None for order in first_orders(lesson)), "run `make fits`"


def test_no_other_fit_comes_along():
    files = list(SHIPPED.iterdir())
    assert len(files) == 2 + sum(len(first_orders(lesson)) for lesson in LESSONS)
    assert sum(file.stat().st_size for file in files) < 2.4e6
