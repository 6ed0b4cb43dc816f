"""RESULTS moves with the numbers of fits, so that nobody is shown numbers of an earlier solver."""

import warnings

import numpy as np
import pytest

from tests.starting import QUICK, WHOLE, start_of
from uncletc import BCD, ConvergenceWarning, FitSettings, fit, simulate

ENTRIES = [[0, 0, 0], [1, 4, 2], [5, 5, 5]]
SETTINGS = {
    "joint": FitSettings(rank=2, hidden=(4,), max_iter=15),
    "members": FitSettings(rank=2, hidden=(), max_iter=15, members=2),
    "bcd": FitSettings(rank=2, solver="bcd", mu=20.0, hidden=(8,), max_iter=5),
    "bcd-kl": FitSettings(rank=2, solver=BCD(loss="kl"), mu=20.0, hidden=(), max_iter=5),
}
GOLDEN = {
    "joint": [10.539, 37.422, 6.99313, 0.406342, 0.3306, 0.879176],
    "members": [10.5199, 37.3465, 6.97055, 0.407283, 0.331273, 0.882815],
    "bcd": [10.3167, 43.089, 6.96616, 0.402579, 0.234043, -13.442],
    "bcd-kl": [8.58828, 63.9324, 4.07109, 0.622172, 0.706344, -13.1016],
}


def tiny_fit(settings):
    shares = {"observed": 0.5, "attributed": 0.6}
    counts, _ = simulate((6, 6, 6), 2, **shares, n_attributes=2, factor_max=4.0, seed=3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return fit(counts, settings)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name == "bcd")) for name in SETTINGS]
)
def test_numbers_are_those_that_this_number_of_results_stands_for(name):
    with start_of(WHOLE if name == "bcd" else QUICK):
        tiny = tiny_fit(SETTINGS[name])
    rate, p = tiny.rate(ENTRIES), tiny.detection([[0.0, 0.0], [1.0, -1.0]])
    numbers = [*rate.tolist(), *p.tolist(), tiny.history[-1].objective]
    rounded = [float(f"{number:.6g}") for number in numbers]
    assert np.allclose(numbers, GOLDEN[name], rtol=1e-3), (
        f"The numbers of {name!r} changed to {rounded}. If the change is meant, "
        "raise uncletc.RESULTS and store the new values here."
    )
