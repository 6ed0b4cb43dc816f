"""How much one server takes on."""

from __future__ import annotations

from dashboard.work.limits import Limits


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
        assert "has 60 counts" in self.refusal(fit_order(), observations=59)
        words = self.refusal(fit_order(rank=20, members=3), components=59)
        assert words.startswith("rank times members is 60")
