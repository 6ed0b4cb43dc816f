"""Orders: what decides their keys, and the way to the worker and back."""

import json
from dataclasses import replace

import numpy as np
import pytest

from dashboard.work import orders
from dashboard.work.orders import FitOrder, SimulatedFit, make_settings, order_from
from uncletc import FitSettings

SETTINGS = FitSettings(rank=2, hidden=(5,))
RECOVERY = SimulatedFit(simulation={"shape": (4, 4, 4), "rank": 2, "seed": 1}, settings=SETTINGS)


class TestKeys:
    def test_everything_that_decides_a_result_decides_its_key(self, small, fit_order, comparison):
        part, order = small.subset(np.arange(10)), fit_order()
        scores = comparison()
        other = replace(scores.settings, seed=1)
        different = [
            *(order, fit_order(seed=1), FitOrder(part, order.settings)),
            *(scores, comparison(counts=part), comparison(settings=other)),
            comparison(method="BPTF", settings=make_settings("BPTF", 2)),
            *(comparison(kind="fibre"), comparison(trials=2)),
        ]
        assert len({each.key for each in different}) == len(different)
        assert comparison(settings=replace(scores.settings)).key == scores.key

    def test_results_of_earlier_solvers_are_not_served(self, fit_order, monkeypatch):
        before = fit_order().key
        monkeypatch.setattr(orders, "RESULTS", orders.RESULTS + 1)
        orders.program.cache_clear()
        after = fit_order().key
        orders.program.cache_clear()
        assert after != before


def test_an_order_comes_back_as_it_went(fit_order, comparison):
    for order in (fit_order(), RECOVERY, comparison(kind="fibre", trials=2)):
        message = json.loads(json.dumps(order.message()))
        again = order_from(message, getattr(order, "counts", None))
        assert type(again) is type(order)
        assert again == order


def test_a_damaged_result_is_not_read():
    for kind, data in ((SimulatedFit, b"[1]"), (FitOrder, b"PK")):
        with pytest.raises(ValueError, match="must"):
            kind.decode(data)
