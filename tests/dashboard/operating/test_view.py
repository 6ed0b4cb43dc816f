"""Tables of the operator's page."""

from __future__ import annotations

import pytest

from dashboard.operating import view


@pytest.mark.parametrize(
    ("held", "words"),
    [(0, "0 B"), (999, "999 B"), (12_345, "12 kB"), (1_250_000, "1.2 MB"), (3.4e9, "3.4 GB")],
)
def test_sizes(held: float, words: str) -> None:
    assert view.size(held) == words


@pytest.mark.parametrize(
    ("seconds", "words"), [(0, "0 s"), (59.4, "59 s"), (125, "2 min"), (7500, "2 h 5 min")]
)
def test_durations(seconds: float, words: str) -> None:
    assert view.duration(seconds) == words


def test_work_has_its_units_and_its_order() -> None:
    numbers = {"other": 1.0, "disk_bytes": 5e6, "seconds": 75.0, "done": 1200.0}
    table = view.work_table(numbers)
    assert table.to_dict("list") == {
        "what": ["orders done", "time worked", "results on disk", "other"],
        "now": ["1,200", "1 min", "5.0 MB", "1"],
    }


def test_orders_of_both_lanes_wait() -> None:
    assert view.waiting({"waiting_quick": 2.0, "waiting_long": 3.0, "running": 9.0}) == "5"


def test_errors_say_when_where_and_what() -> None:
    entry = {
        "time": "2026-01-02T03:04:05.678+00:00",
        "level": "error",
        "logger": "streamlit.runtime",
        "where": "page.py:7",
        "error": "KeyError",
    }
    table = view.errors_table([entry])
    assert table.to_dict("records") == [
        {
            "time": "2026-01-02 03:04:05",
            "level": "error",
            "from": "streamlit.runtime page.py:7",
            "what": "",
            "error": "KeyError",
        }
    ]
    assert view.errors_table([]).empty
