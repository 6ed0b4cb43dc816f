"""A fit that stopped at its limit goes on, and equal settings give equal estimates all the same."""

from __future__ import annotations

from dataclasses import replace
from time import monotonic, sleep

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from tests.dashboard.looking import in_address
from uncletc import BCD, CountTensor, Fit, FitSettings, StopReason, fit
from uncletc.datasets import Dataset, Provenance

SLOW = FitSettings(rank=1, solver=BCD(epochs=0, sweeps=1), hidden=(), max_iter=100, tol=0.0)
pytestmark = pytest.mark.filterwarnings("ignore::uncletc.ConvergenceWarning")


@pytest.fixture(scope="module")
def dataset(small: CountTensor) -> Dataset:
    provenance = Provenance(simulated=True, period="never", sources=(), rules=())
    return Dataset(name="going-on", title="Small", counts=small, table=None, provenance=provenance)


def page(dataset, settings) -> None:
    import streamlit as st

    from dashboard.shared.fit_status.running import fit_or_stop
    from dashboard.shared.sidebar.sidebar import Choices
    from uncletc import Anchor

    live = st.session_state.get("live", True)
    choices = Choices(
        dataset=dataset.name, settings=settings, anchor=Anchor(), pressed=False, live=live
    )
    st.session_state["shown"] = fit_or_stop(dataset, choices).fit


def finished(at: AppTest, limit: int) -> Fit:
    """Run until a fit with this limit of iterations is shown."""
    last = monotonic() + 90
    while monotonic() < last:
        at.run()
        assert not at.exception
        shown = at.session_state.get("shown")
        if shown and shown.settings.max_iter == limit and shown.stop is not StopReason.CALLBACK:
            return shown
        sleep(0.1)
    raise AssertionError(f"no fit with {limit} iterations")


def opened(dataset: Dataset, settings: FitSettings = SLOW, **address: str) -> AppTest:
    at = AppTest.from_function(page, kwargs={"dataset": dataset, "settings": settings})
    at.query_params.update(address)
    return at


class TestContinue:
    def test_goes_on_from_the_fit_shown(self, dataset):
        at = opened(dataset)
        first = finished(at, 100)
        assert first.stop is StopReason.MAX_ITER
        (warning,) = (each.value for each in at.warning if "stopped at its limit" in each.value)
        assert "limit of 100 iterations" in warning
        at.session_state["live"] = False  # the button asks by itself
        at.button(key="continue-fit").click()
        second = finished(at, 200)
        expected = fit(dataset.counts, replace(SLOW, max_iter=200), start=first)
        np.testing.assert_array_equal(second.factors[0], expected.factors[0])
        assert in_address(at, "limit") == "200"
        assert "limit of 200 iterations" in " ".join(each.value for each in at.warning)

    @pytest.mark.parametrize("limit", ["150", "many", "-200", "1600000"])
    def test_other_limits_in_the_address_are_left_out(self, dataset, limit):
        at = opened(dataset, limit=limit)
        finished(at, 100)
        assert "limit" not in at.query_params

    def test_a_fit_that_settled_is_offered_nothing(self, dataset):
        at = opened(dataset, replace(SLOW, tol=1e3))
        finished(at, 100)
        assert not [each for each in at.button if each.key == "continue-fit"]


def two_fits(dataset, settings) -> None:
    import streamlit as st

    from dashboard.shared.fit_status.running import offer_more, order_of, pressed
    from dashboard.shared.fit_status.service import service

    for side in ("a_", "b_"):
        order = order_of(dataset.counts, settings[side], side=side)
        shown = service().lookup(order)
        if shown is None:
            service().submit(order, "someone")
        else:
            offer_more(dataset.counts, order.settings, shown, side=side, of=side)
        st.session_state[f"limit of {side}"] = order.settings.max_iter
        st.session_state[f"pressed {side}"] = pressed(side)


def test_of_two_fits_on_a_page_each_goes_on_by_itself(dataset):
    settings = {"a_": SLOW, "b_": replace(SLOW, seed=5)}
    at = AppTest.from_function(two_fits, kwargs={"dataset": dataset, "settings": settings})
    last = monotonic() + 90
    while len(at.run().button) < 2:
        assert not at.exception
        assert monotonic() < last
        sleep(0.1)
    at.button(key="b_continue-fit").click().run()
    assert not at.exception
    limits = [at.session_state[f"limit of {side}"] for side in ("a_", "b_")]
    assert limits == [100, 200]
    assert [at.session_state[f"pressed {side}"] for side in ("a_", "b_")] == [False, True]
    assert (in_address(at, "b_limit"), in_address(at, "a_limit")) == ("200", None)
