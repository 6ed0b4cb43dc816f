"""How much one server takes on."""

from __future__ import annotations

import pytest

from dashboard.work.limits import Limits


class TestFromEnvironment:
    def test_each_can_be_set(self):
        limits = Limits.from_environment({"UNCLETC_QUEUE": "3", "UNCLETC_MEMORY_GB": "1.5"})
        assert (limits.queue, limits.memory_gb) == (3, 1.5)

    def test_defaults_leave_a_processor_for_the_pages(self, monkeypatch):
        for processors, workers in {1: 1, 2: 1, 8: 4, 64: 8}.items():
            monkeypatch.setattr("os.cpu_count", lambda n=processors: n)
            assert Limits.from_environment({}).quick_workers == workers

    @pytest.mark.parametrize(
        ("value", "sentence"),
        [
            ("many", "UNCLETC_QUEUE must be a whole number, got 'many'"),
            ("0", "UNCLETC_QUEUE must be above 0, got 0"),
        ],
    )
    def test_bad_ones_are_named(self, value, sentence):
        with pytest.raises(ValueError, match=sentence):
            Limits.from_environment({"UNCLETC_QUEUE": value})


class TestRefusal:
    def refusal(self, order, *, of_session=0, of_all=0, **limits):
        return Limits(**limits).refusal(order, of_session=of_session, of_all=of_all)

    def test_most_orders_are_taken(self, fit_order, comparison):
        assert not self.refusal(fit_order(rank=20, members=8))
        assert not self.refusal(comparison())

    def test_a_session_may_wait_for_so_many(self, fit_order):
        words = self.refusal(fit_order(), of_session=2, session_orders=2)
        assert words.startswith("you already wait for 2 results")

    def test_a_queue_is_full(self, fit_order):
        assert self.refusal(fit_order(), of_all=5, queue=5).startswith("5 orders are waiting")

    def test_size_of_counts_and_of_settings(self, fit_order):
        assert "has 60 counts" in self.refusal(fit_order(), looks=59)
        words = self.refusal(fit_order(rank=20, members=3), components=59)
        assert words.startswith("rank times members is 60")
