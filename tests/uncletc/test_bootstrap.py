"""Draws are widened where counts are few, and only there."""

import numpy as np
import pytest

from uncletc import CountTensor, FitSettings, fit, simulate


def widening(found):
    return found.draws.widening


def test_few_counts_widen_by_the_next_term():
    counts, _ = simulate((15, 15, 15), 1, observed=0.3, seed=1)
    assert widening(fit(counts, rank=1, network="never")) == (1.0, 1.0, 1.0)
    counts, _ = simulate((15, 15, 15), 2, observed=0.3, factor_max=2.0, seed=1)
    found = fit(counts, rank=2, network="never")
    assert 1 < widening(found)[0] < 1.5
    sparse = np.random.default_rng(0).poisson(0.3, (60, 12))  # of which the prior knows most
    assert widening(fit(CountTensor.from_dense(sparse), rank=2)) == (1.5, 1.5, 1.5)


@pytest.mark.slow
@pytest.mark.usefixtures("whole_start")
@pytest.mark.filterwarnings("ignore::uncletc.MisfitWarning")
def test_few_entries_are_checked_by_refits():
    counts, _ = simulate((12, 12, 12), 3, observed=0.1, factor_max=4.0, seed=2)
    settings = FitSettings(rank=3)
    assert min(widening(fit(counts, settings))) > 1


@pytest.mark.usefixtures("whole_start")
def test_a_lone_optimum_is_checked_by_refits(monkeypatch):
    counts, _ = simulate((12, 12, 12), 3, observed=0.15, n_attributes=3, seed=1)
    settings = FitSettings(rank=3)
    monkeypatch.setattr(
        "uncletc.solvers.uncertainty.calibration._scatter", lambda *_: (1.5, 1.2, 1.4)
    )
    assert widening(fit(counts, settings)) == (1.0, 1.0, 1.0)
    monkeypatch.setattr("uncletc.solvers.joint.state._NATS", 0.0)  # no other start is near enough
    found = fit(counts, settings)
    assert widening(found) == (1.5, 1.2, 1.4)
    assert found.draws.shared == (1.5, 1.2, 1.4)


def test_a_fit_that_was_stopped_is_not_checked():
    counts, _ = simulate((12, 12, 12), 3, observed=0.1, factor_max=4.0, seed=2)
    found = fit(counts, FitSettings(rank=3), callback=lambda now: now.iteration >= 3)
    assert widening(found) == (1.0, 1.0, 1.0)
    assert np.isfinite(found.rate([[0, 0, 0]], spread=True).high).all()
