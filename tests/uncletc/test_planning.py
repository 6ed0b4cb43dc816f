"""Plans: intervals of a larger study, beside those that the larger study has."""

import numpy as np
import pytest

from uncletc import CountTensor, FitSettings, fit, simulate
from uncletc.planning import plan

SETTINGS = FitSettings(rank=2, hidden=())


@pytest.fixture(scope="module")
def season():
    return simulate((15, 12, 24), 2, observed=0.9, attributed=0.9, n_attributes=2, seed=3)[0]


@pytest.fixture(scope="module")
def half(season):
    """Every other visit of the season."""
    frame = season.to_frame().query("`mode 3` < 12")
    return CountTensor.from_frame(frame, modes=season.modes, attributes=season.attribute_names)


@pytest.fixture(scope="module")
def fitted(half):
    return fit(half, SETTINGS)


def widths(table, column="then"):
    return np.log(table.set_index("quantity")[column])


def test_the_plan_for_twice_the_visits_comes_true(season, half, fitted):
    planned = widths(plan(half, fitted, times={"mode 3": 2}))
    found = widths(plan(season, fit(season, SETTINGS)), "now")
    for quantity in ("detection", "rate", "total"):
        assert planned[quantity] == pytest.approx(found[quantity], rel=0.25)


def test_a_survey_tells_the_scale_by_its_error(half, fitted):
    found = plan(half, fitted, survey=16, survey_error=0.2).set_index("quantity").loc["scale"]
    assert found["now"] == np.inf
    assert np.log(found["then"]) == pytest.approx(2 * 1.645 * 0.2 / 4, rel=1e-3)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"times": {"week": 2}}, "must name modes"),
        ({"times": {"mode 1": 0.5}}, "times of mode 1"),
        ({"survey": -1}, "survey must be"),
        ({"survey_error": np.inf}, "survey_error must be positive"),
    ],
)
def test_a_mistake_is_named(half, fitted, options, words):
    with pytest.raises(ValueError, match=words):
        plan(half, fitted, **options)
