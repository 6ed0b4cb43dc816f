"""A fit that stopped at its limit of iterations says so; a higher limit continues it."""

from dataclasses import replace

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from tests.dashboard.looking import until
from tests.uncletc.made import dataset_of
from uncletc import BCD, FitSettings, StopReason, fit

SLOW = FitSettings(rank=1, solver=BCD(epochs=0, sweeps=1), hidden=(), max_iter=100, tol=0.0)
pytestmark = pytest.mark.filterwarnings("ignore::uncletc.ConvergenceWarning")


@pytest.fixture(scope="module")
def dataset(small):
    return dataset_of(small, name="going-on")


def page(dataset):
    import streamlit as st

    from dashboard.shared.fit_status.running import fit_or_stop
    from dashboard.shared.sidebar.sidebar import Choices
    from uncletc import Anchor

    settings = st.session_state["settings"]
    choices = Choices(dataset=dataset.name, settings=settings, anchor=Anchor())
    st.session_state["shown"] = fit_or_stop(dataset, choices).fit


def finished(at, settings):
    """Run until the fit with these settings is shown."""
    at.session_state["settings"] = settings

    def has_it(page):
        shown = page.session_state.get("shown")
        return shown and shown.settings == settings and shown.stop is not StopReason.CALLBACK

    return until(at, has_it, 90).session_state["shown"]


@pytest.mark.slow
def test_a_higher_limit_continues_the_fit_shown(dataset):
    at = AppTest.from_function(page, kwargs={"dataset": dataset})
    first = finished(at, SLOW)
    assert first.stop is StopReason.MAX_ITER
    assert any("limit of 100 iterations" in each.value for each in at.warning)
    second = finished(at, replace(SLOW, max_iter=200))
    expected = fit(dataset.counts, replace(SLOW, max_iter=200), start=first)
    np.testing.assert_array_equal(second.factors[0], expected.factors[0])
